"""Asks a chat model once, in a way that a cancelled run never waits for."""

from __future__ import annotations

from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage

from knime_ext.agent.threads import call_in_thread

__all__ = ["ask"]


def _only_blocks(model: BaseChatModel) -> bool:
    kind = type(model)
    return kind._agenerate is BaseChatModel._agenerate and kind._astream is BaseChatModel._astream  # pyright: ignore[reportPrivateUsage]


def _is_bound_to_a_loop(model: BaseChatModel) -> bool:
    """True for providers' models, whose pooled connections fail on the next event loop (see `loop_clients`)."""
    from_provider = type(model).__module__.startswith("langchain_")
    client = getattr(model, "http_async_client", None)
    return from_provider and not getattr(client, "works_on_every_loop", False)


async def ask(model: BaseChatModel, bound: Any, messages: list[BaseMessage], *, passing_loop: bool) -> AIMessage:
    """The model's reply.

    Args:
        model: The model itself.
        bound: The model with its tools.
        messages: The conversation.
        passing_loop: True if the running event loop ends with the run.
    """
    blocking = _only_blocks(model) or (passing_loop and _is_bound_to_a_loop(model))
    reply = await (call_in_thread(bound.invoke, messages) if blocking else bound.ainvoke(messages))
    return cast("AIMessage", reply)
