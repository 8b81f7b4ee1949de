"""Makes sure that `knime.types.tool` and `knime.types.message` are the ones that these nodes need.

KNIME has a module of the first name itself, KNIME's AI extension one of the second. Both read and write the same cells
as ours and know less; which of them a process finds first depends on the order of its path.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from knime_ext.errors import ConfigurationError

__all__ = ["provide_value_types"]

_OWN_FOLDER = Path(__file__).parents[2] / "types"
"""Where ours lie in the sources and in a bundle. An installed package has them on its path instead."""


def provide_value_types(own_folder: Path = _OWN_FOLDER) -> None:
    """Loads both modules; where an older one comes first on the path, ours takes its place in this process.

    Args:
        own_folder: Folder to look in besides the path.

    Raises:
        ConfigurationError: Ours are nowhere.
    """
    if (own_folder / "knime").is_dir() and str(own_folder) not in sys.path:
        sys.path.append(str(own_folder))
        importlib.invalidate_caches()
    try:
        from knime.types.unified_tool import ensure_own_module
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "the value types of tools are missing (module 'knime.types.unified_tool'): install the extension again, "
            "or put the folder 'types' of its sources next to 'mcp_tools_extension.py'"
        ) from error
    ensure_own_module("knime.types.message", "MessageValue.text")
