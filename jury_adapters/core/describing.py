"""The one line that says which judge this is, for a notebook, a debugger and an error message."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from jury_adapters.core.secrets import without_keys
from jury_adapters.core.values import shown

Traits = Mapping[str, "str | Sequence[str]"]


class Named(Protocol):
    """A judge, as far as its name goes."""

    @property
    def name(self) -> str: ...


_LISTED = 5  # members that are named before the others are counted
_LONGEST = 60  # characters of one name


def described(judge: Named, traits: Callable[[], Traits]) -> str:
    """A judge on one line of bounded length: its class, its name where it has one of its own, and its traits.

    Args:
        judge: which one.
        traits: gives what else is told of it: a text, or names of which the first few are. What is empty is not told.

    >>> from jury_adapters import NotEmpty
    >>> described(NotEmpty().named("empty?"), lambda: {"members": list("abcdefg")})
    "NotEmpty('empty?', members=['a', 'b', 'c', 'd', 'e' and 2 more])"
    """
    kind = type(judge).__name__
    told = [] if judge.name in ("", kind) else [quoted(judge.name)]
    try:
        told += [f"{name}={_listed(value)}" for name, value in traits().items() if value]
    except Exception:  # it is looked at while it is being made
        told.append("...")
    return f"{kind}({', '.join(told)})"


def names_of(judges: Sequence[Named]) -> list[str]:
    """What judges are called inside a jury."""
    return [judge.name or f"Judge#{position}" for position, judge in enumerate(judges, start=1)]


def model_of(judge: object) -> str:
    """The name of the model that a judge asks; empty where it has none that says its name."""
    model = getattr(judge, "model", None)
    name = model if isinstance(model, str) else getattr(model, "name", None)
    return name if isinstance(name, str) else ""


def quoted(text: object) -> str:
    """The text in quotes, on one line whatever is in it; a key is blotted out before the text is cut."""
    plain = without_keys(shown(text))
    return repr(plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…")


def _listed(value: str | Sequence[str]) -> str:
    if isinstance(value, str):
        return quoted(value)
    more = f" and {len(value) - _LISTED} more" if len(value) > _LISTED else ""
    return f"[{', '.join(map(quoted, value[:_LISTED]))}{more}]"
