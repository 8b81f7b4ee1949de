"""Every test of signing in leaves the process as it found it, and the person's own tokens alone."""

from collections.abc import Iterator

import pytest

from knime_ext.mcp.lines import forget_verdicts
from tests.mcp.bench import assert_nothing_new_since, belongings


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    forget_verdicts()
    before = belongings()
    yield
    assert_nothing_new_since(before)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
