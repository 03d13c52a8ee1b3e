"""Critic, a judge that asks a language model."""

import hashlib
import json
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from jury_adapters.core.budget import Budget, OverBudget
from jury_adapters.core.case import Case
from jury_adapters.core.context import check_means, context
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import NO_USAGE, Judgment, Usage, broken
from jury_adapters.core.store import Key, Store, get_or_ask
from jury_adapters.core.values import EMPTY, ConfigurationError, problems_of
from jury_adapters.critic.answers import Labels, Scale, Unreadable
from jury_adapters.critic.judgments import (
    Parser,
    abstention,
    judgment_of,
    judgment_without_model,
    parse_failure,
)
from jury_adapters.critic.prompt import build_prompt, reply_schema, system_text, variables_of, visible
from jury_adapters.critic.reading import repair_request
from jury_adapters.critic.rubric import Rubric, rubric_of
from jury_adapters.models.base import ChatModel, ModelError, Options, Prompt, Reply
from jury_adapters.models.limits import Attempt, Limits, ask_model
from jury_adapters.models.names import model_of
from jury_adapters.models.objects import FunctionModel, ObjectModel

_TEMPERATURE = 0.0
_MAX_TOKENS = 2000
_REPLY_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "num_predict")  # as objects name them
_LONGEST_QUOTE = 4000  # characters of an unreadable reply that are sent back
_FOR_READERS = {"name", "version", "description", "source"}
_READER = 1  # part of every fingerprint; increase it when the same reply is read in another way


class Critic(Judge):
    """Judge that asks a language model, guided by a rubric.

    It asks once, and once more if the reply cannot be read; then it abstains. A case that lacks a field which the
    rubric requires is ABSTAIN, and nothing is sent. ``metadata["cause"]`` says why it abstained or broke: ``missing``,
    ``image_url``, ``refused``, ``filtered``, ``truncated``, ``unfinished``, ``parse_fail``, ``not_recorded``,
    ``empty_reply``, or the kind of a :class:`ModelError`.

    Args:
        model: ``"vendor:model"``, a model of :func:`open_model`, a LangChain chat model, a LlamaIndex LLM, or an
            ``async`` function of a prompt. There is no default vendor, so data goes only to the one that is named.
        rubric: a :class:`Rubric`, the name of one that comes with the package, or the path of a YAML file.
        name: the name in verdicts; ``"<rubric> <model>"`` by default.
        prompt: the prompt, with placeholders such as ``{question}``, instead of a rubric; see :class:`Rubric`.
        labels: for ``prompt``, the allowed answers with their meaning: ``{"POLITE": "pass", "RUDE": "fail"}``.
        scale: for ``prompt``, the allowed answers as a number: the worst and the best, ``(1, 5)``, or a :class:`Scale`.
        threshold: the lowest score that passes, 0..1, instead of the rubric's own rule.
        parse: a function that reads replies, for a ``prompt`` with a form of its own. It takes the text of a reply and
            returns what a ``@judge`` function returns. After a ValueError the model is asked once more.
        temperature: 0 for the most likely answer; None for the vendor's default. A LangChain or LlamaIndex object, or a
            function, keeps its own settings.
        max_tokens: the largest number of output tokens, hidden reasoning included; likewise.
        logprobs: whether the score is the expectation over the probabilities of the answers, where the vendor has them;
            an object must return them by its own settings.
        image_urls: whether the vendor may be sent the addresses of images, which it then fetches.
        limits: the limits on calls of the model; see :class:`Limits`.
        store: where judgments are kept, if the batch has no store.

    Raises:
        ConfigurationError: an argument is wrong, or two do not fit together.
        InputError: the file of the rubric cannot be read.

    >>> from jury_adapters.testing import ScriptedModel
    >>> model = ScriptedModel(['{"reasoning": "It is in context 1.", "answer": "YES"}'])
    >>> critic = Critic(model, "faithfulness")
    >>> critic.judge(question="When?", answer="In 2018.", contexts="It stopped in 2018.").status.value
    'PASS'
    """

    model: ChatModel
    rubric: Rubric

    def __init__(
        self,
        model: Any,
        rubric: Rubric | str | Path | None = None,
        *,
        name: str = "",
        prompt: str | None = None,
        labels: Labels | dict[str, Any] | None = None,
        scale: Scale | tuple[float, float] | dict[str, Any] | None = None,
        threshold: float | None = None,
        parse: Parser | None = None,
        temperature: float | None = _TEMPERATURE,
        max_tokens: int | None = _MAX_TOKENS,
        logprobs: bool = False,
        image_urls: bool = False,
        limits: Limits | None = None,
        store: Store | None = None,
    ) -> None:
        self.model = model_of(model)
        given = {"prompt": prompt, "labels": labels, "scale": scale}
        found = _rubric_of(rubric, {key: value for key, value in given.items() if value is not None}, parse)
        if parse is not None and (logprobs or not callable(parse)):
            raise ConfigurationError("parse= is a function of the text of a reply, and does not go with logprobs=True")
        self.parse, self.image_urls, self.limits, self.store = parse, image_urls, limits or Limits(), store
        self.options = _options(self.model, temperature, max_tokens, logprobs)
        price = self.model.price(1000, 200)
        self.cost = inf if price is None else price  # asked last
        self._given_name, self._threshold = name, threshold
        self._use(found if threshold is None else found.replace(threshold=threshold))
        if store is not None:
            check_means(store)
            self._check_store()

    def named(self, name: str) -> Self:
        """Return a copy with another name, which it keeps with another rubric too."""
        return self._with(name=name, _given_name=name)

    def with_rubric(self, rubric: Rubric | str | Path) -> Self:
        """Return this critic with another rubric, and all else as it is. The rubric's own ``threshold`` comes first.

        Raises:
            ConfigurationError: there is no such rubric.
        """
        other, found = self._with(), rubric_of(rubric)
        own = found.threshold is not None or self._threshold is None
        other._use(found if own else found.replace(threshold=self._threshold))
        return other

    def _use(self, rubric: Rubric) -> None:
        """Take a rubric, with what follows from it."""
        self.rubric = rubric
        self.name = self._given_name or f"{rubric.name} {self.model.model or self.model.name}"
        self.labels = rubric.answers.declared if self.parse is None or rubric.labels else EMPTY
        self.pass_mark = rubric.pass_mark
        self._schema = reply_schema(rubric) if self.parse is None else None
        parsed_by = getattr(self.parse, "__module__", ""), getattr(self.parse, "__qualname__", "")
        text = rubric.model_dump_json(exclude=_FOR_READERS)
        self._instructions = system_text(rubric, own_format=self.parse is not None)
        options = [self.options.temperature, self.options.max_tokens, self.options.logprobs]
        described = [_READER, self.model.identity, options, self._instructions, text, self._schema, parsed_by]
        self._fingerprint = hashlib.sha256(json.dumps(described).encode()).hexdigest()[:32]

    @property
    def fingerprint(self) -> str:
        """Identity of what is asked: the text of the rubric, the model with its address, and the options."""
        return self._fingerprint

    def estimate(self, case: Case) -> Usage:
        """Estimate the largest usage of one request; a request for a repair may follow it."""
        if judgment_without_model(self.rubric, case, image_urls=self.image_urls) is not None:
            return NO_USAGE
        return self._estimate(self._prompt(case))

    async def assess(self, case: Case) -> Judgment:
        """Return the judgment in the store, or ask the model."""
        judgment = judgment_without_model(self.rubric, case, image_urls=self.image_urls)
        if judgment is not None:
            return judgment
        store = self.store if context().store is None else context().store
        if store is None:
            return await self._ask(case)
        self._check_store()
        key = Key(self._key_of(case), self.fingerprint, context().sample)
        if getattr(store, "read_only", False) and await store.get(key) is None:
            return abstention("not_recorded", "not recorded: the store has no judgment of this case by this critic")
        return await get_or_ask(store, key, case, partial(self._ask, case))

    def _key_of(self, case: Case) -> str:
        """Return what identifies the case in a store: its content, and the metadata that the prompt shows."""
        shown = variables_of(self.rubric, case)
        if not shown:
            return case.content_hash
        return f"{case.content_hash}-{hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()[:16]}"

    def _check_store(self) -> None:
        if self.parse is not None and "<" in getattr(self.parse, "__qualname__", "<"):
            raise ConfigurationError("with a store, parse= is a function defined by def at the top of a module")
        if isinstance(self.model, FunctionModel) and "<" in self.model.model:
            raise ConfigurationError("with a store, a function is defined by def at the top of a module")

    async def _ask(self, case: Case) -> Judgment:
        """Ask the model, and ask once more if the reply cannot be read. What fails becomes an ERROR with its usage."""
        prompt = self._prompt(case)
        material, spent, model = prompt.turns[-1].text, NO_USAGE, ""
        try:
            reply = await self._send(prompt)
            spent, model = reply.usage, reply.model
            read = self._read(reply, case, material)
            if isinstance(read, Unreadable):
                request = repair_request(read, self.rubric if self.parse is None else None)
                reply = await self._send(prompt.followed_by(visible(reply.text[:_LONGEST_QUOTE]), visible(request)))
                spent, model = spent + reply.usage, reply.model
                read = self._read(reply, case, material)
            found = parse_failure(reply, read, self.parse) if isinstance(read, Unreadable) else read
        except ModelError as error:
            found, spent = broken(error, metadata={"cause": error.kind}), spent + error.usage
        except Exception as error:  # over budget, after attempts that may be billed
            found, spent = broken(error), spent + getattr(error, "usage", NO_USAGE)
        return found.model_copy(update={"usage": spent, "model": model or self.model.model or None})

    def _read(self, reply: Reply, case: Case, material: str) -> Judgment | Unreadable:
        used = reply if self.options.logprobs or reply.logprobs is None else replace(reply, logprobs=None)
        return judgment_of(used, self.rubric, case, material, self.parse)

    def _prompt(self, case: Case) -> Prompt:
        return build_prompt(self.rubric, case, own_format=self.parse is not None, instructions=self._instructions)

    async def _send(self, prompt: Prompt) -> Reply:
        """Send a request, each attempt of which fits into the budget."""
        budget, billed = context().budget, list[Usage]()
        pay = (
            None
            if budget is None
            else partial(_paid, budget, self._estimate(prompt), self._reply_limit is not None, billed)
        )
        try:
            return await ask_model(self.model, prompt, self._schema, self.options, self.limits, pay=pay)
        except OverBudget as error:
            error.usage = sum(billed, NO_USAGE)
            raise

    def _estimate(self, prompt: Prompt) -> Usage:
        schema = 0 if self._schema is None else len(json.dumps(self._schema)) // 3
        tokens = prompt.estimated_tokens + schema
        output = self._reply_limit or _MAX_TOKENS
        price = self.model.price(tokens, output)
        return Usage(
            calls=1,
            input_tokens=tokens,
            output_tokens=output,
            cost_usd=price or 0.0,
            cost_complete=price is not None and (self._reply_limit is not None or not price),
        )

    @property
    def _reply_limit(self) -> int | None:
        """The most output tokens of a reply, by the options or the model's own settings; None if nothing limits it."""
        held = self.model, getattr(self.model, "_given", None)
        own = [getattr(one, name, None) for one in held for name in _REPLY_LIMITS]
        assumed = _MAX_TOKENS if isinstance(self.model, FunctionModel) else None  # it does not say what it takes
        return self.options.max_tokens or next((one for one in own if type(one) is int and one > 0), assumed)


async def _paid(budget: Budget, estimate: Usage, bounded: bool, billed: list[Usage], attempt: Attempt) -> Reply:
    """Make an attempt within a budget. One that may be billed, and does not say for how much, took its estimate."""
    async with budget.reserve(estimate, bounded=bounded) as took:
        try:
            reply = await attempt()
        except ModelError as error:
            took.append(estimate if error.sent else NO_USAGE)
            billed += [Usage(calls=1, cost_complete=False)] * error.sent
            raise
        took.append(reply.usage if reply.usage.input_tokens + reply.usage.output_tokens else estimate)
    return reply


def _rubric_of(given: Rubric | str | Path | None, changes: dict[str, Any], parse: Parser | None) -> Rubric:
    """Return the rubric of a critic's arguments."""
    if (given is None) == ("prompt" not in changes):
        raise ConfigurationError("a critic has a rubric, such as Critic(model, 'faithfulness'), or prompt=; not both")
    if given is not None:
        if changes:
            raise ConfigurationError(
                f"{' and '.join(changes)} go with prompt=; a rubric has its own, see Rubric.replace"
            )
        return rubric_of(given)
    if len(changes) != 2 and not (parse is not None and len(changes) == 1):
        raise ConfigurationError("prompt= needs labels= or scale=, one of them, or parse=")
    try:
        return Rubric(name="prompt", **changes)
    except ValidationError as error:
        raise ConfigurationError(problems_of(error)) from None


def _options(model: ChatModel, temperature: float | None, max_tokens: int | None, logprobs: bool) -> Options:
    """Return the options of each request; an object keeps its own settings."""
    if isinstance(model, ObjectModel):
        if (temperature, max_tokens) != (_TEMPERATURE, _MAX_TOKENS):
            raise ConfigurationError(
                f"temperature= and max_tokens= do not reach {model.name}, which keeps its own settings; set them there"
            )
        return Options(logprobs=logprobs)
    is_number = isinstance(temperature, int | float) and not isinstance(temperature, bool)
    if temperature is not None and not (is_number and 0 <= temperature < float("inf")):
        raise ConfigurationError(f"temperature= is a number from 0, or None for the vendor's own; not {temperature!r}")
    if max_tokens is not None and (isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 1):
        raise ConfigurationError(f"max_tokens= is a whole number from 1, or None; not {max_tokens!r}")
    return Options(temperature, max_tokens, logprobs)
