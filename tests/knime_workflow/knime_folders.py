"""Small workflow folders as KNIME leaves them, written by hand: full frames, executed states, and no notes of ours."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import quoteattr

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<config xmlns="http://www.knime.org/2008/09/XMLConfig" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    ' xsi:schemaLocation="http://www.knime.org/2008/09/XMLConfig http://www.knime.org/XMLConfig_2008_09.xsd"'
)
BASE = "org.knime.base.node"


def entry(key: str, value: str | int | float | bool | None, kind: str = "") -> str:
    """One entry; its type follows from the value unless it is given."""
    if value is None:
        return f'<entry key={quoteattr(key)} type="{kind or "xstring"}" isnull="true" value=""/>'
    kinds: list[tuple[type, str]] = [(bool, "xboolean"), (int, "xint"), (float, "xdouble"), (str, "xstring")]
    kind = kind or next(name for each, name in kinds if isinstance(value, each))
    written = str(value).lower() if isinstance(value, bool) else str(value)
    return f"<entry key={quoteattr(key)} type={quoteattr(kind)} value={quoteattr(written)}/>"


def config(key: str, *content: str) -> str:
    """One config."""
    return f"<config key={quoteattr(key)}>{''.join(content)}</config>"


def texts(key: str, *values: str) -> str:
    """An array of texts."""
    return config(key, entry("array-size", len(values)), *(entry(str(at), each) for at, each in enumerate(values)))


class KnimeFolder:
    """A workflow folder that grows node by node.

    Args:
        path: The folder to make.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._nodes: list[str] = []
        self._connections: list[str] = []
        path.mkdir(parents=True)
        (path / "workflowset.meta").write_text(
            '<?xml version="1.0" encoding="UTF-8"?>\n<KNIMEMetaInfo xmlns="http://www.knime.org/2.9/metainfo"'
            ' nrOfElements="1"><element form="multiline" name="Comments" read-only="false">An older\ndescription'
            "</element></KNIMEMetaInfo>",
            "utf-8",
        )

    def describe(self, description: str, content_type: str = "text/plain") -> None:
        """Writes the metadata of KNIME 5.1 and later."""
        (self.path / "workflow-metadata.xml").write_text(
            f'<?xml version="1.0" encoding="UTF-8"?>\n<workflow-metadata content-type="{content_type}"'
            ' xmlns="http://www.knime.org/core/node/workflow/metadata/v1.0"><author>somebody</author>'
            f"<last-modified>2026-01-31T12:00:00+01:00</last-modified><description>{description}</description>"
            "</workflow-metadata>",
            "utf-8",
        )

    def node(
        self,
        number: int,
        name: str,
        factory: str,
        *model: str,
        place: tuple[int, int] = (0, 0),
        around: str = "",
        factory_settings: str = "",
        creation: str = "",
    ) -> None:
        """Adds a node; `around` are further configs beside its model."""
        folder = f"{name} (#{number})"
        self._listed(number, f"{folder}/settings.xml", place, "NativeNode")
        frame = [
            entry("node_file", "settings.xml"),
            config("flow_stack"),
            config("internal_node_subsettings", entry("memory_policy", "CacheSmallInMemory")),
            config("model", *model),
            around,
            entry("customDescription", None),
            entry("state", "EXECUTED"),
            entry("factory", factory),
            entry("node-name", name),
            entry("node-bundle-symbolic-name", "org.knime.base"),
            entry("node-bundle-version", "5.5.1.v202507241550"),
            config("factory_settings", factory_settings),
            config("node_creation_config", creation) if creation else "",
            entry("name", name),
            entry("hasContent", True),
            config("filestores", entry("file_store_id", "6954126c-f75a-45df-9b38-c7e17b61e7c8")),
        ]
        (self.path / folder).mkdir()
        (self.path / folder / "settings.xml").write_text(
            f'{HEAD} key="settings.xml">{"".join(frame)}</config>', "utf-8"
        )

    def component(self, number: int, name: str) -> None:
        """Adds a component, which has a workflow of its own inside."""
        self._listed(number, f"{name} (#{number})/settings.xml", (0, 0), "SubNode")

    def _listed(self, number: int, file: str, place: tuple[int, int], kind: str) -> None:
        bounds = [entry("array-size", 4), *(entry(str(at), each) for at, each in enumerate((*place, 78, 76)))]
        self._nodes.append(
            config(
                f"node_{number}",
                entry("id", number),
                entry("node_settings_file", file),
                entry("node_is_meta", kind != "NativeNode"),
                entry("node_type", kind),
                config("ui_settings", config("extrainfo.node.bounds", *bounds)),
            )
        )

    def connect(self, source: int, source_port: int, target: int, target_port: int) -> None:
        """Adds a connection."""
        self._connections.append(
            config(
                f"connection_{len(self._connections)}",
                entry("sourceID", source),
                entry("destID", target),
                entry("sourcePort", source_port),
                entry("destPort", target_port),
            )
        )

    def save(self) -> Path:
        """Writes workflow.knime and gives the folder."""
        content = [
            entry("created_by", "5.5.1.v202507241444"),
            entry("created_by_nightly", False),
            entry("version", "5.1.0"),
            entry("name", None),
            config("authorInformation", entry("authored-by", "somebody")),
            config("workflow_credentials"),
            config("annotations", config("annotation_0", entry("text", "A box on the canvas"))),
            config("nodes", *self._nodes),
            config("connections", *self._connections),
        ]
        (self.path / "workflow.knime").write_text(f'{HEAD} key="workflow.knime">{"".join(content)}</config>', "utf-8")
        return self.path


def relative_file(path: str, start: str = "knime.workflow.data") -> str:
    """A location relative to something of KNIME's."""
    return config(
        "path",
        entry("location_present", True),
        entry("file_system_type", "RELATIVE"),
        entry("file_system_specifier", start),
        entry("path", path),
    )


def csv_reader(
    path: str, *, start: str = "knime.workflow.data", delimiter: str = ",", filter_mode: str = "FILE"
) -> list[str]:
    """Model of a CSV Reader of KNIME 5.5 that has been executed: it remembers the columns."""
    column = config(
        "0",
        config("external_spec", entry("name", "customer"), entry("has_type", True)),
        entry("name", "customer"),
        entry("keep", True),
        entry("position", 0),
    )
    return [
        config(
            "settings",
            config(
                "file_selection",
                relative_file(path, start),
                config("filter_mode", entry("filter_mode", filter_mode), entry("include_subfolders", False)),
            ),
            entry("has_column_header", True),
            entry("has_row_id", False),
            entry("comment_char", "#"),
            entry("column_delimiter", delimiter),
            entry("quote_char", '"'),
            entry("quote_escape_char", '"'),
            entry("row_delimiter", "%%00010"),
        ),
        config(
            "table_spec_config_Internals",
            entry("version", "V4_4"),
            config("table_transformation", config("columns", column, texts("intersection_indices"))),
        ),
        config(
            "advanced_settings",
            entry("limit_data_rows_scanned", True),
            entry("max_data_rows_scanned", 10000, "xlong"),
            entry("thousands_separator", "%%00000"),
            entry("decimal_separator", "."),
        ),
        config(
            "limit_rows",
            entry("skip_lines", False),
            entry("number_of_lines_to_skip", 1, "xlong"),
            entry("limit_data_rows", False),
            entry("max_rows", 50, "xlong"),
        ),
        config("encoding", entry("charset", "UTF-8")),
    ]


def predicate(number: int, column: str, operator: str, cell: str, value: str | int | float | None) -> str:
    """A predicate of a Row Filter until KNIME 5.9."""
    kind = {"LongCell": "xlong"}.get(cell, "")
    stored = config(
        "0",
        config("typeIdentifier", entry("cell_class", f"org.knime.core.data.def.{cell}"), entry("is_null", False)),
        entry("value", value, kind),
    )
    return config(
        str(number),
        config("columnV2", entry("regularChoice", column), entry("specialChoice_Internals", None)),
        entry("operator", operator),
        config("predicateValues", config("values", stored if value is not None else ""), entry("inputKind", "SINGLE")),
    )


def row_filter(*predicates: str, match: str = "AND", output: str = "MATCHING") -> list[str]:
    """Model of a Row Filter."""
    return [
        entry("matchCriteria", match),
        config("predicates", *predicates),
        entry("domains", "RETAIN"),
        entry("outputMode", output),
    ]


CSV_READER = f"{BASE}.io.filehandling.csv.reader.CSVTableReaderNodeFactory"
CSV_WRITER = f"{BASE}.io.filehandling.csv.writer.CSVWriter2NodeFactory"
ROW_FILTER = f"{BASE}.preproc.filter.row3.RowFilterNodeFactory"
COLUMN_FILTER = f"{BASE}.preproc.filter.column.DataColumnSpecFilterNodeFactory"
CONCATENATE = f"{BASE}.preproc.append.row.AppendedRowsNodeFactory"
JOINER = f"{BASE}.preproc.joiner3.Joiner3NodeFactory"
TABLE_CREATOR = f"{BASE}.io.tablecreator.TableCreator2NodeFactory"
TABLE_CREATOR_3 = f"{BASE}.io.tablecreator.TableCreator3NodeFactory"
MERGE_VARIABLES = f"{BASE}.util.mergevariables.MergeVariables2NodeFactory"
WORKFLOW_OUTPUT = "org.knime.workflowservices.knime.callee.WorkflowOutputNodeFactory"
CONTAINER_INPUT = "org.knime.json.node.container.input.table.ContainerTableInputNodeFactory"
STRING_CONFIGURATION = "org.knime.js.base.node.configuration.input.string.StringDialogNodeFactory"
PYTHON = "org.knime.python3.nodes.extension.ExtensionNodeSetFactory$DynamicExtensionNodeFactory"
