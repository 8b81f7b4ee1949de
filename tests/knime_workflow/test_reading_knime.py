"""Workflows that were made in KNIME."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from knime_ext.errors import WorkflowError
from knime_ext.runtime import NodeRegistry, run_workflow
from knime_ext.runtime.knime_workflow import opened_knime_workflow, read_knime_workflow
from tests.knime_workflow.knime_folders import (
    COLUMN_FILTER,
    CONCATENATE,
    CONTAINER_INPUT,
    CSV_READER,
    CSV_WRITER,
    JOINER,
    MERGE_VARIABLES,
    PYTHON,
    ROW_FILTER,
    STRING_CONFIGURATION,
    TABLE_CREATOR,
    TABLE_CREATOR_3,
    WORKFLOW_OUTPUT,
    KnimeFolder,
    config,
    csv_reader,
    entry,
    predicate,
    relative_file,
    row_filter,
    texts,
)

TABLE = "org.knime.core.node.BufferedDataTable"
OUTPUT_TYPE = config("Callee Workflow Output", entry("object_class", TABLE))


def _cells(*columns: tuple[str, str, list[str | None]]) -> list[str]:
    """Model of a Table Creator: name, cell class and texts of each column."""
    listed = [
        (row, column, value)
        for row in range(len(columns[0][2]))
        for column, (_, _, values) in enumerate(columns)
        if (value := values[row]) is not None
    ]
    properties = [
        config(
            str(at),
            entry("MissValuePattern", ""),
            entry("SkipThisColumn", False),
            entry("ColumnName", name),
            config("ColumnClass", entry("cell_class", f"org.knime.core.data.def.{cell}"), entry("is_null", False)),
        )
        for at, (name, cell, _) in enumerate(columns)
    ]
    size = entry("array-size", len(listed))
    return [
        config("rowIndices", size, *(entry(str(at), row) for at, (row, _, _) in enumerate(listed))),
        config("columnIndices", size, *(entry(str(at), column) for at, (_, column, _) in enumerate(listed))),
        config("values", size, *(entry(str(at), value) for at, (_, _, value) in enumerate(listed))),
        entry("rowIdPrefix", "Row"),
        entry("rowIdSuffix", ""),
        entry("rowIdStartValue", 0),
        config("columnProperties", *properties),
    ]


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    """CSV Reader, Row Filter, Joiner with a typed-in table, Column Filter, and two ends."""
    folder = KnimeFolder(tmp_path / "Orders in KNIME")
    folder.describe("<p>Large orders</p><ul><li>with &amp; regions</li></ul>".replace("<", "&lt;"), "text/html")
    annotation = config("nodeAnnotation", entry("text", "All orders%%00010of 2026"), entry("contentType", "text/plain"))
    folder.node(
        4, "CSV Reader", CSV_READER, *csv_reader("orders.csv", delimiter=";"), place=(80, 120), around=annotation
    )
    folder.node(7, "Row Filter", ROW_FILTER, *row_filter(predicate(0, "amount", "GTE", "LongCell", 100)))
    folder.node(
        9,
        "Table Creator",
        TABLE_CREATOR,
        *_cells(("name", "StringCell", ["Ada", "Bob"]), ("region", "StringCell", ["N", None])),
    )
    folder.node(
        10,
        "Joiner",
        JOINER,
        entry("includeMatchesInOutput", True),
        entry("includeLeftUnmatchedInOutput", True),
        entry("includeRightUnmatchedInOutput", False),
        texts("leftTableJoinPredicate", "customer"),
        texts("rightTableJoinPredicate", "name"),
        entry("compositionMode", "MATCH_ALL"),
        entry("mergeJoinColumns", False),
        entry("rowKeyFactory", "SEQUENTIAL"),
        entry("rowKeySeparator", "_"),
        entry("duplicateHandling", "APPEND_SUFFIX"),
        entry("suffix", " (right)"),
        entry("outputRowOrder", "ARBITRARY"),
    )
    folder.node(
        11,
        "Column Filter",
        COLUMN_FILTER,
        config(
            "column-filter",
            entry("filter-type", "STANDARD"),
            texts("included_names", "customer", "amount", "region"),
            texts("excluded_names", "name"),
            entry("enforce_option", "EnforceExclusion"),
        ),
    )
    folder.node(12, "Workflow Output", WORKFLOW_OUTPUT, entry("parameterName", "large"), creation=OUTPUT_TYPE)
    folder.node(
        13,
        "CSV Writer",
        CSV_WRITER,
        config(
            "settings",
            config(
                "file_chooser_settings",
                relative_file("out/large.csv"),
                entry("create_missing_folders", True),
                entry("if_path_exists", "overwrite"),
            ),
            entry("column_delimiter", ","),
            entry("write_column_header", True),
            entry("write_row_header", False),
        ),
        creation=config("File System Connection") + config("Data Table"),
    )
    for link in [(4, 1, 7, 1), (7, 1, 10, 1), (9, 1, 10, 2), (10, 1, 11, 1), (11, 1, 12, 1), (11, 1, 13, 1)]:
        folder.connect(*link)
    data = tmp_path / "Orders in KNIME" / "data"
    data.mkdir()
    (data / "orders.csv").write_text("customer;amount\nAda;250\nBob;120\nCy;99\n", "utf-8")
    return folder.save()


def test_a_workflow_of_known_nodes_is_read(orders: Path, registry: NodeRegistry) -> None:
    workflow = read_knime_workflow(orders, registry)

    assert workflow.name == "Orders in KNIME"
    assert workflow.description == "Large orders\nwith & regions"
    assert {node.id: (node.factory, node.settings) for node in workflow.nodes} == {
        "csv_reader_4": ("CSVReader", {"path": "orders.csv", "column_delimiter": ";"}),
        "row_filter_7": ("RowFilter", {"criteria": [{"column": "amount", "operator": "GTE", "value": "100"}]}),
        "table_creator_9": (
            "TableCreator",
            {"columns": [{"name": "name"}, {"name": "region"}], "rows": '[["Ada", "N"], ["Bob", null]]'},
        ),
        "joiner_10": (
            "Joiner",
            {
                "join_columns": [{"left": "customer", "right": "name"}],
                "join_mode": "LEFT_OUTER",
                "row_ids": "SEQUENTIAL",
                "suffix": " (right)",
            },
        ),
        "column_filter_11": (
            "ColumnFilter",
            {
                "column_filter": {
                    "mode": "MANUAL",
                    "patternFilter": {"pattern": "", "isCaseSensitive": True, "isInverted": False},
                    "typeFilter": {"selectedTypes": [], "typeDisplays": []},
                    "manualFilter": {
                        "manuallySelected": ["customer", "amount", "region"],
                        "manuallyDeselected": ["name"],
                        "includeUnknownColumns": True,
                    },
                }
            },
        ),
        "workflow_output_12": ("WorkflowOutput", {"parameter_name": "large"}),
        "csv_writer_13": (
            "CSVWriter",
            {"path": "out/large.csv", "if_exists": "OVERWRITE", "create_missing_folders": True},
        ),
    }
    reader = workflow.nodes[0]
    assert (reader.position, reader.comment) == ((80.0, 120.0), "All orders\nof 2026")
    assert [(tuple(each.source), tuple(each.target)) for each in workflow.connections[1:3]] == [
        (("row_filter_7", 0, 0), ("joiner_10", 0)),
        (("table_creator_9", 0, 0), ("joiner_10", 1)),
    ]


def test_it_runs_from_its_folder_with_the_files_of_its_data_area(orders: Path, registry: NodeRegistry) -> None:
    with opened_knime_workflow(orders, registry) as opened:
        result = run_workflow(opened.workflow, base_dir=opened.base_dir)

    table = result.workflow_outputs["large"].to_pyarrow().drop_columns(["<RowID>"])
    assert table.to_pylist() == [
        {"customer": "Ada", "amount": 250, "region": "N"},
        {"customer": "Bob", "amount": 120, "region": None},
    ]
    assert (orders / "data/out/large.csv").read_text("utf-8").splitlines()[0] == '"customer","amount","region"'


def test_it_runs_from_a_knwf_file_and_what_it_writes_can_be_kept(orders: Path, registry: NodeRegistry) -> None:
    archive = orders.parent / "orders.knwf"
    with zipfile.ZipFile(archive, "w") as opened_archive:
        for file in sorted(orders.rglob("*")):
            opened_archive.write(file, f"Orders/{file.relative_to(orders)}")
    kept_in = orders.parent / "kept"

    with opened_knime_workflow(archive, registry) as opened:
        result = run_workflow(opened.workflow, base_dir=opened.base_dir)
        kept = opened.keep_written_files(kept_in)

    assert opened.workflow.name == "Orders"
    assert result.workflow_outputs["large"].num_rows == 2
    assert kept == [kept_in / "out/large.csv"]
    assert kept[0].is_file()
    assert not opened.base_dir.exists()


def test_every_unknown_node_is_named_with_its_factory_in_one_sentence(tmp_path: Path, registry: NodeRegistry) -> None:
    folder = KnimeFolder(tmp_path / "w")
    folder.node(1, "Color Manager", "org.knime.base.node.viz.property.color.ColorManager2NodeFactory")
    folder.node(2, "Row Filter", ROW_FILTER, *row_filter())
    inner = entry("extension_id", "org.tutorial.first_extension") + entry("node_id", "TemplateNode")
    folder.node(3, "My Template Node", PYTHON, factory_settings=inner)
    folder.component(4, "Clean up")

    with pytest.raises(WorkflowError) as caught:
        read_knime_workflow(folder.save(), registry)

    assert str(caught.value) == (
        f"{str(tmp_path / 'w')!r} has nodes that this runtime does not have: "
        "'Color Manager' (#1, factory 'org.knime.base.node.viz.property.color.ColorManager2NodeFactory'), "
        f"'My Template Node' (#3, factory {PYTHON!r}, node 'TemplateNode' of 'org.tutorial.first_extension'), "
        "'Clean up' (#4, a component or metanode); replace them in KNIME, or run the workflow there"
    )


def _read_one(folder: KnimeFolder, registry: NodeRegistry) -> dict[str, object]:
    return read_knime_workflow(folder.save(), registry).nodes[0].settings


def test_criteria_of_knime_5_10_are_read_with_their_own_meaning_of_unequal(
    tmp_path: Path, registry: NodeRegistry
) -> None:
    def criterion(number: int, column: str | None, operator: str, *parameters: str) -> str:
        special = None if column is not None else "ROW_ID"
        return config(
            str(number),
            config("columnV2", entry("regularChoice", column), entry("specialChoice_Internals", special)),
            entry("operator", operator),
            config("filterValueParameters", *parameters),
        )

    folder = KnimeFolder(tmp_path / "w")
    folder.node(
        1,
        "Row Filter",
        ROW_FILTER,
        *row_filter(
            criterion(0, None, "NEQ", entry("value", "Row1"), entry("caseSensitivity", "CASE_SENSITIVE")),
            criterion(1, "count", "NEQ_MISS", entry("value", 3)),
            criterion(2, "name", "WILDCARD", entry("pattern", "A*"), entry("caseSensitivity", "CASE_INSENSITIVE")),
            criterion(3, "paid", "IS_FALSE"),
            match="OR",
        ),
    )

    assert _read_one(folder, registry) == {
        "match_policy": "OR",
        "criteria": [
            {"column": "<RowID>", "operator": "NEQ", "value": "Row1"},
            {"column": "count", "operator": "NEQ", "value": "3"},
            {"column": "name", "operator": "WILDCARD", "value": "A*", "case_sensitive": False},
            {"column": "paid", "value": "false"},
        ],
    }


def test_the_csv_reader_of_knime_5_9_is_read(tmp_path: Path, registry: NodeRegistry) -> None:
    folder = KnimeFolder(tmp_path / "w")
    folder.node(
        1,
        "CSV Reader",
        CSV_READER,
        config(
            "csvReaderParameters",
            config(
                "multiFileSelectionParams",
                config("source", entry("filterMode", "FILE"), relative_file("../in.csv", "knime.workflow")),
            ),
            config("fileEncodingParams", entry("fileEncoding", "UTF_16LE"), entry("customEncoding", "")),
            config("skipFirstLinesParams", entry("skipFirstLines", 2, "xlong")),
            config("csvFormatParams", entry("columnDelimiter", "\\t"), entry("quoteCharacter", "'")),
            config("firstRowContainsColumnNamesParams", entry("firstRowContainsColumnNames", False)),
            config("firstColumnContainsRowIdsParams", entry("firstColumnContainsRowIds", True)),
        ),
    )

    assert _read_one(folder, registry) == {
        "path": "../in.csv",  # from the workflow's folder, as there is no data area
        "file_encoding": "utf-16-le",
        "skip_first_lines": 2,
        "column_delimiter": "\\t",
        "quote_char": "'",
        "first_row_contains_column_names": False,
        "first_column_contains_row_ids": True,
    }


def test_the_table_creator_of_knime_5_11_is_read(tmp_path: Path, registry: NodeRegistry) -> None:
    def column(number: int, name: str, cell: str, *values: str) -> str:
        kind = config("type", entry("cell_class", f"org.knime.core.data.def.{cell}"), entry("is_null", False))
        return config(str(number), entry("name", name), kind, texts("values", *values))

    folder = KnimeFolder(tmp_path / "w")
    columns = config("columns", column(0, "n", "DoubleCell", "1.5", "2"), column(1, "on", "BooleanCell", "true"))
    folder.node(1, "Table Creator", TABLE_CREATOR_3, columns, entry("numRows", 3, "xlong"))

    assert _read_one(folder, registry) == {
        "columns": [{"name": "n", "type": "DOUBLE"}, {"name": "on", "type": "BOOLEAN"}],
        "rows": "[[1.5, true], [2.0, null], [null, null]]",
    }


def test_pairs_of_a_newer_joiner_are_read(tmp_path: Path, registry: NodeRegistry) -> None:
    def choice(key: str, column: str | None) -> str:
        special = None if column is not None else "ROW_ID"
        return config(key, entry("regularChoice", column), entry("specialChoice_Internals", special))

    folder = KnimeFolder(tmp_path / "w")
    pair = config("0", choice("leftTableColumnV2", "id"), choice("rightTableColumnV2", None))
    folder.node(1, "Joiner", JOINER, config("matchingCriteria", pair), entry("suffix", " (Right)"))

    assert _read_one(folder, registry) == {"join_columns": [{"left": "id", "right": "<RowID>"}]}


def test_a_container_input_is_a_workflow_input(tmp_path: Path, registry: NodeRegistry) -> None:
    folder = KnimeFolder(tmp_path / "w")
    settings = [entry("parameterName", "orders"), entry("useFullyQualifiedName", False), entry("description", "All")]
    folder.node(1, "Container Input (Table)", CONTAINER_INPUT, *settings)
    (node,) = read_knime_workflow(folder.save(), registry).nodes

    assert (node.id, node.factory) == ("container_input_table_1", "WorkflowInput")
    assert node.settings == {"parameter_name": "orders", "description": "All"}


def test_tables_concatenate_in_the_order_of_knimes_ports(tmp_path: Path, registry: NodeRegistry) -> None:
    folder = KnimeFolder(tmp_path / "w")
    for number in (1, 2, 3):
        folder.node(number, "Table Creator", TABLE_CREATOR, *_cells(("a", "IntCell", [str(number)])))
    flags = [entry("append_suffix", True), entry("fail_on_duplicates", False), entry("intersection_of_columns", False)]
    added = config("input", config("port_0", entry("object_class", TABLE)))
    folder.node(4, "Concatenate", CONCATENATE, *flags, entry("suffix", "_dup"), creation=added)
    for number, port in [(1, 3), (2, 1), (3, 2)]:
        folder.connect(number, 1, 4, port)
    workflow = read_knime_workflow(folder.save(), registry)

    assert [each.source.node for each in workflow.connections] == [
        "table_creator_2",
        "table_creator_3",
        "table_creator_1",
    ]
    assert {each.target for each in workflow.connections} == {("concatenate_4", 0)}


def _text_parameter(name: str) -> list[str]:
    return [
        config("defaultValue", entry("string", "x")),
        entry("parameterName", name),
        entry("flowVariableName", name),
        entry("label", "Label"),
        entry("description", ""),
    ]


def _variables(place: str, used: str | None, exposed: str | None = None) -> str:
    leaf = entry("used_variable", used) + entry("exposed_variable", exposed)
    for key in reversed(place.split("/")):
        leaf = config(key, leaf)
    return config("variables", entry("version", "V_2019_09_13"), config("tree", leaf))


def test_merged_flow_variables_go_straight_to_the_node_that_uses_them(tmp_path: Path, registry: NodeRegistry) -> None:
    folder = KnimeFolder(tmp_path / "w")
    folder.node(1, "String Configuration", STRING_CONFIGURATION, *_text_parameter("first"))
    folder.node(2, "String Configuration", STRING_CONFIGURATION, *_text_parameter("second"))
    folder.node(3, "Merge Variables", MERGE_VARIABLES)
    folder.node(
        4,
        "Workflow Output",
        WORKFLOW_OUTPUT,
        entry("parameterName", "x"),
        creation=OUTPUT_TYPE,
        around=_variables("parameterName", "second"),
    )
    for link in [(1, 1, 3, 2), (2, 1, 3, 1), (3, 1, 4, 0)]:
        folder.connect(*link)
    workflow = read_knime_workflow(folder.save(), registry)

    assert [node.factory for node in workflow.nodes] == ["StringConfiguration", "StringConfiguration", "WorkflowOutput"]
    assert [(each.source[:2], each.target) for each in workflow.connections] == [
        (("string_configuration_2", "variables"), ("workflow_output_4", "variables")),
        (("string_configuration_1", "variables"), ("workflow_output_4", "variables")),
    ]
    assert workflow.nodes[2].flow_variables == {"parameter_name": "second"}


@pytest.mark.parametrize(
    ("name", "factory", "model", "around", "reason"),
    [
        ("CSV Reader", CSV_READER, csv_reader("x", start="knime.mountpoint"), "", "'x' relative to 'knime.mountpoint'"),
        ("CSV Reader", CSV_READER, csv_reader("x", filter_mode="FILES_IN_FOLDERS"), "", "'FILES_IN_FOLDERS'"),
        ("CSV Reader", CSV_READER, [config("limit_rows", entry("limit_data_rows", True))], "", "limit_data_rows"),
        ("Row Filter", ROW_FILTER, row_filter(predicate(0, "a", "LAST_N_ROWS", "LongCell", 3)), "", "LAST_N_ROWS"),
        ("Row Filter", ROW_FILTER, row_filter(predicate(0, "a", "NEQ_MISS", "LongCell", 3)), "", "NEQ_MISS"),
        ("Row Filter", ROW_FILTER, row_filter(match="NONE"), "", "'matchCriteria' set to 'NONE'"),
        ("Joiner", JOINER, [entry("rowKeyFactory", "KEEP_ROWID")], "", "'rowKeyFactory' set to 'KEEP_ROWID'"),
        ("Joiner", JOINER, [entry("includeMatchesInOutput", False)], "", "leaves out the rows that match"),
        (
            "Joiner",
            JOINER,
            [config("leftColumnSelectionConfig", entry("enforce_option", "EnforceInclusion"))],
            "",
            "leaves out columns of the left table",
        ),
        ("Table Creator", TABLE_CREATOR, _cells(("a", "XMLCell", ["<a/>"])), "", "the column 'a' of the type"),
        ("Table Creator", TABLE_CREATOR, _cells(("a", "IntCell", ["one"])), "", "the cell 'one' in the column 'a'"),
        (
            "String Configuration",
            STRING_CONFIGURATION,
            [entry("parameterName", "a"), entry("flowVariableName", "b")],
            "",
            "its flow variable 'b' but its parameter 'a'",
        ),
        (
            "Concatenate",
            CONCATENATE,
            [],
            _variables("enable_hiliting", "v"),
            "lets the flow variable 'v' control 'enable_hiliting'",
        ),
        ("Concatenate", CONCATENATE, [], _variables("suffix", None, "v"), "as the flow variable 'v'"),
        ("Concatenate", CONCATENATE, [entry("append_suffix", True)], "", ""),
        ("CSV Reader", CSV_READER, [config("limit_rows", entry("max_rows", "many", "xlong"))], "", ""),
        ("Integer", "x", [], "", "nodes that this runtime does not have"),
    ],
)
def test_what_only_knime_does_is_refused_before_anything_runs(
    tmp_path: Path, registry: NodeRegistry, name: str, factory: str, model: list[str], around: str, reason: str
) -> None:
    folder = KnimeFolder(tmp_path / "w")
    folder.node(5, name, factory, *model, around=around)
    if not reason:
        assert _read_one(folder, registry) == {}
        return

    with pytest.raises(WorkflowError, match=re.escape(reason)) as caught:
        read_knime_workflow(folder.save(), registry)

    assert f"{name!r} (#5" in str(caught.value)


def test_all_refusals_come_in_one_sentence(tmp_path: Path, registry: NodeRegistry) -> None:
    folder = KnimeFolder(tmp_path / "w")
    folder.node(1, "Joiner", JOINER, entry("rowKeyFactory", "KEEP_ROWID"))
    folder.node(2, "Row Filter", ROW_FILTER, *row_filter())
    folder.node(3, "CSV Reader", CSV_READER, *csv_reader("x", start="knime.space"))
    folder.connect(1, 2, 2, 1)

    with pytest.raises(WorkflowError) as caught:
        read_knime_workflow(folder.save(), registry)

    message = str(caught.value)
    assert "'Joiner' (#1) has 'rowKeyFactory'" in message
    assert "'CSV Reader' (#3) has the path 'x'" in message
    assert "'Joiner' (#1) is connected at its output port 2" in message


def test_a_damaged_number_is_named(tmp_path: Path, registry: NodeRegistry) -> None:
    folder = KnimeFolder(tmp_path / "w")
    folder.node(
        1,
        "Integer Configuration",
        STRING_CONFIGURATION.replace("string.String", "integer.Integer"),
        entry("min", "few", "xint"),
    )

    with pytest.raises(WorkflowError, match=r"'Integer Configuration' \(#1\) has a damaged setting .*'few'"):
        read_knime_workflow(folder.save(), registry)


def test_a_connection_to_nowhere_is_refused(tmp_path: Path, registry: NodeRegistry) -> None:
    folder = KnimeFolder(tmp_path / "w")
    folder.node(1, "Row Filter", ROW_FILTER, *row_filter())
    folder.connect(-1, 0, 1, 1)

    with pytest.raises(WorkflowError, match="names the node -1"):
        read_knime_workflow(folder.save(), registry)


def test_older_workflows_have_their_description_in_another_file(tmp_path: Path, registry: NodeRegistry) -> None:
    assert read_knime_workflow(KnimeFolder(tmp_path / "w").save(), registry).description == "An older\ndescription"
