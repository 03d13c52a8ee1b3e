"""A day belongs to its year: dates whose day and year are in different dates of the contexts."""

import pytest

from jury_adapters import Status
from jury_adapters.checks import NamesAndNumbers, SentenceSupport
from jury_adapters.grounding import grounding_screen

SEASON = "The season 2024/25 starts on Saturday 7 September 2024 and ends on 15 June 2025."
TWO = "Le 1er mars 2020 et le 2 avril 2021, la salle est ouverte."


@pytest.mark.parametrize(
    ("contexts", "answer"),
    [
        (SEASON, "The season starts on 7 September 2025."),
        (SEASON, "The season ends on 2024-06-15."),
        (TWO, "La salle est ouverte le 2 avril 2020."),
        ("Opened on 3/4/2020, closed on 5/6/2021.", "It was opened on 3/4/2021."),
    ],
)
def test_the_year_of_another_day_is_flagged(contexts, answer):
    judged = NamesAndNumbers().judge(question="When?", answer=answer, contexts=[contexts])
    assert judged.status is Status.FAIL
    assert grounding_screen().judge(question="When?", answer=answer, contexts=[contexts]).status is Status.FAIL
    assert SentenceSupport(threshold=0.6).judge(answer=answer, contexts=[contexts]).status is not Status.PASS


@pytest.mark.parametrize(
    ("contexts", "answer"),
    [
        (SEASON, "The season starts on 2024-09-07 and ends on June 15, 2025."),
        (SEASON, "The season starts on 7 September."),
        ("Minutes of 2024. The board met on 7 September.", "The board met on 7 September 2024."),
        ("From 1 to 30 June 2025 the hall is closed.", "The hall is closed from 1 June 2025 to 30 June 2025."),
        ("They met on 7 September 2024, and on 7 September 2025 again.", "They met on 7 September 2025."),
        (TWO, "The hall is open on 1 March 2020 and 2 April 2021."),
    ],
)
def test_a_day_in_its_own_year_or_without_one_is_not(contexts, answer):
    judged = NamesAndNumbers().judge(question="When?", answer=answer, contexts=[contexts])
    assert "number:" not in judged.reasoning


def test_support_says_which_date_has_another_year():
    judged = SentenceSupport(threshold=0.6).judge(answer="The season starts on 7 September 2025.", contexts=[SEASON])
    assert judged.status is Status.ABSTAIN
    assert "the contexts have another sign, unit or year: 7 September 2025" in judged.reasoning
