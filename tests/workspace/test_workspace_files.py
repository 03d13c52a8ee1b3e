"""Checks of files: what is equivalent to what, and what an agent cannot hide."""

import os
import subprocess
from pathlib import Path

import pytest

from jury_adapters import ConfigurationError, Judgment
from jury_adapters.checks import FileContent, FileExists, FilesMatch
from jury_adapters.config import load_jury
from jury_adapters.workspace.diffs import difference

# A file name, the expected text, the produced text, and whether they are equivalent.
PAIRS = [
    ("a.txt", "one\ntwo\n", "one\ntwo\n", True),
    ("a.txt", "one\ntwo\n", "one  \r\n\r\ntwo", True),
    ("a.txt", "one\ntwo\n", "one\nthree\n", False),
    ("a.txt", "one\ntwo\n", "one\n", False),
    ("a.txt", "one two", "one  two", False),
    ("a.py", "if x:\n    a()\n    b()\n", "if x:\n    a()\nb()\n", False),
    ("a.py", "x = 1\n", "x = 1   \n\n", True),
    ("a.txt", "\ufeffone", "one", True),
    ("a.json", '{"a": 1, "b": [true, null]}', '{"b":[true,null],"a":1.0}', True),
    ("a.json", '{"a": 1}', '{"a": true}', False),
    ("a.json", '{"a": [0]}', '{"a": [false]}', False),
    ("a.json", '{"a": 1}', '{"a": 2, "a": 1}', False),
    ("a.json", '{"a": 1}', '{"a": 1,}', False),
    ("a.json", '{"a": 1}', "{" * 100_000, False),
    ("a.JSON", "[1, 2]", "[1,2]", True),
    ("a.json", "{{ template }}", "{{ template }} ", True),
    ("a.yaml", "a: yes\nb: 1", "b: 1\na: 'yes'", True),
    ("a.yml", "a: true", "a: 1", False),
    ("a.yaml", "a: 1", "a: &x 1\n", False),
    ("a.xml", '<a c="2" b="1"><!-- old --><d> x </d></a>', '<a b="1" c="2">\n  <d>x</d>\n</a>', True),
    ("a.xml", "<a><b/></a>", "<a><c/></a>", False),
    ("a.xml", '<p:a xmlns:p="urn:x"/>', '<q:a xmlns:q="urn:x"/>', True),
    ("a.xml", "<a/>", '<!DOCTYPE a [<!ENTITY b "c">]><a/>', False),
    ("a.xml", "<a/>", "<a>" * 1000, False),
]


def test_files_are_compared_by_their_type() -> None:
    for name, expected, produced, same in PAIRS:
        found = difference(name, produced.encode(), expected.encode())
        assert (found == "") == same, (name, expected[:40], produced[:40], found)
        assert (len(found) < 500, "\n" not in found) == (True, True)
    assert (
        difference("a.bin", b"\x00\xff", b"\x00\xff"),
        "2 bytes, expected 1" in difference("a.bin", b"\x00\xff", b"\x00"),
        "they are not the same" in difference("a.txt", b"x" * 3_000_000, b"y" * 2_000_000),
    ) == ("", True, True)


def test_a_difference_cannot_steer_the_terminal() -> None:
    found = difference("a.txt", b"\x1b[2Jgone\xe2\x80\xae", b"one")
    assert (
        found.startswith("line 1 without blank ones: expected 'one', not '"),
        not {"\x1b", "\u202e"} & {*found},
    ) == (True, True)


def make(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


LEFT_OUT = {".git/HEAD": "x", "d/__pycache__/e.pyc": "x"}
EXPECTED = {"a.txt": "one\n", "src/b.json": '{"x": 1}', "src/c.py": "c = 1\n", **LEFT_OUT}
# What the workspace has beside or instead of that, the options, and what comes out.
MATCHES = [
    ({}, {}, "PASS", 1.0, "3 of 3 files match"),
    ({"src/b.json": '{ "x":1 }', "more.txt": "x"}, {}, "PASS", 1.0, "3 of 3"),
    (
        {"more.txt": "x", ".git/config": "x"},
        {"extra": "fail"},
        "FAIL",
        0.75,
        "3 of 4 files match; not 'more.txt': ",
    ),
    ({"a.txt": "two\n"}, {}, "FAIL", 2 / 3, "2 of 3 files match; not 'a.txt': line 1"),
    ({"a.txt": "two\n"}, {"threshold": 0.6}, "PASS", 2 / 3, "2 of 3"),
    ({"a.txt": "two\n"}, {"contents": False}, "PASS", 1.0, "3 of 3"),
    ({"a.txt": "two\n"}, {"include": ["*.py", "src/*.json"]}, "PASS", 1.0, "2 of 2"),
    ({"a.txt": "two\n"}, {"exclude": ["a.txt"]}, "PASS", 1.0, "4 of 4"),
    ({"a.txt": None}, {"contents": False}, "FAIL", 2 / 3, "'a.txt' does not exist"),
    ({"src": None}, {}, "FAIL", 1 / 3, "1 of 3 files match"),
    ({}, {"include": ["*.rs"]}, "ABSTAIN", None, "nothing to compare with"),
]


def test_a_workspace_is_compared_with_a_reference_folder(tmp_path: Path) -> None:
    expected = make(tmp_path / "expected", EXPECTED)
    for number, (changes, options, status, score, said) in enumerate(MATCHES):
        files = {name: text for name, text in EXPECTED.items() if not any(
            changes.get(part, "") is None for part in (name, name.partition("/")[0])
        )}  # fmt: skip
        work = make(tmp_path / f"work{number}", {**files, **{name: text for name, text in changes.items() if text}})
        for judgment in (
            FilesMatch(expected, **options).judge(workspace=work),
            FilesMatch(**options).judge(workspace=work, metadata={"expected_dir": str(expected)}),
        ):
            assert (judgment.status, judgment.score) == (status, score), number
            assert said in judgment.reasoning
    assert (
        FilesMatch().judge(workspace=expected).status,
        FilesMatch(tmp_path / "nowhere").judge(workspace=expected).status,
    ) == ("ABSTAIN", "ABSTAIN")


def test_no_file_is_hidden_behind_a_link_a_pipe_or_a_count(tmp_path: Path) -> None:
    expected = make(tmp_path / "expected", {f"{number}.txt": "x" for number in range(150)})
    work = make(tmp_path / "work", {f"{number}.txt": "y" for number in range(150)})
    judgment = FilesMatch(expected).judge(workspace=work)
    assert (judgment.status, judgment.score, len(judgment.findings)) == ("FAIL", 0.0, 100)
    work = make(tmp_path / "linked", {})
    work.mkdir()
    for number in range(150):
        (work / f"{number}.txt").symlink_to(expected / f"{number}.txt")
    assert FilesMatch(expected).judge(workspace=work).score == 0
    work = make(tmp_path / "extra", {f"{number}.txt": "x" for number in range(150)})
    (work / "evil").symlink_to("/bin")
    assert (
        FilesMatch(expected).judge(workspace=work).passed,
        FilesMatch(expected, extra="fail").judge(workspace=work).findings[0].name,
    ) == (True, "evil")


def test_no_file_is_hidden_by_its_name_or_deep_inside(tmp_path: Path) -> None:
    expected, work = make(tmp_path / "expected", {"a.txt": "x"}), make(tmp_path / "work", {"a.txt": "x"})
    for name in (b"\xff.txt", b"new\nline", b"\x1b[2Jgone"):
        Path(os.fsdecode(os.fsencode(work) + b"/" + name)).write_text("x")
    judgment = FilesMatch(expected, extra="fail").judge(workspace=work)
    assert (
        judgment.status,
        judgment.score,
        Judgment.model_validate_json(judgment.model_dump_json()),
        not {"\x1b", "\n"} & {*judgment.reasoning},
    ) == ("FAIL", 0.25, judgment, True)
    deep = make(tmp_path / "deep", {"a.txt": "x"})
    inner = os.open(deep, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=inner)
        outer, inner = inner, os.open("d", os.O_RDONLY, dir_fd=inner)
        os.close(outer)
    os.mkfifo("evil", dir_fd=inner)
    os.close(inner)
    judgment = FilesMatch(expected, extra="fail").judge(workspace=deep)
    subprocess.run(["rm", "-rf", deep], check=True)  # the cleaning of pytest is recursive too
    assert judgment.status == "FAIL"


def test_an_unreadable_reference_is_an_error_and_not_the_fault_of_the_agent(tmp_path: Path) -> None:
    expected = make(tmp_path / "expected", {"a.txt": "x"})
    (expected / "b.txt").symlink_to("nowhere")
    judgment = FilesMatch(expected).judge(workspace=make(tmp_path / "work", {"a.txt": "x", "b.txt": "x"}))
    assert judgment.status == "ERROR"


CONTENTS = [
    ("exact", "Bonn\n", "Bonn\n", True), ("exact", "Bonn", "Bonn\n", False), ("contains", "on", "Bonn\n", True),
    ("contains", "ON", "Bonn\n", False), ("regex", r"^B\w+$", "Bonn", True), ("regex", r"\d", "Bonn", False),
    ("regex", r"(a+)+$", "a" * 50_000 + "b", False),
]  # fmt: skip


def test_the_content_of_a_file_is_compared(tmp_path: Path) -> None:
    for match, expected, text, passed in CONTENTS:
        make(tmp_path, {"out/a.txt": text})
        judgment = FileContent("out/a.txt", expected, match).judge(workspace=tmp_path)
        assert judgment.passed == passed, (match, expected)
        if match != "regex":
            assert FileContent("out/a.txt", match=match).judge(workspace=tmp_path, reference=expected).passed == passed
    assert (
        FileContent("a").judge(workspace=tmp_path).status,
        FileContent("out/a.txt", match="contains").judge(workspace=tmp_path, reference="").status,
    ) == ("ABSTAIN", "ABSTAIN")


WRONG = [
    (FileExists, {"path": "../x"}), (FileExists, {"path": ""}), (FileExists, {"path": "/x"}), (FileExists, {}),
    (FileExists, {"path": "x", "kind": "link"}), (FileContent, {"path": "x", "match": "regex"}),
    (FileContent, {"path": "x", "match": "regex", "expected": "("}), (FileContent, {"path": "x", "expected": 3}),
    (FileContent, {"path": "x", "match": "contains", "expected": ""}), (FilesMatch, {"extra": "warn"}),
    (FilesMatch, {"threshold": 2}), (FilesMatch, {"contents": "yes"}), (FilesMatch, {"include": "*.py"}),
    (FilesMatch, {"exclude": [""]}),
]  # fmt: skip


def test_wrong_options_are_refused_at_once() -> None:
    for kind, options in WRONG:
        with pytest.raises(ConfigurationError):
            kind(**options)


def test_a_jury_file_finds_its_reference_folder_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "project", {"reference/a.txt": "x", "jury.yaml": "{check: files_match, expected: reference}"})
    work = make(tmp_path / "work", {"a.txt": "x"})
    jury = load_jury(tmp_path / "project" / "jury.yaml")
    assert jury.judge(workspace=work).passed
    monkeypatch.chdir(tmp_path / "project")
    assert (
        load_jury("jury.yaml").fingerprint,
        FilesMatch("reference", threshold=0.5).fingerprint != jury.fingerprint,
    ) == (jury.fingerprint, True)
    for path in ("../work", str(work), "/etc"):
        make(tmp_path / "project", {"jury.yaml": f"{{check: files_match, expected: {path}}}"})
        with pytest.raises(ConfigurationError, match=r"jury\.yaml: expected: .* leads out of the folder"):
            load_jury("jury.yaml")
