"""Runs every scenario in one world and prints the results as JSON: `run_scenarios.py knime|runtime`.

The addresses of the servers come as JSON over standard input. The world has to be there before the nodes and the value
types are imported, as in a host.
"""

import contextlib
import io
import json
import sys
import traceback
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent


def make_world(name: str) -> Any:
    """The world of that name."""
    if name == "knime":
        from tests.knime_parity.knime_code import harness

        ready = harness()
        from tests.knime_parity.knime_world import KnimeWorld

        return KnimeWorld(ready)
    from knime_ext.runtime.registry import provide_knime_extension

    provide_knime_extension()
    from tests.knime_parity.runtime_world import RuntimeWorld

    return RuntimeWorld()


def main(world_name: str) -> None:
    """Prints the result of each scenario by name."""
    world = make_world(world_name)
    from tests.knime_parity.scenarios import SCENARIOS, Servers

    servers = Servers(**json.load(sys.stdin))
    results: dict[str, Any] = {}
    for name, scenario in SCENARIOS.items():
        try:
            # What nodes print would end up in the middle of the results.
            with contextlib.redirect_stdout(io.StringIO()):
                results[name] = scenario(world, servers)
        except Exception:
            results[name] = {"traceback": traceback.format_exc()}
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "types")]  # this folder, whatever is installed
    main(sys.argv[1])
