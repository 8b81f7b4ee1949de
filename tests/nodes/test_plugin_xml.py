"""plugin.xml against the rules of the extension point, and against what KNIME's own registration leaves free.

The rules are facts about the extension point `org.knime.python3.types.PythonValueFactory`: which elements and
attributes there are, which of them are required, and of what type.
"""

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parent.parent.parent / "plugin.xml"
POINT = "org.knime.python3.types.PythonValueFactory"
TOOLS = "org.knime.core.node.agentic.tool."


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What an element may hold; at least one child where it may have any."""

    required: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    children: frozenset[str] = frozenset()


CONVERTER = Rule(optional=frozenset({"ValueTypeName", "PythonClassName"}))
RULES = {
    "extension": Rule(
        required=frozenset({"point"}), optional=frozenset({"id", "name"}), children=frozenset({"Module"})
    ),
    "Module": Rule(
        required=frozenset({"modulePath", "moduleName"}),
        children=frozenset({"PythonValueFactory", "FromPandasColumnConverter", "ToPandasColumnConverter"}),
    ),
    "PythonValueFactory": Rule(
        required=frozenset({"PythonClassName", "ValueFactory", "ValueTypeName"}),
        optional=frozenset({"isDefaultPythonRepresentation"}),
    ),
    "FromPandasColumnConverter": CONVERTER,
    "ToPandasColumnConverter": CONVERTER,
}


def broken_rules(element: ElementTree.Element) -> Iterator[str]:
    """What an element and everything below it does against the rules."""
    rule, names = RULES[element.tag], set(element.attrib)
    yield from (f"{element.tag} lacks {name}" for name in sorted(rule.required - names))
    yield from (f"{element.tag} has {name}" for name in sorted(names - rule.required - rule.optional))
    yield from (f"{name} of {element.tag} is empty" for name, value in element.attrib.items() if not value.strip())
    if element.get("isDefaultPythonRepresentation", "true") not in ("true", "false"):
        yield f"isDefaultPythonRepresentation is {element.get('isDefaultPythonRepresentation')!r}"
    if rule.children and len(element) == 0:
        yield f"{element.tag} is empty"
    for child in element:
        if child.tag in rule.children:
            yield from broken_rules(child)
        else:
            yield f"{element.tag} holds {child.tag}"


def extensions(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [each for each in root.iter("extension") if each.get("point") == POINT]


def registrations() -> dict[tuple[str, str], tuple[str, bool]]:
    """Python type and Java class to the Python class and whether the type is the default."""
    found: dict[tuple[str, str], tuple[str, bool]] = {}
    for each in ElementTree.parse(PLUGIN).getroot().iter("PythonValueFactory"):
        default = each.get("isDefaultPythonRepresentation", "true") == "true"
        key = each.attrib["ValueTypeName"], each.attrib["ValueFactory"]
        assert key not in found
        found[key] = each.attrib["PythonClassName"], default
    return found


def test_plugin_xml_keeps_the_rules_of_the_extension_point() -> None:
    found = extensions(ElementTree.parse(PLUGIN).getroot())
    assert len(found) == 1
    assert list(broken_rules(found[0])) == []


@pytest.mark.parametrize(
    ("xml", "complaint"),
    [
        (f'<extension point="{POINT}"/>', "extension is empty"),
        (f'<extension point="{POINT}"><Module modulePath="types"/></extension>', "Module lacks moduleName"),
        (f'<extension point="{POINT}"><Factory/></extension>', "extension holds Factory"),
        (f'<extension point="{POINT}" version="1"/>', "extension has version"),
        (
            f'<extension point="{POINT}"><Module modulePath="a" moduleName="b"><PythonValueFactory PythonClassName="C" '
            'ValueFactory="D" ValueTypeName="E" isDefaultPythonRepresentation="yes"/></Module></extension>',
            "isDefaultPythonRepresentation is 'yes'",
        ),
    ],
)
def test_the_rules_find_what_is_wrong(xml: str, complaint: str) -> None:
    assert complaint in list(broken_rules(ElementTree.fromstring(xml)))


def test_tool_is_the_default_type_of_the_tool_factory_and_mcp_tool_stands_beside_it() -> None:
    assert registrations() == {
        ("knime.types.tool.Tool", TOOLS + "ToolValueFactory"): ("ToolValueFactory", True),
        ("knime.types.tool.MCPTool", TOOLS + "ToolValueFactory"): ("MCPToolValueFactory", False),
    }


def test_nothing_is_registered_that_knime_registers_itself() -> None:
    # Two defaults for one Java factory are an error in KNIME's log, and a type that is registered beside a default
    # wins over the registration that makes it a default: KNIME's own agent nodes would lose their tool columns.
    knimes_own = ("knime.types.tool.WorkflowTool", TOOLS + "WorkflowToolValueFactory")
    assert not any(set(knimes_own) & set(key) for key in registrations())


def test_defaults_come_before_the_types_beside_them() -> None:
    defaults: set[str] = set()
    for (_, java), (_, default) in registrations().items():
        assert default or java in defaults
        defaults.add(java)
