"""The nodes are imported as a host does it: with `knime.extension` on the path."""

from pathlib import Path

import pytest

from knime_ext.runtime.registry import provide_knime_extension

provide_knime_extension()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What nodes remember stays in the test."""
    monkeypatch.setenv("KNIME_MCP_HOME", str(tmp_path / "home"))
    return tmp_path / "home"
