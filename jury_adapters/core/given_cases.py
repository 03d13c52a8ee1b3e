"""Cases that a caller gives as a whole, for functions that look at all of them before anything is judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr


def given_cases(cases: Iterable[Case | Mapping[str, object]]) -> tuple[Case, ...]:
    """Return cases, of which some may be mappings of fields.

    Raises:
        ConfigurationError: the cases are a path or a single case, or one of them is neither a case nor a mapping of
            the fields of a case.

    >>> given_cases([{"answer": "4"}])[0].answer
    '4'
    """
    if isinstance(cases, str | bytes | PathLike | Case | Mapping):
        raise ConfigurationError(
            f"cases are a list of Case objects, not {plain_repr(cases)[:80]}; a file is read with "
            "[Case.from_row(row) for row in rows]"
        )
    found = []
    for place, one in enumerate(cases, start=1):
        if not isinstance(one, Case | Mapping):
            raise ConfigurationError(f"case {place} is a Case or a mapping of its fields, not {plain_repr(one)[:80]}")
        found.append(Case.of(one, {}))
    return tuple(found)
