"""Runs the server behind `knime-mcp serve`: files in, policies around them, a transport in front."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knime.types.tool import Tool
from knime_ext import __version__
from knime_ext.cli.run import credential_of
from knime_ext.cli.terminal import counted
from knime_ext.cli.tool_file import read_tools
from knime_ext.errors import ConfigurationError
from knime_ext.mcp.serving import HTTPDoor, ToolsetServer, ask_client, serve_http, serve_stdio, stopped_by_signals
from knime_ext.runtime import FileStore, NodeRegistry, workflow_to_tool
from knime_ext.runtime.knext.arrow_files import read_table
from knime_ext.runtime.knext.table import Table, as_input
from knime_ext.runtime.platform.csv_reading import CSVFormat, read_csv
from knime_ext.runtime.served_tables import ServedTables
from knime_ext.runtime.serving import table_toolset
from knime_ext.tools import ApprovalPolicy, Decision, ToolDefinition, ToolSelection, Toolset

__all__ = ["ServeOptions", "config_text", "run_server"]

_PREFIX = re.compile(r"[A-Za-z0-9_-]{1,24}")
_PASSED_ON = ("KNIME_MCP_HOME", "KNIME_MCP_POLICY", "KNIME_MCP_ALLOW", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
"""Variables that decide where things are and what is allowed; hosts start servers with an environment of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What the command line says; see its options."""

    files: tuple[Path, ...]
    name: str
    stdio: bool = False
    port: int | None = None
    host: str = "127.0.0.1"
    token_variable: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    prefix: str = ""
    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    read_only: bool = False
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    search_above: int | None = None
    column: str | None = None
    data: tuple[str, ...] = ()
    rows: int = 20
    credentials: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.stdio and self.port is not None:
            raise ConfigurationError("a server speaks either --stdio or --http PORT; give one of the two")
        if self.port is None and (self.token_variable or self.allowed_hosts):
            raise ConfigurationError("--token-env and --allowed-host only make sense with --http PORT; add it")
        if self.port is not None and not 0 <= self.port <= 65_535:
            raise ConfigurationError(f"{self.port} is no port; give one from 0 to 65535")
        if self.prefix and not _PREFIX.fullmatch(self.prefix):
            raise ConfigurationError(
                f"the prefix {self.prefix!r} cannot begin a name; give 1 to 24 letters, digits, '_' or '-'"
            )

    def rules(self) -> dict[str, Decision | str]:
        """What the operator wants to be asked about or denied, by pattern."""
        return {**dict.fromkeys(self.ask, Decision.ASK), **dict.fromkeys(self.deny, Decision.DENY)}

    def door(self) -> HTTPDoor:
        """Where an HTTP server listens.

        Raises:
            ConfigurationError: The token is not there, or needed and not given.
        """
        token = None
        if self.token_variable is not None:
            token = os.environ.get(self.token_variable, "")
            if not token:
                raise ConfigurationError(
                    f"the environment variable {self.token_variable!r} is not set; put the token into it first"
                )
        return HTTPDoor(host=self.host, port=self.port or 0, token=token, names=self.allowed_hosts)


def run_server(options: ServeOptions) -> int | None:
    """Serves until the client goes, or the process is told to stop.

    Returns:
        The signal that ended it; None if the client did.

    Raises:
        ConfigurationError: A file, an option or the port cannot be used. Nothing was served.
    """
    door = None if options.port is None else options.door()
    return asyncio.run(_serve(options, door))


async def _serve(options: ServeOptions, door: HTTPDoor | None) -> int | None:
    stop = asyncio.Event()
    with stopped_by_signals(stop) as came:
        with _toolset(options) as toolset:
            definitions = await toolset.list_definitions()
            if not definitions:
                raise ConfigurationError("no tool is left to serve; check the files, --include and --exclude")
            server = ToolsetServer(toolset, definitions, name=options.name, version=__version__, report=_report)
            count = counted(len(definitions), "tool")
            if door is None:
                _report(f"Serving {count} over standard input and output.")
                await serve_stdio(server, stop)
            else:
                await serve_http(server, door, stop, lambda url: print(f"Serving {count} at {url}", flush=True))
    return came[0] if came else None


def _report(text: str) -> None:
    """Tells the operator; the standard output belongs to the protocol."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def _toolset(options: ServeOptions) -> Generator[Toolset]:
    registry, filestore = NodeRegistry.load(), FileStore.default()
    secrets = dict(map(credential_of, options.credentials))
    tools = [tool for path in options.files for tool in _tools_in(path, options, registry, filestore)]
    tables = ServedTables(dict(map(_named_table, options.data)), first_rows=options.rows)
    with table_toolset(tools, tables, credentials=secrets, registry=registry, filestore=filestore) as toolset:
        served: Toolset = toolset.filtered(_selected(options))
        if rules := options.rules():
            policy = ApprovalPolicy(rules=rules, read_only=Decision.ALLOW, otherwise=Decision.ALLOW)
            # What does not fit is refused before anybody is asked about it.
            served = served.governed_by(policy, ask_client).validated()
        if options.prefix:
            served = served.prefixed(options.prefix)
        yield served if options.search_above is None else served.searched(options.search_above)


def _tools_in(path: Path, options: ServeOptions, registry: NodeRegistry, filestore: FileStore) -> list[Tool]:
    if path.suffix.lower() == ".json":
        return [workflow_to_tool(path, registry=registry, filestore=filestore)]
    found = read_tools(path, options.column)
    for problem in found.damaged:
        _report(f"A row of {str(path)!r} is left out: {problem}")
    return [tool for tool in found.tools if tool is not None]


def _selected(options: ServeOptions) -> Callable[[ToolDefinition], bool]:
    selection = ToolSelection.of(options.include, options.exclude)

    def keep(tool: ToolDefinition) -> bool:
        names = {tool.name, tool.wire_name or tool.name, tool.display_name or tool.name}
        excluded = any(not ToolSelection(exclude=selection.exclude).takes(name) for name in names)
        included = any(ToolSelection(include=selection.include).takes(name) for name in names)
        return included and not excluded and (_is_read_only(tool) or not options.read_only)

    return keep


def _is_read_only(tool: ToolDefinition) -> bool:
    return tool.annotations.get("readOnlyHint") is True and tool.annotations.get("destructiveHint") is not True


def _named_table(word: str) -> tuple[str, Table]:
    name, separator, file = word.partition("=")
    if not (name and separator and file):
        raise ConfigurationError(f"{word!r} is no table; write it as --data NAME=FILE")
    path = Path(file)
    if path.suffix.lower() == ".arrow":
        return name, read_table(path)
    return name, as_input(Table.from_pyarrow(read_csv(path, CSVFormat()).combine_chunks()))


def config_text(options: ServeOptions) -> str:
    """The entry that a desktop host's configuration wants, as JSON."""
    entry = _stdio_entry(options) if options.port is None else _http_entry(options)
    return json.dumps({"mcpServers": {options.name: entry}}, indent=2, ensure_ascii=False)


def _http_entry(options: ServeOptions) -> dict[str, Any]:
    if not options.port:
        raise ConfigurationError("a configuration needs a port that stays; give --http with a port other than 0")
    host = f"[{options.host}]" if ":" in options.host else options.host
    entry: dict[str, Any] = {"type": "http", "url": f"http://{host}:{options.port}/mcp"}
    if options.token_variable is not None:
        # The variable's name, for hosts that fill it in; never the token.
        entry["headers"] = {"Authorization": f"Bearer ${{{options.token_variable}}}"}
    return entry


def _stdio_entry(options: ServeOptions) -> dict[str, Any]:
    script = shutil.which("knime-mcp")
    command = [script] if script else [sys.executable, "-m", "knime_ext.cli.app"]
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    entry: dict[str, Any] = {"command": command[0], "args": [*command[1:], "serve", *_words(options)]}
    return entry | ({"env": environment} if environment else {})


def _words(options: ServeOptions) -> list[str]:
    """The command line again, with absolute paths: hosts start servers wherever they are themselves."""
    words = [str(path.absolute()) for path in options.files]
    words += [] if options.name == options.files[0].stem else ["--name", options.name]
    words += ["--prefix", options.prefix] if options.prefix else []
    words += [word for glob in options.include or () for word in ("--include", glob)]
    words += [word for glob in options.exclude for word in ("--exclude", glob)]
    words += [word for glob in options.ask for word in ("--ask", glob)]
    words += [word for glob in options.deny for word in ("--deny", glob)]
    words += ["--read-only"] if options.read_only else []
    words += [] if options.search_above is None else ["--search-above", str(options.search_above)]
    words += [word for given in options.credentials for word in ("--credential", given)]
    words += ["--column", options.column] if options.column else []
    for given in options.data:
        name, _, file = given.partition("=")
        words += ["--data", f"{name}={Path(file).absolute()}"]
    return words + ([] if options.rows == 20 else ["--rows", str(options.rows)])
