"""A real PostgreSQL server for tests, in a folder of its own, which can be killed and brought back."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

_SETTINGS = "shared_buffers = 64MB\nmax_connections = 60\n"


class PostgresServer:
    """A server on a loopback port, with an empty database ``juries``; what it holds is deleted at the end.

    The program is that of Debian's package ``postgresql``. It refuses to run as root, so root runs it as the user
    ``postgres``.

    Args:
        fsync: whether it waits for the disk. Without it a kill still loses nothing, only a power cut would.

    >>> with PostgresServer() as server:  # doctest: +SKIP
    ...     store = open_store(server.url)
    """

    def __init__(self, *, fsync: bool = True) -> None:
        self._fsync = fsync
        self._bin = _binaries()
        self._folder = Path(tempfile.mkdtemp(prefix="jury-postgres-"))
        self._data = self._folder / "data"
        self.port = _free_port()
        self.password = "s3cr3t-pa55word"
        self.url = f"postgresql+psycopg://judge:{self.password}@127.0.0.1:{self.port}/juries"

    def start(self) -> None:
        """Start it; returns when it takes connections."""
        self._run("pg_ctl", "-D", self._data, "-w", "-t", "60", "-l", self._folder / "log", "start")

    def kill(self) -> None:
        """End it at once, as a crash does: no connection is told, and the next start recovers from the log."""
        self._run("pg_ctl", "-D", self._data, "-m", "immediate", "stop")

    def sql(self, *statements: str, database: str = "juries", user: str = "owner") -> str:
        """Return what ``psql`` prints for statements, as the server's superuser or another user."""
        commands = [part for statement in statements for part in ("-c", statement)]
        return self._run(
            "psql",
            "-h",
            self._folder,
            "-p",
            self.port,
            "-U",
            user,
            "-v",
            "ON_ERROR_STOP=1",
            "-Atq",
            *commands,
            database,
        )

    def database(self, name: str) -> str:
        """A new and empty database; its URL."""
        self.sql(f"CREATE DATABASE {name} OWNER judge", database="postgres")
        return self.url.replace("/juries", f"/{name}")

    def __enter__(self) -> Self:
        self._folder.chmod(0o755)
        if os.geteuid() == 0:
            shutil.chown(self._folder, "postgres")
        try:
            self._run("initdb", "-D", self._data, "-U", "owner", "-A", "trust", "-E", "UTF8", "--no-sync")
            with (self._data / "postgresql.conf").open("a") as conf:
                conf.write(f"{_SETTINGS}fsync = {self._fsync}\nport = {self.port}\n")
                conf.write(f"unix_socket_directories = '{self._folder}'\n")
            (self._data / "pg_hba.conf").write_text(
                "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n", encoding="utf-8"
            )
            self.start()
            self.sql(f"CREATE ROLE judge LOGIN PASSWORD '{self.password}'", database="postgres")
            self.sql("CREATE DATABASE juries OWNER judge", database="postgres")
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remove()

    def _remove(self) -> None:
        if (self._data / "postmaster.pid").exists():
            self.kill()
        shutil.rmtree(self._folder)

    def _run(self, program: str, *arguments: object) -> str:
        # Its output goes to a file and not to a pipe: a server that was started would hold the pipe open.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(
                [str(self._bin / program), *map(str, arguments)],
                check=False, stdout=output, stderr=subprocess.STDOUT, cwd="/", preexec_fn=_as_postgres, timeout=120,
            )  # fmt: skip
            output.seek(0)
            said = output.read()
        assert done.returncode == 0, f"{program}: {said}"
        return said.strip()


def _as_postgres() -> None:
    """Root becomes the user ``postgres``; everybody else stays."""
    if os.geteuid() == 0:
        user = pwd.getpwnam("postgres")
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)


def _binaries() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    assert found, "no PostgreSQL server: apt-get install postgresql"
    return found[-1].parent


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
