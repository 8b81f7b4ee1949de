"""How the look-alike becomes `knime.extension`."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import knime_ext
from knime_ext.runtime import knext

STANDIN = Path(knime_ext.__file__).parent / "runtime" / "standin"


def run(script: str, *paths: Path) -> str:
    lines = [f"sys.path.append({str(path)!r})" for path in paths]
    code = "\n".join(["import sys", *lines, textwrap.dedent(script)])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_names_of_knime_extension_are_pinned() -> None:
    assert sorted(knext.__all__) == sorted(
        """
        And BatchOutputTable BinaryPortObjectSpec BoolParameter Column ColumnFilterConfig ColumnFilterParameter
        ColumnParameter Condition ConfigurationContext ConnectionPortObject Contains Credential
        CredentialPortObjectSpec DateTimeParameter DialogContextCondition DialogCreationContext DictEncodingKeyType
        DoubleParameter Effect EnumParameter EnumParameterOptions EnumSetParameter ExecutionContext
        FilestorePortObject ImageFormat ImagePortObjectSpec IntParameter InvalidParametersError KnimeType
        LayoutDirection ListType LocalPathParameter LogicalType MultiColumnParameter MultilineStringParameter NodeType
        OneOf Or ParameterArray Port PortGroup PortObject PortObjectSpec PortType PrimitiveType PrimitiveTypeId
        PythonNode Schema StringParameter StructType Table Version ViewDeclaration WorkflowExecutionError blob bool_
        category datetime double input_binary input_binary_group input_port input_port_group input_table
        input_table_group int32 int64 list_ logical node null output_binary output_binary_group output_image
        output_image_group output_port output_port_group output_table output_table_group output_view parameter_group
        port_type string struct supported_value_types view view_html view_ipy_repr view_jpeg view_matplotlib
        view_plotly view_png view_seaborn view_svg
        """.split()
    )


def test_node_files_import_it_under_the_name_of_knime() -> None:
    assert run("import knime.extension as k; print(k.IntParameter.__module__)", STANDIN).startswith("knime_ext.")


def test_it_stands_beside_the_value_types() -> None:
    script = "import knime.extension, knime.types.tool; print(knime.types.tool.Tool.__name__)"
    assert run(script, STANDIN) == "Tool"
    assert not list(STANDIN.rglob("__init__.py"))


def test_a_real_knime_wins_wherever_it_is_on_the_path(tmp_path: Path) -> None:
    (tmp_path / "knime").mkdir()
    (tmp_path / "knime" / "extension.py").write_text("WHO = 'the real one'\n", encoding="utf-8")
    assert run("import knime.extension as k; print(k.WHO)", tmp_path, STANDIN) == "the real one"


def test_importing_it_loads_nothing_heavy() -> None:
    script = """
    before = set(sys.modules)
    import knime.extension
    new = set(sys.modules) - before
    heavy = {"pyarrow", "numpy", "pandas", "pydantic", "duckdb", "mcp", "langchain_core", "httpx", "asyncio"}
    print(sorted(heavy & new))
    """
    assert run(script, STANDIN) == "[]"
