"""What the tests of the command share."""

import pytest


@pytest.fixture(autouse=True)
def no_width_of_the_test_runner(monkeypatch):
    """Worker processes of pytest-xdist set COLUMNS; output has the width it has for a user who pipes it."""
    monkeypatch.delenv("COLUMNS", raising=False)
