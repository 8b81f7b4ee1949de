"""Configuration nodes: the flow variable has the name of the parameter here, in KNIME it may have another."""

from __future__ import annotations

from typing import Any

from knime_ext.runtime.knime_workflow.config import Config, text
from knime_ext.runtime.knime_workflow.rows import Settings, Unsupported

__all__ = ["read_variable", "write_variable"]


def write_variable(settings: Settings, model: Config) -> None:
    """Puts the name of the flow variable."""
    model["flowVariableName"] = text(settings["parameter_name"])


def read_variable(model: Config) -> dict[str, Any]:
    """Nothing; the name is that of the parameter.

    Raises:
        Unsupported: It is another one.
    """
    variable, parameter = model.string("flowVariableName"), model.string("parameterName")
    if variable and variable != parameter:
        raise Unsupported(
            f"calls its flow variable {variable!r} but its parameter {parameter!r}; use one name for both"
        )
    return {}
