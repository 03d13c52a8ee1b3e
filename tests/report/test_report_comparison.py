"""Two runs side by side."""

from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import CascadedJury, Case, ConfigurationError, Critic, Ensemble, Judge, Judgment, Tier, judge
from jury_adapters.core.batch import Judged, stream
from jury_adapters.core.judgment import evolve
from jury_adapters.core.statistics import paired_interval, unpaired_interval
from jury_adapters.report import Entry, Report
from jury_adapters.testing import ScriptedModel

COUNTS = st.tuples(*[st.integers(0, 40)] * 4).filter(any)


def report(passing, *, ids="abcd", title="", answer="x"):
    cases = [Case(answer=answer, metadata={"item_id": name}) for name in ids]
    jurors = [
        Judge.from_function(lambda case: (case.metadata["item_id"] in passing, "because of the first"), name="first"),
        Judge.from_function(lambda case: (case.metadata["item_id"] in passing, "because of the second"), name="second"),
        Judge.from_function(lambda case: True, name="easy"),
    ]
    return Report.from_results(stream(Ensemble(jurors), cases), title=title)


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
    assert (compared.rate_before, compared.rate_after, compared.difference) == (0.5, 0.75, 0.25)
    flip = next(flip for flip in compared.flips if flip.where == "c")
    assert (flip.before, flip.after, flip.answer_changed) == ("FAIL", "PASS", False)
    assert [(change.juror, change.reasoning) for change in flip.changes] == [
        ("first", "because of the first"), ("second", "because of the second"),
    ]  # fmt: skip
    assert flip.why == "first: FAIL -> PASS; second: FAIL -> PASS"
    assert "these 4 cases do not tell which" in compared.sentence
    assert "c: FAIL -> PASS" in str(compared)


def test_runs_are_matched_by_id_in_any_order_and_say_what_only_one_has():
    compared = report("ab", ids="abcx").compare(report("ab", ids="cbay", answer="another"))
    assert (compared.paired, compared.only_before, compared.only_after) == (3, 1, 1)
    assert "1 case is in a only and 1 in b only; they are left out." in str(compared)
    assert not compared.flips


def test_a_changed_answer_is_named():
    compared = report("a").compare(report("ab", answer="another"))
    assert compared.flips[0].why.startswith("the answer changed")


def test_what_changed_in_a_case_is_not_guessed_where_its_texts_are_not_known():
    before = Report([Entry(0, Judgment("PASS"), item_id="a", key="one")])
    after = Report([Entry(0, Judgment("FAIL"), item_id="a", key="two")])
    assert before.compare(after).flips[0].why.startswith("the question, contexts or answer changed")


def test_without_ids_content_decides_and_each_case_is_used_once():
    one, two, three = (Case(answer=text) for text in ("one", "two", "three"))
    before = [Judged(at, case, Judgment("PASS")) for at, case in enumerate([one, one, two, three])]
    after = [Judged(at, case, Judgment("PASS")) for at, case in enumerate([two, one])]
    compared = Report.from_results(before).compare(Report.from_results(after))
    assert (compared.paired, compared.only_before, compared.same_answers) == (2, 2, True)


def with_ids(cases):
    judged = [
        Judged(at, Case(question=question, answer=answer, metadata={"id": name}), Judgment(answer))
        for at, (name, question, answer) in enumerate(cases)
    ]
    return Report.from_results(judged)


def test_cases_of_one_id_are_paired_by_what_they_share():
    rows = [(f"t{ticket}", f"question {ticket} {part}", ("PASS", "FAIL")[part]) for ticket in range(20)
            for part in (0, 1)]  # fmt: skip
    compared = with_ids(rows).compare(with_ids(rows[::-1]))
    assert (compared.paired, compared.better, compared.worse, compared.other_questions) == (40, 0, 0, 0)
    assert compared.remarks[0].startswith("Warning: 20 ids occur more than once in a run; such cases are paired by")
    assert "Warning: 20 ids" in Report.from_results([Judgment("PASS")]).to_markdown(compared=compared)
    assert compared.to_dict()["warnings"] == list(compared.warnings)


def test_pairs_of_different_questions_are_counted_first():
    rows = [(f"t{at}", f"question {at}", "PASS") for at in range(30)]
    shifted = [(f"t{at}", f"question {at + 1}", "FAIL") for at in range(30)]
    compared = with_ids(rows).compare(with_ids(shifted))
    assert compared.remarks[0] == (
        "Warning: 30 of 30 pairs have different questions under one id, so different cases are compared; check the ids "
        "of both runs."
    )
    assert str(compared).splitlines()[2] == compared.remarks[0]
    assert compared.to_dict()["other_questions"] == 30
    assert not with_ids(rows).compare(with_ids(rows)).warnings


def summaries(letters, verdict, **more):
    judged = [
        (Case(answer=f"summary of {letter}", contexts=[letter], metadata={"id": f"L{at}"}, **more), Judgment(verdict))
        for at, letter in enumerate(letters)
    ]
    return Report.from_results(judged)


def test_pairs_without_questions_are_counted_by_their_contexts():
    november = [f"letter {at}" for at in range(30)]
    december = [f"letter {at + 30}" for at in range(29)] + november[29:]
    compared = summaries(november, "PASS").compare(summaries(december, "FAIL"))
    assert compared.remarks[0] == (
        "Warning: 29 of 30 pairs have no question and different contexts under one id, so different cases may be "
        "compared; check the ids of both runs."
    )
    assert compared.to_dict()["other_contexts"] == 29
    assert not summaries(november, "PASS").compare(summaries(november, "FAIL")).warnings


def test_contexts_of_one_question_may_differ():
    """Two retrievers find different passages for one question."""
    runs = [summaries([f"passage {at}"], "PASS", question="q") for at in range(2)]
    assert not runs[0].compare(runs[1]).warnings


def repeated(answers):
    cases = [Case(question=f"q{at // 2}", answer=answer) for at, answer in enumerate(answers)]
    verdicts = [Judgment("PASS" if case.answer.startswith("ok") else "FAIL") for case in cases]
    return Report.from_results(list(zip(cases, verdicts, strict=True)))


def test_repeated_questions_without_ids_are_independent_samples():
    """Only the answers that two engines share could be paired, and they hide the difference."""
    engines = [[f"{word}, attempt {at}" for at in range(20)] for word in ("no", "ok")]
    for answers in engines:
        answers[7] = "I do not know."
    compared = repeated(engines[0]).compare(repeated(engines[1]))
    assert (compared.paired, compared.only_before, compared.only_after) == (0, 20, 20)
    assert compared.difference == pytest.approx(0.95)
    assert not compared.same_answers
    told = str(compared)
    assert "Cases cannot be paired: questions repeat, not every case has an id, and only 1 of 20 cases" in told
    assert "the same id to compare them as pairs" in told
    with pytest.raises(ConfigurationError, match="questions repeat"):
        repeated(engines[0]).compare(repeated(engines[1]), labels=[labelled("c", "x", True)])
    assert repeated(engines[0]).compare(repeated(engines[0])).same_answers


def retriever(found):
    judge = Judge.from_function(lambda case: "p2" in case.metadata["retrieved_ids"], name="recall")
    cases = [Case(question=f"q{at}", retrieved_ids=[found], relevant_ids=["p2"]) for at in range(12)]
    return Report.from_results(judge.judge_pairs(cases))


def test_retrievers_that_found_other_documents_are_two_systems():
    compared = retriever("p1").compare(retriever("p2"))
    assert not compared.same_answers
    assert "same answers" not in str(compared)
    assert "b is better" in str(compared)
    assert compared.flips[0].why == "the retrieved_ids changed; recall: FAIL -> PASS"
    assert retriever("p1").compare(retriever("p1")).same_answers


def test_a_single_judge_is_the_juror_of_a_panel_with_its_model_and_rubric():
    case = Case(question="q", answer="a", metadata={"id": "one"})
    rubric = {"rubric_fingerprint": "r"}
    single = Judgment("FAIL", critic="faithfulness", model="gpt-4o-mini", metadata=rubric)
    votes = [
        Judgment("PASS", critic=f"faithfulness {model}", model=model, metadata=rubric)
        for model in ("gpt-4o-mini", "other")
    ]
    panel = Ensemble([lambda case: True] * 2).aggregate(votes)
    compared = Report.from_results([(case, single)]).compare(Report.from_results([(case, panel)]))
    assert compared.flips[0].why == ("faithfulness gpt-4o-mini: FAIL -> PASS; faithfulness other: not asked -> PASS")


def test_large_changes_are_called_so():
    before, after = Report.from_results([Judgment("FAIL")] * 40), Report.from_results([Judgment("PASS")] * 40)
    assert before.compare(after).sentence.startswith("b passes 100.0 percentage points more cases than a")
    assert after.compare(before).sentence.startswith("b passes 100.0 percentage points fewer cases than a")


def test_runs_without_a_common_case_are_independent_samples():
    compared = report("ab", ids="abc", title="v1").compare(report("wxyz", ids="wxyz", title="v2"))
    assert (compared.paired, compared.only_before, compared.only_after, compared.decided) == (0, 3, 4, 7)
    assert (compared.rate_before, compared.rate_after, compared.p_value) == (2 / 3, 1.0, None)
    assert compared.interval == unpaired_interval(2, 3, 4, 4)
    assert "compared as independent samples" in str(compared)
    assert not compared.flips


def test_nothing_decided():
    undecided = Report.from_results([Judgment("ABSTAIN", reasoning="cannot say")])
    compared = undecided.compare(undecided)
    assert compared.interval is None
    assert "nothing to compare" in compared.sentence
    assert "nothing to compare" in str(compared)
    assert compared.to_dict()["difference"] is None


@pytest.mark.slow
def test_names_and_direction_are_in_every_form():
    before, after = report("ab", title="v1"), report("abc", title="v2")
    compared = before.compare(after)
    markdown, page = after.to_markdown(compared=compared), after.to_html(compared=compared)
    for told in (str(compared), markdown, page):
        assert "v1" in told
        assert "v2" in told
        assert all(remark in unescape(told) for remark in compared.remarks)
    assert str(compared).splitlines()[:2] == ["a: v1", "b: v2"]
    assert "b minus a" in compared.sentence
    assert compared.to_dict()["direction"] == "after minus before"
    assert before.compare(before).before != before.compare(before).after  # one name is not enough for two


def labelled(case_id, answer, gold):
    return {"item_id": case_id, "answer": answer, "gold": gold}


IDS = [f"c{at:02}" for at in range(40)]


def two_systems(passed_by_a, passed_by_b):
    return report(passed_by_a, ids=IDS, title="a", answer="x"), report(passed_by_b, ids=IDS, title="b", answer="y")


def test_labels_belong_to_answers_and_correct_the_difference():
    """The jury passes everything of b; people do not, and both systems are equally good."""
    a, b = two_systems(IDS[:20], IDS)
    rows = [labelled(name, "x", name in IDS[:20]) for name in IDS[10:30]]
    rows += [labelled(name, "y", name in IDS[:20]) for name in IDS[10:30]]
    compared = a.compare(b, labels=rows)
    assert compared.difference == 0.5
    assert compared.interval[0] > 0
    assert abs(compared.corrected.value) < 0.1
    assert compared.corrected.interval[0] < 0 < compared.corrected.interval[1]
    assert compared.corrected.details["labelled"] == 20
    assert compared.sentence == compared.corrected.sentence
    assert compared.unmatched_labels == 0
    backwards = b.compare(a, labels=rows)
    assert backwards.corrected.value == pytest.approx(-compared.corrected.value)
    assert backwards.corrected.interval == pytest.approx(tuple(-end for end in compared.corrected.interval[::-1]))


def test_labels_that_belong_to_no_answer_are_counted():
    a, b = two_systems(IDS[:20], IDS[:25])
    rows = [labelled(name, text, True) for name in IDS[:30:2] for text in "xy"]
    rows += [labelled("c01", "another answer", True), labelled("elsewhere", "z", False), labelled("c39", "x", True)]
    compared = a.compare(b, labels=rows)
    assert compared.unmatched_labels == 2
    assert "2 labels belong to no compared answer and are left out." in str(compared)
    assert (compared.corrected.details["labelled"], compared.corrected.details["labelled_once"]) == (15, 1)


def test_labels_without_all_fields_are_found_by_id_and_answer():
    def run(title, answer):
        cases = [Case(question=f"When, {name}?", answer=answer, metadata={"item_id": name}) for name in IDS]
        return Report.from_results([Judged(at, case, Judgment("PASS")) for at, case in enumerate(cases)], title=title)

    rows = [labelled(name, text, "yes") for name in IDS[:9] for text in ("x ", "y")]
    compared = run("a", "x").compare(run("b", "y"), labels=rows, pass_labels=["yes"])
    assert (compared.corrected.details["labelled"], compared.unmatched_labels) == (9, 0)


def test_labels_that_cannot_correct_say_so():
    a, b = two_systems(IDS[:20], IDS[:25])
    of_one = a.compare(b, labels=[labelled(name, "x", True) for name in IDS[:30]])
    assert of_one.corrected.value is None
    assert of_one.sentence == of_one.found.sentence
    assert "The labels do not correct the difference: it takes cases with labels of both answers" in str(of_one)
    with pytest.raises(ConfigurationError, match="none of the 1 label belongs to a compared answer"):
        a.compare(b, labels=[labelled("c01", "else", True)])
    with pytest.raises(ConfigurationError, match="both runs judged the same answers"):
        a.compare(a, labels=[labelled("c01", "x", True)])
    with pytest.raises(ConfigurationError, match="give both answers to a question the same id"):
        a.compare(report("", ids=["else"]), labels=[labelled("c01", "x", True)])
    with pytest.raises(ConfigurationError, match="human labels are fine 1"):
        a.compare(b, labels=[labelled("c01", "x", "fine")])


def test_the_name_of_a_file_of_labels_is_refused():
    a, b = two_systems(IDS[:20], IDS[:25])
    with pytest.raises(ConfigurationError, match=r"not the name of a file \('labels.csv'\)"):
        a.compare(b, labels="labels.csv")


def test_groups_are_read_from_the_cases():
    def run(passing, answer):
        cases = [Case(answer=answer, metadata={"item_id": name, "meta": {"doc": at // 10}})
                 for at, name in enumerate(IDS)]  # fmt: skip
        verdicts = (Judgment("PASS" if name in passing else "FAIL") for name in IDS)
        return Report.from_results(
            [Judged(at, case, said) for at, (case, said) in enumerate(zip(cases, verdicts, strict=True))]
        )

    a, b = run(IDS[:10], "x"), run(IDS[:20], "y")
    alone, together = a.compare(b), a.compare(b, group="meta.doc")
    assert together.difference == alone.difference
    assert together.interval[0] < 0 < alone.interval[0]
    assert together.p_value > alone.p_value
    with pytest.raises(ConfigurationError, match=r"c00 has no meta\.chapter"):
        a.compare(b, group="meta.chapter")
    with pytest.raises(ConfigurationError, match="only the metadata in its verdict"):
        Report.from_results([Judgment("PASS")]).compare(Report.from_results([Judgment("FAIL")]), group="meta.doc")


def test_no_more_changed_cases_are_shown_than_can_be_read():
    compared = Report.from_results([Judgment("FAIL")] * 40).compare(Report.from_results([Judgment("PASS")] * 40))
    assert "  and 25 more changed cases" in str(compared)
    assert len(compared.to_dict()["flips"]) == 40


def test_both_answers_of_a_changed_case_are_shown_without_control_characters():
    a, b = report("ab", answer="old"), report("abc", answer="new\x1b[2J")
    told = str(a.compare(b))
    assert "    answer of a: old\n    answer of b: new\\x1b[2J" in told


def judged_by(answer, *jurors, voting="majority", names=("one", "two")):
    votes = [
        Judgment("PASS", critic=name, model=model, metadata={"rubric_fingerprint": rubric})
        for name, (model, rubric) in zip(names, jurors, strict=True)
    ]
    verdict = Ensemble([lambda case: True] * 2, voting=voting).aggregate(votes)
    return Report.from_results([(Case(answer=answer, metadata={"id": "x"}), verdict)])


def test_a_warning_names_what_differs_between_two_juries():
    plain = judged_by("x", ("m", "r"), ("n", "r"))
    other = judged_by("y", ("m", "s"), ("o", "r"), voting="unanimous")
    compared = plain.compare(other)
    assert compared.remarks[0] == (
        "Warning: different juries judged a and b, so the difference is not one of the systems alone: a votes by "
        "majority and b by unanimous; one has another rubric in b; two is n in a and o in b."
    )
    assert not plain.compare(judged_by("y", ("m", "r"), ("n", "r"))).warnings
    renamed = plain.compare(judged_by("y", ("m", "r"), ("n", "r"), names=("one", "three")))
    assert "1 juror is in a only (two); 1 juror is in b only (three)" in renamed.warnings[0]
    assert not plain.compare(judged_by("x", ("m", "s"), ("o", "r"))).warnings  # the same answers: two juries


def test_a_warning_names_another_policy_of_a_tier():
    def run(policy, answer):
        jury = CascadedJury([Tier("screen", lambda case: True, policy), Tier("last", lambda case: True)])
        return Report.from_results(jury.judge_pairs([Case(answer=answer, metadata={"id": "x"})]))

    compared = run("reject_on_any_fail", "x").compare(run("accept_on_all_pass", "y"))
    assert "in screen, a has the policy reject_on_any_fail and b accept_on_all_pass" in compared.warnings[0]
    assert not run("reject_on_any_fail", "x").compare(run("reject_on_any_fail", "y")).warnings


def test_jurors_that_a_jury_did_not_need_are_no_difference():
    full = judged_by("x", ("m", "r"), ("n", "r"))
    stopped = Ensemble([lambda case: True] * 2).aggregate([Judgment("PASS", critic="one", model="m")])
    partial = Report.from_results([(Case(answer="y", metadata={"id": "x"}), evolve(stopped, skipped=("two",)))])
    assert not full.compare(partial).warnings


def test_a_run_in_which_fallbacks_voted_was_judged_by_another_jury():
    """A model that is down in one run makes the difference one of juries, not of systems."""
    cases = [Case(id=f"q{at}", question=f"{at}?", answer="yes") for at in range(40)]

    @judge
    def down(case: Case) -> Judgment:
        raise ConnectionError("the server is down")

    @judge
    def other(case: Case) -> Judgment:
        return Judgment("PASS", model="other-model")

    @judge
    def own(case: Case) -> Judgment:
        return Judgment("FAIL", model="own-model")

    def run(juror, answer):
        judged = [case.model_copy(update={"answer": f"{answer} {case.item_id}"}) for case in cases]
        return Report.from_results(Ensemble([juror.named("mini")]).judge_pairs(judged))

    up, replaced = run(own.with_fallbacks([other]), "a"), run(down.with_fallbacks([other]), "b")
    compared = run(own, "c").compare(replaced)
    assert "mini voted itself in a and was replaced by other in 40 of 40 votes in b" in compared.warnings[0]
    assert up.compare(run(own, "d")).warnings == ()


def test_runs_with_different_fallbacks_were_judged_by_two_juries():
    @judge
    def main(case: Case) -> Judgment:
        if int(case.item_id) % 5 < 2:
            raise ConnectionError("the server is down")
        return Judgment("PASS")

    def run(*fallbacks, answer):
        cases = [Case(id=f"{at}", question=f"{at}?", answer=answer) for at in range(50)]
        names = [judge(lambda case: True, name=name) for name in fallbacks]
        return Report.from_results(Ensemble([main.with_fallbacks(names)]).judge_pairs(cases))

    compared = run("small", answer="yes").compare(run("large", answer="no"))
    assert "main was replaced by small in 20 of 50 votes in a and was replaced by large in 20" in compared.warnings[0]
    assert run("small", answer="yes").compare(run("small", answer="no")).warnings == ()


def early(*names, stops=True):
    """Return a panel of these jurors, which all pass; it stops as soon as its vote is decided."""
    jurors = [Critic(ScriptedModel("YES"), "answer_relevance", name=name) for name in names]
    return Ensemble(jurors, schedule="early_stop" if stops else "parallel")


def compared_juries(first, second):
    before, after = (
        Report.from_results(list(jury.judge_pairs([{"question": q, "answer": version + q} for q in "xyz"])))
        for jury, version in ((first, "a"), (second, "b"))
    )
    return " ".join(before.compare(after).warnings)


def test_other_jurors_are_named_also_where_a_jury_stops_early():
    one = early("a", "b", "c")
    assert one.judge(question="x", answer="x").skipped == ("c",)
    assert compared_juries(one, early("a", "b", "c")) == ""
    assert compared_juries(one, early("a", "b", "c", stops=False)) == ""
    assert "1 juror is in a only (c); 1 juror is in b only (d)" in compared_juries(one, early("a", "b", "d"))
    assert "1 juror is in a only (c)" in compared_juries(one, early("a", "b"))
    assert "3 jurors are in a only (a, b, c); 1 juror is in b only (z)" in compared_juries(one, early("z"))


def test_other_jurors_are_named_also_in_a_tier_that_no_case_reached():
    def cascade(*names, tier="last"):
        last = Tier(tier, early(*names, stops=False))
        return CascadedJury([Tier("first", early("a", "b"), "escalate_on_split"), last])

    one = cascade("c", "d")
    assert one.judge(question="x", answer="x").skipped == ("last",)
    assert compared_juries(one, cascade("c", "d")) == ""
    assert compared_juries(one, cascade("e")) == ""  # neither was asked, so the difference is none of the juries
    other = compared_juries(one, cascade("e", tier="other"))
    assert "1 juror is in a only (last); 1 juror is in b only (other)" in other


def test_labels_of_both_runs_are_named_where_they_do_not_correct():
    def judged(answer):
        cases = [Case(answer=answer, metadata={"id": name, "gold": "PASS"}) for name in IDS]
        return Report.from_results([(case, Judgment("PASS")) for case in cases])

    compared = judged("x").compare(judged("y"))
    assert compared.unused_labels == 40
    assert compared.warnings == (
        "human labels of both answers of 40 cases are in the results, and do not correct this difference; jury compare "
        "--labels, or labels= in Python, corrects it.",
    )


@pytest.mark.parametrize("tiered", [False, True])
def test_other_weights_of_a_juror_make_another_jury(tiered):
    def judged(answer, *weights):
        jurors = [Judge.from_function(lambda case: True, name=name) for name in ("kind", "stern")]
        jury = Ensemble(jurors, voting="weighted", weights=weights)
        cases = [Case(answer=answer, metadata={"item_id": name}) for name in "abcd"]
        return Report.from_results(stream(CascadedJury([Tier("panel", jury)]) if tiered else jury, cases))

    before = judged("x", 1, 3)
    warnings = before.compare(judged("y", 1, 5)).warnings
    assert "different juries judged" in warnings[0]
    assert "stern has the weight 3 in a and 5 in b" in warnings[0]
    assert "kind has" not in warnings[0]
    assert "different juries" not in " ".join(before.compare(judged("y", 1, 3)).warnings)


def test_copies_under_one_id_do_not_make_a_difference_certain():
    before = [(f"t{at}", f"question {at}", "PASS" if at % 7 < 4 else "FAIL") for at in range(70)]
    after = [(f"t{at}", f"question {at}", "PASS" if at % 7 not in (3, 6) else "FAIL") for at in range(70)]
    once = with_ids(before).compare(with_ids(after))
    thrice = with_ids(before * 3).compare(with_ids(after * 3))
    independent = with_ids(before * 3).compare(with_ids(after * 3), group="")
    assert (once.paired, thrice.paired, thrice.groups, once.groups) == (70, 210, 70, None)
    assert thrice.difference == once.difference
    assert thrice.interval[0] <= once.interval[0] + 0.01 < independent.interval[0]
    assert thrice.p_value == pytest.approx(once.p_value, abs=0.005)
    assert (once.found.details["better"], thrice.found.details["better"]) == (None, None)
    assert independent.found.details["better"] == "b"
    assert "count as one group" in thrice.remarks[0]
    assert "count as one group" not in independent.remarks[0]


def test_a_named_group_counts_before_repeated_ids():
    def report(answers):
        places = [{"id": f"t{at % 5}", "document": f"d{at % 10}"} for at in range(len(answers))]
        cases = [Case(question="q", answer=said, metadata=at) for said, at in zip(answers, places, strict=True)]
        return Report.from_results([(case, Judgment(case.answer)) for case in cases])

    a, b = report(["PASS"] * 20), report(["PASS", "FAIL"] * 10)
    assert (a.compare(b).groups, a.compare(b, group="document").groups) == (5, 10)


def months(prefix, share, copies, *, named):
    """A month of tickets that no other month has; some rows are there several times."""
    rows = [(f"{prefix}{at}", f"{prefix} {at}", "PASS" if at % 20 < share else "FAIL") for at in range(60)] * copies
    if named:
        return with_ids(rows)
    return Report.from_results(
        [Judged(at, Case(answer=f"{asked} {said}"), Judgment(said)) for at, (_, asked, said) in enumerate(rows)]
    )


@pytest.mark.parametrize("named", [True, False])
def test_copies_do_not_make_a_difference_of_independent_samples_certain(named):
    def found(copies, **options):
        return months("may", 12, copies, named=named).compare(months("june", 15, copies, named=named), **options)

    once, often, independent = found(1), found(4), found(4, group="")
    assert (once.paired, often.paired, often.groups) == (0, 0, 120)
    assert (once.found.details["better"], often.found.details["better"]) == (None, None)
    assert independent.found.details["better"] == "b"
    assert often.interval[0] <= once.interval[0] + 0.01
    assert not once.warnings
    assert often.warnings == (
        "360 cases have the id of an earlier case of the same run, or without ids its content; such copies count as "
        "one group.",
    )
    assert not independent.warnings
