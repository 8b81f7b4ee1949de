"""Where KNIME's own code and the harness are, for the programs that run under them."""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

__all__ = ["ROOT", "TOOL_FACTORY", "harness", "tool_spec"]

ROOT = Path(__file__).parent.parent.parent
TOOL_FACTORY = "org.knime.core.node.agentic.tool.ToolValueFactory"


def harness() -> Any:
    """The harness, from the file that KNIME_HARNESS names; afterwards `knime.extension` is KNIME's own."""
    file = Path(os.environ["KNIME_HARNESS"])
    sys.path.append(str(file.parent))
    module: Any = importlib.import_module(file.stem)
    module.bootstrap()
    return module


def tool_spec(of: Any) -> Any:
    """The struct of tools as the Java factory gives it, made of the golden file."""
    golden = json.loads((ROOT / "tests" / "golden" / "tool_struct.json").read_text(encoding="utf-8"))
    words = {"int8": "byte", "utf8": "string", "int32": "int"}
    return of.struct(*(words[each["arrow"]] for each in golden["fields"]))
