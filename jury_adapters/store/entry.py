"""What a store keeps of a judgment, and the rows it stands in."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import NamedTuple

from jury_adapters.core.bounded_cache import BoundedCache
from jury_adapters.core.case import Case
from jury_adapters.core.errors import InputError
from jury_adapters.core.journal import JournalKey
from jury_adapters.core.judgment import Judgment


@dataclass(frozen=True, slots=True)
class Entry:
    """One recorded judgment with the key under which it stands."""

    key: JournalKey
    judgment: Judgment


class Write(NamedTuple):
    """A judgment on its way into a store: what stands in its two rows.

    Attributes:
        key: under which it will stand.
        case: the case's text.
        judgment: the judgment's text.
        status: its status, or None where it has none.
        created_at: when it set out, in seconds since 1970.
    """

    key: JournalKey
    case: str
    judgment: str
    status: str | None
    created_at: float

    @classmethod
    def of(cls, key: JournalKey, case: Case, judgment: Judgment) -> Write:
        """The rows as of now, plain ASCII. A case's metadata is left out: it is the user's own and may be private."""
        status = None if judgment.status is None else str(judgment.status)
        return cls(key, _case_text(case), judgment.to_json(), status, time.time())


def _case_text(case: Case) -> str:
    """Return the case as JSON; the jurors of a panel record the same case at about the same time, so it is kept."""
    kept = _CASE_TEXTS.get(id(case))
    if kept is not None:
        return kept[1]
    text = json.dumps(case.model_dump(mode="json", exclude_defaults=True, exclude={"metadata"}))
    if len(text) <= _LONGEST_KEPT:
        _CASE_TEXTS.put(id(case), (case, text))
    return text


def judgment_of(text: str, where: str) -> Judgment:
    """Read a judgment back.

    Raises:
        InputError: the text is no judgment any more; the message says where it stands and what to do.
    """
    try:
        return Judgment.from_json(text)
    except ValueError as error:
        raise _damaged(where, "judgment") from error


def case_of(text: str, where: str) -> Case:
    """Read a case back.

    Raises:
        InputError: as in :func:`judgment_of`.
    """
    try:
        return Case.model_validate(json.loads(text))
    except ValueError as error:
        raise _damaged(where, "case") from error


# By the identity of the case, which is kept too, so that its id stays its own.
_CASE_TEXTS: BoundedCache[int, tuple[Case, str]] = BoundedCache(256)
_LONGEST_KEPT = 50_000  # characters, so that the texts take some 13 MB at most


def _damaged(where: str, what: str) -> InputError:
    return InputError(f"{where} holds a {what} that cannot be read; it is damaged: restore a copy")
