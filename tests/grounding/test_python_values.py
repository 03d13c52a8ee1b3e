"""Contexts that Python wrote of values, as the tools of an agent return them: dates, times and amounts."""

import datetime
from decimal import Decimal

import pytest

from jury_adapters import Status
from jury_adapters.checks import NamesAndNumbers, SentenceSupport
from jury_adapters.grounding.normalisation import tidy

UTC = datetime.UTC
CLAIM = {"opened": datetime.date(2026, 10, 2), "amount": Decimal("1840.50"), "state": "open"}
SEEN = datetime.datetime(2026, 10, 2, 14, 30, 15, 120000, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (datetime.date(2026, 10, 2), "2026-10-02"),
        (datetime.datetime(2026, 10, 2, 14, 30), "2026-10-02 14:30"),
        (datetime.datetime(2026, 10, 2, 0, 0), "2026-10-02 00:00"),
        (datetime.datetime(2026, 10, 2, 14, 30, 5), "2026-10-02 14:30:05"),
        (datetime.datetime(2026, 10, 2, 14, 30, 5, 7), "2026-10-02 14:30:05"),
        (datetime.datetime(2026, 10, 2, 9, 5, tzinfo=UTC), "2026-10-02 09:05, tzinfo=datetime.timezone.utc)"),
        (datetime.time(9, 30), "09:30"),
        ([datetime.date(2026, 10, 2)], "[2026-10-02]"),
    ],
)
def test_dates_and_times_of_python_are_read(value, text):
    assert tidy(repr(value)) == text


@pytest.mark.parametrize("text", ["datetime.date(2026, 13, 2)", "my.date(2026, 10, 2)", "datetime.date(today)"])
def test_other_calls_stay(text):
    assert tidy(text) == text


@pytest.mark.parametrize(
    ("answer", "flagged"),
    [
        ("It was opened on 2 October 2026 and amounts to 1,840.50 euros.", []),
        ("It was opened on October 2nd, 2026.", []),
        ("It was opened on 02.10.2026.", []),
        ("It was opened in October 2026.", []),
        ("It was opened on 3 October 2026.", ["number: 3 October 2026"]),
        ("It was opened on 2 November 2026.", ["number: 2 November 2026"]),
        ("It was opened on 2 October 2025.", ["number: 2 October 2025"]),
        ("It amounts to 1,850.40 euros.", ["number: 1,850.40 euros"]),
    ],
)
def test_a_date_in_the_answer_is_compared_with_a_date_of_a_tool(answer, flagged):
    judged = NamesAndNumbers().judge(question="When was it opened?", answer=answer, contexts=[str(CLAIM)])
    assert [finding.name for finding in judged.findings] == flagged


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("It was seen on 2 October 2026 at 14:30.", Status.ABSTAIN),
        ("It was seen at 2:30 pm on October 2.", Status.ABSTAIN),
        ("It was seen at 14:30:15.", Status.ABSTAIN),
        ("It was seen at 15:30.", Status.FAIL),
        ("It was seen on 2 October 2026 at 2:30 am.", Status.FAIL),
        ("It was seen on 10 February 2026.", Status.FAIL),
    ],
)
@pytest.mark.parametrize("written", [repr(SEEN), SEEN.isoformat(), str(SEEN), SEEN.strftime("%Y-%m-%dT%H:%M:%SZ")])
def test_a_time_in_the_answer_is_compared_with_a_time_of_a_tool(answer, status, written):
    contexts = [f"{{'claim': 'CL-9', 'seen': {written}}}"]
    judged = NamesAndNumbers().judge(question="When was it seen?", answer=answer, contexts=contexts)
    assert judged.status is status, judged.reasoning


def test_support_reads_a_date_of_a_tool_as_its_iso_form():
    contexts = ["{'claim opened': datetime.date(2026, 10, 2)}"]
    found = SentenceSupport(threshold=0.6)
    assert found.judge(answer="Claim opened: 2026-10-02", contexts=contexts).score == 1.0
    assert found.judge(answer="Claim opened: 2025-11-03", contexts=contexts).status is Status.FAIL
