"""``jury judge`` on files: what is judged, the exit code, the figures, and the sentence that is printed."""

import gzip
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from command import BOAT, BRIEF, PAIRS, Command, Content, accuracy_of, boat, lines

from jury_adapters import read_results

ANSWERS = [{"id": "a", "question": "When?", "answer": "In 2018."}, {"id": "b", "question": "Who?", "answer": "x" * 30}]


class Row(NamedTuple):
    """One command: its options, the file of cases, the jury, and what must come of it."""

    code: int
    statuses: str  # those of the JSON that are not 0, or "" where nothing is judged
    said: str  # part of what is printed on standard error; "" for nothing at all
    cases: Content
    jury: str = BRIEF
    options: str = ""
    name: str = "cases.jsonl"


def statuses_of(found: Any) -> str:
    return " ".join(f"{name} {number}" for name, number in found["statuses"].items() if number)


INPUTS = {
    "lines of JSON": Row(0, "PASS 1 FAIL 1", "", ANSWERS),
    "CSV, packed": Row(
        0, "PASS 1 FAIL 1", "", gzip.compress(f"id,query,response\n1,When?,In 2018.\n2,Who?,{'x' * 30}\n".encode()),
        name="cases.csv.gz",
    ),
    "CSV of a spreadsheet": Row(
        0, "PASS 2", "",
        "\ufeffsep=;\r\nid;question;answer\r\n1;When?;\"two\r\nlines; here\"\r\n2;Who?;me\r\n".encode(),
        name="cases.csv",
    ),
    "JSON with an array": Row(0, "PASS 1", "", json.dumps({"rows": ANSWERS[:1]}), name="cases.json"),
    "ragas": Row(0, "PASS 1", "", [{"user_input": "When?", "response": "In 2018.", "retrieved_contexts": ["2018."]}]),
    "LangSmith": Row(0, "PASS 1", "", [{"inputs": {"question": "When?"}, "outputs": {"answer": "In 2018."}}]),
    "DeepEval": Row(0, "PASS 1", "", [{"input": "When?", "actual_output": "In 2018.", "retrieval_context": ["2018."]}]),
    "parts of OTel GenAI": Row(
        0, "PASS 1", "",
        [{"messages": [{"role": "user", "parts": [{"type": "text", "content": "When?"}]},
                       {"role": "assistant", "parts": [{"type": "text", "content": "In 2018."}]}]}],
    ),
    "thinking before the text": Row(
        0, "PASS 1", "",
        [{"inputs": "When?",
          "outputs": [{"type": "thinking", "thinking": "hm " * 20}, {"type": "text", "text": "2018"}]}],
    ),
    "an empty cell of the answer is an answer, and FAIL": Row(
        0, "PASS 1 FAIL 1", "", "id,question,answer\n1,When?,In 2018.\n2,Who?,\n", name="cases.csv"
    ),
    "NaN beside an answer": Row(0, "PASS 1", "", '{"question": "When?", "answer": "In 2018.", "reference": NaN}\n'),
    "a line separator inside a text": Row(0, "PASS 1", "", '{"question": "a\u2028b", "answer": "In 2018."}\n'),
    "a run of the application that failed": Row(
        0, "FAIL 1", "", [{"inputs": {"question": "When?"}, "outputs": None, "error": "ToolError: down"}]
    ),
    "two equal rows are two cases": Row(0, "PASS 2", "", [ANSWERS[0], ANSWERS[0]]),
    "contexts only": Row(0, "FAIL 1", "no case has an answer; the columns are", [{"question": "Q", "contexts": ["c"]}]),
    "another column": Row(
        0, "PASS 1", "", [{"question": "When?", "Model Reply": "2018"}], options="--map answer=Model&Reply"
    ),
    "a trace of OpenTelemetry": Row(
        0, "PASS 1", "",
        [{"traceId": "5b8e", "spanId": "01", "parentSpanId": None, "name": "chat",
          "attributes": {"openinference.span.kind": "LLM", "input.value": "When?", "output.value": "In 2018."}}],
    ),
    "a path": Row(
        0, "PASS 1", "", [{"question": "When?", "data": {"replies": ["2018"]}}], options="--map answer=data.replies.0"
    ),
    "only some rows": Row(0, "PASS 1", "", ANSWERS, options="--limit 1"),
    "a row that is no JSON": Row(
        0, "PASS 1 FAIL 1 ERROR 1", "line 2: not JSON", lines(ANSWERS[:1]) + "{oops\n" + lines(ANSWERS[1:])
    ),
    "a key twice": Row(
        0, "PASS 1 FAIL 1 ERROR 1", "line 3: not JSON: the key 'answer' occurs twice",
        lines(ANSWERS) + '{"question": "q", "answer": "a", "answer": "b"}\n',
    ),
    "a row with two unnamed answers": Row(
        0, "PASS 1 FAIL 1 ERROR 1", "line 3: none of the columns 'q', 'reply', 'draft' is known as the answer",
        [*ANSWERS, {"q": "q", "reply": "a", "draft": "b"}],
    ),
    "cells too many": Row(
        0, "PASS 1 ERROR 1", "line 3: 4 values for 3 columns", "id,question,answer\n1,Q,A\n2,Q,A,B\n", name="cases.csv"
    ),
    "a row that is minded": Row(
        1, "PASS 1 FAIL 1 ERROR 1", "--strict: 1 of 3 rows could not be read", [*ANSWERS, {"x": 1}], options="--strict"
    ),
}  # fmt: skip

REFUSED = {
    "no known answer": Row(
        2, "",
        "none of 1 rows is a case; the first: line 1: none of the columns 'frage', 'antwort' is known as the answer",
        [{"frage": "Wann?", "antwort": "2018"}],
    ),
    "a misspelt map": Row(2, "", "the row has no 'replly'", [{"q": "Q", "reply": "A"}], options="--map answer=replly"),
    "a map to no field": Row(2, "", "the fields are 'question', 'answer'", ANSWERS, options="--map anwser=reply"),
    "a map without a sign": Row(2, "", "--map takes FIELD=COLUMN, such as", ANSWERS, options="--map reply"),
    "a field with two columns": Row(
        2, "", "once for each field; not 'answer'", ANSWERS, options="--map answer=answer --map answer=question"
    ),
    "an empty file": Row(2, "", "none of 0 rows is a case", ""),
    "another kind of file": Row(2, "", "its name must end in .jsonl, .ndjson", "x", name="cases.xlsx"),
    "cp1252": Row(2, "", "the byte 0xe9 is not UTF-8; save the file as UTF-8", b'{"answer": "caf\xe9"}\n'),
    "a packed file that is cut off": Row(
        2, "", "cases.csv.gz", gzip.compress(b"id,answer\n1,x\n" * 99)[:-9], name="cases.csv.gz"
    ),
    "a column twice": Row(2, "", "the column 'answer' occurs twice", "answer,answer\n1,2\n", name="cases.csv"),
    "no group": Row(
        2, "", "line 2: no value in the column 'document' of --group; the columns are 'id', 'question', 'answer'",
        [{**ANSWERS[0], "document": "d"}, ANSWERS[1]], options="--group document",
    ),
    "labels of other words": Row(
        2, "", "human labels are pass (true, yes) and fail (false, no), not good; --pass-label",
        [{**ANSWERS[0], "human_label": "good"}],
    ),
    "labels that are numbers": Row(2, "", "not 1; --pass-label", [{**ANSWERS[0], "human_label": 1}]),
    "labels that are numbers in a table": Row(2, "", "not 1; --pass-label", "answer,human_label\nA,1\n", name="c.csv"),
    "labels that are lists": Row(2, "", "not ('PASS', 'FAIL')", [{**ANSWERS[0], "human_label": ["PASS", "FAIL"]}]),
    "a pass label that nobody gave": Row(
        2, "", "no case has the label 'god' of --pass-label", [{**ANSWERS[0], "human_label": "good"}],
        options="--pass-label god",
    ),
    "no column of labels": Row(
        2, "", "no case has a label in the column 'gold' of --label-column", ANSWERS,
        options="--label-column gold --pass-label x",
    ),
    "a share of labels": Row(
        2, "", "--fail-under needs verdicts of PASS or FAIL", boat("A"), PAIRS, options="--fail-under 0.5"
    ),
    "a share above 1": Row(2, "", "--fail-under", ANSWERS, options="--fail-under 90"),
    "no jury": Row(2, "", "a judge is a mapping with exactly one of the keys check, rubric", ANSWERS, "judges: [a]\n"),
    "a jury that runs programs": Row(
        2, "", "--allow-commands", ANSWERS, "check: command\nargv: [echo]\n"
    ),
    "a packed output": Row(2, "", "give a name without .gz", ANSWERS, options="--out results.jsonl.gz"),
    "an output without a folder": Row(2, "", "there is no folder", ANSWERS, options="--out nowhere/results.jsonl"),
    "a report without a form": Row(2, "", ".html", ANSWERS, options="--report page.docx"),
    "a store that is none": Row(2, "", "cases.jsonl", ANSWERS, options="--store cases.jsonl"),
    "an unknown option": Row(2, "", "--concurrency", ANSWERS, options="--concurrency 4"),
}  # fmt: skip

VERDICTS = {
    "met": Row(0, "PASS 3 FAIL 1", "", boat("valid", "valid", "valid", "invalid"), BOAT, "--fail-under 0.75"),
    "not met": Row(
        1, "PASS 3 FAIL 1", "3 of 4 cases passed, a share below 0.8", boat("valid", "valid", "valid", "invalid"), BOAT,
        "--fail-under 0.8",
    ),
    "an abstention has not passed": Row(
        1, "PASS 1 ABSTAIN 1", "1 of 2 cases passed, a share below 0.6; 1 undecided ones have not passed",
        boat("valid", "unsure"), BOAT, "--fail-under 0.6",
    ),
    "an error has not passed": Row(
        1, "PASS 2 ERROR 1", "2 of 3 cases passed, a share below 0.9; 1 undecided ones have not passed",
        boat("valid", "valid", "ERROR"), BOAT, "--fail-under 0.9",
    ),
    "few errors without a gate": Row(0, "PASS 2 ERROR 1", "", boat("valid", "valid", "ERROR"), BOAT),
    "an outage without any gate": Row(
        1, "PASS 1 ERROR 2", "2 of 3 cases could not be judged: 503 down", boat("valid", "ERROR", "ERROR"), BOAT
    ),
    "a whole outage": Row(1, "ERROR 1", "1 of 1 cases could not be judged: 503 down", boat("ERROR"), BOAT),
    "a FAIL that only broken jurors caused": Row(
        1, "", "2 of 2 cases could not be judged", boat("ERROR", "ERROR"),
        "jurors:\n  boat: {recorded: boat, labels: {valid: pass}}\nerrors: fail\n",
    ),
    "abstentions are no outage": Row(0, "ABSTAIN 2", "", boat("unsure", None), BOAT),
    "a score that is no number": Row(
        1, "ERROR 1", "1 of 1 cases could not be judged",
        '{"answer": "A", "votes": {"boat": {"score": Infinity}}}\n', BOAT,
    ),
    "labels": Row(0, "LABEL 2 ABSTAIN 1", "", boat("A", "B", "tie"), PAIRS),
}  # fmt: skip


@pytest.mark.parametrize("what", [*INPUTS, *REFUSED, *VERDICTS])
def test_a_file_is_judged_or_refused_in_one_sentence(run: Command, what: str) -> None:
    row = {**INPUTS, **REFUSED, **VERDICTS}[what]
    options = [option.replace("&", " ") for option in row.options.split()]
    done = run(
        "judge", row.name, "--jury", "jury.yaml", "--json", *options, files={row.name: row.cases, "jury.yaml": row.jury}
    )
    assert done.code == row.code, done.err
    assert (row.said in " ".join(done.err.split()), bool(row.said)) == (True, bool(done.err))
    if row.code == 2:
        assert (done.out, "Traceback" in done.err) == ("", False)
    else:
        assert statuses_of(done.json) == row.statuses


@pytest.mark.parametrize(
    ("label", "right"),
    [("PASS", 1.0), ("no", 0.0), (True, 1.0), ("good", 1.0)],
    ids=["word", "no", "bool", "pass label"],
)
def test_labels_of_people_are_kept_and_compared(run: Command, label: Any, right: float) -> None:
    options = ["--pass-label", "good"] if label == "good" else []
    rows = [{**ANSWERS[0], "gold": label, "id": f"q{number}"} for number in range(3)]
    command = ("judge", "cases.jsonl", "--jury", "jury.yaml", "--label-column", "gold", "--out", "r.jsonl", "--json")
    done = run(*command, *options, files={"cases.jsonl": rows, "jury.yaml": BRIEF})
    assert (done.code, accuracy_of(done), [one.human_label for one in read_results(run.folder / "r.jsonl")]) == (
        0,
        (right, 3),
        [label] * 3,
    )


def test_hostile_text_is_never_printed_raw(run: Command) -> None:
    hostile = "\x1b[2J\x1b]0;owned\x07\u202egnp.exe [bold]x[/bold] <script>alert(1)</script>"
    rows = [
        {
            "id": hostile,
            "question": hostile,
            "answer": hostile,
            "votes": {"boat": {"label": "invalid", "reasoning": hostile}},
        }
    ]
    rows += [{"id": "e", "question": "q", "answer": "a", "votes": {"boat": {"status": "ERROR", "error": hostile}}}] * 2
    bad = json.dumps({hostile: 1}) + "\n"
    done = run(
        "judge",
        "cases.jsonl",
        "--jury",
        "jury.yaml",
        "--report",
        "page.html",
        "--out",
        "r.jsonl",
        files={"cases.jsonl": lines(rows) + bad, "jury.yaml": BOAT},
    )
    shown = run("report", "r.jsonl", "--report", "page.md")
    reviewed = run("report", "r.jsonl", "--json")
    assert [
        text
        for text in (done.out, done.err, shown.out, shown.err, reviewed.out, (run.folder / "page.md").read_text())
        if not (text.isprintable() or not {"\x1b", "\x07", "\u202e"} & set(text))
    ] == []
    assert done.code == 1  # three of four could not be judged
    assert "[bold]x[/bold]" in done.out  # no markup of the terminal
    assert "<script>alert(1)" not in (run.folder / "page.html").read_text()


def test_what_is_printed_for_people(run: Command) -> None:
    done = run(
        "judge",
        "cases.jsonl",
        "--jury",
        "jury.yaml",
        files={"cases.jsonl": boat("valid", "invalid"), "jury.yaml": BOAT},
    )
    assert (done.out.startswith("2 cases"), "50.0 %" in done.out) == (True, True)
    quiet = run("judge", "cases.jsonl", "--jury", "jury.yaml", "--quiet", "--fail-under", "0.9")
    assert (quiet.code, quiet.out, "1 of 2 cases passed" in quiet.err) == (1, "", True)


def test_the_report_has_the_figures_and_names_of_the_run(run: Command) -> None:
    files: dict[str, Content] = {"cases.jsonl": boat("valid", "invalid"), "jury.yaml": f"name: the boat\n{BOAT}"}
    for name in ("page.html", "page.md", "page.json"):
        assert run("judge", "cases.jsonl", "--jury", "jury.yaml", "--report", name, "--quiet", files=files).code == 0
        text = (run.folder / name).read_text()
        assert [word for word in ("the boat", "50.0 %") if word not in text] == []


PLACES = {
    "--out cases.jsonl": "--out cases.jsonl would replace cases.jsonl",
    "--out cases.jsonl --overwrite": "--out cases.jsonl would replace cases.jsonl",
    "--report jury.yaml": "--report jury.yaml would replace jury.yaml",
    "--out x.json --report x.json": "--report x.json would replace --out x.json",
    "--out link.jsonl --overwrite": "--out link.jsonl would replace cases.jsonl",
    "--out runs.db --store runs.db": "--out runs.db would replace runs.db",
    "--out ../{folder}/cases.jsonl": "would replace cases.jsonl",
}


def test_outputs_never_replace_inputs(run: Command) -> None:
    """Trap 12."""
    for options, said in PLACES.items():
        if not (run.folder / "link.jsonl").exists():
            (run.folder / "link.jsonl").symlink_to("cases.jsonl")
        given = options.format(folder=run.folder.name).split()
        done = run(
            "judge", "cases.jsonl", "--jury", "jury.yaml", *given, files={"cases.jsonl": ANSWERS, "jury.yaml": BRIEF}
        )
        assert (done.code, said in done.err) == (2, True), (options, done.err)
        assert ((run.folder / "cases.jsonl").read_text(), (run.folder / "jury.yaml").read_text()) == (
            lines(ANSWERS),
            BRIEF,
        )
    assert sorted(path.name for path in Path(run.folder).iterdir()) == ["cases.jsonl", "jury.yaml", "link.jsonl"]


def test_without_a_jury_the_offline_screen_judges(run: Command) -> None:
    contexts = ["The bridge opened in 1998."]
    answers = ("The bridge opened in 1998.", "It opened in 1999.", "It was opened.")
    rows = [{"question": "When?", "answer": one, "contexts": contexts} for one in answers]
    found = run("judge", "cases.jsonl", "--json", files={"cases.jsonl": rows})
    assert (found.code, statuses_of(found.json)) == (0, "PASS 1 FAIL 1 ABSTAIN 1")


def test_a_row_opens_no_folder_beside_its_file(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "a-key-of-no-known-form")
    monkeypatch.chdir(run.folder)
    for place in ("secret", "cases/own", "expected"):
        (run.folder / place).mkdir(parents=True)
        (run.folder / place / "env").write_text("x" if place == "expected" else "KEY=a-key-of-no-known-form")
    jury = "check: files_match\nexpected: expected\n"
    rows = [{"answer": "a", "workspace": str(run.folder / place)} for place in ("secret", "cases/own", "a\0b")]
    files = {"cases/cases.jsonl": rows, "jury.yaml": jury}
    found = run("judge", "cases/cases.jsonl", "--jury", "jury.yaml", "--out", "results.jsonl", files=files)
    assert (
        "is not in that of the file of cases" in found.err,
        sorted(one.judgment.status.value for one in read_results(run.folder / "results.jsonl")),
        "a-key-of-no-known-form" not in found.out + found.err + (run.folder / "results.jsonl").read_text(),
    ) == (True, ["ERROR", "ERROR", "FAIL"], True)


def test_a_label_that_is_corrected_counts_when_a_run_goes_on(run: Command) -> None:
    for label, figure in (("PASS", 1.0), ("FAIL", 0.0)):
        rows = [{**row, "human_label": label} for row in boat("valid", "valid")]
        found = run("judge", "c.jsonl", "--jury", "j.yaml", "--out", "r.jsonl", "--json",
                    files={"c.jsonl": rows, "j.yaml": BOAT})  # fmt: skip
        assert accuracy_of(found)[0] == figure
