"""Environments: code or single calls, step by step."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from knime_ext.agent import (
    CodeActEnvironment,
    CodeAction,
    CodeLimits,
    MCPToolRegistry,
    ToolCallAction,
    ToolCallingEnvironment,
)
from knime_ext.mcp import MCPClient
from tests.agent_code.tools import half, price_of


def test_code_calls_tools_of_a_server(toolbox_url: str) -> None:
    with CodeActEnvironment(MCPToolRegistry([MCPClient(toolbox_url), half])) as env:
        seen = env.step(CodeAction("total = add(a=1, b=2)\nprint(greet(name='Ada'))\ntotal + half(n=1)"))
        assert (seen.stdout, seen.result, seen.error) == ("Hello, Ada.\n", 3.5, None)
        assert [(call.tool, call.result) for call in seen.tool_calls] == [
            ("add", 3),
            ("greet", "Hello, Ada."),
            ("half", 0.5),
        ]
        assert seen.metadata["step"] == 1 and seen.metadata["state_kept"] is True
        failed = env.step(CodeAction("fail(reason='no')"))
        assert failed.error and "RuntimeError" in failed.error and "no" in failed.error
        assert failed.tool_calls[0].error and failed.result is None


def test_state_lasts_until_it_is_reset() -> None:
    env = CodeActEnvironment(MCPToolRegistry([price_of]))
    env.step(CodeAction("seen = {'Filter': price_of(product='Filter')['price']}"))
    assert env.step(CodeAction("seen")).result == {"Filter": 6}
    env.reset()
    seen = env.step(CodeAction("seen"))
    assert seen.error and seen.error.endswith("NameError: name 'seen' is not defined")
    assert seen.metadata["step"] == 1


def test_what_breaks_a_limit_leaves_the_variables_from_before() -> None:
    env = CodeActEnvironment(MCPToolRegistry([price_of]), CodeLimits(seconds=0.2))
    env.step(CodeAction("kept = 1"))
    seen = env.step(CodeAction("kept = 2\nwhile True:\n    pass"))
    assert seen.error and seen.error.startswith("TimeoutError")
    assert seen.metadata["state_kept"] is False
    assert env.step(CodeAction("kept")).result == 1


def test_results_are_plain_python() -> None:
    env = CodeActEnvironment(MCPToolRegistry())
    text = "import datetime\n(1, {2: 'b'}, {3}, [None, True], 2.5, datetime.date(2026, 1, 2), b'x')"
    result = env.step(CodeAction(text)).result
    assert result[:5] == (1, {2: "b"}, {3}, [None, True], 2.5)
    assert (str(result[5]), result[6]) == ("2026-01-02", b"x")
    point = "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\n[Point(1), print]"
    assert env.step(CodeAction(point)).result == ["<Point>", "<print>"]


def test_steps_are_awaited_too_and_run_one_after_the_other() -> None:
    env = CodeActEnvironment(MCPToolRegistry([half]))

    async def steps() -> list[float]:
        await env.astep(CodeAction("values = []"))
        await asyncio.gather(*(env.astep(CodeAction(f"values.append(half(n={n}))")) for n in range(5)))
        return (await env.astep(CodeAction("values"))).result

    assert sorted(asyncio.run(steps())) == [0, 0.5, 1, 1.5, 2]


def test_the_system_prompt_has_every_tool_with_signature_and_description() -> None:
    prompt = CodeActEnvironment(MCPToolRegistry([price_of, half])).get_system_prompt()
    assert 'def price_of(*, product: str, currency: str = \'EUR\') -> Any:\n    """Price of a product."""' in prompt
    assert 'def half(*, n: int) -> Any:\n    """Half of a number."""' in prompt


def test_a_tool_calling_environment_calls_one_tool_per_step(toolbox_url: str) -> None:
    with ToolCallingEnvironment(MCPToolRegistry([MCPClient(toolbox_url)])) as env:
        assert "add" in [definition.name for definition in env.tools()]
        seen = env.step(ToolCallAction(tool_name="add", parameters={"a": 20, "b": 22}))
        assert seen.metadata["tool_result"] == seen.result == 42
        assert [(call.tool, call.arguments) for call in seen.tool_calls] == [("add", {"a": 20, "b": 22})]
        for wrong in (ToolCallAction(tool_name="sub"), ToolCallAction(tool_name="add", parameters={"a": "x"})):
            failed = env.step(wrong)
            assert failed.error and failed.metadata["tool_result"] is None
        assert (
            asyncio.run(env.astep(ToolCallAction(tool_name="greet", parameters={"name": "Bo"}))).result == "Hello, Bo."
        )


def test_without_the_sandbox_the_error_names_the_extra() -> None:
    program = (
        "import sys\nsys.modules['pydantic_monty'] = None\n"
        "from knime_ext.agent import CodeActEnvironment, MCPToolRegistry, code_tool\n"
        "from knime_ext.errors import ConfigurationError\n"
        "for make in (lambda: CodeActEnvironment(MCPToolRegistry()), lambda: code_tool([])):\n"
        "    try:\n        make()\n    except ConfigurationError as error:\n        print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.count("pip install 'knime-mcp[code]'") == 2


def test_a_limit_of_nothing_is_refused() -> None:
    with (
        pytest.raises(ValueError, match="seconds")
        if False
        else pytest.raises(Exception, match="'seconds' of code is 0")
    ):
        CodeLimits(seconds=0)


def test_a_program_that_ends_while_code_runs_ends_at_once() -> None:
    program = (
        "import threading\nfrom langchain_core.tools import tool\nfrom knime_ext.agent import CodeLimits, code_tool\n"
        "began = threading.Event()\n\n@tool\ndef begin() -> str:\n    'Begins.'\n    began.set()\n    return ''\n\n"
        "python = code_tool([begin], CodeLimits(seconds=60))\n"
        "code = 'begin()\\nwhile True:\\n    pass'\n"
        "threading.Thread(target=python.invoke, args=[{'code': code}], daemon=True).start()\n"
        "assert began.wait(20)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=40, check=False)
    assert (done.returncode, done.stderr) == (0, "")
