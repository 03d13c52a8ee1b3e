"""Contractions such as "I'm" are function words, with any apostrophe and in any position."""

import pytest

from jury_adapters import Status
from jury_adapters.checks import NamesAndNumbers, SentenceAlignment, SentenceSupport
from jury_adapters.grounding.names import names
from jury_adapters.grounding.normalisation import is_contraction, tidy, words

BRAKES = ["The brake pads are replaced when the lining is thinner than 7 mm."]
APOSTROPHES = "'\u2019\u2018\u201b\u02bc\u02b9\u00b4`\u2032\uff07"
ANSWERS = [
    "The limit is 7 mm, I'm sure.",
    "Well, I've checked: the lining is 7 mm.",
    "Yes, I'll tell you: 7 mm.",
    "The lining, I'd say, is 7 mm.",
    "I'd've said 7 mm.",
    "Today I'm sure that it is 7 mm.",
    "It is 7 mm, I'M sure, and I'VE checked.",
    "The lining is 7 mm; DON'T replace it before, IT'S fine.",
]


@pytest.mark.parametrize("apostrophe", APOSTROPHES)
@pytest.mark.parametrize("answer", ANSWERS)
def test_a_contraction_is_not_a_name(answer, apostrophe):
    answer = answer.replace("'", apostrophe)
    judgment = NamesAndNumbers().judge(question="What is the lining limit?", answer=answer, contexts=BRAKES)
    assert judgment.status is Status.ABSTAIN, judgment.reasoning


@pytest.mark.parametrize(
    ("answer", "flagged"),
    [
        ("The limit is 7 mm, I'm Solberg.", ["name: Solberg"]),
        ("I'm Solberg, and the limit is 7 mm.", ["name: Solberg"]),
        ("The limit is 7 mm, I've asked Ole Brandt.", ["name: Ole Brandt"]),
        ("The limit is 8 miles, I'm sure.", ["number: 8 miles"]),
        ("The limit of O'Brien is 7 mm.", ["name: O'Brien"]),
        ("The pads, Solberg'd say, are 7 mm.", ["name: Solberg"]),
    ],
)
def test_a_name_or_number_beside_a_contraction_is_compared(answer, flagged):
    judgment = NamesAndNumbers().judge(question="What is the lining limit?", answer=answer, contexts=BRAKES)
    assert [finding.name for finding in judgment.findings] == flagged


def test_a_name_with_the_ending_of_a_verb_is_the_name():
    contexts = "It was paid for by Bergen, and not by the ferry."
    assert not NamesAndNumbers().judge(answer="So Bergen'll pay, and Bergen'd paid.", contexts=contexts).findings


def test_contractions_are_words_of_their_long_form():
    assert words("I'm sure they've paid, we're late, it'll open and I'd go.") == (
        ["i", "am", "sure", "they", "have", "paid", "we", "are", "late", "it", "will", "open", "and", "i", "go"]
    )
    assert SentenceAlignment().judge(answer="They're open daily.", contexts="They are open daily.").status == "PASS"
    assert SentenceAlignment().judge(answer="They're open daily.", contexts="They aren't open daily.").status != "PASS"


def test_contractions_have_no_content_that_support_could_miss():
    contexts = ["The lining is thinner than 7 mm."]
    judged = SentenceSupport(threshold=0.6).judge(answer="I'm told they've a lining of 7 mm.", contexts=contexts)
    assert judged.findings[0].detail == "not in the contexts: told"


@pytest.mark.parametrize(("word", "is_one"), [("I'm", True), ("Don't", True), ("WE'RE", True), ("Ann's", False)])
def test_which_words_are_contractions(word, is_one):
    assert is_contraction(word) is is_one


def test_names_around_a_contraction_are_two():
    assert [name.text for name in names(tidy("They say Bergen I'm Anna Weber."))] == ["Bergen", "Anna Weber"]
