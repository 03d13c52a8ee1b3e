"""Warnings about keys of an input that are probably misspelt fields of a case."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from jury_adapters.core.case import Case
from jury_adapters.core.column_checks import has_field, meant_field
from jury_adapters.core.errors import plain_repr
from jury_adapters.core.field_names import ALIASES, FIELD_NAMES, FORMAT_COLUMNS, METADATA_NAMES, PAIRS
from jury_adapters.core.unnamed_answer import names_an_answer

_log = logging.getLogger(__name__)
_MOST_REPORTED = 20
_NAMES = frozenset(name for names in FIELD_NAMES.values() for name in names.in_its_part)
_KNOWN = frozenset({*Case.model_fields, *_NAMES, *METADATA_NAMES, *FORMAT_COLUMNS, *PAIRS})


class MisspeltKeys:
    """Check of the keys of inputs that are mappings; each key is reported once."""

    __slots__ = ("_seen",)

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def tell(self, value: object, case: Case, name: str) -> None:
        """Log a warning for each key that is similar to a field, and was not read as it, or only as the one text.

        Args:
            value: the input; only a mapping is checked.
            case: the case that was read from it.
            name: the name of the runnable.
        """
        given = value if isinstance(value, Mapping) and len(self._seen) < _MOST_REPORTED else {}
        for key, text in given.items():
            if not isinstance(key, str) or key in self._seen or key in _KNOWN:
                continue
            self._seen.add(key)
            meant = meant_field(key)
            field = ALIASES.get(meant, meant)
            if meant and field == "answer" and case.answer == text and not names_an_answer(key):
                _log.warning(
                    "%s: the key %s of the input is taken as the answer, because it is the only text. Did you mean %r?",
                    name, plain_repr(key), meant,
                )  # fmt: skip
            elif meant and not has_field(case, field):
                _log.warning(
                    "%s: the key %s of the input means nothing here. Did you mean %r?", name, plain_repr(key), meant
                )
