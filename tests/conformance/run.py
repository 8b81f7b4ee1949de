"""Runs the official conformance suite against our client and what we serve: `make conformance`.

Every scenario that a revision requires must pass; so must the ones that are not scored, except those that need what
`docs/sign-in.md` says is not supported.
"""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from serving import run_server_scenarios

HERE = Path(__file__).parent
SUITE = HERE / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
REVISIONS = ("2025-11-25", "2026-07-28")
UNSUPPORTED = frozenset({"auth/dpop", "auth/dpop-nonce"})
"""Extensions that are not required: tokens bound to a key (SEP-1932)."""
CLIENT_MILLISECONDS = 120_000
SUITE_SECONDS = 900


def node() -> str:
    """Node.js 22 or newer: the one from the npm package, else the system's.

    Raises:
        SystemExit: There is none.
    """
    for program in (HERE / "node_modules" / ".bin" / "node", "node"):
        found = shutil.which(program)
        if found is not None:
            version = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=60, check=False)
            if version.returncode == 0 and int(version.stdout.lstrip("v").partition(".")[0]) >= 22:
                return found
    raise SystemExit("the conformance suite needs Node.js 22 or newer; run `npm ci` in tests/conformance")


def run(revision: str) -> bool:
    """Runs what a revision requires, prints the verdicts, and says whether all is well."""
    command = shlex.join([sys.executable, str(HERE / "client.py")])
    words = [node(), str(SUITE), "client", "--command", command, "--requirements", revision]
    done = subprocess.run(
        [*words, "--timeout", str(CLIENT_MILLISECONDS)],
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=SUITE_SECONDS,
        check=False,
    )
    verdicts = re.findall(r"^([✓✗]) (\S+): (\d+) passed, (\d+) failed", done.stdout, re.MULTILINE)
    failed = [name for mark, name, _, _ in verdicts if mark == "✗" and name not in UNSUPPORTED]
    for mark, name, passed, broken in verdicts:
        note = " (not supported, not required)" if mark == "✗" and name in UNSUPPORTED else ""
        print(f"{mark} {name}: {passed} checks passed, {broken} failed{note}")
    is_good = done.returncode == 0 and bool(verdicts) and not failed
    if not is_good:
        print(done.stdout, done.stderr, sep="\n")
    count = sum(mark == "✓" for mark, *_ in verdicts)
    print(f"{revision}: {count} of {len(verdicts)} scenarios pass; {'good' if is_good else 'NOT GOOD'}\n", flush=True)
    return is_good


if __name__ == "__main__":
    verdicts = [run(revision) for revision in REVISIONS]
    verdicts.append(run_server_scenarios([node(), str(SUITE)]))
    sys.exit(0 if all(verdicts) else 1)
