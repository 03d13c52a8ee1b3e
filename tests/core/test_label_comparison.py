"""The jury and its jurors against human labels, counted case by case."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import CascadedJury, Case, Ensemble, Judgment, Report, Scorecard, Tier, Verdict
from jury_adapters.core.clustered_shares import clustered_wilson
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.function_judge import FunctionJudge
from jury_adapters.core.label_comparison import LabelComparison


def counted(pairs, pass_labels=()):
    against = LabelComparison(pass_labels)
    for at, (gold, judgment) in enumerate(pairs):
        against.add(Case(answer=f"answer {at}", metadata={"gold": gold}), judgment, f"line {at + 1}")
    return against


def undecided():
    return Judgment("ABSTAIN", reasoning="cannot say")


def test_false_passes_and_false_fails_have_their_own_denominators():
    said = ["PASS", "PASS", "FAIL", "PASS", "FAIL", "ABSTAIN"]
    gold = ["good", "good", "good", "bad", "bad", "bad"]
    pairs = [
        (g, Judgment(s, reasoning="r") if s != "ABSTAIN" else undecided()) for g, s in zip(gold, said, strict=True)
    ]
    jury = counted(pairs, ["good"]).jury
    assert (jury.coverage.hits, jury.coverage.n) == (5, 6)
    assert (jury.false_passes.hits, jury.false_passes.n) == (1, 2)  # the undecided bad one lowers the coverage only
    assert (jury.false_fails.hits, jury.false_fails.n) == (1, 3)
    assert (jury.accuracy.hits, jury.accuracy.n) == (3, 5)


def test_a_third_human_label_leaves_jurors_with_labels_of_their_own_comparable():
    said = [("PASS", "YES")] * 15 + [("FAIL", "NO")] * 12 + [("UNSURE", "NO")] * 3
    against = LabelComparison()
    for at, (gold, label) in enumerate(said):
        juror = Judgment("PASS" if label == "YES" else "FAIL", label=label)
        jury = Ensemble({"m": lambda case, juror=juror: juror}).judge(answer=str(at))
        against.add(Case(answer=str(at), metadata={"gold": gold}), jury)
    assert (against.jury.accuracy.hits, against.jury.accuracy.n) == (27, 30)
    assert (against.jurors[0].accuracy.hits, against.jurors[0].accuracy.n) == (27, 30)


def test_several_labels_that_count_as_fail_are_named():
    pairs = [("good", Judgment("PASS")), ("bad", Judgment("FAIL")), ("unclear", Judgment("PASS"))]
    note = "All labels that are not said to mean PASS count as FAIL (bad 1, unclear 1)."
    assert any(one.startswith(note) for one in counted(pairs, ["good"]).notes)
    assert not any(one.startswith("All labels") for one in counted(pairs[:2], ["good"]).notes)


def test_nothing_is_shown_without_labels():
    against = counted([(None, Judgment("PASS")), ("", Judgment("FAIL"))])
    assert (against.cases, against.rows, against.to_dict(), str(against)) == (0, (), None, "")
    assert (against.jury, against.problem, against.notes) == (None, "", ())


def test_an_unknown_meaning_is_a_problem_with_its_fix_and_no_guess():
    against = counted([("valid", Judgment("PASS")), ("invalid", Judgment("FAIL"))])
    assert against.rows == ()
    assert "human labels are invalid 1, valid 1, and the jury says PASS and FAIL" in against.problem
    assert "--pass-label LABEL" in against.problem
    assert "No figures" in str(against)
    assert against.to_dict()["problem"] == against.problem


def test_the_meaning_is_learned_from_jurors_that_give_label_and_status():
    judgments = [Judgment("PASS", label="valid"), Judgment("FAIL", label="invalid"), Judgment("PASS", label="valid")]
    against = counted(zip(["valid", "invalid", "invalid"], judgments, strict=True))
    assert (against.jury.false_passes.hits, against.jury.false_passes.n) == (1, 2)
    assert against.to_dict()["pass_labels"] == ["valid"]
    assert "human labels pass 1 (valid) and fail 2 (invalid)" in against.headline


def test_a_misspelt_pass_label_makes_no_figures():
    against = counted([("valid", Judgment("PASS")), ("invalid", Judgment("FAIL"))], ["vaild"])
    assert against.unknown_pass_label.startswith("no labelled case has the label 'vaild' (did you mean 'valid'?)")
    assert against.unknown_pass_label in against.problem
    with pytest.raises(ConfigurationError, match="list of labels"):
        LabelComparison("valid")


def test_a_batch_without_any_pass_has_figures_and_says_what_its_labels_mean():
    against = counted([("reject", Judgment("FAIL")), ("reject", Judgment("PASS"))], ["publish"])
    assert (against.problem, against.unknown_pass_label) == ("", "")
    assert (against.jury.false_passes.hits, against.jury.false_passes.n) == (1, 2)
    said = "No labelled case has a label that means PASS; all mean FAIL (reject 2)."
    assert said in against.notes
    both = counted([("reject", Judgment("FAIL")), ("publish", Judgment("PASS"))], ["publish"])
    assert not any("all mean FAIL" in note for note in both.notes)


def test_juries_of_labels_have_no_false_passes_and_the_most_frequent_label_beside_them():
    pairs = [("keep", "keep"), ("keep", "keep"), ("merge", "keep"), ("split", "merge")]
    against = counted([(gold, Judgment(None, label=said)) for gold, said in pairs])
    assert not against.pass_fail
    assert (against.jury.accuracy.hits, against.jury.false_passes) == (2, None)
    assert [row.name for row in against.constants] == ["always keep"]
    assert "no false passes" in " ".join(against.notes)
    pairwise = counted([(gold, Judgment(None, label=said)) for gold, said in [("A", "A"), ("B", "A"), ("tie", "A")]])
    assert "false passes" not in " ".join(pairwise.notes)


def test_labels_of_a_jury_that_pass_have_false_passes_when_named():
    pairs = [("valid", "valid"), ("invalid", "valid"), ("invalid", "invalid")]
    against = counted([(gold, Judgment(None, label=said)) for gold, said in pairs], ["valid"])
    assert (against.pass_fail, against.jury.false_passes.to_dict()["share"]) == (True, 0.5)


def test_other_labels_than_the_jurys_are_a_problem():
    against = counted([("first", Judgment(None, label="A")), ("second", Judgment(None, label="B"))])
    assert against.problem == "human labels are first 1, second 1, and the jury gives others: A, B"


def test_texts_are_no_labels():
    against = counted([(f"comment {n}", Judgment("PASS")) for n in range(1500)])
    assert "more than 1,000 different human labels" in against.problem
    assert (against.cases, len(against.labels)) == (1500, 1002)


def test_where_people_fail_most_both_constant_answers_are_shown():
    assert [row.name for row in counted([("fail", Judgment("PASS"))] * 1).constants] == ["always PASS", "always FAIL"]
    mostly = counted([("pass", Judgment("PASS")), ("pass", Judgment("FAIL")), ("fail", Judgment("PASS"))])
    assert [row.name for row in mostly.constants] == ["always PASS"]
    assert "Always PASS is right on 66.7 %" in mostly.notes[0]


def test_copies_count_once_and_contradicting_copies_are_the_problem():
    case = Case(answer="x", metadata={"id": "a", "gold": "pass"})
    against = LabelComparison()
    for _ in range(3):
        against.add(case, Judgment("PASS"), "line 1")
    assert (against.cases, against.merged) == (1, 2)
    against.add(Case(answer="x", metadata={"id": "b", "gold": "fail"}), Judgment("PASS"), "line 4")  # another item
    assert (against.cases, against.problem) == (2, "")
    against.add(case.model_copy(update={"metadata": {"id": "a", "gold": "fail"}}), Judgment("PASS"), "line 5")
    assert "item 'a' has the labels pass (line 1) and fail (line 5)" in against.problem
    assert against.rows == ()


def test_jurors_of_a_cascade_are_compared_on_the_cases_that_reach_them():
    def says(name, answers):
        return FunctionJudge(lambda case: answers[case.answer], name=name)

    small = Ensemble([says("a", {"x": True, "y": True}), says("b", {"x": True, "y": False})])
    screen = Tier("screen", Ensemble([says("not empty", {"x": True, "y": True})]), "reject_on_any_fail")
    jury = CascadedJury([screen, Tier("small", small, "escalate_on_split"), Tier("big", says("c", {"y": False}))])
    against = LabelComparison()
    for answer, gold in (("x", "pass"), ("y", "fail")):
        case = Case(answer=answer, metadata={"gold": gold})
        against.add(case, jury.judge(case))
    assert {row.name: row.score.cases for row in against.jurors} == {"a": 2, "b": 2, "c": 1}
    assert "Not every juror was asked" in " ".join(against.notes)
    assert [row.name for row in against.only(["b"]).rows] == ["b", "always PASS"]


def test_criteria_of_a_scorecard_are_not_compared():
    card = Scorecard({"short": lambda case: len(case.answer) < 9, "there": lambda case: True})
    against = LabelComparison()
    case = Case(answer="x", metadata={"gold": True})
    against.add(case, card.judge(case))
    assert [row.kind for row in against.rows] == ["jury", "constant"]


def test_a_fail_that_errors_caused_is_undecided():
    jury = Ensemble([lambda case: True, lambda case: 1 / 0])
    against = LabelComparison()
    case = Case(answer="x", metadata={"gold": "fail"})
    against.add(case, jury.judge(case))
    assert (against.jury.coverage.hits, against.jury.accuracy.share) == (0, None)


def test_the_label_in_a_verdict_counts_where_the_case_is_not_known():
    against = LabelComparison()
    against.add(None, Verdict("PASS", case_id="a", case_metadata={"gold": "fail"}))
    against.add(None, Verdict("PASS", case_id="a", case_metadata={"gold": "fail"}))
    assert (against.cases, against.merged, against.jury.false_passes.hits) == (1, 1, 1)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["pass", "fail", "PASS", True, False, None, "", "valid", "\x1b[2J", "|`<b>", 3, 0.5]),
            st.sampled_from([("PASS", None), ("FAIL", None), ("PASS", "valid"), (None, "A"), (None, "\x1b]0;x"), None]),
        ),
        max_size=30,
    ),
    st.lists(st.sampled_from(["valid", "pass", "A"]), max_size=2),
)
def test_any_mixture_of_labels_and_opinions_can_be_shown(pairs, pass_labels):
    made = [(gold, undecided() if said is None else Judgment(said[0], label=said[1])) for gold, said in pairs]
    against = counted(made, pass_labels)
    shown, told = str(against), against.to_dict()
    assert "\x1b" not in shown
    assert (told is None) == (against.cases == 0)
    for row in against.rows:
        assert row.score.cases == against.cases
        assert 0 <= row.coverage.hits <= row.coverage.n


def test_the_intervals_take_groups_into_account():
    """Of ten documents with five cases each, the jury passes all bad cases of three and none of the others."""
    alone, grouped = LabelComparison(), LabelComparison()
    for at in range(50):
        case = Case(answer=f"answer {at}", metadata={"gold": "fail"})
        verdict = Judgment("PASS" if at < 15 else "FAIL")
        alone.add(case, verdict)
        grouped.add(case, verdict, group=at // 5)
    passes, others = grouped.jury.false_passes, alone.jury.false_passes
    assert (passes.hits, passes.n) == (others.hits, others.n) == (15, 50)
    assert passes.interval == clustered_wilson([(5, 5)] * 3 + [(0, 5)] * 7)
    assert passes.interval[1] - passes.interval[0] > 1.8 * (others.interval[1] - others.interval[0])
    assert grouped.jury.accuracy.interval == clustered_wilson([(0, 5)] * 3 + [(5, 5)] * 7)
    assert "which take 10 groups of cases into account" in str(grouped)
    assert "groups" not in str(alone)


def test_the_interval_of_balanced_accuracy_takes_groups_into_account():
    alone, grouped = LabelComparison(), LabelComparison()
    for at in range(100):
        case = Case(answer=f"answer {at}", metadata={"gold": "fail" if at < 50 else "pass"})
        verdict = Judgment("PASS" if at // 5 % 10 < 3 else "FAIL")
        alone.add(case, verdict)
        grouped.add(case, verdict, group=at // 5)
    (low, high), (from_, to) = grouped.jury.balanced_interval, alone.jury.balanced_interval
    assert high - low > 1.8 * (to - from_)


@given(
    st.lists(st.tuples(st.sampled_from(["pass", "fail"]), st.sampled_from(["PASS", "FAIL"])), min_size=1, max_size=40)
)
def test_groups_of_one_case_change_nothing(pairs):
    alone, grouped = LabelComparison(), LabelComparison()
    for at, (gold, said) in enumerate(pairs):
        case = Case(answer=f"answer {at}", metadata={"gold": gold})
        alone.add(case, Judgment(said))
        grouped.add(case, Judgment(said), group=at)
    assert grouped.to_dict() == alone.to_dict()


def test_labels_that_differ_only_in_capitals_are_refused_until_all_are_named():
    cases = [
        (Case(answer=str(n), metadata={"gold": gold}), Judgment("PASS")) for n, gold in enumerate(["good", "Good"])
    ]
    with pytest.raises(ConfigurationError, match="'good' and 'Good' differ only in capitals"):
        Report.from_results(cases, pass_labels=["good"])
    assert Report.from_results(cases, pass_labels=["good", "Good"]).label_comparison.jury.accuracy.share == 1.0


@pytest.mark.parametrize("gold", [["good", "good", "good"], ["good", "good", "poor"]])
def test_recorded_votes_without_the_pass_label_are_false_fails_though_no_case_has_their_word(gold):
    against = LabelComparison(["good"])
    for truth, vote in zip(gold, ["good", "bad", "bad"], strict=True):
        against.add_votes(truth, {"m": vote, "idle": None})
    juror, idle = against.jurors
    assert (juror.coverage.hits, juror.coverage.n) == (3, 3)
    assert juror.false_fails.hits == 1 + (gold[2] == "good")
    assert juror.accuracy.hits == 1 + (gold[2] == "poor")
    assert idle.coverage.hits == 0
    assert sum("one that no labelled case has (bad 2)" in note for note in against.notes) == 1


def test_labels_of_live_jurors_without_a_status_mean_fail_and_that_of_their_disagreement_nothing():
    against, other = LabelComparison(["good"]), LabelComparison(["good"])
    for at, second in enumerate(["good", "bad", "bad"]):
        jurors = {
            "m": lambda case: Judgment(None, label="bad"),
            "n": lambda case, says=second: Judgment(None, label=says),
        }
        for jury, found in ((Ensemble(jurors, voting="first_disagreement"), against), (Ensemble(jurors), other)):
            case = Case(answer=str(at), metadata={"gold": "good"})
            found.add(case, jury.judge(case))
    assert (against.jury.coverage.hits, against.jury.accuracy.hits, against.jury.accuracy.n) == (2, 0, 2)
    assert [(juror.coverage.hits, juror.false_fails.hits) for juror in against.jurors] == [(3, 3), (3, 2)]
    both = against.beside({"first": against, "majority": other})
    assert [row.coverage.hits for row in both.jurors] == [2, 3]


@pytest.mark.parametrize(("vote", "refused"), [("Good", True), ("GOOD", True), ("goods", False), ("good", False)])
def test_a_vote_in_other_capitals_than_the_pass_label_is_refused_as_a_human_label_is(vote, refused):
    against = LabelComparison(["good"])
    for truth in ("good", "bad"):
        against.add_votes(truth, {"m": vote})
    assert bool(against.rows) is not refused
    assert (f"jurors vote '{vote}', which differs only in capitals from 'good'" in against.problem) is refused
