"""Prompt templates of this API: those of ``str.format``, but without a way into objects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from string import Formatter

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.critic.template import Template

_ITEMS = re.compile(r"(?:\[[^][]+\])*")
_PATH = re.compile(r"(?:\.\w+|\[[^][]+\])*")


def check_template(template: str) -> None:
    """Refuse a template that reads attributes.

    Raises:
        ConfigurationError: it does; the message says which and what to write instead.
    """
    for name, path in _fields(template) or ():
        if _is_placeholder(name, path):
            _check_path(name, path)


def render_template(template: str, values: Mapping[str, object]) -> str:
    """The template with its values.

    A template that ``str.format`` can read is read as it reads it: ``{query}``, ``{score:.2f}``, ``{row[name]}``, and
    ``{{`` for a brace. In any other, such as one that shows JSON with single braces, ``{name}`` is a placeholder and
    every other brace is text.

    Raises:
        ConfigurationError: the template reads attributes.
        KeyError: a placeholder without a value. It is the exception that callers of this API know.
    """
    fields = _fields(template)
    try:
        if fields is not None and all(name in values or _is_placeholder(name, path) for name, path in fields):
            for name, path in fields:
                _check_path(name, path)
            return template.format_map(values)
        check_template(template)
        plain = Template(template)
        return plain.render({name: str(values[name]) for name in plain.names})
    except KeyError as error:
        raise KeyError(
            f"prompt_template missing required key {error} in context. Provided keys: {sorted(map(str, values))}"
        ) from error


def _is_placeholder(name: str, path: str) -> bool:
    """Whether braces around this are meant for a value, and not for JSON or prose."""
    return name.isidentifier() and _PATH.fullmatch(path) is not None


def _check_path(name: str, path: str) -> None:
    if not _ITEMS.fullmatch(path):
        raise ConfigurationError(
            f"the prompt template reads {{{name}{path}}}: an attribute can lead to keys and to everything else in the "
            "process. Give the value itself a name in context=, and write that"
        )


def _fields(template: str) -> list[tuple[str, str]] | None:
    """The fields of a template of ``str.format``: names, and what is read of them; None when it is no such template."""
    try:
        return list(_walk(template))
    except ValueError:  # braces that do not pair up
        return None


def _walk(template: str) -> Iterator[tuple[str, str]]:
    for _, field, spec, conversion in Formatter().parse(template):
        if field is not None:
            if conversion not in (None, "r", "s", "a"):
                raise ValueError(f"no conversion: {conversion}")
            name = re.split(r"[.\[]", field, maxsplit=1)[0]
            yield name, field[len(name) :]
            yield from _walk(spec or "")
