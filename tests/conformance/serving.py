"""Runs the suite's server scenarios against `knime-mcp serve`, with tools of another server in the table.

The calls thus go through our client and our server. Left out are scenarios about what a table of tools does not have:
resources, prompts, completions, logging, sampling, tasks.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from knime_ext.cli.tool_file import write_tools
from knime_ext.mcp import MCPToolCaller, StdioProvider, StdioServer, save_provider, tools_from_listing

HERE = Path(__file__).parent
SCENARIOS = {
    "2025-11-25": (
        "server-initialize",
        "server-session-lifecycle",
        "ping",
        "tools-list",
        "tools-call-mixed-content",
        "tools-call-error",
        "tools-call-with-progress",
        "json-schema-2020-12",
        "dns-rebinding-protection",
    ),
    "2026-07-28": (
        "tools-list",
        "tools-call-simple-text",
        "tools-call-audio",
        "tools-call-mixed-content",
        "tools-call-error",
        "tools-call-with-progress",
        "json-schema-2020-12",
        "http-header-validation",
        "http-custom-header-server-validation",
        "server-sse-multiple-streams",
    ),
}
AT_ONCE = 4


@contextmanager
def served() -> Generator[str]:
    """The URL of a table with the tools of `fixture.py`, served."""
    with tempfile.TemporaryDirectory() as folder:
        home, fixture = Path(folder), str(HERE / "fixture.py")
        provider = {"name": "fixture", "command": sys.executable, "args": [fixture]}
        save_provider(StdioProvider.model_validate(provider), home / "providers.yaml")
        with MCPToolCaller(providers={}) as caller:
            [listing] = caller.list_tools([StdioServer("fixture", sys.executable, (fixture,))])
        write_tools(tools_from_listing(listing, provider="fixture"), home / "tools.arrow")
        command = [sys.executable, "-m", "knime_ext.cli.app", "serve", str(home / "tools.arrow"), "--http", "0"]
        with subprocess.Popen(
            command, env={**os.environ, "KNIME_MCP_HOME": folder}, stdout=subprocess.PIPE, text=True
        ) as process:
            try:
                assert process.stdout is not None
                yield process.stdout.readline().split()[-1]
            finally:
                process.terminate()


def run_server_scenarios(suite: Sequence[str]) -> bool:
    """Runs the scenarios of both revisions, prints the verdicts, and says whether all is well.

    Args:
        suite: The command that starts the suite.
    """
    wanted = [(revision, name) for revision, names in SCENARIOS.items() for name in names]
    with served() as url, ThreadPoolExecutor(AT_ONCE) as pool:
        verdicts = [pool.submit(_passes, suite, url, revision, name) for revision, name in wanted]
        return all(verdict.result() for verdict in verdicts)


def _passes(suite: Sequence[str], url: str, revision: str, name: str) -> bool:
    words = [*suite, "server", "--url", url, "--scenario", name, "--spec-version", revision]
    done = subprocess.run(words, cwd=HERE, capture_output=True, text=True, timeout=120, check=False)
    counts = re.search(r"Passed: (\d+)/(\d+), (\d+) failed", done.stdout)
    passed = done.returncode == 0 and counts is not None and counts[3] == "0"
    told = f"{counts[1]} checks passed, {counts[3]} failed" if counts else "no verdict"
    details = "" if passed else f"\n{done.stdout[-4000:]}\n{done.stderr[-1000:]}"
    print(f"{'✓' if passed else '✗'} serve, {name} ({revision}): {told}{details}", flush=True)
    return passed
