"""Single jurors of a file: their options, what they read beside it, and the programs they may not run."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from support.jury_files import GOOD
from support.jury_schemas import schema_validator

from jury_adapters import ConfigurationError, Status
from jury_adapters.config import load_jury


def test_options_reach_the_judges():
    jury = load_jury(GOOD["every check"])
    assert jury.names[2] == "names the city"
    assert jury.members[1].ignore_case is True
    assert jury.members[3].timeout_s == 0.5
    assert jury.members[4].timeout == 2
    assert jury.strategy.on_split == "abstain"


@pytest.mark.parametrize(
    ("voting", "tied"),
    [("", "SPLIT"), ("voting: unanimous\n", "SPLIT"), ("voting: weighted\n", "SPLIT"),
     ("voting: majority\nmin_share: 2/3\n", "SPLIT"), ("voting: majority\ntie: fail\n", None)],
)  # fmt: skip
def test_a_jury_file_names_the_label_of_a_disagreement(voting, tied):
    jurors = "jurors: [{check: contains, texts: Paris}, {check: contains, texts: Rome}]\n"
    jury = load_jury(f"{jurors}{voting}disagree_label: SPLIT\ndefault_label: NONE\n")
    assert jury.judge(answer="In Paris.").label == tied
    assert jury.judge(answer="Paris, Rome.").status is Status.PASS
    with pytest.raises(ConfigurationError, match="disagree_label"):
        load_jury(f"{jurors}{voting}disagree_label: ' '\n")


@pytest.mark.parametrize("voting", ["average", "k_veto", "quorum"])
def test_a_rule_without_ballots_has_no_label_of_a_disagreement(voting):
    with pytest.raises(ConfigurationError, match="disagree_label"):
        load_jury(f"jurors: [{{check: not_empty}}]\nvoting: {voting}\ndisagree_label: SPLIT\n")


def test_the_grounding_screen_takes_a_final_judge():
    jury = load_jury(GOOD["every screen"])
    assert jury.members[-1].judge(answer="Bo was in Rome.", contexts="In Rome somebody met Bo.").stopped_at == "final"


def test_a_reference_folder_is_found_beside_the_file(tmp_path: Path):
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "a.txt").write_text("x")
    (tmp_path / "work").mkdir()
    file = tmp_path / "jury.yaml"
    file.write_text("jurors: [{check: directory_superset, expected: reference}]")
    jury = load_jury(file)
    assert jury.members[0].expected == tmp_path / "reference"
    assert jury.judge(workspace=tmp_path / "work").status is Status.FAIL
    file.write_text("jurors: [{check: directory_superset, expected: null}, {check: files_match}]")
    assert load_jury(file).judge(workspace=tmp_path / "work").status is Status.ABSTAIN


def test_votes_are_found_beside_the_file_and_read_once(tmp_path: Path):
    (tmp_path / "votes.jsonl").write_text('{"item_id": 7, "votes": {"a": {"label": "ok"}, "b": {"label": "bad"}}}\n')
    file = tmp_path / "jury.yaml"
    file.write_text(
        "jurors:\n"
        "  - {recorded: a, votes: votes.jsonl, labels: {ok: pass, bad: fail}}\n"
        "  - {recorded: b, votes: votes.jsonl, labels: {ok: pass, bad: fail}}\n"
    )
    for path in (file, str(file)):
        verdict = load_jury(path).judge(metadata={"item_id": "7"})
        assert [str(judgment.status) for judgment in verdict.judgments] == ["PASS", "FAIL"]


def test_ratings_are_labels_too():
    jury = load_jury("jurors: [{recorded: a, labels: {4: pass, 5: pass, 1: fail}}]\n")
    assert jury.judge(metadata={"votes": {"a": {"label": 4}}}).passed is True


RUNS_PROGRAMS = """
jurors:
  - {check: command, argv: [make, check], exit_code: [0, 2], env: {CI: "1"}, pass_env: [DEBUG], timeout_s: 60}
  - {check: command, argv: 'make check | tail', shell: true, cwd: src}
  - {check: tests_pass, tool: pytest, args: [-x], max_output: 1000}
  - {check: build_passes, timeout: 5}
"""


def test_checks_that_run_programs_are_refused_unless_the_reader_allows_them():
    with pytest.raises(ConfigurationError, match=r"line 3: jurors\[0\]: Command runs programs.*allow_commands=True"):
        load_jury(RUNS_PROGRAMS)
    jury = load_jury(RUNS_PROGRAMS, allow_commands=True)
    assert jury.members[0].argv == ("make", "check")
    assert jury.members[0].exit_code == (0, 2)
    assert jury.members[0].env == {"CI": "1"}
    assert jury.members[1].shell is True
    assert jury.members[2].args == ("-x",)
    assert jury.members[3].timeout == 5
    schema_validator().validate(yaml.safe_load(RUNS_PROGRAMS))


def test_a_program_hidden_in_a_nested_jury_is_refused_as_well():
    with pytest.raises(ConfigurationError, match="TestsPass runs programs"):
        load_jury("tiers: [{name: only, judge: {jurors: [{jurors: [{check: tests_pass}]}]}}]")


def test_a_function_is_no_option_of_a_file():
    with pytest.raises(ConfigurationError, match="sandbox"):
        load_jury("jurors: [{check: tests_pass, sandbox: no_network}]", allow_commands=True)


def test_the_refusal_of_programs_names_both_ways_to_allow_them():
    with pytest.raises(ConfigurationError, match=r"load_jury\(..., allow_commands=True\), or `jury judge --allow-comm"):
        load_jury(RUNS_PROGRAMS)


def test_weights_of_a_file_decide_without_a_rule(tmp_path):
    path = tmp_path / "jury.yaml"
    path.write_text(
        "jurors:\n  one: {check: contains, texts: ferry}\n"
        "  two: {check: contains, texts: boat}\n  long: {check: length_between, minimum: 1, weight: 3}\n"
    )
    jury = load_jury(path)
    assert (jury.voting, jury.judge(answer="hello").status) == ("weighted", "PASS")
    assert (jury.names, jury.weights) == (("one", "two", "long"), (1, 1, 3))


def test_a_vote_on_scores_in_a_file_passes_from_the_score_of_its_jurors():
    jurors = "jurors: [{check: sentence_support, threshold: 0.8, name: a}, {check: sentence_support, threshold: 0.8}]\n"
    case = {"answer": "Ann left Rome early.", "contexts": ["Ann left the firm early."]}
    jury = load_jury(f"{jurors}voting: average\n")
    assert jury.threshold == 0.8
    assert {juror.status for juror in jury.judge(case).judgments} == {jury.judge(case).status} == {Status.FAIL}
    assert load_jury(f"{jurors}voting: average\nthreshold: 0.5\n").threshold == 0.5


def test_jurors_of_a_file_that_pass_from_different_scores_need_a_threshold():
    jurors = (
        "jurors: [{check: sentence_support, threshold: 0.8, name: a}, {check: context_relevance, threshold: 0.5}]\n"
    )
    told = r"pass from different scores .*a from 0\.8.*give `threshold:`.*`voting: majority`"
    with pytest.raises(ConfigurationError, match=told):
        load_jury(f"{jurors}voting: average\n")
    assert load_jury(f"{jurors}voting: average\nthreshold: 0.6\n").threshold == 0.6
