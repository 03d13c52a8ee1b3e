"""Conversion of a name or an object to a decision model within its limits."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from functools import partial
from typing import Any

from pydantic import SecretStr

from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.usage import Usage
from jury_adapters.decision.models import LangChainDecisionModel, OpenAIDecisionModel
from jury_adapters.models.addresses import plain_address
from jury_adapters.models.api_keys import Key
from jury_adapters.models.base import Answer, DecisionModel, Prompt, Question
from jury_adapters.models.calls import Request, made, watched
from jury_adapters.models.limits import Limits
from jury_adapters.models.registry import check_settings, vendor_address
from jury_adapters.models.retries import Limited
from jury_adapters.models.settings import TIMEOUT_S
from jury_adapters.vendors import VENDORS

Decided = tuple[Sequence[Answer], Usage]


class LimitedDecisionModel(Limited[DecisionModel]):
    """Decision model within its limits; a :class:`DecisionModel` itself."""

    def decide(self, text: str, questions: Sequence[Question]) -> Coroutine[Any, Any, Decided]:
        attempt = partial(self.inner.decide, text, questions)
        limited = self.limiter.limits.tokens_per_minute
        estimate = estimated_decision(text, questions).input_tokens if limited else 0
        if watched():
            call = partial(self.limiter.call, estimate=estimate, spent=_tokens_of)
            return made(Request("decide", self.inner, Prompt.of(text)), attempt, call)
        return self.limiter.call(attempt, estimate=estimate, spent=_tokens_of)


def resolve_decision_model(
    model: object,
    *,
    base_url: str | None = None,
    api_key: str | SecretStr | None = None,
    request_timeout: float = TIMEOUT_S,
    limits: Limits | None = None,
) -> LimitedDecisionModel:
    """Return the decision model of a name or an object, within its limits.

    Args:
        model: ``"openai:<model>"``; a name with ``base_url=``; a LangChain decision model; or a
            :class:`DecisionModel`.
        base_url: the address of a server with OpenAI's decision endpoint; by default that in ``OPENAI_BASE_URL``, else
            OpenAI's own.
        api_key: the key; from ``OPENAI_API_KEY`` by default.
        request_timeout: the maximum duration of one request, in seconds.
        limits: the limits on calls of the model.

    Raises:
        ConfigurationError: the name has no vendor, the vendor has no decision models, the key is missing, or the object
            is not a decision model.
    """
    check_settings(base_url=base_url, api_key=api_key, request_timeout=request_timeout, limits=limits)
    limits = limits or Limits()
    if isinstance(model, LimitedDecisionModel):
        return model
    if isinstance(model, str):
        return LimitedDecisionModel(_named(model, base_url, api_key, request_timeout), limits)
    given = [name for name, value in {"base_url": base_url, "api_key": api_key}.items() if value is not None]
    if given:
        raise ConfigurationError(
            f"{', '.join(given)} belongs to a model named by text; {type(model).__name__} brings its own"
        )
    if any(kind.__module__.startswith("langchain_core.decisions") for kind in type(model).__mro__):
        return LimitedDecisionModel(LangChainDecisionModel(model), limits)
    if isinstance(model, DecisionModel):
        return LimitedDecisionModel(model, limits)
    raise ConfigurationError(
        f"{type(model).__name__} is not a decision model: give 'openai:<model>', a LangChain one, or an object "
        "with `name`, `model` and `async decide(text, questions)`"
    )


def estimated_decision(text: str, questions: Sequence[Question]) -> Usage:
    """Return an upper estimate of a request's usage: three characters per token, and a few tokens for each choice."""
    choices = [max(2, len(question.choices)) for question in questions]
    characters = len(text) + sum(len(question.text) + sum(map(len, question.choices)) for question in questions)
    return Usage(characters // 3 + 10 * sum(choices), 20 * sum(choices), calls=1)


def _named(name: str, base_url: str | None, api_key: str | SecretStr | None, timeout: float) -> OpenAIDecisionModel:
    prefix, colon, rest = name.partition(":")
    vendor = prefix.lower() if colon and prefix.lower() in VENDORS else None
    if vendor not in (None, OpenAIDecisionModel.vendor):
        raise ConfigurationError(
            f"{plain_repr(name)}: {vendor} is not known for decision models; 'openai:<model>' is, or give base_url="
        )
    model = rest if vendor else name
    if not model:
        raise ConfigurationError("the model has no name; write 'openai:<model>'")
    if vendor is None and base_url is None:
        meant = f"openai:{name.removeprefix('openai/')}"
        raise ConfigurationError(f"which vendor has {plain_repr(name)}? Write {plain_repr(meant)}, or give base_url=")
    key = Key(api_key, "OPENAI_API_KEY" if vendor else None, vendor or plain_address(base_url))
    key.reveal()  # reports a missing key now instead of at the first of a thousand cases
    address = base_url or vendor_address(VENDORS[OpenAIDecisionModel.vendor])
    return OpenAIDecisionModel(model, key=key, base_url=address, timeout=timeout)


def _tokens_of(decided: Decided) -> int:
    return decided[1].input_tokens + decided[1].output_tokens
