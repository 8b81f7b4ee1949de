"""Paths of ours and KNIME's locations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime_ext.runtime.knime_workflow.config import Config, boolean, text
from knime_ext.runtime.knime_workflow.locations import location, path_at, rebased
from knime_ext.runtime.knime_workflow.rows import Unsupported


def _stored(kind: str, path: str, specifier: str | None = None) -> Config:
    config = Config(location_present=boolean(True), file_system_type=text(kind), path=text(path))
    if specifier is not None:
        config["file_system_specifier"] = text(specifier)
    return config


@given(st.text().filter(lambda path: not path.startswith("/")))
def test_a_path_of_ours_comes_back_as_it_was(path: str) -> None:
    assert path_at(location(path)) == path


@pytest.mark.parametrize("path", ["/data/x.csv", "C:\\data\\x.csv", "~/x.csv", ""])
def test_absolute_paths_and_no_path_are_local(path: str) -> None:
    assert location(path).string("file_system_type") == "LOCAL"


def test_a_relative_path_starts_at_the_data_area() -> None:
    assert location("in/x.csv").string("file_system_specifier") == "knime.workflow.data"


@pytest.mark.parametrize(
    ("stored", "path"),
    [
        (_stored("RELATIVE", "x.csv", "knime.workflow.data"), "x.csv"),
        (_stored("RELATIVE", "/x.csv", "knime.workflow.data"), "x.csv"),
        (_stored("RELATIVE", "../shared/x.csv", "knime.workflow"), "../../shared/x.csv"),
        (_stored("RELATIVE", "data/x.csv", "knime.workflow"), "x.csv"),
        (_stored("LOCAL", "/home/me/x.csv"), "/home/me/x.csv"),
        (_stored("CUSTOM_URL", "file:///home/me/x%20y.csv", "1000"), "/home/me/x y.csv"),
        (_stored("CUSTOM_URL", "knime://knime.workflow/data/x.csv", "1000"), "x.csv"),
        (Config(location_present=boolean(False)), ""),
    ],
)
def test_locations_of_knime_become_paths_from_the_data_area(stored: Config, path: str) -> None:
    assert path_at(stored) == path


@pytest.mark.parametrize(
    "stored",
    [
        _stored("RELATIVE", "x.csv", "knime.space"),
        _stored("MOUNTPOINT", "x.csv", "My-KNIME-Hub"),
        _stored("CUSTOM_URL", "https://example.com/x.csv", "1000"),
        _stored("CUSTOM_URL", "knime://LOCAL/x.csv", "1000"),
    ],
)
def test_locations_that_only_knime_can_reach_are_refused(stored: Config) -> None:
    with pytest.raises(Unsupported, match=r"x\.csv"):
        path_at(stored)


@pytest.mark.parametrize(
    ("path", "from_folder"),
    [("x.csv", "data/x.csv"), ("../x.csv", "x.csv"), ("../../x.csv", "../x.csv"), ("/x.csv", "/x.csv"), ("", "")],
)
def test_without_a_data_area_paths_start_at_the_workflows_folder(path: str, from_folder: str) -> None:
    assert rebased(path) == from_folder
