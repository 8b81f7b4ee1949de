"""Folds edited columns back into tools. No I/O.

A tool may get another name, another description and narrower arguments. What identifies it stays: its server, its
provider, its name on the server, and the fingerprint, which is over the server's own description and therefore still
tells whether the *server* has changed something. Nothing can be made to look safer, or to take more, than the server
said.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from knime.types.tool import CellReader, InvalidToolCell, MCPTool, Tool, WorkflowTool
from knime_ext.errors import ConfigurationError, InvalidArguments
from knime_ext.tools.schema_parts import required_names
from knime_ext.tools.schema_restriction import closed, loosening
from knime_ext.tools.schemas import check_arguments
from knime_ext.tools.tool_columns import HINTS

__all__ = ["FoldedTools", "ToolEdit", "folded_tools"]

_CAUTIOUS = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
"""What each hint says of a tool that must be handled with the most care; also what MCP assumes without a hint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEdit:
    """What is to be changed of one tool; None leaves a part as it is.

    Attributes:
        name: The new name.
        description: The new description.
        parameters: JSON text of the arguments, as the cell holds them: narrower than before.
        hidden: Names of arguments that are not offered any more, separated by commas.
        fixed: JSON text of an object: the only value that each of these arguments may have.
        hints: What is said about the tool's effects, by MCP's names.
    """

    name: str | None = None
    description: str | None = None
    parameters: str | None = None
    hidden: str | None = None
    fixed: str | None = None
    hints: Mapping[str, bool | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldedTools:
    """What came of a column.

    Attributes:
        tools: The tools, edited; None for a missing cell, and where the edit is refused.
        changed: How many are not what they were.
        problems: Row and reason of each edit that is refused, in row order.
    """

    tools: list[Tool | None]
    changed: int
    problems: list[tuple[int, str]]


def folded_tools(tools: Sequence[Tool | None], edits: Sequence[ToolEdit]) -> FoldedTools:
    """The tools with their edits.

    Args:
        tools: A column; None is a missing cell, whose edit does not matter.
        edits: One per row.
    """
    editor = _Editor()
    edited: list[Tool | None] = []
    problems: dict[int, str] = {}
    for row, (tool, edit) in enumerate(zip(tools, edits, strict=True)):
        try:
            edited.append(None if tool is None else editor.edited(tool, edit))
        except ConfigurationError as error:
            problems[row] = str(error)
            edited.append(None)
    names = Counter(tool.name for tool in edited if tool is not None)
    for row, (before, after) in enumerate(zip(tools, edited, strict=True)):
        if before is not None and after is not None and after.name != before.name and names[after.name] > 1:
            problems[row] = f"the name {after.name!r} stands in several rows; give each tool a name of its own"
    changed = sum(after is not None and after != before for before, after in zip(tools, edited, strict=True))
    return FoldedTools(tools=edited, changed=changed, problems=sorted(problems.items()))


class _Editor:
    """Edits tools of one column; equal edits of equal schemas are worked out once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], dict[str, Any] | str] = {}

    def edited(self, tool: Tool, edit: ToolEdit) -> Tool:
        """The tool with its edit.

        Raises:
            ConfigurationError: The edit is refused.
        """
        changes: dict[str, Any] = {}
        if edit.name is not None and edit.name != tool.name:
            if not edit.name.strip():
                raise ConfigurationError("the name is empty; enter one, or leave the cell missing to keep the old name")
            changes["name"] = edit.name
        if edit.description is not None and edit.description != tool.description:
            changes["description"] = edit.description
        if edit.parameters is not None or edit.hidden or edit.fixed:
            changes["parameter_schema"] = self._parameters(tool, edit)
        annotations = _annotations(tool, edit.hints or {})
        if annotations is not None:
            changes["annotations"] = annotations
        return replace(tool, **changes) if changes else tool

    def _parameters(self, tool: Tool, edit: ToolEdit) -> dict[str, Any]:
        before = tool.parameter_schema
        # By identity: a schema cannot be hashed, and the tools keep theirs alive.
        key = (id(before), type(tool), edit.parameters, edit.hidden, edit.fixed)
        if key not in self._known:
            try:
                self._known[key] = _narrowed(_Arguments.of(tool), edit)
            except ConfigurationError as error:
                self._known[key] = str(error)
        found = self._known[key]
        if isinstance(found, str):
            raise ConfigurationError(found)
        return found


@dataclass(frozen=True, slots=True)
class _Arguments:
    """The arguments of a tool as a JSON Schema, and the way back to what its cell holds."""

    schema: dict[str, Any]
    cell: Callable[[dict[str, Any]], dict[str, Any]]
    from_cell: Callable[[dict[str, Any]], dict[str, Any]]
    is_workflow: bool

    @classmethod
    def of(cls, tool: Tool) -> _Arguments:
        if isinstance(tool, WorkflowTool):
            return cls(_workflow_schema(tool.parameter_schema), _workflow_cell, _workflow_schema, True)
        return cls(tool.parameter_schema, dict, dict, False)


def _workflow_schema(parameters: dict[str, Any]) -> dict[str, Any]:
    """A workflow's parameters as a schema: those without a default are required."""
    required = [name for name, part in parameters.items() if not isinstance(part, dict) or _default(part) is None]
    return {"properties": parameters, "required": required, "additionalProperties": False}


def _default(part: Any) -> Any:
    return cast("dict[str, Any]", part).get("default")


def _workflow_cell(schema: dict[str, Any]) -> dict[str, Any]:
    return schema["properties"]


def _narrowed(arguments: _Arguments, edit: ToolEdit) -> dict[str, Any]:
    """What the cell holds of the arguments after an edit; the same object if nothing changes."""
    before = arguments.schema
    after = before if edit.parameters is None else arguments.from_cell(_read_parameters(edit.parameters))
    after = _without(after, [name.strip() for name in (edit.hidden or "").split(",") if name.strip()])
    after = _with_fixed(before, after, edit.fixed, required=not arguments.is_workflow)
    if json.dumps(after) == json.dumps(before):
        return arguments.cell(before) if arguments.is_workflow else before
    _check_is_schema(before, after)
    after = closed(before, after)
    if arguments.is_workflow:
        # A required parameter may get a default: then that is what the workflow is given.
        kept = [name for name in before["required"] if name in after["properties"]]
        after = {**after, "required": [*dict.fromkeys([*after["required"], *kept])]}
    reason = loosening(before, after)
    if reason is not None:
        raise ConfigurationError(f"{reason}; a tool can be restricted, not extended")
    return arguments.cell(after)


def _read_parameters(text: str) -> dict[str, Any]:
    try:
        return CellReader().parameters(text)
    except InvalidToolCell as error:
        raise ConfigurationError(f"the parameters are unusable: the text {error.reason}") from error


def _without(schema: dict[str, Any], hidden: Sequence[str]) -> dict[str, Any]:
    if not hidden:
        return schema
    parts = schema.get("properties")
    known = cast("dict[str, Any]", parts) if isinstance(parts, dict) else {}
    for name in hidden:
        if name not in known:
            raise ConfigurationError(f"{name!r} cannot be hidden: the tool has no such argument")
        if name in required_names(schema):
            raise ConfigurationError(f"{name!r} cannot be hidden: the tool requires it; give it a fixed value instead")
    return {**schema, "properties": {name: part for name, part in known.items() if name not in hidden}}


def _with_fixed(before: dict[str, Any], after: dict[str, Any], text: str | None, *, required: bool) -> dict[str, Any]:
    """The schema with arguments that may have one value only.

    The value stays visible as the only one allowed, and as the default: there is no place in a cell for values that
    are sent along unseen, and a host that did not know of them would call without.
    """
    if not text:
        return after
    values = _read_object(text)
    parts = dict(cast("dict[str, Any]", after.get("properties") or {}))
    for name, value in values.items():
        if name not in parts:
            raise ConfigurationError(f"{name!r} cannot be fixed: the tool has no such argument")
        try:
            check_arguments({**before, "required": []}, {name: value}, name)
        except InvalidArguments as error:
            raise ConfigurationError(f"{name!r} cannot be fixed to {json.dumps(value)}: the tool refuses it") from error
        part: Any = parts[name]
        parts[name] = {**(part if isinstance(part, dict) else {}), "enum": [value], "default": value}
    names = [*dict.fromkeys([*required_names(after), *values])] if required else required_names(after)
    return {**after, "properties": parts, "required": names}


def _read_object(text: str) -> dict[str, Any]:
    try:
        value: object = json.loads(text)
    except ValueError as error:
        raise ConfigurationError(f"the fixed arguments are no JSON: {text[:80]!r}") from error
    if not isinstance(value, dict):
        raise ConfigurationError(f'the fixed arguments must be a JSON object like {{"unit": "C"}}, not {text[:80]!r}')
    return cast("dict[str, Any]", value)


def _check_is_schema(before: dict[str, Any], after: dict[str, Any]) -> None:
    """A schema that is broken checks nothing; only a server may send one, and then there is nothing to loosen."""
    problem = _what_is_broken(after)
    if problem is not None and _what_is_broken(before) is None:
        raise ConfigurationError(f"the parameters are no JSON Schema: {problem}")


def _what_is_broken(schema: dict[str, Any]) -> str | None:
    from jsonschema import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for

    try:
        validator_for(schema, default=Draft202012Validator).check_schema(schema)
    except SchemaError as error:
        return f"{'.'.join(map(str, error.absolute_path)) or 'the text'}: {error.message[:120]}"
    return None


def _annotations(tool: Tool, hints: Mapping[str, bool | None]) -> dict[str, Any] | None:
    """The hints of a tool after an edit; None if they stay."""
    given = {key: value for key, value in hints.items() if value is not None}
    if isinstance(tool, WorkflowTool):
        if given:
            raise ConfigurationError("a workflow has no hints of a server; leave these cells missing")
        return None
    said: dict[str, Any] = (tool.annotations if isinstance(tool, MCPTool) else None) or {}
    changed = {key: value for key, value in given.items() if said.get(key) is not value}
    for key, value in changed.items():
        before = said.get(key) if isinstance(said.get(key), bool) else _CAUTIOUS[key]
        if value is not before and value is not _CAUTIOUS[key]:
            column = next(name for name, hint in HINTS.items() if hint == key)
            raise ConfigurationError(
                f"{column!r} cannot become {str(value).lower()}: the server does not say so, and nobody else can"
            )
    return {**said, **changed} if changed else None
