"""Request rate that adapts to the share of 429 responses."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

from jury_adapters.models.cohorts import Cohort, Sent
from jury_adapters.models.window_size import WindowSize

_log = logging.getLogger(__name__)


class AdaptiveRate:
    """Request rate that is unlimited until the vendor refuses a notable share of the requests with 429.

    It is that of one model, or of several that may share a quota (:mod:`~jury_adapters.models.shared_rates`).

    Two kinds of 429 look alike one by one. Vendors that refuse requests beyond a rate must be sent fewer. Vendors that
    refuse some requests at random must not: fewer requests only take longer. The rule tells them apart by their
    reaction to a lower rate:

    1. *Unlimited.* Requests are counted in cohorts of one second. The rate becomes limited when at least 8 requests and
       10 % of a second are refused, or 3 % over three or ten seconds, or a storm of at least 16, half of all or nearly
       all of those in a row. The limit is 80 % of the *goodput*, the accepted requests of the busiest of these seconds,
       because a burst may have been accepted. It is 95 % if fewer than 10 % were refused. If the order of the refusals
       shows a smaller window of the vendor (:mod:`~jury_adapters.models.window_size`), its size is the goodput.
    2. *Limited.* Requests are sent one by one, evenly spaced, first come, first served. A second with more than 2 %
       refused cuts the limit to 95 % of its goodput, or to half if most were refused. The second after a cut does
       not count, because the vendor may still count requests from before. A full window that is smaller than the limit
       cuts it to 95 % of the window at once.
    3. *Test.* If a cut leaves the share of refusals about what it was, the refusals do not depend on the rate. The
       limit is lifted, and shares up to 1.5 times as large, and 3 % more, are tolerated for a minute. Shares from 10 %
       on have to stay the same twice. Shares above 35 % always count as refusals of the rate.
    4. *Raise.* Seconds that used up the limit without refusals raise it: to 95 % of the goodput first, and after half
       a minute by 10 %, then by more and more. Refusals undo a raise, and after a raise by up to a quarter the
       next one waits for a minute. If the goodput is not reliable, the raises begin at once: when most were refused,
       and when few were in the second after a storm.
    5. Ten seconds in a row that used less than 80 % of the limit lift it.

    Safe to use from several event loops and threads at once. Unlimited, a request costs one reading of the clock.

    Args:
        name: name of the model, or of the models, in the log.
        clock: monotonic time in seconds.

    Attributes:
        name: as above.
        limit: requests per second, or None while unlimited.
        sent: number of requests sent so far.
    """

    _cohort: Cohort  # cohort of the requests that are sent now
    _closed: deque[Cohort]  # cohorts whose refusals may still arrive
    _next_look: float
    _storm: Cohort | None  # cohort that led to the limit
    _test: tuple[float, int, int] | None  # share of refusals before the last cut; sent and refused since
    _unused: int  # cohorts in a row that did not use up the limit
    _target: float  # 95 % of the goodput
    _raise_at: float  # when the limit may exceed the target
    _step: float  # of the next raise
    _clean: float  # the limit before the last raise
    _raised: bool  # whether the last change was a raise not yet confirmed; refusals undo it at once

    def __init__(self, name: str = "a model", clock: Callable[[], float] = time.monotonic) -> None:
        self.limit: float | None = None
        self.name = name
        self.sent = 0
        self._clock = clock
        self._lock = threading.RLock()
        self._latency = 0.0  # seconds until a refusal arrives, on average
        self._recent: deque[Cohort] = deque(maxlen=_SPANS[-1][0])
        self._tolerated, self._tolerated_until = 0.0, 0.0
        self._strikes = 0
        self._sent_by_now = self._last_ticket = self._advanced_at = 0.0
        self._window = WindowSize()
        self._lift()
        self._begin(clock())

    # Requests

    def start(self) -> Sent:
        """Count a request that is being sent."""
        now = self._clock()
        if now >= self._next_look:
            self._look(now)
        cohort = self._cohort
        cohort.sent += 1
        self.sent += 1
        return Sent(cohort, self.sent, now)

    def refused(self, sent: Sent) -> None:
        """Count a 429."""
        with self._lock:
            now = self._clock()
            cohort = sent.cohort
            cohort.refuse(sent.number)
            is_full = self._window.refuse(sent.number, sent.at)
            self._latency += (now - sent.at - self._latency) / 8
            self._unused = 0
            if self.limit is None:
                if cohort is self._cohort and self._is_storm(cohort, now):
                    goodput = max(self._accepted_lately(now), _UNKNOWN * cohort.sent)
                    self._restrict(goodput, cohort.refused / min(cohort.sent, cohort.span), now)
                    self._storm = cohort
            elif cohort is self._storm:  # the refused request was counted as accepted
                self._target = max(0.0, self._target - _BELOW)
                self._set(max(self.limit - _CAREFUL, _CAREFUL * _UNKNOWN * cohort.sent))
            elif is_full and (size := self._window.correct(self.limit / _BELOW)) < self.limit:
                self._target, self._raise_at, self._step = _BELOW * size, now + _HOLD_S, _STEP
                self._cut(self._target, now)
            elif self._raised and cohort is self._cohort and cohort.refused >= self._too_many(now):
                self._take_back(now)
            self._look(now)

    def ticket(self) -> float:
        """Queue a request; see :meth:`delay`."""
        with self._lock:
            self._last_ticket = max(self._last_ticket + 1, self._advance(self._clock()))
            return self._last_ticket

    def delay(self, ticket: float) -> float:
        """Return the seconds until a queued request may be sent at the current rate; 0.0 for now.

        The rate may change in the meantime, so repeat the call during a long delay.
        """
        with self._lock:
            now = self._clock()
            self._look(now)
            seconds = 0.0 if self.limit is None else (ticket - self._advance(now)) / self.limit
            return seconds if seconds > _SHORTEST_S else 0.0

    # Cohorts

    def _look(self, now: float) -> None:
        """Close the cohort when its time is over, and evaluate those whose refusals have arrived."""
        with self._lock:
            if now >= self._cohort.until:
                closed = self._cohort
                closed.due = closed.until + min(_LONGEST_GRACE_S, 0.02 + 2 * self._latency)
                self._closed.append(closed)
                self._cohort = Cohort(now, now + self._usual_s)
            while self._closed and self._closed[0].due <= now:
                cohort = self._closed.popleft()
                (self._evaluate_unlimited if self.limit is None else self._evaluate_limited)(cohort, now)
            self._next_look = min([self._cohort.until, *(cohort.due for cohort in self._closed)])

    @property
    def _usual_s(self) -> float:
        """Duration of a cohort in seconds; longer at a rate below four a second, so that it has some requests."""
        return _COHORT_S if self.limit is None else max(_COHORT_S, min(10.0, 4 / self.limit))

    def _begin(self, now: float, times: float = 1, *, settling: bool = False) -> None:
        """Begin a cohort because the rate has changed. Earlier cohorts are not relevant for the new rate."""
        self._cohort = Cohort(now, now + times * self._usual_s, settling=settling)
        self._closed = deque()
        self._next_look = self._cohort.until

    def _advance(self, now: float) -> float:
        """Return the number of tickets that are due by now."""
        self._sent_by_now += (now - self._advanced_at) * (self.limit or 0.0)
        self._advanced_at = now
        return self._sent_by_now

    def _set(self, limit: float) -> None:
        self._advance(self._clock())
        self.limit = max(_LEAST, limit)

    def _tolerance(self, now: float) -> float:
        return self._tolerated if now < self._tolerated_until else 0.0

    # Unlimited

    def _is_storm(self, cohort: Cohort, now: float) -> bool:
        share = max(_STORM_SHARE, self._tolerance(now))
        many = cohort.refused >= share * cohort.sent or cohort.refused >= _SOLID * cohort.span
        return cohort.refused >= _STORM and many

    def _accepted_lately(self, now: float) -> float:
        """Return the number of requests of the last second that were accepted."""
        cohort = self._cohort
        accepted = float(cohort.sent - cohort.refused)
        before = [*self._recent, *self._closed][-1:]
        if before and cohort.since - before[0].until < _COHORT_S:
            last = before[0]
            accepted += (last.sent - last.refused) * max(0.0, 1 - (now - cohort.since) / _COHORT_S)
        return accepted

    def _evaluate_unlimited(self, cohort: Cohort, now: float) -> None:
        self._recent.append(cohort)
        if not cohort.refused:
            return
        for cohorts, least in _SPANS:
            span = list(self._recent)[-cohorts:]
            sent, refused = sum(one.sent for one in span), sum(one.refused for one in span)
            share = refused / max(1, sent)
            enough = len(span) == cohorts and refused >= _FEWEST_REFUSALS
            if enough and share >= max(least, self._tolerance(now)):
                # the busiest second, because others may have had fewer requests to send
                goodput = max((one.sent - one.refused) / (one.until - one.since) for one in span)
                self._restrict(goodput, share, now)
                return

    def _restrict(self, goodput: float, share: float, now: float) -> None:
        self._lift()
        goodput = self._window.correct(goodput)
        self._sent_by_now = self._last_ticket = 0.0
        self._advanced_at = now
        self._target, self._raise_at = _BELOW * goodput, now + _FIRST_HOLD_S
        self._cut(self._target if share < _SMALL_SHARE else _CAREFUL * goodput, now)
        self._test = (share, 0, 0)
        _log.info("%s: %.0f %% of the requests were refused (429); sending %.1f a second", self.name, 100 * share,
                  self.limit)  # fmt: skip

    def _lift(self) -> None:
        self.limit = self._storm = self._test = None
        self._unused = 0
        self._target = self._raise_at = self._clean = 0.0
        self._step = _STEP
        self._raised = False
        self._recent.clear()

    # Limited

    def _evaluate_limited(self, cohort: Cohort, now: float) -> None:
        assert self.limit is not None
        if cohort.settling:
            used = cohort.sent >= _USED * self.limit * (cohort.until - cohort.since)
            if self._storm is not None and used and cohort.refused < _WINDOW_SHARE * cohort.sent:
                self._raise_at, self._step = now, _LARGE_STEP  # no window was used up, so the limit may be far too low
            self._storm = None
            return
        self._recent.append(cohort)
        # A vendor that accumulates unused quota accepts more at first, so a large enough last second counts alone.
        span = [cohort] if cohort.refused >= _FEWEST_SEEN else list(self._recent)[-_SPAN:]
        sent, refused = sum(one.sent for one in span), sum(one.refused for one in span)
        seconds = sum(one.until - one.since for one in span)
        if self._test is not None and self._is_random(cohort, now):
            self._lift()
            self._begin(now)
            _log.info("%s: the rate has no influence on the refusals; it is unlimited again", self.name)
            return
        tested = self._test is None
        if tested and refused >= max(_FEWEST_SEEN, sent * max(_CLEAN_SHARE, self._tolerance(now))):
            self._lower((sent - refused) / seconds, now)
        elif cohort.sent < _USED * self.limit * (cohort.until - cohort.since):
            self._unused += 1
            if self._unused >= _UNUSED:
                self._lift()
                _log.info("%s: the rate is unlimited again", self.name)
        elif tested:
            self._unused = 0
            self._raised = False
            self._raise(now)

    def _lower(self, goodput: float, now: float) -> None:
        assert self.limit is not None
        goodput = self._window.correct(goodput)
        if goodput >= self.limit / 2:
            limit = self._target = _BELOW * goodput
            self._step, self._raise_at = _STEP, now + _HOLD_S
        else:  # an exhausted quota is not related to the rate
            limit, self._target = self.limit / 2, 0.0
            self._step, self._raise_at = 1.0, now
        if not self._raised:  # average over all seconds at this limit, because the worst one alone would be biased
            sent = sum(cohort.sent for cohort in self._recent)
            self._test = (sum(cohort.refused for cohort in self._recent) / sent, 0, 0)
        self._cut(limit, now)

    def _cut(self, limit: float, now: float) -> None:
        self._set(limit)
        self._recent.clear()
        self._begin(now, settling=True)
        self._raised = False

    def _raise(self, now: float) -> None:
        assert self.limit is not None
        if self.limit < 0.99 * self._target:
            limit = self._target
        elif now >= self._raise_at:
            limit = self.limit + max(_FEWEST_MORE, self._step * self.limit)
            self._step = min(1.0, 1.5 * self._step)
        else:
            return
        self._clean = self.limit
        self._raised = True
        self._recent.clear()
        self._set(limit)
        self._begin(now)

    def _too_many(self, now: float) -> float:
        """Return the number of refusals that undo a raise."""
        assert self.limit is not None
        return max(2, self._usual_s * self.limit * max(_CLEAN_SHARE, self._tolerance(now)))

    def _take_back(self, now: float) -> None:
        assert self.limit is not None
        if self.limit <= _NEAR * self._clean:
            self._raise_at = now + _HOLD_S
        self._step = max(_STEP, self._step / 4)
        self._cut(self._clean, now)

    def _is_random(self, cohort: Cohort, now: float) -> bool:
        """Return whether the refusals are random, once the test has enough requests."""
        assert self._test is not None
        before, sent, refused = self._test
        sent, refused = sent + cohort.sent, refused + cohort.refused
        self._test = (before, sent, refused)
        expected = before * sent
        if expected < _ENOUGH:
            return False
        self._test = None
        if not expected / 2 <= refused <= min(expected * 1.5, _MOST_TOLERATED * sent):
            self._strikes = 0
            return False
        self._strikes += 1
        if before >= _SMALL_SHARE and self._strikes < 2:
            return False
        self._strikes = 0
        self._tolerated = min(_MOST_TOLERATED, 0.03 + 1.5 * max(before, refused / sent))
        self._tolerated_until = now + _TOLERATE_S
        return True


_COHORT_S = 1.0
_LONGEST_GRACE_S = 2.0  # that refusals may take to arrive
_SHORTEST_S = 1e-4  # clocks of event loops are not finer
_LEAST = 1.0  # requests per second
# While unlimited
_SPANS = ((1, 0.10), (3, 0.03), (10, 0.03))  # cohorts, and the share of refusals from which the rate is limited
_FEWEST_REFUSALS = 8
_STORM, _STORM_SHARE = 16, 0.5
_SOLID = 0.75  # of the requests between two refused ones
_BELOW, _CAREFUL = 0.95, 0.8  # of the goodput
_UNKNOWN = 0.2  # of the requests sent; used as the goodput of a storm of almost only refusals
_SMALL_SHARE = 0.10
# While limited
_CLEAN_SHARE = 0.02
_FEWEST_SEEN = 3  # refusals
_SPAN = 3  # cohorts
_USED, _UNUSED = 0.8, 10  # of the limit; cohorts
_STEP, _LARGE_STEP = 0.1, 0.5
_FEWEST_MORE = 3.0  # requests per second; fewer would not show in one second
_FIRST_HOLD_S, _HOLD_S = 30.0, 60.0
_NEAR = 1.25  # times the limit; a smaller step is not worth another second with refusals
_WINDOW_SHARE = 0.2
# The test
_ENOUGH = 8  # refusals expected
_MOST_TOLERATED = 0.35
_TOLERATE_S = 60.0
