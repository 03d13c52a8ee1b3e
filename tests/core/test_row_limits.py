"""Limits on rows: what is too long is refused with its place, in bounded memory; and duplicate keys and columns."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jury_adapters import InputError
from jury_adapters.cli.app import app
from jury_adapters.core.row_files import LONGEST_JSON, read_rows, read_stream
from jury_adapters.core.rows import LONGEST_ROW

MEMBER = gzip.compress(b"x" * (1 << 24), 1)
UTF_16 = gzip.compress("x".encode("utf-16-le") * (1 << 23), 1)
TOO_LONG = "the row is longer than 32 MiB"
TOO_LARGE = "longer than 128 MiB, the most that a JSON file may have"
LINES = gzip.compress((b"line" * 63 + b"end\n") * (1 << 16), 1)
CELLS = gzip.compress((b"cell" * 63 + b'\n","\n') * (1 << 16), 1)
EMPTY = gzip.compress(b",\n" * (1 << 23), 1)
BLANK = gzip.compress(b"\n" * (1 << 24), 1)
# Some 400 MB in a file of under 3 MB: the beginning, 24 times the same 16 MiB, and no end.
BOMBS = {
    "one line": ("a.jsonl.gz", b'{"answer": "', MEMBER, f"line 1: {TOO_LONG}"),
    "a later line": ("b.jsonl.gz", b'{"answer": "1"}\n\n{"answer": "', MEMBER, f"line 3: {TOO_LONG}"),
    "a cell": ("a.csv.gz", b"answer\n1\n", MEMBER, f"line 3: {TOO_LONG}"),
    "a header": ("b.csv.gz", b"", MEMBER, f"line 1: {TOO_LONG}"),
    "a cell of many lines": ("c.csv.gz", b'\nanswer\n"', LINES, f"line 3: {TOO_LONG}"),
    "many cells of many lines": ("d.csv.gz", b'a\n"', CELLS, f"line 2: {TOO_LONG}"),
    "a table of tabs": ("a.tsv.gz", b"answer\n1\n", MEMBER, f"line 3: {TOO_LONG}"),
    "a list": ("a.json.gz", b'[{"answer": "', MEMBER, TOO_LARGE),
    "an object": ("b.json.gz", b'{"answer": "', MEMBER, TOO_LARGE),
    "UTF-16": ("c.jsonl.gz", '\ufeff{"answer": "'.encode("utf-16-le"), UTF_16, f"line 1: {TOO_LONG}"),
    "UTF-16 in a list": ("c.json.gz", '\ufeff["'.encode("utf-16-le"), UTF_16, TOO_LARGE),
    "blank lines": ("e.jsonl.gz", b'{"answer": "1"}\n', BLANK, "line 1048578: more than 1,048,576 empty rows"),
    "empty rows": ("e.csv.gz", b"a,b\n", EMPTY, "line 1048578: more than 1,048,576 empty rows"),
}
MEASURED = """
import re, resource, sys
from pathlib import Path
from jury_adapters.core.errors import InputError
from jury_adapters.core.row_files import read_rows

def peak():
    status = Path("/proc/self/status")
    if status.exists():  # on Linux, ru_maxrss begins with the peak of the parent process
        return int(re.search(r"VmHWM:\\s+(\\d+) kB", status.read_text())[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024  # in bytes on macOS

started = peak()
for path in sys.argv[1:]:
    try:
        for row in read_rows(path):
            pass
    except InputError as error:
        print(error)
print((peak() - started) // 1024)
"""


@pytest.mark.parametrize(
    "kinds",
    [("a later line", "a cell", "a list", "UTF-16", "blank lines"), pytest.param(tuple(BOMBS), marks=pytest.mark.slow)],
    ids=["one of each reader", "all"],
)
def test_what_unpacks_to_hundreds_of_megabytes_is_refused_with_its_place_in_bounded_memory(tmp_path: Path, kinds):
    paths = []
    bombs = [BOMBS[kind] for kind in kinds]
    for name, begin, member, _ in bombs:
        path = tmp_path / name
        with path.open("wb") as file:
            file.write(gzip.compress(begin))
            for _ in range(24):
                file.write(member)
        paths.append(path)
        assert path.stat().st_size < 3_000_000
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *map(str, paths)], capture_output=True, text=True, check=True, timeout=240
    )
    *messages, grown = done.stdout.splitlines()
    expected = [f"{path}: {message}" for path, (_, _, _, message) in zip(paths, bombs, strict=True)]
    assert [message[: len(start)] for message, start in zip(messages, expected, strict=True)] == expected
    assert int(grown) < 500  # MB; each of these files alone unpacks to 400


def long_row(size: int, name: str = "answer") -> str:
    """A row of JSON with so many bytes."""
    empty = json.dumps({name: ""})
    return json.dumps({name: "x" * (size - len(empty))})


@pytest.mark.slow
@pytest.mark.parametrize("over", [0, 1])
def test_a_row_may_have_exactly_the_most(tmp_path: Path, over: int):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n' + long_row(LONGEST_ROW + over))
    rows = read_rows(path)
    assert next(rows).line == 1
    if over:
        with pytest.raises(InputError, match=r"a\.jsonl: line 2: the row is longer than 32 MiB"):
            next(rows)
    else:
        assert next(rows).values


@pytest.mark.slow
def test_a_long_item_of_a_list_is_refused_with_its_position(tmp_path: Path):
    path = tmp_path / "a.json"
    path.write_text(f'[{{"a": 1}}, {long_row(LONGEST_ROW + 1)}]')
    with pytest.raises(InputError, match=r"a\.json: item 2: the row is longer than 32 MiB"):
        list(read_rows(path))


class Endless(io.RawIOBase):
    """A stream that begins in some way and never ends; counts what was taken."""

    def __init__(self, begin: bytes) -> None:
        self._begin = begin
        self.taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        piece = (self._begin or b"x" * (1 << 20))[: len(buffer)]
        self._begin = self._begin[len(piece) :]
        buffer[: len(piece)] = piece
        self.taken += len(piece)
        return len(piece)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("begin", "message", "most"),
    [
        (b'{"a": 1}\n{"a": "', "line 2: the row is longer", LONGEST_ROW),
        (b"a,b\n1,2\n", "line 3: the row is longer", LONGEST_ROW),
        (b'[{"a": "', "longer than 128 MiB", LONGEST_JSON),
    ],
    ids=["lines", "table", "list"],
)
def test_a_stream_without_an_end_is_read_up_to_the_limit(begin, message, most):
    endless = Endless(begin)
    with pytest.raises(InputError, match=message):
        list(read_stream(io.BufferedReader(endless)))
    assert endless.taken < 1.1 * most


@pytest.mark.slow
@pytest.mark.parametrize("packed", [False, True])
def test_the_command_ends_with_code_2_and_names_the_line(tmp_path: Path, packed: bool):
    content = f'{{"answer": "1"}}\n{long_row(LONGEST_ROW + 1)}\n'.encode()
    path = tmp_path / ("cases.jsonl.gz" if packed else "cases.jsonl")
    path.write_bytes(gzip.compress(content, 1) if packed else content)
    (tmp_path / "jury.yaml").write_text("jurors: [{check: not_empty}]\n")
    done = CliRunner().invoke(app, ["judge", str(path), "--jury", str(tmp_path / "jury.yaml")], catch_exceptions=False)
    assert done.exit_code == 2
    assert f"{path}: line 2: the row is longer than 32 MiB" in done.stderr
    assert "the summary is of the 1 case judged until then" in done.stderr
    piped = CliRunner().invoke(
        app, ["judge", "-", "--jury", str(tmp_path / "jury.yaml")], input=content, catch_exceptions=False
    )
    assert piped.exit_code == 2
    assert "standard input: line 2: the row is longer than 32 MiB" in piped.stderr


@pytest.mark.parametrize(
    "twice",
    ['{"a": 1, "a": 2}', '{"b": {"a": 1, "c": 3, "a": 1}}', '{"b": [{"a": 1, "a": 2}]}', '{"a": 1, "\\u0061": 2}'],
)
def test_a_row_that_names_a_key_twice_is_reported_and_the_others_are_read(tmp_path: Path, twice: str):
    lines = tmp_path / "a.jsonl"
    lines.write_text(f'{{"x": 1}}\n{twice}\n{{"x": 3}}\n')
    items = tmp_path / "a.json"
    items.write_text(f'[{{"x": 1}}, {twice}, {{"x": 3}}]')
    for path in (lines, items):
        one, wrong, three = read_rows(path)
        assert (one.values, three.values) == ({"x": 1}, {"x": 3})
        assert (wrong.line, wrong.values, wrong.error) == (2, None, "the key 'a' occurs twice in one object")


@pytest.mark.parametrize("content", ['{"question": "q", "question": "r"}', '{"data": [{"a": 1, "a": 2}]}'])
def test_a_json_object_that_names_a_key_twice_is_refused(tmp_path: Path, content: str):
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"a\.json: the key '(question|a)' occurs twice in one object"):
        list(read_rows(path))


@pytest.mark.parametrize("content", ["[1] 2", "[1 2]", "[1,]", "[,1]", "[1", "[", '[{"a": 1}}', "[] x", "[1]]"])
def test_a_broken_list_has_no_rows(tmp_path: Path, content: str):
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(InputError, match=r"a\.json: not JSON: "):
        next(read_rows(path))


@pytest.mark.parametrize("content", ["a,b,a\n1,2,3\n", "\n\n a,b, a\n1,2,3\n", "a;b;a\n1;2;3\n", 'a,b,"a"\n'])
def test_a_table_that_names_a_column_twice_is_refused_with_the_line_of_its_header(tmp_path: Path, content: str):
    path = tmp_path / "a.csv"
    path.write_text(content)
    line = 3 if content.startswith("\n") else 1
    with pytest.raises(InputError, match=rf"a\.csv: line {line}: the column ' ?a' occurs twice"):
        list(read_rows(path))


def test_columns_without_a_name_may_be_several(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("a,,\n1,,\n")
    assert [row.values for row in read_rows(path)] == [{"a": "1"}]


@pytest.mark.slow
def test_many_columns_are_no_work(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text(",".join(f"c{n}" for n in range(500_000)) + ",c0\n")
    with pytest.raises(InputError, match="the column 'c0' occurs twice"):
        list(read_rows(path))
