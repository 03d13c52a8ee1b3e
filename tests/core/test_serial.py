"""Judgments to JSON and back, without loss."""

import copy
import itertools
import json
import pickle
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jury_adapters import CascadedJury, Ensemble, InputError, Judgment, Status, Tier, Usage, Verdict, judge
from jury_adapters.core.serial import judgment_from_dict
from jury_adapters.results import Finding, Tally, TierResult

unit = st.floats(0, 1)
text = st.text(max_size=12) | st.text(alphabet=st.characters(categories=["Cs", "Cc", "Cf", "Lo"]), max_size=6)
names = st.text(min_size=1, max_size=6)
reasons = names.filter(str.strip)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
findings = st.builds(Finding, text, st.sampled_from([True, False, None]), text, text, st.none() | unit)
amounts = st.integers(0, 10**9)
usages = st.builds(Usage, amounts, amounts, amounts, amounts, amounts, st.floats(0, 1e6), st.booleans())
usages |= st.builds(lambda new, old: new + old.as_recorded(), usages, usages)
ballots = st.lists(st.none() | st.sampled_from(["PASS", "FAIL", "KEEP"]), max_size=4) | st.lists(
    st.none() | unit, max_size=4
)
tallies = st.builds(
    Tally,
    st.sampled_from(["status", "label", "score"]),
    *[st.integers(0, 9)] * 6,
    st.booleans(),
    ballots.map(tuple),
)


def _common(draw):
    status = draw(st.sampled_from([*Status, None]))
    label = draw(text if status is None else st.none() if status is Status.ERROR else st.none() | text)
    return status, {
        "label": label,
        "score": draw(st.none() | unit) if status in (Status.PASS, Status.FAIL, None) else None,
        "probabilities": draw(st.none() | st.dictionaries(text, unit, max_size=3)),
        "confidence": draw(st.none() | unit),
        "reasoning": draw(reasons if status is Status.ABSTAIN else text),
        "findings": draw(st.lists(findings, max_size=2)),
        "critic": draw(text),
        "model": draw(st.none() | text),
        "family": draw(st.none() | text),
        "usage": draw(st.just(Usage()) | usages),
        "elapsed_s": draw(st.none() | st.floats(0, 1e6)),
        "error": draw(reasons if status is Status.ERROR else st.none() | text),
        "raw_response": draw(st.none() | text),
        "metadata": draw(st.dictionaries(text, json_values, max_size=3)),
    }


@st.composite
def plain_judgments(draw):
    """Any judgment that is no verdict."""
    status, values = _common(draw)
    return Judgment(status, **values)


@st.composite
def verdicts(draw, depth=2):
    """Any verdict; juries inside juries, and tiers of cascades, to a depth."""
    status, values = _common(draw)
    inside = plain_judgments() if depth == 0 else plain_judgments() | verdicts(depth=depth - 1)
    policies = st.sampled_from(["reject_on_any_fail", "final", "escalate_below(0.8)"])
    tiers = st.builds(TierResult, names, policies, inside, st.booleans(), st.booleans(), text)
    return Verdict(
        status,
        **values,
        judgments=draw(st.lists(inside, max_size=2)),
        weights=draw(st.lists(st.floats(0, 10), max_size=3)),
        voting=draw(text),
        tally=draw(tallies),
        same_family=draw(st.booleans()),
        band_on=draw(st.sampled_from(["pairs", "share"])),
        partial=draw(st.booleans()),
        calls_saved=draw(st.integers(0, 9)),
        skipped=draw(st.lists(names, max_size=2)),
        tiers=draw(st.lists(tiers, max_size=2)),
        stopped_at=draw(st.none() | names),
        decision=draw(st.sampled_from([None, "rejected", "accepted", "final", "error"])),
    )


slow_to_draw = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)


def assert_survives(judgment):
    text = judgment.to_json()
    text.encode("ascii")
    again = type(judgment).from_json(text)
    assert again == judgment
    assert type(again) is type(judgment)
    assert hash(again) == hash(judgment)
    assert again.to_json() == text
    assert again.canonical_json() == judgment.canonical_json()
    assert Judgment.from_json(judgment.to_json(indent=2).encode()) == judgment
    assert json.loads(text) == judgment.to_dict()
    return again


@pytest.mark.slow
@given(plain_judgments())
@slow_to_draw
def test_any_judgment_survives_json(judgment):
    assert_survives(judgment)


@given(verdicts())
@slow_to_draw
def test_any_verdict_in_verdicts_and_tiers_survives_json_copy_and_pickle(verdict):
    again = assert_survives(verdict)
    assert str(again) == str(verdict)
    for other in (pickle.loads(pickle.dumps(verdict)), copy.copy(verdict), copy.deepcopy(verdict)):
        assert other == verdict
        assert other.to_json() == verdict.to_json()


def test_a_verdict_in_a_verdict_in_a_verdict_survives_json_field_by_field():
    bottom = Verdict(
        "PASS", judgments=[Judgment("PASS", findings=[Finding("c", None)])], weights=[0.5], critic="bottom"
    )
    middle = Verdict("FAIL", judgments=[bottom, Judgment("FAIL")], tally=Tally("score", 2, ballots=(0.1, None)))
    tiers = [TierResult("t", "final", middle, True, False, "why")]
    top = Verdict("FAIL", judgments=[middle], tiers=tiers, stopped_at="t", decision="final", skipped=["u"])
    again = assert_survives(top)
    assert isinstance(again.judgments[0].judgments[0], Verdict)
    assert again.judgments[0].judgments[0].judgments[0].findings[0].passed is None
    assert again.tiers[0].judgment.tally.ballots == (0.1, None)
    assert isinstance(again.skipped, tuple)


def real_cascade():
    async def answers(case):
        return len(case.answer) > 3, "long enough"

    cheap = Ensemble([judge(name="a")(lambda case: 0.9), judge(name="b")(lambda case: 0.2)], voting="average")
    inner = CascadedJury([Tier("in", judge(name="labels")(lambda c: Judgment(None, label="KEEP")), "final")])
    broken = judge(name="broken")(lambda case: 1 / 0)
    dear = Ensemble([answers, broken, inner], errors="ignore", name="dear", weights=[1, 2, 3], voting="weighted")
    return CascadedJury([Tier("cheap", cheap, "escalate_on_split"), Tier("dear", dear, "final")], name="court")


def test_the_verdict_of_a_real_cascade_survives_json():
    verdict = real_cascade().judge(question="q", answer="a long answer", generator="gpt-4o")
    assert len(verdict.tiers) == 2
    again = assert_survives(verdict)
    assert again.tiers[1].judgment.judgments[2].tiers[0].judgment.label == "KEEP"


def test_equal_verdicts_obtained_at_different_times_are_equal_bytes():
    found = []
    for _ in range(2):
        found.append(real_cascade().judge(question="q", answer="a long answer"))
        time.sleep(0.002)
    first, second = found
    assert first.elapsed_s != second.elapsed_s
    assert first.to_json() != second.to_json()
    assert first.canonical_json().encode() == second.canonical_json().encode()
    assert "elapsed_s" not in first.canonical_json()


def test_canonical_json_leaves_out_times_and_request_ids_at_every_depth_and_nothing_else():
    def verdict(n):
        inner = Judgment("PASS", elapsed_s=n, metadata={"request_id": f"r{n}", "kept": {"request_ids": [n]}})
        return Verdict(
            "PASS", elapsed_s=n, judgments=[inner], tiers=[TierResult("t", "final", inner, True, False, "w")]
        )

    assert verdict(1).canonical_json() == verdict(2).canonical_json()
    assert '"kept":{}' in verdict(1).canonical_json()
    other = Verdict("PASS", judgments=[Judgment("PASS", metadata={"kept": 1})])
    assert other.canonical_json() != verdict(1).canonical_json()


def test_canonical_json_does_not_depend_on_the_order_of_metadata():
    orders = itertools.permutations([("a", 1), ("b", {"x": 1, "y": 2}), ("c", 3)])
    assert len({Judgment("PASS", metadata=dict(order)).canonical_json() for order in orders}) == 1


def test_fields_that_hold_nothing_are_left_out():
    assert Judgment("PASS").to_dict() == {"status": "PASS"}
    assert Verdict("FAIL").to_dict() == {"kind": "verdict", "status": "FAIL"}
    assert Judgment(None, label="A").to_dict() == {"status": None, "label": "A"}


def test_false_zero_and_empty_that_mean_something_stay():
    judgment = Judgment(
        "FAIL", score=0, confidence=0.0, usage=Usage(cost_complete=False), findings=[Finding("", False)]
    )
    data = judgment.to_dict()
    assert data["score"] == 0.0
    assert data["confidence"] == 0.0
    assert data["usage"] == {"cost_complete": False}
    assert data["findings"] == [{"name": "", "passed": False}]
    assert judgment_from_dict(data) == judgment


def test_nan_and_infinity_never_stand_in_json():
    judgment = Judgment("PASS", metadata={"nan": float("nan"), "list": [float("inf"), 1.5]})
    assert json.loads(judgment.to_json())["metadata"] == {"nan": None, "list": [None, 1.5]}


def test_derived_values_are_written_for_people_and_ignored_when_read():
    verdict = Ensemble([lambda c: True, lambda c: False, lambda c: True]).judge("q")
    data = json.loads(verdict.to_json())
    assert data["agreement"] == verdict.agreement
    assert data["agreement_band"] == "low"
    assert data["needs_review"] is True
    data["agreement"], data["agreement_band"] = 1.0, "high"
    assert judgment_from_dict(data) == verdict


def test_a_dict_of_plain_values_holds_no_object_of_ours():
    def kinds(value):
        yield type(value)
        for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from kinds(item)

    verdict = real_cascade().judge(question="q", answer="a long answer")
    assert set(kinds(verdict.to_dict())) <= {dict, list, str, int, float, bool, type(None)}


def test_a_kind_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="expected a Verdict, found a Judgment"):
        Verdict.from_json('{"status": "PASS"}')
    assert isinstance(Judgment.from_json('{"kind": "verdict", "status": "PASS"}'), Verdict)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json",
        "[1]",
        '"PASS"',
        "null",
        "5",
        "{}",
        b"\xff\xfe",
        '{"status": "MAYBE"}',
        '{"status": null}',
        '{"status": []}',
        '{"status": "PASS", "score": 2}',
        '{"status": "PASS", "score": NaN}',
        '{"status": "PASS", "score": "0.5"}',
        '{"status": "PASS", "elapsed_s": Infinity}',
        '{"status": "PASS", "invented": 1}',
        '{"status": "PASS", "judgments": []}',
        '{"status": "PASS", "metadata": 5}',
        '{"status": "PASS", "reasoning": 5}',
        '{"status": "PASS", "findings": 5}',
        '{"status": "PASS", "findings": ["x"]}',
        '{"status": "PASS", "findings": [{"nam": "x"}]}',
        '{"status": "PASS", "usage": {"calls": -1}}',
        '{"status": "PASS", "usage": {"cost_usd": NaN}}',
        '{"status": "PASS", "usage": 5}',
        '{"status": "ERROR", "label": "x"}',
        '{"kind": "verdict", "status": "PASS", "judgments": 5}',
        '{"kind": "verdict", "status": "PASS", "judgments": ["x"]}',
        '{"kind": "verdict", "status": "PASS", "judgments": [{"status": "NO"}]}',
        '{"kind": "verdict", "status": "PASS", "weights": "abc"}',
        '{"kind": "verdict", "status": "PASS", "weights": [NaN]}',
        '{"kind": "verdict", "status": "PASS", "tally": 5}',
        '{"kind": "verdict", "status": "PASS", "tally": {"ballots": 5}}',
        '{"kind": "verdict", "status": "PASS", "tiers": [{"name": "t"}]}',
        '{"kind": "verdict", "status": "PASS", "skipped": [1]}',
        "[" * 100_000,
        '{"status": "PASS", "metadata": {"a": ' + "[" * 200 + "]" * 200 + "}}",
    ],
    ids=lambda text: repr(text)[:60],
)
def test_what_is_no_judgment_is_an_input_error(text):
    with pytest.raises(InputError):
        Judgment.from_json(text)


@pytest.mark.parametrize("data", [5, None, "x", [1], [("status", "PASS", 1)]])
def test_what_is_no_mapping_is_an_input_error(data):
    with pytest.raises(InputError):
        judgment_from_dict(data)


def test_statuses_written_are_plain_json_words():
    assert [json.loads(Judgment(status, reasoning="r", error="e").to_json())["status"] for status in Status] == [
        "PASS",
        "FAIL",
        "ABSTAIN",
        "ERROR",
    ]
