"""Description of a judge in one line, for notebooks, debuggers and error messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from jury_adapters.core.secrets import without_keys
from jury_adapters.core.values import shown

Traits = Mapping[str, "str | Sequence[str]"]


class Named(Protocol):
    """Part of the judge interface that holds the name."""

    @property
    def name(self) -> str: ...


_LISTED = 5  # members that are listed by name; the others are counted
_LONGEST = 60  # maximum number of characters of one name


def described(judge: Named, traits: Callable[[], Traits]) -> str:
    """Return one line of bounded length with the class of a judge, its name if it has its own, and its traits.

    Args:
        judge: the judge.
        traits: returns further values by name: texts, or lists of which the first entries are shown. Empty values are
            left out.

    >>> from jury_adapters.checks import NotEmpty
    >>> described(NotEmpty().named("empty?"), lambda: {"members": list("abcdefg")})
    "NotEmpty('empty?', members=['a', 'b', 'c', 'd', 'e' and 2 more])"
    """
    kind = type(judge).__name__
    parts = [] if judge.name in ("", kind) else [quoted(judge.name)]
    try:
        parts += [f"{name}={_listed(value)}" for name, value in traits().items() if value]
    except Exception:  # the judge may not be initialised yet
        parts.append("...")
    return f"{kind}({', '.join(parts)})"


def names_of(judges: Sequence[Named]) -> list[str]:
    """Return the names of judges inside a jury."""
    return [judge.name or f"Judge#{position}" for position, judge in enumerate(judges, start=1)]


def model_of(judge: object) -> str:
    """Return the name of the model that a judge asks; empty if it has no model with a name."""
    model = getattr(judge, "model", None)
    name = model if isinstance(model, str) else getattr(model, "name", None)
    return name if isinstance(name, str) else ""


def quoted(text: object) -> str:
    """Return a text in quotes on one line; API keys are redacted before the text is cut."""
    plain = without_keys(shown(text))
    return repr(plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…")


def _listed(value: str | Sequence[str]) -> str:
    if isinstance(value, str):
        return quoted(value)
    more = f" and {len(value) - _LISTED} more" if len(value) > _LISTED else ""
    return f"[{', '.join(map(quoted, value[:_LISTED]))}{more}]"
