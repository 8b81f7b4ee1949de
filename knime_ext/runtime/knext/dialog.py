"""The dialog of a node as JSON: its settings, their JSON Schema, and how they are shown (JSON Forms).

A workbench can render it as it is; KNIME's own dialogs are made of the same.
"""

from __future__ import annotations

from typing import Any

from knime_ext.runtime.knext.groups import ParameterGroup
from knime_ext.runtime.knext.member_tree import members_of
from knime_ext.runtime.knext.parameter import Member, Parameter
from knime_ext.runtime.knext.parameter_array import ParameterArray
from knime_ext.runtime.knext.settings import get_parameters, parameter_schema

__all__ = ["dialog_json", "ui_schema"]

_ROOT = "#/properties/model/properties"


def dialog_json(node: object, context: Any) -> dict[str, Any]:
    """Everything that a dialog needs: settings, their schema, and the UI schema.

    Args:
        node: Instance of a node.
        context: The `DialogCreationContext`.
    """
    return {
        "data": {"model": get_parameters(node)},
        "schema": {"type": "object", "properties": {"model": parameter_schema(node, context)}},
        "ui_schema": ui_schema(node, context),
    }


def ui_schema(node: object, context: Any) -> dict[str, Any]:
    """How a dialog shows the settings of a node.

    Args:
        node: Instance or class of a node.
        context: The `DialogCreationContext`: choices, columns and rules depend on it.
    """
    return {"type": "VerticalLayout", "elements": _UISchema(node, context).elements(node, (node,), _ROOT)}


class _UISchema:
    def __init__(self, root: object, context: Any) -> None:
        self._root = root
        self._context = context

    def elements(self, owner: object, around: tuple[object, ...], scope: str) -> list[dict[str, Any]]:
        return [self._element(f"{scope}/{name}", member, around) for name, member in members_of(owner).items()]

    def _element(self, scope: str, member: Member, around: tuple[object, ...]) -> dict[str, Any]:
        element = self._content(scope, member, around)
        if member.applied_rule is not None:
            rule = member.applied_rule

            def find_scope(subject: Any) -> str:
                return self._scope_of(subject, around)

            condition = rule.condition.to_dict(find_scope, self._context)
            element["rule"] = {"effect": rule.effect.value, "condition": condition}
        return element

    def _content(self, scope: str, member: Member, around: tuple[object, ...]) -> dict[str, Any]:
        options = {"isAdvanced": True} if member.is_advanced else {}
        if isinstance(member, ParameterGroup):
            inner = self.elements(member.template, (*around, member.template), f"{scope}/properties")
            layout = {"type": member.layout_direction.value, "elements": inner}
            return {"type": "Section", "label": member.label, "options": options, "elements": [layout]}
        if isinstance(member, ParameterArray):
            control = {"scope": scope, **member.control(self._context)}
            section: dict[str, Any] = {"type": "Section", "label": member.label, "elements": [control]}
            return {**section, "options": options} if options else section
        assert isinstance(member, Parameter)
        return {"scope": scope, **member.control(self._context)}

    def _scope_of(self, subject: Any, around: tuple[object, ...]) -> str:
        """JSON pointer of a parameter. A group may occur twice, so the nearest one around the rule is meant."""
        for owner in reversed(around):
            if subject in members_of(owner).values():
                return self._search(self._root, subject, owner, _ROOT) or self._missing(subject)
        return self._search(self._root, subject, None, _ROOT) or self._missing(subject)

    def _search(self, owner: object, subject: Any, wanted: object | None, scope: str) -> str | None:
        for name, member in members_of(owner).items():
            if member is subject and wanted in (None, owner):
                return f"{scope}/{name}"
            if isinstance(member, ParameterGroup):
                found = self._search(member.template, subject, wanted, f"{scope}/{name}/properties")
                if found:
                    return found
        return None

    def _missing(self, subject: Any) -> str:
        raise ValueError(
            f"a rule depends on the parameter {getattr(subject, 'label', subject)!r}, which the node does not have"
        )
