"""The same models, the same answers and the same outages: both adapters and the core come to the same verdict."""

import json
import re

import pytest
from support.vendor import Act

from jury_adapters import Case, ConfigurationError, Status
from jury_adapters.core.verdict_facts import case_score
from jury_adapters.judges import llm
from jury_adapters.judges.presets import one_or_panel, panel
from jury_adapters.langchain import JuryEvaluator
from jury_adapters.llama_index import JuryFaithfulnessEvaluator

CASE = Case(question="Capital of France?", answer="Paris", contexts=["Paris is the capital of France."])


def without_request_ids(verdict):
    return re.sub(r"req_\d+", "req", verdict.canonical_json())


def says(answer):
    return Act(text=json.dumps({"reasoning": "as it is", "answer": answer}))


ANSWERS = {
    "yes": says("YES"),
    "no": says("NO"),
    "abstains": Act(text=json.dumps({"reasoning": "who knows", "answer": "UNKNOWN"})),
    "rambles": Act(text="I would rather not say."),
    "refuses": Act(raw=json.dumps({"choices": [{"message": {"refusal": "never"}, "finish_reason": "stop"}]})),
    "outage": Act(status=400, error={"message": "no such deployment"}),
    "gone": Act(status=404, error={"message": "no such model"}),
}  # fmt: skip
PANELS = [
    ["yes", "yes", "yes"],
    ["yes", "yes", "no"],
    ["no", "no", "yes"],
    ["yes", "no"],
    ["yes", "outage"],
    ["no", "outage"],
    ["yes", "outage", "gone"],
    ["yes", "no", "outage"],
    ["yes", "yes", "outage", "outage", "gone"],
    ["outage", "gone"],
    ["outage"],
    ["yes"],
    ["no"],
    ["rambles"],
    ["rambles", "refuses"],
    ["rambles", "yes", "outage"],
    ["refuses", "abstains", "outage"],
    ["abstains", "no"],
]


@pytest.fixture
def models(server, monkeypatch):
    """Models that are named after what they answer, behind one server."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    server.plan = lambda ask: ANSWERS[ask.body["model"].split("-")[0]]
    return lambda answers: [f"openai:{answer}-{place}" for place, answer in enumerate(answers)]


@pytest.mark.corpus
@pytest.mark.parametrize("voting", ["majority", "unanimous", "average", "median"])
@pytest.mark.parametrize("answers", PANELS, ids=" ".join)
def test_a_panel_decides_the_same_everywhere(models, answers, voting):
    core = one_or_panel(llm.faithfulness, *models(answers), voting=voting, name="faithfulness").judge(CASE)

    in_llama_index = JuryFaithfulnessEvaluator(llms=models(answers), voting=voting).evaluate(
        query=CASE.question, response=CASE.answer, contexts=CASE.contexts
    )
    assert without_request_ids(in_llama_index.verdict) == without_request_ids(core)

    in_langchain = JuryEvaluator(panel("faithfulness", *models(answers), voting=voting), key="faithfulness")(
        inputs={"question": CASE.question}, outputs={"answer": CASE.answer, "context": list(CASE.contexts)}
    )
    assert in_langchain["score"] == case_score(core)
    assert in_langchain["metadata"]["status"] == core.status
    assert in_llama_index.invalid_result == (in_langchain["score"] is None)
    if in_langchain["score"] is not None:
        assert in_llama_index.score == in_langchain["score"]


@pytest.mark.parametrize(
    ("errors", "status"), [(None, "FAIL"), ("fail", "FAIL"), ("ignore", "PASS"), ("propagate", "ERROR")]
)
def test_errors_of_jurors_count_as_asked(models, errors, status):
    answers = models(["yes", "outage"])
    assert one_or_panel(llm.faithfulness, *answers, errors=errors).judge(CASE).status == status
    in_llama_index = JuryFaithfulnessEvaluator(llms=answers, errors=errors)
    assert in_llama_index.evaluate(response=CASE.answer, contexts=CASE.contexts).verdict.status == status
    in_langchain = JuryEvaluator(panel("faithfulness", *answers, errors=errors), key="faithfulness")
    row = {"outputs": {"answer": CASE.answer, "context": list(CASE.contexts)}}
    assert in_langchain(**row)["metadata"]["status"] == status


@pytest.mark.parametrize(
    ("errors", "status"), [(None, "ERROR"), ("fail", "FAIL"), ("ignore", "ABSTAIN"), ("propagate", "ERROR")]
)
def test_errors_of_a_single_juror_count_as_asked(models, errors, status):
    answers = models(["outage"])
    assert one_or_panel(llm.faithfulness, *answers, errors=errors).judge(CASE).status == status
    in_llama_index = JuryFaithfulnessEvaluator(llm=answers[0], errors=errors)
    assert in_llama_index.evaluate(response=CASE.answer, contexts=CASE.contexts).verdict.status == status
    row = {"outputs": {"answer": CASE.answer, "context": list(CASE.contexts)}}
    in_langchain = JuryEvaluator(panel("faithfulness", *answers, errors=errors))
    assert in_langchain(**row)["metadata"]["status"] == status


@pytest.mark.parametrize("many", [1, 2])
def test_an_unknown_way_to_count_errors_is_refused(models, many):
    answers = models(["yes"] * many)
    with pytest.raises(ConfigurationError, match="errors"):
        panel("faithfulness", *answers, errors="shrug")
    with pytest.raises(ConfigurationError, match="errors"):
        JuryFaithfulnessEvaluator(llms=answers, errors="shrug")


def test_a_ready_jury_keeps_its_own_way_to_count_errors():
    with pytest.raises(ConfigurationError, match="a ready jury has its own"):
        JuryFaithfulnessEvaluator(jury=lambda case: True, errors="ignore")


def test_an_outage_of_all_is_an_error(models):
    verdict = one_or_panel(llm.faithfulness, *models(["outage", "gone"])).judge(CASE)
    assert verdict.status is Status.ERROR
