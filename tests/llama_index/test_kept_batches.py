"""A batch of LlamaIndex's runner is kept in a file for a later comparison."""

import pytest
from llama_index.core.evaluation import BatchEvalRunner

from jury_adapters import Report
from jury_adapters.llama_index import JuryEvaluator


def short(case):
    return len(case.answer) < 12


def sure(case):
    return "x" not in case.answer


@pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")  # LlamaIndex's runner calls it
def test_a_batch_of_llama_index_is_kept(tmp_path, own_loop):
    runner = BatchEvalRunner({"short": JuryEvaluator(short), "sure": JuryEvaluator(sure)})
    results = runner.evaluate_response_strs(
        ["When did the ferry stop?", "When did the bridge open?"], ["In 1931.", "It was x, as far as I know."]
    )
    report = Report.from_results(results)
    report.write_results(tmp_path / "run.jsonl", cases=tmp_path / "cases.jsonl")

    again = Report.read(tmp_path / "run.jsonl", cases=tmp_path / "cases.jsonl")

    assert [one.case.answer for one in again.entries] == ["In 1931.", "It was x, as far as I know."]
    assert again.compare(report).difference == 0
    assert not again.compare(report).flips
    assert [one.judgment.to_dict() for one in again.entries] == [one.judgment.to_dict() for one in report.entries]
    assert again.figures.summary.pass_interval == report.figures.summary.pass_interval
