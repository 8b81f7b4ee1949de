"""Tools written to an Arrow file, in the form that the runtime's tables have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import ipc

from knime_ext.runtime.atomic import atomic_file
from knime_ext.runtime.knext.value_types import TOOL_FACTORY, logical_type_text
from knime_ext.tools import encode_tools

if TYPE_CHECKING:
    from knime.types.tool import Tool

__all__ = ["write_tools"]


def write_tools(tools: Sequence[Tool], path: Path) -> None:
    """Writes an Arrow IPC file with the one column "Tool"; it appears whole or not at all.

    Raises:
        ConfigurationError: The file cannot be written.
    """
    column = encode_tools(tools)
    # The extension type as metadata of the field: whoever knows the type gets it, everybody else gets the struct.
    marks = {"ARROW:extension:name": "knime.logical_type", "ARROW:extension:metadata": logical_type_text(TOOL_FACTORY)}
    schema = pa.schema([pa.field("Tool", column.type, metadata=marks)])
    with atomic_file(path) as partial, ipc.new_file(partial, schema) as writer:
        writer.write_batch(pa.record_batch([column], schema=schema))
