"""The exceptions: one tree, picklable, and messages that say what was probably meant."""

import pickle

import pytest

from jury_adapters import ConfigurationError, GateFailed, InputError, JuryError
from jury_adapters.core.errors import unknown
from jury_adapters.core.tier_policies import Policy


def test_the_tree():
    assert issubclass(ConfigurationError, JuryError)
    assert issubclass(ConfigurationError, ValueError)
    assert issubclass(InputError, ConfigurationError)
    assert issubclass(GateFailed, JuryError)
    assert issubclass(GateFailed, AssertionError)
    assert not issubclass(GateFailed, ValueError)


def test_a_failed_gate_lists_every_unmet_condition_one_a_line():
    error = GateFailed(iter(["first", "second"]))
    assert error.unmet == ("first", "second")
    assert str(error).splitlines()[1:] == ["  - first", "  - second"]


@pytest.mark.parametrize(
    "error", [JuryError("a"), ConfigurationError("b"), InputError("c"), GateFailed(["one", "two"])], ids=repr
)
def test_every_error_survives_pickling(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert getattr(again, "unmet", None) == getattr(error, "unmet", None)


@pytest.mark.parametrize(
    ("name", "known", "message"),
    [
        (
            "majorty",
            ["median", "majority"],
            "unknown rule 'majorty'. Did you mean 'majority'? Known: majority, median.",
        ),
        ("MAJORITY", ["majority"], "unknown rule 'MAJORITY'. Did you mean 'majority'? Known: majority."),
        ("zzz", ["b", "a"], "unknown rule 'zzz'. Known: a, b."),
        (5, ["a"], "unknown rule 5. Known: a."),
        (None, [], "unknown rule None. Known: none."),
    ],
)
def test_an_unknown_name_is_answered_with_the_known_ones(name, known, message):
    assert unknown("rule", name, iter(known)) == message


def test_a_hostile_name_makes_a_message_that_can_be_printed():
    unknown("field", "\ud800\x1b[31m", ["a"]).encode()


def test_names_of_an_enumeration_are_suggested_as_they_are_written():
    message = unknown("policy of a tier", "fnal", Policy)
    assert "Did you mean 'final'?" in message
    assert "<Policy" not in message
