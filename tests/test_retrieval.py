"""Rank measures of a retriever: beside scikit-learn, by hand, with known documents and with a judge."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury_adapters import abstain, judge
from jury_adapters.core.values import ConfigurationError
from jury_adapters.retrieval import MEASURES, EachPassage, RetrievalMeasure, average_precision, ndcg, precision, recall

DOCUMENTS = st.lists(st.sampled_from("abcdefgh"), max_size=10)
GRADES = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 3), min_size=1)
EACH = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)


@settings(deadline=None)
@given(st.permutations("abcdefgh"), GRADES, st.none() | st.integers(1, 8))
def test_full_rankings_score_as_in_scikit_learn(ranked, grades, k):
    from sklearn.metrics import average_precision_score, ndcg_score

    scores, truth = [8 - rank for rank in range(8)], [grades.get(document, 0) for document in ranked]
    assert ndcg(ranked, grades, k) == pytest.approx(ndcg_score([truth], [scores], k=k))
    if k is None:
        relevant = [grade > 0 for grade in truth]
        assert average_precision(ranked, grades) == pytest.approx(average_precision_score(relevant, scores))


@pytest.mark.parametrize(
    ("retrieved", "relevant", "k", "values"),  # hit rate, precision, recall, reciprocal rank, average precision
    [
        ("abc", "ad", None, (1, 1 / 3, 1 / 2, 1, 1 / 2)),
        ("xab", "ab", None, (1, 2 / 3, 1, 1 / 2, (1 / 2 + 2 / 3) / 2)),
        ("xab", "ab", 1, (0, 0, 0, 0, 0)),
        ("a", "a", 4, (1, 1 / 4, 1, 1, 1)),
        ("", "a", None, (0, 0, 0, 0, 0)),
        ("aab", "b", 2, (1, 1 / 2, 1, 1 / 2, 1 / 2)),  # a document that repeats counts once
    ],
)
def test_measures_by_hand(retrieved, relevant, k, values):
    found = [measure(list(retrieved), list(relevant), k) for measure in MEASURES.values()]
    assert found[:5] == pytest.approx(values)


@EACH
@settings(deadline=None, max_examples=30)
@given(retrieved=DOCUMENTS, relevant=GRADES, k=st.none() | st.integers(1, 12))
def test_measures_lie_in_0_to_1_and_rise_with_a_relevant_document_in_front(measure, retrieved, relevant, k):
    assert 0 <= measure(retrieved, relevant, k) <= 1 + 1e-12
    best = max(relevant, key=relevant.__getitem__)
    moved = [best, *(one for one in retrieved if one != best)]
    if measure is not precision or best in retrieved:
        assert measure(moved, relevant, None) >= measure(retrieved, relevant, None) - 1e-12


@EACH
@pytest.mark.parametrize(
    ("relevant", "k"),
    [
        ([], None),
        ({"a": 0}, None),
        ({"a": -1, "b": 1}, None),
        ({"a": float("inf")}, None),
        ("abc", None),
        ("a", 0),
        (["a"], 1.5),
    ],
)
def test_what_is_undefined_is_refused(measure, relevant, k):
    with pytest.raises(ConfigurationError, match="relevant documents are a collection"):
        measure(["a"], relevant, k)


def test_grades_of_0_are_not_relevant():
    assert recall(["b"], {"a": 0, "b": 2}) == 1.0


@pytest.mark.parametrize(
    ("metadata", "contexts", "status", "score"),
    [
        ({"retrieved_ids": ["7", "d1"], "relevant_ids": ["d1", 7]}, (), "PASS", 1.0),
        ({"retrieved_ids": ["x"], "relevant_ids": {"d1": 2, "x": 0}}, (), "FAIL", 0.0),
        ({"relevant_contexts": ["It  is red."]}, ("It is\nred.", "no"), "PASS", 1.0),
        ({"relevant_contexts": ["It is red."]}, (), "FAIL", 0.0),
        ({"relevant_ids": ["d1"]}, ("text",), "ABSTAIN", None),
        ({}, ("text",), "ABSTAIN", None),
        ({"retrieved_ids": ["a"], "relevant_ids": {"a": -1}}, (), "ERROR", None),
    ],
)
def test_known_documents(metadata, contexts, status, score):
    found = RetrievalMeasure("recall").judge(question="q", contexts=contexts, metadata=metadata)
    assert (found.status.value, found.score) == (status, score)


def test_findings_name_each_relevant_document():
    metadata = {"retrieved_ids": ["a", "b"], "relevant_ids": ["b", "c"]}
    found = RetrievalMeasure("recall", k=1, threshold=0.1).judge(question="q", metadata=metadata)
    assert (found.critic, found.status.value) == ("recall@1", "FAIL")
    assert [(one.name, one.passed) for one in found.findings] == [("b", False), ("c", False)]
    assert found.reasoning == "recall@1 is 0: 0 of 2 relevant among 1 retrieved"


@pytest.mark.parametrize(
    "make",
    [
        lambda: RetrievalMeasure("mrr"),
        lambda: RetrievalMeasure("recall", threshold=2),
        lambda: RetrievalMeasure("recall", k=0),
        lambda: EachPassage(lambda case: True, measure="recall"),
    ],
)
def test_wrong_options_are_refused_at_once(make):
    with pytest.raises(ConfigurationError):
        make()


@pytest.mark.parametrize(
    ("measure", "score"),
    [("average_precision", (1 / 2 + 2 / 3) / 2), ("precision", 2 / 3), ("hit_rate", 1.0), ("reciprocal_rank", 0.5)],
)
def test_each_passage_is_judged_alone(measure, score):
    seen = []

    def relevant(case):
        seen.append(case.contexts)
        return "red" in case.contexts[0]

    found = EachPassage(relevant, measure=measure).judge(question="q", contexts=["no", "red", "red too"])
    assert found.score == pytest.approx(score)
    assert sorted(seen) == [("no",), ("red",), ("red too",)]
    assert [one.critic for one in found.judgments] == ["passage 1", "passage 2", "passage 3"]


@pytest.mark.parametrize(
    ("contexts", "status"),
    [([], "ABSTAIN"), (["unclear"], "ABSTAIN"), (["broken", "unclear"], "ERROR"), (["no"], "FAIL")],
)
def test_passages_without_a_decision_have_no_score(contexts, status):
    def relevant(case):
        if case.contexts[0] == "broken":
            raise ConnectionError("down")
        return abstain("cannot say") if case.contexts[0] == "unclear" else case.contexts[0] == "red"

    found = EachPassage(judge(relevant)).judge(question="q", contexts=contexts)
    assert found.status.value == status
    assert (found.score is None) == (status != "FAIL")
