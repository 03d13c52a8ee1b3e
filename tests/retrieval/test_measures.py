"""Measures of ranked documents: values of another library, scikit-learn, LlamaIndex, and awkward cases."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import ConfigurationError
from jury_adapters.retrieval import average_precision, hit_rate, ndcg, precision, recall, reciprocal_rank
from jury_adapters.retrieval.measures import MEASURES

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "retrieval_reference.json").read_text(encoding="utf-8"))
EACH = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)


@pytest.mark.parametrize("name", MEASURES)
def test_the_values_are_those_of_ranx(name):
    assert len(REFERENCE["rows"]) == 120
    for row in REFERENCE["rows"]:
        value = MEASURES[name](row["retrieved"], row["relevant"], row["k"])
        assert value == pytest.approx(row["values"][name], abs=1e-9), row


def test_ndcg_is_that_of_scikit_learn():
    from sklearn.metrics import ndcg_score

    for row in REFERENCE["rows"]:
        unknown = [document for document in row["relevant"] if document not in row["retrieved"]]
        ranked = [*row["retrieved"], *unknown]  # scikit-learn wants a score for every document
        grades = [row["relevant"].get(document, 0) for document in ranked]
        if len(ranked) > 1 and (row["k"] or 0) <= len(row["retrieved"]) and (row["k"] or not unknown):
            scores = [len(ranked) - rank for rank in range(len(ranked))]
            expected = ndcg_score([grades], [scores], k=row["k"])
            assert ndcg(row["retrieved"], row["relevant"], row["k"]) == pytest.approx(expected, abs=1e-9)


@EACH
def test_a_perfect_ranking_scores_1_and_a_useless_one_0(measure):
    assert measure(["a", "b"], {"a", "b"}, None) == 1.0
    assert measure(["x", "y"], {"a", "b"}, None) == 0.0
    assert measure([], {"a"}, None) == 0.0


def test_a_repeated_document_counts_once_at_its_first_place():
    twice = ["a", "a", "b", "c"]
    for measure in MEASURES.values():
        assert measure(twice, {"b"}, None) == measure(["a", "b", "c"], {"b"}, None)
        assert measure(twice, {"a", "b"}, 2) == measure(["a", "b", "c"], {"a", "b"}, 2)
    assert precision(["a", "a"], {"a"}) == recall(["a", "a"], {"a"}) == 1.0


def test_fewer_documents_than_k_do_not_raise_the_precision():
    assert precision(["a"], {"a"}, 4) == 0.25
    assert precision(["a"], {"a"}) == 1.0


def test_a_grade_of_0_is_not_relevant():
    grades = {"a": 0, "b": 2}
    assert (hit_rate(["a"], grades), recall(["b"], grades), reciprocal_rank(["a", "b"], grades)) == (0.0, 1.0, 0.5)
    assert average_precision(["a", "b"], grades) == 0.5


@EACH
@pytest.mark.parametrize(
    ("retrieved", "relevant", "k", "said"),
    [
        (["a"], [], None, "no document is relevant"),
        (["a"], {"a": 0}, None, "no document is relevant"),
        (["a"], {"a": -1}, None, "the grade of 'a' is a number from 0"),
        (["a"], {"a": float("nan")}, None, "the grade of 'a'"),
        (["a"], {"a": True}, None, "the grade of 'a'"),
        (["a"], {"a": "high"}, None, "the grade of 'a'"),
        (["a"], {"a"}, 0, "k is the number of documents"),
        (["a"], {"a"}, 1.5, "k is the number of documents"),
        (["a"], {"a"}, True, "k is the number of documents"),
        ("abc", {"a"}, None, "retrieved is a list of documents"),
        (["a"], "abc", None, "relevant is a collection of documents"),
    ],
)
def test_what_is_undefined_is_refused(measure, retrieved, relevant, k, said):
    with pytest.raises(ConfigurationError, match=said):
        measure(retrieved, relevant, k)


DOCUMENTS = st.lists(st.sampled_from("abcdefgh"), max_size=10)
RELEVANT = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 3), min_size=1)


@given(DOCUMENTS, RELEVANT, st.none() | st.integers(1, 12))
def test_every_measure_is_between_0_and_1(retrieved, relevant, k):
    for measure in MEASURES.values():
        assert 0.0 <= measure(retrieved, relevant, k) <= 1.0 + 1e-12


@given(DOCUMENTS, RELEVANT)
def test_a_relevant_document_in_front_never_lowers_a_measure(retrieved, relevant):
    best = max(relevant, key=lambda document: relevant[document])
    moved = [best, *(document for document in retrieved if document != best)]
    for name, measure in MEASURES.items():
        if name != "precision" or best in retrieved:
            assert measure(moved, relevant, None) >= measure(retrieved, relevant, None) - 1e-12
