"""Evaluators of other packages as judges: openevals, agentevals, LangSmith, LlamaIndex, langchain_classic and others.

No package is imported here: an evaluator is known by its methods, its parameters and the fields of its results.
"""

import asyncio
import inspect
import re
from collections.abc import Mapping
from contextlib import nullcontext
from contextvars import Context
from datetime import UTC, datetime
from functools import partial
from math import isfinite
from typing import Any
from uuid import uuid4

from pydantic_core import to_json

from jury_adapters.core import loop
from jury_adapters.core.case import NAMES, Case
from jury_adapters.core.context import context, within
from jury_adapters.core.ensemble import Scorecard
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import NO_USAGE, Judgment, Status, Usage, abstain, broken
from jury_adapters.core.text import visible
from jury_adapters.core.values import ROUNDING, ConfigurationError
from jury_adapters.judges.trajectory import expected_of

_METHODS = ("aevaluate", "aevaluate_run", "aevaluate_strings", "eval_async", "evaluate", "evaluate_run", "eval")
_FIELDS = {name: field for field, names in NAMES.items() for name in names} | {
    "inputs": "question",
    "outputs": "answer",
}
# What a function with **kwargs is given beside its parameters, by the name of the answer among these.
_FURTHER = {
    "outputs": ("inputs", "reference_outputs", "context"),
    "output": ("input", "expected", "context"),
    "": ("inputs", "outputs", "reference_outputs", "context"),
}
_REASONS = ("comment", "reasoning", "feedback", "reason", "rationale", "invalid_reason")


def from_evaluator(
    evaluator: Any,
    *,
    scale: tuple[float, float] | None = None,
    threshold: float = 0.5,
    cost: float | None = None,
    name: str = "",
) -> "ExternalJudge":
    """Return an evaluator of another package as a judge.

    Its arguments are filled by their names: ``inputs``, ``query``, ``input`` (the question); ``outputs``, ``response``,
    ``prediction``, ``output`` (the answer); ``reference_outputs``, ``reference``, ``expected``; ``contexts`` and so on
    (see :data:`jury_adapters.core.case.NAMES`). A parameter that is annotated as a dict gets ``{"answer": ...}``, as in
    LangSmith, and one that is annotated with messages gets the run as messages of OpenAI; the expected run is made of
    ``metadata["expected_calls"]`` and the reference. ``run`` and ``example`` are those of LangSmith, and ``case`` is
    the case, so a lambda can pass anything else. A required argument that the case lacks is ABSTAIN.

    A bool, or ``passing``, is PASS or FAIL. A number is a score on ``scale``. No score is ABSTAIN, and so is an invalid
    result; an exception is ERROR. Several results are the criteria of a scorecard, all of which must pass.

    Args:
        evaluator: a function, or an object with ``evaluate``, ``aevaluate``, ``evaluate_run``, ``evaluate_strings`` or
            ``eval``, sync or async. A blocking one must be thread-safe.
        scale: the worst and the best score, such as ``(0, 1)``, ``(1, 5)`` or, for harmfulness, ``(1, 0)``. Required
            unless the evaluator says True or False. Where the lower score is the best, True is FAIL.
        threshold: the score from which it passes, 0..1 from the worst to the best; where the evaluator does not say it.
        cost: US dollars per judgment; 0 if it asks no model; None if it is unknown, so that a budget in US dollars
            refuses it.
        name: the name in verdicts; by default that of the evaluator.

    Raises:
        ConfigurationError: it is no evaluator, it requires what no case has, or an option is wrong.

    >>> def polite(outputs):
    ...     return {"key": "polite", "score": "please" in outputs, "comment": "looked for please"}
    >>> from_evaluator(polite).judge(answer="In 2018, please.").status.value
    'PASS'
    """
    return ExternalJudge(evaluator, scale, threshold, cost, name)


class ExternalJudge(Judge):
    """Judge that asks an evaluator of another package; see :func:`from_evaluator`."""

    def __init__(
        self,
        evaluator: Any,
        scale: tuple[float, float] | None,
        threshold: float,
        cost: float | None,
        name: str,
    ) -> None:
        method = next((one for one in _METHODS if callable(getattr(evaluator, one, None))), "__call__")
        if isinstance(evaluator, type | Judge) or not callable(getattr(evaluator, method, None)):
            raise ConfigurationError(
                f"an evaluator is a function or an object that evaluates, not {type(evaluator).__name__}"
            )
        ends = (0, 1) if scale is None else scale
        fits = (
            isinstance(ends, tuple | list)
            and len(ends) == 2
            and all(map(_is_number, (*ends, threshold, cost or 0.0)))
            and ends[0] != ends[1]
        )
        if not fits or not 0 <= threshold <= 1 or (cost or 0.0) < 0:
            raise ConfigurationError(
                "scale= is the worst and the best score, two different numbers, threshold= is in 0..1, and cost= from "
                f"0, or None; not {scale!r}, {threshold!r} and {cost!r}"
            )
        own = getattr(evaluator, "evaluation_name", getattr(evaluator, "__name__", type(evaluator).__name__))
        self.name = name or ("" if str(own).startswith(("_", "<")) else str(own))
        self.scale, self.pass_mark, self.cost = scale, threshold, cost or 0.0
        self._evaluator, self._function = evaluator, evaluator if method == "__call__" else getattr(evaluator, method)
        self.evaluator = f"{self._function.__module__}.{getattr(self._function, '__qualname__', own)}"
        required = {one for one, parameter in self._parameters.items() if parameter.default is parameter.empty}
        if unknown := required - {*_FIELDS, "case", "run", "example"}:
            raise ConfigurationError(
                f"the parameter {min(unknown)!r} is no field of a case; give a function that fills it, such as "
                f"lambda case: evaluator({min(unknown)}=case.metadata[...], outputs=case.answer)"
            )
        self._usage = NO_USAGE if cost == 0 else Usage(calls=1, cost_usd=self.cost, cost_complete=cost is not None)

    def estimate(self, case: Case) -> Usage:
        """Return what a judgment costs; nothing if the case lacks what the evaluator needs."""
        return NO_USAGE if self._missing(self._arguments(case)) else self._usage

    async def assess(self, case: Case) -> Judgment:
        """Ask the evaluator."""
        arguments = self._arguments(case)
        if missing := self._missing(arguments):
            return abstain(f"the evaluator needs {', '.join(missing)}, which the case does not have")
        budget = context().budget if self._usage != NO_USAGE else None
        async with nullcontext() if budget is None else budget.reserve(self._usage):
            try:
                # Apart from the callbacks, traces and streams of the application that judges, like a critic's model.
                returned = await asyncio.create_task(self._call(arguments), context=Context())
                return self._judgment(returned).but(usage=self._usage)
            except Exception as error:
                return broken(error, usage=Usage(cost_complete=self._usage == NO_USAGE))

    async def _call(self, arguments: dict[str, Any]) -> Any:
        with within(judging=True):
            returned = await loop.in_thread(partial(self._function, **arguments))
            return await returned if inspect.isawaitable(returned) else returned

    @property
    def _parameters(self) -> dict[str, inspect.Parameter]:
        """The parameters that are given by name; those that say of themselves that they are not needed are left out."""
        return {
            name: parameter
            for name, parameter in inspect.signature(self._function).parameters.items()
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
            and getattr(self._evaluator, f"requires_{name}", True)
        }

    def _arguments(self, case: Case) -> dict[str, Any]:
        """Return the arguments by name, without those that the case lacks."""
        names = {name: str(parameter.annotation) for name, parameter in self._parameters.items()}
        if any(one.kind is one.VAR_KEYWORD for one in inspect.signature(self._function).parameters.values()):
            answer = next((name for name in names if _FIELDS.get(name) == "answer"), "")
            names = dict.fromkeys(_FURTHER.get(answer, ()), "") | names
        found = {name: _argument(case, name, annotation) for name, annotation in names.items()}
        return {name: value for name, value in found.items() if value is not None}

    def _missing(self, given: Mapping[str, Any]) -> list[str]:
        return [
            f"'{name}'"
            for name, parameter in self._parameters.items()
            if name not in given
            and (parameter.default is parameter.empty or getattr(self._evaluator, f"requires_{name}", False))
        ]

    def _judgment(self, returned: Any) -> Judgment:
        several = returned if isinstance(returned, list) else _field(returned, "results")
        if not isinstance(several, list):
            return self._read(returned)
        said = [self._read(one) for one in several]
        if len(said) < 2:
            return said[0] if said else abstain("the evaluator returned no result")
        names = [f"{place} {one.critic}".strip() for place, one in enumerate(said, start=1)]
        return Scorecard(dict.fromkeys(names, self)).verdict(said)

    def _read(self, result: Any) -> Judgment:
        """Return the judgment of one result.

        Raises:
            ValueError: it is in no known form, says that the evaluator failed, or its score is not on the scale.
        """
        if result is None or isinstance(result, bool | int | float) or getattr(result, "shape", None) == ():
            result = {"score": result}
        if not isinstance(result, Mapping) and not hasattr(result, "score"):
            raise ValueError(f"the evaluator returned {type(result).__name__} without a score; read it with @judge")
        if _field(result, "error") or _field(_field(result, "extra"), "error") is True:
            raise ValueError(str(_field(result, "error") or _field(result, "comment") or "the evaluator failed"))
        reason = next(
            (
                str(said)
                for part in (result, _field(result, "metadata"))
                for one in _REASONS
                if (said := _field(part, one))
            ),
            "",
        )
        name = str(_field(result, "key") or _field(result, "name") or "")
        score, passing, value = (_field(result, name) for name in ("score", "passing", "value"))
        score = value if score is None and not isinstance(value, str) else score
        if _field(result, "invalid_result") is True or (score is None and passing is None) or score != score:  # noqa: PLR0124
            return abstain(reason or "the evaluator gave no score", critic=name)
        if isinstance(score, bool):
            passing, score = score is (self.scale is None or self.scale[0] < self.scale[1]), None
        share = None if score is None or (self.scale is None and passing is not None) else self._share(score)
        passed = passing if isinstance(passing, bool) else (share or 0.0) >= self.pass_mark - ROUNDING
        return Judgment(status=Status.PASS if passed else Status.FAIL, score=share, reasoning=reason, critic=name)

    def _share(self, score: Any) -> float:
        """Return the place of a score between the worst and the best, 0..1."""
        if not _is_number(score):
            raise ValueError(f"a score is a number, not {visible(repr(score))}")
        if self.scale is None:
            raise ValueError(f"the score {score!r} is on a scale that is not known; give scale=(worst, best)")
        worst, best = self.scale
        share = (score - worst) / (best - worst)
        if not -1e-6 <= share <= 1 + 1e-6:  # similarities of 1.0000001 are common
            raise ValueError(f"the score {score!r} is not on the scale {worst:g}..{best:g}; give scale=(worst, best)")
        return float(min(1.0, max(0.0, share)))


def _argument(case: Case, name: str, annotation: str) -> Any:
    """Return the argument of a name; None if the case does not have it."""
    if name in ("case", "run", "example"):
        return case if name == "case" else _langsmith(case, name)
    field = _FIELDS.get(name, "")
    if re.search("message", annotation, re.IGNORECASE) and field in ("answer", "reference"):
        return _messages(case, field) or None
    if field == "contexts":
        return None if not case.contexts else "\n\n".join(case.contexts) if name == "context" else [*case.contexts]
    found = getattr(case, field, None)
    is_mapping = re.match(r"(<class ')?(typing\.)?(Optional\[)?(dict|mapping)\b", annotation, re.IGNORECASE)
    return found if found is None or not is_mapping else {"answer" if field == "reference" else field: found}


def _messages(case: Case, field: str) -> list[dict[str, Any]]:
    """Return a run, or the expected one, as messages of OpenAI; none if nothing is expected."""
    calls: list[tuple[str, Mapping[str, Any], str | None]] = (
        [(step.tool, step.arguments, step.error or step.output) for step in case.steps if step.tool is not None]
        if field == "answer"
        else [(one.tool, one.arguments or {}, None) for one in expected_of(case) or ()]
    )
    answer = getattr(case, field)
    if answer is None and not calls:
        return []
    messages: list[dict[str, Any]] = [{"role": "user", "content": case.question or ""}]
    for number, (tool, arguments, output) in enumerate(calls):
        function = {"name": tool, "arguments": to_json(dict(arguments)).decode()}
        messages += [
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": f"call_{number}", "content": output or ""},
        ]
    return [*messages, {"role": "assistant", "content": answer or ""}]


def _langsmith(case: Case, name: str) -> Any:
    """Return the run or the example of LangSmith."""
    from langsmith import schemas

    common: dict[str, Any] = {"id": uuid4(), "inputs": {"question": case.question}}
    if name == "example":
        return schemas.Example(**common, outputs={"answer": case.reference}, metadata=dict(case.metadata))
    outputs, now = {"answer": case.answer, "contexts": [*case.contexts]}, datetime.now(UTC)
    return schemas.Run(
        **common, trace_id=common["id"], name="case", run_type="chain", start_time=now, end_time=now, outputs=outputs
    )


def _field(result: Any, name: str) -> Any:
    """Return a field of a mapping or an object; a number of numpy as one of Python."""
    found: Any = result.get(name) if isinstance(result, Mapping) else getattr(result, name, None)
    return found.item() if getattr(found, "shape", None) == () else found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
