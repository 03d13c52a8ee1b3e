"""A kept batch of LlamaIndex's runner with the commands: review, calibrate and replay, without another call."""

import json
from pathlib import Path

import pytest
from llama_index.core.evaluation import BatchEvalRunner
from typer.testing import CliRunner

from jury_adapters import Report
from jury_adapters.cli.app import app
from jury_adapters.llama_index import JuryCorrectnessEvaluator, JuryFaithfulnessEvaluator, JuryRelevancyEvaluator

pytestmark = [
    pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning"),
    pytest.mark.usefixtures("own_loop"),
]

MODELS = ["openai:gpt-4o-mini", "openai:gpt-4o"]
TRUTHS = ["YES", "YES", "NO"] * 20
JURY = """jurors:
  - {rubric: RUBRIC, model: "openai:gpt-4o-mini"}
  - {rubric: RUBRIC, model: "openai:gpt-4o"}
"""


def command(line: str, typed: str = "") -> str:
    done = CliRunner().invoke(app, line.split(), input=typed)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def asked_models(server, tmp_path, monkeypatch):
    """The server that answers for all models, in a folder that has no files yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "a-test-key")
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai)
    return server


@pytest.mark.slow
@pytest.mark.parametrize(
    ("evaluator", "rubric"), [(JuryFaithfulnessEvaluator, "faithfulness"), (JuryCorrectnessEvaluator, "correctness")]
)
def test_a_kept_batch_is_reviewed_calibrated_and_replayed(evaluator, rubric, asked_models):
    Path("jury.yaml").write_text(JURY.replace("RUBRIC", rubric), encoding="utf-8")
    options = {"graded": False} if evaluator is JuryCorrectnessEvaluator else {}
    results = BatchEvalRunner({rubric: evaluator(llms=MODELS, store="runs.db", **options)}).evaluate_response_strs(
        [f"Question {number}?" for number in range(60)],
        [f"Answer {number}. TRUTH={truth}" for number, truth in enumerate(TRUTHS)],
        [["A context."]] * 60,
        reference=["A reference."] * 60,
        document=["a.txt"] * 60,
        id=[f"i{number}" for number in range(60)],
    )
    Report.from_results(results).write_results("run.jsonl", cases="run_cases.jsonl")
    asked = len(asked_models.asks)
    assert asked == 120

    said = command("review run.jsonl --only all --by ann", "p\n" * 60)
    assert "60 cases labelled by ann now" in said
    said = command("replay run.jsonl --jury jury.yaml --labels labels.jsonl")
    assert "60 labelled cases" in said
    command("calibrate labels.jsonl --jury jury.yaml --store runs.db --agreement 0.5 --out calibrated.yaml")
    assert len(asked_models.asks) == asked


@pytest.mark.parametrize(
    ("evaluator", "name"), [(JuryRelevancyEvaluator, "relevancy"), (JuryCorrectnessEvaluator, "correctness")]
)
def test_votes_of_any_evaluator_are_replayed_by_name(evaluator, name, asked_models):
    jurors = "".join(f"  - {{recorded: {name} {model.partition(':')[2]}}}\n" for model in MODELS)
    Path("jury.yaml").write_text(f"jurors:\n{jurors}", encoding="utf-8")
    right = {"relevancy": "YES", "correctness": "5"}[name]
    results = BatchEvalRunner({name: evaluator(llms=MODELS)}).evaluate_response_strs(
        ["When?"], [f"In 2018. TRUTH={right}"], [["A context."]]
    )
    assert results[name][0].passing, results[name][0].feedback
    Report.from_results(results).write_results("run.jsonl", cases="run_cases.jsonl")
    (said,) = json.loads(command("replay run.jsonl --jury jury.yaml --json"))
    assert (said["decided"], said["passed"]) == (1, 1)
