"""Chat models of any provider that LangChain knows, from one configuration value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from knime_ext.errors import ConfigurationError

__all__ = ["OFFLINE", "ChatModelConfig", "create_chat_model"]

OFFLINE = "offline"
"""The provider of the built-in model that needs no key and no network."""

_NO_KEY = "no-key-needed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatModelConfig:
    """Which chat model, and how to reach it.

    Attributes:
        provider: LangChain's name of the provider ("openai", "anthropic", "ollama", ...), or "offline". "openai" is
            also right for every service that speaks OpenAI's API.
        model: Name of the model at its provider.
        base_url: Address of the service; the provider's own if None.
        api_key: The key. If None, the provider's environment variable is used, but never for another `base_url`.
        temperature: Sampling temperature; the provider's default if None.
        timeout: Seconds for one reply; the provider's default if None.
        max_retries: How often a request is sent again after a rate limit or a network failure.
    """

    provider: str = "openai"
    model: str = ""
    base_url: str | None = None
    api_key: SecretStr | None = field(default=None, repr=False)
    temperature: float | None = None
    timeout: float | None = 120.0
    max_retries: int = 2


def create_chat_model(config: ChatModelConfig) -> BaseChatModel:
    """Makes the model; the service is not contacted.

    Raises:
        ConfigurationError: The provider is unknown, its package is missing or there is no key; the message says what
            to do.
    """
    if config.provider == OFFLINE:
        from knime_ext.agent.offline import OfflineChatModel

        return OfflineChatModel()
    if not config.model:
        raise ConfigurationError("the name of the chat model is missing; give the name that its provider uses.")
    try:
        from langchain.chat_models import init_chat_model
    except ImportError:
        raise ConfigurationError(
            f"chat models of {config.provider!r} need the extra 'models'; install it with: "
            "pip install 'knime-mcp[models]'"
        ) from None
    try:
        make = _compatible_openai if config.provider == "openai" else cast("Any", init_chat_model)
        model = make(config.model, model_provider=config.provider, **_options(config))
    except ImportError as error:
        raise ConfigurationError(
            f"the package of the provider {config.provider!r} is missing; install 'langchain-{_package(config)}'."
        ) from error
    except ValueError as error:
        raise ConfigurationError(_unusable(config, error)) from None
    except Exception as error:
        raise ConfigurationError(
            f"the chat model {config.model!r} of {config.provider!r} cannot be set up ({type(error).__name__}); "
            "check the model's settings, above all the API key."
        ) from None
    return cast("BaseChatModel", model)


def _compatible_openai(model: str, model_provider: str, **options: Any) -> BaseChatModel:
    from knime_ext.agent.openai_model import CompatibleChatOpenAI

    return CompatibleChatOpenAI(model=model, **options)


def _package(config: ChatModelConfig) -> str:
    return config.provider.replace("_", "-")


def _unusable(config: ChatModelConfig, error: ValueError) -> str:
    if "nsupported" in str(error):
        return f"the chat model provider {config.provider!r} is unknown; use a name that LangChain knows, as 'openai'."
    return f"the chat model {config.model!r} of {config.provider!r} cannot be set up; check its settings."


def _options(config: ChatModelConfig) -> dict[str, Any]:
    options: dict[str, Any] = {
        "base_url": config.base_url,
        "api_key": config.api_key,
        "temperature": config.temperature,
        "timeout": config.timeout,
        "max_retries": config.max_retries,
    }
    if config.base_url and config.api_key is None and config.provider == "openai":
        # The library would send the key from the environment, which belongs to another service.
        options["api_key"] = SecretStr(_NO_KEY)
    if config.provider == "openai":
        from knime_ext.agent.loop_clients import PerLoopClient

        options["http_async_client"] = PerLoopClient()
        # Else tokens are counted in streams of OpenAI's own service alone.
        options["stream_usage"] = True
    return {name: value for name, value in options.items() if value is not None}
