"""What nodes are given besides their inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from knime_ext.runtime import knext
from knime_ext.runtime.knext.contexts import FlowVariables, NodeHost

SECRET = knext.Credential("me", "hunter2", "openai")


def test_flow_variables_can_be_added_and_changed_but_not_deleted() -> None:
    ctx = knext.ConfigurationContext(flow_variables={"n": 1, "knime.workspace": "/w"})
    ctx.flow_variables["n"] = [1, 2]
    ctx.flow_variables.update(text="x", flag=True)
    assert ctx.flow_variables.setdefault("share", 0.5) == 0.5
    assert dict(ctx.flow_variables) == {
        "n": [1, 2],
        "knime.workspace": "/w",
        "text": "x",
        "flag": True,
        "share": 0.5,
    }
    for attempt in (
        lambda: ctx.flow_variables.pop("n"),
        lambda: ctx.flow_variables.popitem(),
        lambda: ctx.flow_variables.clear(),
        lambda: ctx.flow_variables.__delitem__("n"),
    ):
        with pytest.raises(RuntimeError, match="cannot be deleted"):
            attempt()


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [("knime.x", 1, ValueError), (5, 1, TypeError), ("x", None, TypeError), ("x", [object()], TypeError)],
)
def test_flow_variables_refuse_other_names_and_values(name: Any, value: Any, error: type[Exception]) -> None:
    variables = FlowVariables()
    with pytest.raises(error, match="flow variable"):
        variables[name] = value
    with pytest.raises(error):
        variables.update({name: value})
    with pytest.raises(error):
        variables |= {name: value}
    assert variables == {}


def test_changes_of_flow_variables_stay_with_the_node() -> None:
    arrived = {"n": 1}
    knext.ConfigurationContext(flow_variables=arrived).flow_variables["n"] = 2
    assert arrived == {"n": 1}


def test_credentials_are_found_by_name_and_never_printed() -> None:
    ctx = knext.ExecutionContext(NodeHost(credentials={"openai": SECRET}))
    assert ctx.get_credential_names() == ["openai"]
    assert ctx.get_credentials("openai").password == "hunter2"
    with pytest.raises(KeyError, match="no credentials named 'other'; there are \\['openai'\\]"):
        ctx.get_credentials("other")
    assert "hunter2" not in repr(SECRET) + repr(NodeHost(credentials={"openai": SECRET}))
    with pytest.raises(AttributeError):
        SECRET.password = "other"  # pyright: ignore[reportAttributeAccessIssue]


def test_a_dialog_knows_the_specs_that_arrive() -> None:
    ctx = knext.DialogCreationContext(NodeHost(credentials={"openai": SECRET}), {"n": 1}, [None, []])
    assert ctx.get_input_specs() == [None, []]
    assert ctx.get_flow_variables() == {"n": 1}
    assert knext.DialogCreationContext.get_credential_names(ctx) == ["openai"]


def test_warnings_reach_the_host() -> None:
    warnings: list[str] = []
    knext.ConfigurationContext(NodeHost(warn=warnings.append)).set_warning("careful")
    assert warnings == ["careful"]


def test_progress_reaches_the_host_as_a_fraction() -> None:
    reports: list[tuple[float, str | None]] = []

    def note(progress: float, message: str | None) -> None:
        reports.append((progress, message))

    ctx: Any = knext.ExecutionContext(NodeHost(report_progress=note))
    ctx.set_progress(0)
    ctx.set_progress(0.5, "half")
    ctx.set_progress(1.00001)
    assert reports == [(0.0, None), (0.5, "half"), (1.0, None)]
    for wrong in (1.5, -1):
        with pytest.raises(ValueError, match="between 0 and 1"):
            ctx.set_progress(wrong)
    for args in (("0.5",), (0.5, 5)):
        with pytest.raises(TypeError):
            ctx.set_progress(*args)


def test_port_counts_folders_and_cancelling_come_from_the_host() -> None:
    host = NodeHost(is_canceled=lambda: True, temp_dir=Path("/t"), workflow_dir=Path("/w"), home_dir=Path("/h"))
    ctx = knext.ExecutionContext(host, {}, [1, 3], [2])
    assert ctx.get_connected_input_port_numbers() == [1, 3]
    assert ctx.get_connected_output_port_numbers() == [2]
    assert ctx.is_canceled()
    assert ctx.get_workflow_temp_dir() == str(Path("/t"))
    assert ctx.get_workflow_data_area_dir() == str(Path("/w/data"))
    assert ctx.get_knime_home_dir() == str(Path("/h"))


def test_a_context_works_without_a_host() -> None:
    ctx = knext.ExecutionContext()
    ctx.set_warning("nobody hears it")
    ctx.set_progress(0.5)
    assert not ctx.is_canceled()
    assert ctx.get_credential_names() == []
