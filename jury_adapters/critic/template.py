"""Prompt templates: text with ``{name}`` placeholders and no other syntax."""

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

    All other braces are ordinary characters: ``{"score": 4}``, ``{}``, ``{a.b}``, ``{a[0]}`` and ``{a!r}`` are kept, so
    a prompt may show JSON or code. To write ``{answer}`` itself, double its braces: ``{{answer}}``. All values are
    inserted in one pass, so a value that contains ``{answer}`` stays text.

    Args:
        text: the template.
        known: the allowed names; None allows every name.

    Raises:
        ConfigurationError: a placeholder is unknown; the message lists the known ones.

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
        """Placeholders, each once, in the order in which they appear."""
        return tuple(dict.fromkeys(match[2] for match in _FIELD.finditer(self.text) if match[2]))

    def render(self, values: Mapping[str, str]) -> str:
        """Return the text with the values in place of the placeholders.

        Raises:
            ConfigurationError: a placeholder has no value.
        """
        missing = [name for name in self.names if name not in values]
        if missing:
            raise ConfigurationError(f"the template needs a value for {', '.join(missing)}")
        return _FIELD.sub(lambda match: values[match[2]] if match[2] else f"{{{match[1]}}}", self.text)
