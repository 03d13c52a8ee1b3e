"""A report of a store in PostgreSQL: its heading is the database's name, and nothing else of the URL."""

import pytest

from jury_adapters import Case, Critic
from jury_adapters.report import Report
from jury_adapters.store import open_store
from tests.support.postgres import PostgresServer


@pytest.mark.postgres
def test_the_password_of_a_store_is_no_heading(server):
    with PostgresServer(fsync=False) as postgres:
        url = f"postgresql+psycopg://judge@127.0.0.1:{postgres.port}/juries?password={postgres.password}"
        critic = Critic("openai:gpt-4o-mini", "faithfulness", name="juror", base_url=server.openai, api_key="k")
        with open_store(url) as store:
            list(critic.judge_many([Case(answer="TRUTH=YES", contexts=["c"])], store=store))
        report = Report.read(url)
    assert report.title == "juries"
    assert postgres.password not in report.to_html()
