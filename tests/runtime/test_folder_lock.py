import subprocess
import sys
import threading
from pathlib import Path

import pytest

from knime_ext.errors import ConfigurationError
from knime_ext.runtime.folder_lock import LOCK_NAME, folder_lock

HOLD = """
import sys
from pathlib import Path
from knime_ext.runtime.folder_lock import folder_lock
with folder_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def holding_process(folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_run_in_this_process_is_refused(tmp_path: Path):
    with folder_lock(tmp_path), pytest.raises(ConfigurationError, match="wait until it is finished"):
        with folder_lock(tmp_path):
            pass


def test_nothing_is_left_behind_and_the_folder_is_free_again(tmp_path: Path):
    for _ in range(2):
        with folder_lock(tmp_path):
            assert (tmp_path / LOCK_NAME).exists()
        assert list(tmp_path.iterdir()) == []


def test_a_run_in_another_process_is_named_and_its_death_frees_the_folder(tmp_path: Path):
    process = holding_process(tmp_path)
    try:
        with pytest.raises(ConfigurationError, match=rf"another run \(process {process.pid}\) is writing"):
            with folder_lock(tmp_path):
                pass
    finally:
        process.kill()
        process.communicate(timeout=30)
    assert (tmp_path / LOCK_NAME).exists(), "a killed process cannot tidy up"
    with folder_lock(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_of_many_threads_only_one_at_a_time_gets_in(tmp_path: Path):
    inside: list[int] = []
    most: list[int] = []
    entered: list[int] = []

    def try_often(number: int) -> None:
        for _ in range(200):
            try:
                with folder_lock(tmp_path):
                    inside.append(number)
                    most.append(len(inside))
                    entered.append(number)
                    inside.remove(number)
            except ConfigurationError:
                continue

    threads = [threading.Thread(target=try_often, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert entered and max(most) == 1


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path):
    with pytest.raises(ConfigurationError, match="cannot write '.*absent'"):
        with folder_lock(tmp_path / "absent"):
            pass
