"""Each adapter imports without the packages that only another one needs."""

import subprocess
import sys

import pytest

BLOCK = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"no module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocked())
"""


@pytest.mark.parametrize(
    ("module", "blocked"),
    [
        ("knime_ext.errors", ["mcp", "mcp_types", "langchain_core", "openai", "httpx", "httpx2", "pydantic"]),
        ("knime_ext.mcp.openai_tools", ["langchain_core", "langchain", "openai", "mcp", "mcp_types", "httpx2"]),
        ("knime_ext.mcp.langchain_tools", ["openai", "langchain", "mcp", "mcp_types", "httpx2"]),
        ("knime_ext.mcp.client", ["langchain_core", "langchain", "openai", "yaml", "keyring"]),
        ("knime_ext.mcp", ["mcp", "mcp_types", "langchain_core", "openai", "httpx2"]),
    ],
)
def test_a_module_imports_without_the_packages_of_others(module: str, blocked: list[str]):
    code = BLOCK.format(blocked=blocked) + f"\nimport {module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
