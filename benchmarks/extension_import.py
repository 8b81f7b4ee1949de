"""How long a host waits for the nodes: `import mcp_tools_extension` in a fresh process. Run with `make benchmark`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
RUNS = 5

# A host has its own `knime.extension` and Arrow loaded by then; they are not what is measured.
CODE = """
import time
import pyarrow
from knime_ext.runtime.registry import provide_knime_extension
provide_knime_extension()
start = time.perf_counter()
import mcp_tools_extension
print(time.perf_counter() - start)
"""


def _seconds() -> float:
    done = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    """Prints the best of five runs, in seconds."""
    print(f"import of the extension {min(_seconds() for _ in range(RUNS)):.3f} s")


if __name__ == "__main__":
    main()
