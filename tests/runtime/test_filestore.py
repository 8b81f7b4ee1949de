import re
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime_ext.errors import ConfigurationError
from knime_ext.runtime.filestore import FileStore, default_folder


def stored_file(store: FileStore) -> Path:
    (path,) = [path for path in store.folder.rglob("*") if path.is_file()]
    return path


def test_what_is_stored_comes_back(tmp_path: Path):
    store = FileStore(folder=tmp_path / "store")
    key = store.put(b"content", "orders.zip")
    assert re.fullmatch(r"v1:[0-9a-f-]{36}:0:orders\.zip:-1", key)
    assert store.get(key) == b"content"


def test_equal_content_has_one_key_and_one_file(tmp_path: Path):
    store = FileStore(folder=tmp_path)
    assert store.put(b"content", "a") == store.put(b"content", "a")
    assert store.put(b"other", "a") != store.put(b"content", "a")
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 2


@given(name=st.text())
def test_any_name_makes_a_key_whose_parts_can_be_told_apart(name: str):
    with tempfile.TemporaryDirectory() as folder:
        store = FileStore(folder=Path(folder))
        key = store.put(b"content", name)
        assert len(key.split(":")) == 5 and ";" not in key
        assert store.get(key) == b"content"


def test_missing_content_names_the_folder_and_the_repair(tmp_path: Path):
    key = FileStore(folder=tmp_path / "one").put(b"content", "orders.zip")
    with pytest.raises(ConfigurationError, match=r"'orders\.zip' is not in the file store '.*two'; .*KNIME_MCP_HOME"):
        FileStore(folder=tmp_path / "two").get(key)


@pytest.mark.parametrize("key", ["", "x", "v1:../../etc/passwd:0:a:-1", "v1:" + "0" * 36 + ":1:a:-1"])
def test_a_malformed_key_is_refused(tmp_path: Path, key: str):
    with pytest.raises(ConfigurationError, match="is no key of this file store"):
        FileStore(folder=tmp_path).get(key)


def test_damaged_content_is_noticed_and_storing_again_heals_it(tmp_path: Path):
    store = FileStore(folder=tmp_path)
    key = store.put(b"content", "orders.zip")
    stored_file(store).write_bytes(b"cont")
    with pytest.raises(ConfigurationError, match="is damaged"):
        store.get(key)
    store.put(b"content", "orders.zip")
    assert store.get(key) == b"content"


def test_many_threads_store_the_same_content(tmp_path: Path):
    store = FileStore(folder=tmp_path)
    content = b"x" * 1_000_000
    threads = [threading.Thread(target=store.put, args=(content, "big")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert stored_file(store).read_bytes() == content


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(ConfigurationError, match=r"cannot write '.*file/.*'.*choose another place"):
        FileStore(folder=tmp_path / "file").put(b"content", "a")


def test_the_default_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("KNIME_MCP_HOME", raising=False)
    assert default_folder() == tmp_path / "data" / "knime-mcp" / "filestore"
    monkeypatch.setenv("KNIME_MCP_HOME", str(tmp_path / "home"))
    assert default_folder() == tmp_path / "home" / "filestore"
