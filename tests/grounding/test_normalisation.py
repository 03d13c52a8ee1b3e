"""Normalising: texts, numbers, dates, names that say the same must be found to say the same."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.proportion import assert_proportional

from jury_adapters.grounding.names import NameIndex, names
from jury_adapters.grounding.normalisation import content, looks_english, sentences, stem, tidy, unsegmented, words
from jury_adapters.grounding.number_index import NumberIndex
from jury_adapters.grounding.passages import common_length
from jury_adapters.grounding.quantities import quantities


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("He did n't go .", "He didn't go."),
        ("John 's dog , Rex", "John's dog, Rex"),
        ("-LRB- born 1961 -RRB-", "(born 1961)"),
        ("`` Yes '' , he said", '" Yes ", he said'),
        ("\u201cYes\u201d \u2014 it\u2019s", '"Yes" - it\'s'),
        ("2007 -- 08", "2007 - 08"),
        ("caf\u00e9 cafe\u0301 S\u00e3o", "cafe cafe Sao"),
        ("\uff21\uff11 \u2460", "A1 1"),
        ("soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"),
        ("\u0663\u0664", "34"),
        ("a  b\t\tc", "a b c"),
        ("U. S. Army", "U.S. Army"),
        ("", ""),
    ],
)
def test_tidy(raw, plain):
    assert tidy(raw) == plain
    assert tidy(plain) == plain


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Smith met J. Doe of the U.S. Army. They ate.", ["Dr. Smith met J. Doe of the U.S. Army.", "They ate."]),
        ("It rose 1. 7 million. Then fell.", ["It rose 1. 7 million.", "Then fell."]),
        ("It was 5 June 2024. 29 of 98 came.", ["It was 5 June 2024.", "29 of 98 came."]),
        ("It rose by 12,024. 29 of 98 came.", ["It rose by 12,024. 29 of 98 came."]),
        ("first line\nsecond line", ["first line", "second line"]),
        ("\u4e1c\u4eac\u3002\u5927\u962a\u3002", ["\u4e1c\u4eac\u3002", "\u5927\u962a\u3002"]),
        ('He said "Go." She went.', ['He said "Go."', "She went."]),
        ("...", ["..."]),
        (" \n ", []),
    ],
)
def test_sentences(text, pieces):
    assert sentences(text) == pieces


def test_words_and_stems():
    assert words("Didn't the dog's 3 bones, won't it?") == [
        "did",
        "not",
        "the",
        "dog",
        "3",
        "bones",
        "will",
        "not",
        "it",
    ]
    assert words("\u00abHej\u00bb \u2014 \u4e16") == ["hej", "\u4e16"]
    assert content(words("Who was running in the cities?")) == ["run", "city"]
    assert {stem("hope"), stem("hoped"), stem("hoping")} == {"hop", "hope"} or stem("hoped") == stem("hope")
    assert stem("bus") == "bus"
    assert stem("class") == "class"


def test_vowel_signs_of_indic_scripts_stay_in_their_words():
    assert len(words(tidy("\u0939\u093f\u0928\u094d\u0926\u0940 \u092d\u093e\u0937\u093e"))) == 2


@pytest.mark.parametrize(
    ("text", "cannot"),
    [
        ("\u6771\u4eac\u306f\u9996\u90fd\u3067\u3059", True),
        ("\u0e01\u0e23\u0e38\u0e07\u0e40\u0e17\u0e1e", True),
        ("\u043c\u043e\u0441\u043a\u0432\u0430" * 8, True),
        ("Hello world", False),
        ("Москва столица России", False),
        ("\uc11c\uc6b8\uc740 \uc218\ub3c4\uc774\ub2e4", False),
    ],
)
def test_where_words_cannot_be_told_apart(text, cannot):
    assert unsegmented(text) is cannot


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("Paris is the capital of France.", True),
        ("Der Hund schl\u00e4ft im Haus und die Katze sitzt auf dem Dach.", False),
        ("De hond slaapt in het huis en de kat zit op het dak van de buren.", False),
        ("Le chien dort dans la maison et le chat est sur le toit.", False),
        (
            "Москва столица России",
            False,
        ),
        ("", False),
    ],
)
def test_english_is_told_by_its_function_words(text, english):
    assert looks_english(text) is english


SAME_NUMBERS = [
    ("100,000 people", "100, 000 people"),
    ("1.7 million", "1. 7 million"),
    ("77984", "77,984"),
    ("77 984", "77,984"),
    ("two million", "2,000,000"),
    ("2m people", "two million people"),
    ("$2.5bn", "2.5 billion dollars"),
    ("$2.5 billion", "$2,500,000,000"),
    ("twenty-one", "21"),
    ("two hundred and five thousand", "205,000"),
    ("a dozen", "12"),
    ("two dozen", "24"),
    ("the 21st", "the twenty-first"),
    ("1.234,5", "1,234.5"),
    ("3.50", "3.5"),
    ("5 percent", "5%"),
    ("5 per cent", "5 %"),
    ("February 22, 2020", "22 February 2020"),
    ("February 22, 2020", "2020-02-22"),
    ("2020-02-22", "Feb. 22nd, 2020"),
    ("22 of February 2020", "February 22 , 2020"),
    ("March 5", "05/03/2019"),
    ("May 30", "on may 30 he fought"),
    ("30 May", "may 30th"),
    ("February 2020", "22 February 2020"),
    ("2007-2008", "2007 -- 08 season"),
    ("the 1990s", "in 1994"),
    ("the 19th century", "in 1866"),
    ("about 78,000", "77,984"),
    ("over 70", "74 men"),
    ("1.7 million", "1,684,000"),
    ("100, 200 and 300", "100 or 200 or 300"),
    ("\u0663\u0664\u0665", "345"),
    ("0.50", ".5 or 0.5"),
]


@pytest.mark.parametrize(("asked", "source"), SAME_NUMBERS)
def test_numbers_that_are_the_same(asked, source):
    index = NumberIndex(tidy(source))
    found = list(quantities(tidy(asked)))
    assert found
    assert all(index.covers(one) and not index.other_unit(one) for one in found)


@pytest.mark.parametrize(
    ("asked", "source"),
    [
        ("80,111", "77,984"),
        ("two million", "2 dogs"),
        ("February 23, 2020", "22 February 2020"),
        ("22 March 2020", "22 February 2020"),
        ("22 February 2021", "22 February 2020"),
        ("the 1980s", "in 1994"),
        ("the 18th century", "in 1866"),
        ("1.7", "1.8"),
        ("78,000", "77,984"),
        ("about 90", "74 men"),
        ("twenty-two", "21"),
        ("2 million", "1,600,000"),
        ("9" * 5000, "8" * 5000),
    ],
)
def test_numbers_that_differ(asked, source):
    index = NumberIndex(tidy(source))
    assert not any(index.covers(one) for one in quantities(tidy(asked)))


def test_units_of_the_same_kind_are_compared():
    index = NumberIndex("It lies 5 miles away, cost $7 and 9 years.")
    asked = list(quantities("5 km, 7 euros, 9 people, 5 kg, 5 miles"))
    assert [index.other_unit(one) for one in asked] == ["mi", "USD", "", "", ""]


SAME_AMOUNTS = [
    ("1,080 minutes", "18 hours"),
    ("3,800 metres", "3.8 km"),
    ("7,000 grams", "7 kg"),
    ("7 kg", "7,000 grams"),
    ("21 days", "three weeks"),
    ("0.5 hours", "30 minutes"),
]


@pytest.mark.parametrize(("asked", "source"), SAME_AMOUNTS)
def test_exact_conversions_of_units_are_read(asked, source):
    index = NumberIndex(tidy(source))
    (found,) = quantities(tidy(asked))
    assert index.covers(found)
    assert index.other_unit(found) == ""


@pytest.mark.parametrize(
    ("asked", "source"),
    [("3,900 metres", "3.8 km"), ("7 grams", "7 kg"), ("20 days", "three weeks"), ("1,080 km", "18 hours")],
)
def test_wrong_conversions_of_units_are_found(asked, source):
    index = NumberIndex(tidy(source))
    (found,) = quantities(tidy(asked))
    assert not index.covers(found) or index.other_unit(found)


@pytest.mark.parametrize(
    "text",
    [
        "hundreds of people",
        "a few hundred people",
        "several thousand",
        "nineteen ninety-two",
        "one two three",
    ],
)
def test_vague_words_are_no_numbers(text):
    assert list(quantities(text)) == []


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("Yesterday Anna Smith met Bo.", ["Anna Smith", "Bo"]),
        ("Police said nothing.", []),
        ("Water boils.", []),
        ("Actor Tom Hanks left.", ["Tom Hanks"]),
        ("Anna Smith left.", ["Anna Smith"]),
        ("UNICEF helps.", ["UNICEF"]),
        ("The Manchester-based firm of J.R.R. Tolkien", ["Manchester-based", "Tolkien"]),
        ("He saw President Obama and the Council.", ["President Obama"]),
        ("THE DOG ATE THE HOMEWORK TODAY", []),
        ("The Great Little Book of Brown Bears", []),
        ('She said: "Never trust Bob."', ["Bob"]),
        ("I think it was COVID-19.", ["COVID-19"]),
        ("The U.S. won.", ["U.S"]),
    ],
)
def test_names(sentence, found):
    assert [name.text for name in names(sentence)] == found


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("Obama", "Barack Obama's speech"),
        ("Italian", "made in Italy"),
        ("Russians", "Russia said"),
        ("Dutch", "the Netherlands"),
        ("UN", "the United Nations met"),
        ("U.S.", "the United States"),
        ("American", "in the US"),
        ("YouTube", "on You Tube"),
        ("ET 430", "the oil of the ET430"),
        ("Zoe", tidy("Zo\u00eb")),
        ("COVID-19", "covid 19"),
        ("F-16s", "an F-16"),
        ("September", "2019-09-03"),
        ("Jan", "January"),
        ("Smiths", "the Smith family"),
        ("World Health Organization", "the WHO said"),
    ],
)
def test_names_a_source_knows(name, source):
    numbers = NumberIndex(source)
    index = NameIndex(source, frozenset(numbers.months()))
    (found,) = names(f"It was {name} there.")
    assert index.missing(found) == ()


@pytest.mark.parametrize(
    ("name", "source"), [("Anna Smith", "Bob Smith"), ("Austria", "Australia"), ("Paris", "London")]
)
def test_names_a_source_does_not_know(name, source):
    (found,) = names(f"It was {name} there.")
    assert NameIndex(f"It was {source} there.").missing(found)


def plain_common_length(first, second):
    row = [0] * (len(second) + 1)
    for word in first:
        before = row[:]
        for at, other in enumerate(second, 1):
            row[at] = before[at - 1] + 1 if word == other else max(before[at], row[at - 1])
    return row[-1]


@settings(deadline=None)
@given(st.lists(st.sampled_from("abcd"), max_size=12), st.lists(st.sampled_from("abcd"), max_size=12))
def test_common_length_equals_the_textbook(first, second):
    assert common_length(first, second) == plain_common_length(first, second)


@settings(deadline=None)
@given(st.text(st.characters(), max_size=200))
def test_nothing_raises_and_tidying_twice_changes_no_word(text):
    once = tidy(text)
    for line in sentences(once):
        words(line), list(quantities(line)), list(names(line))
    index = NumberIndex(once)
    assert all(index.covers(one) for one in quantities(once))


@pytest.mark.parametrize("characters", [4_000, pytest.param(20_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "1",
        "1,",
        ". ",
        " ",
        "\u0301",
        "\u0327\u0301",
        "-",
        "A ",
        "A. ",
        "one ",
        "Jan 1 ",
        "1 ",
        "$ ",
        "'",
        "\u4e1c",
        "half a ",
        "(",
        "1 -",
        "1,,",
        "1\u4e07",
        "1,000\u5104",
        "\u4e09\u5343",
        "5 m/s ",
        "I'm ",
        "datetime.date(2026, 10, 2) ",
        "datetime.date(",
        "1,000,",
    ],
)
def test_a_long_text_takes_time_in_proportion(piece, characters):
    def read(size):
        for line in sentences(tidy(piece * (size // len(piece)))):
            words(line), list(quantities(line)), list(names(line))

    assert_proportional(read, characters)


@pytest.mark.parametrize(
    ("asked", "source", "said"),
    [
        ("5 pm", "17:00", True),
        ("2 km", "2000 metres", True),
        ("2 km", "2000 m", True),
        ("2 km", "2000 mm", False),
        ("36 km/h", "10 m/s", True),
        ("12 m", "12 m/s", True),
        ("1200 cm", "12 m/s", False),
        ("2 km", "1.24 miles", False),
    ],
)
def test_what_the_page_of_limits_says_about_conversions(asked, source, said):
    index = NumberIndex(tidy(f"It is {source}."))
    assert all(index.covers(one) for one in quantities(tidy(asked))) is said
