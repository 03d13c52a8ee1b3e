"""The table of the store in PostgreSQL: ``python tests/reliability/postgres_table.py > docs/reliability/postgres.md``.

Needs a PostgreSQL server's programs (``apt-get install postgresql``) and takes about three minutes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.reliability.postgres_runs import Row, a_jury, all_the_same, each_its_own
from tests.support.postgres import PostgresServer

HEAD = """# The store in PostgreSQL, under load and through crashes

Written by `python tests/reliability/postgres_table.py`, against a real server ({version}) that is started for it.
Eight processes write at once; one judgment in twenty is an ERROR, which is recorded and never served. A kill is
`pg_ctl stop -m immediate`: every connection breaks, uncommitted data is lost, and the server is restarted a
second later. Judgments that were reported as durable before a kill are looked for after it.

| run | kills | put | kept to serve | ERROR rows | lost | doubled or paid again | not recorded | seconds |
|---|--:|--:|--:|--:|--:|--:|--:|--:|"""

FOOT = """
*lost*: reported as durable, but missing or with another content. *doubled or paid again*: two rows where there must be
one, or a request to a model for a durable judgment. *not recorded*: handed out with `store_error`.
"""


def main() -> None:
    """Run everything and print the table; fails when a row is not good."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgments", type=int, default=50_000)
    each = parser.parse_args().judgments // 8
    rows: list[Row] = []
    with PostgresServer() as server:
        print(HEAD.format(version="PostgreSQL " + server.sql("SHOW server_version", database="postgres").split()[0]))
        for run in (
            lambda: each_its_own(server, "own", 8, each),
            lambda: all_the_same(server, "same", 8, each),
            lambda: each_its_own(server, "own_killed", 8, each, kills=3),
            lambda: all_the_same(server, "same_killed", 8, each, kills=3),
            lambda: a_jury(server, "jury", 1000, kills=2),
        ):
            row = run()
            rows.append(row)
            print(
                f"| {row.run} | {row.kills} | {row.put:,} | {row.kept:,} | {row.errors:,} | {row.lost} | {row.doubled} "
                f"| {row.refused} | {row.seconds:.0f} |",
                flush=True,
            )
    print(FOOT, end="")
    assert all(row.good for row in rows), "something was lost, doubled or refused"


if __name__ == "__main__":
    main()
