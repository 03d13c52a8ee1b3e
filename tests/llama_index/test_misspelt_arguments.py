"""Misspelt keywords of an evaluator, and keywords that are metadata."""

import asyncio

import pytest
from llama_index.core.base.response.schema import Response

from jury_adapters import ConfigurationError
from jury_adapters.llama_index import JuryEvaluator, JuryFaithfulnessEvaluator
from jury_adapters.testing import ScriptedModel


def noting(seen):
    return JuryEvaluator(lambda case: seen.append(case) or True)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"reponse": "27"}, "response"),
        ({"resposne": "27"}, "response"),
        ({"response": "27", "refrence": "27"}, "reference"),
        ({"response": "27", "conetxts": ["27"]}, "contexts"),
        ({"response": "27", "second_responce": "28"}, "second_response"),
        ({"response": "27", "image_path": ["a.gif"]}, "image_paths"),
        ({"response": "27", "references": "27"}, "reference"),
        ({"response": "27", "Reference": "27"}, "reference"),
    ],
)
def test_a_misspelt_keyword_is_named_in_an_invalid_result(given, meant):
    seen = []
    wrong = next(name for name in given if name != "response")
    for result in (noting(seen).evaluate("q", **given), asyncio.run(noting(seen).aevaluate("q", **given))):
        assert (result.passing, result.score, result.invalid_result) == (None, None, True)
        assert f"unknown argument {wrong!r}. Did you mean {meant!r}?" in result.invalid_reason
    assert not seen


def test_a_misspelt_keyword_beside_a_response_object_is_named():
    result = noting([]).evaluate_response("q", Response("27"), refrence="27")
    assert "Did you mean 'reference'?" in result.invalid_reason


@pytest.mark.parametrize(
    "details",
    [
        {"preference": "a", "references": ["b"], "queries": 3, "context_id": "c"},
        {"reference": "27", "refrence": "kept beside the right one"},
        {"ground_truth": "27", "refrence": "kept beside another name of it"},
    ],
)
def test_other_keywords_are_metadata(details):
    seen = []
    assert noting(seen).evaluate("q", "27", contexts=["c"], **details).passing
    assert {*details} - {"reference", "ground_truth"} == {*seen[0].metadata}


@pytest.mark.parametrize("given", [{"llm": ScriptedModel(["YES"])}, {"jury": lambda case: True}])
@pytest.mark.parametrize(
    ("option", "meant"), [({"voting": "majorty"}, "majority"), ({"schedule": "paralel"}, "parallel")]
)
def test_an_unknown_rule_is_refused_also_where_one_judge_is_asked(given, option, meant):
    with pytest.raises(ConfigurationError, match=f"Did you mean {meant!r}"):
        JuryFaithfulnessEvaluator(**given, **option)
