"""The behaviour facts of cases.json about critics: what a reply means, and when the model is not asked at all."""

import asyncio
import json
from pathlib import Path

import pytest

from jury_adapters import Case, ConfigurationError, Judgment, Status
from jury_adapters.core.judgment import abstain
from jury_adapters.critic.answers import Labels
from jury_adapters.critic.parse_reply import Unreadable
from jury_adapters.critic.prompt import build_prompt, missing_fields
from jury_adapters.critic.reply_judgments import judgment_from, parse_failure
from jury_adapters.critic.rubric import Rubric
from jury_adapters.models.base import Reply

FILE = json.loads((Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))
RAG = {"faithfulness": "faithfulness", "relevance": "context_relevance"}
FILLED = Case(question="q", answer="a", contexts=["c"], reference="r")


def family(name):
    found = [case for case in FILE["cases"] if case["family"] == name]
    assert found
    return pytest.mark.parametrize("case", found, ids=lambda case: case["id"])


class Model:
    """Answers every request with the same text, and counts the requests."""

    def __init__(self, text):
        self.text, self.calls = text, 0

    async def complete(self, prompt):
        self.calls += 1
        return Reply(self.text)


def asked(rubric, case, model):
    """Judgment of a critic on one case, without its repair request."""
    missing = missing_fields(rubric, case)
    if missing:
        return abstain(f"missing: {', '.join(missing)}")
    reply = asyncio.run(model.complete(build_prompt(rubric, case)))
    judgment = judgment_from(reply, rubric)
    return parse_failure(reply, rubric, judgment) if isinstance(judgment, Unreadable) else judgment


def check(judgment, expected, raw):
    """Compare with what a case expects, in the words of the systems the cases were taken from."""
    if "any_of" in expected:
        assert any(meets(judgment, option, raw) for option in expected["any_of"])
        return
    for key in expected:
        assert meets(judgment, {key: expected[key]}, raw), key


def meets(judgment, expected, raw):
    rules = {
        "kind": lambda kind: {
            "PARSE_FAIL": (judgment.status, judgment.error) == (Status.ABSTAIN, "parse_fail"),
            "ERROR": judgment.status is Status.ERROR,
        }.get(kind, judgment.label == kind),
        "error": lambda error: judgment.error == error,
        "error_set": lambda is_set: bool(judgment.error) is is_set,
        "raw_kept": lambda kept: (judgment.raw_response == raw) is kept,
        "counts_as_vote": lambda counts: judgment.valid is counts,
        "confidence": lambda confidence: judgment.confidence == confidence,
        "confidence_not": lambda confidence: judgment.confidence != confidence,
        "reasoning": lambda reasoning: judgment.reasoning == reasoning,
        "reason_contains": lambda part: part in judgment.reasoning,
        "status": lambda status: judgment.status == status,
        "status_any_of": lambda statuses: judgment.status in statuses,
        "label": lambda label: judgment.label == label,
        "score": lambda score: judgment.score == score,
    }
    return all(rules[key](value) for key, value in expected.items())


@family("critic.parse")
def test_parse(case):
    rubric = Rubric(name="curation", answers=Labels.of(neutral=["KEEP", "MERGE", "REJECT", "UNCLEAR"]))
    raw = case["input"]["raw"]
    check(asked(rubric, FILLED, Model(raw)), case["expected"], raw)


@family("rag")
def test_rag(case):
    given, expected = dict(case["input"]), dict(case["expected"])
    rubric = Rubric.bundled(RAG[given.pop("judge")])
    model = Model(given.pop("llm_text", ""))
    judgment = asked(rubric, Case(**given) if given else FILLED, model)
    if "model_calls" in expected:
        assert model.calls == expected.pop("model_calls")
    check(judgment, expected, model.text)


@family("llm.correctness")
def test_correctness(case):
    text = case["input"]["llm_text"]
    check(asked(Rubric.bundled("correctness"), FILLED, Model(text)), case["expected"], text)


@family("label_classifier")
def test_label_classifier(case):
    given, expected = case["input"], case["expected"]
    if "raises" in expected:
        with pytest.raises(ConfigurationError):
            Labels.of(passing=given["pass"], failing=given["fail"])
        return
    rubric = Rubric(name="classifier", answers=Labels.of(passing=given["pass"], failing=given["fail"]))
    judgment = asked(rubric, FILLED, Model(given["text"]))
    assert isinstance(judgment, Judgment)
    check(judgment, expected, given["text"])
