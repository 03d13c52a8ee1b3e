"""Sequential gate: cases are judged in random order until it is decided whether enough of them pass."""

import random
import secrets
from collections.abc import Iterator, Sequence
from itertools import takewhile
from math import ceil, log2, sqrt
from typing import TypeVar

from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.values import ROUNDING, ConfigurationError

Item = TypeVar("Item")

_FARTHEST, _BOLDEST, _NEVER_SURE = 0.4, 0.95, 1e-9


class SequentialGate:
    """Test of whether enough cases of a file pass, which stops as soon as it is decided.

    A file meets the gate if the share of PASS among the cases that count is at least the gate. PASS, FAIL and ERROR
    count; ABSTAIN does not. It is decided when the other cases cannot change the outcome, or when the evidence
    suffices: then all cases of the file would decide otherwise with a probability of at most ``alpha``, however often
    one looks. The probability is that of the random order, so cases may depend on each other in any way. Verdicts must
    be added in the order in which cases are drawn, since slow cases may fail more often.

    The test is a pair of bets without replacement. With the gate g a PASS is worth 1 - g, a FAIL -g, an abstention 0;
    the file meets the gate if the sum is 0 or more. One bettor bets against a smaller sum, the other against a larger
    one. Under the hypothesis against which it bets, the wealth of each is a supermartingale from 1, so it ever reaches
    ``1 / alpha`` with a probability of at most ``alpha``; and only one of the hypotheses is true.

    Args:
        cases: the number of cases of the file, from 1.
        at_least: the gate, 0..1.
        alpha: the probability of a wrong decision, between 0 and 1.
        seed: the seed of the order. By default it is fresh, so that nobody can arrange a file to suit it.

    Attributes:
        seed: the seed, with which the order can be repeated.
        judged: the number of verdicts so far.

    Raises:
        ConfigurationError: a value is out of its range.

    Source: I. Waudby-Smith and A. Ramdas (2024), *Estimating means of bounded random variables by betting*, section 5;
    J. Ville (1939), *Étude critique de la notion de collectif*.

    >>> gate = SequentialGate(1000, at_least=0.9, seed=1)
    >>> for case in gate.draw(range(1000)):
    ...     gate.add(Judgment(status="PASS"))
    >>> gate.met, gate.judged
    (True, 38)
    """

    def __init__(self, cases: int, *, at_least: float, alpha: float = 0.05, seed: int | None = None) -> None:
        whole = isinstance(cases, int) and not isinstance(cases, bool) and cases >= 1
        if not whole or not 0 <= at_least <= 1 or not 0 < alpha < 1:
            raise ConfigurationError(
                f"cases= is a number from 1, at_least= in 0..1, alpha= between 0 and 1; not {cases!r}, {at_least!r}, "
                f"{alpha!r}"
            )
        self.cases, self.at_least, self.alpha = cases, float(at_least), alpha
        self.seed = secrets.randbits(32) if seed is None else seed
        self.judged = 0
        self._counts = dict.fromkeys((Status.PASS, Status.FAIL, Status.ERROR, Status.ABSTAIN), 0)
        self._bets = {met: self._starting_bets(float(met)) for met in (True, False)}
        self._shown: bool | None = None

    def draw(self, items: Sequence[Item]) -> Iterator[Item]:
        """Yield the items in random order, each once, until the gate is decided.

        Args:
            items: the cases of the whole file.

        Raises:
            ConfigurationError: their number is another.
        """
        if len(items) != self.cases:
            raise ConfigurationError(f"the gate is for {self.cases:,} cases, not {len(items):,}")
        order = [*range(self.cases)]
        random.Random(self.seed).shuffle(order)
        return (items[place] for place in takewhile(lambda _: self.met is None, order))

    def add(self, judgment: Judgment) -> None:
        """Add the next verdict. One that arrives after the decision counts, and changes it only by making it certain.

        Raises:
            ConfigurationError: the verdict is a label without the meaning of PASS or FAIL, or it is one too many.
        """
        if judgment.status is Status.LABEL or self.judged == self.cases:
            raise ConfigurationError(f"a gate takes one PASS, FAIL, ABSTAIN or ERROR for each of {self.cases:,} cases")
        if self._shown is None and 0 < self.at_least < 1:
            self._settle({Status.PASS: 1 - self.at_least, Status.ABSTAIN: 0.0}.get(judgment.status, -self.at_least))
        self._counts[judgment.status] += 1
        self.judged += 1

    @property
    def met(self) -> bool | None:
        """Whether the whole file meets the gate; None while it is not decided."""
        return self._shown if self._sure is None else self._sure

    @property
    def _sure(self) -> bool | None:
        """The outcome that further verdicts cannot change; None if it depends on them."""
        passed, left = self._counts[Status.PASS], self.cases - self.judged
        most = self.cases - self._counts[Status.ABSTAIN]
        if passed + self._counts[Status.FAIL] and passed >= self.at_least * most - ROUNDING:
            return True
        if not most or passed + left < self.at_least * most - ROUNDING:
            return False
        return None if left else False  # all broke or abstained, which does not even meet a gate of 0

    def _starting_bets(self, end: float) -> list[list[float]]:
        """Return pairs of wealth and the pass rate that the bet suits, at distances from the gate that halve."""
        distance = max(min(abs(end - self.at_least), _FARTHEST), _NEVER_SURE)
        halvings = max(0, ceil(log2(distance * sqrt(self.cases))))
        side = 1 if end > self.at_least else -1
        return [[1 / (halvings + 1), self.at_least + side * distance / 2**k] for k in range(halvings + 1)]

    def _settle(self, value: float) -> None:
        """Settle all bets on one case."""
        gate, counted = self.at_least, self.judged - self._counts[Status.ABSTAIN]
        mean = -(self._counts[Status.PASS] - gate * counted) / (self.cases - self.judged)  # if the sum were 0
        least, most = -gate - mean, 1 - gate - mean
        if not least < 0 < most:  # the hypothesis is impossible, and the outcome is certain
            return
        share = (counted + 1) / (self.judged + 1)  # of cases that count; bets are fair whatever it is
        null = min(max(gate + mean / share, _NEVER_SURE), 1 - _NEVER_SURE)
        for met, bets in self._bets.items():
            for bet in bets:
                best = (bet[1] - null) / (null * (1 - null))
                stake = min(max(best, 0.0), _BOLDEST / -least) if met else max(min(best, 0.0), -_BOLDEST / most)
                bet[0] *= 1 + stake * (value - mean)
            if sum(wealth for wealth, _ in bets) >= 1 / self.alpha and self._shown is None:
                self._shown = met
