"""``Settings.llm`` where evaluators were given no model: set by the user, or by LlamaIndex itself."""

import sys
from types import ModuleType

import pytest
from llama_index.core import Settings
from llama_index.core.llms import MockLLM
from support.canned import CannedLLM, canned, said

from jury_adapters import Case, ConfigurationError
from jury_adapters.llama_index import (
    JuryContextRelevancyEvaluator,
    JuryFaithfulnessEvaluator,
    JuryHallucinationEvaluator,
    JuryRelevancyEvaluator,
    configured_llm,
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


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    monkeypatch.setattr(configured_llm, "_WARNED", set())
    return caplog


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


OFFLINE = (JuryFaithfulnessEvaluator, JuryHallucinationEvaluator, JuryContextRelevancyEvaluator)


@pytest.mark.parametrize("llm", [None, MockLLM(), MockLLM(max_tokens=7)], ids=["disabled", "plain", "limited"])
def test_a_mock_is_no_judge_and_the_log_says_once_who_judges_instead(
    llm: MockLLM | None, log: pytest.LogCaptureFixture
) -> None:
    Settings.llm = llm
    for kind in (*OFFLINE, *OFFLINE):
        assert kind().jury.estimate(Case(question="q", answer="a", contexts=["c"])).calls == 0
    said = [record.getMessage() for record in log.records]
    assert [line.partition(" ")[0] for line in said] == [kind.__name__ for kind in OFFLINE]
    assert all("Settings.llm is a MockLLM, which only repeats its prompt: grounding" in line for line in said[:2])
    with pytest.raises(ConfigurationError, match="to a real LLM; the MockLLM there only repeats its prompt"):
        JuryRelevancyEvaluator()
    assert JuryFaithfulnessEvaluator(llm=Settings.llm).jury.name == "faithfulness"


class Scripted(MockLLM):
    """A user's model for tests, which answers."""


def test_a_model_made_of_a_mock_is_asked(log: pytest.LogCaptureFixture) -> None:
    Settings.llm = Scripted()
    assert JuryFaithfulnessEvaluator().jury.name == "faithfulness"
    assert not log.records


def test_nothing_is_logged_of_a_model_that_was_not_set(log: pytest.LogCaptureFixture) -> None:
    assert JuryFaithfulnessEvaluator().jury.name
    with pytest.raises(ConfigurationError, match=r"to a real LLM$"):
        JuryRelevancyEvaluator()
    assert not log.records
