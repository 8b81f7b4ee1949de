"""Which tool each row of a table is for, and where its arguments come from. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from knime.types.tool import MCPTool, Tool
from knime_ext.errors import ConfigurationError
from knime_ext.tools.cell_arguments import ArgumentPlan, Constant, FromColumn

__all__ = ["ArgumentSources", "RowTools"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentSources:
    """Where arguments come from, whatever the tool.

    Attributes:
        columns: Columns that are taken for arguments of the same name.
        mapped: What was chosen for single arguments; it wins.
    """

    columns: Sequence[str] = ()
    mapped: Mapping[str, FromColumn | Constant] = field(default_factory=dict[str, "FromColumn | Constant"])

    def plan(self, tool: Tool, *, strict: bool) -> ArgumentPlan:
        """The plan of a tool; see `ArgumentPlan.make`."""
        return ArgumentPlan.make(tool, self.columns, self.mapped, strict=strict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowTools:
    """The tools that rows call.

    Attributes:
        tools: The tools that a row may be for.
        columns: The columns that calls need.
        single: The plan of the one tool; None if a column names the tool of each row.
        names: That column.
    """

    tools: Sequence[Tool]
    columns: Sequence[str]
    sources: ArgumentSources
    single: ArgumentPlan | None = None
    names: str | None = None
    _by_name: Mapping[str, Sequence[Tool]] = field(default_factory=dict[str, Sequence[Tool]], repr=False)
    _plans: dict[str, ArgumentPlan] = field(default_factory=dict[str, ArgumentPlan], repr=False)

    @classmethod
    def one(cls, tools: Sequence[Tool], name: str, sources: ArgumentSources) -> RowTools:
        """All rows call the same tool.

        Args:
            tools: The tools that there are.
            name: Its name, also on its server; may be empty if there is only one.
            sources: Where its arguments come from.

        Raises:
            ConfigurationError: There is no such tool, or it cannot be called with these arguments.
        """
        if not name and len(tools) != 1:
            raise ConfigurationError(
                f"the tools table has {len(tools)} tools; enter the name of one of them in the dialog"
            )
        tool = _named(_by_name(tools), name) if name else tools[0]
        plan = sources.plan(tool, strict=True)
        return cls(tools=[tool], columns=plan.columns, sources=sources, single=plan)

    @classmethod
    def named_by(cls, column: str, tools: Sequence[Tool], sources: ArgumentSources) -> RowTools:
        """A column names the tool of each row. What a tool does not take of the arguments is left out."""
        needed = {column: None, **{each: None for plan in _plans(tools, sources) for each in plan.columns}}
        return cls(tools=tools, columns=list(needed), sources=sources, names=column, _by_name=_by_name(tools))

    def plan_for(self, row: Mapping[str, Any]) -> ArgumentPlan:
        """The plan of a row's tool.

        Raises:
            ConfigurationError: The row names no tool, or one that cannot be called.
        """
        if self.single is not None:
            return self.single
        assert self.names is not None
        name = row[self.names]
        if name is None:
            raise ConfigurationError(f"the column {self.names!r} names no tool here")
        if name not in self._plans:
            self._plans[name] = self.sources.plan(_named(self._by_name, name), strict=False)
        return self._plans[name]

    def output_schemas(self) -> list[dict[str, Any]]:
        """What the tools say about their results, each different schema once."""
        schemas = [tool.output_schema for tool in self.tools if isinstance(tool, MCPTool)]
        return list({id(schema): schema for schema in schemas if schema is not None}.values())


def _plans(tools: Iterable[Tool], sources: ArgumentSources) -> Iterator[ArgumentPlan]:
    """The plans of the tools that can be called like that."""
    for tool in tools:
        with suppress(ConfigurationError):
            yield sources.plan(tool, strict=False)


def _by_name(tools: Sequence[Tool]) -> dict[str, list[Tool]]:
    """The tools by their names; by their names on their servers where no tool has that name."""
    found: dict[str, list[Tool]] = {}
    for tool in tools:
        found.setdefault(tool.name, []).append(tool)
    wire: dict[str, list[Tool]] = {}
    for tool in tools:
        if isinstance(tool, MCPTool) and tool.tool_name not in found:
            wire.setdefault(tool.tool_name, []).append(tool)
    return {**found, **wire}


def _named(tools: Mapping[str, Sequence[Tool]], name: str) -> Tool:
    same = tools.get(name, ())
    if len(same) == 1:
        return same[0]
    if same:
        raise ConfigurationError(
            f"{len(same)} tools are called {name!r}; give each a name of its own with the Tool Builder"
        )
    known = ", ".join(map(repr, list(tools)[:10])) + (", ..." if len(tools) > 10 else "")
    raise ConfigurationError(f"the tools table has no tool {name!r}; it has {known or 'none'}")
