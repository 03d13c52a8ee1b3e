"""The same result of an evaluator of another package: every adapter makes the same judgment of it."""

from types import SimpleNamespace
from typing import Any

import pytest
from langchain_classic.evaluation.schema import StringEvaluator
from llama_index.core.evaluation.base import BaseEvaluator, EvaluationResult

from jury_adapters import Case, Judgment
from jury_adapters.core.judgment import evolve
from jury_adapters.judges.autoevals_deepeval import from_autoevals, from_deepeval
from jury_adapters.langchain import from_evaluator
from jury_adapters.langchain import from_evaluator as from_langchain
from jury_adapters.llama_index import from_evaluator as from_llama_index

CASE = Case(question="2 + 2?", answer="4", reference="4", contexts=["2 + 2 = 4"])


def answer(said: Any) -> Any:
    if isinstance(said, Exception):
        raise said
    return said


def langchain(said: Any, **options: Any) -> Judgment:
    return from_langchain(lambda outputs: answer(said), **options).judge(CASE)


def langchain_asynchronous(said: Any, **options: Any) -> Judgment:
    async def evaluator(outputs: str) -> Any:
        return answer(said)

    return from_langchain(evaluator, **options).judge(CASE)


def langchain_runs(said: Any, **options: Any) -> Judgment:
    return from_langchain(lambda run, example: answer(said), **options).judge(CASE)


def langchain_strings(said: Any, **options: Any) -> Judgment:
    class Own(StringEvaluator):
        def _evaluate_strings(self, **kwargs: Any) -> Any:
            return answer(said)

    return from_evaluator(Own(), **options).judge(CASE)


def llama_index(said: Any, **options: Any) -> Judgment:
    class Own(BaseEvaluator):
        def _get_prompts(self) -> Any:
            return {}

        def _update_prompts(self, prompts: Any) -> None: ...

        async def aevaluate(self, query: Any = None, response: Any = None, contexts: Any = None, **kwargs: Any) -> Any:
            return answer(said)

    return from_llama_index(Own(), **options).judge(CASE)


def autoevals(said: Any, **options: Any) -> Judgment:
    return from_autoevals(lambda output, expected: answer(said), **options).judge(CASE)


def deepeval(said: Any, **options: Any) -> Judgment:
    class Metric:
        def measure(self, test_case: Any) -> Any:
            return answer(said)

    return from_deepeval(Metric(), **options).judge(CASE)


ADAPTERS = [
    langchain, langchain_asynchronous, langchain_runs, langchain_strings, llama_index, autoevals, deepeval,
]  # fmt: skip
RESULTS: list[tuple[Any, dict[str, Any], tuple[Any, ...]]] = [
    # what it returned, options, then status, score, label, reasoning and error of the judgment
    (True, {}, ("PASS", None, None, "", None)),
    (False, {}, ("FAIL", None, None, "", None)),
    (0.5, {}, ("PASS", 0.5, None, "", None)),
    (0.49, {}, ("FAIL", 0.49, None, "", None)),
    (4, {"scale": (1, 5)}, ("PASS", 0.75, None, "", None)),
    (4, {"scale": (1, 5), "threshold": 4.5}, ("FAIL", 0.75, None, "", None)),
    ("polite", {}, (None, None, "polite", "", None)),
    ("rude", {"pass_labels": ["polite"]}, ("FAIL", None, "rude", "", None)),
    (None, {}, ("ABSTAIN", None, None, "there is no score", None)),
    (float("nan"), {}, ("ABSTAIN", None, None, "there is no score", None)),
    ({"key": "tone", "score": 1.0, "comment": "kind"}, {}, ("PASS", 1.0, None, "kind", None)),
    ({"key": "tone", "score": None, "comment": "unsure"}, {}, ("ABSTAIN", None, None, "unsure", None)),
    ({"key": "tone", "value": "polite", "comment": "kind"}, {}, (None, None, "polite", "kind", None)),
    ({"score": 0.2, "reasoning": "no"}, {}, ("FAIL", 0.2, None, "no", None)),
    (EvaluationResult(passing=True, score=0.3, feedback="yes"), {}, ("PASS", 0.3, None, "yes", None)),
    (EvaluationResult(passing=False), {}, ("FAIL", None, None, "", None)),
    (EvaluationResult(invalid_result=True, invalid_reason="empty"), {}, ("ABSTAIN", None, None, "empty", None)),
    (SimpleNamespace(name="s", score=0.9, metadata={"rationale": "so"}), {}, ("PASS", 0.9, None, "so", None)),
    (SimpleNamespace(score=0.9, success=False, reason="strict"), {}, ("FAIL", 0.9, None, "strict", None)),
    (SimpleNamespace(score=1.0, skipped=True), {}, ("ABSTAIN", None, None, "the result is invalid", None)),
    ([], {}, ("ABSTAIN", None, None, "there is no result", None)),
    ([{"key": "a", "score": 1}, {"key": "b", "score": 0}], {}, ("FAIL", 0.5, None, "failed: b", None)),
    ({"results": [{"key": "a", "score": 1}, True]}, {}, ("PASS", 1.0, None, "2 results pass", None)),
    (ValueError("gone"), {}, ("ERROR", None, None, "the judge broke: ValueError: gone", "ValueError: gone")),
    (
        SimpleNamespace(score=None, error=ValueError("gone")), {},
        ("ERROR", None, None, "the judge broke: ValueError: gone", "ValueError: gone"),
    ),
    ({"score": 1, "error": "gone"}, {}, ("ERROR", None, None, "the judge broke: gone", "gone")),
    (
        {"rating": 1}, {},
        ("ERROR", None, None, "the judge broke: TypeError: the evaluator returned dict without a score, a value or a "
         "comment", "TypeError: the evaluator returned dict without a score, a value or a comment"),
    ),
    (
        4, {},
        ("ERROR", None, None, "the judge broke: ConfigurationError: the score 4 is outside the scale 0..1; say what it "
         "runs from and to: scale=(worst, best)", "ConfigurationError: the score 4 is outside the scale 0..1; say what "
         "it runs from and to: scale=(worst, best)"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("said", "options", "expected"), RESULTS, ids=range(len(RESULTS)))
def test_the_same_result_makes_the_same_judgment(said: Any, options: dict[str, Any], expected: tuple[Any, ...]) -> None:
    judgments = [evolve(adapter(said, name="theirs", **options), elapsed_s=0.0) for adapter in ADAPTERS]
    assert judgments == [judgments[0]] * len(ADAPTERS)
    one = judgments[0]
    assert (one.status, one.score, one.label, one.reasoning, one.error) == expected
    assert one.critic == "theirs"
    unknown = one.status == "ERROR" and "outside the scale" not in one.reasoning  # which calls it made before it broke
    assert (one.usage.calls, one.usage.uncounted) == ((0, True) if unknown else (1, False))
