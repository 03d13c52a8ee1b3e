"""The same rows, in the documented formats of nine packages, give the same cases everywhere they can go in."""

from __future__ import annotations

import asyncio
import csv
import gzip
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from langsmith.schemas import Example, Run
from llama_index.core.evaluation import BatchEvalRunner
from typer.testing import CliRunner

from jury_adapters import Case
from jury_adapters.cli.app import app
from jury_adapters.langchain import JuryEvaluator as LangChainEvaluator
from jury_adapters.langchain.langsmith import examples, offline_client
from jury_adapters.llama_index import JuryEvaluator

ITEMS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "rows.json").read_text())
FLAT = [item for item in ITEMS if "parts" in item]
NOT_IN_A_TABLE = ("ours: chat log", "ours: steps", "ours: the conversation before", "LangChain: RetrievalQA")
TABLES = [item for item in FLAT if item["name"] not in NOT_IN_A_TABLE and "mapping" not in item["name"]]
each = pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["name"])


def wanted(item: Mapping[str, Any]) -> Case:
    return Case(**item["case"])


def parts_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """Parts of a row as LangSmith has them: inputs, outputs and reference outputs."""
    row = item["row"]
    if "parts" not in item:
        return dict(row)
    return {part: {name: row[name] for name in names} for part, names in item["parts"].items() if names}


RUNS = [item for item in ITEMS if parts_of(item).keys() <= {"inputs", "outputs", "reference_outputs"}]
"""Rows that are runs; an evaluator of runs takes no argument beside the parts."""


class Seen:
    """A judge that notes what it is shown."""

    def __init__(self) -> None:
        self.cases: list[Case] = []

    def __call__(self, case: Case) -> bool:
        self.cases.append(case)
        return True


def content(case: Case) -> dict[str, Any]:
    return case.model_dump(mode="json", exclude_defaults=True, exclude={"metadata"})


def judged_keys(path: str, typed: bytes | None = None) -> list[str]:
    """The content hashes of the cases that ``jury judge`` judged."""
    out = Path("out.jsonl")
    result = CliRunner().invoke(
        app, ["judge", path, "--jury", "jury.yaml", "--out", str(out), "--force"], input=typed, catch_exceptions=False
    )
    told = [line for line in result.stderr.splitlines() if "context is ignored beside retrieval_context" not in line]
    assert (result.exit_code in (0, 1), told) == (True, []), result.output
    return [json.loads(line)["key"] for line in out.read_text().splitlines()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jury.yaml").write_text("jurors: [{check: not_empty}]\n")
    return tmp_path


def test_there_are_rows_of_every_package():
    packages = {item["name"].partition(":")[0] for item in ITEMS}
    assert packages == {
        "ours", "openevals", "agentevals", "ragas", "deepeval", "LangSmith", "LangChain", "LlamaIndex", "TruLens",
        "MLflow", "promptfoo",
    }  # fmt: skip
    assert len(ITEMS) >= 30


@each
def test_a_row_in_python(item):
    assert content(Case.from_row(item["row"])) == content(wanted(item))


@each
def test_a_case_that_was_read_from_a_row_comes_back_as_itself(item):
    case = Case.from_row(item["row"])
    dumped = case.model_dump(mode="json", exclude_defaults=True)
    assert Case.from_row(dumped) == case


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json", "rows.jsonl.gz", "-"])
def test_rows_of_a_file_and_of_standard_input(folder: Path, name: str):
    rows = [item["row"] for item in ITEMS]
    lines = json.dumps(rows) if name.endswith(".json") else "".join(json.dumps(row) + "\n" for row in rows)
    if name != "-":
        (folder / name).write_bytes(gzip.compress(lines.encode()) if name.endswith(".gz") else lines.encode())
    found = judged_keys(name, lines.encode() if name == "-" else None)
    assert found == [wanted(item).content_hash for item in ITEMS]


@pytest.mark.parametrize("item", TABLES, ids=lambda item: item["name"])
def test_rows_of_a_table(folder: Path, item: Mapping[str, Any]):
    text = io.StringIO()
    table = csv.DictWriter(text, list(item["row"]))
    table.writeheader()
    table.writerow({name: json.dumps(v) if isinstance(v, list) else v for name, v in item["row"].items()})
    (folder / "rows.csv").write_text(text.getvalue())
    assert judged_keys("rows.csv") == [wanted(item).content_hash]


@each
def test_a_row_in_a_call_of_the_evaluator_of_langchain(item):
    seen, parts = Seen(), parts_of(item)
    LangChainEvaluator(seen)(**parts)
    asyncio.run(LangChainEvaluator(seen).acall(**parts))
    assert [content(case) for case in seen.cases] == [content(wanted(item))] * 2
    if "parts" not in item:
        assert seen.cases[0] == Case.from_row(item["row"])


def part(value: Any, name: str) -> dict[str, Any] | None:
    """A part as LangSmith keeps it: what is not a mapping is wrapped."""
    return value if value is None or isinstance(value, dict) else {name: value}


@pytest.mark.parametrize("item", RUNS, ids=lambda item: item["name"])
def test_a_row_in_the_run_evaluator_of_langchain(item):
    seen, parts = Seen(), parts_of(item)
    run = Run(
        id=uuid4(), name="target", run_type="chain", start_time="2026-01-01T00:00:00", trace_id=uuid4(),
        inputs=part(parts.get("inputs"), "input") or {}, outputs=part(parts["outputs"], "output"),
    )  # fmt: skip
    example = Example(id=uuid4(), inputs=run.inputs, outputs=part(parts.get("reference_outputs"), "output"))
    LangChainEvaluator(seen).evaluate_run(run, example)
    assert content(seen.cases[0]) == content(wanted(item))


@pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")
def test_rows_in_an_evaluation_of_langsmith_on_this_machine():
    seen, items = Seen(), RUNS
    parts = {item["name"]: parts_of(item) for item in items}
    rows = [
        {"inputs": {**(part(one.get("inputs"), "input") or {}), "name": name},
         **({"outputs": part(one["reference_outputs"], "output")} if one.get("reference_outputs") else {})}
        for name, one in parts.items()
    ]  # fmt: skip

    def target(inputs: dict[str, Any]) -> dict[str, Any]:
        return part(parts[inputs["name"]]["outputs"], "output") or {}

    def case_of(inputs: dict[str, Any], outputs: dict[str, Any], reference_outputs: dict[str, Any]) -> dict[str, Any]:
        inputs = {name: value for name, value in inputs.items() if name != "name"}
        return LangChainEvaluator(seen)(inputs=inputs, outputs=outputs, reference_outputs=reference_outputs or None)

    offline_client().evaluate(
        target, data=examples(rows), evaluators=[case_of], upload_results=False, max_concurrency=0
    )
    assert sorted(case.content_hash for case in seen.cases) == sorted(wanted(item).content_hash for item in items)


@each
def test_a_row_in_the_evaluator_of_llama_index(item):
    seen = Seen()
    evaluator = JuryEvaluator(seen)
    evaluator.evaluate(**item["row"])
    asyncio.run(evaluator.aevaluate(**item["row"]))
    expected = content(wanted(item))
    if "second_response" in item["row"]:  # a runner passes it to evaluators of the response alone, too
        expected["answer"] = item["row"]["response"]
    assert [content(case) for case in seen.cases] == [expected] * 2


@pytest.mark.filterwarnings("ignore:asyncio_module")
def test_rows_in_the_batch_runner_of_llama_index():
    items = [item for item in FLAT if {"query", "response", "contexts", "reference"} <= item["row"].keys()]
    seen = Seen()
    runner = BatchEvalRunner({"jury": JuryEvaluator(seen)})
    columns = {name: [item["row"][name] for item in items] for name in ("query", "response", "contexts", "reference")}
    runner.evaluate_response_strs(
        columns["query"], columns["response"], columns["contexts"], reference=columns["reference"]
    )
    assert [content(case) for case in seen.cases] == [content(wanted(item)) for item in items] != []


def test_a_response_that_is_a_mapping_brings_no_contexts():
    seen = []
    evaluator = JuryEvaluator(lambda case: seen.append(case) is None)
    evaluator.evaluate(query="q", response={"answer": "a", "sources": ["s"]})
    assert (seen[0].answer, seen[0].contexts) == ("a", ())
