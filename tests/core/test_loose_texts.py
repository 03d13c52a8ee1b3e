"""Lists of texts as rows have them: with missing entries, in lists of their own, in cells of a table."""

import math

import pytest

from jury_adapters import Case

NA = type("NAType", (), {})()


@pytest.mark.parametrize(
    ("given", "contexts"),
    [
        (["a", None, "b", math.nan, NA], ("a", "b")),
        ([None], ()),
        ([["a", "b"]], ("a", "b")),
        ([["a", None], ["b"], []], ("a", "b")),
        ([("a",), "b"], ("a", "b")),
        ('[["a", "b"], [null, "c"]]', ("a", "b", "c")),
        ('["a", null]', ("a",)),
        ({"documents": [["a"], ["b"]]}, ("a", "b")),
        ([[["a"]]], ('[["a"]]',)),
        ([["a", 5]], ('["a", 5]',)),
        (["a", ""], ("a", "")),
        ("[[1, 2]]", ("[[1, 2]]",)),
    ],
)
def test_missing_entries_are_left_out_and_lists_of_texts_inside_a_list_are_its_texts(given, contexts):
    row = {"question": "q", "answer": "a", "contexts": given}
    assert Case.from_row(row).contexts == contexts
    assert Case.from_row({"inputs": "q", "outputs": {"answer": "a", "contexts": given}}).contexts == contexts


def test_a_missing_candidate_keeps_its_place():
    assert Case.from_row({"question": "q", "candidates": [None, "b"]}).candidates == ("", "b")
    assert Case.from_row({"inputs": "q", "outputs": {"candidates": [math.nan, "b"]}}).candidates == ("", "b")
