"""Comparing files by type: what means the same is the same, and hostile files end nothing."""

import json
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.counted_calls import calls_of
from support.examples import examples
from support.proportion import assert_proportional

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.workspace import diffs
from jury_adapters.workspace.diffs import compare_files, compares
from jury_adapters.workspace.safe_xml import canonical_lines, parse_xml

SAME = [
    ("a.txt", b"a  b\n", b"a b"),
    ("a.txt", b"a\r\nb\n\n\n", b"\xef\xbb\xbf  a\nb"),
    ("a.txt", "häß".encode("utf-16"), "häß".encode()),
    ("a.json", b'{"a": 1, "b": [true, null]}', b'{\n "b": [true, null],\n "a": 1.0 }'),
    ("a.JSON", b'"\\u00e4"', '"ä"'.encode()),
    ("a.jsonl", b'{"a":1}\n\n{"b":2}', b'{"a": 1}\n{"b": 2}\n'),
    ("a.yaml", b"a: [1, 2]\nb: x # why", b"b: 'x'\na:\n- 1\n- 2\n"),
    ("a.yml", b"--- 1\n--- 2\n", b"---\n1\n---\n2"),
    ("a.yaml", b"x: &x {a: 1}\ny: *x", b"x: {a: 1}\ny: {a: 1}"),
    ("a.yaml", b"a: &a {b: 1, c: 2}\nd: {<<: *a, c: 3}", b"a: {b: 1, c: 2}\nd: {b: 1, c: 3}"),
    ("a.yaml", b"a: yes # a word", b"a:   'yes'"),
    ("a.toml", b"a = nan", b"a =   nan"),
    ("a.toml", b"[a]\nb = 1 # why\nc = 2020-01-01", b"a = {c = 2020-01-01, b = 1}"),
    ("a.xml", b"<a y='1' x='2'><b/></a>", b'<?xml version="1.0"?>\n<a x="2" y="1">\n  <!-- new -->\n  <b></b></a>'),
    ("a.xml", b"<p:a xmlns:p='u'/>", b"<a xmlns='u'/>"),
    ("a.py", b"def f(a):\n  # why\n  return (a+1)", b"def f( a ):\n\n    return a + 1\n"),
    ("a.py", b"x = 'a'", b'x = "a"'),
    ("a.py", b"x = '\\d'", b'x = "\\d"  # an invalid escape'),
]
DIFFERENT = [
    ("a.txt", b"a\nb", b"a b", "-a b"),
    ("a.txt", b"a\x00b", b"a", "3 bytes, expected 1"),
    ("a.txt", b"\xff\x00", b"\xff", "not compared as text"),
    ("a.json", b'{"a": 1}', b'{"a": 2}', "$.a: 1, expected 2"),
    ("a.json", b'{"a": true}', b'{"a": 1}', "$.a: True, expected 1"),
    ("a.json", b'{"b": 1}', b'{"a": 1}', "missing 'a'"),
    ("a.json", b"[1, 2]", b"[1]", "$: 2 items, expected 1"),
    ("a.json", b"[1, [2]]", b"[1, 2]", "$[1]: a list of 1, expected 2"),
    ("a.json", b"{", b"{}", "cannot be read"),
    ("a.json", b'{"a": 1, "a": 2}', b'{"a": 2}', "the key 'a' occurs twice"),
    ("a.json", b"[NaN]", b"[1]", "NaN is not allowed"),
    ("a.json", b"[" * 100_000, b"[]", "nested too deeply"),
    ("a.json", b"{broken", b"{ broken }", "expected, + produced"),
    ("a.yaml", b"a: [", b"a: []", "cannot be read"),
    ("a.yaml", b"!!python/object/apply:os.system [ls]", b"a: 1", "cannot be read"),
    ("a.yaml", b"[" * 100_000, b"[]", "nested more than 100"),
    ("a.yaml", b"a: 2020-01-01T00:00:00Z", b"a: 2020-01-01T00:00:00", "expected"),
    ("a.toml", b"a =", b"a = 1", "cannot be read"),
    ("a.xml", b"<a>", b"<a/>", "cannot be read"),
    ("a.xml", b"<a x='1'/>", b"<a x='2'/>", '+<a x="1">'),
    ("a.xml", b"<a>&lt;b&gt;<c/>&lt;/b&gt;</a>", b"<a><b><c/></b></a>", "+&lt;b&gt;"),
    ("a.py", b"def f(:", b"x = 1", "cannot be read"),
    ("a.py", b"(" * 100_000, b"x = 1", "cannot be read"),
    ("a.py", b"-" * 100_000 + b"1", b"x = 1", "nested too deeply"),
    ("a.py", b"1" + b"+1" * 50_000, b"x = 1", "nested too deeply"),
    ("a.py", b"def f():\n  'one'", b"def f():\n  'two'", "two"),
]


@pytest.mark.parametrize(("path", "produced", "expected"), SAME)
def test_what_means_the_same(path, produced, expected):
    assert compare_files(path, produced, expected) == ""
    assert compare_files(path, expected, produced) == ""


@pytest.mark.parametrize(("path", "produced", "expected", "says"), DIFFERENT)
def test_what_differs_is_said(path, produced, expected, says):
    assert says in compare_files(path, produced, expected)


def test_an_invalid_escape_in_somebodys_file_warns_nobody():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert compare_files("a.py", b"x = '\\d'", b"x = '\\w'")
    assert caught == []


BOMB = b'<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;">]><a>&y;</a>'


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (BOMB, "entity 'x' is refused"),
        (b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "entity 'x' is refused"),
        (b'<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x">%x;]><a/>', "entity 'x' is refused"),
        (b'<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a>&x;</a>', "entity"),
        (b"<a>" * 5000 + b"</a>" * 5000, "nested more than 1000"),
        (b'<?xml version="1.0" encoding="klingon"?><a/>', "encoding"),
        (b"", "no element found"),
    ],
)
def test_xml_that_would_expand_fetch_or_nest_is_refused(content, says):
    for read in (canonical_lines, parse_xml):
        with pytest.raises(ValueError, match=says):
            read(content)


def test_a_doctype_alone_is_fine():
    content = b'<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a>x</a>'
    assert parse_xml(content).text == "x"
    assert canonical_lines(content) == ["<a>", "x", "</a>"]


def of_aliases(levels):
    """A file in which each level names the one before it ten times."""
    return "\n".join(
        ["a0: &a0 [1]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels))]
    ).encode()


def of_merges(levels):
    """A file in which each level merges the one before it ten times."""
    return "\n".join(
        ["b0: &b0 {x: 1}", *(f"b{n}: &b{n} {{<<: [{', '.join([f'*b{n - 1}'] * 10)}]}}" for n in range(1, levels))]
    ).encode()


@pytest.mark.slow
@pytest.mark.parametrize("bomb", [of_aliases, of_merges])
def test_aliases_that_stand_for_billions_of_values_are_refused_without_being_read(bomb):
    def calls(levels):
        return calls_of(lambda: compare_files("a.yaml", bomb(levels), b"a: 1"))

    assert "more than 100000 values" in compare_files("a.yaml", bomb(30), b"a: 1")
    assert calls(30) < 1.1 * calls(8)
    assert compare_files("a.yaml", bomb(30), bomb(30) + b"\n") == ""  # compared as text


def test_a_value_that_holds_itself_is_refused():
    assert "nested more than" in compare_files("a.yaml", b"&a [*a]", b"a: 1")


@pytest.mark.slow
def test_a_diff_stays_short_and_takes_time_in_proportion_however_much_differs():
    def compared(lines):
        produced = b"".join(b"line %d\n" % (n * n % 1000) for n in range(lines))
        expected = b"".join(b"line %d\n" % (n * n % 997) for n in range(lines))
        return compare_files("a.txt", produced, expected)

    assert_proportional(compared, 4000)
    difference = compared(40_000)
    assert difference.startswith("differs from line 33 on")
    assert len(difference.splitlines()) <= 22
    assert len(compare_files("a.txt", b"x" * 1_000_000, b"y" * 1_000_000)) < 1000


def test_a_diff_shows_the_place():
    expected = "\n".join("abcdefgh").encode()
    assert compare_files("a.txt", expected.replace(b"e", b"E"), expected).splitlines() == [
        "differs from line 5 on (- expected, + produced)", "@@ -3,3 +3,3 @@", " c", " d", "-e", "+E",
    ]  # fmt: skip


def test_a_diff_with_several_hunks_counts_the_lines_of_the_files():
    lines = [f"line {n}" for n in range(1, 31)]
    produced = [*lines[:9], "ten", *lines[10:24], "twenty-five", "-- more", *lines[26:]]
    difference = compare_files("a.txt", "\n".join(produced).encode(), "\n".join(lines).encode())
    headers = [line for line in difference.splitlines() if line.startswith("@@")]
    assert headers == ["@@ -8,5 +8,5 @@", "@@ -23,4 +23,4 @@"]


@pytest.mark.slow
def test_files_that_are_too_large_to_parse_are_text():
    rows = json.dumps(list(range(400_000))).encode()
    assert compare_files("a.json", rows, rows + b"\n \n") == ""
    assert compare_files("a.json", rows, rows.replace(b", ", b",\n"))


def test_further_types_are_registered(monkeypatch):
    monkeypatch.setattr(diffs, "_COMPARISONS", dict(diffs._COMPARISONS))

    @compares(".csv", ".TSV")
    def as_sets(produced, expected):
        return "" if set(produced.split()) == set(expected.split()) else "other rows"

    assert compare_files("x/a.CSV", b"1\n2", b"2\n1") == ""
    assert compare_files("a.tsv", b"1", b"2") == "other rows"
    with pytest.raises(ConfigurationError, match=r"written like '\.csv'"):
        compares("csv")


@given(st.sampled_from(["a.txt", "a.json", "a.yaml", "a.toml", "a.xml", "a.py", "a.jsonl"]), st.binary(), st.binary())
def test_any_two_files_can_be_compared(path, produced, expected):
    assert isinstance(compare_files(path, produced, expected), str)
    assert compare_files(path, produced, produced) == ""


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.slow
@examples(40)
@given(values, values)
def test_json_is_compared_as_its_values(one, other):
    def same(a, b):
        return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)

    first, second = json.dumps(one, indent=2).encode(), json.dumps(other).encode()
    assert (compare_files("a.json", first, second) == "") is same(one, other)
