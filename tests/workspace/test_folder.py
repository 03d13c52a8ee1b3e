"""The confinement of workspace/folder.py: what leads out is not read, and nothing makes a reader wait."""

import asyncio
import errno
import os
import socket
import threading
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.workspace import folder as folder_module
from jury_adapters.workspace.folder import Folder, Missing, Unreadable, WorkspaceJudge, inside, matches_any


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "secret.txt").write_text("the key")
    (tmp_path / "work").mkdir()
    return Folder.at(tmp_path / "work", "workspace")


@contextmanager
def without_rights():
    """Inside, this process may read no more than a stranger."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize(
    "path", ["../secret.txt", "/etc/passwd", "a/../../secret.txt", "..", "./../work/../secret.txt"]
)
def test_a_path_that_leads_out_is_refused_when_built_and_when_read(folder, path):
    with pytest.raises(ConfigurationError, match="leads out of the workspace"):
        inside(path, "AJudge")
    with pytest.raises(Unreadable, match="leads out of the workspace"):
        folder.read(path)


@pytest.mark.parametrize("path", ["", "a\0b", None, 3])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(ConfigurationError, match="needs the path of a file"):
        inside(path, "AJudge")


def test_links_are_followed_inside_and_not_out(folder):
    root = folder.root
    (root / "a.txt").write_text("mine")
    (root / "inner").symlink_to("a.txt")
    (root / "absolute").symlink_to(root / "a.txt")
    (root / "out").symlink_to("../secret.txt")
    (root / "chain").symlink_to("out")
    (root / "folder").symlink_to("..")
    (root / "beside").symlink_to("../work-2")
    (root.parent / "work-2").write_text("begins like the workspace")
    assert folder.read("inner") == folder.read("absolute") == b"mine"
    for path in ("out", "chain", "folder/secret.txt", "beside"):
        with pytest.raises(Unreadable, match="link that leads out") as caught:
            folder.read(path)
        assert not caught.value.exists


def test_a_link_in_a_circle_and_a_broken_one_are_files_that_are_not_there(folder):
    (folder.root / "circle").symlink_to("circle")
    (folder.root / "broken").symlink_to("nothing")
    (folder.root / "file").write_text("")
    for path, reason in [
        ("circle", "leads in a circle"),
        ("broken", "does not exist"),
        ("file/x", "a part of it is a file"),
        ("x" * 300, "too long"),
    ]:
        with pytest.raises(Unreadable, match=reason):
            folder.read(path)


def test_pipes_sockets_devices_and_folders_are_no_files(folder, monkeypatch):
    os.mkfifo(folder.root / "pipe")
    (folder.root / "dir").mkdir()
    monkeypatch.chdir(folder.root)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        for path, kind in [("pipe", "pipe"), ("socket", "socket"), ("dir", "directory")]:
            with pytest.raises(Unreadable, match=f"is a {kind}, not a file"):
                folder.read(path)
        assert list(folder.files()) == []
    with pytest.raises(Unreadable, match="is a device, not a file"):
        Folder.at("/dev", "workspace").read("null")


def test_a_file_without_end_is_not_read_to_its_end(folder):
    with (folder.root / "huge").open("wb") as file:
        file.truncate(1 << 40)  # a terabyte that takes no room
    with pytest.raises(Unreadable, match="larger than 1000 bytes") as caught:
        folder.read("huge", 1000)
    assert caught.value.exists
    (folder.root / "fits").write_bytes(b"x" * 1000)
    assert len(folder.read("fits", 1000)) == 1000


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"caf\xe9", b"\xed\xa0\x80"])
def test_text_in_another_encoding_is_there_and_not_readable(folder, content):
    (folder.root / "a").write_bytes(content)
    with pytest.raises(Unreadable, match="is not utf-8 text") as caught:
        folder.read_text("a")
    assert caught.value.exists


@pytest.mark.slow
def test_a_folder_that_turns_into_a_link_while_the_file_is_opened_is_noticed(folder):
    """An agent that still runs swaps a folder for a link, over and over; the file outside is never read."""
    root = folder.root
    (root / "real").mkdir()
    (root / "real" / "secret.txt").write_text("mine")
    (root / "way").symlink_to("real")
    stop = threading.Event()

    def swap():
        for n in range(1_000_000):
            if stop.is_set():
                return
            (root / "next").symlink_to(("real", "..")[n % 2])
            (root / "next").rename(root / "way")

    attacker = threading.Thread(target=swap)
    attacker.start()
    try:
        seen = set()
        for _ in range(1500):
            try:
                seen.add(folder.read("way/secret.txt"))
            except Unreadable:
                seen.add(None)
    finally:
        stop.set()
        attacker.join()
    assert seen <= {b"mine", None}


def test_a_file_becoming_a_link_after_it_was_looked_up_is_not_followed(folder):
    (folder.root / "link").symlink_to("../secret.txt")
    with pytest.raises(OSError, match="not a regular file"):
        folder_module._opened(folder.root, ("link",))
    (folder.root / "up").symlink_to("..")
    with pytest.raises(OSError):  # noqa: PT011  the number differs between systems
        folder_module._opened(folder.root, ("up", "secret.txt"))


def test_what_is_listed_is_regular_and_inside(folder):
    root = folder.root
    (root / "b" / "c").mkdir(parents=True)
    for name in ("a.txt", "b/x.log", "b/c/y.txt", ".hidden"):
        (root / name).write_text("")
    (root / "to a").symlink_to("a.txt")
    (root / "out").symlink_to("../secret.txt")
    (root / "loop").symlink_to(".")
    os.mkfifo(root / "pipe")
    assert sorted(folder.files()) == [".hidden", "a.txt", "b/c/y.txt", "b/x.log", "to a"]
    assert sorted(folder.files(["*.log", "c"])) == [".hidden", "a.txt", "to a"]


def test_more_files_than_anybody_compares_are_an_error(folder, monkeypatch):
    monkeypatch.setattr(folder_module, "_MOST_ENTRIES", 3)
    for name in "abcd":
        (folder.root / name).touch()
    with pytest.raises(Unreadable, match="more than 3 files"):
        list(folder.files())


@pytest.mark.parametrize(
    ("path", "pattern", "matches"),
    [
        ("a/b.log", "*.log", True),
        ("a/b.log", "a", True),
        ("a/b.log", "a/", True),
        ("a/b/c.txt", "a/b", True),
        ("x/a/b", "a/b", False),
        ("a/b.log", "/a/*.log", True),
        ("ab/c", "a", False),
        ("a/B.LOG", "*.log", False),
    ],
)
def test_patterns(path, pattern, matches):
    assert matches_any(path, [pattern]) is matches


@given(st.text())
def test_no_path_ever_reaches_out(path):
    root = Path(__file__).resolve().parent
    try:
        found = Folder(root).locate(inside(path, "AJudge"))
    except (ConfigurationError, Unreadable, UnicodeEncodeError):
        return
    assert found.is_relative_to(root)


@pytest.mark.parametrize(
    ("path", "reason"),
    [(None, "there is no workspace"), ("/no/such", "does not exist"), (__file__, "is not a folder")],
)
def test_no_workspace_is_missing(path, reason):
    with pytest.raises(Missing, match=reason):
        Folder.at(path, "workspace")


class Where(WorkspaceJudge):
    """Says in which thread it works."""

    def inspect(self, case, folder):
        return Judgment(Status.PASS, reasoning=threading.current_thread().name)


def test_a_judge_works_here_or_beside_the_event_loop(folder):
    case = Case(workspace=folder.root)
    here = threading.current_thread().name
    assert Where().judge(case).reasoning == here
    assert asyncio.run(Where().ajudge(case)).reasoning != here
    assert (Where() & Where()).judge(case).judgments[0].reasoning == here


def test_a_folder_without_rights_is_an_error_and_not_an_opinion(folder):
    (folder.root / "locked").mkdir(mode=0o000)
    with without_rights(), pytest.raises(OSError, match="ermission denied"):
        folder.read("locked/a.txt")
    (folder.root / "locked").chmod(0o700)


def test_a_file_without_rights_is_there_and_not_readable():
    with TemporaryDirectory() as root:
        Path(root).chmod(0o755)
        (Path(root) / "locked").touch(mode=0o000)
        with without_rights(), pytest.raises(Unreadable, match="ermission denied") as caught:
            Folder.at(root, "workspace").read("locked")
    assert caught.value.exists


def test_a_link_that_becomes_a_file_while_it_is_looked_at_does_not_exist(tmp_path, monkeypatch):
    def realpath(path, *, strict):  # as it does then; a real swap hits this moment too rarely
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)

    folder = Folder.at(tmp_path, "workspace")
    monkeypatch.setattr(os.path, "realpath", realpath)
    with pytest.raises(Unreadable, match=r"'inner/a\.txt' does not exist: it changed"):
        folder.find("inner/a.txt", "file")


def test_a_file_that_is_deleted_while_it_is_looked_at_does_not_exist(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("soon gone")
    folder = Folder.at(tmp_path, "workspace")
    found = os.path.realpath

    def realpath(path, *, strict):
        real = found(path, strict=strict)
        Path(real).unlink()
        return real

    monkeypatch.setattr(os.path, "realpath", realpath)
    with pytest.raises(Unreadable, match=r"'a\.txt' does not exist any more"):
        folder.read("a.txt")
