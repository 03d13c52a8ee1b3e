"""Judges of other packages as judges of ours: what their functions have in common.

The functions themselves are in :mod:`jury_adapters.langchain`, :mod:`jury_adapters.llama_index` and
:mod:`jury_adapters.compat.scorers`. Each calls the other package in its own words and reads what comes back as
:class:`Finding` objects; this module makes one judgment of them.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeAlias, TypedDict, Unpack

from jury_adapters.core import portal
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Check, Judgment, Status, Usage, abstain
from jury_adapters.core.scope import judging
from jury_adapters.core.values import freeze, plain_scalar, positive_timeout, shown

Arguments: TypeAlias = Callable[[Case], Mapping[str, object]]
"""What a foreign judge is called with, by name, for a case."""


class ForeignOptions(TypedDict, total=False):
    """How a judge of another package is read; every function that makes a judge of one takes these.

    Attributes:
        name: what it is called in verdicts; its own name by default.
        scale: its worst and its best score, ``(0, 1)`` by default. ``(1, 5)`` for a rating, ``(1, 0)`` for a distance.
            A score outside is an ERROR that says so.
        threshold: the score that passes, on that scale. Where it is given, it decides in place of the judge's own PASS
            or FAIL; by default that is the middle of the scale for judges that give scores only.
        pass_labels: the labels that mean PASS, for judges that answer in words; every other label then means FAIL.
        needs: fields of the case (``"contexts"``) without which the judge is not asked and the judgment is ABSTAIN.
        timeout: seconds one case may take; then the judgment is ERROR ``timeout``.
        cost: US dollars per judgment; 0 for a judge that asks no model. None, the default, when nobody knows: then
            the cost of a verdict is marked as incomplete, and a budget in dollars refuses the judge.
    """

    name: str
    scale: tuple[float, float]
    threshold: float | None
    pass_labels: Collection[str]
    needs: Sequence[str]
    timeout: float | None
    cost: float | None


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a foreign judge said.

    Attributes:
        name: what was judged, in its words.
        score: the score as it came; None where there is none.
        passed: its own PASS or FAIL, or None.
        label: its answer in words, or None.
        reason: why.
        details: anything else it said.
        cost_usd: what it cost, where it says so.
    """

    _: KW_ONLY
    name: str = ""
    score: object = None
    passed: bool | None = None
    label: str | None = None
    reason: str = ""
    details: Mapping[str, object] = field(default_factory=dict)
    cost_usd: float | None = None


Said: TypeAlias = "Finding | Sequence[Finding] | Judgment"


class ForeignJudge(Judge):
    """A judge of another package.

    One finding makes the judgment. Of several, each makes a check; the judgment is FAIL when one of them is FAIL, PASS
    when those that could be decided are PASS, and its score is their mean. Without a score and a label it is ABSTAIN.

    Args:
        ask: asks the foreign judge about a case and reads its answer. May raise: that is ERROR.
        own_name: what the foreign judge calls itself.
        **options: see :class:`ForeignOptions`.

    Raises:
        ConfigurationError: an empty scale, a threshold outside it, a field that no case has, an unknown option.
    """

    def __init__(
        self, ask: Callable[[Case], Awaitable[Said]], own_name: str = "", **options: Unpack[ForeignOptions]
    ) -> None:
        for option in options:
            if option not in ForeignOptions.__annotations__:
                raise ConfigurationError(unknown("option", option, ForeignOptions.__annotations__))
        self._ask = ask
        self._reader = _Reader(
            options.get("scale", (0.0, 1.0)), options.get("threshold"), _labels(options.get("pass_labels", ()))
        )
        self._needs = tuple(options.get("needs", ()))
        for needed in self._needs:
            if needed not in Case.model_fields:
                raise ConfigurationError(unknown("field of a case", needed, Case.model_fields))
        cost = options.get("cost")
        self._usage = Usage(cost_usd=cost or 0.0, cost_complete=cost is not None)
        self.name = options.get("name") or own_name
        self.timeout = positive_timeout(options.get("timeout"))
        self.cost = cost or 0.0

    @property
    def priced(self) -> bool:
        return self._usage.cost_complete

    def estimate(self, case: Case) -> Usage:
        return self._usage

    async def assess(self, case: Case) -> Judgment:
        missing = [name for name in self._needs if getattr(case, name) in (None, (), "")]
        if missing:
            return abstain(f"the case has no {' and no '.join(missing)}")
        with judging():
            said = await self._ask(case)
        if isinstance(said, Judgment):
            return said
        if isinstance(said, Finding):
            return self._reader.judgment(said, self._usage)
        return self._reader.judgment_of_many(said, self._usage)


async def called(function: Callable[..., object], /, *args: object, **kwargs: object) -> object:
    """Call a function of somebody else's: an asynchronous one here, any other in a thread, so that nothing waits."""
    if is_async(function):
        answer = function(*args, **kwargs)
    else:
        answer = await portal.in_daemon_thread(lambda: function(*args, **kwargs), _FOREVER)
    return await answer if isinstance(answer, Awaitable) else answer


def is_async(function: object) -> bool:
    """Whether calling it gives something to await."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def own_name_of(judge: object) -> str:
    """The name of a function, or of an object's class; empty for a name that says nothing."""
    judge = getattr(judge, "func", judge)  # of functools.partial
    name = getattr(judge, "__name__", None)
    if not isinstance(name, str):
        name = type(judge).__name__
    return "" if name.startswith(("_", "<")) else name


def takes(function: Callable[..., object]) -> tuple[dict[str, inspect.Parameter], bool]:
    """The parameters that a function takes by name, and whether it takes any others too."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # written in C, without a signature
        return {}, True
    named = {
        name: parameter
        for name, parameter in parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }
    return named, any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())


def fitting(function: Callable[..., object], given: Mapping[str, object]) -> dict[str, object] | str:
    """The arguments that a function takes, or the name of one that it cannot do without and that nobody gives.

    What is None is left out where the function has a default of its own.
    """
    named, others = takes(function)
    for name, parameter in named.items():
        if parameter.default is parameter.empty and name in given and given[name] is None:
            return name
    return {name: value for name, value in given.items() if value is not None and (name in named or others)}


def checked_arguments(arguments: object) -> Arguments | None:
    """``arguments=`` of a user.

    Raises:
        ConfigurationError: it is no function.
    """
    if arguments is None or callable(arguments):
        return arguments
    raise ConfigurationError(
        "arguments= is a function of a case that returns the arguments by name, such as "
        f"lambda case: {{'outputs': case.answer}}; not {arguments!r}"
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads scores and labels as PASS or FAIL."""

    scale: tuple[float, float]
    threshold: float | None
    pass_labels: frozenset[str]

    def __post_init__(self) -> None:
        scale = self.scale
        if not (isinstance(scale, tuple | list) and len(scale) == 2 and all(map(_is_number, scale))) or (
            scale[0] == scale[1]
        ):
            raise ConfigurationError(f"scale is a pair (worst, best) of two different numbers, not {scale!r}")
        if self.threshold is not None and not (
            _is_number(self.threshold) and min(scale) <= self.threshold <= max(scale)
        ):
            raise ConfigurationError(f"threshold is a score on the scale {_written(scale)}, not {self.threshold!r}")

    def judgment(self, finding: Finding, usage: Usage) -> Judgment:
        status, score = self._read(finding)
        usage = usage if finding.cost_usd is None else Usage(cost_usd=finding.cost_usd)
        common: dict[str, Any] = {
            "reasoning": finding.reason,
            "critic": finding.name,
            "usage": usage,
            "metadata": _details(finding.details),
        }
        if status is None and finding.label is None:
            common["reasoning"] = finding.reason or "there is no score"
            return Judgment(Status.ABSTAIN, **common)
        return Judgment(status, score=score, label=finding.label, **common)

    def judgment_of_many(self, findings: Sequence[Finding], usage: Usage) -> Judgment:
        if not findings:
            return abstain("there is no result", usage=usage)
        checks, scores = [], []
        for position, finding in enumerate(findings, start=1):
            status, score = self._read(finding)
            passed = None if status is None else status is Status.PASS
            detail = finding.reason or ("" if finding.label is None else f"label {finding.label}")
            checks.append(Check(finding.name or f"result {position}", passed, detail, score=score))
            if passed is not None:
                scores.append(float(passed) if score is None else score)
        if not scores:
            return abstain("there is no score", checks=tuple(checks), usage=usage)
        failed = [check.name for check in checks if check.passed is False]
        return Judgment(
            Status.FAIL if failed else Status.PASS,
            score=math.fsum(scores) / len(scores),
            reasoning=f"failed: {', '.join(failed)}" if failed else f"{len(scores)} results pass",
            checks=tuple(checks),
            usage=usage,
        )

    def _read(self, finding: Finding) -> tuple[Status | None, float | None]:
        """PASS, FAIL or None, and the score as 0..1 or None.

        Raises:
            ConfigurationError: the score is no number, or outside the scale.
        """
        score = plain_scalar(finding.score)
        if isinstance(score, bool):
            return (Status.PASS if score else Status.FAIL), None
        share = None if score is None or _is_nan(score) else self._share(score)
        if finding.passed is not None and (self.threshold is None or share is None):
            return (Status.PASS if finding.passed else Status.FAIL), share
        if share is not None:
            at_least = 0.5 if self.threshold is None else self._share(self.threshold)
            return (Status.PASS if share >= at_least else Status.FAIL), share
        if finding.label is not None and self.pass_labels:
            return (Status.PASS if finding.label in self.pass_labels else Status.FAIL), None
        return None, None

    def _share(self, score: object) -> float:
        """Where between worst and best a score lies."""
        worst, best = self.scale
        if not isinstance(score, int | float) or not math.isfinite(score):
            raise ConfigurationError(f"a score is a number, not {score!r}")
        share = (score - worst) / (best - worst)
        if not -_ROUNDING <= share <= 1 + _ROUNDING:
            raise ConfigurationError(
                f"the score {score!r} is outside the scale {_written(self.scale)}; say what it runs from and to: "
                "scale=(worst, best)"
            )
        return min(1.0, max(0.0, share))


_FOREVER = 365 * 86_400.0  # seconds; the judge's own timeout ends it before
_ROUNDING = 1e-6  # similarities of 1.0000001 are common


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _written(scale: Sequence[float]) -> str:
    return f"{scale[0]:g}..{scale[1]:g}"


def _labels(labels: Collection[str]) -> frozenset[str]:
    if isinstance(labels, str):
        raise ConfigurationError(f"pass_labels is a list of labels; for one write [{labels!r}]")
    return frozenset(labels)


def _details(details: Mapping[str, object]) -> dict[str, object]:
    """What else was said, under one key; text where it is nested without end."""
    if not details:
        return {}
    try:
        return {"details": freeze(details)}
    except ConfigurationError:
        return {"details": shown(details)}
