"""Limits on the calls of a model."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from jury_adapters.core.errors import ConfigurationError, plain_repr


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the calls of a model.

    Attributes:
        attempts: the maximum number of attempts per call.
        max_wait_s: the longest wait before another attempt, in seconds; a longer Retry-After is cut to it.
        deadline_s: seconds for one call with all its attempts and waits; None for no limit. From ten seconds on, it may
            take effect a second late.
        max_concurrency: the maximum number of simultaneous calls to one model. In addition, the request rate adapts to
            the share of 429 answers: :class:`jury_adapters.models.adaptive_rate.AdaptiveRate` has the rule. Models of
            the same address and key share the rate, unless one turns out to have a quota of its own.
        requests_per_minute: the maximum number of requests started per minute, or None.
        tokens_per_minute: the maximum number of tokens per minute, input and output, or None. A call reserves its
            estimate and settles when its usage is known.
        open_after: the number of calls in a row that must have given up, after all their attempts or at the time limit
            of their judge (``juror_timeout=``), before the model counts as down and further calls fail at once with
            kind ``"circuit_open"``. None: never. Refusals, other 4xx and 429 are answers and do not count;
            :class:`jury_adapters.models.circuit_breaker.CircuitBreaker` has the rule. In background judging, the same
            number of calls in a row that fail because the key is invalid, the quota is exhausted or the model does not
            exist has the same effect, for ``cooldown_s`` each time. (A batch gives up such a model after three calls.)
        cooldown_s: seconds without any answer before a model can count as down, and seconds without calls until one
            call probes it. Each failed probe doubles the pause, up to ten minutes.
    """

    attempts: int = 6
    max_wait_s: float = 60.0
    deadline_s: float | None = 600.0
    max_concurrency: int = 64
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    open_after: int | None = 5
    cooldown_s: float = 30.0

    def __post_init__(self) -> None:
        for name in ("attempts", "max_concurrency", "open_after"):
            value = getattr(self, name)
            if name == "open_after" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigurationError(f"Limits.{name} is a whole number from 1, not {plain_repr(value)}")
        for name in ("max_wait_s", "deadline_s", "requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            if value is None and name == "max_wait_s":
                raise ConfigurationError("Limits.max_wait_s is a number of seconds above 0, not None")
            if value is not None and not (isinstance(value, int | float) and value > 0):
                raise ConfigurationError(
                    f"Limits.{name} is a number above 0, or None for no limit; not {plain_repr(value)}"
                )
        if not (isinstance(self.cooldown_s, int | float) and 0 < self.cooldown_s < inf):
            raise ConfigurationError(
                f"Limits.cooldown_s is a number of seconds above 0, not {plain_repr(self.cooldown_s)}"
            )
