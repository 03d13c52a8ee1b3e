"""Keys that a jury file does not know, and the advice for those that people write instead of the right ones."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic_core import PydanticCustomError

from jury_adapters.config.problems import problem_at
from jury_adapters.core.errors import unknown

_INSTEAD = {
    "judges": "the judges of a jury are `jurors:`, such as jurors: {text: {check: not_empty}}",
    "judge": "a judge has its keys here; only a tier has `judge:`, such as {name: screen, judge: {check: not_empty}}",
    **dict.fromkeys(("jury", "ensemble", "panel"), "a jury has its keys here: `jurors:`, `scorecard:` or `tiers:`"),
    "cascade": "a cascade is `tiers:`, such as tiers: [{name: all, judge: {check: not_empty}}]",
    "screen": "a screen is a check, such as check: names_and_numbers",
    "fallback": "fallbacks are a list, such as fallbacks: [{check: not_empty}]",
    "criteria": 'one sentence is `criterion:`, such as {criterion: "The answer is polite.", model: "ollama:qwen3"}',
    "weights": "a weight is beside its juror or criterion, such as {check: not_empty, weight: 2}",
    "critic": 'a critic is a rubric and a model, such as {rubric: faithfulness, model: "openai:gpt-4o-mini"}',
}
_SECRETS = ("api_key", "apikey", "token", "secret")


def unknown_key(given: Iterable[str], known: Iterable[str]) -> PydanticCustomError | None:
    """Return the problem of the first unknown key; None if there is none."""
    names = list(known)
    for key in given:
        if key in _SECRETS and key not in names:
            return problem_at(
                key,
                "a key does not belong into a file, which is shared and kept; set the environment variable of the "
                "model's vendor, such as OPENAI_API_KEY, and leave this out",
            )
        if key == "gates" and key not in names:
            return problem_at(
                key, "gates belong at the top of a jury file; they are for the verdicts of the whole jury"
            )
        if key == "guarantee" and key not in names:
            return problem_at(key, "a guarantee belongs at the top of a jury file; it is for the whole jury")
        if key not in names and (advised := advice_on(key)) is not None:
            return advised
        if key not in names:
            return problem_at(key, unknown("key", key, names))
    return None


def advice_on(key: str) -> PydanticCustomError | None:
    """Return the problem of a key that people write instead of the right one; None for any other key."""
    return problem_at(key, f"unknown key {key!r}; {_INSTEAD[key]}") if key in _INSTEAD else None
