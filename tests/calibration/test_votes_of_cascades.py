"""Votes from the verdicts of a cascade: those of its jurors without screening tiers, and the jury's own verdicts."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jury_adapters import CascadedJury, Case, ConfigurationError, Ensemble, Report, Tier
from jury_adapters.calibration import Votes, agreement_report, true_pass_rate
from jury_adapters.cli.app import app
from jury_adapters.core.function_judge import FunctionJudge
from jury_adapters.report.summary import Summary


def juror(name: str) -> FunctionJudge:
    return FunctionJudge(lambda case: case.metadata[name], name=name)


def cascade() -> CascadedJury:
    """A cascade whose screening tier lets everything with an answer through; its jurors are stricter."""
    screen = FunctionJudge(lambda case: bool(case.answer), name="not empty")
    return CascadedJury([
        Tier("screen", screen, "reject_on_any_fail"),
        Tier("cheap", Ensemble([juror("a"), juror("b")]), "escalate_on_split"),
        Tier("dear", juror("c")),
    ])  # fmt: skip


CASES = [
    *(Case(answer="", metadata={"item_id": f"e{i}", "a": True, "b": True, "c": True, "gold": "FAIL"})
      for i in range(10)),
    *(Case(answer="x", metadata={"item_id": f"s{i}", "a": True, "b": False, "c": False, "gold": "FAIL"})
      for i in range(20)),
    *(Case(answer="x", metadata={"item_id": f"p{i}", "a": True, "b": True, "c": True, "gold": "PASS"})
      for i in range(10)),
]  # fmt: skip
VERDICTS = [cascade().judge(case) for case in CASES]


def test_judges_of_screening_tiers_are_no_jurors_unless_asked_for() -> None:
    votes = Votes.from_verdicts(VERDICTS)
    assert votes.jurors == ("a", "b", "c")
    assert not votes.answered[:10].any()
    with_screening = Votes.from_verdicts(VERDICTS, screening_tiers=True)
    assert with_screening.jurors == ("not empty", "a", "b", "c")
    assert with_screening.answered[:, 0].all()
    only = CascadedJury([cascade().tiers[0], Tier("rest", juror("a"))])
    with pytest.raises(ConfigurationError, match="only screening tiers judged these cases"):
        Votes.from_verdicts([only.judge(case) for case in CASES[:10]])


def test_what_the_jury_passes_is_what_its_verdicts_say() -> None:
    votes = Votes.from_verdicts(VERDICTS, gold=[str(case.metadata["gold"]) for case in CASES])
    rate = true_pass_rate(votes)
    assert (rate.details["naive"], rate.n) == (0.25, 40)
    assert "Taken at face value, the jury passes 25.0 %" in rate.sentence
    summary = Summary()
    for verdict in VERDICTS:
        summary.add(None, verdict, "")
    assert summary.pass_rate == rate.details["naive"]
    one = true_pass_rate(votes, juror="a")
    assert "Taken at face value, a passes 100.0 %" in one.sentence
    two = true_pass_rate(votes.panel(["a", "b"]))  # of other jurors than the jury's there is no verdict
    assert two.details["naive"] == 1.0
    assert "most of the jurors pass 100.0 %" in two.sentence
    assert votes.take([0, 30]).verdicts.tolist() == [0, 1]


def test_undecided_verdicts_and_labels_without_a_meaning_are_no_verdicts() -> None:
    undecided = Ensemble([juror("a"), juror("b")], tie="abstain").judge(CASES[10])
    assert Votes.from_verdicts([undecided]).verdicts.tolist() == [-1]
    assert Votes.from_rows([["PASS", "FAIL"]]).verdicts.tolist() == []


@pytest.mark.slow
def test_terminal_json_page_and_agreement_give_the_same_numbers(tmp_path: Path) -> None:
    rows = [{"id": case.metadata["item_id"], "answer": case.answer, "gold": case.metadata["gold"],
             "votes": {name: {"label": "PASS" if case.metadata[name] else "FAIL"} for name in "abc"}}
            for case in CASES]  # fmt: skip
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    seats = {name: f"{{recorded: {name}, labels: {{PASS: pass, FAIL: fail}}}}" for name in "abc"}
    (tmp_path / "jury.yaml").write_text(
        "tiers:\n  - {name: screen, policy: reject_on_any_fail, judge: {check: not_empty}}\n"
        f"  - {{name: cheap, policy: escalate_on_split, judge: {{jurors: [{seats['a']}, {seats['b']}]}}}}\n"
        f"  - {{name: dear, judge: {{jurors: [{seats['c']}]}}}}\n"
    )

    def run(*arguments: object) -> dict[str, object]:
        done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        found: dict[str, object] = json.loads(done.stdout)
        return found

    out, cases = tmp_path / "out.jsonl", tmp_path / "cases.jsonl"
    summary = run("judge", cases, "--jury", tmp_path / "jury.yaml", "--out", out, "--json")
    measured = run("report", "--agreement", out, "--cases", cases, "--draws", 100, "--json")
    assert isinstance(measured["sections"], dict)
    rate = measured["sections"]["Rates"][0]
    assert rate["details"]["naive"] == summary["pass_rate"] == 0.25
    raw = measured["sections"]["Agreement"][0]
    assert measured["jurors"] == ["a", "b", "c"]
    assert (raw["name"], raw["n"]) == ("raw agreement", 30)
    page = Report.from_results(VERDICTS).agreement
    assert page.report is not None
    assert (
        page.report.find("raw agreement").value
        == agreement_report(Votes.from_verdicts(VERDICTS)).find("raw agreement").value
    )
    named = run("report", "--agreement", out, "--juror", "NotEmpty", "--juror", "a", "--draws", 100, "--json")
    assert named["jurors"] == ["NotEmpty", "a"]


def test_words_of_people_are_read_as_pass_and_fail_when_it_is_said_which_mean_pass() -> None:
    gold = {str(case.item_id): ("correct", "wrong")[i % 3 == 0] for i, case in enumerate(CASES[:-1])}
    votes = Votes.from_verdicts(VERDICTS, gold=gold, pass_label="correct")
    assert (votes.labels, votes.pass_label) == (("FAIL", "PASS"), "PASS")
    assert votes.gold[:4].tolist() == [0, 1, 1, 0]
    assert votes.gold[-1] == -1
    with pytest.raises(ConfigurationError, match="say which human label means PASS"):
        Votes.from_verdicts(VERDICTS, gold=gold)
    with pytest.raises(ConfigurationError, match="'corect'"):
        Votes.from_verdicts(VERDICTS, gold=gold, pass_label="corect")


def test_raw_agreement_of_the_only_tier_is_the_agreement_of_the_run() -> None:
    two = Ensemble([juror("a"), juror("b")])
    jury = CascadedJury([cascade().tiers[0], Tier("rest", two)])
    verdicts, summary = [jury.judge(case) for case in CASES], Summary()
    for verdict in verdicts:
        summary.add(None, verdict, "")
    found = agreement_report(Votes.from_verdicts(verdicts), draws=0).find("raw agreement")
    assert (found.value, found.n) == (pytest.approx(summary.mean_agreement), summary.with_agreement)


def test_judges_of_a_screening_tier_that_differ_are_no_disagreement() -> None:
    two = Ensemble(
        [FunctionJudge(lambda case: bool(case.answer), name="one"), FunctionJudge(lambda _: True, name="two")]
    )
    jury = CascadedJury([Tier("screen", two, "reject_on_any_fail"), Tier("rest", Ensemble([juror("a"), juror("b")]))])
    summary = Summary()
    for case in CASES:
        summary.add(case, jury.judge(case), "")
    assert summary.with_agreement == 30
    assert summary.mean_agreement == pytest.approx(1 / 3)


def test_a_judge_of_a_screening_tier_differs_from_no_verdict() -> None:
    summary = Summary()
    for verdict in VERDICTS:
        summary.add(None, verdict, "")
    counts = {path: (count.dissents, count.compared) for path, count in summary.jurors.items()}
    assert counts[("screen", "not empty")] == (0, 0)
    assert counts[("cheap", "a")] == (20, 30)
    assert counts[("dear", "c")] == (0, 20)
    assert summary.jurors[("screen", "not empty")].votes == {"PASS": 30, "FAIL": 10}
