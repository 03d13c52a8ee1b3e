"""Scorers of autoevals and metrics of DeepEval, by the protocols of their classes."""

import asyncio
import threading
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from jury_adapters import Budget, Case, ConfigurationError, Ensemble, Status, Step
from jury_adapters.checks import NotEmpty
from jury_adapters.judges.autoevals_deepeval import from_autoevals, from_deepeval

CASE = Case(question="2 + 2?", answer="4", reference="4", contexts=["2 + 2 = 4"])


@dataclass
class Score:
    """As ``autoevals.Score``."""

    name: str
    score: float | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    error: Exception | None = None


class Scorer:
    """As ``autoevals.score.Scorer``: the asynchronous form of the base class calls the other one."""

    async def eval_async(self, output, expected=None, **kwargs):
        return await self._run_eval_async(output, expected, **kwargs)

    def eval(self, output, expected=None, **kwargs):
        return self._run_eval_sync(output, expected, **kwargs)

    def __call__(self, output, expected=None, **kwargs):
        return self.eval(output, expected, **kwargs)

    async def _run_eval_async(self, output, expected=None, **kwargs):
        return self._run_eval_sync(output, expected, **kwargs)

    def _name(self):
        return self.__class__.__name__


class Exact(Scorer):
    def __init__(self, seen=None):
        self.seen = [] if seen is None else seen

    def _run_eval_sync(self, output, expected=None, **kwargs):
        if expected is None:
            raise ValueError("Exact requires an expected value")
        self.seen.append((output, expected, kwargs, threading.current_thread()))
        return Score(name=self._name(), score=float(output == expected))


class Classifier(Scorer):
    """As an LLM classifier: asynchronous of its own, with a rationale."""

    async def _run_eval_async(self, output, expected=None, **kwargs):
        self.thread = threading.current_thread()
        await asyncio.sleep(0)
        return Score(self._name(), 0.6, {"choice": "B", "rationale": f"{kwargs['input']} is answered"})


class TestAutoevals:
    def test_a_scorer_is_asked_in_its_own_words_and_in_a_thread(self):
        scorer = Exact()
        judge = from_autoevals(scorer)
        judgment = judge.judge(CASE)
        assert (judge.name, judgment.status, judgment.score) == ("Exact", "PASS", 1.0)
        ((output, expected, kwargs, thread),) = scorer.seen
        assert (output, expected, kwargs) == ("4", "4", {"input": "2 + 2?", "context": ["2 + 2 = 4"]})
        assert thread.name == "jury-judge"
        assert judge.judge(answer="5", reference="4").status == "FAIL"

    def test_one_with_an_asynchronous_form_of_its_own_is_awaited(self):
        scorer = Classifier()
        judgment = asyncio.run(from_autoevals(scorer, threshold=0.7).ajudge(CASE))
        assert (judgment.status, judgment.score, judgment.reasoning) == ("FAIL", 0.6, "2 + 2? is answered")
        assert judgment.metadata == {"details": {"choice": "B"}}
        assert scorer.thread is threading.main_thread()

    def test_its_exception_is_an_error_and_what_it_needs_can_be_said(self):
        assert "Exact requires" in from_autoevals(Exact()).judge(answer="4").error
        assert from_autoevals(Exact(), needs=["reference"]).judge(answer="4").status == "ABSTAIN"
        assert from_autoevals(Exact()).judge(reference="4").reasoning == (
            "the evaluator needs 'output', which the case does not have"
        )

    @pytest.mark.parametrize(
        ("said", "status"),
        [
            (Score("s", None), "ABSTAIN"), (None, "ABSTAIN"), (True, "PASS"), (0.2, "FAIL"),
            ({"name": "s", "score": 1}, "PASS"), (Score("s", None, error=ValueError("no")), "ERROR"), ("good", None),
            ([Score("a", 1), Score("b", 0)], "FAIL"), ({"rating": 1}, "ERROR"),
        ],
    )  # fmt: skip
    def test_functions_are_scorers_too_and_return_what_they_like(self, said, status):
        judgment = from_autoevals(lambda output, expected: said).judge(CASE)
        assert judgment.status == status

    def test_an_asynchronous_function(self):
        async def close(input, output, expected=None):
            return 0.9

        assert from_autoevals(close).judge(CASE).score == 0.9
        assert from_autoevals(close).name == "close"

    def test_numbers_are_given_by_a_function_of_the_case(self):
        def difference(output, expected):
            return 1 - abs(output - expected) / (abs(output) + abs(expected))

        judge = from_autoevals(
            difference, arguments=lambda case: {"output": float(case.answer), "expected": float(case.reference)}
        )
        assert judge.judge(answer="105", reference="100").score == pytest.approx(1 - 5 / 205)
        assert judge.judge(answer="many", reference="100").status == "ERROR"

    @pytest.mark.parametrize("wrong", [Exact, 3, None])
    def test_what_is_no_scorer_is_refused(self, wrong):
        with pytest.raises(ConfigurationError, match="from_autoevals takes"):
            from_autoevals(wrong)

    def test_arguments_are_a_function(self):
        with pytest.raises(ConfigurationError, match="a function of a case"):
            from_autoevals(Exact(), arguments={"output": "x"})

    def test_it_sits_on_a_panel(self):
        verdict = Ensemble([from_autoevals(Exact()), NotEmpty(), from_autoevals(Classifier())]).judge(CASE)
        assert [(one.critic, one.status) for one in verdict.judgments] == [
            ("Exact", "PASS"), ("NotEmpty", "PASS"), ("Classifier", "PASS"),
        ]  # fmt: skip


class MissingTestCaseParamsError(Exception):
    """As DeepEval's own."""


class Length:
    """As a metric of a user's, after DeepEval's documentation: the result stands in the metric."""

    threshold = 0.5
    score = reason = success = error = None
    evaluation_cost = None
    skipped = False

    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def measure(self, test_case, *args, **kwargs):
        if test_case.actual_output is None:
            raise MissingTestCaseParamsError("'actual_output' cannot be None for the 'Length' metric")
        self.score = min(1.0, len(test_case.actual_output) / 10)
        self.reason = f"{len(test_case.actual_output)} characters"
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, test_case, *args, **kwargs):
        await asyncio.sleep(0)
        return self.measure(test_case)

    def is_successful(self):
        return self.success

    @property
    def __name__(self):
        return "Length"


class TestDeepEval:
    def test_the_metrics_own_success_decides(self):
        judge = from_deepeval(Length(threshold=0.9))
        judgment = judge.judge(question="q", answer="123456")
        assert (judge.name, judgment.status, judgment.score, judgment.reasoning) == (
            "Length", "FAIL", 0.6, "6 characters",
        )  # fmt: skip
        assert from_deepeval(Length(threshold=0.9), threshold=0.5).judge(question="q", answer="123456").passed

    def test_cases_at_once_do_not_meet_in_one_metric(self):
        metric = Length()
        cases = [Case(answer="x" * number) for number in range(1, 11)]
        judgments = list(from_deepeval(metric).judge_many(cases))
        assert [judgment.score for judgment in judgments] == [number / 10 for number in range(1, 11)]
        assert metric.score is None

    def test_a_metric_without_an_asynchronous_form_runs_in_a_thread(self):
        class Blocking:
            threshold = 1

            def measure(self, test_case):
                self.score, self.reason = 1.0, threading.current_thread().name
                return self.score

            def is_successful(self):
                return self.score >= self.threshold

        judgment = from_deepeval(Blocking()).judge(CASE)
        assert (judgment.status, judgment.reasoning) == ("PASS", "jury-judge")

    def test_the_test_case_has_deepevals_names(self):
        seen = []

        class Looks(Length):
            async def a_measure(self, test_case, _show_indicator=True):
                seen.append((test_case, _show_indicator))
                return await super().a_measure(test_case)

        case = CASE.model_copy(
            update={"trajectory": [Step(tool="add", arguments={"a": 2}, output="4"), Step(text="t")]}
        )
        from_deepeval(Looks()).judge(case)
        ((made, indicator),) = seen
        assert (made.input, made.actual_output, made.expected_output) == ("2 + 2?", "4", "4")
        assert made.context == made.retrieval_context == ["2 + 2 = 4"]
        assert [(one.name, one.input_parameters, one.output) for one in made.tools_called] == [("add", {"a": 2}, "4")]
        assert indicator is False
        own = SimpleNamespace(actual_output="made by hand")
        assert from_deepeval(Looks(), test_case=lambda case: own).judge(CASE).passed
        assert seen[-1][0] is own

    def test_missing_parameters_and_skipped_measurements_abstain(self):
        judgment = from_deepeval(Length()).judge(question="q")
        assert (judgment.status, judgment.error) == (Status.ABSTAIN, None)
        assert (judgment.usage.calls, judgment.usage.cost_complete) == (0, True)  # no model was asked
        assert "cannot be None" in judgment.reasoning
        skipped = from_deepeval(Length(skipped=True)).judge(answer="a")
        assert (skipped.status, skipped.reasoning) == ("ABSTAIN", "1 characters")

    def test_an_error_of_the_metric_is_an_error(self):
        assert from_deepeval(Length(error="the model did not answer")).judge(answer="a").error == (
            "the model did not answer"
        )
        assert from_deepeval(Length(threshold="high")).judge(answer="a").error.startswith("TypeError")

    def test_what_it_cost_and_its_breakdown_are_kept(self):
        judgment = from_deepeval(Length(evaluation_cost=0.002, score_breakdown={"a": 1})).judge(answer="a")
        assert (judgment.usage.cost_usd, judgment.usage.cost_complete) == (0.002, True)
        assert judgment.metadata == {"details": {"score_breakdown": {"a": 1}}}

    def test_a_metric_where_less_is_better(self):
        class Hallucination(Length):
            def is_successful(self):
                return self.score <= self.threshold

        judgment = from_deepeval(Hallucination(), scale=(1, 0)).judge(answer="12")
        assert (judgment.status, judgment.score) == ("PASS", 0.8)

    @pytest.mark.parametrize("wrong", [Length, print, None])
    def test_what_is_no_metric_is_refused(self, wrong):
        with pytest.raises(ConfigurationError, match="from_deepeval takes"):
            from_deepeval(wrong)


class CountedMetric(Length):
    """A metric that notes what it measured."""

    def measure(self, test_case, **kwargs):
        MEASURED.append(test_case.actual_output)
        return super().measure(test_case, **kwargs)


MEASURED: list[str] = []


@pytest.mark.parametrize("version", [{}, {"name": "theirs", "version": "1"}])
def test_a_version_decides_whether_a_second_run_calls_it(version, tmp_path):
    seen: list[Any] = []
    MEASURED.clear()
    for _ in range(2):
        for judge in (from_autoevals(Exact(seen), **version), from_deepeval(CountedMetric(threshold=0.1), **version)):
            assert [one.passed for one in judge.judge_many([CASE], store=tmp_path / "runs.db")] == [True]
    assert (len(seen), len(MEASURED)) == ((1, 1) if version else (2, 2))


def test_a_budget_keeps_them_from_being_called():
    seen: list[Any] = []
    MEASURED.clear()
    panel = Ensemble([from_autoevals(Exact(seen)), from_deepeval(CountedMetric(), calls=3)])
    assert panel.estimate_cost([CASE]).calls == 4
    (verdict,) = panel.judge_many([CASE], budget=Budget(max_calls=3))
    assert [one.error for one in verdict.judgments].count("budget_exhausted") == 1
    assert len(seen) + len(MEASURED) == 1
