"""Judging on Ray: rows in, rows with judgments out; and a real Ray with two workers."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ray_juries import YES, make, noting

import jury_adapters.ray
from jury_adapters import ConfigurationError, Critic, Ensemble, Judgment, Limits, PairwiseCritic, judge
from jury_adapters.models.objects import FunctionModel
from jury_adapters.ray import COLUMNS, JudgeBatch, divide_limits, judge_dataset


def batch(count: int) -> dict[str, Any]:
    """A batch as Ray gives it: columns of NumPy."""
    return {
        "id": np.arange(count),
        "question": np.array([f"Question {number}?" for number in range(count)], dtype=object),
        "answer": np.array([f"Answer number {number}." for number in range(count)], dtype=object),
        "contexts": np.array([np.array(["a", "b"], dtype=object), None] * count, dtype=object)[:count],
        "label": np.array([True, False] * count)[:count],
    }


def test_rows_come_back_with_their_judgments_in_order() -> None:
    @judge
    def odd(case: Any) -> Any:
        assert case.metadata["label"] in (True, False)
        return (int(case.id) % 2 == 1, f"{case.id} with {len(case.contexts)} contexts")

    given = batch(5)
    judged = JudgeBatch(odd)(given)
    assert (
        list(judged),
        all(judged[name] is given[name] for name in given),
        judged["jury_status"],
        judged["jury_reasoning"][1:3],
    ) == (
        [*given, *(f"jury_{name}" for name in COLUMNS)],
        True,
        ["FAIL", "PASS", "FAIL", "PASS", "FAIL"],
        ["1 with 0 contexts", "2 with 2 contexts"],
    )
    whole = Judgment.model_validate_json(judged["jury_judgment"][3])
    assert (whole.passed, whole.case_id, whole.critic) == (True, "3", "odd")


def test_a_row_that_makes_no_case_is_an_error_in_its_place() -> None:
    judged = JudgeBatch(lambda case: True)({"answer": ["a", None, "c"], "messages": [None, None, 7]})
    assert (judged["jury_status"], "known as the answer" in judged["jury_error"][1]) == (
        ["PASS", "ERROR", "ERROR"],
        True,
    )
    mapped = JudgeBatch(lambda case: case.answer == "a", field_map={"answer": "reply"})({"reply": ["a", "b"]})
    assert mapped["jury_status"] == ["PASS", "FAIL"]


def test_juries_are_files_judges_and_makers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JURY_TEST_CALLS", str(tmp_path))
    path = tmp_path / "jury.yaml"
    path.write_text("jurors:\n  text: {check: not_empty}\n")
    assert [
        JudgeBatch(jury)(batch(1))["jury_status"]
        for jury in (path, str(path), make, make(), pickle.loads(pickle.dumps(make())), lambda case: True)
    ] == [["PASS"]] * 6
    for wrong in (
        {"jury": 3},
        {"jury": "gone.yaml"},
        {"jury": make, "workers": 0},
        {"jury": make, "store": "mysql://h/d"},
    ):
        with pytest.raises(ConfigurationError):
            JudgeBatch(**wrong)  # type: ignore[arg-type]


def test_workers_share_the_limits_of_a_model() -> None:
    one = Critic(noting, "answer_relevance", limits=Limits(requests_per_minute=600, max_concurrency=64))
    two = Critic(noting, "pairwise", limits=Limits(tokens_per_minute=9000, max_concurrency=2))
    divide_limits(Ensemble([one, Ensemble([one, lambda case: True]), PairwiseCritic(two)], on="status"), 3)
    assert (one.limits, two.limits) == (
        Limits(requests_per_minute=200, max_concurrency=21),
        Limits(tokens_per_minute=3000, max_concurrency=1),
    )


def test_a_store_judges_the_same_rows_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JURY_TEST_CALLS", str(tmp_path))
    for _ in range(2):
        judged = JudgeBatch(make, store=tmp_path / "runs.db")(batch(4))
        assert judged["jury_status"] == ["PASS"] * 4
    assert (judged["jury_calls"], len((tmp_path / str(os.getpid())).read_text().splitlines())) == ([0] * 4, 4)
    assert isinstance(make().members[0].model, FunctionModel)  # type: ignore[attr-defined]
    assert YES


def test_without_ray_the_error_names_it() -> None:
    program = """if True:
        import sys
        sys.modules["ray"] = None
        from jury_adapters.ray import judge_dataset
        judge_dataset(0, 0, workers=1)"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (
        "ImportError: judge_dataset needs Ray: pip install 'ray[data]'" in run.stderr,
        jury_adapters.ray.__name__,
    ) == (True, "jury_adapters.ray")


PROGRAM = """
import json, logging, os, sys
sys.path.insert(0, sys.argv[1])
import ray
from jury_adapters.ray import judge_dataset
from jury_adapters.store import open_store
from ray_juries import make

options = {"log_to_driver": False, "logging_level": logging.ERROR, "include_dashboard": False, "num_cpus": 4}
ray.init(address="local", object_store_memory=80_000_000, **options)
ray.data.DataContext.get_current().enable_progress_bars = False
rows = [{"id": str(n), "question": "Q?", "answer": f"Answer number {n}."} for n in range(40)]
data = ray.data.from_items(rows, override_num_blocks=4)
judged = judge_dataset(data, make, workers=2, batch_size=10, store=sys.argv[2])
found = judged.take_all()
print(json.dumps(sorted([row["id"], row["jury_status"], row["jury_score"]] for row in found)))
ray.shutdown()
"""


@pytest.mark.ray
def test_a_real_ray_with_two_workers(tmp_path: Path) -> None:
    folder = str(Path(__file__).parent)
    environment = {
        **os.environ, "JURY_TEST_CALLS": str(tmp_path), "RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0",
        "PYTHONPATH": f"{folder}{os.pathsep}{Path(__file__).parents[2]}", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    }  # fmt: skip
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, folder, str(tmp_path / "runs.db")],
        capture_output=True, text=True, check=False, env=environment, timeout=100,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    found = json.loads(run.stdout.splitlines()[-1])
    assert [row[:2] for row in found] == sorted([str(number), "PASS"] for number in range(40))
    calls = [line for file in tmp_path.glob("[0-9]*") for line in file.read_text().splitlines()]
    assert sorted(calls, key=int) == [str(number) for number in range(40)]


@pytest.mark.ray
def test_a_dataset_is_one_of_ray() -> None:
    with pytest.raises(ConfigurationError, match=r"ray\.data\.Dataset"):
        judge_dataset([1], make, workers=1)
