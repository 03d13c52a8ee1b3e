"""Parsing of model replies in the terms of this API: any label, a confidence, reasons."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from jury_adapters.compat.cross_judge._bridge import PARSE_FAIL
from jury_adapters.core.judgment import Judgment, abstain
from jury_adapters.core.values import JsonValue, clean_text
from jury_adapters.critic.parse_json import JsonObject, find_objects, read_json
from jury_adapters.critic.thinking import Body, ends_thinking, without_thinking

_LONGEST_QUOTE, _LONGEST_REASONS = 300, 1000


@dataclass(frozen=True)
class Keys:
    """Keys of the label and the reasons in a reply, the preferred ones first."""

    label: tuple[str, ...]
    reasons: tuple[str, ...]


CRITIC_KEYS = Keys(("kind", "verdict"), ("reasoning", "rationale"))
REVIEWER_KEYS = Keys(("verdict",), ("rationale",))


def judgment_from(text: str, keys: Keys) -> Judgment:
    """Return the judgment in a reply: a label that votes, or an abstention if there is no JSON object in it.

    Args:
        text: the reply, not blank.
        keys: the keys of the label and the reasons.
    """
    found = _object_in(text, keys)
    if found is None:
        return abstain(text[:_LONGEST_QUOTE], error=PARSE_FAIL, raw_response=text)
    return Judgment(
        None,
        label=_text(found, keys.label, "UNCLEAR").strip().upper(),
        confidence=_confidence(found.get("confidence")),
        reasoning=_text(found, keys.reasons, "")[:_LONGEST_REASONS],
        raw_response=text,
    )


def _object_in(text: str, keys: Keys) -> JsonObject | None:
    """Return the object from the first brace to the last; else the one whose label no other object contradicts."""
    start, end = text.find("{"), text.rfind("}")
    if end <= start or start < 0:
        return None
    _, whole = read_json(text[start : end + 1])
    if isinstance(whole, Mapping):
        return whole
    repeated = _with_repeated_keys(text[start : end + 1], keys)
    if repeated is not None:
        return repeated
    body = without_thinking(text) if ends_thinking(text) else Body(text)
    found = find_objects(body.text) if isinstance(body, Body) else None
    if found is None or found.problem:
        return None
    objects = [each.value for each in found.objects]
    labelled = [value for value in objects if any(value.get(key) is not None for key in keys.label)]
    if labelled:
        labels = {_text(value, keys.label, "") for value in labelled}
        return labelled[-1] if len(labels) == 1 else None
    return objects[0] if len(objects) == 1 else None


def _with_repeated_keys(text: str, keys: Keys) -> JsonObject | None:
    """Return a JSON object in which the last value of a key counts; None if two values of one label key differ."""

    def joined(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
        for key in keys.label:
            if len({str(value) for name, value in pairs if name == key}) > 1:
                raise ValueError("two labels")
        return {name: clean_text(value) if isinstance(value, str) else value for name, value in pairs}

    try:
        found = json.loads(text, object_pairs_hook=joined)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _text(found: JsonObject, keys: tuple[str, ...], default: str) -> str:
    """Return the first value that is not missing or null, as text."""
    return next((str(found[key]) for key in keys if found.get(key) is not None), default)


def _confidence(value: JsonValue) -> float:
    """Return a number within 0..1, which may also be text; 0.0 for anything else."""
    try:
        number = float(value) if isinstance(value, bool | int | float | str) else 0.0
    except ValueError:
        return 0.0
    except OverflowError:  # an integer too large for a float
        number = math.copysign(math.inf, 1 if isinstance(value, int) and value > 0 else -1)
    return 0.0 if math.isnan(number) else min(max(number, 0.0), 1.0)
