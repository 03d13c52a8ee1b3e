"""Comparisons with the first changed cases only."""

from dataclasses import replace
from random import Random

import pytest

from jury_adapters import Ensemble, Judgment
from jury_adapters.report import Report
from jury_adapters.report.comparison import compare
from jury_adapters.report.figures import contest

WORDS = ("PASS", "PASS", "FAIL", "ABSTAIN", "ERROR")
CHANGED = {("FAIL", "PASS"), ("PASS", "FAIL")}


def run(seed, ids, voting):
    draw = Random(seed)
    jury = Ensemble([lambda case: True] * 3, voting=voting)
    verdicts = []
    for item in ids:
        said = [(name, draw.choice(WORDS)) for name in "abc"]
        votes = [
            Judgment(word, critic=name, reasoning=f"{item} {name}", error="timeout" if word == "ERROR" else None,
                     score={"PASS": draw.choice([0.6, 1.0]), "FAIL": draw.random() / 2}.get(word))
            for name, word in said
        ]  # fmt: skip
        verdicts.append(replace(jury.aggregate(votes), case_id=item))
    return Report.from_results(verdicts).entries


@pytest.mark.parametrize("voting", ["majority", "average"])
@pytest.mark.parametrize("seed", range(10))
def test_they_are_the_first_of_all_and_the_numbers_are_those_of_all(seed, voting):
    ids = [f"q{at}" for at in range(80)]
    before, after = run(seed, ids, voting), run(seed + 100, Random(seed).sample(ids, 60), voting)
    every = compare(before, after)
    for most in (0, 1, 15, 500):
        some = compare(before, after, most_flips=most)
        assert some.flips == every.flips[:most]
        assert replace(some, flips=every.flips) == every
    assert every.changed == len(every.flips) > 15
    words = [(flip.before, flip.after) for flip in every.flips]
    assert every.better == words.count(("FAIL", "PASS"))
    assert every.worse == words.count(("PASS", "FAIL"))
    urgency = [
        (words_of in CHANGED, contest(after[flip.index].judgment)[0] if words_of in CHANGED else 0)
        for flip, words_of in zip(every.flips, words, strict=True)
    ]
    assert urgency == sorted(urgency, reverse=True)
    assert str(compare(before, after, most_flips=15)) == str(every)
