"""Port types and port objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from knime_ext.runtime import knext
from knime_ext.runtime.knext.ports import load_port_object, port_type_name, save_port_object


class Spec(knext.PortObjectSpec):
    def __init__(self, size: int) -> None:
        self.size = size

    def serialize(self) -> dict[str, Any]:
        return {"size": self.size}

    @classmethod
    def deserialize(cls, data: dict[str, Any], java_callback: Any = None) -> Spec:
        return cls(data["size"])


class SubSpec(Spec):
    pass


class Model(knext.PortObject):
    def __init__(self, spec: Spec, text: str) -> None:
        super().__init__(spec)
        self.text = text

    def serialize(self) -> bytes:
        return self.text.encode()

    @classmethod
    def deserialize(cls, spec: Any, storage: bytes) -> Model:
        return cls(spec, storage.decode())


class SubModel(Model):
    pass


class FolderModel(knext.FilestorePortObject):
    def write_to(self, file_path: str) -> None:
        Path(file_path).mkdir()
        (Path(file_path) / "part").write_text("content", encoding="utf-8")

    @classmethod
    def read_from(cls, spec: Any, file_path: str) -> FolderModel:
        assert (Path(file_path) / "part").read_text(encoding="utf-8") == "content"
        return cls(spec)


class Connection(knext.ConnectionPortObject):
    def to_connection_data(self) -> Any:
        return object

    @classmethod
    def from_connection_data(cls, spec: Any, data: Any) -> Connection:
        return cls(spec)


def test_a_port_type_takes_subclasses_of_both_classes() -> None:
    model = knext.port_type("Model", Model, Spec)
    sub = knext.port_type("Sub model", SubModel, SubSpec)
    mixed = knext.port_type("Mixed", SubModel, Spec)
    assert model.is_super_type_of(model)
    assert model.is_super_type_of(sub)
    assert not sub.is_super_type_of(model)
    assert not sub.is_super_type_of(mixed)


def test_the_id_of_a_port_type_is_the_name_of_its_object_class_unless_given() -> None:
    assert knext.port_type("Model", Model, Spec).id == f"{__name__}.Model"
    assert knext.port_type("Model", Model, Spec, id="my.model").id == "my.model"


def test_builtin_port_types_are_plain_texts() -> None:
    assert knext.PortType.TABLE == "PortType.TABLE"
    assert knext.PortType.HUB_AUTHENTICATION == "PortType.HUB_AUTHENTICATION"
    assert port_type_name(knext.PortType.TABLE) == "Table"
    assert port_type_name(knext.PortType.HUB_AUTHENTICATION) == "Hub authentication"
    assert port_type_name(knext.port_type("My model", Model, Spec)) == "My model"


def test_port_objects_go_to_a_file_and_back(tmp_path: Path) -> None:
    path = str(tmp_path / "model")
    save_port_object(Model(Spec(3), "hello"), path)
    loaded = load_port_object(Model, Spec(3), path)
    assert isinstance(loaded, Model)
    assert (loaded.text, loaded.spec.size) == ("hello", 3)


def test_port_objects_with_a_file_store_write_themselves(tmp_path: Path) -> None:
    path = str(tmp_path / "folder")
    save_port_object(FolderModel(Spec(1)), path)
    assert load_port_object(FolderModel, Spec(1), path).spec.size == 1


def test_what_cannot_become_bytes_says_so() -> None:
    for attempt in (Connection(Spec(1)).serialize, lambda: Connection.deserialize(Spec(1), b"")):
        with pytest.raises(NotImplementedError, match="lives in its process only"):
            attempt()
    for attempt in (FolderModel(Spec(1)).serialize, lambda: FolderModel.deserialize(Spec(1), b"")):
        with pytest.raises(RuntimeError, match="file store"):
            attempt()


@pytest.mark.parametrize(
    "spec",
    [
        knext.BinaryPortObjectSpec("my.id"),
        knext.ImagePortObjectSpec(knext.ImageFormat.PNG),
        knext.ImagePortObjectSpec("svg"),
        knext.CredentialPortObjectSpec(None),
    ],
)
def test_builtin_specs_survive_their_json(spec: knext.PortObjectSpec) -> None:
    assert type(spec).deserialize(spec.serialize()).serialize() == spec.serialize()


def test_an_image_spec_gives_the_format_as_text() -> None:
    assert knext.ImagePortObjectSpec(knext.ImageFormat.SVG).format == "svg"
