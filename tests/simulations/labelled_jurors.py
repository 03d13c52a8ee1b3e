"""Simulated models whose errors depend on missing examples or on an unclear criterion, and cases with labels.

The models read the real prompt of a critic. The truth of a case stands in its answer, as a word that only the
simulation knows; the kind of a case is what a model may have to learn.
"""

from __future__ import annotations

import json
import re
from random import Random

from jury_adapters import Case, Critic, Ensemble, Judge, Rubric, Scale, Usage
from jury_adapters.models.base import Options, Prompt, Reply

KINDS = ("refund", "delivery", "opening hours")
CLARIFICATION = "An answer that promises a refund without a date is not met."
RUBRIC = Rubric(name="helpful", criteria="The answer is helpful for the customer of the shop.\n")
RATED = RUBRIC.model_copy(update={"answers": Scale(minimum=0, maximum=10, pass_mark=5)})
THRESHOLDS = {"low threshold": 0.5, "right threshold": 0.65}
"""Kinds of juries that vote on ratings: of right answers some 7.3, of wrong ones some 5.7."""


def jury_of(kind: str, seed: int) -> tuple[Judge, LearningModel]:
    """Return a judge of one kind, and its model or the first one."""
    if kind in THRESHOLDS:
        models = [LearningModel(kind, 1000 * seed + number) for number in range(3)]
        jurors = {model.name: Critic(model, RATED) for model in models}
        return Ensemble(jurors, voting="average", threshold=THRESHOLDS[kind]), models[0]
    model = LearningModel(kind, seed)
    return Critic(model, RUBRIC, name="critic"), model


def labelled(count: int, seed: int) -> list[Case]:
    """Return cases with the labels of people."""
    random = Random(f"cases|{seed}")
    return [_case(random, number) for number in range(count)]


class LearningModel:
    """Model with a skill that depends on its prompt.

    Args:
        kind: ``"examples"``: it is good at a kind of case of which the prompt has an example; ``"criterion"``: it is
            good if the criteria have :data:`CLARIFICATION`; ``"fixed"``: nothing helps it; one of
            :data:`THRESHOLDS`: it gives ratings.
        seed: seed of its errors.
    """

    def __init__(self, kind: str, seed: int) -> None:
        self.name = self.model = f"simulated {kind} {seed}"
        self._kind = kind
        self._seed = seed

    async def complete(self, prompt: Prompt, schema: object = None, options: Options = Options()) -> Reply:
        asked, earlier = prompt.turns[-1].text, " ".join(turn.text for turn in prompt.turns[:-1])
        if "Write the criteria anew" in asked:
            return _reply(criteria=f"{RUBRIC.criteria.strip()} {CLARIFICATION}")
        if self._kind in THRESHOLDS:
            rating = Random(f"{self._seed}|{asked[-200:]}").gauss(7.3 if "(good)" in asked else 5.7, 1.0)
            return _reply(reasoning="", answer=max(0, min(10, round(rating))), confidence=0.8)
        match self._kind:
            case "examples":
                skilled = _kind_of(asked) in {_kind_of(turn.text) for turn in prompt.turns[:-1:2]}
            case "criterion":
                skilled = CLARIFICATION in prompt.system + asked
            case _:
                skilled = False
        random = Random(f"{self._seed}|{asked[-200:]}|{skilled}|{len(earlier) if self._kind == 'fixed' else ''}")
        right = random.random() < (0.95 if skilled else 0.65)
        says_good = ("(good)" in asked) is right
        return _reply(reasoning="", answer="YES" if says_good else "NO", confidence=0.8)


def _case(random: Random, number: int) -> Case:
    good = random.random() < 0.5
    kind = random.choice(KINDS)
    words = " ".join(random.choice(("blue", "green", "large", "small", "old", "new")) for _ in range(6))
    answer = f"About {kind}, number {number}: {words} {random.randrange(10**6)}. ({'good' if good else 'poor'})"
    return Case(question=f"What about {kind}?", answer=answer, metadata={"gold": "PASS" if good else "FAIL"})


def _reply(**content: object) -> Reply:
    return Reply(json.dumps(content), usage=Usage(100, 20, calls=1))


def _kind_of(text: str) -> str | None:
    found = re.search("|".join(KINDS), text)
    return found[0] if found else None
