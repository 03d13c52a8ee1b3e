"""Dates with the month names of European languages: equal dates are equal in any notation, others are flagged."""

import pytest

from jury_adapters import Status, grounding_screen
from jury_adapters.checks import NamesAndNumbers, SentenceAlignment, SentenceSupport
from jury_adapters.grounding.months import month_number
from jury_adapters.grounding.normalisation import sentences, tidy
from jury_adapters.grounding.quantities import quantities

FRENCH = "Article 8. La saison commence le 1er septembre 2024 et se termine le 30 juin 2025."
GERMAN = "Das Turnier beginnt am 1. September 2024 um 9 Uhr und endet am 3. März 2025."
SPANISH = "El contrato empieza el 12 de febrero de 2023 y termina el 30 de junio de 2025."
DUTCH = "Het seizoen begint op 1 september 2024 en eindigt op 30 juni 2025."
POLISH = "Umowa obowiązuje od 5 września 2024 r. do 17 grudnia 2025 r."
RUSSIAN = "Договор действует с 5 сентября 2024 г. до 17 мая 2025 г."  # noqa: RUF001
SAME = [
    (FRENCH, "La saison se termine le 30/06/2025."),
    (FRENCH, "La saison commence le 1 septembre 2024."),
    (FRENCH, "The season ends on 30 June 2025."),
    (FRENCH, "The season begins on September 1st, 2024."),
    (FRENCH, "The season begins on 2024-09-01."),
    (FRENCH, "La saison commence le 1 sept. 2024."),
    (FRENCH, "La saison se termine en juin 2025."),
    (GERMAN, "Das Turnier beginnt am 01.09.2024."),
    (GERMAN, "Das Turnier endet am 3.3.2025."),
    (GERMAN, "Das Turnier endet im März 2025."),
    (GERMAN, "1. September 2024"),
    (GERMAN, "The tournament ends on 3 March 2025."),
    (SPANISH, "Termina el 30/6/2025."),
    (SPANISH, "It begins on February 12, 2023."),
    (DUTCH, "Het seizoen begint op 01-09-2024."),
    (DUTCH, "It ends on June 30, 2025."),
    (POLISH, "The contract ends on 17 December 2025."),
    (RUSSIAN, "The contract ends on 17 May 2025."),
    ("La riunione è il 1º giugno 2024.", "La riunione è il 01/06/2024."),
    ("A reunião é em 3 de março de 2024.", "The meeting is on 2024-03-03."),
    ("Mødet er den 4. maj 2024.", "The meeting is on 4 May 2024."),
    ("Les inscriptions sont ouvertes du 1er au 30 juin 2025.", "Elles ouvrent le 1er juin 2025."),
    ("Die Halle ist vom 3. bis zum 9. Mai 2025 zu.", "Die Halle ist ab dem 03.05.2025 zu."),
    ("The hall is closed from 3 to 9 May 2025.", "The hall is closed from 3 May 2025."),
    ("The season ends on 30 June 2025.", "La saison se termine le 30 juin 2025."),
    ("The season ends on 30 June 2025.", "Sie wird am 30. Juni 2025 beendet."),
]
OTHER = [
    (FRENCH, "La saison se termine le 30/07/2025.", "30/07/2025"),
    (FRENCH, "La saison commence le 2 septembre 2024.", "2 septembre 2024"),
    (FRENCH, "La saison commence le 1er octobre 2024.", "1er octobre 2024"),
    (FRENCH, "La saison se termine en mars 2025.", "mars 2025"),
    (GERMAN, "Das Turnier beginnt am 2. September 2024.", "2. September 2024"),
    (GERMAN, "Das Turnier endet am 3. Mai 2025.", "3. Mai 2025"),
    (SPANISH, "Termina el 30 de julio de 2025.", "30 de julio de 2025"),
    (DUTCH, "Het seizoen begint op 1 oktober 2024.", "1 oktober 2024"),
    (DUTCH, "Het seizoen begint op 02-09-2024.", "02-09-2024"),
    (DUTCH, "Het seizoen eindigt op 29-6-2025.", "29-6-2025"),
    (POLISH, "The contract ends on 17 November 2025.", "17 November 2025"),
    ("Der Kurs ist vom 3-9-2024 an.", "Der Kurs ist vom 4. September 2024 an.", "4. September 2024"),
    ("The season ends on 30 June 2025.", "La saison se termine le 30 juillet 2025.", "30 juillet 2025"),
]


@pytest.mark.parametrize(("context", "answer"), SAME)
def test_an_equal_date_in_another_notation_is_not_flagged(context, answer):
    found = NamesAndNumbers().judge(answer=answer, contexts=context)
    assert found.status is Status.ABSTAIN, found.reasoning
    assert grounding_screen().judge(answer=answer, contexts=context).status is not Status.FAIL


@pytest.mark.parametrize(("context", "answer", "date"), OTHER)
def test_another_date_is_flagged(context, answer, date):
    found = NamesAndNumbers().judge(answer=answer, contexts=context)
    assert [finding.name for finding in found.findings] == [f"number: {date}"]


@pytest.mark.parametrize(
    ("context", "answer"),
    [
        (FRENCH, "La saison se termine le 30/06/2025."),
        (DUTCH, "Het seizoen begint op 01-09-2024."),
        (SPANISH, "El contrato empieza el 12.2.2023."),
    ],
)
def test_an_equal_date_supports_a_sentence(context, answer):
    assert SentenceSupport(threshold=1).judge(answer=answer, contexts=context).status is Status.PASS


def test_an_ordinal_before_a_month_is_no_mark_of_a_list():
    question = "Wann beginnt das Turnier?"
    for answer, status in (("1. September 2024", Status.PASS), ("2. September 2024", Status.ABSTAIN)):
        assert SentenceAlignment().judge(question=question, answer=answer, contexts=GERMAN).status is status
    listed = "1. September 2024: the fee rises.\n2. October 2024: the hall closes."
    context = "In September 2024 the fee rises. In October 2024 the hall closes."
    assert NamesAndNumbers().judge(answer=listed, contexts=context).status is Status.ABSTAIN


@pytest.mark.parametrize("text", [FRENCH[11:], GERMAN, SPANISH, "Am 1. Juni ist frei.", "Le 1 janv. 2024 est férié."])
def test_a_full_stop_in_a_date_ends_no_sentence(text):
    assert sentences(tidy(text)) == [tidy(text)]


@pytest.mark.parametrize(
    "text",
    [
        "He was number 3. September was wet.",
        "The 2 Mars rovers and 3 Mai Tais",
        "12 Mayors and 5 Augustans met.",
        "It set 2 out of 5 mar records.",
        "In May 12 men left.",
    ],
)
def test_other_words_make_no_date(text):
    dates = [found.text for found in quantities(tidy(text)) if found.day]
    assert dates == (["May 12"] if "May 12" in text else [])


@pytest.mark.parametrize(
    ("name", "number"), [("August", 8), ("août", 0), ("aout", 8), ("Dez.", 12), ("wrzesnia", 9), ("mayor", 0)]
)
def test_month_names_are_read_without_accents_and_case(name, number):
    assert month_number(name) == number
