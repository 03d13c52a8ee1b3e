"""Field maps: places of the fields of a case in rows with names that the package does not know."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, TypeAlias

from jury_adapters.core.errors import ConfigurationError, InputError, plain_repr, unknown
from jury_adapters.core.field_names import FIELD_NAMES, METADATA_NAMES

FieldMapLike: TypeAlias = "Mapping[str, str] | Callable[[Mapping[str, Any]], Any] | FieldMap"
"""Field map as users write it: paths by field, or a function from a row to a case."""


class UnknownPath(InputError):
    """Error for a path that does not exist in a row.

    Args:
        message: the message.
        kind: text that is the same for all rows that lack the same part of the path.

    Attributes:
        kind: the same.
    """

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


class FieldMap:
    """Mapping from fields of a case to their paths in a row.

    A path is the exact name of a column (``"User Question"``, ``"Question [en]"``, ``"_reply"``), or a sequence of
    names and positions (``"outputs.messages[-1].content"``). If a row has a column with exactly that name, the column
    is used. Fields that the map does not name are read as usual. The documents of a retriever (``retrieved_ids``,
    ``relevant_ids``, ``relevant_contexts``) are mapped like fields, and become entries of the metadata.

    Args:
        paths: the path of each field.

    Raises:
        ConfigurationError: a field is not a field of a case, or a path is empty or not a text.

    >>> FieldMap({"question": "User Question"}).apply({"User Question": "2 + 2?", "id": 1})
    {'id': 1, 'question': '2 + 2?'}
    """

    __slots__ = ("_paths",)

    def __init__(self, paths: Mapping[str, str]) -> None:
        for field, path in paths.items():
            if field not in _FIELDS:
                raise ConfigurationError(f"field_map: {unknown('field of a case', field, _FIELDS)}")
            if not isinstance(path, str) or not path:
                raise ConfigurationError(
                    f"field_map: {field} is found by a column or a path, not by {plain_repr(path)}"
                )
        self._paths = dict(paths)

    @classmethod
    def parse(cls, items: Sequence[str]) -> FieldMap:
        """Return the field map for ``FIELD=PATH`` texts, as on a command line.

        Raises:
            ConfigurationError: a text has another form, a field is given twice, or a field or path is invalid (see the
                class).
        """
        paths: dict[str, str] = {}
        for item in items:
            field, equals, path = item.partition("=")
            if not equals or not field.strip() or not path.strip():
                raise ConfigurationError(
                    f"a field is mapped as FIELD=PATH, such as answer=reply; not {plain_repr(item)}"
                )
            if field.strip() in paths:
                raise ConfigurationError(f"the field {plain_repr(field.strip())} is mapped twice")
            paths[field.strip()] = path.strip()
        return cls(paths)

    def apply(self, row: Mapping[str, Any], *, missing_ok: bool = False) -> dict[str, Any]:
        """Return the row with each mapped field under its own name.

        Other columns that name a mapped field keep their names, but the mapped value has priority.

        Args:
            row: the row.
            missing_ok: whether a path that does not exist is a missing value, as in the row of a run that failed.

        Raises:
            InputError: a path does not exist in this row, or is neither one of its columns nor a valid path.
        """
        values = self.values(row, missing_ok=missing_ok)
        columns = set(self._paths.values())
        missing = {name for field, value in values.items() if value is None for name in _names_of(field)}
        rest = {name: value for name, value in row.items() if name not in columns and name not in missing}
        return {**rest, **{field: value for field, value in values.items() if value is not None}}

    def values(self, row: Mapping[str, Any], *, missing_ok: bool = False) -> dict[str, Any]:
        """Return the value of each mapped field; the arguments are as for :meth:`apply`.

        Raises:
            InputError: as for :meth:`apply`.
        """
        return {
            field: None if missing_ok and not _exists(path, row) else row[path] if path in row else _at(path, row)
            for field, path in self._paths.items()
        }

    def known_in(self, row: Mapping[str, Any]) -> FieldMap:
        """Return the map with only the paths that exist in a row.

        >>> FieldMap({"answer": "reply", "id": "ticket"}).known_in({"reply": "4"})
        FieldMap({'answer': 'reply'})
        """
        return FieldMap({field: path for field, path in self._paths.items() if _exists(path, row)})

    @property
    def paths(self) -> dict[str, str]:
        """The path of each field, as given."""
        return dict(self._paths)

    def __repr__(self) -> str:
        return f"FieldMap({self.paths})"


CheckedFieldMap: TypeAlias = "FieldMap | Callable[[Mapping[str, Any]], Any] | None"
"""Field map after validation, as adapters keep it."""


def field_map_of(given: FieldMapLike | None) -> CheckedFieldMap:
    """Return a validated field map; call it once for all rows.

    Raises:
        ConfigurationError: it is neither a mapping nor a function, or it is invalid (see :class:`FieldMap`).
    """
    if given is None or isinstance(given, FieldMap):
        return given
    if isinstance(given, Mapping):
        return FieldMap(given)
    if callable(given):
        return given
    raise ConfigurationError(
        "field_map is a mapping such as {'answer': 'outputs.reply'} or a function from a row to a Case; "
        f"not {plain_repr(given)}"
    )


def _names_of(field: str) -> tuple[str, ...]:
    return FIELD_NAMES[field].everywhere if field in FIELD_NAMES else (field,)


def _exists(path: str, row: Mapping[str, Any]) -> bool:
    if path in row:
        return True
    try:
        _at(path, row)
    except ConfigurationError:
        return False
    return True


def _at(path: str, row: Mapping[str, Any]) -> object:
    try:
        steps = Path(path)
    except ConfigurationError as error:
        missing = f"there is no column {plain_repr(path)}"
        near = _near(path, row)
        unread = f", and as a path it cannot be read: {error}"
        raise UnknownPath(f"{missing}.{near}" if near else missing + unread, missing) from None
    return steps(row)


class Path:
    """Path of names and positions to a value, which is followed without evaluating or calling anything.

    A name is a key of a mapping, or a public attribute of another object that is not a method.

    Args:
        text: the path, such as ``"messages[-1].content"``.

    Raises:
        ConfigurationError: the text is not a path.

    >>> Path("messages[-1].content")({"messages": [{"content": "Hello"}]})
    'Hello'
    """

    __slots__ = ("_steps", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._steps = _steps(text)

    def __call__(self, value: object) -> object:
        """Return the value at the end of the path.

        Raises:
            InputError: the path does not exist; the message says at which name, and what is there instead.
        """
        for step in self._steps:
            value = self._inside(value, step)
        return value

    def _inside(self, value: object, step: str | int) -> object:
        if isinstance(step, int):
            if isinstance(value, Sequence) and not isinstance(value, str) and -len(value) <= step < len(value):
                return value[step]
        elif isinstance(value, Mapping):
            if step in value:
                return value[step]
        elif not step.startswith("_"):
            found = getattr(value, step, _MISSING)
            if found is not _MISSING and not callable(found):
                return found
        missing = f"the path {plain_repr(self._text)} leads nowhere: no {plain_repr(step)}"
        near = _near(step, value) if isinstance(step, str) and isinstance(value, Mapping) else ""
        raise UnknownPath(f"{missing} in {_described(value)}{near and '.'}{near}", missing)


def _steps(text: str) -> tuple[str | int, ...]:
    steps: list[str | int] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None or (match["name"] and position > 0 and not match["dot"]) or (match["dot"] and position == 0):
            break
        name = match["name"] or match["quoted"]
        if match["name"] and match["name"].startswith("_"):
            raise ConfigurationError(
                f"the path {plain_repr(text)} names {plain_repr(match['name'])}; names with an underscore are private"
            )
        steps.append(int(match["position"]) if name is None else name)
        position = match.end()
    if not steps or position < len(text):
        raise ConfigurationError(f"{plain_repr(text)} is not a path; write names and positions: 'messages[-1].content'")
    return tuple(steps)


def _near(name: str, known: Mapping[Any, Any]) -> str:
    """Return the question whether the name in a mapping that is most like this one is meant; empty without one."""
    by_key = {str(key).casefold(): str(key) for key in known}
    close = get_close_matches(name.casefold(), by_key, n=1, cutoff=_ALIKE)
    return f" Did you mean {plain_repr(by_key[close[0]])}?" if close else ""


def _described(value: object) -> str:
    if isinstance(value, Mapping):
        names = sorted(name for name in map(str, value) if name.strip())
        return f"a mapping with {', '.join(names[:20]) or 'nothing in it'}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"{type(value).__name__} of {len(value)}"
    return type(value).__name__


_STEP = re.compile(
    r"""(?P<dot>\.)?(?P<name>[^.\[\]'"]+)|\[(?P<position>-?\d{1,9})\]|\[(?P<quote>['"])(?P<quoted>.+?)(?P=quote)\]"""
)
_ALIKE: Final = 0.7
_MISSING: Final = object()
_FIELDS: Final = (*FIELD_NAMES, *dict.fromkeys(METADATA_NAMES.values()))
