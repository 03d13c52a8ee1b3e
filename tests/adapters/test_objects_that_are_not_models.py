"""Objects of the frameworks that are not chat models are refused as models, with what is accepted."""

import pytest
from langchain_core.messages import AIMessage
from llama_index.core import MockEmbedding, Settings

from jury_adapters import ConfigurationError, Critic


@pytest.mark.parametrize("given", [Settings, MockEmbedding(2), AIMessage("YES")], ids=lambda one: type(one).__name__)
def test_it_is_refused_with_what_is_accepted(given):
    said = f"{type(given).__name__} is not a model: give 'vendor:model', a LangChain chat model, a LlamaIndex"
    with pytest.raises(ConfigurationError, match=said):
        Critic(given, "answer_relevance")
