"""Parser of the sections of docstrings that describe arguments and attributes."""

from __future__ import annotations

import re
from inspect import cleandoc


def entries_of(docstring: str | None, section: str) -> dict[str, str]:
    r"""Return the entries of a section as plain text; none if the docstring has no such section.

    Args:
        docstring: a docstring in Google style.
        section: the heading of the section, such as ``"Args"`` or ``"Attributes"``.

    >>> entries_of("Do it.\n\n    Args:\n        how: in\n            a way.\n    ", "Args")
    {'how': 'in a way.'}
    """
    text = cleandoc(docstring or "").partition(f"{section}:\n")[2].partition("\n\n")[0]
    found = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", text, re.MULTILINE)
    return {name: plain_text(entry) for name, entry in found}


def plain_text(text: str) -> str:
    """Return the text of a docstring on one line, without markup.

    >>> plain_text("see :func:`parse_share`, or ``None``")
    'see parse_share, or None'
    """
    return " ".join(re.sub(r":\w+:(?=`)|`", "", text).split())
