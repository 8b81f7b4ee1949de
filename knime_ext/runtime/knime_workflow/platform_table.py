"""The table of KNIME's own nodes: factory, ports, and which of our parameters is which of KNIME's settings.

What is written is the layout of KNIME 5.5, which later versions read too; layouts of other versions are read where
they are listed. A setting of ours without a row has no counterpart in KNIME. It is kept beside KNIME's settings.
"""

from __future__ import annotations

from collections.abc import Mapping

from knime_ext.runtime.document import VARIABLES
from knime_ext.runtime.knime_workflow import (
    column_selection,
    concatenate_settings,
    configuration_settings,
    criteria,
    csv_settings,
    join_settings,
    typed_cells,
)
from knime_ext.runtime.knime_workflow.config import Config, Entry, boolean, char, integer, long, text
from knime_ext.runtime.knime_workflow.knime_ports import FLOW_VARIABLES, PortGroup
from knime_ext.runtime.knime_workflow.platform_node import Bundle, PlatformNode
from knime_ext.runtime.knime_workflow.rows import Choice, Constant, Converted, Modelled, Only, Row, Same

__all__ = ["MERGE_VARIABLES", "PLATFORM_NODES", "WITHOUT_COUNTERPART"]


_BASE = Bundle("org.knime.base", "KNIME Base Nodes")
_FORMS = Bundle("org.knime.js.quickforms", "KNIME Quick Form Nodes")
_SERVICES = Bundle("org.knime.workflowservices", "KNIME Nodes to build and use KNIME workflow services")
_AI = Bundle("org.knime.ai.core", "KNIME AI Extension Java")


_IN, _OUT = (PortGroup(ours=0),), (PortGroup(ours=0),)
_FILE_SYSTEM = PortGroup(
    ours=None,
    key="File System Connection",
    least=0,
    grows=True,
    object_class="org.knime.filehandling.core.port.FileSystemPortObject",
)


def _entries(**entries: Entry | Config) -> Config:
    return Config(entries)


_TABLE_CREATOR = PlatformNode(
    factory="org.knime.base.node.io.tablecreator.TableCreator2NodeFactory",
    name="Table Creator",
    bundle=_BASE,
    outputs=_OUT,
    other_factories=["org.knime.base.node.io.tablecreator.TableCreator3NodeFactory"],
    rows=[
        Converted(("columns", "rows"), typed_cells.write_cells, typed_cells.read_cells),
        Only("rowIdPrefix", text("Row")),
        Only("rowIdSuffix", text("")),
        Only("rowIdStartValue", integer(0)),
        Constant("highlightOutputTable", boolean(False)),
    ],
    layouts={"numRows": [Converted(("columns", "rows"), typed_cells.write_cells, typed_cells.read_cells_by_column)]},
)

_FILE_FILTERS = _entries(
    filter_files_extension=boolean(False),
    files_extension_expression=text(""),
    files_extension_case_sensitive=boolean(False),
    filter_files_name=boolean(False),
    files_name_expression=text("*"),
    files_name_case_sensitive=boolean(False),
    files_name_filter_type=text("WILDCARD"),
    include_hidden_files=boolean(False),
    include_special_files=boolean(True),
    filter_folders_name=boolean(False),
    folders_name_expression=text("*"),
    folders_name_case_sensitive=boolean(False),
    folders_name_filter_type=text("WILDCARD"),
    include_hidden_folders=boolean(False),
    follow_links=boolean(True),
)
_FILTER_MODEL = _entries(SettingsModelID=text("SMID_FilterMode"), EnabledStatus=boolean(True))
_SINCE_5_9 = "csvReaderParameters"
_CSV_READER = PlatformNode(
    factory="org.knime.base.node.io.filehandling.csv.reader.CSVTableReaderNodeFactory",
    name="CSV Reader",
    bundle=_BASE,
    locations=["path"],
    inputs=[_FILE_SYSTEM],
    outputs=[PortGroup(ours=0, key="Data Table")],
    rows=[
        Modelled(Constant("settings/file_selection", Config()), "SMID_ReaderFileChooser"),
        Converted(
            ("path", "quote_char", "file_encoding", "skip_first_lines"),
            csv_settings.write_reader,
            csv_settings.read_reader,
        ),
        Constant("settings/file_selection/filter_mode_Internals", _FILTER_MODEL),
        Only("settings/file_selection/filter_mode/filter_mode", text("FILE")),
        Constant("settings/file_selection/filter_mode/include_subfolders", boolean(False)),
        Constant("settings/file_selection/filter_mode/filter_options", _FILE_FILTERS),
        Same("first_row_contains_column_names", "settings/has_column_header", "boolean"),
        Same("first_column_contains_row_ids", "settings/has_row_id", "boolean"),
        Constant("settings/support_short_data_rows", boolean(False)),
        Constant("settings/skip_empty_data_rows", boolean(False)),
        Constant("settings/prepend_file_idx_to_row_id", boolean(False)),
        Constant("settings/comment_char", text("")),
        Converted(("column_delimiter",), csv_settings.write_delimiter, csv_settings.read_delimiter),
        Constant("settings/use_line_break_row_delimiter", boolean(True)),
        Constant("settings/row_delimiter", text("\n")),
        Constant("settings/autodetect_buffer_size", integer(1_048_576)),
        Constant("advanced_settings/spec_merge_mode_Internals", text("UNION")),
        Constant("advanced_settings/fail_on_differing_specs", boolean(True)),
        Only("advanced_settings/append_path_column_Internals", boolean(False)),
        Constant("advanced_settings/path_column_name_Internals", text("Path")),
        Constant("advanced_settings/limit_data_rows_scanned", boolean(False)),
        Constant("advanced_settings/max_data_rows_scanned", long(10_000)),
        Constant("advanced_settings/save_table_spec_config_Internals", boolean(False)),
        Constant("advanced_settings/check_table_spec", boolean(False)),
        Constant("advanced_settings/limit_memory_per_column", boolean(True)),
        Constant("advanced_settings/maximum_number_of_columns", integer(8_192)),
        Constant("advanced_settings/quote_option", text("REMOVE_QUOTES_AND_TRIM")),
        Constant("advanced_settings/replace_empty_quotes_with_missing", boolean(False)),
        Constant("advanced_settings/no_row_delimiters_in_quotes", boolean(False)),
        Constant("advanced_settings/min_chunk_size_in_bytes", long(67_108_864)),
        Constant("advanced_settings/max_num_chunks_per_file", integer(6)),
        Only("advanced_settings/thousands_separator", text("\0"), also=("",)),
        Only("advanced_settings/decimal_separator", text(".")),
        Only("limit_rows/skip_data_rows", boolean(False)),
        Constant("limit_rows/number_of_rows_to_skip", long(1)),
        Only("limit_rows/limit_data_rows", boolean(False)),
        Constant("limit_rows/max_rows", long(50)),
    ],
    layouts={
        _SINCE_5_9: [
            Converted(("path",), csv_settings.write_reader, csv_settings.read_new_path),
            Only(f"{_SINCE_5_9}/multiFileSelectionParams/source/filterMode", text("FILE")),
            Converted(("file_encoding",), csv_settings.write_reader, csv_settings.read_new_encoding),
            Same("skip_first_lines", f"{_SINCE_5_9}/skipFirstLinesParams/skipFirstLines", "long"),
            Same("column_delimiter", f"{_SINCE_5_9}/csvFormatParams/columnDelimiter"),
            Same("quote_char", f"{_SINCE_5_9}/csvFormatParams/quoteCharacter"),
            Only(f"{_SINCE_5_9}/csvFormatParams/decimalSeparator", text(".")),
            Only(f"{_SINCE_5_9}/csvFormatParams/thousandsSeparator", text("")),
            Same(
                "first_row_contains_column_names",
                f"{_SINCE_5_9}/firstRowContainsColumnNamesParams/firstRowContainsColumnNames",
                "boolean",
            ),
            Same(
                "first_column_contains_row_ids",
                f"{_SINCE_5_9}/firstColumnContainsRowIdsParams/firstColumnContainsRowIds",
                "boolean",
            ),
            Only(f"{_SINCE_5_9}/skipFirstDataRowsParams/skipFirstDataRows", long(0)),
            Only(f"{_SINCE_5_9}/maxNumberOfRowsParams/maximumNumberOfRows_is_present", boolean(False)),
            Only(f"{_SINCE_5_9}/multiFileReaderParams/appendPathColumn_is_present", boolean(False)),
        ]
    },
)

_CSV_WRITER = PlatformNode(
    factory="org.knime.base.node.io.filehandling.csv.writer.CSVWriter2NodeFactory",
    name="CSV Writer",
    bundle=_BASE,
    locations=["path"],
    inputs=[_FILE_SYSTEM, PortGroup(ours=0, key="Data Table")],
    rows=[
        Modelled(Constant("settings/file_chooser_settings", Config()), "SMID_WriterFileChooser"),
        Converted(("path",), csv_settings.write_writer_path, csv_settings.read_writer_path),
        Constant("settings/file_chooser_settings/filter_mode_Internals", _FILTER_MODEL),
        Same("create_missing_folders", "settings/file_chooser_settings/create_missing_folders", "boolean"),
        Choice(
            "if_exists",
            "settings/file_chooser_settings/if_path_exists",
            {"FAIL": "fail", "OVERWRITE": "overwrite"},
        ),
        Converted(("column_delimiter",), csv_settings.write_delimiter, csv_settings.read_delimiter),
        Constant("settings/row_delimiter", text(None)),
        Same("write_column_header", "settings/write_column_header", "boolean"),
        Constant("settings/skip_column_header_on_append", boolean(False)),
        Same("write_row_id", "settings/write_row_header", "boolean"),
        Only("advanced_settings/missing_value_pattern", text("")),
        Only("advanced_settings/compress_with_gzip", boolean(False)),
        Constant("advanced_settings/quote_mode", text("STRINGS_ONLY")),
        Constant("advanced_settings/separator_replacement", text("")),
        Only("advanced_settings/decimal_separator", char(".")),
        Constant("advanced_settings/use_scientific_format", boolean(False)),
        Constant("advanced_settings/keep_trailing_zero_in_decimals", boolean(False)),
        Constant("comment_header_settings/comment_line_marker", text("#")),
        Constant("comment_header_settings/comment_indentation", text("\t")),
        Only("comment_header_settings/add_time_to_comment", boolean(False)),
        Only("comment_header_settings/add_user_to_comment", boolean(False)),
        Only("comment_header_settings/add_table_name_to_comment", boolean(False)),
        Only("comment_header_settings/add_custom_text_to_comment", boolean(False)),
        Constant("comment_header_settings/custom_comment_text", text("")),
        Only("encoding/character_set", text("UTF-8")),
    ],
)

_ROW_FILTER = PlatformNode(
    factory="org.knime.base.node.preproc.filter.row3.RowFilterNodeFactory",
    name="Row Filter",
    bundle=_BASE,
    inputs=_IN,
    outputs=_OUT,
    rows=[
        Choice("match_policy", "matchCriteria", {"AND": "AND", "OR": "OR"}),
        Converted(("criteria",), criteria.write_criteria, criteria.read_criteria),
        Constant("domains", text("RETAIN")),
        Choice("output_mode", "outputMode", {"MATCHING": "MATCHING", "NON_MATCHING": "NON_MATCHING"}),
    ],
)

_COLUMN_FILTER = PlatformNode(
    factory="org.knime.base.node.preproc.filter.column.DataColumnSpecFilterNodeFactory",
    name="Column Filter",
    bundle=_BASE,
    inputs=_IN,
    outputs=_OUT,
    rows=[Converted(("column_filter",), column_selection.write_column_filter, column_selection.read_column_filter)],
)

_CONCATENATE = PlatformNode(
    factory="org.knime.base.node.preproc.append.row.AppendedRowsNodeFactory",
    name="Concatenate",
    bundle=_BASE,
    inputs=[PortGroup(ours=0, key="input", least=2, grows=True)],
    outputs=[PortGroup(ours=0, key="Concatenated tables")],
    rows=[
        Choice(
            "column_set_policy",
            "intersection_of_columns",
            {"UNION": False, "INTERSECTION": True},
        ),
        Converted(("row_id_handling",), concatenate_settings.write_row_ids, concatenate_settings.read_row_ids),
        Same("suffix", "suffix"),
        Constant("enable_hiliting", boolean(False)),
    ],
)

_JOINER = PlatformNode(
    factory="org.knime.base.node.preproc.joiner3.Joiner3NodeFactory",
    name="Joiner",
    bundle=_BASE,
    inputs=[PortGroup(ours=0), PortGroup(ours=1)],
    outputs=[PortGroup(ours=0), PortGroup(ours=None), PortGroup(ours=None)],
    rows=[
        Converted(("join_columns", "join_mode", "suffix"), join_settings.write_join, join_settings.read_join),
        Modelled(Only("compositionMode", text("MATCH_ALL"), also=("MatchAll",)), "SMID_string"),
        Modelled(Same("merge_join_columns", "mergeJoinColumns", "boolean"), "SMID_boolean"),
        Modelled(Only("dataCellComparisonMode", text("NUMERIC"), also=("STRICT",)), "SMID_string"),
        Modelled(Only("outputUnmatchedRowsToSeparatePorts", boolean(False)), "SMID_boolean"),
        Modelled(
            Choice("row_ids", "rowKeyFactory", {"CONCATENATE": "CONCATENATE", "SEQUENTIAL": "SEQUENTIAL"}),
            "SMID_string",
        ),
        Modelled(Same("separator", "rowKeySeparator"), "SMID_string"),
        Modelled(Constant("outputRowOrder", text("LEFT_RIGHT")), "SMID_string"),
        Modelled(Constant("maxOpenFiles", integer(200)), "SMID_integer"),
        Modelled(Constant("enableHiliting", boolean(False)), "SMID_boolean"),
        Constant("leftColumnSelectionConfig", column_selection.all_columns()),
        Constant("rightColumnSelectionConfig", column_selection.all_columns()),
    ],
)

_CALLER_ROWS = [
    Same("parameter_name", "parameterName"),
    Same("description", "parameterDescription"),
]
_CONTAINER_ROWS = [Same("parameter_name", "parameterName"), Same("description", "description")]
_WORKFLOW_INPUT = PlatformNode(
    factory="org.knime.workflowservices.knime.callee.WorkflowInputNodeFactory",
    name="Workflow Input",
    bundle=_SERVICES,
    inputs=[PortGroup(ours=0, key="Callee Workflow Input", exchangeable=True)],
    outputs=[PortGroup(ours=0, key="Callee Workflow Input", exchangeable=True)],
    rows=_CALLER_ROWS,
    other_factories=["org.knime.json.node.container.input.table.ContainerTableInputNodeFactory"],
    layouts={"useFullyQualifiedName": _CONTAINER_ROWS},
)
_WORKFLOW_OUTPUT = PlatformNode(
    factory="org.knime.workflowservices.knime.callee.WorkflowOutputNodeFactory",
    name="Workflow Output",
    bundle=_SERVICES,
    inputs=[PortGroup(ours=0, key="Callee Workflow Output", exchangeable=True)],
    outputs=[PortGroup(ours=None, key="Callee Workflow Output", exchangeable=True)],
    rows=_CALLER_ROWS,
    other_factories=["org.knime.json.node.container.output.table.ContainerTableOutputNodeFactory"],
    layouts={"useFullyQualifiedName": _CONTAINER_ROWS},
)
_TOOL_MESSAGE_OUTPUT = PlatformNode(
    factory="org.knime.ai.core.node.tool.output.ToolMessageOutputNodeFactory",
    name="Tool Message Output",
    bundle=_AI,
    inputs=_IN,
    rows=[Constant("parameterName", text("tool-message-output"))],
)
_WORKFLOW_TO_TOOL = PlatformNode(
    factory="org.knime.ai.core.node.tool.workflow2tool.WorkflowToToolNodeFactory",
    name="Workflow to Tool",
    bundle=_AI,
    inputs=[_FILE_SYSTEM, PortGroup(ours=None, key="Paths")],
    outputs=[PortGroup(ours=0, key="Tools")],
    rows=[
        Constant("inputColumnName", text(None)),
        Constant("outputColumnPolicy", text("REPLACE_AND_RENAME")),
        Constant("outputColumnName", text("Tool")),
    ],
)


def _configuration(kind: str, name: str, *rows: Row) -> PlatformNode:
    """A Configuration node: the rows that all of them have, and its own."""
    return PlatformNode(
        factory=f"org.knime.js.base.node.configuration.input.{kind}DialogNodeFactory",
        name=name,
        bundle=_FORMS,
        outputs=[PortGroup(ours=VARIABLES, object_class=FLOW_VARIABLES)],
        rows=[
            *rows,
            Constant("hideInDialog", boolean(False)),
            Same("parameter_name", "parameterName"),
            Same("label", "label"),
            Same("description", "description"),
            Constant("required", boolean(True)),
            Converted((), configuration_settings.write_variable, configuration_settings.read_variable),
        ],
    )


_LIMITS = (Same("use_minimum", "useMin", "boolean"), Same("use_maximum", "useMax", "boolean"))
PLATFORM_NODES: Mapping[str, PlatformNode] = {
    "TableCreator": _TABLE_CREATOR,
    "CSVReader": _CSV_READER,
    "CSVWriter": _CSV_WRITER,
    "RowFilter": _ROW_FILTER,
    "ColumnFilter": _COLUMN_FILTER,
    "Concatenate": _CONCATENATE,
    "Joiner": _JOINER,
    "WorkflowInput": _WORKFLOW_INPUT,
    "WorkflowOutput": _WORKFLOW_OUTPUT,
    "ToolMessageOutput": _TOOL_MESSAGE_OUTPUT,
    "WorkflowToTool": _WORKFLOW_TO_TOOL,
    "StringConfiguration": _configuration(
        "string.String",
        "String Configuration",
        Same("default_value", "defaultValue/string"),
        Only("regex", text("")),
        Constant("error_message", text("")),
        Constant("editorType", text("Single-line")),
        Constant("multilineEditorWidth", integer(60)),
        Constant("multilineEditorHeight", integer(5)),
    ),
    "IntegerConfiguration": _configuration(
        "integer.Integer",
        "Integer Configuration",
        Same("default_value", "defaultValue/integer", "integer"),
        *_LIMITS,
        Same("minimum", "min", "integer"),
        Same("maximum", "max", "integer"),
    ),
    "DoubleConfiguration": _configuration(
        "dbl.Double",
        "Double Configuration",
        Same("default_value", "defaultValue/double", "double"),
        *_LIMITS,
        Same("minimum", "min", "double"),
        Same("maximum", "max", "double"),
    ),
    "BooleanConfiguration": _configuration(
        "bool.Boolean",
        "Boolean Configuration",
        Same("default_value", "defaultValue/boolean", "boolean"),
        Constant("pushIntVar", boolean(False)),
    ),
}
"""Our node to KNIME's."""

WITHOUT_COUNTERPART = ("SQLQuery",)
"""Nodes of the platform that KNIME does not have: it shows them as missing, with their settings kept."""

MERGE_VARIABLES = PlatformNode(
    factory="org.knime.base.node.util.mergevariables.MergeVariables2NodeFactory",
    name="Merge Variables",
    bundle=_BASE,
    inputs=[PortGroup(ours=0, key="input", least=2, grows=True, object_class=FLOW_VARIABLES)],
    outputs=[PortGroup(ours=0, key="Merged variables", object_class=FLOW_VARIABLES)],
)
"""Where the flow variables of several nodes come together; here a node takes them from all of them itself."""
