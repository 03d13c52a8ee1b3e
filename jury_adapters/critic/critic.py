"""Judge that asks a language model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Self

from pydantic import SecretStr

from jury_adapters.core.bounded_cache import BoundedCache
from jury_adapters.core.budget import BudgetExhausted
from jury_adapters.core.cache import JudgmentCache
from jury_adapters.core.case import Case
from jury_adapters.core.combinators import samples_of
from jury_adapters.core.context import run_context
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.errors import ConfigurationError, ModelError, plain_repr, unknown
from jury_adapters.core.judge import CaseLike
from jury_adapters.core.judgment import ANY_OPINION, Judgment, OpinionStatuses, abstain
from jury_adapters.core.usage import NO_USAGE, Usage
from jury_adapters.core.values import JsonValue, clean_text
from jury_adapters.critic.answers import Unreadable
from jury_adapters.critic.arguments import (
    check_model_first,
    check_own_settings,
    checked_flag,
    checked_name,
    checked_store,
    checked_temperature,
    checked_threshold,
    checked_whole,
    explains_wrong_calls,
    warn_of_equal_samples,
    warn_of_unused_threshold,
)
from jury_adapters.critic.asked_labels import check_asked_labels
from jury_adapters.critic.asking import (
    AskingJudge,
    case_key_of,
    default_name,
    find_rubric,
    pass_scores_of,
    rubric_statuses,
    variables_of,
    within_budget,
)
from jury_adapters.critic.given_rubric import LabelsLike, RubricLike, ScaleLike, given_rubric
from jury_adapters.critic.own_parser import ReplyParser
from jury_adapters.critic.parse_reply import repair_request
from jury_adapters.critic.prompt import build_prompt, material_texts
from jury_adapters.critic.quoted_answers import Material
from jury_adapters.critic.reply_judgments import judgment_from, parse_failure
from jury_adapters.critic.rubric import PLACEHOLDERS, Rubric
from jury_adapters.critic.shown_images import obstacle_of_images
from jury_adapters.models.base import Options, Prompt, Reply
from jury_adapters.models.fingerprint import fingerprint_of
from jury_adapters.models.limits import Limits
from jury_adapters.models.registry import LimitedModel, ModelLike, estimated_tokens, resolve_model
from jury_adapters.models.settings import MAX_TOKENS, TEMPERATURE, TIMEOUT_S

_PROMPTS: BoundedCache[tuple[str, str, str, bool], Prompt] = BoundedCache(256)
_LONGEST_SHARED = 50_000  # characters; this bounds the shared prompts at about 13 MB
_EXAMPLE = "Critic('openai:gpt-4o-mini', 'faithfulness')"
_RENAMED = {
    "prompt_template": "prompt",
    "repeat": "samples",
    "timeout": "request_timeout",
    "http_client": "client",
}
_LONGEST_QUOTE = 4000  # characters of an unreadable reply that a repair request quotes


class Critic(AskingJudge):
    """Judge that asks a language model, guided by a rubric.

    Args:
        model: ``"vendor:model"``; a name with ``vendor=`` or ``base_url=``; a LangChain chat model; a LlamaIndex LLM;
            or any ``async (prompt) -> str``. There is no default vendor, so data goes only to the vendor that you name.
        rubric: a :class:`Rubric`, the name of one that comes with the package, or the path of a YAML file.
        name: the critic's name in verdicts; ``"<rubric> <model>"`` by default, such as ``"faithfulness gpt-4o-mini"``,
            and ``"prompt <model>"`` with ``prompt``. Required when a store is used and the model has no identity of
            its own, such as a bare function: the store then identifies the critic by its name.
        prompt: the user prompt, with placeholders such as ``{question}``; instead of a rubric. A prompt that plainly
            asks for answers that the critic does not allow is refused. The check does not find every such prompt; where
            it misses one, each abstention names the label of the reply and those of the critic.
        system_prompt: the role of the judge; replaces the rubric's system prompt.
        labels: the allowed answers, instead of the rubric's: a mapping of each label to ``"pass"``, ``"fail"``,
            ``"abstain"`` or a score, which passes from 0.5. With ``prompt``, the default is ``YES``, ``NO``
            and ``UNSURE``.
        scale: the allowed answers as a number: the worst and the best, ``(1, 5)``; a mapping such as ``{"minimum": 1,
            "maximum": 5, "pass_mark": 4}``; or a :class:`Scale`.
        parse: a function that reads replies instead of this package, for a prompt with a reply format of its own. It
            takes the text of a reply and returns what a ``@judge`` function returns. After a ValueError, the model is
            asked once more. The prompt then does not ask for a JSON object. With a store, the function must be
            importable.
        samples: the number of requests per case; the majority of the answers decides (self-consistency). Give a
            ``temperature`` too: at 0 the answers hardly differ.
        threshold: the lowest score (0..1) that passes, instead of the rubric's own rule. Ratings have scores, and so
            have labels that declare them, verified claims, and any label with ``logprobs``. An answer without a score
            keeps the rubric's rule.
        temperature: 0 for the most likely answer. For a model that refuses the parameter, it is left out. A temperature
            that is set on a model object takes precedence, and so does its ``max_tokens``.
        max_tokens: the maximum number of output tokens, including hidden reasoning.
        request_timeout: the maximum duration of one request to a model by name, in seconds. With retries, a judgment
            may take longer; see ``limits``. :meth:`with_timeout` limits the whole judgment.
        logprobs: whether to score by the probabilities of the answer's tokens, where the vendor has them (G-Eval).
        vendor: the vendor, when the model's name does not include it.
        base_url: the address of a server that speaks the vendor's protocol; by default the one in the vendor's
            environment variable (``OPENAI_BASE_URL``, ``ANTHROPIC_BASE_URL``), else the vendor's own.
        api_key: the key; from the vendor's environment variable by default.
        client: an existing ``AsyncOpenAI`` or ``AsyncAnthropic`` client; or an asynchronous HTTP client for the SDK,
            such as ``httpx.AsyncClient()``. It is used unchanged.
        limits: the limits on calls of the model; see :class:`Limits`.
        image_urls: whether the vendor may be sent the addresses of images, which it then fetches. By default, the
            critic abstains on a case with such an image. This package never fetches them.
        store: the store to keep judgments in and to read them from; a :class:`Store` or its path. Judgments are kept
            per model, address and parameters, so the judgments of one server are not used for another.

    Raises:
        ConfigurationError: the model or the rubric is missing, the vendor is unknown, the key or the SDK is missing, a
            store cannot tell the model from others, or a prompt asks for answers that the critic does not allow; the
            message says what to do.

    >>> critic = Critic("openai:gpt-4o-mini", "faithfulness", name="truth")  # doctest: +SKIP
    >>> critic.judge(question=..., answer=..., contexts=[...]).status  # doctest: +SKIP
    """

    model: LimitedModel

    @explains_wrong_calls(_EXAMPLE, _RENAMED)
    def __init__(
        self,
        model: ModelLike,
        rubric: RubricLike | None = None,
        *,
        name: str = "",
        prompt: str | None = None,
        system_prompt: str | None = None,
        labels: LabelsLike | None = None,
        scale: ScaleLike | None = None,
        parse: Callable[[str], Any] | None = None,
        samples: int = 1,
        threshold: float | None = None,
        temperature: float | None = TEMPERATURE,
        max_tokens: int = MAX_TOKENS,
        request_timeout: float = TIMEOUT_S,
        logprobs: bool = False,
        vendor: str | None = None,
        base_url: str | None = None,
        api_key: str | SecretStr | None = None,
        client: Any = None,
        limits: Limits | None = None,
        image_urls: bool = False,
        store: JudgmentCache | str | PathLike[str] | None = None,
    ) -> None:
        check_model_first(model, rubric, _EXAMPLE)
        self.model = resolve_model(
            model, vendor=vendor, base_url=base_url, api_key=api_key, client=client, request_timeout=request_timeout,
            limits=limits,
        )  # fmt: skip
        self.rubric = given_rubric(
            rubric, name=checked_name(name), prompt=prompt, system_prompt=system_prompt, labels=labels, scale=scale
        )  # fmt: skip
        self._parser = self._checked_parser(parse)
        self._given_name = name
        self.name = self._own_name
        self.temperature = checked_temperature(temperature)
        self.max_tokens = checked_whole(max_tokens, "max_tokens")
        check_own_settings(self.model.inner, temperature, max_tokens)
        self.threshold = checked_threshold(threshold)
        self.samples = checked_whole(samples, "samples")
        warn_of_equal_samples(self.model.inner, temperature, self.samples)
        self.logprobs = checked_flag(logprobs, "logprobs")
        self.image_urls = checked_flag(image_urls, "image_urls")
        if self.logprobs and self._parser is not None:
            raise ConfigurationError("logprobs=True scores the labels of the package; parse= reads replies itself")
        if self._parser is None:
            warn_of_unused_threshold(self.rubric, self.threshold, logprobs=self.logprobs)
        self.store = checked_store(store)
        self._options = Options(temperature, max_tokens, logprobs)
        self._schema = self._reply_schema(self.rubric)
        self.cost = self._price(Usage(1000, 200)).cost_usd * samples
        parsed_by = () if self._parser is None else (self._parser.fingerprint,)
        self._fingerprint = fingerprint_of(
            self.model.inner, temperature, max_tokens, logprobs, self.threshold, *parsed_by, name=name
        )
        if self.store is not None:
            self.check_store()
        self._jury = self._sampled()

    @classmethod
    def from_criteria(cls, model: ModelLike, criteria: str, *, name: str = "", **options: Any) -> Self:
        """Create a critic from one sentence that the answer must meet.

        >>> Critic.from_criteria("openai:gpt-4o-mini", "The answer names its source.")  # doctest: +SKIP
        """
        return cls(model, Rubric.from_criteria(criteria, name=name or "criteria"), name=name, **options)

    @property
    def repeat_levels(self) -> int:
        return 0 if self._jury is None else self._jury.repeat_levels

    def expect_samples(self, samples: int) -> None:
        warn_of_equal_samples(self.model.inner, self.temperature, samples)

    def with_rubric(self, rubric: Rubric | str | Path) -> Self:
        """Return this critic with another rubric and the same name, model, parameters, store and limits.

        Args:
            rubric: a :class:`Rubric`, the name of one that comes with the package, or the path of a YAML file.

        Raises:
            ConfigurationError: there is no rubric of that name.
            InputError: the file is not a rubric.

        >>> stricter = critic.with_rubric(critic.rubric.model_copy(update={"criteria": "..."}))  # doctest: +SKIP
        """
        found = find_rubric(rubric)
        if self._parser is None:
            check_asked_labels(found)
        other = self._with(rubric=found, _schema=self._reply_schema(found))
        if self.name == self._own_name:
            other.name = other._own_name
        other._jury = other._sampled()
        return other

    @property
    def rubrics(self) -> tuple[Rubric, ...]:
        return (self.rubric,)

    def with_rubrics(self, *rubrics: Rubric | str | Path) -> Self:
        """Return this critic with another rubric; see :meth:`with_rubric`. A critic has exactly one."""
        if len(rubrics) != 1:
            raise ConfigurationError(f"a Critic has one rubric, not {len(rubrics)}; a DecisionCritic may have several")
        return self.with_rubric(*rubrics)

    def judge(self, case: CaseLike | None = None, /, *, context: Any = None, **fields: Any) -> Judgment:
        """Judge one case; see :meth:`Judge.judge`.

        Args:
            case: a Case, a question, or a mapping of fields.
            context: the contexts, as text or a list; or a mapping with values for the rubric's own variables.
            **fields: the fields of a Case.

        Raises:
            ConfigurationError: a name in the mapping is reserved for a field of the case, or is not a variable.
        """
        return super().judge(case, **self._placed(context, fields))

    async def ajudge(self, case: CaseLike | None = None, /, *, context: Any = None, **fields: Any) -> Judgment:
        """Judge one case; see :meth:`judge`."""
        return await super().ajudge(case, **self._placed(context, fields))

    def check_store(self) -> None:
        super().check_store()
        if self._parser is not None and not self._parser.importable:
            raise ConfigurationError(
                "a store cannot tell this parse= from others: define it with def at the top of a module, so that it "
                "can be imported"
            )

    @property
    def _own_name(self) -> str:
        return self._given_name or default_name([self.rubric], self.model.model)

    @property
    def _rubric_fingerprint(self) -> str:
        return self.rubric.fingerprint

    @property
    def size(self) -> int:
        return self.samples

    @property
    def opinion_statuses(self) -> OpinionStatuses:
        return ANY_OPINION if self._parser is not None else rubric_statuses(self.rubric, self.threshold)

    @property
    def pass_scores(self) -> frozenset[float]:
        if self._parser is not None:
            return frozenset() if self.threshold is None else frozenset({self.threshold})
        return pass_scores_of(self.rubric, self.threshold, continuous=self.logprobs)

    @property
    def requests_at_once(self) -> int:
        return self.samples

    def estimate(self, case: Case) -> Usage:
        if self._without_model(case) is not None or (case.attachments and self._image_obstacle(case)):
            return NO_USAGE
        once = self._estimated(self._prompt(case, case_key_of(self.rubric, case)))
        return sum([once] * self.samples, NO_USAGE)

    async def assess(self, case: Case) -> Judgment:
        case_key = case_key_of(self.rubric, case)
        if self._prompt_key(case_key) not in _PROMPTS:  # a case that has a prompt already needs the model
            unasked = self._without_model(case)
            if unasked is not None:
                return unasked
            if case.attachments and (obstacle := self._image_obstacle(case)):
                return self._stamped(abstain(obstacle), NO_USAGE)
        if self._jury is not None:
            return await self._jury.assess(case)
        return await self._once(case_key, case, partial(self._asked, case, case_key))

    async def _asked(self, case: Case, case_key: str) -> Judgment:
        """Ask the model, and ask once more if the reply cannot be read. A failure becomes a judgment."""
        prompt = self._prompt(case, case_key)
        spent = NO_USAGE
        try:
            reply = await self._reply(prompt)
            spent = reply.usage
            material = Material(partial(self._material, case), self.rubric.answers)
            judgment = self._read(reply, case, material)
            if isinstance(judgment, Unreadable):
                request = self._repair_request(judgment)
                # A lone surrogate can be read, but not sent back, so the quotation is cleaned.
                quoted = clean_text(reply.text[:_LONGEST_QUOTE])
                reply = await self._reply(prompt.followed_by(quoted, request))
                spent = spent + reply.usage
                judgment = self._read(reply, case, material)
            if isinstance(judgment, Unreadable):
                judgment = parse_failure(reply, self.rubric, judgment)
        except BudgetExhausted as refusal:
            return self._unaffordable(refusal, spent)
        except ModelError as error:
            return self._failed(error, spent)
        return self._stamped(judgment, spent)

    def _checked_parser(self, parse: Callable[[str], Any] | None) -> ReplyParser | None:
        """Return the parser. Without one, check that the prompt asks for the answers that the package reads."""
        if parse is not None:
            return ReplyParser(parse)
        check_asked_labels(self.rubric)
        return None

    def _reply_schema(self, rubric: Rubric) -> dict[str, JsonValue] | None:
        return rubric.reply_schema() if self._parser is None else None

    def _read(self, reply: Reply, case: Case, material: Material) -> Judgment | Unreadable:
        return judgment_from(
            reply, self.rubric, case=case, threshold=self.threshold, material=material, parser=self._parser
        )

    def _repair_request(self, problem: Unreadable) -> str:
        return repair_request(self.rubric, problem) if self._parser is None else self._parser.repair_request(problem)

    def _sampled(self) -> Ensemble | None:
        """Return the jury of this critic's own samples, or None if it asks only once."""
        if self.samples == 1:
            return None
        return samples_of(self._with(samples=1, _jury=None), self.samples)

    def _reply(self, prompt: Prompt) -> Awaitable[Reply]:
        budget = run_context().budget
        if budget is None:
            return self.model.complete(prompt, self._schema, self._options)
        call = partial(self.model.complete, prompt, self._schema, self._options)
        return within_budget(budget, self._estimated(prompt), call, lambda reply: reply.usage)

    def _prompt(self, case: Case, case_key: str) -> Prompt:
        """Return the prompt, which jurors of one panel with the same rubric share."""
        key = self._prompt_key(case_key)
        prompt = _PROMPTS.get(key)
        if prompt is None:
            given = variables_of(self.rubric, case)
            prompt = build_prompt(self.rubric, case, given, own_format=self._parser is not None)
            if len(prompt.turns[-1].text) <= _LONGEST_SHARED and not case.attachments:
                _PROMPTS.put(key, prompt)
        return prompt

    def _prompt_key(self, case_key: str) -> tuple[str, str, str, bool]:
        return case_key, self.rubric.fingerprint, self.rubric.empty_answer, self._parser is not None

    def _material(self, case: Case) -> tuple[str, ...]:
        return material_texts(self.rubric, case, variables_of(self.rubric, case))

    def _estimated(self, prompt: Prompt) -> Usage:
        total = estimated_tokens(prompt, self._options, self.model.model)
        return self._price(Usage(total - self.max_tokens, self.max_tokens, calls=1))

    def _image_obstacle(self, case: Case) -> str:
        return obstacle_of_images(self.rubric, case, self.model.inner, addresses=self.image_urls)

    def _without_model(self, case: Case) -> Judgment | None:
        return self._unasked(self.rubric, case, self.threshold, own_answers=self._parser is not None)

    def _placed(self, context: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields with the contexts, or with the values of the rubric's variables in the case's metadata."""
        if not isinstance(context, Mapping):
            return fields if context is None else {**fields, "contexts": context}
        for name in context:
            if name in PLACEHOLDERS or name in Case.model_fields:
                raise ConfigurationError(
                    f"context[{plain_repr(name)}]: that name is a field of the case; give {name}= instead"
                )
            if name not in self.rubric.variables:
                raise ConfigurationError(unknown("variable in context", name, self.rubric.variables))
        return {**fields, "metadata": {**fields.get("metadata", {}), **context}}

    def __repr__(self) -> str:
        return f"Critic({self.model.name!r}, {self.rubric.name!r}, name={self.name!r})"
