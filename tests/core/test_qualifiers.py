"""Lists of words that bound or qualify a sentence, in the languages whose negations are known."""

from jury_adapters.core import negations, qualifiers
from jury_adapters.core.negations import plain


def test_every_language_with_negations_has_bounds_and_hedges():
    languages = set(negations._WORDS) - {"English"}
    assert set(qualifiers._BOUNDS) == set(qualifiers._HEDGES) == languages
    assert set(negations._FORBIDDEN) == languages | {"English"}


def test_words_are_kept_as_the_words_of_texts_are_folded():
    for word in ("Höchstens", "spätestens", "außer", "uiterlijk", "każdy", "кроме", "μόνο", "højst", "até"):
        assert plain(word) in qualifiers.BOUNDS | qualifiers.HEDGES
    for words in (qualifiers.BOUNDS, qualifiers.HEDGES, qualifiers.BEFORE_NUMBERS, qualifiers.ALSO_ENGLISH):
        assert all(word == plain(word) for word in words)
