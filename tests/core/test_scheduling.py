"""Order in which jurors are asked; an early-stopping jury gives the same result as the full vote."""

import asyncio
import threading
from itertools import islice, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from jury_adapters import Case, Ensemble, Judge, Judgment, Status
from jury_adapters.compat.juries import combine
from jury_adapters.core.context import run_context
from jury_adapters.core.judgment import ANY_OPINION, PASS_OR_FAIL
from jury_adapters.core.voting.rules.average import Average
from jury_adapters.core.voting.rules.bayes import Bayes
from jury_adapters.core.voting.rules.first_disagreement import FirstDisagreement
from jury_adapters.core.voting.rules.majority import Majority
from jury_adapters.core.voting.rules.median import Median
from jury_adapters.core.voting.rules.quorum import Quorum
from jury_adapters.core.voting.rules.unanimous import Unanimous
from jury_adapters.core.voting.rules.weighted import Weighted
from jury_adapters.core.voting.rules.weighted_average import WeightedAverage

PASS = Judgment(Status.PASS)
FAIL = Judgment(Status.FAIL)
ABSTAIN = Judgment(Status.ABSTAIN, reasoning="cannot say")
ERROR = Judgment(Status.ERROR, error="boom")
STATUSES = (PASS, FAIL, ABSTAIN, ERROR)
LABELS = (Judgment(None, label="A"), Judgment(None, label="B"), ABSTAIN, ERROR)
RATED = (Judgment(Status.PASS, label="good"), Judgment(Status.FAIL, label="bad"), Judgment(Status.FAIL, label="off"))
SCORES = (Judgment(Status.PASS, score=0.9), Judgment(Status.PASS, score=0.6), FAIL, ABSTAIN, ERROR)
CASE = Case(question="?")

JURIES = [
    pytest.param(strategy, letters, weights, id=f"{number}-{strategy.name}")
    for number, (strategy, letters, weights) in enumerate(
        [
            (Majority(on="status"), STATUSES, None),
            (Majority(), STATUSES, None),
            (Majority(tie="pass", errors="ignore"), STATUSES, None),
            (Majority(tie="abstain", min_votes=2), STATUSES, None),
            (Majority(tie="first", errors="abstain", min_votes=3), STATUSES, None),
            (Majority(min_share="2/3", priority=["PASS"], default_label="?"), STATUSES, (1, 2, 3, 4)),
            (Majority(errors="propagate"), STATUSES, None),
            (Unanimous(), STATUSES, None),
            (Unanimous(on_split="abstain", errors="ignore", min_votes=2), STATUSES, None),
            (FirstDisagreement(), STATUSES, None),
            (Majority(disagree_label="!", default_label="?", min_votes=2), STATUSES, None),
            (Majority(disagree_label="!", default_label="?", min_share="2/3"), STATUSES, (1, 2, 3, 4)),
            (Unanimous(disagree_label="!", default_label="?", min_votes=2), STATUSES, None),
            (Weighted(disagree_label="!", default_label="?"), STATUSES, (0, 1, 1, 2)),
            (Majority(on="label", disagree_label="!", default_label="?", min_votes=2), LABELS, None),
            (Unanimous(on="label", disagree_label="!", default_label="?", min_votes=3), RATED, None),
            (Weighted(), STATUSES, (3, 1, 1, 0)),
            (Weighted(tie="first"), STATUSES, (0, 1, 1, 2)),
            (Average(), SCORES, None),
            (Average(threshold=0.7, errors="ignore", min_votes=2), SCORES, None),
            (WeightedAverage(threshold=0.6), SCORES, (5, 1, 1, 2)),
            (Median(threshold=0.6, errors="abstain"), SCORES, None),
            (Quorum(), SCORES, None),
            (Quorum(quorum=0.67, errors="ignore"), SCORES, None),
            (Majority(), LABELS, None),
            (Majority(on="label", priority=["B"]), LABELS, None),
            (Majority(on="label", min_share="1/2", default_label="?"), LABELS, None),
            (Majority(on="label", errors="fail", error_label="B"), LABELS, None),
            (Majority(on="label", tie="abstain"), RATED, None),
            (Unanimous(on="label"), RATED, None),
            (Weighted(on="label"), RATED, (1, 2, 1, 3)),
            (Bayes(reliabilities=[0.9, 0.6, 0.7, 0.8]), STATUSES, None),
            (Bayes(reliabilities=[0.9, 0.2, 0.7, 0.3], prior=0.4, errors="ignore"), STATUSES, None),
        ]
    )
]


class Recorded(Judge):
    opinion_statuses = PASS_OR_FAIL

    def __init__(self, vote, name="", cost=0.0, log=None, opinions=PASS_OR_FAIL):
        self.vote, self.name, self.cost, self.log, self.opinion_statuses = vote, name, cost, log, opinions

    def assess(self, case):
        if self.log is not None:
            self.log.append(self.name)
        return self.vote


class Waits(Judge):
    """Votes after so many turns of the event loop."""

    opinion_statuses = PASS_OR_FAIL

    def __init__(self, vote, turns, name="", cost=0.0, log=None, opinions=PASS_OR_FAIL):
        self.vote, self.turns, self.name, self.cost, self.log = vote, turns, name, cost, [] if log is None else log
        self.opinion_statuses = opinions

    async def assess(self, case):
        self.log.append(f"{self.name} starts")
        try:
            for _ in range(self.turns):
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.log.append(f"{self.name} cancelled")
            raise
        self.log.append(f"{self.name} votes")
        return self.vote


class Never(Judge):
    def __init__(self, log):
        self.log = log

    async def assess(self, case):
        self.log.append("starts")
        try:
            await asyncio.Event().wait()
        finally:
            self.log.append("ends")


def opinions_in(letters):
    """The statuses of opinions with which these letters are spelt."""
    return ANY_OPINION if any(letter.status is None for letter in letters) else PASS_OR_FAIL


def outcome(verdict):
    return verdict.status, verdict.label


def asked(verdict):
    return [judgment.critic for judgment in verdict.judgments]


def arun(jury):
    async def run():
        verdict = await jury.ajudge(CASE)
        assert asyncio.all_tasks() == {asyncio.current_task()}  # nobody is left running
        return verdict

    return asyncio.run(run())


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)], ids=["each seventh vote", "all votes"])
@pytest.mark.parametrize(("strategy", "letters", "weights"), JURIES)
def test_an_early_stopping_jury_comes_to_the_status_and_label_of_the_full_vote_and_asks_no_more_than_needed(
    strategy, letters, weights, step
):
    options, opinions = {"voting": strategy, "weights": weights}, opinions_in(letters)
    for votes in islice(product(letters, repeat=4), 0, None, step):
        jurors = [Recorded(vote, str(n), opinions=opinions) for n, vote in enumerate(votes)]
        full = Ensemble(jurors, **options).judge(CASE)
        early = Ensemble(jurors, schedule="early_stop", **options).judge(CASE)
        assert outcome(early) == outcome(full)
        prefixes = [[*votes[:k], *[None] * (4 - k)] for k in range(1, 5)]
        needed = next(
            k for k, prefix in enumerate(prefixes, start=1) if strategy.settled(prefix, weights, [opinions] * 4)
        )
        if strategy.min_votes == 1:
            assert len(early.judgments) == needed
        else:  # nobody plans with so many abstentions that min_votes is missed
            assert needed <= len(early.judgments) <= 4
        assert (early.partial, early.calls_saved) == (len(early.judgments) < 4, 4 - len(early.judgments))


@examples(300)
@given(data=st.data())
def test_an_early_stopping_jury_comes_to_the_full_vote_whoever_is_cheapest_and_whoever_finishes_first(data):
    strategy, letters, weights = data.draw(st.sampled_from(JURIES)).values
    votes = data.draw(st.lists(st.sampled_from(letters), min_size=4, max_size=4))
    costs = data.draw(st.lists(st.integers(0, 3), min_size=4, max_size=4))
    turns = data.draw(st.lists(st.integers(-1, 6), min_size=4, max_size=4))
    opinions = opinions_in(letters)
    jurors = [
        Recorded(vote, str(n), cost=cost, opinions=opinions)
        if turn < 0
        else Waits(vote, turn, str(n), cost=cost, opinions=opinions)
        for n, (vote, cost, turn) in enumerate(zip(votes, costs, turns, strict=True))
    ]
    full = arun(Ensemble(jurors, voting=strategy, weights=weights))
    early = arun(Ensemble(jurors, voting=strategy, weights=weights, schedule="early_stop"))
    assert outcome(early) == outcome(full)
    assert asked(full) == ["0", "1", "2", "3"]
    assert sorted([*asked(early), *early.skipped]) == asked(full)
    assert asked(early) == sorted(asked(early))
    assert early.partial is bool(early.skipped)
    assert early.calls_saved == len(early.skipped)
    assert len(early.tally.ballots) == len(early.judgments)
    assert len(early.weights) == (len(early.judgments) if weights else 0)


@examples(60)
@given(st.lists(st.sampled_from(STATUSES), min_size=1, max_size=9), st.randoms(use_true_random=False))
def test_large_panels_of_waiting_jurors_come_to_the_full_vote(votes, chance):
    jurors = [Waits(vote, chance.randrange(9), cost=chance.random()) for vote in votes]
    for voting in ("majority", "unanimous", "average", "quorum", "weighted"):
        early = arun(Ensemble(jurors, voting=voting, schedule="early_stop"))
        assert outcome(early) == outcome(arun(Ensemble(jurors, voting=voting)))


def test_two_of_three_are_asked_when_the_first_two_agree():
    log = []
    jury = Ensemble([Recorded(vote, name, log=log) for name, vote in zip("abc", (PASS, PASS, FAIL), strict=True)],
                    schedule="early_stop")  # fmt: skip
    verdict = jury.judge(CASE)
    assert log == ["a", "b"]
    assert (verdict.status, verdict.partial, verdict.skipped, verdict.calls_saved) == (Status.PASS, True, ("c",), 1)
    assert (verdict.tally.eligible, verdict.tally.passed, verdict.tally.abstained) == (2, 2, 0)
    assert verdict.agreement == 1.0


def test_the_third_is_asked_when_the_first_two_differ():
    jury = Ensemble([Recorded(vote) for vote in (PASS, FAIL, FAIL)], schedule="early_stop")
    verdict = jury.judge(CASE)
    assert (verdict.status, verdict.partial, verdict.skipped, verdict.calls_saved) == (Status.FAIL, False, (), 0)


def test_the_cheapest_are_asked_first_and_equal_costs_in_juror_order():
    log = []
    costs = {"dear": 3.0, "first": 1.0, "second": 1.0, "free": 0.0}
    jurors = [Recorded(PASS, name, cost, log) for name, cost in costs.items()]
    verdict = Ensemble(jurors, schedule="early_stop").judge(CASE)
    assert log == ["free", "first", "second"]
    assert asked(verdict) == ["first", "second", "free"]  # in juror order all the same
    assert verdict.skipped == ("dear",)


def test_a_heavy_juror_alone_settles_a_weighted_vote():
    jurors = [Recorded(PASS, "heavy"), Recorded(FAIL, "light"), Recorded(FAIL, "lighter")]
    verdict = Ensemble(jurors, voting="weighted", weights=[5, 1, 1], schedule="early_stop").judge(CASE)
    assert asked(verdict) == ["heavy"]
    assert verdict.status is Status.PASS
    assert verdict.weights == (5,)


def test_a_unanimous_jury_stops_at_the_first_fail():
    verdict = Ensemble(
        [Recorded(FAIL), Recorded(PASS), Recorded(PASS)], voting="unanimous", schedule="early_stop"
    ).judge(CASE)
    assert verdict.status is Status.FAIL
    assert verdict.calls_saved == 2


def test_an_unproved_vote_asks_everyone():
    jurors = [Recorded(PASS) for _ in range(5)]
    for options in ({"voting": lambda judgments: True}, {"errors": "propagate"}):
        verdict = Ensemble(jurors, schedule="early_stop", **options).judge(CASE)
        assert (len(verdict.judgments), verdict.partial) == (5, False)


def test_function_jurors_may_give_labels_so_that_auto_asks_everyone():
    """One label without a PASS/FAIL meaning makes it a vote on labels."""
    jurors = [lambda case: True, lambda case: True, lambda case: Judgment(None, label="odd")]
    full, early = (Ensemble(jurors, schedule=schedule).judge(CASE) for schedule in ("parallel", "early_stop"))
    assert outcome(early) == outcome(full) == (Status.PASS, "PASS")
    assert [Ensemble(jurors, schedule="early_stop", on=on).judge(CASE).calls_saved for on in ("status", "label")] == [
        1,
        1,
    ]


def test_auto_stops_early_as_soon_as_labels_vote():
    jurors = [lambda case, name=name: Judgment(None, label=name) for name in "AAB"]
    assert Ensemble(jurors, schedule="early_stop").judge(CASE).calls_saved == 1


def test_the_same_early_stopping_jury_plans_anew_for_each_case():
    class Echo(Judge):
        opinion_statuses = PASS_OR_FAIL

        def assess(self, case):
            return case.answer == "yes"

    jury = Ensemble([Echo(), Echo(), Recorded(FAIL)], schedule="early_stop")
    yes, no = Case(answer="yes"), Case(answer="no")
    assert [outcome(jury.judge(case))[0] for case in (yes, no, yes)] == ["PASS", "FAIL", "PASS"]
    assert [jury.judge(case).calls_saved for case in (yes, no)] == [1, 1]


def test_only_as_many_start_as_could_settle_it_and_more_when_they_did_not():
    log = []
    jurors = [Waits(vote, 2, name, log=log) for name, vote in zip("abcde", (FAIL, PASS, PASS, PASS, PASS), strict=True)]
    verdict = arun(Ensemble(jurors, schedule="early_stop"))
    assert log[:3] == ["a starts", "b starts", "c starts"]
    assert "d starts" in log
    assert "e starts" not in log
    assert (verdict.status, verdict.skipped) == (Status.PASS, ("e",))


def test_those_who_still_run_are_counted_on_before_more_are_started():
    log = []
    turns = {"b": 3, "c": 9, "d": 9, "e": 9}
    jurors = [Waits(FAIL, 1, "a", log=log), *(Waits(PASS, turn, name, log=log) for name, turn in turns.items())]
    verdict = arun(Ensemble(jurors, schedule="early_stop"))
    assert log[:6] == ["a starts", "b starts", "c starts", "a votes", "b votes", "d starts"]
    assert (verdict.status, verdict.skipped) == (Status.PASS, ("e",))


def test_nobody_is_started_where_one_who_runs_could_settle_it():
    log = []
    jurors = [Waits(FAIL, 1, "a", log=log), Waits(FAIL, 5, "b", log=log), *(Waits(PASS, 9, n, log=log) for n in "cde")]
    verdict = arun(Ensemble(jurors, voting="weighted", weights=[3, 3, 1, 1, 1], schedule="early_stop"))
    assert log == ["a starts", "b starts", "a votes", "b votes"]
    assert (verdict.status, verdict.skipped) == (Status.FAIL, ("c", "d", "e"))


def test_jurors_still_running_when_it_is_settled_are_cancelled_and_counted_as_saved():
    log = []
    jurors = [Waits(FAIL, 10**6, "a", log=log), Waits(FAIL, 1, "b", log=log), Waits(PASS, 3, "heavy", log=log)]
    verdict = arun(Ensemble(jurors, voting="weighted", weights=[1, 1, 5], schedule="early_stop"))
    assert log == ["a starts", "b starts", "heavy starts", "b votes", "heavy votes", "a cancelled"]
    assert (verdict.status, verdict.skipped) == (Status.PASS, ("a",))
    assert (verdict.partial, verdict.calls_saved) == (True, 1)


def test_a_nested_jury_that_is_not_asked_saves_all_its_jurors():
    def trio(vote):
        return Ensemble([Recorded(vote)] * 3)

    verdict = combine(trio(FAIL), trio(PASS), voting="unanimous", errors="fail", schedule="early_stop").judge(CASE)
    assert verdict.status is Status.FAIL
    assert verdict.calls_saved == 3
    inner = Ensemble([Recorded(PASS)] * 3, schedule="early_stop")
    assert Ensemble([inner, inner]).judge(CASE).calls_saved == 2
    both = Ensemble([inner, inner, inner], errors="fail", schedule="early_stop").judge(CASE)
    assert both.calls_saved == 1 + 1 + 3


def test_a_very_large_panel_stops_soon_after_the_majority_is_reached():
    verdict = Ensemble([Recorded(PASS)] * 501, schedule="early_stop").judge(CASE)
    assert (verdict.status, len(verdict.judgments)) == (Status.PASS, 251)


def test_a_very_large_panel_of_waiting_jurors_comes_to_the_full_vote():
    jurors = [Waits(PASS if n % 3 else FAIL, n % 7) for n in range(350)]
    early = arun(Ensemble(jurors, schedule="early_stop"))
    assert early.status is arun(Ensemble(jurors)).status is Status.PASS
    assert len(early.judgments) < 350


def test_the_synchronous_api_runs_waiting_jurors_with_early_stopping_too():
    verdict = Ensemble([Waits(PASS, 1), Waits(PASS, 2), Waits(FAIL, 1)], schedule="early_stop").judge(CASE)
    assert (verdict.status, verdict.calls_saved) == (Status.PASS, 1)


def test_parallel_starts_everyone_before_anyone_finishes():
    log = []
    arun(Ensemble([Waits(PASS, 1, name, log=log) for name in "abc"]))
    assert log[:3] == ["a starts", "b starts", "c starts"]


def test_one_that_never_waits_does_not_make_the_others_wait_for_each_other():
    log = []
    arun(Ensemble([Waits(PASS, 1, "a", log=log), Recorded(PASS, "b", log=log), Waits(PASS, 1, "c", log=log)]))
    assert log == ["a starts", "b", "c starts", "a votes", "c votes"]


def test_plain_jurors_with_time_limits_of_their_own_are_asked_at_once():
    both = threading.Barrier(2)
    meets = Judge.from_function(lambda case: both.wait(60) >= 0, timeout=60)
    verdict = Ensemble([meets, meets.named("other")]).judge(CASE)
    assert [judgment.status for judgment in verdict.judgments] == [Status.PASS, Status.PASS]


def test_sequential_asks_one_after_the_other():
    log = []
    verdict = arun(Ensemble([Waits(PASS, 1, name, log=log) for name in "abc"], schedule="sequential"))
    assert log == ["a starts", "a votes", "b starts", "b votes", "c starts", "c votes"]
    assert (verdict.partial, len(verdict.judgments)) == (False, 3)


def test_who_sits_twice_is_another_sample_and_the_next_case_begins_anew():
    seen = []

    async def sample(case):
        seen.append(run_context().sample)
        return True

    async def two_cases():
        twice = Judge.from_function(sample)
        jury = Ensemble([twice, twice, twice], schedule="sequential")
        await jury.ajudge(CASE)
        await jury.ajudge(CASE)

    before = run_context().sample
    asyncio.run(two_cases())
    assert seen == [before, f"{before}.1", f"{before}.2"] * 2


def test_who_sits_twice_has_its_time_limit_each_time():
    hangs = Never([])
    verdict = Ensemble([hangs, hangs], juror_timeout=0.02).with_timeout(10).judge(CASE)
    assert ["timeout" in judgment.error for judgment in verdict.judgments] == [True, True]


@pytest.mark.parametrize("schedule", ["parallel", "early_stop", "sequential"])
def test_cancelling_the_jury_cancels_its_jurors(schedule):
    log = []

    async def run():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(Ensemble([Never(log), Never(log)], schedule=schedule).ajudge(CASE), 0.02)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())
    assert log.count("starts") == log.count("ends") >= 1


@pytest.mark.parametrize("schedule", ["parallel", "early_stop", "sequential"])
def test_ctrl_c_in_a_juror_passes_and_leaves_the_background_loop_alive(schedule):
    class Interrupts(Judge):
        async def assess(self, case):
            await asyncio.sleep(0)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Ensemble([Interrupts(), Waits(PASS, 3)], schedule=schedule).judge(CASE)
    assert Ensemble([Waits(PASS, 1)], schedule=schedule).judge(CASE).passed
