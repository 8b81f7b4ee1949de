"""OpenAI's chat completions, with what services of the same API add to them.

LangChain's class reads OpenAI's own fields alone. vLLM, Ollama, DeepSeek and others send a model's thoughts beside its
answer, as `reasoning_content` or `reasoning`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManager, AsyncCallbackManagerForLLMRun
from langchain_core.globals import get_llm_cache
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_openai import ChatOpenAI

__all__ = ["CompatibleChatOpenAI"]


class CompatibleChatOpenAI(ChatOpenAI):
    """A chat model of any service that speaks OpenAI's API."""

    def _get_request_payload(self, input_: Any, *, stop: list[str] | None = None, **kwargs: Any) -> dict[str, Any]:
        payload = cast("dict[str, Any]", super()._get_request_payload(input_, stop=stop, **kwargs))  # pyright: ignore[reportUnknownMemberType]
        if "response_format" in payload or self._use_responses_api(payload):  # pyright: ignore[reportUnknownMemberType]
            return payload
        # OpenAI's library looks through messages and tools key by key for what it has to rename, on every request,
        # which takes longer than everything else about it. There is nothing to rename here.
        whole = {name: payload.pop(name) for name in ("messages", "tools") if name in payload}
        return {**payload, "messages": [], "extra_body": whole | (payload.get("extra_body") or {})}

    async def ainvoke(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AIMessage:
        """The reply. LangChain's way to it is only taken where somebody listens on it, or something needs it."""
        if not (isinstance(input, list) and self._is_plain(input, kwargs) and self._is_unobserved(config)):
            return await super().ainvoke(input, config, stop=stop, **kwargs)
        result = await self._agenerate(cast("list[BaseMessage]", input), stop, **kwargs)
        generation = result.generations[0]
        message = cast("AIMessage", generation.message)
        facts: dict[str, Any] = (result.llm_output or {}) | (generation.generation_info or {})
        message.response_metadata = facts | message.response_metadata  # pyright: ignore[reportUnknownMemberType]
        return message

    def _is_plain(self, messages: Sequence[Any], options: Mapping[str, Any]) -> bool:
        return (
            all(isinstance(message, BaseMessage) and isinstance(message.content, str) for message in messages)  # pyright: ignore[reportUnknownMemberType]
            and not (self.streaming or self.rate_limiter or self.cache or get_llm_cache() or "stream" in options)
            and self.output_version in (None, "v0")
        )

    def _is_unobserved(self, config: RunnableConfig | None) -> bool:
        """Whether no callback, tracer or cost counter, wherever it was set up, wants to hear of the request."""
        callbacks = ensure_config(config).get("callbacks")
        return not AsyncCallbackManager.configure(callbacks, self.callbacks, self.verbose).handlers

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        payload = self._get_request_payload(messages, stop=stop, **kwargs)
        if payload.get("messages") != [] or self.include_response_headers:
            return await super()._agenerate(messages, stop, run_manager, **kwargs)
        # LangChain has the reply made into the library's objects, those into dictionaries again, and these read in
        # another thread. It is a dictionary to begin with.
        raw: Any = await self.async_client.with_raw_response.create(**payload)
        try:
            reply: Any = json.loads(raw.http_response.content)
        except ValueError:
            reply = raw.parse()
        return self._create_chat_result(reply, {})

    def _create_chat_result(self, response: Any, generation_info: dict[str, Any] | None = None) -> ChatResult:
        result = super()._create_chat_result(response, generation_info)  # pyright: ignore[reportUnknownMemberType]
        said: Any = response
        choices = said["choices"] if isinstance(response, dict) else said.choices
        for generation, choice in zip(result.generations, choices, strict=False):
            _keep_thoughts(generation.message, choice["message"] if isinstance(choice, dict) else choice.message)
        return result

    def _convert_chunk_to_generation_chunk(
        self,
        chunk: dict[str, Any],
        default_chunk_class: type,
        base_generation_info: dict[str, Any] | None,
    ) -> ChatGenerationChunk | None:
        found = super()._convert_chunk_to_generation_chunk(  # pyright: ignore[reportUnknownMemberType]
            chunk, default_chunk_class, base_generation_info
        )
        choices = chunk.get("choices")
        if found is not None and choices:
            _keep_thoughts(found.message, choices[0].get("delta") or {})
        return found


def _keep_thoughts(message: Any, raw: Any) -> None:
    for name in ("reasoning_content", "reasoning"):
        text = cast("Mapping[str, Any]", raw).get(name) if isinstance(raw, dict) else getattr(raw, name, None)
        if isinstance(message, AIMessage) and isinstance(text, str) and text:
            message.additional_kwargs["reasoning_content"] = text  # pyright: ignore[reportUnknownMemberType]
            return
