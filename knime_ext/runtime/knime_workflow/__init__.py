"""Workflows in KNIME's own on-disk form: written for KNIME to open, read for the embedded runtime to run."""

from __future__ import annotations

from knime_ext.runtime.knime_workflow.opened import OpenedWorkflow, is_knime_workflow, opened_knime_workflow
from knime_ext.runtime.knime_workflow.reader import read_knime_workflow
from knime_ext.runtime.knime_workflow.writer import Export, write_knime_workflow

__all__ = [
    "Export",
    "OpenedWorkflow",
    "is_knime_workflow",
    "opened_knime_workflow",
    "read_knime_workflow",
    "write_knime_workflow",
]
