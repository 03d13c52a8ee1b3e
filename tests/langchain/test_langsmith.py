"""Juries in LangSmith's evaluation loops, beside what goes wrong there with other evaluators."""

import asyncio
import copy
import logging
import uuid
from datetime import UTC, datetime

import pytest
from langsmith.evaluation import EvaluationResult, RunEvaluator
from langsmith.evaluation.evaluator import comparison_evaluator
from langsmith.schemas import Example, Run
from support.judge_model import NO, YES, judge_model

from jury_adapters import (
    Budget,
    CascadedJury,
    Case,
    ConfigurationError,
    Critic,
    Ensemble,
    Judge,
    Judgment,
    Tier,
    abstain,
)
from jury_adapters.checks import Equals, NotEmpty
from jury_adapters.judges import llm
from jury_adapters.langchain import JuryEvaluator, JuryPairwiseEvaluator
from jury_adapters.langchain.langsmith import examples, offline_client, summary
from jury_adapters.langchain.summaries import Kept
from jury_adapters.testing import ScriptedModel, failed, passed

pytestmark = pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")


def example(question="2 + 2?", answer="4"):
    return Example(id=uuid.uuid4(), inputs={"question": question}, outputs={"answer": answer})


def a_run(answer="4", error=None, inputs=None, example=None):
    outputs = None if answer is None else {"answer": answer}
    return Run(
        id=uuid.uuid4(), name="app", start_time=datetime.now(UTC), run_type="chain", trace_id=uuid.uuid4(),
        dotted_order="", inputs=inputs or {"question": "2 + 2?"}, outputs=outputs, error=error,
        reference_example_id=None if example is None else example.id,
    )  # fmt: skip


def target(inputs):
    return {"answer": "4"}


async def atarget(inputs):
    return {"answer": "4"}


def rows_of(evaluators, examples=None, **options):
    options = {"upload_results": False, "max_concurrency": 0, **options}
    found = offline_client().evaluate(target, data=examples or [example()], evaluators=evaluators, **options)
    return list(found), found


def test_examples_are_made_of_dictionaries():
    rows = [
        {"inputs": {"question": "2 + 2?"}, "outputs": {"answer": "4"}, "metadata": {"source": "school"}},
        {"question": "3 + 3?"},
        {"inputs": "a word", "question": "?"},
        {"question": "3 + 3?"},
        {"inputs": {"question": "5?"}, "outputs": None},
    ]
    made = examples(rows)
    assert [one.inputs for one in made] == [rows[0]["inputs"], rows[1], rows[2], rows[3], {"question": "5?"}]
    assert (made[0].outputs, made[0].metadata, made[1].outputs) == ({"answer": "4"}, {"source": "school"}, None)
    assert len({one.id for one in made}) == 5
    assert [one.id for one in examples(reversed(rows[:2]))] == [made[1].id, made[0].id]
    assert str(made[1].id) == "58956ccd-fc99-5486-b7bc-672316a26db1"
    found, _ = rows_of([JuryEvaluator(Judge.from_function(lambda case: True, name="yes"))], made)
    assert [row["evaluation_results"]["results"][0].score for row in found] == [1.0] * 5


@pytest.mark.parametrize("row", ["a question", {"inputs": {"question": "?"}, "outputs": "4"}])
def test_an_example_that_is_no_dictionary_is_refused_with_its_number(row):
    with pytest.raises(ConfigurationError, match="example 2"):
        examples([{"question": "?"}, row])


def arows_of(evaluators, examples=None, **options):
    async def run():
        options_ = {"upload_results": False, "max_concurrency": 0, **options}
        client = offline_client()
        found = await client.aevaluate(atarget, data=examples or [example()], evaluators=evaluators, **options_)
        return [row async for row in found], found

    return asyncio.run(run())


LOOPS = pytest.mark.parametrize("loop", [rows_of, arows_of], ids=["evaluate", "aevaluate"])


def results(row):
    return row["evaluation_results"]["results"]


def panel(*statuses, name="panel"):
    """Jurors that always say the same."""
    members = [
        Judge.from_function(lambda case, status=status: Judgment(status, reasoning=f"says {status}"), name=f"j{i}")
        for i, status in enumerate(statuses, start=1)
    ]
    return Ensemble(members, name=name)


class TestRunEvaluator:
    @LOOPS
    def test_one_result_with_everything_in_its_place(self, loop):
        critics = [
            Critic(judge_model(reply), "answer_relevance", name=f"c{i}") for i, reply in enumerate((YES, YES, NO))
        ]
        rows, _ = loop([JuryEvaluator(Ensemble(critics, name="panel"))])
        (result,) = results(rows[0])
        assert (result.key, result.value) == ("panel", "pass")
        assert result.score == 1.0
        assert "c2 voted FAIL: it does not fit" in result.comment
        assert result.metadata["votes"] == {"c0": "pass", "c1": "pass", "c2": "fail"}
        assert result.metadata["agreement"] == pytest.approx(1 / 3)
        assert (result.metadata["calls"], result.metadata["input_tokens"]) == (3, 300)
        judges = {"judge": "panel", "voting": "majority", "jurors": ["c0", "c1", "c2"]}
        assert result.evaluator_info == {**result.metadata, **judges}  # all that LangSmith uploads beside the comment

    @LOOPS
    def test_per_juror_there_is_one_result_each_and_all_are_announced(self, loop):
        evaluator = JuryEvaluator(panel("PASS", "FAIL", "PASS"), per_juror=True)
        rows, _ = loop([evaluator])
        found = {result.key: result.score for result in results(rows[0])}
        assert found == {"panel": 1.0, "panel.j1": 1.0, "panel.j2": 0.0, "panel.j3": 1.0}
        assert evaluator.feedback_keys == list(found)

    def test_a_cascade_announces_every_juror_that_may_be_asked(self):
        jury = CascadedJury(
            [Tier("screen", Equals(), "accept_on_all_pass"), Tier("panel", panel("PASS", "FAIL"), "final")]
        )
        evaluator = JuryEvaluator(jury, per_juror=True, key="k")
        assert evaluator.feedback_keys == ["k", "k.Equals", "k.j1", "k.j2"]
        scores = {result.key: result.score for result in evaluator.evaluate_run(a_run("5"), example())["results"]}
        assert scores == {"k": 0.0, "k.Equals": 0.0, "k.j1": 1.0, "k.j2": 0.0}  # a juror counts wherever it was asked

    @pytest.mark.parametrize(
        ("judgment", "score", "value"),
        [
            (abstain("nothing to go by"), None, "abstain"),
            (Judgment("ERROR", error="timeout", reasoning="no judgment within 1 s"), None, "error"),
            (Judgment("FAIL", score=0.25), 0.25, "fail"),
            (passed(), 1.0, "pass"),
            (failed(), 0.0, "fail"),
            (Judgment(None, label="KEEP"), None, "KEEP"),
        ],
    )
    @LOOPS
    def test_what_becomes_of_each_outcome(self, loop, judgment, score, value):
        rows, _ = loop([JuryEvaluator(Judge.from_function(lambda case: judgment, name="j"))])
        (result,) = results(rows[0])
        assert (result.key, result.score, result.value) == ("j", score, value)
        assert (judgment.error or "") in (result.comment or "")

    @LOOPS
    def test_a_row_that_cannot_be_read_is_an_error_and_the_others_go_on(self, loop):
        evaluator = JuryEvaluator(
            Equals(),
            field_map=lambda row: Case(
                question=row["inputs"]["maybe"],
                answer=row["outputs"]["answer"],
                reference=row["reference_outputs"]["answer"],
            ),
        )
        good = Example(id=uuid.uuid4(), inputs={"maybe": "yes"}, outputs={"answer": "4"})
        rows, _ = loop([evaluator], [example(), good])
        assert [results(row)[0].value for row in rows] == ["error", "pass"]
        assert "KeyError: 'maybe'" in results(rows[0])[0].comment

    def test_a_path_that_leads_nowhere_says_where(self):
        result = JuryEvaluator(Equals(), field_map={"answer": "outputs.reply.text"}).evaluate_run(a_run(), example())
        assert (result.score, result.value) == (None, "error")
        assert "the path 'outputs.reply.text' leads nowhere: no 'reply' in a mapping with answer" in result.comment

    @pytest.mark.parametrize("per_juror", [False, True])
    def test_a_run_that_failed_fails_without_asking_anyone(self, per_juror):
        model = ScriptedModel([str(YES)])
        jury = Ensemble([Critic(model, "safety", name="c")], name="jury")
        result = JuryEvaluator(jury, per_juror=per_juror).evaluate_run(
            a_run(None, error="ValueError('boom')"), example()
        )
        result = result["results"][0] if per_juror else result
        assert (result.score, result.value) == (0.0, "fail")
        assert "the run failed: ValueError('boom')" in result.comment
        assert model.calls == []

    @LOOPS
    def test_a_target_that_raises_is_such_a_run(self, loop):
        def broken(inputs):
            raise ValueError("boom")

        async def abroken(inputs):
            raise ValueError("boom")

        evaluator = JuryEvaluator(panel("PASS"))
        client, options = offline_client(), {"data": [example()], "evaluators": [evaluator], "upload_results": False}
        if loop is rows_of:
            (row,) = client.evaluate(broken, **options)
        else:

            async def run():
                return [row async for row in await client.aevaluate(abroken, **options)]

            (row,) = asyncio.run(run())
        assert results(row)[0].value == "fail"

    def test_several_runs_at_once(self):
        examples = [example(answer=str(i)) for i in range(8)]
        rows, _ = rows_of([JuryEvaluator(Equals())], examples, max_concurrency=4)
        wanted = {str(found.id): float(found.outputs["answer"] == "4") for found in examples}
        assert {str(row["example"].id): results(row)[0].score for row in rows} == wanted

    def test_inside_a_running_loop_too(self):
        async def run():
            return JuryEvaluator(Critic(judge_model(), "answer_relevance", name="c")).evaluate_run(a_run(), example())

        assert asyncio.run(run()).score == 1.0

    @pytest.mark.parametrize("wrong", [None, "openai:gpt-4o-mini", NotEmpty])
    def test_only_a_judge_will_do(self, wrong):
        with pytest.raises(ConfigurationError, match="give a jury, another Judge or a function"):
            JuryEvaluator(wrong)

    def test_the_jurors_of_one_row_are_asked_at_once(self):
        waiting = asyncio.Barrier(3)

        async def met(case):
            await asyncio.wait_for(waiting.wait(), 5)
            return True

        jury = Ensemble([Judge.from_function(met, name=f"j{i}") for i in range(3)], name="jury")
        assert JuryEvaluator(jury).evaluate_run(a_run(), example()).score == 1.0


class TestTraps:
    """Pitfalls of other evaluators, run unchanged beside ours."""

    def test_a_callable_object_loses_its_key(self):
        class Sync:
            def __call__(self, *, inputs, outputs, reference_outputs=None):
                return {"score": 1}

        rows, _ = rows_of([Sync(), JuryEvaluator(Equals()), JuryEvaluator(Equals(), key="exact")])
        assert [result.key for result in results(rows[0])] == ["wrapper", "Equals", "exact"]

    @pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
    def test_an_asynchronous_callable_object_gives_nothing_at_all(self):
        class Async:
            async def __call__(self, *, inputs, outputs, reference_outputs=None):
                return {"key": "async", "score": 1}

        logging.disable(logging.CRITICAL)
        try:
            theirs, _ = arows_of([Async()])
        finally:
            logging.disable(logging.NOTSET)
        ours, _ = arows_of([JuryEvaluator(Equals())])
        assert results(theirs[0]) == []
        assert [result.key for result in results(ours[0])] == ["Equals"]

    def test_an_unknown_key_loses_the_score(self):
        def theirs(outputs):
            return {"key": "theirs", "score": 1, "reasoning": "because"}

        rows, _ = rows_of([theirs, JuryEvaluator(panel("PASS"), key="ours")])
        lost, kept = results(rows[0])
        assert lost.score is None
        assert "reasoning" in lost.comment
        assert (kept.key, kept.score) == ("ours", 1.0)
        assert "says PASS" in kept.comment

    def test_an_exception_leaves_no_score_of_any_kind(self):
        class Theirs(RunEvaluator):
            feedback_keys = property(lambda self: ["theirs"])

            def evaluate_run(self, run, example=None, evaluator_run_id=None):
                raise ValueError("judge failed")

        def broken(case):
            raise ValueError("judge failed")

        rows, _ = rows_of([Theirs(), JuryEvaluator(Judge.from_function(broken))])
        theirs, ours = results(rows[0])
        assert theirs.extra == {"error": True}
        assert (ours.score, ours.value, ours.extra) == (None, "error", None)
        assert ours.metadata["error"] == "ValueError: judge failed"

    def test_an_abstention_as_no_result_is_refused_and_as_ours_is_not(self):
        def theirs(outputs):
            return None

        rows, _ = rows_of([theirs, JuryEvaluator(panel("ABSTAIN"), key="ours")])
        refused, ours = results(rows[0])
        assert "got empty result" in refused.comment or "Expected" in refused.comment
        assert (ours.key, ours.score, ours.metadata["status"]) == ("ours", None, "ABSTAIN")

    def test_ours_fit_a_result_that_forbids_what_it_does_not_know(self):
        result = JuryEvaluator(panel("PASS", "ERROR", "FAIL")).evaluate_run(a_run(), example())
        assert isinstance(result, EvaluationResult)
        assert EvaluationResult.model_validate_json(result.model_dump_json()).model_dump() == result.model_dump()


class TestSummaries:
    @LOOPS
    def test_pass_rate_agreement_and_cost(self, loop):
        evaluator = JuryEvaluator(
            Ensemble([Equals(), Critic(judge_model(), "answer_relevance", name="c")], voting="unanimous", name="jury")
        )
        _, found = loop(
            [evaluator], [example(answer=answer) for answer in "4455"], summary_evaluators=[summary(evaluator)]
        )
        told = {result.key: result for result in found._summary_results["results"]}
        assert told["jury.pass_rate"].score == 0.5
        assert told["jury.pass_rate"].comment == "2 of 4 passed; 0 abstained, 0 errors"
        assert told["jury.agreement"].score == 0.5
        assert "Krippendorff's alpha -0.1" in told["jury.agreement"].comment
        assert told["jury.cost_usd"].score == 0.0
        assert told["jury.cost_usd"].comment == (
            "4 calls, 400 input and 40 output tokens; a lower bound, because the cost of some calls is unknown"
        )

    def test_one_function_for_all_three(self):
        evaluator = JuryEvaluator(panel("PASS", "FAIL", "PASS"))
        runs = [a_run(), a_run()]
        for run in runs:
            evaluator.evaluate_run(run, example())
        told = summary(evaluator)(runs, [])["results"]
        assert [result.key for result in told] == ["panel.pass_rate", "panel.agreement", "panel.cost_usd"]
        assert told[0].score == 1.0

    def test_only_the_rows_of_this_experiment_count_and_missing_ones_are_named(self):
        evaluator = JuryEvaluator(panel("PASS", "PASS"))
        for _ in range(3):
            evaluator.evaluate_run(a_run(), example())
        run = a_run()
        evaluator.evaluate_run(run, example())
        told = summary(evaluator, metric="agreement")([run, a_run()], [])
        assert told.score == 1.0
        assert told.comment.startswith("mean over 1 row with")
        assert "1 of 2 rows were not judged" in told.comment

    @pytest.mark.parametrize("statuses", [("ABSTAIN",), ("ERROR", "ABSTAIN")])
    def test_without_an_opinion_there_is_no_rate(self, statuses):
        jury = Judge.from_function(lambda case: abstain("cannot say"), name="j")
        evaluator = JuryEvaluator(jury)
        run = a_run()
        evaluator.evaluate_run(run, example())
        rate, agreement, _ = summary(evaluator)([run], [])["results"]
        assert rate.score is None
        assert agreement.score is None
        assert "1 abstained" in rate.comment

    def test_a_wrong_metric_or_evaluator_is_refused(self):
        evaluator = JuryEvaluator(panel("PASS"))
        with pytest.raises(ConfigurationError, match="Did you mean 'pass_rate'"):
            summary(evaluator, metric="passrate")
        with pytest.raises(ConfigurationError, match="takes the JuryEvaluator that judges the rows"):
            summary(panel("PASS"))

    def test_each_metric_alone(self):
        evaluator = JuryEvaluator(panel("PASS", "FAIL", "PASS"), key="k")
        run = a_run()
        evaluator.evaluate_run(run, example())
        found = [summary(evaluator, metric=name)([run], []) for name in ("pass_rate", "agreement", "cost_usd")]
        assert [one.key for one in found] == ["k.pass_rate", "k.agreement", "k.cost_usd"]
        assert found == summary(evaluator)([run], [])["results"]

    def test_what_is_kept_is_bounded_and_the_oldest_goes_first(self):
        kept = Kept(most=10)
        runs = [a_run() for _ in range(25)]
        for run in runs:
            kept.keep(run.id, passed())
        assert len(kept) == 10
        assert len(kept.of(runs[:15])) == 0
        assert len(kept.of(runs[15:])) == 10


class TestComparison:
    def test_the_better_one_whatever_the_order(self):
        def shorter(case):
            first, second = map(len, case.candidates)
            return Judgment(None, label="A" if first < second else "B", reasoning="the shorter one")

        compare = comparison_evaluator(JuryPairwiseEvaluator(Judge.from_function(shorter, name="pref")))
        long, short = a_run("it is four"), a_run("4")
        result = compare.compare_runs([long, short], example())
        assert result.key == "pref"
        assert result.scores == {long.id: 0.0, short.id: 1.0}
        assert "the same in both orders: B" in result.comment

    def test_a_preference_for_a_place_is_a_tie(self):
        first_place = Critic(ScriptedModel(['{"answer": "A", "reasoning": "the first"}']), "pairwise", name="pref")

        def naive(runs, example):  # what one asks who asks in one order
            label = first_place.judge(question="2 + 2?", candidates=[run.outputs["answer"] for run in runs]).label
            return {
                "key": "naive",
                "scores": {run.id: float(label == letter) for run, letter in zip(runs, "AB", strict=True)},
            }

        runs = [a_run("4"), a_run("5")]
        theirs = [comparison_evaluator(naive).compare_runs(order, example()).scores for order in (runs, runs[::-1])]
        assert theirs[0] != theirs[1]
        ours = JuryPairwiseEvaluator(first_place)
        for order in (runs, runs[::-1]):
            result = comparison_evaluator(ours).compare_runs(order, example())
            assert set(result.scores.values()) == {0.5}
            assert "the order decided" in result.comment

    def test_a_panel_of_critics_that_swap_by_themselves_is_not_swapped_again(self):
        models = [judge_model('{"answer": "tie"}', model_name=name) for name in ("one", "two")]
        jury = Ensemble([llm.pairwise(model, name=f"p{i}") for i, model in enumerate(models)], name="panel")
        result = comparison_evaluator(JuryPairwiseEvaluator(jury)).compare_runs([a_run("4"), a_run("5")], example())
        assert set(result.scores.values()) == {0.5}
        assert [len(model.seen) for model in models] == [2, 2]

    def test_each_with_each_of_three(self):
        def larger(case):
            first, second = map(int, case.candidates)
            return Judgment(None, label="tie" if first == second else "AB"[second > first])

        runs = [a_run("3"), a_run("1"), a_run("2")]
        compare = comparison_evaluator(JuryPairwiseEvaluator(Judge.from_function(larger, name="larger")))
        assert list(compare.compare_runs(runs, example()).scores.values()) == [1.0, 0.0, 0.5]

    @pytest.mark.parametrize("runs", [[a_run(), a_run(None)], [a_run("3"), a_run("4")]])
    def test_without_an_opinion_there_are_no_scores(self, runs):
        def broken(case):
            raise ValueError("boom")

        compare = comparison_evaluator(JuryPairwiseEvaluator(Judge.from_function(broken, name="broken")))
        result = compare.compare_runs(runs, example())
        assert list(result.scores.values()) == [None, None]
        assert result.comment.startswith("error: ")

    @pytest.mark.parametrize("form", ["call", "acall", "LangSmith", "a copy in LangSmith"])
    def test_each_form_of_the_evaluator(self, form):
        def larger(case):
            first, second = map(int, case.candidates)
            return Judgment(None, label="AB"[second > first])

        compare = JuryPairwiseEvaluator(
            Judge.from_function(larger), key="larger", field_map={"answer": "outputs.answer"}
        )
        assert compare.__name__ == "larger"
        runs = [a_run("3"), a_run("1")]
        if form == "call":
            result = compare(runs, example())
        elif form == "acall":
            result = asyncio.run(compare.acall(runs))
        else:
            given = compare if form == "LangSmith" else copy.deepcopy(compare)
            result = comparison_evaluator(given).compare_runs(runs, example()).model_dump()
        assert (result["key"], list(result["scores"].values())) == ("larger", [1.0, 0.0])

    @pytest.mark.parametrize("form", ["call", "acall"])
    @pytest.mark.parametrize("mixed", ["the runs", "the example"])
    def test_runs_of_different_examples_are_not_compared(self, form, mixed):
        def naive(case):
            return pytest.fail("a judge was asked about answers to different questions")

        ours, others = example("2 + 2?"), example("3 + 3?")
        runs = [a_run("4", example=ours), a_run("6", example=others if mixed == "the runs" else ours)]
        compare = JuryPairwiseEvaluator(Judge.from_function(naive, name="naive"))
        given = ours if mixed == "the runs" else others
        result = compare(runs, given) if form == "call" else asyncio.run(compare.acall(runs, given))
        assert list(result["scores"].values()) == [None, None]
        assert "not runs of one example" in result["comment"]
        assert str(ours.id) in result["comment"]
        assert str(others.id) in result["comment"]
        assert "row['example'].id" in result["comment"]

    def test_runs_of_one_example_are_compared(self):
        one = example()
        compare = JuryPairwiseEvaluator(Judge.from_function(lambda case: Judgment(None, label="tie"), name="tie"))
        runs = [a_run("4", example=one), a_run("5", example=one)]
        for given in (one, None):
            assert list(compare(runs, given)["scores"].values()) == [0.5, 0.5]

    @pytest.mark.parametrize(("answers", "scores", "said"), [
        (("4", None), [1.0, 0.0], "A: run B failed: KeyError: x"),
        ((None, "4"), [0.0, 1.0], "B: run A failed: KeyError: x"),
        ((None, None), [None, None], "abstain: run A failed: KeyError: x; run B failed: KeyError: x"),
    ])  # fmt: skip
    def test_a_run_that_failed_loses_and_the_judge_is_not_asked(self, answers, scores, said):
        def never(case):
            return pytest.fail("a judge was asked about a run that failed")

        compare = JuryPairwiseEvaluator(Judge.from_function(never, name="never"))
        runs = [a_run(answer, None if answer else "KeyError: x") for answer in answers]
        result = compare(runs, example())
        assert (list(result["scores"].values()), result["comment"]) == (scores, said)
        assert asyncio.run(compare.acall(runs, example())) == result

    @pytest.mark.parametrize(("runs", "said"), [([a_run("4")], "there is one run"), ([], "there is no run")])
    def test_fewer_than_two_runs_have_a_comment_that_says_so(self, runs, said):
        compare = JuryPairwiseEvaluator(Judge.from_function(lambda case: Judgment(None, label="tie"), name="tie"))
        result = compare(runs, example())
        assert list(result["scores"].values()) == [None] * len(runs)
        assert said in result["comment"]
        assert result == asyncio.run(compare.acall(runs, example()))

    @pytest.mark.parametrize("in_a_jury", [False, True])
    def test_a_rubric_with_other_labels_is_refused(self, in_a_jury):
        critic = Critic(judge_model(), "safety", name="c")
        with pytest.raises(ConfigurationError, match="labels A, B and tie"):
            JuryPairwiseEvaluator(Ensemble([critic, critic]) if in_a_jury else critic)


def test_a_key_in_the_error_of_a_failed_run_goes_nowhere():
    said = "AuthenticationError: Incorrect API key provided: sk-0123456789abcdef"
    result = JuryEvaluator(panel("PASS")).evaluate_run(a_run(None, error=said), example())
    assert "Incorrect API key provided: [key]" in result.comment
    assert "sk-0123456789abcdef" not in result.model_dump_json()


def test_an_evaluator_can_be_deep_copied_with_what_it_has_judged(tmp_path):
    evaluator = JuryEvaluator(Equals(), store=tmp_path / "runs.db", budget=Budget(max_calls=100))
    run = a_run()
    evaluator.evaluate_run(run, example())
    copied = copy.deepcopy([evaluator])[0]
    assert [len(one.kept.of([run])) for one in (evaluator, copied)] == [1, 1]
    copied.evaluate_run(a_run(), example())
    assert [len(one.kept) for one in (evaluator, copied)] == [1, 2]
