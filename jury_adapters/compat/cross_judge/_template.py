"""Prompt templates of this API: those of ``str.format``, but without access to objects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from string import Formatter

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.critic.template import Template

_ITEMS = re.compile(r"(?:\[[^][]+\])*")
_PATH = re.compile(r"(?:\.\w+|\[[^][]+\])*")


def check_template(template: str) -> None:
    """Refuse a template that reads attributes, or whose braces are no placeholders, such as ``"Judge: {query"``.

    Raises:
        ConfigurationError: it does; the message names the attribute and the alternative. Or there is no placeholder
            among its braces.
    """
    fields = _fields(template)
    if fields is None and not Template(template).names:
        raise ConfigurationError(
            "the prompt template has braces, but no placeholder that can be read, so the model would not see the query;"
            " write {query}"
        )
    for name, path in fields or ():
        if _is_placeholder(name, path):
            _check_path(name, path)


def render_template(template: str, values: Mapping[str, object]) -> str:
    """Return the template with its values.

    A template that is valid for ``str.format`` is read in the same way: ``{query}``, ``{score:.2f}``, ``{row[name]}``,
    and ``{{`` for a brace. In any other template, such as one with JSON in single braces, ``{name}`` is a placeholder
    and every other brace is text.

    Raises:
        ConfigurationError: the template reads attributes, or has no placeholder among its braces.
        KeyError: a placeholder has no value. Callers of this API expect this exception.
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
    """Whether a field in braces is meant for a value, and not JSON or prose."""
    return name.isidentifier() and _PATH.fullmatch(path) is not None


def _check_path(name: str, path: str) -> None:
    if not _ITEMS.fullmatch(path):
        raise ConfigurationError(
            f"the prompt template reads {{{name}{path}}}: an attribute can lead to keys and to everything else in the "
            "process. Give the value itself a name in context=, and write that"
        )


def _fields(template: str) -> list[tuple[str, str]] | None:
    """Return the names and paths of the fields of a ``str.format`` template; None if it is not a valid one."""
    try:
        return list(_walk(template))
    except ValueError:  # unbalanced braces
        return None


def _walk(template: str) -> Iterator[tuple[str, str]]:
    for _, field, spec, conversion in Formatter().parse(template):
        if field is not None:
            if conversion not in (None, "r", "s", "a"):
                raise ValueError(f"no conversion: {conversion}")
            name = re.split(r"[.\[]", field, maxsplit=1)[0]
            yield name, field[len(name) :]
            yield from _walk(spec or "")
