"""A real PostgreSQL server for tests, in a folder of its own, which can be killed and brought back."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Self

PASSWORD = "s3cr3t-pa55word"


class PostgresServer:
    """Server on a loopback port; what it holds is deleted at the end.

    The program is that of Debian's package ``postgresql``. It refuses to run as root, so root runs it as the user
    ``postgres``.
    """

    def __init__(self) -> None:
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
        assert found, "no PostgreSQL server: apt-get install postgresql"
        self._bin = found[-1].parent
        self._folder = Path(tempfile.mkdtemp(prefix="jury-postgres-"))
        self._data = self._folder / "data"
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            self.port = int(taken.getsockname()[1])

    def url(self, database: str) -> str:
        """Return the address of a database, with the password of its owner."""
        return f"postgresql://judge:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    def database(self, name: str, options: str = "") -> str:
        """Make an empty database, and return its address."""
        self.sql(f"CREATE DATABASE {name} OWNER judge {options}", database="postgres")
        return self.url(name)

    def start(self) -> None:
        """Start it; returns when it takes connections."""
        self._run("pg_ctl", "-D", self._data, "-w", "-t", "60", "-l", self._folder / "log", "start")

    def kill(self) -> None:
        """End it at once, as a crash does: no connection is told, and the next start recovers from the log."""
        self._run("pg_ctl", "-D", self._data, "-m", "immediate", "stop")

    def sql(self, statement: str, *, database: str) -> str:
        """Return what ``psql`` prints for a statement of the superuser."""
        options = ["-h", self._folder, "-p", self.port, "-U", "owner", "-v", "ON_ERROR_STOP=1", "-Atq"]
        return self._run("psql", *options, "-c", statement, database)

    def __enter__(self) -> Self:
        self._folder.chmod(0o755)
        if os.geteuid() == 0:
            shutil.chown(self._folder, "postgres")
        self._run("initdb", "-D", self._data, "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        with (self._data / "postgresql.conf").open("a") as conf:
            conf.write(f"fsync = off\nmax_connections = 60\nport = {self.port}\n")
            conf.write(f"unix_socket_directories = '{self._folder}'\n")
        (self._data / "pg_hba.conf").write_text("local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
        self.start()
        self.sql(f"CREATE ROLE judge LOGIN PASSWORD '{PASSWORD}'", database="postgres")
        return self

    def __exit__(self, *_: object) -> None:
        if (self._data / "postmaster.pid").exists():
            self.kill()
        shutil.rmtree(self._folder)

    def _run(self, program: str, *arguments: object) -> str:
        # Its output goes to a file and not to a pipe: a server that was started would hold the pipe open.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(
                [str(self._bin / program), *map(str, arguments)],
                check=False,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd="/",
                preexec_fn=_as_postgres,
                timeout=120,
            )
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
