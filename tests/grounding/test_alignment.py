"""Sentences that are nearly verbatim in the contexts: what may be left out, and what changes the sentence."""

import pytest

from jury_adapters import Status
from jury_adapters.checks import SentenceAlignment
from jury_adapters.grounding import grounding_screen
from jury_adapters.grounding.exact_words import exact_words
from jury_adapters.grounding.normalisation import tidy

SIGNS = [
    ("It is open until 5 p.m. on Fridays and from 9 a.m. on Mondays.", "It is open until 5 a.m. on Fridays."),
    ("Doors open at 7:30 am and close at 9:30 pm.", "Doors open at 7:30 pm."),
    ("Doors open at noon, 12 p.m. sharp.", "Doors open at noon, 12 a.m. sharp."),
    ("The temperature limit is -5 °C.", "The temperature limit is 5 °C."),
    ("The temperature limit is \u22125 °C.", "The temperature limit is 5 °C."),
    ("The temperature limit is 5 °C.", "The temperature limit is -5 °C."),
    ("The year closed with -€ 400.", "The year closed with € 400."),
    ("The fee rises by 5 ‰.", "The fee rises by 5 %."),
    ("The fee rises by 5 %.", "The fee rises by 5."),
    ("The debt is 40 million €.", "The debt is 40 million $."),
    ("The debt is € 40 million.", "The debt is $ 40 million."),
    ("The share is .5 percent.", "The share is 5 percent."),
    ("The pH of the pool is > 7.", "The pH of the pool is < 7."),
    ("The pH of the pool is ≤ 7.", "The pH of the pool is 7."),
    ("The swim is for ages 16+ today.", "The swim is for ages 16 today."),
    ("The count is 10⁶ today.", "The count is 106 today."),
    ("The walk takes 5½ hours.", "The walk takes 51/2 hours."),
    ("The limit is 5 km/h in town.", "The limit is 5 km."),
    ("Anna writes C# at work.", "Anna writes C at work."),
]  # fmt: skip
LEFT_OUT = [
    ("The doors open half an hour before each match.", "The doors open an hour before each match."),
    ("Juniors pay half the entry fee of the seniors.", "Juniors pay the entry fee of the seniors."),
    ("Juniors pay a quarter of the entry fee of the seniors.", "Juniors pay the entry fee of the seniors."),
    ("Juniors pay twice the entry fee of the seniors.", "Juniors pay the entry fee of the seniors."),
    ("The licence costs more than € 40 for adults.", "The licence costs € 40 for adults."),
    ("The licence costs over € 40 for adults.", "The licence costs € 40 for adults."),
    ("The licence costs up to € 40 for adults.", "The licence costs € 40 for adults."),
    ("The licence costs nearly € 40 for adults.", "The licence costs € 40 for adults."),
    ("The licence costs € 40 per month for adults.", "The licence costs € 40 for adults."),
    ("The licence costs € 40 more for adults.", "The licence costs € 40 for adults."),
    ("Each club enters at most four teams.", "Each club enters four teams."),
    ("A club may enter at most four teams.", "A club may enter four teams."),
    ("Each club enters four new teams.", "Each club enters four teams."),
    ("The walk is 5 to 7 km long.", "The walk is 5 km long."),
    ("The walk is 5-7 km long.", "The walk is 5 km long."),
    ("The walk is 5 to 7 km long.", "The walk is 7 km long."),
    ("The walk takes 45 minutes.", "The walk takes 45."),
    ("Seniors pay 40, juniors 20.", "Seniors pay 20."),
    ("Ann lives in Rome, Bo in Oslo.", "Ann lives in Oslo."),
    ("Ann lives in Rome; Bo in Oslo.", "Ann lives in Oslo."),
    ("Ann stayed and Bo left.", "Ann left."),
    ("Ann left early. Bo stayed in Oslo.", "Ann stayed in Oslo."),
    ("| Seniors | 40 |\n| Juniors | 20 |", "Seniors 20"),
    ("Two of the members voted against it.", "The members voted against it."),
    ("40 % of the members voted against it.", "The members voted against it."),
    ("Most of the members voted against it.", "The members voted against it."),
    ("The committee meets every second week.", "The committee meets every week."),
    ("The pool is open until May.", "The pool is open."),
    ("Drinks are free after midnight.", "Drinks are free."),
    ("Dogs are welcome, except in the bar.", "Dogs are welcome."),
    ("Only members vote on the budget.", "Members vote on the budget."),
    ("It is not safe and not cheap.", "It is safe and not cheap."),
    ("The members who paid vote on the budget.", "The members vote on the budget."),
    ("The vice-president resigned in May.", "The president resigned in May."),
    ("Non-members pay 40 euros.", "Members pay 40 euros."),
    ("The king's son died in May.", "The king died in May."),
    ("The son of the king died in May.", "The king died in May."),
    ("According to Ann, the drug is safe.", "The drug is safe."),
    ("Do members pay a fee?", "Members pay a fee."),
    ("It was five degrees below zero.", "It was five degrees."),
    ("It is closed from Monday to Friday.", "It is closed from Monday."),
    ("The fee is € 40 (per quarter).", "The fee is € 40."),
    ("It is far from certain that Ann left.", "It is certain that Ann left."),
    ("The temperature fell from 20 to 5 degrees.", "The temperature fell from 20."),
    ("The lift carries 4-6 people.", "The lift carries 6 people."),
    ("Adults: 10 euros, Children: 5 euros", "Adults: 5 euros"),
    ("Ann lived in Rome until 2010.", "Ann lived in Rome."),
]  # fmt: skip
RESTRICTED = [
    ("Take the tablets for seven days.", "Take the tablets."),
    ("Do not take ibuprofen in the last 3 months of pregnancy.", "Do not take ibuprofen."),
    ("In the last 3 months of pregnancy, do not take ibuprofen.", "Do not take ibuprofen."),
    ("Take the tablets with food, at most twice.", "Take the tablets with food."),
    ("The ward is closed to visitors in room 12.", "The ward is closed to visitors."),
    ("The ward is closed to visitors at night.", "The ward is closed to visitors."),
    ("Patients with a pacemaker cannot be scanned.", "Patients cannot be scanned."),
    ("Children without a parent cannot visit the ward.", "Children cannot visit the ward."),
    ("On Sundays, the library is closed.", "The library is closed."),
    ("On Sundays the library is closed.", "The library is closed."),
    ("The licence costs € 40 for adults.", "The licence costs €40."),
    ("The harbour was built in 1874 by Marta Olsen.", "The harbour was built by Marta Olsen."),
    ("The ferry between the islands stopped running in 2018.", "The ferry stopped running in 2018."),
    ("Patienten mit Herzschrittmacher werden nicht untersucht.", "Patienten werden nicht untersucht."),
    ("Nehmen Sie die Tabletten sieben Tage lang.", "Nehmen Sie die Tabletten."),
    ("Les enfants avec un parent visitent le service.", "Les enfants visitent le service."),
    ("El museo cierra los lunes de invierno.", "El museo cierra los lunes."),
]


SAME = [
    ("It is open until 5 p.m. on Fridays and from 9 a.m. on Mondays.", "It is open until 5 pm on Fridays."),
    ("The temperature limit is -5 °C.", "The temperature limit is \u22125°C."),
    ("The fee rises by 5 ‰.", "The fee rises by 5‰."),
    ("The licence costs € 40, payable in June.", "The licence costs €40."),
    ("The licence costs more than € 40.", "The licence costs more than €40."),
    ("The licence costs € 40 for adults.", "The licence costs 40 € for adults."),
    ("The licence costs 1,400 euros and is due in June.", "The licence costs 1400 euros."),
    ("Ann left the firm in 2018 after a strike, and Bo stayed.", "Ann left the firm in 2018 after a strike."),
    ("Lunvik, a town of 4,000, is closed to cars.", "Lunvik is closed to cars."),
    ("5.1 The committee meets on Mondays.", "The committee meets on Mondays."),
    ("Article 5: The committee meets on Mondays.", "The committee meets on Mondays."),
    ("The old harbour was built by Marta Olsen.", "The harbour was built by Marta Olsen."),
    ("The harbour was built in 1874 by Marta Olsen.", "in 1874"),
    ("The ferry stopped running in 2018, a bad year.", "The ferry stopped running in 2018."),
    ("The club sold its court; members must pay 40 euros.", "The club sold its court."),
    ("Die Fähre fuhr bis 2018, und die Brücke kam später.", "Die Fähre fuhr bis 2018."),
    ("Two of the members voted against it.", "Two of the members voted against it."),
    ("| Seniors | 40 |\n| Juniors | 20 |", "Seniors: 40"),
    ("The walk takes 45 minutes.", "45 minutes"),
    ("Do members pay a fee? Members pay a fee of 40 euros.", "Members pay a fee of 40 euros."),
]  # fmt: skip


@pytest.mark.parametrize(("context", "answer"), [*SIGNS, *LEFT_OUT, *RESTRICTED])
def test_a_sentence_that_lost_what_changes_it_is_not_passed(context, answer):
    judged = SentenceAlignment().judge(answer=answer, contexts=[context])
    assert judged.status is Status.ABSTAIN, judged
    assert judged.findings[0].detail
    assert grounding_screen().judge(answer=answer, contexts=[context]).status is not Status.PASS


@pytest.mark.parametrize(("context", "answer"), SAME)
def test_a_sentence_that_lost_nothing_of_that_kind_passes(context, answer):
    judged = SentenceAlignment().judge(answer=answer, contexts=[context])
    assert judged.status is Status.PASS, judged.findings


@pytest.mark.parametrize("text", [context for pairs in (SIGNS, LEFT_OUT, RESTRICTED, SAME) for context, _ in pairs])
def test_a_text_passes_beside_itself(text):
    assert SentenceAlignment().judge(answer=text, contexts=[text]).status is Status.PASS
    assert SentenceAlignment().judge(answer=text, contexts=[f"It is so. {text} That is all."]).status is Status.PASS


def test_the_signs_of_a_long_text_without_stops_are_kept():
    filler = " ".join(f"word{number}" for number in range(300))
    context = f"{filler}, the limit at noon is -5 degrees, {filler}"
    assert SentenceAlignment().judge(answer="The limit at noon is -5 degrees.", contexts=[context]).status == "PASS"
    assert SentenceAlignment().judge(answer="The limit at noon is 5 degrees.", contexts=[context]).status == "ABSTAIN"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$1,400.00 or 1.400,00 €", ["1400.00$", "or", "1.400,00€"]),
        ("9 -17 h", ["9", "17", "h"]),
        ("from -5 to \u22127", ["from", "-5", "to", "-7"]),
        ("2.15 p.m. and 5:00 AM", ["2:15pm", "and", "5am"]),
        ("C++ at 5 m²", ["c++", "at", "5", "m2"]),
        ("don't, cannot", ["do", "not", "can", "not"]),
    ],
)
def test_words_keep_their_signs(text, found):
    assert exact_words(tidy(text)) == found


QUALIFIED = [
    ("Das Ventil wird ", "höchstens ", "mit 30 Nm gedreht."),
    ("Der Filter wird ", "spätestens ", "nach 9 Tagen gereinigt."),
    ("Das Gerät wird ", "nur ", "mit 12 Volt betrieben."), ("Das Gerät wird ", "mindestens ", "mit 12 Volt betrieben."),
    ("Der Tank fasst ", "etwa ", "12 Liter Wasser."), ("Das Ventil ist ", "möglicherweise ", "undicht und alt."),
    ("", "Fast ", "alle Ventile sind undicht und alt."), ("Das Gerät läuft im Winter", ", außer bei Sturm", "."),
    ("", "Mehr als ", "die Hälfte der Ventile ist undicht."), ("Das Rauchen ist im Hof ", "verboten und ", "teuer."),
    ("La soupape est serrée ", "au maximum ", "à 30 Nm."), ("La soupape est ", "peut-être ", "usée et vieille."),
    ("La válvula se aprieta ", "como máximo ", "con 30 Nm."), ("La válvula está ", "quizás ", "rota y vieja."),
    ("La valvola è serrata ", "al massimo ", "con 30 Nm."), ("A válvula é apertada ", "no máximo ", "com 30 Nm."),
    ("De klep wordt ", "hoogstens ", "met 30 Nm aangedraaid."), ("De klep is ", "misschien ", "kapot en oud."),
    ("Ventilen dras ", "högst ", "med 30 Nm i dag."), ("Ventilen spændes ", "højst ", "med 30 Nm i dag."),
    ("Ventilen trekkes ", "kanskje ", "med 30 Nm i dag."), ("Zawór dokręca się ", "najwyżej ", "siłą 30 Nm."),
    ("Клапан затягивают ", "только ", "с силой 30 Нм."), ("Клапан затягують ", "лише ", "з силою 30 Нм."),  # noqa: RUF001
    ("Η βαλβίδα σφίγγεται ", "μόνο ", "με 30 Nm σήμερα."),  # noqa: RUF001
]  # fmt: skip


@pytest.mark.parametrize(("start", "qualifier", "end"), QUALIFIED)
def test_a_bound_or_hedge_may_not_be_left_out_in_other_languages(start, qualifier, end):
    answer = start + end if start else end[0].upper() + end[1:]
    contexts = f"{start}{qualifier}{end}"
    assert SentenceAlignment().judge(answer=contexts, contexts=contexts).status is Status.PASS
    assert SentenceAlignment().judge(answer=answer, contexts=contexts).status is Status.ABSTAIN


@pytest.mark.parametrize(
    ("contexts", "answer"),
    [
        ("Das Ventil wird mit 30 Nm gedreht; die Mutter nur von Hand.", "Das Ventil wird mit 30 Nm gedreht."),
        ("Das kleine Ventil wird höchstens mit 30 Nm gedreht.", "Das Ventil wird höchstens mit 30 Nm gedreht."),
        ("The fast ferry to the solo island left in May.", "The ferry to the island left in May."),
    ],
)
def test_what_bounds_another_clause_or_is_an_english_word_may_be_left_out(contexts, answer):
    assert SentenceAlignment().judge(answer=answer, contexts=contexts).status is Status.PASS
