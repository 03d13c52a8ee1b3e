"""An option of many judgments that is given to one is named as such."""

import asyncio

import pytest

from jury_adapters import Budget, Case, ConfigurationError, Critic, Ensemble, judge
from jury_adapters.core.batch import BatchOptions
from jury_adapters.testing import ScriptedModel


@judge
def brief(case):
    return len(case.answer or "") < 20


JUDGES = [brief, Ensemble([brief, lambda case: True]), Critic(ScriptedModel("Answer: YES"), "safety")]
GIVEN = [((Case(answer="Yes."),), {}), ((), {"answer": "Yes."}), (("Is it open?",), {"answer": "Yes."}),
         (({"answer": "Yes."},), {})]  # fmt: skip


@pytest.mark.parametrize("judged_by", JUDGES, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize(("args", "fields"), GIVEN, ids=["case", "fields", "question", "mapping"])
def test_it_is_refused_with_the_call_that_takes_it(judged_by, args, fields):
    with pytest.raises(ConfigurationError) as one:
        judged_by.judge(*args, **fields, budget=Budget(max_calls=1))
    assert str(one.value) == "judge() takes no budget=; judge_many([case], budget=...) does"
    with pytest.raises(ConfigurationError) as later:
        asyncio.run(judged_by.ajudge(*args, **fields, store="votes.db", ordered=False))
    assert str(later.value) == "ajudge() takes no store=, ordered=; ajudge_many([case], store=..., ordered=...) does"


def test_every_option_of_many_judgments_is_known():
    for name in BatchOptions.__annotations__:
        with pytest.raises(ConfigurationError, match=rf"judge\(\) takes no {name}=; judge_many"):
            brief.judge(answer="Yes.", **{name: None})


def test_other_arguments_keep_their_message():
    with pytest.raises(ConfigurationError, match="not both"):
        brief.judge(Case(answer="Yes."), answer="No.")
    with pytest.raises(ConfigurationError, match="unknown field 'anser'"):
        brief.judge(anser="Yes.")
