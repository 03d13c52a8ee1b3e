"""Juries as LangChain objects: a runnable, a tool, and a node of a graph."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda, RunnableWithFallbacks
from langchain_core.runnables.config import merge_configs
from pydantic import BaseModel

from jury_adapters.core.arguments import check_texts, explains_wrong_calls, refuse_unknown
from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import StoreLike
from jury_adapters.core.case import Case
from jury_adapters.core.context import judging
from jury_adapters.core.errors import ConfigurationError, JuryError
from jury_adapters.core.evidence import EvidenceTools
from jury_adapters.core.field_map import FieldMapLike
from jury_adapters.core.judge_like import JudgeLike, judge_of
from jury_adapters.core.judgment import Judgment, Status, evolve
from jury_adapters.core.scope import Scope
from jury_adapters.core.verdict import Verdict
from jury_adapters.langchain.answer_guess import AnswerGuess
from jury_adapters.langchain.case_reader import CaseReader
from jury_adapters.langchain.jury_schemas import CaseInput, JudgmentOutput
from jury_adapters.langchain.misspelt_keys import MisspeltKeys
from jury_adapters.langchain.previous_verdicts import without_key, without_verdicts

_log = logging.getLogger(__name__)
_NEVER_RAISES = (
    "%s: %s() has no effect on a jury, whose failure is a verdict with status ERROR, not an exception. Models repeat "
    "failed requests by themselves, and critic.with_fallbacks([other]) names a judge that is asked instead"
)

Said: TypeAlias = Judgment | dict[str, Any]


class JuryRunnable(Runnable[Any, Said]):
    """A jury as a Runnable: ``invoke``, ``batch``, ``stream``, ``|``, ``with_config`` and so on, sync and async.

    The input may be a :class:`Case`, a dictionary with the fields of one under any of their names, an agent's state or
    a list of messages, a text (the answer), or ``{"inputs": ..., "outputs": ..., "reference_outputs": ...}``.

    In a trace it is one run with a child per juror, which shows the juror's judgment, and its ``elapsed_s`` in the
    metadata. If the jury fails or the input cannot be read, the result is a verdict with status ERROR; nothing is
    raised. So ``with_retry`` and ``with_fallbacks`` have no effect, and log that. Models repeat failed requests by
    themselves, and ``critic.with_fallbacks([other])`` names a judge that is asked instead. The fields are not
    configurable.

    Args:
        jury: any judge, or a function of a case.
        field_map: the fields of the case as paths from the input, ``{"answer": "draft.text"}``, or a function from the
            input to the case; see :meth:`jury_adapters.Case.from_row`. A state that is an object is read as its fields;
            any other input that is not a mapping is a row with ``outputs``. Without it, the shape is recognized, and
            earlier verdicts in the input are not judged. A key that is probably a misspelt field is logged once, and so
            is an input in which no key is the answer.
        evidence_tools: the tools whose outputs are contexts: names, or a predicate of a step; by default all but those
            known to repeat what the model wrote. See :class:`jury_adapters.core.evidence.Evidence`.
        direct_tools: the names of the tools with ``return_direct=True``, whose result is the answer of a run that
            ended with it; see :func:`to_case`.
        as_dict: whether to return the verdict as plain JSON values, for graphs with a checkpointer and for servers.
        name: the name of the run; by default that of the jury, or ``"jury"``.
        store: a :class:`jury_adapters.Store`, or the path of one: judgments are kept in it, and those that it holds
            are served without a call.
        budget: a :class:`jury_adapters.Budget` for everything that this runnable judges; a juror whose call does not
            fit abstains with ``budget_exhausted``.

    Raises:
        ConfigurationError: ``jury`` is not a judge, the name is not a text, the field map is invalid,
            ``evidence_tools`` is neither names nor a predicate, ``direct_tools`` is not a list of names, the store or
            the budget is invalid, or a budget in dollars meets a juror whose price is unknown.

    >>> chain = retrieve_and_answer | JuryRunnable(jury)  # doctest: +SKIP
    >>> chain.invoke("What is the capital of France?").passed  # doctest: +SKIP
    """

    @explains_wrong_calls(
        "JuryRunnable(jury)", order="the jury comes first, the rest by name", needs="a jury is missing"
    )
    def __init__(
        self,
        jury: JudgeLike,
        *,
        field_map: FieldMapLike | None = None,
        evidence_tools: EvidenceTools = None,
        direct_tools: Collection[str] = (),
        as_dict: bool = False,
        name: str | None = None,
        store: StoreLike | None = None,
        budget: Budget | None = None,
    ) -> None:
        check_texts(name=name)
        self.jury = judge_of(jury)
        self.name: str = name or self.jury.name or "jury"
        self._scope = Scope.of(self.jury, store, budget)
        self._reader = CaseReader(field_map, evidence_tools=evidence_tools, direct_tools=direct_tools)
        self._misspelt = MisspeltKeys()
        self._guess = AnswerGuess(is_mapped=self._reader.is_mapped)
        self._as_dict = as_dict

    def with_retry(self, **options: Any) -> Runnable[Any, Said]:
        _log.warning(_NEVER_RAISES, self.name, "with_retry")
        return super().with_retry(**options)

    def with_fallbacks(
        self, fallbacks: Sequence[Runnable[Any, Said]], **options: Any
    ) -> RunnableWithFallbacks[Any, Said]:
        _log.warning(_NEVER_RAISES, self.name, "with_fallbacks")
        return super().with_fallbacks(fallbacks, **options)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Said:  # noqa: A002
        refuse_unknown(kwargs, _CALL)
        with judging(), self._scope.applied():
            return self._call_with_config(self._judge, input, config, run_type="chain", **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Said:  # noqa: A002
        refuse_unknown(kwargs, _CALL)
        with judging(), self._scope.applied():
            return await self._acall_with_config(self._ajudge, input, config, run_type="chain", **kwargs)

    @property
    def InputType(self) -> Any:  # noqa: N802  LangChain's name
        return CaseInput

    @property
    def OutputType(self) -> Any:  # noqa: N802
        return JudgmentOutput if self._as_dict else Judgment

    def get_input_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:
        return CaseInput

    def get_output_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:
        return JudgmentOutput

    def _judge(self, value: Any, run_manager: CallbackManagerForChainRun) -> Said:
        case = self._case(value)
        judgment = self.jury.judge(case) if isinstance(case, Case) else case
        if run_manager.inheritable_handlers:
            for juror in _jurors(judgment):
                manager = run_manager.get_child()
                manager.add_metadata(_facts(juror), inherit=False)
                child = manager.on_chain_start(None, {}, name=juror.critic)
                if juror.status is Status.ERROR:
                    child.on_chain_error(JuryError(juror.error))
                else:
                    child.on_chain_end(juror.to_dict())
        return judgment.to_dict() if self._as_dict else judgment

    async def _ajudge(self, value: Any, run_manager: AsyncCallbackManagerForChainRun) -> Said:
        case = self._case(value)
        judgment = await self.jury.ajudge(case) if isinstance(case, Case) else case
        if run_manager.inheritable_handlers:
            for juror in _jurors(judgment):
                manager = run_manager.get_child()
                manager.add_metadata(_facts(juror), inherit=False)
                child = await manager.on_chain_start(None, {}, name=juror.critic)
                if juror.status is Status.ERROR:
                    await child.on_chain_error(JuryError(juror.error))
                else:
                    await child.on_chain_end(juror.to_dict())
        return judgment.to_dict() if self._as_dict else judgment

    def _case(self, value: Any) -> Case | Judgment:
        if not self._reader.is_mapped:
            value = without_verdicts(value)
        try:
            case = self._reader.case_of(value)
        except Exception as error:  # a path that does not exist; a function of the application may raise anything
            failure = self.jury.failure(error)
            said = f"nothing of the input could be judged: {failure.error}"
            return evolve(failure, critic=self.jury.name, reasoning=said)
        if not self._reader.is_mapped:
            self._misspelt.tell(value, case, self.name)
            self._guess.tell_input(value, self.name)
        return case


@explains_wrong_calls("jury_node(jury)", order="the jury comes first, the rest by name", needs="a jury is missing")
def jury_node(
    jury: JudgeLike,
    *,
    field_map: FieldMapLike | None = None,
    evidence_tools: EvidenceTools = None,
    direct_tools: Collection[str] = (),
    key: str = "verdict",
    name: str | None = None,
    store: StoreLike | None = None,
    budget: Budget | None = None,
) -> Runnable[Any, Any]:
    """Return a node for a LangGraph graph that judges the state and writes the verdict into it, as plain JSON values.

    Args:
        jury: any judge, or a function of a case.
        field_map: where the fields of the case are in the state, ``{"question": "topic", "answer": "draft"}``; see
            :class:`JuryRunnable`. Without it, the messages are judged, or keys such as ``question``, ``answer`` and
            ``contexts``, and not the verdict of an earlier round.
        evidence_tools: the tools whose outputs are contexts; see :class:`JuryRunnable`.
        direct_tools: the names of the tools with ``return_direct=True``; see :class:`JuryRunnable`.
        key: the key of the state for the verdict. The state's schema must have it.
        name: the name of the run; by default that of the jury, or ``"jury"``.
        store: where judgments are kept; see :class:`JuryRunnable`.
        budget: the budget for all judgments; see :class:`JuryRunnable`.

    Raises:
        ConfigurationError: the judge, the key, the name, the store or the budget is invalid. When the graph runs: its
            state does not have the key, so that LangGraph would silently drop the verdict.

    >>> graph.add_node("jury", jury_node(jury))  # doctest: +SKIP
    >>> graph.add_conditional_edges("jury", route_on_verdict(END, "write"))  # doctest: +SKIP
    """
    check_texts(key=key)
    runnable = JuryRunnable(
        jury, field_map=field_map, evidence_tools=evidence_tools, direct_tools=direct_tools, as_dict=True, name=name,
        store=store, budget=budget,
    )  # fmt: skip

    def judged(state: Any) -> Any:
        return state if field_map is not None else without_key(state, key)

    def judge(state: Any, config: RunnableConfig) -> dict[str, Any]:
        _check_declared(key, config)
        return {key: runnable.invoke(judged(state), merge_configs(config, _NO_STREAM))}

    async def ajudge(state: Any, config: RunnableConfig) -> dict[str, Any]:
        _check_declared(key, config)
        return {key: await runnable.ainvoke(judged(state), merge_configs(config, _NO_STREAM))}

    return RunnableLambda(judge, ajudge, name=runnable.name)


@explains_wrong_calls("route_on_verdict(passed='answer', failed='write')", needs="a node is missing")
def route_on_verdict(
    passed: str, failed: str, *, otherwise: str | None = None, key: str = "verdict"
) -> Callable[[Any], str]:
    """Return a function for ``add_conditional_edges`` that chooses the node after :func:`jury_node`.

    When the graph is compiled, LangGraph refuses a name that no node has.

    Args:
        passed: the node after PASS.
        failed: the node after FAIL. If it leads back to the jury, limit the rounds: each one costs money.
        otherwise: the node after ABSTAIN, ERROR, a verdict of None, or a label that neither passes nor fails; by
            default the same as ``failed``.
        key: the key of the state that holds the verdict; that of :func:`jury_node`.

    Raises:
        ConfigurationError: a node or the key is not a text; or when the graph runs: the state does not have the key, so
            nothing was judged.
    """

    def route(state: Any) -> str:
        verdict = state.get(key, _MISSING) if isinstance(state, Mapping) else getattr(state, key, _MISSING)
        if verdict is _MISSING:
            raise ConfigurationError(
                f"route_on_verdict: the state has no {key!r}. Go through jury_node(jury, key={key!r}) first, and "
                "give both the same key="
            )
        status = verdict.get("status") if isinstance(verdict, Mapping) else None
        if status == Status.PASS:
            return passed
        return failed if status == Status.FAIL or otherwise is None else otherwise

    check_texts(passed=passed, failed=failed, otherwise=otherwise, key=key)
    targets = tuple(dict.fromkeys(node for node in (passed, failed, otherwise) if node is not None))
    route.__annotations__["return"] = _LITERAL[targets]  # LangGraph reads the possible nodes from it, and checks them
    return route


def _check_declared(key: str, config: RunnableConfig) -> None:
    """Refuse to judge for a key that the graph's state does not have.

    LangGraph drops what a node writes there. A key that is declared but not set looks the same in the state of a node,
    so the graph's own reader is asked, under the name that it has in all releases so far.
    """
    read = (config.get("configurable") or {}).get("__pregel_read")
    if read is None:  # not in a graph
        return
    try:
        read(key, False)
    except KeyError:
        raise ConfigurationError(
            f"jury_node writes its verdict to {key!r}, which the graph's state does not have: declare `{key}: dict` in "
            "the state, or give key="
        ) from None
    except Exception:  # the reader of another release
        _log.debug("cannot tell whether the graph's state has %r", key, exc_info=True)


def _jurors(judgment: Judgment) -> Sequence[Judgment]:
    """Return the members of a jury; for a cascade, the jurors of its tiers."""
    if not isinstance(judgment, Verdict):
        return ()
    return [one for tier in judgment.tiers for one in _seated(tier.judgment)] or judgment.judgments


def _seated(judgment: Judgment) -> Sequence[Judgment]:
    return judgment.judgments if isinstance(judgment, Verdict) and judgment.judgments else (judgment,)


def _facts(juror: Judgment) -> dict[str, Any]:
    return {"elapsed_s": juror.elapsed_s, "model": juror.model}


_CALL: Final = ("input", "config")
_LITERAL: Final[Any] = Literal
_MISSING: Final = object()
_NO_STREAM: RunnableConfig = {"tags": ["nostream"]}  # keeps the jurors' tokens out of the user's stream
