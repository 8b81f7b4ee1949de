"""Documents of all kinds, for properties."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from hypothesis import strategies as st

from knime_ext.runtime import NodeRegistry, Workflow, parse_workflow
from knime_ext.runtime.knext.settings import parameter_schema
from knime_ext.runtime.plan import NodeShape

REGISTRY = NodeRegistry.load()
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
PLAIN_TEXT = st.text(max_size=8)
NUMBERS = st.floats(allow_nan=False)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(PLAIN_TEXT, inner, max_size=2),
    max_leaves=4,
)
NODE_IDS = st.text(st.sampled_from("abcXYZ019_- äß漢😀(#)%&'"), min_size=1, max_size=8).filter(
    lambda name: name == name.strip()
)


def _of_schema(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Values of a setting that its node accepts, as far as its schema tells."""
    if "oneOf" in schema:
        return st.sampled_from([choice["const"] for choice in schema["oneOf"]])
    kind = schema.get("type")
    if kind == "array":
        return st.lists(_of_schema(schema.get("items", {})), max_size=3)
    if kind == "object":
        inner = {name: _of_schema(each) for name, each in schema.get("properties", {}).items()}
        # A column filter has no `selected` in a document.
        inner.pop("selected", None)
        return st.fixed_dictionaries(inner)
    simple: dict[Any, st.SearchStrategy[Any]] = {
        "integer": st.integers(-(2**31), 2**31 - 1),
        "number": st.floats(allow_nan=False, allow_infinity=False),
        "boolean": st.booleans(),
    }
    return simple.get(kind, st.text(max_size=8) | st.sampled_from(["1", "2.5", "true", "x", "<RowID>", "\\t", ""]))


TABLES = st.lists(
    st.lists(st.sampled_from(["null", '""', '"?"', '"red"', '"ä\\n"']), min_size=2, max_size=2), max_size=4
).map(lambda rows: "[" + ", ".join(f"[{', '.join(row)}]" for row in rows) + "]")


@cache
def _properties(factory: str) -> Mapping[str, Any]:
    return parameter_schema(REGISTRY.declaration(factory).create())["properties"]


@cache
def settings_of(factory: str) -> st.SearchStrategy[dict[str, Any]]:
    """Settings that a node accepts; some of its parameters."""
    properties = _properties(factory)
    values = {name: _of_schema(schema) for name, schema in properties.items()}
    if factory == "TableCreator":
        columns = [{"name": "a", "type": "STRING"}, {"name": "b", "type": "STRING"}]
        return st.fixed_dictionaries({"columns": st.just(columns), "rows": TABLES})
    return st.fixed_dictionaries({}, optional=values)


@cache
def _odd_settings(factory: str) -> st.SearchStrategy[dict[str, Any]]:
    names = st.sampled_from([*_properties(factory), "unknown"]) | PLAIN_TEXT
    return st.dictionaries(names, JUNK, max_size=4)


@st.composite
def documents(draw: st.DrawFn, *, sensible: bool = False) -> Workflow:
    """A document whose connections end at existing ports; its settings need not make sense."""
    folded = draw(st.lists(NODE_IDS, max_size=5, unique_by=lambda name: name.casefold()))
    nodes = [_node(draw, node_id, sensible) for node_id in folded]
    tree = {
        "format": 1,
        "name": draw(PLAIN_TEXT.filter(bool)),
        "description": draw(PLAIN_TEXT),
        "nodes": nodes,
        "connections": _connections(draw, nodes, REGISTRY.shapes),
    }
    return parse_workflow(tree)


def _node(draw: st.DrawFn, node_id: str, sensible: bool) -> dict[str, Any]:
    factory = draw(st.sampled_from(sorted(REGISTRY)))
    settings = settings_of(factory)
    if not sensible:
        settings = settings | _odd_settings(factory)
    node: dict[str, Any] = {"id": node_id, "factory": factory, "settings": draw(settings)}
    node["comment"] = draw(PLAIN_TEXT)
    whole = st.integers(-5000, 5000).map(float)
    node["position"] = draw(st.none() | st.tuples(whole, whole) | st.tuples(NUMBERS, NUMBERS))
    names = sorted(_properties(factory))
    node["flow_variables"] = draw(st.dictionaries(st.sampled_from(names), PLAIN_TEXT, max_size=2)) if names else {}
    return node


def _connections(draw: st.DrawFn, nodes: list[dict[str, Any]], shapes: Mapping[str, NodeShape]) -> list[dict[str, Any]]:
    if not nodes:
        return []
    found: list[dict[str, Any]] = []
    taken: set[tuple[str, Any]] = set()
    for _ in range(draw(st.integers(0, 8))):
        source, target = draw(st.sampled_from(nodes)), draw(st.sampled_from(nodes))
        outputs, inputs = shapes[source["factory"]].outputs, shapes[target["factory"]].inputs
        if not outputs or not inputs or draw(st.booleans()):
            found.append({"from": [source["id"], "variables"], "to": [target["id"], "variables"]})
            continue
        out, into = draw(st.integers(0, len(outputs) - 1)), draw(st.integers(0, len(inputs) - 1))
        if (target["id"], into) in taken and not inputs[into].group:
            continue
        taken.add((target["id"], into))
        end = [source["id"], out] if not outputs[out].group else [source["id"], out, draw(st.integers(0, 3))]
        found.append({"from": cast("list[Any]", end), "to": [target["id"], into]})
    return found
