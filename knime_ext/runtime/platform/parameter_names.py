"""Names of a workflow's parameters, inputs and outputs, as its callers write them."""

from __future__ import annotations

import re

from knime_ext.errors import ConfigurationError

__all__ = ["check_parameter_name"]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def check_parameter_name(name: str) -> None:
    """Refuses names that callers or models could not write.

    Raises:
        ConfigurationError: The name is no letter followed by letters, digits, `_` and `-`, 64 at most.
    """
    if not _NAME.fullmatch(name) or name.startswith("knime"):
        raise ConfigurationError(
            f"the parameter name {name!r} is not possible: begin with a letter (but not with 'knime'), "
            "then use letters, digits, _ and - only"
        )
