"""Limits of an agent's run beyond its turns, for every node with an agent. 0 stands for no limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import knime.extension as knext

if TYPE_CHECKING:
    from knime_ext.agent import Budget

__all__ = ["LimitSettings"]


@knext.parameter_group(label="Limits", is_advanced=True)
class LimitSettings:
    """What one run may spend. 0 stands for no limit."""

    calls = knext.IntParameter(
        "Tool calls",
        "Most tool calls of the whole run; of several calls in one reply, the first ones that still fit are made. "
        "0 for no limit.",
        0,
        min_value=0,
    )
    seconds = knext.DoubleParameter(
        "Time (seconds)",
        "Longest time of the whole run, model and tools together; a final answer gets a little more. 0 for no limit.",
        0.0,
        min_value=0.0,
    )
    seconds_per_call = knext.DoubleParameter(
        "Time of a tool call (seconds)",
        "A tool that takes longer is stopped and the model is told so. 0 for no limit but those of the servers.",
        0.0,
        min_value=0.0,
    )
    tokens = knext.IntParameter(
        "Tokens",
        "Most tokens of all questions and answers of the model together, as the model counts them. They are counted "
        "when a reply is there, so the last one may go beyond. 0 for no limit.",
        0,
        min_value=0,
    )
    tool_tokens = knext.IntParameter(
        "Definitions of tools (tokens)",
        "If names, descriptions and arguments of all tools are estimated to take more tokens, the model gets a tool to "
        "search with in their place, and then the tools that it has found. 0 always shows all.",
        0,
        min_value=0,
    )
    result_chars = knext.IntParameter(
        "Longest result (characters)",
        "A longer result of a tool goes to a file; the model gets the beginning, and a tool to read on with.",
        20_000,
        min_value=200,
    )

    def budget(self, turns: int) -> Budget:
        """What a run may spend.

        Args:
            turns: Replies that ask for tools.
        """
        from knime_ext.agent import Budget

        return Budget(
            turns=turns,
            calls=self.calls or None,
            seconds=self.seconds or None,
            seconds_per_call=self.seconds_per_call or None,
        )
