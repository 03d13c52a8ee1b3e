"""Rows of files: lines of JSON, JSON and CSV, packed or not; what cannot be read is named, with its place."""

import csv
import gzip
import io
import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from fact_tables import each_row
from hypothesis import given, settings
from hypothesis import strategies as st

from jury_adapters import InputError, read_results
from jury_adapters.inputs.files import Row, read_rows
from jury_adapters.inputs.rows import case_of_row

CAFE = "Café — naïve, 東京 \u2028 one record \u2029 and \x85 still one"
ONE = {"id": "a", "question": "When?", "answer": CAFE, "contexts": ["In\r\n2018."]}
# The name and the content of a file, and its rows: the line, and the values or what is said of the error.
READ: dict[str, tuple[str, str, list[tuple[int, Any]]]] = {
    "JSONL": ("a.jsonl", '{"answer": "4"}\n{"answer": 5, "n": null}\n', [(1, {"answer": "4"}), (2, {"answer": 5,
        "n": None})]),
    "JSONL without a last line break": ("a.ndjson", '{"answer": "4"}', [(1, {"answer": "4"})]),
    "JSONL with blank lines and CRLF": ("a.jsonl", '\r\n{"answer": "4"}\r\n \r\n{"answer": "5"}\r\n', [(2,
        {"answer": "4"}), (4, {"answer": "5"})]),
    "JSONL with a BOM": ("a.jsonl", '\ufeff{"answer": "4"}\n', [(1, {"answer": "4"})]),
    "JSONL with U+2028": ("a.jsonl", json.dumps(ONE, ensure_ascii=False) + "\n", [(1, ONE)]),
    "JSONL with bad lines": (
        "a.JSONL",
        '{"answer": "4"}\n{"answer": \n[1]\n"x"\n{"a": 1, "a": 2}\n{"b": {"x": 1, "x": 2}}\n{"answer": "5"}\n',
        [(1, {"answer": "4"}), (2, "not JSON: Expecting value: column 11"), (3,
        "expected an object with columns, not list"), (4, "not str"),
         (5, "not JSON: the key 'a' occurs twice"), (6, "the key 'x' occurs twice"), (7, {"answer": "5"})],
    ),
    "JSONL with NaN": ("a.jsonl", '{"answer": "4", "expected": NaN, "n": [NaN]}\n', [(1, {"answer": "4",
        "expected": None, "n": [None]})]),
    "JSONL with infinity": ("a.jsonl", '{"n": -Infinity}\n', [(1, {"n": float("-inf")})]),
    "JSONL that is nested too deeply": ("a.jsonl", "[" * 100_000 + "\n{}\n", [(1,
        "not JSON: maximum recursion depth"), (2, {})]),
    "JSONL with a number that is too long": ("a.jsonl", '{"n": ' + "9" * 5000 + "}\n", [(1,
        "not JSON: Exceeds the limit")]),
    "JSONL with control characters in a key": ("a.jsonl", '{"\\u001b[31m": 1, "\\u001b[31m": 2}\n', [(1,
        r"the key '\\u001b\[31m' occurs twice")]),
    "JSONL that is empty": ("a.jsonl", "", []),
    "JSON: an array": ("a.json", '[{"answer": "4"}, 7, {"answer": "5"}]', [(1, {"answer": "4"}), (2, "not int"), (3,
        {"answer": "5"})]),
    "JSON: an object with one array": ("a.json", '{"version": 3, "results": [{"answer": "4"}]}', [(1,
        {"answer": "4"})]),
    "JSON: an empty array": ("a.json", "[]", []),
    "CSV": ("a.csv", 'id,question,answer\n007,"When, exactly?","It said ""2018"".\nSecond line."\n1e5,Who?,[]\n', [
        (2, {"id": "007", "question": "When, exactly?", "answer": 'It said "2018".\nSecond line.'}), (4, {"id": "1e5",
        "question": "Who?", "answer": "[]"})]),
    "CSV of Excel": ("a.csv", '\ufeffquestion;answer\r\nWhen?;"In 2018;\r\nnot in 2019."\r\n;;\r\n', [(2,
        {"question": "When?", "answer": "In 2018;\r\nnot in 2019."})]),
    "CSV with sep=": ("a.csv", "sep=;\r\nid;answer, in full\r\n1;In 2018.\r\n", [(3, {"id": "1",
        "answer, in full": "In 2018."})]),
    "CSV with sep= and a BOM": ("a.csv", "\ufeffsep=,\nid,answer;\n1,x\n", [(3, {"id": "1", "answer;": "x"})]),
    "CSV with a blank sep=": ("a.csv", "sep=\nid,answer\n1,x\n", [(3, {"id": "1", "answer": "x"})]),
    "CSV with tabs": ("a.tsv", "id\tanswer\n1\ta,b;c\n", [(2, {"id": "1", "answer": "a,b;c"})]),
    "CSV with a separator in a name": ("a.csv", '"a;b;c;d",answer\n1,x\n', [(2, {"a;b;c;d": "1", "answer": "x"})]),
    "CSV with one column": ("a.csv", "answer\nIn 2018.\n", [(2, {"answer": "In 2018."})]),
    "CSV with blank lines": ("a.csv", "id,answer\n\n1,x\n\n\n2,y\n", [(3, {"id": "1", "answer": "x"}), (6, {"id": "2",
        "answer": "y"})]),
    "CSV with empty cells": ("a.csv", "id,answer,reference\n1,,\n,,\n", [(2, {"id": "1", "answer": "",
        "reference": ""})]),
    "CSV with an index of pandas and a last comma": ("a.csv", ",id , answer,\n0,1,x,\n", [(2, {"id": "1",
        "answer": "x"})]),
    "CSV with U+2028": ("a.csv", f'answer,n\n"{CAFE}",1\n', [(2, {"answer": CAFE, "n": "1"})]),
    "CSV with too many and too few values": ("a.csv", "id,answer\n1,a,b\n2\n3,c,,\n4,d\n", [(2,
        "3 values for 2 columns"), (3, "1 values for 2 columns"), (4, {"id": "3", "answer": "c"}), (5, {"id": "4",
        "answer": "d"})]),
    "CSV with a long cell": ("a.csv", f"id,answer\n1,{'x' * 200_000}\n", [(2, {"id": "1", "answer": "x" * 200_000})]),
    "CSV with names only": ("a.csv", "id,answer\n", []),
    "CSV that is empty": ("a.csv", "", []),
}  # fmt: skip


@each_row(("name", "content", "rows"), READ.values(), ids=READ)
def test_the_rows_of_a_file(tmp_path: Path, name: str, content: str, rows: list[tuple[int, Any]]) -> None:
    path, packed = tmp_path / name, tmp_path / f"{name}.gz"
    path.write_bytes(content.encode())
    packed.write_bytes(gzip.compress(content.encode()))
    found = list(read_rows(path))
    assert [(row.line, row.values) for row in read_rows(str(packed))] == [(row.line, row.values) for row in found]
    assert [row.line for row in found] == [line for line, _ in rows]
    for row, (_, wanted) in zip(found, rows, strict=True):
        if isinstance(wanted, str):
            assert row.values == {}
            with pytest.raises(InputError, match=wanted):
                raise row.error or AssertionError(row)
        else:
            assert row == Row(row.line, wanted)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.csv", "a.json"])
def test_a_line_that_would_fill_the_memory_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jury_adapters.core.files.LONGEST_LINE", 2_000_000)
    text = b'{"answer": "' + b"a" * 2_000_000 + b'"}\n'
    (path := tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    for read in (read_rows, read_results):
        with pytest.raises(InputError, match=r"a\.[a-z.]+: a line is longer than 2 MB$"):
            list(read(path))


# The name and the bytes of a file, and what is said of it.
REFUSED: dict[str, tuple[str, bytes | None, str]] = {
    "no such file": ("a.jsonl", None, "No such file or directory"),
    "another kind": ("a.xlsx", b"x",
        "its name must end in .jsonl, .ndjson, .json, .csv, .tsv, or in one of these with .gz"),
    "no ending": ("rows.gz", b"x", "its name must end in"),
    "cp1252 as CSV": ("a.csv", "id,answer\n1,secret café\n".encode("cp1252"),
        "the byte 0xe9 is not UTF-8; save the file as UTF-8"),
    "cp1252 as JSONL": ("a.jsonl", '{"answer": "secret café"}\n'.encode("cp1252"), "the byte 0xe9 is not UTF-8"),
    "UTF-16": ("a.csv", "id,answer\n1,secret\n".encode("utf-16"), "the byte 0xff is not UTF-8"),
    "packed in name only": ("a.jsonl.gz", b'{"answer": "secret"}\n', "Not a gzipped file"),
    "packed and cut off": ("a.jsonl.gz", gzip.compress(b'{"answer": "secret"}\n' * 500)[:-20],
        "ended before|incomplete|invalid"),
    "packed and damaged": ("a.jsonl.gz", gzip.compress(bytes(range(256)) * 50)[:40] + b"\0" * 80, "a.jsonl.gz: "),
    "no JSON": ("a.json", b'[{"answer": "secret"', r"not JSON: Expecting ',' delimiter: column 21"),
    "JSONL as JSON": ("a.json", b'{"answer": "secret"}\n{"answer": "x"}\n', "not JSON: Extra data: line 2"),
    "JSON: columns of pandas": ("a.json", b'{"question": {"0": "secret"}, "answer": {"0": "x"}}',
        "expected an array of objects, or an object with one array"),
    "JSON: two arrays": ("a.json", b'{"a": [], "b": []}', "expected an array of objects"),
    "JSON: a text": ("a.json", b'"secret"', "expected an array of objects"),
    "JSON: an empty file": ("a.json", b"", "not JSON: Expecting value"),
    "JSON: a key twice": ("a.json", b'[{"a": "secret", "a": 2}]', "the key 'a' occurs twice"),
    "CSV: a column twice": ("a.csv", b"id,answer,answer \n1,secret,b\n", "the column 'answer' occurs twice"),
    "CSV: an unclosed quotation": ("a.csv", b'id,answer\n1,x\n2,"secret\n3,y\n',
        "line 3: not CSV: unexpected end of data"),
    "CSV: a broken quotation": ("a.csv", b'id,answer\n1,x\n2,"secret" he said\n3,y\n',
        "line 3: not CSV: ',' expected after"),
    "CSV: a broken quotation in the names": ("a.csv", b'id,"answer" x\n1,secret\n', "line 1: not CSV"),
}  # fmt: skip


@each_row(("name", "data", "said"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_cannot_be_read_is_refused_by_its_name(
    tmp_path: Path, name: str, data: bytes | None, said: str
) -> None:
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(InputError, match=said) as refused:
        list(read_rows(path))
    assert name in str(refused.value)
    assert "secret" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_folder_and_a_name_with_control_characters_are_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.jsonl")
    for name in ("rows.csv", "pipe.jsonl"):  # one would wait for ever on a pipe
        with pytest.raises(InputError, match="it is not a regular file"):
            list(read_rows(tmp_path / name))
    (tmp_path / "old.csv").write_bytes(b"id,answer\r1,a\r2,b\r")  # of an old Mac
    with pytest.raises(InputError, match=r"old\.csv: "):
        list(read_rows(tmp_path / "old.csv"))
    with pytest.raises(InputError, match=r"\\u001b\[31m.jsonl: No such file"):
        list(read_rows("\x1b[31m.jsonl"))


def test_rows_before_a_broken_place_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id,answer\n1,x\n2,"y\n')
    rows = read_rows(path)
    assert next(rows) == Row(2, {"id": "1", "answer": "x"})
    with pytest.raises(InputError, match="line 3"):
        next(rows)


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.csv.gz"])
def test_a_long_file_is_read_in_bounded_memory(tmp_path: Path, name: str) -> None:
    line = '{"answer": "' + "x" * 1000 + '"}\n' if "json" in name else "x" * 1000 + "\n"
    head = "" if "json" in name else "answer\n"
    path = tmp_path / name
    path.write_bytes(gzip.compress((head + line * 8_000).encode(), 1))
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_rows(path)) == 8_000
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_the_file_is_closed_when_the_reader_stops(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"answer": "4"}\n' * 3)
    rows = read_rows(path)
    next(rows)
    rows.close()  # type: ignore[attr-defined]  # an unclosed file is a warning, and so an error


def test_cases_of_a_file_of_excel(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("\ufeffid;user_input;response;Note\r\n7;When?;;\r\n8;Who?;Ann;seen\r\n".encode())
    cases = [case_of_row(row.values) for row in read_rows(path)]
    assert [(case.id, case.question, case.answer, dict(case.metadata)) for case in cases] == [
        ("7", "When?", "", {}), ("8", "Who?", "Ann", {"Note": "seen"}),
    ]  # fmt: skip


json_rows = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=5,
    ),
    max_size=4,
)


@settings(max_examples=50, deadline=None)
@given(st.lists(json_rows, max_size=6), st.booleans())
def test_rows_that_are_written_as_jsonl_come_back(
    tmp_path_factory: Any, rows: list[dict[str, Any]], ascii_only: bool
) -> None:
    path = tmp_path_factory.mktemp("rows") / "a.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in rows), encoding="utf-8")
    assert list(read_rows(path)) == [Row(line, row) for line, row in enumerate(rows, start=1)]


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(cells, cells), max_size=5), st.sampled_from(",;\t"), st.sampled_from(["\n", "\r\n"]))
def test_rows_that_are_written_as_csv_come_back(
    tmp_path_factory: Any, rows: list[tuple[str, str]], delimiter: str, end: str
) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(
        [("question", "answer"), *rows]
    )
    path = tmp_path_factory.mktemp("rows") / "a.csv"
    path.write_bytes(text.getvalue().encode())
    wanted = [{"question": question, "answer": answer} for question, answer in rows if question or answer]
    assert [row.values for row in read_rows(path)] == wanted
