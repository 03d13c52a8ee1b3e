"""Jury behind a middleware: it builds cases, decides outcomes and calls the sinks."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from langchain_core.messages import AIMessage

from jury_adapters.core import event_loop
from jury_adapters.core.background.sink_calls import sinks_of
from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import StoreLike
from jury_adapters.core.case import Case
from jury_adapters.core.constant_abstention import ConstantAbstention
from jury_adapters.core.context import judging
from jury_adapters.core.errors import ConfigurationError, InputError, plain_repr, unknown
from jury_adapters.core.evidence import Evidence, EvidenceTools
from jury_adapters.core.feedback import feedback_of
from jury_adapters.core.field_map import FieldMap, FieldMapLike, field_map_of
from jury_adapters.core.judge_like import JudgeLike, judge_of
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.mapped_case import mapped_case
from jury_adapters.core.runs import JudgedRun, Run, Sink
from jury_adapters.core.scope import Scope
from jury_adapters.core.undecided import OnUndecided, is_undecided, is_unreviewed
from jury_adapters.core.unmet_fields import unmet_fields
from jury_adapters.core.verdict import Verdict
from jury_adapters.langchain.agent_cases import case_of_turn
from jury_adapters.langchain.agent_turns import marked
from jury_adapters.langchain.available_tools import shows_tools, with_available_tools
from jury_adapters.langchain.jury_state import OWN_KEYS
from jury_adapters.models.langchain_binding import unheard

_log = logging.getLogger(__name__)

OnFail: TypeAlias = Literal["retry", "block", "annotate"]
Outcome: TypeAlias = Literal["accepted", "annotated", "unjudged", "rejected", "blocked"]
"""Outcome of an answer: passed, shown although it failed, shown undecided, sent back to the model, or withheld."""


class DefaultNumber(int):
    """Number that is the default of an option, which differs from the same number if a caller gives it."""


MAX_RETRIES: Final = DefaultNumber(2)
REFUSAL: Final = "I cannot answer this: my answer did not pass its review."
UNREVIEWED: Final = "I cannot answer this: my answer could not be reviewed."


class AgentGuard:
    """Jury with the options of :class:`jury_adapters.langchain.JuryMiddleware`, which documents them.

    Attributes:
        jury: the judge.
        name: the name of the middleware.
        on_fail: the action on FAIL.
        max_retries: the maximum number of times per turn that the model is sent back.
        keep_drafts: whether the state keeps rejected drafts.
        advice: the last sentences of the default feedback.
        evidence: the rule that decides which tool outputs are contexts.
    """

    name: str

    def __init__(
        self,
        jury: JudgeLike,
        *,
        on_fail: OnFail,
        max_retries: int,
        on_undecided: OnUndecided | None,
        refusal: str,
        feedback: Callable[[Judgment], str] | None,
        field_map: FieldMapLike | None,
        evidence_tools: EvidenceTools,
        on_verdict: Sink | Sequence[Sink] | None,
        keep_drafts: bool,
        store: StoreLike | None,
        budget: Budget | None,
        advice: str,
    ) -> None:
        self.jury = judge_of(jury)
        self._scope = Scope.of(self.jury, store, budget)
        for option, value, known in (
            ("on_fail=", on_fail, ("retry", "block", "annotate")),
            ("on_undecided=", on_undecided or "allow", ("allow", "block")),
        ):
            if value not in known:
                raise ConfigurationError(unknown(option, value, known))
        if not isinstance(refusal, str) or not refusal.strip():
            raise ConfigurationError(f"refusal is the text that the user gets instead, not {plain_repr(refusal)}")
        self.on_fail = on_fail
        self.max_retries = _retries(max_retries, on_fail)
        self.keep_drafts = keep_drafts
        self.advice = advice
        self._on_undecided = on_undecided
        self._refusal = refusal
        if feedback is not None and not callable(feedback):
            raise ConfigurationError(
                f"feedback= is a function from the verdict to the text for the model, not {plain_repr(feedback)}"
            )
        self._feedback = feedback
        self._field_map = field_map_of(field_map)
        if missing := unmet_fields(self.jury, _NOT_OF_TURNS, self._field_map):
            raise ConfigurationError(
                f"the judge needs {', '.join(missing)}, which an agent's turn does not come with, so it judges none. "
                'Take Critic(model, "faithfulness"), for example, or name the fields of the state with field_map='
            )
        self.evidence = Evidence(evidence_tools)
        self._sinks = sinks_of(on_verdict)
        self._has_warned = False
        self._abstention = ConstantAbstention()
        self._shows_tools = shows_tools(self.jury)

    def case_of(self, state: Mapping[str, Any], response_format: object = None) -> Case:
        """Return the case of a turn whose last message is the draft.

        Raises:
            InputError: a path of the field map does not exist.
            Exception: any exception that a function of the application raises.
        """
        mapped, row = self._field_map, state
        if isinstance(mapped, FieldMap):  # a message about a missing key lists those of the agent
            row = {name: value for name, value in state.items() if name not in OWN_KEYS}
        try:
            return mapped_case(mapped, row, lambda: case_of_turn(state, self.evidence, response_format), self.evidence)
        except InputError as error:
            if not isinstance(mapped, FieldMap) or all(_first_key(path) in row for path in mapped.paths.values()):
                raise
            said = str(error) if str(error).endswith("?") else f"{error}."
            raise InputError(f"field_map: {said} An agent's state has no keys but those of its state_schema=") from None

    def judged(self, make: Callable[[], Case], request: object) -> tuple[Case | None, Judgment]:
        """Judge a case; a case that cannot be built is an ERROR.

        Args:
            make: returns the case.
            request: the request of the model or of the tool call, which has the agent's tools.
        """
        case = self._made(make, request)
        if isinstance(case, Judgment):
            return None, case
        with judging(), unheard(), self._scope.applied():
            judgment = self.jury.judge(case)
        self._abstention.add(judgment)
        return case, judgment

    async def ajudged(self, make: Callable[[], Case], request: object) -> tuple[Case | None, Judgment]:
        """Judge a case; see :meth:`judged`."""
        case = self._made(make, request)
        if isinstance(case, Judgment):
            return None, case
        with judging(), unheard(), self._scope.applied():
            judgment = await self.jury.ajudge(case)
        self._abstention.add(judgment)
        return case, judgment

    def _made(self, make: Callable[[], Case], request: object) -> Case | Judgment:
        try:
            case = make()
            return with_available_tools(case, request) if self._shows_tools else case
        except Exception as error:  # from a field map, or from a function of the application
            failure = self.jury.failure(error)
            if not self._has_warned:
                self._has_warned = True
                _log.warning(
                    "%s: nothing could be judged, and on_undecided decides: %s. This is logged once",
                    self.name, failure.error,
                )  # fmt: skip
            return failure

    def outcome_of(self, judgment: Judgment, *, calls: bool, attempts: int) -> Outcome:
        """Return the outcome of an answer or, with ``calls``, of tool calls.

        Args:
            judgment: the verdict.
            calls: whether tools are called. A jury that does not decide then blocks by default. A PASS does not count
                as a decision if a tier failed, also in a nested jury, or if failed jurors changed the outcome.
            attempts: the number of times that the model was already sent back in this turn.
        """
        if judgment.status is Status.PASS and not (calls and _passed_by_outage(judgment)):
            return "accepted"
        if judgment.status is Status.PASS or is_undecided(judgment, self._on_undecided):  # the model cannot correct it
            closed = calls and self.on_fail != "annotate"
            return "unjudged" if (self._on_undecided or ("block" if closed else "allow")) == "allow" else "blocked"
        if self.on_fail == "annotate":
            return "annotated"
        return "rejected" if attempts < self.max_retries else "blocked"

    def feedback_of(self, judgment: Judgment) -> str:
        """Return the feedback for the model."""
        if self._feedback is not None:
            try:
                return str(self._feedback(judgment))
            except Exception:
                _log.exception("feedback= raised, so the model gets the jury's reasons as they are")
        if judgment.status is not Status.FAIL:
            return f"It could not be reviewed, and so it was not accepted.\n{self.advice}"
        why = _clipped(feedback_of(judgment, errors=False)) or "no reason was given"
        done = "could not be reviewed in full, and so it was" if judgment.failed_by_errors else "was reviewed and"
        return f"It {done} not accepted: {why}\n{self.advice}"

    def refusal_of(self, judgment: Judgment, *, like: AIMessage | None) -> AIMessage:
        """Return the message that replaces an answer, with the agent's name from ``like``."""
        refusal = UNREVIEWED if self._refusal == REFUSAL and is_unreviewed(judgment) else self._refusal
        extra = marked("blocked", self.name, judgment)
        return AIMessage(refusal, name=None if like is None else like.name, additional_kwargs=extra)

    def draft_of(self, case: Case | None, judgment: Judgment, *, text: str) -> dict[str, Any]:
        """Return a draft as the state keeps it; ``text`` is its answer if there is no case."""
        return {"by": self.name, "answer": text if case is None else case.answer, "verdict": judgment.to_dict()}

    def run_of(
        self, message_id: str | None, kind: str, case: Case | None, judgment: Judgment, **metadata: object
    ) -> JudgedRun:
        """Return a judgment as sinks receive it.

        The run id is the id of the model call in LangSmith if LangChain derived the message's id from it.
        """
        found = message_id or ""
        for prefix in ("lc_run--", "run--", "run-"):
            if found.startswith(prefix):
                found = found.removeprefix(prefix)[:_UUID_LENGTH]  # the number of the generation follows
        return JudgedRun(Run(found, kind, self.name, metadata=metadata), case, judgment)

    def tell(self, judged: JudgedRun) -> None:
        """Call the sinks, and wait for the asynchronous ones."""
        for answer in self._call_sinks(judged):
            event_loop.run(_awaited, answer)

    async def atell(self, judged: JudgedRun) -> None:
        """Call the sinks; see :meth:`tell`."""
        for answer in self._call_sinks(judged):
            await _awaited(answer)

    def _call_sinks(self, judged: JudgedRun) -> Iterable[Awaitable[object]]:
        for sink in self._sinks:
            try:
                with judging(), unheard():
                    answer = sink(judged)
            except Exception:
                _log.exception("on_verdict= raised; the agent goes on")
                continue
            if inspect.isawaitable(answer):
                yield answer


def _retries(given: int, on_fail: OnFail) -> int:
    """Return the maximum number of retries per turn."""
    if isinstance(given, DefaultNumber):
        return int(given) if on_fail == "retry" else 0
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise ConfigurationError(f"max_retries is a whole number from 0, not {plain_repr(given)}")
    if given and on_fail != "retry":
        raise ConfigurationError(
            f"max_retries={given} goes with on_fail='retry': with on_fail={on_fail!r} the model is not asked again. "
            "Give one of the two"
        )
    return given


def _passed_by_outage(judgment: Judgment) -> bool:
    """Whether a verdict is a PASS to which a failed part of the jury might have objected."""
    return isinstance(judgment, Verdict) and (bool(judgment.failed_tiers) or judgment.tally.errors_decided)


def _first_key(path: str) -> str:
    return re.split(r"[.\[]", path, maxsplit=1)[0]


async def _awaited(answer: Awaitable[object]) -> None:
    try:
        await answer
    except Exception:
        _log.exception("on_verdict= raised; the agent goes on")


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST_REASONS else f"{text[:_LONGEST_REASONS]}..."


_LONGEST_REASONS = 4000
_NOT_OF_TURNS: Final = ("reference", "candidates")
_UUID_LENGTH = 36
