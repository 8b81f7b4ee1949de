"""The files that make this folder a KNIME extension say what is true."""

import importlib
import json
import struct
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

import knime_ext
import knime_ext.extension
from knime_ext.runtime.knext.nodes import NodeDeclaration
from knime_ext.runtime.registry import declarations_in

ROOT = Path(knime_ext.__file__).parent.parent
POINT = "org.knime.python3.types.PythonValueFactory"


def declarations() -> list[NodeDeclaration]:
    return declarations_in(knime_ext.extension)


def value_factories() -> list[tuple[str, dict[str, str]]]:
    """Module and attributes of every value factory that plugin.xml registers."""
    root = ElementTree.parse(ROOT / "plugin.xml").getroot()
    extensions = [each for each in root.iter("extension") if each.get("point") == POINT]
    modules = [module for each in extensions for module in each.iter("Module")]
    return [(module.attrib["moduleName"], each.attrib) for module in modules for each in module]


def test_knime_yml_names_a_module_in_the_root_that_gives_all_nodes() -> None:
    described = cast("dict[str, Any]", yaml.safe_load((ROOT / "knime.yml").read_text("utf-8")))
    module = described["extension_module"]
    # In knime_ext/ it would put that folder on the path, where our room "mcp" hides the SDK's package.
    assert "/" not in module
    assert [each.id for each in declarations_in(importlib.import_module(module))] == [
        each.id for each in declarations()
    ]
    assert {"name", "group_id", "version", "description", "license_file", "vendor"} <= described.keys()
    assert (ROOT / described["license_file"]).is_file()
    assert described["version"] == knime_ext.__version__


def test_the_example_of_a_development_configuration_names_this_extension() -> None:
    described = cast("dict[str, Any]", yaml.safe_load((ROOT / "knime.yml").read_text("utf-8")))
    config = cast("dict[str, Any]", yaml.safe_load((ROOT / "config.yml").read_text("utf-8")))
    assert list(config) == [f"{described['group_id']}.{described['name']}"]


def test_every_class_that_plugin_xml_names_exists() -> None:
    named = value_factories()
    assert named
    for module_name, attributes in named:
        module = importlib.import_module(module_name)
        factory = getattr(module, attributes["PythonClassName"])()
        type_module, _, type_name = attributes["ValueTypeName"].rpartition(".")
        value_type = getattr(importlib.import_module(type_module), type_name)
        assert issubclass(value_type, factory.compatible_type)


def test_every_module_path_in_plugin_xml_holds_its_module() -> None:
    root = ElementTree.parse(ROOT / "plugin.xml").getroot()
    for module in root.iter("Module"):
        file = ROOT / module.attrib["modulePath"] / (module.attrib["moduleName"].replace(".", "/") + ".py")
        assert file.is_file()


def test_the_default_factory_of_tools_is_the_one_that_the_golden_file_names() -> None:
    golden = json.loads((ROOT / "tests" / "golden" / "tool_struct.json").read_text("utf-8"))
    assert ("knime.types.tool.Tool", golden["value_factory"], "true") in {
        (each["ValueTypeName"], each["ValueFactory"], each["isDefaultPythonRepresentation"])
        for _, each in value_factories()
    }


def test_each_java_factory_has_exactly_one_default_python_type() -> None:
    defaults = [
        each["ValueFactory"] for _, each in value_factories() if each["isDefaultPythonRepresentation"] == "true"
    ]
    assert sorted(defaults) == sorted({each["ValueFactory"] for _, each in value_factories()})


@pytest.mark.parametrize("declaration", declarations(), ids=lambda each: each.id)
def test_every_node_has_an_icon_of_16_pixels_and_its_source(declaration: NodeDeclaration) -> None:
    icon = ROOT / declaration.icon_path
    header = icon.read_bytes()[:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", header[16:24]) == (16, 16)
    assert ElementTree.parse(icon.with_suffix(".svg")).getroot().get("viewBox") == "0 0 16 16"


@pytest.mark.parametrize("declaration", declarations(), ids=lambda each: each.id)
def test_every_node_explains_itself_its_ports_and_its_settings(declaration: NodeDeclaration) -> None:
    title, _, text = (declaration.node_class.__doc__ or "").partition("\n")
    assert title.endswith(".")
    assert len(text.split()) > 50
    for port in [*declaration.input_ports, *declaration.output_ports]:
        assert port.description


@pytest.mark.parametrize("module", ["knime_ext.extension", "mcp_tools_extension"])
def test_loading_the_nodes_loads_nothing_heavy(module: str) -> None:
    # A host imports every node at start-up.
    code = (
        "import sys; from knime_ext.runtime.registry import provide_knime_extension; provide_knime_extension(); "
        f"import {module}; heavy = ['mcp', 'langchain_core', 'httpx', 'httpx2', 'duckdb', 'pandas', 'openai']; "
        "print([each for each in heavy if each in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
