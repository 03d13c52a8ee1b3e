"""``jury review``, ``report``, ``compare`` and ``calibrate``: labels of people, and the results they belong to."""

import json
import os
import pty
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command import BOAT, PAIRS, Command, Content, Ran, accuracy_of, boat, command, environment
from fact_tables import each_row

from jury_adapters import read_results

JUDGE = ("judge", "cases.jsonl", "--jury", "jury.yaml", "--quiet", "--out")


@pytest.fixture
def judged(run: Command) -> Command:
    """Results r.jsonl of three cases: PASS, FAIL, ABSTAIN."""
    assert (
        run(*JUDGE, "r.jsonl", files={"cases.jsonl": boat("valid", "invalid", "unsure"), "jury.yaml": BOAT}).code == 0
    )
    return run


def keys_of(folder: Path) -> list[str]:
    return [one.case.content_hash for one in read_results(folder / "r.jsonl") if one.case]


ACCEPTED: dict[str, tuple[list[dict[str, Any]], str, int]] = {  # labels, what is said, cases of the comparison
    "ids with the answer": ([{"id": "q0", "answer": "A0.", "human_label": "PASS"}], "", 1),
    "ids as other tools name them": ([{"example_id": "q0", "response": "A0.", "human_label": "pass"}], "", 1),
    "the case without an id": ([{"query": "Q1?", "response": "A1.", "human_label": "no", "shop": "x"}], "", 1),
    "an id alone": ([{"id": "q1", "human_label": False}], "1 labels were found by the id alone", 1),
    "a row without a label": ([{"id": "q0", "human_label": "PASS"}, {"id": "zz", "human_label": ""}], "alone", 1),
    "a majority": (
        [{"id": "q0", "answer": "A0.", "by": by, "human_label": one}
         for by, one in (("a", "PASS"), ("b", "FAIL"), ("c", "pass "), ("d", True))],
        "", 1,
    ),
    "no label beside a label": (
        [{"id": "q0", "answer": "A0.", "by": one, "human_label": one} for one in ("pass", "N/A", "nan", " ", "#N/A")],
        "", 1,
    ),
    "a second thought of one person": (
        [{"id": "q0", "answer": "A0.", "by": "ann", "human_label": one} for one in ("FAIL", "FAIL", "PASS")], "", 1,
    ),
    "a contradiction is left out": (
        [{"id": "q0", "answer": "A0.", "by": by, "human_label": one} for by, one in (("a", "PASS"), ("b", "FAIL"))]
        + [{"id": "q1", "answer": "A1.", "human_label": "FAIL"}],
        "1 cases have no majority of their labels", 1,
    ),
}  # fmt: skip


@each_row("what", ACCEPTED)
def test_labels_find_their_answers(judged: Command, what: str) -> None:
    rows, said, compared = ACCEPTED[what]
    done = judged("report", "r.jsonl", "--labels", "labels.jsonl", "--json", files={"labels.jsonl": rows})
    assert done.code == 0, done.err
    assert (said in done.err, bool(said), accuracy_of(done)) == (True, bool(done.err), (1.0, compared))


REFUSED: dict[str, tuple[Content, str]] = {
    "another answer": ([{"id": "q0", "answer": "Else.", "human_label": "PASS"}], "1 of 1 labels belong to no result"),
    "an unknown id": (
        [{"id": "q0", "human_label": "PASS"}, {"id": "q9", "human_label": "PASS"}],
        "1 of 2 labels belong to no result with the same key, or id and answer; the first is line 2 with the id 'q9'",
    ),
    "an unknown key": ([{"key": "0" * 32, "human_label": "PASS"}], f"with the key '{'0' * 32}'"),
    "a part of the case": ([{"answer": "A0.", "human_label": "PASS"}], "1 of 1 labels belong to no result"),
    "neither key nor id nor case": (
        [{"x": 1, "human_label": "PASS"}],
        "line 1: no `key`, no `id`, and no case",
    ),
    "no such column": ([{"id": "q0", "gold": "PASS"}], "no row has a label in the column 'human_label'"),
    "a row that is no row": ('{"id": "q0", "human_label": "PASS"}\nnope\n', "labels.jsonl, line 2: not JSON"),
    "numbers": ([{"id": "q0", "human_label": 1.0}], "not 1; --pass-label"),
    "labels that mean nothing": ([{"id": "q0", "human_label": "meh"}], "not meh; --pass-label"),
    "the results themselves": ("", "no row has a label"),
}


@each_row("what", REFUSED)
def test_other_labels_are_refused(judged: Command, what: str) -> None:
    content, said = REFUSED[what]
    done = judged("report", "r.jsonl", "--labels", "labels.jsonl", files={"labels.jsonl": content})
    assert (done.code, done.out, said in done.err) == (2, "", True)


RATERS: tuple[tuple[list[Any], str], ...] = (  # the labels of one answer, and the verdict of their majority
    (["good", "Good "], "valid"),
    (["good", "good", "wrong", "incomplete", "rude"], "invalid"),
    (["wrong", "incomplete"], "invalid"),
    ([0, 0.0, 1], "invalid"),
    (["good", "yes", 1], "valid"),
    (["good", "rude"], ""),
)


def test_a_majority_is_one_of_what_labels_mean(run: Command) -> None:
    """With two raters who name a fault by two words, its answer would have had no label."""
    rows = boat(*(verdict or "valid" for _, verdict in RATERS))
    labels = [
        {"id": f"q{place}", "answer": f"A{place}.", "by": str(by), "human_label": one}
        for place, (said, _) in enumerate(RATERS)
        for by, one in enumerate(said)
    ]
    run(*JUDGE, "r.jsonl", files={"cases.jsonl": rows, "jury.yaml": BOAT, "labels.jsonl": labels})
    done = run("report", "r.jsonl", "--labels", "labels.jsonl", "--pass-label", "good", "--json")
    assert (done.code, accuracy_of(done), "1 cases have no majority of" in done.err) == (0, (1.0, 5), True)


def test_an_id_of_two_answers_needs_the_answer(run: Command) -> None:
    """Trap 8: ten answers to one question have one id, and a label belongs to one of them."""
    rows = [{**row, "id": "q"} for row in boat("valid", "invalid")]
    run(*JUDGE, "r.jsonl", files={"cases.jsonl": rows, "jury.yaml": BOAT})
    done = run(
        "report", "r.jsonl", "--labels", "labels.jsonl", files={"labels.jsonl": [{"id": "q", "human_label": "PASS"}]}
    )
    assert (done.code, "line 1: the id 'q' is that of two answers; give `key` or the answer" in done.err) == (2, True)
    assert (
        run(
            "report",
            "r.jsonl",
            "--labels",
            "labels.jsonl",
            files={"labels.jsonl": [{"id": "q", "answer": "A0.", "human_label": "PASS"}]},
        ).code
        == 0
    )


@pytest.fixture
def systems(run: Command) -> Command:
    """Results a.jsonl and b.jsonl of two systems that answered the same forty questions."""
    for name, votes in (("a", ["valid"] * 20 + ["invalid"] * 20), ("b", ["valid"] * 30 + ["invalid"] * 10)):
        rows = [{**row, "answer": f"{name} says {place}"} for place, row in enumerate(boat(*votes))]
        assert run(*JUDGE, f"{name}.jsonl", files={"cases.jsonl": rows, "jury.yaml": BOAT}).code == 0
    return run


def test_two_systems_are_compared_case_by_case(systems: Command) -> None:
    done = systems("compare", "a.jsonl", "b.jsonl", "--json", "--report", "page.html")
    assert (done.code, done.err) == (0, "")
    assert "25.0" in done.out or "0.250" in done.out
    assert (
        "a.jsonl" in (systems.folder / "page.html").read_text(),
        "10" in systems("compare", "a.jsonl", "b.jsonl").out,
    ) == (True, True)
    same = systems("compare", "a.jsonl", "a.jsonl", "--report", "a.jsonl")
    assert (same.code, "would replace a.jsonl" in same.err) == (2, True)


def test_labels_of_a_comparison_name_the_answer(systems: Command) -> None:
    """Trap 8: a label of the answer of one system is none of the other's."""
    done = systems(
        "compare",
        "a.jsonl",
        "b.jsonl",
        "--labels",
        "labels.jsonl",
        files={"labels.jsonl": [{"id": "q0", "human_label": "PASS"}]},
    )
    assert (done.code, "line 1: the id 'q0' does not tell which of two answers was labelled" in done.err) == (2, True)
    both: list[dict[str, Any]] = [
        {"id": f"q{place}", "answer": f"{name} says {place}", "human_label": "PASS" if good else "FAIL"}
        for place in range(40)
        for name, good in (("a", place < 20), ("b", place < 30))
    ]
    compare = ("compare", "a.jsonl", "b.jsonl", "--json")
    corrected = systems(*compare, "--labels", "labels.jsonl", files={"labels.jsonl": both})
    said = "b.jsonl minus a.jsonl, corrected by human labels: 25.0 points"
    assert (corrected.code, corrected.err, said in corrected.out, said in systems(*compare).out) == (0, "", True, False)


def test_systems_without_a_common_case_are_refused(systems: Command) -> None:
    rows = [{**row, "id": f"x{row['id']}"} for row in boat("valid")]
    systems(*JUDGE, "c.jsonl", files={"cases.jsonl": rows, "jury.yaml": BOAT})
    done = systems("compare", "a.jsonl", "c.jsonl")
    assert (done.code, done.out, "no " in done.err) == (2, "", True)


def press(master: int, key: str) -> None:
    """Press a key when the terminal listens to single ones; what is typed earlier is thrown away."""
    end = time.monotonic() + 30
    while termios.tcgetattr(master)[3] & termios.ICANON and time.monotonic() < end:
        time.sleep(0.002)
    os.write(master, key.encode())


class Reviewer:
    """Person at a terminal who presses keys."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        self.master, slave = pty.openpty()
        streams: dict[str, Any] = {"stdin": slave, "stdout": slave, "stderr": slave, "env": environment(TERM="xterm")}
        self.process = subprocess.Popen(command("review", *arguments), cwd=folder, **streams)
        os.close(slave)
        self.shown = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                self.shown += os.read(self.master, 4096)
            except OSError:
                return

    def sees(self, text: str, times: int = 1) -> None:
        """Wait until a text is shown so many times."""
        end = time.monotonic() + 30
        while self.shown.count(text.encode()) < times and self.process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        assert self.shown.count(text.encode()) >= times, self.shown.decode()

    def press(self, key: str) -> None:
        press(self.master, key)

    def end(self) -> int:
        code = self.process.wait(30)
        self._reader.join(5)
        os.close(self.master)
        return code


def written(folder: Path) -> list[dict[str, Any]]:
    path = folder / "labels.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_person_labels_blind_and_each_label_is_on_the_disk_before_the_next_case(judged: Command) -> None:
    """Trap 13, with a kill between two labels, and the same command again."""
    options = ("r.jsonl", "--out", "labels.jsonl", "--sample", "3", "--by", "ann")
    person = Reviewer(judged.folder, *options)
    person.sees("[p] PASS  [f] FAIL  [s] skip  [q] quit")
    first = person.shown.decode()
    assert not any(word in first for word in ("boat", "unsure", "valid"))  # the verdict is hidden
    person.press("p")
    person.sees("[p] PASS", times=2)
    assert "boat" in person.shown.decode()  # the verdict comes after the label
    assert [row["human_label"] for row in written(judged.folder)] == ["PASS"]
    person.process.send_signal(signal.SIGKILL)
    person.end()
    with (judged.folder / "labels.jsonl").open("a") as file:
        file.write('{"key": "cut o')
    person = Reviewer(judged.folder, *options)
    person.sees("1 of 2")
    person.press("f")
    person.sees("2 of 2")
    person.press("s")
    assert person.end() == 0
    rows = written(judged.folder)
    assert (
        [row["human_label"] for row in rows],
        {row["by"] for row in rows},
        {row["key"] for row in rows} < set(keys_of(judged.folder)),
        b"1 labels more in labels.jsonl; next: jury report r.jsonl --labels labels.jsonl" in person.shown,
    ) == (["PASS", "FAIL"], {"ann"}, True, True)
    done = judged("report", "r.jsonl", "--labels", "labels.jsonl", "--json")
    assert (done.code, done.err) == (0, "")


@pytest.fixture
def typed(run: Command, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Ran]]:
    """Run `jury review` in this process, on a terminal where these keys are pressed."""
    master, slave = pty.openpty()
    with os.fdopen(slave) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)

        def start(keys: str, *arguments: str) -> Ran:
            def person() -> None:
                for key in keys:
                    before = len(written(run.folder))
                    press(master, key)
                    while key != keys[-1] and len(written(run.folder)) == before:
                        time.sleep(0.002)

            thread = threading.Thread(target=person)
            thread.start()
            done = run("review", *arguments)
            thread.join()
            return done

        yield start
    os.close(master)


def test_contested_cases_come_first_and_ctrl_c_keeps_the_labels(run: Command, typed: Callable[..., Ran]) -> None:
    rows = boat("A", "tie", "B", question="Which \x1b[2J?", candidates=[["one", "two"]] * 3)
    run(*JUDGE, "r.jsonl", files={"cases.jsonl": rows, "jury.yaml": PAIRS})
    first = typed("2", "r.jsonl", "--out", "labels.jsonl")
    assert (first.code, "1 of 1  q1" in first.out) == (0, True)  # the only one that needs review
    assert (
        "[1] A  [2] B" in first.out,
        "answer A:" in first.out,
        "\x1b[2J" not in first.out,
        [(row["id"], row["human_label"]) for row in written(run.folder)],
        "these cases are no random sample" in first.err,
    ) == (True, True, True, [("q1", "B")], True)
    none = run("review", "r.jsonl", "--out", "labels.jsonl")
    assert (none.code, "no such case left to label" in none.err) == (0, True)
    second = typed("1\x03", "r.jsonl", "--out", "labels.jsonl", "--sample", "9")
    assert (
        second.code,
        "1 of 2" in second.out,
        "2 of 2" in second.out,
        "1 labels more in labels.jsonl" in second.err,
        len(written(run.folder)),
    ) == (130, True, True, True, 2)


def test_review_needs_a_terminal_and_another_file(judged: Command) -> None:
    done = judged("review", "r.jsonl", "--out", "r.jsonl")
    assert (done.code, "--out r.jsonl would replace r.jsonl" in done.err) == (2, True)
    done = judged("review", "r.jsonl", "--out", "labels.jsonl")
    assert (done.code, "needs a terminal" in done.err, not (judged.folder / "labels.jsonl").exists()) == (2, True, True)


@pytest.mark.parametrize("content", ["my notes", '{"id": "q0", "human_label": "PASS"}\n', '{"key": "k"}\nmine'])
def test_review_adds_to_no_other_file(run: Command, typed: Callable[..., Ran], content: str) -> None:
    run(*JUDGE, "r.jsonl", files={"cases.jsonl": boat("valid"), "jury.yaml": BOAT, "labels.jsonl": content})
    done = typed("", "r.jsonl", "--out", "labels.jsonl")
    assert (
        done.code,
        "labels.jsonl has other lines than jury review writes; give another --out" in done.err,
        (run.folder / "labels.jsonl").read_text(),
    ) == (2, True, content)


CASCADE = """\
tiers:
  - name: small
    policy: escalate_on_split
    judge:
      jurors:
        one: {recorded: one, labels: {valid: pass, invalid: fail}}
        two: {recorded: two, labels: {valid: pass, invalid: fail}}
  - name: large
    judge: {recorded: large, labels: {valid: pass, invalid: fail}}
"""


def labelled(count: int, *, wrong: int) -> list[dict[str, Any]]:
    """Cases of which the small tier decides most; the first so many of its verdicts are wrong."""
    rows = []
    for place in range(count):
        good = place % 2 == 0
        word, other = ("valid", "invalid") if good else ("invalid", "valid")
        votes = {"one": other if place < wrong else word, "two": other if place < wrong or place % 5 == 0 else word}
        row = {"id": f"c{place}", "question": "Q", "answer": f"A{place}", "votes": {**votes, "large": word}}
        rows.append(row | {"human_label": "PASS" if good else "FAIL"})
    return rows


def test_a_guarantee_is_written_beside_the_jury_and_is_void_for_another(run: Command) -> None:
    """Trap 14, and exit code 1 where the labels allow no guarantee."""
    run(*JUDGE, "r.jsonl", files={"cases.jsonl": labelled(200, wrong=0), "jury.yaml": CASCADE})
    calibrate = ("calibrate", "r.jsonl", "--jury", "jury.yaml", "--out", "calibrated.yaml")
    done = run(*calibrate, "--agreement", "0.9")
    assert done.code == 0, done.err
    assert "next: jury judge CASES --jury calibrated.yaml" in done.err
    judged = run("judge", "cases.jsonl", "--jury", "calibrated.yaml", "--json")
    assert (judged.code, judged.json["cases"], run(*calibrate, "--json").json["agreement"]) == (0, 200, 0.9)
    void = run("judge", "cases.jsonl", "--jury", "calibrated.yaml", files={"jury.yaml": CASCADE.replace("one", "uno")})
    assert (void.code, void.out) == (2, "")
    other = CASCADE.replace("large,", "one,")
    run(*JUDGE, "r2.jsonl", files={"cases.jsonl": labelled(200, wrong=80), "jury.yaml": other})
    options = ("--out", "none.yaml", "--agreement", "0.95", "--max-usd", "1")
    failed = run("calibrate", "r2.jsonl", "--jury", "jury.yaml", *options)
    assert (failed.code, (run.folder / "none.yaml").exists()) == (1, False)
    assert "on 200 independent labelled cases" in failed.err
    assert "$0.0000 were spent; --store keeps what was paid for" in failed.err


def test_a_calibrated_file_stays_with_its_jury(run: Command) -> None:
    run(*JUDGE, "r.jsonl", files={"cases.jsonl": labelled(10, wrong=0), "jury.yaml": CASCADE})
    (run.folder / "other").mkdir()
    done = run("calibrate", "r.jsonl", "--jury", "jury.yaml", "--out", "other/calibrated.yaml")
    assert (done.code, "belongs in the folder of that file" in done.err) == (2, True)
    same = run("calibrate", "r.jsonl", "--jury", "jury.yaml", "--out", "jury.yaml")
    assert (same.code, "would replace jury.yaml" in same.err) == (2, True)
