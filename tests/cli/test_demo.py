"""The demo, as a newcomer sees it."""

import os
import subprocess
import sys
from importlib.resources import files

from jury_adapters import Judgment
from jury_adapters.cli.showcase import LARGE, SMALL, feedback_jury, score
from jury_adapters.core.case import Case
from jury_adapters.core.rows import read_rows


def run_demo(**environment):
    command = [sys.executable, "-m", "jury_adapters.cli", "demo"]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={**os.environ, **environment}, check=False
    )


def test_the_demo_runs_without_keys_and_shows_all_it_promises():
    environment = {"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": "", "COLUMNS": ""}  # a test runner may have set its own
    done = run_demo(**environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for promised in (
        "200 cases judged",
        "calls saved",
        "same family",
        "differs from the verdict",
        "Cases to look at first",
        "balanced accuracy",
        "Who stopped where",
        "jury judge answers.jsonl",
    ):
        assert promised in done.stdout, promised
    outcomes = {line.split("  ")[1].strip() for line in done.stdout.splitlines() if line.startswith("  ")}
    assert {"grounded", "undecided"} <= outcomes
    assert "not grounded" in done.stdout


def test_the_demo_is_not_coloured_where_it_is_no_terminal():
    assert "\x1b[" not in run_demo().stdout


def test_the_data_has_what_the_jury_needs():
    path = files("jury_adapters.cli") / "data" / "codefeedback_200.jsonl.gz"
    rows = [row.values for row in read_rows(str(path))]
    assert len(rows) == 200
    assert all(set(row["votes"]) for row in rows)
    assert {row["gold"] for row in rows} == {"valid", "invalid"}
    judges = {name for row in rows for name in row["votes"]}
    assert len(judges) == 14
    assert {*SMALL, LARGE} <= judges
    assert "MIT License" in (files("jury_adapters.cli") / "data" / "ATTRIBUTION.md").read_text()


def test_a_split_of_the_small_models_goes_to_the_large_one():
    votes = {name: {"label": "valid"} for name in SMALL}
    agreed = feedback_jury().judge(Case(metadata={"votes": {**votes, LARGE: {"label": "invalid"}}}))
    assert (agreed.status, agreed.stopped_at) == ("PASS", "small models")
    votes[SMALL[0]] = {"label": "invalid"}
    split = feedback_jury().judge(Case(metadata={"votes": {**votes, LARGE: {"label": "invalid"}}}))
    assert (split.status, split.stopped_at) == ("FAIL", "large model")
    assert split.usage.calls == 4


def test_the_comparison_with_people_counts_only_what_was_decided():
    judgments = [Judgment("PASS"), Judgment("PASS"), Judgment("FAIL"), Judgment("ABSTAIN", reasoning="cannot say")]
    found = score(judgments, [True, False, False, True])
    assert (found.decided, found.accuracy) == (3, 2 / 3)
    assert (found.recall(True), found.recall(False), found.balanced_accuracy) == (1.0, 0.5, 0.75)
