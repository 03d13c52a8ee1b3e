"""Judgment, the result of a judge: status, score, label, reasons and usage."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from enum import StrEnum
from operator import attrgetter
from types import MemberDescriptorType
from typing import Any, Final, Self, TypeAlias, TypeVar

from jury_adapters.core.claims import Claim, supported_share
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.review_reasons import ReviewReason, no_decision_reasons
from jury_adapters.core.secrets import error_text, without_keys
from jury_adapters.core.usage import NO_USAGE, Usage, UsageSum
from jury_adapters.core.values import (
    EMPTY,
    FrozenDict,
    JsonValue,
    clean_text,
    freeze_mapping,
    is_amount,
    no_amount,
    plain_scalar,
    stated,
    typed_tuple,
    unit_interval,
)


class Status(StrEnum):
    """Status of a judgment.

    ``ABSTAIN`` means *cannot say* (missing context, an unreadable reply). ``ERROR`` means that the judge itself broke.
    """

    PASS = "PASS"
    FAIL = "FAIL"
    ABSTAIN = "ABSTAIN"
    ERROR = "ERROR"

    __hash__ = str.__hash__  # the same values as that of an enumeration, which is much slower


OpinionStatuses: TypeAlias = frozenset[Status | None]
"""Statuses that the opinions of a judge may have; None is the status of a label without a PASS/FAIL meaning."""
PASS_OR_FAIL: Final[OpinionStatuses] = frozenset({Status.PASS, Status.FAIL})
LABEL_ONLY: Final[OpinionStatuses] = frozenset({None})
ANY_OPINION: Final = PASS_OR_FAIL | LABEL_ONLY
BROKE: Final = "the judge broke"


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding inside a judgment: a claim, a file, a rule.

    Attributes:
        name: the subject of the finding, short enough for a table.
        passed: True, False, or None if it could not be decided.
        detail: the reason.
        evidence: the quoted text on which the finding rests.
        score: 0..1, if the finding is a matter of degree.
    """

    name: str
    passed: bool | None
    detail: str = ""
    evidence: str = ""
    score: float | None = None

    def __post_init__(self) -> None:
        for attribute in ("name", "detail", "evidence"):
            object.__setattr__(self, attribute, _text(getattr(self, attribute), f"Finding.{attribute}"))
        if self.passed is not None and self.passed.__class__ is not bool:
            object.__setattr__(self, "passed", _passed(self.passed))
        if self.score is not None:
            object.__setattr__(self, "score", unit_interval(self.score, "Finding.score"))


J = TypeVar("J", bound="Judgment")

_STATUS_BY_NAME = {status.value: status for status in Status}


@dataclass(frozen=True, slots=True, repr=False)
class Judgment:
    """Immutable result of one judge on one case.

    Judgments with equal contents are equal, whatever their ``elapsed_s``.

    Attributes:
        status: PASS, FAIL, ABSTAIN or ERROR; None only with a label without a PASS/FAIL meaning (``KEEP``, ``A``).
        score: 0..1, or None. ABSTAIN and ERROR have none.
        label: the answer in the rubric's own words, or None. ERROR has none.
        probabilities: probability of each label, or None.
        confidence: the judge's own certainty, 0..1, or None.
        reasoning: the reasons; may be empty (decision models give none).
        findings: the findings that led to the status.
        claims: the claims of the answer, if they were judged one by one against passages.
        critic: the name of the judge.
        model: the language model that judged, or None.
        family: the vendor family of that model (``"openai"``, ``"anthropic"``...), or None.
        usage: tokens, calls and cost.
        elapsed_s: duration in seconds, or None if unknown.
        error: the exception's type and message, or a short code such as ``"parse_fail"``. In it, and in the reasoning
            of an ERROR, API keys are redacted.
        raw_response: the unchanged reply of the model, or None.
        metadata: anything else, as JSON values.

    Raises:
        ConfigurationError: a number is outside 0..1 (NaN and infinity included), the status forbids a field, or a
            required text is missing or blank: ``reasoning`` of ABSTAIN, ``error`` of ERROR.

    >>> Judgment("PASS", score=0.9, reasoning="every claim is in the context").passed
    True
    """

    status: Status | None
    _: KW_ONLY
    score: float | None = None
    label: str | None = None
    probabilities: Mapping[str, float] | None = field(default=None, hash=False)
    confidence: float | None = None
    reasoning: str = ""
    findings: tuple[Finding, ...] = ()
    claims: tuple[Claim, ...] = ()
    critic: str = ""
    model: str | None = None
    family: str | None = None
    usage: Usage = NO_USAGE
    elapsed_s: float | None = field(default=None, compare=False)
    error: str | None = None
    raw_response: str | None = None
    metadata: FrozenDict = field(default=EMPTY, hash=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        if self.status.__class__ is not Status:
            put(self, "status", _status_for(self.status, self.label))
        if self.score is not None:
            put(self, "score", unit_interval(self.score, "score"))
            if self.status is Status.ABSTAIN or self.status is Status.ERROR:
                raise ConfigurationError(f"{self.status} has no score; leave it out, or use PASS or FAIL")
        if self.label is not None and self.status is Status.ERROR:
            raise ConfigurationError("ERROR has no label; put what the model said into raw_response")
        if self.confidence is not None:
            put(self, "confidence", unit_interval(self.confidence, "confidence"))
        if self.metadata.__class__ is not FrozenDict:
            put(self, "metadata", freeze_mapping(self.metadata))
        if self.probabilities is not None:
            put(self, "probabilities", _probabilities(self.probabilities))
        if self.findings != () or self.claims != ():
            put(self, "findings", typed_tuple(self.findings or (), Finding, "findings"))
            put(self, "claims", typed_tuple(self.claims or (), Claim, "claims"))
        if self.usage is not NO_USAGE and not isinstance(self.usage, Usage):
            raise ConfigurationError(f"usage is a Usage, not {type(self.usage).__name__}")
        if self.elapsed_s is not None and not is_amount(self.elapsed_s):
            raise no_amount(self.elapsed_s, "elapsed_s")
        for (name, default), text in zip(_TEXTS, _texts_of(self)):  # noqa: B905  always as many
            if text is not default and not (text.__class__ is str and text.isascii()):  # rarely true
                put(self, name, default if text is None else _text(text, name))
        _check_explained(self.status, self.reasoning, self.error)
        _redact_error(self)

    def __bool__(self) -> bool:
        """Raise TypeError: if a judgment were truthy, ``if judgment:`` would accept a FAIL.

        Raises:
            TypeError: always.
        """
        raise TypeError(
            "a judgment is neither true nor false: ask .passed (None for a label without a PASS/FAIL meaning), .status "
            "or .valid; whether there is one, `is not None`"
        )

    @property
    def passed(self) -> bool | None:
        """True for PASS, None for a label without a PASS/FAIL meaning, else False."""
        return None if self.status is None else self.status is Status.PASS

    @property
    def valid(self) -> bool:
        """True if this is an opinion: neither ABSTAIN nor ERROR."""
        return self.status is not Status.ABSTAIN and self.status is not Status.ERROR

    @property
    def failed_by_errors(self) -> bool:
        """Whether this is FAIL only because jurors broke, which says nothing about the answer."""
        return False

    @property
    def opinion(self) -> str | None:
        """PASS or FAIL, or a label without a PASS/FAIL meaning; None for ABSTAIN and ERROR."""
        status = self.status
        if status is None:
            return self.label
        return status if status is Status.PASS or status is Status.FAIL else None

    @property
    def ballot(self) -> str | None:
        """The judge's vote on labels: its label, else PASS or FAIL; None for ABSTAIN and ERROR."""
        if self.status is Status.ABSTAIN or self.status is Status.ERROR:
            return None
        return self.status if self.label is None else self.label

    @property
    def numeric_score(self) -> float | None:
        """The judge's vote on scores: ``score``, else 1.0 for PASS and 0.0 for FAIL, else None."""
        if self.score is not None:
            return self.score
        if self.status is Status.PASS:
            return 1.0
        return 0.0 if self.status is Status.FAIL else None

    @property
    def claim_share(self) -> float | None:
        """Supported claims / decided claims; None if there is no decided claim."""
        return supported_share(self.claims)

    @property
    def needs_review(self) -> bool:
        """Whether the case needs human review; :attr:`review_reasons` says why.

        Everything that counts, filters or marks cases for review uses this property.

        >>> Judgment("ABSTAIN", reasoning="no contexts").needs_review, Judgment("FAIL").needs_review
        (True, False)
        """
        return bool(self.review_reasons)

    @property
    def review_reasons(self) -> tuple[ReviewReason, ...]:
        """``"abstained"`` or ``"error"`` if nothing was decided, else empty; a :class:`Verdict` has further reasons."""
        return no_decision_reasons(self.status)

    @property
    def fallback_used(self) -> str | None:
        """Name of the fallback that judged because the juror broke; None if the juror itself judged."""
        note = self.metadata.get(FALLBACK_USED)
        if note is None:  # the most frequent case
            return None
        name = note.get("judge") if isinstance(note, Mapping) else None
        return name if isinstance(name, str) else None

    def to_dict(self) -> dict[str, JsonValue]:
        """Return plain JSON values, without empty fields. :func:`judgment_from_dict` reads them back."""
        from jury_adapters.core import to_dict

        return to_dict(self)

    def to_json(self, *, indent: int | None = None) -> str:
        """Return one JSON object in ASCII, which is safe for every file, terminal and log."""
        data = self.to_dict()
        return _ENCODER.encode(data) if indent is None else json.dumps(data, indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read the output of :meth:`to_json`. A verdict is returned as a :class:`Verdict`.

        Raises:
            InputError: the text is not a judgment.
        """
        from jury_adapters.core import from_json

        return from_json(text, cls)

    def canonical_json(self) -> str:
        """Return JSON without times, ids and the metadata of the case, so that equal verdicts give equal bytes."""
        from jury_adapters.core import canonical_json

        return canonical_json(self)

    def __repr__(self) -> str:
        """Return a summary in one line; :meth:`to_dict` and :meth:`to_json` return all fields."""
        from jury_adapters.core import to_line

        return f"<{type(self).__name__} {to_line(self)}>"

    def __str__(self) -> str:
        from jury_adapters.core import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        from jury_adapters.core import to_html

        return to_html(self)


FALLBACK_USED = "fallback_used"
"""Metadata key of a judgment under which the fallback that judged, and the reason, are recorded."""


def reason_with_label(judgment: Judgment) -> str:
    """Return the reason of a judgment; of an abstention after its label, such as "unsure", if it does not name it."""
    label, reason = judgment.label or "", judgment.reasoning
    if judgment.status is not Status.ABSTAIN or not label or label.casefold() in reason.casefold():
        return reason
    return f"{label}: {reason}" if reason else label


def abstain(reasoning: str, *, error: str | None = None, **details: Any) -> Judgment:
    """Return an ABSTAIN judgment with its reason."""
    return Judgment(Status.ABSTAIN, reasoning=reasoning, error=error, **details)


def broken(error: BaseException | str, reasoning: str = "", **details: Any) -> Judgment:
    """Return an ERROR judgment with an exception's type and message (API keys redacted), or with a short code."""
    if isinstance(error, BaseException):
        error = error_text(error)
    error = stated(error, "unknown")
    return Judgment(Status.ERROR, error=error, reasoning=stated(reasoning, f"{BROKE}: {error}"), **details)


def evolve(judgment: J, **changes: Any) -> J:
    """Return a copy with other values in some fields, like ``dataclasses.replace`` but without validation.

    Use it only for values that cannot be invalid (names, times). It is faster, and every judgment is copied this way.
    """
    kind = judgment.__class__
    copy = object.__new__(kind)
    setters, values = _fields_of(kind)
    for put, value in zip(setters, values(judgment)):  # noqa: B905  always as many, and this is the hot path
        put(copy, value)
    for name, value in changes.items():
        object.__setattr__(copy, name, value)
    return copy


def _fields_of(kind: type[Judgment]) -> tuple[tuple[Callable[..., None], ...], Callable[[Judgment], tuple[Any, ...]]]:
    """Return functions that set the fields of a result class, and one that reads all of them; cached per class."""
    found = _FIELDS.get(kind)
    if found is None:
        names = tuple(f.name for f in fields(kind))
        found = _FIELDS[kind] = (tuple(_setter(kind, name) for name in names), attrgetter(*names))
    return found


def _setter(kind: type[Judgment], name: str) -> Callable[..., None]:
    """Return a function that sets a field of a frozen class; a subclass may have fields without a slot."""
    slot = getattr(kind, name, None)
    if isinstance(slot, MemberDescriptorType):
        return slot.__set__  # faster than to look the field up by name
    return lambda copy, value: object.__setattr__(copy, name, value)


def total_usage(judgments: Sequence[Judgment]) -> Usage:
    """Return the total usage of the judgments."""
    total = UsageSum()
    for judgment in judgments:
        total.add(judgment.usage)
    return total.usage


_TEXTS = (
    ("reasoning", ""), ("label", None), ("error", None), ("raw_response", None), ("critic", ""), ("model", None),
    ("family", None),
)  # fmt: skip
_texts_of = attrgetter(*(name for name, _ in _TEXTS))
_FIELDS: dict[type[Judgment], tuple[tuple[Callable[..., None], ...], Callable[[Judgment], tuple[Any, ...]]]] = {}


def _status_for(status: object, label: str | None) -> Status | None:
    if status is None:
        if label is None:
            raise ConfigurationError("status=None needs a label; without one use PASS, FAIL, ABSTAIN or ERROR")
        return None
    found = _STATUS_BY_NAME.get(status) if isinstance(status, str) else None
    if found is None:
        raise ConfigurationError(unknown("status", status, _STATUS_BY_NAME))
    return found


def _check_explained(status: Status | None, reasoning: str, error: str | None) -> None:
    """Check that a judgment without an opinion gives its reason; a blank text does not count."""
    if status is Status.ABSTAIN and not stated(reasoning, ""):
        raise ConfigurationError("ABSTAIN needs a reason: abstain('why it cannot say'), or reasoning=")
    if status is Status.ERROR and not stated(error, ""):
        raise ConfigurationError("ERROR needs the error: error='timeout', or whatever went wrong")


def _redact_error(judgment: Judgment) -> None:
    """Redact API keys in an ERROR, which often has the text of an exception that a judge caught itself."""
    if judgment.status is Status.ERROR:
        for name in ("error", "reasoning"):
            object.__setattr__(judgment, name, without_keys(getattr(judgment, name)))


def _text(value: object, what: str) -> str:
    if isinstance(value, str):
        return clean_text(value)
    raise ConfigurationError(f"{what} is text, not {type(value).__name__}")


def _passed(value: object) -> bool:
    plain = plain_scalar(value)
    if isinstance(plain, bool):
        return plain
    raise ConfigurationError(f"Finding.passed is True, False or None, not {plain_repr(value)}")


def _probabilities(values: Mapping[str, float]) -> FrozenDict:
    if not isinstance(values, Mapping):
        raise ConfigurationError(f"probabilities map labels to numbers from 0 to 1, not {type(values).__name__}")
    return freeze_mapping({label: unit_interval(p, f"probability of {label!r}") for label, p in values.items()})


_ENCODER = json.JSONEncoder(allow_nan=False)  # json.dumps would create one for each judgment
