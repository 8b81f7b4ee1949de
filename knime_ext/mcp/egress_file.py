"""The file in which an operator writes the egress policy (`KNIME_MCP_POLICY`), YAML or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from knime_ext.errors import ConfigurationError
from knime_ext.mcp.egress import Preset

__all__ = ["PolicyFile", "read_policy_file"]


class PolicyFile(BaseModel):
    """What the file says.

    Attributes:
        preset: "desktop", "foreign" or "server".
        allow: Rules that open more.
        deny: Rules that close; they win.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    preset: Preset = "desktop"
    allow: list[str] = []
    deny: list[str] = []


def read_policy_file(path: Path) -> PolicyFile:
    """Reads a policy file. A policy that cannot be read stops everything, because nobody knows what it forbids.

    Raises:
        ConfigurationError: It is not there or not valid; the message names the place.
    """
    try:
        content: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(
            f"the policy file {str(path)!r} cannot be read ({error.strerror}); correct KNIME_MCP_POLICY"
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise ConfigurationError(f"the policy file {str(path)!r}{line} is not YAML; correct it") from None
    try:
        return PolicyFile.model_validate({} if content is None else content)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, fault["loc"])) or "the top"
        raise ConfigurationError(
            f"the policy file {str(path)!r} is wrong at {place!r}: {fault['msg']}; it takes 'preset' (desktop, "
            "foreign or server), 'allow' and 'deny' (lists of rules)"
        ) from None
