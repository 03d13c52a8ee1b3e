"""The one loader of YAML: every reader of a file refuses the same documents in the same words."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.jury_files import GOOD

from jury_adapters import ConfigurationError, InputError, Rubric
from jury_adapters.calibration import Guarantee
from jury_adapters.compat import cross_judge
from jury_adapters.config import load_jury
from jury_adapters.workspace.diffs import compare_files
from jury_adapters.yaml_files import read_documents, read_source


def read_jury(path: Path) -> object:
    return load_jury(path)


def read_rubric(path: Path) -> object:
    return Rubric.from_yaml(path)


def read_guarantee(path: Path) -> object:
    return Guarantee.from_yaml(path)


def read_prompt(path: Path) -> object:
    return cross_judge.Critic.from_yaml_prompt("name", "model", str(path))


def read_compared(path: Path) -> object:
    """Compare a file; what is wrong with it is a difference. The judge of files names the file itself."""
    difference = compare_files(path.name, path.read_bytes(), b"a: 1")
    assert difference.startswith("cannot be read: line ")
    raise InputError(f"{path}, {difference.removeprefix('cannot be read: ')}")


READERS = [read_jury, read_rubric, read_guarantee, read_prompt, read_compared]

BILLION = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in ("ab", "bc", "cd", "de", "ef", "fg")
)
MERGES = "a: &a {x: 1}\n" + "".join(
    f"{name}: &{name} {{<<: [{', '.join([f'*{before}'] * 10)}]}}\n"
    for before, name in ("ab", "bc", "cd", "de", "ef", "fg")
)
TAG = "is not allowed; such a file holds plain values only: text, numbers, true, false, null, lists and mappings"
TOO_DEEP = "nested more than 100 levels deep; write it flatter"
TOO_MANY = "more than 100000 values, aliases counted where they are used; write less into one file"
HOSTILE = {
    "b: 1\na: 1\na: 2": "line 3: the key 'a' occurs here twice; keep one of them",
    "b:\n  a: 1\n  'a': 2": "line 3: the key 'a' occurs here twice; keep one of them",
    "\na: !!python/object/apply:os.system [x]": f"line 2: tag:yaml.org,2002:python/object/apply:os.system {TAG}",
    "a: !!python/name:os.system\n": f"line 1: tag:yaml.org,2002:python/name:os.system {TAG}",
    "a: !!binary aGk=\n": f"line 1: tag:yaml.org,2002:binary {TAG}",
    "a: !!set {x, y}\n": f"line 1: tag:yaml.org,2002:set {TAG}",
    "a: !own%1B2J x\n": f"line 1: !own\\x1b2J {TAG}",
    "a: \x07\n": "line 1: not YAML: unacceptable character U+0007; write it as an escape in double quotes",
    "a: 1\nb: [1\n": "line 3: not YAML: the indentation does not fit the lines above, or a quote or bracket is missing",
    "a:\n\t- b\n": "line 2: not YAML: indent with spaces, not with tabs",
    "a: *nowhere\n": "line 1: not YAML: found undefined alias",
    "[a]: 1\n": "line 1: a key must be text",
    "b: 1\n<<: x\n": "line 2: the key << is not allowed here; write the keys that it merges",
    "a:\n  &x [*x]\n": f"line 2: {TOO_DEEP}",
    "a: " + "[" * 5000: f"line 1: {TOO_DEEP}",
    "a: " + "{a: " * 5000: f"line 1: {TOO_DEEP}",
    BILLION: f"line 1: {TOO_MANY}",
    "- x\n" * 200_100: f"line 200000: {TOO_MANY}",
}
NO_NUMBERS = {
    "a: !!int x\n": "line 1: 'x' is not a usable number; for text write it in quotes",
    "a: 1e999\n": "line 1: '1e999' is not a usable number; for text write it in quotes",
    f"a: {'9' * 5000}\n": "line 1: '9999999999999999999999999999999999999999' is not a usable number",
}


@pytest.mark.corpus
@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_what_is_no_plain_yaml_is_refused_by_every_reader_alike(read, text, tmp_path):
    file = tmp_path / "file.yaml"
    file.write_bytes(text.encode())
    with pytest.raises(InputError) as caught:
        read(file)
    assert str(caught.value).startswith(f"{file}, {HOSTILE[text]}")


@pytest.mark.parametrize("read", [read_jury, read_guarantee, read_compared])
@pytest.mark.parametrize("text", NO_NUMBERS, ids=range(len(NO_NUMBERS)))
def test_numbers_that_are_none_are_refused_alike(read, text, tmp_path):
    file = tmp_path / "file.yaml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        read(file)
    assert str(caught.value).startswith(f"{file}, {NO_NUMBERS[text]}")


@pytest.mark.parametrize("read", READERS[:-1])
def test_a_file_without_end_is_not_read_to_it(read, tmp_path):
    file = tmp_path / "file.yaml"
    file.write_text(f"a: {'x' * 4_000_000}")
    with pytest.raises(InputError) as caught:
        read(file)
    assert str(caught.value) == f"{file}: longer than 4000000 characters; write several files"


@pytest.mark.parametrize("read", READERS[:-1])
def test_a_file_holds_one_document(read, tmp_path):
    file = tmp_path / "file.yaml"
    for text in ('{"id": "a"}\n{"id": "b"}\n', "a: 1\n---\na: 2\n"):
        file.write_text(text)
        with pytest.raises(
            InputError, match=r"file\.yaml, line [23]: not YAML: .* mapping.*; this looks like cases or"
        ):
            read(file)


def test_the_words_of_yaml_1_1_stay_words():
    jury = load_jury(GOOD["the vote on labels, with words that YAML 1.1 would change"])
    assert jury.strategy.on == "label"
    assert jury.strategy.priority == ("NO", "yes", "on")
    assert jury.strategy.default_label == "off"
    assert read_source("{date: 2024-01-01, time: 12:30, octal: 010, big: 1e3, half: .5, nan: .nan}", "").content == {
        "date": "2024-01-01", "time": "12:30", "octal": 10, "big": 1000.0, "half": 0.5, "nan": ".nan",
    }  # fmt: skip


WORDS = "[YES, NO, yes, no, on, off, On, OFF, y, n]"


def test_words_are_the_same_for_every_reader():
    words = WORDS.strip("[]").split(", ")
    assert read_source(f"a: {WORDS}", "").content == read_source(f"a: {WORDS}", "", as_text=True).content
    assert read_source(f"a: {WORDS}", "").content == {"a": words}
    assert read_documents(WORDS) == [words]
    rubric = Rubric.from_yaml("labels: {YES: pass, NO: fail, on: none, off: abstain}")
    assert rubric.reply_schema()["properties"]["answer"]["enum"] == ["YES", "NO", "on", "off"]
    keys = "{" + ", ".join(f"{word}: 1" for word in words) + "}\n"
    assert list(read_source(keys, "").content) == words
    assert compare_files("a.yaml", b"on: yes", b"'on': 'yes'") == ""
    assert "expected True" in compare_files("a.yaml", b"a: yes", b"a: true")


def test_text_stays_as_it_is_where_a_reader_asks_for_text():
    source = read_source("version: 1.10\nanswers: [true, null, ~, 007]\n", "", as_text=True)
    assert source.content == {"version": "1.10", "answers": ["true", "null", "~", "007"]}


@pytest.mark.slow
def test_data_may_merge_mappings_of_which_the_first_wins():
    text = "x: &x {a: 1, b: 1}\ny: &y {b: 2, c: 2}\nz: {<<: [*x, *y], c: 3}\nq: {'<<': 1}\n"
    assert read_documents(text) == [
        {"x": {"a": 1, "b": 1}, "y": {"b": 2, "c": 2}, "z": {"a": 1, "b": 1, "c": 3}, "q": {"<<": 1}}
    ]
    for hostile, said in ((MERGES, TOO_MANY), ("a: &x {<<: *x}\n", TOO_DEEP)):
        with pytest.raises(InputError, match=said):
            read_documents(hostile)


@pytest.mark.parametrize("read", READERS[:-1])
def test_files_that_say_what_we_do_may_not(read, tmp_path):
    file = tmp_path / "file.yaml"
    file.write_text("a: &x {b: 1}\nc:\n  <<: *x\n")
    with pytest.raises(InputError, match=r"file\.yaml, line 3: the key << is not allowed here"):
        read(file)


def test_an_honest_alias_has_the_line_of_its_value():
    source = read_source("a: &x\n  b: 1\nc: *x\n", "")
    assert source.content == {"a": {"b": 1}, "c": {"b": 1}}
    assert [source.line(where) for where in (("a",), ("a", "b"), ("c",), ("c", "b"), ("c", "b", 7))] == [1, 2, 3, 2, 2]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    with pytest.raises(InputError, match=r"nowhere\.yaml: No such file"):
        load_jury("nowhere.yaml")
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not a text file"):
        load_jury(binary)
    with pytest.raises(InputError, match="Is a directory"):
        load_jury(tmp_path)


def test_a_jury_file_that_is_not_there_is_told_with_the_one_that_was_meant(tmp_path):
    (tmp_path / "jury.yaml").write_text("jurors: [{check: not_empty}]")
    with pytest.raises(
        ConfigurationError, match=r"jurry\.yaml: No such file or directory\. Did you mean .*jury\.yaml\?"
    ):
        load_jury(tmp_path / "jurry.yaml")
