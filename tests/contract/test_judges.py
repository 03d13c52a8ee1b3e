"""Judges: what a function may return, labels, names, wrong construction, and fingerprints."""

import json
import math
import os
import subprocess
import sys
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from fact_tables import each_row
from jurors import FAIL, PASS, Says, jurors_of, labelled

from jury_adapters import (
    Budget,
    CascadedJury,
    Case,
    Check,
    ConfigurationError,
    Ensemble,
    Judge,
    Judgment,
    Scorecard,
    Status,
    Step,
    Tier,
    all_of,
    any_of,
    judge,
)
from jury_adapters.testing import ScriptedJudge
from jury_adapters.voting import Majority, Quorum


class Scalar:
    """Number as numpy gives it."""

    shape = ()

    def __init__(self, value):
        self.value = value

    def item(self):
        return self.value


numpy = import_module("numpy") if find_spec("numpy") else None
RETURNED = [  # what a function returns; status, score, label, reasoning
    (True, "PASS", None, None, ""),
    (False, "FAIL", None, None, ""),
    (0.5, "PASS", 0.5, None, ""),
    (0.4999, "FAIL", 0.4999, None, ""),
    (0, "FAIL", 0.0, None, ""),
    (1, "PASS", 1.0, None, ""),
    ("PASS", "PASS", None, None, ""),
    (Status.FAIL, "FAIL", None, None, ""),
    ("ABSTAIN", "ABSTAIN", None, None, "no reason was given"),
    ((True, "it fits"), "PASS", None, None, "it fits"),
    ((0.2, "too long"), "FAIL", 0.2, None, "too long"),
    ((0.9, None), "PASS", 0.9, None, ""),
    (("ABSTAIN", "no contexts"), "ABSTAIN", None, None, "no contexts"),
    ((Status.PASS, 7), "PASS", None, None, "7"),
    ({"score": 0.8, "comment": "good"}, "PASS", 0.8, None, "good"),
    ({"score": False, "reasoning": "bad"}, "FAIL", None, None, "bad"),
    ({"score": 0.8, "comment": "", "reasoning": "good", "key": "x"}, "PASS", 0.8, None, "good"),
    ("A", "LABEL", None, "A", ""),
    (("A", "better"), "LABEL", None, "A", "better"),
    ({"score": "A", "comment": "better"}, "LABEL", None, "A", "better"),
    ("POLITE", "PASS", None, "POLITE", "the label POLITE"),
    (("RUDE", "!"), "FAIL", None, "RUDE", "!"),
    ("N/A", "ABSTAIN", None, None, "the label N/A"),
    (labelled("RUDE", score=0.1, reasoning="!"), "FAIL", 0.1, "RUDE", "!"),
    (labelled("N/A", score=0.1, reasoning="?"), "ABSTAIN", None, None, "?"),
    (Judgment(status="PASS", label="POLITE", score=0.3), "PASS", 0.3, "POLITE", ""),
    ((Judgment(status="FAIL", score=0.9, reasoning="x"), "y"), "FAIL", 0.9, None, "y"),
    ((FAIL, None), "FAIL", None, None, ""),
    (Scalar(0.75), "PASS", 0.75, None, ""),
    ((Scalar(False), "no"), "FAIL", None, None, "no"),
    (numpy.float32(0.25) if numpy else Scalar(0.25), "FAIL", 0.25, None, ""),
    (numpy.bool_(True) if numpy else Scalar(True), "PASS", None, None, ""),
]
LABELS = {"POLITE": "pass", "RUDE": "FAIL", "N/A": Status.ABSTAIN, "A": "label"}


@pytest.mark.parametrize("kind", ["def", "async def", "awaitable"])
def test_a_function_may_return(kind: str) -> None:
    for said, *expected in RETURNED:

        async def late(case, said=said):
            return said

        def returns_an_awaitable(case, late=late):
            return late(case)

        function = {"def": lambda case, said=said: said, "async def": late, "awaitable": returns_an_awaitable}[kind]
        found = judge(function, labels=LABELS).judge("?")
        assert [found.status, found.score, found.label, found.reasoning] == expected, said
        assert found.error is None
        assert found.elapsed_s >= 0


THRESHOLDS = [(0.7, 0.7, True), (0.3, 0.1 + 0.2, True), (0.69, 0.7, False), (0.0, 0.0, True), (True, 1.0, True)]


@each_row(("said", "threshold", "passed"), THRESHOLDS)
def test_a_score_passes_from_the_threshold(said: float, threshold: float, passed: bool) -> None:
    assert judge(lambda case: said, threshold=threshold).judge("?").passed is passed


WRONG = [  # what a function returns; a part of the error
    (None, "a judge returned NoneType"),
    (2.0, "score"),
    (-0.001, "score"),
    (math.nan, "score"),
    (math.inf, "score"),
    ([], "a judge returned list"),
    ({}, "a judge returned dict"),
    ({"comment": "good"}, "a judge returned dict"),
    ({"score": None}, "a judge returned NoneType"),
    ((True,), "a judge returned tuple"),
    ((True, "a", "b"), "a judge returned tuple"),
    (b"PASS", "a judge returned bytes"),
    (1j, "a judge returned complex"),
    (Decimal("0.5"), "a judge returned Decimal"),
    (Scalar([1]), "a judge returned"),
    (object, "a judge returned"),
    ("pass", "'pass' is not declared; labels= has POLITE (PASS), RUDE (FAIL), N/A (ABSTAIN), A (LABEL)"),
    ("polite", "'polite' is not declared"),
    ("LABEL", "'LABEL' is not declared"),
    ("", "label"),
    (Judgment(status="FAIL", label="POLITE"), "FAIL with the label 'POLITE' is not declared"),
    (Judgment(status="PASS", label="B"), "PASS with the label 'B' is not declared"),
    (Judgment(status="PASS", label="A"), "PASS with the label 'A' is not declared"),
    (("ERROR", "the scale is down"), "the scale is down"),
    ("ERROR", "no reason was given"),
]


def test_anything_else_is_an_error_in_one_readable_line() -> None:
    for said, part in WRONG:
        found = judge(lambda case, said=said: said, labels=LABELS).judge("?")
        assert found.status == "ERROR", said
        assert part in found.error
        assert "\n" not in found.error
        assert "pydantic.dev" not in found.error


DECLARED = [
    ((), {}),
    (["A", "B"], {"A": "LABEL", "B": "LABEL"}),
    (
        {"A": "Pass", "B": Status.FAIL, "C": "ABSTAIN", "D": "label"},
        {"A": "PASS", "B": "FAIL", "C": "ABSTAIN", "D": "LABEL"},
    ),
    (None, None),
]


@each_row(("labels", "declared"), DECLARED)
def test_labels_are_declared_with_their_meaning(labels: object, declared: dict | None) -> None:
    assert judge(lambda case: True, labels=labels).labels == declared
    assert declared is None or ScriptedJudge([True], labels=labels).labels == declared


def test_any_label_is_allowed_where_none_is_declared_on_purpose() -> None:
    assert judge(lambda case: "whatever", labels=None).judge("?").label == "whatever"
    assert "labels= has none" in judge(lambda case: "whatever").judge("?").error


def named_function(case):
    return True


class Plain(Judge):
    def assess(self, case):
        return True


class Renamed(Plain):
    name = "own name"


class Called:
    def __call__(self, case):
        return True


NAMES = [
    (judge(named_function), "named_function"),
    (judge(lambda case: True), ""),
    (judge(named_function, name="x"), "x"),
    (judge(Called()), "Called"),
    (Plain(), "Plain"),
    (Renamed(), "own name"),
    (Plain().named("y"), "y"),
    (Ensemble([Plain()]), "Ensemble"),
    (Scorecard({"a": Plain()}, name="card"), "card"),
    (CascadedJury([Tier("t", Plain())]), "CascadedJury"),
    (all_of(Plain()), "all_of"),
    (Plain().with_samples(3), "Plain x3"),
    (Plain().with_samples(3, name="z"), "z"),
    (Renamed().with_fallbacks(Plain()), "own name"),
]


@each_row(("given_judge", "name"), NAMES)
def test_judges_have_names(given_judge: Judge, name: str) -> None:
    assert given_judge.name == name
    assert given_judge.judge("?").critic == name


PANELS = [
    (["a", "a", "a"], ["a", "a-2", "a-3"]),
    (["a", "a-2", "a"], ["a", "a-2", "a-3"]),
    (["", "a", ""], ["Judge#1", "a", "Judge#3"]),
    (["Judge#2", ""], ["Judge#2", "Judge#2-2"]),
    ({"x": "a", "y": "a"}, ["x", "y"]),
    ({1: "a", 2: "b"}, ["1", "2"]),
]


@each_row(("given_names", "names"), PANELS)
def test_jurors_have_names_of_their_own(given_names: list | dict, names: list) -> None:
    if isinstance(given_names, dict):
        judges = {key: judge(function, name=name) for key, name in given_names.items()}
    else:
        judges = [judge(lambda case: True, name=name) for name in given_names]
    assert [*Ensemble(judges).judge("?").by_name] == names


def test_a_copy_has_another_name_or_time_limit_and_the_original_stays() -> None:
    first = Says(PASS, "first")
    assert (first.named("x").name, first.with_timeout(3).timeout, first.with_timeout(3).with_timeout(None).timeout) == (
        "x", 3, None,
    )  # fmt: skip
    assert (first.name, first.timeout) == ("first", None)


def function(case):
    return True


def other_function(case):
    return False


class Setting(Check):
    def __init__(self, word):
        self.word, self._state = word, []

    def check(self, case):
        self._state.append(case)
        return True


JURY = partial(Ensemble, {"a": function, "b": other_function})
MISUSE = {
    "judge: a number": lambda: judge(5),
    "judge: a text": lambda: judge("x"),
    "judge: a class": lambda: judge(Called),
    "judge: threshold above 1": lambda: judge(function, threshold=1.1),
    "judge: negative threshold": lambda: judge(function, threshold=-0.1),
    "judge: NaN threshold": lambda: judge(function, threshold=math.nan),
    "judge: negative cost": lambda: judge(function, cost=-1),
    "judge: NaN cost": lambda: judge(function, cost=math.nan),
    "judge: no time": lambda: judge(function, timeout=0),
    "judge: negative time": lambda: judge(function, timeout=-1),
    "judge: NaN time": lambda: judge(function, timeout=math.nan),
    "judge: labels in one text": lambda: judge(function, labels="AB"),
    "judge: blank label": lambda: judge(function, labels=["A", " "]),
    "judge: a label that is a number": lambda: judge(function, labels=[1]),
    "judge: a label that is a status": lambda: judge(function, labels=["Pass"]),
    "judge: unknown meaning": lambda: judge(function, labels={"A": "good"}),
    "judge: a label that is an error": lambda: judge(function, labels={"A": "error"}),
    "judge: a meaning that is a number": lambda: judge(function, labels={"A": 1}),
    "with_timeout: no time": lambda: Says(PASS).with_timeout(0),
    "with_samples: none": lambda: Says(PASS).with_samples(0),
    "with_samples: negative": lambda: Says(PASS).with_samples(-1),
    "ensemble: empty": lambda: Ensemble([]),
    "ensemble: empty mapping": lambda: Ensemble({}),
    "ensemble: one judge": lambda: Ensemble(Says(PASS)),
    "ensemble: a text": lambda: Ensemble("judges"),
    "ensemble: a number": lambda: Ensemble(5),
    "ensemble: a juror that is a text": lambda: Ensemble(["gpt-4o"]),
    "ensemble: a juror that is None": lambda: Ensemble([function, None]),
    "ensemble: two jurors of one name": lambda: Ensemble({1: function, "1": other_function}),
    "ensemble: unknown rule": lambda: JURY(voting="plurality"),
    "ensemble: no rule": lambda: JURY(voting=None),
    "ensemble: a rule that is a number": lambda: JURY(voting=5),
    "ensemble: a class of rules": lambda: JURY(voting=Majority),
    "ensemble: unknown option": lambda: JURY(quorum=0.5),
    "ensemble: option of a rule object": lambda: JURY(voting=Majority(), tie="pass"),
    "ensemble: option of a function": lambda: JURY(voting=lambda votes: True, tie="pass"),
    "ensemble: unknown tie": lambda: JURY(tie="fial"),
    "ensemble: tie in capitals": lambda: JURY(tie="ABSTAIN"),
    "ensemble: tie of a label that is not counted": lambda: Ensemble(
        [judge(function, labels={"GOOD": "pass", "BAD": "fail"})], tie="BAD"
    ),
    "ensemble: priority in one text": lambda: JURY(priority="PASS"),
    "ensemble: min_share above 1": lambda: JURY(min_share=1.01),
    "ensemble: min_share below 0": lambda: JURY(min_share=-0.1),
    "ensemble: min_share is no fraction": lambda: JURY(min_share="two thirds"),
    "ensemble: min_share of nothing": lambda: JURY(min_share="1/0"),
    "ensemble: NaN min_share": lambda: JURY(min_share=math.nan),
    "ensemble: use_confidence is no bool": lambda: JURY(use_confidence="often"),
    "ensemble: quorum above 1": lambda: JURY(voting="quorum", quorum=1.5),
    "ensemble: quorum 3/2": lambda: JURY(voting="quorum", quorum="3/2"),
    "ensemble: quorum threshold above 1": lambda: JURY(voting="quorum", threshold=1.5),
    "ensemble: no veto": lambda: JURY(voting="veto", k=0),
    "ensemble: half a veto": lambda: JURY(voting="veto", k=1.5),
    "ensemble: more vetoes than jurors": lambda: JURY(voting="veto", k=3),
    "ensemble: a split that passes": lambda: JURY(voting="unanimous", on_split="PASS"),
    "ensemble: a split that passes in small letters": lambda: JURY(voting="unanimous", on_split="pass"),
    "ensemble: a split that is an error": lambda: JURY(voting="unanimous", on_split="ERROR"),
    "ensemble: average threshold above 1": lambda: JURY(voting="average", threshold=2.0),
    "ensemble: average threshold is NaN": lambda: JURY(voting="average", threshold=math.nan),
    "ensemble: average threshold is a text": lambda: JURY(voting="average", threshold="0.5"),
    "ensemble: different pass marks": lambda: Ensemble([function, judge(function, threshold=0.7)], voting="average"),
    "ensemble: different marks": lambda: Ensemble([function, judge(function, threshold=0.7)], voting="median"),
    "ensemble: bayes without reliabilities": lambda: JURY(voting="bayes"),
    "ensemble: bayes with too few": lambda: JURY(voting="bayes", reliabilities=[(0.9, 0.9)]),
    "ensemble: bayes with a number": lambda: JURY(voting="bayes", reliabilities=[0.9, 0.9]),
    "ensemble: bayes worse than chance": lambda: JURY(voting="bayes", reliabilities=[(0.9, 0.9), (0.5, 0.4)]),
    "ensemble: bayes certain": lambda: JURY(voting="bayes", reliabilities=[(0.9, 0.9), (1.0, 0.9)]),
    "ensemble: bayes impossible": lambda: JURY(voting="bayes", reliabilities=[(0.9, 0.9), (1.5, -0.4)]),
    "ensemble: bayes prior": lambda: JURY(voting="bayes", reliabilities=[(0.9, 0.9)] * 2, prior=0.0),
    "ensemble: bayes threshold": lambda: JURY(voting="bayes", reliabilities=[(0.9, 0.9)] * 2, threshold=1.0),
    "ensemble: too few weights": lambda: JURY(weights=[1]),
    "ensemble: too many weights": lambda: JURY(weights=[1, 1, 1]),
    "ensemble: negative weight": lambda: JURY(weights=[1, -1]),
    "ensemble: infinite weight": lambda: JURY(weights=[1, math.inf]),
    "ensemble: NaN weight": lambda: JURY(weights=[1, math.nan]),
    "ensemble: no weight": lambda: JURY(weights=[0, 0]),
    "ensemble: weights are texts": lambda: JURY(weights=["1", "1"]),
    "ensemble: weight of nobody": lambda: JURY(weights={"c": 1}),
    "ensemble: required nobody": lambda: JURY(required=["a", "c"]),
    "ensemble: required a number": lambda: JURY(required=[0]),
    "ensemble: unknown errors": lambda: JURY(errors="propagate"),
    "ensemble: errors in capitals": lambda: JURY(errors="FAIL"),
    "ensemble: unknown schedule": lambda: JURY(schedule="early"),
    "ensemble: unknown on": lambda: JURY(on="labels"),
    "ensemble: labels of a veto": lambda: JURY(voting="veto", on="label"),
    "ensemble: labels of an average": lambda: JURY(voting="average", on="label"),
    "ensemble: no votes": lambda: JURY(min_votes=0),
    "ensemble: half a vote": lambda: JURY(min_votes=1.5),
    "ensemble: true votes": lambda: JURY(min_votes=True),
    "ensemble: more votes than jurors": lambda: JURY(min_votes=3),
    "scorecard: empty": lambda: Scorecard({}),
    "scorecard: unknown pass_when": lambda: Scorecard({"a": function}, pass_when="some"),
    "scorecard: none must pass": lambda: Scorecard({"a": function}, pass_when=0),
    "scorecard: too many must pass": lambda: Scorecard({"a": function}, pass_when=2),
    "scorecard: negative pass_when": lambda: Scorecard({"a": function}, pass_when=-1),
    "scorecard: true": lambda: Scorecard({"a": function, "b": function}, pass_when=True),
    "scorecard: no names": lambda: Scorecard({"a": function}, pass_when=[]),
    "scorecard: unknown name": lambda: Scorecard({"a": function}, pass_when=["b"]),
    "scorecard: weights without a threshold": lambda: Scorecard({"a": function}, weights={"a": 1}),
    "scorecard: threshold without weights": lambda: Scorecard({"a": function}, threshold=0.5),
    "scorecard: both": lambda: Scorecard({"a": function}, pass_when="any", weights={"a": 1}, threshold=0.5),
    "scorecard: unknown weight": lambda: Scorecard({"a": function}, weights={"b": 1}, threshold=0.5),
    "scorecard: negative weight": lambda: Scorecard({"a": function}, weights={"a": -1}, threshold=0.5),
    "scorecard: no weight": lambda: Scorecard({"a": function}, weights={"a": 0}, threshold=0.5),
    "scorecard: NaN weight": lambda: Scorecard({"a": function}, weights={"a": math.nan}, threshold=0.5),
    "scorecard: a weight that is a text": lambda: Scorecard({"a": function}, weights={"a": "1"}, threshold=0.5),
    "scorecard: threshold above 1": lambda: Scorecard({"a": function}, weights={"a": 1}, threshold=1.5),
    "scorecard: NaN threshold": lambda: Scorecard({"a": function}, weights={"a": 1}, threshold=math.nan),
    "tier: unknown policy": lambda: Tier("t", function, "reject_on_fail"),
    "tier: a policy that is a number": lambda: Tier("t", function, 5),
    "tier: a judge that is a text": lambda: Tier("t", "gpt-4o"),
    "tier: no name": lambda: Tier("", function),
    "tier: confidence above 1": lambda: Tier("t", function, "escalate_below", confidence=1.1),
    "tier: NaN confidence": lambda: Tier("t", function, "escalate_below", confidence=math.nan),
    "tier: unknown if_broken": lambda: Tier("t", function, "reject_on_any_fail", if_broken="fail"),
    "cascade: empty": lambda: CascadedJury([]),
    "cascade: no final tier": lambda: CascadedJury([Tier("a", function, "escalate_below")]),
    "cascade: final tier first": lambda: CascadedJury([Tier("a", function), Tier("b", function)]),
    "cascade: final tier not last": lambda: CascadedJury([Tier("a", function), Tier("b", function, "escalate_below")]),
    "cascade: one name twice": lambda: CascadedJury([Tier("a", function, "escalate_below"), Tier("a", function)]),
    "cascade: a judge": lambda: CascadedJury([Says(PASS)]),
    "all_of: nobody": all_of,
    "any_of: nobody": any_of,
    "all_of: a text": lambda: all_of("x"),
    "and: a text": lambda: Says(PASS) & "x",
    "fallbacks: another pass mark": lambda: judge(function).with_fallbacks(judge(function, threshold=0.7)),
    "fallbacks: a text": lambda: Says(PASS).with_fallbacks("x"),
    "budget: no limit": Budget,
    "budget: negative": lambda: Budget(max_usd=-1),
    "budget: NaN": lambda: Budget(max_usd=math.nan),
    "budget: a text": lambda: Budget(max_usd="1"),
    "judge: threshold is a text": lambda: judge(function, threshold="0.5"),
    "judge: cost is a text": lambda: judge(function, cost="1"),
    "judge: timeout is a text": lambda: judge(function, timeout="5"),
    "judge: half a sample": lambda: Says(PASS).with_samples(2.5),
    "tier: confidence is a text": lambda: Tier("t", function, "escalate_below", confidence="high"),
    "budget: one of two is negative": lambda: Budget(max_usd=1, max_calls=-1),
}  # fmt: skip


def refusal(make):
    """Return the sentence with which a construction is refused; another exception, or None, if it is not."""
    try:
        make()
    except ConfigurationError as error:
        return str(error)
    except Exception as error:
        return error
    return None


@each_row("what", sorted({name.partition(":")[0] for name in MISUSE}))
def test_wrong_construction_is_refused_at_once_in_one_sentence(what: str) -> None:
    said = {name: refusal(make) for name, make in MISUSE.items() if name.startswith(f"{what}:")}
    assert {name: one for name, one in said.items() if not isinstance(one, str)} == {}
    assert [one for one in said.values() if "\n" in one or "pydantic.dev" in one or len(one) < 20] == []


# Values of a wrong type may also meet Python's own TypeError, but at once.
WRONG_TYPES = {
    "judge: labels": lambda: judge(function, labels=5),
    "judge: unknown option": lambda: judge(function, colour="red"),
    "ensemble: weights": lambda: JURY(weights=5),
    "ensemble: required": lambda: JURY(required=5),
    "scorecard: pass_when": lambda: Scorecard({"a": function}, pass_when=None),
    "scorecard: a share": lambda: Scorecard({"a": function}, pass_when=0.5),
    "scorecard: weights": lambda: Scorecard({"a": function}, weights=[1], threshold=0.5),
    "scorecard: threshold": lambda: Scorecard({"a": function}, weights={"a": 1}, threshold="0.5"),
    "cascade: a number": lambda: CascadedJury(5),
}


def test_wrong_types_are_refused_at_once() -> None:
    said = {name: refusal(make) for name, make in WRONG_TYPES.items()}
    assert {name: one for name, one in said.items() if not isinstance(one, str | TypeError)} == {}


def jury(**options):
    return Ensemble({"a": function, "b": other_function}, **options)


def tiers(policy="escalate_below", first=function, last=function, name="t", **options):
    return CascadedJury([Tier(name, first, policy, **options), Tier("last", last)])


def rule_one(votes):
    return True


def rule_two(votes):
    return True


DIFFERENT = {  # each group has judges that differ in one setting
    "functions": [
        lambda: judge(function),
        lambda: judge(other_function),
        lambda: judge(function, name="x"),
        lambda: judge(function, threshold=0.6),
        lambda: judge(function, labels=["A"]),
        lambda: judge(function, labels={"A": "pass"}),
        lambda: judge(function, labels=None),
        lambda: judge(partial(function, 1)),
        lambda: judge(partial(function, 2)),
        lambda: judge(partial(other_function, 1)),
    ],
    "classes": [
        lambda: Setting("a"),
        lambda: Setting("b"),
        lambda: Setting({"alpha", "beta", "gamma", "delta"}),
        Plain,
        Renamed,
        lambda: Plain().named("x"),
    ],
    "ensembles": [
        jury,
        lambda: jury(name="x"),
        lambda: Ensemble({"b": other_function, "a": function}),
        lambda: Ensemble({"a": other_function, "b": function}),
        lambda: Ensemble({"a": function, "c": other_function}),
        lambda: Ensemble([function]),
        lambda: Ensemble([function, function]),
        lambda: jury(voting="unanimous"),
        lambda: jury(tie="pass"),
        lambda: jury(priority=("PASS",)),
        lambda: jury(min_share=0.5),
        lambda: jury(weights=[1, 2]),
        lambda: jury(weights=[2, 1]),
        lambda: Ensemble({"b": other_function, "a": function}, weights=[2, 1]),
        lambda: jury(required=["a"]),
        lambda: jury(required=["b"]),
        lambda: jury(errors="fail"),
        lambda: jury(errors="abstain"),
        lambda: jury(min_votes=2),
        lambda: jury(on="label"),
        lambda: jury(voting="quorum"),
        lambda: jury(voting="quorum", quorum=0.6),
        lambda: jury(voting="quorum", threshold=0.5),
        lambda: jury(voting="average"),
        lambda: jury(voting="median"),
        lambda: jury(voting="veto"),
        lambda: jury(voting="veto", k=2),
        lambda: jury(voting="bayes", reliabilities=[(0.9, 0.8), (0.7, 0.6)]),
        lambda: jury(voting="bayes", reliabilities=[(0.7, 0.6), (0.9, 0.8)]),
        lambda: jury(voting=rule_one),
        lambda: jury(voting=rule_two),
        lambda: Ensemble([jury()]),
        lambda: Ensemble([jury(tie="pass")]),
    ],
    "scorecards": [
        lambda: Scorecard({"a": function, "b": other_function}),
        lambda: Scorecard({"a": function, "c": other_function}),
        lambda: Scorecard({"a": other_function, "b": function}),
        lambda: Scorecard({"a": function, "b": other_function}, pass_when="any"),
        lambda: Scorecard({"a": function, "b": other_function}, pass_when=["a"]),
        lambda: Scorecard({"a": function, "b": other_function}, weights={"a": 1, "b": 1}, threshold=0.5),
        lambda: Scorecard({"a": function, "b": other_function}, weights={"a": 1, "b": 2}, threshold=0.5),
        lambda: Scorecard({"a": function, "b": other_function}, weights={"a": 1, "b": 1}, threshold=0.6),
    ],
    "cascades": [
        tiers,
        lambda: tiers(name="u"),
        lambda: tiers(first=other_function),
        lambda: tiers(last=other_function),
        lambda: tiers(last=judge(function, threshold=0.6)),
        lambda: tiers(confidence=0.9),
        lambda: tiers(policy="reject_on_any_fail"),
        lambda: tiers(policy="reject_on_any_fail", if_broken="reject"),
        lambda: tiers(policy="accept_on_all_pass"),
        lambda: tiers(last=jury()),
        lambda: tiers(last=jury(tie="pass")),
        lambda: CascadedJury([Tier("last", function)]),
    ],
    "slots": [lambda: Slotted(1), lambda: Slotted(2)],
    "chains": [
        lambda: all_of(function, other_function),
        lambda: all_of(other_function, function),
        lambda: any_of(function, other_function),
        lambda: any_of(function, other_function, name="all_of"),
        lambda: judge(function).with_fallbacks(other_function),
        lambda: judge(function).with_fallbacks(Plain()),
    ],
}


@dataclass(frozen=True, slots=True)
class Slotted(Judge):
    limit: int

    def assess(self, case):
        return True


def fingerprints():
    letters = {"a", "b", "c", 4, frozenset("de")}
    case = Case(steps=[Step(tool="t", arguments={"ids": letters})], contexts={"a", "b", "c"}, metadata={"x": letters})
    others = [make().fingerprint for group in DIFFERENT.values() for make in group]
    return [*others, case.content_hash, json.dumps(case.metadata).replace(" ", "")]


@each_row("group", DIFFERENT)
def test_judges_with_different_settings_have_different_fingerprints(group: str) -> None:
    seen: dict[str, list[int]] = {}
    for number, make in enumerate(DIFFERENT[group]):
        assert make().fingerprint == make().fingerprint
        seen.setdefault(make().fingerprint, []).append(number)
    assert [same for same in seen.values() if len(same) > 1] == []


def test_cost_time_limit_and_state_are_no_settings() -> None:
    one = judge(function)
    assert one.fingerprint == judge(function, cost=1, timeout=2).fingerprint == one.with_timeout(3).fingerprint
    used = Setting("a")
    used.judge("?")
    assert used.fingerprint == Setting("a").fingerprint
    assert jury().fingerprint == jury(voting="majority", weights=None, errors="missing").fingerprint
    assert len(one.fingerprint) == 32


def test_fingerprints_are_the_same_in_every_process() -> None:
    program = "from test_judges import fingerprints; print(*fingerprints())"
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parent, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[1])},
    )  # fmt: skip
    assert found.stdout.split() == fingerprints()


def test_a_rule_object_and_its_name_are_one_jury() -> None:
    assert jury(voting=Quorum(quorum="2/3")).fingerprint == jury(voting="quorum", quorum="2/3").fingerprint


def test_a_judge_reads_as_what_it_is() -> None:
    assert repr(Ensemble({"a": function, "b": Says(PASS, "b")}, name="panel")) == "Ensemble('panel', [function, b])"
    assert repr(Says(PASS, "x")) == "Says('x')"
    assert Ensemble(jurors_of("PPF")).size == 3
