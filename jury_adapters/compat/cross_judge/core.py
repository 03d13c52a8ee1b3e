"""Critics and ensembles."""

import asyncio
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import isnan
from pathlib import Path
from string import Formatter
from typing import Any, ClassVar, Self

from pydantic import SecretStr

from jury_adapters.compat.cross_judge.verdict import EnsembleVerdict, Verdict
from jury_adapters.compat.cross_judge.voting import (
    VotingStrategy,
    agreement_pct,
    avg_confidence,
    get_voting_strategy,
    krippendorff_alpha,
    name_of,
)
from jury_adapters.core import loop
from jury_adapters.core.case import Case
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, Status, Usage, abstain, broken
from jury_adapters.core.values import ConfigurationError, error_text
from jury_adapters.critic.critic import Critic as RubricCritic
from jury_adapters.critic.rubric import Rubric
from jury_adapters.critic.yaml import read_yaml
from jury_adapters.models.base import NO_OPTIONS, ChatModel, ModelError, Options, Prompt, Reply, Schema, Turn
from jury_adapters.models.clients import http_package, sdk_of
from jury_adapters.models.keys import Keys
from jury_adapters.models.limits import Limits
from jury_adapters.models.names import open_model
from jury_adapters.models.prices import Priced
from jury_adapters.models.vendors import VENDORS

_LONGEST_QUOTE, _LONGEST_REASONS = 300, 1000

VENDOR_DEFAULTS: dict[str, tuple[str, str]] = {
    "deepseek": ("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
}
"""Address and key variable of each vendor; others may be added."""


class MissingKey(ConfigurationError, RuntimeError):
    """There is no API key."""


def key_of(vendor: str, given: str | SecretStr | None, variable: str) -> str:
    """Return the key that is given, else that in the environment variable."""
    key = given.get_secret_value() if isinstance(given, SecretStr) else given or os.environ.get(variable)
    if not key:
        what, way = ("API key", f"Set {variable} env var or pass") if variable else ("api_key", "Pass")
        raise MissingKey(f"Missing {what} for vendor '{vendor}'. {way} api_key=... explicitly.")
    return key


class HoldsKey:
    """Base of what has an API key, which is not shown and not pickled."""

    api_key: str | SecretStr | None

    def __post_init__(self) -> None:
        self.api_key = SecretStr(self.api_key) if isinstance(self.api_key, str) else self.api_key

    def __getstate__(self) -> dict[str, Any]:
        if self.api_key is not None:
            raise TypeError("what has an api_key= is not pickled: its key would be in the pickle")
        return vars(self)


@dataclass
class Critic(HoldsKey):
    """One model with one prompt.

    Args:
        name: the name in verdicts.
        model: the vendor's name of the model.
        prompt_template: the prompt, as for ``str.format``: ``{query}``, and ``{name}`` for a value of the context.
            Attributes (``{a.b}``) are refused.
        vendor: a key of :data:`VENDOR_DEFAULTS`; another name needs ``base_url`` and ``api_key``.
        system_prompt: the role of the judge; not sent if it is empty.
        temperature: 0 for the most likely answer.
        max_tokens: the largest number of output tokens.
        api_key: the key, kept as a ``SecretStr``; by default that in the vendor's environment variable.
        base_url: another address, of a server that speaks OpenAI's protocol.
        http_client: an ``httpx.Client``, or any object with its ``post``; it is asked once, without retries.
        timeout: seconds for one request.

    >>> Critic("strict", "gpt-4o-mini", vendor="openai").judge("Is a whale a fish?").kind  # doctest: +SKIP
    'REJECT'
    """

    name: str
    model: str
    prompt_template: str = (
        "Judge the following query:\n{query}\n\n"
        "Output JSON with kind (KEEP/REJECT/SPLIT/MERGE), confidence (0-1), reasoning."
    )
    vendor: str = "deepseek"
    system_prompt: str = "You are a careful judge. Output strict JSON only."
    temperature: float = 0.0
    max_tokens: int = 2000
    api_key: str | SecretStr | None = field(default=None, repr=False)
    base_url: str | None = field(default=None, repr=False)
    http_client: Any = field(default=None, repr=False)
    timeout: float = 60.0

    _keys: ClassVar[tuple[tuple[str, ...], tuple[str, ...]]] = (
        ("kind", "verdict"),
        ("reasoning", "rationale"),
    )  # of the label and of the reasons in a reply

    @classmethod
    def from_yaml_prompt(cls, name: str, model: str, yaml_path: str, **kwargs: Any) -> Self:
        """Return a critic with the ``user_prompt_template`` and the ``system_prompt`` of a YAML file.

        Raises:
            InputError: the file cannot be read.
            ConfigurationError: it has no ``user_prompt_template``.
        """
        found = read_yaml(Path(yaml_path))
        prompt = found.get("user_prompt_template") if isinstance(found, dict) else None
        if not isinstance(prompt, str):
            raise ConfigurationError(f"{yaml_path}: the file needs the key user_prompt_template, the prompt")
        system = str(found.get("system_prompt", "You are a careful judge."))
        return cls(name=name, model=model, prompt_template=prompt, system_prompt=system, **kwargs)

    def judge(self, query: str, context: dict[str, Any] | None = None) -> Verdict:
        """Judge one query. What goes wrong while asking is a verdict with an ``error``.

        Args:
            query: what to judge.
            context: values of further placeholders; one named ``query`` replaces the query.

        Raises:
            KeyError: a placeholder has no value.
            ConfigurationError: the template reads attributes, or the vendor is unknown.
        """
        prompt = self._render_prompt(query, context)
        self._resolved_base_url()
        try:
            judgment = _PromptJudge(self, lambda case: prompt).judge(question=prompt)
        except ConfigurationError as error:  # there is no key, or no SDK
            judgment = broken(error)
        return verdict_of(judgment, self.name)

    def as_judge(self) -> Judge:
        """Return this critic as a judge of this package, for juries, cascades, stores and budgets.

        The question of a case is the query, and its metadata are the context.

        Raises:
            ConfigurationError: the vendor is unknown, or there is no key.
        """
        return _PromptJudge(self, lambda case: self._render_prompt(case.question or "", dict(case.metadata)))

    def _render_prompt(self, query: str, context: dict[str, Any] | None) -> str:
        values = {"query": query, **(context or {})}
        try:
            return _TEMPLATES.vformat(self.prompt_template, (), values)
        except KeyError as error:
            raise KeyError(
                f"prompt_template missing required key {error} in context. Provided keys: {sorted(map(str, values))}"
            ) from error

    def _resolved_base_url(self) -> str:
        if self.base_url:
            return self.base_url
        if self.vendor not in VENDOR_DEFAULTS:
            raise ConfigurationError(
                f"Unknown vendor '{self.vendor}'. Pass base_url=... explicitly for custom vendors."
            )
        return VENDOR_DEFAULTS[self.vendor][0]

    def _resolved_api_key(self) -> str:
        return key_of(self.vendor, self.api_key, VENDOR_DEFAULTS.get(self.vendor, ("", ""))[1])

    def _model(self) -> ChatModel:
        """Return what is asked: the client of the caller, or the model of the vendor."""
        vendor = self.vendor if self.vendor in VENDORS else "vllm"  # a server of one's own
        name, address, key = f"{vendor}:{self.model}", self._resolved_base_url(), self._resolved_api_key()
        if self.http_client is not None:
            return _GivenClient(name, address, self.http_client, self._send, Keys([key]))
        return open_model(name, base_url=address, api_key=key, timeout=self.timeout)

    def _get_client(self) -> Any:
        """Return the client; if there is none, one is made, and the critic asks through it from now on."""
        self.http_client = self.http_client or http_package(sdk_of("openai")).Client(timeout=self.timeout)
        return self.http_client

    def _send(self, messages: list[dict[str, str]], temperature: float, max_tokens: int) -> Any:
        """Send a request through the client of the caller, and return the text of the reply."""
        body = {"model": self.model, "messages": messages, "temperature": temperature, "max_tokens": max_tokens}
        headers = {"Authorization": f"Bearer {self._resolved_api_key()}", "Content-Type": "application/json"}
        url = self._resolved_base_url().rstrip("/") + "/chat/completions"
        answer = self.http_client.post(url, json=body, headers=headers)
        if hasattr(answer, "raise_for_status"):
            answer.raise_for_status()
        return answer.json()["choices"][0]["message"]["content"]

    def _parsed(self, text: str) -> Judgment:
        """Return a reply as a judgment, with the verdict in its metadata."""
        verdict = self._parse_verdict(text.strip(), 0.0)
        metadata = {"verdict": verdict.model_dump()}
        if verdict.error is not None or not verdict.kind:
            return abstain(verdict.reasoning.strip() or "the reply has no label", metadata=metadata)
        plain = verdict.kind in ("PASS", "FAIL")
        return Judgment(
            status=Status(verdict.kind) if plain else Status.LABEL,
            label=None if plain else verdict.kind,
            confidence=verdict.confidence,
            reasoning=verdict.reasoning,
            metadata=metadata,
        )

    def _parse_verdict(self, raw: str, elapsed: float) -> Verdict:
        said: dict[str, Any] = {"critic_id": self.name, "raw_response": raw, "elapsed_s": elapsed}
        found = _extract_json(raw)
        if found is None:
            return Verdict(kind="PARSE_FAIL", reasoning=raw[:_LONGEST_QUOTE], error="parse_fail", **said)
        kind = _first(found, self._keys[0], "UNCLEAR").strip().upper()
        reasons = _first(found, self._keys[1], "")[:_LONGEST_REASONS]
        return Verdict(kind=kind, confidence=_confidence(found.get("confidence")), reasoning=reasons, **said)


@dataclass
class Ensemble:
    """Critics that judge the same query, and a strategy that counts their verdicts.

    Args:
        critics: critics, or objects with their ``judge``; all are asked at once.
        voting: ``majority``, ``unanimous``, or a function of the verdicts that returns a label and whether they differ.
        voting_kwargs: options of the strategy, such as ``{"priority": ["REJECT", "KEEP"]}``.
    """

    critics: list[Any]
    voting: str | VotingStrategy = "majority"
    voting_kwargs: dict[str, Any] = field(default_factory=dict)

    def judge(
        self,
        query: str,
        *,
        query_id: str | None = None,
        context: dict[str, Any] | None = None,
        meta: dict[str, Any] | None = None,
    ) -> EnsembleVerdict:
        """Judge one query with all critics.

        Args:
            query: what to judge.
            query_id: the caller's id; by default the first 80 characters of the query.
            context: values of further placeholders.
            meta: the caller's own data, which the result gets.

        Raises:
            KeyError: a placeholder has no value, or there is no such strategy.
            ConfigurationError: a template reads attributes, or a vendor is unknown.
        """
        verdicts = loop.run(all_at_once(lambda critic: critic.judge(query, context=context), self.critics))
        return self.aggregate_verdicts(verdicts, query_id=query_id or query[:80], meta=meta)

    def aggregate_verdicts(
        self, verdicts: list[Verdict], *, query_id: str, meta: dict[str, Any] | None = None
    ) -> EnsembleVerdict:
        """Return the result of verdicts that the caller has."""
        consensus, differ = get_voting_strategy(self.voting)(verdicts, **self.voting_kwargs)
        return EnsembleVerdict(
            query_id=query_id,
            verdicts=verdicts,
            consensus=consensus,
            avg_confidence=avg_confidence(verdicts),
            disagreement=differ,
            agreement_pct=agreement_pct(verdicts, consensus),
            krippendorff_alpha=krippendorff_alpha(verdicts),
            voting=name_of(self.voting),
            meta=meta or {},
        )


class _GivenClient(Priced):
    """Client of the caller as a model. It is used unchanged, once for each call, in a thread.

    Args:
        name: ``vendor:model``.
        address: the address, by which a store tells servers apart.
        client: the client.
        send: sends a request with these messages and options, and returns the text of the reply.
        hide: the key, which is removed from errors.
    """

    def __init__(self, name: str, address: str, client: object, send: Callable[..., Any], hide: Keys) -> None:
        self.name, self.model, self.identity = name, name.partition(":")[2], f"{name} at {address}"
        self.account, self._send, self._hide = str(id(client)), send, hide

    async def complete(self, prompt: Prompt, schema: Schema | None = None, options: Options = NO_OPTIONS) -> Reply:
        """Send one request."""
        system = [{"role": "system", "content": prompt.system}] if prompt.system else []
        messages = [*system, *({"role": turn.role, "content": turn.text} for turn in prompt.turns)]
        try:
            text = await loop.in_thread(self._send, messages, options.temperature, options.max_tokens)
        except Exception as error:
            failure = ModelError(self._hide.hidden_in(error_text(error)))
        else:
            return Reply(self._hide.hidden_in(text or ""), Usage(calls=1, cost_complete=False), self.model)
        raise failure


class _PromptJudge(RubricCritic):
    """Critic that sends a prompt word for word, and accepts any label as the answer."""

    def __init__(self, critic: Critic, render: Callable[[Case], str]) -> None:
        model = critic._model()
        asked = f"{critic.system_prompt}\n{critic.prompt_template}"  # by which a store tells critics apart
        super().__init__(
            model,
            Rubric(name=critic.name or "critic", criteria=asked, requires=()),
            name=critic.name,
            parse=critic._parsed,
            temperature=critic.temperature,
            max_tokens=critic.max_tokens,
            limits=Limits(attempts=1) if isinstance(model, _GivenClient) else None,
        )
        self.labels = None
        self._render, self._system = render, critic.system_prompt

    def _prompt(self, case: Case) -> Prompt:
        return Prompt(self._system, (Turn("user", self._render(case)),))

    def _key_of(self, case: Case) -> str:
        return sha256(self._render(case).encode()).hexdigest()[:32]


async def all_at_once(ask: Callable[[Any], Any], askers: Iterable[Any]) -> list[Any]:
    """Return what critics or reviewers answer, and an ERROR of one that raises.

    A template that cannot be filled, an unknown vendor and a missing key are raised: they concern the whole run.
    """

    async def answer(one: Any) -> Any:
        try:
            return await loop.in_thread(ask, one)
        except (LookupError, ValueError):
            raise
        except Exception as error:
            return verdict_of(broken(error), getattr(one, "name", "") or getattr(one, "reviewer_id", ""))

    return await asyncio.gather(*map(answer, askers))


def verdict_of(judgment: Judgment, name: str) -> Verdict:
    """Return a judgment as a verdict."""
    elapsed = round(judgment.elapsed_s or 0.0, 3)
    if (said := judgment.metadata.get("verdict")) is not None:
        return Verdict(**{**said, "elapsed_s": elapsed})
    known: dict[str, Any] = {"critic_id": name, "elapsed_s": elapsed}
    if reply := judgment.metadata.get("reply"):  # cut off, or stopped by a filter
        return Verdict(
            kind="PARSE_FAIL", reasoning=reply[:_LONGEST_QUOTE], raw_response=reply, error="parse_fail", **known
        )
    empty = judgment.metadata.get("cause") == "empty_reply"
    error = "empty_response" if empty else (judgment.error or judgment.reasoning).removeprefix("ModelError: ")
    return Verdict(kind="ERROR", reasoning=error, error=error, **known)


def _extract_json(raw: str) -> dict[str, Any] | None:
    """Return the JSON object from the first brace of a reply to its last one, as cross-judge reads it."""
    body = raw[raw.find("{") : raw.rfind("}") + 1]
    for one in (body, body.replace(",\n}", "\n}").replace(",\n]", "\n]")):
        try:
            found = json.loads(one)
        except (ValueError, RecursionError):
            continue
        return found if isinstance(found, dict) else None
    return None


def _first(found: Mapping[str, Any], keys: Iterable[str], default: str) -> str:
    """Return the first value that is there, as a text."""
    return next((str(found[key]) for key in keys if found.get(key) is not None), default)


def _confidence(value: Any) -> float:
    """Return a number in 0..1, which may be a text; 0.0 for what is none."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return 0.0 if isnan(number) else max(0.0, min(1.0, number))


class _Templates(Formatter):
    """Templates of ``str.format`` that do not reach into objects."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if not _FIELD.fullmatch(field_name):
            raise ConfigurationError(
                f"the prompt template reads {{{field_name}}}; an attribute may lead to keys, so give the value a name "
                "in context="
            )
        return super().get_field(field_name, args, kwargs)


_TEMPLATES = _Templates()
_FIELD = re.compile(r"[^.\[\]]*(?:\[[^\[\]]*\])*")
