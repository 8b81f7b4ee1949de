"""Workflow Input: where a table enters a workflow that is run by somebody else."""

from __future__ import annotations

import knime.extension as knext

from knime_ext.runtime.platform.categories import WORKFLOW_IO
from knime_ext.runtime.platform.host import workflow_input
from knime_ext.runtime.platform.parameter_names import check_parameter_name

__all__ = ["WorkflowInput"]


@knext.node(
    "Workflow Input",
    knext.NodeType.SOURCE,
    "icons/workflow_input.png",
    WORKFLOW_IO,
    keywords=["tool", "service", "parameter", "data"],
    id="WorkflowInput",
)
@knext.input_table("Template", "An example of the table; used if the workflow is run on its own.", optional=True)
@knext.output_table("Input table", "The table that the caller gives.")
class WorkflowInput:
    """Receives a table from whoever runs the workflow.

    In a workflow that serves as a tool, each Workflow Input is one input of the tool: the agent hands a table to it.
    From Python and from the command line, tables are given by the parameter name.

    Connect a **template** to run the workflow on its own as well, and to tell which columns are expected. Without a
    template and without a caller the node cannot execute.
    """

    parameter_name = knext.StringParameter(
        "Parameter name", "Name of the input, for callers and models.", "input-table"
    )
    description = knext.StringParameter("Description", "What the table must contain; models read it.", "")

    def configure(self, ctx: knext.ConfigurationContext, template: knext.Schema | None) -> knext.Schema | None:
        """The columns of the given table, or of the template; unknown without both."""
        check_parameter_name(self.parameter_name)
        given = workflow_input(ctx, self.parameter_name)
        return template if given is None else given.schema

    def execute(self, ctx: knext.ExecutionContext, template: knext.Table | None) -> knext.Table:
        """The given table, or the template."""
        given = workflow_input(ctx, self.parameter_name)
        table = template if given is None else given
        if table is None:
            raise knext.InvalidParametersError(
                f"nobody gave a table for the workflow input {self.parameter_name!r}: give one, or connect a template"
            )
        return table
