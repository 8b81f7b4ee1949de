"""The command line before any command does its work: help, usage, what gets imported."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import knime_ext

ROOT = Path(knime_ext.__file__).parent.parent


def knime_mcp(*words: str, timeout: float = 60, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs the command line in a process of its own."""
    command = [sys.executable, "-m", "knime_ext.cli.app", *words]
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | env, capture_output=True, text=True, timeout=timeout, check=False
    )


def test_the_version_is_that_of_the_package() -> None:
    done = knime_mcp("--version")
    assert (done.returncode, done.stdout) == (0, f"knime-mcp {knime_ext.__version__}\n")


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["demo", "--help"], ["tools", "call", "--help"]])
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    # Help has to answer at once; which modules are loaded decides about that, and can be tested without a clock.
    code = (
        "import sys, json\n"
        "from knime_ext.cli.app import app\n"
        f"try: app({words!r})\n"
        "except SystemExit: pass\n"
        "heavy = ['mcp', 'langchain_core', 'pyarrow', 'duckdb', 'httpx', 'httpx2', 'rich.console', "
        "'jsonschema', 'asyncio', 'knime_ext.runtime', 'knime_ext.tools']\n"
        "print(json.dumps([each for each in heavy if each in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert "Usage:" in done.stdout
    assert json.loads(done.stdout.splitlines()[-1]) == []


def test_help_names_every_command() -> None:
    for word in ("demo", "run", "tools"):
        assert word in knime_mcp("--help").stdout
    for word in ("list", "call", "export"):
        assert word in knime_mcp("tools", "--help").stdout


@pytest.mark.parametrize(
    "words", [["nonsense"], ["run"], ["tools", "call", "http://localhost:1/"], ["run", "x.json", "--nonsense"]]
)
def test_wrong_usage_exits_with_2(words: list[str]) -> None:
    done = knime_mcp(*words)
    assert done.returncode == 2
    assert "Usage:" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--set", "nonsense"], "'nonsense' is no setting; write it as --set NODE.PARAM=VALUE"),
        (["--set", "node=1"], "'node=1' is no setting; write it as --set NODE.PARAM=VALUE"),
        (["--credential", "name"], "'name' is no credential; write it as --credential NAME=VARIABLE"),
        (
            ["--credential", "name=KNIME_MCP_NO_SUCH_VARIABLE"],
            "credential 'name': the environment variable 'KNIME_MCP_NO_SUCH_VARIABLE' is not set; set it first",
        ),
    ],
)
def test_an_option_of_another_form_is_one_sentence(words: list[str], sentence: str) -> None:
    done = knime_mcp("run", "workflow.json", *words)
    assert done.returncode == 2
    assert done.stderr.strip().casefold() == f"error: {sentence}".casefold()
