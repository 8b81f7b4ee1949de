"""Where tokens are kept, and that nobody else can read them there."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from knime_ext.mcp.auth import FileStore, system_store
from knime_ext.mcp.auth.accounts import AccountStorage


def test_a_text_comes_back_and_goes_away(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "tokens")
    assert store.get("docs|https://example.org/mcp") is None
    store.set("docs|https://example.org/mcp", "secret")
    store.set("other", "another")
    assert store.get("docs|https://example.org/mcp") == "secret" and store.get("other") == "another"
    store.delete("docs|https://example.org/mcp")
    store.delete("docs|https://example.org/mcp")
    assert store.get("docs|https://example.org/mcp") is None


@pytest.mark.skipif(os.name != "posix", reason="other systems have no file modes")
def test_files_and_their_folder_are_for_their_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "tokens"
    FileStore(folder).set("docs", "secret")
    assert [stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()] == [0o600]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_file_that_is_damaged_counts_as_none(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    store.set("docs", "secret")
    for path in tmp_path.iterdir():
        path.write_text("{half", encoding="utf-8")
    assert store.get("docs") is None
    store.set("docs", "not an account")
    assert AccountStorage(store, "docs").load().tokens is None


def test_a_write_leaves_no_half_file(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    for round in range(20):
        store.set("docs", f"secret {round}")
    assert len(list(tmp_path.iterdir())) == 1


def test_without_a_keyring_files_are_used() -> None:
    assert isinstance(system_store(), FileStore)


def test_a_keyring_is_used_if_there_is_one(tmp_path: Path) -> None:
    backend = tmp_path / "toy_keyring.py"
    backend.write_text(
        "import json, pathlib, keyring.backend\n"
        "FILE = pathlib.Path(__file__).with_suffix('.json')\n"
        "class Toy(keyring.backend.KeyringBackend):\n"
        "    priority = 1\n"
        "    def _all(self): return json.loads(FILE.read_text()) if FILE.exists() else {}\n"
        "    def get_password(self, service, name): return self._all().get(service + name)\n"
        "    def set_password(self, service, name, text):\n"
        "        FILE.write_text(json.dumps(self._all() | {service + name: text}))\n"
        "    def delete_password(self, service, name):\n"
        "        texts = self._all(); texts.pop(service + name); FILE.write_text(json.dumps(texts))\n",
        encoding="utf-8",
    )
    code = (
        "from knime_ext.mcp.auth import system_store, KeyringStore\n"
        "store = system_store()\n"
        "assert isinstance(store, KeyringStore)\n"
        "store.set('docs', 'secret')\n"
        "assert store.get('docs') == 'secret'\n"
        "store.delete('docs')\n"
        "assert store.get('docs') is None\n"
    )
    paths = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    environment = {
        **os.environ,
        "PYTHONPATH": paths,
        "PYTHON_KEYRING_BACKEND": "toy_keyring.Toy",
        "KNIME_MCP_HOME": str(tmp_path / "home"),
    }
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=60)
    assert not (tmp_path / "home").exists()
