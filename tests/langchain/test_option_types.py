"""Options of a wrong type: every constructor refuses them with a sentence, or takes them."""

import inspect

import pytest

from jury_adapters import Case, ConfigurationError
from jury_adapters.checks import NotEmpty
from jury_adapters.langchain import (
    JuryCallbackHandler,
    JuryEvaluator,
    JuryMiddleware,
    JuryPairwiseEvaluator,
    JuryRunnable,
    conversation,
    expected_conversation,
    judge_runs,
    jury_node,
    route_on_verdict,
)
from jury_adapters.langchain.classic import JuryStringEvaluator
from jury_adapters.langchain.langsmith import examples, feedback, summary

WATCHED = (
    "select", "field_map", "evidence_tools", "max_open", "on_verdict", "on_error", "sample", "max_pending",
    "max_concurrency", "store", "budget", "exit_timeout",
)  # fmt: skip
MADE = (
    JuryCallbackHandler, judge_runs, JuryEvaluator, JuryPairwiseEvaluator, JuryRunnable, JuryMiddleware, jury_node,
    JuryStringEvaluator,
)  # fmt: skip
OPTIONS = [
    (made, option)
    for made in MADE
    for option in dict.fromkeys((
        *(name for name, one in inspect.signature(made).parameters.items() if one.kind is one.KEYWORD_ONLY),
        *(WATCHED if made in (JuryCallbackHandler, judge_runs) else ()),
    ))
]  # fmt: skip


class Odd:
    """An object that no option takes."""


@pytest.mark.parametrize(("made", "option"), OPTIONS, ids=lambda one: getattr(one, "__name__", one))
def test_every_option_is_taken_or_refused_with_a_sentence(made, option):
    said = []
    for given in (Odd(), 3, -1, 2.5, b"x", [], [3], {}, {"x": 1}, True):
        try:
            made(NotEmpty(), **{option: given})
        except ConfigurationError as error:
            said.append(str(error))
    assert all(len(one.split()) >= 4 for one in said), said


@pytest.mark.parametrize(("make", "said"), [
    (lambda: JuryCallbackHandler(NotEmpty(), select=3), "select= takes names or tags of runs, a function"),
    (lambda: judge_runs(NotEmpty(), select=["a", 3]), "select= takes names or tags of runs"),
    (lambda: JuryMiddleware(NotEmpty(), when=["final"]), "unknown when= ['final']"),
    (lambda: JuryEvaluator(NotEmpty(), key=3), "key= is a text, not 3"),
    (lambda: JuryPairwiseEvaluator(NotEmpty(), key=["a"]), "key= is a text, not ['a']"),
    (lambda: JuryRunnable(NotEmpty(), name=3), "name= is a text, not 3"),
    (lambda: jury_node(NotEmpty(), key=3), "key= is a text, not 3"),
    (lambda: JuryStringEvaluator(NotEmpty(), name=3), "name= is a text, not 3"),
    (lambda: route_on_verdict(passed=["a"], failed="b"), "passed= is a text, not ['a']"),
    (lambda: route_on_verdict("a", "b", otherwise={}), "otherwise= is a text, not {}"),
    (lambda: summary(JuryEvaluator(NotEmpty()), ["pass_rate"]), "unknown metric= ['pass_rate']"),
    (lambda: examples(3), "examples() takes rows, each a dictionary; not 3"),
    (lambda: feedback(object(), key=3), "key= is a text, not 3"),
    (lambda: conversation("When?"), "give a Case, which to_case(value) reads from a row; not 'When?'"),
    (lambda: expected_conversation({}), "give a Case, which to_case(value) reads from a row; not {}"),
])  # fmt: skip
def test_the_sentence_says_what_the_option_takes(make, said):
    with pytest.raises(ConfigurationError) as refused:
        make()
    assert said in str(refused.value)


def test_texts_and_functions_are_still_taken():
    JuryCallbackHandler(NotEmpty(), select=("a", "b"))
    JuryCallbackHandler(NotEmpty(), select={"a"})
    assert route_on_verdict("a", "b", otherwise="c")({"verdict": None}) == "c"
    assert conversation(Case(answer="4")) == [{"role": "assistant", "content": "4"}]
