"""Texts for XML: a parser reads whatever is written."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from jury_adapters.core.xml_text import xml_attribute, xml_text

REPRESENTABLE = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"))


def parsed(text):
    return ElementTree.fromstring(f"<a b={xml_attribute(text)}>{xml_text(text)}</a>")


@given(REPRESENTABLE)
def test_a_parser_reads_the_text_that_was_written(text):
    assert parsed(text).get("b") == text
    assert (parsed(text).text or "") == text


@given(st.text())
def test_no_text_breaks_the_document(text):
    assert parsed(text).tag == "a"


def test_what_xml_cannot_represent_is_replaced():
    assert xml_text("a\x00b\ud800<") == "a\ufffdb\ufffd&lt;"
    assert parsed('"\x1b').get("b") == '"\ufffd'
