"""`tool_configs.yaml`: which tools of which providers a model may call, by alias.

tool_configs:
  research:
    providers: [docs, files]
    allow_tools: ["search_*"]
    max_tool_call_turns: 5
    timeout_sec: 60
    max_tool_calls: 20
    run_timeout_sec: 300
    max_table_tool_calls: 5000
    max_table_tokens: 2000000
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, ValidationError

from knime_ext.errors import ConfigurationError
from knime_ext.mcp.config_home import config_home, write_private
from knime_ext.mcp.tool_config import ToolConfig
from knime_ext.mcp.yaml_file import YamlFile

__all__ = ["load_tool_configs", "remove_tool_config", "save_tool_config", "tool_configs_path"]

SECTION = "tool_configs"


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    providers: list[str] | str = Field(min_length=1)
    allow_tools: list[str] | None = None
    max_tool_call_turns: PositiveInt = 5
    timeout_sec: PositiveFloat | None = 60.0
    max_tool_calls: PositiveInt | None = None
    run_timeout_sec: PositiveFloat | None = None
    max_table_tool_calls: PositiveInt | None = None
    max_table_tokens: PositiveInt | None = None


_FURTHER_LIMITS = ("max_tool_calls", "run_timeout_sec", "max_table_tool_calls", "max_table_tokens")


def tool_configs_path() -> Path:
    """Where the operator's tool configurations are."""
    return config_home() / "tool_configs.yaml"


def load_tool_configs(path: Path | str | None = None) -> dict[str, ToolConfig]:
    """The tool configurations in a file, by alias.

    Args:
        path: The file; None for the operator's own, which need not exist.

    Raises:
        ConfigurationError: The file cannot be read or is wrong; the message names line, field and repair.
    """
    if path is not None and not Path(path).exists():
        raise ConfigurationError(f"there is no file {str(path)!r}; correct the path")
    return _parsed(_file(path))


def save_tool_config(config: ToolConfig, path: Path | str | None = None) -> None:
    """Adds a tool configuration to a file or replaces the one of that alias; everything else stays as it is.

    Raises:
        ConfigurationError: The file is wrong or cannot be written.
    """
    file = _file(path)
    _parsed(file)
    entry: dict[str, Any] = {"providers": list(config.providers)}
    if config.allow_tools is not None:
        entry["allow_tools"] = list(config.allow_tools)
    entry |= {"max_tool_call_turns": config.max_tool_call_turns, "timeout_sec": config.timeout_sec}
    entry |= {field: limit for field in _FURTHER_LIMITS if (limit := getattr(config, field)) is not None}
    changed = file.with_entry(config.tool_alias, entry)
    _parsed(changed)
    write_private(changed.path, changed.text)


def remove_tool_config(alias: str, path: Path | str | None = None) -> None:
    """Takes a tool configuration out of a file.

    Raises:
        ConfigurationError: There is none of that alias, or the file is wrong or cannot be written.
    """
    file = _file(path)
    if alias not in _parsed(file):
        raise ConfigurationError(f"there is no tool configuration {alias!r} in {str(file.path)!r}")
    changed = file.without_entry(alias)
    write_private(changed.path, changed.text)


def _file(path: Path | str | None) -> YamlFile:
    return YamlFile.read(tool_configs_path() if path is None else Path(path), SECTION)


def _parsed(file: YamlFile) -> dict[str, ToolConfig]:
    unknown = [key for key in file.data if key != SECTION]
    if unknown:
        raise file.fault(file.line(unknown), f"{unknown[0]!r} is not known here; the file holds only {SECTION!r}")
    entries: Any = file.data.get(SECTION) or {}
    if not isinstance(entries, dict):
        raise file.fault(file.line([SECTION]), f"{SECTION!r} must hold one entry per alias, 'ALIAS:' and its fields")
    return {str(alias): _config(file, alias, entry) for alias, entry in cast("dict[Any, Any]", entries).items()}


def _config(file: YamlFile, alias: Any, entry: Any) -> ToolConfig:
    place = (SECTION, str(alias))
    if not isinstance(alias, str) or not isinstance(entry, dict):
        raise file.fault(file.line(place), f"tool configuration {alias!r} needs an alias that is text, and fields")
    try:
        fields = _Entry.model_validate(cast("Mapping[str, Any]", entry)).model_dump()
        return ToolConfig(tool_alias=alias, **fields)
    except ConfigurationError as error:
        raise file.fault(file.line(place), str(error)) from None
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        field = str(fault["loc"][0])
        text = f"{fault['msg'][:1].lower()}{fault['msg'][1:]}"
        if fault["type"] == "extra_forbidden":
            near = difflib.get_close_matches(field, _Entry.model_fields, n=1)
            text = f"is not known; {f'did you mean {near[0]!r}?' if near else 'remove it'}"
        elif fault["type"] == "missing":
            text = "is missing; add it"
        raise file.fault(
            file.line((*place, *fault["loc"])), f"{field!r} of tool configuration {alias!r}: {text}"
        ) from None
