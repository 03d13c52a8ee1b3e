"""Decision models: many questions about one text in one request, answered with probabilities instead of text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from jury_adapters.core.context import judging
from jury_adapters.core.errors import ConfigurationError, ModelError
from jury_adapters.core.preparation import Preparable
from jury_adapters.core.usage import Usage
from jury_adapters.models.addresses import plain_address
from jury_adapters.models.api_keys import Key
from jury_adapters.models.base import Answer, Question
from jury_adapters.models.error_mapping import as_model_error
from jury_adapters.models.http_errors import error_in_body
from jury_adapters.models.langchain import as_langchain_error
from jury_adapters.models.object_identity import identity_of_object, secrets_of_object
from jury_adapters.models.prices import cost_of
from jury_adapters.models.retries import ObjectId
from jury_adapters.models.settings import TIMEOUT_S
from jury_adapters.models.token_counts import UNKNOWN_USAGE, counted, token_count
from jury_adapters.models.unsupported_parameters import Body
from jury_adapters.models.vendor_api import VendorAPI
from jury_adapters.models.wrapped import vendor_inside


class OpenAIDecisionModel:
    """Client of OpenAI's decision endpoint, for any version of the SDK.

    Args:
        model: the model's name.
        key: the API key.
        base_url: the server's address.
        timeout: the maximum duration of one request, in seconds.
    """

    vendor = "openai"

    def __init__(self, model: str, *, key: Key, base_url: str, timeout: float = TIMEOUT_S) -> None:
        self.model = model
        self.base_url = base_url
        self._api = VendorAPI(
            "openai", "AsyncOpenAI", "/decisions", name=self.name, key=key, base_url=base_url, timeout=timeout
        )
        self.address = plain_address(base_url)

    @property
    def name(self) -> str:
        return f"{self.vendor}:{self.model}"

    @property
    def identity(self) -> tuple[object, ...]:
        """Server, key and settings. Models with the same identity share a limiter."""
        return self._api.identity

    @property
    def preparable(self) -> Preparable:
        return self._api

    async def decide(self, text: str, questions: Sequence[Question]) -> tuple[Sequence[Answer], Usage]:
        body: Body = {
            "model": self.model, "input": text, "questions": [_openai_question(question) for question in questions],
        }  # fmt: skip
        answer = await self._api.post(body)
        given = answer.get("answers") if isinstance(answer, Mapping) else None
        if not isinstance(given, list) or [type(one) for one in given] != [dict] * len(questions):
            raise error_in_body(answer, self._api.hidden_in, self.name)
        answers = [_without_key(_openai_answer(one), self._api.redacted) for one in given]
        used = _usage(answer.get("usage"), ("input_tokens_details", "cached_tokens"), self.vendor, self.model)
        return answers, used


class LangChainDecisionModel:
    """Decision model of langchain-core 1.8 and later (``langchain_core.decisions.BaseDecisionModel``).

    Its calls are not runs of the application that contains them, and are not traced.

    Args:
        decision_model: the LangChain object, such as ``langchain_openai.OpenAIDecisions``.
    """

    vendor = "langchain"

    def __init__(self, decision_model: Any) -> None:
        self._key = Key(None, None, "")
        self._key.also_hide(secrets_of_object(decision_model))
        self._decision_model = decision_model
        self.model = str(getattr(decision_model, "model", type(decision_model).__name__))
        self.price_vendor = vendor_inside(decision_model) or self.vendor
        inside = identity_of_object(decision_model)
        self.address, self.answer_settings, self.has_identity = inside.address, inside.settings, inside.known

    @property
    def name(self) -> str:
        return f"{self.vendor}:{self.model}"

    @property
    def identity(self) -> tuple[object, ...]:
        """Identity of the object itself. Critics that ask the same object share its limits."""
        return (self.vendor, ObjectId.of(self._decision_model))

    async def decide(self, text: str, questions: Sequence[Question]) -> tuple[Sequence[Answer], Usage]:
        from jury_adapters.models.langchain_binding import unheard

        request = {"state": text, "questions": _langchain_questions(questions)}
        try:
            with judging(), unheard():
                response = await self._decision_model.ainvoke(request)
        except (ModelError, asyncio.CancelledError):
            raise
        except Exception as error:
            failure = as_langchain_error(error, as_model_error(error, self._key, self.name))
        else:
            return self._read(response, questions)
        raise failure

    def _read(self, response: Any, questions: Sequence[Question]) -> tuple[Sequence[Answer], Usage]:
        given = getattr(response, "answers", None)
        if not isinstance(given, Mapping):
            raise ModelError(f"{self.name} returned {type(response).__name__}, not answers", "malformed")
        found = [_langchain_answer(given.get(str(i)), question) for i, question in enumerate(questions)]
        answers = [_without_key(answer, self._key.redacted) for answer in found]
        used = _usage(response.usage, ("input_token_details", "cache_read"), self.price_vendor, self.model)
        return answers, used


def _usage(used: object, cached_at: tuple[str, str], vendor: str, model: str) -> Usage:
    """Return the usage of a request. If the answer does not report it, the usage is unknown, not zero.

    Args:
        used: the answer's own counts.
        cached_at: the two keys under which the answer reports the input tokens from the vendor's cache.
        vendor: the vendor in whose price list the model is.
        model: the model's name.
    """
    if not isinstance(used, Mapping) or not used:
        return UNKNOWN_USAGE
    details, cached = cached_at
    inside = used.get(details)
    found = counted(
        lambda: Usage(
            input_tokens=token_count(used.get("input_tokens")),
            output_tokens=token_count(used.get("output_tokens")),
            cached_tokens=token_count(inside.get(cached)) if isinstance(inside, Mapping) else 0,
            calls=1,
        )
    )
    return found if found is UNKNOWN_USAGE else cost_of(found, vendor, model)


def _langchain_questions(questions: Sequence[Question]) -> dict[str, Any]:
    try:
        from langchain_core.decisions import Choice, Noul, Score
    except ImportError as error:
        raise ConfigurationError(
            "decision models need langchain-core 1.8 or newer: pip install -U 'langchain-core>=1.8'"
        ) from error
    asked: dict[str, Any] = {}
    for position, question in enumerate(questions):
        if question.kind == "predicate":
            asked[str(position)] = Noul(instructions=question.text)
        elif question.kind == "choice":
            asked[str(position)] = Choice(instructions=question.text, criteria=dict.fromkeys(question.choices))
        else:
            asked[str(position)] = Score(instructions=question.text, criteria=list(question.choices))
    return asked


def _openai_question(question: Question) -> dict[str, Any]:
    asked: dict[str, Any] = {"type": question.kind, "instructions": question.text}
    if question.kind == "choice":
        asked["choices"] = [{"value": choice} for choice in question.choices]
    elif question.kind == "score":
        asked["levels"] = [{"label": level} for level in question.choices]
    return asked


def _openai_answer(answer: Mapping[str, Any]) -> Answer:
    kind = answer.get("type")
    if kind == "predicate":
        return _predicate(answer.get("probability"))
    if kind in ("choice", "score"):
        named = "value" if kind == "choice" else "label"
        shares = {str(item.get(named)): item.get("probability") for item in answer.get("probabilities") or ()}
        return _distribution(shares, answer.get("confidence"))
    return Answer(refused="the model declined to answer")


def _without_key(answer: Answer, redacted: Callable[[str], str]) -> Answer:
    """Return an answer without the key in its labels, which a judgment may repeat even if the rubric lacks them."""
    return replace(answer, probabilities={redacted(label): share for label, share in answer.probabilities.items()})


def _langchain_answer(answer: Any, question: Question) -> Answer:
    found = answer if isinstance(answer, Mapping) else getattr(answer, "__dict__", {})
    if question.kind == "predicate":
        return _predicate(found.get("noul"))
    shares = found.get("probabilities") or {}
    if question.kind == "score":  # levels are numbered
        shares = {level: shares.get(i, shares.get(str(i), 0.0)) for i, level in enumerate(question.choices)}
    return _distribution(shares, found.get("confidence"))


def _predicate(probability: object) -> Answer:
    if not _is_share(probability):
        return Answer(refused="no probability in the answer")
    yes = float(probability)  # type: ignore[arg-type]
    return Answer({"yes": yes, "no": 1.0 - yes}, confidence=max(yes, 1.0 - yes))


def _distribution(shares: Mapping[str, object], confidence: object) -> Answer:
    if not shares or not all(_is_share(share) for share in shares.values()):
        return Answer(refused="no probabilities in the answer")
    sure = float(confidence) if _is_share(confidence) else None  # type: ignore[arg-type]
    return Answer({label: float(share) for label, share in shares.items()}, confidence=sure)  # type: ignore[arg-type]


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value <= 1.0
