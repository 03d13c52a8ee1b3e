"""``Settings.llm`` where evaluators were given no model: set by the user, or by LlamaIndex itself."""

import sys
from types import ModuleType

import pytest
from llama_index.core import Settings
from support.canned import CannedLLM, canned, said

from jury_adapters import ConfigurationError
from jury_adapters.llama_index import (
    JuryContextRelevancyEvaluator,
    JuryFaithfulnessEvaluator,
    JuryHallucinationEvaluator,
    JuryRelevancyEvaluator,
)

EVALUATORS = (
    JuryFaithfulnessEvaluator,
    JuryHallucinationEvaluator,
    JuryContextRelevancyEvaluator,
    JuryRelevancyEvaluator,
)


class OpenAI(CannedLLM):
    """In place of the class that LlamaIndex takes by default, which a package of its own has."""

    model: str = "gpt-3.5-turbo"
    api_key: str = "a key"


@pytest.fixture(autouse=True)
def default_vendor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IS_TESTING", raising=False)
    package, utils = ModuleType("llama_index.llms.openai"), ModuleType("llama_index.llms.openai.utils")
    vars(package)["OpenAI"], vars(utils)["validate_openai_api_key"] = OpenAI, str
    for module in (package, utils):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(Settings, "_llm", None)


@pytest.mark.parametrize("kind", EVALUATORS)
def test_the_default_that_llama_index_sets_itself_is_never_asked_by_accident(kind: type) -> None:
    assert type(Settings.llm) is OpenAI  # what `as_query_engine()` does
    with pytest.raises(ConfigurationError, match=r"Settings.llm is LlamaIndex's default, gpt-3.5-turbo.*llm=Settings"):
        kind()
    assert kind(llm=Settings.llm)


@pytest.mark.parametrize("llm", [OpenAI(model="gpt-4o-mini"), canned(said("YES"))], ids=["named", "other class"])
def test_a_model_that_the_user_set_is_asked(llm: CannedLLM) -> None:
    Settings.llm = llm
    assert JuryFaithfulnessEvaluator().jury.name == "faithfulness"
