"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from jury_adapters.core.whole_file import whole_file, write_whole

ROOT = os.geteuid() == 0


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_there_when_it_is_whole_and_nothing_else_is_left(tmp_path: Path):
    path = tmp_path / "new.txt"
    with whole_file(path) as file:
        file.write(b"one ")
        assert not path.exists()
        file.write(b"two")
    assert path.read_text() == "one two"
    assert [*tmp_path.iterdir()] == [path]


def write_half(path: Path, problem: type[BaseException]) -> None:
    with whole_file(path) as file:
        file.write(b"half")
        raise problem


@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt, SystemExit])
def test_the_earlier_file_stays_when_the_new_one_fails(tmp_path: Path, problem):
    path = tmp_path / "old.txt"
    path.write_text("precious")
    with pytest.raises(problem):
        write_half(path, problem)
    assert path.read_text() == "precious"
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.slow
def test_a_reader_sees_the_earlier_file_or_the_new_one_and_never_a_part(tmp_path: Path):
    path = tmp_path / "page.html"
    write_whole(path, "0" * 300_000)
    done = threading.Event()
    seen: set[tuple[int, str]] = set()

    def read() -> None:
        while not done.is_set():
            text = path.read_text()
            seen.add((len(text), "".join(sorted(set(text)))))

    readers = [threading.Thread(target=read) for _ in range(2)]
    writers = [
        threading.Thread(target=lambda n=n: [write_whole(path, str(n) * 300_000) for _ in range(10)]) for n in (1, 2)
    ]
    for thread in (*readers, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    for thread in readers:
        thread.join()
    assert seen <= {(300_000, str(n)) for n in range(3)}
    assert [*tmp_path.iterdir()] == [path]


def test_the_new_file_has_the_permissions_of_the_earlier_one_before_it_has_any_content(tmp_path: Path):
    path = tmp_path / "private.txt"
    path.write_text("old")
    path.chmod(0o600)
    with whole_file(path) as file:
        (scratch,) = set(tmp_path.iterdir()) - {path}
        assert mode(scratch) == 0o600
        file.write(b"new")
    assert (path.read_text(), mode(path)) == ("new", 0o600)


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_first_file_has_the_permissions_that_the_user_has_set(tmp_path: Path, mask: int):
    code = "import os, sys; os.umask(int(sys.argv[2])); from jury_adapters.core.whole_file import write_whole; "
    code += "write_whole(sys.argv[1], 'x')"
    path = tmp_path / "a.txt"
    subprocess.run([sys.executable, "-c", code, str(path), str(mask)], check=True)
    assert mode(path) == 0o666 & ~mask


def test_the_new_file_has_the_owner_and_the_group_of_the_earlier_one(tmp_path: Path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    # Only root may give files away; others may give them to each of their groups.
    owners = [(12345, 12346)] if ROOT else [(os.geteuid(), group) for group in os.getgroups() or [os.getegid()]]
    for user, group in owners:
        os.chown(path, user, group)
        write_whole(path, "new")
        assert (path.stat().st_uid, path.stat().st_gid, path.read_text()) == (user, group, "new")


@pytest.mark.parametrize("there", [True, False])
def test_a_link_goes_on_leading_to_the_file(tmp_path: Path, there: bool):
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "page.html", tmp_path / "link.html"
    if there:
        target.write_text("old")
    link.symlink_to(Path("elsewhere") / "page.html")
    write_whole(link, "new")
    assert link.is_symlink()
    assert (target.read_text(), not target.is_symlink()) == ("new", True)
    assert [*target.parent.iterdir()] == [target]


def test_devices_and_pipes_are_written_directly(tmp_path: Path):
    write_whole("/dev/null", "x")
    assert Path("/dev/null").is_char_device()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    write_whole(pipe, "through")
    reader.join()
    assert found == ["through"]
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", ["none/a.txt", "folder", "file/a.txt"])
def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path, name: str):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=name):
        write_whole(tmp_path / name, "x")


AS_A_USER = """
import os, sys
from jury_adapters.core.whole_file import write_whole
if os.geteuid() == 0:  # who may do everything
    os.setgid(65534); os.setuid(65534)
try:
    write_whole(sys.argv[1], "new")
except OSError as error:
    print(type(error).__name__, error.filename)
"""


def as_a_user(path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", AS_A_USER, str(path)], capture_output=True, text=True, check=True, cwd="/"
    )
    return done.stdout.strip()


@pytest.mark.slow
def test_what_may_not_be_written_is_refused_and_what_may_is_written():
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to other users
        check_permissions(Path(folder))


def check_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o444)
    tmp_path.chmod(0o777)
    assert as_a_user(path) == f"PermissionError {path}"  # a file to read only, in a folder that may be written
    tmp_path.chmod(0o755)
    assert as_a_user(tmp_path / "b.txt") == f"PermissionError {tmp_path / 'b.txt'}"
    path.chmod(0o666)
    assert as_a_user(path) == ""  # a file to write, in a folder that takes no new files
    assert path.read_text() == "new"
    assert [*tmp_path.iterdir()] == [path]
