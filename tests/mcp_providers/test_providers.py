"""The operator's file of providers: what it may say, what is said about its mistakes, and how programs change it."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime_ext.errors import ConfigurationError
from knime_ext.mcp import Limits, SSEServer, StdioServer, StreamableHTTPServer, Timeouts
from knime_ext.mcp.provider_models import (
    ClientCredentialsSettings,
    HTTPProvider,
    OAuthSettings,
    PrivateKeyJWTSettings,
    SSEProvider,
    StdioProvider,
)
from knime_ext.mcp.providers import (
    Providers,
    load_providers,
    provider_entry,
    providers_path,
    remove_provider,
    save_provider,
    save_providers,
)
from knime_ext.mcp.sign_in import OAuth

EXAMPLE = """\
# My servers
providers:
  docs:  # the handbook
    provider_type: http
    url: https://${HOST:-docs.example.org}/mcp
    bearer_token: ${DOCS_TOKEN}
    headers:
      X-Team: "blue"
    timeouts:
      call: 120
      total: 900
      unused: 30
    limits: {tools: 50, schema_bytes: 10000}
  # files of the project
  files:
    provider_type: stdio
    command: npx
    args: ["-y", "server-filesystem", "${ROOT}/data"]
    env: {API_KEY: "${KEY:-none}"}
    cwd: /tmp
  old:
    provider_type: sse
    url: http://127.0.0.1:9/sse
    enabled: false
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "providers.yaml"
    path.write_text(EXAMPLE, encoding="utf-8")
    return path


def test_every_kind_becomes_a_server_with_its_variables_replaced(file: Path) -> None:
    providers = load_providers(file)
    environment = {"DOCS_TOKEN": "t0ken", "ROOT": "/srv"}
    assert providers.server("docs", environment) == StreamableHTTPServer(
        "https://docs.example.org/mcp",
        headers={"X-Team": "blue", "Authorization": "Bearer t0ken"},
        timeouts=Timeouts(call=120, total=900, unused=30),
        limits=Limits(tools=50, schema_bytes=10_000),
    )
    assert providers.server("files", environment) == StdioServer(
        "files", "npx", ("-y", "server-filesystem", "/srv/data"), env={"API_KEY": "none"}, cwd=Path("/tmp")
    )
    assert SSEProvider(name="old", url="http://127.0.0.1:9/sse").server() == SSEServer("http://127.0.0.1:9/sse")


def test_a_missing_variable_is_told_when_the_server_is_asked_for_and_hinders_no_other(file: Path) -> None:
    providers = load_providers(file)
    with pytest.raises(ConfigurationError, match="'bearer_token' of provider 'docs'.*'DOCS_TOKEN'"):
        providers.server("docs", {})
    assert providers.server("files", {"ROOT": "/"}).uri == "stdio:files"


def test_a_provider_that_is_switched_off_says_so(file: Path) -> None:
    providers = load_providers(file)
    with pytest.raises(ConfigurationError, match="'old' is switched off.*config mcp enable old"):
        providers.server("old")
    assert list(providers.servers) == ["docs", "files"] and "old" in providers.servers


def test_an_unknown_name_names_the_nearest(file: Path) -> None:
    with pytest.raises(ConfigurationError, match="did you mean 'files'"):
        load_providers(file).server("file")


def test_no_secret_is_in_a_repr_or_a_dump(file: Path) -> None:
    secrets = (
        HTTPProvider.model_validate({"name": "a", "url": "https://example.org", "headers": {"X-Key": "canary-1"}}),
        StdioProvider.model_validate({"name": "b", "command": "c", "env": {"KEY": "canary-2"}}),
    )
    shown = repr(Providers(secrets)) + "".join(provider.model_dump_json() for provider in secrets)
    assert "canary" not in shown


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("providers:\n  a:\n    provider_type: htp\n    url: https://b\n", 3, "stdio or sse or http"),
        ("providers:\n  a:\n    url: https://b\n", 2, "'provider_type'"),
        ("providers:\n  a:\n    provider_type: http\n\n    ulr: https://b\n", 5, "did you mean 'url'"),
        ("providers:\n  a:\n    provider_type: http\n", 2, "'url' of provider 'a' is missing"),
        ("providers:\n  a:\n    provider_type: http\n    url: ftp://b\n", 4, "http:// or https://"),
        ("providers:\n  a:\n    provider_type: http\n    url: https://b?api_key=canary\n", 4, "'api_key'"),
        ("providers:\n  a:\n    provider_type: http\n    url: https://me:canary@b\n", 4, "user or password"),
        ("providers:\n  a:\n    provider_type: http\n    url: https://b?x=${X}\n", 4, "a variable after the '\\?'"),
        ("providers:\n  a:\n    provider_type: stdio\n    command: c\n    args:\n    - x\n    - 3\n", 7, "quotes"),
        ("providers:\n  a:\n    provider_type: stdio\n    command: c\n    timeouts:\n      call: -1\n", 6, "greater"),
        ("providers:\n  a:\n    provider_type: stdio\n    command: c\n  a:\n    command: d\n", 5, "second time"),
        ("providers:\n  a:\n    provider_type: stdio\n   command: c\n", 4, "no YAML"),
        ("providers:\n  a: stdio\n", 2, "fields"),
        ("provider:\n  a: {}\n", 1, "'provider' is not known"),
        ("- a\n", 1, "'providers'"),
        ("providers:\n  'a b': {provider_type: stdio, command: c}\n", 2, "no name for a provider"),
        (
            "providers:\n  a:\n    provider_type: http\n    url: https://b\n    bearer_token: canary\n    auth:\n"
            "      type: oauth\n",
            2,
            "'bearer_token' and 'auth' exclude each other",
        ),
        (
            "providers:\n  a:\n    provider_type: http\n    url: https://b\n    auth:\n      type: client_credentials\n"
            "      client_id: x\n      client_secret: canary\n",
            5,
            "'auth.issuer' of provider 'a' is missing",
        ),
        (
            "providers:\n  a:\n    provider_type: http\n    url: https://b\n    auth:\n      type: oath\n",
            6,
            "oauth, client_credentials",
        ),
    ],
)
def test_a_mistake_is_told_with_line_field_and_repair(tmp_path: Path, text: str, line: int, words: str) -> None:
    file = tmp_path / "providers.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=f"line {line}: .*{words}") as caught:
        load_providers(file)
    assert "canary" not in str(caught.value)


def test_the_operators_own_file_need_not_exist_but_a_named_one_must(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNIME_MCP_HOME", str(tmp_path))
    assert providers_path() == tmp_path / "providers.yaml" and dict(load_providers()) == {}
    with pytest.raises(ConfigurationError, match="there is no file"):
        load_providers(tmp_path / "nowhere.yaml")


def test_the_folder_follows_the_xdg_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KNIME_MCP_HOME", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert providers_path() == tmp_path / "knime-mcp" / "providers.yaml"
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert providers_path() == Path("~/.config/knime-mcp/providers.yaml").expanduser()


def test_a_change_leaves_comments_and_other_entries_as_they_are(file: Path) -> None:
    save_provider(SSEProvider(name="files", url="http://127.0.0.1:8/sse"), file)
    changed = file.read_text(encoding="utf-8")
    assert changed.startswith(EXAMPLE.partition("  files:")[0]) and changed.endswith(
        "  old:" + EXAMPLE.split("  old:")[1]
    )
    assert load_providers(file)["files"] == SSEProvider(name="files", url="http://127.0.0.1:8/sse")
    remove_provider("files", file)
    remove_provider("docs", file)
    assert list(load_providers(file)) == ["old"] and "# My servers" in file.read_text(encoding="utf-8")
    remove_provider("old", file)
    save_provider(StdioProvider(name="new", command="c"), file)
    assert list(load_providers(file)) == ["new"]


def test_a_file_that_is_wrong_is_not_changed(file: Path) -> None:
    file.write_text("providers:\n  a: {}\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="line 2"):
        save_provider(StdioProvider(name="new", command="c"), file)
    assert file.read_text(encoding="utf-8") == "providers:\n  a: {}\n"


@pytest.mark.skipif(os.name != "posix", reason="other systems have no file modes")
def test_the_file_is_for_its_owner_only_and_a_link_to_it_stays(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles" / "mine.yaml", tmp_path / "providers.yaml"
    real.parent.mkdir()
    link.symlink_to(real)
    save_provider(StdioProvider(name="new", command="c"), link)
    assert link.is_symlink() and stat.S_IMODE(real.stat().st_mode) == 0o600


def test_ways_to_sign_in_become_values(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    key.write_text("PEM\n", encoding="utf-8")
    oauth = HTTPProvider(name="a", url="https://b", auth=OAuthSettings(scope="${S}")).server({"S": "read"})
    assert oauth == StreamableHTTPServer("https://b", auth=OAuth(account="a", scope="read"))
    settings = PrivateKeyJWTSettings(client_id="x", private_key_file=key, issuer="https://login", algorithm="ES256")
    signed = HTTPProvider(name="a", url="https://b", auth=settings).server({})
    assert isinstance(signed, StreamableHTTPServer) and signed.auth is not None and signed.auth.secrets == ("PEM",)
    gone = HTTPProvider(
        name="a", url="https://b", auth=settings.model_copy(update={"private_key_file": tmp_path / "no"})
    )
    with pytest.raises(ConfigurationError, match="auth.private_key_file"):
        gone.server({})


_TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=20)
_NAME = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9_.-]{0,20}\Z")


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "name": _NAME,
                "command": _TEXT.filter(bool),
                "args": st.lists(_TEXT, max_size=3),
                "env": st.dictionaries(_TEXT, _TEXT, max_size=3),
            }
        ).map(StdioProvider.model_validate),
        unique_by=lambda provider: provider.name,
        max_size=5,
    )
)
def test_whatever_is_written_is_read_back_in_any_order_of_changes(
    tmp_path_factory: pytest.TempPathFactory, providers: list[StdioProvider]
) -> None:
    file = tmp_path_factory.getbasetemp() / "written.yaml"
    file.unlink(missing_ok=True)
    save_providers(Providers(providers), file)
    assert load_providers(file) == Providers(providers)
    for provider in [*providers, *providers[::-1]]:
        save_provider(provider, file)
    assert {name: provider_entry(found) for name, found in load_providers(file).items()} == {
        provider.name: provider_entry(provider) for provider in providers
    }
    for provider in providers:
        remove_provider(provider.name, file)
    assert dict(load_providers(file)) == {}


def test_a_secret_as_the_operator_wrote_it_is_in_the_file() -> None:
    settings = ClientCredentialsSettings.model_validate(
        {"client_id": "a", "client_secret": "${SECRET}", "issuer": "https://login"}
    )
    entry = provider_entry(HTTPProvider(name="a", url="https://b", auth=settings))
    assert entry["auth"] == {
        "type": "client_credentials",
        "client_id": "a",
        "client_secret": "${SECRET}",
        "issuer": "https://login",
    }
