"""Evaluators of other packages as judges: the judge that all adapters share.

The adapters are in :mod:`jury_adapters.langchain`, :mod:`jury_adapters.llama_index` and
:mod:`jury_adapters.judges.autoevals_deepeval`. They convert a case to the arguments of the other package.
:mod:`jury_adapters.judges.external_calls` calls the evaluator, :mod:`jury_adapters.judges.external_results` reads its
result, and this module makes the judgment, within budget and store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import TypeAlias, TypedDict, Unpack

from pydantic import BaseModel

from jury_adapters.core.budget import BUDGET_EXHAUSTED, BudgetExhausted, note_cut_off
from jury_adapters.core.cache import CacheKey, get_or_run
from jury_adapters.core.case import Case
from jury_adapters.core.context import judging, run_context
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_settings import checked_name
from jury_adapters.core.judgment import Judgment, abstain, evolve
from jury_adapters.core.usage import NO_USAGE, UNCOUNTED, Usage
from jury_adapters.core.values import positive_timeout
from jury_adapters.critic.asking import within_budget
from jury_adapters.judges.external_results import EvaluatorResult, Scale, is_cost
from jury_adapters.models.fingerprint import digest


class ExternalOptions(TypedDict, total=False):
    """Options of every function that makes a judge of an evaluator of another package.

    Attributes:
        name: the name in verdicts; the evaluator's own name by default.
        version: a text that identifies everything that affects the evaluator's results, such as
            ``"gpt-4o-mini, prompt 3"``. With ``version=`` and ``name=``, judgments are kept in a store and read from
            it. Without them, the evaluator is asked again in every run, because it may have changed. Change the version
            with the evaluator, its settings, its model or its prompt. The options of this table and the arguments of
            the evaluator are compared as well, and need no new version.
        scale: its worst and its best score, ``(0, 1)`` by default. ``(1, 5)`` for a rating, ``(1, 0)`` for a distance.
            A score outside the scale is an ERROR. Where the lower score is the best, True is FAIL.
        threshold: the lowest score that passes, on that scale. If given, it replaces the judge's own PASS or FAIL; by
            default it is the middle of the scale, for judges that only give scores.
        pass_labels: the labels that mean PASS, for judges that answer in words; every other label then means FAIL.
        needs: fields of the case (``"contexts"``) without which the judge is not asked and the judgment is ABSTAIN.
        timeout: seconds one case may take; then the judgment is ERROR ``timeout``.
        calls: the number of model calls per judgment, 1 by default; 0 for an evaluator that asks no model.
            ``judge.estimate_cost()``, ``Budget(max_calls=)`` and the usage in verdicts count them. Of an evaluator
            that breaks it is not known which calls it made: a budget counts them all, and the usage of the ERROR none,
            with a cost that is marked as incomplete. The tokens of the calls are unknown: no estimate and no
            ``Budget(max_tokens=)`` counts them.
        cost: US dollars per judgment. None, the default, is an unknown cost: the cost of a verdict is then marked as
            incomplete, an estimate names the judge, and ``Budget(max_usd=)`` refuses it. With ``calls=0`` the default
            is 0.
    """

    name: str
    version: str
    scale: tuple[float, float]
    threshold: float | None
    pass_labels: Collection[str]
    needs: Sequence[str]
    timeout: float | None
    calls: int
    cost: float | None


Said: TypeAlias = "EvaluatorResult | Sequence[EvaluatorResult] | Judgment"


class NotAskedError(Exception):
    """Error of an evaluator that a case lacks something, before it asked a model: the judgment is ABSTAIN."""


@dataclass(frozen=True, slots=True)
class Call:
    """Prepared call of a foreign evaluator.

    Attributes:
        arguments: everything about the case that the evaluator gets.
        make: makes the call and reads the answer. May raise: that is ERROR, but :class:`NotAskedError` is ABSTAIN.
    """

    arguments: object
    make: Callable[[], Awaitable[Said]]


class ExternalJudge(Judge):
    """Judge that asks an evaluator of another package.

    One result makes the judgment. Several results make one finding each. The judgment is then FAIL if one of them is
    FAIL, PASS if all that have a result are PASS, and its score is their mean. Without a score and a label it is
    ABSTAIN.

    A call counts in the current budget, and abstains with ``budget_exhausted`` if it does not fit. Judgments of an
    evaluator with ``name=`` and ``version=`` are kept in the current store, unless the arguments of a call contain
    objects that are neither plain values nor records of plain values.

    Args:
        prepare: makes the call for a case, or the ABSTAIN judgment for a case that lacks an argument.
        own_name: the evaluator's own name.
        own_threshold: the score, on its own scale, from which the evaluator itself passes; None if it is unknown.
        **options: see :class:`ExternalOptions`.

    Raises:
        ConfigurationError: the scale is empty, the threshold is outside it, no case has a needed field, there is a
            version without a name, the number of calls is negative, or an option is unknown.
    """

    def __init__(
        self,
        prepare: Callable[[Case], Call | Judgment],
        own_name: str = "",
        *,
        own_threshold: object = None,
        **options: Unpack[ExternalOptions],
    ) -> None:
        for option in options:
            if option not in ExternalOptions.__annotations__:
                raise ConfigurationError(unknown("option", option, ExternalOptions.__annotations__))
        self._prepare = prepare
        self._scale = Scale(
            options.get("scale", (0.0, 1.0)),
            options.get("threshold"),
            frozenset(_listed(options.get("pass_labels", ()), "pass_labels", "labels")),
        )
        self._pass_score = self._scale.pass_score(own_threshold)
        self._needs = _listed(options.get("needs", ()), "needs", "fields of the case")
        for needed in self._needs:
            if needed not in Case.model_fields:
                raise ConfigurationError(unknown("field of a case", needed, Case.model_fields))
        self._usage = _usage_of_one(options.get("calls", 1), options.get("cost"))
        self._identity = _identity(own_name, options)
        self.name = checked_name(options.get("name") or own_name)
        self.timeout = positive_timeout(options.get("timeout"))
        self.cost = self._usage.cost_usd

    @property
    def required_fields(self) -> tuple[str, ...]:
        return self._needs

    @property
    def pass_scores(self) -> frozenset[float]:
        return frozenset() if self._pass_score is None else frozenset({self._pass_score})

    @property
    def priced(self) -> bool:
        return self._usage.cost_complete

    @property
    def metered(self) -> bool:
        return not self._usage.calls

    @property
    def fingerprint(self) -> str | None:
        """Identity of the evaluator and of the options that affect how its answers are read; None without a version."""
        return f"{self._identity}-{self._reading}" if self._identity else None

    def estimate(self, case: Case) -> Usage:
        return NO_USAGE if self._missing(case) else self._usage

    async def assess(self, case: Case) -> Judgment:
        missing = self._missing(case)
        if missing:
            return abstain(f"the case has no {' and no '.join(missing)}")
        with judging():
            call = self._prepare(case)
            if isinstance(call, Judgment):
                return call
            key = self._key(case, call)
            if key is None:
                return await self._judged(call)
            context = run_context()
            return await get_or_run(key, case, context.cache, partial(self._judged, call), context.slot)

    async def _judged(self, call: Call) -> Judgment:
        budget, attempt = run_context().budget, partial(_said_or_raised, call)
        try:
            if budget is None or self._usage == NO_USAGE:
                said = await attempt()
            else:
                said = await within_budget(budget, self._usage, attempt, self._took, unanswered=self._usage)
        except BudgetExhausted as refusal:
            return abstain(str(refusal), error=BUDGET_EXHAUSTED)
        if isinstance(said, NotAskedError):
            return abstain(str(said))
        usage = NO_USAGE if self._usage == NO_USAGE else UNCOUNTED if _has_broken(said) else self._took(said)
        try:
            return self._read(said, usage)
        except Exception as error:
            return evolve(self.failure(error), usage=usage)

    def _read(self, said: Said | Exception, usage: Usage) -> Judgment:
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Judgment):
            return evolve(said, usage=usage)
        return self._scale.judgment(said, usage)

    def _took(self, said: Said | Exception) -> Usage:
        """Return what one judgment takes of a budget. A cost reported by the evaluator replaces the given cost."""
        if isinstance(said, NotAskedError):
            return NO_USAGE
        if isinstance(said, EvaluatorResult) and is_cost(said.cost_usd):
            return replace(self._usage, cost_usd=said.cost_usd, cost_complete=True)
        return self._usage

    def _key(self, case: Case, call: Call) -> CacheKey | None:
        """Return the key of a judgment in the store; None if two calls cannot be compared."""
        if not self._identity:
            return None
        try:
            asked = digest(_plain(call.arguments))
        except (TypeError, ValueError, RecursionError):
            return None
        return CacheKey(f"{case.content_hash}-{asked}", self._identity, self._reading, run_context().sample)

    @property
    def _reading(self) -> str:
        scale = self._scale
        threshold = None if scale.threshold is None else float(scale.threshold)
        return digest([[float(end) for end in scale.ends], threshold, sorted(scale.pass_labels), self._needs])

    def _missing(self, case: Case) -> list[str]:
        return [name for name in self._needs if getattr(case, name) in (None, (), "")]


def _usage_of_one(calls: object, cost: object) -> Usage:
    """Return the usage of one judgment, as far as it is known in advance."""
    if isinstance(calls, bool) or not isinstance(calls, int) or calls < 0:
        raise ConfigurationError(
            f"calls is a whole number from 0, the calls to models of one judgment; not {plain_repr(calls)}"
        )
    if cost is None:
        return Usage(calls=calls, cost_complete=calls == 0)
    if not is_cost(cost):
        raise ConfigurationError(
            f"cost is a number of US dollars from 0, or None when it is unknown; not {plain_repr(cost)}"
        )
    return Usage(calls=calls, cost_usd=float(cost))


def _identity(own_name: str, options: ExternalOptions) -> str:
    """Return the fingerprint of the evaluator itself, or the empty text without a version."""
    if "version" not in options:
        return ""
    version = options["version"]
    if not isinstance(version, str) or not version.strip():
        raise ConfigurationError(f"version is a text such as 'gpt-4o-mini, prompt 3', not {plain_repr(version)}")
    if not options.get("name"):
        raise ConfigurationError(
            f"version={version!r} needs name= beside it: the store knows an evaluator by both, and two evaluators "
            "may well have the same version"
        )
    return digest([own_name, options["name"], version])


def _has_broken(said: Said | Exception) -> bool:
    """Whether the evaluator raised, or says that it failed, so that it is unknown which calls it made."""
    if isinstance(said, Exception | Judgment):
        return isinstance(said, Exception)
    return any(one.error for one in ([said] if isinstance(said, EvaluatorResult) else said))


async def _said_or_raised(call: Call) -> Said | Exception:
    """Return the answer, or the exception as a value, because a failed call counts in a budget, too."""
    try:
        return await call.make()
    except asyncio.CancelledError:
        note_cut_off()
        raise
    except Exception as error:
        return error


def _plain(value: object) -> object:
    """Return a value as JSON values. Records (dataclasses, pydantic models, namespaces) include their class names.

    Raises:
        TypeError: a part of the value is neither plain nor a record.
    """
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("keys are texts")
        return {"values": {key: _plain(item) for key, item in value.items()}}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, BaseModel | SimpleNamespace) or (is_dataclass(value) and hasattr(value, "__dict__")):
        kind = type(value)
        fields = {**vars(value), **(getattr(value, "model_extra", None) or {})}
        return {"record": f"{kind.__module__}.{kind.__qualname__}", "fields": _plain(fields)}
    raise TypeError(f"{type(value).__name__} is neither a plain value nor a record")


def _listed(given: Collection[str], option: str, what: str) -> tuple[str, ...]:
    if isinstance(given, str):
        raise ConfigurationError(f"{option} is a list of {what}; for one write [{plain_repr(given)}]")
    if not isinstance(given, Collection) or not all(isinstance(one, str) for one in given):
        raise ConfigurationError(f"{option} is a list of {what}, not {plain_repr(given)}")
    return tuple(given)
