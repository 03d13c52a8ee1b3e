"""Fixtures that the tests of the command share."""

import pytest


@pytest.fixture(autouse=True)
def no_width_of_the_test_runner(monkeypatch):
    """Worker processes of pytest-xdist set COLUMNS; without it, output is as wide as for a user who pipes it."""
    monkeypatch.delenv("COLUMNS", raising=False)
