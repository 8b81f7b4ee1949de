"""The Python blocks of the documentation run, page by page, as a reader would run them."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.openmetadata import OpenMetadataServer, openmetadata

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
ADDRESS_IN_DOCS = "http://127.0.0.1:8000/sse"
CATALOG_IN_DOCS = "https://example.org/mcp"
TOKEN_IN_DOCS = 'token="…"'


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    """The demo's MCP server, which the pages suppose to be running."""
    server = ROOT / "examples" / "orders-agent" / "server.py"
    with subprocess.Popen(
        [sys.executable, str(server), "--port", "0"], stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().removeprefix("listening on ").strip()
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def catalog() -> Iterator[OpenMetadataServer]:
    """A server that answers as OpenMetadata's does, for the examples that use one."""
    with openmetadata() as server:
        yield server


def _blocks(page: Path) -> list[str]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [page for page in PAGES if _blocks(page)], ids=lambda page: page.name)
def test_the_python_blocks_of_a_page_run_in_order(
    page: Path, server_url: str, catalog: OpenMetadataServer, tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    program = "\n\n".join(_blocks(page)).replace(ADDRESS_IN_DOCS, server_url)
    program = program.replace(CATALOG_IN_DOCS, catalog.url).replace(TOKEN_IN_DOCS, f'token="{catalog.token}"')
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path,
        env={"PATH": "", "KNIME_MCP_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, f"{page.name}:\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_relative_links_of_a_page_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []
