"""Results that are replaced while a report is in use."""

import json

import pytest

from jury_adapters import Case, InputError, Judgment, Report


def write(path, status, *, append=False):
    cases = [Case(question=f"How far is {town}?", answer="Near.", metadata={"id": town}) for town in ("Ulm", "Urach")]
    results = Report.from_results([(case, Judgment(status, critic="near")) for case in cases])
    written = path.with_name("written.jsonl")
    results.write_results(written, force=True)
    with path.open("ab" if append else "wb") as file:
        file.write(written.read_bytes())


def test_a_report_does_not_compare_the_results_that_replaced_its_own(tmp_path):
    file = tmp_path / "results.jsonl"
    write(file, "PASS")
    before = Report.read(file)
    write(file, "FAIL")
    after = Report.read(file)
    assert (before.figures.summary.pass_rate, after.figures.summary.pass_rate) == (1.0, 0.0)
    with pytest.raises(InputError, match=r"results\.jsonl: the file has changed since it was read"):
        before.compare(after)
    with pytest.raises(InputError, match="has changed"):
        list(before)


def test_rows_that_are_appended_do_not_count(tmp_path):
    file = tmp_path / "results.jsonl"
    write(file, "PASS")
    before = Report.read(file)
    write(file, "FAIL", append=True)
    assert len(json.loads(f"[{','.join(file.read_text().splitlines())}]")) == 4
    assert before.compare(before).paired == 2


def test_a_report_whose_entries_are_in_memory_keeps_them(tmp_path):
    file = tmp_path / "results.jsonl"
    write(file, "PASS")
    before = Report(Report.read(file).entries)
    write(file, "FAIL")
    assert before.compare(Report.read(file)).difference == -1.0
