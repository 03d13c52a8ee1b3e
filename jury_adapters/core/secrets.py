"""Redaction of API keys, and error codes without judged text.

API keys are never stored or displayed, and judged text is never written to a log or a metric.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection

from jury_adapters.core.values import clean_text
from jury_adapters.vendors import VENDORS


def without_keys(text: str, secrets: Collection[str] = ()) -> str:
    """Return a text with API keys redacted: those of this process's environment, and anything that looks like one.

    Args:
        text: the text.
        secrets: further values to redact.

    >>> without_keys("401: no such key sk-0123456789abcdef")
    '401: no such key [key]'
    """
    keys = {*(value for name, value in os.environ.items() if _may_hold_a_key(name)), *secrets}
    for key in sorted((key for key in keys if len(key) >= _SHORTEST), key=len, reverse=True):
        text = text.replace(key, "[key]")
    return _ASSIGNED.sub(r"\1[key]", _KEY_LIKE.sub("[key]", _IN_ADDRESS.sub(r"\1[key]@", text)))


def without_passwords(text: str) -> str:
    """Return a text with the passwords in URLs redacted. A path that was made of a URL has one slash.

    >>> without_passwords("postgresql:/me:secret@host/x: No such file"), without_passwords("https://me:a@b@host")
    ('postgresql:/me:***@host/x: No such file', 'https://me:***@host')
    """
    return _PASSWORD.sub(r"\1***@", text)


def error_text(error: BaseException, depth: int = 0) -> str:
    """Return the type of an exception and its message, with API keys redacted.

    LangGraph's ``interrupt()`` raises an exception that pauses a graph; from a judge it does not reach the graph, so
    the message says where it belongs. The text of a group, such as that of an ``asyncio.TaskGroup``, has those of the
    first exceptions in it.

    Args:
        error: the exception.
        depth: how many groups it is in.

    >>> error_text(ValueError("no such key sk-0123456789abcdef"))
    'ValueError: no such key [key]'
    """
    if any(kind.__name__ == "GraphInterrupt" for kind in type(error).__mro__):
        return f"{type(error).__name__}: {_INTERRUPTED}"
    try:
        message = without_keys(clean_text(str(error)))
    except Exception:  # the application's exception has a faulty __str__
        message = "(its message cannot be shown)"
    if isinstance(error, BaseExceptionGroup) and depth < _MOST_INNER:  # its own message does not say what happened
        inner = [error_text(one, depth + 1) for one in error.exceptions[:_MOST_INNER]]
        message = f"{message}: {'; '.join(inner)}{'; ...' if len(error.exceptions) > _MOST_INNER else ''}"
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def error_code(error: str | None) -> str:
    """Return the exception type or the short code at the beginning of a judgment's error, without the message.

    The number of different values is small, so they are suitable for metrics.

    >>> error_code("ValueError: 'my private words'"), error_code("timeout"), error_code("something in words")
    ('ValueError', 'timeout', '_OTHER')
    """
    code = (error or "").partition(":")[0].strip()
    return code if _CODE.fullmatch(code) else "_OTHER"


def _may_hold_a_key(variable: str) -> bool:
    return variable.endswith(_VARIABLES) or variable in _OF_VENDORS


_INTERRUPTED = (
    "interrupt() cannot pause a graph from inside a judge; call it in a node of its own, after the node of the jury"
)
_VARIABLES = ("_API_KEY", "_API_TOKEN", "_SECRET_KEY", "_SECRET_ACCESS_KEY", "_AUTH_TOKEN", "HF_TOKEN")
_OF_VENDORS = frozenset(vendor.key_variable for vendor in VENDORS.values())
_MOST_INNER = 3  # exceptions of a group that are shown, and groups in groups
_SHORTEST = 8  # shorter values would redact ordinary words
_CODE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,79}")
_KEY_LIKE = re.compile(
    r"\b(?:(?:sk|pk|rk|gsk|xai)-[A-Za-z0-9_*-]{8,}|key-(?=[A-Za-z_-]{0,64}[0-9*])[A-Za-z0-9_*-]{8,}|Bearer\s+\S{8,}"
    r"|AIza[\w-]{20,}|A[KS]IA[A-Z0-9]{16}\b|gh[pousr]_\w{30,}|github_pat_\w{30,}|hf_[A-Za-z]{30,}\b)"
)
_PASSWORD = re.compile(r"(:/{1,2}[^/?#\s@:]{0,256}:)[^/\s]{1,256}@")
_IN_ADDRESS = re.compile(r"(://)[^/?#\s@]+@")
_ASSIGNED = re.compile(r"""((?i:key|token|secret|password)["']?\s{0,3}[=:]\s{0,3}["']?)[0-9A-Fa-f-]{20,}""")
