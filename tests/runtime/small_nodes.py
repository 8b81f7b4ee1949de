"""Tiny nodes for the tests of the engine; each does one thing that a run must handle."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from knime_ext.runtime import knext
from knime_ext.runtime.document import Workflow, parse_workflow
from knime_ext.runtime.engine import run_workflow
from knime_ext.runtime.registry import NodeRegistry
from knime_ext.runtime.result import RunResult

NUMBERS = knext.Schema.from_columns([knext.Column(knext.int64(), "n")])
OTHER = knext.NodeType.OTHER


def numbers(values: Iterable[int | None]) -> knext.Table:
    return knext.Table.from_pyarrow(pa.table({"n": pa.array(list(values), pa.int64())}))


def values(table: knext.Table) -> list[Any]:
    return table.to_pyarrow().column("n").to_pylist()


@knext.parameter_group("Details")
class Details:
    """Further settings."""

    step = knext.IntParameter("Step", "", 1, min_value=1)
    mode = knext.StringParameter("Mode", "", "up", enum=["up", "down"])
    factor = knext.DoubleParameter("Factor", "", 1.0)
    on = knext.BoolParameter("On", "", True)


@knext.node("Count", OTHER, "i.png", "/")
@knext.output_table("Numbers", "")
class Count:
    """Makes the numbers from 0."""

    rows = knext.IntParameter("Rows", "", 3, min_value=0)
    columns = knext.MultiColumnParameter("Columns", "")
    details = Details()

    def configure(self, ctx: Any) -> Any:
        return NUMBERS

    def execute(self, ctx: Any) -> Any:
        return numbers(range(0, self.rows * self.details.step, self.details.step))


@knext.node("Add", OTHER, "i.png", "/")
@knext.input_table("Numbers", "")
@knext.output_table("Numbers", "")
class Add:
    """Adds to every number."""

    amount = knext.IntParameter("Amount", "", 1)

    def configure(self, ctx: Any, schema: knext.Schema) -> Any:
        if "n" not in schema:
            raise knext.InvalidParametersError("there is no column 'n'; connect a table of numbers")
        return schema

    def execute(self, ctx: Any, table: knext.Table) -> Any:
        return numbers(value + self.amount for value in values(table))


@knext.node("Stack", OTHER, "i.png", "/")
@knext.input_table_group("Tables", "")
@knext.output_table("Numbers", "")
class Stack:
    """Puts tables below each other."""

    def configure(self, ctx: Any, schemas: list[knext.Schema]) -> Any:
        return NUMBERS

    def execute(self, ctx: Any, tables: list[knext.Table]) -> Any:
        return numbers(value for table in tables for value in values(table))


@knext.node("Split", OTHER, "i.png", "/")
@knext.input_table("Numbers", "")
@knext.output_table_group("Singles", "")
class Split:
    """One table per number, as many as are connected."""

    def configure(self, ctx: Any, schema: knext.Schema) -> Any:
        return [[NUMBERS] * ctx.get_connected_output_port_numbers()[0]]

    def execute(self, ctx: Any, table: knext.Table) -> Any:
        wanted = ctx.get_connected_output_port_numbers()[0]
        return [[numbers([value]) for value in values(table)[:wanted]]]


@knext.node("Fail", OTHER, "i.png", "/")
@knext.input_table("Numbers", "", optional=True)
@knext.output_table("Numbers", "")
class Fail:
    """Fails in a chosen way."""

    how = knext.StringParameter("How", "", "explained")
    text = knext.StringParameter("Text", "", "the server is away; start it")

    def configure(self, ctx: Any, schema: Any) -> Any:
        if self.how == "configure":
            raise knext.InvalidParametersError(self.text)
        return NUMBERS

    def execute(self, ctx: Any, table: Any) -> Any:
        match self.how:
            case "bug":
                raise KeyError("missing")
            case "file":
                open("/there/is/no/such/file", encoding="utf-8").close()
            case "few":
                return ()
            case "type":
                return "no table"
            case "secret":
                raise ValueError(f"login with {ctx.get_credentials('db').password} refused")
            case _:
                raise knext.InvalidParametersError(self.text)


@knext.node("Talk", OTHER, "i.png", "/")
@knext.input_table("Numbers", "")
@knext.output_table("Numbers", "")
class Talk:
    """Warns and reports progress."""

    def configure(self, ctx: Any, schema: Any) -> Any:
        ctx.set_warning("be careful")
        return schema

    def execute(self, ctx: Any, table: Any) -> Any:
        ctx.set_progress(0.5, "half way")
        ctx.set_warning("be careful")
        ctx.set_warning("really")
        return table


@knext.node("Show", OTHER, "i.png", "/")
@knext.input_table("Numbers", "")
@knext.output_table("Numbers", "")
@knext.output_view("Page", "")
class Show:
    """Has a view."""

    def configure(self, ctx: Any, schema: Any) -> Any:
        return schema

    def execute(self, ctx: Any, table: knext.Table) -> Any:
        return table, knext.view_html(f"<!doctype html><p>{values(table)}</p>")


@knext.node("Publish", OTHER, "i.png", "/")
class Publish:
    """Sets a flow variable."""

    name = knext.StringParameter("Name", "", "amount")
    value = knext.IntParameter("Value", "", 10)

    def configure(self, ctx: Any) -> Any:
        ctx.flow_variables[self.name] = self.value

    def execute(self, ctx: Any) -> Any:
        self.configure(ctx)


@knext.node("Late", OTHER, "i.png", "/")
@knext.input_table("Numbers", "")
@knext.output_table("Unknown", "")
class Late:
    """Does not know its columns before it executes."""

    column = knext.StringParameter("Column", "", "n")

    def configure(self, ctx: Any, schema: Any) -> Any:
        return None

    def execute(self, ctx: Any, table: knext.Table) -> Any:
        return knext.Table.from_pyarrow(table.to_pyarrow().rename_columns(["<RowID>", self.column]))


class Word(knext.PortObject):
    """A port object."""

    def serialize(self) -> bytes:
        return b""

    @classmethod
    def deserialize(cls, spec: Any, storage: bytes) -> Word:
        return cls(spec)


class WordSpec(knext.PortObjectSpec):
    """Its spec."""

    def __init__(self, text: str) -> None:
        self.text = text

    def serialize(self) -> dict[str, Any]:
        return {"text": self.text}

    @classmethod
    def deserialize(cls, data: dict[str, Any], java_callback: Any = None) -> WordSpec:
        return cls(data["text"])


word_port = knext.port_type("Word", Word, WordSpec)


@knext.node("Say", OTHER, "i.png", "/")
@knext.output_port("Word", "", word_port)
class Say:
    """Makes a port object."""

    text = knext.StringParameter("Text", "", "hello")

    def configure(self, ctx: Any) -> Any:
        return WordSpec(self.text)

    def execute(self, ctx: Any) -> Any:
        return Word(WordSpec(self.text))


@knext.node("Hear", OTHER, "i.png", "/")
@knext.input_port("Word", "", word_port, optional=True)
@knext.output_table("Length", "")
class Hear:
    """Takes a port object."""

    def configure(self, ctx: Any, spec: Any) -> Any:
        return NUMBERS

    def execute(self, ctx: Any, word: Any) -> Any:
        return numbers([None if word is None else len(word.spec.text)])


def calling(function: Callable[[Any], Any]) -> Any:
    """A node without inputs that calls a function with its context and gives out one number."""

    @knext.node("Call", OTHER, "i.png", "/", id="Call")
    @knext.output_table("Numbers", "")
    class Call:
        """Calls back into the test."""

        name = knext.StringParameter("Name", "", "")

        def configure(self, ctx: Any) -> Any:
            return NUMBERS

        def execute(self, ctx: Any) -> Any:
            result = function(ctx)
            return result if isinstance(result, knext.Table) else numbers([0])

    return Call


NODES = (Count, Add, Stack, Split, Fail, Talk, Show, Publish, Late, Say, Hear)
REGISTRY = NodeRegistry.of(*NODES)


def workflow(nodes: dict[str, Any], *connections: tuple[list[Any], list[Any]], name: str = "Test") -> Workflow:
    """A document: identifier to factory, or to (factory, settings), or to a whole node without its identifier."""
    return parse_workflow(document(nodes, *connections, name=name))


def document(nodes: dict[str, Any], *connections: tuple[list[Any], list[Any]], name: str = "Test") -> dict[str, Any]:
    def spec(node: Any) -> dict[str, Any]:
        if isinstance(node, str):
            return {"factory": node}
        return {"factory": node[0], "settings": node[1]} if isinstance(node, tuple) else node

    return {
        "format": 1,
        "name": name,
        "nodes": [{"id": node_id, **spec(node)} for node_id, node in nodes.items()],
        "connections": [{"from": source, "to": target} for source, target in connections],
    }


def wait_for(event: threading.Event) -> None:
    assert event.wait(30), "waited too long"


def wait_until(condition: Callable[[], bool]) -> None:
    """Looks at a condition that cannot be waited for."""
    pause = threading.Event()
    for _ in range(3000):
        if condition():
            return
        pause.wait(0.01)
    raise AssertionError("waited too long")


def run(flow: Workflow, **options: Any) -> RunResult:
    """Runs a workflow of these nodes."""
    given: dict[str, Any] = {"registry": REGISTRY, **options}
    return run_workflow(flow, **given)
