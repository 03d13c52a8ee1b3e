"""Misspelt keywords of ``evaluate()``, which would otherwise become metadata of the case without a word."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from jury_adapters.core.errors import ConfigurationError


def refuse_misspelt(unknown: Mapping[str, object], given: Collection[str]) -> None:
    """Refuse a keyword that differs by one letter, or only in its capitals, from an argument that is not given.

    Other unknown keywords are metadata: runners pass every keyword to every evaluator. A plural, such as
    ``references=["a", "b"]``, counts as a name of its own, unless its value is one text.

    Args:
        unknown: the keywords that are not fields of a case, with their values.
        given: the fields that are given, and the names of other arguments.

    Raises:
        ConfigurationError: there is such a keyword; the message names the argument.
    """
    for name, value in unknown.items():
        for argument, field in _ARGUMENTS.items():
            plural = name == f"{argument}s" and not isinstance(value, str)
            if field not in given and not plural and (name.lower() == argument or _one_edit(name, argument)):
                raise ConfigurationError(f"unknown argument {name!r}. Did you mean {argument!r}?")


def _one_edit(name: str, other: str) -> bool:
    """Whether two names with the same first letter differ by one letter, or by two neighbours that changed places."""
    if name[:1] != other[:1] or name == other:
        return False
    start = next((at for at, (a, b) in enumerate(zip(name, other, strict=False)) if a != b), min(len(name), len(other)))
    one, two = name[start:], other[start:]
    while one and two and one[-1] == two[-1]:
        one, two = one[:-1], two[:-1]
    return max(len(one), len(two)) == 1 or (len(one) == 2 and one == two[::-1])


_OTHERS = (
    "question", "answer", "contexts", "reference", "second_response", "candidates", "generator", "trajectory",
    "messages", "image_paths", "image_urls", "sleep_time_in_seconds",
)  # fmt: skip
_ARGUMENTS: Final = {"query": "question", "response": "answer", **{name: name for name in _OTHERS}}
