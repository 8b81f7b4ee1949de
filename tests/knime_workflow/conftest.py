"""What the tests of KNIME workflows share."""

from __future__ import annotations

import pytest

from knime_ext.runtime import NodeRegistry


@pytest.fixture(scope="session")
def registry() -> NodeRegistry:
    return NodeRegistry.load()
