"""Numbers and measures support a sentence where they are equal, in whatever way they are written."""

import pytest

from jury_adapters import Status
from jury_adapters.checks import ContextRelevance, NamesAndNumbers, SentenceSupport
from jury_adapters.grounding import Undecided
from jury_adapters.grounding.normalisation import words

EQUAL = [
    ("Oil is changed after 3,000 operating hours.", "Oil is changed after 3000 operating hours."),
    ("Oil is changed after 3000 operating hours.", "Oil is changed after 3,000 operating hours."),
    ("Oil is changed after 3 000 operating hours.", "Oil is changed after 3,000 operating hours."),
    ("Oil is changed after three thousand operating hours.", "Oil is changed after 3,000 operating hours."),
    ("The limit is 1170mm.", "The limit is 1170 mm."),
    ("The limit is 1170 mm.", "The limit is 1170mm."),
    ("The limit is 1,170 mm.", "The limit is 1170mm."),
    ("The limit is 1.17 m.", "The limit is 1170 mm."),
    ("The limit is 117 centimetres.", "The limit is 1170 mm."),
    ("The tank holds 500 ml.", "The tank holds 0.5 litres."),
    ("The test takes two hours.", "The test takes 120 minutes."),
    ("The course began on 2 October 2026.", "The course began on 2026-10-02."),
    ("The office opens at 5 pm.", "The office opens at 17:00."),
    ("The work costs $2.5 million.", "The work costs 2,500,000 dollars."),
    ("10 mm", "It is 1 cm."),
]
DIFFERENT = [
    ("Oil is changed after 3,100 operating hours.", "Oil is changed after 3000 operating hours."),
    ("Oil is changed after 3,000 operating hours.", "Oil is changed after 3 operating hours."),
    ("Oil is changed after 3 operating hours.", "Oil is changed after 3,000 operating hours."),
    ("Oil is changed after 300 operating hours.", "Oil is changed after 3,000 operating hours."),
    ("The limit is 1171mm.", "The limit is 1170 mm."),
    ("The limit is 1.18 m.", "The limit is 1170 mm."),
    ("The limit is 1.170 mm.", "The limit is 1170 mm."),
    ("The tank holds 501 ml.", "The tank holds 0.5 litres."),
    ("The test takes three hours.", "The test takes 120 minutes."),
    ("The course began on 3 October 2026.", "The course began on 2026-10-02."),
    ("The office opens at 6 pm.", "The office opens at 17:00."),
    ("20 mm", "It is 1 cm."),
    ("The bag has 150 g.", "The bag has 150 mm."),
    ("The bag has 4g.", "The bag has 4m."),
    ("The bag has 150 g.", "The bag has 150 parts."),
    ("The speed is 12 m.", "The speed is 1200 cm/s."),
    ("Article 4a holds.", "Article 4b holds."),
]
GERMAN = "Das Öl wird nach 3.000 Stunden gewechselt und die Kraft beträgt 0,5 kN."


def supported(answer, contexts):
    return SentenceSupport(threshold=0.9).judge(answer=answer, contexts=contexts)


@pytest.mark.parametrize(("answer", "context"), EQUAL)
def test_equal_numbers_support_a_sentence(answer, context):
    found = supported(answer, context)
    assert (found.status, found.score) == (Status.PASS, 1.0), found.reasoning
    assert not any(finding.detail for finding in found.findings)
    assert not NamesAndNumbers().judge(answer=answer, contexts=context).findings


@pytest.mark.parametrize(("answer", "context"), DIFFERENT)
def test_different_numbers_do_not_support_a_sentence(answer, context):
    assert supported(answer, context).status is Status.FAIL


@pytest.mark.parametrize(
    ("answer", "context", "status"),
    [
        ("Das Öl wird nach 3000 Stunden gewechselt.", GERMAN, Status.PASS),
        ("Das Öl wird nach 3.000 Stunden gewechselt.", GERMAN.replace("3.000", "3000"), Status.PASS),
        ("Das Öl wird nach 3 Stunden gewechselt.", GERMAN, Status.FAIL),
        ("Das Öl wird nach 3.000 Stunden gewechselt.", GERMAN.replace("3.000", "3"), Status.FAIL),
        ("Die Kraft beträgt 0.5 kN.", GERMAN, Status.PASS),
        ("Die Kraft beträgt 6 kN.", GERMAN, Status.FAIL),
    ],
)
def test_marks_of_other_languages_support_a_sentence(answer, context, status):
    assert supported(answer, context).status is status


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("3,000 and 300,000", ["3000", "and", "300000"]),
        ("1,234,567.5", ["1234567.5"]),
        ("rooms 101,102,103", ["rooms", "101", "102", "103"]),
        ("[12,345]", ["12", "345"]),
        ("1,2", ["1", "2"]),
        ("12,3456", ["12", "3456"]),
    ],
)
def test_numbers_with_commas_are_one_word_unless_they_may_be_a_list(text, tokens):
    assert words(text) == tokens


def test_an_equal_number_counts_at_its_place_only():
    filler = " ".join(f"Door {name} is painted green every year." for name in "ABCDEFGH")
    contexts = f"The rail is 1170 mm high. {filler} The gate weighs 70 kg in all."
    assert supported("The rail is 1.17 m high.", contexts).status is Status.PASS
    assert supported("The gate is 1.17 m in all.", contexts).status is Status.FAIL


def test_a_place_is_found_by_an_equal_number_alone():
    contexts = " ".join(f"Part {number} is {number} mm wide." for number in range(100, 300))
    judged = supported("25.7 cm", contexts)
    assert judged.score == 1.0
    assert judged.findings[0].evidence == "Part 257 is 257 mm wide."


def test_the_words_of_an_equal_measure_are_not_new():
    contexts = ["The limit of the rail is 10 mm, and it is checked."]
    judged = Undecided().judge(answer="At the rail the limit is 1 centimetre.", contexts=contexts)
    assert "every word is in the contexts" in judged.reasoning
    wrong = Undecided().judge(answer="At the rail the limit is 2 centimetres.", contexts=contexts)
    assert [finding.name for finding in wrong.findings] == ["number: 2 centimetres", "word: centimetres"]


def test_the_numbers_of_a_question_are_compared_in_the_same_way():
    relevant = ContextRelevance(threshold=0.9)
    contexts = ["Gates of 1170 mm have a closing force of 150 N."]
    assert relevant.judge(question="Which closing force do gates of 1.17 m have?", contexts=contexts).score == 1.0
    assert relevant.judge(question="Which closing force do gates of 1.18 m have?", contexts=contexts).status == "FAIL"


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("The match is on May 31st.", "the match is on may 30 ."),
        ("The season ended in 2012.", "The season of 2010-11 ended."),
        ("About 87,000 people were there.", "There were 77,984 people."),
        ("The house is of the 18th century.", "The house is of 1866."),
    ],
)
def test_other_dates_ranges_and_rounded_numbers_do_not(answer, context):
    assert supported(answer, context).score < 1.0


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("The match is on May 30th.", "the match is on may 30 ."),
        ("The season ended in 2011.", "The season of 2010-11 ended."),
        ("About 78,000 people were there.", "There were 77,984 people."),
        ("The house is of the 19th century.", "The house is of 1866."),
        ("The house is of the nineteenth century.", "The house is of 1866."),
    ],
)
def test_loose_dates_ranges_and_rounded_numbers_support_a_sentence(answer, context):
    assert supported(answer, context).score == 1.0
