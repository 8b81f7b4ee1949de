"""What a node is given besides its inputs: flow variables, credentials, warnings, progress, cancelling, folders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

__all__ = [
    "ConfigurationContext",
    "Credential",
    "DialogCreationContext",
    "ExecutionContext",
    "FlowVariables",
    "NodeHost",
]


@dataclass(frozen=True)
class Credential:
    """User and password behind a name.

    Attributes:
        username: The user.
        password: The password or key; never printed.
        credential_name: The name under which both are known.
    """

    username: str
    password: str = field(repr=False)
    credential_name: str


class FlowVariables(dict[str, Any]):
    """The flow variables of a node: values may be added and changed, but not deleted.

    Names that start with "knime" belong to the host and cannot be set.
    """

    def __setitem__(self, name: str, value: Any) -> None:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"the name of a flow variable must be a text, not {type(name).__name__}")
        if name.startswith("knime"):
            raise ValueError(f"flow variable {name!r} cannot be set, names that start with 'knime' are the host's own")
        _check_variable(name, value)
        super().__setitem__(name, value)

    def update(self, *others: Any, **named: Any) -> None:
        """Sets several variables, each under the rules of one."""
        for name, value in dict(*others, **named).items():
            self[name] = value

    def setdefault(self, name: str, default: Any = None) -> Any:
        """The variable's value, which is set first if there is none."""
        if name not in self:
            self[name] = default
        return self[name]

    def __delitem__(self, name: str) -> None:
        raise RuntimeError(f"flow variable {name!r} cannot be deleted; set it to another value instead")

    def pop(self, *args: Any) -> Any:
        """Not possible.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError("flow variables cannot be deleted; set another value instead")

    popitem = pop  # pyright: ignore[reportAssignmentType]

    def clear(self) -> None:
        """Not possible.

        Raises:
            RuntimeError: Always.
        """
        self.pop()

    def __ior__(self, other: Any) -> FlowVariables:  # pyright: ignore[reportIncompatibleMethodOverride]
        self.update(other)
        return self


def _check_variable(name: str, value: Any) -> None:
    plain = (bool, int, float, str)
    values = cast("list[Any]", value) if isinstance(value, (list, tuple)) else [value]
    for element in values:
        if not isinstance(element, plain):
            raise TypeError(
                f"flow variable {name!r} cannot hold {type(element).__name__}; "
                "it takes bool, int, float, str or a list of one of them"
            )


def _ignore_warning(message: str) -> None:
    pass


def _ignore_progress(progress: float, message: str | None) -> None:
    pass


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeHost:
    """What a host offers to the contexts of one node. Callbacks may come from any thread.

    Attributes:
        credentials: Credentials by name.
        warn: Takes the node's warnings.
        report_progress: Takes a fraction between 0 and 1, and a message or None.
        is_canceled: Whether the run is to end.
        temp_dir: Folder for temporary files.
        workflow_dir: Folder of the workflow; its data area is the folder "data" in it.
        home_dir: Folder of the host's own settings and logs.
        node_dir: Folder for what the node keeps beside its outputs.
    """

    credentials: Mapping[str, Credential] = field(default_factory=dict[str, Credential], repr=False)
    warn: Callable[[str], None] = _ignore_warning
    report_progress: Callable[[float, str | None], None] = _ignore_progress
    is_canceled: Callable[[], bool] = _never
    temp_dir: Path = Path("tmp")
    workflow_dir: Path = Path()
    home_dir: Path = Path()
    node_dir: Path = Path("tmp")


class _Context:
    """What all contexts share."""

    def __init__(self, host: NodeHost | None = None, flow_variables: Mapping[str, Any] | None = None) -> None:
        self._host = host or NodeHost()
        self._flow_variables = FlowVariables(flow_variables or {})

    @property
    def flow_variables(self) -> MutableMapping[str, Any]:
        """The flow variables; what the node sets is there for the nodes after it."""
        return self._flow_variables

    def get_credential_names(self) -> list[str]:
        """Names of the credentials that the host has."""
        return list(self._host.credentials)

    def get_credentials(self, identifier: str) -> Credential:
        """The credential of that name.

        Raises:
            KeyError: There is none.
        """
        if identifier not in self._host.credentials:
            raise KeyError(f"there are no credentials named {identifier!r}; there are {self.get_credential_names()}")
        return self._host.credentials[identifier]


class DialogCreationContext(_Context):
    """What callables such as `choices` get while a dialog is made.

    Args:
        host: What the host offers.
        flow_variables: Flow variables that arrive at the node.
        input_specs: One entry per declared port: its spec, None if unconnected, a list for a group.
    """

    def __init__(
        self,
        host: NodeHost | None = None,
        flow_variables: Mapping[str, Any] | None = None,
        input_specs: Sequence[Any] = (),
    ) -> None:
        super().__init__(host, flow_variables)
        self._input_specs = list(input_specs)

    def get_input_specs(self) -> list[Any]:
        """The specs of the inputs: one entry per declared port, None if unconnected, a list for a group."""
        return self._input_specs

    def get_flow_variables(self) -> dict[str, Any]:
        """The flow variables that arrive at the node."""
        return dict(self._flow_variables)


class ConfigurationContext(_Context):
    """What `configure` gets.

    Args:
        host: What the host offers.
        flow_variables: Flow variables that arrive at the node.
        input_counts: Number of connections of each declared input; 1 for every port that is no group.
        output_counts: The same for the outputs.
    """

    def __init__(
        self,
        host: NodeHost | None = None,
        flow_variables: Mapping[str, Any] | None = None,
        input_counts: Sequence[int] = (),
        output_counts: Sequence[int] = (),
    ) -> None:
        super().__init__(host, flow_variables)
        self._input_counts = list(input_counts)
        self._output_counts = list(output_counts)

    def get_connected_input_port_numbers(self) -> list[int]:
        """Number of connections of each declared input; 1 for every port that is no group."""
        return list(self._input_counts)

    def get_connected_output_port_numbers(self) -> list[int]:
        """Number of connections of each declared output; 1 for every port that is no group."""
        return list(self._output_counts)

    def set_warning(self, message: str) -> None:
        """Shows a warning at the node."""
        self._host.warn(str(message))


class ExecutionContext(ConfigurationContext):
    """What `execute` gets."""

    def set_progress(self, progress: float, message: str | None = None) -> None:
        """Shows how far the node is.

        Args:
            progress: Between 0 and 1.
            message: What it is doing.

        Raises:
            TypeError: The progress is no number, or the message no text.
            ValueError: The progress is outside of 0 to 1.
        """
        if not isinstance(progress, (int, float)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"progress must be a number between 0 and 1, not {type(progress).__name__}")
        if message is not None and not isinstance(message, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"the progress message must be a text, not {type(message).__name__}")
        if not -0.0001 <= progress <= 1.0001:  # sums of fractions end a little above one
            raise ValueError(f"progress must be between 0 and 1, not {progress}")
        self._host.report_progress(min(1.0, max(0.0, float(progress))), message)

    def is_canceled(self) -> bool:
        """Whether the run is to end; nodes that work long ask now and then, and stop."""
        return self._host.is_canceled()

    def get_workflow_temp_dir(self) -> str:
        """Folder for temporary files."""
        return str(self._host.temp_dir)

    def get_workflow_data_area_dir(self) -> str:
        """Folder for files that belong to the workflow."""
        return str(self._host.workflow_dir / "data")

    def get_knime_home_dir(self) -> str:
        """Folder of the host's own settings and logs."""
        return str(self._host.home_dir)
