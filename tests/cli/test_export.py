"""`knime-mcp export`, and `run` for what KNIME or the export wrote."""

import zipfile
from pathlib import Path

from tests.cli.process import ROOT, in_this_process, knime_mcp

REPORT = ROOT / "examples" / "csv-report" / "workflow.json"


def test_an_exported_workflow_gives_the_same_result_as_its_document(tmp_path: Path) -> None:
    exported = knime_mcp("export", str(REPORT), str(tmp_path / "report.knwf"))
    assert exported.returncode == 0, exported.stderr
    assert exported.stdout.startswith(f"Written to {tmp_path / 'report.knwf'}: 7 nodes, 2 files\n")
    assert "KNIME has no node 'SQLQuery'" in exported.stdout
    for workflow, out in ((REPORT, "first"), (tmp_path / "report.knwf", "second")):
        done = in_this_process("run", str(workflow), "--out", str(tmp_path / out))
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "first" / "report.csv").read_bytes() == (tmp_path / "second" / "report.csv").read_bytes()


def test_an_unpacked_workflow_folder_runs_too(tmp_path: Path) -> None:
    assert in_this_process("export", str(REPORT), str(tmp_path / "report.knwf")).returncode == 0
    with zipfile.ZipFile(tmp_path / "report.knwf") as archive:
        archive.extractall(tmp_path / "unpacked")
    [folder] = (tmp_path / "unpacked").iterdir()
    done = in_this_process("run", str(folder), "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "report.csv").is_file()


def test_a_missing_or_broken_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "broken.knwf").write_bytes(b"no zip")
    for name in ("missing.knwf", "broken.knwf"):
        done = in_this_process("run", str(tmp_path / name))
        assert done.returncode == 2
        assert done.stderr.startswith("Error: ")
        assert len(done.stderr.splitlines()) == 1
        assert name in done.stderr


def test_nothing_is_written_when_the_document_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(
        '{"format": 1, "name": "x", "nodes": [{"id": "a", "factory": "Nope"}]}', encoding="utf-8"
    )
    done = in_this_process("export", str(tmp_path / "bad.json"), str(tmp_path / "out.knwf"))
    assert done.returncode == 2
    assert "'Nope'" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.json"]
