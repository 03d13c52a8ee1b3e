"""Audits of judges that compare two answers."""

import json

import pytest

from jury_adapters import Critic, Ensemble, Judge, Judgment, PairwiseCritic
from jury_adapters.audit import Standards, audit_pairs, example_cases
from jury_adapters.audit.pairs import position_figures, position_findings

RIGHT = {case.answer for case in example_cases()}


class Comparing(Judge):
    """Judge that knows the right answers, or chooses a place."""

    def __init__(self, name, place=None):
        self.name = name
        self.place = place

    def assess(self, case):
        right = "A" if case.candidates[0] in RIGHT else "B"
        return Judgment(None, label=self.place or right)


@pytest.mark.slow
def test_a_judge_that_knows_and_one_that_chooses_the_first():
    found = audit_pairs(Comparing("knows"), pairs=40)
    assert (found.subjects[0].right, found.subjects[0].n, found.findings) == (40, 40, ())
    found = audit_pairs(Comparing("first", "A"), pairs=40)
    assert (found.subjects[0].first, found.subjects[0].kill_rate) == (40, 0.0)
    assert {one.name for one in found.findings} == {"prefers_first", "misses_wrong_answers"}
    assert {one.name for one in audit_pairs(Comparing("second", "B"), pairs=40).findings} == {
        "prefers_second", "misses_wrong_answers",
    }  # fmt: skip
    tie = audit_pairs(Comparing("tie", "tie"), pairs=40)
    assert (tie.subjects[0].other, tie.subjects[0].consistency) == (40, 0.0)
    assert {one.name for one in tie.findings} == {"misses_wrong_answers"}


@pytest.mark.slow
def test_both_answers_of_a_pairwise_critic_are_used():
    async def first_shown(prompt):
        return json.dumps({"reasoning": "", "answer": "A", "confidence": 1})

    critic = PairwiseCritic(Critic(first_shown, "pairwise", name="better"))
    found = audit_pairs(critic, pairs=20)
    assert found.subjects[0].first == 20  # the verdict itself is a tie
    assert "prefers_first" in {one.name for one in found.findings}


@pytest.mark.slow
def test_jurors_are_measured_by_themselves():
    jury = Ensemble([Comparing("knows"), Comparing("first", "A"), Comparing("again")], voting="majority", on="label")
    found = audit_pairs(jury, pairs=40)
    assert [(one.name, one.right) for one in found.subjects[1:]] == [("knows", 40), ("first", 0), ("again", 40)]
    assert found.subjects[0].right == 40
    assert {one.subject for one in found.findings} == {"first"}
    assert "the first shown in 40" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)


def test_missing_choices_are_counted():
    figures = position_figures("gpt", [(None, "A"), ("A", None), ("A", "A")])
    assert (figures.undecided, figures.n) == (2, 1)
    assert position_findings(position_figures("none", []), Standards()) == ()


def test_pairs_of_one_case_do_not_count_as_independent():
    alone = position_figures("gpt", [("A", "B")] * 8)
    together = position_figures("gpt", [("A", "B")] * 8, cases=[1] * 8)
    assert alone.p == pytest.approx(2 / 2**8)
    assert together.p == 1.0
