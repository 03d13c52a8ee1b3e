"""Panels of recorded jurors: judged in the fast way, they give the verdicts of `judge_many`."""

from copy import deepcopy
from random import Random

import pytest
from support.random_verdicts import RandomVerdicts

from jury_adapters import CascadedJury, Case, Ensemble, Tier
from jury_adapters.critic.recorded_panel import verdicts_of
from jury_adapters.replay import RecordedCritic

NAMES = ("a", "b", "c")


def recorded(**options):
    return [RecordedCritic(name, **options) for name in NAMES]


JURIES = {
    "majority": lambda: Ensemble(recorded(), name="panel"),
    "labels": lambda: Ensemble(recorded(labels={"valid": "pass", "invalid": "fail", "tie": "abstain"})),
    "prices": lambda: Ensemble(recorded(cost=0.02), errors="ignore"),
    "weights": lambda: Ensemble(recorded(), weights=[3, 1, 1], required=["b"]),
    "average": lambda: Ensemble(recorded(), voting="average", threshold=0.6),
    "in turn": lambda: Ensemble(recorded(), schedule="sequential"),
    "early stop": lambda: Ensemble(recorded(), schedule="early_stop"),
    "own names": lambda: Ensemble([RecordedCritic("a"), RecordedCritic("b", name="beta"), RecordedCritic("a")]),
    "time limit": lambda: Ensemble(recorded(), juror_timeout=60),
    "cascade": lambda: CascadedJury(
        [Tier("first", RecordedCritic("a"), "escalate_on_split"), Tier("last", recorded()[1])]
    ),
    "own rule": lambda: Ensemble(recorded(), voting=lambda judgments: 1 / 0),
}


def vote(make):
    draw = make.draw
    label = draw.choice(["PASS", "FAIL", "valid", "invalid", "tie", True, 4, None, ""])
    return draw.choice(
        [
            label, {"label": label, "confidence": 0.5}, {"score": draw.choice([0.2, 0.9, 7])}, {"status": "nothing"},
            {"label": label, "score": "high"}, make.judgment("x", 9), make.verdict("x"), ["a"],
            make.judgment("x", 9).to_dict(),
        ]
    )  # fmt: skip


def cases(seed):
    make = RandomVerdicts(Random(seed))
    for at in range(60):
        votes = {name: vote(make) for name in NAMES if make.draw.random() < 0.9}
        metadata = {"votes": votes, "item_id": f"q{at}"}
        if make.draw.random() < 0.1:
            metadata["run_error"] = "it broke"
        yield Case(answer="yes", metadata=metadata, generator=make.draw.choice([None, "gpt-4o"]))
    yield Case(metadata={"votes": "none"})


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", JURIES)
def test_verdicts_and_counts_are_those_of_the_jury_itself(name, seed):
    fast, usual = JURIES[name](), JURIES[name]()
    some = list(cases(seed))
    found, expected = verdicts_of(fast, some), list(usual.judge_many(deepcopy(some)))
    assert [without_times(one.to_dict()) for one in found] == [without_times(one.to_dict()) for one in expected]
    if name != "cascade":
        for one, other in zip(fast.members, usual.members, strict=True):
            assert (one.served, one.missed, one.unpriced) == (other.served, other.missed, other.unpriced)


def without_times(value):
    if isinstance(value, dict):
        return {name: without_times(one) for name, one in value.items() if name not in ("elapsed_s", "case_metadata")}
    return [without_times(one) for one in value] if isinstance(value, list) else value
