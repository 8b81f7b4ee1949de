"""Imports in code that a model wrote. Pure.

Models are used to import what they call. Tools are there without, so such an import is dropped; modules that the
sandbox has stay; for all others the code gets an ImportError that says what to do.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass

__all__ = ["MODULES", "Edit", "filter_imports", "filtered", "line_starts", "parsed"]

MODULES = frozenset(
    "asyncio base64 binascii bisect collections copy csv dataclasses datetime decimal functools hashlib itertools json "
    "math os pathlib posixpath random re sys time tomllib typing unicodedata __future__".split()
)
"""Modules that the sandbox has, in parts; what touches files, processes or the network fails there."""

TOOLS_MODULE = "tools"


@dataclass(frozen=True, slots=True)
class Edit:
    """A part of the code and what takes its place; positions count bytes of the UTF-8 text."""

    start: int
    end: int
    text: str


def parsed(code: str) -> ast.Module | None:
    """The code as a tree; None if this Python cannot read it, which the sandbox may be able to."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def filter_imports(code: str, tool_names: Collection[str]) -> str:
    """The code without the imports that cannot work, every other line where it was.

    Imports of tools (`import search`, `from tools import search as s`) become nothing or a plain assignment.
    Imports of modules that the sandbox has stay. Every other import becomes a statement that raises an ImportError
    with a hint, so that `try: import x` keeps its meaning.

    Args:
        code: Python code.
        tool_names: Names of the tools.
    """
    tree = parsed(code)
    return code if tree is None else filtered(code, tree, tool_names)


def filtered(code: str, tree: ast.Module, tool_names: Collection[str]) -> str:
    """The same as `filter_imports` for code that is parsed already."""
    starts = line_starts(code)
    modules = _tool_modules(tree, tool_names)
    edits: list[Edit] = []
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Import, ast.ImportFrom, ast.Attribute)):
            continue
        text: str | None = None
        if isinstance(node, ast.Import):
            text = _import(node, tool_names)
        elif isinstance(node, ast.ImportFrom):
            text = _import_from(node, tool_names)
        elif isinstance(node.value, ast.Name) and node.value.id in modules and node.attr in tool_names:
            text = node.attr
        if text is not None:
            edits.append(_edit(node, text, starts))
    return _edited(code, edits) if edits else code


def line_starts(code: str) -> list[int]:
    """Where each line begins, in bytes of the UTF-8 text."""
    starts = [0]
    for line in code.encode("utf-8", "surrogatepass").splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _edit(node: ast.stmt | ast.expr, text: str, starts: list[int]) -> Edit:
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    # As many line ends as there were, so that lines keep their numbers. An expression stands within brackets or on
    # one line; behind a statement nothing follows but perhaps a semicolon.
    padding = "\\\n" * (end_line - node.lineno)
    return Edit(starts[node.lineno - 1] + node.col_offset, starts[end_line - 1] + end_column, padding + text)


def _edited(code: str, edits: list[Edit]) -> str:
    text = code.encode("utf-8", "surrogatepass")
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.text.encode() + text[edit.end :]
    return text.decode("utf-8", "surrogatepass")


def _is_tools_module(module: str, tool_names: Collection[str]) -> bool:
    return module == TOOLS_MODULE or module.endswith(f".{TOOLS_MODULE}") or module in tool_names


def _tool_modules(tree: ast.Module, tool_names: Collection[str]) -> set[str]:
    """Names under which the code imports the tools as a module."""
    aliases = [alias for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    return {alias.asname or alias.name for alias in aliases if alias.name == TOOLS_MODULE} - set(tool_names)


def _import(node: ast.Import, tool_names: Collection[str]) -> str | None:
    if all(alias.name.partition(".")[0] in MODULES for alias in node.names):
        return None
    return "; ".join(_imported(alias, tool_names) for alias in node.names)


def _imported(alias: ast.alias, tool_names: Collection[str]) -> str:
    if alias.name.partition(".")[0] in MODULES:
        return f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
    if alias.name in tool_names:
        return f"{alias.asname} = {alias.name}" if alias.asname and alias.asname != alias.name else "pass"
    return "pass" if alias.name == TOOLS_MODULE else _refusal(alias.name)


def _import_from(node: ast.ImportFrom, tool_names: Collection[str]) -> str | None:
    module = node.module or ""
    if not node.level and module.partition(".")[0] in MODULES:
        return None
    parts: list[str] = []
    for alias in node.names:
        if alias.name in tool_names:
            parts.append(f"{alias.asname} = {alias.name}" if alias.asname not in (None, alias.name) else "pass")
        elif alias.name == "*" and _is_tools_module(module, tool_names):
            parts.append("pass")
        elif _is_tools_module(module, tool_names) or not module:
            parts.append(f"raise ImportError({_no_tool(alias.name)!r})")
        else:
            parts.append(_refusal(module))
    return "; ".join(parts)


def _no_tool(name: str) -> str:
    return f"there is no tool {name!r}; the tools are there without an import"


def _refusal(module: str) -> str:
    text = (
        f"there is no module {module!r} here; call the tools without importing them, "
        f"or use a module that is there ({', '.join(sorted(MODULES - {'__future__', 'os', 'sys', 'pathlib'}))})"
    )
    return f"raise ImportError({text!r})"
