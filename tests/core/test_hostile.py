"""Hostile jurors, cases and texts, end to end."""

import asyncio
import io
import json
import pickle
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import SLOW
from support.proportion import assert_proportional

from jury_adapters import (
    CascadedJury,
    Case,
    ConfigurationError,
    Ensemble,
    Judge,
    Judgment,
    Status,
    Tier,
    Usage,
    Verdict,
    judge,
)
from jury_adapters.checks import always_fail, always_pass
from jury_adapters.compat.juries import combine
from jury_adapters.compat.verdict_measures import agreement_pct, avg_confidence
from jury_adapters.results import Finding, Tally

NAN, INF = float("nan"), float("inf")
SCORES = ["average", "weighted_average", "median", "quorum"]
BALLOTS = ["majority", "unanimous", "weighted", "first_disagreement"]


def says(outcome, name="hostile"):
    return judge(name=name)(lambda case: outcome)


def later(outcome, seconds=0.0, name="later"):
    async def answer(case):
        await asyncio.sleep(seconds)
        return outcome

    return judge(name=name)(answer)


def assert_sound(verdict):
    """Assert what must hold of every verdict, however hostile its jurors were."""
    text = verdict.to_json()
    assert Verdict.from_json(text) == verdict
    assert json.loads(text)
    str(verdict).encode()
    verdict._repr_html_().encode()
    hash(verdict)
    assert pickle.loads(pickle.dumps(verdict)) == verdict
    for value in (
        verdict.score,
        verdict.confidence,
        verdict.agreement,
        agreement_pct(verdict),
        avg_confidence(verdict),
    ):
        assert value is None or 0.0 <= value <= 1.0
    tally = verdict.tally
    assert len(tally.ballots) == len(verdict.judgments)
    return verdict


# --- juries that cannot be


@pytest.mark.parametrize("build", [Ensemble, CascadedJury, lambda jurors: combine(*jurors)])
@pytest.mark.parametrize("jurors", [[], (), iter(())])
def test_a_jury_of_nobody_is_refused(build, jurors):
    with pytest.raises(ConfigurationError, match=r"at least one|needs tiers"):
        build(jurors)


@pytest.mark.parametrize("weights", [[0, 0], [0.0, -0.0], [1], [1, 2, 3], [-1, 2], [NAN, 1], [INF, 1], [True, 1],
                                     ["1", 1], {"nobody": 1}, {0: 0, 1: 0}, {5: 1}])  # fmt: skip
@pytest.mark.parametrize("voting", ["weighted", "weighted_average", "majority"])
def test_weights_that_cannot_count_are_refused(voting, weights):
    with pytest.raises(ConfigurationError, match="weight"):
        Ensemble([always_pass(), always_fail()], voting=voting, weights=weights)


@pytest.mark.parametrize("voting", ["weighted", "weighted_average"])
def test_a_vote_in_which_only_weights_of_zero_are_left_abstains(voting):
    jury = Ensemble([says(Status.ABSTAIN), always_pass(), always_fail()], voting=voting, weights=[1, 0, 0])
    verdict = assert_sound(jury.judge("q"))
    assert verdict.status is Status.ABSTAIN
    assert verdict.score is None


# --- jurors that answer nonsense


@pytest.mark.parametrize("score", [NAN, INF, -INF, 1.0001, -1, 10**400, np.float64("nan"), np.float32("inf")])
@pytest.mark.parametrize("voting", [*SCORES, *BALLOTS])
def test_a_score_that_is_no_score_becomes_an_error_and_never_a_number(voting, score):
    jury = Ensemble([says(score), says(0.9), says(0.8)], voting=voting, errors="ignore")
    verdict = assert_sound(jury.judge("q"))
    assert [j.status for j in verdict.judgments] == ["ERROR", "PASS", "PASS"]
    assert verdict.status is Status.PASS
    assert verdict.tally.errors == 1
    assert verdict.score is None or verdict.score >= 0.8


class Weird:
    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__

    def __eq__(self, other):
        raise RuntimeError("no comparison")

    __hash__ = None

    def __bool__(self):
        raise RuntimeError("no truth")


NONSENSE = [
    None, "PASS", "", b"", [], {}, set(), object, object(), Weird(), (Weird(), Weird()), (True, Weird()), lambda: True,
    NotImplemented, ..., Exception("returned, not raised"), (True, True, True), ((True, "a"), "b"), 1j,
    np.array([1, 2]),
    Case(question="q"), Verdict, Status, range(3), (x for x in ()), Ellipsis, memoryview(b"x"),
]  # fmt: skip


@pytest.mark.parametrize("outcome", NONSENSE, ids=lambda outcome: type(outcome).__name__)
@pytest.mark.parametrize("make", [says, later])
def test_a_juror_that_returns_nonsense_is_one_error_among_its_peers(make, outcome):
    verdict = assert_sound(Ensemble([make(outcome), always_pass(), always_pass("p")]).judge("q"))
    first = verdict.judgments[0]
    if isinstance(outcome, tuple) and outcome[0] is True and len(outcome) == 2:
        assert (first.status, first.reasoning) == (Status.PASS, "(Weird cannot be shown)")
    else:
        assert first.status is Status.ERROR
    assert [j.status for j in verdict.judgments[1:]] == ["PASS", "PASS"]
    assert verdict.status is Status.PASS


@pytest.mark.parametrize(
    "build",
    [
        lambda: Judgment("PASS", usage="free"),
        lambda: Judgment("PASS", usage=Usage(input_tokens=None)),
        lambda: Judgment("PASS", usage=Usage(cost_usd=NAN)),
        lambda: Judgment("PASS", reasoning=5),
        lambda: Judgment("PASS", findings=[True]),
        lambda: Judgment("PASS", findings=[Finding("c", "yes")]),
        lambda: Judgment("PASS", metadata=[1]),
        lambda: Judgment("PASS", elapsed_s=NAN),
        lambda: Judgment("PASS", label=["x"]),
        lambda: Judgment("MAYBE"),
        lambda: Verdict("PASS", judgments=[True]),
        lambda: Verdict("PASS", weights=[NAN], judgments=[Judgment("PASS")]),
        lambda: Verdict("PASS", tally=Tally(ballots=5)),
    ],
)
@pytest.mark.parametrize("schedule", ["parallel", "sequential", "early_stop"])
def test_a_juror_with_an_impossible_judgment_loses_its_vote_and_nobody_elses(schedule, build):
    jury = Ensemble([judge(name="h")(lambda case: build()), always_pass(), always_pass("p")], schedule=schedule)
    verdict = jury.judge("q")
    assert verdict.status is Status.PASS
    assert verdict.by_name.get("h", Judgment("ERROR", error="broken")).status is Status.ERROR
    verdict.to_json()


def test_a_juror_cannot_change_the_case_that_its_peers_see():
    tried = []

    def vandal(case):
        for attempt in (
            lambda: setattr(case, "answer", "changed"),
            lambda: case.metadata.update(answer="changed"),
            lambda: case.metadata["list"].append(1),
            case.metadata["dict"].clear,
            lambda: case.contexts.append("more"),
            lambda: case.trajectory[0].arguments.pop("a"),
            lambda: case.messages.append("more"),
            lambda: delattr(case, "question"),
        ):
            try:
                attempt()
            except (AttributeError, TypeError, ValueError) as error:
                tried.append(type(error))
        return True

    case = Case(question="q", answer="a", contexts=["c"], metadata={"list": [1], "dict": {"k": 1}},
                trajectory=[{"tool": "t", "arguments": {"a": 1}}])  # fmt: skip
    before, key = case.model_copy(update={"question": "q"}), case.content_hash
    seen = []
    Ensemble([judge(vandal), judge(lambda case: seen.append(case) or True)]).judge(case)
    assert len(tried) == 8
    assert seen == [before]
    assert case == before
    assert case.content_hash == key == before.content_hash


def test_a_juror_that_keeps_a_judgment_cannot_change_the_verdict():
    kept = Judgment("PASS", metadata={"a": [1]}, critic="mine")
    verdict = Ensemble([says(kept, "first"), says(kept, "second")]).judge("q")
    assert kept.critic == "mine"
    assert [j.critic for j in verdict.judgments] == ["first", "second"]
    with pytest.raises(TypeError, match="cannot be changed"):
        verdict.judgments[0].metadata["a"] = 2


# --- jurors that raise


class Surrogate(Exception):
    pass


class Speechless(Exception):
    def __str__(self):
        raise SystemError("nothing works")


class OwnBase(BaseException):
    pass


ORDINARY = [
    Surrogate("message with \ud800 and \udfff"), Speechless(), SystemExit("bye"), RecursionError(), MemoryError(),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), OSError(2, "gone", "\udc80.txt"), StopIteration(5),
    ExceptionGroup("two", [ValueError(1), KeyError(2)]), AssertionError(), Warning("w"),
    asyncio.CancelledError("a client inside was closed"),
]  # fmt: skip


@pytest.mark.parametrize("error", ORDINARY, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("schedule", ["parallel", "sequential", "early_stop"])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_juror_that_raises_is_one_error_among_its_peers(asynchronous, schedule, error):
    def plain(case):
        raise error

    async def waiting(case):
        await asyncio.sleep(0)
        raise error

    jury = Ensemble(
        [waiting if asynchronous else plain, always_pass(), always_pass("p")], schedule=schedule, errors="fail"
    )
    verdict = assert_sound(jury.judge("q"))
    assert verdict.status is Status.PASS
    for juror in verdict.judgments:
        assert juror.status is Status.PASS or juror.error.isprintable()


@pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit, OwnBase])
@pytest.mark.parametrize("schedule", ["parallel", "sequential", "early_stop"])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_is_no_exception_passes_at_once_and_cancels_the_others(asynchronous, schedule, error):
    def plain(case):
        raise error

    async def waiting(case):
        await asyncio.sleep(0)
        raise error

    waited = []

    async def peer(case):
        await asyncio.sleep(60)
        waited.append(case)

    jurors = [waiting if asynchronous else plain, judge(cost=1.0)(peer), judge(cost=1.0)(peer)]
    with pytest.raises(error):
        Ensemble(jurors, schedule=schedule).judge("q")
    assert waited == []
    assert later(True).judge("q").passed


@pytest.mark.parametrize("schedule", ["parallel", "sequential", "early_stop"])
def test_a_juror_that_hangs_costs_its_limit_and_no_more(schedule):
    release, waited = threading.Event(), []
    hangs = judge(name="hangs")(lambda case: waited.append(release.wait(60)))
    jurors = [hangs, later(True, 60, "sleeps"), always_pass(), always_pass("p"), always_pass("r")]
    verdict = assert_sound(Ensemble(jurors, juror_timeout=0.1, schedule=schedule).judge("q"))
    assert waited == []
    release.set()
    assert verdict.status is Status.PASS
    assert {j.error for j in verdict.judgments if j.status is Status.ERROR} <= {"timeout"}
    assert schedule == "early_stop" or verdict.tally.errors == 2


def test_a_voting_function_that_breaks_loses_no_judgment():
    verdict = assert_sound(Ensemble([always_pass(), always_fail()], voting=lambda judgments: {}[Surrogate]).judge("q"))
    assert verdict.status is Status.ERROR
    assert [j.status for j in verdict.judgments] == ["PASS", "FAIL"]


# --- many


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["parallel", "early_stop"])
@pytest.mark.parametrize("make", [always_pass, lambda name: later(True, 0, name)], ids=["plain", "async"])
def test_a_thousand_jurors_vote_in_proportion_to_their_number(make, schedule):
    def vote(count):
        verdict = Ensemble([make(f"j{i}") for i in range(count)], schedule=schedule, on="status").judge("q")
        assert verdict.status is Status.PASS
        if schedule == "parallel":
            assert (len(verdict.judgments), verdict.tally.passed, verdict.agreement) == (count, count, 1.0)
        else:
            assert count / 2 < len(verdict.judgments) < count
            assert len(verdict.judgments) + verdict.calls_saved == count
            assert verdict.partial
        assert len(max(str(verdict).splitlines(), key=len)) < 500
        assert Verdict.from_json(verdict.to_json()) == verdict

    # Jurors are asked in other threads.
    assert_proportional(vote, 300 if SLOW else 100, clock=time.process_time)


# --- texts


SCRIPTS = [
    "نعم", "да", "是", "はい", "예", "हाँ", "כן", "\u03bd\u03b1\u03b9", "ใช่", "አዎ", "😀👩\u200d👩\u200d👧", "\u202eevil",
    "a\nb", "\x1b[31mred",
    "PASS", "pass", " ", "", "\x00", "\ud800", "ﬁ", "İ", "<b>", "e\u0301", "é", "{answer}", "%s", "\\n", "null", "NaN",
]  # fmt: skip


@pytest.mark.parametrize("voting", ["majority", "weighted", "unanimous", "first_disagreement"])
def test_labels_of_every_script_are_counted_as_they_are(voting):
    jurors = [says(Judgment(None, label=label), f"j{i}") for i, label in enumerate(SCRIPTS * 2)]
    verdict = assert_sound(Ensemble(jurors, voting=voting).judge("q"))
    cast = verdict.tally.ballots
    assert len(set(cast)) == len(SCRIPTS)
    assert cast[: len(SCRIPTS)] == cast[len(SCRIPTS) :]
    assert cast[3] == "はい"


@pytest.mark.slow
@given(st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=9))
def test_the_most_frequent_label_wins_whatever_it_is_made_of(labels):
    jury = Ensemble([says(Judgment(None, label=label)) for label in labels])
    verdict = assert_sound(jury.judge("q"))
    most = max(map(labels.count, labels))
    assert labels.count(verdict.label) == most
    assert verdict.label == next(label for label in labels if labels.count(label) == most)


def big(size):
    return "é<\x1b" + "x" * size


@pytest.mark.parametrize("where", ["answer", "reasoning", "label", "error", "raw_response"])
def test_megabytes_of_text_go_through_everything_in_proportion_and_are_shown_short(where):
    def judged(size):
        text = big(size)
        if where == "answer":
            juror = says((True, "short"))
        elif where == "error":
            juror = judge(lambda case: (_ for _ in ()).throw(ValueError(text)))
        else:
            juror = says(Judgment(None if where == "label" else "PASS", **{where: text}))
        verdict = Ensemble([juror, juror, always_pass()]).judge(question="q", answer=text if where == "answer" else "a")
        assert len(str(verdict)) < 5_000
        assert len(verdict._repr_html_()) < 10_000
        assert "\x1b" not in str(verdict)
        assert Verdict.from_json(verdict.to_json()) == verdict
        assert verdict.canonical_json()

    assert_proportional(judged, 500_000 if SLOW else 100_000, clock=time.process_time)


@pytest.mark.slow
def test_megabytes_of_every_kind_make_a_case_with_a_key():
    text = big(5_000_000)
    case = Case(question=text, answer=text, contexts=[text, text], metadata={"a": text})
    assert len(case.content_hash) == 32


def test_lone_surrogates_from_end_to_end_can_be_printed_written_and_read():
    bad = "lone \ud83d and \udc00"

    def echo(case):
        assert "\ufffd" in case.answer
        return Judgment("PASS", reasoning=bad, label=bad, model=bad, family=bad, raw_response=bad,
                        metadata={bad: [bad]}, findings=[Finding(bad, True, bad, bad)],
                        probabilities={bad: 1.0})  # fmt: skip

    async def raising(case):
        raise ValueError(bad)

    jury = Ensemble([judge(name=bad)(echo), judge(name=bad)(raising)], name=bad)
    cascade = CascadedJury([Tier("t\ud800", jury, "escalate_on_split"), Tier("final", jury, "final")], name=bad)
    case = Case(question=bad, answer=bad, contexts=[bad], metadata={bad: bad})
    verdict = assert_sound(cascade.judge(case))
    io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="strict").write(str(verdict) + verdict._repr_html_())
    for judgment in verdict.jurors():
        for text in (judgment.critic, judgment.reasoning, judgment.model, judgment.raw_response, judgment.error):
            (text or "").encode()
    assert "\ufffd" in verdict.critic


def test_weird_objects_in_metadata_become_text_and_never_break_a_jury():
    weird = {"weird": Weird(), "list": [Weird()], Weird.__name__: object(), "bytes": b"\xff", "set": {1, "a"},
             "nan": NAN, "huge": 10**6000, "numpy": np.float32(0.5), "array": np.zeros(3), "type": int,
             "lambda": len}  # fmt: skip
    verdict = assert_sound(Ensemble([says(Judgment("PASS", metadata=weird))]).judge(question="q", metadata=weird))
    metadata = verdict.judgments[0].metadata
    assert metadata["weird"] == metadata["list"][0] == "(Weird cannot be shown)"
    assert (metadata["nan"], metadata["numpy"]) == (None, 0.5)
    assert int(metadata["huge"], 16) == 10**6000


def test_metadata_too_deep_is_an_error_of_its_juror_and_a_value_error_of_its_case():
    deep = cyclic = {}
    for _ in range(5_000):
        deep = {"a": deep}
    cyclic["self"] = [cyclic]
    for value in (deep, cyclic):
        verdict = assert_sound(
            Ensemble([says(True), judge(lambda c, v=value: Judgment("PASS", metadata=v))]).judge("q")
        )
        assert [j.status for j in verdict.judgments] == ["PASS", "ERROR"]
        with pytest.raises(ValueError, match="deeper than 100"):
            Case(question="q", metadata=value)
        (judgment,) = always_pass().judge_many([{"question": "q", "metadata": value}])
        assert judgment.status is Status.ERROR


def test_huge_integers_never_break_json_or_the_key():
    huge = 10**5000
    case = Case(question="q", metadata={"n": huge, "list": [huge, -huge]})
    assert len(case.content_hash) == 32
    verdict = Ensemble([says(Judgment("PASS", metadata={"n": huge}))]).judge(case)
    assert Verdict.from_json(verdict.to_json()) == verdict
    row = Case.from_row({"question": huge, "contexts": [huge], "extra": huge})
    assert int(row.question, 16) == huge


class Echo(Judge):
    def assess(self, case):
        return True, f"{case.question} {{answer}} %s"


@pytest.mark.slow
@given(st.text(), st.text(), st.lists(st.text()), st.dictionaries(st.text(), st.text()))
def test_any_text_goes_through_a_jury_and_back(question, answer, contexts, metadata):
    jury = CascadedJury([Tier("t", Ensemble([Echo(), Echo()]), "escalate_on_split"), Tier("f", Echo(), "final")])
    verdict = assert_sound(jury.judge(question=question, answer=answer, contexts=contexts, metadata=metadata))
    assert verdict.status is Status.PASS
    assert verdict.judgments[0].reasoning == f"{question} {{answer}} %s"
