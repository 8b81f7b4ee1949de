"""What KNIME's own code does with columns of tools: `examine_types.py knime-first|ours-first`, answers as JSON.

The argument says whose `knime.types.tool` comes first on the path.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
HEAVY = ("mcp", "langchain_core", "langchain", "httpx", "httpx2", "duckdb", "openai")


def schema_with_a_byte(schema: Any) -> str:
    """What KNIME makes of the schema of a struct that begins with a byte: a type, or the error."""
    simple: dict[str, Any] = {"type": "simple", "traits": {}}
    traits: dict[str, Any] = {"type": "struct", "traits": {}, "inner": [simple, simple]}
    specs = {"type": "struct", "inner_types": ["byte", "string"]}
    wire: dict[str, Any] = {
        "schema": {"specs": ["string", specs], "traits": [simple, traits]},
        "columnNames": ["RowKey", "c"],
        "columnMetaData": [None, None],
    }
    try:
        return str(schema.Schema.deserialize(wire)["c"].ktype)
    except TypeError as error:
        return f"TypeError: {error}"


def steps(harness: Any, runtime: Any, values: Sequence[Any], value_type: type | None = None) -> dict[str, str]:
    """Every stage that a value goes through in KNIME, "" for one that it passes."""
    done = harness.roundtrip(runtime, values, value_type)
    return {step.name: "" if step.ok else step.detail or "failed" for step in done}


def typed_column(knext: Any, tool: Any, values: Sequence[Any]) -> list[bool]:
    """Tools through a pandas column with the type of tools: whether each comes back as it was."""
    import pandas as pd

    series: Any = pd.Series(list(values), dtype=knext.logical(tool.Tool).to_pandas())
    table = knext.Table.from_pandas(pd.DataFrame({"t": series}))
    assert table.schema["t"].ktype == knext.logical(tool.Tool)
    return [before == after for before, after in zip(values, table.to_pyarrow().column("t").to_pylist(), strict=True)]


def older_columns(runtime: Any, knext: Any, tool: Any, workflow: Any) -> dict[str, Any]:
    """Whether KNIME's own nodes find their columns: they compare with the type of WorkflowTool."""
    import pandas as pd

    java = "org.knime.core.node.agentic.tool.WorkflowToolValueFactory"
    table = runtime.from_java_table(runtime.to_java_table(knext.Table.from_pandas(pd.DataFrame({"t": [workflow]}))))
    ktype = table.schema["t"].ktype
    return {
        "found": ktype == knext.logical(tool.WorkflowTool),
        "type": ktype.logical_type,
        "expected": json.dumps({"value_factory_class": java}, separators=(",", ":")),
    }


def main(order: str) -> None:
    """Prints the answers."""
    from tests.knime_parity.knime_code import TOOL_FACTORY, harness, tool_spec

    code = harness()
    if order == "ours-first":
        sys.path.insert(0, str(ROOT / "types"))
    import knime.api.schema as schema  # pyright: ignore[reportMissingImports, reportUnknownVariableType]
    import knime.extension as knext

    runtime = code.Runtime()
    answers: dict[str, Any] = {"byte before": schema_with_a_byte(schema)}
    answers["unknown"] = runtime.register_plugin_xml(ROOT / "plugin.xml", {TOOL_FACTORY: tool_spec(code)})
    extension = runtime.load_extension(knime_yml=str(ROOT / "knime.yml"))
    answers["heavy"] = [name for name in HEAVY if name in sys.modules]
    answers["byte after"] = schema_with_a_byte(schema)
    answers["problems"] = extension.describe()["problems"]
    answers["storage problems"] = [
        each for name in extension.node_ids for each in extension.node(name).storage_problems()
    ]
    answers["nodes"] = sorted(extension.node_ids)

    import knime.types.tool as tool
    from knime.types._byte_in_struct import teach_byte

    echo = tool.MCPTool("echo", "Says it.", {"type": "object"}, "http://localhost:1/mcp", "Echo!")
    ports = [tool.ToolPort("in", "Any.", "Table", None)]
    rank = tool.WorkflowTool("rank", "", {"n": {"type": "integer"}}, -1, ports, [], "v1:a:0:b:-1")
    answers |= {
        "taught again": teach_byte(),
        "file": tool.__file__,
        "mixed": steps(code, runtime, [echo, rank, None, echo]),
        "missing first": steps(code, runtime, [None, echo]),
        "older": steps(code, runtime, [rank, None, rank]),
        "typed": typed_column(knext, tool, [rank, None, echo]),
        "only missing": typed_column(knext, tool, [None, None]),
        "older columns": older_columns(runtime, knext, tool, rank),
    }
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "types")]  # this folder, whatever is installed
    main(sys.argv[1])
