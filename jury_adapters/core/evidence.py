"""Evidence: the outputs of tools on which an answer may rest.

The adapters of both frameworks use :class:`Evidence` to decide which steps of a run become contexts of its case.
"""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Final, TypeAlias

from jury_adapters.core.case_parts import Step
from jury_adapters.core.confirmations import GAP
from jury_adapters.core.echoes import echoes, without_arguments
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.loose_values import json_text

_log = logging.getLogger(__name__)

EvidenceTools: TypeAlias = Iterable[str] | Callable[[Step], bool] | None
"""Names of the tools whose output is evidence, or a predicate of a step; None for all tools that are not echoes."""


class Evidence:
    """Rule that decides which steps of a run are evidence.

    Some outputs are never evidence, because the judged model wrote them itself: the tool message of a structured
    response (LangChain's ``ToolStrategy``) or of a failed attempt at one, and the verdict of a ``JuryTool``. Unless
    they are named, tools that are known to repeat text of the model are not evidence either (``write_todos``,
    ``think``, ``save_plan``, handoffs to other agents such as LlamaIndex's ``handoff`` and ``transfer_to_...``), nor is
    an output that repeats or confirms the arguments of the call. If an output has further content, only the repeated
    part is left out; see :func:`jury_adapters.core.echoes.without_arguments`.

    If no tool of a run has one of the given names, the log says so once.

    Args:
        evidence_tools: the names of the only tools whose output is evidence; or a predicate that is applied to each
            step that is evidence by default. None accepts all of these steps.

    Raises:
        ConfigurationError: ``evidence_tools`` is neither names nor a predicate.

    >>> steps = [Step(tool="search", output="Rome: 2.8 million people."), Step(tool="think", output="Perhaps 3.")]
    >>> Evidence().contexts(steps)
    ('Rome: 2.8 million people.',)
    >>> Evidence(["think"]).contexts(steps)
    ('Perhaps 3.',)
    """

    __slots__ = ("_confirmed", "_names", "_predicate")

    def __init__(self, evidence_tools: EvidenceTools = None) -> None:
        self._confirmed = False  # whether the names are known to be right, or the log says that they may be wrong
        self._names: frozenset[str] | None = None
        self._predicate: Callable[[Step], bool] | None = None
        if evidence_tools is None:
            return
        _refuse_tool(evidence_tools)
        if callable(evidence_tools):
            self._predicate = _checked_predicate(evidence_tools)
        else:
            self._names = _checked_names(evidence_tools)

    @classmethod
    def of(cls, given: EvidenceTools | Evidence) -> Evidence:
        """Return a rule unchanged, or the rule for an ``evidence_tools`` option.

        Raises:
            ConfigurationError: the option is neither names nor a predicate.
        """
        return given if isinstance(given, Evidence) else cls(given)

    def text_of(self, step: Step) -> str | None:
        """Return the part of a step's output that is evidence; None if no part is.

        Raises:
            Exception: any exception of the predicate.
        """
        output = step.output
        if not output or not output.strip() or step.echo or _is_written_by_model(step):
            return None
        if self._names is not None:
            return output if step.tool in self._names else None
        found = None if echoes(step.tool or "") else without_arguments(step)
        return found if found is None or self._predicate is None or self._predicate(step) else None

    @property
    def names(self) -> frozenset[str]:
        """The names of tools in the option; empty without names."""
        return self._names or frozenset()

    def confirm(self) -> None:
        """Note that tools with these names exist, so that :meth:`warn` says nothing about them."""
        self._confirmed = True

    def unmatched(self, steps: Iterable[Step]) -> str:
        """Return a sentence if no step has one of the names although tools were called; else the empty text."""
        called = dict.fromkeys(step.tool for step in steps if step.tool and step.output is not None and not step.echo)
        if not self.names or not called or self.names & called.keys():
            return ""
        named, ran = (", ".join(map(plain_repr, sorted(names))) for names in (self.names, called))
        close = [match for name in sorted(self.names) for match in get_close_matches(name, called, n=1)]
        meant = f"; did you mean {close[0]!r}?" if close else ""
        return f"evidence_tools= names {named}, the tools of this run are {ran}{meant}"

    def warn(self, steps: Iterable[Step]) -> None:
        """Log once that no step has one of the names; a run that has one of them shows that they are right."""
        if self._confirmed or not self.names:
            return
        steps = tuple(steps)
        if said := self.unmatched(steps):
            self._confirmed = True
            _log.warning("no output of a tool is evidence in a run (logged once): %s", said)
        elif any(step.tool in self.names for step in steps):
            self._confirmed = True

    def accepts(self, step: Step) -> bool:
        """Whether a part of a step's output is evidence.

        Raises:
            Exception: any exception of the predicate.
        """
        return self.text_of(step) is not None

    def contexts(self, steps: Iterable[Step]) -> tuple[str, ...]:
        """Return the outputs that are evidence, without duplicates."""
        return tuple(dict.fromkeys(text for step in steps if (text := self.text_of(step)) is not None))


DEFAULT_EVIDENCE: Final = Evidence()
"""Rule with default options."""


def note_on_left_out(contexts: Iterable[str], steps: Iterable[Step]) -> str:
    """Return a sentence if contexts are outputs of tools without the text that the model wrote in the call; else "".

    A reader of the judgment sees only the mark in the context, and would look for the missing text there.

    >>> search = Step(tool="find", arguments={"text": "It opened in 1987, on a Monday."})
    >>> search = search.model_copy(update={"output": "It opened in 1987, on a Monday. It is red."})
    >>> note_on_left_out(Evidence().contexts([search]), [search])
    "the contexts are without the text (…) that the model itself wrote in its call of 'find'"
    """
    marked = {context for context in contexts if GAP in context}
    if not marked:
        return ""
    cut = (step for step in steps if step.output not in marked and without_arguments(step) in marked)
    tools = ", ".join(dict.fromkeys(plain_repr(step.tool or "") for step in cut))
    return tools and f"the contexts are without the text ({GAP}) that the model itself wrote in its call of {tools}"


def with_echoes(steps: Iterable[Step], tools: Collection[str]) -> tuple[Step, ...]:
    """Return the steps, with the steps of these tools marked as echoes."""
    return tuple(step.model_copy(update={"echo": True}) if step.tool in tools else step for step in steps)


def structured_tools(steps: Sequence[Step], response: object, *, ends_in_call: bool) -> frozenset[str]:
    """Return the tool names under which the model gave a structured response.

    The name is that of the response's class. If the response is a mapping, its class is unknown; then the last calls of
    the turn are searched for one with the fields of the response.

    Args:
        steps: the steps of the turn.
        response: the structured response: an object, or its fields as a mapping.
        ends_in_call: whether the turn ended with a tool call. Otherwise the model gave the response as a text.
    """
    tools = {step.tool for step in steps if step.tool is not None}
    if not isinstance(response, Mapping):
        return frozenset(tools & {type(response).__name__})
    if "lc" in response and isinstance(response.get("kwargs"), Mapping):  # as LangChain serialises an object
        names = response.get("id")
        return frozenset(tools & {str(names[-1])} if isinstance(names, list) and names else ())
    if not ends_in_call:
        return frozenset()
    wanted = {str(name): json_text(value) for name, value in response.items()}
    fitting = [step for step in _last_calls(steps) if _fits(step, wanted)]
    certain = [step for step in fitting if (step.output or "").startswith(_STRUCTURED)]
    return frozenset(step.tool for step in certain or fitting if step.tool is not None)


def _last_calls(steps: Sequence[Step]) -> list[Step]:
    """Return the calls of the last message that has calls."""
    calls = [step for step in steps if step.tool is not None]
    first = max((position for position, step in enumerate(calls) if not step.parallel), default=0)
    return calls[first:]


def _fits(step: Step, wanted: Mapping[str, str]) -> bool:
    """Whether the arguments of a call equal those fields; fields with a default may be missing in the call."""
    given = {name: json_text(value) for name, value in step.arguments.items()}
    return bool(given) and given.items() <= wanted.items()


def _is_written_by_model(step: Step) -> bool:
    """Whether an output is a text that a framework has built from text of the model."""
    output, tool = step.output or "", re.escape(step.tool or "")
    if output.startswith(_STRUCTURED) or ("answer" in step.arguments and _VERDICT.match(output) is not None):
        return True
    return bool(tool) and re.search(_FAILED_TRY.format(tool), output) is not None


def _refuse_tool(given: object) -> None:
    """Refuse a single tool object or class instead of names of tools."""
    if isinstance(given, type):
        raise ConfigurationError(f"evidence_tools= takes names of tools or a predicate, not the class {given.__name__}")
    name = _name_of_tool(given)
    if name is not None:
        raise ConfigurationError(
            f"evidence_tools= takes names of tools, {_not(given)}; give its name in a list: evidence_tools=[{name!r}]"
        )


def _checked_names(given: object) -> frozenset[str]:
    if isinstance(given, str | bytes):
        shown = given if isinstance(given, str) else given.decode(errors="replace")
        raise ConfigurationError(f"evidence_tools= takes names in a list: evidence_tools=[{plain_repr(shown)}]")
    if not isinstance(given, Iterable):
        raise ConfigurationError(f"evidence_tools= takes names of tools or a predicate of a Step, {_not(given)}")
    return frozenset(map(_checked_name, given))


def _checked_name(given: object) -> str:
    if isinstance(given, str) and given.strip():
        return given
    name = getattr(given, "__name__", None) if inspect.isroutine(given) else _name_of_tool(given)
    fix = f"; give its name, {name!r}" if name else ""
    raise ConfigurationError(f"evidence_tools= takes names of tools such as 'search', {_not(given)}{fix}")


def _checked_predicate(given: Callable[[Step], bool]) -> Callable[[Step], bool]:
    if inspect.iscoroutinefunction(given) or inspect.iscoroutinefunction(getattr(given, "__call__", None)):  # noqa: B004
        raise ConfigurationError("evidence_tools= takes a plain predicate of a Step, not an asynchronous one")
    try:
        inspect.signature(given).bind(None)
    except TypeError:
        raise ConfigurationError("evidence_tools= takes a predicate with one argument, a Step") from None
    except ValueError:  # a builtin without a signature
        pass
    return given


def _name_of_tool(given: object) -> str | None:
    """Return the name of a tool object of a framework; None for other values."""
    names = [getattr(place, "name", None) for place in (given, getattr(given, "metadata", None))]
    return next((name for name in names if isinstance(name, str) and name), None)


def _not(given: object) -> str:
    return f"not {plain_repr(given)}"


_STRUCTURED: Final = (
    "Returning structured response: ",
    "Error: Failed to parse structured output for tool ",
    "Error: Model incorrectly returned multiple structured responses ",
)
_FAILED_TRY: Final = (
    r"Failed to parse structured output for tool '{0}'|"  # LangChain's errors, also with a text of handle_errors=
    r"incorrectly returned multiple structured responses \([^)]*\b{0}\b|"
    r"\d validation errors? for {0}\b"
)
_VERDICT: Final = re.compile(
    r"(?:[^\n:]{1,80}, )?(?:PASS|FAIL|ABSTAIN|ERROR|label [^\n]{1,80}?)(?:, score \d\.\d\d)?(?:, agreement \d\.\d\d)?: "
)
"""First line of the output of :class:`jury_adapters.langchain.JuryTool`."""
