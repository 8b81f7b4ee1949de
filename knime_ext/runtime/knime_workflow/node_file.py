"""The file `settings.xml` of a node: what KNIME wants to find in it, and our node in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from knime_ext.runtime.document import NodeSpec
from knime_ext.runtime.knime_workflow.config import Config, boolean, integer, text
from knime_ext.runtime.knime_workflow.knime_ports import creation_config
from knime_ext.runtime.knime_workflow.node_forms import NodeForm
from knime_ext.runtime.knime_workflow.own_notes import add_notes
from knime_ext.runtime.knime_workflow.placement import pixels
from knime_ext.runtime.knime_workflow.plain_text import plain_text
from knime_ext.runtime.knime_workflow.rows import Unsupported
from knime_ext.runtime.knime_workflow.wiring import PlacedNode

__all__ = ["CREATION", "SETTINGS_FILE", "comment_of", "flow_variables_of", "node_file", "settings_of"]

SETTINGS_FILE = "settings.xml"
CREATION = "node_creation_config"
_USED, _EXPOSED = "used_variable", "exposed_variable"


def node_file(node: PlacedNode, spec: NodeSpec | None) -> Config:
    """A node's file.

    Args:
        node: The kind of node and its ports.
        spec: The node; None for one that only KNIME needs.
    """
    form = node.form
    config = Config(node_file=text(SETTINGS_FILE), flow_stack=Config())
    config.put("internal_node_subsettings/memory_policy", text("CacheSmallInMemory"))
    if spec is None or form.shape is None:
        config["model"] = Config()
        _add_frame(config, node)
        return config
    model = config["model"] = form.write(form.shape.usable(form.shape.normal(spec.settings)))
    settings, surplus = form.shape.difference(spec.settings, form.shape.minimal(form.read(model)))
    variables = {path: place for path in spec.flow_variables if (place := form.place_of(path)) is not None}
    if variables:
        config["variables"] = _variables({place: spec.flow_variables[path] for path, place in variables.items()})
    if spec.comment:
        config["nodeAnnotation"] = _annotation(spec.comment)
    _add_frame(config, node)
    add_notes(
        config,
        id=spec.id,
        settings=settings or None,
        surplus=surplus or None,
        flow_variables={path: name for path, name in spec.flow_variables.items() if path not in variables} or None,
        position=_exact_position(spec),
    )
    return config


def _exact_position(spec: NodeSpec) -> Any:
    """What KNIME's whole numbers cannot say: no position at all (an empty list), or fractions."""
    if spec.position is None:
        return []
    return None if pixels(spec.position) == spec.position else list(spec.position)


def _add_frame(config: Config, node: PlacedNode) -> None:
    form, bundle, nothing = node.form, node.form.bundle, text(None)
    config |= {
        "customDescription": nothing,
        "state": text("IDLE"),
        "factory": text(form.factory),
        "node-name": text(form.name),
        "node-bundle-name": text(bundle.name),
        "node-bundle-symbolic-name": text(bundle.symbolic_name),
        "node-bundle-vendor": text(bundle.vendor),
        "node-bundle-version": text(bundle.version),
        "node-feature-name": nothing,
        "node-feature-symbolic-name": nothing,
        "node-feature-vendor": nothing,
        "node-feature-version": text("0.0.0"),
        "factory_settings": form.factory_settings,
    }
    if form.keeps_ports:
        counted = zip((*form.inputs, *form.outputs), (*node.inputs, *node.outputs), strict=True)
        config[CREATION] = creation_config(counted)
    ports = {
        f"port_{number}": Config(index=integer(number), port_dir_location=nothing)
        for number in range(1, sum(node.outputs) + 1)
    }
    config |= {
        "name": text(form.name),
        "hasContent": boolean(False),
        "isInactive": boolean(False),
        "ports": Config(ports),
        "filestores": Config(file_store_location=nothing, file_store_id=nothing),
    }


def _variables(controlled: Mapping[str, str]) -> Config:
    tree = Config()
    for place, variable in controlled.items():
        tree.put(place, Config({_USED: text(variable), _EXPOSED: text(None)}))
    return Config(version=text("V_2019_09_13"), tree=tree)


def _annotation(comment: str) -> Config:
    """The text under a node; size and place are KNIME's business, so they are 0."""
    zeros = {key: integer(0) for key in ("x-coordinate", "y-coordinate", "width", "height")}
    return Config(
        {
            "text": text(comment),
            "contentType": text("text/plain"),
            "bgcolor": integer(0xFFFFFF),
            **zeros,
            "alignment": text("CENTER"),
            "borderSize": integer(0),
            "borderColor": integer(0),
            "defFontSize": integer(-1),
            "annotation-version": integer(20_230_412),
            "styles": Config(),
        }
    )


def comment_of(config: Config) -> str:
    """The text under a node."""
    annotation = config.below("nodeAnnotation")
    return plain_text(annotation.string("text"), annotation.string("contentType"))


def settings_of(config: Config, form: NodeForm, notes: Mapping[str, Any]) -> dict[str, Any]:
    """Our settings of a stored node, without those that have their default.

    Raises:
        Unsupported: The node is set to something that this runtime does not do.
    """
    if form.shape is None:
        return {}
    try:
        found = form.read(config.below("model"))
    except ValueError as error:
        raise Unsupported(f"has a damaged setting ({error})") from None
    return form.shape.merged(form.shape.minimal(found), notes.get("settings", {}), notes.get("surplus", ()))


def flow_variables_of(config: Config, form: NodeForm, notes: Mapping[str, Any]) -> dict[str, str]:
    """Which flow variable controls which parameter of ours.

    Raises:
        Unsupported: A variable controls a setting without counterpart, or a setting is given out as a variable.
    """
    variables, model = config.below("variables"), config.below("model")
    tree = variables.below("tree") if "tree" in variables else variables
    found: dict[str, str] = {}
    for place, leaf in _leaves(tree):
        used, exposed = leaf.value(_USED), leaf.value(_EXPOSED)
        path = form.parameter_at(place, model)
        if exposed is not None:
            raise Unsupported(f"gives out its setting {place!r} as the flow variable {exposed!r}")
        if used is not None and path is None:
            raise Unsupported(f"lets the flow variable {used!r} control {place!r}")
        if used is not None and path is not None:
            found[path] = str(used)
    return found | dict(notes.get("flow_variables", {}))


def _leaves(tree: Config, prefix: str = "") -> Iterator[tuple[str, Config]]:
    for key, below in tree.configs():
        if _USED in below or _EXPOSED in below:
            yield prefix + key, below
        else:
            yield from _leaves(below, f"{prefix}{key}/")
