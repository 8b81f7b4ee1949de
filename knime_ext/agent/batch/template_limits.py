"""What a template may do, and how much of it: a sandbox for templates that strangers may have written.

Jinja's sandbox keeps a template away from Python's insides, but not from `'a' * 10**9`, `'%999999999d' % 1` or three
loops within each other. Here every operation whose cost depends on its operands is paid for in advance, out of
one purse per rendering, and whatever is not needed to write a prompt is refused.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, time, timedelta
from functools import wraps
from typing import Any, cast

from jinja2 import Environment, StrictUndefined, Undefined, nodes, pass_context
from jinja2.exceptions import SecurityError
from jinja2.filters import FILTERS
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

__all__ = ["MAX_CHARS", "PromptEnvironment", "RowValues", "limited", "metered"]

MAX_CHARS = 1_000_000
"""Longest text that a template may give."""

_PURSE = 1_000_000
"""What one rendering may cost: one for a step or a value, one for 32 characters. About a second at the very most."""

_CHARS_PER_UNIT = 32

_MAX_BITS = 4096

_FILTERS = (
    "abs capitalize count d default dictsort first float groupby int items last length list lower map max min reject "
    "rejectattr reverse round select selectattr sort string sum title trim truncate unique upper wordcount"
).split()

_TEXT_METHODS = frozenset(
    "capitalize casefold count endswith find index isalnum isalpha isdecimal isdigit islower isnumeric isspace isupper "
    "join lower lstrip partition removeprefix removesuffix replace rfind rpartition rsplit rstrip split splitlines "
    "startswith strip swapcase title upper".split()
)
_METHODS: tuple[tuple[type, frozenset[str]], ...] = (
    (str, _TEXT_METHODS),
    (dict, frozenset(("get", "items", "keys", "values"))),
    (list, frozenset(("count", "index"))),
    (tuple, frozenset(("count", "index"))),
    (date, frozenset(("date", "isoformat", "isoweekday", "strftime", "time", "weekday"))),
    (time, frozenset(("isoformat", "strftime"))),
    (timedelta, frozenset(("total_seconds",))),
)

_ALLOWED_NODES = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.For, nodes.If, nodes.Assign, nodes.With),
    *(nodes.Name, nodes.Const, nodes.List, nodes.Tuple, nodes.Dict, nodes.Pair, nodes.Keyword, nodes.Slice),
    *(nodes.Getattr, nodes.Getitem, nodes.Call, nodes.Filter, nodes.Test, nodes.CondExpr),
    *(nodes.Compare, nodes.Operand, nodes.BinExpr, nodes.UnaryExpr, nodes.Concat),
)

_purse: ContextVar[list[int]] = ContextVar("purse of the rendering")


@contextmanager
def metered() -> Generator[None]:
    """Gives the rendering in the block a full purse."""
    token = _purse.set([_PURSE])
    try:
        yield
    finally:
        _purse.reset(token)


def _pay(units: int) -> None:
    purse = _purse.get()
    purse[0] -= units
    if purse[0] < 0:
        raise SecurityError("it does too much: too many steps, or values that are too large")


def _size(*values: Any) -> int:
    """What it costs to walk through values; stops counting where nobody could pay."""
    total, stack = 0, list(values)
    while stack and total <= _PURSE:
        item = stack.pop()
        if isinstance(item, (Context, Environment)):  # what Jinja passes to some filters
            continue
        total += 1
        if isinstance(item, (str, bytes)):
            total += len(item) // _CHARS_PER_UNIT
        elif isinstance(item, (int, range)):
            total += len(item) if isinstance(item, range) else item.bit_length() // 64
        elif isinstance(item, Mapping):
            mapping = cast("Mapping[Any, Any]", item)
            total += len(mapping)
            stack.extend(mapping.values())
        elif isinstance(item, (list, tuple, set, frozenset)):
            items = cast("Iterable[Any]", item)
            stack.extend(items)
    return total


def _paid(function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that pays for its arguments first, and gives a list where it would give something lazy."""

    @wraps(function)  # which keeps Jinja's mark of what to pass as the first argument
    def call(*args: Any, **options: Any) -> Any:
        _pay(_size(*args, *options.values()))
        result = function(*args, **options)
        return list(cast("Iterator[Any]", result)) if isinstance(result, Iterator) else result

    return call


def _replace(text: Any, old: str, new: str, count: int | None = None) -> str:
    whole = str(text)
    hits = whole.count(old)
    _pay(_size(whole) + hits * (len(new) + 1) // _CHARS_PER_UNIT)
    return whole.replace(old, new, -1 if count is None or count < 0 else count)


def _join(values: Any, separator: str = "", attribute: str | None = None) -> str:
    listed: list[Any] = list(values)
    _pay(_size(listed) + len(listed) * len(separator) // _CHARS_PER_UNIT)
    if attribute is not None:
        listed = [value[attribute] for value in listed]
    return str(separator).join("" if value is None else str(value) for value in listed)


def _tojson(value: Any) -> str:
    """Plain JSON; Jinja's own filter writes it for use within HTML."""
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, RowValues) else str(value)


def _counted(values: Any) -> Iterator[Any]:
    """Pays for every round of a loop."""
    for value in values:
        _pay(1)
        yield value


def _concatenated(values: list[Any]) -> str:
    return "".join("" if value is None else str(value) for value in values)


def _itself(value: Any) -> Any:
    return value


def _times(left: Any, right: Any) -> Any:
    for sequence, number in ((left, right), (right, left)):
        if isinstance(sequence, (str, bytes, list, tuple)) and isinstance(number, int):
            _pay(_size(sequence) * max(0, number) + 1)
    if isinstance(left, int) and isinstance(right, int):
        _check_bits(left.bit_length() + right.bit_length())
    return left * right


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(exponent, int) and isinstance(base, int):
        _check_bits(abs(exponent) * base.bit_length())
    return base**exponent


def _check_bits(bits: int) -> None:
    if bits > _MAX_BITS:
        raise SecurityError("a number is too large")


def _modulo(left: Any, right: Any) -> Any:
    if isinstance(left, (str, bytes)):
        raise SecurityError("% works on numbers only; join texts with ~")
    return left % right


class RowValues(Mapping[str, Any]):
    """The cells of a row by the names of their columns, and nothing else: `row.items` is the column "items"."""

    def __init__(self, cells: Mapping[str, Any]) -> None:
        self._cells = cells

    def __getitem__(self, name: str) -> Any:
        return self._cells[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)

    def __str__(self) -> str:
        # Without it a prompt would have an address in it, another one in every run.
        return _tojson(self)


class PromptEnvironment(ImmutableSandboxedEnvironment):
    """Jinja for prompts: no access to Python, to files or to other templates, and no way to use up the machine."""

    intercepted_binops = frozenset(("+", "*", "**", "%"))

    def __init__(self) -> None:
        super().__init__(undefined=StrictUndefined, keep_trailing_newline=True, optimized=False, finalize=_shown)
        own: dict[str, Callable[..., Any]] = {"tojson": _paid(_tojson), "replace": _replace, "join": _join}
        own |= {"_counted": _counted, "_made": _paid(_itself), "_concatenated": _paid(_concatenated)}
        self.filters = {name: _paid(FILTERS[name]) for name in _FILTERS} | own  # pyright: ignore[reportIncompatibleUnannotatedOverride]
        self.globals = {"range": self.globals["range"]}
        self.binop_table |= {"+": _plus, "*": _times, "**": _power, "%": _modulo}

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """An operation that is paid for in advance."""
        _pay(_size(left, right))
        return super().call_binop(context, operator, left, right)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """A cell of a row, or an attribute that is safe."""
        if isinstance(obj, RowValues):
            return obj[attribute] if attribute in obj else self.undefined(obj=obj, name=attribute)
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """An element, or a slice that is paid for."""
        if isinstance(argument, slice):
            _pay(_size(obj))
        elif isinstance(obj, RowValues):
            argument = str(argument)
            return obj[argument] if argument in obj else self.undefined(obj=obj, name=argument)
        return super().getitem(obj, cast("Any", argument))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: B902
        """Calls one of the few methods that prompts need."""
        for known_to_jinja_alone in ("_loop_vars", "_block_vars"):
            kwargs.pop(known_to_jinja_alone, None)
        if __obj is __self.globals["range"]:
            return __obj(*args, **kwargs)
        owner, name = getattr(__obj, "__self__", None), getattr(__obj, "__name__", "")
        if not any(isinstance(owner, kind) and name in names for kind, names in _METHODS):
            raise SecurityError(f"{name or type(__obj).__name__!r} cannot be called here")
        if isinstance(owner, str) and name in ("replace", "join"):
            return _replace(owner, *args, **kwargs) if name == "replace" else _join(*args, separator=owner)
        _pay(_size(owner, *args, *kwargs.values()))
        return __obj(*args, **kwargs)


def _plus(left: Any, right: Any) -> Any:
    return operator.add(left, right)


@pass_context
def _shown(context: Context, value: Any) -> Any:
    """What is written for a value: nothing for a missing cell. The context keeps Jinja from doing this in advance."""
    if value is None:
        return ""
    if callable(value) and not isinstance(value, Undefined):
        raise SecurityError("a function cannot be written; a column of its name is row['its name']")
    _pay(_size(value))
    return value


class _Metering(NodeTransformer):
    """Makes loops, concatenations and new lists go through the purse, and refuses what prompts do not need."""

    def visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(node, _ALLOWED_NODES) or (isinstance(node, nodes.For) and node.recursive):
            kind = type(node).__name__.lower()
            raise SecurityError(f"line {node.lineno}: {kind!r} cannot be used in a prompt")
        return super().visit(node, *args, **kwargs)

    def visit_For(self, node: nodes.For) -> nodes.Node:
        node = cast("nodes.For", self.generic_visit(node))
        node.iter = _filtered("_counted", cast("nodes.Expr", node.iter))
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        node = cast("nodes.Concat", self.generic_visit(node))
        return _filtered("_concatenated", nodes.List(node.nodes, lineno=node.lineno))

    def _made(self, node: nodes.Expr) -> nodes.Node:
        node = cast("nodes.Expr", self.generic_visit(node))
        stored = getattr(node, "ctx", "load") != "load"  # `for a, b in ...`
        return node if stored else _filtered("_made", node)

    visit_List = visit_Tuple = visit_Dict = _made


def _filtered(name: str, node: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def limited(tree: nodes.Template) -> nodes.Template:
    """The template with all that could cost much going through the purse.

    Raises:
        SecurityError: It uses something that prompts do not need.
    """
    return cast("nodes.Template", _Metering().visit(tree))
