"""Base class of judges that ask a model. It handles the store, the budget, and the fields that all judgments have."""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, Self, TypeVar

from jury_adapters.core.budget import BUDGET_EXHAUSTED, Budget, BudgetExhausted, calling
from jury_adapters.core.cache import CacheKey, JudgmentCache, get_or_run
from jury_adapters.core.case import Case
from jury_adapters.core.context import run_context
from jury_adapters.core.errors import ConfigurationError, ModelError, plain_repr
from jury_adapters.core.formatting import counted
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import (
    ANY_OPINION,
    LABEL_ONLY,
    PASS_OR_FAIL,
    Judgment,
    OpinionStatuses,
    abstain,
    broken,
    evolve,
)
from jury_adapters.core.model_families import family_of
from jury_adapters.core.usage import NO_USAGE, Usage
from jury_adapters.critic.answers import Scale
from jury_adapters.critic.prompt import missing_fields
from jury_adapters.critic.reply_judgments import empty_answer_judgment
from jury_adapters.critic.rubric import Rubric
from jury_adapters.models.base import Named
from jury_adapters.models.fingerprint import check_identity, digest, has_identity
from jury_adapters.models.prices import cost_of
from jury_adapters.models.registry import vendor_family
from jury_adapters.models.retries import Limited

T = TypeVar("T")

_log = logging.getLogger(__name__)

_ONE_CALL: Final = Usage(calls=1)


class AskingJudge(Judge):
    """Judge that asks a model each question once.

    The answer comes from the store, from a request for the same question that is in progress, or from the model.

    Attributes:
        model: the model, within its limits.
        store: store of the judgments when the batch has no store of its own.
    """

    model: Limited[Named]
    store: JudgmentCache | None
    _given_name: str  # the name given by the user, or ""
    _fingerprint: str  # hash of the model and its parameters

    @property
    def _own_name(self) -> str:
        """The name given by the user, or the default name. In a jury, the judge may have another name."""
        return self._given_name or self.name

    @property
    def rubrics(self) -> tuple[Rubric, ...]:
        """The rubrics by which the model judges; empty for a judge with prompts of its own."""
        return ()

    @property
    def required_fields(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for rubric in self.rubrics for name in rubric.requires))

    def with_rubrics(self, *rubrics: Rubric | str | Path) -> Self:
        """Return this judge with other rubrics and the same name, model, parameters, store and limits.

        Raises:
            ConfigurationError: the judge cannot have these rubrics.
        """
        raise ConfigurationError(
            f"{type(self).__name__} {plain_repr(self.name)} has prompts of its own instead of rubrics"
        )

    @property
    @abstractmethod
    def _rubric_fingerprint(self) -> str: ...

    @property
    def fingerprint(self) -> str:
        """Hash of the model, its parameters and the rubric. With the case, it determines the request."""
        return f"{self._fingerprint}-{self._rubric_fingerprint}"

    def check_store(self) -> None:
        check_identity(self.model.inner, self._given_name)

    @property
    def requests_at_once(self) -> int:
        return 1

    @property
    def priced(self) -> bool:
        return self._price(NO_USAGE).cost_complete

    def _once(self, case_key: str, case: Case, ask: Callable[[], Awaitable[Judgment]]) -> Awaitable[Judgment]:
        context = run_context()
        cache = self.store if context.cache is None else context.cache
        if not (self._given_name or has_identity(self.model.inner)):
            cache = None  # the answers of such a model are neither shared nor stored
        key = CacheKey(case_key, self._fingerprint, self._rubric_fingerprint, context.sample)
        return get_or_run(key, case, cache, ask, context.slot)

    def _unaffordable(self, refusal: BudgetExhausted, spent: Usage) -> Judgment:
        return self._stamped(abstain(str(refusal), error=BUDGET_EXHAUSTED), spent)

    def _failed(self, error: ModelError, spent: Usage) -> Judgment:
        if error.kind == "no_images":
            return self._stamped(abstain(error.message, error=error.kind), spent)
        detail = {"request_id": error.request_id} if error.request_id else {}
        if not error.sent and error.kind not in ("circuit_open", "timeout"):
            detail["not_asked"] = self.model.name
        if error.kind == "timeout" and error.sent:  # a vendor may bill what it answered too late
            spent = replace(spent, cost_complete=False)
        return self._stamped(broken(f"{error.kind}: {error}", metadata=detail), spent)

    def _stamped(self, judgment: Judgment, spent: Usage) -> Judgment:
        """Return the judgment with its usage, its model, and the name of the critic in a store."""
        if judgment.usage is spent and judgment.family is not None:
            return evolve(judgment, critic=self._own_name)  # the common path: one reply of a known model
        model = judgment.model or self.model.model
        family = family_of(model) or family_of(self.model.model) or vendor_family(self.model.inner)
        return evolve(judgment, critic=self._own_name, usage=spent, model=model, family=family)

    def _unasked(
        self, rubric: Rubric, case: Case, threshold: float | None, *, own_answers: bool = False
    ) -> Judgment | None:
        """Return the judgment of a case that needs no model, because it lacks a field or its answer is empty.

        Args:
            rubric: the rubric.
            case: the case.
            threshold: the lowest score that passes, instead of the rubric's own rule.
            own_answers: whether a parser of the user's reads other answers than those of the rubric.
        """
        if missing := missing_fields(rubric, case, variables_of(rubric, case)):
            return self._stamped(abstain(f"nothing to judge: no {', no '.join(missing)}"), NO_USAGE)
        empty = None if own_answers else empty_answer_judgment(rubric, case, threshold)
        return None if empty is None else self._stamped(empty, NO_USAGE)

    def _price(self, usage: Usage) -> Usage:
        return with_price(self.model, usage)


def with_price(model: Limited[Named], usage: Usage) -> Usage:
    """Return the usage of a model with its cost by the table of prices."""
    # A wrapped model has its framework's name. Its price is that of the vendor of the model inside.
    vendor = getattr(model.inner, "price_vendor", "") or getattr(model.inner, "vendor", "")
    return cost_of(usage, vendor, model.model)


async def within_budget(
    budget: Budget,
    estimated: Usage,
    call: Callable[[], Awaitable[T]],
    took: Callable[[T], Usage],
    *,
    unanswered: Usage = _ONE_CALL,
) -> T:
    """Make a call as soon as the batch's budget allows it.

    Args:
        budget: the budget.
        estimated: the most that the call may take.
        call: makes the call.
        took: returns what the call took.
        unanswered: what a call took that failed, or was cut off by a time limit.

    Raises:
        BudgetExhausted: the budget does not allow the call, which was not made.
    """
    try:
        reservation = await budget.reserve(estimated)
    except BudgetExhausted as refusal:
        if run_context().slot is None and refusal.number & (refusal.number - 1) == 0:  # a batch has a summary
            _log.warning("%s; %s refused so far, and their jurors abstain", refusal, counted(refusal.number, "call"))
        raise
    used = unanswered
    try:
        with calling() as progress:
            result = await call()
        used = took(result)
        return result
    except ModelError as error:
        if not error.sent:
            used = NO_USAGE
        elif error.kind == "timeout":
            used = replace(used, cost_complete=False)
        raise
    except asyncio.CancelledError:
        if progress.cut_off:
            used = replace(used, cost_complete=False)
        raise
    finally:
        budget.settle(reservation, used)


def variables_of(rubric: Rubric, case: Case) -> Mapping[str, object]:
    """Return the values of the rubric's own variables, which are in the case's metadata."""
    return {name: case.metadata[name] for name in rubric.variables if name in case.metadata}


def case_key_of(rubric: Rubric, case: Case) -> str:
    """Return the case's key, extended by a hash of the metadata that the prompt shows."""
    shown: dict[str, object] = dict(variables_of(rubric, case))
    if "metadata" in rubric.user_template.names:
        shown["metadata"] = case.metadata
    return f"{case.content_hash}-{digest(shown)}" if shown else case.content_hash


def rubric_statuses(rubric: Rubric, threshold: float | None) -> OpinionStatuses:
    """Return the statuses that opinions by a rubric may have.

    Args:
        rubric: the rubric.
        threshold: the lowest score that passes, instead of the rubric's own rule.
    """
    if isinstance(rubric.answers, Scale):
        return PASS_OR_FAIL
    meanings = {label.meaning for label in rubric.answers.labels}
    if None not in meanings:
        return PASS_OR_FAIL
    return LABEL_ONLY if threshold is None and not meanings & PASS_OR_FAIL else ANY_OPINION


def pass_scores_of(rubric: Rubric, threshold: float | None, *, continuous: bool = False) -> frozenset[float]:
    """Return the score from which judgments by a rubric pass; empty for labels that only say PASS or FAIL.

    Args:
        rubric: the rubric.
        threshold: the lowest score that passes, instead of the rubric's own rule.
        continuous: whether a label has a probability as its score.

    Raises:
        ConfigurationError: a label that fails has a higher score than one that passes.
    """
    if threshold is not None:
        return frozenset({threshold})
    if rubric.claims == "verified":
        return frozenset({1.0})
    found = rubric.answers.pass_score
    return frozenset({0.5} if found is None and continuous else () if found is None else {found})


def default_name(rubrics: Iterable[Rubric], model: str) -> str:
    """Return the default name of a critic. It is the same in Python and in jury files."""
    return f"{'+'.join(rubric.name for rubric in rubrics)} {model}"


def find_rubric(rubric: Rubric | str | Path) -> Rubric:
    """Return a rubric, given as such, by the name of a bundled rubric, or as a YAML file.

    Raises:
        ConfigurationError: no bundled rubric has that name.
        InputError: the file is not a rubric.
    """
    if isinstance(rubric, Rubric):
        return rubric
    if not isinstance(rubric, str | Path):
        raise ConfigurationError(f"a rubric is a Rubric, the name of one or a YAML file; not {plain_repr(rubric)}")
    is_file = isinstance(rubric, Path) or rubric.endswith((".yaml", ".yml")) or "\n" in rubric
    return Rubric.from_yaml(rubric) if is_file else Rubric.bundled(str(rubric))
