"""Agent Prompter: a chat model answers one question and calls the tools of a table on its way."""

from __future__ import annotations

from typing import Any

import knime.extension as knext

from knime_ext.nodes.agent_settings import AgentSettings
from knime_ext.nodes.answer_table import answer_schema
from knime_ext.nodes.category import category
from knime_ext.nodes.chat_model_port import ChatModelPortObject, ChatModelPortObjectSpec, chat_model_port_type
from knime_ext.nodes.columns import message_type
from knime_ext.nodes.failures import shown_to_the_user

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
@knext.output_table("Answer", "One row: the answer, its values in columns of their own, and what the run has taken.")
@knext.output_view("Conversation", "The conversation as a page, with every tool call, its result and its time.")
class AgentPrompter(AgentSettings):
    """Asks a chat model one question and lets it call tools until it can answer.

    An *agent* is a chat model with tools. This node hands your question to the model together with what the tools are
    called, what they do and what they take. The model decides which tool to call, the node calls it and gives the
    result back, and so on, until the model answers.

    **Tools** come as rows of a table. A tool can be a function of an MCP server (see **MCP Tool Provider**) or a whole
    workflow (see **Workflow to Tool**), and one table can mix both. Clear names and descriptions of the tools help the
    model more than anything else.

    **Data.** The model never sees the rows of your tables. It is told their names and columns, and passes tables to
    tools by their number: a workflow that takes a table gets the whole table, and the tables that it produces can go
    to the next tool. The last ones leave the node at the *Data outputs*: as many as there are ports, the newest at the
    end, filled up with empty tables if there are not enough.

    **Conversation.** The output has one row per message: your question, the model's calls, the tools' results and the
    answer in the last row. Connect it to the *Conversation history* of another Agent Prompter to go on talking. The
    view shows the same as a page, with the time that every step took.

    **Answer.** The last output has one row with the answer, how the run ended, its iterations, tool calls, tokens and
    seconds. With a *Form of the answer*, the values that you ask for come in columns of their own, with their types.

    **When something fails.** A tool that fails does not fail the node: the model reads the reason and may try again or
    do without. What fails the node (the chat model does not answer, the iteration limit is reached) can go to an
    error column instead, see *Error handling*.

    **A word of caution.** Tools act with your rights, and descriptions and results that come from a server are text
    that somebody else wrote. Give an agent only tools that it may use without asking you, and only servers you trust.
    """

    def configure(
        self,
        ctx: knext.ConfigurationContext,
        chat_model: ChatModelPortObjectSpec,
        tools: knext.Schema,
        history: knext.Schema | None,
        data: list[knext.Schema],
    ) -> Any:
        """The columns of the conversation; what the data outputs will hold is not known before."""
        chat_model.validate_context(ctx)
        if not chat_model.supports_tools:
            raise knext.InvalidParametersError("This chat model cannot call tools; connect one that can.")
        found = self.columns(tools, history)
        columns = [knext.Column(message_type(), found.conversation)]
        if found.error is not None:
            columns.append(knext.Column(knext.string(), found.error))
        with shown_to_the_user():
            answer = answer_schema(self.answer.format())
        return knext.Schema.from_columns(columns), [None] * ctx.get_connected_output_port_numbers()[1], answer

    def execute(
        self,
        ctx: knext.ExecutionContext,
        chat_model: ChatModelPortObject,
        tools: knext.Table,
        history: knext.Table | None,
        data: list[knext.Table],
    ) -> Any:
        """Asks the agent."""
        from knime_ext.nodes.agent_run import AgentInputs, run_agent

        chat_model.spec.validate_context(ctx)
        with shown_to_the_user():
            return run_agent(self, ctx, AgentInputs(chat_model=chat_model, tools=tools, history=history, data=data))
