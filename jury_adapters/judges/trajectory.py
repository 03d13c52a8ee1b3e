"""Checks of an agent's run: the tools it called, their order and number, and whether it gave an answer.

They read ``case.trajectory``. :meth:`jury_adapters.Case.from_messages` makes such a case from the messages
of LangChain, LangGraph, LlamaIndex or OpenAI; the adapters do it automatically.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Literal, TypeAlias

from jury_adapters.core.case import Case
from jury_adapters.core.case_parts import Step
from jury_adapters.core.context import run_context
from jury_adapters.core.conversation import Conversation
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.hidden_characters import is_blank
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import PASS_OR_FAIL, Finding, Judgment, Status, abstain
from jury_adapters.judges.toolcalls import ToolCall, pairs_in_any_order, pairs_in_order

__all__ = ["CostLimit", "FinalAnswer", "ForbiddenTools", "NoToolErrors", "StepLimit", "ToolCall", "ToolCalls"]

Order = Literal["strict", "unordered", "subset", "superset"]
ArgumentMatch = Literal["exact", "ignore", "subset", "superset"]
ArgumentRule: TypeAlias = ArgumentMatch | Callable[[Mapping[str, object], Mapping[str, object]], bool]

_ORDERS = ("strict", "unordered", "subset", "superset")
_ARGUMENT_MATCHES = ("exact", "ignore", "subset", "superset")
_NOTHING_EXPECTED = (
    "nothing to compare with: give expected=, or a case with metadata['expected_calls'], which is read from the column "
    "expected_calls of a row and from the outputs of a LangSmith example"
)
_NO_TRAJECTORY = "no trajectory and no answer: nothing is known of the run"


@dataclass(frozen=True)
class ToolCalls(Judge):
    """The agent called the expected tools. The score is the share of calls that match.

    Args:
        expected: the calls, each a name, a pair ``(name, arguments)`` or a :class:`ToolCall`. None reads them from the
            case: ``metadata["expected_calls"]``, in the same forms, or the messages of a reference run.
        order: ``"strict"`` (these calls, in this order), ``"unordered"`` (these calls), ``"subset"`` (no others than
            these), ``"superset"`` (these, perhaps others too).
        arguments: how arguments compare: ``"exact"``, ``"ignore"``, ``"subset"`` (those given are among the expected)
            or ``"superset"`` (the expected are among those given). Calls expected without arguments match any.
        overrides: other comparisons by tool; also a function ``(given, expected) -> bool``.
        name: the check's name in verdicts.

    Raises:
        ConfigurationError: the order or a comparison is unknown, or an expected call has another form.

    The modes are those of agentevals' ``create_trajectory_match_evaluator``.

    >>> case = Case(question="?", answer="!", trajectory=[Step(tool="search", arguments={"q": "x"})])
    >>> ToolCalls([("search", {"q": "x"})]).judge(case).status
    <Status.PASS: 'PASS'>
    """

    opinion_statuses = PASS_OR_FAIL
    expected: Sequence[object] | None = None
    order: Order = "strict"
    arguments: ArgumentMatch = "exact"
    overrides: Mapping[str, ArgumentRule] = field(default_factory=dict)
    name: str = "ToolCalls"

    def __post_init__(self) -> None:
        if self.order not in _ORDERS:
            raise ConfigurationError(unknown("order", self.order, _ORDERS))
        for rule in (self.arguments, *self.overrides.values()):
            if not callable(rule) and rule not in _ARGUMENT_MATCHES:
                raise ConfigurationError(unknown("comparison of arguments", rule, _ARGUMENT_MATCHES))
        if self.expected is not None:
            if isinstance(self.expected, str | Mapping):
                raise ConfigurationError(f"expected is a list of calls; for one write [{plain_repr(self.expected)}]")
            object.__setattr__(self, "expected", tuple(ToolCall.of(call) for call in self.expected))

    def assess(self, case: Case) -> Judgment:
        expected = _expected_of(case) if self.expected is None else tuple(ToolCall.of(call) for call in self.expected)
        if expected is None:
            return abstain(_NOTHING_EXPECTED)
        if not case.trajectory and case.answer is None:
            return abstain(_NO_TRAJECTORY)
        made = _calls(case)
        fits = [[self._fits(step, call) for call in expected] for step in made]
        pairs = (
            pairs_in_order(fits, len(expected)) if self.order == "strict" else pairs_in_any_order(fits, len(expected))
        )
        return self._judgment(made, expected, pairs)

    def _fits(self, made: Step, expected: ToolCall) -> bool:
        if made.tool != expected.tool:
            return False
        if expected.arguments is None:
            return True
        rule = self.overrides.get(expected.tool, self.arguments)
        given, wanted = made.arguments, expected.arguments
        if callable(rule):
            return bool(rule(given, wanted))
        if rule == "ignore":
            return True
        return (
            (rule == "superset" or all(name in wanted and wanted[name] == value for name, value in given.items()))
            and (rule == "subset" or all(name in given and given[name] == value for name, value in wanted.items()))
        )  # fmt: skip

    def _judgment(self, made: Sequence[Step], expected: Sequence[ToolCall], pairs: Mapping[int, int]) -> Judgment:
        missing = [str(call) for at, call in enumerate(expected) if at not in pairs.values()]
        further = [str(ToolCall.of(step)) for at, step in enumerate(made) if at not in pairs]
        passed = (self.order == "subset" or not missing) and (self.order == "superset" or not further)
        findings = [Finding(f"called {call}", at in pairs.values()) for at, call in enumerate(expected)]
        said = []
        if missing and self.order != "subset":
            said.append(f"not called{' in this order' if self.order == 'strict' else ''}: {', '.join(missing)}")
        if further and self.order != "superset":
            said.append(f"not expected: {', '.join(further)}")
        longest = max(len(made), len(expected))
        return Judgment(
            Status.PASS if passed else Status.FAIL,
            score=1.0 if passed else len(pairs) / longest,
            reasoning="; ".join(said) or _as_expected(len(pairs), len(further)),
            findings=tuple(findings) if self.order != "subset" else (),
        )


def _as_expected(calls: int, further: int) -> str:
    return f"{calls} call{'' if calls == 1 else 's'} as expected" + (f", {further} further" if further else "")


@dataclass(frozen=True)
class ForbiddenTools(Judge):
    """The agent called none of these tools.

    Args:
        tools: names, or patterns such as ``"delete_*"``.
        name: the check's name in verdicts.

    Raises:
        ConfigurationError: no tool is named.
    """

    opinion_statuses = PASS_OR_FAIL
    tools: str | Sequence[str]
    name: str = "ForbiddenTools"

    def __post_init__(self) -> None:
        tools = (self.tools,) if isinstance(self.tools, str) else tuple(self.tools)
        if not tools or not all(isinstance(tool, str) and tool for tool in tools):
            raise ConfigurationError(
                f"ForbiddenTools needs the names of one or more tools, not {plain_repr(self.tools)}"
            )
        object.__setattr__(self, "tools", tools)

    def assess(self, case: Case) -> Judgment:
        if not case.trajectory and case.answer is None:
            return abstain(_NO_TRAJECTORY)
        called = [
            str(ToolCall.of(step)) for step in _calls(case) if any(fnmatchcase(str(step.tool), t) for t in self.tools)
        ]
        if called:
            return Judgment(Status.FAIL, reasoning=f"forbidden: {', '.join(called)}")
        return Judgment(Status.PASS, reasoning="no forbidden tool was called")


@dataclass(frozen=True)
class StepLimit(Judge):
    """The agent stayed within its limits of steps, tool calls and repetitions.

    Args:
        max_steps: the maximum number of steps, including those without a tool call; None for no limit.
        max_tool_calls: the maximum number of tool calls.
        max_per_tool: the maximum number of calls of any one tool.
        max_repeats: the maximum number of repetitions in a row of the same call with the same arguments.
        name: the check's name in verdicts.

    Raises:
        ConfigurationError: there is no limit, or a negative one.
    """

    opinion_statuses = PASS_OR_FAIL
    max_steps: int | None = None
    max_tool_calls: int | None = None
    max_per_tool: int | None = None
    max_repeats: int | None = None
    name: str = "StepLimit"

    def __post_init__(self) -> None:
        limits = (self.max_steps, self.max_tool_calls, self.max_per_tool, self.max_repeats)
        if not _any_valid_limit(limits):
            raise ConfigurationError("StepLimit needs max_steps, max_tool_calls, max_per_tool or max_repeats, from 0")

    def assess(self, case: Case) -> Judgment:
        if not case.trajectory and case.answer is None:
            return abstain(_NO_TRAJECTORY)
        calls = _calls(case)
        per_tool = Counter(step.tool for step in calls)
        found = {
            "max_steps": (len(case.trajectory), self.max_steps),
            "max_tool_calls": (len(calls), self.max_tool_calls),
            "max_per_tool": (max(per_tool.values(), default=0), self.max_per_tool),
            "max_repeats": (_longest_repeat(calls), self.max_repeats),
        }
        return _within(found)


@dataclass(frozen=True)
class CostLimit(Judge):
    """The run stayed within its limits of cost, tokens and time, by the numbers in the case's metadata.

    Args:
        max_usd: US dollars, compared with ``metadata["cost_usd"]``.
        max_tokens: tokens, compared with ``metadata["total_tokens"]``.
        max_seconds: seconds, compared with ``metadata["elapsed_s"]``; without it, with the duration of the run of an
            application that is judged in the background.
        name: the check's name in verdicts.

    Raises:
        ConfigurationError: there is no limit, or a negative one.
    """

    opinion_statuses = PASS_OR_FAIL
    max_usd: float | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None
    name: str = "CostLimit"

    def __post_init__(self) -> None:
        if not _any_valid_limit((self.max_usd, self.max_tokens, self.max_seconds)):
            raise ConfigurationError("CostLimit needs max_usd, max_tokens or max_seconds, from 0")

    def assess(self, case: Case) -> Judgment:
        found: dict[str, tuple[float, float | None]] = {}
        limits = {"cost_usd": self.max_usd, "total_tokens": self.max_tokens, "elapsed_s": self.max_seconds}
        for key, limit in limits.items():
            if limit is None:
                continue
            value = case.metadata.get(key)
            if value is None and key == "elapsed_s" and (run := run_context().run) is not None:
                value = run.elapsed_s
            if isinstance(value, bool) or not isinstance(value, int | float):
                return abstain(f"no number in metadata[{key!r}]")
            found[key] = (value, limit)
        return _within(found)


@dataclass(frozen=True)
class NoToolErrors(Judge):
    """No tool call failed, or no more than allowed.

    Args:
        allowed: the number of calls that may fail.
        name: the check's name in verdicts.

    Raises:
        ConfigurationError: ``allowed`` is not a whole number from 0.
    """

    opinion_statuses = PASS_OR_FAIL
    allowed: int = 0
    name: str = "NoToolErrors"

    def __post_init__(self) -> None:
        if not _any_valid_limit((self.allowed,)):
            raise ConfigurationError(f"allowed is a whole number from 0, not {plain_repr(self.allowed)}")

    def assess(self, case: Case) -> Judgment:
        if not case.trajectory and case.answer is None:
            return abstain(_NO_TRAJECTORY)
        failed = [f"{step.tool}: {step.error}" for step in _calls(case) if step.error is not None]
        status = Status.PASS if len(failed) <= self.allowed else Status.FAIL
        return Judgment(status, reasoning=f"failed: {'; '.join(failed)}" if failed else "no tool call failed")


@dataclass(frozen=True)
class FinalAnswer(Judge):
    """The run ended with an answer, which may be an image, and not with a tool call.

    Combine it with further checks of the answer by ``&``: ``FinalAnswer() & Contains("Bern")``.

    Args:
        name: the check's name in verdicts.
    """

    opinion_statuses = PASS_OR_FAIL
    name: str = "FinalAnswer"

    def assess(self, case: Case) -> Judgment:
        shown = any(image.field == "answer" for image in case.attachments)
        if not case.trajectory and case.answer is None and not shown:
            return abstain(_NO_TRAJECTORY)
        if shown or (case.answer is not None and not is_blank(case.answer)):
            return Judgment(Status.PASS, reasoning="the run ended with an answer")
        last = case.trajectory[-1] if case.trajectory else None
        after = f", its last step was {last.tool}" if last is not None and last.tool is not None else ""
        return Judgment(Status.FAIL, reasoning=f"the run ended without an answer{after}")


def _calls(case: Case) -> tuple[Step, ...]:
    return tuple(step for step in case.trajectory if step.tool is not None)


def _expected_of(case: Case) -> tuple[ToolCall, ...] | None:
    """Return the expected calls in a case's metadata, given as calls or as the messages of a reference run."""
    given = case.metadata.get("expected_calls")
    if not isinstance(given, Iterable) or isinstance(given, str | Mapping):
        return None
    items = tuple(given)
    if any(isinstance(item, Mapping) and "role" in item for item in items):
        return tuple(ToolCall.of(step) for step in Conversation.of(items).steps if step.tool is not None)
    return tuple(ToolCall.of(item) for item in items)


def _longest_repeat(calls: Sequence[Step]) -> int:
    longest = repeats = 0
    for before, after in pairwise(calls):
        same = (before.tool, before.arguments) == (after.tool, after.arguments)
        repeats = repeats + 1 if same else 0
        longest = max(longest, repeats)
    return longest


def _any_valid_limit(limits: Sequence[float | None]) -> bool:
    given = [limit for limit in limits if limit is not None]
    return bool(given) and all(not isinstance(x, bool) and isinstance(x, int | float) and x >= 0 for x in given)


def _within(found: Mapping[str, tuple[float, float | None]]) -> Judgment:
    """Return PASS if every number is within its limit, with one check each."""
    findings = tuple(
        Finding(name, value <= limit, evidence=f"{value:g} of at most {limit:g}")
        for name, (value, limit) in found.items()
        if limit is not None
    )
    over = [f"{finding.name}: {finding.evidence}" for finding in findings if not finding.passed]
    reasoning = f"over the limit: {'; '.join(over)}" if over else "within every limit"
    return Judgment(Status.FAIL if over else Status.PASS, reasoning=reasoning, findings=findings)
