"""The judges of workspace/files.py, on real folders."""

import asyncio
import copy
import os
import pickle

import pytest

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judgment import Status
from jury_adapters.workspace.files import DirectorySuperset, FileContent, FileExists, FilesMatch

PASS, FAIL, ABSTAIN, ERROR = Status.PASS, Status.FAIL, Status.ABSTAIN, Status.ERROR


@pytest.fixture
def work(tmp_path):
    """A workspace beside a secret, with one file."""
    (tmp_path / "secret.txt").write_text("the key")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("Hello World")
    return tmp_path / "work"


@pytest.fixture
def reference(tmp_path):
    (tmp_path / "reference").mkdir()
    return tmp_path / "reference"


ALL = [FileExists("a.txt"), FileContent("a.txt", "l+", match="regex"), DirectorySuperset("/"), FilesMatch("/")]


@pytest.mark.parametrize("judge", ALL, ids=lambda judge: judge.name)
class TestEveryJudge:
    def test_abstains_without_a_workspace(self, judge):
        for given in ({"question": "?"}, {"workspace": "/no/such/folder"}, {"workspace": __file__}):
            judgment = judge.judge(**given)
            assert judgment.status is ABSTAIN
            assert "workspace" in judgment.reasoning

    def test_is_called_like_its_class_and_can_be_sent(self, judge):
        assert judge.name == type(judge).__name__
        for twin in (pickle.loads(pickle.dumps(judge)), copy.deepcopy(judge)):
            assert twin == judge
            assert hash(twin) == hash(judge)
        with pytest.raises(AttributeError):
            judge.name = "other"


def findings(judgment):
    return {finding.name: finding.passed for finding in judgment.findings}


def test_a_file_exists(work):
    (work / "docs").mkdir()
    judgment = FileExists("a.txt").judge(workspace=work)
    assert (judgment.status, findings(judgment)) == (PASS, {"file_exists": True})
    assert FileExists("docs", kind="directory").judge(workspace=work).status is PASS
    assert FileExists("docs").judge(workspace=work).reasoning == "'docs' is a directory, not a file"
    assert FileExists("a.txt", kind="directory").judge(workspace=work).status is FAIL
    judgment = asyncio.run(FileExists("b.txt").ajudge(workspace=work))
    assert (judgment.status, findings(judgment)) == (FAIL, {"file_exists": False})
    assert judgment.reasoning == "'b.txt' does not exist"


def test_what_only_looks_like_a_file_does_not_exist(work):
    (work / "out").symlink_to("../secret.txt")
    os.mkfifo(work / "pipe")
    for path in ("out", "pipe"):
        for judge in (FileExists(path), FileContent(path, "the key", match="contains")):
            judgment = judge.judge(workspace=work)
            assert (judgment.status, findings(judgment)) == (FAIL, {"file_exists": False})
            assert "the key" not in str(judgment)


@pytest.mark.parametrize(
    ("judge", "status"),
    [
        (FileContent("a.txt", "Hello World"), PASS),
        (FileContent("a.txt", "Hello"), FAIL),
        (FileContent("a.txt", "Hello World\n"), FAIL),
        (FileContent("a.txt", "lo W", match="contains"), PASS),
        (FileContent("a.txt", "lo w", match="contains"), FAIL),
        (FileContent("a.txt", r"^Hel+o\b", match="regex"), PASS),
        (FileContent("a.txt", r"^World", match="regex"), FAIL),
        (FileContent("./a.txt", "Hello World", encoding="latin-1"), PASS),
    ],
)
def test_content(work, judge, status):
    judgment = judge.judge(workspace=work)
    assert judgment.status is status
    assert findings(judgment) == {"file_exists": True, "file_readable": True, "content_match": status is PASS}


def test_content_comes_from_the_reference_but_no_pattern_does(work):
    assert FileContent("a.txt").judge(workspace=work, reference="Hello World").status is PASS
    assert FileContent("a.txt").judge(workspace=work).reasoning.startswith("nothing to compare with")
    with pytest.raises(ConfigurationError, match="needs the pattern"):
        FileContent("a.txt", match="regex")


def test_a_difference_is_shown(work):
    (work / "a.txt").write_text("one\ntwo\n")
    (finding,) = FileContent("a.txt", "one\n2\n").judge(workspace=work).findings[2:]
    assert "-2\n+two" in finding.detail
    (finding,) = FileContent("a.txt", "one\ntwo").judge(workspace=work).findings[2:]
    assert finding.detail == "only white space differs"


@pytest.mark.parametrize(
    ("content", "says"), [(b"\xff\xfe\x00\x80", "not utf-8 text"), (b"x" * 101, "larger than 100")]
)
def test_what_cannot_be_read_fails_and_says_so(work, content, says):
    (work / "a.txt").write_bytes(content)
    judgment = FileContent("a.txt", "x", match="contains", max_bytes=100).judge(workspace=work)
    assert (judgment.status, findings(judgment)) == (FAIL, {"file_exists": True, "file_readable": False})
    assert says in judgment.reasoning


def test_a_pattern_that_explodes_is_an_error(work):
    (work / "a.txt").write_text("a" * 5000 + "!")
    judgment = FileContent("a.txt", r"(a|aa)+$", match="regex", timeout_s=0.05).judge(workspace=work)
    assert (judgment.status, judgment.error) == (ERROR, "timeout")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: FileExists("../a"), "leads out"),
        (lambda: FileExists("/etc/passwd"), "leads out"),
        (lambda: FileExists("a", kind="pipe"), "unknown kind"),
        (lambda: FileContent("a/../../b"), "leads out"),
        (lambda: FileContent("a", match="fuzzy"), "unknown match"),
        (lambda: FileContent("a", "(", match="regex"), "not a regular expression"),
        (lambda: FileContent("a", encoding="klingon"), "unknown encoding"),
        (lambda: FileContent("a", encoding="base64"), "unknown encoding"),
        (lambda: FileContent("a", max_bytes=0), "max_bytes"),
        (lambda: FileContent("a", timeout_s=0), "timeout"),
        (lambda: DirectorySuperset("a", threshold=2), "threshold"),
        (lambda: DirectorySuperset("a", exclude=[""]), "patterns such as"),
        (lambda: FilesMatch("a", extra="maybe"), "unknown extra"),
        (lambda: FilesMatch("a", include=[3]), "patterns such as"),
    ],
)
def test_wrong_construction_is_said_at_once(make, says):
    with pytest.raises(ConfigurationError, match=says):
        make()


def fill(folder, **files):
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_a_superset_scores_the_share_that_is_still_there(work, reference):
    fill(reference, a_txt="", src__b_py="", src__c_py="", build__x_o="")
    fill(work, a_txt="", src__b_py="", more_txt="")
    judgment = DirectorySuperset(reference, exclude="build/").judge(workspace=work)
    assert (judgment.status, judgment.score) == (FAIL, pytest.approx(2 / 3))
    assert findings(judgment) == {"src/c.py": False}
    assert judgment.reasoning == "2 of 3 expected files are there; missing: 'src/c.py'"
    lenient = DirectorySuperset(exclude=["*.o"], threshold=0.6)
    assert lenient.judge(workspace=work, metadata={"expected_dir": str(reference)}).status is PASS


def test_a_file_with_other_content_is_not_still_there(work, reference):
    fill(reference, a_txt="one", b_txt="two", c_txt="three")
    fill(work, a_txt="one", b_txt="2", c_txt="three")
    judgment = DirectorySuperset(reference).judge(workspace=work)
    assert (judgment.status, judgment.score) == (FAIL, pytest.approx(2 / 3))
    assert judgment.reasoning == "2 of 3 expected files are there; changed: 'b.txt'"
    assert [(finding.name, finding.detail) for finding in judgment.findings] == [("b.txt", "changed")]
    assert DirectorySuperset(reference, contents=False).judge(workspace=work).status is PASS
    assert DirectorySuperset(reference, max_bytes=4).judge(workspace=work).score == pytest.approx(1 / 3)
    with pytest.raises(ConfigurationError, match="contents is True or False"):
        DirectorySuperset(reference, contents="yes")


def test_a_link_that_leads_out_is_not_still_there(work, reference):
    fill(reference, secret_txt="")
    (work / "secret.txt").symlink_to("../secret.txt")
    assert DirectorySuperset(reference).judge(workspace=work).status is FAIL
    assert FilesMatch(reference).judge(workspace=work).status is FAIL


@pytest.mark.parametrize("kind", [DirectorySuperset, FilesMatch])
def test_nothing_to_compare_with_abstains(kind, work, reference):
    assert "metadata['expected_dir']" in kind().judge(workspace=work).reasoning
    for judge, metadata in [
        (kind(reference), {}),
        (kind("/no/such"), {}),
        (kind(), {"expected_dir": 3}),
        (kind(), {"expected_dir": "/no/such"}),
    ]:
        assert judge.judge(workspace=work, metadata=metadata).status is ABSTAIN


def test_files_match_by_type(work, reference):
    fill(reference, a_txt="Hello  World\n", b_json='{"x": 1}', src__c_py="x=1 # one", d_xml="<a/>", e_yaml="a: 1")
    fill(work, b_json='{ "x": 1 }', src__c_py="x = 1", d_xml="<a></a>", e_yaml="{a: 1}", more_txt="new")
    judgment = FilesMatch(reference).judge(workspace=work)
    assert (judgment.status, judgment.score) == (PASS, 1.0)
    assert len(judgment.findings) == 5
    judgment = FilesMatch(reference, extra="fail").judge(workspace=work)
    assert (judgment.status, judgment.score) == (FAIL, pytest.approx(5 / 6))
    assert (judgment.findings[0].name, judgment.findings[0].detail) == ("more.txt", "not expected")
    fill(work, b_json='{"x": 2}')
    judgment = FilesMatch(reference, threshold=0.8).judge(workspace=work)
    assert (judgment.status, judgment.score) == (PASS, 0.8)
    assert judgment.findings[0].detail == "$.x: 2, expected 1"
    assert "$.x: 2, expected 1" in judgment.reasoning
    assert FilesMatch(reference, include="*.py").judge(workspace=work).score == 1.0
    assert FilesMatch(reference, exclude=("*.json",)).judge(workspace=work).score == 1.0


@pytest.mark.parametrize("target", ["../secret.txt", "..", "sub", "nowhere", "conftest.py"])
def test_a_link_that_only_the_workspace_has_is_an_extra_file_wherever_it_leads(work, reference, target):
    fill(reference, a_txt="Hello World")
    (work / "sub").mkdir()
    (work / "conftest.py").symlink_to(target)
    judgment = FilesMatch(reference, extra="fail").judge(workspace=work)
    assert (judgment.status, judgment.findings[0].name) == (FAIL, "conftest.py")
    assert FilesMatch(reference).judge(workspace=work).status is PASS
    (reference / "conftest.py").symlink_to(target)
    assert FilesMatch(reference, extra="fail", exclude="sub").judge(workspace=work).status is PASS


def test_a_pipe_is_an_extra_file(work, reference):
    fill(reference, a_txt="Hello World")
    os.mkfifo(work / "pipe")
    assert FilesMatch(reference, extra="fail").judge(workspace=work).status is FAIL


def test_missing_huge_and_special_files_do_not_match(work, reference):
    fill(reference, a_txt="Hello World", gone_txt="x", pipe="x")
    os.mkfifo(work / "pipe")
    with (work / "a.txt").open("ab") as file:
        file.truncate(1 << 40)
    judgment = FilesMatch(reference, max_bytes=1000).judge(workspace=work)
    assert judgment.score == 0.0
    assert [finding.detail.split("' ")[1] for finding in judgment.findings] == [
        "is larger than 1000 bytes", "does not exist", "is a pipe, not a file",
    ]  # fmt: skip


def test_a_reference_that_cannot_be_read_is_an_error(work, reference):
    fill(reference, a_txt="x" * 100)
    judgment = FilesMatch(reference, max_bytes=50).judge(workspace=work)
    assert judgment.status is ERROR
    assert "larger than 50 bytes" in judgment.error


@pytest.mark.parametrize("judge", ALL, ids=lambda judge: judge.name)
def test_a_workspace_that_cannot_be_reached_is_an_error(judge):
    judgment = judge.judge(workspace="/" + "x" * 5000)
    assert judgment.status is ERROR
    assert "too long" in judgment.error


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FileContent("a", b"text"), "expected is text, not bytes"),
        (lambda: FileContent("a", 42), "expected is text, not 42"),
        (lambda: FileContent("a", "", match="contains"), "every file contains the empty text"),
        (lambda: FileContent("a", "x", encoding=None), "unknown encoding None"),
        (lambda: FileContent("a", "x", encoding="undefined"), "unknown encoding 'undefined'"),
        (lambda: FileContent("a", "x", encoding="utf-8\0"), "unknown encoding"),
        (lambda: FileContent("a", "x", max_bytes=True), "max_bytes is a positive number of bytes, not True"),
        (lambda: DirectorySuperset(3), "expected is the path of a folder, not 3"),
        (lambda: DirectorySuperset(max_bytes="1"), "max_bytes is a positive number of bytes, not '1'"),
        (lambda: DirectorySuperset(exclude=None), "exclude takes patterns .* not None"),
        (lambda: FilesMatch(b"given"), "expected is the path of a folder, not bytes"),
        (lambda: FilesMatch("given", include=7), "include takes patterns .* not 7"),
    ],
)
def test_wrong_options_are_refused_when_the_check_is_built(make, message):
    with pytest.raises(ConfigurationError, match=message):
        make()


def test_an_empty_reference_is_nothing_to_look_for(work):
    found = FileContent("a.txt", match="contains").judge(question="?", reference="", workspace=work)
    assert (found.status, found.reasoning[:22]) == (ABSTAIN, "nothing to look for: t")
    (work / "a.txt").write_text("")
    assert FileContent("a.txt").judge(question="?", reference="", workspace=work).status is PASS


def test_files_that_cannot_be_listed_fail_where_files_that_were_added_fail(work, reference, monkeypatch):
    monkeypatch.setattr("jury_adapters.workspace.folder._MOST_ENTRIES", 50)
    (reference / "a.txt").write_text("Hello World")
    for number in range(51):
        (work / f"{number}.tmp").touch()
    judgment = FilesMatch(reference, extra="fail").judge(question="?", workspace=work)
    assert judgment.status is FAIL
    assert "more than 50 files" in judgment.reasoning
    assert FilesMatch(reference).judge(question="?", workspace=work).status is PASS


def test_a_file_that_is_too_large_to_compare_is_not_called_changed(work, reference):
    fill(reference, same_bin="x" * 300, other_txt="one")
    fill(work, same_bin="x" * 300, other_txt="two")
    judgment = DirectorySuperset(reference, max_bytes=299).judge(question="?", workspace=work)
    assert (judgment.status, judgment.score) == (FAIL, 0.0)
    assert judgment.reasoning == ("0 of 2 expected files are there; changed: 'other.txt'; not comparable: 'same.bin'")
    assert [finding.detail for finding in judgment.findings] == ["changed", "not comparable"]
    matched = FilesMatch(reference, max_bytes=299).judge(question="?", workspace=work)
    assert (matched.status, "'same.bin' is larger than 299 bytes" in matched.error) == (ERROR, True)
