"""A Python process of KNIME's that does not run this extension, such as a Python Script node: answers as JSON.

KNIME has told it of the value factories in plugin.xml, its own `knime.types.tool` comes first on the path, and then a
table with tools arrives.
"""

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent


def tool_table(runtime: Any, code: Any, factory: str, spec: Any) -> Any:
    """A table with one MCP tool and a missing cell, as it comes from Java."""
    import knime._arrow._types as arrow_types  # pyright: ignore[reportMissingImports]
    import knime.api.types as types  # pyright: ignore[reportMissingImports]
    import knime.extension as knext
    import pyarrow as pa

    arrow: Any = arrow_types
    logical = code.logical_type_string(factory)
    converter = types.get_converter(logical)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    dtype = arrow.LogicalTypeExtensionType(converter, arrow.data_spec_to_arrow(spec), logical)
    values = [1, "echo", "", "{}", None, None, -1, None, "http://localhost/mcp"]
    cell: dict[str, Any] = {str(at): value for at, value in enumerate(values)}
    storage = pa.array([cell, None], dtype.storage_type)
    table = knext.Table.from_pyarrow(pa.table({"t": pa.ExtensionArray.from_storage(dtype, storage)}))
    return runtime.to_java_table(table)


def main() -> None:
    """Prints what the process sees."""
    from tests.knime_parity.knime_code import TOOL_FACTORY, harness, tool_spec

    code = harness()
    runtime = code.Runtime()
    runtime.register_plugin_xml(ROOT / "plugin.xml", {TOOL_FACTORY: tool_spec(code)})
    import knime.types.tool as before

    source = runtime.from_java_table(tool_table(runtime, code, TOOL_FACTORY, tool_spec(code)))
    cells = list(source.to_pandas()["t"])
    import knime.types.tool as after

    answers = {
        "knime's first": not hasattr(before, "MCPTool"),
        "type": str(source.schema["t"].ktype),
        "cells": [type(cell).__name__ for cell in cells],
        "is ours": isinstance(cells[0], after.MCPTool),
    }
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "types")]  # this folder, whatever is installed
    main()
