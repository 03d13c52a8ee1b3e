"""Sequential test of a pass rate, which judges cases in random order and stops as soon as the gate is decided."""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import sqrt
from typing import Final, TypeVar

from jury_adapters.core.ending_early import EndsEarly
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.tolerance import reaches

Item = TypeVar("Item")

ALPHA: Final = 0.05
"""Default of the maximum probability that a stopped run decides differently from the whole file."""


@dataclass(frozen=True, slots=True)
class GateDecision:
    """Decision of a sequential gate, with the number of cases that it required.

    Attributes:
        at_least: the gate, 0..1.
        met: whether the whole file meets the gate; None if it is not decided.
        certain: True if the cases that were not judged cannot change the decision.
        alpha: maximum probability, 0..1, that the whole file would decide differently; 0 if the decision is certain.
        cases: number of cases in the whole file.
        judged: number of cases whose verdicts were added.
        seed: seed of the random order.

    >>> print(GateDecision(0.9, True, False, 0.05, cases=1000, judged=40, seed=1))
    gate of 0.9 met; all 1,000 cases decide otherwise with a chance of at most 5 %
    """

    at_least: float
    met: bool | None
    certain: bool
    alpha: float
    cases: int
    judged: int
    seed: int

    @property
    def cases_saved(self) -> int:
        """Number of cases that were not judged because the gate was decided."""
        return 0 if self.met is None else self.cases - self.judged

    def __str__(self) -> str:
        if self.met is None:
            return f"gate of {self.at_least:g} not decided"
        said = f"gate of {self.at_least:g} {'met' if self.met else 'missed'}"
        if self.judged == self.cases:
            return f"{said}; every case was judged"
        if self.certain:
            return f"{said}, whatever the verdicts on the other cases"
        return f"{said}; all {self.cases:,} cases decide otherwise with a chance of at most {100 * self.alpha:g} %"


class SequentialGate:
    """Test of whether enough cases of a file pass, which may be stopped at any time.

    A file meets the gate if the share of PASS among the cases that count is at least the gate. PASS, FAIL and ERROR
    count; ABSTAIN does not. With the cases judged in random order, the gate is decided as soon as either

    - the remaining cases cannot change the outcome, or
    - the evidence suffices: the probability that the whole file would decide differently is at most ``alpha``, however
      often the test is evaluated and whenever it is stopped.

    The probability refers only to the random order. The statement is about the rows of this file, so it holds for any
    dependence between the cases, for example in groups; it does not apply to other cases. It assumes that the verdict
    on a case does not depend on its place in the order, and that verdicts are added in the order in which the cases
    were drawn. In the order in which cases finish, slow cases would come too late, and they may fail more often.

    The test is a pair of bets without replacement. With the gate g, a pass is worth 1 - g, a fail -g, and an abstention
    0; the file meets the gate exactly if the sum over all cases is 0 or more. One bettor starts with a wealth of 1 and
    bets that the sum is not below 0; another bets that it is. Under the hypothesis against which a bettor bets, the
    wealth is a non-negative supermartingale, so by Ville's inequality the probability that it ever reaches 1 /
    ``alpha`` is at most ``alpha``. Exactly one of the two hypotheses is true, so each is tested at ``alpha``, and the
    error of both together is ``alpha``. The wealth is divided evenly between several bets, each of which is optimal for
    a certain pass rate.

    Source: I. Waudby-Smith and A. Ramdas (2024), *Estimating means of bounded random variables by betting*, JRSS B
    86(1), section 5 (sampling without replacement); J. Ville (1939), *Étude critique de la notion de collectif*.

    Args:
        cases: number of cases in the whole file, from 1.
        at_least: the gate, 0..1.
        alpha: maximum probability that the whole file would decide differently, between 0 and 1.
        seed: seed that reproduces a random order. By default a new seed is drawn, so that the lines of a file cannot be
            arranged to suit the order; :attr:`decision` has it.

    Raises:
        ConfigurationError: a number is out of its range.

    >>> gate = SequentialGate(1000, at_least=0.9, seed=1)
    >>> for number in gate.draw(range(1000)):
    ...     gate.add(Judgment("PASS"))
    >>> gate.decision.met, gate.decision.judged, gate.decision.cases_saved
    (True, 38, 962)
    """

    def __init__(self, cases: int, *, at_least: float, alpha: float = ALPHA, seed: int | None = None) -> None:
        if isinstance(cases, bool) or not isinstance(cases, int) or cases < 1:
            raise ConfigurationError(f"cases is a whole number from 1, not {plain_repr(cases)}")
        if not 0 <= at_least <= 1:
            raise ConfigurationError(f"at_least is a share from 0 to 1, not {plain_repr(at_least)}")
        if not 0 < alpha < 1:
            raise ConfigurationError(f"alpha is a chance between 0 and 1, not {plain_repr(alpha)}")
        self._cases = cases
        self._gate = float(at_least)
        self._alpha = alpha
        self._seed = secrets.randbits(32) if seed is None else seed
        self._passed = self._failed = self._broken = self._abstained = 0
        self._for = _Bets(_rates(self._gate, 1.0, cases))
        self._against = _Bets(_rates(self._gate, 0.0, cases))
        self._test: bool | None = None

    @property
    def met(self) -> bool | None:
        """Whether the whole file meets the gate; None while it is not decided."""
        sure = self._certainty()
        return self._test if sure is None else sure

    @property
    def decision(self) -> GateDecision:
        """The decision so far."""
        met, certain = self.met, self._certainty() is not None
        error = 0.0 if certain else self._alpha
        return GateDecision(self._gate, met, certain, error, self._cases, self._judged, self._seed)

    def draw(self, items: Sequence[Item]) -> EndsEarly[Item]:
        """Return an iterator over the items in random order, each once, which ends when the gate is decided.

        Args:
            items: the cases of the whole file, or items that represent them.

        Raises:
            ConfigurationError: the number of items differs from the number of cases.
        """
        if len(items) != self._cases:
            raise ConfigurationError(f"the gate is for {self._cases:,} cases, and here are {len(items):,}")
        order = list(range(self._cases))
        random.Random(self._seed).shuffle(order)
        return EndsEarly(items[position] for position in takewhile(lambda _: self.met is None, order))

    def add(self, judgment: Judgment) -> None:
        """Add the next verdict, in the order in which the cases were drawn.

        A verdict on a case in flight that arrives after the decision is counted. It changes the decision only if it
        makes the opposite one certain.

        Raises:
            ConfigurationError: the verdict is a label without a PASS/FAIL meaning, or there are more verdicts than
                cases.
        """
        if judgment.status is None:
            raise ConfigurationError("a gate needs PASS and FAIL, but there is a label without such a meaning")
        if self._judged == self._cases:
            raise ConfigurationError(f"the gate is for {self._cases:,} cases, and here is one more")
        status = Status.ERROR if judgment.failed_by_errors else judgment.status
        if self._test is None and 0 < self._gate < 1:
            self._bet({Status.PASS: 1 - self._gate, Status.ABSTAIN: 0.0}.get(status, -self._gate))
        self._passed += status is Status.PASS
        self._failed += status is Status.FAIL
        self._broken += status is Status.ERROR
        self._abstained += status is Status.ABSTAIN

    @property
    def _judged(self) -> int:
        return self._passed + self._failed + self._broken + self._abstained

    def _bet(self, value: float) -> None:
        """Settle the bets on one case, and decide the test if a bettor has won enough."""
        counted = self._passed + self._failed + self._broken
        total = self._passed - self._gate * counted
        mean = -total / (self._cases - self._judged)  # mean of the remaining cases, if the sum over all were 0
        share = (counted + 1) / (self._judged + 1)  # share of cases that count, estimated from earlier cases
        for bets, met in ((self._for, True), (self._against, False)):
            if bets.settle(value, mean, self._gate, share) >= 1 / self._alpha and self._test is None:
                self._test = met

    def _certainty(self) -> bool | None:
        """Return the outcome that the remaining verdicts cannot change; None if it depends on them."""
        left = self._cases - self._judged
        counted = self._passed + self._failed + self._broken
        most = counted + left
        if self._passed + self._failed and reaches(self._passed / most, self._gate):
            return True
        if not most or not reaches((self._passed + left) / most, self._gate):
            return False
        return None if left else False  # all broke or abstained, and so do not even meet a gate of 0


class _Bets:
    """Wealth of a bettor, divided evenly between bets that are each optimal for one pass rate.

    Args:
        rates: the pass rates, all on the same side of the gate.
    """

    def __init__(self, rates: Sequence[float]) -> None:
        self._rates = tuple(rates)
        self._wealth = [1 / len(rates)] * len(rates)

    def settle(self, value: float, mean: float, gate: float, share: float) -> float:
        """Settle the bets on one case and return the wealth.

        Args:
            value: the value of the case, from -gate to 1 - gate.
            mean: expected value under the hypothesis against which the bettor bets.
            gate: the gate, between 0 and 1.
            share: estimated share of the cases that count, 0..1; it affects the quality of bets but not their validity.
        """
        least, most = -gate - mean, 1 - gate - mean  # range of the value minus its mean
        if not least < 0 < most:  # the hypothesis is impossible, and the remaining cases cannot change the outcome
            return sum(self._wealth)
        null = min(max(gate + mean / share, _NEVER_SURE), 1 - _NEVER_SURE)
        for number, rate in enumerate(self._rates):
            # The best bet for this rate, only on the bettor's side, and never the whole wealth of the bet.
            best = (rate - null) / (null * (1 - null))
            stake = min(max(best, 0.0), _BOLDEST / -least) if rate > gate else max(min(best, 0.0), -_BOLDEST / most)
            self._wealth[number] *= 1 + stake * (value - mean)
        return sum(self._wealth)


def _rates(gate: float, end: float, cases: int) -> list[float]:
    """Return the pass rates to bet on between the gate and an end; the distance from the gate halves each time.

    Rates far from the gate are left out because they need few cases anyway, and rates that are too close to the gate to
    be distinguished with this number of cases are left out, too.
    """
    distance = max(min(abs(end - gate), _FARTHEST), 1e-9)
    side = 1 if end > gate else -1
    rates = [gate + side * distance]
    while distance > 1 / sqrt(cases):
        distance /= 2
        rates.append(gate + side * distance)
    return rates


_FARTHEST = 0.4
_BOLDEST = 0.95
_NEVER_SURE = 1e-9
