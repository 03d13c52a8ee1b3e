"""Answers in another language than their English contexts, and checks that know English only."""

import gzip
import json
from pathlib import Path

import pytest

import jury_adapters
from jury_adapters import Status
from jury_adapters.checks import NamesAndNumbers, RefusalCheck, SentenceAlignment, SentenceSupport
from jury_adapters.grounding.languages import is_foreign

CONTEXTS = [
    "Household policy, section 3 (deductible). The policyholder, Anna Smith, bears the first 250 euros of each loss. "
    "For losses by natural forces the deductible is 500 euros."
]
GERMAN = "Wie hoch ist die Selbstbeteiligung meiner Hausratversicherung?"
ENGLISH = "What is the deductible?"
ANSWERS = [
    "Die Selbstbeteiligung beträgt 250 Euro.",
    "Bei Sturm sind es 500 Euro.",
    "Sie tragen je Schaden 250 Euro, bei Naturgewalten 500 Euro.",
    "Der Schaden wird mit 250 Euro Abzug bezahlt.",
    "La franchise est de 250 Euros pour chaque Sinistre.",
    "El deducible es de 250 Euros por cada Siniestro.",
    "La franchigia è di 250 Euro per ogni Danno, più le Spese.",
    "Udział własny wynosi 250 Euro za Szkodę.",
]


def judged(answer, question=""):
    return NamesAndNumbers().judge(question=question, answer=answer, contexts=CONTEXTS)


@pytest.mark.parametrize("question", [GERMAN, ENGLISH, ""])
@pytest.mark.parametrize("answer", ANSWERS)
def test_short_answers_are_not_failed_for_how_their_language_writes_nouns(answer, question):
    judgment = judged(answer, question)
    assert judgment.status is Status.ABSTAIN, judgment.reasoning
    assert "not checked: names, because the answer does not read as English" in judgment.reasoning


@pytest.mark.parametrize(
    "answer", ["250 Euro Abzug.", "Selbstbeteiligung: 500 Euro", "Ja, bei Sturm.", "In bar: 250 Euro"]
)
def test_an_answer_of_a_few_words_is_in_the_language_of_its_question(answer):
    assert judged(answer, GERMAN).status is Status.ABSTAIN
    assert is_foreign(answer, GERMAN)


@pytest.mark.parametrize("answer", [
    "Anna Jones bears the first 250 euros.", "The policyholder Jones pays the deductible.", "It is paid by Mr. Jones.",
])  # fmt: skip
def test_names_of_an_english_answer_to_a_foreign_question_are_checked(answer):
    assert next(finding.name for finding in judged(answer, GERMAN).findings).startswith("name: ")


def test_numbers_are_checked_in_every_language():
    assert [finding.name for finding in judged("Die Selbstbeteiligung beträgt 950 Euro.", GERMAN).findings] == [
        "number: 950 Euro"
    ]


@pytest.mark.parametrize("answer", [
    "Ludwig Mies van der Rohe, Ursula von der Leyen", "Los Angeles. La Paz.", "A naïve résumé of the café.", "Die Hard",
    "He cut the bis-ester with a per diem, et cetera.", "The Los Alamos museum is in El Paso, not in Las Vegas.",
])  # fmt: skip
def test_english_with_foreign_words_is_english(answer):
    assert not is_foreign(answer)
    assert not is_foreign(answer, ENGLISH)


def test_short_english_answers_are_english():
    file = Path(jury_adapters.__file__).parent / "cli" / "data" / "codefeedback_200.jsonl.gz"
    with gzip.open(file, "rt") as lines:
        answers = [json.loads(line)["answer"] for line in lines]
    assert len(answers) > 150
    assert not list(filter(is_foreign, answers))


def test_one_euro_is_known_where_the_contexts_have_euros():
    assert judged("It costs 250 Euro.", ENGLISH).status is Status.ABSTAIN


def test_a_refusal_in_another_language_is_not_passed():
    for answer in (
        "Das kann ich leider nicht beantworten.",
        "Я не могу ответить.",
        "\u6211\u65e0\u6cd5\u56de\u7b54\u3002",
    ):
        judgment = RefusalCheck().judge(answer=answer)
        assert judgment.status is Status.ABSTAIN
        assert judgment.reasoning == "only English refusals are known, and the answer does not read as English"
    assert RefusalCheck().judge(answer="It opens at nine.").reasoning == "does not open with a refusal in English"
    assert RefusalCheck().judge(question=GERMAN, answer="I can't help with that.").status is Status.FAIL


def test_the_reason_of_low_support_says_that_words_are_not_translated():
    said = "the answer does not read as English, and the contexts do; words are not translated"
    for check in (SentenceSupport(threshold=0.5), SentenceAlignment()):
        judgment = check.judge(question=GERMAN, answer=ANSWERS[0], contexts=CONTEXTS)
        assert said in judgment.reasoning
        assert said not in check.judge(question=ENGLISH, answer="It is borne by Bob.", contexts=CONTEXTS).reasoning
