"""Runs the command line: in a process of its own, as a user does, or faster in that of the tests."""

import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

import knime_ext
from knime_ext.cli.app import app

ROOT = Path(knime_ext.__file__).parent.parent
COMMAND = [sys.executable, "-W", "error", "-m", "knime_ext.cli.app"]


def knime_mcp(*words: str, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs `knime-mcp` with these words and waits for its end."""
    return subprocess.run(
        [*COMMAND, *words],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | env,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def in_this_process(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """What `knime-mcp` does with these words; saves the second or two that its start takes."""
    done = CliRunner().invoke(app, words, env=env)
    return subprocess.CompletedProcess(words, done.exit_code, done.stdout, done.stderr)
