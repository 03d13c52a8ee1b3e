"""Texts for XML 1.0, which cannot represent every character."""

from __future__ import annotations

import re

_NOT_XML = "[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # not even as a reference


def xml_text(value: str) -> str:
    """Return a text that is escaped for the content of an element.

    >>> xml_text("a < b")
    'a &lt; b'
    """
    from xml.sax.saxutils import escape  # imported where a report is written, because it takes long

    return escape(re.sub(_NOT_XML, "\ufffd", value))


def xml_attribute(value: str) -> str:
    """Return a text that is escaped as the value of an attribute, in quotes."""
    from xml.sax.saxutils import quoteattr

    return quoteattr(re.sub(_NOT_XML, "\ufffd", value))
