"""Settled means settled: an outcome stands if, and only if, no missing vote can change it.

Every vote of small juries is counted with every set of missing votes, and compared with all completions: each missing
vote may be any ballot, at several scores and confidences, or an abstention. A vote is missing if the juror was not
asked (None), or if it broke and ``errors`` is ``missing``. Properties do the same for larger and nested juries.
"""

from functools import lru_cache
from itertools import product, repeat
from random import Random

import pytest
from fact_tables import each_row
from hypothesis import given, settings
from hypothesis import strategies as st
from jurors import (
    CIRCUMSTANCES,
    ERROR,
    FAIL,
    PASS,
    RULES,
    SHARED,
    TIES,
    TWO,
    Says,
    every,
    jury_of,
    result,
    scored,
    sure,
)

from jury_adapters import Ensemble, Scorecard, abstain, all_of, any_of
from jury_adapters.core.votes import RULES as RULES_BY_NAME


@lru_cache
def partial_votes(letters, size):
    """Return the indices of every vote, None for a missing one; those with fewer missing votes first."""
    return sorted(product((None, *range(letters)), repeat=size), key=lambda partial: partial.count(None))


def check_all(jury, letters):
    """Compare every partial vote with its completions."""
    count, size = jury.counts, len(jury.judges)
    broken_are_missing = count.errors == "missing"
    letters = letters if broken_are_missing else (*letters, ERROR)
    may_come = {}  # partial vote: the outcomes of its completions, and their lowest confidence
    for partial in partial_votes(len(letters), size):
        votes = [None if one is None else letters[one] for one in partial]
        found = count.outcome(votes)
        if None not in partial:
            may_come[partial] = {result(found)}, 1.0 if found.confidence is None else found.confidence
            continue
        place = partial.index(None)
        ways = [may_come[*partial[:place], one, *partial[place + 1 :]] for one in range(len(letters))]
        ends = set().union(*(way[0] for way in ways))
        lowest = min(way[1] for way in ways)
        may_come[partial] = ends, lowest
        said = (jury.counts, partial, ends)
        assert (found is None) == (len(ends) > 1), said
        assert found is None or {result(found)} == ends, said
        assert all(label is None or label in jury.labels for _, label in ends), said
        if broken_are_missing and size < 4:
            last = count.outcome([ERROR if vote is None else vote for vote in votes])
            assert {result(last)} == (ends if len(ends) == 1 else {("ERROR", None)}), said
            if found and found.confidence is not None and jury.counts.rule.rule in SHARED:
                assert last.confidence == pytest.approx(lowest), said


def checks(name, size, circumstances):
    """Check a rule with all options, each with as many circumstances, which rotate; with one option if there are 0."""
    rule, options, (labels, letters) = RULES[name]
    first = list(RULES).index(name)
    for number, given_options in enumerate(options if circumstances else [options[first % len(options)]]):
        places = range(first + number * circumstances, first + (number + 1) * circumstances)
        for beside in [CIRCUMSTANCES[place % len(CIRCUMSTANCES)] for place in places] or [{}]:
            if any(beside.get("weights", (1,))[:size]):
                check_all(jury_of(rule, given_options, labels, size, beside), letters)


def test_every_rule_is_enumerated() -> None:
    assert {rule for rule, _, _ in RULES.values()} == RULES_BY_NAME.keys()


@each_row("name", RULES)
def test_one_or_two_jurors_settle_exactly_when_no_vote_can_change_the_outcome(name: str) -> None:
    checks(name, 1, 1)
    checks(name, 2, 7)  # all circumstances with every two options


@each_row("name", RULES)
def test_three_jurors_settle_exactly_when_no_vote_can_change_the_outcome(name: str) -> None:
    checks(name, 3, 1)


@each_row("name", RULES)
def test_four_jurors_settle_exactly_when_no_vote_can_change_the_outcome(name: str) -> None:
    checks(name, 4, 0)


@st.composite
def circumstances(draw, size):
    """Return any circumstances of a jury, with at least one weight above 0."""
    weights = draw(st.lists(st.sampled_from((0, 0.5, 1, 2)), min_size=size, max_size=size).filter(any))
    return {
        **draw(st.sampled_from(({}, {"weights": weights}))),
        "required": draw(st.sampled_from(((), (), (0,), (1, 2)))),
        "min_votes": draw(st.integers(1, 3)),
        "errors": draw(st.sampled_from(("missing", "missing", "fail", "abstain", "ignore"))),
    }


LARGE = [name for name in RULES if name != "bayes"]  # whose reliabilities are those of four jurors


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_larger_juries_settle_exactly_when_no_vote_can_change_the_outcome(data: st.DataObject) -> None:
    rule, options, (labels, letters) = RULES[data.draw(st.sampled_from(LARGE))]
    size = data.draw(st.integers(5, 8))
    jury = jury_of(rule, data.draw(st.sampled_from(options)), labels, size, data.draw(circumstances(size)))
    missing = [None, ERROR] if jury.counts.errors == "missing" else [None]
    letters = letters if len(missing) == 2 else (*letters, ERROR)
    votes = data.draw(st.lists(st.sampled_from([*letters, *letters, *missing]), min_size=size, max_size=size))
    places = [place for place, vote in enumerate(votes) if vote in missing]
    found = jury.counts.outcome(votes)
    chance = Random(data.draw(st.integers(0, 999)))
    ways = [[letter] * len(places) for letter in letters] + [chance.choices(letters, k=len(places)) for _ in range(15)]
    ends = set()
    for way in ways if places else ():
        cast = dict(zip(places, way, strict=True))
        ends.add(result(jury.counts.outcome([cast.get(place, vote) for place, vote in enumerate(votes)])))
    if not places:
        assert found is not None
    elif found is None:
        assert None in votes
        assert len(ends) > 1
    elif found.status == "ERROR":
        assert None not in votes
        assert len(ends) > 1
    else:
        assert ends == {result(found)}


FUNCTIONS = {"first": lambda votes: votes[0].ballot == "PASS", "always": lambda votes: "PASS"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_the_votes_settles_nothing_while_a_vote_is_missing(name: str) -> None:
    count = jury_of(FUNCTIONS[name], {}, {}, 3).counts
    for votes in product((PASS, FAIL, ERROR, None), repeat=3):
        found = count.outcome(votes)
        if None in votes:
            assert found is None
        else:
            assert (found.status == "ERROR") == (ERROR in votes)


@pytest.mark.parametrize("errors", ["missing", "fail", "ignore"])
def test_a_juror_whose_labels_are_not_known_leaves_the_outcome_open(errors: str) -> None:
    jury = Ensemble([Says(None, "any"), Says(None, "b"), Says(None, "c")], errors=errors)
    unknown = [Says(None, "any"), Says(None, "b"), Says(None, "c")]
    unknown[0].labels = None
    open_ = Ensemble(unknown, errors=errors)
    assert jury.counts.outcome([None, PASS, PASS]).status == "PASS"
    assert open_.counts.outcome([None, PASS, PASS]) is None
    assert open_.counts.outcome([PASS, PASS, PASS]).status == "PASS"


# Leaves of nested juries, by letter; `!` is broken, or its model refuses (`~`), and may be any other.
LEAVES = {letter: RULES["majority of two labels"][2][1][place] for place, letter in enumerate("ABPF-")} | {
    "!": ERROR, "~": abstain("refused", metadata={"cause": "refused"}),
}  # fmt: skip


NODES = [
    *((Ensemble, {"voting": "majority", **options}) for options in every(tie=TIES, priority=((), ("B", "FAIL")))),
    *((Ensemble, {"voting": "unanimous", "on_split": split}) for split in ("fail", "abstain", "SPLIT")),
    *((Ensemble, {"voting": "veto", "k": k}) for k in (1, 2)),
    *((Ensemble, {"voting": "quorum", "quorum": quorum}) for quorum in (0.5, "2/3")),
    *((Scorecard, {"pass_when": when}) for when in ("all", "any", 1)),
    (all_of, {}),
    (any_of, {}),
]


@st.composite
def nested(draw, depth=2):
    """Return a nested jury as (kind, options, members); its leaves are letters. No rule reads scores."""
    if depth == 0 or (depth == 1 and draw(st.booleans())):
        return draw(st.sampled_from("PPPFF!!-AB"))
    kind, options = draw(st.sampled_from(NODES))
    return kind, options, draw(st.lists(nested(depth - 1), min_size=1, max_size=3))


def built(tree, broken):
    """Return the judge of a nested jury, whose broken leaves say what the iterator gives."""
    if isinstance(tree, str):
        said = LEAVES[next(broken, "!") if tree == "!" else tree]
        return Says(said, labels=TWO[0])
    kind, options, members = tree
    judges = [built(member, broken) for member in members]
    if kind in (all_of, any_of):
        return kind(*judges)
    if "k" in options:
        options = {**options, "k": min(options["k"], len(judges))}
    return kind(dict(enumerate(judges)) if kind is Scorecard else judges, **options)


def broken_leaves(tree):
    return tree == "!" if isinstance(tree, str) else sum(map(broken_leaves, tree[2]))


def partly_broken(last):
    """Return a juror with the score 0.9 that would have 0.6 with a 0 in place of its broken juror, or 0.93 with a 1."""
    jurors = [Says(scored(score, "PASS")) for score in (0.9, 0.9)]
    return Ensemble([*jurors, last], voting="average", threshold=0.5)


BROKEN = {"juror": Says(ERROR), "jury": Ensemble([Says(PASS)], voting=lambda votes: votes[9])}


ON_SCORES = {  # rules that read the score or the confidence of such a juror
    "average": lambda one: Ensemble([one, Says(scored(0.5, "FAIL"))], voting="average", threshold=0.7),
    "median": lambda one: Ensemble([one], voting="median", threshold=0.7),
    "quorum": lambda one: Ensemble([one], voting="quorum", threshold=0.7),
    "confidence": lambda one: Ensemble([one, Says(sure(0.75, "FAIL"))], use_confidence=True),
    "scorecard": lambda one: Scorecard({"a": one}, weights={"a": 1}, threshold=0.7),
}


@each_row("broken", BROKEN)
@each_row("name", ON_SCORES)
def test_no_decision_of_a_rule_on_scores_rests_on_a_broken_juror_inside(name: str, broken: str) -> None:
    verdict = ON_SCORES[name](partly_broken(BROKEN[broken])).judge("?")
    ends = {ON_SCORES[name](partly_broken(Says(last))).judge("?").status for last in (PASS, FAIL)}
    assert len(ends) > 1
    assert verdict.status == "ERROR"


@settings(max_examples=50, deadline=None)
@given(nested().filter(broken_leaves), st.randoms(use_true_random=False))
def test_no_decision_of_a_nested_jury_rests_on_a_broken_juror(tree: tuple, chance: Random) -> None:
    number = broken_leaves(tree)
    verdict, refused = (built(tree, repeat(lost)).judge("?") for lost in "!~")
    for way in [*([letter] * number for letter in "ABPF-"), *(chance.choices("ABPF-", k=number) for _ in range(3))]:
        whole = result(built(tree, iter(way)).judge("?"))
        assert verdict.status == "ERROR" or whole == result(verdict)
        assert refused.is_missing or whole == result(refused)
