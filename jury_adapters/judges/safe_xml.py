"""XML from untrusted sources: no declared entities, no fetching, limited nesting.

A file of a few lines can expand to gigabytes through entities that name each other, and a file can ask its reader to
fetch an address. The parser of the standard library (expat) fetches nothing unless asked to; here it also refuses
every declaration of an entity. A DOCTYPE alone is allowed, because coverage reports have one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn
from xml.etree import ElementTree
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

_DEEPEST = 1000


def parse_xml(content: bytes) -> ElementTree.Element:
    """Return the root element.

    Raises:
        ValueError: the content is not XML, declares entities, or nests more than 1000 levels deep.
    """
    _Lines().read(content)  # refuses through expat's handlers, which ElementTree does not offer
    return ElementTree.fromstring(content)


def canonical_lines(content: bytes) -> list[str]:
    """Return the document as lines that are equal for equivalent documents.

    Attributes are sorted, prefixes replaced by their namespaces, and comments and white space around text are dropped.

    Raises:
        ValueError: as :func:`parse_xml`.

    >>> canonical_lines(b'<a c="2" b="1"><!-- new --> x </a>')
    ['<a b="1" c="2">', 'x', '</a>']
    """
    return _Lines().read(content)


class _Lines:
    """Handlers for expat that write the lines and refuse forbidden content."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.text: list[str] = []
        self.depth = 0

    def read(self, content: bytes) -> list[str]:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.text.append
        parser.ProcessingInstructionHandler = self.instruction
        parser.EntityDeclHandler = self.refuse
        parser.SkippedEntityHandler = self.refuse
        try:
            parser.Parse(content, True)
        except (expat.ExpatError, LookupError) as error:  # LookupError: an unknown encoding
            raise ValueError(str(error)) from None
        return self.lines

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise ValueError(f"nested more than {_DEEPEST} levels deep")
        self._end_text()
        self.lines.append(f"<{tag}{''.join(_shown(attributes))}>")

    def end(self, tag: str) -> None:
        self.depth -= 1
        self._end_text()
        self.lines.append(f"</{tag}>")

    def instruction(self, target: str, data: str) -> None:
        self._end_text()
        self.lines.append(f"<?{target} {data}?>")

    def refuse(self, name: str, *_: object) -> NoReturn:
        raise ValueError(f"the entity {name!r} is refused: entities can stand for any amount of text, or another file")

    def _end_text(self) -> None:
        text = "".join(self.text).strip()
        self.text.clear()
        if text:
            self.lines.append(escape(text))  # escaped, because "<b>" in a text would look like an element


def _shown(attributes: dict[str, str]) -> Iterator[str]:
    return (f" {name}={quoteattr(value)}" for name, value in sorted(attributes.items()))
