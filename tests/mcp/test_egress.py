"""The egress policy as a question and an answer: no network is needed for either."""

from ipaddress import ip_address
from pathlib import Path

import pytest

from knime_ext.errors import ConfigurationError, EgressDenied
from knime_ext.mcp import EgressPolicy
from knime_ext.mcp.egress import Origin
from knime_ext.mcp.reach import Reach

DESKTOP = EgressPolicy()
SERVER = EgressPolicy(preset="server")


def allowing(*rules: str, **environment: str) -> EgressPolicy:
    return EgressPolicy.from_environment({"KNIME_MCP_ALLOW": " ".join(rules), **environment})


def stopped(
    policy: EgressPolicy, url: str, origin: Origin, address: str | None = None, near: Reach = Reach.PUBLIC
) -> str:
    with pytest.raises(EgressDenied) as caught:
        policy.check(url, origin, address=None if address is None else ip_address(address), near=near)
    return str(caught.value)


@pytest.mark.parametrize("origin", ["typed", "provider"])
@pytest.mark.parametrize("url", ["http://localhost:8000/mcp", "http://10.0.0.8/mcp", "https://example.com/mcp"])
def test_on_a_desktop_what_a_person_chose_may_lead_anywhere(origin: Origin, url: str):
    DESKTOP.check(url, origin)


def test_on_a_desktop_other_rows_lead_to_public_addresses_over_https_only():
    DESKTOP.check("https://example.com/mcp", "row")
    DESKTOP.check("https://example.com/mcp", "row", address=ip_address("93.184.216.34"))
    assert "must use https" in stopped(DESKTOP, "http://example.com/mcp", "row")
    assert "leads to the loopback address 127.0.0.1" in stopped(DESKTOP, "https://127.0.0.1/mcp", "row")
    assert "leads to this computer" in stopped(DESKTOP, "https://localhost/mcp", "row")
    assert "leads to the private address 10.0.0.8" in stopped(DESKTOP, "https://inner.example/mcp", "row", "10.0.0.8")


def test_the_error_says_which_rule_stopped_what_and_how_it_can_be_allowed():
    text = stopped(DESKTOP, "https://10.0.0.8:8443/mcp?key=s3cret", "row")
    assert text == (
        "the egress policy (preset 'desktop', rule 'rows') stops 'https://10.0.0.8:8443/mcp': it comes from a row that "
        "names a server which this run has not listed and leads to the private address 10.0.0.8; list that server in "
        "this run (MCP Tool Provider), register it as a provider, or allow it with KNIME_MCP_ALLOW=10.0.0.8:8443"
    )
    allowing("10.0.0.8:8443").check("https://10.0.0.8:8443/mcp", "row")


def test_in_a_workflow_of_somebody_else_addresses_count_like_those_of_rows():
    foreign = EgressPolicy.from_environment({"KNIME_MCP_PRESET": "foreign"})
    foreign.check("https://example.com/mcp", "typed", address=ip_address("93.184.216.34"))
    foreign.check("http://10.0.0.8/mcp", "provider")
    assert "must use https" in stopped(foreign, "http://example.com/mcp", "typed")
    assert "leads to the private address 10.0.0.8" in stopped(foreign, "https://inner.example/mcp", "typed", "10.0.0.8")
    text = stopped(foreign, "https://127.0.0.1:8443/mcp", "typed")
    assert text == (
        "the egress policy (preset 'foreign', rule 'foreign workflows') stops 'https://127.0.0.1:8443/mcp': it comes "
        "from an address in a workflow that somebody else has written and leads to the loopback address 127.0.0.1; "
        "register it as a provider, or allow it with KNIME_MCP_ALLOW=127.0.0.1:8443"
    )
    allowed = EgressPolicy.from_environment({"KNIME_MCP_PRESET": "foreign", "KNIME_MCP_ALLOW": "127.0.0.1:8443"})
    allowed.check("https://127.0.0.1:8443/mcp", "typed")


@pytest.mark.parametrize(
    ("written", "wanted", "preset"),
    [("server", "foreign", "server"), ("server", "desktop", "server"), ("foreign", "server", "server")],
)
def test_the_environment_makes_a_policy_stricter_and_never_laxer(
    written: str, wanted: str, preset: str, tmp_path: Path
):
    file = tmp_path / "policy.yaml"
    file.write_text(f"preset: {written}\n", encoding="utf-8")
    policy = EgressPolicy.from_environment({"KNIME_MCP_POLICY": str(file), "KNIME_MCP_PRESET": wanted})
    assert policy.preset == preset


def test_a_preset_that_does_not_exist_stops_everything():
    with pytest.raises(ConfigurationError, match="KNIME_MCP_PRESET is 'lax'; it takes desktop, foreign, server"):
        EgressPolicy.from_environment({"KNIME_MCP_PRESET": "lax"})


@pytest.mark.parametrize("origin", ["typed", "row"])
def test_a_shared_executor_uses_registered_providers_only(origin: Origin):
    assert "only registered providers may be used" in stopped(SERVER, "https://example.com/mcp", origin)
    SERVER.check("https://example.com/mcp", "provider")
    SERVER.check("http://10.0.0.8/mcp", "provider")


def test_a_shared_executor_starts_registered_programs_only():
    with pytest.raises(EgressDenied, match="stops 'stdio:files': .* register it as a provider"):
        SERVER.check_program("files", "typed")
    SERVER.check_program("files", "provider")
    DESKTOP.check_program("files", "typed")


@pytest.mark.parametrize("origin", ["typed", "row", "provider", "redirect", "metadata"])
@pytest.mark.parametrize("host", ["169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "100.100.100.200"])
@pytest.mark.parametrize("policy", [DESKTOP, SERVER, allowing("*", "169.254.0.0/16", "private", "loopback")])
def test_metadata_and_link_local_addresses_are_never_reached_whatever_is_allowed(
    policy: EgressPolicy, host: str, origin: Origin
):
    assert stopped(policy, f"https://{host}/latest", origin).endswith("no setting can allow it")


@pytest.mark.parametrize("origin", ["typed", "row", "provider"])
def test_a_name_that_means_a_metadata_address_is_stopped_when_it_is_resolved(origin: Origin):
    policy = allowing("*")
    policy.check("https://metadata.example", origin)
    assert "rule 'never'" in stopped(policy, "https://metadata.example", origin, "169.254.169.254")


@pytest.mark.parametrize("origin", ["redirect", "metadata"])
def test_links_of_a_server_lead_no_closer_to_home_than_the_server_itself(origin: Origin):
    DESKTOP.check("https://login.example.com", origin)
    assert "rule 'links of servers'" in stopped(DESKTOP, "http://login.example.com", origin)
    assert "private address" in stopped(DESKTOP, "https://login.example.com", origin, "10.0.0.8")
    DESKTOP.check("http://10.0.0.9/token", origin, near=Reach.PRIVATE)
    assert "this computer" in stopped(DESKTOP, "http://localhost:9/token", origin, near=Reach.PRIVATE)
    DESKTOP.check("http://localhost:9/token", origin, near=Reach.LOOPBACK)


@pytest.mark.parametrize(
    ("rule", "allowed", "still_stopped"),
    [
        ("inner.example", "http://inner.example:81/x", "http://other.example/x"),
        ("inner.example:81", "http://inner.example:81/x", "http://inner.example/x"),
        ("*.inner.example", "http://a.inner.example/x", "http://inner.example.evil/x"),
        ("https://inner.example", "https://inner.example/x", "http://inner.example/x"),
        ("http://inner.example:81", "http://inner.example:81/x", "http://inner.example:82/x"),
        ("10.0.0.0/8", "http://10.2.3.4/x", "http://192.168.0.1/x"),
        ("10.2.3.4", "http://10.2.3.4/x", "http://10.2.3.5/x"),
        ("loopback", "http://127.0.0.1:5/x", "http://10.2.3.5/x"),
        ("private", "http://10.2.3.5/x", "http://127.0.0.1:5/x"),
        ("fd12::/16", "http://[fd12::1]/x", "http://[fd13::1]/x"),
    ],
)
def test_rules_of_the_operator_open_what_they_name_and_nothing_else(rule: str, allowed: str, still_stopped: str):
    policy = allowing(rule)
    policy.check(allowed, "row")
    stopped(policy, still_stopped, "row")


def test_a_rule_on_networks_applies_to_names_once_they_are_resolved():
    policy = allowing("10.0.0.0/8")
    policy.check("http://inner.example/x", "row", is_preview=True)
    policy.check("http://inner.example/x", "row", address=ip_address("10.0.0.8"))
    stopped(policy, "http://inner.example/x", "row", "192.168.0.1")
    stopped(policy, "http://inner.example/x", "row")  # nobody will resolve it: the name alone decides


def test_a_policy_file_has_a_preset_and_rules_and_denial_wins(tmp_path: Path):
    file = tmp_path / "policy.yaml"
    file.write_text("preset: server\nallow: ['*.corp.example']\ndeny: [secret.corp.example, 8.8.8.0/24]\n", "utf-8")
    policy = allowing(KNIME_MCP_POLICY=str(file))
    policy.check("http://a.corp.example/mcp", "row")
    stopped(policy, "https://example.com/mcp", "row")
    text = stopped(policy, "http://secret.corp.example/mcp", "provider")
    assert f"the policy file {str(file)!r} denies 'secret.corp.example'; remove that line" in text
    stopped(policy, "https://dns.example", "provider", "8.8.8.8")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("preset: server\nalow: []\n", "wrong at 'alow'"),
        ("preset: none\n", "wrong at 'preset'"),
        ("allow: 5\n", "wrong at 'allow'"),
        ("- a\n", "wrong at 'the top'"),
        ("preset: [\n", "line 2 is not YAML"),
        ("allow: ['ftp://x']\n", "'ftp://x' is no rule on addresses"),
        ("allow: ['http://x/path']\n", "is no rule on addresses"),
    ],
)
def test_a_policy_that_cannot_be_read_stops_everything_and_says_where(tmp_path: Path, text: str, complaint: str):
    file = tmp_path / "policy.yaml"
    file.write_text(text, "utf-8")
    with pytest.raises(ConfigurationError, match=complaint.replace("(", r"\(")) as caught:
        allowing(KNIME_MCP_POLICY=str(file))
    assert str(file) in str(caught.value)


def test_a_policy_file_that_is_not_there_stops_everything(tmp_path: Path):
    with pytest.raises(ConfigurationError, match="cannot be read .* correct KNIME_MCP_POLICY"):
        allowing(KNIME_MCP_POLICY=str(tmp_path / "none.yaml"))
