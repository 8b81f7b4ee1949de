"""The value factories of tools, under a module name that nobody else has.

KNIME has a module `knime.types.tool` of its own, which knows workflow tools only. Which of the two a process finds
depends on the order of its path, and nobody decides that order. So KNIME is told to look for the factories here, and
here ours takes the place of KNIME's, for the process: the same classes, and the same cells for KNIME's own columns.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from operator import attrgetter
from pathlib import Path
from types import ModuleType

__all__ = ["MCPToolValueFactory", "ToolValueFactory", "ensure_own_module"]


def ensure_own_module(name: str, needed: str) -> ModuleType:
    """The module of that name; ours, which lies beside this file, where another one lacks what is needed.

    Args:
        name: Full name of the module, such as "knime.types.tool".
        needed: What tells ours from an older one, such as "ToolValueFactory".
    """
    found = importlib.import_module(name)
    try:
        attrgetter(needed)(found)
    except AttributeError:
        return _own_module(name)
    return found


def _own_module(name: str) -> ModuleType:
    package, _, leaf = name.rpartition(".")
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{leaf}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    setattr(sys.modules[package], leaf, module)
    return module


_tool = ensure_own_module("knime.types.tool", "ToolValueFactory")
ToolValueFactory = _tool.ToolValueFactory
MCPToolValueFactory = _tool.MCPToolValueFactory
