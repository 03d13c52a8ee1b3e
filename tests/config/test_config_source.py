"""From text to plain values: what is no plain YAML is refused, and words stay words."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.jury_files import GOOD

from jury_adapters import ConfigurationError, InputError
from jury_adapters.config import load_jury
from jury_adapters.config.source import read_source


def test_the_words_of_yaml_1_1_stay_words():
    jury = load_jury(GOOD["the vote on labels, with words that YAML 1.1 would change"])
    assert jury.strategy.on == "label"
    assert jury.strategy.priority == ("NO", "yes", "on")
    assert jury.strategy.fallback == "off"
    assert read_source("{date: 2024-01-01, time: 12:30, octal: 010, big: 1e3, half: .5, nan: .nan}").content == {
        "date": "2024-01-01", "time": "12:30", "octal": 10, "big": 1000.0, "half": 0.5, "nan": ".nan",
    }  # fmt: skip


BILLION = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in ("ab", "bc", "cd", "de", "ef", "fg")
)
UNREADABLE = {
    "a: 1\na: 2": "line 2: the key 'a' stands here twice",
    "a: !!python/object/apply:os.system [x]": "line 1: tag:yaml.org,2002:python/object/apply:os.system is not allowed",
    "a: !!python/name:os.system\n": "is not allowed; a jury file holds plain values only",
    "a: !!binary aGk=\n": "is not allowed",
    "a: !!int x\n": "line 1: 'x' is no usable number",
    "a: 1e999\n": "line 1: '1e999' is no usable number",
    "a: [\n": "not YAML",
    "a: \x07\n": "not YAML: unacceptable character",
    "[a]: 1\n": "line 1: a key must be text",
    "x: &a [*a]\n": "nested more than 60 levels deep",
    "x: " + "[" * 5000: "nested too deeply",
    BILLION: "more than 100000 values",
}  # fmt: skip


@pytest.mark.parametrize("text", UNREADABLE, ids=range(len(UNREADABLE)))
def test_what_is_no_plain_yaml_is_refused(text):
    with pytest.raises(InputError) as caught:
        load_jury(text)
    assert UNREADABLE[text] in str(caught.value)


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
