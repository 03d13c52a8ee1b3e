"""Base class of the evaluators for the usual questions: the judge that their arguments name."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, Unpack, cast

from jury_adapters.core.budget import Budget
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.evidence import EvidenceTools
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike
from jury_adapters.core.scheduling import Schedule
from jury_adapters.core.voting import Voting
from jury_adapters.core.voting.base import ErrorPolicy
from jury_adapters.critic.arguments import check_own_settings
from jury_adapters.critic.critic import Critic
from jury_adapters.judges.llm import ModelOptions
from jury_adapters.judges.presets import JurorLike, PanelOptions, check_vote, one_or_panel
from jury_adapters.llama_index.configured_llm import configured_llm, is_mock, warn_of_mock
from jury_adapters.llama_index.evaluators import JuryEvaluator, ready_judge
from jury_adapters.llama_index.replaced_arguments import check_options
from jury_adapters.models.registry import ModelLike, resolve_model

E = TypeVar("E", bound="PresetEvaluator")


class PresetOptions(ModelOptions, total=False):
    """Keyword arguments of all preset evaluators."""

    llms: Sequence[JurorLike] | None
    jury: JudgeLike | None
    voting: Voting | None
    schedule: Schedule | None
    errors: ErrorPolicy | None
    budget: Budget | None
    evidence_tools: EvidenceTools


class PresetEvaluator(JuryEvaluator):
    """Base of the preset evaluators: builds a jury from models.

    Args:
        llm: the judge: a LlamaIndex LLM, ``"vendor:model"``, any other model that a :class:`jury_adapters.Critic`
            takes, or an existing Critic or other judge. Without ``llm=``, ``llms=`` and ``jury=``, ``Settings.llm`` is
            asked if you set it, unless it is a ``MockLLM`` or LlamaIndex's default ``OpenAI()``.
        llms: several judges, which vote; preferably models of different vendors. An empty list is refused: if a panel
            is built from the environment and found no models, another judge must not silently replace it.
        jury: an existing jury, another judge or a function of a case, instead of models.
        voting: the voting rule for ``llms=``, by default ``"majority"``; see :class:`jury_adapters.Ensemble`. Rules on
            PASS and FAIL give the score 1.0 or 0.0; ``"average"`` and ``"median"`` give that of the models' scores.
        schedule: the order in which they are asked, by default at once (``"parallel"``); ``"early_stop"`` stops asking
            when the vote is settled.
        errors: the policy for a juror that fails. The default is that of :class:`jury_adapters.Ensemble`: it counts as
            FAIL. In a comparison, which has no FAIL, it is left out, and the others decide. The result is invalid if
            all jurors fail.
        budget: a :class:`jury_adapters.Budget` for everything that this evaluator judges; a juror whose call does not
            fit abstains with ``budget_exhausted``.
        evidence_tools: the tools of an agent whose outputs are contexts; see :class:`JuryEvaluator`.
        **options: ``store=``, the path of a store or a :class:`jury_adapters.Store`, which keeps every judgment; and
            options of the critics built here, as for :class:`jury_adapters.Critic`: ``samples=`` asks each model so
            many times, ``limits=`` (:class:`jury_adapters.Limits`) sets rates, attempts and times, ``threshold=`` is
            the score from which a model, and a vote on scores, passes, and there are ``request_timeout=``,
            ``temperature=``, ``max_tokens=``, ``logprobs=``, ``vendor=``, ``base_url=``, ``api_key=`` and ``client=``.

    Raises:
        ConfigurationError: there is no judge, a model cannot be used, arguments are incompatible, or an argument of
            LlamaIndex's own evaluators has another name here, which the message gives.
    """

    _subject: str  # the judged property, which names the jury

    def __init__(
        self,
        llm: JurorLike | None = None,
        *,
        llms: Sequence[JurorLike] | None = None,
        jury: JudgeLike | None = None,
        voting: Voting | None = None,
        schedule: Schedule | None = None,
        errors: ErrorPolicy | None = None,
        budget: Budget | None = None,
        evidence_tools: EvidenceTools = None,
        **options: Unpack[ModelOptions],
    ) -> None:
        given = _given(llm, llms, jury)
        own = {*inspect.signature(type(self)).parameters, *PresetOptions.__annotations__} - {"options"}
        check_options(type(self).__name__, cast(dict[str, Any], options), own)
        vote: PanelOptions = {}
        if voting is not None:
            vote["voting"] = voting
        if schedule is not None:
            vote["schedule"] = schedule
        check_vote(vote)
        if vote and llms is None:
            of = "a ready jury has its own" if jury is not None else "give llms=[...]"
            raise ConfigurationError(f"{type(self).__name__}: {', '.join(vote)} is for several models; {of}")
        store = options.pop("store", None)  # an option of the evaluator, so it also applies to an existing jury
        if jury is not None:
            self._refuse([*options, *self._own_options()], "a ready jury has options of its own")
            if errors is not None:
                raise ConfigurationError(f"{type(self).__name__}: errors= is for models; a ready jury has its own")
            found = self._seated(ready_judge(jury))
        else:
            vote["errors"] = errors
            found = self._judge_of(given, options, **vote)
        super().__init__(found, store=store, budget=budget, evidence_tools=evidence_tools)

    def _judge_of(self, given: tuple[JurorLike, ...], options: ModelOptions, **vote: Unpack[PanelOptions]) -> Judge:
        """Return one judge made of the given models and judges."""
        if not given:
            configured = configured_llm()
            offline = self._offline(options) if configured is None else None
            if offline is not None:
                warn_of_mock(type(self).__name__, offline.name)
                return offline
            if configured is None:
                mock = "; the MockLLM there only repeats its prompt" if is_mock() else ""
                raise ConfigurationError(
                    f"{type(self).__name__} needs a judge: give llm= (a LlamaIndex LLM or 'vendor:model'), "
                    f"llms=[...] or jury=, or set Settings.llm to a real LLM{mock}"
                )
            given = (configured,)
        if all(isinstance(juror, Judge) for juror in given):
            self._refuse([*options, *self._own_options()], "ready judges have options of their own")
        for model in given:
            if options and not isinstance(model, Judge | str):
                asked = resolve_model(model).inner
                check_own_settings(asked, options.get("temperature"), options.get("max_tokens"), defaults=True)
        seated = [self._seated(juror) if isinstance(juror, Judge) else juror for juror in given]
        make = partial(self._critic, options=options)
        return one_or_panel(make, *seated, name=self._subject, **vote)

    @property
    def _compares(self) -> bool:
        return False

    @abstractmethod
    def _critic(self, model: ModelLike, options: ModelOptions) -> Judge:
        """Return the critic that asks a model this evaluator's question."""

    def _own_options(self) -> Sequence[str]:
        """Return the names of given arguments of this evaluator that affect only the critics it builds."""
        return ()

    def _offline(self, options: ModelOptions) -> Judge | None:
        """Return the judge that needs no model; None if there is none."""
        return None

    def _seated(self, judge: Judge) -> Judge:
        """Return an existing judge, or jury, as this evaluator asks it."""
        return judge

    def _refuse(self, options: Collection[str], why: str) -> None:
        if options:
            raise ConfigurationError(f"{type(self).__name__}: {', '.join(options)} belongs to a model; {why}")


def with_shared_arguments(evaluator: type[E]) -> type[E]:
    """Add the arguments of :class:`PresetEvaluator` to the docstring and the signature of an evaluator, for help()."""
    if evaluator.__doc__ and PresetEvaluator.__doc__:
        shared = inspect.cleandoc(PresetEvaluator.__doc__).partition("Args:\n")[2].partition("\n\n")[0]
        own_text = inspect.cleandoc(evaluator.__doc__)
        evaluator.__doc__ = f"{own_text}\n\nArguments of all preset evaluators:\n{shared}\n"
    made = vars(evaluator).get("__init__")
    if made is not None:
        _show(made, dict(inspect.signature(PresetEvaluator.__init__).parameters))
    return evaluator


def _show(made: Callable[..., None], shared: Mapping[str, inspect.Parameter]) -> None:
    """Let a signature have other parameters in place of ``**options``."""
    own = {name: one for name, one in inspect.signature(made).parameters.items() if name != "options"}
    made.__dict__["__signature__"] = inspect.Signature(sorted((own | dict(shared)).values(), key=lambda one: one.kind))


_OF_CRITICS = inspect.signature(Critic).parameters
_show(PresetEvaluator.__init__, {name: _OF_CRITICS[name] for name in ModelOptions.__annotations__})


def _given(llm: JurorLike | None, llms: Sequence[JurorLike] | None, jury: object | None) -> tuple[JurorLike, ...]:
    if isinstance(llms, str) or not isinstance(llms, Sequence | None):
        single = plain_repr(llms) if isinstance(llms, str) else "..."
        raise ConfigurationError(
            f"llms= is a list of models, not {type(llms).__name__}; for a single one write llm={single}"
        )
    if llms is not None and not llms:
        raise ConfigurationError(
            "llms= is empty: name at least one model, or leave it out. A judge that asks no model is given as jury=, "
            "such as jury=grounding_screen()"
        )
    if isinstance(llm, list | tuple):
        raise ConfigurationError("llm= is one model; for several write llms=[...]")
    named = [name for name, value in (("llm", llm), ("llms", llms), ("jury", jury)) if value is not None]
    if len(named) > 1:
        raise ConfigurationError(f"give one of llm=, llms= and jury=, not {' and '.join(named)}")
    return tuple(llms or ()) if llm is None else (llm,)
