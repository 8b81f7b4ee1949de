"""The port that carries a chat model from the node that sets it up to the agent.

What travels is how to reach the model: provider, model name, address and the *name* of a credential. The key itself is
looked up when the model is made and is never written anywhere.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import knime.extension as knext

from knime_ext.nodes.failures import shown_to_the_user

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["OFFLINE", "ChatModelPortObject", "ChatModelPortObjectSpec", "chat_model_port_type"]

OFFLINE = "offline"
"""The provider of the built-in model."""


@dataclass(frozen=True)
class ChatModelPortObjectSpec(knext.PortObjectSpec):
    """Which chat model, and how to reach it.

    Attributes:
        provider: LangChain's name of the provider, such as "openai", or "offline".
        model: Name of the model at its provider.
        base_url: Address of the service, "" for the provider's own.
        credential_name: Name under which the host keeps the key, "" if none is needed.
        temperature: Sampling temperature, None for the provider's default.
        timeout: Seconds that one answer may take, None for the provider's default.
    """

    provider: str
    model: str = ""
    base_url: str = ""
    credential_name: str = ""
    temperature: float | None = None
    timeout: float | None = None

    def serialize(self) -> dict[str, Any]:
        """The spec as JSON. It holds no key."""
        return asdict(self)

    @classmethod
    def deserialize(cls, data: dict[str, Any], java_callback: Any = None) -> ChatModelPortObjectSpec:
        """The spec from its JSON."""
        return cls(**data)

    @property
    def supports_tools(self) -> bool:
        """True, because every model that can be set up here takes tools."""
        return True

    def validate_context(self, ctx: Any) -> None:
        """Checks that the credential is there.

        Raises:
            knext.InvalidParametersError: The host has no credential of that name, or it is empty.
        """
        if self.credential_name:
            self.api_key(ctx)

    def api_key(self, ctx: Any) -> str | None:
        """The key, looked up in the host; None if the model needs none."""
        if not self.credential_name:
            return None
        try:
            key = ctx.get_credentials(self.credential_name).password
        except KeyError:
            raise knext.InvalidParametersError(
                f"There is no credential {self.credential_name!r}; create it or select another in the chat model node."
            ) from None
        if not key:
            raise knext.InvalidParametersError(
                f"Credential {self.credential_name!r} has no password; enter the API key there."
            )
        return key


class ChatModelPortObject(knext.PortObject):
    """A chat model as it travels between nodes: its spec and nothing else."""

    def __init__(self, spec: ChatModelPortObjectSpec) -> None:
        super().__init__(spec)
        self._model_spec = spec

    @property
    def spec(self) -> ChatModelPortObjectSpec:
        """Which chat model, and how to reach it."""
        return self._model_spec

    def serialize(self) -> bytes:
        """Nothing: everything is in the spec."""
        return b""

    @classmethod
    def deserialize(cls, spec: ChatModelPortObjectSpec, storage: bytes) -> ChatModelPortObject:
        """The object of a spec."""
        return cls(spec)

    def create_model(self, ctx: Any, output_format: Any = "Text") -> BaseChatModel:
        """The model, ready to be called.

        Args:
            ctx: Context of the host, for the credential.
            output_format: Only texts are supported; a member of KNIME's own enumeration or its name.

        Raises:
            knext.InvalidParametersError: The model cannot be made; the message says what is missing.
        """
        from pydantic import SecretStr

        from knime_ext.agent import ChatModelConfig, create_chat_model

        if str(getattr(output_format, "name", output_format)).lower() != "text":
            raise knext.InvalidParametersError("This chat model answers with text only; choose the output format Text.")
        key = self.spec.api_key(ctx)
        config = ChatModelConfig(
            provider=self.spec.provider,
            model=self.spec.model,
            base_url=self.spec.base_url or None,
            api_key=SecretStr(key) if key else None,
            temperature=self.spec.temperature,
            timeout=self.spec.timeout,
        )
        with shown_to_the_user():
            return create_chat_model(config)


chat_model_port_type = knext.port_type("Chat model", ChatModelPortObject, ChatModelPortObjectSpec)
