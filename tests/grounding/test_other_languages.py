"""Answers and questions in another language than the contexts: support shows nothing, and the reason says why."""

import pytest

from jury_adapters import CascadedJury, Ensemble, Status, Tier
from jury_adapters.checks import (
    ContextRelevance,
    NamesAndNumbers,
    NotEmpty,
    RefusalCheck,
    SentenceAlignment,
    SentenceSupport,
)

DOORS = ["The maximum closing force of a sliding door is 150 N. It is measured by the technician every two years."]
QUESTION = "What is the maximum closing force?"
FOREIGN = [
    "Die Schließkraft darf 150 N nicht überschreiten.",
    "La force de fermeture ne doit pas dépasser 150 N.",
    "La fuerza de cierre no debe superar los 150 N.",
    "A força de fecho não pode ser maior que 150 N.",
    "La forza di chiusura non deve superare i 150 N per questa porta.",
    "De sluitkracht mag niet hoger zijn dan 150 N.",
    "Stängningskraften får inte överstiga 150 N.",
    "Сила закрытия не должна превышать 150 ньютонов.",
    "Και η δύναμη κλεισίματος είναι 150 N.",  # noqa: RUF001
    "قوة الإغلاق 150 نيوتن.",
    "닫는 힘은 150N을 넘을 수 없습니다.",
    "閉まる力は150 Nを超えてはいけません。",
]
ENGLISH_WRONG = [
    "Bananas are yellow.",
    "The café in Los Angeles serves crème brûlée to the guests.",
    "Ludwig van der Rohe and Leonardo da Vinci painted it.",
    "Bright bananas, yellow trees",
]
GERMAN = "Die maximale Schließkraft einer Schiebetür ist 150 N. Sie wird alle zwei Jahre vom Techniker gemessen."
RUSSIAN = "Сила закрытия двери не должна превышать 150 ньютонов. Её измеряют каждые два года."
JAPANESE = "引き戸の閉まる力は150 Nです。二年ごとに測定します。"


def supported(answer, contexts=DOORS, question=QUESTION):
    return SentenceSupport(threshold=0.6).judge(question=question, answer=answer, contexts=contexts)


@pytest.mark.parametrize("answer", FOREIGN)
def test_an_answer_in_another_language_is_not_failed(answer):
    found = supported(answer)
    assert found.status is Status.ABSTAIN, found.reasoning
    assert "words are not translated); support across languages shows nothing" in found.reasoning or (
        "words cannot be separated" in found.reasoning
    )


@pytest.mark.parametrize("question", [QUESTION, "", "Wie hoch ist die maximale Kraft?"])
@pytest.mark.parametrize("answer", FOREIGN)
def test_a_wrong_number_in_another_language_still_fails_the_jury(answer, question):
    screen = Tier("screen", Ensemble([NotEmpty(), RefusalCheck(), NamesAndNumbers()]), "reject_on_any_fail")
    jury = CascadedJury([screen, Tier("supported", SentenceSupport(threshold=0.6))])
    assert jury.judge(question=question, answer=answer, contexts=DOORS).status is Status.ABSTAIN
    wrong = jury.judge(question=question, answer=answer.replace("150", "250"), contexts=DOORS)
    assert (wrong.status, wrong.stopped_at) == (Status.FAIL, "screen")


@pytest.mark.parametrize("answer", ENGLISH_WRONG)
def test_an_english_answer_with_foreign_words_still_fails(answer):
    assert supported(answer).status is Status.FAIL


@pytest.mark.parametrize("answer", ENGLISH_WRONG[:2])
def test_an_english_answer_to_a_foreign_question_still_fails(answer):
    assert supported(answer, question="Wie hoch ist die maximale Kraft?").status is Status.FAIL


def test_an_answer_whose_words_are_all_in_the_contexts_passes_in_any_language():
    assert supported("150 N", question="Wie hoch ist die maximale Kraft?").status is Status.PASS
    assert supported("150 Hunde", question="Wie hoch ist die maximale Kraft?").status is Status.ABSTAIN
    assert supported("Nicht mehr als 150 N im Mittel.").status is Status.ABSTAIN


@pytest.mark.parametrize("contexts", [GERMAN, RUSSIAN, JAPANESE])
def test_an_english_answer_beside_contexts_in_another_language_is_not_failed(contexts):
    found = supported("The closing force must not be more than 150 N.", contexts)
    assert found.status is Status.ABSTAIN, found.reasoning
    assert "the answer is in another language than the contexts; words are not translated" in found.reasoning


@pytest.mark.parametrize(
    ("answer", "contexts"),
    [
        ("Bananen sind gelb und wachsen auf Bäumen.", GERMAN),
        ("Der Techniker ist ein Vogel.", GERMAN),
        ("Бананы растут на деревьях.", RUSSIAN),
    ],
)
def test_an_answer_in_the_language_of_its_contexts_still_fails(answer, contexts):
    assert supported(answer, contexts, "").status is Status.FAIL


@pytest.mark.parametrize(
    ("question", "contexts", "status"),
    [
        ("Wie hoch ist die maximale Schließkraft der Tür?", DOORS, Status.ABSTAIN),
        ("What is the maximum closing force of the door?", GERMAN, Status.ABSTAIN),
        ("Какова максимальная сила закрытия?", DOORS, Status.ABSTAIN),
        ("How do vaccines train immunity?", DOORS, Status.FAIL),
        ("Wie wirken Impfungen auf das Immunsystem?", GERMAN, Status.FAIL),
        ("What is the maximum closing force of the door?", DOORS, Status.PASS),
        ("150 N", GERMAN, Status.PASS),
    ],
)
def test_a_question_in_another_language_than_the_contexts_is_not_failed(question, contexts, status):
    found = ContextRelevance(threshold=0.6).judge(question=question, contexts=contexts)
    assert found.status is status, found.reasoning
    if status is Status.ABSTAIN:
        assert "another language than they are, and words are not translated" in found.reasoning


def test_without_a_threshold_the_number_is_given_in_any_language():
    found = SentenceSupport().judge(question=QUESTION, answer=FOREIGN[0], contexts=DOORS)
    assert found.status is Status.ABSTAIN
    assert found.reasoning.endswith("no threshold is set")
    assert 0 < found.metadata["support"] < 0.6


DUTCH = "Artikel 8. Het seizoen begint op 1 september 2024 en eindigt op 30 juni 2025. Leden betalen € 37,50."
FRENCH = "Article 8. La saison commence le 1er septembre 2024. Les juniors paient 37,50 euros."
NEGATED = [
    (DUTCH, "Het seizoen begint niet op 1 september 2024."),
    (DUTCH, "Leden betalen geen € 37,50."),
    (FRENCH, "La saison ne commence pas le 1er septembre 2024."),
    (FRENCH, "Les juniors n'ont jamais payé 37,50 euros."),
    ("Das Turnier beginnt am Montag um 9 Uhr.", "Das Turnier beginnt nicht am Montag um 9 Uhr."),
    ("El torneo empieza el lunes a las nueve.", "El torneo no empieza el lunes a las nueve."),
    ("Il torneo comincia il lunedì alle nove.", "Il torneo non comincia il lunedì alle nove."),
    ("O torneio começa no clube na segunda-feira.", "O torneio não começa no clube na segunda-feira."),
    ("Turneringen börjar på måndag klockan nio.", "Turneringen börjar inte på måndag klockan nio."),
]


@pytest.mark.parametrize(("plain", "negated"), NEGATED)
def test_no_sentence_passes_if_a_negation_of_any_language_differs(plain, negated):
    for answer, contexts in ((negated, plain), (plain.partition(". ")[2] or plain, negated)):
        found = SentenceSupport(threshold=0.5).judge(answer=answer, contexts=contexts)
        assert found.status is not Status.PASS, found.reasoning
        assert SentenceAlignment().judge(answer=answer, contexts=contexts).status is Status.ABSTAIN


@pytest.mark.parametrize("text", [text for pair in NEGATED for text in pair])
def test_a_sentence_passes_beside_itself(text):
    for jury in (SentenceSupport(threshold=0.6), SentenceAlignment()):
        assert jury.judge(answer=text, contexts=text).status is Status.PASS


def test_the_reason_names_the_negation():
    found = SentenceSupport(threshold=0.6).judge(answer=NEGATED[0][1], contexts=DUTCH)
    assert found.reasoning.endswith('("niet" is only in the answer)')
