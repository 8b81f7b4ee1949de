"""The nodes that set up chat models, and the port that carries them."""

import json
from typing import Any

import knime.extension as knext
import pytest

from knime_ext.extension import ChatModelConnector, OfflineChatModel
from knime_ext.nodes.chat_model_port import ChatModelPortObject, ChatModelPortObjectSpec
from knime_ext.runtime.knext.contexts import (
    ConfigurationContext,
    Credential,
    DialogCreationContext,
    ExecutionContext,
    NodeHost,
)
from knime_ext.runtime.knext.settings import parameter_schema, set_parameters

KEY = "sk-4f1b2c9d"
HOST = NodeHost(credentials={"my key": Credential("me", KEY, "my key"), "empty": Credential("me", "", "empty")})


def connector(**settings: Any) -> Any:
    node = ChatModelConnector()
    set_parameters(node, {"model": "gpt-4.1-mini", **settings})
    return node


def test_the_connector_passes_on_everything_but_the_key() -> None:
    node = connector(
        credential="my key",
        base_url=" http://localhost:1/v1 ",
        answers={"set_temperature": True, "temperature": 0.5, "timeout": 7.0},
    )
    spec = node.configure(ConfigurationContext(HOST))
    assert spec == ChatModelPortObjectSpec(
        provider="openai",
        model="gpt-4.1-mini",
        base_url="http://localhost:1/v1",
        credential_name="my key",
        temperature=0.5,
        timeout=7.0,
    )
    written = json.dumps(spec.serialize()) + node.execute(ExecutionContext(HOST)).serialize().decode() + repr(spec)
    assert KEY not in written
    assert ChatModelPortObjectSpec.deserialize(json.loads(json.dumps(spec.serialize()))) == spec


def test_the_model_that_comes_out_of_the_port_has_the_key() -> None:
    port_object = connector(credential="my key").execute(ExecutionContext(HOST))
    read_back = ChatModelPortObject.deserialize(port_object.spec, port_object.serialize())
    model: Any = read_back.create_model(ExecutionContext(HOST))
    assert model.openai_api_key.get_secret_value() == KEY
    assert model.model_name == "gpt-4.1-mini"


def test_without_a_name_of_the_model_the_connector_cannot_be_configured() -> None:
    with pytest.raises(knext.InvalidParametersError, match="name of the model is missing"):
        connector(model=" ").configure(ConfigurationContext(HOST))


@pytest.mark.parametrize(
    ("credential", "message"),
    [
        ("gone", "There is no credential 'gone'; create it or select another in the chat model node."),
        ("empty", "Credential 'empty' has no password; enter the API key there."),
    ],
)
def test_a_credential_that_cannot_be_used_is_named(credential: str, message: str) -> None:
    with pytest.raises(knext.InvalidParametersError) as caught:
        connector(credential=credential).configure(ConfigurationContext(HOST))
    assert str(caught.value) == message


def test_the_dialog_offers_the_credentials_of_the_host_and_none() -> None:
    schema = parameter_schema(ChatModelConnector(), DialogCreationContext(HOST))
    offered = schema["properties"]["credential"]["oneOf"]
    assert [each["const"] for each in offered] == ["<none>", "my key", "empty"]


def test_a_provider_without_its_package_names_the_package() -> None:
    port_object = connector(provider="MISTRALAI").execute(ExecutionContext(HOST))
    with pytest.raises(knext.InvalidParametersError, match="langchain-mistralai"):
        port_object.create_model(ExecutionContext(HOST))


def test_the_offline_model_needs_nothing() -> None:
    node = OfflineChatModel()
    assert node.configure(ConfigurationContext()) == ChatModelPortObjectSpec(provider="offline")
    model = node.execute(ExecutionContext()).create_model(ExecutionContext())
    assert model.__class__.__name__ == "OfflineChatModel"


def test_other_output_formats_than_text_are_refused() -> None:
    port_object = OfflineChatModel().execute(ExecutionContext())
    with pytest.raises(knext.InvalidParametersError, match="text only"):
        port_object.create_model(ExecutionContext(), output_format="JSON")
