"""A conversation with an agent: reads questions, shows answers as they come, keeps what was said."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool

from knime_ext.agent import (
    Agent,
    AgentRun,
    Budget,
    DataRepository,
    RunFinished,
    render_trace,
    to_langchain_tools,
)
from knime_ext.bridge import shared_bridge
from knime_ext.cli.chat_screen import ChatScreen
from knime_ext.cli.model_option import chat_model_of
from knime_ext.cli.questions import handlers_at_terminal, person_at_terminal
from knime_ext.cli.terminal import counted, is_terminal
from knime_ext.cli.tool_file import read_tools
from knime_ext.cli.tools import tools_of_server
from knime_ext.errors import ConfigurationError
from knime_ext.mcp import MCPToolCaller, asking
from knime_ext.runtime import FileStore, NodeRegistry, tool_context, workflow_to_tool
from knime_ext.runtime.atomic import write_text
from knime_ext.tools import ApprovalPolicy, text_for_model

if TYPE_CHECKING:
    from knime.types.tool import MCPTool, Tool
    from knime_ext.runtime.knext.table import Table

__all__ = ["ChatOptions", "converse"]

_PROMPT = "you> "
_MORE = "...> "

_HELP = """\
/tools         the tools that the model may call
/clear         forget the conversation
/page FILE     write the last answer with all of its calls as an HTML page
/exit          leave (or Ctrl-D; Ctrl-C stops an answer)
A line that ends with \\ goes on in the next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """What the words of `knime-mcp chat` mean."""

    model: str
    base_url: str | None
    key_variable: str | None
    tools: tuple[Path, ...]
    tool_column: str | None
    servers: tuple[str, ...]
    data: tuple[str, ...]
    system: str
    ask: bool
    max_turns: int
    tool_tokens: int | None = None


def converse(options: ChatOptions) -> int:
    """Talks until the input ends.

    Returns:
        The number of questions that failed; 0 where a person sits, who has seen it.

    Raises:
        ConfigurationError: The model or a file cannot be used.
        MCPError: A server cannot be reached.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    model = chat_model_of(options.model, base_url=options.base_url, key_variable=options.key_variable)
    with shared_bridge(), _tools(options) as (tools, data):
        agent = Agent(
            model,
            tools,
            system_message=options.system,
            budget=Budget(turns=options.max_turns),
            when_exhausted="answer",
            data=data,
            tool_tokens=options.tool_tokens,
        )
        return Conversation(agent, tools).hold(options.model)


class _Host:
    """Runs workflows here and calls MCP tools over the sessions that listed them."""

    def __init__(self, workflows: Any, caller: MCPToolCaller) -> None:
        self._execute_tool = workflows._execute_tool
        self._caller = caller

    def _execute_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> str:
        return self._caller.text(tool, parameters)

    async def _acall_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> Any:
        return await self._caller.acall(tool, parameters)


@contextmanager
def _tools(options: ChatOptions) -> Generator[tuple[list[BaseTool], DataRepository]]:
    data = DataRepository()
    for word in options.data:
        name, table = _table(word)
        data.add(name, f"From {word.rpartition('=')[2]}", table)
    person = person_at_terminal()
    with ExitStack() as stack:
        workflows = stack.enter_context(tool_context())
        caller = stack.enter_context(MCPToolCaller())
        stack.enter_context(asking(handlers_at_terminal()))
        rows: list[Tool] = [tool for path in options.tools for tool in _tools_in(path, options.tool_column)]
        for server in options.servers:
            rows += tools_of_server(caller, server)
        approval = ApprovalPolicy() if options.ask else None
        approve = person.approve if person is not None else None
        host: Any = _Host(workflows, caller)
        yield [*to_langchain_tools(rows, host, data=data, approval=approval, approve=approve)], data


def _tools_in(path: Path, column: str | None) -> list[Tool]:
    if path.suffix.lower() == ".json":
        return [workflow_to_tool(path, registry=NodeRegistry.load(), filestore=FileStore.default())]
    found = read_tools(path, column)
    for problem in found.damaged:
        print(f"Warning: a row of {str(path)!r} is left out: {problem}", file=sys.stderr)
    return [tool for tool in found.tools if tool is not None]


def _table(word: str) -> tuple[str, Table]:
    from knime_ext.runtime.knext.arrow_files import read_table
    from knime_ext.runtime.knext.table import Table, as_input
    from knime_ext.runtime.platform.csv_reading import CSVFormat, read_csv

    name, separator, file = word.partition("=")
    if not (name and separator and file):
        raise ConfigurationError(f"{word!r} is no table; write it as --data NAME=FILE")
    path = Path(file)
    if path.suffix.lower() == ".arrow":
        return name, read_table(path)
    return name, as_input(Table.from_pyarrow(read_csv(path, CSVFormat()).combine_chunks()))


class _Leave(Exception):
    """The person wants to go."""


class Conversation:
    """Questions and answers, one after the other."""

    def __init__(self, agent: Agent, tools: list[BaseTool]) -> None:
        self._agent = agent
        # Those that come along, to read on in long results, are nobody's choice.
        self._tools = [tool for tool in tools if (tool.metadata or {}).get("tool_type") != "agent"]
        self._screen = ChatScreen()
        self._history: tuple[BaseMessage, ...] = ()
        self._last: AgentRun | None = None
        self._person = sys.stdin.isatty() and is_terminal()
        self._failed = 0

    def hold(self, model: str) -> int:
        """Talks until the input ends; gives the number of questions that failed where no person sits."""
        if self._person:
            tools = counted(len(self._tools), "tool")
            self._screen.note(f"Model {model}, {tools}. /help says what else there is.")
        try:
            for line in self._lines():
                self._take(line)
        except _Leave:
            pass
        return 0 if self._person else self._failed

    def _lines(self) -> Iterator[str]:
        """What is said, line by line; two Ctrl-C in a row end it, as Ctrl-D does."""
        if not self._person:
            yield from (line.strip() for line in sys.stdin if line.strip())
            return
        with _line_editing():
            leaving = False
            while True:
                try:
                    line = _typed()
                except EOFError:
                    self._screen.note("")
                    return
                except KeyboardInterrupt:
                    if leaving:
                        return
                    self._screen.note("\n(Ctrl-C once more or Ctrl-D leaves)")
                    leaving = True
                    continue
                leaving = False
                if line:
                    yield line
                    # A stopped answer counts as the first Ctrl-C.
                    leaving = self._last is not None and self._last.stop_reason == "cancelled"

    def _take(self, line: str) -> None:
        if not line.startswith("/"):
            self._ask(line)
            return
        command, _, rest = line.partition(" ")
        match command:
            case "/exit" | "/quit":
                raise _Leave
            case "/help":
                self._screen.note(_HELP, "")
            case "/tools":
                self._screen.note(self._offered(), "")
            case "/clear":
                self._history, self._last = (), None
                self._screen.note("The conversation is forgotten.")
            case "/page":
                self._page(rest.strip())
            case _:
                self._screen.note(f"There is no command {command!r}; /help lists them.", "yellow")

    def _offered(self) -> str:
        lines: list[str] = []
        for tool in self._tools:
            name = str((tool.metadata or {}).get("display_name") or tool.name)
            origin = str((tool.metadata or {}).get("origin") or "")
            about = next(iter(text_for_model(tool.description).strip().splitlines()), "")
            lines.append(f"{text_for_model(name)} ({origin}): {about}")
        return "\n".join(lines) or "There are no tools; give --tools FILE or --server SERVER."

    def _page(self, file: str) -> None:
        if self._last is None or not file:
            self._screen.note("Write /page FILE.html after an answer.", "yellow")
            return
        try:
            write_text(Path(file).expanduser(), render_trace(self._last.trace, "Chat"))
        except OSError as error:
            self._screen.note(f"Error: {file!r} cannot be written: {error.strerror or error}", "red")
            return
        self._screen.note(f"Written to {file}")

    def _ask(self, question: str) -> None:
        cancel = threading.Event()
        try:
            with _stopped_by_interrupt(cancel), shared_bridge() as bridge:
                run = bridge.run(self._listen(question, cancel))
        except KeyboardInterrupt:
            self._screen.note("Stopped.", "yellow")
            return
        self._history, self._last = run.messages, run
        self._failed += run.error is not None

    async def _listen(self, question: str, cancel: threading.Event) -> AgentRun:
        async for event in self._agent.stream(question, self._history, cancel=cancel):
            self._screen.show(event)
            if isinstance(event, RunFinished):
                return event.run
        raise AssertionError("a stream ends with its run")


@contextmanager
def _stopped_by_interrupt(cancel: threading.Event) -> Generator[None]:
    """The first Ctrl-C asks the run to stop and say what it has; a second one does not wait for that."""

    def interrupted(signum: int, frame: FrameType | None) -> None:
        if cancel.is_set():
            raise KeyboardInterrupt
        cancel.set()

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _line_editing() -> Generator[None]:
    """Arrow keys and earlier lines, where the system has them."""
    try:
        import readline
    except ImportError:
        yield
        return
    readline.set_auto_history(True)
    yield


def _typed() -> str:
    """A question, over several lines if they end with a backslash."""
    line = input(_PROMPT)
    while line.endswith("\\"):
        line = f"{line[:-1]}\n{input(_MORE)}"
    return line.strip()
