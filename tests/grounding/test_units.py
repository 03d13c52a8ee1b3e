"""Measures in different units of one kind: equal where the conversion is exact, and different otherwise."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury_adapters import Status
from jury_adapters.checks import NamesAndNumbers, SentenceSupport
from jury_adapters.grounding.normalisation import tidy
from jury_adapters.grounding.number_index import NumberIndex
from jury_adapters.grounding.quantities import quantities
from jury_adapters.grounding.units import amounts, denominator, is_symbol, kind_of, unit_named

FORMS = {
    "length": {
        "1": [" m", "m", " metre", " meters"], "0.01": [" cm", "cm", " centimetres"],
        "0.001": [" mm", "mm", " millimetres"],
        "1000": [" km", "km", " kilometer"],
    },
    "mass": {"1": [" g", "g", " grams"], "1000": [" kg", "kg", " kilograms"], "1000000": [" t", "t", " tonnes"]},
    "volume": {"1": [" l", " L", "l", " litres"], "0.001": [" ml", " mL", "ml", " milliliters"], "0.01": [" cl"]},
    "time": {"1": [" s", " sec", " seconds"], "60": [" min", "min", " minutes"], "3600": [" h", "h", " hours"]},
}  # fmt: skip


def written(value):
    """The decimal text of a fraction, or "" where it has none of moderate length."""
    text = f"{float(value):.6f}".rstrip("0").rstrip(".")
    return text if Fraction(text) == value and value else ""


def pairs():
    for units in FORMS.values():
        for (factor, forms), (other, others) in itertools.product(units.items(), repeat=2):
            for number in ("70", "1.25", "2", "150"):
                converted = written(Fraction(number) * Fraction(factor) / Fraction(other))
                if converted and factor != other:
                    yield from ((f"{number}{form}", f"{converted}{there}") for form in forms for there in others)


PAIRS = list(pairs())


def judged(answer, context):
    return NamesAndNumbers().judge(
        answer=f"It is {answer} in all.", contexts=f"This is what is in it: it is {context} in all."
    )


@pytest.mark.slow
def test_each_exact_conversion_is_equal_in_both_directions():
    assert len(PAIRS) > 400
    assert [pair for pair in PAIRS if judged(*pair).findings] == []


def test_a_converted_value_that_is_different_is_flagged():
    """The same pairs with the last digit of one value changed, or with the units of both exchanged."""
    wrong = []
    for answer, context in PAIRS:
        digits = answer.rstrip("abcdefghijklmnopqrstuvwxyzL ")
        changed = digits[:-1] + str((int(digits[-1]) + 3) % 10 or 1)
        wrong.append((changed + answer[len(digits) :], context))
    assert [pair for pair in wrong if not judged(*pair).findings] == []


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("1 cm", "10 mm"), ("1.25 metres", "1250 mm"), ("70 cm", "700 mm"), ("2 tonnes", "2000 kg"),
        ("2 t", "2,000 kg"),
        ("1 cm", "10 millimetres"), ("125 cm", "1250 mm"), ("1 centimetre", "10 millimetres"), ("0.5 l", "500ml"),
        ("1,25 m", "125 cm"), ("90 s", "1.5 min"), ("two hours", "120 min"), ("10 metric tons", "10,000 kg"),
        ("30s", "0.5 minutes"), ("500 \u00b5m", "0.5 mm"), ("36 km/h", "10 m/s"), ("60 l/min", "1 litre per second"),
        ("1.5 g per day", "1500 mg daily"), ("5 g/l", "5000 mg per litre"), ("0.1 mm", "100 micrometres"),
        ("1 second", "1000 ms"),
    ],
)  # fmt: skip
def test_measures_that_are_equal(answer, context):
    assert not judged(answer, context).findings


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("1 cm", "1 mm"), ("1 cm", "100 mm"), ("7 m", "7 mm"), ("150 s", "150 min"), ("150 s", "150 h"),
        ("2 t", "2 kg"),
        ("5 l", "5 ml"), ("5 g", "5 kg"), ("1.25 metres", "125 mm"), ("1200 cm", "12 m/s"), ("36 km/h", "36 m/s"),
        ("35 km/h", "10 m/s"), ("5 g/l", "5 mg"), ("3,000 hours", "3 hours"), ("2,000 mm", "2 mm"),
        ("0,125 m", "125 m"),
        ("1000 ml", "1 kg"), ("2 km", "1.24 miles"),
    ],
)  # fmt: skip
def test_measures_that_differ(answer, context):
    assert judged(answer, context).findings


@settings(deadline=None)
@given(st.integers(1, 10**40), st.integers(0, 20))
def test_a_conversion_is_exact_for_long_numbers(number, zeros):
    shifted = amounts([str(number)], "km"), amounts([f"{number}000"], "m"), amounts([f"{number}001"], "m")
    assert shifted[0] == shifted[1] != shifted[2]
    assert amounts([f"0.{'0' * zeros}{number}"], "t") == amounts([f"0.{'0' * zeros}{number}"], "kg") or number


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("5 m", "m"), ("5m", "m"), ("5 M", ""), ("5 t-shirts", ""), ("5 G", ""), ("5 g", "g"), ("5 h", "h"),
        ("5 L", "l"),
        ("5 m2", "m^2"), ("5 m\u00b2", "m^2"), ("10 l'eau", ""), ("$5m", "USD"), ("$5MM", "USD"), ("5 s.t.", ""),
        ("5 Nm", "Nm"),
        ("5 min.", "min"), ("the 1990s", "decade"), ("5 million km", "km"),
    ],
)  # fmt: skip
def test_symbols_of_one_letter_are_units_where_they_stand_alone(text, unit):
    assert [found.unit for found in quantities(tidy(text))] == [unit]


def test_million_and_metres_have_one_letter():
    source = NumberIndex("The deal was worth 5m, and the road is 5 km long.")
    assert all(source.covers(found) for found in quantities("5,000,000 and 5 million and 5000 m"))


def test_denominators_and_kinds():
    assert denominator("5 m per second.", 3) == ("s", 14)
    assert denominator("5 euros per person", 7) == ("", 7)
    assert [kind_of(unit_named(name)) for name in ("Litres", "t", "T", "Euro", "")] == [
        "volume", "mass", None, "money", None,
    ]  # fmt: skip


SAME = [
    ("3,000 litres", "3 m\u00b3"), ("3,000 litres", "3 m3"), ("3,000 l", "3 cubic metres"), ("7 dm\u00b3", "7 litres"),
    ("7 cubic centimetres", "7 ml"), ("4 m\u00b2", "40,000 cm\u00b2"), ("2 ha", "20,000 square meters"),
    ("35 MPa", "350 bar"), ("350 bar", "35000 kPa"), ("8 hPa", "800 pascals"), ("0.9 kNm", "900 Nm"),
    ("900 newton metres", "900 Nm"), ("12 kN", "12,000 newtons"), ("5 kWh", "18 MJ"), ("5 kilowatt hours", "5 kWh"),
    ("5 kilowatt-hours", "5000 Wh"), ("2 GW", "2,000 megawatts"), ("3 GHz", "3000 MHz"), ("70 hertz", "70 Hz"),
    ("9,500 rpm", "9500 1/min"), ("9500 min\u207b\u00b9", "9500 U/min"), ("3000 rpm", "50 Hz"), ("6 kV", "6,000 volts"),
    ("25 mA", "0.025 A"),
    ("100 \u00b0C", "212 degrees Fahrenheit"), ("20 \u00b0C", "293.15 K"), ("4 inches", "101.6 mm"),
    ("2 lbs", "907.18474 g"), ("-10 \u00b0C", "14 \u00b0F"), ("65 mph", "65 miles per hour"),
    ("18.5 dollars per kWh", "18.5 dollars per kilowatt hour"),
]  # fmt: skip
OTHER = [
    ("380 gallons", "380 litres"), ("75 \u00b0F", "75 \u00b0C"), ("330 psi", "330 bar"), ("330 kPa", "330 bar"),
    ("900 kNm", "900 Nm"), ("3 m3", "3 litres"), ("6 MW", "6 mW"), ("6 kWh", "6 MWh"), ("50 rpm", "50 Hz"),
    ("7 cm\u00b2", "7 m\u00b2"), ("40 GB", "40 MB"), ("90 lb-ft", "90 Nm"),
]  # fmt: skip
OTHER_KIND = [("380 kg", "380 litres"), ("48 V", "48 A"), ("75 bar", "75 \u00b0C"), ("20 kW", "20 kWh")]
PLACE = "The tank of the pump station at the northern harbour is rated for {} in normal operation."


def of_place(measure):
    return PLACE.format(measure)


@pytest.mark.parametrize(("answer", "context"), SAME)
def test_a_measure_is_the_same_in_any_unit_with_an_exact_conversion(answer, context):
    assert not NamesAndNumbers().judge(answer=of_place(answer), contexts=of_place(context)).findings
    supported = SentenceSupport(threshold=0.9).judge(answer=of_place(answer), contexts=of_place(context))
    assert supported.status is Status.PASS, supported.reasoning


@pytest.mark.parametrize(("answer", "context"), OTHER)
def test_the_right_number_with_another_unit_of_its_kind_is_wrong(answer, context):
    judgment = NamesAndNumbers().judge(answer=of_place(answer), contexts=of_place(context))
    assert [finding.name for finding in judgment.findings] == [f"number: {tidy(answer)}"]


@pytest.mark.parametrize(("answer", "context"), OTHER + OTHER_KIND)
def test_support_abstains_where_the_contexts_have_a_number_with_another_unit_only(answer, context):
    supported = SentenceSupport(threshold=0.6).judge(answer=of_place(answer), contexts=of_place(context))
    assert supported.status is Status.ABSTAIN
    assert "the contexts have another sign, unit or year" in supported.reasoning


@pytest.mark.parametrize(("answer", "context"), OTHER_KIND)
def test_a_unit_of_another_kind_is_named(answer, context):
    judgment = NamesAndNumbers().judge(answer=of_place(answer), contexts=of_place(context))
    assert f"units, which are not compared ({answer})" in judgment.reasoning


def test_prefixes_are_read_by_rule():
    symbols = [prefix + unit for prefix in "kM" for unit in ("Hz", "Pa", "Nm", "Wh", "W", "V", "N", "J")]
    assert all(unit_named(symbol) == symbol and is_symbol(symbol) for symbol in symbols)
    words = {"kilo": "k", "mega": "M", "giga": "G", "milli": "m"}
    assert all(unit_named(f"{word}watts") == f"{prefix}W" for word, prefix in words.items())
    assert unit_named("KWH") == "kWh"
    assert unit_named("mpa") == ""  # mPa or MPa


@pytest.mark.parametrize("answer", ["It takes 5 Pa of Nm, Hz and kWh.", "The price per MWh and per GW is a secret."])
def test_symbols_of_units_are_no_names(answer):
    context = "The price of it all is a secret that the owner of the plant and his heirs have kept; it takes 5 Pa."
    assert NamesAndNumbers().judge(answer=answer, contexts=context).findings == ()


def test_a_symbol_after_per_is_no_name():
    context = of_place("12.4 cents per kilowatt hour")
    assert NamesAndNumbers().judge(answer=of_place("12.4 cents per kWh"), contexts=context).findings == ()


def test_a_word_of_german_is_a_unit_too():
    context = "Die Prüfung dauert 2 Stunden und wird alle 24 Monate gemacht."
    assert not NamesAndNumbers().judge(answer="Sie dauert 120 Minuten, alle 2 Jahre.", contexts=context).findings
    assert NamesAndNumbers().judge(answer="Sie dauert 130 Minuten.", contexts=context).findings
