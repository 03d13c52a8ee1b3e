"""Forms of the results in a file."""

import json

import pytest

from jury_adapters import Ensemble, InputError
from jury_adapters.core.forms import form_of
from jury_adapters.core.result_forms import read_forms
from jury_adapters.core.results_file import read_results

JURY = Ensemble([lambda case: "no" not in case.answer, lambda case: len(case.answer) > 3], name="two")
ROWS = [
    {"line": at, "item_id": item, "key": key, "cases": cases, "verdict": JURY.judge(answer=answer, id=item).to_dict()}
    for at, (item, key, cases, answer) in enumerate([
        ("a", "k1", "cases.jsonl", "yes"), (7, "k2", "cases.json.gz", "yes, it is"), (None, None, "", "no"),
        ("a", 5, None, "yes"), ("d", "k4", ["x"], ""),
    ])
] + [{"line": True, "verdict": JURY.judge(answer="no, never").to_dict()}]  # fmt: skip


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_forms_say_what_the_results_say(tmp_path):
    file = written(tmp_path / "results.jsonl", ROWS * 2)
    results, forms = list(read_results(file)), list(read_forms(file))
    for result, found in zip(results, forms, strict=True):
        assert found.form is form_of(result.judgment)
        assert found.metadata == result.judgment.case_metadata
        told = found.line, found.item_id, found.key, found.unit
        assert told == (result.line, result.item_id, result.key, result.unit)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"status": "PASS"}, "line 2: not a line that jury judge --out wrote"),
        ({"verdict": {"status": "MAYBE"}}, "line 2: not a judgment written by this package"),
        ({"verdict": []}, "line 2: not a line"),
        ([], "line 2: expected an object"),
    ],
)
def test_a_line_that_is_no_result_is_named(tmp_path, row, message):
    with pytest.raises(InputError, match=message):
        list(read_forms(written(tmp_path / "results.jsonl", [ROWS[0], row])))
