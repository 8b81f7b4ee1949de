from __future__ import annotations
import gc
from pydantic import SecretStr
from knime_ext.agent.agent import Agent
from knime_ext.agent.chat_models import *
from tests.agent.openai_server import *

def test_two_runs_use_the_same_model_one_after_the_other():
    with openai_service([completion("fine")]) as service:
        model = create_chat_model(ChatModelConfig(model="m", base_url=service.url, api_key=SecretStr("sk-secret"), max_retries=0))
        agent = Agent(model)
        assert agent.run("a").answer == "fine"
        assert agent.run("b").answer == "fine"
        m2 = create_chat_model(ChatModelConfig(model="m", base_url=service.url, api_key=SecretStr("sk-secret"), max_retries=0))
        assert Agent(m2).run("c").answer == "fine"
    del model, agent, m2
    gc.collect()
