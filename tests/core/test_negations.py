"""Negations of European languages, and words that look like them."""

import pytest

from jury_adapters.core.claims import Claim, combine_claims
from jury_adapters.core.negations import find_negation, negates

NEGATED = [
    "The museum is not open.",
    "The museum can't open.",
    "There is no fee for 29 members.",
    "Het seizoen begint niet op 1 september 2024.",
    "Leden betalen geen € 37,50.",
    "La saison ne commence pas le 1 septembre.",
    "Ce n\u2019est plus possible.",
    "C'est pas possible.",
    "Pas de remboursement.",
    "Sans frais.",
    "Das Turnier beginnt nicht am 1. September.",
    "Es gibt keinen Rabatt.",
    "El torneo no empieza el 1 de mayo.",
    "Nunca hay descuento.",
    "Il torneo non comincia il 1 maggio.",
    "A época não começa no dia 1.",
    "Turneringen börjar inte i maj.",
    "Turneringen begynder ikke i maj.",
    "Umowa nie obowiązuje.",
    "Договор не действует.",
    "Das Ventil darf keinesfalls offen sein.",
    "Das ist keineswegs sicher.",
    "Ein Leck ist nirgendwo zu sehen.",
    "Das Öl ist kaum zu sehen.",
    "Das Rauchen ist hier verboten.",
    "Das Betreten ist untersagt.",
    "Dat is geenszins veilig.",
    "Roken is hier verboden.",
    "Il est interdit de fumer.",
    "Está prohibido fumar.",
    "È vietato fumare.",
    "É proibido fumar.",
    "Det är förbjudet.",
    "Det er næppe åbent.",
    "Palenie zabronione.",
    "Курить запрещено.",
    "Курити заборонено.",
    "Το κάπνισμα απαγορεύεται.",  # noqa: RUF001
    "The pump is hardly audible.",
    "Smoking is prohibited.",
    "Κανείς δεν ήρθε.",
    "Η συμφωνία δεν ισχύει.",  # noqa: RUF001
]
PLAIN = [
    "The museum is open.",
    "No, the museum is open.",
    "Non, le musée est ouvert.",
    "Das Museum ist noch offen, die Halle auch.",
    "Nein, das Museum ist offen.",
    "La saison commence en mai avec deux personnes de plus.",
    "Il a fait un pas.",
    "Elle ne paie que 5 euros.",
    "Ne ha parlato il presidente.",
    "Het seizoen begint pas op 1 september.",
    "A época começa no dia 1.",
    "Uma reunião no clube.",
    "A nonprofit association",
    "Smoking is not forbidden.",
    "It isn't prohibited to smoke.",
    "Das Rauchen ist nicht mehr verboten.",
    "Il n'est pas interdit de fumer.",
    "No está prohibido fumar.",
    "La saison va de mai à juin.",
]


@pytest.mark.parametrize("text", NEGATED)
def test_a_negation_is_found(text):
    assert find_negation(text)


@pytest.mark.parametrize("text", PLAIN)
def test_other_words_are_no_negation(text):
    assert find_negation(text) == ""


def test_a_text_shows_the_language_of_the_one_beside_it():
    assert find_negation("Reunião no clube.", near="A reunião não é aqui.") == ""
    assert find_negation("There is no club.", near="It is not here.") == "no"


def test_a_word_that_may_be_a_part_of_a_negation_is_known():
    assert all(map(negates, ("NIET", "n'est", "pas", "não", "isn't")))
    assert not any(map(negates, ("point", "mai", "noch", "open")))


def test_a_negated_claim_matches_no_plain_one_in_other_languages():
    one, two = Claim("Leden betalen 37 euro", "supported"), Claim("Leden betalen geen 37 euro", "supported")
    assert len(combine_claims([("a", [one]), ("b", [two])])) == 2


def test_what_is_forbidden_and_what_is_not_differ_in_their_negation():
    assert bool(find_negation("Smoking is forbidden.")) is bool(find_negation("Smoking is not allowed."))
    assert bool(find_negation("Smoking is forbidden.")) is not bool(find_negation("Smoking is not forbidden."))


@pytest.mark.slow
def test_time_is_linear_in_the_text():
    find_negation("n'" * 200_000)
    find_negation("ne a " * 100_000)
    find_negation("a" * 500_000)
