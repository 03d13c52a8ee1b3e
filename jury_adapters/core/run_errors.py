"""Errors of runs of the application, in rows and in cases."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from jury_adapters.core.field_names import METADATA_NAMES
from jury_adapters.core.loose_values import json_text
from jury_adapters.core.unnamed_answer import names_an_answer
from jury_adapters.core.values import is_missing

RUN_ERROR: Final = "run_error"
"""Entry of the metadata of a case and of a judgment: the error with which the run of the application ended."""

_PAUSED = re.compile(r"(NodeInterrupt|GraphInterrupt|GraphBubbleUp|ParentCommand)\b")


def error_in(row: Mapping[str, object]) -> str | None:
    """Return the text in the column ``error`` of a row, if it is the error of a run; None without one.

    The error may be a mapping with a ``message``, or True. Numbers are not errors, also as the texts of a table, where
    False and a missing value are texts too. Neither are the exceptions with which LangGraph interrupts a run to ask a
    person.

    >>> error_in({"error": "KeyError('CL-9')"}), error_in({"error": {"message": "timeout"}}), error_in({"error": 0.1})
    ("KeyError('CL-9')", 'timeout', None)
    >>> error_in({"error": "False"}), error_in({"error": "0.1"}), error_in({"error": "None"})
    (None, None, None)
    """
    given = next((row[name] for name in _NAMES if not is_missing(row.get(name))), None)
    if isinstance(given, Mapping) and not all(map(is_missing, given.values())):
        said = given.get("message")
        given = said if isinstance(said, str) and said.strip() else json_text(given)
    if given is True:
        return json_text(given)
    if not isinstance(given, str) or _PAUSED.match(given):
        return None
    said = given.strip()
    return None if said.casefold() in _NOTHING or _NUMBER.fullmatch(said) else said


def lost_outputs(row: Mapping[str, object]) -> bool:
    """Whether a row is a run that ended with an error and has a part ``outputs`` with nothing in it."""
    if "outputs" not in row or error_in(row) is None:
        return False
    outputs = row["outputs"]
    values = list(outputs.values()) if isinstance(outputs, Mapping) else [outputs]
    return all(is_missing(value) or (isinstance(value, str) and not value.strip()) for value in values)


def left_nothing(row: Mapping[str, object]) -> bool:
    """Whether a row without any field of a case is a run that failed, and not a row with unknown columns.

    Its answer is missing, or it has no text except its error and the known entries of the metadata.
    """
    if error_in(row) is None:
        return False
    texts = (name for name, value in row.items() if isinstance(value, str) and name not in (*_NAMES, *METADATA_NAMES))
    return any(map(names_an_answer, row)) or not any(texts)


def is_failed(error: str | None, fields: Mapping[str, Any]) -> bool:
    """Whether fields of a case are those of a run that ended with an error and left nothing to judge.

    Args:
        error: the error of the run; None without one.
        fields: the fields of the case.
    """
    if error is None or fields.get("candidates") or fields.get("workspace") is not None:
        return False
    answer = fields.get("answer")
    return answer is None or not str(answer).strip()


_NAMES = ("error", "Error")
_NOTHING = frozenset({"", "none", "null", "nan", "<na>", "nat", "false", "no"})  # in a table, each value is a text
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?(e[+-]?\d+)?", re.IGNORECASE)
