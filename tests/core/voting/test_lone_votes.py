"""Reasons of verdicts in which only one of several jurors voted."""

import pytest

from jury_adapters import CascadedJury, Ensemble, Judge, Judgment, Tier, abstain


def juror(name, said):
    def judge(case):
        if said == "E":
            raise ConnectionError("hung up")
        return {"P": True, "F": False}.get(said, abstain("no opinion") if said == "A" else Judgment(None, label=said))

    return Judge.from_function(judge, name=name)


def panel(said, **options):
    return Ensemble([juror(f"j{number}", one) for number, one in enumerate(said)], **options)


@pytest.mark.parametrize("voting", ["majority", "unanimous", "plurality", "consensus"])
@pytest.mark.parametrize(("said", "reason"), [
    ("PAAA", "the only vote of 4 jurors is PASS"), ("AF", "the only vote of 2 jurors is FAIL"),
    ("P", "1 of 1 voted PASS"),
])  # fmt: skip
def test_a_lone_vote_is_called_the_only_one(voting, said, reason):
    assert panel(said, voting=voting).judge(answer="x").reasoning == reason


def test_a_lone_label_is_called_the_only_vote():
    labels = Ensemble([juror("a", "blue"), juror("b", "A")], voting="unanimous")
    assert labels.judge(answer="x").reasoning == "the only vote of 2 jurors is blue"
    assert panel("PA", voting="first_disagreement").judge(answer="x").reasoning == "the only vote of 2 jurors is PASS"


def test_jurors_that_broke_do_not_vote_beside_a_lone_vote():
    verdict = panel("PE", errors="ignore").judge(answer="x")
    assert verdict.reasoning == "the only vote of 2 jurors is PASS"
    broke = panel("AE", errors="fail").judge(answer="x")
    assert broke.reasoning == "1 of 1 voted FAIL, 1 of them by breaking"


@pytest.mark.parametrize(("said", "reason"), [
    ("PPA", "all 2 that voted agree"), ("PPP", "all 3 agree"), ("FFAA", "all 2 that voted agree"),
])  # fmt: skip
def test_several_votes_that_agree_are_those_of_all_jurors_or_of_some(said, reason):
    assert panel(said, voting="unanimous").judge(answer="x").reasoning == reason


def test_a_tier_with_a_lone_opinion_is_not_called_unanimous():
    def why(said):
        jury = CascadedJury([Tier("first", panel(said), "escalate_on_split"), Tier("last", juror("z", "P"))])
        return jury.judge(answer="x").reasoning

    assert why("PAA") == "accepted at first: the only vote of 3 jurors is PASS"
    assert why("PP") == "accepted at first: unanimous: PASS"
