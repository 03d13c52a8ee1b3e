"""The votes, jurors and screening tiers in a judgment."""

from __future__ import annotations

from jury_adapters import CascadedJury, Ensemble, Judgment, PairwiseCritic, Status, Tier
from jury_adapters.core.judge import Judge
from jury_adapters.core.opinions import asked_jurors, juror_names, opinions_of, screening_tiers_in, votes_in


def saying(answer: bool | Status | Judgment, name: str) -> Judge:
    return Judge.from_function(lambda case: answer, name=name)


def test_every_opinion_is_found_with_its_place():
    inner = Ensemble([saying(True, "x"), saying(False, "y")], name="inner")
    jury = CascadedJury([
        Tier("first", Ensemble([saying(True, "a"), inner]), "reject_on_any_fail"),
        Tier("last", saying(True, "b")),
    ])  # fmt: skip
    found = dict(votes_in(jury.judge("?")))
    assert {path: str(vote.status) for path, vote in found.items()} == {
        ("first", "a"): "PASS", ("first", "inner", "x"): "PASS", ("first", "inner", "y"): "FAIL",
    }  # fmt: skip


def test_a_tier_that_is_no_jury_and_a_plain_judgment_are_opinions():
    jury = CascadedJury([Tier("only", saying(True, "b"))])
    assert [path for path, _ in votes_in(jury.judge("?"))] == [("only", "b")]
    assert [path for path, _ in votes_in(saying(True, "b").judge("?"))] == [("b",)]


def test_a_juror_in_two_tiers_is_told_apart():
    assert juror_names([("x", "a"), ("y", "a"), ("x", "b"), ("x", "b")]) == {
        ("x", "a"): "x / a", ("y", "a"): "y / a", ("x", "b"): "b",
    }  # fmt: skip


def test_a_pairwise_juror_has_a_vote_in_each_order_and_one_opinion():
    pairs = [PairwiseCritic(saying(Judgment(None, label=label), name)) for name, label in (("a", "A"), ("b", "tie"))]
    cascade = CascadedJury(
        [Tier("rule", saying(True, "g"), "reject_on_any_fail"), Tier("last", Ensemble(pairs, on="label"))]
    )
    verdict = cascade.judge(question="q", candidates=["one", "two"])
    assert [path for path, _ in votes_in(verdict)] == [
        ("rule", "g"), ("last", "a", "A first"), ("last", "a", "B first"), ("last", "b", "A first"),
        ("last", "b", "B first"),
    ]  # fmt: skip
    assert [(path, vote.opinion) for path, vote in opinions_of(verdict)] == [
        (("rule", "g"), "PASS"), (("last", "a"), "tie"), (("last", "b"), "tie"),
    ]  # fmt: skip
    assert list(screening_tiers_in(verdict)) == [("rule",)]
    alone = pairs[1].judge(question="q", candidates=["one", "two"])
    assert [path for path, _ in opinions_of(alone)] == [("b",)]
    assert list(opinions_of(Judgment("PASS"))) == []


def test_a_juror_that_is_called_as_the_path_of_another_keeps_a_name_of_its_own():
    paths = [("t", "a"), ("u", "a"), ("u", "t / a")]
    names = juror_names(paths)
    assert len(set(names.values())) == 3
    assert names["t", "a"] == "t / a"


def test_the_jurors_of_every_tier_that_was_asked():
    first = Ensemble({"a": lambda case: True, "b": lambda case: True})
    jury = CascadedJury(
        [
            Tier("one", first, "reject_on_any_fail"),
            Tier("alone", Judge.from_function(lambda case: True, name="c"), "reject_on_any_fail"),
            Tier("last", Ensemble({"a": lambda case: False, "d": lambda case: False})),
        ]
    )
    asked = asked_jurors(jury.judge(answer="x"))
    assert {name: one.status.value for name, one in asked.items()} == {
        "a": "FAIL", "b": "PASS", "c": "PASS", "d": "FAIL",
    }  # fmt: skip
    assert list(asked_jurors(first.judge(answer="x"))) == ["a", "b"]
    assert asked_jurors(Judgment("PASS")) == {}
