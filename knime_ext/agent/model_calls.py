"""Asks a chat model once, in a way that a cancelled run never waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import aclosing
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, message_chunk_to_message
from langchain_core.messages.ai import add_ai_message_chunks

from knime_ext.agent.cancellation import stop
from knime_ext.agent.model_errors import model_name
from knime_ext.agent.threads import call_in_thread
from knime_ext.errors import AgentError, KnimeExtError

__all__ = ["ask", "ask_streaming"]

HearPiece = Callable[[AIMessage], None]
"""Somebody who gets a reply piece by piece, on the event loop of who asks."""


def _only_blocks(model: BaseChatModel) -> bool:
    kind = type(model)
    return kind._agenerate is BaseChatModel._agenerate and kind._astream is BaseChatModel._astream  # pyright: ignore[reportPrivateUsage]


def _is_bound_to_a_loop(model: BaseChatModel) -> bool:
    """True for providers' models, whose pooled connections fail on the next event loop (see `loop_clients`)."""
    from_provider = type(model).__module__.startswith("langchain_")
    client = getattr(model, "http_async_client", None)
    return from_provider and not getattr(client, "works_on_every_loop", False)


def _needs_a_thread(model: BaseChatModel, *, passing_loop: bool) -> bool:
    return _only_blocks(model) or (passing_loop and _is_bound_to_a_loop(model))


async def ask(model: BaseChatModel, bound: Any, messages: list[BaseMessage], *, passing_loop: bool) -> AIMessage:
    """The model's reply.

    Args:
        model: The model itself.
        bound: The model with its tools.
        messages: The conversation.
        passing_loop: True if the running event loop ends with the run.
    """
    blocking = _needs_a_thread(model, passing_loop=passing_loop)
    reply = await (call_in_thread(bound.invoke, messages) if blocking else bound.ainvoke(messages))
    return cast("AIMessage", reply)


async def ask_streaming(
    model: BaseChatModel, bound: Any, messages: list[BaseMessage], hear: HearPiece, *, passing_loop: bool
) -> AIMessage:
    """The model's reply like `ask`, with every piece of it as it comes. Models that cannot stream have one piece.

    Raises:
        AgentError: The reply broke off.
    """
    reply = _Reply(model, hear)
    try:
        if _needs_a_thread(model, passing_loop=passing_loop):
            await call_in_thread(_read_in_thread, bound, messages, reply, asyncio.get_running_loop())
        else:
            await _read(bound, messages, reply)
    except Exception as error:
        if reply.pieces and not isinstance(error, KnimeExtError) and getattr(error, "status_code", None) is None:
            raise _broke_off(model) from None
        raise
    finally:
        reply.open = False
    return reply.whole()


class _Reply:
    """A reply that comes in pieces."""

    def __init__(self, model: BaseChatModel, hear: HearPiece) -> None:
        self.pieces: list[AIMessage] = []
        self.open = True
        self._model = model
        self._hear = hear

    def add(self, piece: AIMessage) -> None:
        if self.open:
            self.pieces.append(piece)
            self._hear(piece)

    def whole(self) -> AIMessage:
        chunks = [piece for piece in self.pieces if isinstance(piece, AIMessageChunk)]
        if not chunks:
            return self.pieces[0]
        reply = cast("AIMessage", message_chunk_to_message(add_ai_message_chunks(*chunks)))
        if _is_openai(self._model) and not _has_ended(reply):
            raise _broke_off(self._model)
        return reply


def _is_openai(model: BaseChatModel) -> bool:
    return any(kind.__module__.startswith("langchain_openai") for kind in type(model).__mro__)


def _has_ended(reply: AIMessage) -> bool:
    """OpenAI's APIs say at the end of a stream how it ended; a proxy may cut it without any error."""
    facts = cast("Mapping[str, Any]", reply.response_metadata)  # pyright: ignore[reportUnknownMemberType]
    return bool(facts.get("finish_reason") or facts.get("status"))


async def _read(bound: Any, messages: list[BaseMessage], reply: _Reply) -> None:
    """Reads a stream in a task of its own, which ends with the next piece if it overhears that it is cancelled.

    Providers wait for each piece with `asyncio.wait_for`, which loses cancellations before Python 3.12 if the piece is
    there already; a fast model would go on to its end.
    """

    async def read() -> None:
        async with aclosing(bound.astream(messages)) as pieces:
            async for piece in pieces:
                if not reply.open:
                    return
                reply.add(piece)

    reading = asyncio.ensure_future(read())
    try:
        await asyncio.wait({reading})
        reading.result()
    finally:
        reply.open = False
        await stop(reading)


def _read_in_thread(bound: Any, messages: list[BaseMessage], reply: _Reply, loop: asyncio.AbstractEventLoop) -> None:
    for piece in bound.stream(messages):
        if not reply.open:
            return
        loop.call_soon_threadsafe(reply.add, piece)


def _broke_off(model: BaseChatModel) -> AgentError:
    name = model_name(model)
    return AgentError(f"the connection to the chat model {name!r} broke off in the middle of its reply; run it again.")
