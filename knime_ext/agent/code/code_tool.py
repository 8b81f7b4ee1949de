"""Code as a tool: a model that calls `run_python` calls many tools in one turn."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool

from knime_ext.agent.code.functions import tool_functions
from knime_ext.agent.code.limits import CodeLimits
from knime_ext.agent.code.prompts import generate_tool_system_prompt
from knime_ext.agent.code.runner import CodeRun, CodeRunner, ToolCallRecord
from knime_ext.agent.code.values import TooLarge, shown
from knime_ext.agent.code.workers import load_monty
from knime_ext.agent.run_tools import InnerCalls
from knime_ext.bridge import shared_bridge
from knime_ext.tools import ToolResult, check_arguments, text_for_model

__all__ = ["RUN_PYTHON", "CodeTool", "code_tool"]

RUN_PYTHON = "run_python"

_PREVIEW_CHARS = 500
_DESCRIPTION = (
    "Runs Python code that may call the tools as functions, and gives what it prints and the value of its last line. "
    "Variables stay for the next call."
)
# Model vendors limit the description of a function; OpenAI to this many characters.
_MAX_DESCRIPTION = 1024

_SCHEMA = {
    "type": "object",
    "properties": {"code": {"type": "string", "description": "Python code."}},
    "required": ["code"],
    "additionalProperties": False,
}


class CodeTool(StructuredTool):
    """A LangChain tool that runs code; an agent makes one of it for each run, so that runs share no variables.

    Attributes:
        code_tools: What the code may call.
        limits: What each piece of code may use up.
        instructions: What the model has to know; an agent adds it to the system message.
    """

    code_tools: tuple[BaseTool, ...] = ()
    limits: CodeLimits = CodeLimits()
    instructions: str = ""

    def for_run(self, inner: InnerCalls | None = None) -> CodeTool:
        """The tool for one run: with variables of its own.

        Args:
            inner: Rules for the calls that code makes.
        """
        return _made(self, CodeRunner(tool_functions(self.code_tools), self.limits, inner))

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self._parse_input(tool_input, tool_call_id),), {}

    def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:  # noqa: D102 - LangChain's name
        return _marked(super().invoke(input, config, **kwargs))

    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:  # noqa: D102
        return _marked(await super().ainvoke(input, config, **kwargs))


def code_tool(tools: Sequence[BaseTool], limits: CodeLimits | None = None) -> CodeTool:
    """A tool that runs code of a model in the sandbox, where the given tools are functions.

    `Agent(model, [code_tool(tools)])` is code mode: a loop over a hundred calls costs one turn. The calls stand in the
    artifact of the result and in the trace.

    Args:
        tools: LangChain tools with different names.
        limits: What each piece of code may use up.

    Raises:
        ConfigurationError: The sandbox is not installed.
    """
    load_monty()
    own = tuple(tools)
    prompt = generate_tool_system_prompt(own)
    heads = "\n".join(function.signature.text for function in tool_functions(own).values())
    full = f"{_DESCRIPTION} Functions:\n{heads}"
    template = CodeTool(
        name=RUN_PYTHON,
        description=full if len(full) <= _MAX_DESCRIPTION else _DESCRIPTION,
        args_schema=_SCHEMA,
        func=None,  # `for_run` gives every run its own
        response_format="content_and_artifact",
        metadata={"tool_type": "code", "display_name": "Python"},
        code_tools=own,
        limits=limits or CodeLimits(),
        instructions=prompt,
    )
    # Used without an agent, all calls share their variables.
    return template.for_run()


def _made(tool: CodeTool, runner: CodeRunner) -> CodeTool:
    async def acall(arguments: dict[str, Any]) -> tuple[str, ToolResult]:
        check_arguments(_SCHEMA, arguments, RUN_PYTHON)
        return _reply(await runner.run(without_fence(arguments["code"])), runner.limits)

    def call(arguments: dict[str, Any]) -> tuple[str, ToolResult]:
        with shared_bridge() as bridge:
            return bridge.run(acall(arguments))

    return tool.model_copy(update={"func": call, "coroutine": acall})


def without_fence(code: str) -> str:
    """Code without the marks around it that models are used to write in chats."""
    lines = code.strip().splitlines()
    if len(lines) > 1 and lines[0].startswith("```") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1])
    return code


def _marked(answer: Any) -> Any:
    """A failed piece of code as a failed call, with everything that it did before."""
    if isinstance(answer, ToolMessage) and isinstance(answer.artifact, ToolResult) and answer.artifact.is_error:
        return answer.model_copy(update={"status": "error"})
    return answer


def _reply(run: CodeRun, limits: CodeLimits) -> tuple[str, ToolResult]:
    text = reply_text(run, limits)
    blocks: list[Mapping[str, Any]] = [{"type": "text", "text": text}]
    if run.calls:
        blocks.append({"type": "calls", "calls": [call_entry(call) for call in run.calls]})
    for call in run.calls:
        # Tables and media of the calls stay visible: they are what a person wants to look at.
        blocks += call.blocks
    return text, ToolResult(content=tuple(blocks), is_error=run.outcome.error is not None)


def reply_text(run: CodeRun, limits: CodeLimits) -> str:
    """What the model reads: output, result or error."""
    outcome = run.outcome
    parts = [text_for_model(outcome.stdout).strip("\n")] if outcome.stdout.strip() else []
    error = outcome.error
    if error is None and outcome.value is not None:
        try:
            parts.append(f"Result: {text_for_model(shown(outcome.value, limits.result_chars))}")
        except TooLarge as failure:
            error = f"ValueError: the result cannot be shown: {failure}; keep it in a variable and give a part of it"
    if error is not None:
        parts.append(text_for_model(error))
        if not outcome.kept:
            parts.append("The variables are those from before this code.")
    return "\n".join(parts) or "Done; nothing was printed and the last line has no value."


def call_entry(call: ToolCallRecord) -> dict[str, Any]:
    """A call for the trace; without times, so that equal runs give equal traces."""
    text = _preview(call.result) if call.error is None else call.error[:_PREVIEW_CHARS]
    return {
        "tool": call.tool,
        "kind": call.kind,
        "arguments": _bounded(dict(call.arguments)),
        "text": text_for_model(text),
        "is_error": call.error is not None,
        "origin": call.origin,
    }


def _bounded(arguments: dict[str, Any]) -> Any:
    text = json.dumps(arguments, ensure_ascii=False)
    return arguments if len(text) <= 4 * _PREVIEW_CHARS else text[: 4 * _PREVIEW_CHARS] + "…"


def _preview(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _PREVIEW_CHARS else text[:_PREVIEW_CHARS] + "…"
