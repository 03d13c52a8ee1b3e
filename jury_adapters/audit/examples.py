"""Invented cases with right answers, which come with the package."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

from jury_adapters.core.case import Case


@cache
def example_cases() -> tuple[Case, ...]:
    """Return the cases that come with the package: questions, passages, and answers that the passages support.

    The places, people and products are invented, so no model knows them from elsewhere. The answers have many numbers,
    dates, names, negations and comparisons for :mod:`jury_adapters.audit` to change.

    >>> example_cases()[0].metadata["id"]
    'aldermoor-pool'
    """
    text = resources.files(__package__).joinpath("cases.jsonl").read_text(encoding="utf-8")
    return tuple(Case.from_row(json.loads(line)) for line in text.splitlines())
