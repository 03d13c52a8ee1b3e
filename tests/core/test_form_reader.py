"""Forms that are read from JSON values are the forms of the judgments in them."""

import json
from dataclasses import fields
from random import Random

import pytest
from support.random_verdicts import RandomVerdicts

from jury_adapters import Judgment, Verdict
from jury_adapters.core import form_reader
from jury_adapters.core.errors import InputError
from jury_adapters.core.form_reader import FormReader
from jury_adapters.core.forms import _key
from jury_adapters.core.serial import judgment_from_dict

VALUES = [
    None, True, False, 0, 1, -1, 0.5, 7.5, "", "PASS", "ABSTAIN", "née", "\ud800", [], ["a"], [None], [1], {},
    {"calls": 2}, {"calls": "2"}, {"cost_complete": False}, {"recorded": {"calls": 1}}, {"on": "score"},
    {"on": "label"},
    {"ballots": ["PASS", 0.5]}, {"ballots": [[1]]}, {"ballots": 5}, {"run_error": "down"}, {"not_asked": ["m"]},
    {"gold": "PASS"}, [{"status": "FAIL"}], [{"status": "nothing"}], [[]], [{"name": "first"}],
]  # fmt: skip


NOT_COUNTED = {
    "confidence", "probabilities", "reasoning", "findings", "claims", "elapsed_s", "raw_response", "score", "usage",
    "metadata", "case_id", "case_metadata", "partial", "same_family",
}  # fmt: skip
"""Fields whose invalid values may be accepted after a judgment of the same form: 1 equals True, for example."""


def refused(reader, data):
    try:
        reader.read(data)
    except InputError:
        return True
    return False


@pytest.mark.parametrize("seed", range(20))
def test_a_form_that_was_read_is_that_of_the_judgment(seed):
    make, reader = RandomVerdicts(Random(seed)), FormReader()
    for _ in range(60):
        verdict = make.verdict(case_metadata={"item_id": "q", "gold": make.draw.choice(["PASS", "FAIL"])})
        for judgment in (verdict, make.changed(verdict), verdict):
            data = json.loads(judgment.to_json())
            try:
                expected = judgment_from_dict(data)
            except InputError:  # an ABSTAIN with a score, for example
                with pytest.raises(InputError):
                    reader.read(data)
                continue
            form, metadata = reader.read(data)
            assert _key(form.judgment) == _key(expected)
            assert metadata == expected.case_metadata


@pytest.mark.parametrize("kind", ["judgment", "verdict"])
@pytest.mark.parametrize(
    "name", sorted({field.name for kind in (Judgment, Verdict) for field in fields(kind)} | {"agreement", "nothing"})
)
def test_any_value_in_any_field_gives_the_form_of_the_judgment(name, kind):
    inside = [{"status": "PASS", "critic": "a"}, {"status": "FAIL", "critic": "b"}]
    usual = {"status": "PASS", "critic": "jury", "reasoning": "short", "usage": {"calls": 1}}
    if kind == "verdict":
        usual = {"kind": "verdict", **usual, "judgments": inside, "tally": {"eligible": 2, "ballots": ["PASS", "FAIL"]}}
    reader = FormReader()
    reader.read(usual)
    for value in VALUES:
        for data in ({**usual, name: value}, {**usual, "judgments": [{**inside[0], name: value}]}):
            try:
                expected = judgment_from_dict(data)
            except InputError:
                assert name in NOT_COUNTED or refused(reader, data), value
                continue
            form, metadata = reader.read(data)
            assert _key(form.judgment) == _key(expected), value
            assert metadata == getattr(expected, "case_metadata", {})


TALLY = {"eligible": 2, "ballots": ["PASS", "FAIL"]}
CHANGES = [
    {"band_on": "pairs"}, {"band_on": "share"}, {"partial": True}, {"calls_saved": 1}, {"weights": [1, 2]},
    {"skipped": ["c"]},
    {"tally": TALLY | {"on": "label"}}, {"tally": TALLY | {"eligible": 1}}, {"tally": TALLY | {"ballots": ["PASS"]}},
    {"tally": TALLY | {"tied": True}}, {"tally": TALLY | {"errors_decided": True}}, {"usage": {"cost_complete": False}},
    {"label": "a"}, {"model": "a"}, {"critic": "a"}, {"usage": {"recorded": {"cost_complete": False}}},
    {"usage": {"recorded": {"calls": 1, "cost_complete": False}}}, {"usage": {"calls": 1, "cost_complete": False}},
    {"judgments": [{"status": "PASS", "label": "a"}]}, {"judgments": [{"status": "PASS", "model": "a"}]},
    {"judgments": [{"status": "PASS", "critic": "a"}]}, {"tally": TALLY | {"tied": False}},
    {"tally": TALLY | {"errors_decided": False}},
]  # fmt: skip


def test_judgments_that_count_differently_have_different_forms():
    reader = FormReader()
    for change in ({}, *CHANGES):
        data = {"kind": "verdict", "status": "FAIL", "voting": "majority", "tally": TALLY, **change}
        assert _key(reader.read(data)[0].judgment) == _key(judgment_from_dict(data)), change


def test_one_judgment_of_each_form_is_read(monkeypatch):
    built = []
    monkeypatch.setattr(form_reader, "judgment_from_dict", lambda data: built.append(data) or judgment_from_dict(data))
    reader = FormReader()
    votes = [
        {"status": "PASS", "critic": "a", "usage": {"calls": 1, "cost_usd": 0.1}},
        {"status": "ABSTAIN", "critic": "b", "reasoning": "no contexts"},
    ]
    data = {
        "kind": "verdict",
        "status": "PASS",
        "judgments": votes,
        "tally": {"eligible": 1, "ballots": ["PASS", None]},
    }
    forms = [
        reader.read({**data, "reasoning": f"{at}", "case_id": f"{at}", "case_metadata": {"at": at}}) for at in range(50)
    ]
    assert len(built) == 1
    assert len({id(form) for form, _ in forms}) == 1
    assert [metadata["at"] for _, metadata in forms] == list(range(50))


def test_values_that_do_not_count_are_not_checked_again():
    reader = FormReader()
    reader.read({"status": "PASS", "critic": "a", "confidence": 0.5})
    reader.read({"status": "PASS", "critic": "a", "confidence": 7})
    with pytest.raises(InputError, match="confidence"):
        FormReader().read({"status": "PASS", "critic": "a", "confidence": 7})


def test_each_vote_on_scores_has_a_form_of_its_own():
    data = {"kind": "verdict", "status": "PASS", "tally": {"on": "score", "eligible": 2, "ballots": [0.5, 0.7]}}
    reader = FormReader()
    assert reader.read(data)[0] is not reader.read(data)[0]


def test_very_many_forms_and_fields_do_not_fill_the_memory():
    reader = FormReader()
    for number in range(3_000):
        form, _ = reader.read({"status": "PASS", "label": f"{number}"})
        assert form.judgment.label == f"{number}"
        with pytest.raises(InputError):
            reader.read({"status": "PASS", f"field {number}": 1})
    assert len(reader._forms) <= 1 << 10
    assert len(reader._layouts) <= 1 << 10


@pytest.mark.parametrize("data", [[], "PASS", None, 1, {}, {"status": []}, {"kind": "verdict"}])
def test_what_is_no_judgment_is_refused(data):
    with pytest.raises(InputError):
        FormReader().read(data)


def test_deeply_nested_values_are_refused():
    data = {"status": "PASS"}
    for _ in range(5_000):
        data = {"kind": "verdict", "status": "PASS", "judgments": [data]}
    with pytest.raises(InputError):
        FormReader().read(data)
