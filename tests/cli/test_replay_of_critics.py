"""``jury replay`` of juries with critics: recorded votes are served by juror name, and no model is asked."""

import json

import pytest
from typer.testing import CliRunner

from jury_adapters import Critic, Ensemble
from jury_adapters.cli.app import app
from jury_adapters.config import load_jury

PANEL = """
name: panel
jurors:
  - {rubric: faithfulness, model: "openai:gpt-4o-mini"}
  - {rubric: faithfulness, model: "openai:gpt-4.1-mini", name: second, samples: 3}
  - {check: length_between, maximum: 40}
"""
CASCADE = """
name: cascade
tiers:
  - {name: screen, policy: reject_on_any_fail, judge: {check: not_empty}}
  - name: small
    policy: escalate_on_split
    judge:
      jurors:
        - {rubric: faithfulness, model: "openai:gpt-4o-mini"}
        - {rubric: faithfulness, model: "openai:gpt-4.1-mini"}
  - {name: strong, judge: {rubric: faithfulness, model: "openai:gpt-4o", samples: 3}}
"""


def run(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)


@pytest.fixture
def judged(tmp_path, server, monkeypatch):
    """Cases, and a function that writes a jury file and judges the cases with it."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-the-test")
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai)
    cases = [
        {"question": "q", "answer": f"TRUTH={truth}{padding}", "contexts": ["c"], "gold": gold}
        for truth, padding, gold in (("YES", "", "pass"), ("NO", "", "fail"), ("YES", " and so on" * 8, "fail"))
    ]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))

    def judge(text):
        (tmp_path / "jury.yaml").write_text(text)
        options = ("--jury", tmp_path / "jury.yaml", "--out", tmp_path / "results.jsonl", "--json")
        return json.loads(run("judge", tmp_path / "cases.jsonl", *options, "--store", tmp_path / "runs.db").stdout)

    judge.folder = tmp_path
    return judge


@pytest.mark.parametrize("jury", [PANEL, CASCADE], ids=["panel", "cascade"])
@pytest.mark.parametrize("key", [True, False])
def test_a_replay_gives_the_same_verdicts_and_sends_nothing(judged, server, monkeypatch, jury, key):
    before = judged(jury)
    asked = len(server.asks)
    assert asked > 0
    if not key:
        monkeypatch.delenv("OPENAI_API_KEY")
    folder = judged.folder
    result = run("replay", folder / "results.jsonl", "--jury", folder / "jury.yaml", "--json")
    assert result.exit_code == 0, result.output
    (replayed,) = json.loads(result.stdout)
    assert len(server.asks) == asked
    assert (replayed["cases"], replayed["passed"], replayed["agreement"]) == (
        3,
        before["passed"],
        before["mean_agreement"],
    )
    assert replayed["calls"] == before["calls"] == asked
    assert replayed["cost_usd"] == pytest.approx(before["cost_usd"])
    assert replayed["label_comparison"]["labelled_cases"] == 3


@pytest.mark.slow
def test_checks_run_again_with_the_options_of_the_file(judged, server):
    before = judged(PANEL)
    asked = len(server.asks)
    strict = judged.folder / "strict.yaml"
    strict.write_text(PANEL.replace("maximum: 40", "maximum: 1") + "voting: unanimous\n")
    (result,) = json.loads(run("replay", judged.folder / "results.jsonl", "--jury", strict, "--json").stdout)
    assert (before["passed"], result["passed"]) == (2, 0)
    assert len(server.asks) == asked


def test_checks_do_not_run_on_cases_without_texts(judged):
    judged(PANEL)
    (judged.folder / "cases.jsonl").unlink()
    result = run("replay", judged.folder / "results.jsonl", "--jury", judged.folder / "jury.yaml")
    told = " ".join(result.stderr.split())
    assert result.exit_code == 2
    assert "'LengthBetween' runs again, and the texts of 3 cases are not known" in told
    assert "--cases CASES" in told


@pytest.mark.slow
def test_a_critic_without_recorded_votes_is_named_with_what_to_do(judged, server):
    judged(PANEL)
    asked = len(server.asks)
    other = judged.folder / "other.yaml"
    other.write_text('jurors: [{rubric: answer_relevance, model: "openai:gpt-4o-mini"}]\n')
    result = run("replay", judged.folder / "results.jsonl", "--jury", other)
    told = " ".join(result.stderr.split())
    assert result.exit_code == 2
    assert "no votes of 'answer_relevance gpt-4o-mini', and a replay asks no model" in told
    assert "it holds votes of" in told
    assert "faithfulness gpt-4o-mini" in told
    assert "jury judge CASES --jury JURY --out RESULTS" in told
    assert len(server.asks) == asked


def test_a_critic_that_lacks_votes_of_some_cases_is_reported(judged, server):
    judged(PANEL)
    rows = (judged.folder / "results.jsonl").read_text().splitlines()
    without = json.loads(rows[0])
    del without["verdict"]["judgments"][0]
    (judged.folder / "results.jsonl").write_text("\n".join([json.dumps(without), *rows[1:]]) + "\n")
    result = run("replay", judged.folder / "results.jsonl", "--jury", judged.folder / "jury.yaml")
    assert result.exit_code == 0
    assert "faithfulness gpt-4o-mini has no recorded vote for 1 case that reached it, and abstained" in " ".join(
        result.stderr.split()
    )


@pytest.mark.slow
@pytest.mark.parametrize("samples", [1, 3])
def test_votes_of_another_model_or_rubric_are_served_and_reported_once(judged, samples):
    jury = f'jurors: [{{criterion: "Is it true?", model: "openai:gpt-4.1", name: big, samples: {samples}}}]\n'
    judged(jury)

    def told(text):
        other = judged.folder / "other.yaml"
        other.write_text(text)
        result = run("replay", judged.folder / "results.jsonl", "--jury", other)
        assert result.exit_code == 0, result.output
        return " ".join(result.stderr.split())

    assert "cast with" not in told(jury)
    both = told(jury.replace("gpt-4.1", "gpt-4.1-nano").replace("true", "false"))
    assert (
        both.count("big has votes that were cast with the model gpt-4.1 and another rubric, which the jury file") == 1
    )
    assert "cast with the model gpt-4.1, which" in told(jury.replace("gpt-4.1", "gpt-4.1-nano"))
    assert "cast with another rubric, which" in told(jury.replace("true", "false"))


def test_a_store_serves_critics_by_their_names(judged, server):
    mini, large = (
        'rubric: faithfulness, model: "openai:gpt-4o-mini"',
        'rubric: faithfulness, model: "openai:gpt-4o", name: s',
    )
    judged(f"jurors: [{{{mini}}}, {{{large}}}]\n")
    asked = len(server.asks)
    result = run("replay", judged.folder / "runs.db", "--jury", judged.folder / "jury.yaml", "--json")
    assert result.exit_code == 0, result.output
    (replayed,) = json.loads(result.stdout)
    assert (replayed["cases"], replayed["decided"], replayed["calls"]) == (3, 3, asked)
    assert len(server.asks) == asked


def test_bare_labels_mean_what_they_mean_in_the_rubric(tmp_path):
    rows = [{"item_id": n, "votes": {"faithfulness gpt-4o": label}} for n, label in enumerate(["YES", "NO", "UNSURE"])]
    (tmp_path / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "jury.yaml").write_text('jurors: [{rubric: faithfulness, model: "openai:gpt-4o"}]\n')
    (found,) = json.loads(run("replay", tmp_path / "votes.jsonl", "--jury", tmp_path / "jury.yaml", "--json").stdout)
    assert (found["cases"], found["decided"], found["passed"]) == (3, 2, 1)


def test_the_fallback_of_a_critic_needs_no_votes(judged, server):
    mini, large = (f'rubric: faithfulness, model: "openai:{model}"' for model in ("gpt-4o-mini", "gpt-4o"))
    judged(f"jurors: [{{{mini}, fallbacks: [{{{large}}}]}}]\n")
    asked = len(server.asks)
    result = run("replay", judged.folder / "results.jsonl", "--jury", judged.folder / "jury.yaml", "--json")
    assert result.exit_code == 0, result.output
    assert len(server.asks) == asked


def test_a_critic_has_one_default_name_in_python_and_in_a_jury_file(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-the-test")
    in_file = load_jury('jurors: [{rubric: faithfulness, model: "openai:gpt-4o-mini"}]')
    in_python = Ensemble([Critic("openai:gpt-4o-mini", "faithfulness")])
    assert in_file.names == in_python.names == ("faithfulness gpt-4o-mini",)
    criteria = load_jury('jurors: [{criterion: "The answer is short.", model: "openai:gpt-4o-mini"}]')
    assert criteria.names == (Critic.from_criteria("openai:gpt-4o-mini", "The answer is short.").name,)
    replayed = load_jury('jurors: [{rubric: faithfulness, model: "openai:gpt-4o-mini"}]', replay=True)
    assert replayed.names == in_file.names
    assert replayed.members[0].fingerprint == in_file.members[0].fingerprint


def test_another_rubric_changes_the_default_name_but_no_given_name(server):
    options = {"rubric": "faithfulness", "base_url": server.openai, "api_key": "k"}
    assert Critic("gpt", **options).with_rubric("safety").name == "safety gpt"
    assert Critic("gpt", name="mine", **options).with_rubric("safety").name == "mine"


@pytest.mark.slow
def test_a_rerun_from_a_store_reports_nothing_new_beside_what_is_on_record(judged, server):
    first = judged(PANEL)
    asked = len(server.asks)
    assert (first["calls"], first["recorded"]["calls"]) == (asked, 0)
    (judged.folder / "results.jsonl").unlink()
    again = judged(PANEL)
    assert len(server.asks) == asked
    assert (again["calls"], again["cost_usd"], again["cost_complete"]) == (0, 0.0, True)
    assert again["recorded"]["calls"] == asked
    assert again["recorded"]["cost_usd"] == pytest.approx(first["cost_usd"])
    folder = judged.folder
    text = run("judge", folder / "cases.jsonl", "--jury", folder / "jury.yaml", "--store", folder / "runs.db").stdout
    line = next(line for line in text.splitlines() if "model calls" in line)
    assert line.split()[:6] == ["model", "calls", "0,", "$0.00;", "on", "record"]
    assert f"{asked}," in line
    markdown = run("report", folder / "results.jsonl", "--markdown").stdout
    assert "model calls 0, $0.00; on record " in markdown


@pytest.mark.parametrize("vote", ["UNSURE", {"label": "UNSURE"}, {"label": "UNSURE", "reasoning": "says too little"}])
def test_a_recorded_label_that_abstains_abstains_also_without_a_reason(vote):
    jury = load_jury(
        'jurors: {a: {rubric: faithfulness, model: "ollama:x", required: true}, b: {check: not_empty}}', replay=True
    )
    verdict = jury.judge(question="q", answer="a", contexts="c", metadata={"votes": {"a": vote}})
    assert verdict.status == verdict.judgments[0].status == "ABSTAIN"
    assert verdict.judgments[0].label == "UNSURE"
    assert verdict.judgments[0].reasoning == ("says too little" if "reasoning" in vote else "recorded: UNSURE")
