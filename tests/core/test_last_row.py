"""The last row of a file of JSON lines, read from its end."""

import gzip
import json

import pytest

from jury_adapters.core.errors import InputError
from jury_adapters.core.last_row import count_rows, last_row

ROWS = [{"at": 0}, {"at": 1, "text": "é\n" * 10}, {"at": 2, "text": "x" * 200_000}]


@pytest.mark.parametrize("end", ["", "\n", "\n\n  \r\n"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_it_is_that_of_all_rows(tmp_path, count, end):
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS[:count])) + end)
    assert last_row(path) == ROWS[count - 1]
    with gzip.open(tmp_path / "rows.jsonl.gz", "wt") as file:
        file.write(path.read_text())
    assert last_row(tmp_path / "rows.jsonl.gz") == ROWS[count - 1]
    assert count_rows(path) == count_rows(tmp_path / "rows.jsonl.gz") == count


def test_a_file_of_another_encoding_is_read_whole(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS[:2])), encoding="utf-16")
    assert last_row(path) == ROWS[1]


@pytest.mark.parametrize("text", ["", "\n", '{"at": 0}\n{"at"', '{"at": 0}\n[1]', '{"at": 0}\n' + "[" * 100_000])
def test_without_a_last_row_that_can_be_read_there_is_none(tmp_path, text):
    path = tmp_path / "rows.jsonl"
    path.write_text(text)
    assert last_row(path) is None


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match="none"):
        last_row(tmp_path / "none.jsonl")


def test_the_other_rows_are_not_read(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('not JSON\n{"at": 1}\n')
    assert last_row(path) == {"at": 1}
