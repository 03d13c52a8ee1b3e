"""Settled votes: no outstanding vote may change the status or the label, as checked against all possible votes."""

import random
from dataclasses import replace
from itertools import combinations_with_replacement, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from jury_adapters import Judgment, Status, Verdict
from jury_adapters.core.judgment import LABEL_ONLY, PASS_OR_FAIL
from jury_adapters.core.voting import STRATEGIES, FunctionVote, options_of
from jury_adapters.core.voting.rules.average import Average
from jury_adapters.core.voting.rules.bayes import Bayes
from jury_adapters.core.voting.rules.first_disagreement import FirstDisagreement
from jury_adapters.core.voting.rules.majority import Majority
from jury_adapters.core.voting.rules.median import Median
from jury_adapters.core.voting.rules.quorum import Quorum
from jury_adapters.core.voting.rules.unanimous import Unanimous
from jury_adapters.core.voting.rules.weighted import Weighted
from jury_adapters.core.voting.rules.weighted_average import WeightedAverage

pytestmark = pytest.mark.corpus

PASS = Judgment(Status.PASS)
FAIL = Judgment(Status.FAIL)
ABSTAIN = Judgment(Status.ABSTAIN, reasoning="cannot say")
ERROR = Judgment(Status.ERROR, error="boom")

STATUSES = (PASS, FAIL, ABSTAIN, ERROR)
SCORES = (
    Judgment(Status.PASS, score=1.0),
    Judgment(Status.PASS, score=0.7),
    Judgment(Status.FAIL, score=0.4),
    Judgment(Status.FAIL, score=0.0),
    ABSTAIN,
    ERROR,
)
CONFIDENCES = (
    PASS,
    Judgment(Status.PASS, confidence=0.3),
    Judgment(Status.FAIL, confidence=0.9),
    Judgment(Status.FAIL, confidence=0.0),
    ABSTAIN,
    ERROR,
)
PLAIN_LABELS = (Judgment(None, label="A"), Judgment(None, label="B"), Judgment(None, label="C"), ABSTAIN, ERROR)
RATED_LABELS = (  # each label means the same to every juror
    Judgment(Status.PASS, label="good"),
    Judgment(Status.PASS, label="fine"),
    Judgment(Status.FAIL, label="bad"),
    ABSTAIN,
    ERROR,
)
MIXED_LABELS = (Judgment(Status.PASS, label="good"), Judgment(None, label="odd"), FAIL, ABSTAIN, ERROR)
SURE_LABELS = (
    Judgment(None, label="A", confidence=0.5),
    Judgment(None, label="A", confidence=0.0),
    Judgment(None, label="B"),
    ABSTAIN,
    ERROR,
)
PREFERENCES = (  # of pairwise critics, which tie by default, and of a function
    *[Verdict(None, label=label, metadata={"position_consistent": True}) for label in ("A", "B", "tie")],
    *[Judgment(None, label=label) for label in ("A", "B")],
    ABSTAIN,
)

LEAVING = ("abstain", "ignore")
WEIGHTS = (None, (1.0, 2.0, 3.0, 0.5, 1.0), (0.0, 1.0, 1.0, 0.0, 2.0), (1.0, 0.0, 0.0, 0.0, 0.0))


def numbered(*rows):
    return [pytest.param(*row, id=f"{number}-{row[0].name}") for number, row in enumerate(rows)]


BALLOTS = numbered(
    *[
        (Majority(tie=tie, errors=errors, min_votes=min_votes), STATUSES, None)
        for tie in ("fail", "pass", "abstain", "first")
        for errors in ("fail", "ignore")
        for min_votes in (1, 2, 3)
    ],
    *[
        (Majority(min_share=share, tie=tie, priority=priority, default_label="?"), STATUSES, None)
        for share in ("1/2", "2/3", 0.8)
        for tie in ("fail", "pass", "abstain", "first")
        for priority in ((), ("PASS",))
    ],
    *[(Majority(errors=errors, min_share="3/5"), STATUSES, WEIGHTS[1]) for errors in LEAVING],
    *[(Majority(), STATUSES, weights) for weights in WEIGHTS[2:]],
    *[
        (Unanimous(on_split=on_split, errors=errors, min_votes=min_votes), STATUSES, None)
        for on_split in ("fail", "abstain")
        for errors in ("fail", *LEAVING)
        for min_votes in (1, 2, 3)
    ],
    *[
        (
            Majority(disagree_label="!", default_label="?", min_share=share, tie=tie, errors=errors, min_votes=n),
            STATUSES,
            None,
        )
        for share, tie in ((None, None), ("2/3", None), ("2/3", "fail"))
        for errors in ("fail", "ignore")
        for n in (1, 3)
    ],
    (Majority(disagree_label="!", priority=("FAIL",)), STATUSES, None),
    (Majority(disagree_label="!", default_label="!"), STATUSES, None),
    *[
        (Unanimous(disagree_label="!", default_label="?", errors=errors, min_votes=n), STATUSES, None)
        for errors in ("fail", "ignore")
        for n in (1, 2, 3)
    ],
    *[
        (kind(disagree_label="!", default_label="?", **options), STATUSES, weights)
        for kind, options in ((Majority, {}), (Weighted, {"use_confidence": False}), (Unanimous, {}))
        for weights in WEIGHTS[1:]
    ],
    *[(FirstDisagreement(errors=errors, min_votes=n), STATUSES, None) for errors in ("fail", "ignore") for n in (1, 3)],
    *[
        (Weighted(tie=tie, use_confidence=False), STATUSES, weights)
        for tie in ("fail", "pass", "abstain", "first")
        for weights in WEIGHTS
    ],
)
CONFIDENT = numbered(
    *[
        (Weighted(tie=tie, errors=errors), CONFIDENCES, weights)
        for tie in ("fail", "pass", "abstain", "first")
        for errors in ("fail", "ignore")
        for weights in WEIGHTS[:3]
    ],
    *[
        (Weighted(disagree_label="!", default_label="?", errors=errors), CONFIDENCES, weights)
        for errors in ("fail", "ignore")
        for weights in WEIGHTS[:3]
    ],
)
NUMBERS = numbered(
    *[
        (kind(threshold=threshold, errors=errors, min_votes=min_votes), SCORES, None)
        for kind in (Average, Median, Quorum)
        for threshold in (0.5, 0.7)
        for errors in ("fail", "abstain")
        for min_votes in (1, 3)
    ],
    *[(Average(threshold=threshold), SCORES, None) for threshold in (0.0, 1.0)],
    *[(Quorum(quorum=quorum, errors="ignore"), SCORES, None) for quorum in (0, "1/3", 0.67, 1)],
    *[
        (WeightedAverage(threshold=threshold, errors=errors), SCORES, weights)
        for threshold in (0.5, 0.7)
        for errors in ("fail", "ignore")
        for weights in WEIGHTS
    ],
)
LABELS = numbered(
    *[
        (strategy, vocabulary, None)
        for strategy in (
            Majority(on="label"),
            Majority(on="label", min_votes=2, default_label="?"),
            Majority(on="label", tie="abstain"),
            Majority(on="label", tie="fail"),
            Majority(on="label", tie="pass", min_votes=2),
            Majority(on="label", priority=("C", "bad", "odd")),
            Majority(on="label", min_share="1/2", default_label="?"),
            Majority(on="label", min_share="2/3", default_label="A"),
            Majority(on="label", errors="fail", error_label="C"),
            Majority(on="label", errors="fail", error_label="never voted", tie="abstain"),
            Unanimous(on="label", default_label="?"),
            Unanimous(on="label", min_votes=3),
            Majority(on="label", disagree_label="!", default_label="?"),
            Majority(on="label", disagree_label="!", default_label="?", min_votes=2),
            Majority(on="label", disagree_label="!", default_label="?", min_share="2/3"),
            Majority(on="label", disagree_label="A", default_label="?", priority=("C", "bad")),
            Majority(on="label", disagree_label="!", errors="fail", error_label="C"),
            Unanimous(on="label", disagree_label="!", default_label="?"),
            Unanimous(on="label", disagree_label="!", default_label="?", min_votes=3),
            FirstDisagreement(on="label"),
            FirstDisagreement(on="label", default_label="?", min_votes=2),
            FirstDisagreement(on="label", errors="fail", error_label="bad"),
        )
        for vocabulary in (PLAIN_LABELS, RATED_LABELS, MIXED_LABELS)
    ],
    *[(Weighted(on="label", tie=tie), SURE_LABELS, weights) for tie in ("first", "abstain") for weights in WEIGHTS],
    *[(Weighted(on="label", disagree_label="!", default_label="?"), SURE_LABELS, weights) for weights in WEIGHTS],
    *[(kind(disagree_label="!", default_label="?"), PLAIN_LABELS, None) for kind in (Majority, Unanimous, Weighted)],
    *[(strategy, PLAIN_LABELS, None) for strategy in (Majority(), Unanimous(), FirstDisagreement(), Weighted())],
    *[(strategy, RATED_LABELS, None) for strategy in (Majority(), Unanimous(on_split="abstain"), Weighted())],
    *[(kind(**options), PREFERENCES, None) for kind in (Majority, Weighted) for options in ({}, {"priority": ("B",)})],
    *[(Weighted(use_confidence=False), PREFERENCES, weights) for weights in WEIGHTS[1:]],
)
BAYES = {
    "all good": (0.9, 0.8, 0.7, 0.6, 0.6),
    "all alike": (0.6,) * 5,
    "one below 1/2": (0.9, 0.2, 0.7, 0.6, 0.4),
    "all below 1/2": (0.1, 0.3, 0.4, 0.2, 0.45),
    "pairs": ((0.95, 0.6), (0.2, 0.4), 0.7, (0.5, 0.5), (0.9, 0.1)),
}
POSTERIOR_OPTIONS = (
    {}, {"prior": 0.9}, {"prior": 0.1, "errors": "ignore"}, {"min_votes": 3}, {"threshold": 0.8},
    {"threshold": 0.05, "prior": 0.3, "errors": "abstain"},
)  # fmt: skip
POSTERIORS = [
    pytest.param(reliabilities, options, id=f"{name}-{number}")
    for name, reliabilities in BAYES.items()
    for number, options in enumerate(POSTERIOR_OPTIONS)
]


def outcomes_of_all(strategy, letters, weights, n):
    """For every partial vote (indices into letters; None for a juror still out): all outcomes it can still come to."""
    outcomes = {}
    for full in product(range(len(letters)), repeat=n):
        result = strategy.tally([letters[i] for i in full], weights)
        outcomes[full] = {(result.status, result.label)}
    for missing in range(1, n + 1):
        for partial in product((None, *range(len(letters))), repeat=n):
            if partial.count(None) == missing:
                out = partial.index(None)
                outcomes[partial] = set().union(
                    *(outcomes[(*partial[:out], i, *partial[out + 1 :])] for i in range(len(letters)))
                )
    return outcomes


def outcomes_in_one_order(strategy, letters, n):
    """The same for partial votes in one order alone: sorted, and those still out at the end."""
    outcomes = {}
    for full in combinations_with_replacement(range(len(letters)), n):
        result = strategy.tally([letters[i] for i in full])
        outcomes[full] = {(result.status, result.label)}
    for count in reversed(range(n)):
        out = (None,) * (n - count - 1)
        for votes in combinations_with_replacement(range(len(letters)), count):
            outcomes[(*votes, None, *out)] = set().union(
                *(outcomes[(*sorted((*votes, i)), *out)] for i in range(len(letters)))
            )
    return outcomes


def order_matters(strategy, weights):
    """Whether the rule depends on which juror cast which vote, and not only on the counts of votes."""
    if weights is not None or isinstance(strategy, Bayes | FirstDisagreement):
        return True
    if isinstance(strategy, Majority | Weighted):  # which take the first of tied labels by default
        return strategy.tie == "first" or (strategy.tie is None and strategy.on != "status")
    return False


SIZES = pytest.mark.parametrize(
    "sizes", [(1, 2, 3), pytest.param((4, 5), marks=pytest.mark.slow)], ids=["small", "large"]
)
IN_ANY_ORDER = 3  # jurors up to whom every order of the votes is tried, whether the rule says that it matters or not


def assert_settles_soundly(strategy, letters, weights, n, *, exactly):
    weights = weights and weights[:n]
    if weights and not any(weights):
        return
    if n <= IN_ANY_ORDER or order_matters(strategy, weights):
        found = outcomes_of_all(strategy, letters, weights, n)
    else:
        found = outcomes_in_one_order(strategy, letters, n)
    for partial, outcomes in found.items():
        votes = [None if i is None else letters[i] for i in partial]
        settled = strategy.settled(votes, weights)
        if settled or exactly:
            assert settled == (len(outcomes) == 1), (partial, outcomes)


@SIZES
@pytest.mark.parametrize(("strategy", "letters", "weights"), BALLOTS)
def test_status_ballots_settle_exactly_when_no_vote_can_change_them(strategy, letters, weights, sizes):
    for n in sizes:
        # Without ERROR among the letters nothing shows what the default makes of errors alone.
        exactly = n < 5 or strategy.errors is not None
        cast = letters if n < 5 else letters[:3]
        assert_settles_soundly(replace(strategy, on="status"), cast, weights, n, exactly=exactly)


@pytest.mark.parametrize("sizes", [(1, 2), pytest.param((3,), marks=pytest.mark.slow)], ids=["small", "large"])
@pytest.mark.parametrize(("strategy", "letters", "weights"), BALLOTS)
def test_status_ballots_under_on_auto_settle_only_when_no_vote_can_change_them(strategy, letters, weights, sizes):
    for n in sizes:
        assert_settles_soundly(strategy, letters, weights, n, exactly=False)


EVERY_RULE = [
    pytest.param(kind(**{name: [0.9] * 3 for name, option in options_of(kind).items() if option.required}), id=name)
    for name, kind in STRATEGIES.items()
]


@pytest.mark.parametrize("strategy", EVERY_RULE)
@pytest.mark.parametrize("letters", [STATUSES, SCORES, CONFIDENCES, RATED_LABELS], ids=["PASS", "0.7", "sure", "good"])
def test_every_rule_settles_soundly_with_its_defaults(strategy, letters):
    bound = strategy.bind(["a", "b", "c"])
    for partial, outcomes in outcomes_of_all(bound, letters, None, 3).items():
        assert len(outcomes) == 1 or not bound.settled([None if i is None else letters[i] for i in partial]), partial


@pytest.mark.parametrize("sizes", [(1, 2, 3), pytest.param((4,), marks=pytest.mark.slow)], ids=["small", "large"])
@pytest.mark.parametrize(("strategy", "letters", "weights"), CONFIDENT)
def test_confident_ballots_settle_exactly_when_no_vote_can_change_them(strategy, letters, weights, sizes):
    for n in sizes:
        assert_settles_soundly(strategy, letters if n < 4 else letters[:4], weights, n, exactly=False)


@SIZES
@pytest.mark.parametrize(("strategy", "letters", "weights"), NUMBERS)
def test_scores_settle_exactly_when_no_vote_can_change_them(strategy, letters, weights, sizes):
    for n in sizes:
        if n < 4:
            assert_settles_soundly(strategy, letters, weights, n, exactly=True)
        elif n == 4:
            assert_settles_soundly(strategy, letters[:5], weights, 4, exactly=strategy.errors is not None)
        else:
            assert_settles_soundly(strategy, letters[1:3], weights, 5, exactly=False)


@SIZES
@pytest.mark.parametrize(("strategy", "letters", "weights"), LABELS)
def test_labels_settle_only_when_no_vote_can_change_them(strategy, letters, weights, sizes):
    for n in sizes:
        assert_settles_soundly(strategy, letters if n < 5 else letters[:3], weights, n, exactly=False)


@SIZES
@pytest.mark.parametrize(("reliabilities", "options"), POSTERIORS)
def test_posteriors_settle_exactly_when_no_vote_can_change_them(reliabilities, options, sizes):
    for n in sizes:
        bayes = Bayes(reliabilities=reliabilities[:n], **options)
        exactly = n < 5 or bayes.errors is not None
        assert_settles_soundly(bayes, STATUSES if n < 5 else STATUSES[:3], None, n, exactly=exactly)


@pytest.mark.slow
def test_where_the_order_of_votes_is_said_not_to_matter_it_does_not():
    """Of four jurors; larger panels are then checked in one order."""
    for strategy, letters, weights in (row.values for row in [*BALLOTS, *CONFIDENT, *NUMBERS, *LABELS]):
        for rule in {strategy, replace(strategy, on="status")} if hasattr(strategy, "on") else {strategy}:
            if not order_matters(rule, weights):
                assert_the_same_in_every_order(rule, letters)


def assert_the_same_in_every_order(strategy, letters):
    for number, votes in enumerate(combinations_with_replacement(letters, 4)):
        other = votes[::-1] if number % 2 else (votes[2], votes[0], votes[3], votes[1])
        one, another = strategy.tally(votes), strategy.tally(other)
        assert (one.status, one.label) == (another.status, another.label), (strategy, votes, other)


def test_under_on_auto_an_error_alone_does_not_settle_a_vote_that_labels_may_still_enter():
    partial = [ERROR, ERROR, None]
    assert Majority(on="status", errors="fail").settled(partial)
    assert not Majority(errors="fail").settled(partial)
    assert Majority().tally([ERROR, ERROR, Judgment(None, label="A")]).label == "A"


def test_errors_alone_do_not_settle_a_vote_that_somebody_may_still_enter():
    partial = [ERROR, ERROR, None]
    assert not Majority(on="status").settled(partial)
    assert Majority().tally([ERROR, ERROR, ERROR]).status is Status.ERROR
    assert Majority().tally([ERROR, ERROR, PASS]).status is Status.FAIL


@pytest.mark.parametrize(
    "strategy",
    [Majority(errors="propagate"), Average(errors="propagate"), FunctionVote(function=lambda judgments: Status.PASS)],
    ids=lambda strategy: strategy.name,
)
def test_where_nothing_is_proved_everyone_must_be_in(strategy):
    assert not strategy.supports_early_stop
    assert not strategy.settled([PASS, PASS, PASS, PASS, None])
    assert strategy.settled([PASS, PASS, PASS, PASS, PASS])


def test_bayes_by_name_settles_nothing_before_it_knows_the_jurors():
    bayes = Bayes(reliabilities={"a": 0.9, "b": 0.6, "c": 0.6})
    assert not bayes.supports_early_stop
    assert not bayes.settled([PASS, None, None])
    assert bayes.bind(["a", "b", "c"]).settled([PASS, None, None])


@pytest.mark.parametrize(
    ("strategy", "votes"),
    [
        (Majority(), [PASS, PASS, None]),
        (Majority(), [FAIL, FAIL, None]),
        (Majority(tie="pass"), [PASS, PASS, None, None]),
        (Unanimous(), [PASS, FAIL, None, None]),
        (Unanimous(), [FAIL, None, None]),
        (Average(), [PASS, PASS, None, None]),
        (Median(), [PASS, PASS, None]),
        (Quorum(quorum="2/3"), [PASS, PASS, None]),
        (FirstDisagreement(), [PASS, FAIL, None, None]),
        (Weighted(), [PASS, PASS, None]),
        (Bayes(reliabilities=[0.95, 0.6, 0.6]), [PASS, None, None]),
    ],
    ids=lambda value: value.name if hasattr(value, "name") else None,
)
def test_the_usual_early_decisions_are_seen(strategy, votes):
    opinions = [PASS_OR_FAIL] * len(votes)
    assert strategy.settled(votes, None, opinions)
    assert not strategy.settled([None] * len(votes), None, opinions)


@pytest.mark.parametrize("strategy", [Majority(), Unanimous(), Weighted()], ids=lambda strategy: strategy.name)
def test_under_on_auto_a_vote_on_statuses_is_open_until_nobody_can_turn_it_into_one_on_labels(strategy):
    votes = [PASS, FAIL, FAIL, FAIL, FAIL, FAIL, None]
    assert not strategy.settled(votes)
    assert not strategy.settled(votes, None, [LABEL_ONLY] * 7)
    assert strategy.settled(votes, None, [*[LABEL_ONLY] * 6, PASS_OR_FAIL])
    assert replace(strategy, on="status").settled(votes)


ANY_STRATEGY = [*BALLOTS, *CONFIDENT, *NUMBERS, *LABELS]


@pytest.mark.slow
@examples(400)
@given(data=st.data())
def test_no_completion_of_a_large_settled_panel_comes_to_something_else(data):
    strategy, letters, _ = data.draw(st.sampled_from(ANY_STRATEGY)).values
    n = data.draw(st.integers(4, 12))
    weights = data.draw(st.none() | st.lists(st.sampled_from((0.5, 1.0, 1.5, 2.0, 7.0)), min_size=n, max_size=n))
    letter = st.sampled_from(letters[: data.draw(st.integers(1, len(letters)))])
    votes = data.draw(st.lists(letter, min_size=n, max_size=n))
    order = data.draw(st.permutations(range(n)))
    partial = [None] * n
    for position in order:
        partial[position] = votes[position]
        if strategy.settled(partial, weights):
            break
    now = strategy.tally([ABSTAIN if vote is None else vote for vote in partial], weights)
    chance = random.Random(data.draw(st.integers(0, 2**32)))
    for _ in range(20):
        full = [chance.choice(letters) if vote is None else vote for vote in partial]
        then = strategy.tally(full, weights)
        assert (then.status, then.label) == (now.status, now.label)


@pytest.mark.slow
@examples(200)
@given(data=st.data())
def test_no_completion_of_a_large_settled_bayes_panel_comes_to_something_else(data):
    n = data.draw(st.integers(1, 8))
    chance = st.floats(0.01, 0.99)
    bayes = Bayes(
        reliabilities=data.draw(st.lists(chance | st.tuples(chance, chance), min_size=n, max_size=n)),
        prior=data.draw(chance),
        threshold=data.draw(chance),
        errors=data.draw(st.sampled_from(("fail", "abstain", "ignore"))),
        min_votes=data.draw(st.integers(1, 3)),
    )
    partial = data.draw(st.lists(st.none() | st.sampled_from(STATUSES), min_size=n, max_size=n))
    if bayes.settled(partial):
        chance = random.Random(data.draw(st.integers(0, 2**32)))
        fills = [[chance.choice(STATUSES) if vote is None else vote for vote in partial] for _ in range(30)]
        assert len({bayes.tally(fill).status for fill in fills}) == 1
