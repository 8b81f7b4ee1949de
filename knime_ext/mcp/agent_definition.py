"""Agent definitions: which servers an agent uses and which of their tools, as JSON or YAML. No I/O but reading a file.

    resources:
      - name: Catalog
        slug: catalog
        folder_path: Shared/Data
        server: https://catalog.example.org/mcp
        tools:
          - name: search_metadata
            description: Finds data assets.
            input_schema: {type: object, properties: {query: {type: string}}, required: [query]}

Field names may be written `folder_path` or `folderPath`, and `tools` also `availableTools`. Without `server` (a URL or
the name of a registered provider), the provider has the name of the slug. Without `tools`, all tools of the server are
meant. Resources of other kinds are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias, cast

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from knime_ext.errors import ConfigurationError

__all__ = ["AgentDefinition", "AgentServer", "AgentTool", "DefinitionSource", "read_agent_definition"]


def _either(name: str, *others: str) -> Any:
    head, *tail = name.split("_")
    camel = head + "".join(part.capitalize() for part in tail)
    return Field(default=None, validation_alias=AliasChoices(name, camel, *others))


def _enabled(value: Any) -> Any:
    return True if value is None else value


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class AgentTool(_Part):
    """A tool of a server, as the definition describes it.

    Attributes:
        name: Name on the server.
        description: What it does, for the model; None for what the server says.
        input_schema: JSON Schema of the arguments; None for what the server says.
        output_schema: JSON Schema of a structured result.
    """

    name: str = Field(min_length=1)
    description: str | None = None
    input_schema: dict[str, Any] | None = _either("input_schema")
    output_schema: dict[str, Any] | None = _either("output_schema")


class AgentServer(_Part):
    """A server resource.

    Attributes:
        name: Name for people.
        slug: Short name; that of the provider, if `server` is not given.
        folder_path: Where the resource is filed.
        server: A URL or the name of a registered provider.
        is_enabled: Whether the agent uses it.
        tools: The tools that the agent may use; None for all of the server.
        resource_type: "mcp"; other resources are passed over.
    """

    name: str = Field(min_length=1)
    slug: str | None = None
    folder_path: str | None = _either("folder_path")
    server: str | None = _either("server", "url", "provider")
    is_enabled: Annotated[bool, BeforeValidator(_enabled)] = Field(
        default=True, validation_alias=AliasChoices("is_enabled", "isEnabled")
    )
    tools: tuple[AgentTool, ...] | None = _either("tools", "availableTools", "available_tools")
    resource_type: str = Field(
        default="mcp", validation_alias=AliasChoices("$resourceType", "resource_type", "resourceType")
    )

    @property
    def address(self) -> str:
        """URL or provider of the server."""
        return self.server or self.slug or self.name


class AgentDefinition(_Part):
    """The server resources of an agent."""

    resources: tuple[AgentServer, ...] = ()

    @property
    def servers(self) -> list[AgentServer]:
        """The servers that the agent uses, in order."""
        return [resource for resource in self.resources if resource.is_enabled]


DefinitionSource: TypeAlias = "AgentDefinition | AgentServer | Mapping[str, Any] | Sequence[Any] | str | Path"
"""A definition, the list of its resources, one of them, or the path of a JSON or YAML file."""


def read_agent_definition(source: DefinitionSource) -> AgentDefinition:
    """The definition in a file or in values of JSON.

    Raises:
        ConfigurationError: It is none; the message names file, place and repair.
    """
    if isinstance(source, AgentDefinition):
        return source
    if isinstance(source, AgentServer):
        return AgentDefinition(resources=(source,))
    where = "the agent definition"
    if isinstance(source, (str, Path)):
        where, source = f"agent definition {str(source)!r}", _file(Path(source))
    return _parsed(source, where)


def _file(path: Path) -> Any:
    import yaml

    try:
        text = path.read_text(encoding="utf-8")
        return json.loads(text) if path.suffix.lower() == ".json" else yaml.safe_load(text)
    except OSError as error:
        raise ConfigurationError(
            f"cannot read agent definition {str(path)!r}: {error.strerror}; correct the path"
        ) from None
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise ConfigurationError(
            f"agent definition {str(path)!r} is neither JSON nor YAML ({reason}); correct it there"
        ) from None


def _parsed(source: Any, where: str) -> AgentDefinition:
    resources: Any = source
    if isinstance(source, Mapping):
        fields = cast("Mapping[str, Any]", source)
        resources = fields.get("resources", fields.get("servers", [fields] if "name" in fields else None))
    if not isinstance(resources, (list, tuple)):
        raise ConfigurationError(f"{where} has no list of 'resources'; give one entry per server")
    parsed: list[AgentServer] = []
    for place, resource in enumerate(cast("Sequence[Any]", resources)):
        if _is_server(resource):
            parsed.append(_server(resource, f"{where}, resources[{place}]"))
    return AgentDefinition(resources=tuple(parsed))


def _is_server(resource: Any) -> bool:
    if not isinstance(resource, Mapping):
        return True  # to be refused with its place
    fields = cast("Mapping[str, Any]", resource)
    kind = fields.get("$resourceType", fields.get("resource_type", fields.get("resourceType", "mcp")))
    return str(kind).lower() == "mcp"


def _server(resource: Any, where: str) -> AgentServer:
    if isinstance(resource, AgentServer):
        return resource
    try:
        return AgentServer.model_validate(resource)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in fault["loc"])
        raise ConfigurationError(f"{where}{path}: {fault['msg'][:1].lower()}{fault['msg'][1:]}; correct it") from None
