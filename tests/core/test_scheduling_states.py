"""The scheduler as a state machine: jurors finish, fail, hang and are cancelled in any order; nobody is lost.

Hypothesis plays the world: it lets any waiting juror answer, break, be interrupted or give up, lets time pass, lets the
event loop turn, and cancels the caller, in whatever order it likes, against panels of any schedule, vote and nesting.
The jurors are real judges that wait for a future which the test holds, on an event loop whose clock the test sets.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from itertools import product

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from support.examples import examples

from jury_adapters import CascadedJury, Case, Ensemble, Judge, Judgment, Status, Tier, Verdict
from jury_adapters.core.event_loop import CapturedException, run_and_capture
from jury_adapters.core.voting import VotingStrategy
from jury_adapters.core.voting.rules.average import Average
from jury_adapters.core.voting.rules.majority import Majority
from jury_adapters.core.voting.rules.median import Median
from jury_adapters.core.voting.rules.quorum import Quorum
from jury_adapters.core.voting.rules.unanimous import Unanimous
from jury_adapters.core.voting.rules.weighted import Weighted

CASE = Case(question="?")
VOTES = {
    "pass": Judgment(Status.PASS, score=0.9),
    "fail": Judgment(Status.FAIL, score=0.2),
    "abstain": Judgment(Status.ABSTAIN, reasoning="cannot say"),
    "error": Judgment(Status.ERROR, error="said so"),
}
STRATEGIES: tuple[VotingStrategy, ...] = (
    Majority(on="status"),
    Majority(on="status", tie="abstain", errors="ignore", min_votes=2),
    Majority(on="status", errors="propagate"),
    Unanimous(on="status"),
    Weighted(on="status"),
    Average(threshold=0.5),
    Median(errors="abstain"),
    Quorum(quorum="2/3"),
)
SCHEDULES = ("parallel", "early_stop", "sequential")
TIMEOUT = 10.0  # by the clock of the test


class Loop(asyncio.SelectorEventLoop):
    """An event loop whose time passes when the test says so."""

    now = 0.0

    def time(self) -> float:
        return self.now


class Held(Judge):
    """A juror that waits until the test says what it does, and notes what became of each time it was asked."""

    def __init__(self, name: str, cost: float) -> None:
        self.name, self.cost = name, cost
        self.asked = self.ended = self.cancelled = 0
        self.answer: asyncio.Future[Judgment] | None = None

    async def assess(self, case: Case) -> Judgment:
        self.asked += 1
        self.answer = asyncio.get_running_loop().create_future()
        try:
            return await self.answer
        except asyncio.CancelledError:
            self.cancelled += 1
            for _ in range(3):  # cleaning up takes its time, and must be waited for
                await asyncio.sleep(0)
            raise
        finally:
            self.ended += 1

    @property
    def waiting(self) -> bool:
        return self.answer is not None and not self.answer.done()


class Prompt(Judge):
    """A juror that never waits, and is asked without the event loop."""

    def __init__(self, name: str, cost: float, vote: Judgment) -> None:
        self.name, self.cost, self.vote, self.asked = name, cost, vote, 0

    def assess(self, case: Case) -> Judgment:
        self.asked += 1
        return self.vote


class Ready(Judge):
    """A juror that never waits, and is asked on the event loop; with a timeout a plain one would get a thread."""

    def __init__(self, name: str, cost: float, vote: Judgment) -> None:
        self.name, self.cost, self.vote, self.asked = name, cost, vote, 0

    async def assess(self, case: Case) -> Judgment:
        self.asked += 1
        return self.vote


@dataclass
class World:
    """One jury at work, and what the test knows of it."""

    jury: Ensemble | CascadedJury
    held: list[Held]
    prompt: list[Prompt | Ready]
    task: asyncio.Task[Verdict | CapturedException]
    abandoned: bool = False
    interrupted: set[str] = field(default_factory=set)
    timeouts: bool = False


jurors = st.lists(
    st.tuples(st.sampled_from(["held", "held", "held", *VOTES]), st.integers(0, 2)), min_size=1, max_size=4
)


class Scheduler(RuleBasedStateMachine):
    """Any order of events, against any jury."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = Loop()
        self.world: World | None = None
        self.noise: list[str] = []
        self.loop.set_exception_handler(lambda _, context: self.noise.append(str(context)))

    @initialize(
        panels=st.lists(jurors, min_size=1, max_size=3),
        strategy=st.sampled_from(STRATEGIES),
        inner=st.sampled_from(STRATEGIES),
        schedules=st.tuples(st.sampled_from(SCHEDULES), st.sampled_from(SCHEDULES)),
        shape=st.sampled_from(["flat", "nested", "cascade"]),
        timeout=st.sampled_from([None, None, TIMEOUT]),
    )
    def begin(self, panels, strategy, inner, schedules, shape, timeout):
        held: list[Held] = []
        prompt: list[Prompt | Ready] = []
        built = [self._panel(panel, inner, schedules[1], timeout, held, prompt) for panel in panels]
        if shape == "cascade":
            policies = ["reject_on_any_fail", "escalate_on_split"]
            tiers = [Tier(f"t{n}", panel, policies[n % 2]) for n, panel in enumerate(built[:-1])]
            jury: Ensemble | CascadedJury = CascadedJury([*tiers, Tier("last", built[-1])])
        elif shape == "nested":
            jury = Ensemble(built, voting=strategy, schedule=schedules[0])
        else:
            jury = built[0]
        task = self.loop.create_task(run_and_capture(jury.ajudge, CASE))
        self.world = World(jury, held, prompt, task, timeouts=timeout is not None)
        self.world.task.add_done_callback(self._look)
        self.turn()

    def _look(self, task: asyncio.Task[Verdict | CapturedException]) -> None:
        """Record the jurors that have not ended when the jury is done."""
        self.noise += [f"{juror.name} was left" for juror in self.world.held if juror.asked != juror.ended]

    @staticmethod
    def _panel(panel, strategy, schedule, timeout, held, prompt):
        members: list[Judge] = []
        for kind, cost in panel:
            name = f"j{len(held) + len(prompt)}"
            if kind == "held":
                held.append(Held(name, float(cost)))
                members.append(held[-1])
            else:
                prompt.append((Prompt if timeout is None else Ready)(name, float(cost), VOTES[kind]))
                members.append(prompt[-1])
        return Ensemble(members, voting=strategy, schedule=schedule, juror_timeout=timeout)

    def turn(self, times: int = 12) -> None:
        """Let the event loop go round, so that whatever can go on has gone on."""
        for _ in range(times):
            self.loop.run_until_complete(asyncio.sleep(0))

    def _waiting(self) -> list[Held]:
        return [juror for juror in self.world.held if juror.waiting]

    @precondition(lambda self: self._waiting())
    @rule(data=st.data(), vote=st.sampled_from(sorted(VOTES)), at_once=st.booleans())
    def a_juror_answers(self, data, vote, at_once):
        data.draw(st.sampled_from(self._waiting())).answer.set_result(VOTES[vote])
        if not at_once:
            self.turn()

    @precondition(lambda self: self._waiting())
    @rule(
        data=st.data(),
        error=st.sampled_from([ValueError, TimeoutError, SystemExit, OSError]),
    )
    def a_juror_breaks(self, data, error):
        data.draw(st.sampled_from(self._waiting())).answer.set_exception(error("boom"))
        self.turn()

    @precondition(lambda self: self._waiting())
    @rule(data=st.data(), after=st.integers(0, 3))
    def a_juror_is_interrupted(self, data, after):
        """Ctrl-C: nobody waits on for the others."""
        self.turn(after)
        waiting = self._waiting()
        if waiting:
            juror = data.draw(st.sampled_from(waiting))
            juror.answer.set_exception(KeyboardInterrupt())
            self.world.interrupted.add(juror.name)
            self.turn(40)
            assert self.world.task.done(), "the jury waits on after an interrupt"

    @precondition(lambda self: self._waiting())
    @rule(data=st.data())
    def what_a_juror_waits_for_is_cancelled(self, data):
        """By somebody else, such as a client that is closed: nobody cancels the jury, and the juror has broken."""
        data.draw(st.sampled_from(self._waiting())).answer.cancel()
        self.turn()

    @rule(turns=st.integers(1, 3))
    def the_loop_turns(self, turns):
        self.turn(turns)

    @precondition(lambda self: self.world.timeouts and self._waiting())
    @rule()
    def time_passes(self):
        self.loop.now += TIMEOUT + 1
        self.turn()

    @precondition(lambda self: not self.world.task.done())
    @rule(at_once=st.booleans())
    def the_caller_gives_up(self, at_once):
        self.world.abandoned = True
        self.world.task.cancel()
        if not at_once:
            self.turn()

    @invariant()
    def nobody_is_asked_twice(self):
        if self.world is not None:
            assert all(juror.asked <= 1 for juror in [*self.world.held, *self.world.prompt])

    @invariant()
    def a_jury_that_is_done_left_nothing_behind(self):
        if self.world is None or not self.world.task.done():
            return
        assert not [task for task in asyncio.all_tasks(self.loop) if not task.done()]
        assert all(juror.asked == juror.ended for juror in self.world.held)

    @invariant()
    def only_cancellation_comes_out(self):
        if self.world is None or not self.world.task.done():
            return
        if self.world.task.cancelled():
            assert self.world.abandoned
        else:
            result = self.world.task.result()
            if isinstance(result, CapturedException):
                assert isinstance(result.error, KeyboardInterrupt)
                assert self.world.interrupted
            else:
                self._check(result)

    def _check(self, verdict: Verdict) -> None:
        """Assert what must hold of a verdict, whenever its jurors started and ended."""
        heard = {judgment.critic for judgment in verdict.jurors()}
        assert not heard & self.world.interrupted, "an interrupt is not a vote"
        for ensemble, found, voted in _pairs(self.world.jury, verdict):
            order = [ensemble.names.index(judgment.critic) for judgment in found.judgments]
            assert order == sorted(order), "judgments stand in juror order"
            assert sorted([*found.skipped, *(j.critic for j in found.judgments)]) == sorted(ensemble.names)
            assert found.partial is bool(found.skipped)
            by_name = {judgment.critic: judgment for judgment in found.judgments}
            for unheard in product(VOTES.values(), repeat=len(found.skipped)) if voted else ():
                every = {**by_name, **dict(zip(found.skipped, unheard, strict=True))}
                whole = ensemble.strategy.tally([every[name] for name in ensemble.names], ensemble.weights)
                assert (whole.status, whole.label) == (found.status, found.label), "it is the full vote"

    def teardown(self) -> None:
        """Let whoever still waits pass, and see that it ends; then close the loop."""
        try:
            if self.world is None:
                return
            for _ in range(len(self.world.held) + 1):
                for juror in self._waiting():
                    juror.answer.set_result(VOTES["pass"])
                self.turn()
            assert self.world.task.done(), "the jury hangs although every juror has answered"
            self.nobody_is_asked_twice()
            self.a_jury_that_is_done_left_nothing_behind()
            self.only_cancellation_comes_out()
            assert not self.noise, "nobody is left behind, and nothing reaches the loop's exception handler"
        finally:
            self.loop.close()


def _pairs(jury: Judge, verdict: Judgment, voted: bool = True) -> list[tuple[Ensemble, Verdict, bool]]:
    """Every ensemble in a jury, with its verdict, and whether that is its vote: tiers settle on their policies."""
    if not isinstance(verdict, Verdict):
        return []
    if isinstance(jury, CascadedJury):
        tiers = {tier.name: tier for tier in jury.tiers}
        found = ((tiers[tier.name], tier.judgment) for tier in verdict.tiers)
        return [pair for tier, said in found for pair in _pairs(tier.judge, said, tier is jury.tiers[-1])]
    if not isinstance(jury, Ensemble):
        return []
    members = dict(zip(jury.names, jury.members, strict=True))
    inner = [pair for judgment in verdict.judgments for pair in _pairs(members[judgment.critic], judgment)]
    return [(jury, verdict, voted), *inner]


TestScheduler = Scheduler.TestCase
TestScheduler.settings = settings(examples(150), stateful_step_count=12, suppress_health_check=[HealthCheck.too_slow])
