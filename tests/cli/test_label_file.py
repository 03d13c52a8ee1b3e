"""The file of labels: every case comes back as it was, and people are counted once a case."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import InputError, Judgment
from jury_adapters.cli.given_labels import GivenLabels, wrote_review
from jury_adapters.cli.label_file import UNSURE, Label, LabelFile, Said, said_in, said_of
from jury_adapters.cli.reviewer_conflicts import (
    contradictions,
    describe_contradictions,
    final_labels,
    one_per_case,
)
from jury_adapters.core.case import Case

TEXT = st.text(max_size=30)
CASES = st.builds(
    Case,
    question=TEXT | st.none(),
    answer=TEXT,
    contexts=st.lists(TEXT, max_size=3),
    metadata=st.dictionaries(
        st.sampled_from(["id", "gold", "team", "review", "meta"]), TEXT | st.integers() | st.lists(TEXT, max_size=2)
    ),
)


def label(case: Case, said: str = "PASS", by: str = "ann", item_id: str | None = None, line: int | None = 1) -> Label:
    return Label(case, line, item_id, said, by, "2026-01-01T00:00:00Z", 1.0, "", Judgment("PASS"), "after", "all")


@pytest.mark.slow
@given(CASES, st.sampled_from(["PASS", "FAIL", UNSURE, "a label"]))
def test_a_case_comes_back_with_what_was_said(case: Case, said: str):
    row: Mapping[str, Any] = json.loads(json.dumps(label(case, said).to_row()))
    back = Case.from_row(row)
    assert back.content_hash == case.content_hash
    found = said_of(back.metadata)
    assert found is not None
    assert (found.identity, found.said) == ((case.content_hash, None), said)
    assert back.metadata.get("gold") == (None if said == UNSURE else said)
    ours = {"gold", "review"}
    assert {k: v for k, v in back.metadata.items() if k not in ours} == {
        k: v for k, v in case.metadata.items() if k not in ours
    }


def said(key: str, what: str, by: str) -> Said:
    return Said((key, None), 1, what, by, "after", "all")


@pytest.mark.parametrize(
    ("told", "agreed"),
    [
        ([("ann", "PASS")], "PASS"),
        ([("ann", "PASS"), ("bob", "FAIL")], None),
        ([("ann", "PASS"), ("bob", "FAIL"), ("eve", "FAIL")], "FAIL"),
        ([("ann", "PASS"), ("bob", "FAIL"), ("ann", "FAIL")], "FAIL"),  # the later one counts
        ([("ann", "PASS"), ("bob", UNSURE)], "PASS"),
        ([("ann", "PASS"), ("ann", UNSURE)], None),
    ],
)
def test_what_people_settle_on(told: list[tuple[str, str]], agreed: str | None):
    assert final_labels(said("k", what, by) for by, what in told) == {("k", None): agreed}


def test_contradictions_name_who_said_what_and_are_cut():
    told = [("ann", "PASS"), ("bob", "FAIL"), ("eve", UNSURE)]
    rows = [said(key, what, by) for key in "abcde" for by, what in told]
    split = contradictions([*rows, said("a", "FAIL", "ann"), said("x", "PASS", "ann"), said("y", UNSURE, "ann")])
    assert [key for key, _ in split] == ["b", "c", "d", "e"]
    one = "line 1: ann PASS, bob FAIL"
    assert describe_contradictions(split) == f"4 cases have contradicting labels ({one}; {one}; {one}; 1 more)"


def test_a_case_counts_once_however_many_labelled_it():
    first, second = Case(answer="1", metadata={"id": "1"}), Case(answer="2")
    rows = [
        label(first, "PASS", "ann", "1"),
        label(first, "PASS", "bob", "1"),
        label(second, "FAIL"),
        label(second, "PASS", "bob"),
    ]
    cases = list(
        one_per_case([*(Case.from_row(row.to_row()) for row in rows), Case(answer="3", metadata={"gold": "PASS"})])
    )
    assert [(case.answer, case.metadata.get("gold")) for case in cases] == [("1", "PASS"), ("2", None), ("3", "PASS")]


def test_two_people_write_to_one_file_and_a_torn_line_is_closed(tmp_path: Path):
    path = tmp_path / "labels.jsonl"
    path.write_text('{"torn')
    with LabelFile(path) as ann, LabelFile(path) as bob:
        ann.add(label(Case(answer="1"), by="ann"))
        bob.add(label(Case(answer="1"), "FAIL", by="bob", line=4))
        ann.add(label(Case(answer="2"), by="ann", item_id="x"))
    assert [(one.by, one.said) for one in said_in(path)] == [("ann", "PASS"), ("bob", "FAIL"), ("ann", "PASS")]
    assert path.read_text().splitlines()[0] == '{"torn'


def test_gold_is_named_as_results_name_their_cases(tmp_path: Path):
    path = tmp_path / "labels.jsonl"
    with LabelFile(path) as file:
        file.add(label(Case(answer="1"), "FAIL", line=7))
        file.add(label(Case(answer="2"), item_id="x"))
        file.add(label(Case(answer="3"), UNSURE, item_id="y"))
    labels = GivenLabels(path)
    assert labels.of(item_id=None, line=7, key=None, answer=None) == "FAIL"
    assert labels.of(item_id="x", line=None, key=None, answer=None) == "PASS"
    assert labels.of(item_id="y", line=None, key=None, answer=None) is None
    assert wrote_review(path)
    (tmp_path / "cases.jsonl").write_text('{"answer": "1", "gold": "PASS"}\n')
    assert not wrote_review(tmp_path / "cases.jsonl")


def test_another_file_is_no_file_of_labels(tmp_path: Path):
    path = tmp_path / "cases.jsonl"
    path.write_text('{"answer": "1"}\n')
    told = r"cases\.jsonl, line 1: no line that jury review wrote; give another --labels"
    with pytest.raises(InputError, match=told):
        said_in(path)


def test_a_full_disk_is_told():
    with pytest.raises(InputError, match="No space left"), LabelFile(Path("/dev/full")) as file:
        file.add(label(Case(answer="1")))
