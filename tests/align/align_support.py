"""Simulated models whose errors depend on a missing example, or on an unclear criterion; and cases with labels.

The models read the real prompt. The truth of a case stands in its answer, as a word that only the simulation knows.
"""

import json
import re
from random import Random

from jury_adapters import Case, Rubric, Usage
from jury_adapters.models.base import Reply

KINDS = ("refund", "delivery", "opening hours")
CLEARER = "An answer that promises a refund without a date is not helpful."
RUBRIC = Rubric(name="helpful", criteria="The answer is helpful for the customer of the shop.")


def labelled(count=200, seed=1):
    """Return cases with human labels."""
    random = Random(f"cases {seed}")
    found = []
    for number in range(count):
        good, kind = random.random() < 0.5, random.choice(KINDS)
        words = " ".join(random.choice(("blue", "green", "large", "small")) for _ in range(4))
        answer = f"About {kind}, number {number}: {words}. ({'good' if good else 'poor'})"
        found.append(
            Case(id=f"{number}", question=f"What about {kind}?", answer=answer, metadata={"human_label": good})
        )
    return found


class LearningModel:
    """Model that judges well only with an example of the kind (`examples`), or with clear criteria (`criteria`)."""

    def __init__(self, kind, seed=1, down=()):
        self.name = self.model = self.identity = f"simulated {kind} {seed}"
        self.kind, self.seed, self.down = kind, seed, down
        self.prompts = []

    def price(self, input_tokens, output_tokens):
        return 0.0

    async def complete(self, prompt, schema=None, options=None):
        self.prompts.append(prompt)
        asked = prompt.turns[-1].text
        if len(self.prompts) in self.down:
            raise ConnectionError("the vendor is down")
        if "The criteria in use" in asked:
            return reply(criteria=f"{RUBRIC.criteria} {CLEARER}")
        number = re.findall(r"number (\d+)", asked)[-1]
        skilled = {
            "examples": kind_of(asked) in {kind_of(turn.text) for turn in prompt.turns[:-1:2]},
            "criteria": CLEARER in prompt.system,
        }.get(self.kind, False)
        luck = Random(f"{self.seed} {number} {skilled} {len(prompt.turns) if self.kind == 'luck' else ''}").random()
        says_good = ("(good)" in asked) is (luck < (0.95 if skilled else 0.65))
        if self.kind == "ratings":
            return reply(reasoning="-", answer=4 if "(good)" in asked else 3, confidence=0.9)
        return reply(reasoning="-", answer="YES" if says_good else "NO", confidence=0.9)


def reply(**content):
    return Reply(json.dumps(content), usage=Usage(calls=1))


def kind_of(text):
    return next((kind for kind in KINDS if kind in text), None)
