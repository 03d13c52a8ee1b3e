"""Reports of a batch in which one evaluator compares two answers, and the others judge one."""

import pytest
from llama_index.core.evaluation import EvaluationResult

from jury_adapters import Ensemble, Judgment, PairwiseCritic, Report, abstain, judge
from jury_adapters.llama_index import JuryEvaluator, JuryPairwiseEvaluator

QUESTION = "When did the ferry stop?"


@judge
def shorter(case):
    first, second = map(len, case.candidates)
    return Judgment(None, label="A" if first < second else "B" if second < first else "tie")


ANSWERS = [("In 2018.", "It stopped in 2018."), ("It stopped in 1931.", "In 1931."), ("In 2018.", "In 1931.")]


def results(passes=lambda case: True):
    better = JuryPairwiseEvaluator(jury=shorter)
    ok = JuryEvaluator(passes)
    return {
        "ok": [ok.evaluate(QUESTION, first) for first, _ in ANSWERS],
        "better": [better.evaluate(QUESTION, first, second_response=second) for first, second in ANSWERS],
    }


def test_a_preference_is_shown_and_does_not_decide_whether_an_item_passes():
    report = Report.from_results(results())
    assert str(report.figures.summary) == "3 cases: 3 of 3 decided passed (100.0 %)"
    assert report.figures.summary.review == 0
    assert report.figures.summary.by_criterion[("better",)].label_words == "A 1, B 1, tie 1"
    assert "| `better` | `A 1, B 1, tie 1` | 0 | 0 | 0 | 0 |" in report.to_markdown()
    assert "not counted, because a preference neither passes nor fails: better" in report.entries[0].judgment.reasoning


def no_line(case):
    raise ConnectionError("no line")


@pytest.mark.parametrize(
    "better",
    [
        JuryPairwiseEvaluator(jury=no_line),
        JuryPairwiseEvaluator(jury=no_line, swap=False),
        JuryPairwiseEvaluator(jury=lambda case: abstain("no idea")),
        JuryEvaluator(PairwiseCritic(judge(no_line))),
        JuryEvaluator(Ensemble([PairwiseCritic(judge(no_line))])),
    ],
    ids=["down", "down in one order", "abstains", "a critic that is down", "a jury that is down"],
)
def test_a_comparison_that_never_decides_leaves_the_items_to_the_others(better):
    given = results()
    given["better"] = [better.evaluate(QUESTION, first, second_response=second) for first, second in ANSWERS]
    summary = Report.from_results(given).figures.summary
    assert (summary.passed, summary.decided) == (3, 3)
    alone = Report.from_results(given["better"]).figures.summary
    assert alone.decided == 0


def test_a_comparison_without_second_answers_leaves_the_items_to_the_others():
    better = JuryPairwiseEvaluator(jury=shorter)
    given = results() | {
        "better": [better.evaluate(QUESTION, first, second_response=object()) for first, _ in ANSWERS[:2]]
        + [better.evaluate(QUESTION, "In 2018.")]
    }
    assert [one.invalid_result for one in given["better"]] == [True] * 3
    summary = Report.from_results(given).figures.summary
    assert (summary.passed, summary.decided) == (3, 3)


def test_an_item_fails_by_the_evaluators_that_count():
    report = Report.from_results(results(lambda case: "1931" in case.answer))
    assert str(report.figures.summary) == "3 cases: 1 of 3 decided passed (33.3 %)"


def test_a_comparison_that_broke_on_an_item_does_not_count_either():
    broken = results()
    broken["better"][0] = JuryPairwiseEvaluator(jury=shorter).evaluate(QUESTION, "In 2018.")
    assert broken["better"][0].invalid_result
    assert str(Report.from_results(broken).figures.summary) == "3 cases: 3 of 3 decided passed (100.0 %)"


def test_a_comparison_of_llamaindex_itself_does_not_count_either():
    theirs = [
        EvaluationResult(query=QUESTION, response=first, passing=False, score=0.0, pairwise_source="original")
        for first, _ in ANSWERS
    ]
    report = Report.from_results({**results(), "better": theirs})
    assert str(report.figures.summary) == "3 cases: 3 of 3 decided passed (100.0 %)"


@pytest.mark.parametrize("name", ["better", "shorter"])
def test_a_comparison_by_itself_is_a_report_of_preferences(name):
    assert str(Report.from_results({name: results()["better"]}).figures.summary) == "3 cases: 1 A, 1 B, 1 tie"


def test_two_comparisons_decide_nothing_and_their_labels_are_shown():
    report = Report.from_results({"better": results()["better"], "shorter": results()["better"]})
    assert report.figures.summary.decided == 0
    assert [count.label_words for count in report.figures.summary.by_criterion.values()] == ["A 1, B 1, tie 1"] * 2
    assert "a preference neither passes nor fails: better (A), shorter (A)" in report.entries[0].judgment.reasoning


def test_a_report_warns_of_a_model_that_is_down_also_beside_an_evaluator_that_passes_everything():
    def down(case):
        raise ConnectionError("no line")

    panel = JuryEvaluator(Ensemble([lambda case: "1931" not in case.answer, down]))
    fine = JuryEvaluator(lambda case: True)
    answers = ["In 1931."] + ["In 2018."] * 9
    batch = {
        name: [one.evaluate(QUESTION, answer) for answer in answers] for name, one in {"p": panel, "f": fine}.items()
    }
    compare = JuryPairwiseEvaluator(jury=down)
    better = [compare.evaluate(QUESTION, answer, second_response="In 1999.") for answer in answers]
    for given in (batch, {"p": batch["p"]}, batch | {"better": better}):
        warning = Report.from_results(given).figures.summary.pass_rate_warning
        assert warning.startswith("9 of 10 cases could not be decided because a judge broke.")
        assert warning.endswith("it would be 90.0 % if the 9 cases had passed.")
