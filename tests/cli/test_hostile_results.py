"""Hostile text anywhere in a file of results: no command lets it steer the terminal, and none breaks on it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.table import Table
from rich.text import Text
from typer.testing import CliRunner

from jury_adapters import Case, InputError, Judgment, Verdict
from jury_adapters.cli.app import app
from jury_adapters.cli.safe_console import SafeConsole
from jury_adapters.core.judgment import Finding
from jury_adapters.core.serial import judgment_from_dict
from jury_adapters.core.tally import Tally
from jury_adapters.core.usage import Usage
from jury_adapters.core.verdict import TierResult

pytestmark = pytest.mark.corpus

HOSTILE = "a\x1b]0;title\x07 \x1b[2J\x9b2J \u202eback\u2066 \x08\x7f\u200b\u2028\r\ttab \ud800 [red]z"
QUESTIONS = ("Who left?", "When?", "Why?", "Where?")
JURY = """tiers:
  - {name: a, policy: {escalate_below: 0.5}, judge: {check: not_empty}}
  - {name: b, judge: {check: not_empty}}
"""
RECORDED = "jurors: [{recorded: gpt}, {recorded: claude}]\nvoting: majority\n"
COMMANDS = {
    "report": ["report", "results.jsonl", "--cases", "cases.jsonl"],
    "report against an earlier run": ["report", "results.jsonl", "--compare", "earlier.jsonl", "--markdown"],
    "report against a later run": ["report", "earlier.jsonl", "--compare", "results.jsonl"],
    "compare": ["compare", "earlier.jsonl", "results.jsonl"],
    "compare as Markdown": ["compare", "results.jsonl", "earlier.jsonl", "--markdown"],
    "review": ["review", "results.jsonl", "--by", "ann", "--only", "all", "--show"],
    "replay": ["replay", "results.jsonl", "--jury", "recorded.yaml"],
    "agreement": ["report", "--agreement", "results.jsonl", "--draws", "100"],
    "judge": ["judge", "results.jsonl", "--jury", "jury.yaml"],
}


def juror(name: str, status: str | None, **more: Any) -> Judgment:
    return Judgment(
        status, critic=name, model=f"{name}-1", family=name, reasoning=f"{name} says so", raw_response="raw", **more
    )


def results() -> list[dict[str, Any]]:
    """Lines of results that have every field of every kind of judgment."""
    said = juror(
        "gpt",
        "PASS",
        label="yes",
        probabilities={"yes": 0.9},
        confidence=0.9,
        usage=Usage(calls=1),
        findings=[Finding("name", True, "detail", "evidence")],
        metadata={"note": {"inner": ["text"]}},
    )
    other = juror("claude", "FAIL", label="no", metadata={"fallback_used": {"judge": "backup", "error": "gone"}})
    broken = juror("mini", "ERROR", error="ModelError: gone", metadata={"not_asked": "openai:mini"})
    panel = Verdict(
        "FAIL",
        critic="panel",
        judgments=[said, other, broken],
        voting="majority",
        reasoning="a tie",
        tally=Tally("status", 2, 1, 1, errors=1, ballots=("PASS", "FAIL", None), errors_decided=True),
        weights=(1, 1, 1),
        skipped=["later"],
        partial=True,
        same_family=True,
        usage=Usage(calls=3),
    )
    screen = TierResult("screen", "reject_on_any_fail", juror("rule", "PASS"), False, False, "all pass")
    last = TierResult("strong", "escalate_below(0.8)", panel, True, True, "decided here")
    cascade = Verdict(
        "FAIL",
        critic="cascade",
        reasoning="the strong tier",
        judgments=panel.judgments,
        tiers=[screen, last],
        stopped_at="strong",
        decision="final",
        skipped=["never"],
        error=None,
    )
    labelled = Verdict(
        None,
        label="keep",
        critic="labels",
        voting="weighted",
        tally=Tally("label", 1, ballots=("keep",)),
        judgments=[juror("gpt", None, label="keep")],
    )
    lost = Verdict("ERROR", critic="lost", error="timeout: gone", reasoning="the jury broke", judgments=[broken])
    verdicts = (cascade, panel, labelled, lost)
    return [
        {"line": line, "item_id": f"item-{line}", "key": case.content_hash, "cases": "cases.jsonl",
         "verdict": verdict.to_dict(), "unmet": ["min_agreement: found 0.1"]}
        for line, (case, verdict) in enumerate(zip(cases(), verdicts, strict=True), start=1)
    ]  # fmt: skip


def cases() -> list[Case]:
    return [Case(question=question, answer="Ann.", contexts=["Ann left."]) for question in QUESTIONS]


def with_hostile(value: Any, key: str, *, at_keys: bool = False) -> Any:
    """The same value with the hostile text in place of every text under this key; or of the key itself."""
    if isinstance(value, dict):
        changed = {name: _replaced(item) if name == key and not at_keys else item for name, item in value.items()}
        changed = {HOSTILE if name == key and at_keys else name: item for name, item in changed.items()}
        return {name: with_hostile(item, key, at_keys=at_keys) for name, item in changed.items()}
    return [with_hostile(item, key, at_keys=at_keys) for item in value] if isinstance(value, list) else value


def _replaced(value: Any) -> Any:
    if isinstance(value, str):
        return HOSTILE
    return [_replaced(item) for item in value] if isinstance(value, list) else value


def keys_of_texts(value: Any) -> Iterator[str]:
    """Every key of a mapping, anywhere in the value, under which there is text."""
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from keys_of_texts(item)
    if isinstance(value, dict):
        yield from (name for name, item in value.items() if _replaced(item) != item)


ROWS = results()
TEXTS = sorted(set(keys_of_texts(ROWS)))
# Keys of open mappings, of a line, and of a judgment.
KEYS = ("note", "inner", "yes", "unmet", "item_id", "reasoning")


def written(rows: list[dict[str, Any]], name: str = "results.jsonl") -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(ROWS, "earlier.jsonl")
    Path("cases.jsonl").write_text(
        "".join(
            json.dumps({"question": c.question, "answer": c.answer, "contexts": [*c.contexts]}) + "\n" for c in cases()
        )
    )
    Path("jury.yaml").write_text(JURY)
    Path("recorded.yaml").write_text(RECORDED)


def run(command: str) -> tuple[int, str]:
    Path("labels.jsonl").unlink(missing_ok=True)
    done = CliRunner().invoke(app, COMMANDS[command], input="m\nh\np\nf\nu\n1\n", catch_exceptions=False)
    return done.exit_code, done.stdout + done.stderr


def steering(text: str) -> set[str]:
    """The characters of a text that a terminal would obey, or that would turn it around."""
    return {char for char in text if char != "\n" and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_reads_the_harmless_file(command):
    written(ROWS)
    code, shown = run(command)
    assert code in (0, 1) or command in ("agreement", "judge", "replay"), shown
    assert shown
    assert not steering(shown)


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize("command", COMMANDS)
def test_no_text_of_a_file_of_results_steers_the_terminal(command):
    files = {key: with_hostile(ROWS, key) for key in TEXTS}
    files |= {f"the key {key}": with_hostile(ROWS, key, at_keys=True) for key in KEYS}
    shown_for = []
    for where, rows in files.items():
        assert rows != ROWS
        written(rows)
        code, shown = run(command)
        assert code in (0, 1, 2), (where, shown)
        assert not steering(shown), (where, shown)
        if "\\x1b" in shown:
            shown_for.append(where)
    assert shown_for  # otherwise nothing was tried


def test_every_text_of_a_judgment_is_among_those_that_were_tried():
    expected = """
        status label reasoning critic model family error raw_response name detail evidence policy why voting on decision
        stopped_at skipped ballots item_id key cases unmet kind judge not_asked inner
    """
    assert set(expected.split()) <= set(TEXTS)


@pytest.mark.parametrize("option", [["--json"], ["--html", "page.html"]], ids=["json", "page"])
def test_hostile_texts_are_written_where_they_are_inert(option):
    rows = ROWS
    for key in set(TEXTS) - {"status", "policy", "on", "decision", "kind", "band_on", "agreement_band", "cases"}:
        rows = with_hostile(rows, key)
    written(rows)
    done = CliRunner().invoke(app, ["report", "results.jsonl", *option], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert not steering(done.stdout + done.stderr)


@pytest.mark.parametrize(
    ("key", "message"),
    [("status", "unknown status"), ("policy", "unknown policy of a tier"), ("on", "unknown Tally.on"),
     ("decision", "unknown decision")],
)  # fmt: skip
@pytest.mark.parametrize("command", ["report", "replay", "review", "agreement"])
def test_a_word_that_is_not_in_the_vocabulary_is_refused_with_its_line(key, message, command):
    written(with_hostile(ROWS, key))
    code, shown = run(command)
    assert code == 2
    assert re.search(r"results\.jsonl, line \d: not a judgment written by this package: ", shown)
    assert message in shown


def test_every_policy_that_a_cascade_can_have_is_read_back():
    from jury_adapters.core.tier_policies import Policy, escalate_below

    policies = [*map(str, Policy), *(str(escalate_below(number)) for number in (0, 1, 0.8, 1e-9, 0.1 + 0.2))]
    for policy in policies:
        verdict = Verdict("PASS", tiers=[TierResult("t", policy, Judgment("PASS"), True, False, "")])
        assert judgment_from_dict(verdict.to_dict()) == verdict
    for other in ("", "Final", "final\n", "escalate_below(\x1b[2J)", "escalate_below()", None, 5, ["final"]):
        with pytest.raises(InputError, match="unknown policy of a tier"):
            judgment_from_dict({**verdict.to_dict(), "tiers": [{**verdict.to_dict()["tiers"][0], "policy": other}]})


def test_the_console_keeps_its_own_colours_and_makes_every_other_control_character_visible(capsys):
    console = SafeConsole(force_terminal=True, color_system="standard", width=200, highlight=False)
    table = Table("column")
    table.add_row(Text(HOSTILE, style="red"))
    console.print(HOSTILE, table, Text(HOSTILE), markup=False)
    shown = capsys.readouterr().out
    assert "\x1b[31m" in shown
    assert shown.count("\\x1b]0;title") == 3
    assert not steering(re.sub(r"\x1b\[[0-9;]*m", "", shown))
