"""Docstrings for the site: the few marks of Sphinx that the package's docstrings use, as Markdown."""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|func|meth|mod|attr|data):`~?([\w.]+)`")
EXAMPLE = re.compile(r"(?:^(?:>>> |\.\.\. ).*\n?(?:(?!>>> |\.\.\. )\S.*\n?)*)+", re.MULTILINE)


class PlainMarkdown(griffe.Extension):
    """Turns roles into code, ``::`` before a block into a colon, and examples into code blocks."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """A docstring without what only Sphinx understands."""
    text = ROLE.sub(r"`\1`", text)
    text = re.sub(r"::$", ":", text, flags=re.MULTILINE)
    text = re.sub(r"  # doctest: \+SKIP$", "", text, flags=re.MULTILINE)
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text)
