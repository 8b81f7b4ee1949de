"""Chat Model Connector: sets up a chat model of any provider that LangChain knows."""

from __future__ import annotations

from typing import Any

import knime.extension as knext

from knime_ext.nodes.category import category
from knime_ext.nodes.chat_model_port import ChatModelPortObject, ChatModelPortObjectSpec, chat_model_port_type

__all__ = ["ChatModelConnector", "Provider"]

_NONE = "<none>"


class Provider(knext.EnumParameterOptions):
    """Who runs the model. The member's name in lower case is LangChain's name of the provider."""

    OPENAI = (
        "OpenAI or compatible",
        "OpenAI, or any service that speaks its API, such as vLLM, LM Studio, Ollama or a company gateway: enter its "
        "base URL.",
    )
    ANTHROPIC = ("Anthropic", "Claude models. Needs the Python package `langchain-anthropic`.")
    GOOGLE_GENAI = ("Google", "Gemini models. Needs the Python package `langchain-google-genai`.")
    MISTRALAI = ("Mistral", "Mistral models. Needs the Python package `langchain-mistralai`.")
    OLLAMA = ("Ollama", "Models on an Ollama server. Needs the Python package `langchain-ollama`.")


def _credentials(ctx: Any) -> list[Any]:
    choice = knext.StringParameter.Choice
    return [choice(_NONE, "None"), *(choice(name, name) for name in ctx.get_credential_names())]


@knext.parameter_group(label="Answers", is_advanced=True)
class AnswerSettings:
    """How the model answers."""

    set_temperature = knext.BoolParameter(
        "Set the temperature", "If off, the provider decides. Some models accept no other temperature than theirs."
    )
    temperature = knext.DoubleParameter(
        "Temperature",
        "0 gives the most repeatable answers, higher values more varied ones.",
        0.0,
        min_value=0.0,
        max_value=2.0,
    ).rule(knext.OneOf(set_temperature, [True]), knext.Effect.SHOW)
    timeout = knext.DoubleParameter(
        "Time limit (seconds)", "Longest time for one answer of the model.", 120.0, min_value=1.0
    )


@knext.node(
    name="Chat Model Connector",
    node_type=knext.NodeType.SOURCE,
    icon_path="icons/chat_model_connector.png",
    category=category,
    keywords=["LLM", "GenAI", "OpenAI", "Anthropic", "Gemini", "Ollama", "Model"],
    id="ChatModelConnector",
)
@knext.output_port("Chat model", "The chat model, for an agent.", chat_model_port_type)
class ChatModelConnector:
    """Sets up a chat model of OpenAI, Anthropic, Google, Mistral, Ollama or a compatible service.

    Choose who runs the model, enter the model's name as the provider spells it, and select the credential that holds
    the API key. Services that speak OpenAI's API, also on your own computer, work with the provider *OpenAI or
    compatible* and their base URL.

    **Your key is safe.** The node stores and hands on only the *name* of the credential. The key is looked up at the
    moment the model is used and is never part of the workflow, of a table or of the output port.

    **When the service is contacted.** Not by this node: it only passes the settings on. A wrong key or model name
    shows when the **Agent Prompter** asks the model for the first time.

    The model must support *tool calling*, or an agent cannot use tools with it.
    """

    provider = knext.EnumParameter(
        "Provider", "Who runs the model.", Provider.OPENAI.name, Provider, style=knext.EnumParameter.Style.DROPDOWN
    )
    model = knext.StringParameter("Model", "Name of the model as its provider spells it, such as `gpt-4.1-mini`.", "")
    base_url = knext.StringParameter(
        "Base URL",
        "Address of the service, such as `http://localhost:11434/v1`. Leave it empty for the provider's own.",
        "",
    )
    credential = knext.StringParameter(
        "Credential", "Credential whose password is the API key. *None* if the service asks for no key.", _NONE,
        choices=_credentials,
    )  # fmt: skip
    answers = AnswerSettings()

    def configure(self, ctx: knext.ConfigurationContext) -> ChatModelPortObjectSpec:
        """How to make the model; the service is not contacted."""
        if not self.model.strip():
            raise knext.InvalidParametersError("The name of the model is missing; enter it in the dialog.")
        spec = ChatModelPortObjectSpec(
            provider=self.provider.lower(),
            model=self.model.strip(),
            base_url=self.base_url.strip(),
            credential_name="" if self.credential == _NONE else self.credential,
            temperature=self.answers.temperature if self.answers.set_temperature else None,
            timeout=self.answers.timeout,
        )
        spec.validate_context(ctx)
        return spec

    def execute(self, ctx: knext.ExecutionContext) -> Any:
        """The model's port object."""
        return ChatModelPortObject(self.configure(ctx))
