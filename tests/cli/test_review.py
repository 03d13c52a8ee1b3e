"""``jury review``: from results to labels that ``jury calibrate`` reads, as a person does it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jury_adapters.cli.app import app
from jury_adapters.core.case import Case
from tests.support.processes import Command, run_command

HOSTILE = "[bold]no[/bold] \u001b[31mred\u001b]0;title\u0007 \u202eback \x9b2J"
ROWS = [
    {"id": "a", "question": "When?", "answer": "Ann left in 2018.", "contexts": ["Ann left in 2018."], "team": "x"},
    {"id": "b", "query": "When?", "response": f"In 2019. {HOSTILE}", "context": "Ann left in 2018."},
    {"user_input": "When?", "output": "She left, and nobody knows when.", "retrieved_contexts": ["Ann left in 2018."]},
    {"id": "d", "question": "When?", "answer": "2018", "contexts": ["Ann left in 2018."]},
]
# Brief, and with the year: they differ on the first, agree against the next two, and agree on the last.
JURY = "name: two\njurors: [{check: length_between, maximum: 8}, {check: contains, texts: ['2018']}]\n"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "jury.yaml").write_text(JURY)
    made = run("judge", tmp_path / "cases.jsonl", "--jury", tmp_path / "jury.yaml", "--out", tmp_path / "results.jsonl")
    assert made.exit_code == 0, made.output
    return tmp_path / "results.jsonl"


def run(*arguments: object, typed: str | None = None):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=typed, catch_exceptions=False)


def review(results: Path, *options: object, typed: str = ""):
    return run("review", results, "--by", "ann", *options, typed=typed)


def labels(results: Path) -> list[dict]:
    return [json.loads(line) for line in (results.parent / "labels.jsonl").read_text().splitlines()]


def test_labels_are_cases_with_gold_and_say_who_when_and_of_which_verdict(results: Path):
    done = review(results, "--only", "all", typed="p\nfail the year is wrong\nu\nf\n")
    assert done.exit_code == 0, done.output
    rows = labels(results)
    assert sorted(str(row.get("id")) for row in rows) == ["None", "a", "b", "d"]
    assert [row["gold"] for row in rows] == ["PASS", "FAIL", None, "FAIL"]
    assert [row["review"]["said"] for row in rows] == ["PASS", "FAIL", "unsure", "FAIL"]
    assert rows[1]["review"]["note"] == "the year is wrong"
    keys = {Case.from_row(row).content_hash for row in ROWS}
    for row in rows:
        about = row["review"]
        assert Case.from_row(row).content_hash == about["key"]
        assert about["by"] == "ann"
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", about["at"])
        assert about["seconds"] >= 0
        assert re.fullmatch(r"[0-9a-f]{16}", about["verdict"]["fingerprint"])
        assert (about["verdict_seen"], about["chosen"]) == ("after", "all")
    assert {row["review"]["key"] for row in rows} == keys
    assert next(row for row in rows if row.get("id") == "a")["team"] == "x"


@pytest.mark.slow
def test_what_is_asked_about(results: Path):
    def asked(only: str) -> list[str]:
        shown = review(results, "--only", only, "--labels", results.parent / f"{only}.jsonl", typed="s\n" * 9).stderr
        return re.findall(r"^\d of \d: (.+?) ─", shown, re.MULTILINE)

    assert asked("contested") == asked("escalated") == ["a"]
    assert json.loads(run("report", results, "--json").stdout)["needs_review"] == 1
    assert sorted(asked("all")) == ["a", "b", "d", "line 3"]
    assert asked("all") == asked("all")
    assert [row for row in asked("all") if row == "a"] == ["a"]


@pytest.mark.slow
def test_the_verdict_is_hidden_until_it_cannot_sway(results: Path):
    default = review(results, typed="p\n").stderr
    assert default.index("[p]ass") < default.index("the jury\n")
    shown = review(results, "--show", "--labels", results.parent / "shown.jsonl", typed="p\n").stderr
    assert shown.index("the jury\n") < shown.index("[p]ass")
    never = review(results, "--blind", "--labels", results.parent / "blind.jsonl", typed="p\n").stderr
    assert "the jury" not in never
    seen = [
        json.loads((results.parent / f"{n}.jsonl").read_text())["review"]["verdict_seen"] for n in ("shown", "blind")
    ]
    assert seen == ["before", "never"]
    both = review(results, "--show", "--blind")
    assert (both.exit_code, "contradict" in both.stderr) == (2, True)


def test_who_goes_back_answers_anew_and_no_longer_blind(results: Path):
    done = review(results, "--only", "all", "--limit", 2, "--json", typed="p\nb\nb\nf\nn\na note\nu\n")
    assert "this is the first case" in done.stderr
    rows = labels(results)
    assert [row["review"]["said"] for row in rows] == ["PASS", "FAIL", "unsure"]
    assert [row["review"]["verdict_seen"] for row in rows] == ["after", "before", "after"]
    assert rows[2]["review"]["note"] == "a note"
    summary = json.loads(done.stdout)
    assert summary["labelled"] == 2
    assert summary["said"] == {"FAIL": 1, "unsure": 1}


@pytest.mark.slow
def test_it_resumes_and_keeps_reviewers_apart(results: Path):
    assert review(results, "--only", "all", typed="p\np\n").exit_code == 0  # then the input ends
    again = review(results, "--only", "all", "--json", typed="f\nq\n")
    assert json.loads(again.stdout)["labelled_in_all"] == 3
    assert len({row["review"]["key"] for row in labels(results)}) == 3
    other = run("review", results, "--by", "bob", "--only", "all", "--json", typed="f\n" * 4)
    assert json.loads(other.stdout)["labelled"] == 4
    assert len(labels(results)) == 7
    assert review(results, "--only", "all", typed="p\n").exit_code == 0
    done = review(results, "--only", "all", typed="p\n")
    assert "nothing to ask: ann has labelled every case" in done.stderr
    assert len(labels(results)) == 8


def test_the_summary_says_how_far_person_and_jury_agree_with_n_and_interval(results: Path):
    order = re.findall(r"^\d of 4: (.+?) ─", review(results, "--only", "all", typed="s\n" * 4).stderr, re.MULTILINE)
    said = {"a": "p", "b": "f", "line 3": "p", "d": "p"}
    done = review(results, "--only", "all", typed="".join(said[name] + "\n" for name in order))
    opinions = [json.loads(line)["verdict"]["status"] for line in results.read_text().splitlines()]
    decided = sum(opinion in ("PASS", "FAIL") for opinion in opinions)
    assert f"of {decided} that both decided" in done.stdout
    assert "95 % interval" in done.stdout
    assert "4 cases labelled by ann now, 4 so far" in done.stdout
    summary = json.loads(review(results, "--only", "all", "--json").stdout)["agreement_with_jury"]
    low, high = summary["interval"]
    assert summary["n"] == decided
    assert 0 <= low < summary["share"] < high <= 1


def test_untrusted_text_can_neither_colour_nor_move_nor_mark_up(results: Path):
    shown = review(results, "--only", "all", typed="p\n" * 4).output
    assert "[bold]no[/bold]" in shown
    assert "\\x1b[31mred\\x1b]0;title\\x07" in shown
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown)


def test_untrusted_labels_are_shown_and_not_obeyed(tmp_path: Path):
    row = {"item_id": "1", "answer": "yes", "votes": {"j": {"label": f"KEEP {HOSTILE}"}}}
    (tmp_path / "cases.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "jury.yaml").write_text("jurors: [{recorded: j}]\n")
    out = tmp_path / "results.jsonl"
    assert run("judge", tmp_path / "cases.jsonl", "--jury", tmp_path / "jury.yaml", "--out", out).exit_code == 0
    done = run("review", out, "--by", f"ann {HOSTILE}", "--only", "all", typed=f"{HOSTILE.strip()}\n1\n")
    assert "1 case labelled by ann [bold]no[/bold] \\x1b[31mred" in done.stdout.replace("\n", " ")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", done.output)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--cases", "nowhere.jsonl"), "nowhere.jsonl"),
        (("--labels", "cases.jsonl"), "which is read"),
        (("--labels", "no/where.jsonl"), "No such file"),
        (("--labels", "labels.csv"), "ends in .jsonl"),
        (("--limit", "0"), "limit"),
    ],
)
def test_wrong_use_is_2_and_says_why(
    results: Path, options: tuple[str, str], said: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(results.parent)
    cases = () if "--cases" in options else ("--cases", "cases.jsonl")
    done = review(results, *cases, *options, typed="p\n")
    assert done.exit_code == 2
    assert said in done.output


def test_a_store_is_refused_with_the_way_to_a_file_of_results(results: Path):
    done = run("review", results.parent / "runs.db")
    assert done.exit_code == 2
    assert "is a store" in done.stderr
    assert "write_results(" in done.stderr.replace("\n", " ")


def test_without_the_cases_it_says_what_to_give(results: Path):
    (results.parent / "cases.jsonl").rename(results.parent / "moved.jsonl")
    done = review(results, typed="p\n")
    assert done.exit_code == 2
    assert "give the file that was judged: --cases CASES" in done.stderr
    assert review(results, "--cases", results.parent / "moved.jsonl", typed="p\n").exit_code == 0
    (results.parent / "others.jsonl").write_text('{"answer": "of something else"}\n')
    assert "no case of" in review(results, "--cases", results.parent / "others.jsonl").stderr


def test_cases_that_changed_since_they_were_judged_are_counted(results: Path):
    cases = results.parent / "cases.jsonl"
    rows = [json.loads(line) for line in cases.read_text().splitlines()]
    rows[1] = {**rows[1], "answer": "Edited since."}
    cases.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = review(results, "--only", "all", typed="p\n")
    assert "1 case is left out" in done.stderr
    assert "cannot be found in it as judged" in " ".join(done.stderr.split())


def test_a_jury_of_labels_is_reviewed_by_its_labels(tmp_path: Path):
    votes = [
        {"item_id": str(n), "answer": f"answer {n}", "votes": {"j": {"label": ("KEEP", "DROP")[n % 2]}}}
        for n in range(4)
    ]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in votes))
    (tmp_path / "jury.yaml").write_text("jurors: [{recorded: j}]\n")
    out = tmp_path / "results.jsonl"
    assert run("judge", tmp_path / "cases.jsonl", "--jury", tmp_path / "jury.yaml", "--out", out).exit_code == 0
    done = run("review", out, "--by", "ann", "--only", "all", "--json", typed="1\nkeep\n2\nu\n")
    assert "[1] DROP  [2] KEEP  [u]nsure" in done.stderr
    assert json.loads(done.stdout)["said"] == {"DROP": 1, "KEEP": 2, "unsure": 1}


def test_every_label_of_the_jury_is_offered_whichever_cases_are_asked_about(tmp_path: Path):
    """The contested case is a tie of two labels; pass and fail would be no words of this jury."""
    rows = [
        {"item_id": "a", "answer": "x", "votes": {"m": {"label": "MERGE"}, "n": {"label": "MERGE"}}},
        {"item_id": "b", "answer": "y", "votes": {"m": {"label": "KEEP"}, "n": {"label": "DROP"}}},
    ]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "jury.yaml").write_text("tie: abstain\njurors: [{recorded: m}, {recorded: n}]\n")
    results = tmp_path / "results.jsonl"
    assert run("judge", tmp_path / "cases.jsonl", "--jury", tmp_path / "jury.yaml", "--out", results).exit_code == 0
    done = review(results, typed="2\n")
    assert "[1] DROP  [2] KEEP  [3] MERGE  [u]nsure" in done.stderr
    assert [row["gold"] for row in labels(results)] == ["KEEP"]


def test_from_judging_to_a_calibrated_jury(tmp_path: Path):
    """The whole way: judge, review by two people who disagree once, calibrate, judge with the guarantee."""
    folder = tmp_path
    rows = [{"id": str(n), "answer": f"Ann left in {2018 if n % 3 else 2017}, case {n}."} for n in range(60)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "jury.yaml").write_text("name: year\njurors: [{check: contains, texts: ['2018']}]\n")
    out = folder / "results.jsonl"
    assert run("judge", folder / "cases.jsonl", "--jury", folder / "jury.yaml", "--out", out).exit_code == 0

    def answers(wrong: int | None = None) -> str:
        shown = run(
            "review", out, "--by", "nobody", "--only", "all", "--labels", folder / "x.jsonl", typed="s\n" * 60
        ).stderr
        order = [int(name) for name in re.findall(r"^\d+ of 60: (\d+) ─", shown, re.MULTILINE)]
        return "".join("p\n" if (n % 3 != 0) is (n != wrong) else "f\n" for n in order)

    for by, wrong in (("ann", None), ("bob", 7)):
        assert run("review", out, "--by", by, "--only", "all", typed=answers(wrong)).exit_code == 0
    assert len(labels(out)) == 120
    done = run("calibrate", folder / "labels.jsonl", "--jury", folder / "jury.yaml", "--agreement", 0.9, "--json",
               "--out", folder / "calibrated.yaml")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["n"] == 59  # each case once, without the one on which they are split
    split = "1 case has contradicting labels (7: ann PASS, bob FAIL)"
    assert f"{split} and is left out; one more reviewer settles it" in done.stderr
    assert "has no label" not in done.stderr
    again = run("review", out, "--by", "bob", "--only", "all")
    said = (
        f"59 cases in it have a label; {split}, left out of every figure and guarantee until one more reviewer settles"
    )
    assert said in " ".join(again.stdout.split())
    assert "no fair sample" not in done.stderr
    judged = run("judge", folder / "cases.jsonl", "--jury", folder / "calibrated.yaml", "--json")
    assert json.loads(judged.stdout)["passed"] == 40
    assert json.loads(judged.stdout)["guarantee"]["agreement"] == 0.9
    shown = " ".join(run("judge", folder / "cases.jsonl", "--jury", folder / "calibrated.yaml").stdout.split())
    assert "guarantee at least 90.0 % of the decided cases agree with human labels, with a confidence of 90 %" in shown
    assert "where no tier is sure enough, it abstains" in shown
    plain = run("judge", folder / "cases.jsonl", "--jury", folder / "jury.yaml")
    assert "guarantee" not in plain.stdout
    measured = run("report", "--agreement", out, "--labels", folder / "labels.jsonl", "--draws", 100)
    assert measured.exit_code == 0, measured.output
    assert "59" in measured.stdout


def test_calibrate_says_that_contested_cases_are_no_fair_sample(results: Path):
    review(results, typed="p\n")
    done = run("calibrate", results.parent / "labels.jsonl", "--jury", results.parent / "jury.yaml")
    assert done.exit_code == 1
    assert "labels of contested cases are not a fair sample" in done.stderr


def test_a_kill_loses_no_label_and_a_torn_line_does_no_harm(results: Path):
    (reading, writing), (told, telling) = os.pipe(), os.pipe()
    process = Command("review", results, "--by", "ann", "--only", "all", streams=(reading, telling, telling))
    os.close(reading)
    os.close(telling)
    os.write(writing, b"p\nf\n")
    with os.fdopen(told, encoding="utf-8") as lines_told:
        while "3 of 4" not in lines_told.readline():  # shown only when both are kept
            assert process.poll() is None
        process.kill()
        process.wait()
    os.close(writing)
    assert [row["gold"] for row in labels(results)] == ["PASS", "FAIL"]
    with (results.parent / "labels.jsonl").open("a") as torn:
        torn.write('{"gold": "PA')
    done = review(results, "--only", "all", "--json", typed="p\np\n")
    assert json.loads(done.stdout)["labelled_in_all"] == 4
    lines = (results.parent / "labels.jsonl").read_text().splitlines()
    assert len(lines) == 5
    assert lines[2] == '{"gold": "PA'


@pytest.mark.slow
def test_input_that_is_closed_or_no_text_is_no_crash(results: Path):
    command = ["review", str(results), "--by", "ann", "--only", "all"]
    closed = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-m", "jury_adapters.cli", *command],
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (closed.returncode, b"Traceback" in closed.stderr) == (0, False)
    odd = run_command(*command, typed=b"\xff\np \xff\xfe\n")
    assert odd.returncode == 0, odd.stderr
    assert labels(results)[0]["review"]["note"] == "\\xff\\xfe"


class Terminal:
    """The command on a terminal of its own, typed at as a person does: after the question is there."""

    def __init__(self, *arguments: object) -> None:
        import pty

        self._ours, theirs = pty.openpty()
        own = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
        environment = {**own, "TERM": "xterm-256color"}
        self.process = Command(*arguments, streams=(theirs, theirs, theirs), environment=environment)
        self._theirs = theirs
        self.shown = ""

    def read_until(self, text: str) -> None:
        while text not in self.shown:
            self.shown += os.read(self._ours, 65536).decode(errors="replace")

    def press(self, key: str) -> None:
        self.wait_for_question()
        self.shown = ""
        os.write(self._ours, key.encode())

    def wait_for_question(self) -> None:
        self.read_until("[h]elp >")
        while self.canonical():  # until the key is waited for: what is typed before does not count
            time.sleep(0.005)

    def canonical(self) -> bool:
        import termios

        return bool(termios.tcgetattr(self._theirs)[3] & termios.ICANON)

    def end(self) -> int:
        code = self.process.wait()
        os.set_blocking(self._ours, False)
        try:
            while chunk := os.read(self._ours, 65536):
                self.shown += chunk.decode(errors="replace")
        except OSError:
            pass
        return code

    def close(self) -> None:
        os.close(self._theirs)
        os.close(self._ours)


def test_single_keys_on_a_terminal(results: Path):
    terminal = Terminal("review", results, "--by", "ann", "--only", "all")
    for key in ("p", "x", "\x1b[A", "f", "n"):
        terminal.press(key)
    terminal.read_until("note:")
    os.write(terminal._ours, b"a remark\n")
    terminal.press("u")
    terminal.press("q")
    assert terminal.end() == 0
    assert "3 cases labelled by ann" in terminal.shown
    assert terminal.canonical()
    terminal.close()
    assert [row["review"]["said"] for row in labels(results)] == ["PASS", "FAIL", "unsure"]
    assert labels(results)[2]["review"]["note"] == "a remark"


@pytest.mark.parametrize(("how", "code"), [("\x03", 130), ("\x04", 0), (signal.SIGTERM, 143)])
def test_leaving_is_clean_however_it_happens(results: Path, how: str | signal.Signals, code: int):
    terminal = Terminal("review", results, "--by", "ann", "--only", "all")
    terminal.press("p")
    if isinstance(how, str):
        terminal.press(how)
    else:
        terminal.wait_for_question()
        terminal.process.send_signal(how)
    assert terminal.end() == code
    assert "Traceback" not in terminal.shown
    if isinstance(how, str):
        assert "1 case labelled by ann" in terminal.shown
    assert terminal.canonical()
    terminal.close()
    assert len(labels(results)) == 1


@pytest.mark.parametrize("asked", ["h", "?", "help"])
def test_help_explains_every_key_and_asks_again(results: Path, asked: str):
    done = review(results, "--only", "all", "--limit", "1", typed=f"{asked}\np\n")
    assert labels(results)[0]["gold"] == "PASS"
    assert "p  pass: what you say of the answer" in done.stderr
    assert "u  unsure: you cannot say" in done.stderr
    assert "m  more: show long texts to their end" in done.stderr
    assert done.stderr.count("[h]elp >") == 2


def test_a_key_that_is_none_points_to_the_help(results: Path):
    assert "'x' is not an answer; type one of the keys in brackets, h for help" in review(results, typed="x\n").stderr


def test_where_no_case_is_contested_it_says_so(tmp_path: Path):
    (tmp_path / "cases.jsonl").write_text('{"answer": "In 2018."}\n')
    (tmp_path / "jury.yaml").write_text('check: contains\ntexts: ["2018"]\n')
    run("judge", tmp_path / "cases.jsonl", "--jury", tmp_path / "jury.yaml", "--out", tmp_path / "results.jsonl")
    done = run("review", tmp_path / "results.jsonl", "--by", "ann")
    assert "nothing to ask: no case is of --only contested; --only all asks about every case" in done.stderr
