"""The look-alike against a description of KNIME's public API: names, signatures, members.

`tests/golden/knime_api.json` is written by `api_description.py` from a checkout of KNIME's code.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import knime_ext.runtime.knext as look_alike
from tests.knime_parity.api_description import describe, public_names

GOLDEN = Path(__file__).parent.parent / "golden" / "knime_api.json"
KNIME: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))

NOT_OFFERED = {
    "ProxySettings": "the network settings of KNIME's preferences; here the environment's apply",
    "get_proxy_settings": "the same",
    "CredentialPortObjectSpec.auth_parameters": "asks KNIME's Java side for a token",
    "CredentialPortObjectSpec.auth_schema": "the same",
    "CredentialPortObjectSpec.expires_after": "the same",
    "DateTimeParameter.check_range": "one of KNIME's own built-in checks, which happens to have a public name",
    "DateTimeParameter.check_type": "the same",
    "DoubleParameter.check_range": "the same",
    "IntParameter.check_range": "the same",
    "LocalPathParameter.Choice": "inherited in KNIME; a path has no choices",
}

DIFFERENT = {
    "ConfigurationContext": "the host makes contexts, no node does; KNIME's begins with a Java object",
    "DialogCreationContext": "the same",
    "ExecutionContext": "the same",
    "PrimitiveType": "made by int32(), string() and so on",
    "Schema.deserialize": "the host calls it, and as it calls every spec's",
}

HOST_SIDE = {
    "ColumnFilterConfig": {"from_json", "json_properties", "to_json"},
    "LogicalType": {"value_factory"},
    "PrimitiveType": {"type_id"},
    "Schema": {"get"},
    "Table": {"get"},
}
"""What the look-alike has beyond KNIME, for its own host. Nodes must not use it: in KNIME it is not there."""

PARAMETERS = {
    *("assign", "check", "check_builtin", "choices_in", "control", "decoded", "default_for", "encoded"),
    *("full_description", "json_schema", "keeps_builtin_check", "load", "possible_values", "read", "set_default"),
    *("to_json", "ui_options", "value_schema", "visible_options"),
}
"""The same, for every parameter."""

OWN_NAMES = {
    "Credential": "what get_credentials gives; in KNIME it has no public name",
    "FilestorePortObject": "in KNIME it stands in knime.extension.nodes",
    "PortGroup": "the same",
}

OFFERED = [name for name in KNIME if name not in NOT_OFFERED]
LOOK_ALIKE = describe(look_alike, OFFERED)


def accepts(ours: str, theirs: str) -> bool:
    """Whether every call that fits KNIME's signature fits ours: the same parameters, then optional ones at most."""
    mine, known = ours[1:-1].split(", "), theirs[1:-1].split(", ")
    known = [each for each in known if each]
    return mine[: len(known)] == known and all("=" in each or not each for each in mine[len(known) :])


def differences(name: str) -> list[str]:
    """What of KNIME's is missing or else in the look-alike."""
    ours, theirs = LOOK_ALIKE[name], KNIME[name]
    if isinstance(theirs, str):
        return [] if accepts(ours, theirs) else [f"{name}{ours} instead of {theirs}"]
    if "enum" in theirs:
        return [f"{name}.{member}" for member in theirs["enum"] if member not in ours["enum"]]
    found: list[str] = [] if accepts(ours["class"], theirs["class"]) else [name]
    for member, known in theirs["members"].items():
        own = ours["members"].get(member, "missing")
        same = accepts(own, known) if known[0] == "(" and own[0] == "(" else own == known
        found += [] if same else [f"{name}.{member}"]
    return found


@pytest.mark.parametrize("name", OFFERED)
def test_a_name_is_what_it_is_in_knime(name: str) -> None:
    assert [each for each in differences(name) if each not in NOT_OFFERED | DIFFERENT] == []


def test_the_lists_of_differences_hold_nothing_that_is_the_same() -> None:
    found = {each for name in OFFERED for each in differences(name)}
    assert set(DIFFERENT) <= found
    missing = {name for name in NOT_OFFERED if "." not in name}
    assert not missing & set(public_names(look_alike))
    assert {name for name in NOT_OFFERED if "." in name} <= found


def test_the_look_alike_has_no_other_names() -> None:
    assert set(look_alike.__all__) == set(OFFERED) | set(OWN_NAMES)


@pytest.mark.parametrize("name", [name for name in OFFERED if "members" in KNIME[name]])
def test_what_classes_have_beyond_knime_is_for_the_host(name: str) -> None:
    allowed = HOST_SIDE.get(name, set[str]()) | (PARAMETERS if "Parameter" in name else set[str]())
    assert set(LOOK_ALIKE[name]["members"]) - set(KNIME[name]["members"]) <= allowed


def test_the_comparison_sees_other_signatures() -> None:
    assert accepts("(label=None, more=1)", "(label=None)")
    assert accepts("()", "()")
    assert not accepts("(label='', more=1)", "(label=None)")
    assert not accepts("(label, more)", "(label)")
    assert not accepts("(name)", "(label)")
    assert not accepts("()", "(label)")
