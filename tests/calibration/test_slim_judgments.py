"""Votes read from a results file, whose judgments are kept without texts: the same as from the whole verdicts."""

import json
from random import Random

import pytest

from jury_adapters import CascadedJury, Case, Ensemble, Judgment, Scorecard, Tier
from jury_adapters.calibration import Votes
from jury_adapters.calibration.slim_judgments import SlimJudgments
from jury_adapters.core.function_judge import FunctionJudge
from jury_adapters.core.results_file import Result
from jury_adapters.core.tally import Tally
from jury_adapters.core.verdict import TierResult, Verdict
from jury_adapters.statistics import full_report


def juror(name, *, pass_rate=0.6, metadata=None):
    draw = Random(name)

    def judge(case):
        said = draw.choices(("PASS", "FAIL", "ABSTAIN"), (pass_rate, 0.9 - pass_rate, 0.1))[0]
        stated = {} if said == "ABSTAIN" else {"score": draw.choice((0.2, 0.7)), "confidence": round(draw.random(), 1)}
        return Judgment(
            said, reasoning=f"as it is said {draw.random()}", model=f"{name}-1", metadata=metadata, **stated
        )

    return FunctionJudge(judge, name=name)


def panel(*names):
    return Ensemble([juror(name) for name in names])


JURIES = {
    "panel": panel("a", "b", "c"),
    "ratings": Ensemble([juror("a", metadata={"rating": 3}), juror("b", metadata={"rating": "4"})]),
    "samples": Ensemble([juror("a").with_samples(3), juror("b")]),
    "nested": Ensemble([panel("a", "b"), juror("c")]),
    "cascade": CascadedJury(
        [
            Tier("screen", juror("s", pass_rate=0.8), "reject_on_any_fail"),
            Tier("small", panel("a", "b"), "escalate_on_split"),
            Tier("large", panel("c", "d")),
        ]
    ),
    "scorecard": Scorecard({"short": juror("a"), "true": juror("b")}),
}


@pytest.fixture(params=JURIES)
def verdicts(request):
    draw = Random(1)
    cases = [
        Case(query="q", response=f"answer {at}", metadata={
            "item_id": f"i{at}", "gold": draw.choice(("PASS", "FAIL")), "document": at // 3, "generator": "gpt-4o",
        })
        for at in range(60)
    ]  # fmt: skip
    return list(JURIES[request.param].judge_many(cases))


@pytest.mark.slow
@pytest.mark.parametrize("group", ["", "document"])
@pytest.mark.parametrize("on", [None, "status"])
def test_votes_of_a_results_file_are_those_of_its_verdicts(verdicts, group, on, tmp_path):
    results = tmp_path / "results.jsonl"
    rows = [Result(verdict, line=at, item_id=verdict.case_id).to_row() for at, verdict in enumerate(verdicts, start=1)]
    results.write_text("".join(json.dumps(row) + "\n" for row in rows))
    read, whole = Votes.from_results(results, group=group, on=on), Votes.from_verdicts(verdicts, group=group, on=on)
    assert read.selected == whole.selected
    assert read.models == whole.models
    said, expected = (full_report(votes, draws=100).to_dict() for votes in (read, whole))
    assert said == expected


def test_judgments_of_one_form_are_one_object_without_texts_and_numbers():
    slim = SlimJudgments()
    for at in range(4):
        rated = {"rating": at} if at > 1 else None
        slim.add(Judgment("PASS", critic="a", reasoning=f"reason {at}", score=at / 4, metadata=rated))
    (form,) = slim.forms
    assert (form.status, form.critic, form.reasoning, form.score) == ("PASS", "a", "", None)
    numbers = [slim.numbers(at, {None: 0}) for at in range(4)]
    assert [one[None].score for one in numbers] == [0, 0.25, 2, 3]
    assert [one.score(0, None) for one in numbers] == [0, 0.25, 0.5, 0.75]


def test_the_numbers_of_equal_jurors_in_two_tiers_are_kept_apart():
    jurors = [Judgment("PASS", critic="a", confidence=confidence) for confidence in (0.6, 0.9)]
    tiers = [
        TierResult(name, "final", Verdict("PASS", judgments=[one]), stopped=False, broken=False, why="")
        for name, one in zip(("small", "large"), jurors, strict=True)
    ]
    votes = Votes.from_verdicts([Verdict("PASS", judgments=[jurors[1]], tiers=tiers)])
    assert votes.stated.confidences[0, :2].tolist() == [0.6, 0.9]


def test_ballots_that_cannot_be_hashed_are_left_out():
    slim = SlimJudgments()
    slim.add(Verdict("PASS", judgments=[Judgment("PASS", critic="a")], tally=Tally(ballots=([1],))))
    assert slim.forms[0].tally.ballots == ()
