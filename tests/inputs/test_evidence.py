"""Outputs of tools that are evidence: structure is exact, the comparison of words is measured.

``evidence.json`` has the 180 rows of version 0.2, on which its rule was written, 24 rows of a study, and 28 rows of
outputs that only give back what the model wrote, and of outputs that say something, written before this rule was run.
Whoever changes the rule writes fresh rows first: rows that were seen measure memory.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from fact_tables import each_row

from jury_adapters import Step
from jury_adapters.inputs.evidence import evidence_in
from jury_adapters.inputs.run import Run, default_case

ROWS: dict[str, Any] = json.loads((Path(__file__).parent / "evidence.json").read_text(encoding="utf-8"))
PAGE = ROWS["page"]


def known(_: Step) -> bool:
    return True


def found_in(row: dict[str, Any]) -> str | None:
    return evidence_in(Step(**{name: row[name] for name in ("tool", "arguments", "output", "echo") if name in row}))


# Of each group: how many rows there are, how many must be left out or kept, and which of the two.
SHARES = [
    ("confirmations", 48, 16, "left out"),
    ("facts", 48, 38, "kept"),
    ("structured", 11, 7, "left out"),
    ("study_echoes", 12, 3, "left out"),
    ("study_facts", 12, 12, "kept"),
    ("fresh_echoes", 14, 3, "left out"),
    ("fresh_facts", 14, 14, "kept"),
    ("repeats", 17, 17, "kept"),
]


@each_row(("group", "rows", "least", "wanted"), SHARES, ids=[one[0] for one in SHARES])
def test_the_share_of_rows_that_are_right(group: str, rows: int, least: int, wanted: str) -> None:
    assert len(ROWS[group]) == rows
    right = [row for row in ROWS[group] if (found_in(row) is None) == (wanted == "left out")]
    assert len(right) >= least


def test_of_mixed_outputs_long_repeats_are_cut() -> None:
    assert sum(found_in(row) == row["left"] for row in ROWS["repeats"]) >= 6
    for row in ROWS["repeats"]:
        long = [one for one in row["arguments"].values() if isinstance(one, str) and len(one.split()) >= 6]
        assert not any(text in (found_in(row) or "") for text in long)


def test_tools_are_told_by_their_names() -> None:
    """Those that keep what the model wrote are no evidence, also if they are trusted; all others are."""
    keeping, others = ROWS["names"], [*ROWS["other_names"], "read_note", "get_memory", "planner", "thinkpad_specs"]
    assert (len(keeping), len(others)) == (36, 24)
    steps = [Step(tool=name, arguments={"query": "bridge"}, output=PAGE) for name in (*keeping, *others)]
    assert [step.tool for step in steps if evidence_in(step) is None] == keeping
    assert [step.tool for step in steps if evidence_in(step, evidence=known) is None] == keeping


STRUCTURE: dict[str, tuple[dict[str, Any], str | None]] = {
    "a page": ({"tool": "search", "output": PAGE}, PAGE),
    "a page that is the answer": ({"tool": "search", "output": " In 1994.\n"}, None),
    "a step marked as echo": ({"tool": "ask_reader", "output": "It was 2019, I think.", "echo": True}, None),
    "an error": ({"tool": "search", "error": "no such page"}, None),
    "a blank output": ({"tool": "search", "output": " \n"}, None),
    "a text": ({"text": "I think it was 2019."}, None),
    "a structured response": ({"tool": "Year", "arguments": {"year": "1987"},
        "output": "Returning structured response: year='1987'"}, None),
    "a failed structured response": ({"tool": "Year",
        "output": "Error: Failed to parse structured output for tool 'Year': input_value='1987'."}, None),
    "a page about such a response": ({"tool": "search", "output": "It is about returning structured responses."},
        "It is about returning structured responses."),
    "a step without a tool": ({"output": "Something else."}, "Something else."),
}  # fmt: skip


@each_row(("step", "found"), STRUCTURE.values(), ids=STRUCTURE)
def test_structure_decides_first(step: dict[str, Any], found: str | None) -> None:
    assert evidence_in(Step(**step), answer="In 1994.") == found


def test_a_trusted_output_counts_as_it_is() -> None:
    step = Step(tool="kv_get", arguments={"key": "dam year is 1962 or later, said Ruiz"}, output="1962")
    repeated = Step(
        tool="sql", arguments={"query": "one two three four five six"}, output="one two three four five six: 7"
    )
    assert (evidence_in(step), evidence_in(step, evidence=known)) == (None, "1962")
    assert evidence_in(repeated) == "…: 7"
    assert evidence_in(repeated, evidence=known) == repeated.output
    asks = Step(tool="sql", output="1962", echo=True)  # a tool that asks a model what to look for
    assert (evidence_in(asks), evidence_in(asks, evidence=known)) == (None, "1962")


def test_an_answer_that_a_tool_returned_has_no_contexts_unless_its_tool_is_known_to_find_things() -> None:
    said = "It stopped in 1994."
    steps = [Step(tool="search", output=PAGE), Step(tool="faq", output=said)]
    run = Run(inputs="When?", outputs=said, steps=steps)
    assert default_case(run).contexts == ()
    assert default_case(run, known).contexts == (PAGE, said)
    assert default_case(replace(run, outputs=f"{said} So it is.")).contexts == (PAGE, said)
