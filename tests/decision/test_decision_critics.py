"""Decision models as jurors: functions, LangChain's classes, and OpenAI's decisions over real HTTP."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from langchain_core.decisions import BaseDecisionModel, ClassifierResponse

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
from model_server import Received, Server, response

from jury_adapters import Case, ConfigurationError, Critic, Ensemble, Image, Judgment, Limits, Rubric, Status, Store
from jury_adapters.decision import DecisionCritic
from jury_adapters.testing import ScriptedModel

PAIR = Rubric(name="polite", criteria="Is it polite?", labels={"OK": "pass", "RUDE": "fail"})
GRADED = Rubric(name="graded", labels={"excellent": "pass", "good": "pass", "poor": "fail", "unsure": "abstain"})
RATED = Rubric(name="rated", criteria="How good?", scale={"minimum": 1, "maximum": 10, "pass_mark": 7})  # type: ignore[arg-type]
NEUTRAL = Rubric(name="kind", labels={"A": "label", "B": "label", "tie": "label"})
ASKED: list[tuple[str, str, list[str]]] = []


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    ASKED.clear()
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith(("OPENAI_", "LANGSMITH_")):
            monkeypatch.delenv(name)


def saying(**shares: float) -> Any:
    async def decide(text: str, question: str, answers: list[str]) -> Mapping[str, float]:
        ASKED.append((text, question, answers))
        return shares

    return decide


def judged(rubric: Any, shares: Mapping[str, float], **options: Any) -> Judgment:
    return DecisionCritic(saying(**shares), rubric, **options).judge(question="Q?", answer="An answer.")


@pytest.mark.parametrize(
    ("rubric", "shares", "options", "status", "label", "score", "confidence"),
    [
        (PAIR, {"OK": 0.9, "RUDE": 0.1}, {}, "PASS", "OK", 0.9, 0.9),
        (PAIR, {"OK": 0.4, "RUDE": 0.6}, {}, "FAIL", "RUDE", 0.4, 0.6),
        (PAIR, {"OK": 0.8, "RUDE": 0.2}, {"threshold": 0.85}, "FAIL", None, 0.8, 0.8),
        (GRADED, {"excellent": 0.3, "good": 0.3, "poor": 0.4}, {}, "PASS", None, 0.6, 0.4),
        (GRADED, {"excellent": 0.2, "good": 0.1, "poor": 0.3, "unsure": 0.4}, {}, "ABSTAIN", None, None, 0.4),
        (RATED, {"1": 0.1, "10": 0.9}, {}, "PASS", None, 0.9, 0.9),
        (RATED, {"6": 0.5, "7": 0.5}, {}, "FAIL", None, 5.5 / 9, 0.5),
        (NEUTRAL, {"A": 0.2, "B": 0.7, "tie": 0.1}, {}, "LABEL", "B", None, 0.7),
    ],
)
def test_probabilities_become_judgments(
    rubric: Rubric, shares: Any, options: Any, status: str, label: str, score: float, confidence: float
) -> None:
    judgment = judged(rubric, shares, **options)
    assert (judgment.status, judgment.label, judgment.score, judgment.confidence) == (
        status,
        label,
        None if score is None else pytest.approx(score),
        pytest.approx(confidence),
    )
    assert (judgment.metadata["probabilities"], judgment.usage.calls) == (
        pytest.approx({name: one for name, one in shares.items() if one}),
        1,
    )


def test_the_question_has_the_criteria_and_the_text_its_delimiters() -> None:
    judged("answer_relevance", {"YES": 1.0})
    ((text, question, answers),) = ASKED
    assert (
        Rubric.bundled("answer_relevance").criteria.strip() in question,
        "JSON" not in question,
        "<answer-" in text,
        "An answer." in text,
        answers,
    ) == (True, True, True, True, ["YES", "NO", "UNSURE"])


@pytest.mark.parametrize("shares", [{}, {"other": 1.0}, {"OK": -0.5, "RUDE": 1.0}, {"OK": 2.0}, {"OK": float("nan")}])
def test_what_are_no_probabilities_is_an_error(shares: Any) -> None:
    judgment = judged(PAIR, shares)
    assert (judgment.status is Status.ERROR, "the probabilities of OK, RUDE" in (judgment.error or "")) == (True, True)


def test_a_function_that_breaks_and_images_are_errors() -> None:
    async def broken(text: str, question: str, answers: list[str]) -> Any:
        raise OSError("no way")

    one_try = Limits(attempts=1)
    assert "no way" in (DecisionCritic(broken, PAIR, limits=one_try).judge(question="Q?", answer="A").error or "")
    case = Case(question="Q?", answer="A", images=[Image(data=b"x", media_type="image/png", part="answer")])
    assert "takes no images" in (DecisionCritic(saying(OK=1.0), PAIR).judge(case).error or "")


def test_it_votes_in_a_jury_and_what_is_missing_abstains(tmp_path: Path) -> None:
    reply = ScriptedModel(['{"reasoning": "r", "answer": "NO", "confidence": 1}'])
    deciding = DecisionCritic(saying(YES=0.7, NO=0.2, UNSURE=0.1), "faithfulness", name="fast")
    jury = Ensemble([deciding, Critic(reply, "faithfulness")], voting="average")
    verdict = jury.judge(question="Q?", answer="A", contexts="C")
    assert (
        verdict.score,
        verdict.by_name["fast"].passed,
        deciding.judge(question="Q?", answer="A").status,
        len(ASKED),
    ) == (pytest.approx((0.7 / 0.9 + 0) / 2), True, Status.ABSTAIN, 1)


def test_wrong_construction_is_refused() -> None:
    for wrong in (3, "openai:decider", OSError):
        with pytest.raises(ConfigurationError, match="a decision model is"):
            DecisionCritic(wrong, PAIR)
    fine = Rubric(name="fine", scale={"minimum": 0, "maximum": 1})  # type: ignore[arg-type]
    for rubric in (fine, "summary_claims"):
        with pytest.raises(ConfigurationError, match="chooses among answers"):
            DecisionCritic(saying(), rubric)


class Own(BaseDecisionModel):
    """Decision model of LangChain's own base class, which prefers what comes first."""

    @property
    def _provider(self) -> str:
        return "own"

    def _classify(self, state: Any, questions: Any) -> ClassifierResponse:
        question = questions["answer"]
        if question.type == "noul":
            answer: dict[str, Any] = {"type": "noul", "noul": 0.75}
        elif question.type == "choice":
            names = [*question.criteria]
            shares = dict(zip(names, [0.8] + [0.2 / (len(names) - 1)] * len(names), strict=False))
            answer = {"type": "choice", "choice": names[0], "probabilities": shares, "confidence": 0.5}
        else:
            last = len(question.criteria) - 1
            shares = {0: 0.25, last: 0.75}
            answer = {"type": "score", "score": last * 0.75, "legend": {}, "probabilities": shares, "confidence": 0.5}
        usage = {"input_tokens": 50, "output_tokens": 5}
        return ClassifierResponse.model_validate({"model": "own-1", "answers": {"answer": answer}, "usage": usage})


def test_models_of_langchain_are_asked_by_the_type_of_the_question(tmp_path: Path) -> None:
    case = {"question": "Q?", "answer": "A", "contexts": "C"}
    for rubric, score in ((PAIR, 0.75), ("faithfulness", 0.8 / 0.9), (RATED, 0.75)):
        judgment = DecisionCritic(Own(model="own-1"), rubric).judge(case)
        assert (judgment.status is Status.PASS, judgment.score, judgment.usage.calls, judgment.usage.input_tokens) == (
            True,
            pytest.approx(score),
            1,
            50,
        )
    with Store(tmp_path / "runs.db") as store:
        with pytest.raises(ConfigurationError, match="at the top of a module"):  # two of its kind have one name
            DecisionCritic(saying(OK=1.0), PAIR, store=store)
        for calls in (1, 0):
            (again,) = DecisionCritic(Own(model="own-1"), PAIR).judge_many([case], store=store)
            assert again.usage.calls == calls
        (other,) = DecisionCritic(Own(model="own-2"), PAIR).judge_many([case], store=store)
        assert other.usage.calls == 1


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.mark.filterwarnings("ignore:.*beta")
def test_decisions_of_openai_over_http(server: Server) -> None:
    from langchain_openai import OpenAIDecisions

    def plan(request: Received) -> Any:
        (question,) = request.body["questions"]
        shares = [{"value": "YES", "probability": 0.9}, {"value": "NO", "probability": 0.1}]
        answers: dict[str, Any] = {
            "predicate": {"type": "predicate", "probability": 0.75},
            "choice": {"type": "choice", "choice": "YES", "probabilities": shares, "confidence": 0.8},
        }
        answer = (
            {"type": "refusal", "refusal": "no"} if "REFUSE" in request.body["input"] else answers[question["type"]]
        )
        usage = {"input_tokens": 50, "output_tokens": 2, "total_tokens": 52}
        return [response({"id": "d", "model": "decider", "answers": [{"name": "answer", **answer}], "usage": usage})]

    server.plan = plan
    model = OpenAIDecisions(
        model="decider", api_key="sk-secret-1234", base_url=server.base_url("openai"), max_retries=0
    )
    case = {"question": "Q?", "answer": "A", "contexts": "C"}
    judgment = DecisionCritic(model, "faithfulness").judge(case)
    assert (judgment.status, judgment.score, DecisionCritic(model, PAIR).judge(case).score) == (
        Status.PASS,
        pytest.approx(0.9),
        pytest.approx(0.75),
    )
    refused = DecisionCritic(model, "faithfulness").judge({**case, "answer": "REFUSE"})
    assert (refused.status, refused.metadata["cause"], {one.target for one in server.requests}) == (
        Status.ABSTAIN,
        "refused",
        {"/v1/decisions"},
    )
    server.plan = lambda request: [response({"error": {"message": "bad key sk-secret-1234"}}, "401 No")]
    broken = DecisionCritic(model, PAIR).judge(case)
    assert (broken.status is Status.ERROR, "sk-secret" not in broken.model_dump_json()) == (True, True)
