"""Place of the claims in a result of the hallucination evaluator."""

import json

import pytest

from jury_adapters.llama_index import JuryHallucinationEvaluator
from jury_adapters.testing import ScriptedModel

CLAIM = {"claim": "Ann left.", "verdict": "supported", "evidence": "Ann left"}
REPLY = json.dumps({"reasoning": "r", "claims": [CLAIM], "answer": "grounded", "confidence": 0.9})


@pytest.mark.parametrize("given", [{"llm": ScriptedModel([REPLY])}, {"llms": [ScriptedModel([REPLY])] * 2}])
def test_claims_are_findings_of_the_jurors(given):
    result = JuryHallucinationEvaluator(**given).evaluate("q", "Ann left.", ["Ann left in 2018."])
    assert [(found.name, found.evidence) for found in result.jurors[0].findings] == [("Ann left.", "Ann left")]
