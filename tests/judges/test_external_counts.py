"""Evaluators of other packages in plans, in budgets and in stores."""

import asyncio
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from pydantic import BaseModel

from jury_adapters import Budget, Case, ConfigurationError, Critic, Ensemble, Report, Status, Store, judge
from jury_adapters.core.usage import NO_USAGE
from jury_adapters.judges.external import Call, EvaluatorResult, ExternalJudge, NotAskedError
from jury_adapters.models import prices, set_price
from jury_adapters.testing import ScriptedModel

CASES = [Case(question="q", answer=f"answer {number}") for number in range(10)]
KNOWN = {"name": "theirs", "version": "1"}


class Evaluator:
    """An evaluator that counts how often it is called, and keeps to one answer."""

    def __init__(self, said=None):
        self.calls = 0
        self.said = EvaluatorResult(score=0.7) if said is None else said

    async def ask(self):
        self.calls += 1
        if isinstance(self.said, Exception):
            raise self.said
        return self.said

    def judge(self, arguments=lambda case: {"output": case.answer}, own_name="own", **options):
        return ExternalJudge(lambda case: Call(arguments(case), self.ask), own_name, **options)


def run(judge, cases=CASES, **options):
    return list(judge.judge_many(cases, **options))


# Plans


def test_it_counts_one_call_a_case_unless_it_says_how_many():
    evaluator = Evaluator()
    (one,) = evaluator.judge(cost=0.5).estimate_cost(CASES).rows
    assert (one.name, one.cases, one.calls, one.cost_usd, one.cost_complete) == ("own", 10, 10, 5.0, True)
    assert evaluator.judge(calls=3).estimate_cost(CASES).calls == 30
    (none,) = evaluator.judge(calls=0).estimate_cost(CASES).rows
    assert (none.cases, none.calls, none.cost_usd, none.cost_complete, none.tokens_complete) == (0, 0, 0, True, True)
    assert evaluator.calls == 0


def test_a_case_without_what_it_needs_is_not_counted():
    plan = Evaluator().judge(needs=["reference"]).estimate_cost([*CASES, Case(answer="a", reference="b")])
    assert (plan.cases, plan.calls) == (11, 1)


def test_a_plan_names_what_it_does_not_know_and_claims_no_bound():
    panel = Ensemble([Evaluator().judge(name="dear", cost=0.1), Evaluator().judge(name="theirs")])
    text = str(panel.estimate_cost(CASES))
    assert "at most" not in text.lower()
    assert "a price is missing: 'theirs'." in text
    assert "cost=, in US dollars per judgment" in text
    assert "another package makes the calls: dear, theirs." in text
    dear, theirs, total = (next(line for line in text.splitlines() if line.startswith(name)).split() for name in (
        "dear", "theirs", "total",
    ))  # fmt: skip
    assert dear == ["dear", "10", "10", "?+", "?+", "1.0000"]
    assert theirs == ["theirs", "10", "10", "?+", "?+", "?+"]
    assert total == ["total", "10", "20", "?+", "?+", "1.0000+"]


def test_tokens_of_the_other_jurors_are_marked_as_a_part():
    panel = Ensemble([Critic(ScriptedModel(["YES"]), "answer_relevance", name="ours"), Evaluator().judge(cost=0)])
    plan = panel.estimate_cost(CASES)
    assert [row.tokens_complete for row in plan.rows] == [True, False]
    assert not plan.tokens_complete
    (total,) = [line.split() for line in str(plan).splitlines() if line.startswith("total")]
    assert total[3:5] == [f"{plan.input_tokens:,}+", f"{plan.output_tokens:,}+"]


# Verdicts


def test_the_usage_of_every_outcome_counts_its_calls():
    spoken = [
        EvaluatorResult(score=1), [EvaluatorResult(score=1), EvaluatorResult(score=0)], EvaluatorResult(),
        EvaluatorResult(score=7), Evaluator().judge().judge(CASES[0]),
    ]  # fmt: skip
    for said in spoken:
        usage = Evaluator(said).judge(calls=2, cost=0.01).judge(CASES[0]).usage
        assert (usage.calls, usage.cost_usd, usage.cost_complete) == (2, 0.01, True)
    assert Evaluator().judge(needs=["reference"]).judge(CASES[0]).usage.calls == 0


@pytest.mark.parametrize(
    "said",
    [
        KeyError("broken"),
        EvaluatorResult(error="broken", cost_usd=0.2),
        [EvaluatorResult(score=1), EvaluatorResult(error="broken")],
    ],
)
def test_the_calls_of_an_evaluator_that_breaks_are_unknown_and_a_budget_counts_them_all(said):
    budget = Budget(max_calls=100)
    judgments = run(Evaluator(said).judge(calls=2, name="theirs"), budget=budget)
    assert {one.status for one in judgments} == {Status.ERROR}
    assert {(one.usage.calls, one.usage.cost_complete) for one in judgments} == {(0, False)}
    assert budget.spent.calls == 20
    markdown = Report.from_results(judgments).to_markdown()
    assert "model calls unknown in 10 of 10 votes of `theirs`" in markdown
    assert Evaluator(said).judge(calls=0).judge(CASES[0]).usage == NO_USAGE


def test_an_evaluator_that_lacks_something_before_it_asks_takes_nothing():
    budget = Budget(max_calls=1)
    evaluator = Evaluator(NotAskedError("no tools"))
    judgments = run(evaluator.judge(cost=0.1), budget=budget)
    assert {(one.status, one.reasoning, one.usage) for one in judgments} == {(Status.ABSTAIN, "no tools", NO_USAGE)}
    assert budget.spent == NO_USAGE


def test_a_time_limit_leaves_the_reserved_calls_and_costs_in_the_budget():
    async def slowly():
        await asyncio.sleep(10)

    slow = ExternalJudge(lambda case: Call(case.answer, slowly), "slow", timeout=0.02, calls=3, cost=0.1)
    budget = Budget(max_usd=1)
    (judgment,) = run(slow, CASES[:1], budget=budget)
    assert (judgment.error, judgment.usage.calls, judgment.usage.cost_complete) == ("timeout", 0, False)
    assert (budget.spent.calls, budget.spent.cost_usd) == (3, 0.1)


@pytest.mark.parametrize("said", [-1.0, float("nan"), float("inf"), True, "0.1"])
def test_an_absurd_cost_is_an_unknown_one_and_loses_no_judgment(said):
    judgment = Evaluator(EvaluatorResult(score=1, cost_usd=said)).judge().judge(CASES[0])
    assert judgment.passed
    assert not judgment.usage.cost_complete


# Budgets


@pytest.mark.parametrize("concurrency", [1, 16])
def test_a_budget_of_calls_is_kept_and_the_others_abstain(concurrency):
    evaluator, budget = Evaluator(), Budget(max_calls=4)
    judgments = run(evaluator.judge(), budget=budget, max_concurrency=concurrency)
    assert evaluator.calls == budget.spent.calls == 4
    refused = [one for one in judgments if one.error == "budget_exhausted"]
    assert (len(refused), budget.refused) == (6, 6)
    assert {(one.status, one.usage.calls) for one in refused} == {(Status.ABSTAIN, 0)}


def test_a_refusal_says_the_same_as_a_critics():
    critic = Critic(ScriptedModel(["YES"]), "answer_relevance", name="ours")
    (theirs,), (ours,) = (run(one, CASES[:1], budget=Budget(max_calls=0)) for one in (Evaluator().judge(), critic))
    assert (theirs.status, theirs.error, theirs.reasoning) == (ours.status, ours.error, ours.reasoning)


def test_several_calls_a_judgment_are_reserved_together():
    evaluator, budget = Evaluator(), Budget(max_calls=7)
    run(evaluator.judge(calls=3), budget=budget, max_concurrency=1)
    assert (evaluator.calls, budget.spent.calls, budget.refused) == (2, 6, 8)


def test_a_judgment_that_fails_has_taken_its_calls():
    evaluator, budget = Evaluator(ValueError("broken")), Budget(max_calls=6)
    judgments = run(evaluator.judge(calls=2), budget=budget, max_concurrency=1)
    assert [one.status for one in judgments] == [Status.ERROR] * 3 + [Status.ABSTAIN] * 7
    assert (evaluator.calls, budget.spent.calls) == (3, 6)


def test_an_evaluator_that_asks_no_model_takes_nothing_of_a_budget():
    for said in (EvaluatorResult(score=1), ValueError("broken")):
        evaluator, budget = Evaluator(said), Budget(max_calls=0, max_usd=0)
        run(evaluator.judge(calls=0), budget=budget)
        assert (evaluator.calls, budget.spent.calls, budget.refused) == (10, 0, 0)


def test_a_budget_in_dollars_is_kept_by_the_cost_that_was_given():
    evaluator, budget = Evaluator(), Budget(max_usd=0.35)
    run(evaluator.judge(cost=0.1), budget=budget, max_concurrency=1)
    assert evaluator.calls == 3
    assert budget.spent.cost_usd == pytest.approx(0.3)


def test_a_cost_that_the_evaluator_reports_replaces_the_estimate():
    evaluator, budget = Evaluator(EvaluatorResult(score=1, cost_usd=0.05)), Budget(max_usd=0.35)
    run(evaluator.judge(cost=0.1), budget=budget, max_concurrency=1)
    assert evaluator.calls == 6  # 0.05 each, and after six no room for another estimate


def test_a_budget_in_dollars_refuses_an_unknown_cost_before_anything_is_asked():
    evaluator = Evaluator()
    with pytest.raises(ConfigurationError, match="cost= for an evaluator of another package"):
        run(Ensemble([evaluator.judge(), judge(lambda case: True)]), budget=Budget(max_usd=1))
    assert evaluator.calls == 0


def test_one_budget_is_shared_with_critics(monkeypatch):
    monkeypatch.setattr(prices, "PRICES", dict(prices.PRICES))
    set_price("test:scripted", input=1.0, output=10.0)
    model, evaluator = ScriptedModel(["YES"], model="scripted"), Evaluator()
    panel = Ensemble([Critic(model, "answer_relevance", name="ours"), evaluator.judge()])
    budget = Budget(max_calls=9)
    run(panel, budget=budget)
    assert len(model.calls) + evaluator.calls == budget.spent.calls == 9


# Stores


def twice(tmp_path, first, second, cases=CASES):
    """Judge the cases by one judge and by another over the same store; the judgments of both."""
    with Store(tmp_path / "runs.db") as store:
        return run(first, cases, store=store), run(second, cases, store=store)


def test_a_name_and_a_version_keep_it_from_being_asked_again(tmp_path):
    evaluator = Evaluator(EvaluatorResult(score=0.7, reason="so so", details={"raw": [1]}))
    first, second = twice(tmp_path, evaluator.judge(**KNOWN), evaluator.judge(**KNOWN))
    assert evaluator.calls == 10
    assert [one.canonical_json() for one in first] == [one.canonical_json() for one in second]


def test_what_a_store_holds_takes_nothing_of_a_budget(tmp_path):
    evaluator, budget = Evaluator(), Budget(max_calls=0)
    with Store(tmp_path / "runs.db") as store:
        run(evaluator.judge(**KNOWN), store=store)
        assert all(one.passed for one in run(evaluator.judge(**KNOWN), store=store, budget=budget))
    assert (budget.spent.calls, budget.refused) == (0, 0)


def test_those_that_a_budget_refused_are_asked_in_the_next_run(tmp_path):
    evaluator = Evaluator()
    with Store(tmp_path / "runs.db") as store:
        run(evaluator.judge(**KNOWN), store=store, budget=Budget(max_calls=4))
        assert all(one.passed for one in run(evaluator.judge(**KNOWN), store=store))
    assert evaluator.calls == 10


@pytest.mark.parametrize("options", [{}, {"name": "theirs"}])
def test_without_a_version_it_is_asked_again(tmp_path, options):
    evaluator = Evaluator()
    twice(tmp_path, evaluator.judge(**options), evaluator.judge(**options))
    assert evaluator.calls == 20
    assert evaluator.judge(**options).fingerprint is None
    with Store(tmp_path / "runs.db") as store:
        assert store.count() == 0


@pytest.mark.parametrize(
    "change",
    [
        {"threshold": 0.8},
        {"scale": (0, 2)},
        {"scale": (1, 0)},
        {"pass_labels": ["good"]},
        {"needs": ["answer"]},
        {"version": "2"},
        {"name": "others"},
        {"own_name": "other class"},
        {"arguments": lambda case: {"output": case.answer, "input": case.question}},
    ],
)
def test_whatever_changes_the_judgment_is_asked_anew(tmp_path, change):
    evaluator = Evaluator()
    twice(tmp_path, evaluator.judge(**KNOWN), evaluator.judge(**{**KNOWN, **change}))
    assert evaluator.calls == 20


def test_the_same_options_in_other_words_are_the_same(tmp_path):
    evaluator = Evaluator()
    first = evaluator.judge(**KNOWN, scale=(0, 1), threshold=0, pass_labels=["a", "b"], timeout=9, cost=1)
    second = evaluator.judge(**KNOWN, scale=[0.0, 1.0], threshold=0.0, pass_labels={"b", "a"}, calls=2)
    twice(tmp_path, first, second.named("another name in the verdict"))
    assert evaluator.calls == 10
    assert first.fingerprint == second.fingerprint


def test_metadata_that_the_arguments_show_tells_cases_apart(tmp_path):
    evaluator = Evaluator()
    reads = evaluator.judge(lambda case: {"tone": case.metadata["tone"]}, **KNOWN)
    cases = [
        Case(answer="a", metadata={"tone": tone, "id": number}) for number, tone in enumerate(["kind", "cold"] * 2)
    ]
    with Store(tmp_path / "runs.db") as store:
        run(reads, cases, store=store, max_concurrency=1)
    assert evaluator.calls == 2


class Model(BaseModel):
    text: str


@dataclass
class Record:
    text: str


@pytest.mark.parametrize("kind", [Model, Record, SimpleNamespace])
def test_arguments_may_be_records_of_plain_values(tmp_path, kind):
    evaluator = Evaluator()

    def reads(case):
        return {"case": kind(text=case.answer), "more": [None, 1, 2.5, ("a", True)]}

    twice(tmp_path, evaluator.judge(reads, **KNOWN), evaluator.judge(reads, **KNOWN))
    assert evaluator.calls == 10
    shorter = evaluator.judge(lambda case: {"case": kind(text=""), "more": [None, 1, 2.5, ("a", True)]}, **KNOWN)
    twice(tmp_path, shorter, shorter)
    assert evaluator.calls == 20


def endless():
    loop = []
    loop.append(loop)
    return loop


@pytest.mark.parametrize("argument", [object(), {1: "a"}, {"a"}, b"a", endless()])
def test_arguments_that_cannot_be_compared_are_asked_again(tmp_path, argument):
    evaluator = Evaluator()
    judgments, _ = twice(tmp_path, *[evaluator.judge(lambda case: {"a": argument}, **KNOWN)] * 2, CASES[:2])
    assert judgments[0].passed
    assert evaluator.calls == 4


def test_an_error_is_recorded_and_never_served(tmp_path):
    evaluator = Evaluator(ValueError("broken"))
    first, second = twice(tmp_path, evaluator.judge(**KNOWN), evaluator.judge(**KNOWN), CASES[:1])
    assert evaluator.calls == 2
    assert first[0].error == second[0].error == "ValueError: broken"


def test_repeated_asks_are_samples_and_not_one_judgment(tmp_path):
    evaluator = Evaluator()
    three = evaluator.judge(**KNOWN).with_samples(3)
    twice(tmp_path, three, three, CASES[:2])
    assert evaluator.calls == 6
    assert three.estimate_cost(CASES).calls == 30


# Options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"version": "1"}, "needs name= beside it"),
        ({"version": "", "name": "theirs"}, "version is a text"),
        ({"version": 2, "name": "theirs"}, "version is a text"),
        ({"calls": -1}, "calls is a whole number from 0"),
        ({"calls": 1.5}, "calls is a whole number from 0"),
        ({"calls": True}, "calls is a whole number from 0"),
        ({"cost": -0.1}, "cost is a number of US dollars from 0"),
        ({"cost": float("nan")}, "cost is a number of US dollars from 0"),
        ({"cost": "0.1"}, "cost is a number of US dollars from 0"),
    ],
)
def test_wrong_options_are_refused_with_what_to_write(options, message):
    with pytest.raises(ConfigurationError, match=message):
        Evaluator().judge(**options)
