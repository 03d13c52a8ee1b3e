"""Two runs side by side."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import Case, ConfigurationError, Ensemble, Judge, Judgment
from jury_adapters.core.batch import Judged, stream
from jury_adapters.core.statistics import paired_interval
from jury_adapters.report import Entry, Report

COUNTS = st.tuples(*[st.integers(0, 40)] * 4).filter(any)


def report(passing, *, ids="abcd", title="", answer="x"):
    cases = [Case(answer=answer, metadata={"item_id": name}) for name in ids]
    jurors = [
        Judge.from_function(lambda case: (case.metadata["item_id"] in passing, "because of the first"), name="first"),
        Judge.from_function(lambda case: (case.metadata["item_id"] in passing, "because of the second"), name="second"),
        Judge.from_function(lambda case: True, name="easy"),
    ]
    return Report.of(stream(Ensemble(jurors), cases), title=title)


def test_the_interval_is_newcombes():
    # R. G. Newcombe (1998), table II: of 50 pairs 36 positive twice, 12 first only, 2 second only; method 10.
    assert paired_interval(36, 2, 12, 0) == pytest.approx((0.0569, 0.3404), abs=5e-5)


@given(COUNTS)
def test_the_interval_holds_the_difference_and_turns_with_the_runs(counts):
    kept, lost, won, missed = counts
    low, high = paired_interval(kept, lost, won, missed)
    assert -1 <= low <= (won - lost) / sum(counts) + 1e-12
    assert (won - lost) / sum(counts) - 1e-12 <= high <= 1
    assert paired_interval(kept, won, lost, missed) == pytest.approx((-high, -low))


def test_flips_say_which_jurors_changed_and_why():
    compared = report("ab", title="v1").compare(report("bcd", title="v2"))
    assert (compared.paired, compared.decided, compared.better, compared.worse) == (4, 4, 2, 1)
    assert (compared.passed_before, compared.passed_after, compared.difference) == (2, 3, 0.25)
    flip = next(flip for flip in compared.flips if flip.where == "c")
    assert (flip.before, flip.after, flip.answer_changed) == ("FAIL", "PASS", False)
    assert [(change.juror, change.reasoning) for change in flip.changes] == [
        ("first", "because of the first"), ("second", "because of the second"),
    ]  # fmt: skip
    assert flip.why == "first: FAIL -> PASS; second: FAIL -> PASS"
    assert "no change" in compared.sentence
    assert "c: FAIL -> PASS" in str(compared)


def test_runs_are_matched_by_id_in_any_order_and_say_what_only_one_has():
    compared = report("ab", ids="abcx").compare(report("ab", ids="cbay", answer="another"))
    assert (compared.paired, compared.only_before, compared.only_after) == (3, 1, 1)
    assert not compared.flips


def test_a_changed_answer_is_named():
    compared = report("a").compare(report("ab", answer="another"))
    assert compared.flips[0].why.startswith("the answer changed")


def test_what_changed_in_a_case_is_not_guessed_where_its_texts_are_not_known():
    before = Report([Entry(0, Judgment("PASS"), item_id="a", key="one")])
    after = Report([Entry(0, Judgment("FAIL"), item_id="a", key="two")])
    assert before.compare(after).flips[0].why.startswith("the question, contexts or answer changed")


def test_without_ids_content_decides_and_each_case_is_used_once():
    one, two = Case(answer="one"), Case(answer="two")
    before = Report.of([Judged(0, one, Judgment("PASS")), Judged(1, one, Judgment("FAIL"))])
    after = Report.of([Judged(0, two, Judgment("PASS")), Judged(1, one, Judgment("PASS"))])
    assert before.compare(after).paired == 1


def test_large_changes_are_called_so():
    before, after = Report.of([Judgment("FAIL")] * 40), Report.of([Judgment("PASS")] * 40)
    assert before.compare(after).sentence.startswith("The pass rate rose: +100.0")
    assert after.compare(before).sentence.startswith("The pass rate fell: -100.0")


def test_nothing_in_common_and_nothing_decided():
    with pytest.raises(ConfigurationError, match="share no case"):
        report("", ids="ab").compare(report("", ids="cd"))
    undecided = Report.of([Judgment("ABSTAIN", reasoning="cannot say")])
    compared = undecided.compare(undecided)
    assert compared.interval is None
    assert "nothing to compare" in compared.sentence
    assert compared.to_dict()["difference"] is None
