"""Agent Batch Prompter: a chat model answers one prompt per row and calls tools on its way."""

from __future__ import annotations

from typing import Any

import knime.extension as knext

from knime_ext.nodes.agent_batch_settings import AgentBatchSettings, column_type
from knime_ext.nodes.category import category
from knime_ext.nodes.chat_model_port import ChatModelPortObject, ChatModelPortObjectSpec, chat_model_port_type
from knime_ext.nodes.failures import shown_to_the_user

__all__ = ["AgentBatchPrompter"]


@knext.node(
    name="Agent Batch Prompter",
    node_type=knext.NodeType.PREDICTOR,
    icon_path="icons/agent_batch_prompter.png",
    category=category,
    keywords=["LLM", "GenAI", "Chat model", "Tool calling", "MCP", "Agentic", "Prompt", "Table", "Batch"],
    id="AgentBatchPrompter",
)
@knext.input_port("Chat model", "The chat model that answers.", chat_model_port_type)
@knext.input_table("Prompts", "One row per prompt; its columns fill the places of the prompt's template.")
@knext.input_table("Tools", "Table with a column of tools that the model may call.", optional=True)
@knext.output_table("Answers", "The prompts with the answers and all that led to them as further columns.")
@knext.output_view("Answers", "All rows with their answers; a click on one shows its conversation.")
class AgentBatchPrompter(AgentBatchSettings):
    """Asks a chat model once per row of a table, with tools, many rows at a time.

    Write a **prompt** with places for columns, such as `Summarise {{ review }} in one sentence.`, and each row is asked
    on its own, without knowledge of the others. The model may call the tools of the *Tools* table as it does in the
    **Agent Prompter**.

    **Output.** Behind the columns of the table stand the answer and, with names that begin with that of the answer
    column and two underscores: the conversation (`trace`, as JSON), how the run ended (`stop_reason`), how many times
    the model asked for tools (`turns`), tool calls, tokens, seconds, and the error of rows that failed. With *Form of
    the answer*, values are typed columns of their own.

    **Try it first.** *Preview* asks for the first rows only. When you like the answers, set it to 0: rows of the
    preview are not asked for again.

    **Nothing is lost.** Finished rows are written down as they finish. If the node is stopped, or the program ends, the
    next execution with the same data and settings goes on where it stopped.

    **Costs and limits.** Every row is at least one request to the model, and every tool call has its effect once per
    row. Limit tokens and calls of the whole table under *Limits*, requests and calls per minute under *Speed*. When
    the service limits the rate, the node waits as long as it asks for and tries again.

    **A word of caution.** Tools act with your rights, and cells, descriptions and results are text that somebody else
    may have written. Give the model only tools that it may use without asking you, and only servers you trust.
    """

    def configure(
        self,
        ctx: knext.ConfigurationContext,
        chat_model: ChatModelPortObjectSpec,
        prompts: knext.Schema,
        tools: knext.Schema | None,
    ) -> Any:
        """The columns; a prompt that names a column that is not there is an error here already."""
        chat_model.validate_context(ctx)
        column = self.tools_in(tools)
        if not chat_model.supports_tools and (column is not None or self.tool_alias.strip()):
            raise knext.InvalidParametersError("This chat model cannot call tools; connect one that can.")
        with shown_to_the_user():
            self.check_templates(prompts.column_names)
            fields = self.output().fields(prompts.column_names)
        return knext.Schema.from_columns(
            [*prompts, *(knext.Column(column_type(field.type), field.name) for field in fields)]
        )

    def execute(
        self,
        ctx: knext.ExecutionContext,
        chat_model: ChatModelPortObject,
        prompts: knext.Table,
        tools: knext.Table | None,
    ) -> Any:
        """Asks for all rows."""
        from knime_ext.nodes.agent_batch_run import BatchInputs, prompt_rows

        chat_model.spec.validate_context(ctx)
        with shown_to_the_user():
            return prompt_rows(self, ctx, BatchInputs(chat_model=chat_model, prompts=prompts, tools=tools))
