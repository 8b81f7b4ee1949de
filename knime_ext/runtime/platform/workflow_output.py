"""Workflow Output: where a table leaves a workflow that is run by somebody else."""

from __future__ import annotations

import knime.extension as knext

from knime_ext.runtime.platform.categories import WORKFLOW_IO
from knime_ext.runtime.platform.parameter_names import check_parameter_name

__all__ = ["WorkflowOutput"]


@knext.node(
    "Workflow Output",
    knext.NodeType.SINK,
    "icons/workflow_output.png",
    WORKFLOW_IO,
    keywords=["tool", "service", "result", "data"],
    id="WorkflowOutput",
)
@knext.input_table("Output table", "The table that the caller gets.")
class WorkflowOutput:
    """Hands a table to whoever runs the workflow.

    In a workflow that serves as a tool, each Workflow Output is one output of the tool: the table goes to the agent's
    data, where other tools can use it. A run from the command line stores the table under the parameter name, as
    Arrow file and as CSV.
    """

    parameter_name = knext.StringParameter(
        "Parameter name", "Name of the output, for callers and models.", "output-table"
    )
    description = knext.StringParameter("Description", "What the table contains; models read it.", "")

    def configure(self, ctx: knext.ConfigurationContext, schema: knext.Schema) -> None:
        """Refuses a name that callers could not write."""
        check_parameter_name(self.parameter_name)

    def execute(self, ctx: knext.ExecutionContext, table: knext.Table) -> None:
        """The engine collects the table at this node's input."""
