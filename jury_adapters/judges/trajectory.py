"""Checks of an agent's run, ``case.steps``: the tools that it called, their order and number.

They abstain on a case without steps and without an answer, of whose run nothing is known.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Annotated, Any, Literal

from pydantic import (
    AliasChoices,
    BeforeValidator,
    Field,
    GetPydanticSchema,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)

from jury_adapters.core.case import Case
from jury_adapters.core.judge import Returned
from jury_adapters.core.judgment import Finding, Judgment, Status, abstain
from jury_adapters.core.text import visible
from jury_adapters.core.values import Frozen, InputError, Metadata, problems_of
from jury_adapters.inputs.messages import read_messages, role_of
from jury_adapters.judges.options import DeclaredCheck, Texts, Whole, declared

ArgumentMatch = Literal["exact", "ignore", "subset", "superset"]


class ToolCall(Frozen):
    """Expected call of a tool.

    Attributes:
        tool: the name of the tool.
        arguments: the arguments; None if any will do.
    """

    tool: str = Field(min_length=1, validation_alias=AliasChoices("tool", "name"))
    arguments: Metadata | None = Field(None, validation_alias=AliasChoices("arguments", "args", "input_parameters"))

    def __str__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in (self.arguments or {}).items())
        return visible(self.tool if self.arguments is None else f"{self.tool}({inside})")


def _call(given: Any) -> Any:
    if isinstance(given, str):
        return {"tool": given}
    is_pair = isinstance(given, list | tuple) and len(given) == 2
    return {"tool": given[0], "arguments": given[1]} if is_pair else given


_Calls = tuple[
    Annotated[ToolCall, BeforeValidator(_call), WithJsonSchema({"type": ["string", "array", "object"]})], ...
]
Calls = Annotated[Sequence[Any], GetPydanticSchema(lambda _, handler: handler.generate_schema(_Calls))]
"""Expected calls, in all their forms; a tuple of :class:`ToolCall` in the check."""


class _OfRun(DeclaredCheck):
    """Base of checks that read the calls of a run."""

    def check(self, case: Case) -> Returned:
        if not case.steps and case.answer is None:
            return abstain("the case has no steps and no answer")
        made = [
            ToolCall(tool=step.tool or "tool", arguments=step.arguments) for step in case.steps if step.tool is not None
        ]
        return self.read(case, made)

    @abstractmethod
    def read(self, case: Case, made: list[ToolCall]) -> Returned:
        """Judge the calls that were made."""


@declared
class ToolCalls(_OfRun):
    """The agent called the expected tools. The score is the share of calls that match.

    The modes are those of agentevals' ``create_trajectory_match_evaluator``. Each call counts once; where the order
    counts, calls are compared place by place.

    Args:
        expected: the calls: names, pairs of a name and arguments, or mappings with ``tool`` and ``arguments``. None
            takes ``metadata["expected_calls"]`` of the case: calls in these forms, or the messages of a reference run.
        order: ``strict`` (these calls, in this order), ``unordered`` (these calls), ``subset`` (no others than these)
            or ``superset`` (these, perhaps others too).
        arguments: how arguments compare: ``exact``, ``ignore``, ``subset`` (those given are among the expected) or
            ``superset`` (the expected are among those given). A call that is expected without arguments has any.
        overrides: other comparisons of arguments, by tool.
        name: the name in verdicts.

    Raises:
        ConfigurationError: an option is wrong.

    >>> from jury_adapters import Step
    >>> case = Case(answer="!", steps=[Step(tool="search", arguments={"q": "x"})])
    >>> ToolCalls([("search", {"q": "x"})]).judge(case).status.value
    'PASS'
    """

    expected: Calls | None = None
    order: Literal["strict", "unordered", "subset", "superset"] = "strict"
    arguments: ArgumentMatch = "exact"
    overrides: dict[str, ArgumentMatch] = Field(default_factory=dict)

    def read(self, case: Case, made: list[ToolCall]) -> Returned:
        expected = expected_of(case) if self.expected is None else self.expected
        if expected is None:
            return abstain("nothing is expected: give expected=, or a case with metadata['expected_calls']")
        in_order = self.order == "strict"
        pairs = _pairs(
            [
                [(place == number or not in_order) and self._fits(step, call) for number, call in enumerate(expected)]
                for place, step in enumerate(made)
            ]
        )
        missing = ", ".join(str(call) for number, call in enumerate(expected) if number not in pairs)
        further = ", ".join(str(step) for place, step in enumerate(made) if place not in pairs.values())
        said = [f"not called{' in this order' if in_order else ''}: {missing}"] * bool(
            missing and self.order != "subset"
        )
        said += [f"not expected: {further}"] * bool(further and self.order != "superset")
        return Judgment(
            status=Status.FAIL if said else Status.PASS,
            score=len(pairs) / max(len(made), len(expected)) if said else 1.0,
            reasoning="; ".join(said) or f"{len(pairs)} calls as expected, {len(made) - len(pairs)} further",
            findings=tuple(
                Finding(name=f"called {call}", passed=number in pairs or (None if self.order == "subset" else False))
                for number, call in enumerate(expected)
            ),
        )

    def _fits(self, made: ToolCall, expected: ToolCall) -> bool:
        rule = self.overrides.get(expected.tool, self.arguments)
        if made.tool != expected.tool or expected.arguments is None or rule == "ignore":
            return made.tool == expected.tool
        given, wanted = (made.arguments or {}).items(), expected.arguments.items()
        no_others = rule == "superset" or all(pair in wanted for pair in given)
        return no_others and (rule == "subset" or all(pair in given for pair in wanted))


@declared
class ForbiddenTools(_OfRun):
    """The agent called none of these tools.

    Args:
        tools: a name or several, or patterns such as ``delete_*``.
        name: the name in verdicts.

    Raises:
        ConfigurationError: no tool is named.

    >>> from jury_adapters import Step
    >>> case = Case(answer="Done.", steps=[Step(tool="delete_file")])
    >>> ForbiddenTools("delete_*").judge(case).reasoning
    'forbidden: delete_file()'
    """

    tools: Texts

    def read(self, case: Case, made: list[ToolCall]) -> Returned:
        called = [str(step) for step in made if any(fnmatchcase(step.tool, tool) for tool in self.tools)]
        return not called, f"forbidden: {', '.join(called)}" if called else "no forbidden tool was called"


@declared
class StepLimit(_OfRun):
    """The agent stayed within its limits.

    Args:
        max_steps: the largest number of steps, also those without a call.
        max_tool_calls: the largest number of calls.
        max_per_tool: the largest number of calls of any one tool.
        max_repeats: how often a call may be repeated at once with the same arguments.
        name: the name in verdicts.

    Raises:
        ConfigurationError: there is no limit, or a negative one.

    >>> from jury_adapters import Step
    >>> StepLimit(max_tool_calls=1).judge(Case(answer="!", steps=[Step(tool="a"), Step(tool="b")])).reasoning
    'max_tool_calls: 2 of at most 1'
    """

    max_steps: Whole | None = None
    max_tool_calls: Whole | None = None
    max_per_tool: Whole | None = None
    max_repeats: Whole | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if {self.max_steps, self.max_tool_calls, self.max_per_tool, self.max_repeats} == {None}:
            raise ValueError("a limit is needed: max_steps=, max_tool_calls=, max_per_tool= or max_repeats=")

    def read(self, case: Case, made: list[ToolCall]) -> Returned:
        found = {
            "max_steps": len(case.steps),
            "max_tool_calls": len(made),
            "max_per_tool": max(Counter(step.tool for step in made).values(), default=0),
            "max_repeats": max((len([*same]) - 1 for _, same in groupby(made)), default=0),
        }
        findings = [
            Finding(name=name, passed=number <= limit, detail=f"{number} of at most {limit}")
            for name, number in found.items()
            if (limit := getattr(self, name)) is not None
        ]
        over = [one for one in findings if not one.passed]
        return Judgment(
            status=Status.FAIL if over else Status.PASS,
            reasoning="; ".join(f"{one.name}: {one.detail}" for one in over or findings),
            findings=tuple(findings),
        )


@declared
class NoToolErrors(_OfRun):
    """No call of a tool failed, or no more than allowed.

    Args:
        allowed: the number of calls that may fail.
        name: the name in verdicts.

    Raises:
        ConfigurationError: the number is negative.

    >>> from jury_adapters import Step
    >>> NoToolErrors().judge(Case(answer="!", steps=[Step(tool="search", error="timeout")])).reasoning
    'failed: search (timeout)'
    """

    allowed: Whole = 0

    def read(self, case: Case, made: list[ToolCall]) -> Returned:
        failed = [
            f"{visible(step.tool or 'a step')} ({visible(step.error)})" for step in case.steps if step.error is not None
        ]
        return len(failed) <= self.allowed, f"failed: {', '.join(failed)}" if failed else "no call failed"


def expected_of(case: Case) -> tuple[ToolCall, ...] | None:
    """Return the calls that the metadata of a case expect; None if there are none.

    Raises:
        InputError: they are in no known form.
    """
    given = case.metadata.get("expected_calls")
    if isinstance(given, list | tuple) and any(role_of(one) is not None for one in given):
        given = [(step.tool, step.arguments) for step in read_messages(given).steps if step.tool is not None]
    try:
        return None if given is None else TypeAdapter(_Calls).validate_python(given)
    except ValidationError as error:
        raise InputError(f"metadata['expected_calls']: {problems_of(error)}") from None


def _pairs(fits: Sequence[Sequence[bool]]) -> Mapping[int, int]:
    """Return the expected calls with those made, by their places: a maximum matching by augmenting paths.

    Where arguments compare loosely, the first fitting partner may be needed by another call.
    """
    partner: dict[int, int] = {}

    def paired(made: int, tried: set[int]) -> bool:
        for number in sorted(range(len(fits[made])), key=partner.__contains__):  # free ones first: equal calls are many
            if fits[made][number] and number not in tried:
                tried.add(number)
                if number not in partner or paired(partner[number], tried):
                    partner[number] = made
                    return True
        return False

    for made in range(len(fits)):
        paired(made, set())
    return partner
