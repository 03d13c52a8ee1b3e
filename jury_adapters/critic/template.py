"""Prompt templates: text with ``{name}`` in it, and nothing cleverer than that."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from jury_adapters.core.errors import ConfigurationError, unknown

# Doubled braces around a name come first, so that `{{answer}}` is never read as a brace and a placeholder.
_FIELD = re.compile(r"\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True)
class Template:
    """Text with placeholders of plain names, such as ``{answer}``.

    Any other brace is an ordinary character: ``{"score": 4}``, ``{}``, ``{a.b}``, ``{a[0]}`` and ``{a!r}`` stay as they
    are, so a prompt may show JSON or code. To write ``{answer}`` itself, double its braces: ``{{answer}}``. Values are
    put in in one pass: a value that contains ``{answer}`` stays text.

    Args:
        text: the template.
        known: the names that may stand in it; None allows every name.

    Raises:
        ConfigurationError: a placeholder that is not known; the message lists those that are.

    >>> Template('{name} says {"a": 1} and {{name}}').render({"name": "{other}"})
    '{other} says {"a": 1} and {name}'
    """

    text: str
    known: Collection[str] | None = None

    def __post_init__(self) -> None:
        known = self.known
        if known is None:
            return
        for name in self.names:
            if name not in known:
                raise ConfigurationError(f"{unknown('placeholder', name, known)} To write it as text: {{{{{name}}}}}")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The placeholders, each once, in the order in which they appear."""
        return tuple(dict.fromkeys(match[2] for match in _FIELD.finditer(self.text) if match[2]))

    def render(self, values: Mapping[str, str]) -> str:
        """Put the values in.

        Raises:
            ConfigurationError: a placeholder without a value.
        """
        missing = [name for name in self.names if name not in values]
        if missing:
            raise ConfigurationError(f"the template needs a value for {', '.join(missing)}")
        return _FIELD.sub(lambda match: values[match[2]] if match[2] else f"{{{match[1]}}}", self.text)
