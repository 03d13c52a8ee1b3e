"""LlamaIndex's own OpenAI LLM as a critic follows no redirect; it comes with llama-index-llms-openai."""

from importlib.util import find_spec

import pytest
from support.wire import WireServer, response

from jury_adapters import Critic, Status
from jury_adapters.testing import a_case, no_waiting

if find_spec("llama_index.llms") and find_spec("llama_index.llms.openai"):
    from llama_index.llms.openai import OpenAI

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    def test_a_redirect_is_a_final_error_that_names_the_host(status):
        with WireServer() as wire, WireServer() as other:
            away = other.base_url("openai", "localhost") + "/secret-path/chat/completions"
            wire.reset(lambda request: [response("", f"{status} Elsewhere", location=away)])
            llm = OpenAI(model="gpt-4o-mini", api_base=wire.base_url("openai"), api_key="secret-key-0123456789")
            with no_waiting():
                judgment = Critic(llm, "faithfulness", name="truth").judge(a_case(answer="TRUTH=NO"))
            assert judgment.status is Status.ERROR
            assert judgment.error.startswith("refused_request: ")
            assert "localhost" in judgment.error
            assert "secret" not in judgment.error
            assert (len(wire.requests), len(other.requests)) == (1, 0)
