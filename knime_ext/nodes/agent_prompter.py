"""Agent Prompter: a chat model answers one question and calls the tools of a table on its way."""

from __future__ import annotations

from typing import Any

import knime.extension as knext

from knime_ext.nodes.agent_settings import AgentSettings
from knime_ext.nodes.category import category
from knime_ext.nodes.chat_model_port import ChatModelPortObject, ChatModelPortObjectSpec, chat_model_port_type
from knime_ext.nodes.columns import message_type

__all__ = ["AgentPrompter"]


@knext.node(
    name="Agent Prompter",
    node_type=knext.NodeType.PREDICTOR,
    icon_path="icons/agent_prompter.png",
    category=category,
    keywords=["LLM", "GenAI", "Chat model", "Tool calling", "MCP", "Agentic"],
    id="AgentPrompter",
)
@knext.input_port("Chat model", "The chat model that plans, calls tools and answers.", chat_model_port_type)
@knext.input_table("Tools", "Table with a column of tools, from any mix of MCP servers and workflows.")
@knext.input_table("Conversation history", "An earlier conversation to continue.", optional=True)
@knext.input_table_group("Data inputs", "Tables that the model may hand to tools. It sees their columns, never rows.")
@knext.output_table("Conversation", "One row per message: the question, every tool call with its result, the answer.")
@knext.output_table_group("Data outputs", "The tables that tools produced last, one per port, the newest at the end.")
@knext.output_view("Conversation", "The conversation as a page, with every tool call, its result and its time.")
class AgentPrompter(AgentSettings):
    """Asks a chat model one question and lets it call tools until it can answer.

    ...
    """

    def configure(
        self,
        ctx: knext.ConfigurationContext,
        chat_model: ChatModelPortObjectSpec,
        tools: knext.Schema,
        history: knext.Schema | None,
        data: list[knext.Schema],
    ) -> Any:
        chat_model.validate_context(ctx)
        _, conversation, error = self.columns(tools, history)
        columns = [knext.Column(message_type(), conversation)]
        if error is not None:
            columns.append(knext.Column(knext.string(), error))
        return knext.Schema.from_columns(columns), [None] * ctx.get_connected_output_port_numbers()[1]

    def execute(
        self,
        ctx: knext.ExecutionContext,
        chat_model: ChatModelPortObject,
        tools: knext.Table,
        history: knext.Table | None,
        data: list[knext.Table],
    ) -> Any:
        from knime_ext.nodes.agent_run import run_agent

        ...
