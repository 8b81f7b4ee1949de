"""What code of a model may not do with names, found in its text. Pure.

The sandbox is what keeps code from the computer; this only turns mistakes that would show later, or never, into a
sentence.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

__all__ = ["refusal"]

_FORBIDDEN = {
    "exec": "write the code itself",
    "eval": "write the expression itself",
    "compile": "write the code itself",
    "__import__": "call the tools without importing them",
    "globals": "use variables by their names",
    "locals": "use variables by their names",
    "vars": "use variables by their names",
    "setattr": "assign the attribute",
    "delattr": "leave the attribute alone",
    "open": "there are no files; use the tools",
    "input": "there is nobody to ask; use the tools",
    "breakpoint": "print what you want to know",
}


def refusal(tree: ast.Module, tools: Collection[str]) -> str | None:
    """Why the code is not run; None if it is.

    Args:
        tree: The code.
        tools: Names of the tools, which stay what they are.
    """
    defined = {name for name, _ in _bound(tree)} | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    for name, line in _bound(tree):
        if name in tools:
            return f"line {line}: {name!r} is a tool and cannot be given another meaning; choose another name"
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in _FORBIDDEN and node.id not in defined:
            return f"line {node.lineno}: {node.id!r} is not there; {_FORBIDDEN[node.id]}"
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and _is_tool(node.value, tools):
            return f"line {node.lineno}: attributes of a tool cannot be changed; leave the tool as it is"
    return None


def _is_tool(node: ast.expr, tools: Collection[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in tools


def _bound(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Every name that the code gives a meaning, with its line.

    Imports are looked at elsewhere; parameters mean something within their function only.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Name(ctx=ast.Store() | ast.Del()):
                yield node.id, node.lineno
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name, node.lineno
            case ast.Global() | ast.Nonlocal():
                for name in node.names:
                    yield name, node.lineno
            case ast.ExceptHandler(name=str()) | ast.MatchAs(name=str()) | ast.MatchStar(name=str()):
                yield str(node.name), node.lineno
            case _:
                pass
