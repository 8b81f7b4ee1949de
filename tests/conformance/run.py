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
CLIENT_MILLISECONDS = 240_000
"""All scenarios of a revision start at once, which takes a while on a machine that is busy."""
SUITE_SECONDS = 900
MOST_AGAIN = 8
"""How many scenarios are run once more, alone, when they fail beside all others."""


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
    has_failed = done.returncode != 0
    if 0 < len(failed) <= MOST_AGAIN:
        has_failed = False
        print(f"once more, alone: {', '.join(failed)}")
        failed = [name for name in failed if not _passes_alone(words[:5], name, revision)]
    for mark, name, passed, broken in verdicts:
        note = " (not supported, not required)" if mark == "✗" and name in UNSUPPORTED else ""
        print(f"{mark} {name}: {passed} checks passed, {broken} failed{note}")
    is_good = bool(verdicts) and not failed and not has_failed
    if not is_good:
        print(done.stdout, done.stderr, sep="\n")
    count = sum(mark == "✓" for mark, *_ in verdicts)
    print(f"{revision}: {count} of {len(verdicts)} scenarios pass; {'good' if is_good else 'NOT GOOD'}\n", flush=True)
    return is_good


def _passes_alone(words: list[str], scenario: str, revision: str) -> bool:
    """Whether a scenario passes when it has the machine for itself."""
    # Extensions are on no revision's list, so they have to be forced.
    options = ["--scenario", scenario, "--spec-version", revision, "--force", "--timeout", str(CLIENT_MILLISECONDS)]
    done = subprocess.run(
        [*words, *options], cwd=HERE, capture_output=True, text=True, timeout=SUITE_SECONDS, check=False
    )
    passes = done.returncode == 0 and "OVERALL: PASSED" in done.stderr
    print(f"{scenario}: {'passes' if passes else done.stderr}", flush=True)
    return passes


if __name__ == "__main__":
    verdicts = [run(revision) for revision in REVISIONS]
    verdicts.append(run_server_scenarios([node(), str(SUITE)]))
    sys.exit(0 if all(verdicts) else 1)
