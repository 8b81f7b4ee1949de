"""From the words of the command line to a chat model."""

from __future__ import annotations

from typing import Any, cast

import pytest

from knime_ext.agent import OfflineChatModel
from knime_ext.cli.model_option import chat_model_of
from knime_ext.errors import ConfigurationError
from tests.agent.openai_server import completion, openai_service


def test_offline_is_the_built_in_model() -> None:
    assert isinstance(chat_model_of("offline"), OfflineChatModel)


def test_provider_model_address_and_key_reach_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "belongs-to-openai")
    monkeypatch.setenv("MY_KEY", "mine")
    with openai_service([completion("hello")]) as service:
        named = chat_model_of("openai:qwen3:8b", base_url=service.url, key_variable="MY_KEY", temperature=0.5)
        assert cast("Any", named.invoke("hi")).content == "hello"
        chat_model_of("openai:qwen3:8b", base_url=service.url).invoke("hi")
    assert [request["model"] for request in service.requests] == ["qwen3:8b", "qwen3:8b"]
    assert service.requests[0]["temperature"] == 0.5
    assert service.keys[0] == "Bearer mine"
    assert "belongs-to-openai" not in service.keys[1]


@pytest.mark.parametrize("text", ["", "gpt-4.1", "openai:", ":gpt-4.1"])
def test_a_text_that_names_no_model_says_how_to_write_it(text: str) -> None:
    with pytest.raises(ConfigurationError, match="write --model PROVIDER:MODEL"):
        chat_model_of(text)


def test_a_key_that_is_not_there_is_named_by_its_variable() -> None:
    with pytest.raises(ConfigurationError, match="'NO_SUCH_KEY_4711'.*is not set"):
        chat_model_of("openai:gpt-4.1", key_variable="NO_SUCH_KEY_4711")
