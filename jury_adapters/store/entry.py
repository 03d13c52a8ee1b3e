"""What a store keeps of a judgment, and the rows it stands in."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import NamedTuple

from jury_adapters.core.case import Case
from jury_adapters.core.errors import InputError
from jury_adapters.core.journal import JournalKey
from jury_adapters.core.judgment import Judgment, Status


@dataclass(frozen=True, slots=True)
class Entry:
    """One recorded judgment with the key under which it stands."""

    key: JournalKey
    judgment: Judgment


class Write(NamedTuple):
    """A judgment on its way into a store: the texts of its two rows."""

    key: JournalKey
    case: str
    judgment: str
    status: Status | None

    @classmethod
    def of(cls, key: JournalKey, case: Case, judgment: Judgment) -> Write:
        """The rows' texts, plain ASCII. A case's metadata is left out: it is the user's own and may be private."""
        content = json.dumps(case.model_dump(mode="json", exclude_defaults=True, exclude={"metadata"}))
        return cls(key, content, judgment.to_json(), judgment.status)


def judgment_of(text: str, where: str) -> Judgment:
    """Read a judgment back.

    Raises:
        InputError: the text is no judgment any more; the message says where it stands and what to do.
    """
    try:
        return Judgment.from_json(text)
    except ValueError as error:
        raise InputError(f"{where} holds a judgment that cannot be read; it is damaged: restore a copy") from error
