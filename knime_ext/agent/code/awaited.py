"""Which calls of tools the code awaits. Pure.

A tool may be called plainly (`x = tool()`) or awaited (`await tool()`, `asyncio.gather(*[tool(i) for i in ids])`).
Python code cannot be asked what it will do with a value, so the text of the code is looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

__all__ = ["awaited_calls"]

_TAKERS = frozenset({"gather", "wait", "wait_for", "as_completed", "create_task", "ensure_future", "shield"})
_KEEPERS = frozenset({"append", "add", "insert", "extend"})


def awaited_calls(tree: ast.AST, names: Collection[str], starts: Sequence[int]) -> frozenset[tuple[int, int]]:
    """Where the awaited calls stand, as first and last byte of each in the UTF-8 text.

    Args:
        tree: The parsed code.
        names: Names of the tools.
        starts: Where each line begins in the UTF-8 text.
    """
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    awaited = _awaited_names(tree)
    return frozenset(
        (starts[node.lineno - 1] + node.col_offset, starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0))
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in names
        and _is_awaited(node, parents, awaited)
    )


def _name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _names_in(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _awaited_names(tree: ast.AST) -> set[str]:
    """Variables whose value, or whose items, are awaited somewhere."""
    found: set[str] = set()
    loops: list[tuple[set[str], set[str]]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Await) and not isinstance(node.value, ast.Call):
            found |= _names_in(node.value)
        elif isinstance(node, ast.Call) and _name_of(node.func) in _TAKERS:
            for argument in node.args:
                found |= _names_in(argument)
        elif isinstance(node, (ast.For, ast.comprehension)):
            loops.append((_names_in(node.target), _names_in(node.iter)))
    size = -1
    while size != len(found):
        size = len(found)
        for target, source in loops:
            if target & found:
                found |= source
    return found


def _is_awaited(call: ast.Call, parents: dict[ast.AST, ast.AST], awaited: set[str]) -> bool:
    node: ast.AST = call
    while (parent := parents.get(node)) is not None:
        match parent:
            case ast.Await():
                return True
            case ast.Call() if _name_of(parent.func) in _TAKERS:
                return True
            case ast.Call(func=ast.Attribute(value=kept)) if _name_of(parent.func) in _KEEPERS:
                return bool(_names_in(kept) & awaited)
            case ast.Assign():
                return any(_names_in(target) & awaited for target in parent.targets)
            case ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
                return bool(_names_in(parent.target) & awaited)
            case ast.expr() | ast.Starred() if not isinstance(parent, (ast.Call, ast.Attribute, ast.BinOp)):
                node = parent
            case _:
                return False
    return False
