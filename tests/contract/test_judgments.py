"""Judgments: JSON there and back, what cannot enter, what cannot be changed, gates, reasons for review, and print."""

import contextlib
import copy
import json
import math
import pickle
import unicodedata

import pytest
from fact_tables import each_row
from hypothesis import given, settings
from hypothesis import strategies as st
from jurors import ABSTAIN, ERROR, FAIL, PASS, labelled
from pydantic import ValidationError

from jury_adapters import (
    CascadedJury,
    Ensemble,
    Finding,
    GateFailed,
    Judgment,
    Tier,
    Usage,
    Verdict,
    abstain,
    judge,
)
from jury_adapters.testing import ScriptedJudge

TEXTS = st.text(max_size=12) | st.sampled_from(["\x00", "\u202e", "\U0001f600", "\x1b[2J"])
ANY_TEXT = TEXTS | st.sampled_from(["\ud800", "a\udfffb"])  # lone surrogates
SHARES = st.none() | st.floats(0, 1)
AMOUNTS = st.floats(0, 1e9)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
METADATA = st.dictionaries(TEXTS, JSON_VALUES, max_size=2)
USAGES = st.builds(
    Usage, calls=st.integers(0, 9), input_tokens=st.integers(0, 10**12), cost_usd=AMOUNTS, cost_complete=st.booleans(),
    recorded_calls=st.integers(0, 9), recorded_usd=AMOUNTS,
)  # fmt: skip
FINDINGS = st.builds(
    Finding, name=ANY_TEXT, passed=st.none() | st.booleans(), detail=ANY_TEXT, evidence=ANY_TEXT, score=SHARES
)
SOME = st.text("abc \n\u00e9", min_size=1, max_size=5).filter(str.strip)


NOTHING = st.just(())


@st.composite
def judgments(draw, inside=NOTHING):
    """Return any judgment."""
    status = draw(st.sampled_from(("PASS", "FAIL", "LABEL", "ABSTAIN", "ERROR")))
    decided = status in ("PASS", "FAIL", "LABEL")
    return Judgment(
        status=status,
        score=draw(SHARES) if decided else None,
        label=draw(SOME) if status == "LABEL" else draw(st.none() | SOME) if decided else None,
        reasoning=draw(SOME if status == "ABSTAIN" else ANY_TEXT),
        error=draw(SOME) if status == "ERROR" else None,
        confidence=draw(SHARES),
        findings=draw(st.lists(FINDINGS, max_size=2)),
        critic=draw(ANY_TEXT),
        model=draw(st.none() | ANY_TEXT),
        usage=draw(USAGES),
        elapsed_s=draw(st.none() | AMOUNTS),
        metadata=draw(METADATA),
        judgments=draw(inside),
        voting=draw(st.sampled_from(("", "majority", "cascade", "scorecard", "average"))),
        weights=draw(st.lists(AMOUNTS, max_size=2)),
        tied=draw(st.booleans()),
        skipped=draw(st.lists(ANY_TEXT, max_size=2)),
        tier=draw(st.none() | ANY_TEXT),
        why=draw(ANY_TEXT),
        by_rule=draw(st.booleans()),
        case_id=draw(st.none() | ANY_TEXT),
        case_metadata=draw(METADATA),
        generator=draw(st.none() | ANY_TEXT),
    )


NESTED = judgments(st.lists(judgments(st.lists(judgments(), max_size=1)), min_size=1, max_size=2))


@settings(max_examples=30, deadline=None)
@given(NESTED)
def test_a_judgment_survives_json_pickle_and_copies(judgment: Judgment) -> None:
    for text in (judgment.model_dump_json(), judgment.model_dump_json(exclude_defaults=True)):
        again = Judgment.model_validate_json(text)
        assert (again, again.model_dump_json(), json.loads(text, parse_constant=pytest.fail)["status"]) == (
            judgment,
            judgment.model_dump_json(),
            judgment.status,
        )
    for other in (pickle.loads(pickle.dumps(judgment)), copy.deepcopy(judgment), Judgment(**dict(judgment))):
        assert other == judgment
        with pytest.raises(TypeError):
            other.metadata["x"] = 1


@settings(max_examples=30, deadline=None)
@given(NESTED)
def test_what_is_printed_is_one_line_each_and_moves_no_cursor(judgment: Judgment) -> None:
    for text in (str(judgment), repr(judgment)):
        assert all(char == "\n" or char.isprintable() for char in text)
    everyone = 1 + sum(1 + len(one.judgments) for one in judgment.judgments)
    assert everyone <= len(str(judgment).split("\n")) <= 3 * everyone + 3


HOSTILE = "a\x1b[2Jb\r\x08\x9b31m\u202ec\u2028d\x00\u200b"


@each_row("field", ["critic", "label", "reasoning", "error", "tier", "why", "skipped", "inside"])
def test_no_field_brings_control_characters_to_the_terminal(field: str) -> None:
    values = {
        "skipped": {"skipped": (HOSTILE,)},
        "error": {"status": "ERROR", "error": HOSTILE},
        "why": {"why": HOSTILE, "tier": "t"},
        "inside": {"judgments": [Judgment(status="FAIL", critic=HOSTILE)]},
    }
    judgment = Judgment(**{"status": "PASS", **values.get(field, {field: HOSTILE})})
    assert "[2J" in str(judgment)
    assert {unicodedata.category(char) for char in str(judgment) if char != "\n"}.isdisjoint({"Cc", "Cf", "Zl", "Zp"})
    assert "<b>" not in Judgment(status="PASS", critic="<b>")._repr_html_()


def test_the_tree_says_what_a_person_asks_for() -> None:
    jurors = [
        Judgment(status="PASS", critic="a", score=0.9, reasoning="it fits"),
        Judgment(status="ERROR", critic="b", error="timeout", reasoning="no judgment within 2 s"),
        Judgment(status="FAIL", critic="c", label="RUDE", confidence=0.5),
    ]
    verdict = Judgment(
        status="LABEL", label="SPLIT", critic="jury", judgments=jurors, voting="majority", skipped=("d", "e"),
        usage=Usage(calls=3, cost_usd=0.25), reasoning="x" * 500,
    )  # fmt: skip
    assert str(verdict).splitlines() == [
        "SPLIT jury: " + "x" * 159 + "…",
        "  PASS a (score 0.90): it fits",
        "  ERROR b: timeout: no judgment within 2 s",
        "  FAIL [RUDE] c (confidence 0.50)",
        "  agreement 0.00, low",
        "  not asked: d, e",
        "  needs review: low_agreement",
        "  model calls: 3, $0.2500",
    ]
    tier = Judgment(status="PASS", tier="cheap", why="all said PASS", critic="x")
    assert str(tier) == "tier cheap (all said PASS): PASS x"


REFUSED = {
    "unknown status": {"status": "pass"},
    "no status": {},
    "unknown field": {"status": "PASS", "verdict": "PASS"},
    "score above 1": {"status": "PASS", "score": 1.01},
    "negative score": {"status": "PASS", "score": -0.01},
    "NaN score": {"status": "PASS", "score": math.nan},
    "infinite score": {"status": "PASS", "score": math.inf},
    "true as a score": {"status": "PASS", "score": True},
    "text as a score": {"status": "PASS", "score": "0.5"},
    "NaN confidence": {"status": "PASS", "confidence": math.nan},
    "confidence above 1": {"status": "PASS", "confidence": 1.5},
    "true as a confidence": {"status": "PASS", "confidence": True},
    "text as a confidence": {"status": "PASS", "confidence": "0.5"},
    "negative time": {"status": "PASS", "elapsed_s": -1.0},
    "NaN weight": {"status": "PASS", "weights": [math.nan]},
    "negative weight": {"status": "PASS", "weights": [-1.0]},
    "ABSTAIN without a reason": {"status": "ABSTAIN"},
    "ABSTAIN with a blank reason": {"status": "ABSTAIN", "reasoning": " \n"},
    "ABSTAIN with a score": {"status": "ABSTAIN", "reasoning": "no", "score": 0.5},
    "ABSTAIN with a label": {"status": "ABSTAIN", "reasoning": "no", "label": "A"},
    "ABSTAIN with an error": {"status": "ABSTAIN", "reasoning": "no", "error": "down"},
    "ERROR without an error": {"status": "ERROR"},
    "ERROR with a blank error": {"status": "ERROR", "error": " "},
    "ERROR with a score": {"status": "ERROR", "error": "down", "score": 0.0},
    "ERROR with a label": {"status": "ERROR", "error": "down", "label": "A"},
    "PASS with an error": {"status": "PASS", "error": "down"},
    "LABEL without a label": {"status": "LABEL"},
    "LABEL with an empty label": {"status": "LABEL", "label": ""},
    "LABEL with an error": {"status": "LABEL", "label": "A", "error": "down"},
    "a judgment that is a text": {"status": "PASS", "judgments": ["PASS"]},
    "metadata that is a list": {"status": "PASS", "metadata": [1]},
    "a finding without a name": {"status": "PASS", "findings": [{"passed": True}]},
    "a finding with a score above 1": {"status": "PASS", "findings": [{"name": "x", "passed": True, "score": 2.0}]},
    "negative calls": {"status": "PASS", "usage": {"calls": -1}},
    "infinite cost": {"status": "PASS", "usage": {"cost_usd": math.inf}},
    "text as a cost": {"status": "PASS", "usage": {"cost_usd": "1"}},
}


def test_what_makes_no_sense_cannot_enter_by_python_or_json() -> None:
    entered = []
    for name, fields in REFUSED.items():
        with contextlib.suppress(ValidationError):
            entered.append((name, Judgment(**fields)))
        with contextlib.suppress(ValidationError):
            entered.append((name, Judgment.model_validate_json(json.dumps(fields))))
    assert entered == []


def test_a_message_of_a_refusal_does_not_repeat_the_value() -> None:
    with pytest.raises(ValidationError) as caught:
        Judgment(status="PASS", score="my secret")
    assert "my secret" not in str(caught.value)


ODD_METADATA = [
    ({"x": math.nan, "y": -math.inf}, {"x": "NaN", "y": "-Infinity"}),
    ({"x": "\ud800", "\udc00": "y"}, {"x": "\ufffd", "\ufffd": "y"}),
    ({"x": {"y": ["a\ud800b"]}}, {"x": {"y": ("a\ufffdb",)}}),
    ({"x": b"\xff\xfe"}, None),
    ({"x": object()}, None),
    ({1: {2: 3}}, {"1": {"2": 3}}),
    ({"x": 10**30, "y": (1, [2])}, {"x": 10**30, "y": (1, (2,))}),
    ({"x": ERROR}, None),
]


@each_row(("given_metadata", "found"), ODD_METADATA)
def test_metadata_become_json_values(given_metadata: dict, found: dict | None) -> None:
    judgment = Judgment(status="PASS", metadata=given_metadata, case_metadata=given_metadata)
    assert judgment.metadata == judgment.case_metadata
    assert found is None or judgment.metadata == found
    assert Judgment.model_validate_json(judgment.model_dump_json()) == judgment


def test_lone_surrogates_are_replaced_in_every_text() -> None:
    bad, good = "a\ud800", "a\ufffd"
    texts = ("label", "reasoning", "critic", "model", "tier", "why", "case_id", "generator")
    judgment = Judgment(
        status="PASS", skipped=[bad], findings=[Finding(name=bad, passed=None, detail=bad, evidence=bad)],
        **dict.fromkeys(texts, bad),
    )  # fmt: skip
    assert {getattr(judgment, name) for name in texts} == {good}
    assert (judgment.skipped, judgment.findings) == (
        (good,), (Finding(name=good, passed=None, detail=good, evidence=good),),
    )  # fmt: skip
    assert Judgment(status="ERROR", error=bad).error == good


SURROGATES = [
    lambda case: (PASS, "because \ud800"),
    lambda case: (True, "because \ud800"),
    lambda case: {"score": 0.5, "comment": "\ud800"},
    lambda case: ("ABSTAIN", "\ud800"),
    lambda case: 1 / len(""),
    lambda case: (_ for _ in ()).throw(ValueError("\ud800")),
]


@each_row("place", range(len(SURROGATES)))
def test_whatever_a_function_returns_its_judgment_can_be_written(place: int) -> None:
    verdict = Ensemble([SURROGATES[place]]).judge("?", id="\ud800")
    assert Judgment.model_validate_json(verdict.model_dump_json()) == verdict


def test_whatever_judges_and_tiers_are_called_their_judgments_can_be_written() -> None:
    jury = Ensemble([judge(lambda case: True, name="odd \ud800")], name="odd \ud800")
    verdict = CascadedJury([Tier("odd \ud800", jury)], name="odd \ud800").judge("?")
    assert Judgment.model_validate_json(verdict.model_dump_json()) == verdict


def test_a_judgment_is_neither_true_nor_false() -> None:
    for judgment in (PASS, FAIL, ABSTAIN, ERROR, labelled("A")):
        with pytest.raises(TypeError, match="passed"):
            bool(judgment)
        with pytest.raises(TypeError):
            assert not judgment


READINGS = [  # judgment; passed; decided; ballot; number
    (PASS, True, True, "PASS", 1.0),
    (FAIL, False, True, "FAIL", 0.0),
    (Judgment(status="FAIL", score=0.4), False, True, "FAIL", 0.4),
    (Judgment(status="PASS", label="good", score=0.0), True, True, "good", 0.0),
    (labelled("A"), None, True, "A", None),
    (labelled("A", score=0.3), None, True, "A", 0.3),
    (ABSTAIN, None, False, None, None),
    (ERROR, None, False, None, None),
]


@each_row(("judgment", "passed", "decided", "ballot", "number"), READINGS)
def test_a_judgment_is_read_in_one_way(
    judgment: Judgment, passed: bool | None, decided: bool, ballot: str | None, number: float | None
) -> None:
    assert ((judgment.passed, judgment.decided), (judgment.ballot, judgment.number)) == (
        (passed, decided),
        (ballot, number),
    )
    assert Verdict is Judgment


def test_nothing_in_a_judgment_can_be_changed() -> None:
    judgment = Judgment(
        status="PASS", metadata={"a": {"b": [1]}}, judgments=[PASS], weights=[1.0], usage=Usage(calls=1)
    )
    for change in (
        lambda: setattr(judgment, "status", "FAIL"),
        lambda: setattr(judgment.usage, "calls", 2),
        lambda: judgment.metadata.update(a=1),
        lambda: judgment.metadata["a"].pop("b"),
        judgment.metadata["a"].clear,
        lambda: judgment.metadata.setdefault("x", 1),
        lambda: judgment.metadata.__delitem__("a"),
        judgment.metadata.popitem,
        lambda: judgment.metadata.__ior__({"x": 1}),
        lambda: judgment.metadata["a"]["b"].append(2),
        lambda: judgment.judgments.append(FAIL),
    ):
        with pytest.raises((TypeError, ValidationError, AttributeError)):
            change()
    judgment.by_name.clear()
    assert (judgment, (judgment.metadata, judgment.judgments)) == (
        Judgment.model_validate_json(judgment.model_dump_json()),
        ({"a": {"b": (1,)}}, (PASS,)),
    )


def test_metadata_are_a_copy_of_what_was_given() -> None:
    given_metadata = {"a": [1]}
    judgment = Judgment(status="PASS", metadata=given_metadata)
    given_metadata["a"].append(2)
    assert judgment.metadata == {"a": (1,)}


KEYS = [
    "sk-proj-abcdefghijklmnop",
    "Bearer abcdefgh12345678",
    "AIza" + "x" * 30,
    "hf_" + "a" * 30,
    "ghp_" + "a" * 30,
    "AKIA" + "A" * 16,
    "eyJ" + "a" * 20 + "." + "b" * 20 + "." + "c" * 10,
    "lsv2_pt_0123456789abcdef",
    "gsk_abcdefgh123456",
]


@each_row("key", KEYS)
def test_keys_are_removed_from_errors_also_from_those_that_a_judge_returns(key: str) -> None:
    said = f"401: wrong key {key}; try again"
    jury = ScriptedJudge([Judgment(status="ERROR", error=said), RuntimeError(said)])
    found = [Judgment(status="ERROR", error=said), *jury.judge_many([*"ab"])]
    for judgment in found:
        assert key not in judgment.model_dump_json()
        assert judgment.error.removeprefix("RuntimeError: ") == "401: wrong key [key]; try again"


def test_keys_are_removed_from_an_error_that_a_judge_returns_with_its_reason() -> None:
    judgment = ScriptedJudge([("ERROR", f"wrong key {KEYS[0]}")]).judge("?")
    assert judgment.error == "wrong key [key]"
    assert KEYS[0] not in judgment.model_dump_json()


def test_passwords_in_addresses_and_in_the_environment_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", "horse-battery")
    monkeypatch.setenv("SHORT_KEY", "short")
    error = Judgment(status="ERROR", error="postgresql://me:pass@host/db said horse-battery is short").error
    assert error == "postgresql://[key]@host/db said [key] is short"


def test_abstain_needs_a_reason_and_takes_details() -> None:
    assert abstain("no contexts", confidence=0.5) == Judgment(status="ABSTAIN", reasoning="no contexts", confidence=0.5)
    with pytest.raises(ValidationError):
        abstain("")


def verdict(votes, voting="majority", **fields):
    said = {"P": PASS, "F": FAIL, "-": ABSTAIN, "!": ERROR, "A": labelled("A"), "B": labelled("B")}
    return Judgment(**{"status": "PASS", "voting": voting, "judgments": [said[one] for one in votes], **fields})


GATES = [  # judgment; gates; the gate that is not met, None if all are
    (PASS, {}, None),
    (FAIL, {}, None),
    (labelled("A"), {}, None),
    (ABSTAIN, {}, "decided=True"),
    (ERROR, {}, "decided=True"),
    (ERROR, {"decided": None}, None),
    (ERROR, {"decided": False}, None),
    (PASS, {"decided": False}, "decided=False"),
    (PASS, {"passed": True}, None),
    (FAIL, {"passed": True}, "passed=True"),
    (labelled("A"), {"passed": True}, "passed=True"),
    (ABSTAIN, {"passed": True, "decided": None}, "passed=True: found None"),
    (ERROR, {"passed": False, "decided": None}, "passed=False: found None"),
    (FAIL, {"passed": False}, None),
    (PASS, {"passed": False}, "passed=False"),
    (PASS, {"needs_review": False}, None),
    (verdict("PF"), {"needs_review": False}, "needs_review=False"),
    (verdict("PP"), {"needs_review": True}, "needs_review=True"),
    (ERROR, {"decided": None, "needs_review": False}, "needs_review=False"),
    (verdict("PPF"), {"min_agreement": 1 / 3}, None),
    (verdict("PPF"), {"min_agreement": 0.34}, "min_agreement=0.34: found 0.333"),
    (verdict("PPF"), {"min_agreement": "low"}, None),
    (verdict("PPF"), {"min_agreement": "medium"}, "min_agreement=medium"),
    (verdict("PPPPPPPPPF"), {"min_agreement": "high"}, None),
    (verdict("PPPPPPPPPF"), {"min_agreement": 0.81}, "min_agreement"),
    (verdict("P"), {"min_agreement": "high"}, None),
    (PASS, {"min_agreement": 1.0}, None),
    (Judgment(status="PASS", confidence=0.8), {"min_confidence": 0.8}, None),
    (Judgment(status="PASS", confidence=0.1 + 0.2), {"min_confidence": 0.3}, None),
    (Judgment(status="PASS", confidence=0.3), {"min_confidence": 0.1 + 0.2}, None),
    (Judgment(status="PASS", confidence=0.79), {"min_confidence": 0.8}, "min_confidence=0.8: found 0.79"),
    (PASS, {"min_confidence": 0.0}, "min_confidence=0.0: found None"),
    (Judgment(status="PASS", confidence=0.9), {"min_confidence": math.nan}, "min_confidence=nan"),
    (verdict("PP"), {"min_agreement": math.nan}, "min_agreement=nan"),
    (PASS, {"max_cost_usd": math.nan}, "max_cost_usd=nan"),
    (Judgment(status="PASS", usage=Usage(cost_usd=0.2)), {"max_cost_usd": 0.2}, None),
    (Judgment(status="PASS", usage=Usage(cost_usd=0.2)), {"max_cost_usd": 0.19}, "max_cost_usd=0.19: found 0.2"),
    (Judgment(status="PASS", usage=Usage(cost_usd=0.2, recorded_usd=0.1)), {"max_cost_usd": 0.2}, "found 0.3"),
    (Judgment(status="PASS", usage=Usage(cost_complete=False)), {"max_cost_usd": 1}, "found 0 or more"),
    (PASS, {"max_cost_usd": 0}, None),
]


def test_gates_are_met_or_named() -> None:
    for judgment, gates, unmet in GATES:
        if unmet is None:
            assert judgment.require(**gates) is judgment
            continue
        with pytest.raises(GateFailed) as caught:
            judgment.require(**gates)
        assert unmet in str(caught.value)
        assert str(caught.value).count("\n") == 1
        assert isinstance(caught.value, AssertionError)


def test_every_gate_that_is_not_met_is_named() -> None:
    with pytest.raises(GateFailed) as caught:
        verdict("PPF", status="FAIL").require(
            passed=True, needs_review=False, min_agreement="high", min_confidence=0.5, max_cost_usd=None
        )
    assert [line.split("=")[0].strip(" -") for line in str(caught.value).splitlines()[1:]] == [
        "passed", "needs_review", "min_agreement", "min_confidence",
    ]  # fmt: skip


REVIEW = [
    (PASS, ()),
    (ABSTAIN, ("abstained",)),
    (ERROR, ("error",)),
    (verdict("PP"), ()),
    (verdict("", "cascade"), ()),  # of no tier, as a file may say
    (verdict("PPF"), ("low_agreement",)),
    (verdict("P--", on="status"), ("few_votes",)),
    (verdict("P-", on="status"), ()),
    (verdict("PPPPPF"), ()),  # 10 of 15 pairs: medium
    (verdict("AB"), ("low_agreement",)),
    (verdict("P!"), ()),
    (verdict("PF", status="ABSTAIN", reasoning="tie"), ("abstained", "low_agreement")),
    (verdict("PF", by_rule=True, voting="cascade"), ()),
    (verdict("PF", voting="scorecard"), ()),
    (verdict("PF", voting="all_of"), ()),
    (Judgment(status="PASS", voting="scorecard", judgments=[verdict("PF"), verdict("PF"), ERROR]), ("low_agreement",)),
    (Judgment(status="PASS", voting="majority", judgments=[verdict("PF"), verdict("PP")]), ()),
    (Judgment(status="PASS", voting="cascade", judgments=[ERROR, PASS]), ("undecided_tier",)),
    (
        Judgment(status="PASS", voting="cascade", judgments=[verdict("--"), verdict("PF")]),
        ("low_agreement", "undecided_tier"),
    ),
    (Judgment(status="PASS", voting="cascade", judgments=[verdict("-P"), PASS]), ()),
    (Judgment(status="ERROR", error="x", voting="cascade", judgments=[PASS, ERROR]), ("error",)),
]


@each_row(("judgment", "reasons"), REVIEW)
def test_review_reasons(judgment: Judgment, reasons: tuple) -> None:
    assert ({*judgment.review_reasons}, len(judgment.review_reasons)) == ({*reasons}, len(reasons))
    assert judgment.needs_review is bool(reasons)


AGREEING = [  # votes; rule; agreement; band
    ("PPP", "majority", 1.0, "high"),
    ("PPF", "majority", 1 / 3, "low"),
    ("PPF-!", "veto", 1 / 3, "low"),
    ("AAB", "unanimous", 1 / 3, "low"),
    ("P-", "majority", None, None),
    ("PPPPPF", "majority", 2 / 3, "medium"),
    ("PPPPPPPPPF", "majority", 0.8, "high"),
    ("PPF", "average", 1 / 3, "low"),
    ("PF", "scorecard", None, None),
    ("PF", "any_of", None, None),
]


@each_row(("votes", "voting", "agreement", "band"), AGREEING)
def test_agreement_of_a_verdict(votes: str, voting: str, agreement: float | None, band: str | None) -> None:
    found = verdict(votes, voting)
    assert found.agreement == (agreement if agreement is None else pytest.approx(agreement))
    assert found.agreement_band == band


def test_agreement_of_scores_is_one_minus_their_mean_distance() -> None:
    jurors = [Judgment(status="PASS", score=score) for score in (0.9, 0.7, 0.8)]
    found = Judgment(status="PASS", voting="average", judgments=[*jurors, ABSTAIN])
    assert found.agreement == pytest.approx(1 - 0.4 / 3)
    assert Judgment(status="PASS", voting="majority", judgments=jurors).agreement == 1.0


def test_jurors_are_the_single_judges_at_any_depth() -> None:
    leaves = [Judgment(status="PASS", critic=name) for name in "abc"]
    inner = Judgment(status="PASS", critic="inner", judgments=leaves[:2])
    outer = Judgment(status="PASS", critic="outer", judgments=[inner, leaves[2]])
    assert ([one.critic for one in outer.jurors()], [*outer.by_name], [*leaves[0].jurors()]) == (
        ["a", "b", "c"],
        ["inner", "c"],
        [],
    )
    assert (outer.tiers, outer.stopped_at) == ({}, None)


FAMILIES = [  # generator; models of the jurors; whether one is of the same family
    ("gpt-4o", ["openai/gpt-5"], True),
    ("claude-sonnet-4-5", ["gpt-5", "gemini-2.5-pro"], False),
    ("anthropic.claude-3", ["gpt-4o", "claude-opus-4-7"], True),
    ("o3-mini", ["gpt-4o"], True),
    ("llama3.1:8b", ["meta-llama/Llama-3-70b"], True),
    ("mixtral-8x7b", ["mistral-small"], True),
    ("deepseek-chat", ["qwen2.5"], False),
    ("my-model", ["gpt-4o"], None),
    ("gpt-4o", ["my-model"], None),
    ("gpt-4o", [], None),
    (None, ["gpt-4o"], None),
    ("gpt-4o", ["my-model", "gpt-4o-mini"], True),
    ("gpt-4o", ["my-model", "claude-3"], False),
    ("dolphin", ["phi-4"], None),
]


@each_row(("generator", "models", "same"), FAMILIES)
def test_self_preference_is_looked_for_by_vendor_family(generator: str | None, models: list, same: bool | None) -> None:
    asked = [Judgment(status="PASS", model=model) for model in models]
    found = Judgment(status="PASS", voting="majority", judgments=[*asked, PASS, FAIL], generator=generator)
    assert found.same_family is same
    assert (found.bias_warning is not None) is (same is True)
    calm = Judgment(status="PASS", voting="majority", judgments=asked, generator=generator)
    assert calm.bias_warning is None


def test_a_single_judge_may_be_of_the_family_too() -> None:
    assert Judgment(status="PASS", model="gpt-4o", generator="gpt-5").same_family is True


def test_usage_adds_up_and_what_was_recorded_is_not_spent_again() -> None:
    one = Usage(calls=1, input_tokens=10, output_tokens=5, cost_usd=0.5)
    other = Usage(calls=2, cost_usd=0.25, cost_complete=False, recorded_calls=3, recorded_usd=1.0)
    assert one + other == Usage(
        calls=3,
        input_tokens=10,
        output_tokens=5,
        cost_usd=0.75,
        cost_complete=False,
        recorded_calls=3,
        recorded_usd=1.0,
    )
    assert other + one == one + other
    assert Usage() + one == one == one + Usage()
    assert Usage(cost_complete=False) + one == Usage(
        calls=1, input_tokens=10, output_tokens=5, cost_usd=0.5, cost_complete=False
    )
    assert (one + other).as_recorded() == Usage(recorded_calls=6, recorded_usd=1.75, cost_complete=False)
