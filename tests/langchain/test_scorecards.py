"""Scorecards in LangSmith: one feedback key for each criterion, on every row."""

import asyncio

import pytest
from support.langsmith_runs import run_of

from jury_adapters import CascadedJury, Ensemble, Report, Scorecard, Tier, abstain, judge
from jury_adapters.langchain import JuryEvaluator
from jury_adapters.langchain.langsmith import examples, offline_client, summary
from jury_adapters.voting import all_of, any_of

pytestmark = pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")


@judge(name="filled")
def filled(case):
    return bool(case.answer)


CARD = Scorecard({"short": lambda case: len(case.answer) < 9, "polite": lambda case: "please" in case.answer}, name="c")
KEYS = ["c", "c.short", "c.polite"]
SCREENED = CascadedJury([Tier("filled", filled, "reject_on_any_fail"), Tier("card", CARD)], name="casc")
ROWS = [{"inputs": {"question": question}} for question in ("No.", "Yes, please.", "", "crash")]


def scores(found):
    return [(result.key, result.score) for result in found["results"]]


def target(inputs):
    if inputs["question"] == "crash":
        raise ValueError("no answer")
    return {"answer": inputs["question"]}


async def atarget(inputs):
    return target(inputs)


def in_langsmith(evaluator):
    """Return the scores of each key in one of LangSmith's experiments, row by row."""
    experiment = offline_client().evaluate(
        target, data=examples(ROWS), evaluators=[evaluator], upload_results=False, max_concurrency=0
    )
    return by_key(row["evaluation_results"] for row in experiment)


def by_key(rows):
    found = {}
    for row in rows:
        for key, score in scores(row):
            found.setdefault(key, []).append(score)
    return found


def test_each_criterion_is_a_feedback_key():
    evaluator = JuryEvaluator(CARD)
    found = evaluator.evaluate_run(run_of("No."))
    assert scores(found) == [("c", 0.5), ("c.short", 1.0), ("c.polite", 0.0)]
    assert evaluator.feedback_keys == KEYS


@pytest.mark.parametrize("per_juror", [False, True])
def test_a_failed_run_scores_zero_under_every_key(per_juror):
    found = JuryEvaluator(CARD, per_juror=per_juror).evaluate_run(run_of(None, error="ValueError('no answer')"))
    assert scores(found) == [("c", 0.0), ("c.short", 0.0), ("c.polite", 0.0)]
    assert all("the run failed" in result.comment for result in found["results"])


def test_a_row_that_cannot_be_read_has_every_key_too():
    found = JuryEvaluator(CARD, field_map=lambda row: 1 / 0).evaluate_run(run_of("No."))
    assert scores(found) == [("c", None), ("c.short", None), ("c.polite", None)]
    assert {result.value for result in found["results"]} == {"error"}


def test_a_scorecard_in_a_cascade_has_its_keys_on_every_row():
    evaluator = JuryEvaluator(SCREENED)
    assert evaluator.feedback_keys == ["casc", "casc.short", "casc.polite"]
    assert scores(evaluator.evaluate_run(run_of("No."))) == [("casc", 0.5), ("casc.short", 1.0), ("casc.polite", 0.0)]
    rejected = evaluator.evaluate_run(run_of(""))
    assert scores(rejected) == [("casc", 0.0), ("casc.short", None), ("casc.polite", None)]
    assert rejected["results"][1].comment == "not asked: the jury stopped at filled"
    crashed = evaluator.evaluate_run(run_of(None, error="boom"))
    assert scores(crashed) == [("casc", 0.0), ("casc.short", 0.0), ("casc.polite", 0.0)]


def test_the_criteria_of_an_earlier_tier_are_kept():
    jury = CascadedJury([Tier("card", CARD, "reject_on_any_fail"), Tier("last", filled)], name="casc")
    found = JuryEvaluator(jury).evaluate_run(run_of("please"))
    assert scores(found) == [("casc", 1.0), ("casc.short", 1.0), ("casc.polite", 1.0)]


def test_jurors_come_beside_the_criteria():
    evaluator = JuryEvaluator(SCREENED, per_juror=True)
    assert evaluator.feedback_keys == ["casc", "casc.filled", "casc.short", "casc.polite"]
    assert scores(evaluator.evaluate_run(run_of(""))) == [
        ("casc", 0.0), ("casc.filled", 0.0), ("casc.short", None), ("casc.polite", None),
    ]  # fmt: skip


@pytest.mark.parametrize("form", [all_of, any_of])
def test_a_scorecard_in_a_row_of_judges_has_its_keys_on_every_row(form):
    evaluator = JuryEvaluator(form(CARD, filled))
    name = form.__name__
    assert evaluator.feedback_keys == [name, f"{name}.short", f"{name}.polite"]
    found = scores(evaluator.evaluate_run(run_of("No.")))
    assert found[1:] == [(f"{name}.short", 1.0), (f"{name}.polite", 0.0)]
    second = JuryEvaluator(all_of(filled, CARD)).evaluate_run(run_of(""))
    assert scores(second) == [("all_of", 0.0), ("all_of.short", None), ("all_of.polite", None)]


def deep():
    panel = Ensemble({"a": lambda case: "please" in case.answer, "b": filled}, voting="unanimous")
    style = Scorecard({"short": lambda case: len(case.answer) < 9, "kind": filled})
    return Scorecard({"polite": panel, "style": style, "full": filled}, name="deep")


def test_a_scorecard_inside_a_criterion_has_keys_of_its_own():
    keys = ["deep", "deep.polite", "deep.style", "deep.short", "deep.kind", "deep.full"]
    evaluator = JuryEvaluator(deep())
    assert evaluator.feedback_keys == keys
    assert scores(evaluator.evaluate_run(run_of("No."))) == list(
        zip(keys, [2 / 3, 0.0, 1.0, 1.0, 1.0, 1.0], strict=True)
    )
    found = JuryEvaluator(deep())(inputs={"question": "q"}, outputs={"answer": "No."})["results"]
    assert [one["key"] for one in found] == keys
    crashed = evaluator.evaluate_run(run_of(None, error="boom"))
    assert scores(crashed) == [(key, 0.0) for key in keys]


def test_the_jurors_of_a_criterions_panel_have_keys_of_their_own():
    evaluator = JuryEvaluator(deep(), per_juror=True)
    found = dict(scores(evaluator.evaluate_run(run_of("No."))))
    assert (found["deep.a"], found["deep.b"], found["deep.polite"]) == (0.0, 1.0, 0.0)
    assert sorted(evaluator.feedback_keys) == sorted(found)
    assert in_langsmith(evaluator)["deep.a"] == [0.0, 1.0, 0.0]  # a run that failed asks nobody


@pytest.mark.parametrize("around", [
    lambda panel: Ensemble({"p": panel, "q": panel}, name="k"),
    lambda panel: CascadedJury([Tier("t", Ensemble({"p": panel, "q": panel}))], name="k"),
    lambda panel: Scorecard({"p": panel, "q": CascadedJury([Tier("t", panel)])}, name="k"),
])  # fmt: skip
def test_jurors_of_panels_inside_a_jury_are_told_apart(around):
    evaluator = JuryEvaluator(around(Ensemble({"a": filled, "b": filled})), per_juror=True)
    found = dict(scores(evaluator.evaluate_run(run_of("No."))))
    assert set(evaluator.feedback_keys) == found.keys()
    assert len(found) == 7
    assert set(found.values()) == {1.0}
    assert sum(key.endswith("/ a") for key in found) == 2


def test_criteria_of_one_name_in_two_scorecards_are_told_apart():
    jury = Ensemble({"a": CARD, "b": CARD}, name="both")
    evaluator = JuryEvaluator(jury)
    keys = ["both", "both.a / short", "both.a / polite", "both.b / short", "both.b / polite"]
    assert evaluator.feedback_keys == keys
    assert [key for key, _ in scores(evaluator.evaluate_run(run_of("No.")))] == keys


def test_a_fallback_answers_none_of_the_criteria():
    broken = Scorecard({"good": lambda case: 1 / 0}, name="c")
    found = JuryEvaluator(broken.with_fallbacks([filled])).evaluate_run(run_of("No."))
    assert scores(found) == [("c", 1.0), ("c.good", None)]
    assert found["results"][1].comment == "not asked: the fallback filled voted instead of the jury"


@pytest.mark.parametrize("form", [JuryEvaluator, lambda jury: JuryEvaluator(jury).acall])
def test_every_key_is_on_every_row_of_an_experiment(form):
    found = in_langsmith(form(CARD))
    assert found == {
        "c": [0.5, 0.5, 0.5, 0.0], "c.short": [1.0, 0.0, 1.0, 0.0], "c.polite": [0.0, 1.0, 0.0, 0.0],
    }  # fmt: skip


def test_so_it_is_in_the_asynchronous_loop():
    async def experiment():
        rows = await offline_client().aevaluate(
            atarget, data=examples(ROWS), evaluators=[JuryEvaluator(CARD).acall], upload_results=False
        )
        return by_key([row["evaluation_results"] async for row in rows])

    found = asyncio.run(experiment())
    assert {key: sorted(each) for key, each in found.items()} == {
        "c": [0.0, 0.5, 0.5, 0.5], "c.short": [0.0, 0.0, 1.0, 1.0], "c.polite": [0.0, 0.0, 0.0, 1.0],
    }  # fmt: skip


def test_the_function_form_has_the_score_of_the_card_and_of_each_criterion():
    result = JuryEvaluator(CARD)(inputs={"question": "q"}, outputs={"answer": "No."})
    assert (result["key"], result["score"]) == ("c", 0.5)
    assert "polite" in result["comment"]
    assert [(one["key"], one["score"]) for one in result["results"]] == [
        ("c", 0.5),
        ("c.short", 1.0),
        ("c.polite", 0.0),
    ]
    assert "results" not in JuryEvaluator(filled)(inputs={"question": "q"}, outputs={"answer": "No."})


def test_a_summary_has_the_pass_rate_of_the_card_and_the_agreement_of_each_criterion():
    pair = Ensemble({"a": lambda case: True, "b": lambda case: True})
    evaluator = JuryEvaluator(Scorecard({"faithful": pair, "short": lambda case: False}), key="c")
    runs = [run_of("right"), run_of("right")]
    assert [evaluator.evaluate_run(run)["results"][0].score for run in runs] == [0.5, 0.5]
    rate, agreement, _ = summary(evaluator)(runs, [])["results"]
    assert (rate.score, agreement.score) == (0.0, None)
    assert agreement.comment == (
        "criteria are not votes on one question; mean agreement by criterion: faithful 1.000 (2 rows)"
    )


def says(word):
    outcomes = {"yes": True, "no": False, "unsure": abstain("cannot say")}
    return judge(name=word)(lambda case: outcomes[word])


@pytest.mark.parametrize(
    ("criteria", "options", "status"),
    [
        (["yes", "no", "unsure"], {}, "fail"),
        (["no", "unsure"], {}, "fail"),
        (["yes", "unsure"], {}, "abstain"),
        (["yes", "unsure"], {"pass_when": "any"}, "pass"),
        (["no", "unsure"], {"weights": {"no": 3, "unsure": 1}, "threshold": 0.5}, "fail"),
    ],
)
@pytest.mark.parametrize("wrap", [lambda card: card, lambda card: CascadedJury([Tier("last", card)])])
def test_a_card_has_no_score_if_a_criterion_could_not_say(wrap, criteria, options, status):
    evaluator = JuryEvaluator(wrap(Scorecard({word: says(word) for word in criteria}, **options)), key="card")
    whole, *parts = evaluator.evaluate_run(run_of("please"))["results"]
    assert (whole.value, whole.score) == (status, None)
    assert "there is no score" in whole.comment or status == "abstain"
    assert {"card.yes": 1.0, "card.no": 0.0, "card.unsure": None}.items() >= {(one.key, one.score) for one in parts}
    called = evaluator(inputs={"question": "q"}, outputs={"answer": "please"})
    assert (called["score"], called["metadata"]["status"].lower()) == (None, status)


def test_criteria_that_do_not_count_leave_the_score():
    card = Scorecard({word: says(word) for word in ("yes", "no", "unsure")}, pass_when=["yes", "no"])
    assert JuryEvaluator(card)(inputs="q", outputs="a")["score"] == 0.5


def test_a_screening_tier_that_rejects_has_a_score_whatever_the_other_criteria_say():
    card = Scorecard({word: says(word) for word in ("no", "unsure")})
    jury = CascadedJury([Tier("screen", card, "reject_on_any_fail"), Tier("last", says("yes"))])
    assert JuryEvaluator(jury)(inputs="q", outputs="a")["score"] == 0.0


def test_a_report_and_a_summary_count_the_runs_that_failed():
    evaluator = JuryEvaluator(CARD)
    experiment = offline_client().evaluate(
        target, data=examples(ROWS), evaluators=[evaluator], upload_results=False,
        summary_evaluators=[summary(evaluator, "pass_rate")], max_concurrency=0,
    )  # fmt: skip
    (rate,) = experiment._summary_results["results"]
    assert rate.comment == "0 of 4 passed; 0 abstained, 0 errors; 1 run of the application failed"
    found = Report.from_results(experiment).figures.summary
    assert (found.statuses["FAIL"], found.failed_runs) == (4, 1)
    assert {path[-1]: one.votes.total() for path, one in found.by_criterion.items()} == {"short": 3, "polite": 3}
