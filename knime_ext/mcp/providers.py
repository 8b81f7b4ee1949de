"""The servers that the operator registered: a mapping of names, read from `providers.yaml` and written to it.

    providers:
      docs:
        provider_type: http
        url: https://docs.example.org/mcp
        bearer_token: ${DOCS_TOKEN}
      files:
        provider_type: stdio
        command: npx
        args: ["-y", "@modelcontextprotocol/server-filesystem", "${HOME}/data"]

Variables are looked up when a server is asked for, not when the file is read: a provider whose variable is missing is
no hindrance to the others.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import SecretStr, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from knime_ext.errors import ConfigurationError
from knime_ext.mcp.config_home import config_home, write_private
from knime_ext.mcp.provider_models import Provider
from knime_ext.mcp.servers import Server
from knime_ext.mcp.yaml_file import YamlFile

__all__ = [
    "ProviderServers",
    "Providers",
    "load_providers",
    "parse_provider",
    "provider_entry",
    "providers_path",
    "remove_provider",
    "save_provider",
    "save_providers",
]

SECTION = "providers"
_ADAPTER: TypeAdapter[Provider] = TypeAdapter(Provider)
_TYPES = ("stdio", "sse", "http")


class Providers(Mapping[str, Provider]):
    """Providers by name.

    Args:
        providers: The providers; their names must differ.

    Raises:
        ConfigurationError: Two have the same name.
    """

    def __init__(self, providers: Iterable[Provider] = ()) -> None:
        self._providers: dict[str, Provider] = {}
        for provider in providers:
            if provider.name in self._providers:
                raise ConfigurationError(f"two providers are called {provider.name!r}; rename one of them")
            self._providers[provider.name] = provider

    def __getitem__(self, name: str) -> Provider:
        return self._providers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._providers)

    def __len__(self) -> int:
        return len(self._providers)

    def __repr__(self) -> str:
        return f"Providers({list(self._providers.values())!r})"

    def server(self, name: str, environment: Mapping[str, str] | None = None) -> Server:
        """How to reach a provider, its variables replaced.

        Args:
            name: Name of the provider.
            environment: Values of the variables; None for those of this process.

        Raises:
            ConfigurationError: There is no provider of that name, it is switched off, or a variable is not set.
        """
        self.check(name)
        return self._providers[name].server(environment)

    def check(self, name: str) -> None:
        """Refuses a name that no provider has.

        Raises:
            ConfigurationError: There is no provider of that name; the message names the nearest.
        """
        if name not in self._providers:
            near = difflib.get_close_matches(name, self._providers, n=1)
            known = ", ".join(map(repr, self._providers)) or "none"
            hint = f"did you mean {near[0]!r}?" if near else f"known are {known}; `knime-mcp config mcp` registers one"
            raise ConfigurationError(f"no provider {name!r} is registered; {hint}")

    @property
    def servers(self) -> ProviderServers:
        """The providers that are switched on, as servers; each is made when it is asked for."""
        return ProviderServers(self)


class ProviderServers(Mapping[str, Server]):
    """Servers by the name of their provider, for those who open sessions."""

    def __init__(self, providers: Providers) -> None:
        self._providers = providers

    def __getitem__(self, name: str) -> Server:
        if name not in self._providers:
            raise KeyError(name)
        return self._providers.server(name)

    def __iter__(self) -> Iterator[str]:
        return (name for name, provider in self._providers.items() if provider.enabled)

    def __len__(self) -> int:
        return sum(provider.enabled for provider in self._providers.values())

    def __contains__(self, name: object) -> bool:
        return name in self._providers  # one that is switched off is known, and says so when it is asked for


def providers_path() -> Path:
    """Where the operator's providers are registered."""
    return config_home() / "providers.yaml"


def load_providers(path: Path | str | None = None) -> Providers:
    """The providers in a file.

    Args:
        path: The file; None for the operator's own, which need not exist.

    Raises:
        ConfigurationError: The file cannot be read or is wrong; the message names line, field and repair.
    """
    if path is not None and not Path(path).exists():
        raise ConfigurationError(f"there is no file {str(path)!r}; correct the path")
    return _parsed(YamlFile.read(providers_path() if path is None else Path(path), SECTION))


def save_providers(providers: Mapping[str, Provider], path: Path | str | None = None) -> None:
    """Writes the providers to a file of their own, readable by its owner only.

    Raises:
        ConfigurationError: The file cannot be written.
    """
    file = YamlFile(providers_path() if path is None else Path(path), "", SECTION)
    for name, provider in providers.items():
        file = file.with_entry(name, provider_entry(provider))
    write_private(file.path, file.text)


def save_provider(provider: Provider, path: Path | str | None = None) -> None:
    """Adds a provider to a file or replaces the one of that name; everything else in the file stays as it is.

    Raises:
        ConfigurationError: The file is wrong or cannot be written.
    """
    file = YamlFile.read(providers_path() if path is None else Path(path), SECTION)
    _parsed(file)
    changed = file.with_entry(provider.name, provider_entry(provider))
    _parsed(changed)
    write_private(changed.path, changed.text)


def remove_provider(name: str, path: Path | str | None = None) -> None:
    """Takes a provider out of a file; everything else in the file stays as it is.

    Raises:
        ConfigurationError: There is no provider of that name, or the file is wrong or cannot be written.
    """
    file = YamlFile.read(providers_path() if path is None else Path(path), SECTION)
    if name not in _parsed(file):
        raise ConfigurationError(f"no provider {name!r} is registered in {str(file.path)!r}")
    changed = file.without_entry(name)
    write_private(changed.path, changed.text)


def parse_provider(name: str, entry: Mapping[str, Any]) -> Provider:
    """A provider from the fields of its entry.

    Raises:
        ConfigurationError: A field is wrong; the message names it.
    """
    try:
        return _ADAPTER.validate_python({**entry, "name": name})
    except ValidationError as error:
        raise ConfigurationError(_said(name, _first(error))) from None


def _parsed(file: YamlFile) -> Providers:
    unknown = [key for key in file.data if key != SECTION]
    if unknown:
        raise file.fault(file.line(unknown), f"{unknown[0]!r} is not known here; the file holds only {SECTION!r}")
    entries: Any = file.data.get(SECTION) or {}
    if not isinstance(entries, dict):
        raise file.fault(file.line([SECTION]), f"{SECTION!r} must hold one entry per provider, 'NAME:' and its fields")
    found: list[Provider] = []
    for name, entry in cast("dict[Any, Any]", entries).items():
        place = (SECTION, str(name))
        if not isinstance(name, str) or not isinstance(entry, dict):
            wanted = "a name that is text (put it in quotes)" if not isinstance(name, str) else "fields below its name"
            raise file.fault(file.line(place), f"provider {name!r} needs {wanted}")
        if "name" in entry:
            raise file.fault(file.line((*place, "name")), f"provider {name!r} has its name as key; remove 'name'")
        try:
            found.append(_ADAPTER.validate_python({**cast("dict[str, Any]", entry), "name": name}))
        except ValidationError as error:
            fault = _first(error)
            step = (_tag(fault),) if fault["type"].startswith("union_tag") else ()
            raise file.fault(file.line((*place, *fault["loc"], *step)), _said(name, fault)) from None
    return Providers(found)


def _first(error: ValidationError) -> ErrorDetails:
    """The fault to tell about: a misspelt field comes before the one that is missing because of it."""
    faults = error.errors(include_url=False, include_context=True)
    return next((fault for fault in faults if fault["type"] == "extra_forbidden"), faults[0])


def _tag(fault: ErrorDetails) -> str:
    """The field that says which form a provider, or its way to sign in, has."""
    return "type" if fault["loc"] else "provider_type"


def _said(name: str, fault: ErrorDetails) -> str:
    """What is wrong with a provider, without the value, which may be secret."""
    loc = [step for step in fault["loc"] if step not in _TAGS]
    field = ".".join(map(str, loc))
    where = f"provider {name!r}" if not loc else f"{field!r} of provider {name!r}"
    match fault["type"]:
        case "missing":
            return f"{where} is missing; add it"
        case "extra_forbidden":
            return f"{where} is not known; {_nearest_field(fault)}"
        case "union_tag_not_found":
            return f"{where} has no {_tag(fault)!r}; add it: {_choices(fault)}"
        case "union_tag_invalid":
            return f"{_tag(fault)!r} of {where} must be {_choices(fault)}"
        case "value_error":
            text = str(fault.get("ctx", {}).get("error", fault["msg"]))
            if loc == ["name"]:
                return text
            return f"{where}: {text}" if text.startswith(("'", "the ", "give ")) else f"{where} {text}"
        case "string_type":
            return f"{where} must be text; put it in quotes"
        case _:
            return f"{where}: {fault['msg'][:1].lower()}{fault['msg'][1:]}"


_TAGS = (*_TYPES, "oauth", "client_credentials", "private_key_jwt", "enterprise_managed", "workload_identity")


def _choices(fault: ErrorDetails) -> str:
    return " or ".join(_TYPES) if len(fault["loc"]) == 0 else ", ".join(_TAGS[len(_TYPES) :])


def _nearest_field(fault: ErrorDetails) -> str:
    known = {field for model in _models() for field in model.model_fields} - {"name"}
    near = difflib.get_close_matches(str(fault["loc"][-1]), known, n=1)
    return f"did you mean {near[0]!r}?" if near else "remove it"


def _models() -> tuple[type[Any], ...]:
    from knime_ext.mcp import provider_models as models

    return tuple(vars(models)[name] for name in models.__all__ if isinstance(vars(models)[name], type))


def provider_entry(provider: Provider) -> dict[str, Any]:
    """What the file says about a provider: what differs from the defaults, secrets as the operator wrote them."""
    fields = provider.model_dump(exclude_defaults=True, exclude={"name"})
    auth = getattr(provider, "auth", None)
    if auth is not None:
        fields["auth"] = {"type": auth.type, **fields.get("auth", {})}
    return {"provider_type": provider.provider_type, **_plain(fields)}


def _plain(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in cast("list[Any]", value)]
    return str(value) if isinstance(value, Path) else value
