"""Fixture of the tests of jury files: an environment with keys and without proxies."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))

SECRET = "environment-secret-0123456789"


@pytest.fixture(autouse=True)
def secrets(monkeypatch):
    """Every variable with a key, and all that an SDK would send, holds a secret."""
    from jury_adapters.models.vendors import VENDORS

    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    keys = [vendor.key_variable for vendor in VENDORS.values() if vendor.key_variable]
    for name in [*keys, "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY", "ANTHROPIC_AUTH_TOKEN"]:
        monkeypatch.setenv(name, SECRET)
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, f"x-secret: {SECRET}")
    return SECRET
