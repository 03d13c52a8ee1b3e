"""What a user writes, for mypy and pyright in their strict modes; nothing here runs."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from pathlib import Path
from typing import Any, assert_type

from langchain.agents.middleware import AgentMiddleware
from langsmith.evaluation import RunEvaluator
from llama_index.core.base.base_query_engine import BaseQueryEngine

from jury_adapters import (
    Budget,
    CascadedJury,
    Case,
    CostEstimate,
    Critic,
    Ensemble,
    Judge,
    JudgedRun,
    Judgment,
    Report,
    Scorecard,
    Status,
    Tier,
    Usage,
    abstain,
    judge,
    load_jury,
    open_store,
    panel,
    read_results,
)
from jury_adapters.checks import LengthBetween, NotEmpty
from jury_adapters.langchain import (
    JuryCallbackHandler,
    JuryEvaluator,
    JuryMiddleware,
    JuryRunnable,
    JuryToolGuard,
    jury_node,
)
from jury_adapters.llama_index import (
    JuryEvaluationResult,
    JuryFaithfulnessEvaluator,
    JuryGuardQueryEngine,
    JurySpanHandler,
    judge_runs,
)
from jury_adapters.llama_index import JuryEvaluator as LlamaEvaluator
from jury_adapters.stats import Figure, Votes, pass_rate


@judge
def brief(case: Case) -> tuple[bool, str]:
    return 0 < len(case.answer or "") <= 200, "1 to 200 characters"


@judge(labels={"POLITE": "pass", "RUDE": "fail"}, cost=0.001)
async def polite(case: Case) -> str | Judgment:
    if case.answer is None:
        return abstain("there is no answer")
    return "RUDE" if "!" in case.answer else "POLITE"


def juries() -> CascadedJury:
    juror = Critic("openai:gpt-4o-mini", "faithfulness", temperature=0.0)
    few = Ensemble([brief, NotEmpty(), lambda case: case.answer is not None], voting="veto")
    assert_type(few & polite.with_timeout(5.0) & juror.with_samples(3), Judge)
    card = Scorecard({"polite": polite, "short": LengthBetween(maximum=80)}, pass_when="any")
    faithful = panel("faithfulness", "openai:gpt-4o-mini", "anthropic:claude-haiku-4-5", schedule="early_stop")
    tiers = [Tier("screen", few, "reject_on_any_fail"), Tier("card", card), Tier("panel", faithful.named("panel"))]
    return CascadedJury(tiers, name="support")


def one_case(case: Case) -> None:
    verdict = juries().judge(question="When?", answer="In 2018.", contexts=case.contexts)
    assert_type(juries().judge(case).require(passed=True, max_cost_usd=0.01), Judgment)
    assert_type((verdict.status, verdict.passed, verdict.score), tuple[Status, bool | None, float | None])
    assert_type((verdict.by_name["brief"].usage, verdict.stopped_at), tuple[Usage, str | None])


async def many_cases(cases: list[Case]) -> Figure:
    jury, budget = load_jury("jury.yaml"), Budget(max_usd=2.0)
    assert_type(jury.estimate_cost(cases), CostEstimate)
    with open_store("runs.db") as store:
        assert_type(jury.judge_many(cases, store=store, budget=budget), Iterator[Judgment])
        assert_type(jury.judge_pairs(cases, ordered=False), Iterator[tuple[Case | None, Judgment]])
        verdicts = jury.ajudge_many(cases, max_concurrency=8, store=store)
        assert_type(verdicts, AsyncGenerator[Judgment, None])
        passed = [verdict.case_id async for verdict in verdicts if verdict.passed]
    assert_type(passed, list[str | None])
    assert_type(Report(read_results("results.jsonl"), title="Ferry").write("page.html"), Path)
    figure = pass_rate(Votes.of("results.jsonl", label="human"))
    assert_type(figure.interval, tuple[float, float] | None)
    return figure


def tell(judged: JudgedRun) -> None:
    assert_type(judged.judgment.review_reasons, tuple[str, ...])


def langchain(jury: Ensemble) -> tuple[RunEvaluator, Sequence[AgentMiddleware[Any, Any, Any]]]:
    handler = JuryCallbackHandler(jury, sample=0.1, on_verdict=tell)
    assert_type((handler.counts["judged"], handler.close()), tuple[int, bool])
    verdict = JuryRunnable(jury).invoke({"answer": "In 2018."}, config={"callbacks": [handler]})
    assert_type(verdict, Judgment)
    assert_type(jury_node(jury).invoke({"answer": "In 2018."}), dict[str, Any])
    guards = (JuryMiddleware(jury, on_fail="retry", max_retries=2), JuryToolGuard(jury, tools=["delete"]))
    return JuryEvaluator(jury, key="grounded", per_juror=True), guards


def llama_index(jury: Ensemble, engine: BaseQueryEngine) -> None:
    assert_type(LlamaEvaluator(jury).evaluate(query="When?", response="In 2018."), JuryEvaluationResult)
    faithful = JuryFaithfulnessEvaluator(llms=["openai:gpt-4o-mini"], voting="unanimous")
    assert_type(faithful.evaluate(response="In 2018.", contexts=["2018"]).passing, bool | None)
    with judge_runs(jury, on_verdict=tell) as handler:
        assert_type(handler, JurySpanHandler)
        JuryGuardQueryEngine(engine, jury, max_retries=1).query("When?")
