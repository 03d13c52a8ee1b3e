"""Scorecards, all_of, any_of and fallbacks: what is undecided counts only where it matters."""

import asyncio
from itertools import product

import pytest
from fact_tables import each_row
from jurors import ABSTAIN, ERROR, FAIL, PASS, Says, jurors_of, labelled, scored, votes_of

from jury_adapters import Ensemble, Finding, Judge, Judgment, Scorecard, Usage, all_of, any_of, judge

NAMES = "abc"
LETTERS = (PASS, FAIL, ABSTAIN, ERROR, labelled("A"), scored(0.4, "FAIL"), scored(0.8, "PASS"))
CARDS = {  # options; whether numbers of the criteria pass
    "all": ({"pass_when": "all"}, lambda n: min(n.values()) == 1),
    "any": ({"pass_when": "any"}, lambda n: max(n.values()) == 1),
    "1": ({"pass_when": 1}, lambda n: sum(n.values()) >= 1),
    "2": ({"pass_when": 2}, lambda n: sum(n.values()) >= 2),
    "3": ({"pass_when": 3}, lambda n: sum(n.values()) >= 3),
    "a": ({"pass_when": ["a"]}, lambda n: n["a"] == 1),
    "a and c": ({"pass_when": ("a", "c")}, lambda n: n["a"] == n["c"] == 1),
    "half of the weight": (
        {"weights": {"a": 2, "b": 1, "c": 1}, "threshold": 0.5},
        lambda n: (2 * n["a"] + n["b"] + n["c"]) / 4 >= 0.5,
    ),
    "most of two": ({"weights": {"a": 0.3, "b": 0.6}, "threshold": 0.6}, lambda n: n["a"] * 0.3 + n["b"] * 0.6 >= 0.54),
    "one has no weight": ({"weights": {"a": 1, "b": 0}, "threshold": 0.5}, lambda n: n["a"] >= 0.5),
    "nothing": ({"weights": {"a": 1, "b": 0}, "threshold": 0.0}, lambda n: True),
    "everything": ({"weights": {"a": 0.1, "b": 0.2, "c": 0.3}, "threshold": 1.0}, lambda n: min(n.values()) == 1),
}


def counted_in(options):
    weights = options.get("weights")
    if weights:
        return [name for name, weight in weights.items() if weight]
    when = options["pass_when"]
    return [*NAMES] if when in ("all", "any", 1, 2, 3) else [*when]


@each_row("name", CARDS)
def test_undecided_criteria_matter_if_they_could_change_the_verdict(name: str) -> None:
    options, passes = CARDS[name]
    counted = counted_in(options)
    for said in product(LETTERS, repeat=3):
        card = Scorecard({name: Says(one) for name, one in zip(NAMES, said, strict=True)}, **options)
        judgments = dict(zip(NAMES, said, strict=True))
        open_ = [name for name in counted if judgments[name].passed is None]
        known = {
            name: float(one.passed is True) if "pass_when" in options else one.number or 0.0
            for name, one in judgments.items()
        }
        ends = {passes(known | dict(zip(open_, way, strict=True))) for way in product((0.0, 1.0), repeat=len(open_))}
        broke = any(judgments[name].status == "ERROR" for name in counted)
        verdict = card.verdict(said)
        expected = "PASS" if ends == {True} else "FAIL" if ends == {False} else "ERROR" if broke else "ABSTAIN"
        assert verdict.status == expected, said
        assert (verdict.score is None) is bool(open_ or not verdict.decided), said


def test_a_verdict_names_each_criterion_and_what_broke() -> None:
    card = Scorecard(
        {"short": lambda case: True, "polite": lambda case: (False, "rude"), "true": Says(OSError("down"))},
        pass_when=2, name="card",
    )  # fmt: skip
    verdict = card.judge("?")
    assert ((verdict.status, verdict.voting, verdict.critic), verdict.error, verdict.reasoning) == (
        ("ERROR", "scorecard", "card"),
        "true: OSError: down",
        "polite FAIL (rude); true ERROR (OSError: down); short PASS",
    )
    assert [*verdict.by_name] == ["short", "polite", "true"]


INSIDE = [  # votes of a jury that is a criterion; its options; the status of a scorecard in which another one abstains
    ("PP!", {}, "ABSTAIN"),  # the outcome of the jury stands whatever the broken juror would say
    ("-P!", {"required": ["j0"]}, "ABSTAIN"),
    ("P!", {}, "ERROR"),
    ("FF!", {}, "FAIL"),
]


@each_row(("votes", "options", "status"), INSIDE)
def test_a_broken_juror_inside_a_criterion_counts_only_if_it_could_decide(
    votes: str, options: dict, status: str
) -> None:
    card = Scorecard({"jury": Ensemble(jurors_of(votes), **options), "other": Says(ABSTAIN)})
    assert card.judge("?").status == status


NUMBERS = [  # weights; threshold; scores; score; status
    ({"a": 1, "b": 1, "c": 1}, 0.7, (0.7, 0.7, 0.7), 0.7, "PASS"),
    ({"a": 1, "b": 1, "c": 1}, 0.7, (0.7, 0.7, 0.69), 2.09 / 3, "FAIL"),
    ({"a": 3, "b": 1}, 0.5, (0.4, 0.9, 0.0), 0.525, "PASS"),
    ({"c": 2}, 0.5, (1.0, 1.0, 0.4), 0.4, "FAIL"),
    ({"a": 1, "b": 1}, 0.5, (True, False, False), 0.5, "PASS"),
]


@each_row(("weights", "threshold", "scores", "score", "status"), NUMBERS)
def test_weights_and_a_threshold_read_scores(
    weights: dict, threshold: float, scores: tuple, score: float, status: str
) -> None:
    criteria = {name: judge(lambda case, one=one: one) for name, one in zip(NAMES, scores, strict=True)}
    verdict = Scorecard(criteria, weights=weights, threshold=threshold).judge("?")
    assert (verdict.status, verdict.score) == (status, pytest.approx(score))


def test_a_scorecard_has_usage_no_labels_and_no_agreement() -> None:
    paid = Judgment(status="PASS", usage=Usage(calls=1))
    split = Ensemble(jurors_of("PF"), tie="pass")
    card = Scorecard({"a": Says(paid), "b": Says(paid), "c": Says(FAIL), "d": split}, pass_when=2)
    verdict = card.judge("?")
    assert (
        (verdict.status, verdict.score, verdict.usage.calls),
        (card.labels, card.size, verdict.agreement),
        verdict.review_reasons,
    ) == (("PASS", 0.75, 2), ({}, 5, None), ("low_agreement",))


@each_row("votes", ["".join(votes) for votes in product("PF-!", repeat=2)])
def test_chains_ask_until_one_stops_them(votes: str) -> None:
    for third in "PF":
        said = votes + third
        first = next((one for one in said if one != "P"), "P")
        both = all_of(*jurors_of(said)).judge("?")
        asked = said.index(first) + 1 if first != "P" else 3
        assert ((both.status, len(both.judgments)), both.skipped) == (
            (votes_of(first)[0].status, asked),
            tuple(f"j{place}" for place in range(asked, 3)),
        )
        one = any_of(*jurors_of(said)).judge("?")
        asked = said.index("P") + 1 if "P" in said else 3
        worst = next(letter for letter in "P!-F" if letter in said[:asked])
        assert ((one.status, len(one.judgments)), one.skipped) == (
            (votes_of(worst)[0].status, asked),
            tuple(f"j{place}" for place in range(asked, 3)),
        )
        assert one.agreement is both.agreement is None


def test_chains_are_written_with_and_and_or() -> None:
    yes, no = Says(PASS, "yes"), Says(FAIL, "no")
    assert [(yes & no).judge("?").voting, (yes | no).judge("?").voting] == ["all_of", "any_of"]
    assert [(yes & no).judge("?").passed, (yes | no).judge("?").passed, (no | no).judge("?").passed] == [
        False,
        True,
        False,
    ]
    assert (yes & (lambda case: True)).judge("?").passed
    assert (yes & no & yes).judge("?").by_name["all_of"].by_name["no"].passed is False
    assert all_of(yes, no, name="both").judge("?").critic == "both"


def test_the_judgment_that_decides_a_chain_gives_its_label_findings_and_reason() -> None:
    said = Judgment(
        status="FAIL", score=0.2, label="bad", confidence=0.9, reasoning="too long", usage=Usage(calls=2),
        findings=[Finding(name="length", passed=False)],
    )  # fmt: skip
    last = Says(said, "length", labels={"bad": "FAIL"})
    chain = all_of(Says(Judgment(status="PASS", usage=Usage(calls=1)), "first"), last)
    verdict = chain.judge("?")
    assert (verdict.score, verdict.label, verdict.confidence) == (None, "bad", None)  # of judges with different marks
    assert (
        (verdict.reasoning, verdict.findings, verdict.usage.calls),
        chain.labels,
        all_of(Says(PASS, "first")).judge("?").reasoning,
    ) == (("length: too long", said.findings, 3), {"bad": "FAIL"}, "first: PASS")


FALLBACKS = [  # what the judge and its fallbacks say; status; the one that was used; how many were asked
    (("P", "F"), "PASS", None, 1),
    (("F", "P"), "FAIL", None, 1),
    (("-", "P"), "ABSTAIN", None, 1),
    (("!", "P", "F"), "PASS", "j1", 2),
    (("!", "!", "-"), "ABSTAIN", "j2", 3),
    (("!", "!"), "ERROR", "j1", 2),
]


@each_row(("said", "status", "used", "asked"), FALLBACKS)
def test_fallbacks_are_asked_where_a_judge_breaks(said: tuple, status: str, used: str | None, asked: int) -> None:
    first, *others = jurors_of(said)
    jury = first.with_fallbacks(*others)
    verdict = jury.judge("?")
    assert (
        (verdict.status, verdict.critic, jury.name),
        sum(one.asked for one in (first, *others)),
        verdict.metadata,
    ) == (
        (status, "j0", "j0"),
        asked,
        {"fallback_used": used, "fallback_errors": ("down",) * (asked - 1)} if used else {},
    )


class Slow(Judge):
    async def assess(self, case):
        await asyncio.sleep(9)


def test_fallbacks_keep_what_was_said_and_paid_and_each_has_its_own_time_limit() -> None:
    slow = Slow().with_timeout(0.01)
    costly = Judgment(status="ERROR", error="cut", usage=Usage(calls=1, cost_complete=False))
    said = Judgment(status="PASS", score=0.9, metadata={"x": 1}, usage=Usage(calls=2), model="m")
    verdict = slow.with_fallbacks(Says(costly, "costly"), Says(said, "last")).judge("?")
    assert ((verdict.status, verdict.score, verdict.model), verdict.metadata, verdict.usage) == (
        ("PASS", 0.9, "m"),
        {"x": 1, "fallback_used": "last", "fallback_errors": ("timeout", "cut")},
        Usage(calls=3, cost_complete=False),
    )
    jury = Says(ERROR, "first").with_fallbacks(Ensemble(jurors_of("PPF")))
    assert (len(jury.judge("?").judgments), jury.size) == (3, 4)
