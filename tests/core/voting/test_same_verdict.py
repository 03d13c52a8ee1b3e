"""An early-stopping jury has the status and label of the full vote, for every rule, also where votes are mixed.

Every panel is judged twice by real juries: once by all jurors, once with early stopping. Rules and their options come
from the registry, so that a new rule is covered.
"""

import random
from itertools import product
from typing import Literal, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples
from support.plain_judges import Says

from jury_adapters import CascadedJury, Critic, Ensemble, Judgment, Rubric, Scorecard, Status, Tier
from jury_adapters.checks import always_fail, always_pass
from jury_adapters.config.grammar import CHECKS, COMMANDS, GROUNDING
from jury_adapters.core.judgment import ANY_OPINION, LABEL_ONLY, PASS_OR_FAIL
from jury_adapters.core.scheduling import UntilDecided
from jury_adapters.core.tier_policies import POLICIES, Policy, escalate_below
from jury_adapters.core.voting import STRATEGIES, options_of, resolve
from jury_adapters.core.voting.required import with_required
from jury_adapters.critic.replayed import ReplayedCritic
from jury_adapters.replay import RecordedCritic
from jury_adapters.voting import all_of, any_of

PASS, FAIL = Judgment(Status.PASS), Judgment(Status.FAIL)
ABSTAIN, ERROR = Judgment(Status.ABSTAIN, reasoning="cannot say"), Judgment(Status.ERROR, error="boom")
A, B = Judgment(None, label="A"), Judgment(None, label="B")
PASS_A = Judgment(Status.PASS, label="A")
MIXED = (PASS, FAIL, ABSTAIN, ERROR, A, B, PASS_A)
NUMBERS = (
    Judgment(Status.PASS, score=0.6, confidence=0.2),
    Judgment(Status.FAIL, score=0.4, confidence=0.9),
    Judgment(None, label="A", score=0.9, confidence=0.5),
)
RULES = {kind.name: kind for kind in STRATEGIES.values()}

# Values of options that decide who wins. Of others every choice is tried, or the default.
VALUES = {
    "on": ("auto", "status", "label"),
    "tie": (None, "fail", "pass", "abstain", "first"),
    "errors": (None, "fail", "abstain", "ignore", "propagate"),
    "min_votes": (1, 2),
    "priority": ((), ("B", "PASS")),
    "min_share": (None, "2/3"),
    "default_label": (None, "?"),
    "disagree_label": (None, "A", "SPLIT"),
    "error_label": (None, "A"),
    "on_split": (None, "fail", "abstain"),
    "use_confidence": (True, False),
    "threshold": (0.5, 0.7),
    "quorum": (0.5, "2/3"),
    "k": (1, 2),
    "prior": (0.5, 0.3),
}


def outcome(verdict):
    return verdict.status, verdict.label


def allowed(opinions, letters):
    """The letters that a juror with these opinions may cast."""
    return [letter for letter in letters if not letter.valid or letter.status in opinions]


def values_of(option):
    """Values of an option: those in VALUES, else all of a choice, else its default."""
    parts = (option.type, *get_args(option.type))
    choices = [choice for part in parts if get_origin(part) is Literal for choice in get_args(part)]
    return VALUES.get(option.name) or choices or ((True, False) if option.type is bool else (option.default,))


def options_for(rule, size, pick):
    """Options of a rule, picked from their values; one that is required is the reliability of each juror."""
    of_rule = options_of(RULES[rule]).values()
    options = {option.name: pick(values_of(option)) for option in of_rule if not option.required}
    options |= {option.name: [pick((0.9, 0.2, 0.7)) for _ in range(size)] for option in of_rule if option.required}
    if options.get("on") == "label" and options["errors"] == "fail":
        options["error_label"] = "A"
    if rule == "first_disagreement":
        options["disagree_label"] = options["disagree_label"] or "DISAGREE"
    if "k" in options:
        options["k"] = min(options["k"], size)
    return options


def outcomes_of_all(rule, strategy, letters):
    """For every partial vote (None for a juror still out): all outcomes it can still come to."""
    outcomes = {}
    for full in product(*letters):
        result = with_required(strategy.tally(full, rule.weights), full, rule.required, strategy.errors)
        outcomes[full] = {(result.status, result.label)}
    choices = [(None, *own) for own in letters]
    for partial in sorted(product(*choices), key=lambda votes: votes.count(None)):
        if None in partial:
            out = partial.index(None)
            outcomes[partial] = set().union(
                *(outcomes[(*partial[:out], letter, *partial[out + 1 :])] for letter in letters[out])
            )
    return outcomes


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(
    ("size", "panels", "letters"),
    [
        (2, 20, MIXED),
        (3, 4, MIXED),
        pytest.param(2, 60, MIXED, marks=pytest.mark.slow),
        pytest.param(3, 15, MIXED, marks=pytest.mark.slow),
        pytest.param(4, 2, (PASS, FAIL, ERROR, A, B, PASS_A), marks=pytest.mark.slow),
    ],
)
def test_no_vote_still_out_changes_a_settled_panel(name, size, panels, letters):
    """Every mixed vote of small panels, whoever is asked first: what is settled stays as it is."""
    chance = random.Random(f"{name} {size}")
    for number in range(panels):
        strategy = resolve(name, **options_for(name, size, chance.choice))
        if number < 3 and hasattr(strategy, "on"):
            strategy = resolve(name, on=VALUES["on"][number], error_label="A")
        weights = chance.choice((None, (1.0, 2.0, 0.0, 1.0)[:size], (0.0, 1.0, 1.0, 3.0)[:size]))
        required = chance.choice(((), (), (0,), (size - 1,)))
        opinions = tuple(chance.choice((ANY_OPINION, ANY_OPINION, PASS_OR_FAIL, LABEL_ONLY)) for _ in range(size))
        rule = UntilDecided(strategy, weights, required, opinions)
        cast = [
            allowed(own, letters if strategy.reads_numbers is False else (*letters[:5], *NUMBERS)) for own in opinions
        ]
        for partial, outcomes in outcomes_of_all(rule, strategy, cast).items():
            assert len(outcomes) == 1 or not rule.settled(partial), (strategy, weights, required, opinions, partial)


def judged(votes, costs, opinions, schedule, **options):
    jurors = [
        Says(vote, str(n), cost=cost, opinion_statuses=can)
        for n, (vote, cost, can) in enumerate(zip(votes, costs, opinions, strict=True))
    ]
    return Ensemble(jurors, schedule=schedule, **options).judge("any question")


def a_panel(chance, most, inside=False):
    """The votes of a panel, with costs and with what is known of the jurors, and the options of its jury.

    Those inside other juries stop early more often: all say PASS or FAIL, and no error propagates.
    """
    size, name = chance.randint(1, most), chance.choice(list(RULES))
    known = (PASS_OR_FAIL,) if inside else (ANY_OPINION, PASS_OR_FAIL, PASS_OR_FAIL, LABEL_ONLY)
    opinions = [chance.choice(known) for _ in range(size)]
    votes = [chance.choice(allowed(own, NUMBERS if inside and chance.random() < 0.8 else MIXED)) for own in opinions]
    options = {"voting": name, **options_for(name, size, chance.choice)}
    if inside and options["errors"] == "propagate":
        options["errors"] = None
    if chance.random() < 0.3:
        options["weights"] = [1.0, *(chance.choice((0.0, 0.5, 1.0, 3.0)) for _ in range(size - 1))]
    if chance.random() < 0.3:
        options["required"] = [chance.randrange(size)]
    return votes, [chance.randrange(3) for _ in range(size)], opinions, options


SEEDS = st.integers(0, 2**32).map(random.Random)
PANELS_PER_SEED = 10


@examples(100)
@given(SEEDS)
def test_an_early_stopping_jury_has_the_status_and_label_of_the_full_vote(chance):
    for _ in range(PANELS_PER_SEED):
        votes, costs, opinions, options = panel = a_panel(chance, 9)
        full, early = (judged(votes, costs, opinions, schedule, **options) for schedule in ("parallel", "early_stop"))
        assert outcome(early) == outcome(full), panel


def built(panel, schedule):
    """A jury of a panel; its jurors are jurors, or panels."""
    votes, costs, opinions, options = panel
    jurors = [
        Says(vote, str(n), cost=cost, opinion_statuses=can)
        for n, (vote, cost, can) in enumerate(zip(votes, costs, opinions, strict=True))
    ]
    return Ensemble(jurors, schedule=schedule, **options)


def backed(jury):
    return Says(ERROR, "breaks").with_fallbacks([jury])


AROUND = {
    "itself": lambda jury: jury,
    "all_of": lambda jury: all_of(jury, lambda case: True),
    "any_of": lambda jury: any_of(lambda case: False, jury),
    "fallback": backed,
    "cascade": lambda jury: CascadedJury([Tier("last", jury)]),
    "screen": lambda jury: CascadedJury([Tier("screen", jury, "reject_on_any_fail"), Tier("last", Says(PASS, "last"))]),
    "scorecard": lambda jury: Scorecard({"one": jury}),
    "weighed": lambda jury: Scorecard(
        {"one": jury, "two": lambda case: 0.4}, weights={"one": 2, "two": 1}, threshold=0.6
    ),
    "majority": lambda jury: Ensemble([jury, lambda case: True]),
}


@pytest.mark.slow
@examples(150)
@given(SEEDS)
def test_a_jury_of_early_stopping_juries_has_the_status_and_label_of_the_full_vote(chance):
    for _ in range(PANELS_PER_SEED):
        size, name = chance.randint(1, 3), chance.choice(list(RULES))
        inner = [(a_panel(chance, 4, chance.random() < 0.8), chance.choice(list(AROUND))) for _ in range(size)]
        options = options_for(name, size, chance.choice)
        found = []
        for schedules in (("parallel", "parallel"), ("early_stop", "parallel"), ("early_stop", "early_stop")):
            members = [AROUND[around](built(panel, schedules[0])) for panel, around in inner]
            found.append(outcome(Ensemble(members, voting=name, schedule=schedules[1], **options).judge("?")))
        assert found[0] == found[1] == found[2], (inner, name, options)


BEFORE_LAST = [
    escalate_below(0.6) if rule.takes_threshold else kind for kind, rule in POLICIES.items() if kind is not Policy.FINAL
]


@pytest.mark.slow
@examples(150)
@given(SEEDS)
def test_a_cascade_of_early_stopping_juries_decides_as_one_of_full_juries(chance):
    """Status, label, and the tier at which it stops, also where tiers read confidence, agreement or a jury inside."""
    for _ in range(PANELS_PER_SEED):
        tiers = [(a_panel(chance, 4, chance.random() < 0.7), chance.choice(list(AROUND))) for _ in range(3)]
        policies = [*(chance.choice(BEFORE_LAST) for _ in range(2)), "final"]
        found = []
        for schedule in ("parallel", "early_stop"):
            judges = [AROUND[around](built(panel, schedule)) for panel, around in tiers]
            cascade = [Tier(str(n), judge, policies[n]) for n, judge in enumerate(judges)]
            verdict = CascadedJury(cascade).judge("?")
            found.append((*outcome(verdict), verdict.stopped_at, verdict.decision))
        assert found[0] == found[1], (tiers, policies)


SPLIT = [Judgment("PASS", score=score, confidence=0.9) for score in (1.0, 1.0, 0.0)]


def asked_inside(around):
    """Number of jurors that an early-stopping jury of three asks; alone, it is settled after two."""
    jurors = [Says(vote, str(n), opinion_statuses=PASS_OR_FAIL) for n, vote in enumerate(SPLIT)]
    around(Ensemble(jurors, voting="average", schedule="early_stop", threshold=0.6)).judge("?")
    return sum(juror.asked for juror in jurors)


READS_NUMBERS = {
    "average": lambda jury: Ensemble([jury], voting="average"),
    "weighted": lambda jury: Ensemble([jury], voting="weighted"),
    "function": lambda jury: Ensemble([jury], voting=lambda judgments: judgments[0].score),
    "weighed scorecard": lambda jury: Scorecard({"one": jury}, weights={"one": 1}, threshold=0.5),
    "escalate_below": lambda jury: CascadedJury([Tier("one", jury, escalate_below(0.9)), Tier("last", Says(FAIL, ""))]),
    "in a cascade": lambda jury: Ensemble([CascadedJury([Tier("one", jury)])], voting="median"),
    "in all_of": lambda jury: Ensemble([all_of(jury)], voting="median"),
    "in a cascade in a tier": lambda jury: CascadedJury(
        [Tier("one", CascadedJury([Tier("one", jury)]), "accept_on_all_pass"), Tier("last", Says(FAIL, ""))]
    ),
    "fallback": lambda jury: Ensemble([backed(jury)], voting="median"),
    "fallback in a tier": lambda jury: CascadedJury(
        [Tier("one", backed(jury), "reject_on_any_fail"), Tier("last", Says(FAIL, ""))]
    ),
}
READS_STATUSES = {
    "nothing": lambda jury: jury,
    "majority": lambda jury: Ensemble([jury], voting="majority"),
    "weights alone": lambda jury: Ensemble([jury], voting="weighted", use_confidence=False),
    "bayes": lambda jury: Ensemble([jury], voting="bayes", reliabilities=[0.9]),
    "scorecard": lambda jury: Scorecard({"one": jury}),
    "last tier": lambda jury: CascadedJury([Tier("one", jury)]),
}


@pytest.mark.parametrize("around", READS_NUMBERS.values(), ids=READS_NUMBERS)
def test_a_jury_whose_score_or_confidence_is_read_asks_everyone(around):
    assert asked_inside(around) == 3


@pytest.mark.parametrize("around", READS_STATUSES.values(), ids=READS_STATUSES)
def test_a_jury_of_which_only_the_status_and_label_are_read_stops_early(around):
    assert asked_inside(around) == 2


def test_every_check_of_the_package_says_that_it_gives_pass_or_fail():
    for kind in (*CHECKS.values(), *COMMANDS.values(), *GROUNDING.values(), *map(type, (always_pass(), always_fail()))):
        assert kind.opinion_statuses == PASS_OR_FAIL, kind


@pytest.mark.parametrize(
    ("answers", "options", "statuses"),
    [
        ({"labels": {"YES": "pass", "NO": "fail", "UNSURE": "abstain"}}, {}, PASS_OR_FAIL),
        ({"labels": {"A": None, "B": None}}, {}, LABEL_ONLY),
        ({"labels": {"A": None, "B": None}}, {"threshold": 0.5}, ANY_OPINION),
        ({"labels": {"good": "pass", "odd": None}}, {}, ANY_OPINION),
        ({"scale": {"minimum": 1, "maximum": 5}}, {}, PASS_OR_FAIL),
        ({"labels": {"YES": "pass", "NO": "fail"}}, {"parse": lambda text: Judgment(None, label=text)}, ANY_OPINION),
    ],
)
def test_a_critic_says_by_its_rubric_which_statuses_it_may_give(answers, options, statuses):
    async def model(prompt):
        return "YES"

    critic = Critic(model, name="critic", prompt="Is it? {answer}", **answers, **options)
    assert critic.opinion_statuses == statuses
    assert Ensemble([critic], voting="median").opinion_statuses == PASS_OR_FAIL
    assert RecordedCritic("a").opinion_statuses == ANY_OPINION
    assert RecordedCritic("a", labels={"valid": "pass", "invalid": "fail"}).opinion_statuses == PASS_OR_FAIL


def test_a_replayed_critic_gives_no_label_that_its_rubric_does_not_have():
    """A label that the critic itself cannot give would turn the vote into a vote on labels."""
    answers = {"labels": {"YES": "pass", "NO": "fail"}}
    critic = ReplayedCritic("a", Rubric(name="r", criteria="Is it so?", answers=answers))
    said = [critic.judge(metadata={"votes": {"a": label}}) for label in ("NO", "odd")]
    assert [judgment.status for judgment in said] == [Status.FAIL, Status.ABSTAIN]
    assert "odd, which is not an answer of the rubric" in said[1].reasoning
    assert critic.opinion_statuses == PASS_OR_FAIL
