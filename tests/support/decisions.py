"""Tests of OpenAI's decision endpoint need an SDK that has it; the oldest we promise to work with does not."""

import openai
import pytest

needs_decisions = pytest.mark.skipif(
    not hasattr(openai.AsyncOpenAI, "decisions"), reason="the installed openai has no client.decisions"
)
