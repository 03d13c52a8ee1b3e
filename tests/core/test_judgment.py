"""Judgment, Check, Usage: what may stand in them, and that it stays."""

import copy
import json
import pickle
from dataclasses import FrozenInstanceError, dataclass, fields

import numpy as np
import pytest

from jury_adapters import ConfigurationError, Ensemble, Judgment, Status, Usage, Verdict, abstain, judge
from jury_adapters.core.judgment import broken, evolve, total_usage
from jury_adapters.core.usage import NO_USAGE
from jury_adapters.results import Finding
from jury_adapters.voting import FunctionVote

NAN, INF = float("nan"), float("inf")
OUTSIDE = [NAN, INF, -INF, -0.01, 1.01, "0.5", [1]]


def test_a_judgment_cannot_be_changed_in_any_field():
    judgment = Judgment("PASS", findings=[Finding("c", True)], metadata={"a": {"b": [1]}}, probabilities={"x": 1})
    for field in fields(judgment):
        with pytest.raises(FrozenInstanceError):
            setattr(judgment, field.name, None)
    with pytest.raises((AttributeError, TypeError)):
        judgment.invented = 1
    for mapping in (judgment.metadata, judgment.metadata["a"], judgment.probabilities):
        with pytest.raises(TypeError, match="cannot be changed"):
            mapping["x"] = 2
    assert isinstance(judgment.findings, tuple)
    assert judgment.metadata["a"]["b"] == (1,)
    with pytest.raises(FrozenInstanceError):
        judgment.findings[0].passed = False


def test_a_judgment_does_not_follow_what_it_was_made_of():
    metadata, findings = {"list": [1]}, [Finding("c", True)]
    judgment = Judgment("PASS", metadata=metadata, findings=findings)
    metadata["list"].append(2)
    findings.append(Finding("d", False))
    assert judgment.metadata == {"list": (1,)}
    assert len(judgment.findings) == 1


@pytest.mark.parametrize("value", OUTSIDE)
@pytest.mark.parametrize("field", ["score", "confidence"])
def test_scores_and_confidences_outside_0_to_1_are_refused(field, value):
    with pytest.raises(ConfigurationError, match=field):
        Judgment("PASS", **{field: value})


@pytest.mark.parametrize("value", OUTSIDE)
def test_probabilities_and_check_scores_outside_0_to_1_are_refused(value):
    with pytest.raises(ConfigurationError, match="probability of 'yes'"):
        Judgment("PASS", probabilities={"yes": value})
    with pytest.raises(ConfigurationError, match=r"Finding\.score"):
        Finding("c", True, score=value)


@pytest.mark.parametrize("value", [NAN, INF, -1, -0.5, None, "3"])
@pytest.mark.parametrize("field", [field.name for field in fields(Usage) if field.type in ("int", "float")])
def test_usage_takes_only_finite_amounts(field, value):
    with pytest.raises(ConfigurationError, match=rf"Usage\.{field}"):
        Usage(**{field: value})


def test_usage_that_was_recorded_adds_up_apart_from_what_is_new():
    paid, unpriced = Usage(10, 2, calls=1, cost_usd=0.5), Usage(calls=1, cost_complete=False)
    both = paid + paid.as_recorded() + unpriced.as_recorded()
    assert (both.calls, both.cost_usd, both.cost_complete) == (1, 0.5, True)
    assert both.recorded == Usage(10, 2, calls=2, cost_usd=0.5, cost_complete=False)
    assert both.total == both.as_recorded().recorded == paid + paid + unpriced
    assert Usage().as_recorded() == Usage()
    assert Judgment.from_json(Judgment("PASS", usage=both).to_json()).usage == both
    assert Judgment("PASS", usage=paid.as_recorded()).canonical_json() == Judgment("PASS", usage=paid).canonical_json()
    with pytest.raises(ConfigurationError, match=r"Usage\.recorded"):
        Usage(recorded={"calls": 1})


@pytest.mark.parametrize("value", [NAN, INF, -1.0, "1 s"])
def test_the_time_taken_is_a_finite_number(value):
    with pytest.raises(ConfigurationError, match="elapsed_s"):
        Judgment("PASS", elapsed_s=value)


@pytest.mark.parametrize("score", [True, 1, 1.0, np.float32(1), np.float64(1)])
def test_a_score_becomes_a_plain_float(score):
    assert type(Judgment("PASS", score=score).score) is float


@pytest.mark.parametrize("status", ["ABSTAIN", "ERROR"])
def test_what_is_no_opinion_has_no_score(status):
    with pytest.raises(ConfigurationError, match=f"{status} has no score"):
        Judgment(status, score=0.5)


def test_an_error_has_no_label_but_an_abstention_may():
    with pytest.raises(ConfigurationError, match="ERROR has no label"):
        Judgment("ERROR", error="broken", label="x")
    assert Judgment("ABSTAIN", reasoning="cannot say", label="tie").label == "tie"


def test_no_status_needs_a_label():
    with pytest.raises(ConfigurationError, match="needs a label"):
        Judgment(None)
    assert Judgment(None, label="KEEP").passed is None


@pytest.mark.parametrize("status", ["pass", "Fail", "OK", 1, True, 0.5, ["PASS"], b"PASS"])
def test_an_unknown_status_is_refused_with_the_known_ones(status):
    with pytest.raises(ConfigurationError, match=r"unknown status.*ABSTAIN, ERROR, FAIL, PASS"):
        Judgment(status)


@pytest.mark.parametrize("status", list(Status))
def test_a_status_by_name_is_the_status_itself(status):
    told = {"reasoning": "so it is", "error": "broken"}
    assert Judgment(str(status), **told).status is status
    assert Judgment(status, **told).status is status


@pytest.mark.parametrize("text", ["", None, "  ", "\n\t\u00a0"])
def test_an_abstention_needs_a_reason_and_an_error_its_error(text):
    with pytest.raises(ConfigurationError, match=r"ABSTAIN needs a reason: abstain\('why"):
        Judgment("ABSTAIN", reasoning=text, error="parse_fail")
    with pytest.raises(ConfigurationError, match="ERROR needs the error"):
        Judgment("ERROR", reasoning="it broke", error=text)
    with pytest.raises(ConfigurationError, match="ABSTAIN needs a reason"):
        Verdict("ABSTAIN", reasoning=text)


def test_a_bare_status_of_a_function_is_explained():
    abstains, breaks = (judge(lambda case, status=status: status) for status in (Status.ABSTAIN, Status.ERROR))
    assert abstains.judge("q").reasoning == "no reason was given"
    assert (breaks.judge("q").status, breaks.judge("q").error) == ("ERROR", "no reason was given")


@pytest.mark.parametrize("status", ["ABSTAIN", "ERROR"])
def test_results_that_were_written_without_a_reason_are_still_read(status):
    read = Judgment.from_json(json.dumps({"kind": "verdict", "status": status, "judgments": [{"status": status}]}))
    assert (read.status, read.judgments[0].status) == (status, status)
    assert "no reason was recorded" in (read.reasoning, read.error)


@pytest.mark.parametrize(
    ("judgment", "passed", "valid", "opinion", "ballot", "number"),
    [
        (Judgment("PASS"), True, True, "PASS", "PASS", 1.0),
        (Judgment("FAIL"), False, True, "FAIL", "FAIL", 0.0),
        (Judgment("FAIL", score=0.4), False, True, "FAIL", "FAIL", 0.4),
        (Judgment("PASS", label="yes", score=0.6), True, True, "PASS", "yes", 0.6),
        (Judgment(None, label="KEEP"), None, True, "KEEP", "KEEP", None),
        (Judgment(None, label="KEEP", score=0.3), None, True, "KEEP", "KEEP", 0.3),
        (Judgment("ABSTAIN", reasoning="cannot say"), False, False, None, None, None),
        (Judgment("ABSTAIN", reasoning="cannot say", label="tie"), False, False, None, None, None),
        (Judgment("ERROR", error="broken"), False, False, None, None, None),
    ],
)
def test_what_a_status_means_for_each_kind_of_vote(judgment, passed, valid, opinion, ballot, number):
    assert (judgment.passed, judgment.valid, judgment.opinion) == (passed, valid, opinion)
    assert (judgment.ballot, judgment.numeric_score) == (ballot, number)


@pytest.mark.parametrize("field", ["reasoning", "label", "error", "raw_response", "critic", "model", "family"])
def test_every_text_is_cleaned_and_anything_else_is_refused(field):
    assert getattr(Judgment("PASS", **{field: "a\ud800é"}), field) == "a\ufffdé"
    with pytest.raises(ConfigurationError, match=f"{field} is text, not int"):
        Judgment("PASS", **{field: 5})


@pytest.mark.parametrize("field", ["name", "detail", "evidence"])
def test_every_text_of_a_check_is_cleaned_and_anything_else_is_refused(field):
    values = {"name": "n", "passed": True}
    assert getattr(Finding(**{**values, field: "\udfffé"}), field) == "\ufffdé"
    with pytest.raises(ConfigurationError, match=rf"Finding\.{field} is text, not list"):
        Finding(**{**values, field: ["x"]})


def test_text_that_holds_nothing_may_be_given_as_none():
    assert Judgment("PASS", reasoning=None, critic=None, findings=None, metadata=None) == Judgment("PASS")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("findings", ["not a check"]),
        ("findings", 5),
        ("findings", {"name": "c", "passed": True}),
        ("usage", "free"),
        ("usage", None),
        ("usage", {"calls": 1}),
        ("metadata", [1]),
        ("probabilities", [0.5, 0.5]),
    ],
)
def test_parts_of_another_kind_are_refused(field, value):
    with pytest.raises(ConfigurationError, match=r"findings|usage|mapping|probabilities"):
        Judgment("PASS", **{field: value})


def test_whether_a_check_passed_is_true_false_or_none():
    assert Finding("c", np.bool_(True)).passed is True
    assert Finding("c", None).passed is None
    for value in (1, "yes", 0.0, []):
        with pytest.raises(ConfigurationError, match=r"Finding\.passed"):
            Finding("c", value)


def test_equal_contents_are_equal_judgments_and_hash_alike():
    make = lambda: Judgment("PASS", score=0.5, findings=[Finding("c", True)], metadata={"a": [1]})  # noqa: E731
    assert make() == make()
    assert hash(make()) == hash(make())
    assert make() != Judgment("PASS", score=0.5, findings=[Finding("c", True)], metadata={"a": [2]})
    assert Judgment("PASS") != Verdict("PASS")


@pytest.mark.parametrize("kind", [Judgment, Verdict])
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda j: pickle.loads(pickle.dumps(j))])
def test_copies_and_pickles_are_equal_and_just_as_frozen(kind, again):
    judgment = kind(
        "FAIL",
        score=0.25,
        findings=[Finding("c", False, "d", "e", 0.5)],
        usage=Usage(1, 2, 3, 4, 5, 0.5, False),
        probabilities={"yes": 0.25},
        metadata={"deep": {"list": [1, {"x": None}]}},
    )
    result = again(judgment)
    assert result == judgment
    assert type(result) is kind
    assert hash(result) == hash(judgment)
    with pytest.raises(TypeError, match="cannot be changed"):
        result.metadata["deep"]["list"][1]["x"] = 1
    with pytest.raises(FrozenInstanceError):
        result.score = 1.0


def test_usage_adds_up_and_an_unknown_price_stays_unknown():
    known, unknown = Usage(1, 2, 3, 4, 5, 0.5), Usage(10, 20, 30, 40, 50, 0.25, cost_complete=False)
    assert known + unknown == unknown + known == Usage(11, 22, 33, 44, 55, 0.75, cost_complete=False)
    assert known + NO_USAGE is known
    assert NO_USAGE + known is known
    assert total_usage([Judgment("PASS", usage=known)] * 3) == Usage(3, 6, 9, 12, 15, 1.5)
    assert total_usage([]) == Usage()


def test_abstain_says_why():
    judgment = abstain("no context", error="parse_fail", metadata={"a": 1})
    assert (judgment.status, judgment.reasoning, judgment.error) == (Status.ABSTAIN, "no context", "parse_fail")


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("even this breaks")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("bad thing"), "ValueError: bad thing"),
        (ValueError(), "ValueError"),
        (KeyError("k"), "KeyError: 'k'"),
        (SystemExit(3), "SystemExit: 3"),
        (Mute(), "Mute: (its message cannot be shown)"),
        (ValueError("bad \ud800 text"), "ValueError: bad \ufffd text"),
        ("timeout", "timeout"),
    ],
)
def test_a_broken_judge_is_reported_with_type_and_message(error, text):
    judgment = broken(error)
    assert judgment.status is Status.ERROR
    assert judgment.error == text
    assert text in judgment.reasoning


def test_evolve_changes_the_named_fields_of_any_result():
    verdict = Verdict("PASS", judgments=(Judgment("PASS"),), reasoning="r")
    other = evolve(verdict, critic="jury")
    assert (other.critic, other.judgments, other.reasoning) == ("jury", verdict.judgments, "r")
    assert verdict.critic == ""
    assert type(other) is Verdict


def test_a_judgment_is_neither_true_nor_false():
    with pytest.raises(TypeError, match=r"ask \.passed .* `is not None`"):
        assert Judgment(Status.FAIL)
    with pytest.raises(TypeError, match=r"ask \.passed"):
        bool(Verdict(Status.PASS))


def test_a_judge_may_return_a_judgment_of_a_class_of_its_own():
    @dataclass(frozen=True)
    class Counted(Judgment):
        words: int = 0

    @judge
    def counted(case):
        return Counted("PASS", words=3)

    verdict = Ensemble([counted]).judge(answer="a b c")
    assert verdict.status is Status.PASS
    (vote,) = verdict.judgments
    assert (type(vote), vote.words, vote.critic) == (Counted, 3, "counted")


def test_an_undecided_rule_of_a_user_keeps_the_reasons_of_its_jurors():
    def down(case):
        return broken("the endpoint is down")

    def undecided(judgments):
        return abstain("the rule cannot say")

    jury = Ensemble([down], voting=FunctionVote(function=undecided, errors="fail"))
    assert jury.judge(answer="a").reasoning == "the rule cannot say: the judge broke: the endpoint is down"
