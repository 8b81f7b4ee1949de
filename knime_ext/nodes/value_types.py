"""Makes sure that `knime.types.tool` and `knime.types.message` are the ones that these nodes need.

KNIME has a module `knime.types.tool` of its own, KNIME's AI extension one called `knime.types.message`. Both know less
than ours, which read and write the same cells; which of them a process finds first depends on the order of its path.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from types import ModuleType

from knime_ext.errors import ConfigurationError

__all__ = ["provide_value_types"]

_NEEDED = {"knime.types.tool": "ToolValueFactory", "knime.types.message": "MessageValue.text"}
"""What tells our module from an older one of the same name."""

_OWN_FOLDER = Path(__file__).parents[2] / "types"
"""Where ours lie in the sources and in a bundle. An installed package has them on its path instead."""


def provide_value_types(own_folder: Path = _OWN_FOLDER) -> None:
    """Loads both modules; where an older one comes first on the path, ours takes its place in this process.

    Args:
        own_folder: Folder to look in besides the path.

    Raises:
        ConfigurationError: There is an older one and ours is nowhere.
    """
    if (own_folder / "knime").is_dir() and str(own_folder) not in sys.path:
        sys.path.append(str(own_folder))
        importlib.invalidate_caches()
    for name, needed in _NEEDED.items():
        found = importlib.import_module(name)
        if not _has(found, needed):
            _put_ours_in_place(name, needed, found)


def _has(module: ModuleType, needed: str) -> bool:
    try:
        attrgetter(needed)(module)
    except AttributeError:
        return False
    return True


def _put_ours_in_place(name: str, needed: str, found: ModuleType) -> None:
    package, _, leaf = name.rpartition(".")
    for module in _all_of_this_name(name):
        if _has(module, needed):
            setattr(sys.modules[package], leaf, module)
            return
    sys.modules[name] = found
    raise ConfigurationError(
        f"the module {name!r} at {found.__file__!r} is older than the nodes for tools need, and theirs is missing: "
        "install their extension again, or put its folder 'types' next to 'mcp_tools_extension.py'"
    )


def _all_of_this_name(name: str) -> Iterator[ModuleType]:
    """The modules of that name everywhere on the path, each loaded under it. The last one stays."""
    package, _, leaf = name.rpartition(".")
    for folder in list(importlib.import_module(package).__path__):
        spec = importlib.util.spec_from_file_location(name, Path(folder) / f"{leaf}.py")
        if spec is None or spec.loader is None or not Path(str(spec.origin)).is_file():
            continue
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
