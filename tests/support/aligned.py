"""Juries that were aligned with human labels, with their models behind the local server."""

from __future__ import annotations

import json
from functools import partial

from jury_adapters import Case, Critic, Ensemble, Rubric, Scale
from jury_adapters.align import Alignment, align
from jury_adapters.voting import Average
from support.vendor import Act, Ask, VendorServer

KINDS = ("examples", "threshold")
RATED = Rubric(
    name="helpful", criteria="The answer helps.", answers=Scale(minimum=0, maximum=10, pass_mark=5),
    requires=("question", "answer"),
)  # fmt: skip


def rates(ask: Ask, *, learns: bool) -> Act:
    """Rate right answers 8 and wrong ones 6; a model that learns rates wrong ones 1 after worked examples."""
    asked = ask.body["messages"][-1]["content"]
    rating = 8 if "TRUTH=YES" in asked else 1 if learns and has_examples(ask) else 6
    return Act(text=json.dumps({"reasoning": "", "answer": rating, "confidence": 0.9}))


def has_examples(ask: Ask) -> bool:
    """Return whether the prompt has worked examples: turns of the assistant with an answer."""
    return any(message["role"] == "assistant" for message in ask.body["messages"])


def aligned_by(kind: str, server: VendorServer) -> Alignment:
    """Return an accepted alignment of a jury that passed every answer: by ``"examples"`` or by the ``"threshold"``."""
    server.plan = partial(rates, learns=kind == "examples")
    voting = Average(threshold=0.5) if kind == "threshold" else "majority"
    critics = [
        Critic(model, RATED, base_url=server.openai, api_key="none")
        for model in ("openai:gpt-4o-mini", "openai:gpt-4.1-mini")
    ]
    found = align(Ensemble(critics, voting=voting, name="aligned"), [_labelled(number) for number in range(60)])
    assert found.accepted
    assert (found.threshold is not None) == (kind == "threshold")
    server.asks.clear()
    return found


def _labelled(number: int) -> Case:
    truth, gold = ("NO", "FAIL") if number % 2 else ("YES", "PASS")
    return Case(question=f"Question {number}?", answer=f"Answer {number} TRUTH={truth}", metadata={"gold": gold})
