"""Attributes of a span: the ``gen_ai.*`` names of OpenTelemetry's conventions, and ours under ``jury_adapters.*``.

The conventions for generative AI are still changing, so their names are literals here instead of imports.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import TypeAlias
from urllib.parse import urlsplit

from opentelemetry.util.types import AttributeValue

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ModelError
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.secrets import error_code, without_keys
from jury_adapters.core.verdict import Verdict
from jury_adapters.core.verdict_facts import case_score
from jury_adapters.models.addresses import address_of
from jury_adapters.models.base import Prompt, Reply
from jury_adapters.models.calls import Request, usage_of
from jury_adapters.vendors import VENDORS

Attributes: TypeAlias = dict[str, AttributeValue]

# The conventions' names of vendors, if they differ from ours.
_PROVIDERS = {name: vendor.provider_name for name, vendor in VENDORS.items() if vendor.provider_name is not None}


def of_judgment(judgment: Judgment, content: bool) -> Attributes:
    """Return the attributes of a judgment in the conventions' terms; for a verdict, also how the jury reached it.

    Args:
        judgment: the judgment.
        content: whether to include the reasons, which quote what was judged.
    """
    status, usage = judgment.status, judgment.usage
    found: dict[str, AttributeValue | None] = {
        "gen_ai.evaluation.name": judgment.critic or "jury",
        "gen_ai.evaluation.score.value": case_score(judgment),
        "gen_ai.evaluation.score.label": str(judgment.label if status is None else status).lower(),
        "gen_ai.evaluation.explanation": without_keys(judgment.reasoning) if content and judgment.reasoning else None,
        "jury_adapters.confidence": judgment.confidence,
        "jury_adapters.model": judgment.model,
        "error.type": error_code(judgment.error) if status is Status.ERROR else None,
    }
    if usage.calls:
        found["jury_adapters.calls"] = usage.calls
        found["jury_adapters.cost_usd"] = usage.cost_usd
        found["jury_adapters.cost_complete"] = usage.cost_complete
    if isinstance(judgment, Verdict):
        found |= _of_verdict(judgment)
    return _known(found)


def of_case(case: Case) -> Attributes:
    """Return the attributes of the judged case."""
    texts = {"question": case.question, "answer": case.answer, "reference": case.reference}
    found: dict[str, AttributeValue | None] = {
        f"jury_adapters.case.{name}": without_keys(text) for name, text in texts.items() if text
    }
    found["jury_adapters.case.contexts"] = [without_keys(text) for text in case.contexts or ()] or None
    found["jury_adapters.case.candidates"] = [without_keys(text) for text in case.candidates or ()] or None
    return _known(found)


def of_request(request: Request) -> Attributes:
    """Return the attributes of a request to a model, without any of its text."""
    model, options = request.model, request.options
    # A wrapped model has the name of its framework, and the prices of the vendor of the model inside.
    vendor = str(getattr(model, "price_vendor", "") or getattr(model, "vendor", "") or "_OTHER")
    found: dict[str, AttributeValue | None] = {
        "gen_ai.operation.name": request.operation,
        "gen_ai.provider.name": _PROVIDERS.get(vendor, vendor),
        "gen_ai.request.model": model.model,
        "gen_ai.request.temperature": options.temperature,
        "gen_ai.request.max_tokens": options.max_tokens,
    }
    return _known(found) | _server(address_of(model))


def of_prompt(prompt: Prompt) -> Attributes:
    """Return the text shown to a model, in the conventions' own JSON."""
    turns = [{"role": turn.role, "parts": [_part(turn.text)]} for turn in prompt.turns]
    found: Attributes = {"gen_ai.input.messages": json.dumps(turns)}
    if prompt.system:
        found["gen_ai.system_instructions"] = json.dumps([_part(prompt.system)])
    return found


def of_reply(result: object, content: bool) -> Attributes:
    """Return the attributes of a model's answer: a :class:`Reply`, or a decision model's answers.

    Args:
        result: the answer.
        content: whether to include the text.
    """
    used = usage_of(result)
    counted = used.input_tokens or used.output_tokens  # zeros mean that the server does not count tokens
    found: dict[str, AttributeValue | None] = {
        "gen_ai.usage.input_tokens": used.input_tokens if counted else None,
        "gen_ai.usage.output_tokens": used.output_tokens if counted else None,
        "gen_ai.usage.cache_read.input_tokens": used.cached_tokens or None,
        "gen_ai.usage.reasoning.output_tokens": used.reasoning_tokens or None,
        "jury_adapters.cost_usd": used.cost_usd if used.cost_complete else None,
    }
    if isinstance(result, Reply):
        found["gen_ai.response.model"] = result.model or None
        found["gen_ai.response.id"] = result.request_id
        found["gen_ai.response.finish_reasons"] = [result.finish]
        if content:
            said = {"role": "assistant", "parts": [_part(result.text)], "finish_reason": result.finish}
            found["gen_ai.output.messages"] = json.dumps([said])
    return _known(found)


def of_error(error: BaseException) -> Attributes:
    """Return the kind of an error, never its message; the conventions require few distinct values."""
    if not isinstance(error, ModelError):
        return {"error.type": type(error).__name__}
    status: Attributes = {"http.response.status_code": error.status} if error.status else {}
    return {"error.type": error.kind, **status}


def _of_verdict(verdict: Verdict) -> dict[str, AttributeValue | None]:
    return {
        "jury_adapters.jurors": len(verdict.judgments),
        "jury_adapters.voting": verdict.voting or None,
        "jury_adapters.agreement": verdict.agreement,
        "jury_adapters.agreement_band": verdict.agreement_band,
        "jury_adapters.needs_review": verdict.needs_review,
        "jury_adapters.tied": verdict.tally.tied or None,
        "jury_adapters.same_family": verdict.same_family,
        "jury_adapters.calls_saved": verdict.calls_saved,
        "jury_adapters.skipped": list(verdict.skipped) or None,
        "jury_adapters.tiers": [tier.name for tier in verdict.tiers] or None,
        "jury_adapters.failed_tiers": list(verdict.failed_tiers) or None,
        "jury_adapters.stopped_at": verdict.stopped_at,
        "jury_adapters.decision": verdict.decision,
    }


def _server(address: object) -> Attributes:
    """Return the server's name and port; other parts of an address may be secret."""
    found: Attributes = {}
    if isinstance(address, str):
        with suppress(ValueError):  # an invalid address is reported by the call itself
            parts = urlsplit(address)
            if parts.hostname:
                found["server.address"] = parts.hostname
                found["server.port"] = parts.port or (80 if parts.scheme == "http" else 443)
    return found


def _part(text: str) -> dict[str, str]:
    return {"type": "text", "content": without_keys(text)}


def _known(found: Mapping[str, AttributeValue | None]) -> Attributes:
    return {name: value for name, value in found.items() if value is not None}
