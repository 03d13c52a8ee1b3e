"""Options of a wrong type: every constructor refuses them with a sentence, or takes them."""

import inspect

import pytest

from jury_adapters import ConfigurationError
from jury_adapters.checks import NotEmpty
from jury_adapters.llama_index import (
    JuryEvaluator,
    JuryNodePostprocessor,
    JuryPairwiseEvaluator,
    JuryRetrievalMetric,
    JurySpanHandler,
    judge_runs,
)

WATCHED = ("on_verdict", "on_error", "sample", "max_pending", "max_concurrency", "store", "budget", "exit_timeout")
MADE = (JurySpanHandler, judge_runs, JuryEvaluator, JuryPairwiseEvaluator, JuryNodePostprocessor, JuryRetrievalMetric)
OPTIONS = [
    (made, option)
    for made in MADE
    for option in dict.fromkeys(
        (
            *(name for name, one in inspect.signature(made).parameters.items() if one.kind is one.KEYWORD_ONLY),
            *(("select", "field_map", "evidence_tools", "max_open", *WATCHED) if made in MADE[:2] else ()),
        )
    )
]


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
