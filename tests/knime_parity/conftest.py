"""Programs under KNIME's own Python code, where it is there.

What is needed: the environment variable KNIME_PYTHON_SRC with a checkout of the repository knime/knime-python; the
harness that stands for KNIME's Java side, in KNIME_HARNESS or at ../shared/tools/knime_harness.py beside this
repository; a Python with what KNIME's code needs, in KNIME_PYTHON or in .venv-knime. `make knime` sees to the last.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from knime_ext.runtime.registry import provide_knime_extension

provide_knime_extension()

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
HARNESS = Path(os.environ.get("KNIME_HARNESS", ROOT.parent / "shared" / "tools" / "knime_harness.py"))
PYTHON = Path(os.environ.get("KNIME_PYTHON", ROOT / ".venv-knime" / "bin" / "python"))

Program = Callable[..., Any]


def _missing() -> str | None:
    source = os.environ.get("KNIME_PYTHON_SRC")
    if not source:
        return "KNIME_PYTHON_SRC is not set: nothing was compared with KNIME's own code; run `make knime`"
    if not Path(source).is_dir():
        return f"KNIME_PYTHON_SRC is {source!r}, which is no folder"
    if not HARNESS.is_file():
        return f"there is no harness at {str(HARNESS)!r}; name it in KNIME_HARNESS"
    return None if PYTHON.is_file() else f"there is no Python at {str(PYTHON)!r}; run `make knime`"


def run(python: str | Path, home: Path, program: str, *arguments: str, given: str = "") -> Any:
    """The JSON that a program of this folder prints, with an operator's folder of its own and no other permissions."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("KNIME_MCP_")}
    done = subprocess.run(
        [str(python), str(HERE / program), *arguments],
        input=given,
        cwd=ROOT,
        env={**variables, "KNIME_HARNESS": str(HARNESS), "KNIME_MCP_HOME": str(home), "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="session")
def in_knime(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Runs a program under KNIME's own code; the test is skipped where that is not there."""
    reason = _missing()
    if reason is not None:
        pytest.skip(reason)
    return partial(run, PYTHON, tmp_path_factory.mktemp("knime"))


@pytest.fixture(scope="session")
def in_runtime(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Runs a program with this Python, where `knime.extension` is the look-alike."""
    return partial(run, sys.executable, tmp_path_factory.mktemp("runtime"))
