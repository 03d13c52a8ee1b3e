"""A user's code, as a type checker sees it. It is checked, not run: ``assert_type`` fails where a type was lost.

``.ci/run`` checks it with mypy and pyright, both strict, with the settings beside this file.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, assert_type

from langchain_core.language_models import BaseChatModel
from llama_index.core.evaluation import BaseEvaluator, BatchEvalRunner
from llama_index.core.llms import LLM

from jury_adapters import (
    CascadedJury,
    Case,
    CostEstimate,
    Critic,
    Ensemble,
    Judge,
    Judgment,
    Jury,
    Labels,
    Limits,
    Rubric,
    Status,
    Store,
    Tier,
    Usage,
    Verdict,
    abstain,
    escalate_below,
    grounding_screen,
    judge,
    panel,
    rag_jury,
)
from jury_adapters.calibration import AgreementReport, Estimate, Guarantee, Votes, agreement_report, calibrate
from jury_adapters.langchain import JuryCallbackHandler, JuryMiddleware, JuryRunnable
from jury_adapters.langchain import JuryEvaluator as LangChainEvaluator
from jury_adapters.langchain import from_evaluator as from_langchain
from jury_adapters.langchain.classic import JuryStringEvaluator
from jury_adapters.llama_index import JuryEvaluationResult, JuryEvaluator, JuryFaithfulnessEvaluator
from jury_adapters.llama_index import from_evaluator as from_llama_index
from jury_adapters.models import set_price
from jury_adapters.observability import judging
from jury_adapters.replay import RecordedCritic, recorded_jury
from jury_adapters.report import Comparison, Report
from jury_adapters.results import Finding, Tally, TierResult
from jury_adapters.testing import ScriptedModel, a_case


def brief(case: Case) -> bool:
    return len(case.answer or "") < 80


def polite(case: Case) -> tuple[bool, str]:
    return "please" in (case.answer or ""), "looked for 'please'"


async def asks_a_service(case: Case) -> float:
    return 0.5 if case.answer else 0.0


@judge
def decorated(case: Case) -> Judgment:
    return abstain("no opinion", findings=(Finding("looked", None),))


@judge(name="with options", threshold=0.7, timeout=2.0, cost=0.001)
def with_options(case: Case) -> tuple[float, str]:
    return 0.9, "why"


class Careful(Judge):
    def assess(self, case: Case) -> Status:
        return Status.PASS if case.contexts else Status.ABSTAIN


def judging_one() -> None:
    assert_type(decorated.judge(answer="Yes."), Judgment)
    assert_type(Careful().named("careful"), Careful)
    assert_type(Careful().judge({"question": "?"}).passed, bool | None)
    assert_type(Judge.from_function(asks_a_service).judge("?").score, float | None)
    assert_type(with_options.judge(a_case()).usage, Usage)
    assert_type(decorated.judge().findings, tuple[Finding, ...])


def juries() -> CascadedJury:
    panel = Ensemble([brief, polite, asks_a_service, decorated, Careful()], voting="majority", min_votes=2)
    assert_type(panel, Ensemble)
    verdict = panel.judge(question="?", answer="!")
    assert_type(verdict, Verdict)
    assert_type(verdict.judgments, tuple[Judgment, ...])
    assert_type(verdict.by_name, dict[str, Judgment])
    assert_type(verdict.tally, Tally)
    assert_type(verdict.agreement, float | None)
    assert_type(verdict.tiers, tuple[TierResult, ...])
    assert_type(verdict.needs_review, bool)
    assert_type(panel.members, tuple[Judge, ...])
    assert_type(panel.with_gates(passed=True, min_agreement=0.8), Ensemble)
    assert_type(Careful().with_samples(3), Ensemble)
    cascade = CascadedJury(
        [
            Tier("screen", grounding_screen(), "escalate_on_split"),
            Tier("panel", panel, escalate_below(0.8)),
            Tier("people", Careful(), "final"),
        ],
        name="support",
    )
    assert_type(cascade.judge("?"), Verdict)
    assert_type(cascade.estimate_cost([a_case()]), CostEstimate)
    assert_type(recorded_jury("votes.jsonl", labels={"valid": "pass"}), Ensemble)
    assert_type(RecordedCritic("gpt-4o", labels={"valid": "pass", "invalid": "fail"}).judge(a_case()), Judgment)
    return cascade


def critics(chat: BaseChatModel, llm: LLM) -> Jury:
    set_price("my-model", input=1.0, output=2.0)
    rubric = Rubric(name="short", criteria="It is short.", answers=Labels.of(passing=["YES"], failing=["NO"]))
    critic = Critic("openai:gpt-4o-mini", rubric, name="a", limits=Limits(max_concurrency=4), store=Store("runs.db"))
    assert_type(critic, Critic)
    assert_type(critic.judge(a_case()), Judgment)
    assert_type(critic.with_rubric("faithfulness"), Critic)
    by_framework = [Critic(chat, "faithfulness", name="b"), Critic(llm, rubric, name="c")]
    return Ensemble([critic, *by_framework, Critic(ScriptedModel(["Answer: YES"]), rubric, name="d")])


def batches(jury: Jury, judge: Judge) -> list[Verdict]:
    verdicts = jury.judge_many(({"question": str(at)} for at in range(9)), max_concurrency=4, store="runs.db")
    assert_type(verdicts, Iterator[Verdict])
    assert_type(judge.judge_many([a_case()]), Iterator[Judgment])
    assert_type(jury.ajudge_many([a_case()]), AsyncIterator[Verdict])
    return list(verdicts)


async def waiting(jury: Jury) -> float:
    verdict = await jury.ajudge("?")
    assert_type(verdict, Verdict)
    async for one in jury.ajudge_many([a_case()]):
        assert_type(one, Verdict)
    with judging():
        return verdict.usage.cost_usd


def reports(verdicts: list[Verdict], earlier: Path) -> str:
    report = Report.from_results(verdicts, title="today")
    assert_type(report, Report)
    assert_type(Report.from_results([JuryEvaluator(lambda case: True).evaluate(query="?", response="!")]), Report)
    assert_type(
        Report.from_results(BatchEvalRunner({}).evaluate_response_strs(queries=["?"], response_strs=["!"])), Report
    )
    compared = Report.read(earlier).compare(report)
    assert_type(compared, Comparison)
    assert_type(compared.difference, float | None)
    assert_type(compared.paired, int)
    assert_type(report.to_markdown(), str)
    return report.to_html("report.html", compared=compared)


def calibration(jury: CascadedJury, labelled: list[Case]) -> Guarantee | None:
    report = agreement_report(Votes.from_rows([["PASS", "FAIL"], ["PASS", "PASS"]]))
    assert_type(report, AgreementReport)
    assert_type(report.find("raw agreement"), Estimate)
    assert_type(report.find("raw agreement").value, float | None)
    calibrated = calibrate(jury, labelled, agreement=0.9)
    assert_type(calibrated.judge("?"), Verdict)
    return calibrated.guarantee


def langchain(jury: Jury) -> None:
    assert_type(JuryStringEvaluator(jury), JuryStringEvaluator)
    evaluate = LangChainEvaluator(jury, field_map={"answer": "outputs.reply"})
    assert_type(evaluate, LangChainEvaluator)
    assert_type(evaluate(inputs={}, outputs={"reply": "!"})["score"], float | None)
    assert_type(JuryRunnable(jury).invoke({"question": "?", "answer": "!"}), Judgment | dict[str, Any])
    handler = JuryCallbackHandler(jury)
    assert_type(handler, JuryCallbackHandler)
    middleware = JuryMiddleware(jury)
    assert_type(middleware, JuryMiddleware)
    assert_type(LangChainEvaluator(panel("faithfulness", "openai:gpt-4o-mini"), key="faithful").key, str)

    def exact(outputs: str, reference_outputs: str) -> dict[str, object]:
        return {"key": "exact", "score": outputs == reference_outputs}

    assert_type(from_langchain(exact, name="exact", cost=0).judge(a_case()), Judgment)


async def llama_index(jury: Jury, llm: LLM, other: BaseEvaluator) -> None:
    evaluator = JuryEvaluator(jury)
    result = evaluator.evaluate(query="?", response="!", contexts=["..."])
    assert_type(result, JuryEvaluationResult)
    assert_type(result.passing, bool | None)
    assert_type(await evaluator.aevaluate(query="?"), JuryEvaluationResult)
    assert_type(JuryFaithfulnessEvaluator(llm=llm), JuryFaithfulnessEvaluator)
    assert_type(from_llama_index(other, scale=(1, 5)).judge(a_case()), Judgment)
    assert_type(rag_jury(llm), CascadedJury)


def mistakes(jury: Jury) -> None:
    """Code that a type checker must refuse. If a type is lost, the comment is unnecessary, which is an error too."""
    Ensemble([brief], votes="majority")  # type: ignore[call-arg]
    jury.judge_many([a_case()], max_concurency=4)  # type: ignore[call-arg]
    print(jury.judge("?").verdict)  # type: ignore[attr-defined]
    Report.from_results(["PASS"])  # type: ignore[list-item]
    JuryEvaluator(7)  # type: ignore[arg-type]
    JuryStringEvaluator("faithfulness")  # type: ignore[arg-type]
    calibrate(jury)  # type: ignore[call-arg]
    grounding_screen("strict")  # type: ignore[arg-type]
    Ensemble([brief], voting="majorty")  # type: ignore[arg-type]
    Tier("last", jury, "finl")  # type: ignore[arg-type]
