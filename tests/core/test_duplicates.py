"""Identity of items, and the one label of their copies."""

import pytest

from jury_adapters import Case
from jury_adapters.core.case import EMPTY_KEY
from jury_adapters.core.duplicates import (
    ContradictingLabels,
    identity_of,
    merged_sentence,
    one_label,
    positions_by_item,
)


def test_content_and_id_identify_an_item() -> None:
    plain, other = Case(answer="4"), Case(answer="4", metadata={"note": "x"})
    assert identity_of(plain.content_hash, plain.item_id) == identity_of(other.content_hash, other.item_id)
    assert identity_of(plain.content_hash, "a") != identity_of(plain.content_hash, "b")
    assert identity_of(plain.content_hash, "a") != identity_of(Case(answer="5").content_hash, "a")


def test_without_content_and_id_there_is_no_identity() -> None:
    empty = Case(metadata={"gold": "PASS"})
    assert empty.content_hash == EMPTY_KEY
    assert identity_of(empty.content_hash, None) is None
    assert identity_of(None, None) is None
    assert identity_of(empty.content_hash, "a") == identity_of(None, "a") == (None, "a")
    assert positions_by_item([None, None]) == [[0], [1]]


def test_copies_have_one_label() -> None:
    assert one_label("a", [(0, None), (3, "PASS"), (5, "PASS")]) == "PASS"
    assert one_label("a", [(0, None)]) is None
    with pytest.raises(ContradictingLabels, match=r"item 'a' has the labels PASS \(row 1, row 5\) and FAIL \(row 3\)"):
        one_label("a", [(0, "PASS"), (2, "FAIL"), (4, "PASS")])


def test_the_sentence_counts_the_copies() -> None:
    assert merged_sentence(1) == "1 row repeats an item and was merged with its first row: an item counts once."
    assert merged_sentence(2, "case").startswith("2 cases repeat an item and were merged")
