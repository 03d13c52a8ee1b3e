"""Operators on texts unlike the cases of the package: no mutant of them may be right by accident, or wrong."""

from random import Random

import pytest

from jury_adapters import Case
from jury_adapters.audit import OPERATORS
from jury_adapters.audit.operators.material import Material

BY_NAME = {operator.name: operator for operator in OPERATORS}


def mutants(operator, answer, *contexts, foreign=()):
    case = Case(question="What is known?", contexts=contexts or (answer,), answer=answer)
    return [
        mutant.answer
        for seed in range(8)
        for mutant in BY_NAME[operator].mutants(Material(case, foreign), Random(seed))
    ]


@pytest.mark.parametrize(
    ("operator", "answer", "context"),
    [
        ("number", "A child of 4 pays half of the price.", "Children aged 4 to 12 pay half."),
        ("number", "A child of 6 pays half of the price.", "Children aged between 4 and 12 pay half."),
        ("date", "The shop is open on Mondays.", "The shop is open from Monday to Friday."),
        ("date", "The shop is open on Monday.", "The shop is open daily, also on Monday."),
        ("date", "The hut is open on 12 May 2020.", "The hut is open from 1 May 2020 to 30 September 2020."),
        ("date", "At 10:00 the shop is open.", "The shop is open from 9:00 to 17:00."),
    ],
)
def test_no_new_value_lies_in_a_range_of_the_source(operator, answer, context):
    inside = (" 5 ", " 6 ", " 8 ", " 9 ", " 10 ", "day", "June", "July", "August", "September", ":00")
    assert not [one for one in mutants(operator, answer, context) if any(word in one for word in inside)]


@pytest.mark.parametrize(
    ("operator", "answer"),
    [
        ("number", "The hall is large enough for 300 guests."),
        ("number", "The top 10 teams of the league are promoted."),
        ("number", "The last 12 pages of the book are blank."),
        ("number", "There are two ways: (2) open the door, (3) go to the kitchen."),
        ("number", "## 3 Setup of the server\n\nThe server is in the office."),
        ("number", "| 2 | Open the door of the car |\n| 3 | Close the window of the car |"),
        ("unit", "The freezer is at minus 40 °C in the winter."),
        ("swap", "Anna Berg is a cousin of Maria Lind in the story."),
        ("swap", "The train passes Tallinn and Narva and Vilnius on the way."),
        ("swap", "In the final Norway played against Sweden in the rain."),
        ("negation", "The tank is almost 5 km away."),
        ("comparison", "The table above shows the price of the ticket."),
        ("comparison", "As described above, the price is in the list."),
        ("condition", "The new bridge is twice as long as the old one."),
        ("condition", "The new sensor also checks if the door is open."),
        ("condition", "The shop always opens on Mondays even if the door is wet."),
    ],
)
def test_what_states_nothing_or_holds_both_ways_is_left_alone(operator, answer):
    found = mutants(operator, answer)
    assert not [one for one in found if operator != "number" or not one.startswith("There are") or "two" in one]


def test_a_german_answer_to_an_english_source_is_not_changed_as_an_english_one():
    answer, context = "Mindestens 40 Personen passen in den Saal.", "The hall is for at least 40 people in the city."
    assert not mutants("number", answer, context)


def test_small_talk_and_german_sentences_without_numbers_are_no_errors():
    foreign = ["Das ist eine gute Frage.", "Gerne helfe ich Ihnen bei Ihrem Anliegen."]
    assert not mutants("foreign_sentence", "Der Tank fasst 300 Liter.", foreign=foreign)
    foreign = ["As an AI model by OpenAI, I am happy to help.", "I hope that Acme helps."]
    assert not mutants("foreign_sentence", "The tank holds 300 litres of water.", foreign=foreign)


def test_citations_of_a_text_whose_words_are_not_known_get_a_mark_without_a_passage():
    passages = ("水箱容量为300升。", "该水箱可容纳300升。")
    found = mutants("citation", "水箱容量为300升[1]。", *passages)
    assert found
    assert not [one for one in found if "[2]" in one]


@pytest.mark.parametrize(
    ("operator", "answer", "never"),
    [
        ("function_words", "You do not have to pay for the ticket.", "must"),
        ("function_words", "No guest has to pay for the ticket until Monday.", "must"),
        ("function_words", "The guests will have to wait until Monday.", "must"),
        ("function_words", "The price has to do with the taxes and is not high.", "must"),
        ("function_words", "In addition to the pool, the hotel has a sauna that is not warm.", "Also"),
        ("function_words", "The new pump works as well as the old one and is not loud.", "and also"),
        ("function_words", "The ticket is therefore expensive for the visitors.", " so "),
        ("unit_conversion", "The walk takes 8 to 10 hours for the visitors.", "minutes"),
        ("unit_conversion", "The trail is between 8 and 10 km long in the park.", "metres"),
        ("unit_conversion", "The trail is 10 - 15 km long in the park.", "metres"),
        ("unit_conversion", "The flight takes 2 hours 30 minutes from the city.", "120"),
        ("unit_conversion", "The bottle of the guest holds 1,5 litres of the water.", "15,000"),
        ("unit_conversion", "Der Fluss ist 3 km lang und nicht tief.", "3,000"),
        ("number_notation", "The server listens on port 8080 in the office.", "8,080"),
        ("number_notation", "The battle was in 1066 and the king died.", "1,066"),
        ("number_notation", "Your PIN is 4711 and the address is 10115 Berlin.", ","),
        ("number_notation", "The library has thirty five rooms for the visitors.", "5"),
        ("sentence_order", "Press the red button. Wait ten seconds. Turn the key in the lock.", "T"),
        ("layout", "42", "- 42"),
    ],
)
def test_a_right_answer_stays_right(operator, answer, never):
    assert not [one for one in mutants(operator, answer) if never in one]


def test_amounts_still_get_marks_and_conversions():
    assert "The park has 12,345 panels in the field." in mutants(
        "number_notation", "The park has 12345 panels in the field."
    )
    assert "The walk takes 120 minutes in the park." in mutants(
        "unit_conversion", "The walk takes 2 hours in the park."
    )
