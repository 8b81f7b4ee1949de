"""The options that name a chat model, and the model that they make."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["BaseURLOption", "KeyVariableOption", "ModelOption", "chat_model_of"]

OFFLINE = "offline"

ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="PROVIDER:MODEL",
        help="The chat model, such as openai:gpt-4.1-mini, or offline for the built-in one that needs no key.",
    ),
]
BaseURLOption = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="Address of the model's service, if it is not the provider's own."),
]
KeyVariableOption = Annotated[
    str | None,
    typer.Option(
        "--api-key-env",
        metavar="VARIABLE",
        help="Environment variable that holds the API key, if it is not the provider's usual one.",
    ),
]


def chat_model_of(
    text: str,
    *,
    base_url: str | None = None,
    key_variable: str | None = None,
    temperature: float | None = None,
) -> BaseChatModel:
    """The chat model that the options name; its service is not contacted.

    A key comes from an environment variable only, so that it never stands on a command line: the one that
    `key_variable` names, else the provider's own, which is never used together with a `base_url`.

    Args:
        text: "offline", or provider and model with a colon between them, such as "openai:gpt-4.1-mini".
        base_url: Address of the service; the provider's own if None.
        key_variable: Name of the environment variable with the key.
        temperature: Sampling temperature; the provider's default if None.

    Raises:
        ConfigurationError: The text names no model, the variable is not set, or the model cannot be set up.
    """
    from pydantic import SecretStr

    from knime_ext.agent import ChatModelConfig, create_chat_model

    provider, model = _provider_and_model(text.strip())
    key = _key(key_variable) if key_variable else None
    return create_chat_model(
        ChatModelConfig(
            provider=provider,
            model=model,
            base_url=base_url,
            api_key=SecretStr(key) if key else None,
            temperature=temperature,
        )
    )


def _provider_and_model(text: str) -> tuple[str, str]:
    from knime_ext.errors import ConfigurationError

    if text == OFFLINE:
        return OFFLINE, ""
    provider, _, model = text.partition(":")
    if not (provider and model):
        raise ConfigurationError(
            f"{text!r} names no chat model; write --model PROVIDER:MODEL, such as openai:gpt-4.1-mini, "
            "or --model offline."
        )
    return provider, model


def _key(variable: str) -> str:
    from knime_ext.errors import ConfigurationError

    key = os.environ.get(variable)
    if not key:
        raise ConfigurationError(
            f"the environment variable {variable!r}, which is to hold the API key, is not set; set it first."
        )
    return key
