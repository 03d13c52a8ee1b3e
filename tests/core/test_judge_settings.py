"""The settings that every judge has: wrong ones are refused when a judge, its class or its jury is made."""

from dataclasses import dataclass
from functools import partial

import pytest

from jury_adapters import ConfigurationError, Ensemble, Judge, judge
from jury_adapters.checks import FileExists, NotEmpty
from jury_adapters.judges.external import ExternalJudge

WRONG = {
    "name": [5, None, ["a"], b"polite"],
    "timeout": ["30", 0, -1, True, float("nan")],
    "cost": ["0.1", -0.01, float("nan"), float("inf"), None, True],
    "blocking": ["yes", 1, None],
}
CASES = [(setting, value) for setting, values in WRONG.items() for value in values]


@pytest.mark.parametrize(("setting", "value"), CASES)
class TestAWrongSettingIsRefused:
    def test_of_a_function(self, setting, value):
        with pytest.raises(ConfigurationError, match=setting):
            judge(lambda case: True, **{setting: value})

    def test_in_the_body_of_a_class(self, setting, value):
        with pytest.raises(ConfigurationError, match=f"^Mine: .*{setting}"):
            type("Mine", (Judge,), {"assess": lambda self, case: True, setting: value})

    def test_of_an_instance_in_a_jury(self, setting, value):
        @dataclass
        class Mine(Judge):
            name: str = "mine"
            timeout: float | None = None
            cost: float = 0.0
            blocking: bool = False

            def assess(self, case):
                return True

        assert Ensemble([Mine(), NotEmpty()]).judge(answer="Yes.").passed
        with pytest.raises(ConfigurationError, match=f"^Mine: .*{setting}"):
            Ensemble([NotEmpty(), Mine(**{setting: value})])


def test_settings_may_be_properties():
    class Mine(Judge):
        @property
        def name(self):
            return "computed"

        @property
        def cost(self):
            return 0.5

        def assess(self, case):
            return True

    assert Ensemble([Mine(), NotEmpty()]).judge(answer="Yes.").by_name["computed"].passed


def test_a_judge_with_a_name_that_is_not_text_still_judges():
    judgment = FileExists("a", name=5).judge(question="Write a.", workspace=".")
    assert (judgment.critic, judgment.status) == ("5", "FAIL")
    with pytest.raises(ConfigurationError, match="name of a judge is a text, not 5"):
        NotEmpty().named(5)


def plain_generator(case):
    yield True


async def asynchronous_generator(case):
    yield True


@pytest.mark.parametrize("function", [plain_generator, asynchronous_generator])
def test_a_function_that_yields_is_refused(function):
    with pytest.raises(ConfigurationError, match=f"{function.__name__} has `yield` in it; return one outcome"):
        judge(function)
    with pytest.raises(ConfigurationError, match=r"Mine\.assess has `yield` in it; return one outcome"):
        type("Mine", (Judge,), {"assess": function})


def test_an_object_that_yields_when_it_is_called_is_refused():
    class Yielding:
        def __call__(self, case):
            yield True

    with pytest.raises(ConfigurationError, match="Yielding has `yield` in it; return one outcome"):
        Judge.from_function(Yielding())


def test_an_assess_that_does_not_take_one_case_is_refused():
    for wrong in (lambda self: True, lambda self, question, answer: True, lambda self, *, case: True):
        with pytest.raises(ConfigurationError, match=r"Mine\.assess is called with one Case.*it takes \(self"):
            type("Mine", (Judge,), {"assess": wrong})
    for right in (lambda self, case, limit=3: True, lambda *given: True, staticmethod(lambda case: True)):
        assert type("Mine", (Judge,), {"assess": right})().judge(answer="Yes.").passed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"needs": "contexts"}, r"needs is a list of fields of the case; for one write \['contexts'\]"),
        ({"needs": 5}, "needs is a list of fields of the case, not 5"),
        ({"pass_labels": [1]}, r"pass_labels is a list of labels, not \[1\]"),
        ({"name": 5}, "the name of a judge is a text, not 5"),
    ],
)
def test_wrong_options_of_an_evaluator_are_refused(options, message):
    with pytest.raises(ConfigurationError, match=message):
        partial(ExternalJudge, lambda case: None, "theirs")(**options)
