"""Codes of letters and digits, such as part numbers, which are compared as wholes in any language."""

import pytest

from jury_adapters import Status
from jury_adapters.checks import NamesAndNumbers
from jury_adapters.grounding.codes import CodeIndex, codes
from jury_adapters.grounding.normalisation import tidy

VALVE = "The relief valve has the order code RV-3306-17 and it is held by four screws of the size M10."
GERMAN = "Das Ventil hat die Bestellnummer RV-3306-17 und wird mit vier Schrauben M10 auf dem Block gehalten."


def flagged(answer, contexts):
    return [finding.name for finding in NamesAndNumbers().judge(answer=answer, contexts=contexts).findings]


@pytest.mark.parametrize(
    "code", ["RV-8888-17", "RV-3360-17", "RV-3306-71", "RV-17-3306", "PX-3306-17", "RV/3306/19", "M16"]
)
@pytest.mark.parametrize(
    ("sentence", "contexts"),
    [("The valve has the order code {}.", VALVE), ("Das Ventil hat die Bestellnummer {}.", GERMAN)],
)
def test_a_code_with_any_other_group_is_flagged_as_a_whole(sentence, contexts, code):
    assert flagged(sentence.format(code), contexts) == [f"code: {code}"]


@pytest.mark.parametrize(
    "code", ["RV-3306-17", "rv-3306-17", "RV 3306 17", "RV3306-17", "RV/3306/17", "RV-3306", "M10"]
)
@pytest.mark.parametrize(
    ("sentence", "contexts"),
    [("The valve has the order code {}.", VALVE), ("Das Ventil hat die Bestellnummer {}.", GERMAN)],
)
def test_a_code_is_known_in_any_spelling(sentence, contexts, code):
    assert flagged(sentence.format(code), contexts) == []


@pytest.mark.parametrize(
    ("answer", "contexts"),
    [
        ("Covid-19 spread in 2020-21.", "The virus of COVID-19 spread in the winter of 2020-21 and then it was over."),
        ("It is a 24-hour service with a 6-month term.", "The service is open for 24 hours and the term is 6 months."),
        ("The F-16s were sold.", "The air force sold the F-16 in May, and it was the last of them."),
        ("GPT-4's answer was better.", "The answer of GPT 4 was better than that of the others in the test."),
        ("It needs a 24-V-supply of 230V/50Hz.", "It needs a supply of 24 V that is made from 230 V at 50 Hz."),
        ("Die M10-Schrauben halten das Ventil.", GERMAN),
        ("Das Blatt hat das Format A4.", GERMAN),
        ("Es gilt ab Q3-2020 und in KW-12.", "Es gilt ab dem dritten Quartal 2020 und in der Woche 12 des Jahres."),
    ],
)  # fmt: skip
def test_measures_periods_and_names_are_no_codes(answer, contexts):
    assert flagged(answer, contexts) == []


def test_a_code_between_letters_of_another_script_is_read():
    assert flagged("型番はRV-3399-17です。", "型番はRV-3306-17です。") == ["code: RV-3399-17"]


def test_a_code_is_something_to_compare():
    judgment = NamesAndNumbers().judge(answer="Die Bestellnummer ist RV-3306-17.", contexts=GERMAN)
    assert judgment.status is Status.ABSTAIN
    assert judgment.reasoning.startswith("all that was checked is in the contexts")


def test_addresses_and_versions_are_no_codes():
    assert [*codes(tidy("See a1@b2.org, v1.2.3, 9AM-5PM, $1.5M-$2M, 12-JAN-2020 and Mon-Fri/9-5."))] == []


@pytest.mark.slow
def test_time_is_linear_in_the_text():
    list(codes("A1-" * 200_000))
    list(codes("A" * 500_000))
    assert not CodeIndex("AB-12 " * 200_000).has("AB-13")
