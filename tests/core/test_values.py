"""The gate through which values enter results: frozen, clean, finite."""

import copy
import datetime
import decimal
import json
import pickle
import types
from collections import OrderedDict, UserDict, deque, namedtuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import ConfigurationError
from jury_adapters.core.values import (
    EMPTY,
    FrozenDict,
    clean_text,
    freeze,
    freeze_mapping,
    normalise_score,
    unit_interval,
)

NAN, INF = float("nan"), float("inf")

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.dates(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text() | st.integers(), inner)
        | st.sets(st.integers() | st.text())
        | st.tuples(inner, inner)
    ),
    max_leaves=15,
)


@given(anything)
def test_whatever_is_frozen_can_be_hashed_and_written_as_strict_json(value):
    frozen = freeze(value)
    hash(frozen)
    text = json.dumps(frozen, allow_nan=False)
    assert freeze(json.loads(text)) == frozen
    assert freeze(frozen) == frozen


@pytest.mark.parametrize("method", ["update", "setdefault", "pop", "popitem", "clear", "__setitem__", "__delitem__"])
def test_a_frozen_dict_refuses_every_way_to_change_it(method):
    frozen = FrozenDict(a=1)
    with pytest.raises(TypeError, match="cannot be changed"):
        getattr(frozen, method)("a", 2)
    with pytest.raises(TypeError, match="cannot be changed"):
        frozen |= {"b": 2}
    assert frozen == {"a": 1}


def test_a_frozen_dict_is_a_dict_that_can_be_hashed_copied_and_pickled():
    frozen = freeze({"a": [1, {"b": 2}]})
    assert isinstance(frozen, dict)
    assert json.loads(json.dumps(frozen)) == {"a": [1, {"b": 2}]}
    assert hash(frozen) == hash(freeze({"a": [1, {"b": 2}]}))
    for again in (pickle.loads(pickle.dumps(frozen)), copy.copy(frozen), copy.deepcopy(frozen)):
        assert again == frozen
        assert isinstance(again, FrozenDict)
        assert isinstance(again["a"][1], FrozenDict)
    assert isinstance(dict(frozen), dict)


def test_what_was_frozen_does_not_follow_its_source():
    source = {"list": [1], "dict": {"k": [2]}}
    frozen = freeze_mapping(source)
    source["list"].append(2)
    source["dict"]["k"].append(3)
    source["new"] = 1
    assert frozen == {"list": (1,), "dict": {"k": (2,)}}


@pytest.mark.parametrize("mapping", [OrderedDict(a=[1]), UserDict(a=[1]), types.MappingProxyType({"a": [1]})])
def test_every_mapping_becomes_a_frozen_dict(mapping):
    assert isinstance(freeze(mapping), FrozenDict)
    assert freeze(mapping) == {"a": (1,)}


@pytest.mark.parametrize(
    ("value", "frozen"),
    [
        (NAN, None),
        (INF, None),
        (-INF, None),
        ([NAN, 1.0], (None, 1.0)),
        (deque([1, 2]), (1, 2)),
        (range(3), (0, 1, 2)),
        ({3, 1, 2}, (1, 2, 3)),
        (frozenset("ba"), ("a", "b")),
        (b"raw", "b'raw'"),
        (decimal.Decimal("1.10"), "1.10"),
        (datetime.date(2024, 1, 31), "2024-01-31"),
        (namedtuple("Point", "x y")(1, 2), (1, 2)),
        ({1: "a", None: "b"}, FrozenDict({"1": "a", "None": "b"})),
        (np.int64(7), 7),
        (np.float32(0.5), 0.5),
        (np.float64("nan"), None),
        (np.bool_(True), True),
        (np.array(3), 3),
    ],
)
def test_values_are_frozen_to_their_json_meaning(value, frozen):
    assert freeze(value) == frozen
    assert type(freeze(value)) is type(frozen)


def test_an_integer_too_long_for_decimal_digits_becomes_text_that_can_be_written():
    huge = 10**5000
    assert freeze(huge) == hex(huge)
    assert freeze(-huge) == hex(-huge)
    assert freeze(10**3000) == 10**3000
    json.dumps(freeze([huge, 10**3000]))


def test_an_object_that_cannot_even_be_shown_is_named():
    class Grumpy:
        def __str__(self):
            raise RuntimeError("no")

    assert freeze({"a": Grumpy()}) == {"a": "(Grumpy cannot be shown)"}
    assert freeze({Grumpy(): 1}) == {"(Grumpy cannot be shown)": 1}


def test_deep_values_are_taken_to_a_depth_of_100_and_no_further():
    value = 1
    for _ in range(100):
        value = {"a": value}
    json.dumps(freeze(value))
    hash(freeze(value))
    with pytest.raises(ConfigurationError, match="deeper than 100"):
        freeze([[value]])
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ConfigurationError, match="deeper than 100"):
        freeze(value)


def test_a_value_that_contains_itself_is_refused():
    cycle = {}
    cycle["self"] = [cycle]
    with pytest.raises(ConfigurationError, match="contains itself"):
        freeze_mapping(cycle)


@pytest.mark.parametrize("value", [5, "text", [("a", 1)], object()])
def test_what_is_no_mapping_is_refused_as_one(value):
    with pytest.raises(ConfigurationError, match=f"expected a mapping.*{type(value).__name__}"):
        freeze_mapping(value)


def test_the_empty_mapping_is_shared():
    assert freeze_mapping({}) is EMPTY
    assert freeze_mapping(None) is EMPTY
    assert EMPTY == {}


@pytest.mark.slow
@given(st.text(alphabet=st.characters(categories=["Cs", "Ll", "So", "Zs", "Cc"])))
def test_clean_text_can_always_be_encoded_and_leaves_good_text_alone(text):
    clean = clean_text(text)
    clean.encode()
    assert clean_text(clean) == clean
    if not any("\ud800" <= char <= "\udfff" for char in text):
        assert clean == text


@pytest.mark.parametrize("value", [NAN, INF, -INF, -0.001, 1.001, "0.5", None, [0.5], 1j, decimal.Decimal("0.5")])
def test_what_is_no_number_from_0_to_1_is_refused(value):
    with pytest.raises(ConfigurationError, match="the thing must be a number from 0 to 1"):
        unit_interval(value, "the thing")


@pytest.mark.parametrize("value", [0, 1, True, 0.25, np.float32(0.25), np.float64(1), np.int8(1)])
def test_a_number_from_0_to_1_becomes_a_plain_float(value):
    assert unit_interval(value, "score") == float(value)
    assert type(unit_interval(value, "score")) is float


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9), st.floats(0, 1))
def test_a_score_on_any_scale_becomes_one_from_0_to_1(one, other, share):
    low, high = sorted((one, other))
    if not low < high:
        return
    value = min(max(low + share * (high - low), low), high)
    assert 0.0 <= normalise_score(value, low, high) <= 1.0
    assert normalise_score(low, low, high) == 0.0
    assert normalise_score(high, low, high) == 1.0


@pytest.mark.parametrize(
    "arguments", [(0.5, 1, 1), (0.5, 1, 0), (0.5, NAN, 1), (0.5, 0, INF), (NAN,), (INF,), (1.1,), ("5", 0, 10)]
)
def test_a_score_outside_its_scale_and_an_empty_scale_are_refused(arguments):
    with pytest.raises(ConfigurationError, match="scale"):
        normalise_score(*arguments)
