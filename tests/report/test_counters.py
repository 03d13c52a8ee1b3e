from __future__ import annotations

from collections import Counter

from jury_adapters import CascadedJury, Case, Ensemble, Judgment, Status, Tier, Verdict, abstain
from jury_adapters.core.judge import Judge
from jury_adapters.report.counters import OTHER, JurorCount, add_bounded
from jury_adapters.report.review_order import ReviewOrder


def saying(answer: bool | Status | Judgment, name: str) -> Judge:
    return Judge.from_function(lambda case: answer, name=name)


def test_a_counter_of_anything_stays_small():
    counter: Counter[str] = Counter()
    for number in range(10_000):
        add_bounded(counter, str(number))
    add_bounded(counter, "0")
    assert len(counter) == 51
    assert counter["0"] == 2
    assert counter[OTHER] == 9_950


def test_dissent_compares_only_what_both_decided():
    count = JurorCount()
    for own, verdict in (
        ("PASS", "PASS"),
        ("FAIL", "PASS"),
        ("ABSTAIN", "PASS"),
        ("PASS", "ABSTAIN"),
        ("ERROR", "FAIL"),
    ):
        count.add(*(Judgment(status, reasoning="r", error="e") for status in (own, verdict)))
    assert (count.compared, count.dissents, count.dissent) == (2, 1, 0.5)
    assert count.votes == {"PASS": 2, "FAIL": 1, "ABSTAIN": 1, "ERROR": 1}
    assert JurorCount().dissent is None


def test_a_juror_that_only_reason_is_one_without_opinion_and_with_one_reason():
    misspelt, careful, voting = JurorCount(), JurorCount(), JurorCount()
    for reason in ("a", "b"):
        misspelt.add(abstain("no vote is recorded"), Judgment("PASS"))
        careful.add(abstain(reason), Judgment("PASS"))
        voting.add(Judgment("PASS"), Judgment("PASS"))
    voting.add(abstain("no vote is recorded"), Judgment("PASS"))
    found = (misspelt.only_reason, careful.only_reason, voting.only_reason)
    assert found == ("no vote is recorded", None, None)


def test_contested_cases_come_first_then_broken_then_undecided():
    jury = Ensemble([saying(True, "a"), saying(False, "b"), saying(False, "c")])
    contested = jury.judge("?")
    evenly = Ensemble([saying(True, "a"), saying(False, "b")]).judge("?")
    look = ReviewOrder(keep=4)
    look.add("undecided", abstain("cannot say"))
    look.add("fine", Judgment("PASS"))
    look.add("broken", Judgment("ERROR", error="ValueError: x"))
    look.add("contested", contested)
    look.add("evenly", evenly)
    assert [concern.where for concern in look.cases()] == ["evenly", "contested", "broken", "undecided"]
    assert [concern.why for concern in look.cases()] == [
        "PASS: a; FAIL: b", "PASS: a; FAIL: b, c", "ValueError: x", "cannot say",
    ]  # fmt: skip


def test_only_the_most_urgent_are_kept_and_the_earlier_of_equals():
    look = ReviewOrder(keep=2)
    for number in range(1000):
        look.add(str(number), abstain("cannot say"))
    assert look.total == 1000
    assert [concern.where for concern in look.cases()] == ["0", "1"]
    look.add("urgent", Judgment("ERROR", error="x"))
    assert [concern.where for concern in look.cases()] == ["urgent", "0"]


def test_of_a_cascade_the_reason_is_that_of_its_last_tier():
    jury = CascadedJury([Tier("only", saying(abstain("no contexts"), "b"))])
    look = ReviewOrder()
    look.add("x", jury.judge("?"))
    assert look.cases()[0].why == "no contexts"


def test_same_family_is_said_of_a_contested_case():
    panel = (("PASS", "gpt-4o"), ("FAIL", "claude-3-5-haiku"), ("FAIL", "mistral-large"))
    recorded = [saying(Judgment(status, model=model), model) for status, model in panel]
    verdict = Ensemble(recorded).judge(Case(question="?", generator="gpt-4o"))
    assert isinstance(verdict, Verdict)
    look = ReviewOrder()
    look.add("x", verdict)
    assert look.cases()[0].why.startswith("PASS: gpt-4o; FAIL: ")
