"""Forms of judgments: judgments of one form count alike, whatever their texts, times, costs and confidences.

A batch has thousands of judgments and few forms, so a counter that looks at each form once is several times faster
than one that walks through each judgment.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from operator import attrgetter
from typing import Any, Generic, TypeVar

from jury_adapters.core.judgment import FALLBACK_USED, Judgment, Status
from jury_adapters.core.last_result import last_result
from jury_adapters.core.run_errors import RUN_ERROR
from jury_adapters.core.tally import NO_TALLY
from jury_adapters.core.unasked import EMPTY_ANSWER

R = TypeVar("R")
K = TypeVar("K", bound=Hashable)

_NOTED = ("position_consistent", "rubric_fingerprint", EMPTY_ANSWER)
COUNTED_METADATA = (*_NOTED, RUN_ERROR, FALLBACK_USED, "not_asked")
"""Entries of the metadata of a judgment that may change its form."""

_MOST = 1 << 10  # forms that are recognised again, because labels and errors may be different every time


class Form:
    """Everything that judgments of one form have in common.

    These are the statuses, labels, names, models and errors of a judgment and of those inside it, the reasons of those
    without an opinion, the ballots, the weights, the tiers, and the entries of the metadata that say who judged.

    Attributes:
        judgment: the first judgment of this form.
        known: results of functions of the form.
    """

    __slots__ = ("judgment", "known")

    def __init__(self, judgment: Judgment) -> None:
        self.judgment = judgment
        self.known: dict[Callable[..., Any], Any] = {}

    def result_of(self, function: Callable[[Judgment], R]) -> R:
        """Return the result of a function that depends on the form alone; it is computed once."""
        if function in self.known:
            result: R = self.known[function]
            return result
        result = self.known[function] = function(self.judgment)
        return result


@last_result
def form_of(judgment: Judgment) -> Form:
    """Return the form of a judgment; equal forms are one object, as long as there are not too many.

    Votes on scores are hardly ever alike, so each of their verdicts has a form of its own.

    >>> form_of(Judgment("PASS", reasoning="short")) is form_of(Judgment("PASS", reasoning="polite"))
    True
    >>> form_of(Judgment("PASS")) is form_of(Judgment("PASS", label="valid"))
    False
    """
    if votes_on_scores(judgment):
        return Form(judgment)
    key = _key(judgment)
    try:
        form = _FORMS.get(key)
    except TypeError:  # a ballot of a file that is not ours may be a list
        return Form(judgment)
    if form is None:
        if len(_FORMS) >= _MOST:
            _FORMS.clear()
        form = _FORMS[key] = Form(judgment)
    return form


def votes_on_scores(judgment: Judgment) -> bool:
    """Whether this is a vote on scores, which has a form of its own."""
    return getattr(judgment, "tally", NO_TALLY).on == "score"


def by_form(function: Callable[[Judgment], R]) -> Callable[[Judgment], R]:
    """Return a function that computes its result once for each form.

    The result must depend on nothing else, and must not change.
    """

    @wraps(function)
    def call(judgment: Judgment) -> R:
        return form_of(judgment).result_of(function)

    return call


class FormCounts(Generic[K]):
    """Numbers of judgments by form and one more property, which are handed on together.

    Args:
        count: counts judgments of one form. Its arguments are one of them, the property, and their number. It is called
            in the order in which forms and properties first occur.

    >>> seen = []
    >>> counts = FormCounts(lambda judgment, group, times: seen.append((judgment.critic, group, times)))
    >>> for group in ("a", "b", "a"):
    ...     counts.add(Judgment("PASS", critic="tone"), group)
    >>> counts.hand_on()
    >>> seen
    [('tone', 'a', 2), ('tone', 'b', 1)]
    """

    def __init__(self, count: Callable[[Judgment, K, int], None]) -> None:
        self._count = count
        self._waiting: dict[tuple[Form, K], int] = {}

    def add(self, judgment: Judgment, key: K, times: int = 1) -> None:
        """Add one judgment, or several of its form."""
        self.add_form(form_of(judgment), key, times)

    def add_form(self, form: Form, key: K, times: int = 1) -> None:
        """Add one judgment of a form, or several."""
        counted = form, key
        self._waiting[counted] = self._waiting.get(counted, 0) + times
        if len(self._waiting) >= _MOST:
            self.hand_on()

    def hand_on(self) -> None:
        """Hand on what was added since the last time."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, {}
        for (form, key), times in waiting.items():
            self._count(form.judgment, key, times)


_FORMS: dict[object, Form] = {}
_own_of = attrgetter("status", "label", "critic", "model", "family", "error", "score", "usage", "metadata")
_vote_of = attrgetter(
    "voting", "tally.on", "tally.eligible", "tally.ballots", "tally.tied", "tally.errors_decided", "band_on", "partial",
    "calls_saved", "weights", "same_family", "skipped", "stopped_at", "decision", "judgments", "tiers",
)  # fmt: skip
_NOTHING_MORE = ("", False, True, None, "None")


def _key(judgment: Judgment) -> object:
    """Return a value that is equal for judgments of one form."""
    if judgment.__class__ is Judgment:
        return _own_key(judgment)
    if not hasattr(judgment, "judgments"):  # a user's own class
        return judgment.__class__, _own_key(judgment)
    *own, judgments, tiers = _vote_of(judgment)
    votes = [_own_key(vote) if vote.__class__ is Judgment else _key(vote) for vote in judgments]
    inside = [(tier.name, tier.policy, tier.stopped, tier.broken, _key(tier.judgment)) for tier in tiers]
    return judgment.__class__, _own_key(judgment), tuple(own), tuple(votes), tuple(inside)


def _own_key(judgment: Judgment) -> tuple[object, ...]:
    """Return the key of a judgment without those inside it."""
    status, label, critic, model, family, error, score, usage, metadata = _own_of(judgment)
    recorded = usage.recorded
    usual = (
        not metadata and usage.cost_complete and status is not Status.ABSTAIN and status is not Status.ERROR
        and (recorded is None or (recorded.cost_complete and recorded.recorded is None))
    )  # fmt: skip
    own = status, label, critic, model, family, error, score is None
    if usual:
        return own
    more = (
        *[(name, metadata[name]) for name in _NOTED if name in metadata],
        "" if judgment.valid else judgment.reasoning, usage.total.uncounted, metadata.get(RUN_ERROR) is None,
        judgment.fallback_used, str(metadata.get("not_asked")),
    )  # fmt: skip
    return own if more == _NOTHING_MORE else (*own, *more)
