"""A chat model that needs no key and no network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import tool_call
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool

from knime_ext.agent.planner import next_move

__all__ = ["OfflineChatModel"]


class OfflineChatModel(BaseChatModel):
    """A rule-based planner in the shape of a chat model, for demonstrations, tests and first steps.

    It is no language model: it knows nothing and writes nothing of its own. It compares the words of the question
    with the names, descriptions and schemas of the tools, fills arguments from numbers, quoted words, codes, dates,
    data ids and earlier results, calls the tools in the order that their needs give, and answers with what they said.
    The same conversation always gets the same reply. English only.
    """

    model_name: str = "offline"

    @property
    def _llm_type(self) -> str:
        return "offline"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.model_name}

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """The model with tools to plan with, in any form that LangChain knows."""
        return super().bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        move = next_move(messages, cast("list[dict[str, Any]]", kwargs.get("tools", [])))
        message = AIMessage(
            content=move.text,
            tool_calls=[tool_call(name=call.name, args=dict(call.arguments), id=call.id) for call in move.calls],
            response_metadata={
                "model_name": self.model_name,
                "finish_reason": "tool_calls" if move.calls else "stop",
            },
        )
        return ChatResult(generations=[ChatGeneration(message=message)])
