"""Rows from files: every kind, packed or not, and every way in which a file can be broken."""

import csv
import gzip
import io
import itertools
import json

import pytest

from jury_adapters import InputError
from jury_adapters.core.row_files import read_lines, read_rows, read_stream
from jury_adapters.core.rows import LONGEST_ROW, Row

ROWS = [{"a": "1", "b": 'x, "y"\nz'}, {"a": "ü 判断 \U0001f600", "b": "2"}]


def as_jsonl(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def as_json(rows):
    return json.dumps(rows, ensure_ascii=False)


def as_csv(rows):
    quoted = [",".join('"' + value.replace('"', '""') + '"' for value in row.values()) for row in rows]
    return "\n".join([",".join(rows[0]), *quoted]) + "\n"


KINDS = {".jsonl": as_jsonl, ".ndjson": as_jsonl, ".json": as_json, ".csv": as_csv, ".JSONL": as_jsonl}


def written(folder, name, content):
    path = folder / name
    data = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def values(path):
    rows = list(read_rows(path))
    assert [row.error for row in rows] == [""] * len(rows)
    return [row.values for row in rows]


@pytest.mark.parametrize("column", ["votes", "human_votes"])
def test_the_votes_of_a_table_are_json_and_other_columns_stay_text(tmp_path, column):
    cast = {"ann": {"label": "FAIL", "confidence": 0.7}, "bob": "PASS"}
    rows = [{"id": "1", column: json.dumps(cast), "answer": '{"price": 3}'}, {"id": "2", column: "12", "answer": "b"}]
    for name, sign in (("v.csv", ","), ("v.tsv", "\t")):
        text = io.StringIO()
        table = csv.DictWriter(text, rows[0], delimiter=sign)
        table.writeheader()
        table.writerows([*rows, {"id": "3", column: "{'ann': 'PASS'}", "answer": "c"}])
        read = values(written(tmp_path, name, text.getvalue()))
        assert [row[column] for row in read] == [cast, "12", "{'ann': 'PASS'}"]
        assert read[0]["answer"] == '{"price": 3}'


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "bom"])
@pytest.mark.parametrize("suffix", KINDS)
def test_every_kind_of_file_is_read_packed_or_not_with_and_without_a_byte_order_mark(tmp_path, suffix, mark, packed):
    path = written(tmp_path, f"votes.v1{suffix}{packed}", mark + KINDS[suffix](ROWS))
    assert values(path) == ROWS
    assert values(str(path)) == ROWS


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".json"])
def test_line_ends_of_windows_are_line_ends(tmp_path, suffix):
    rows = [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]
    path = written(tmp_path, "rows" + suffix, KINDS[suffix](rows).replace("\n", "\r\n"))
    assert values(path) == rows


def test_a_file_without_a_last_line_end_and_blank_lines_are_fine(tmp_path):
    path = written(tmp_path, "rows.jsonl", '\n{"a": 1}\n   \n\r\n{"a": 2}')
    assert [(row.line, row.values) for row in read_rows(path)] == [(2, {"a": 1}), (5, {"a": 2})]


@pytest.mark.parametrize(
    "bad",
    ["{", "[1, 2]", "5", "null", '"text"', "{'a': 1}", "[" * 100_000, '{"a": 1} {"a": 2}', "\x00"],
    ids=lambda bad: repr(bad)[:20],
)
def test_a_bad_line_is_reported_with_its_number_and_the_others_are_read(tmp_path, bad):
    path = written(tmp_path, "rows.jsonl", '{"a": 1}\n' + bad[:100_000] + '\n{"a": 3}\n')
    first, second, third = read_rows(path)
    assert (first, third) == (Row(1, {"a": 1}), Row(3, {"a": 3}))
    assert (second.line, second.values) == (2, None)
    assert second.error


def test_a_line_that_is_no_utf_8_is_reported_and_the_others_are_read(tmp_path):
    path = written(tmp_path, "rows.jsonl", b'{"a": 1}\n{"a": "\xff"}\n{"a": 3}\n')
    assert [row.values for row in read_rows(path)] == [{"a": 1}, None, {"a": 3}]


def test_a_json_file_may_be_a_list_one_case_or_a_list_in_a_wrapper(tmp_path):
    assert values(written(tmp_path, "a.json", '{"question": "q"}')) == [{"question": "q"}]
    assert values(written(tmp_path, "b.json", '{"data": [{"a": 1}, {"a": 2}]}')) == [{"a": 1}, {"a": 2}]
    assert values(written(tmp_path, "c.json", '{"contexts": ["x"], "question": "q"}')) == [
        {"contexts": ["x"], "question": "q"}
    ]
    assert values(written(tmp_path, "d.json", "[]")) == []


def test_a_bad_item_of_a_json_list_is_reported_by_its_position(tmp_path):
    rows = list(read_rows(written(tmp_path, "a.json", '[{"a": 1}, 5, {"a": 3}]')))
    assert [(row.line, row.values) for row in rows] == [(1, {"a": 1}), (2, None), (3, {"a": 3})]
    assert "int" in rows[1].error


@pytest.mark.parametrize(
    "content",
    ["5", "null", "true", '"text"', "", "{", "[1", "[" * 100_000, "\xff\xfe"],
    ids=lambda text: repr(text)[:20],
)
def test_a_json_file_that_is_no_list_of_objects_is_refused_by_name(tmp_path, content):
    path = written(tmp_path, "broken.json", content[:100_000])
    with pytest.raises(InputError, match=r"broken\.json"):
        list(read_rows(path))


def test_empty_cells_of_a_csv_file_are_missing_and_short_rows_end_early(tmp_path):
    assert values(written(tmp_path, "a.csv", "a,b,c\n1,,3\n4\n")) == [{"a": "1", "c": "3"}, {"a": "4"}]
    assert values(written(tmp_path, "b.csv", "a,b\n")) == []
    assert values(written(tmp_path, "c.csv", "")) == []


def test_a_csv_row_with_too_many_values_or_bad_quotes_is_reported_and_the_others_are_read(tmp_path):
    path = written(tmp_path, "a.csv", 'a,b\n1,2\n1,2,3\n1,"x"y\n5,6\n')
    rows = list(read_rows(path))
    assert [row.values for row in rows] == [{"a": "1", "b": "2"}, None, None, {"a": "5", "b": "6"}]
    assert rows[1].line == 3
    assert "1 more" in rows[1].error
    assert rows[2].error.startswith("not CSV")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_csv_file_of_a_spreadsheet_may_have_semicolons(tmp_path, mark):
    path = written(tmp_path, "a.csv", mark + 'question;"the answer"\r\n"one; two";1,5\r\n')
    assert values(path) == [{"question": "one; two", "the answer": "1,5"}]
    assert values(written(tmp_path, "b.csv", "a,b;c\n1,2;3\n")) == [{"a": "1", "b;c": "2;3"}]
    assert values(written(tmp_path, "c.csv", "a\n1;2\n")) == [{"a": "1;2"}]


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("id;Question, if any;reply\n1;q;a\n", {"id": "1", "Question, if any": "q", "reply": "a"}),
        ("Question, if any;reply\nq;a\n", {"Question, if any": "q", "reply": "a"}),
        ('id;"Question, if any"\n1;"q, or not"\n', {"id": "1", "Question, if any": "q, or not"}),
        ('"Question; if any",reply\n"q; x; y",a\n', {"Question; if any": "q; x; y", "reply": "a"}),
        ("question,a; b; c\nq,x\n", {"question": "q", "a; b; c": "x"}),
        ("a\tb, c\n1\t2\n", {"a": "1", "b, c": "2"}),
        ('id;a, b;c\n1;"x\ny";z\n', {"id": "1", "a, b": "x\ny", "c": "z"}),
        ("sep=;\na;b\n1;2,5\n", {"a": "1", "b": "2,5"}),
        ('"sep=|"\r\na|b\r\n1|2;5\r\n', {"a": "1", "b": "2;5"}),
    ],
)
def test_the_sign_between_columns_is_found_beside_other_signs_in_names_and_cells(tmp_path, table, row):
    assert values(written(tmp_path, "a.csv", table)) == [row]


def test_a_line_that_says_the_sign_between_columns_is_counted(tmp_path):
    rows = list(read_rows(written(tmp_path, "a.csv", "sep=;\na;b\n1;2\n3\n")))
    assert [(row.line, row.values, row.empty) for row in rows] == [
        (3, {"a": "1", "b": "2"}, ()),
        (4, {"a": "3"}, ("b",)),
    ]


def test_json_lines_in_a_json_file_are_refused_with_the_name_to_give(tmp_path):
    with pytest.raises(InputError, match=r"Extra data.*a name that ends in \.jsonl"):
        values(written(tmp_path, "a.json", '{"a": 1}\n{"a": 2}\n'))
    with pytest.raises(InputError) as error:
        values(written(tmp_path, "b.json", '{"a": 1} 5'))
    assert "jsonl" not in str(error.value)


def test_a_csv_cell_may_be_as_long_as_a_context(tmp_path):
    long = "x" * (csv.field_size_limit() + 100_000 if csv.field_size_limit() < 1 << 24 else 1_000_000)
    assert values(written(tmp_path, "a.csv", f"a,b\n{long},2\n")) == [{"a": long, "b": "2"}]


def test_line_numbers_count_lines_inside_quoted_cells(tmp_path):
    path = written(tmp_path, "a.csv", 'a,b\n"one\ntwo",2\n1,2,3\n')
    assert [row.line for row in read_rows(path)] == [2, 4]  # where a row begins


def test_a_missing_file_a_folder_and_an_unknown_kind_are_refused_by_name(tmp_path):
    (tmp_path / "folder.jsonl").mkdir()
    for name in ("missing.jsonl", "folder.jsonl", "table.xlsx", "none", "votes.gz", "votes.tar.gz"):
        with pytest.raises(InputError, match=name.replace(".", r"\.")):
            list(read_rows(tmp_path / name))


def test_a_file_that_says_gz_and_is_not_and_one_cut_short_are_refused_by_name(tmp_path):
    packed = gzip.compress(as_jsonl(ROWS * 500).encode())
    broken = bytearray(packed)
    broken[20:30] = bytes(255 - byte for byte in broken[20:30])
    for name, content in {"plain": as_jsonl(ROWS).encode(), "cut": packed[:-20], "bent": bytes(broken)}.items():
        path = tmp_path / f"{name}.jsonl.gz"
        path.write_bytes(content)
        with pytest.raises(InputError, match=name):
            list(read_rows(path))


def test_rows_are_read_one_by_one(tmp_path):
    path = written(tmp_path, "rows.jsonl", '{"a": 1}\n' * 100_000)
    reader = read_rows(path)
    assert [row.line for row in itertools.islice(reader, 3)] == [1, 2, 3]
    reader.close()


def test_a_quote_that_is_never_closed_is_told_with_the_lines_that_went_with_it(tmp_path):
    (one, lost) = read_rows(written(tmp_path, "a.csv", 'a,b\n1,2\n"3,4\n5,6\n7,8\n'))
    assert (one.line, lost.line, lost.values) == (2, 3, None)
    assert lost.error == (
        'not CSV: a quote is opened on line 3 and never closed, so lines 3 to 5 are lost; write "" for a quote inside '
        "a cell"
    )


def test_a_quote_that_swallows_rows_up_to_the_next_one_is_told_with_their_lines(tmp_path):
    rows = list(read_rows(written(tmp_path, "a.csv", 'a,b\n"3,4\n5,6\n"7",8\n9,10\n')))
    assert [(row.line, row.values) for row in rows] == [(2, None), (5, {"a": "9", "b": "10"})]
    assert "of line 4, so lines 2 to 4 are lost" in rows[0].error


@pytest.mark.parametrize("line", [2, 3, 11])
def test_a_stray_quote_is_told_with_its_own_line(tmp_path, line):
    content = "a,b\n" + "1,2\n" * (line - 2) + '1,"x"y\n1,2\n'
    (wrong,) = (row for row in read_rows(written(tmp_path, "a.csv", content)) if row.error)
    assert wrong.line == line
    assert "middle of a quoted cell;" in wrong.error


def test_quotes_that_are_wrong_in_the_header_are_refused(tmp_path):
    with pytest.raises(InputError, match=r'a\.csv: not CSV: .*lines 1 to 2 are lost; write ""'):
        list(read_rows(written(tmp_path, "a.csv", 'a,"b\n1,2\n')))


def test_a_row_that_is_no_utf_8_is_not_judged_for_what_nobody_wrote(tmp_path):
    content = "question,Gr\u00f6\u00dfe\nWas?,1\nGetr\u00e4nk?,2\n".encode("latin-1")
    one, other = read_rows(written(tmp_path, "a.csv", content))
    assert one.values == {"question": "Was?", "Gr\ufffd\ufffde": "1"}
    assert (other.line, other.values) == (3, None)
    assert other.error == "not UTF-8: 'Getr\ufffdnk?'; if a spreadsheet wrote it, save it as \"CSV UTF-8\""


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv"])
def test_utf_16_is_read_by_its_byte_order_mark(tmp_path, suffix, encoding, packed):
    path = written(tmp_path, f"a{suffix}{packed}", ("\ufeff" + KINDS[suffix](ROWS)).encode(encoding))
    assert values(path) == ROWS


@pytest.mark.parametrize("tail", [b"\x00", b"\x00\xd8"], ids=["half a character", "half a pair"])
@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_a_row_in_which_utf_16_is_broken_is_refused_and_the_others_are_read(tmp_path, suffix, tail):
    rows = [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]
    content = ("\ufeff" + KINDS[suffix](rows)).rstrip("\n").removesuffix("}").encode("utf-16-le") + tail
    one, broken = read_rows(written(tmp_path, "a" + suffix, content))
    assert (one.values, broken.values) == (rows[0], None)
    assert broken.error


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.tsv.gz"])
def test_columns_may_stand_between_tabs(tmp_path, name):
    assert values(written(tmp_path, name, "question\tanswer\nWhy?\tBecause.\n")) == [
        {"question": "Why?", "answer": "Because."}
    ]


def test_in_a_tsv_file_nothing_but_tabs_parts_columns(tmp_path):
    assert values(written(tmp_path, "a.tsv", "a, or b\tc\n1, 2\t3\n")) == [{"a, or b": "1, 2", "c": "3"}]


def test_empty_rows_are_told_where_others_follow_and_are_none_at_the_end(tmp_path):
    rows = list(read_rows(written(tmp_path, "a.csv", "\n\na,b\n\n,\n1,2\n,\n,\n\n")))
    assert [(row.line, row.values, row.error) for row in rows] == [
        (5, None, "an empty row"),
        (6, {"a": "1", "b": "2"}, ""),
    ]


def test_in_one_column_a_quoted_empty_cell_is_a_row(tmp_path):
    rows = list(read_rows(written(tmp_path, "a.csv", 'a\n\n1\n""\n2\n\n""\n\n')))
    assert [(row.line, row.values, row.empty) for row in rows] == [
        (3, {"a": "1"}, ()),
        (4, {}, ("a",)),
        (5, {"a": "2"}, ()),
        (7, {}, ("a",)),
    ]


def test_rows_in_a_wrapper_with_a_version_are_its_rows(tmp_path):
    rows = [{"question": "q"}]
    assert values(written(tmp_path, "a.json", json.dumps({"version": 1, "data": rows}))) == rows
    one = {"messages": [{"role": "user", "content": "q"}]}
    assert values(written(tmp_path, "b.json", json.dumps(one))) == [one]
    two = {"data": rows, "more": rows}
    assert values(written(tmp_path, "c.json", json.dumps(two))) == [two]


def test_items_of_a_list_are_counted_as_items_and_lines_as_lines(tmp_path):
    assert [row.unit for row in read_rows(written(tmp_path, "a.json", '[{"a": 1}, 5]'))] == ["item", "item"]
    assert [row.unit for row in read_rows(written(tmp_path, "a.jsonl", '{"a": 1}\n5\n'))] == ["line", "line"]


@pytest.mark.parametrize("content", ['[{"a": 1}]', "[\n  {}\n]"], ids=["on one line", "on several"])
def test_a_json_list_under_the_wrong_name_is_told_how_to_call_it(tmp_path, content):
    first = next(iter(read_rows(written(tmp_path, "a.jsonl", content))))
    assert first.error.endswith("a file that is one JSON list has a name that ends in .json")


def test_a_missing_file_is_told_with_the_one_that_was_meant(tmp_path):
    written(tmp_path, "tea.csv", "a\n1\n")
    with pytest.raises(InputError, match=r"tae\.csv: No such file or directory\. Did you mean .*tea\.csv\?"):
        list(read_rows(tmp_path / "tae.csv"))
    with pytest.raises(InputError, match=r"no such folder as .*nowhere$"):
        list(read_rows(tmp_path / "nowhere" / "tea.csv"))
    with pytest.raises(InputError, match=r"table\.xlsx: a spreadsheet is not read; save it as .CSV UTF-8."):
        list(read_rows(tmp_path / "table.xlsx"))


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b'{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
        (b'\xef\xbb\xbf\n [{"a": 1}]', [{"a": 1}]),
        (b"a,b\n1,2\n", [{"a": "1", "b": "2"}]),
        ("\ufeffa\tb\n1\t2\n".encode("utf-16-le"), [{"a": "1", "b": "2"}]),
        (b"", []),
    ],
    ids=["lines", "list", "table", "utf-16", "nothing"],
)
def test_a_stream_is_read_as_it_begins(content, found):
    assert [row.values for row in read_stream(io.BufferedReader(io.BytesIO(content)))] == found


@pytest.mark.parametrize("name", ["r.jsonl", "r.ndjson", "r.jsonl.gz"])
def test_lines_are_yielded_as_they_are_also_broken_ones(tmp_path, name):
    assert list(read_lines(written(tmp_path, name, '{"a": 1}\n\n{"a": \n'))) == [b'{"a": 1}\n', b"\n", b'{"a": \n']


def test_other_kinds_of_files_have_no_lines_and_too_long_ones_are_refused(tmp_path):
    assert list(read_lines(written(tmp_path, "r.json", as_json(ROWS)))) == []
    assert list(read_lines(written(tmp_path, "r.csv", as_csv(ROWS)))) == []
    with pytest.raises(InputError, match="longer than 32 MiB"):
        list(read_lines(written(tmp_path, "r.jsonl", b" " * (LONGEST_ROW + 2))))
    with pytest.raises(InputError, match="No such file"):
        list(read_lines(tmp_path / "missing.jsonl"))


@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.gz", "r.json"])
def test_chosen_rows_are_read_and_the_others_only_counted(tmp_path, name):
    rows = [{"at": number} for number in range(5)]
    content = as_json(rows) if name.endswith(".json") else "\n" + as_jsonl(rows)
    found = list(read_rows(written(tmp_path, name, content), positions={1, 3}))
    assert [found[at].values["at"] for at in (1, 3)] == [1, 3]
    assert len(found) == 5
    assert all(row.values is not None and not row.error for row in found)


def test_rows_that_are_not_chosen_may_be_broken(tmp_path):
    path = written(tmp_path, "r.jsonl", '{"at": 0}\n{"at": \n{"at": 2}\n')
    assert [dict(row.values) for row in read_rows(path, {0, 2})] == [{"at": 0}, {}, {"at": 2}]
