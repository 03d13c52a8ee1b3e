"""Example rows as other packages document them run unchanged through ``jury judge``, and nothing in them is lost.

Sources: docs.ragas.io (evaluation samples), deepeval.com (test cases), the READMEs of openevals and agentevals, and
LlamaIndex's ``LabelledRagDataset`` and ``EvaluationResult``.
"""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jury_adapters.cli.app import app
from jury_adapters.core.case_files import read_cases
from jury_adapters.core.field_names import FIELD_NAMES

FOLDER = Path(__file__).parents[1] / "data" / "documented_rows"
FILES = sorted(FOLDER.glob("*.jsonl"))
JURY = "jurors:\n  answered: {check: not_empty}\n  short: {check: length_between, maximum: 400}\n"


def cases(name):
    rows = list(read_cases(FOLDER / f"{name}.jsonl"))
    assert not any(row.problem for row in rows)
    return [row.case for row in rows]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_row_is_judged(path, tmp_path):
    (tmp_path / "jury.yaml").write_text(JURY)
    out = tmp_path / "out.jsonl"
    done = CliRunner().invoke(app, ["judge", str(path), "--jury", str(tmp_path / "jury.yaml"), "--out", str(out)])
    assert done.exit_code == 0
    assert "could not be read" not in done.output
    results = [json.loads(line)["verdict"]["status"] for line in out.read_text().splitlines()]
    assert results == ["PASS"] * len(path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_text_of_a_row_is_in_its_case(path):
    for row, case in zip(path.read_text(encoding="utf-8").splitlines(), cases(path.stem), strict=True):
        kept = json.dumps(case.model_dump(mode="json"), ensure_ascii=False)
        for text in texts_in(json.loads(row)):
            assert json.dumps(text, ensure_ascii=False)[1:-1] in kept, text


def test_the_documentation_lists_every_column_that_is_understood():
    page = (Path(__file__).parents[2] / "docs" / "how_to" / "judge_a_file.md").read_text(encoding="utf-8")
    table = page.partition("| used if none of these is there |\n")[2].partition("\n\n")[0].splitlines()[1:]
    listed = {field: columns for field, *columns in ([cell.strip() for cell in row.split("|")[1:-1]] for row in table)}
    assert list(listed) == ["question", "answer", "contexts", "reference"]
    for field, columns in listed.items():
        known = FIELD_NAMES[field]
        loose = [name for name in known.loose if not name.startswith("attributes.")]  # of traces
        assert [column.split(", ") for column in columns] == [list(known.exact), loose], field


def texts_in(value):
    if isinstance(value, dict):
        value = [item for name, item in value.items() if name not in ("role", "type", "description", "function")]
    if isinstance(value, list):
        return [text for item in value for text in texts_in(item)]
    return [value] if isinstance(value, str) else []


def test_ragas():
    single, with_reference, multi = cases("ragas")
    assert single.question == "When was the first super bowl?"
    assert len(single.contexts) == 1
    assert with_reference.reference == "The Eiffel Tower is located in Paris."
    assert (multi.question, multi.answer) == ("Can you translate that to Celsius?", "75°F is approximately 23.9°C.")
    assert multi.trajectory[0].tool == "temperature_conversion"
    assert multi.metadata["expected_calls"][0]["tool"] == "temperature_conversion"


def test_deepeval():
    single, conversation = cases("deepeval")
    assert single.contexts == ("Only shoes can be refunded.",)
    assert single.reference.startswith("You're eligible")
    assert [step.tool for step in single.trajectory] == ["WebSearch"]
    assert (conversation.question, conversation.answer) == ("I need a refund.", "You can get a refund within 30 days.")
    assert [message.content for message in conversation.messages] == ["Hi there!", "Hello, how can I help you?"]
    assert conversation.contexts == ("30 days refund.",)
    assert conversation.metadata["expected_outcome"] == "Redirected to a human agent."


def test_openevals_and_agentevals():
    plain, rag, agent = cases("openevals")
    assert plain.reference.startswith("The price of doodads")
    assert len(rag.contexts) == 4
    assert (agent.question, agent.reference) == ("What is the weather in SF?", "The weather in SF is 80˚ and sunny.")
    assert agent.trajectory[0].arguments["city"] == "San Francisco"


def test_llama_index():
    labelled, result = cases("llama_index")
    assert (labelled.answer, labelled.reference) == ("Paris.", "Paris")
    assert result.contexts == ("The Battle of Long Island.",)
