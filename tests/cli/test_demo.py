"""The demo, as a newcomer sees it."""

import json
import os
from importlib.resources import files

from jury_adapters.cli.showcase import LARGE, SMALL, feedback_jury
from jury_adapters.core.case import Case
from jury_adapters.core.row_files import read_rows
from tests.support.processes import run_command


def run_demo(**environment):
    return run_command("demo", environment={**os.environ, **environment})


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
        "false passes",
        "Who stopped where",
        "jury judge answers.jsonl",
    ):
        assert promised in done.stdout, promised
    outcomes = {line.split("  ")[1].strip() for line in done.stdout.splitlines() if line.startswith("  ")}
    assert {"grounded", "abstained"} <= outcomes
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


def test_the_demo_compares_the_jury_with_people_in_the_component_of_jury_judge():
    told = json.loads(run_command("demo", "--json").stdout)["jury"]["label_comparison"]
    jury = told["jury"]
    assert (told["labelled_cases"], told["pass_labels"], told["labels"]) == (
        200,
        ["valid"],
        {"valid": 191, "invalid": 9},
    )
    assert (jury["decided"], jury["false_passes"]["count"], jury["false_passes"]["of"]) == (198, 5, 9)
    assert told["constants"][0]["accuracy"] > jury["accuracy"]
    shown = run_demo().stdout
    assert shown.index("Against human labels: 200 labelled cases") < shown.index("passed  ")
    assert "Always PASS is right on 95.5 %" in " ".join(shown.split())
