"""Rows of a store, and the conversion of judgments and cases to their texts."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import NamedTuple

from jury_adapters.core.bounded_cache import BoundedCache
from jury_adapters.core.cache import CacheKey
from jury_adapters.core.case import Case
from jury_adapters.core.errors import InputError
from jury_adapters.core.judgment import Judgment


@dataclass(frozen=True, slots=True)
class Entry:
    """Recorded judgment with its key."""

    key: CacheKey
    judgment: Judgment


class Write(NamedTuple):
    """Rows of a judgment that is about to be recorded.

    Attributes:
        key: the judgment's key.
        case: the case's text.
        judgment: the judgment's text.
        status: its status, or None if it has none.
        created_at: the time of its creation, in seconds since 1970.
    """

    key: CacheKey
    case: str
    judgment: str
    status: str | None
    created_at: float

    @classmethod
    def of(cls, key: CacheKey, case: Case, judgment: Judgment) -> Write:
        """Create the rows as of now, in plain ASCII, without the case's metadata, which may be private."""
        status = None if judgment.status is None else str(judgment.status)
        return cls(key, _case_text(case), judgment.to_json(), status, time.time())


def _case_text(case: Case) -> str:
    """Return the case as JSON. The text is cached, because jurors of a panel record a case at about one time."""
    kept = _CASE_TEXTS.get(id(case))
    if kept is not None:
        return kept[1]
    text = json.dumps(case.model_dump(mode="json", exclude_defaults=True, exclude={"metadata"}))
    if len(text) <= _LONGEST_KEPT:
        _CASE_TEXTS.put(id(case), (case, text))
    return text


def judgment_of(text: str, where: str) -> Judgment:
    """Read a judgment from its text.

    Raises:
        InputError: the text is not a valid judgment; the message names the store and says what to do.
    """
    try:
        return Judgment.from_json(text)
    except ValueError as error:
        raise _damaged(where, "judgment") from error


def case_of(text: str, where: str) -> Case:
    """Read a case from its text.

    Raises:
        InputError: as in :func:`judgment_of`.
    """
    try:
        return Case.model_validate(json.loads(text))
    except ValueError as error:
        raise _damaged(where, "case") from error


# By the id of the case, which is kept too, so that its id is not reused.
_CASE_TEXTS: BoundedCache[int, tuple[Case, str]] = BoundedCache(256)
_LONGEST_KEPT = 50_000  # characters; this bounds the texts at about 13 MB


def _damaged(where: str, what: str) -> InputError:
    return InputError(f"{where} holds a {what} that cannot be read; it is damaged: restore a copy")
