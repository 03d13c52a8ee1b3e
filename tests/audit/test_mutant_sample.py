"""The sample of changed answers that was read: it is that of the operators, and few of them are invalid."""

import json
from collections import Counter

import pytest

from jury_adapters.audit import OPERATORS
from tests.tools.sample_of_mutants import MOST, READ, sample

ROWS = [json.loads(line) for line in READ.read_text(encoding="utf-8").splitlines()]
DEFAULTS = [operator for operator in OPERATORS if operator.default]


@pytest.mark.corpus
@pytest.mark.parametrize("operator", DEFAULTS, ids=lambda one: one.name)
def test_the_sample_that_was_read_is_that_of_the_operator(operator):
    read = [
        {name: row[name] for name in ("operator", "case", "change", "new")}
        for row in ROWS
        if row["operator"] == operator.name
    ]
    assert read == sample(operator)


@pytest.mark.parametrize("operator", DEFAULTS, ids=lambda one: one.name)
def test_at_most_three_per_cent_are_invalid_or_equivalent(operator):
    verdicts = Counter(row["verdict"] for row in ROWS if row["operator"] == operator.name)
    assert set(verdicts) <= {"valid", "invalid", "equivalent"}
    assert 0 < verdicts.total() <= MOST
    assert verdicts["invalid"] + verdicts["equivalent"] <= 0.03 * verdicts.total()
