"""Advice about names of models that no vendor has."""

import pytest

from jury_adapters import ConfigurationError, Critic, Ensemble


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("gpt-4o", "Write 'vendor:model' (openai:gpt-4o, say)."),
        ("llama3:8b", "Write 'vendor:model' (ollama:llama3:8b, say)."),
        ("opnai:gpt-4o", "Did you mean 'openai:gpt-4o'?"),
        ("azure_openai:gpt-4o", "Did you mean 'azure:gpt-4o'?"),
        ("google_genai:gemini-2.5-flash", "Did you mean 'gemini:gemini-2.5-flash'?"),
        ("bedrock:claude", "given as its object: init_chat_model('bedrock:claude')"),
    ],
)
def test_the_advice_never_sends_the_data_to_another_vendor(name: str, advice: str):
    with pytest.raises(ConfigurationError) as caught:
        Critic(name, "faithfulness")
    assert advice in str(caught.value)


def test_a_chat_model_in_place_of_a_judge_is_asked_by_a_critic():
    pytest.importorskip("langchain_core")
    from langchain_core.language_models import FakeListChatModel

    with pytest.raises(ConfigurationError, match=r"the model FakeListChatModel; Critic\(model, 'faithfulness'\)"):
        Ensemble([FakeListChatModel(responses=["YES"])])
