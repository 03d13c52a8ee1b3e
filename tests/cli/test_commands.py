"""The commands through typer's own runner: quick, in this process."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import get_args, get_type_hints

import jsonschema
import pytest
from typer.models import CommandInfo
from typer.testing import CliRunner, Result

from jury_adapters import InputError, Judgment, Verdict, __version__
from jury_adapters.cli.app import app, function_of
from jury_adapters.cli.results import Results
from jury_adapters.core.serial import judgment_from_dict
from jury_adapters.testing import no_waiting

ROWS = [
    {
        "id": "a",
        "question": "When?",
        "answer": "Ann left the firm in 2018.",
        "contexts": ["Ann left the firm in 2018."],
    },
    {"id": "b", "query": "When?", "response": "Ann left the firm in 2019.", "context": "Ann left the firm in 2018."},
    {"user_input": "When?", "output": "She quit.", "retrieved_contexts": ["Ann left the firm in 2018."]},
]

try:
    RUNNER = CliRunner(mix_stderr=False)  # click before 8.2 mixes them otherwise
except TypeError:
    RUNNER = CliRunner()


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    return lines(tmp_path / "cases.jsonl", *map(json.dumps, ROWS))


def lines(path: Path, *rows: str) -> Path:
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def jury(*arguments: object) -> Result:
    return RUNNER.invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


def yaml(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "jury.yaml"
    file.write_text(text)
    return file


def test_the_default_is_the_grounding_screen_in_any_frameworks_names(cases: Path):
    result = jury("judge", cases)
    assert result.exit_code == 0
    for line in ("3 cases judged by grounding_screen in ", "1 of 2 decided: 50.0 %", "abstained        1, 33.3 %",
                 "Who stopped where", "NamesAndNumbers", "line 3   ABSTAIN"):  # fmt: skip
        assert line in result.stdout
    assert result.stderr == ""


@pytest.mark.slow
def test_every_format_gives_the_same(tmp_path: Path, cases: Path):
    (tmp_path / "cases.json").write_text(json.dumps(ROWS))
    (tmp_path / "cases.jsonl.gz").write_bytes(gzip.compress(cases.read_bytes()))
    with (tmp_path / "cases.csv").open("w", newline="") as stored:
        writer = csv.DictWriter(stored, ["id", "question", "answer", "contexts"])
        writer.writeheader()
        for row in ROWS:
            question, answer, contexts = list(row.values())[-3:]
            text = contexts if isinstance(contexts, str) else json.dumps(contexts)
            writer.writerow({"id": row.get("id", ""), "question": question, "answer": answer, "contexts": text})
    for name in ("cases.json", "cases.jsonl.gz", "cases.csv"):
        result = jury("judge", tmp_path / name)
        assert result.exit_code == 0
        assert "1 of 2 decided: 50.0 %" in result.stdout


def test_a_jury_file_is_used_and_named(tmp_path: Path, cases: Path):
    result = jury("judge", cases, "--jury", yaml(tmp_path, "name: strict\njurors: [{check: not_empty}]\n"))
    assert "3 cases judged by strict in " in result.stdout
    assert "3 of 3 decided: 100.0 %" in result.stdout
    result = jury("judge", cases, "--jury", yaml(tmp_path, "jurors: [{check: not_empty}]\n"))
    assert "judged by jury.yaml in " in result.stdout


def test_a_wrong_jury_file_fails_at_once(tmp_path: Path, cases: Path):
    result = jury(
        "judge", cases, "--jury", yaml(tmp_path, "jurors:\n  - check: not_emty\n"), "--out", tmp_path / "o.jsonl"
    )
    assert result.exit_code == 2
    assert "jury.yaml, line 2: jurors[0].check: unknown check 'not_emty'. Did you mean 'not_empty'?" in result.stderr
    assert result.stdout == ""
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(("least", "code"), [("0.5", 0), ("0.51", 1), ("0", 0), ("1", 1)])
def test_fail_under_is_the_exit_code(cases: Path, least: str, code: int):
    result = jury("judge", cases, "--fail-under", least)
    assert result.exit_code == code
    assert ("below --fail-under" in result.stderr) is bool(code)


def test_fail_under_is_not_reached_when_nothing_is_decided(tmp_path: Path, cases: Path):
    result = jury("judge", cases, "--fail-under", "0", "--jury", yaml(tmp_path, "jurors: [{check: undecided}]\n"))
    assert result.exit_code == 1
    assert "nothing was decided" in result.stderr


OUTAGE = """
rubric: faithfulness
tiers:
  - name: known
    policy: accept_on_all_pass
    judge: {jurors: [{check: contains, texts: ["4"]}]}
  - name: model
    judge:
      errors: ERRORS
      juror_timeout: 0.2
      jurors: [{model: "ollama:qwen", base_url: "http://127.0.0.1:9"}]
"""


@pytest.mark.parametrize("errors", ["fail", "propagate"])
@pytest.mark.parametrize(("least", "code"), [("0.9", 1), ("0.51", 1), ("0.5", 0)])
def test_cases_that_broke_count_as_failed_under_fail_under(tmp_path: Path, errors: str, least: str, code: int):
    rows = [{"question": "?", "contexts": ["4"], "answer": answer} for answer in ("4", "4.", "5", "6")]
    file = lines(tmp_path / "cases.jsonl", *map(json.dumps, rows))
    panel = yaml(tmp_path, OUTAGE.replace("ERRORS", errors))
    result = jury("judge", file, "--fail-under", least, "--jury", panel, "--allow-base-url", "--quiet")
    assert result.exit_code == code, result.stderr
    assert ("2 cases of 4 broke; if they count as failed" in result.stderr) is bool(code)


def test_fail_under_needs_labels_with_a_meaning(tmp_path: Path):
    votes = lines(tmp_path / "votes.jsonl", json.dumps({"item_id": 1, "votes": {"a": {"label": "KEEP"}}}))
    result = jury("judge", votes, "--fail-under", "0.5", "--jury", yaml(tmp_path, "jurors: [{recorded: a}]\n"))
    assert result.exit_code == 2
    assert "give it with labels:" in result.stderr
    assert "label KEEP       1 of 1 labelled: 100.0 %" in result.stdout


def test_limit_counts_cases(tmp_path: Path):
    file = lines(tmp_path / "cases.jsonl", "not json", *(json.dumps(row) for row in ROWS), "not json either")
    result = jury("judge", file, "--limit", "2", "--concurrency", "1")
    assert "2 cases judged" in result.stdout
    assert "line 1: not JSON" in result.stderr
    assert "line 5" not in result.stderr


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("90%", "90% is not a share of 1: 0.9 is 90 %"), ("90", "0.9 is 90 %"), ("nan", "such as 0.9"),
        ("most", "most is not a share of 1, such as 0.9"), ("-1", "-1 is not a share"),
    ],
)  # fmt: skip
def test_a_share_is_told_from_a_percentage(cases, given, said):
    result = jury("judge", cases, "--fail-under", given)
    assert (result.exit_code, said in " ".join(result.stderr.replace("│", " ").split())) == (2, True), result.stderr


@pytest.mark.parametrize("wrong", [("--limit", "0"), ("--fail-under", "1.5"), ("--concurrency", "0"), ("--nope",)])
def test_wrong_usage_is_2(cases: Path, wrong: tuple[str, ...]):
    assert jury("judge", cases, *wrong).exit_code == 2


def test_out_has_one_line_per_verdict_that_reads_back(tmp_path: Path, cases: Path):
    out = tmp_path / "results.jsonl"
    assert jury("judge", cases, "--out", out).exit_code == 0
    items = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(item["line"], item["item_id"]) for item in items] == [(1, "a"), (2, "b"), (3, None)]
    assert len({item["key"] for item in items}) == 3
    verdicts = [judgment_from_dict(item["verdict"]) for item in items]
    assert [str(verdict.status) for verdict in verdicts] == ["PASS", "FAIL", "ABSTAIN"]
    assert all(isinstance(verdict, Verdict) for verdict in verdicts)


def test_out_replaces_an_empty_file_as_a_run_leaves_it_that_ends_before_its_first_verdict(tmp_path: Path, cases: Path):
    out, other = tmp_path / "results.jsonl", tmp_path / "other.jsonl"
    with Results(out, cases=cases), Results(other, cases=cases):
        pass
    assert out.read_text() == ""
    assert jury("judge", cases, "--out", out, "--dry-run").exit_code == 0
    assert jury("judge", cases, "--out", out).exit_code == 0
    assert len(out.read_text().splitlines()) == 3
    assert jury("judge", cases, "--out", out).exit_code == 2
    late = Results(other, cases=cases)
    lines(other, "precious")  # of another process, after the file was found empty
    with pytest.raises(InputError, match="exists already"):
        late.__enter__()
    assert other.read_text().strip() == "precious"
    late.__exit__(None, None, None)


def test_out_never_replaces_a_file_silently(tmp_path: Path, cases: Path):
    out = lines(tmp_path / "results.jsonl", "precious")
    result = jury("judge", cases, "--out", out)
    assert result.exit_code == 2
    assert "exists already; give another --out, or --force to replace it" in result.stderr
    assert out.read_text() == "precious\n"
    assert jury("judge", tmp_path / "nowhere.jsonl", "--out", out, "--force").exit_code == 2
    assert out.read_text() == "precious\n"
    assert jury("judge", cases, "--out", out, "--force").exit_code == 0
    assert len(out.read_text().splitlines()) == 3


def test_out_never_replaces_the_cases(tmp_path: Path, cases: Path):
    (tmp_path / "link.jsonl").symlink_to(cases)
    before = cases.read_bytes()
    for out in (cases, tmp_path / "link.jsonl"):
        result = jury("judge", cases, "--out", out, "--force")
        assert result.exit_code == 2
        assert f"{out} is one of the files that this is made from" in result.stderr
    assert cases.read_bytes() == before


def test_out_that_cannot_be_written_fails_before_anything_is_judged(tmp_path: Path, cases: Path):
    result = jury("judge", cases, "--out", tmp_path / "no" / "folder" / "out.jsonl")
    assert result.exit_code == 2
    assert "there is no such folder as" in result.stderr
    assert result.stdout == ""


def test_json_is_json(cases: Path):
    result = jury("judge", cases, "--json")
    data = json.loads(result.stdout)
    assert (data["jury"], data["cases"], data["pass_rate"]) == ("grounding_screen", 3, 0.5)
    assert data["look_first"][0]["where"] == "line 3"


BAD_FILES = {
    "missing.jsonl": None,
    "empty.jsonl": b"",
    "blank.jsonl": b"\n\n \n",
    "bad.jsonl": b"{\n[1]\n3\n",
    "binary.jsonl": b"\xff\xfe\x00\x01\n",
    "empty.csv": b"",
    "header.csv": b"question,answer\n",
    "columns.csv": b"Frage,Antwort\nhi,ho\n",
    "empty.json": b"",
    "empty_list.json": b"[]",
    "scalar.json": b"3",
    "torn.jsonl.gz": gzip.compress(b'{"answer": "x"}\n')[:12],
    "no.jsonl.gz": b"not gzip",
    "words.txt": b"hello",
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_file_without_cases_is_2(tmp_path: Path, name: str):
    content = BAD_FILES[name]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    result = jury("judge", tmp_path / name, "--out", tmp_path / "out.jsonl")
    assert result.exit_code == 2
    assert f"error: {tmp_path / name}" in result.stderr
    assert result.stdout == ""
    assert not (tmp_path / "out.jsonl").exists()


def test_columns_that_mean_nothing_are_named(tmp_path: Path):
    (tmp_path / "columns.csv").write_text("Frage,Antwort\nhi,ho\n")
    result = jury("judge", tmp_path / "columns.csv")
    assert "line 2: no column is a question, an answer or contexts; there are Frage, Antwort" in result.stderr


def test_a_bad_row_is_named_and_the_others_are_judged(tmp_path: Path):
    good = json.dumps(ROWS[0])
    bad = [
        '{"answer": ',
        "[1, 2]",
        '{"answer": "x", "messages": "no list"}',
        '{"Frage": "x"}',
        '{"a":' * 2000 + "1" + "}" * 2000,
    ]
    file = lines(tmp_path / "cases.jsonl", good, *bad, good)
    result = jury("judge", file, "--out", tmp_path / "out.jsonl")
    assert result.exit_code == 0
    assert "2 cases judged" in result.stdout
    assert f"unreadable rows  {len(bad)}, not judged" in result.stdout
    for line in range(2, len(bad) + 2):
        assert f"cases.jsonl, line {line}: " in result.stderr
    assert "messages: " in result.stderr
    assert [json.loads(line)["line"] for line in (tmp_path / "out.jsonl").read_text().splitlines()] == [1, len(bad) + 2]


def test_endless_bad_rows_are_told_in_bounds(tmp_path: Path):
    file = lines(tmp_path / "cases.jsonl", json.dumps(ROWS[0]), *["nonsense"] * 500)
    result = jury("judge", file)
    assert len(result.stderr.splitlines()) == 51
    assert "... and 450 more rows that could not be read" in result.stderr


@pytest.mark.slow
def test_damage_further_down_keeps_what_was_judged(tmp_path: Path):
    whole = gzip.compress(b"".join(json.dumps({**ROWS[0], "id": n}).encode() + b"\n" for n in range(4_000)))
    (tmp_path / "cases.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    result = jury("judge", tmp_path / "cases.jsonl.gz", "--out", tmp_path / "out.jsonl")
    assert result.exit_code == 2
    assert "cases judged until then" in result.stderr
    assert "cases judged by grounding_screen" in result.stdout
    assert all(json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines())


def test_hostile_rows_are_judged_and_shown(tmp_path: Path):
    evil = "[bold]\u001b[31m[/] \ud800 :smile: \u202e"
    rows = [
        {"id": evil, "answer": evil, "contexts": [evil + " Ann left."]},
        {"id": "big", "answer": "x " * 2_500_000, "contexts": ["Ann left the firm in 2018."]},
        {"id": [1], "answer": 3, "contexts": {"a": "b"}, evil: {evil: evil}},
        {"id": None, "answer": "", "contexts": []},
    ]
    file = lines(tmp_path / "cases.jsonl", *map(json.dumps, rows))
    jury_file = yaml(tmp_path, "jurors: [{check: equals}]\n")  # abstains on all, so that all are listed
    result = jury("judge", file, "--jury", jury_file, "--out", tmp_path / "out.jsonl")
    assert result.exit_code == 0
    assert "4 cases judged" in result.stdout
    assert "[bold]\\x1b[31m[/]" in result.stdout
    assert "\x1b" not in result.stdout
    assert len((tmp_path / "out.jsonl").read_text("ascii").splitlines()) == 4


@pytest.mark.slow
def test_a_csv_with_a_cell_of_5_mb_and_ragged_rows(tmp_path: Path):
    file = tmp_path / "cases.csv"
    file.write_text('answer,contexts\n"' + "x " * 2_500_000 + '",here\nonly an answer\n1,2,3\nlast,row\n')
    result = jury("judge", file, "--jury", yaml(tmp_path, "jurors: [{check: not_empty}]\n"))
    assert result.exit_code == 0
    assert "3 cases judged" in result.stdout
    assert "line 4: 1 more values than columns" in result.stderr


def test_a_juror_that_never_finds_its_vote_is_pointed_out(tmp_path: Path):
    votes = {"a": {"label": "ok"}, "b": {"label": "ok"}}
    file = lines(tmp_path / "cases.jsonl", *(json.dumps({"item_id": n, "votes": votes}) for n in range(3)))
    text = "jurors: [{recorded: a, labels: {ok: pass, bad: fail}}, {recorded: bb, labels: {ok: pass, bad: fail}}]\n"
    result = jury("judge", file, "--jury", yaml(tmp_path, text))
    assert "always abstains  bb, asked 3 times: no vote of bb is recorded for this case" in result.stdout


def test_a_juror_that_always_breaks_is_not_said_to_abstain(tmp_path: Path):
    file = lines(tmp_path / "cases.jsonl", *(json.dumps({"answer": f"a{n}"}) for n in range(3)))
    text = (
        'jurors: [{check: not_empty}, {criterion: "Is it?", model: "ollama:none", base_url: "http://127.0.0.1:9/v1"}]\n'
    )
    with no_waiting():
        result = jury("judge", file, "--jury", yaml(tmp_path, text))
        once = jury("judge", file, "--limit", "1", "--jury", yaml(tmp_path, text))
    assert "always breaks" in result.stdout
    assert "always abstains" not in result.stdout
    assert re.search(r"  broke +.*, asked 1 time: connection: ", once.stdout)


@pytest.mark.slow
def test_schema_prints_a_schema():
    result = jury("show", "schema")
    assert result.exit_code == 0
    jsonschema.Draft202012Validator.check_schema(json.loads(result.stdout))


@pytest.mark.slow
def test_version_and_help():
    assert jury("--version").stdout == f"jury {__version__}\n"
    assert "Usage: " in jury().output
    for arguments in (("--help",), ("judge", "-h"), ("demo", "-h"), ("show", "-h")):
        result = jury(*arguments)
        assert result.exit_code == 0
        assert "Usage: " in result.stdout
    assert "--fail-under" in jury("judge", "--help").stdout


@pytest.mark.parametrize("command", app.registered_commands, ids=lambda command: command.name)
def test_help_shows_what_is_written_square_brackets_too(command: CommandInfo):
    shown = jury(command.name, "--help").stdout
    flat = "".join(shown.replace("│", "").split())
    function = function_of(command.name)
    texts = [function.__doc__, *_helps(function)]
    for text in texts:
        assert "".join(text.replace("\\[", "[").split()) in flat


def _helps(command: Callable[..., object]) -> list[str]:
    hints = get_type_hints(command, include_extras=True)
    return [about.help for hint in hints.values() for about in get_args(hint)[1:] if getattr(about, "help", None)]


def test_one_case_is_no_plural(tmp_path: Path):
    one = lines(tmp_path / "one.jsonl", '{"id": "a", "answer": "I cannot help with that."}', "{")
    result = jury("judge", one, "--jury", yaml(tmp_path, GATED))
    for said in ("1 case judged", "of the 1 case with two votes or more", "missed by 1 verdict (min_agreement 1 time)"):
        assert said in result.stdout
    assert "1 of 1 verdict misses a gate of the jury file" in result.stderr
    assert not re.search(r"\b1 (cases|verdicts|times|rows|answers|calls)\b", result.output)


@pytest.mark.slow
def test_columns_with_other_names_are_told_once_with_what_to_do(tmp_path: Path):
    table = lines(tmp_path / "a.csv", "Frage;Antwort", *["Wie?;So."] * 60)
    result = jury("judge", table)
    assert result.exit_code == 2
    assert result.stderr.count("no column is") == 1
    fix = "there are Frage, Antwort; rename them (question, answer, contexts; query, response, ...), or give --map"
    assert f"{fix} answer=COLUMN" in " ".join(result.stderr.split())
    mixed = lines(tmp_path / "b.jsonl", *['{"Frage": 1}'] * 3, '{"answer": "x"}', *['{"Frage": 1}'] * 2)
    told = jury("judge", mixed).stderr
    assert [f"line {line}:" in told for line in range(1, 7)] == [True, False, False, False, True, True]
    assert "b.jsonl: 2 more rows have the same problem as line 1" in told


def test_judgments_of_an_async_jury_are_streamed(tmp_path: Path, cases: Path):
    text = "jurors: [{check: not_empty, timeout: 5}, {check: refusal_check}]\nschedule: early_stop\n"
    out = tmp_path / "out.jsonl"
    assert jury("judge", cases, "--jury", yaml(tmp_path, text), "--out", out).exit_code == 0
    found = [Judgment.from_json(json.dumps(json.loads(line)["verdict"])) for line in out.read_text().splitlines()]
    assert [str(verdict.status) for verdict in found] == ["PASS"] * 3


GATED = """
gates: {min_agreement: 0.9, undefined: fail}
voting: majority
jurors: [{check: not_empty}, {check: refusal_check}]
"""


def test_gates_of_the_jury_file_are_checked_counted_listed_and_decide_the_exit_code(tmp_path: Path):
    rows = [{"id": "fine", "answer": "Yes."}, {"id": "split", "answer": "I cannot help with that."}, {"question": "?"}]
    cases = lines(tmp_path / "cases.jsonl", *map(json.dumps, rows))
    result = jury("judge", cases, "--jury", yaml(tmp_path, GATED), "--out", tmp_path / "out.jsonl")
    assert result.exit_code == 1
    assert "2 of 3 verdicts miss a gate of the jury file" in result.stderr
    assert "missed by 2 verdicts (min_agreement 2 times)" in result.stdout
    assert "split (line 2)   min_agreement=0.9: found 0" in result.stdout
    unmet = [json.loads(line)["unmet"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert unmet == [[], ["min_agreement=0.9: found 0"], ["min_agreement=0.9: undefined (fewer than two ballots)"]]
    summary = json.loads(jury("judge", cases, "--jury", yaml(tmp_path, GATED), "--json").stdout)
    assert summary["gates"] == {
        "missed": 2, "by_gate": {"min_agreement": 2}, "verdicts": 3, "not_measured": {},
        "first": [
            {"where": "split (line 2)", "unmet": ["min_agreement=0.9: found 0"]},
            {"where": "line 3", "unmet": ["min_agreement=0.9: undefined (fewer than two ballots)"]},
        ],
    }  # fmt: skip


def test_a_verdict_that_decides_nothing_misses_the_gates_unless_it_may(tmp_path: Path):
    cases = lines(tmp_path / "cases.jsonl", '{"answer": "Yes."}')
    checks = "jurors: [{check: undecided}]"
    result = jury("judge", cases, "--jury", yaml(tmp_path, f"gates: {{min_agreement: 0.9}}\n{checks}"))
    assert result.exit_code == 1
    assert "missed by 1 verdict (decided 1 time)" in result.stdout
    assert "decided=True: found ABSTAIN" in result.stdout
    allowed = yaml(tmp_path, f"gates: {{min_agreement: 0.9, decided: null}}\n{checks}")
    assert jury("judge", cases, "--jury", allowed).exit_code == 0


def test_a_gate_that_could_not_be_measured_is_not_called_met(tmp_path: Path):
    cases = lines(tmp_path / "cases.jsonl", '{"answer": "Yes."}', '{"answer": "No."}')
    card = yaml(tmp_path, "gates: {min_agreement: 0.5}\nscorecard:\n  there: {check: not_empty}\n")
    result = jury("judge", cases, "--jury", card)
    assert result.exit_code == 0
    assert "missed by no verdict" in result.stdout
    assert "min_agreement could not be measured on 2 of 2 verdicts" in result.stdout
    assert "met by every verdict" not in result.stdout


def test_gates_that_every_verdict_meets_change_nothing_but_say_so(tmp_path: Path, cases: Path):
    result = jury("judge", cases, "--jury", yaml(tmp_path, GATED), "--out", tmp_path / "out.jsonl")
    assert result.exit_code == 0
    assert "gates            met by every verdict" in result.stdout
    plain = jury(
        "judge", cases, "--jury", yaml(tmp_path, "jurors: [{check: not_empty}]"), "--out", tmp_path / "o.jsonl"
    )
    assert "gates " not in plain.stdout
    assert "unmet" not in json.loads((tmp_path / "o.jsonl").read_text().splitlines()[0])
    assert json.loads(jury("judge", cases, "--json").stdout)["gates"] is None


def test_many_missed_gates_are_counted_and_the_first_are_listed(tmp_path: Path):
    cases = lines(tmp_path / "cases.jsonl", *(json.dumps({"answer": "I cannot help with that."}) for _ in range(30)))
    result = jury("judge", cases, "--jury", yaml(tmp_path, GATED))
    assert "Gates missed (10 of 30 verdicts)" in result.stdout


@pytest.mark.slow
def test_a_jury_file_runs_programs_only_when_allowed(tmp_path: Path, cases: Path):
    file = yaml(tmp_path, "jurors: [{check: command, argv: [anything]}]")
    refused = jury("judge", cases, "--jury", file)
    assert refused.exit_code == 2
    assert "`jury judge --allow-commands`" in refused.stderr
    assert jury("judge", cases, "--jury", file, "--allow-commands").exit_code == 0  # no workspace: it abstains
    told = " ".join(jury("judge", "--help").stdout.replace("│", " ").split())
    assert "Let the jury file run programs; only for files you would run as a script." in told
    assert (
        "1 below --fail-under, a gate of the jury file missed, most cases not decided because of errors, "
        "a model given up" in told
    )
