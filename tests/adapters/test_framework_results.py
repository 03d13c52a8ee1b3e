"""Reports and votes of the same cases, judged by the same jury in each framework: the results are the same."""

import asyncio
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langsmith.schemas import Example
from llama_index.core.evaluation import BatchEvalRunner, EvaluationResult

from jury_adapters import Case, ConfigurationError, Ensemble, JudgeQueue, Judgment, Report
from jury_adapters.calibration import Votes
from jury_adapters.core.batch import stream
from jury_adapters.langchain import JuryCallbackHandler
from jury_adapters.langchain import JuryEvaluator as LangSmithEvaluator
from jury_adapters.langchain.langsmith import offline_client
from jury_adapters.llama_index import JuryEvaluator as LlamaIndexEvaluator
from jury_adapters.results import JudgedRun, Run

pytestmark = [
    pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta"),
    pytest.mark.usefixtures("own_loop"),
]

ANSWERS = {
    "When did the ferry stop?": "In 2018.",
    "When did the bridge open?": "In 2019.",
    "Who built it?": "Ann did so.",
}
CASES = [Case(question=question, answer=answer) for question, answer in ANSWERS.items()]
DATA = [Example(id=uuid.uuid4(), inputs={"question": question}, metadata={"gold": "PASS"}) for question in ANSWERS]


def dated(case: Case) -> tuple[bool, str]:
    return "201" in (case.answer or ""), "looked for a year"


def short(case: Case) -> bool:
    return len(case.answer or "") < 10


def jury() -> Ensemble:
    return Ensemble([dated, short], voting="unanimous", name="panel")


def target(inputs: dict[str, Any]) -> dict[str, Any]:
    return {"answer": ANSWERS[inputs["question"]]}


def experiment(*evaluators: Any, **options: Any) -> Any:
    return offline_client().evaluate(
        target, data=DATA, evaluators=list(evaluators), upload_results=False, max_concurrency=1, **options
    )


def rows_of_aevaluate() -> list[Any]:
    async def run() -> list[Any]:
        async def answer(inputs: dict[str, Any]) -> dict[str, Any]:
            return target(inputs)

        found = await offline_client().aevaluate(
            answer, data=DATA, evaluators=[LangSmithEvaluator(jury())], upload_results=False, max_concurrency=1
        )
        return [row async for row in found]

    return asyncio.run(run())


def runs_of_langchain() -> list[JudgedRun]:
    seen: list[JudgedRun] = []
    with JuryCallbackHandler(jury(), on_verdict=seen.append, max_concurrency=1) as handler:
        for question in ANSWERS:
            RunnableLambda(target).invoke({"question": question}, {"callbacks": [handler]})
            handler.flush()
    return seen


def runs_of_a_queue() -> list[JudgedRun]:
    seen: list[JudgedRun] = []
    with JudgeQueue(jury(), on_verdict=seen.append) as queue:
        for case in CASES:
            queue.put(case)
            queue.flush()
    return seen


def batch_of_llama_index() -> dict[str, list[EvaluationResult]]:
    return BatchEvalRunner({"panel": LlamaIndexEvaluator(jury())}).evaluate_response_strs(
        queries=list(ANSWERS), response_strs=list(ANSWERS.values()), contexts_list=[["The page."]] * 3
    )


def pairs() -> Iterator[Any]:
    return jury().judge_pairs(CASES)


SOURCES = {
    "verdicts": lambda: jury().judge_many(CASES),
    "pairs": pairs,
    "stream": lambda: stream(jury(), CASES, ordered=False),
    "runs of LangChain": runs_of_langchain,
    "runs of a queue": runs_of_a_queue,
    "LlamaIndex results": lambda: batch_of_llama_index()["panel"],
    "LlamaIndex batch": batch_of_llama_index,
    "LangSmith experiment": lambda: experiment(LangSmithEvaluator(jury())),
    "LangSmith experiment with jurors": lambda: experiment(LangSmithEvaluator(jury(), per_juror=True)),
    "LangSmith rows": rows_of_aevaluate,
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_reports_and_votes_are_the_same_for_every_source(source: Callable[[], Any]):
    report, votes = Report.from_results(source()), Votes.from_results(source())
    # LangSmith yields rows in the order in which they are evaluated, which differs from run to run.
    assert sorted(entry.judgment.status for entry in report.entries) == ["FAIL", "PASS", "PASS"]
    assert [juror.name for juror in report.figures.jurors] == ["dated", "short"]
    assert votes.jurors == ("dated", "short")
    assert sorted(votes.codes.tolist()) == [[0, 0], [1, 1], [1, 1]]
    if source is not SOURCES["verdicts"]:
        assert {row["question"]: row["answer"] for row in report.to_rows()} == ANSWERS
        failed = next(entry for entry in report.entries if entry.judgment.status == "FAIL")
        assert failed.case.question == "Who built it?"
    assert sorted(Votes.from_verdicts(source()).codes.tolist()) == [[0, 0], [1, 1], [1, 1]]


def test_rows_of_an_experiment_have_the_examples_and_the_runs():
    rows = experiment(LangSmithEvaluator(jury()))
    report = Report.from_results(rows, pass_labels=["PASS"])
    assert {entry.item_id for entry in report.entries} == {str(example.id) for example in DATA}
    assert [entry.run.id for entry in report.entries if entry.run] == [str(row["run"].id) for row in rows]
    assert report.label_comparison.to_dict()["labelled_cases"] == 3
    assert Votes.from_results(rows, pass_label="PASS").gold.tolist() == [1, 1, 1]


def test_the_evaluators_of_an_experiment_are_criteria():
    def theirs(run: Any, example: Any) -> dict[str, Any]:
        return {"key": "own", "score": False, "comment": "hm"}

    def down(run: Any, example: Any) -> dict[str, Any]:
        raise ConnectionError("down")

    report = Report.from_results(experiment(LangSmithEvaluator(jury(), key="dates"), theirs, down))
    dated_answer = next(entry for entry in report.entries if entry.case.question == "When did the ferry stop?")
    by_name = dated_answer.judgment.by_name
    assert {name: (one.status, one.score) for name, one in by_name.items()} == {
        "dates": ("PASS", None), "own": ("FAIL", None), "down": ("ERROR", None),
    }  # fmt: skip
    assert by_name["own"].reasoning == "hm"
    assert "ConnectionError('down')" in by_name["down"].error


def test_the_numbers_of_a_metric_beside_a_jury_are_no_criterion():
    """A latency in seconds, a number of tokens and a cost say nothing about pass and fail."""

    def seconds(run: Any, example: Any) -> dict[str, Any]:
        return {"key": "latency_s", "score": 0.02}

    def words(run: Any, example: Any) -> dict[str, Any]:
        return {"key": "words", "score": len(run.outputs["answer"].split())}

    alone = Report.from_results(experiment(LangSmithEvaluator(jury())))
    beside = Report.from_results(experiment(LangSmithEvaluator(jury()), seconds, words))
    assert str(beside.figures.summary) == str(alone.figures.summary)
    assert not beside.figures.summary.by_criterion
    assert {row["meta:latency_s"] for row in beside.to_rows()} == {0.02}
    assert {row["meta:words"] for row in beside.to_rows()} == {len(answer.split()) for answer in ANSWERS.values()}
    assert beside.compare(alone).warnings == ()


def test_numbers_alone_pass_from_one_half():
    def right(run: Any, example: Any) -> dict[str, Any]:
        return {"key": "share", "score": 0.75 if "1" in run.outputs["answer"] else 0.25}

    summary = Report.from_results(experiment(right)).figures.summary
    assert (summary.decided, summary.passed) == (3, sum("1" in answer for answer in ANSWERS.values()))


def test_ratings_alone_are_no_scores_and_decide_nothing():
    def stars(run: Any, example: Any) -> dict[str, Any]:
        return {"key": "stars", "score": 1 if "1" in run.outputs["answer"] else 4}

    report = Report.from_results(experiment(stars))
    assert {(entry.judgment.status, entry.judgment.score) for entry in report.entries} == {("ABSTAIN", None)}
    assert {entry.judgment.metadata["score"] for entry in report.entries} == {1, 4}


def test_repetitions_of_an_example_are_items_of_their_own():
    rows = list(experiment(LangSmithEvaluator(jury()), num_repetitions=2))
    report, votes = Report.from_results(rows), Votes.from_results(rows)
    assert len({entry.item_id for entry in report.entries}) == len(votes.items) == 6


def test_a_row_that_no_evaluator_judged_abstains():
    report = Report.from_results(experiment())
    assert {entry.judgment.reasoning for entry in report.entries} == {"no evaluator returned a result"}


def test_background_runs_keep_their_runs():
    runs = runs_of_langchain()
    assert [entry.run for entry in Report.from_results(runs).entries] == [judged.run for judged in runs]
    failed = JudgedRun(Run("r", error="ValueError: no"), None, Judgment("FAIL"))
    assert Report.from_results([failed]).entries[0].case is None


def test_human_labels_of_results_in_memory():
    assert Votes.from_results(pairs(), gold=["PASS", "FAIL", None]).gold.tolist() == [1, 0, -1]
    assert Votes.from_results(pairs(), gold={"0": "PASS"}).gold.tolist() == [1, -1, -1]
    with pytest.raises(ConfigurationError, match="cases= and the file of gold= go with a file of results"):
        Votes.from_results(pairs(), gold="labels.jsonl")


@pytest.mark.parametrize("read", [Report.from_results, Votes.from_verdicts], ids=["report", "votes"])
def test_other_objects_are_refused_with_what_to_give_instead(read: Callable[[Any], Any], tmp_path: Any):
    async def rows() -> Any:
        yield {}

    with pytest.raises(ConfigurationError, match=r"collect them first: \[row async for row in results\]"):
        read(rows())
    with pytest.raises(ConfigurationError, match=r"Report.read\('results.jsonl'\) reads a file"):
        read("results.jsonl")
    with pytest.raises(ConfigurationError, match="rows of a LangSmith experiment; not dict"):
        read([{"run": None}])


def test_evaluators_whose_keys_look_like_numbered_ones_keep_their_judgments():
    keys = ("k", "k 3", "k", "k")
    row = {"run": None, "evaluation_results": {"results": [{"key": key, "score": 1} for key in keys]}}
    (entry,) = Report.from_results([row]).entries
    assert len(entry.judgment.judgments) == 4


@pytest.mark.parametrize("value", [None, 5, "PASS", {"passing": True}])
def test_a_dictionary_of_other_values_is_refused_with_the_name(value: Any):
    for read in (Report.from_results, Votes.from_results):
        with pytest.raises(ConfigurationError, match="the results of 'faithful' are a list of EvaluationResults, not"):
            read({"faithful": value})
