"""Faults of a store's file, and the judgments that remain in it afterwards."""

from __future__ import annotations

import asyncio
import json
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from jury_adapters import Store
from jury_adapters.store.sqlite import MIGRATIONS, prepare
from jury_adapters.testing import a_case
from tests.reliability.disk_judge import Told, judge, key_of, opinion

JUDGE = Path(__file__).with_name("disk_judge.py")
PAGE, FRAME, LOG_HEAD = 4096, 24 + 4096, 32
ALTER = ("ALTER TABLE judgments ADD COLUMN note TEXT", "CREATE INDEX noted ON judgments (note)")


@dataclass
class Row:
    """A row of the table: one kind of damage, tried several times.

    Attributes:
        damage: what was done.
        trials: how often.
        durable: judgments that were handed out as durable before, over all trials.
        served: of these, how many were served afterwards.
        told: of these, how many were refused with a message instead, by the case or at opening.
        lost: of these, how many were asked for again, or not there: the promise is none.
        wrong: how many were served with another content.
        said: the messages, without what differs from trial to trial.
    """

    damage: str
    trials: int = 0
    durable: int = 0
    served: int = 0
    told: int = 0
    lost: int = 0
    wrong: int = 0
    said: set[str] = field(default_factory=set)

    @property
    def good(self) -> bool:
        """Whether everything durable was served, or refused with a message that says what to do."""
        return (
            self.trials > 0 and self.lost == self.wrong == 0 and self.served + self.told == self.durable
            and (not self.told or bool(self.said)) and all("; " in message for message in self.said)
        )  # fmt: skip

    def add(self, durable: Iterable[int], again: Told) -> None:
        """Count a trial: what was durable, and what judging the same again came to."""
        before = set(durable)
        served, asked = before.intersection(again.kept).difference(again.asked), before.intersection(again.asked)
        self.trials += 1
        self.durable += len(before)
        self.served += len(served)
        self.lost += len(asked)
        self.told += len(before - served - asked)
        self.wrong += len(again.wrong)
        self.said |= {_plain(message) for message in again.said}


def disk_full(count: int = 80) -> Iterator[Row]:
    """A file system without room, and a limit to the size of files; then the same again where there is room."""
    with _folder() as folder:
        row = Row("disk full: a file system of 300 kB" if (mount := _mounting()) else "disk full: a limit of 200 kB")
        (folder / "small").mkdir()
        (folder / "out").mkdir()
        if mount:
            first = _judged(
                folder / "small" / "runs.db", count, before=[*mount, "sh", "-c", _ON_SMALL, str(folder)]
            )  # fmt: skip
        else:
            first = _judged(folder / "out" / "runs.db", count, "--file-limit", "200000")
        assert 0 < len(first.kept) < count, first.kept
        row.said |= {_plain(message) for message in first.said}
        row.add(first.kept, judge(folder / "out" / "runs.db", count))
        yield row


def not_writable(count: int = 30) -> Iterator[Row]:
    """A file, and a folder, in which nothing may be written; then again with the right to."""
    for what, change in (
        ("read-only file", lambda path: path.chmod(0o444)),
        ("read-only folder", lambda path: path.parent.chmod(0o555)),
    ):
        with _folder() as folder:
            path = folder / "runs.db"
            first = judge(path, count)
            path.chmod(0o666)
            folder.chmod(0o777)
            change(path)
            row = Row(what)
            row.add(first.kept, _judged(path, count, "--as-nobody"))
            path.chmod(0o666)
            folder.chmod(0o777)
            row.add(first.kept, judge(path, count))
            yield row


def damaged(count: int = 120, every: int = 1, seed: int = 7) -> Iterator[Row]:
    """Random bytes over each page and within it, the file cut short, emptied, replaced."""
    dice = random.Random(seed)
    with _folder() as folder:
        path = folder / "runs.db"
        kept = judge(path, count).kept
        good = path.read_bytes()
    pages = range(0, len(good) // PAGE, every)

    def over(size: int) -> Iterator[bytes]:
        for page in pages:
            at = page * PAGE + (dice.randrange(PAGE - size) if size < PAGE else 0)
            yield good[:at] + dice.randbytes(size) + good[at + size :]

    yield _trials("random bytes over a page, each page once", kept, over(PAGE))
    yield _trials("64 random bytes somewhere in each page", kept, over(64))
    yield _trials("8 random bytes somewhere in each page", kept, over(8))
    cuts = [*(page * PAGE for page in pages if page), *(dice.randrange(1, len(good)) for _ in pages)]
    yield _trials("cut short, at each page and within", kept, (good[:cut] for cut in cuts))
    yield _trials("replaced by another kind of file", kept, [b"question,answer\n" * 500, bytes(PAGE)])
    yield _trials("replaced by a folder", kept, [None])
    row = Row("emptied while its log has judgments")
    with _folder() as folder:
        first, copy = _crashed(folder, count)
        copy.write_bytes(b"")
        row.add(first.kept, judge(copy, count))
    yield row


def torn_log(commits: int = 24, every: int = 1, seed: int = 7) -> Iterator[Row]:
    """A power cut: the log ends anywhere, or from there on has what was on the disk before."""
    dice = random.Random(seed)
    with _folder() as folder:
        path = folder / "runs.db"
        log, ends = folder / "runs.db-wal", []
        with Store(path) as store:
            for number in range(commits):
                _commit_one(store, number)
                ends.append(log.stat().st_size)
            main, whole = path.read_bytes(), log.read_bytes()
    frames = range(0, (len(whole) - LOG_HEAD) // FRAME + 1, every)
    boundaries = [LOG_HEAD + FRAME * frame for frame in frames]
    between = [min(len(whole), at + dice.randrange(1, FRAME)) for at in (0, *boundaries)]

    def trials(what: str, cuts: list[int], rest: Callable[[int], bytes]) -> Row:
        row = Row(what)
        for cut in cuts:
            complete = [number for number, end in enumerate(ends) if end <= cut]
            with _folder() as folder:
                (folder / "runs.db").write_bytes(main)
                (folder / "runs.db-wal").write_bytes(whole[:cut] + rest(len(whole) - cut))
                again = judge(folder / "runs.db", commits)
            # Exactly those: what was never committed whole is asked for, and not served half.
            assert not again.said, again.said
            assert sorted(set(range(commits)) - set(complete)) == sorted(again.asked), (cut, again.asked)
            row.add(complete, again)
        return row

    yield trials("power cut: the log ends at each frame", boundaries, lambda left: b"")
    yield trials("power cut: the log ends within each frame", between, lambda left: b"")
    yield trials("power cut: zeros from within each frame on", between, bytes)
    yield trials("power cut: other bytes from within each frame on", between, dice.randbytes)


def two_processes(count: int = 60, held_s: float = 1.0) -> Iterator[Row]:
    """Two processes on one store, while a third holds its lock."""
    with _folder() as folder:
        path = folder / "runs.db"
        Store(path).close()
        holder = subprocess.Popen([sys.executable, "-c", _HOLD, str(path), str(held_s)], stdout=subprocess.PIPE)
        assert holder.stdout is not None
        with holder.stdout as told:
            told.readline()
            command = [sys.executable, str(JUDGE), str(path), str(count)]
            both = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
            results = [Told(**json.loads(process.communicate(timeout=60)[0])) for process in both]
        assert holder.wait(timeout=60) == 0
        row = Row("two processes on one store, its lock held by a third")
        for result in results:
            assert not result.said, result.said
            row.add(result.kept, judge(path, count))
        with Store(path) as store:
            assert store.count() == count
        yield row


def other_versions(count: int = 40) -> Iterator[Row]:
    """A store of an older version of the schema, a migration that fails half way, and a store of a newer version."""
    with _folder() as folder:
        path = folder / "runs.db"
        kept = judge(path, count).kept
        failing = Row("older schema, and the migration fails half way")
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            try:
                prepare(connection, path, (*MIGRATIONS, (*ALTER, "CREATE TABLE judgments (id)")))
            except sqlite3.Error as error:
                failing.said.add(f"{error}; the file is as it was")
        failing.add(kept, judge(path, count))
        yield failing
        older = Row("older schema, migrated")
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            prepare(connection, path, (*MIGRATIONS, ALTER))
            there = connection.execute("SELECT count(*) FROM judgments WHERE note IS NULL").fetchone()[0]
        older.trials, older.durable, older.served, older.lost = 1, len(kept), there, len(kept) - there
        yield older
        newer = Row("newer schema")
        newer.add(kept, judge(path, count))
        yield newer


def _trials(damage: str, kept: list[int], contents: Iterable[bytes | None]) -> Row:
    """Judge again with each of these files; None stands for a folder."""
    row = Row(damage)
    for content in contents:
        with _folder() as folder:
            path = folder / "runs.db"
            if content is None:
                path.mkdir()
            else:
                path.write_bytes(content)
            row.add(kept, judge(path, max(kept) + 1))
    return row


def _crashed(folder: Path, count: int) -> tuple[Told, Path]:
    """A store as a process leaves it that is killed: the judgments stand in the log beside the file."""
    path, copy = folder / "runs.db", folder / "copy.db"
    with Store(path) as store:  # as long as one has it open, nobody else moves the log into the file
        store.count()
        first = judge(path, count)
        for end in ("", "-wal"):
            copy.with_name(copy.name + end).write_bytes(path.with_name(path.name + end).read_bytes())
    return first, copy


def _commit_one(store: Store, number: int) -> None:
    asyncio.run(store.put(key_of(number), a_case(question=str(number)), opinion(number)))


def _judged(path: Path, count: int, *options: str, before: Iterable[str] = ()) -> Told:
    """Judge in a process of its own."""
    command = [*before, sys.executable, str(JUDGE), str(path), str(count), *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return Told(**json.loads(done.stdout))


def _mounting() -> list[str]:
    """Command that allows mounts of one's own; empty where the system does not permit them."""
    for command in (["unshare", "-m"], ["unshare", "-Urm"]):
        with tempfile.TemporaryDirectory() as folder:
            mount = [*command, "mount", "-t", "tmpfs", "none", folder]
            if subprocess.run(mount, check=False, capture_output=True).returncode == 0:
                return command
    return []


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="jury-disk-") as folder:
        yield Path(folder)


def _plain(message: str) -> str:
    """The message without the file's name, and without what SQLite says of this or that page."""
    return re.sub(
        r"cannot be used: .*?; ", "cannot be used: ...; ", re.sub(r"\S*jury-disk-\S*", "FILE", message), flags=re.DOTALL
    )


# Mounts a small file system, judges on it, and takes what is there out of it.
_ON_SMALL = 'cd "$0" && mount -t tmpfs -o size=300k none small && "$@" && cp -a small/. out/'
_HOLD = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
time.sleep(float(sys.argv[2]))
connection.execute("COMMIT")
"""
