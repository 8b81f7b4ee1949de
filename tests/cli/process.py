"""Runs the command line in a process of its own, as a user does."""

import os
import subprocess
import sys
from pathlib import Path

import knime_ext

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
