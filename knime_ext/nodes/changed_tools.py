"""The choice of what happens with tools that are not what they were."""

from __future__ import annotations

import knime.extension as knext

__all__ = ["ChangedTools"]


class ChangedTools(knext.EnumParameterOptions):
    """What happens with a tool that is not what it was."""

    FAIL = ("Fail", "The tool is not used; the message says what changed.")
    WARN = ("Warn", "The tool is used as it is now, and the node warns.")
    ACCEPT = ("Accept", "The tool is used as it is now.")
