"""Helpers of the tests of batches."""

from pathlib import Path
from typing import Any

from jury_adapters import Case, Critic
from jury_adapters.batch_api import BatchModel
from jury_adapters.testing import a_case
from support.batch_vendor import BatchServer

KEY = "sk-test-0123456789abcdefghij"
NAMES = {"openai": "openai:gpt-4o-mini", "anthropic": "anthropic:claude-haiku-4-5"}


def batch_model(server: BatchServer, folder: Path, vendor: str = "openai", **options: Any) -> BatchModel:
    """A model in batches that lingers hardly; where it matters what is in a batch, give `max_requests`."""
    pace = {"batch_window_s": 0.03, "poll_s": 0.01, "timeout_s": 60.0} | options
    return BatchModel(NAMES[vendor], folder=folder, base_url=server.base_url(vendor), api_key=KEY, **pace)


def batch_critic(server: BatchServer, folder: Path, vendor: str = "openai", **options: Any) -> Critic:
    """A critic whose model is asked in batches."""
    return Critic(batch_model(server, folder, vendor, **options), "faithfulness", name="truth")


def cases(count: int, truth: str = "YES") -> list[Case]:
    """Cases with this truth."""
    return [a_case(answer=f"Answer {number}. TRUTH={truth}") for number in range(count)]
