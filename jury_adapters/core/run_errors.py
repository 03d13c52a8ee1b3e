"""Errors of runs of the application, in rows and in cases."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from jury_adapters.core.loose_values import json_text
from jury_adapters.core.values import is_missing

RUN_ERROR: Final = "run_error"
"""Entry of the metadata of a case and of a judgment: the error with which the run of the application ended."""

_PAUSED = re.compile(r"(NodeInterrupt|GraphInterrupt|GraphBubbleUp|ParentCommand)\b")


def error_in(row: Mapping[str, object]) -> str | None:
    """Return the text in the column ``error`` of a row, if it is the error of a run; None without one.

    The error may be a mapping with a ``message``. Numbers are not errors, and neither are the exceptions with which
    LangGraph interrupts a run to ask a person.

    >>> error_in({"error": "KeyError('CL-9')"}), error_in({"error": {"message": "timeout"}}), error_in({"error": 0.1})
    ("KeyError('CL-9')", 'timeout', None)
    """
    given = next((row[name] for name in _NAMES if not is_missing(row.get(name))), None)
    if isinstance(given, Mapping) and given:
        said = given.get("message")
        given = said if isinstance(said, str) and said.strip() else json_text(given)
    if not isinstance(given, str) or not given.strip() or _PAUSED.match(given):
        return None
    return given.strip()


def lost_outputs(row: Mapping[str, object]) -> bool:
    """Whether a row is a run that ended with an error and has a part ``outputs`` with nothing in it."""
    if "outputs" not in row or error_in(row) is None:
        return False
    outputs = row["outputs"]
    values = list(outputs.values()) if isinstance(outputs, Mapping) else [outputs]
    return all(is_missing(value) or (isinstance(value, str) and not value.strip()) for value in values)


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
