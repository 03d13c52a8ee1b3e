"""A pass rate that an outage biases is called so wherever it is shown."""

import html
import json

import pytest
from langchain_core.runnables import RunnableLambda
from llama_index.core.evaluation import BatchEvalRunner
from typer.testing import CliRunner

from jury_adapters import Case, Ensemble, Report, Scorecard, abstain, judge
from jury_adapters.cli.app import app
from jury_adapters.langchain import JuryEvaluator as LangChainEvaluator
from jury_adapters.langchain.langsmith import examples, offline_client, summary
from jury_adapters.llama_index import JuryEvaluator

pytestmark = [
    pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning"),
    pytest.mark.usefixtures("own_loop"),
    pytest.mark.filterwarnings("ignore:'upload_runs' parameter is in beta"),
]


def good(case):
    return "good" in case.answer


def down(case):
    raise ConnectionError("no line")


ANSWERS = ["good", "good", "poor"]
WARNING = (
    "2 of 3 cases could not be decided because a judge broke. The only case decided without the vote of such a judge "
    "is FAIL, so the pass rate is probably too low: it would be 66.7 % if the 2 cases had passed."
)
CARD = Scorecard({"good": good, "other": down})


@pytest.mark.slow
def test_evaluators_of_a_llama_index_batch(capsys):
    runner = BatchEvalRunner({"good": JuryEvaluator(good), "other": JuryEvaluator(down)})
    report = Report.from_results(runner.evaluate_response_strs(["1", "2", "3"], ANSWERS))
    assert report.figures.summary.pass_rate == 0.0
    assert report.figures.summary.pass_rate_warning == WARNING
    report.summary()
    assert WARNING in " ".join(capsys.readouterr().out.split())
    assert WARNING in str(report.figures.summary)
    assert WARNING in report.to_markdown()
    assert WARNING in html.unescape(report.to_html())


def test_an_evaluator_that_abstains_in_a_llama_index_batch():
    runner = BatchEvalRunner({"good": JuryEvaluator(good), "other": JuryEvaluator(lambda case: abstain("unsure"))})
    report = Report.from_results(runner.evaluate_response_strs(["1", "2", "3"], ANSWERS))
    assert report.figures.summary.pass_rate == 0.0
    assert report.figures.summary.pass_rate_warning == WARNING.replace("broke", "abstained")


def test_a_langsmith_experiment():
    evaluator = LangChainEvaluator(CARD)
    rows = [{"inputs": {"question": answer}, "outputs": {}} for answer in ANSWERS]
    chain = RunnableLambda(lambda inputs: {"answer": inputs["question"]})
    experiment = offline_client().evaluate(
        chain.invoke, data=examples(rows), evaluators=[evaluator],
        summary_evaluators=[summary(evaluator, "pass_rate")], upload_results=False,
    )  # fmt: skip
    (rate,) = experiment._summary_results["results"]
    assert (rate.score, rate.comment) == (
        0.0,
        f"0 of 1 passed; 0 abstained, 2 errors; other broke on 3 of 3 rows. {WARNING}",
    )
    assert Report.from_results(experiment).figures.summary.pass_rate_warning == WARNING


@pytest.mark.parametrize(
    "jury", [judge(down), Ensemble([down] * 2, errors="ignore"), CARD], ids=["judge", "panel", "card"]
)
def test_an_experiment_of_which_an_outage_leaves_only_the_failed_runs(jury, capsys):
    def target(inputs):
        if inputs["question"] == "crash":
            raise RuntimeError("503")
        return {"answer": "good"}

    evaluator = LangChainEvaluator(jury, key="jury")
    rows = [{"inputs": {"question": asked}, "outputs": {}} for asked in ["crash", "crash", "1", "2", "3"]]
    experiment = offline_client().evaluate(
        target, data=examples(rows), evaluators=[evaluator], summary_evaluators=[summary(evaluator, "pass_rate")],
        upload_results=False,
    )  # fmt: skip
    warning = (
        "3 of 5 cases could not be decided because a judge broke. The 2 failed runs of the application count as FAIL "
        "without a judge, so the pass rate is probably too low: it would be 60.0 % if the 3 cases had passed."
    )
    (rate,) = experiment._summary_results["results"]
    assert rate.score == 0.0
    assert rate.comment.endswith(warning)
    report = Report.from_results(experiment)
    report.summary()
    assert warning in " ".join(capsys.readouterr().out.split())
    assert warning in str(report.figures.summary)
    assert warning in report.to_markdown()
    assert warning in html.unescape(report.to_html())
    assert report.figures.summary.to_dict()["pass_rate_warning"] == warning
    assert f"Warning: of b, {warning}" in str(report.compare(report))


def test_the_command_line(tmp_path):
    (tmp_path / "rows.jsonl").write_text("\n".join(json.dumps({"question": "q", "answer": a}) for a in ANSWERS))
    results = tmp_path / "results.jsonl"
    results.write_text(
        "\n".join(
            json.dumps({"line": line, "verdict": verdict.to_dict()})
            for line, verdict in enumerate(CARD.judge_many([Case(answer=answer) for answer in ANSWERS]), start=1)
        )
    )
    told = CliRunner().invoke(app, ["report", str(results)])
    assert WARNING in " ".join(told.stdout.split()), told.stdout + told.stderr
    told = CliRunner().invoke(app, ["report", str(results), "--json"])
    assert json.loads(told.stdout)["pass_rate_warning"] == WARNING
