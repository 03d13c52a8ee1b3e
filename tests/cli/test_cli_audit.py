"""``jury audit``: figures, limits and the exit code. What is measured is tested with the audit itself."""

import pytest
from command import Command

FACTS = "jurors: {text: {check: not_empty}, facts: {check: names_and_numbers}}\nvoting: unanimous\n"
TEXT = "check: not_empty\n"
RIGHT = [
    {"id": f"r{place}", "question": "How much is it?", "answer": f"The fine is {450 + place} euros for a late parcel."}
    | {"contexts": [f"In most towns the fine is {450 + place} euros for a late parcel."]}
    for place in range(12)
]


@pytest.mark.parametrize(
    ("options", "jury", "code", "said"),
    [
        ("--operator number --min-kill-rate 0.9", FACTS, 0, ""),
        ("--operator number --min-kill-rate 0.9", TEXT, 1, "--min-kill-rate=0.9"),
        ("--operator number --max-false-alarm-rate 0.5", TEXT, 1, "--max-false-alarm-rate=0.5"),
        ("--operator nosuch", TEXT, 2, "nosuch"),
        ("--min-kill-rate 90", TEXT, 2, "--min-kill-rate"),
    ],
)
def test_a_limit_is_met_or_named(run: Command, options: str, jury: str, code: int, said: str) -> None:
    done = run(
        "audit",
        "right.jsonl",
        "--jury",
        "jury.yaml",
        "--size",
        "12",
        "--json",
        *options.split(),
        files={"jury.yaml": jury, "right.jsonl": RIGHT},
    )
    assert (done.code, said in done.err, bool(done.err)) == (code, True, bool(said)), done.err
    if code < 2:
        assert done.json["sections"]
    if code == 0:
        shown = run("audit", "right.jsonl", "--jury", "jury.yaml", "--size", "12", *options.split())
        assert "Wrong answers that got FAIL" in shown.out


def test_a_dry_run_and_rows_that_cannot_be_read(run: Command) -> None:
    rows = [{**RIGHT[0], "human_label": "FAIL"}, {"x": 1}, *({**row, "human_label": "PASS"} for row in RIGHT[1:])]
    done = run(
        "audit",
        "right.jsonl",
        "--jury",
        "jury.yaml",
        "--operator",
        "number",
        "--dry-run",
        "--json",
        files={"jury.yaml": FACTS, "right.jsonl": rows},
    )
    assert (
        done.code,
        done.json["total"]["calls"],
        "line 2: none of the columns 'x' is known as the answer" in done.err,
    ) == (0, 0, True)
    whole = run("audit", "--jury", "jury.yaml", "--dry-run", "--json")  # the examples of the package
    assert whole.json["cases"] > done.json["cases"] > 0
