"""Reading of a workspace in which an agent may have left anything: nothing outside it, and nothing that waits."""

import os
import socket
import stat
import threading
from pathlib import Path

import pytest

from jury_adapters.checks import FileContent, FileExists, FilesMatch
from jury_adapters.workspace.folder import Folder, Missing, Unreadable, matches_any

SECRET = "a secret outside"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with everything that an agent may leave in it."""
    (tmp_path / "outside.txt").write_text(SECRET)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_text(SECRET)
    root = tmp_path / "work"
    (root / "inner" / "deep").mkdir(parents=True)
    (root / "a.txt").write_text("text")
    (root / "inner" / "b.txt").write_text("b")
    (root / "link.txt").symlink_to("a.txt")
    (root / "inner" / "up.txt").symlink_to("../a.txt")
    (root / "out.txt").symlink_to(tmp_path / "outside.txt")
    (root / "outdir").symlink_to(tmp_path / "outside")
    (root / "relative.txt").symlink_to("../outside.txt")
    (root / "circle").symlink_to("circle")
    (root / "broken").symlink_to("nowhere")
    (root / "device").symlink_to("/dev/zero")
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "socket"))
    with (root / "sparse.bin").open("wb") as file:
        file.truncate(50_000_000_000)
    (root / "latin.txt").write_bytes(b"caf\xe9")
    return root


READS = {
    "a.txt": b"text", "link.txt": b"text", "inner/up.txt": b"text", "inner/b.txt": b"b", "./a.txt": b"text",
    "out.txt": "is a link that leads out of the workspace", "relative.txt": "is a link that leads out",
    "outdir/a.txt": "is a link that leads out", "device": "is a link that leads out",
    "circle": "Too many levels of symbolic links", "broken": "No such file", "nowhere": "No such file",
    "a.txt/b": "Not a directory", "x" * 300: "File name too long",
    "inner": "is not a file", "pipe": "is not a file", "socket": "is not a file",
    "sparse.bin": "is larger than 10,000,000 bytes",
    "../outside.txt": "leads out of the workspace", "/etc/passwd": "leads out of the workspace",
    "inner/../../outside.txt": "leads out of the workspace", "a\0b": "leads out of the workspace", "": "leads out",
}  # fmt: skip


@pytest.mark.timeout(20)
def test_only_regular_files_inside_are_read_and_nothing_waits(workspace: Path) -> None:
    folder = Folder.at(workspace, "workspace")
    for path, expected in READS.items():
        if isinstance(expected, bytes):
            assert folder.read(path) == expected
            continue
        with pytest.raises(Unreadable) as refused:
            folder.read(path)
        assert expected in str(refused.value), path
        assert SECRET not in str(refused.value)
    with pytest.raises(Unreadable, match="not text in UTF-8"):
        folder.read_text("latin.txt")


def test_the_checks_give_a_fail_for_what_cannot_be_read(workspace: Path) -> None:
    for path, expected in READS.items():
        if path and "\0" not in path and ".." not in path and path[0] != "/":
            judgment = FileContent(path, "text").judge(workspace=workspace)
            assert judgment.passed == (expected == b"text"), path
            assert (SECRET not in str(judgment), FileExists(path).judge(workspace=workspace).passed) == (
                True,
                isinstance(expected, bytes) or path == "sparse.bin",
            )
    assert (
        FileExists("inner/deep", "directory").judge(workspace=workspace).passed,
        [FileExists(path, "directory").judge(workspace=workspace).status for path in ("a.txt", "outdir", "nowhere")],
    ) == (True, ["FAIL"] * 3)


def test_every_entry_is_listed_and_no_link_is_followed(workspace: Path) -> None:
    folder = Folder.at(workspace, "workspace")
    assert sorted(folder.files()) == sorted([
        "a.txt", "broken", "circle", "device", "inner/b.txt", "inner/up.txt", "latin.txt", "link.txt", "out.txt",
        "outdir", "pipe", "relative.txt", "socket", "sparse.bin",
    ])  # fmt: skip
    assert folder.files(["*.txt", "outdir", "pipe", "*.bin", "socket", "device", "circle"]) == ["broken"]


def test_a_folder_with_too_many_entries_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jury_adapters.workspace.folder._MOST_ENTRIES", 10)
    for number in range(11):
        (tmp_path / f"{number}").mkdir()
    with pytest.raises(Unreadable, match="more than 10 files and folders"):
        Folder.at(tmp_path, "workspace").files()


def test_a_folder_that_becomes_a_link_meanwhile_is_noticed(tmp_path: Path) -> None:
    """The agent may still be running: it swaps a folder with a link while files are read."""
    outside, root = tmp_path / "outside", tmp_path / "work"
    for folder, text in ((outside, SECRET), (root / "real", "inside")):
        folder.mkdir(parents=True)
        (folder / "a.txt").write_text(text)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            (root / "real").rename(root / "away")
            (root / "real").symlink_to(outside)
            (root / "real").unlink()
            (root / "away").rename(root / "real")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        folder, read = Folder.at(root, "workspace"), set()
        for _ in range(2000):
            try:
                read.add(folder.read("real/a.txt"))
            except Unreadable:
                read.add(b"refused")
    finally:
        stop.set()
        thread.join()
    assert (read <= {b"inside", b"refused"}, folder.read("real/a.txt")) == (True, b"inside")


def test_a_check_abstains_without_a_workspace(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for given in ({"answer": "x"}, {"workspace": tmp_path / "nowhere"}, {"workspace": tmp_path / "file"}):
        for check in (FileExists("a"), FileContent("a", "b"), FilesMatch(tmp_path)):
            judgment = check.judge(**given)
            assert (judgment.status, "workspace" in judgment.reasoning) == ("ABSTAIN", True)
    with pytest.raises(Missing, match="there is no expected folder"):
        Folder.at(3, "expected folder")


def test_a_linked_workspace_is_read_where_it_is(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(workspace)
    assert (
        FileContent("a.txt", "text").judge(workspace=tmp_path / "linked").passed,
        bool(stat.S_ISFIFO((workspace / "pipe").stat().st_mode)),
    ) == (True, True)


def test_patterns_match_parts_or_whole_paths() -> None:
    rows = [
        ("a/b.log", "*.log", True), ("a/b.log", "b.log", True), ("a/b/c.txt", "b", True), ("a/b/c.txt", "b/", True),
        ("docs/a.md", "docs/*.md", True), ("x/docs/a.md", "docs/*.md", False), ("docs/x/a.md", "docs/x", True),
        ("docs/x/a.md", "docs/", True), ("ab", "a", False), ("A.LOG", "*.log", False),
    ]  # fmt: skip
    assert [
        (path, pattern, expected) for path, pattern, expected in rows if matches_any(path, [pattern]) != expected
    ] == []
