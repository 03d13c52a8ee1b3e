"""The facts about critics that the seed systems agree on (families critic.parse, rag, llm.correctness, label_classifier
and score), and the deviations of 1.0, each with its reason."""

import json
from pathlib import Path

import pytest
from critic_support import critic, says
from fact_tables import each_row

from jury_adapters import Case, Judgment
from jury_adapters.critic.answers import Labels, Scale, Unreadable

FACTS = {
    fact["id"]: fact
    for fact in json.loads((Path(__file__).parents[1] / "contract" / "cases.json").read_text(encoding="utf-8"))["cases"]
}
KEPT = {"KEEP": "label", "REJECT": "label"}
STRICT = "the whole reply is one JSON object with the asked keys; the repair request asks for that"
DEVIATIONS = {
    "prs-05": f"{STRICT}: `verdict` and `rationale` are other keys",
    "prs-16-1": STRICT,
    "prs-16-2": STRICT,
    "rag-01": f"{STRICT}: `Answer: X` before `Reasoning:` adds a misread of the corpus",
    "rag-14-1": STRICT,
    "cor-01": STRICT,
    "cor-04": STRICT,
    "cor-05": STRICT,
}
"""Facts that hold only after the request for a repair, which the scripted model answers in JSON."""


def family(*names):
    return [fact for fact in FACTS.values() if fact["family"] in names]


def counts(judgment):
    return judgment.status not in ("ABSTAIN", "ERROR")


@each_row("fact", family("critic.parse"), ids=lambda fact: fact["id"])
def test_facts_about_replies(fact):
    """`kind` is our `answer`."""
    raw, expected = fact["input"]["raw"].replace('"kind"', '"answer"'), fact["expected"]
    repaired = [says(expected["kind"])] if fact["id"] in DEVIATIONS else []
    judgment = critic(raw, *repaired, prompt="{answer}", labels=KEPT).judge(answer="a")
    assert judgment.usage.calls == (2 if repaired or judgment.metadata.get("cause") == "parse_fail" else 1)
    if expected.get("kind") in KEPT:
        assert judgment.label == expected["kind"]
        assert judgment.confidence in (expected.get("confidence", judgment.confidence), 0.9 if repaired else None)
        assert judgment.confidence != expected.get("confidence_not", -1)
        assert judgment.reasoning == (expected.get("reasoning", judgment.reasoning) if not repaired else "so it says")
    elif expected.get("kind") == "ERROR":
        assert (judgment.status, judgment.metadata["cause"]) == ("ERROR", "empty_reply")
    else:
        assert (counts(judgment), judgment.metadata["cause"], judgment.metadata["reply"]) == (False, "parse_fail", raw)


RUBRICS = {"faithfulness": "faithfulness", "relevance": "context_relevance"}


@each_row("fact", family("rag", "llm.correctness"), ids=lambda fact: fact["id"])
def test_facts_about_faithfulness_relevance_and_correctness(fact):
    given, expected = fact["input"], fact["expected"]
    case = Case(
        question=given.get("question", "q"), answer=given.get("answer", "a"), reference="r",
        contexts=given.get("contexts", ["c"] if "llm_text" in given else []),
    )  # fmt: skip
    statuses = {"PASS": "YES", "FAIL": "NO"}
    repaired = [says(statuses[expected["status"]])] if fact["id"] in DEVIATIONS else []
    asked = critic(given.get("llm_text", "-"), *repaired, rubric=RUBRICS.get(given.get("judge"), "correctness"))
    judgment = asked.judge(case)
    assert judgment.status in expected.get("status_any_of", [expected.get("status")])
    if "model_calls" in expected:
        assert len(asked.model.prompts) == expected["model_calls"]
    elif repaired:
        assert judgment.usage.calls == 2


@each_row("fact", family("label_classifier"), ids=lambda fact: fact["id"])
def test_facts_about_labels(fact):
    given, expected = fact["input"], fact["expected"]
    groups = {"pass": given["pass"], "fail": given["fail"]}
    labels = {
        name: {"meaning": meaning, "score": group[name]} if isinstance(group, dict) else meaning
        for meaning, group in groups.items()
        for name in group
    }
    if expected.get("raises"):
        with pytest.raises(ValueError, match="at least one is needed"):
            Labels(labels)
        return
    judgment = critic(given["text"], prompt="{answer}", labels=labels).judge(answer="a")
    assert judgment.status == expected["status"]
    assert judgment.label == expected.get("label", judgment.label)
    assert judgment.score == expected.get("score")
    if expected.get("raw_kept"):
        assert judgment.metadata["reply"] == given["text"]


@pytest.mark.parametrize("fact", family("score"), ids=lambda fact: fact["id"])
def test_facts_about_scores(fact):
    """A number outside of the scale is refused: unreadable as an answer, and an error in a judgment."""
    given, expected = fact["input"], fact["expected"]
    read = Scale(minimum=given["min"], maximum=given["max"], integer=False).read(float(given["value"]))
    if expected.get("raises"):
        assert isinstance(read, Unreadable)
        with pytest.raises(ValueError, match="score"):
            Judgment(status="PASS", score=float(given["value"]))
    else:
        assert read.score == pytest.approx(expected["normalized"])


def test_the_deviations_are_facts_of_these_families():
    assert {*DEVIATIONS} <= {*FACTS}
    assert len(family("critic.parse", "rag", "llm.correctness", "label_classifier", "score")) == 34
