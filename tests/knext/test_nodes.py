"""What `node` makes of a class, and what the port decorators add to it."""

from __future__ import annotations

import inspect
from typing import Any

import pyarrow as pa
import pytest

from knime_ext.runtime import knext
from knime_ext.runtime.knext.node_ports import Port, PortGroup, ViewDeclaration
from knime_ext.runtime.knext.nodes import CategoryPath, NodeDeclaration


@knext.node("Sample Node", knext.NodeType.MANIPULATOR, "icons/sample.png", "/community", keywords=["one", "two"])
@knext.input_table("First", "the first input")
@knext.input_table("Second", "the second input", optional=True)
@knext.input_table_group("Others", "all the others")
@knext.output_table("Result", "the result")
@knext.output_table_group("Parts", "the parts")
@knext.output_view("Page", "the page")
class Sample:
    """Does something.

    In more words.
    """

    limit = knext.IntParameter("Limit", "how many", 3)

    def configure(self, ctx: Any, schema: knext.Schema, second: Any, others: Any) -> Any:
        return schema[["a"]], [schema]

    def execute(self, ctx: Any, table: knext.Table, second: Any, others: Any) -> Any:
        return table[["a"]], [table], knext.view_html("<p>page</p>")


def test_the_decorated_name_is_a_function_that_makes_instances() -> None:
    assert inspect.isfunction(Sample)
    assert Sample.__name__ == "Sample"
    assert Sample().limit == 3


def test_the_declaration_holds_everything_a_registry_needs() -> None:
    declaration = Sample.__knext_node__
    assert isinstance(declaration, NodeDeclaration)
    assert (declaration.id, declaration.name, declaration.type) == ("Sample", "Sample Node", knext.NodeType.MANIPULATOR)
    assert (declaration.icon_path, declaration.category) == ("icons/sample.png", "/community")
    assert declaration.keywords == ("one", "two")
    assert not declaration.is_deprecated
    assert not declaration.is_hidden
    assert declaration.description == "Does something.\n\nIn more words."
    assert declaration.output_view == ViewDeclaration("Page", "the page")
    assert type(declaration.create()) is declaration.node_class


def test_ports_are_in_reading_order() -> None:
    declaration = Sample.__knext_node__
    assert [port.name for port in declaration.input_ports] == ["First", "Second", "Others"]
    assert [port.name for port in declaration.output_ports] == ["Result", "Parts"]
    assert declaration.input_ports[1] == Port(knext.PortType.TABLE, "Second", "the second input", None, True)
    assert declaration.input_ports[2] == PortGroup(knext.PortType.TABLE, "Others", "all the others")


def test_instances_carry_their_ports_and_view() -> None:
    node: Any = Sample()
    assert [port.name for port in node.input_ports] == ["First", "Second", "Others"]
    assert [port.name for port in node.output_ports] == ["Result", "Parts"]
    assert node.output_view.name == "Page"


def test_slices_that_a_node_returns_arrive_whole() -> None:
    schema = knext.Schema.from_columns([knext.Column(knext.int64(), "a"), knext.Column(knext.int64(), "b")])
    first, rest = Sample().configure(None, schema, None, [])
    assert isinstance(first, knext.Schema)
    assert first.column_names == ["a"]
    assert rest == [schema]
    table, parts, view = Sample().execute(None, knext.Table.from_pyarrow(pa.table({"a": [1], "b": [2]})), None, [])
    assert isinstance(table, knext.Table)
    assert table.column_names == ["a"]
    assert parts[0].column_names == ["a", "b"]
    assert view.html == "<p>page</p>"


def test_a_single_slice_and_none_arrive_as_they_should() -> None:
    @knext.node("One", knext.NodeType.OTHER, "", "/")
    class One:
        def configure(self, ctx: Any, schema: Any) -> Any:
            return None if schema is None else schema["a"]

        def execute(self, ctx: Any) -> Any:
            return b"bytes"

    schema = knext.Schema.from_columns(knext.Column(knext.string(), "a"))
    assert One().configure(None, None) is None
    assert isinstance(One().configure(None, schema), knext.Column)
    assert One().execute(None) == b"bytes"


def test_the_id_can_be_given_and_an_unknown_type_is_no_error() -> None:
    @knext.node("N", "something", "", "/", id="stable", after="other", is_deprecated=True, is_hidden=True)
    class Renamed:
        def configure(self, ctx: Any) -> None: ...
        def execute(self, ctx: Any) -> None: ...

    declaration = Renamed.__knext_node__
    assert (declaration.id, declaration.type, declaration.after) == ("stable", None, "other")
    assert declaration.is_deprecated
    assert declaration.is_hidden


def test_marking_registers_nothing() -> None:
    def make() -> Any:
        @knext.node("Twin", knext.NodeType.OTHER, "", "/")
        class Twin:
            def configure(self, ctx: Any) -> None: ...
            def execute(self, ctx: Any) -> None: ...

        return Twin

    assert make().__knext_node__.node_class is not make().__knext_node__.node_class


def test_a_subclass_adds_ports_of_its_own_and_leaves_its_base_alone() -> None:
    @knext.input_table("Base", "of the base")
    class Base:
        def configure(self, ctx: Any) -> None: ...
        def execute(self, ctx: Any) -> None: ...

    @knext.node("Sub", knext.NodeType.OTHER, "", "/")
    @knext.input_table("Sub", "of the subclass")
    class Sub(Base):
        pass

    assert [port.name for port in Sub.__knext_node__.input_ports] == ["Sub", "Base"]
    assert [port.name for port in Base.input_ports] == ["Base"]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownMemberType]


def test_ports_can_be_set_in_the_constructor_instead() -> None:
    @knext.node("Own", knext.NodeType.OTHER, "", "/")
    class Own(knext.PythonNode):
        def __init__(self) -> None:
            self.input_ports = [knext.Port(knext.PortType.TABLE, "In", "in")]

        def configure(self, config_context: Any, *inputs: Any) -> None: ...
        def execute(self, exec_context: Any, *inputs: Any) -> None: ...

    assert [port.name for port in Own.__knext_node__.input_ports] == ["In"]
    assert Own.__knext_node__.output_ports == ()


def test_decorators_refuse_to_add_to_ports_that_the_class_sets_itself() -> None:
    class Own:
        input_ports = (knext.Port(knext.PortType.TABLE, "In", "in"),)

    with pytest.raises(ValueError, match="'Own' sets 'input_ports' itself"):
        knext.input_table("More", "more")(Own)


def test_two_groups_of_one_direction_must_differ_in_name() -> None:
    class Twice:
        pass

    knext.input_table_group("Data", "in")(Twice)
    knext.output_table_group("Data", "out")(Twice)
    with pytest.raises(ValueError, match="already has a port group named 'Data' in 'input_ports'"):
        knext.input_table_group("Data", "again")(Twice)


def test_loose_parameters_on_an_instance_are_refused() -> None:
    @knext.node("Loose", knext.NodeType.OTHER, "", "/")
    class Loose:
        def __init__(self) -> None:
            self.limit = knext.IntParameter("Limit")

        def configure(self, ctx: Any) -> None: ...
        def execute(self, ctx: Any) -> None: ...

    with pytest.raises(AttributeError, match="sets the parameter 'limit' in its constructor"):
        Loose()


@pytest.mark.parametrize(
    ("decorator", "slot", "port"),
    [
        (knext.input_binary("P", "d", "my.id"), "input_ports", Port(knext.PortType.BINARY, "P", "d", "my.id")),
        (knext.input_port("P", "d", "PortType.IMAGE"), "input_ports", Port("PortType.IMAGE", "P", "d")),
        (knext.input_port("P", "d", port_type="x", optional=True), "input_ports", Port("x", "P", "d", None, True)),
        (knext.input_port_group("P", "d", "x"), "input_ports", PortGroup("x", "P", "d")),
        (knext.input_binary_group("P", "d", "i"), "input_ports", PortGroup(knext.PortType.BINARY, "P", "d", "i")),
        (knext.output_binary("P", "d", "my.id"), "output_ports", Port(knext.PortType.BINARY, "P", "d", "my.id")),
        (knext.output_port("P", "d", "x"), "output_ports", Port("x", "P", "d")),
        (knext.output_image("P", "d"), "output_ports", Port(knext.PortType.IMAGE, "P", "d")),
        (knext.output_image_group("P", "d"), "output_ports", PortGroup(knext.PortType.IMAGE, "P", "d")),
        (knext.output_port_group("P", "d", "x"), "output_ports", PortGroup("x", "P", "d")),
        (knext.output_binary_group("P", "d"), "output_ports", PortGroup(knext.PortType.BINARY, "P", "d")),
    ],
)
def test_every_decorator_adds_its_kind_of_port(decorator: Any, slot: str, port: Port | PortGroup) -> None:
    class Bare:
        pass

    assert getattr(decorator(Bare), slot) == [port]


def test_a_binary_port_needs_an_id_and_port_texts_must_be_texts() -> None:
    with pytest.raises(TypeError, match="needs an 'id'"):
        Port(knext.PortType.BINARY, "P", "d")
    with pytest.raises(TypeError, match="name of a port must be a text, not int"):
        PortGroup(knext.PortType.TABLE, 5, "d")  # pyright: ignore[reportArgumentType]


def test_a_category_is_its_path_and_knows_the_rest() -> None:
    path = knext.category(
        "/community", "tools", "Tools", "Nodes for tools", "icons/tools.png", after="io", locked=False
    )
    assert path == "/community/tools"
    assert isinstance(path, CategoryPath)
    assert (path.category.name, path.category.after, path.category.locked) == ("Tools", "io", False)
    assert knext.category("/", "top", "Top", "", "") == "/top"


def test_a_python_node_needs_configure_and_execute() -> None:
    class Half(knext.PythonNode):
        def configure(self, config_context: Any, *inputs: Any) -> None: ...

    with pytest.raises(TypeError, match="execute"):
        knext.node("Half", knext.NodeType.OTHER, "", "/")(Half)
