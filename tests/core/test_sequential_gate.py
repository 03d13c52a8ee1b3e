"""The sequential gate: its error is exact on small files, and what is certain is never contradicted."""

import asyncio
import random
from collections import Counter
from copy import deepcopy
from math import perm

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from jury_adapters import Judgment, abstain, judge
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.sequential_gate import ALPHA, SequentialGate

PASS, FAIL, ABSTAIN = Judgment("PASS"), Judgment("FAIL"), abstain("cannot say")
ERROR = Judgment("ERROR", error="the model is gone")


def whole_file_meets(passed, failed, gate):
    return passed + failed > 0 and passed / (passed + failed) >= gate


def endings(cases, gate, alpha, outcomes):
    """Every way in which a run may end: how many orders lead to these counts, and what was decided there."""
    found = Counter()
    open_ends = [(SequentialGate(cases, at_least=gate, alpha=alpha), (0, 0, 0))]
    while open_ends:
        test, counts = open_ends.pop()
        if test.met is not None or sum(counts) == cases:
            found[counts, test.met] += 1
            continue
        for kind, judgment in enumerate(outcomes):
            after = deepcopy(test)
            after.add(judgment)
            open_ends.append((after, tuple(n + (kind == at) for at, n in enumerate(counts))))
    return found


def chance_of_error(found, population, gate):
    """The exact chance, over all orders of a population, that a run ends with the wrong decision."""
    truth = whole_file_meets(*population[:2], gate)
    orders, all_orders = 0.0, 0.0
    for (counts, met), ways in found.items():
        if any(n > whole for n, whole in zip(counts, population, strict=True)):
            continue
        chance = ways / perm(sum(population), sum(counts))
        for n, whole in zip(counts, population, strict=True):
            chance *= perm(whole, n)
        all_orders += chance
        orders += chance * (met != truth)
    assert all_orders == pytest.approx(1)
    return orders


def populations(cases, abstentions):
    for left_out in range(cases + 1 if abstentions else 1):
        for passed in range(cases - left_out + 1):
            yield passed, cases - left_out - passed, left_out


@pytest.mark.parametrize("sizes", [(1, 6, 9), pytest.param((1, 8, 12), marks=pytest.mark.slow)], ids=["small", "large"])
@pytest.mark.parametrize("alpha", [ALPHA, 0.3, 0.6])
@pytest.mark.parametrize("gate", [0.0, 0.3, 0.5, 2 / 3, 0.8, 0.9, 1.0])
def test_the_exact_error_over_all_orders_of_every_small_file_is_at_most_alpha(gate, alpha, sizes):
    for cases, outcomes in zip(sizes, ((PASS, FAIL, ABSTAIN), (PASS, FAIL, ABSTAIN), (PASS, FAIL)), strict=True):
        found = endings(cases, gate, alpha, outcomes)
        for population in populations(cases, abstentions=len(outcomes) == 3):
            error = chance_of_error(found, population, gate)
            assert error <= alpha + 1e-12, (population, gate, alpha, error)


def test_the_bound_is_not_idle_some_small_file_is_decided_wrongly():
    found = endings(11, 0.5, 0.6, (PASS, FAIL))
    assert max(chance_of_error(found, population, 0.5) for population in populations(11, abstentions=False)) > 0.05


@pytest.mark.slow
@given(
    verdicts=st.lists(st.sampled_from([PASS, FAIL, ABSTAIN, ERROR]), min_size=1, max_size=60),
    gate=st.sampled_from([0.0, 0.1, 1 / 3, 0.5, 0.7, 0.9, 0.95, 1.0]),
)
@examples(300)
def test_a_gate_that_has_seen_every_case_says_what_the_whole_file_says(verdicts, gate):
    test = SequentialGate(len(verdicts), at_least=gate)
    for verdict in verdicts:
        test.add(verdict)
    decided = [verdict for verdict in verdicts if verdict in {PASS, FAIL}]
    counted = [verdict for verdict in verdicts if verdict != ABSTAIN]
    truth = bool(decided) and verdicts.count(PASS) / len(counted) >= gate
    assert (test.met, test.decision.certain, test.decision.alpha) == (truth, True, 0.0)


@pytest.mark.slow
@given(
    verdicts=st.lists(st.sampled_from([PASS, FAIL, ABSTAIN]), min_size=2, max_size=40),
    seen=st.integers(1, 39),
    gate=st.sampled_from([0.0, 0.2, 0.5, 0.8, 0.9, 1.0]),
)
@examples(300)
def test_what_is_certain_stays_whatever_comes(verdicts, seen, gate):
    test = SequentialGate(len(verdicts), at_least=gate)
    for verdict in verdicts[:seen]:
        test.add(verdict)
    if not test.decision.certain:
        return
    said = test.met
    for verdict in verdicts[seen:]:
        test.add(verdict)
        assert test.met is said


@given(
    cases=st.integers(1, 400),
    gate=st.floats(0.01, 1.0),
    better=st.lists(st.booleans(), min_size=1, max_size=400),
)
@examples(100)
def test_all_passed_is_never_taken_for_missed_nor_all_failed_for_met(cases, gate, better):
    for judgment, wrong in ((PASS, False), (FAIL, True)):
        test = SequentialGate(cases, at_least=gate)
        for _ in better[:cases]:
            test.add(judgment)
            assert test.met is not wrong


@pytest.mark.parametrize("cases", [100, 1000, 100_000])
def test_more_passes_decide_sooner_the_further_they_are_from_the_gate(cases):
    needed = []
    for gate in (0.5, 0.8, 0.9, 0.95):
        test = SequentialGate(cases, at_least=gate, seed=0)
        for _ in test.draw(range(cases)):
            test.add(PASS)
        needed.append(test.decision.judged)
    assert needed == sorted(needed)
    assert needed[0] <= 12  # five heads in a row are 1 in 32, and the bets are spread


def test_abstentions_alone_decide_nothing_until_the_last():
    test = SequentialGate(50, at_least=0.9)
    for number in range(49):
        test.add(ABSTAIN)
        assert test.met is None, number
    test.add(ABSTAIN)
    assert test.met is False  # as --fail-under says where nothing was decided


def test_a_broken_case_counts_as_failed():
    one, other = (SequentialGate(200, at_least=0.9, seed=0) for _ in range(2))
    while one.met is None:
        one.add(FAIL)
        other.add(ERROR)
    assert (one.met, other.met) == (False, False)
    assert one.decision == other.decision


def test_where_only_broken_and_abstained_cases_are_left_over_not_even_a_gate_of_zero_is_met():
    test = SequentialGate(2, at_least=0)
    test.add(ERROR)
    assert test.met is None
    test.add(ABSTAIN)
    assert test.met is False


def test_the_order_is_random_repeatable_and_ends_with_the_decision():
    def drawn(seed):
        test = SequentialGate(500, at_least=0.8, seed=seed)
        order = []
        for number in test.draw(range(500)):
            order.append(number)
            test.add(PASS)
        return order, test.decision

    (first, decision), (again, _), (other, _) = drawn(7), drawn(7), drawn(8)
    assert first == again != other
    assert (decision.met, decision.certain, decision.judged, decision.seed) == (True, False, len(first), 7)
    assert decision.cases_saved == 500 - len(first)
    assert len(set(first)) == len(first) < 50
    assert drawn(None)[1].seed != drawn(None)[1].seed


def test_each_item_is_drawn_once_when_nothing_is_decided():
    test = SequentialGate(100, at_least=0.5)
    assert sorted(test.draw(range(100))) == list(range(100))


def test_all_orders_are_about_equally_likely():
    seen = Counter(tuple(SequentialGate(3, at_least=0.5, seed=seed).draw("abc")) for seed in range(6000))
    assert len(seen) == 6
    assert min(seen.values()) > 850  # five standard errors below 1,000


def test_verdicts_after_the_decision_are_counted_and_only_certainty_changes_it():
    test = SequentialGate(60, at_least=0.5)
    while test.met is None:
        test.add(PASS)
    at = test.decision.judged
    assert not test.decision.certain
    for _ in range(60 - at):
        test.add(FAIL)
    assert test.decision.judged == 60
    assert (test.met, test.decision.certain) == (False, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cases": 0, "at_least": 0.5}, "cases is a whole number from 1"),
        ({"cases": True, "at_least": 0.5}, "cases is a whole number"),
        ({"cases": 2.0, "at_least": 0.5}, "cases is a whole number"),
        ({"cases": 3, "at_least": 1.1}, "at_least is a share"),
        ({"cases": 3, "at_least": float("nan")}, "at_least is a share"),
        ({"cases": 3, "at_least": 0.5, "alpha": 0}, "alpha is a chance"),
        ({"cases": 3, "at_least": 0.5, "alpha": float("nan")}, "alpha is a chance"),
    ],
)
def test_numbers_out_of_range_are_refused(arguments, message):
    with pytest.raises(ConfigurationError, match=message):
        SequentialGate(**arguments)


def test_labels_too_many_verdicts_and_another_number_of_items_are_refused():
    test = SequentialGate(1, at_least=0.5)
    with pytest.raises(ConfigurationError, match="here are 2"):
        test.draw([1, 2])
    with pytest.raises(ConfigurationError, match="label"):
        test.add(Judgment(None, label="polite"))
    test.add(PASS)
    with pytest.raises(ConfigurationError, match="one more"):
        test.add(PASS)


@pytest.mark.slow
@pytest.mark.parametrize("gate", [0.5, 0.9])
def test_wealth_stays_sound_over_a_long_run_at_the_gate(gate):
    rng = random.Random(1)
    cases = 20_000
    passed = round(gate * cases)
    verdicts = [PASS] * passed + [FAIL] * (cases - passed)
    rng.shuffle(verdicts)
    test = SequentialGate(cases, at_least=gate)
    for verdict in verdicts:
        test.add(verdict)
    assert test.met is True


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_slow_case_does_not_let_the_rest_of_the_file_be_judged(asynchronous):
    gate, judged = SequentialGate(900, at_least=0.5, seed=2), []

    async def slow_at_first(case):
        judged.append(case.question)
        await asyncio.sleep(0.5 if len(judged) == 1 else 0)
        return True

    async def collect():
        async for verdict in judge(slow_at_first).ajudge_many(drawn, max_concurrency=20):
            gate.add(verdict)

    drawn = gate.draw([str(number) for number in range(900)])
    if asynchronous:
        asyncio.run(collect())
    else:
        for verdict in judge(slow_at_first).judge_many(drawn, max_concurrency=20):
            gate.add(verdict)
    needed = 20  # at most
    assert gate.decision.met
    assert len(judged) == gate.decision.judged <= needed + 2 * 20
