"""Operators: what they change, and what they leave alone because the change might not make it wrong."""

import re
from random import Random

import pytest

from jury_adapters import Case, ConfigurationError, Status
from jury_adapters.audit import OPERATORS, example_cases
from jury_adapters.audit.operators import operators_named
from jury_adapters.audit.operators.material import Material
from jury_adapters.checks import NamesAndNumbers

BY_NAME = {operator.name: operator for operator in OPERATORS}
FOREIGN = ["Zelda Brook sold 77 boats in Quarry Bay.", "The lamp of Onslow Mill was lit in 1811 by Theo Marsh."]


def mutants(operator, answer, *contexts, question="What is known?", seed=0):
    case = Case(question=question, contexts=contexts or (answer,), answer=answer)
    return BY_NAME[operator].mutants(Material(case, FOREIGN), Random(seed))


@pytest.mark.parametrize(
    ("operator", "answer", "changed"),
    [
        ("number", "The tank holds 300 litres.", r"The tank holds (?!300)\d+ litres\."),
        ("number", "It has three wheels.", r"It has (?!three)\w+ wheels\."),
        ("number", "The city has 1,250,000 inhabitants.", r"The city has (?!1,250,000)[\d,]+ inhabitants\."),
        ("date", "It was sold on 3 May 1987.", r"It was sold on (?!3 May 1987)3 \w+ \d{4}\."),
        ("date", "The shop is closed on Monday.", r"The shop is closed on (?!Monday)\w+day\."),
        ("unit", "The pole is 4 m long.", r"The pole is 4 (?:km|cm) long\."),
        ("name", "The song is by Anna Ruiz.", r"The song is by (?:Zelda Brook|Theo Marsh)\."),
        ("swap", "Anna Ruiz beat Olga Stern in the final.", r"Olga Stern beat Anna Ruiz in the final\."),
        ("negation", "The door is locked.", r"The door is not locked\."),
        ("negation", "Dogs cannot enter.", r"Dogs can enter\."),
        ("negation", "The park does not close at night.", r"The park does close at night\."),
        ("quantifier", "All of the rooms have a bath.", r"None of the rooms have a bath\."),
        ("quantifier", "Members must be at least 18 years old.", r"Members must be at most 18 years old\."),
        ("comparison", "The bridge is longer than the tunnel.", r"The bridge is shorter than the tunnel\."),
        ("comparison", "Wash your hands before eating.", r"Wash your hands after eating\."),
        ("condition", "Guests may park here unless it snows.", r"Guests may park here\."),
        ("foreign_sentence", "The tank is green.", r"The tank is green\. (?:Zelda|The lamp).*"),
        ("contradiction", "The door is locked.", r"The door is locked\. The door is not locked\."),
    ],
)  # fmt: skip
def test_a_right_answer_becomes_wrong(operator, answer, changed):
    found = mutants(operator, answer)
    assert found
    assert all(re.fullmatch(changed, mutant.answer) for mutant in found), found


@pytest.mark.parametrize(
    ("operator", "answer"),
    [
        ("number", "The bag weighs at least 40 kg."),  # any smaller number is implied
        ("number", "It takes more than 40 minutes."),
        ("number", "It takes up to 40 minutes."),
        ("number", "Between 40 and 60 people came."),
        ("number", "The class has 40 to 60 pupils."),
        ("number", "The bag does not weigh 40 kg."),  # nor does it weigh another number of kilograms
        ("number", "Parking is free for the first 40 minutes."),
        ("number", "The hall can seat 40 people."),
        ("number", "Is it 40 km away?"),
        ("number", "The claim is supported [2]."),
        ("number", "It is the 40th bridge."),
        ("number", "The A320 landed."),
        ("number", "Call 5550123456."),
        ("date", "The shop is open until 3 May 1987."),
        ("date", "It is open from Monday to Friday."),
        ("date", "He left before 1987."),
        ("unit", "Stay within 4 km of the tower."),
        ("swap", "Anna Ruiz and Olga Stern wrote the song."),  # a relation that holds both ways
        ("swap", "Anna Ruiz met Olga Stern at the station."),
        ("swap", "The road runs from Oslo Gate to Bergen Gate."),
        ("negation", "Some doors are locked."),  # some are not, too
        ("negation", "The door that is painted red leads to the roof."),  # another door, not the opposite
        ("negation", "It is usually warm."),
        ("negation", "The shop is not only cheap."),
        ("negation", "Is the door locked?"),
        ("quantifier", "All year round, boats leave here."),
        ("quantifier", "She came first of all."),
        ("comparison", "He no longer works there."),
        ("comparison", "She looks after the garden."),
        ("comparison", "He lives in Selby Falls."),
        ("comparison", "The increases were small."),
        ("condition", "Call us if you have questions."),
        ("condition", "Do not stop unless a doctor says so."),
    ],
)
def test_what_might_stay_right_is_left_alone(operator, answer):
    assert mutants(operator, answer) == []


@pytest.mark.parametrize(
    ("operator", "answer", "context"),
    [
        ("comparison", "Take it before meals.", "Take it before and after meals."),
        ("quantifier", "Some of the rooms have a bath.", "Some of the rooms have a bath, all of the rooms a sink."),
        ("unit", "The pole is 4 m long.", "The pole is 4 m long, which is 4 km on the map and 4 cm in the drawing."),
        ("name", "The song is by Anna Ruiz.", "Anna Ruiz, Zelda Brook and Theo Marsh wrote it in Quarry Bay."),
    ],
)
def test_the_source_is_asked_whether_the_change_is_right_too(operator, answer, context):
    assert mutants(operator, answer, context) == []


@pytest.mark.parametrize("operator", [BY_NAME["number"], BY_NAME["date"]], ids=lambda one: one.name)
def test_new_numbers_are_not_those_of_the_source(operator):
    for position, case in enumerate(example_cases()):
        source = " ".join([case.question, *case.contexts])
        known = set(re.findall(r"\d+(?:[.,:]\d+)*", source))
        for mutant in operator.mutants(Material(case, FOREIGN), Random(position)):
            new = set(re.findall(r"\d+(?:[.,:]\d+)*", mutant.answer)) - set(
                re.findall(r"\d+(?:[.,:]\d+)*", case.answer)
            )
            assert not new & known, (mutant.change, new & known)


@pytest.mark.slow
@pytest.mark.parametrize("operator", [one for one in OPERATORS if one.effect == "right"], ids=lambda one: one.name)
def test_a_rewritten_answer_has_the_same_facts(operator):
    check = NamesAndNumbers()
    made = 0
    for position, case in enumerate(example_cases()):
        for mutant in operator.mutants(Material(case), Random(position)):
            made += 1
            if operator.name != "unit_conversion":  # which the check does not follow
                judged = check.judge(case.model_copy(update={"answer": mutant.answer}))
                assert judged.status is not Status.FAIL, (mutant.change, judged.reasoning)
            words = [re.sub(r"\W", "", word).lower() for word in case.answer.split()]
            same = [re.sub(r"\W", "", word).lower() for word in mutant.answer.split()]
            assert len(set(words) ^ set(same)) < 14, mutant.change
    assert made >= 9


def test_units_are_converted_exactly():
    found = {
        mutant.change for mutant in mutants("unit_conversion", "It is 3.8 km long, weighs 7 kg and takes 45 minutes.")
    }
    assert found == {"3.8 km -> 3,800 metres", "7 kg -> 7,000 grams", "45 minutes -> 2,700 seconds"}


def test_a_name_with_a_number_keeps_it():
    assert [one.answer for one in mutants("number_notation", "It runs on Windows 7 for 3 hours.")] == [
        "It runs on Windows 7 for three hours."
    ]


def test_citations_name_another_passage():
    answer = "The tank is green [1]. The lid is made of oak [2]."
    found = mutants("citation", answer, "The tank was painted green.", "The lid is of oak and heavy.")
    assert {mutant.change for mutant in found} == {"[1] -> [2]", "[2] -> [1]"}
    (beyond,) = mutants("citation", "The tank is green [1].", "The tank is green.")
    assert re.fullmatch(r"\[1\] -> \[[234]\]", beyond.change)


@pytest.mark.parametrize(
    "answer",
    [
        "Der Turm ist 40 m hoch und wurde am 3. Mai 1987 von Anna Ruiz eröffnet.",
        "塔は40メートルです。",
        "",
        "?!",
        "x" * 5000,
    ],
)
def test_only_safe_changes_are_made_to_other_languages(answer):
    for operator in OPERATORS:
        found = mutants(
            operator.name, answer, "Der Turm steht in Köln und ist alt; die Stadt hat ihn gebaut und gepflegt."
        )
        if found:
            assert operator.name in ("foreign_sentence", "citation", "layout", "omission", "date_notation"), (
                operator.name
            )


def test_the_same_seed_gives_the_same_mutants():
    case = example_cases()[4]
    for operator in OPERATORS:
        first, second = (operator.mutants(Material(case, FOREIGN), Random("seed")) for _ in range(2))
        assert first == second


def test_an_unknown_operator_is_named():
    with pytest.raises(ConfigurationError, match=r"'numbr'.*number"):
        operators_named(["numbr"])
