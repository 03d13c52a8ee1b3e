"""XML from untrusted sources: no declared entities, no fetching, limited nesting.

A file of a few lines can expand to gigabytes through entities that name each other, and a file can ask its reader to
fetch an address. defusedxml refuses both. A DOCTYPE alone is allowed, because coverage reports have one. The limit of
the nesting is our own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar
from xml.etree.ElementTree import Element, ParseError, TreeBuilder
from xml.sax.saxutils import escape, quoteattr

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.installation import needs_extra

_DEEPEST = 1000
_Target = TypeVar("_Target", bound="_Elements | _Lines")


def parse_xml(content: bytes) -> Element:
    """Return the root element.

    Raises:
        ValueError: the content is not XML, declares entities, or nests more than 1000 levels deep.
        ConfigurationError: defusedxml is not installed.
    """
    return _fed(_Elements(), content).root


def canonical_lines(content: bytes) -> list[str]:
    """Return the document as lines that are equal for equivalent documents.

    Attributes are sorted, prefixes replaced by their namespaces, and comments and white space around text are dropped.

    Raises:
        ValueError, ConfigurationError: as :func:`parse_xml`.

    >>> canonical_lines(b'<a c="2" b="1"><!-- new --> x </a>')
    ['<a b="1" c="2">', 'x', '</a>']
    """
    return _fed(_Lines(), content).lines


def _fed(target: _Target, content: bytes) -> _Target:
    """Parse the content into a target, and return the target."""
    try:
        from defusedxml.common import EntitiesForbidden
        from defusedxml.ElementTree import DefusedXMLParser
    except ImportError as error:
        raise ConfigurationError(needs_extra("reading XML", "defusedxml", "checks")) from error
    parser = DefusedXMLParser(target=target)
    try:
        parser.feed(content)
        parser.close()
    except EntitiesForbidden as error:
        raise ValueError(
            f"the entity {error.name!r} is refused: entities can stand for any amount of text, or another file"
        ) from None
    except (ParseError, LookupError) as error:  # LookupError: an unknown encoding
        raise ValueError(str(error)) from None
    return target


class _Elements(TreeBuilder):
    """Target that builds elements, down to the deepest level allowed."""

    root: Element
    depth = 0

    def start(self, tag: str, attributes: dict[str, str], /) -> Element:
        self.depth = _deeper(self.depth)
        return super().start(tag, attributes)

    def end(self, tag: str, /) -> Element:
        self.depth -= 1
        return super().end(tag)

    def close(self) -> Element:
        self.root = super().close()
        return self.root


class _Lines:
    """Target that writes lines, down to the deepest level allowed."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.text: list[str] = []
        self.depth = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth = _deeper(self.depth)
        self._end_text()
        self.lines.append(f"<{tag}{''.join(_shown(attributes))}>")

    def end(self, tag: str) -> None:
        self.depth -= 1
        self._end_text()
        self.lines.append(f"</{tag}>")

    def data(self, text: str) -> None:
        self.text.append(text)

    def pi(self, target: str, data: str | None = None) -> None:
        self._end_text()
        self.lines.append(f"<?{target} {data or ''}?>")

    def close(self) -> None:
        """Do nothing: each end of an element has written its line."""

    def _end_text(self) -> None:
        text = "".join(self.text).strip()
        self.text.clear()
        if text:
            self.lines.append(escape(text))  # escaped, because "<b>" in a text would look like an element


def _deeper(depth: int) -> int:
    if depth >= _DEEPEST:
        raise ValueError(f"nested more than {_DEEPEST} levels deep")
    return depth + 1


def _shown(attributes: dict[str, str]) -> Iterator[str]:
    return (f" {name}={quoteattr(value)}" for name, value in sorted(attributes.items()))
