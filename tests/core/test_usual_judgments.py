"""Fast reading of usual judgments: what it reads is what the constructors would make of it."""

import json
from dataclasses import fields
from random import Random

import pytest
from support.random_verdicts import RandomVerdicts

from jury_adapters import Judgment, Verdict
from jury_adapters.core.errors import InputError
from jury_adapters.core.serial import _USUAL, _read_any, judgment_from_dict

USUAL = {"status": "PASS", "critic": "a", "reasoning": "short", "usage": {"calls": 1, "cost_usd": 0.01}}
VALUES = [
    None, True, False, 0, 1, -1, 0.5, -0.5, -0.0, 1e400, float("nan"), "", "PASS", "ERROR", "née", "\ud800", "0.5", [],
    ["a"], [1], {}, {"calls": 2}, {"calls": -1}, {"calls": True}, {"recorded": {"calls": 1}}, {"on": "status"},
    {"on": "nothing"}, {"ballots": ["PASS", None, 0.5]}, [{"status": "PASS"}], [{"status": "nothing"}], 10**400,
]  # fmt: skip


def values_of(judgment):
    """Return all fields with their types, which equality does not tell apart."""
    if not isinstance(judgment, Judgment):
        return type(judgment), judgment
    found = {}
    for field in fields(judgment):
        value = getattr(judgment, field.name)
        found[field.name] = (
            [values_of(one) for one in value] if field.name == "judgments" else (type(value), repr(value))
        )
    return type(judgment), found


def read_both(data):
    """Return what the fast and the complete reader make of the same values; an error as its text."""
    try:
        expected = values_of(_read_any(data))
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        expected = type(error)
    try:
        usual = _USUAL.read(data)
    except ValueError as error:  # of a judgment inside, which is read in the complete way
        return type(error), expected
    return None if usual is None else values_of(usual), expected


@pytest.mark.parametrize("seed", range(20))
def test_written_judgments_are_read_alike(seed):
    make = RandomVerdicts(Random(seed))
    for _ in range(30):
        data = json.loads(make.verdict(case_metadata={"gold": "PASS", "née": [1, {"a": None}]}).to_json())
        for one in (data, *data.get("judgments", ())):
            usual, expected = read_both(one)
            assert usual in (None, expected)
            assert values_of(judgment_from_dict(one)) == expected


NAMES = sorted(
    {field.name for kind in (Judgment, Verdict) for field in fields(kind)} | {"kind", "agreement", "nothing"}
)


@pytest.mark.parametrize("kind", ["judgment", "verdict"])
@pytest.mark.parametrize("name", NAMES)
def test_any_value_in_any_field_is_read_as_the_constructors_say_or_not_at_all(name, kind):
    around = {"kind": "verdict"} if kind == "verdict" else {}
    for value in VALUES:
        usual, expected = read_both({**around, **USUAL, name: value})
        assert usual in (None, expected), value


@pytest.mark.parametrize("missing", USUAL)
def test_a_missing_value_is_read_as_the_constructors_say_or_not_at_all(missing):
    usual, expected = read_both({name: value for name, value in USUAL.items() if name != missing})
    assert usual in (None, expected)


@pytest.mark.parametrize("data", [[], "PASS", None, 1])
def test_what_is_no_object_is_refused(data):
    with pytest.raises(InputError):
        judgment_from_dict(data)


def test_the_usual_judgments_of_a_panel_are_read_in_the_fast_way():
    votes = [{**USUAL, "model": "m", "confidence": 0.5, "elapsed_s": 0.1, "critic": name} for name in "abc"]
    tally = {"eligible": 3, "passed": 3, "ballots": ["PASS"] * 3}
    data = {"kind": "verdict", **USUAL, "judgments": votes, "voting": "majority", "tally": tally, "agreement": 1.0}
    assert _USUAL.read(data) == judgment_from_dict(data)
    assert _USUAL.read(data).agreement == 1.0


def test_names_are_one_object_in_all_results():
    one, other = (judgment_from_dict(json.loads(json.dumps({**USUAL, "critic": "a long name"}))) for _ in range(2))
    assert one.critic is other.critic


def test_a_file_with_very_many_sets_of_fields_does_not_fill_the_memory():
    for number in range(2_000):
        with pytest.raises(InputError):
            judgment_from_dict({"status": "PASS", f"field {number}": 1})
    assert len(_USUAL._layouts) <= 256
