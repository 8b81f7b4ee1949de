"""Offline Chat Model: the built-in model that needs neither key nor network."""

from __future__ import annotations

from typing import Any

import knime.extension as knext

from knime_ext.nodes.category import category
from knime_ext.nodes.chat_model_port import OFFLINE, ChatModelPortObject, ChatModelPortObjectSpec, chat_model_port_type

__all__ = ["OfflineChatModel"]


@knext.node(
    name="Offline Chat Model",
    node_type=knext.NodeType.SOURCE,
    icon_path="icons/offline_chat_model.png",
    category=category,
    keywords=["LLM", "GenAI", "Model", "Test", "Demo", "Local"],
    id="OfflineChatModel",
)
@knext.output_port("Chat model", "The built-in chat model, for an agent.", chat_model_port_type)
class OfflineChatModel:
    """Provides a built-in chat model that needs no key, no download and no network.

    The model is not a language model. It compares the words of your question with the names and descriptions of the
    tools, calls the ones that fit one after the other, fills their arguments from the numbers, the quoted words and
    the tables in your question and from earlier results, and answers with what the tools said.

    **Use it** to try out tools and workflows, for demonstrations and for tests: the same question with the same tools
    gives the same calls every time, nothing leaves the computer, and nothing costs money.

    **Do not use it** for real conversations. It does not understand language, cannot summarise or reason, and is at a
    loss if the question has no words in common with any tool. The **Chat Model Connector** node sets up a real model;
    nothing else in the workflow has to change.
    """

    def configure(self, ctx: knext.ConfigurationContext) -> ChatModelPortObjectSpec:
        """How to make the model."""
        return ChatModelPortObjectSpec(provider=OFFLINE)

    def execute(self, ctx: knext.ExecutionContext) -> Any:
        """The model's port object."""
        return ChatModelPortObject(ChatModelPortObjectSpec(provider=OFFLINE))
