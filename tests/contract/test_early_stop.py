"""Early stopping: status and label are those of the full vote, with fewer calls; and what may not stop early."""

import asyncio
from random import Random

import pytest
from fact_tables import each_row
from hypothesis import given, settings
from hypothesis import strategies as st
from jurors import (
    CIRCUMSTANCES,
    ERROR,
    PASS,
    RULES,
    Says,
    every,
    jurors_of,
    result,
    votes_of,
)

from jury_adapters import CascadedJury, ConfigurationError, Ensemble, Judge, Scorecard, Tier, all_of


def judged(jurors, rule, schedule, options):
    return Ensemble(jurors, voting=rule, schedule=schedule, **options).judge("?")


@st.composite
def panels(draw):
    """Return a rule, its options, the labels and the votes of jurors, and their costs."""
    rule, options, (labels, letters) = RULES[draw(st.sampled_from([*RULES]))]
    size = draw(st.integers(1, 4 if rule == "bayes" else 6))
    votes = draw(st.lists(st.sampled_from([*letters, ERROR]), min_size=size, max_size=size))
    costs = draw(st.lists(st.sampled_from((0.0, 0.1, 0.2)), min_size=size, max_size=size))
    given_options = dict(draw(st.sampled_from(options)))
    if rule == "bayes":
        given_options["reliabilities"] = given_options["reliabilities"][:size]
    if "k" in given_options:
        given_options["k"] = min(given_options["k"], size)
    beside = dict(draw(st.sampled_from(CIRCUMSTANCES)))
    if "min_votes" in beside:
        beside["min_votes"] = min(beside["min_votes"], size)
    if "weights" in beside:
        beside["weights"] = [*beside["weights"], 1, 0][:size]
    beside["required"] = [f"j{place}" for place in beside.get("required", ()) if place < size]
    return rule, {**given_options, **beside}, labels, votes, costs


@settings(max_examples=50, deadline=None)
@given(panels().filter(lambda panel: any(panel[1].get("weights", (1,)))))
def test_status_and_label_are_those_of_the_full_vote_and_the_cheapest_are_asked_first(panel: tuple) -> None:
    rule, options, labels, votes, costs = panel
    log: list[str] = []
    jurors = [
        Says(vote, f"j{place}", cost=cost, labels=labels, log=log)
        for place, (vote, cost) in enumerate(zip(votes, costs, strict=True))
    ]
    full = judged(jurors, rule, "parallel", options)
    assert result(judged(jurors, rule, "sequential", options)) == result(full)
    assert log[len(votes) :] == [f"j{place}" for place in range(len(votes))]
    log.clear()
    early = judged(jurors, rule, "early_stop", options)
    assert result(early) == result(full)
    assert early.score is early.confidence is None
    order = sorted(range(len(votes)), key=lambda place: (f"j{place}" not in options["required"], costs[place]))
    assert log == [f"j{place}" for place in order[: len(log)]]
    assert {*early.by_name} == {*log}
    assert {*early.skipped} == {f"j{place}" for place in range(len(votes))} - {*log}
    assert len(early.weights) == len(log)


@each_row(
    ("options", "least"),
    [
        ({"voting": "majority"}, 0.17),
        ({"voting": "majority", "errors": "fail"}, 0.2),
        ({"voting": "majority", "weights": [3, 1, 1, 1, 1]}, 0.37),
        ({"voting": "unanimous"}, 0.36),
        ({"voting": "veto"}, 0.36),
        ({"voting": "veto", "k": 2}, 0.14),
        ({"voting": "quorum", "quorum": "2/3"}, 0.14),
        ({"voting": "average"}, 0.17),
        ({"voting": "median"}, 0.17),
        ({"voting": "bayes", "reliabilities": [(0.9, 0.9)] * 5}, 0.17),
    ],
    ids=lambda value: value["voting"] if isinstance(value, dict) else None,
)
def test_calls_are_saved(options: dict, least: float) -> None:
    chance, log = Random(7), []
    for _ in range(50):
        votes = votes_of(chance.choices("PF-!", (10, 6, 1, 1), k=5))
        Ensemble([Says(vote, log=log) for vote in votes], schedule="early_stop", **options).judge("?")
    assert least < 1 - len(log) / 250


class Slow(Judge):
    """Juror that notes with how many others it was asked at once."""

    def __init__(self, said, waves):
        self.name, self._said, self._waves = "slow", said, waves

    async def assess(self, case):
        if not self._waves or self._waves[-1][1]:
            self._waves.append([0, False])
        self._waves[-1][0] += 1
        await asyncio.sleep(0)
        self._waves[-1][1] = True
        return self._said


@each_row(
    ("options", "votes", "waves"),
    [
        ({}, "PPPPP", [3]),
        ({}, "PPFPP", [3, 1]),
        ({}, "PFPFP", [3, 1, 1]),
        ({}, "P-!PP", [3, 2]),
        ({"tie": "pass"}, "PPPP", [2]),
        ({"min_votes": 4}, "PPPPP", [4]),
        ({"min_share": "4/5"}, "PPPPP", [4]),
        ({"weights": [3, 1, 1]}, "PFF", [1]),
        ({"weights": [1, 1, 3]}, "PFF", [3]),
        ({"voting": "veto"}, "PPFPP", [1, 1, 1]),
        ({"voting": "veto", "k": 2}, "FPFPP", [2, 1]),
        ({"voting": "unanimous"}, "PPP", [1, 1, 1]),
        ({"voting": "unanimous", "on_split": "abstain"}, "PFPP", [2]),
        ({"voting": "quorum", "quorum": "2/3"}, "FFPPP", [2]),
        ({"voting": "average"}, "PPFFF", [3, 1, 1]),
        ({"errors": "ignore"}, "!!!PP", [3, 1, 1]),
    ],
)
def test_as_many_are_asked_at_once_as_could_settle_the_vote(options: dict, votes: str, waves: list) -> None:
    found: list = []
    Ensemble([Slow(vote, found) for vote in votes_of(votes)], schedule="early_stop", **options).judge("?")
    assert [number for number, _ in found] == waves


def early(votes, **options):
    return Ensemble(jurors_of(votes), schedule="early_stop", **options)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("PPFF-!", min_size=1, max_size=4), min_size=1, max_size=4), st.data())
def test_nested_juries_that_stop_early_have_the_outcome_of_those_that_do_not(
    members: list, data: st.DataObject
) -> None:
    rules = [{"voting": "majority", "tie": "abstain"}, {"voting": "veto"}, {"voting": "unanimous", "on_split": "SPLIT"}]
    outer, *inner = (data.draw(st.sampled_from(rules)) for _ in range(len(members) + 1))
    final = data.draw(st.booleans())

    def judged_with(schedule):
        juries = [
            Ensemble(jurors_of(votes), schedule=schedule, **options)
            for votes, options in zip(members, inner, strict=True)
        ]
        if final:
            guard = Tier("guard", Says(PASS), "reject_on_any_fail")
            juries = [CascadedJury([guard, Tier("final", one)]) for one in juries]
        return Ensemble(juries, schedule=schedule, **outer).judge("?")

    assert result(judged_with("early_stop")) == result(judged_with("parallel"))


def test_a_cascade_may_stop_early_in_its_final_tier() -> None:
    jury = CascadedJury([Tier("first", Says(PASS), "reject_on_any_fail"), Tier("last", early("PPF"))])
    verdict = jury.judge("?")
    assert (verdict.status, verdict.score, verdict.confidence) == ("PASS", None, None)
    assert verdict.tiers["last"].skipped == ("j2",)
    assert jury.stops_early


REFUSED = {
    "average": lambda one: Ensemble([one], voting="average"),
    "median": lambda one: Ensemble([one], voting="median", threshold=0.4),
    "majority by confidence": lambda one: Ensemble([one], use_confidence=True),
    "quorum of scores": lambda one: Ensemble([one], voting="quorum", threshold=0.4),
    "function": lambda one: Ensemble([one], voting=lambda votes: "PASS"),
    "average of a cascade": lambda one: Ensemble([CascadedJury([Tier("final", one)])], voting="average"),
    "average of all_of": lambda one: Ensemble([all_of(one)], voting="average"),
    "average of fallbacks": lambda one: Ensemble([one.with_fallbacks(Says(PASS))], voting="average"),
    "average of a scorecard": lambda one: Ensemble([Scorecard({"a": one})], voting="average"),
    "scorecard of scores": lambda one: Scorecard({"a": one}, weights={"a": 1}, threshold=0.5),
    **{
        f"tier that may {policy}": lambda one, policy=policy: Tier("first", one, policy)
        for policy in ("reject_on_any_fail", "accept_on_all_pass", "escalate_on_split", "escalate_below")
    },
    "tier with a scorecard": lambda one: Tier("first", Scorecard({"a": one}), "escalate_below"),
}


@each_row("name", REFUSED)
def test_where_scores_confidences_or_all_votes_are_read_nothing_stops_early(name: str) -> None:
    with pytest.raises(ConfigurationError, match="early"):
        REFUSED[name](early("PF"))
    REFUSED[name](Ensemble(jurors_of("PF")))


ALLOWED = [
    *every(voting=["majority"], tie=["abstain"]),
    *every(voting=["unanimous", "veto", "quorum"]),
    {"voting": "bayes", "reliabilities": [(0.9, 0.9)]},
]


@each_row("options", ALLOWED, ids=lambda options: options["voting"])
def test_rules_on_ballots_take_jurors_that_stop_early(options: dict) -> None:
    assert Ensemble([early("PPF")], **options).judge("?").status == "PASS"
    assert not Ensemble([early("PPF")], **options).stops_early


def test_a_juror_whose_labels_are_not_known_stops_nothing_early() -> None:
    jurors = [Says(PASS, f"j{place}") for place in range(3)]
    jurors[2].labels = None
    verdict = Ensemble(jurors, schedule="early_stop").judge("?")
    assert (verdict.status, verdict.skipped) == ("PASS", ())
    assert Ensemble(jurors, schedule="early_stop", on="status").judge("?").skipped == ("j2",)


def test_a_function_of_the_votes_sees_only_the_votes_of_all_jurors() -> None:
    seen = []

    def same_ends(votes):
        seen.append(len(votes))
        return votes[0].ballot == votes[2].ballot

    for schedule in ("parallel", "sequential", "early_stop"):
        assert judged(jurors_of("PFP"), same_ends, schedule, {}).status == "PASS"
    assert {*seen} == {3}


def test_a_rule_that_breaks_keeps_what_the_jurors_said() -> None:
    def breaks(votes):
        raise LookupError("no such juror")

    for schedule in ("parallel", "sequential", "early_stop"):
        verdict = judged(jurors_of("PFP"), breaks, schedule, {})
        assert verdict.status == "ERROR"
        assert "LookupError" in verdict.error
        assert len(verdict.judgments) == 3
