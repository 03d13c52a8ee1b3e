"""Runs without a common case."""

from jury_adapters import Case, Judgment, Report
from jury_adapters.statistics import compare_unpaired


def run(name, *, passed, failed, undecided=0):
    verdicts = [
        *[Judgment("PASS", critic="tone")] * passed, *[Judgment("FAIL", critic="tone")] * failed,
        *[Judgment("ABSTAIN", critic="tone", reasoning="no answer")] * undecided,
    ]  # fmt: skip
    return Report.from_results(
        [(Case(question=f"{name} {at}?", answer="Yes."), verdict) for at, verdict in enumerate(verdicts)]
    )


def test_cases_that_are_not_decided_are_not_said_to_be_compared():
    compared = run("may", passed=30, failed=6, undecided=24).compare(run("june", passed=40, failed=10))
    assert "60 cases of a (36 decided) and 50 of b are compared as independent samples" in str(compared)
    assert "a decides 60.0 % of its cases and b 100.0 %, and the difference is that of the decided" in str(compared)
    assert (compared.found.details["coverage_a"], compared.found.details["coverage_b"]) == (0.6, 1.0)
    assert compared.decided == 86


def test_nothing_is_said_of_what_is_decided_where_all_cases_are():
    text = str(run("may", passed=30, failed=6).compare(run("june", passed=1_240, failed=10)))
    assert "36 cases of a and 1,250 of b are compared as independent samples" in text
    assert "decides" not in text


def test_verdicts_alone_are_warned_of_in_the_same_way():
    found = compare_unpaired([1] * 40 + [None] * 40, [0] * 40)
    assert found.warnings == (
        "a decides 50.0 % of its cases and b 100.0 %, and the difference is that of the decided cases; the others may "
        "differ more",
    )


def test_shared_groups_are_counted_also_where_there_are_few_cases():
    groups = [f"street {at // 2}" for at in range(16)]
    found = compare_unpaired([1, 0] * 8, [1] * 16, groups_a=groups, groups_b=groups[2:] + ["park"] * 2)
    assert found.warnings == (
        "it rests on 16 items only, so it can move a lot with the next few",
        "7 groups are in a and in b, so the interval is wider than it needs to be",
    )
