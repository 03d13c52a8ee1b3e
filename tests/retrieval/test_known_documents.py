"""RetrievalMeasure: from the columns of a row to a judgment, in Python, in jury files and on the command line."""

import json
import unicodedata

import pytest

from jury_adapters import Case, ConfigurationError, Status, load_jury
from jury_adapters.checks import RetrievalMeasure


def row(**columns):
    return Case.from_row({"question": "When?", **columns})


@pytest.mark.parametrize(
    ("retrieved", "relevant"),
    [("retrieved_ids", "relevant_ids"), ("retrieved_ids", "expected_ids"),
     ("retrieved_context_ids", "reference_context_ids"), ("retrieved_doc_ids", "relevant_doc_ids")],
)  # fmt: skip
def test_ids_are_found_under_the_names_of_other_packages(retrieved, relevant):
    judgment = RetrievalMeasure("recall").judge(row(**{retrieved: ["a", "b"], relevant: ["b", "c"]}))
    assert (judgment.score, judgment.status) == (0.5, Status.PASS)
    assert judgment.reasoning == "recall is 0.5: 1 of 2 relevant ids among 2 retrieved"
    assert [(one.name, one.passed, one.detail) for one in judgment.findings] == [
        ("retrieved b", True, "rank 2"), ("retrieved c", False, "not retrieved"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["relevant_contexts", "expected_texts", "reference_contexts"])
def test_texts_are_compared_without_their_white_space(name):
    case = row(
        retrieved_contexts=["The bridge\nopened  in 1998. ", "It is red."], **{name: ["The bridge opened in 1998."]}
    )
    assert RetrievalMeasure("reciprocal_rank").judge(case).score == 1.0


def test_accents_in_one_character_and_in_two_are_the_same():
    composed, decomposed = (unicodedata.normalize(form, "Fähre nach Hà Nội") for form in ("NFC", "NFD"))
    assert RetrievalMeasure("recall").judge(retrieved_ids=[decomposed], relevant_ids=[composed]).score == 1
    assert RetrievalMeasure("recall").judge(contexts=[composed], relevant_contexts=[decomposed]).score == 1


def test_ids_as_numbers_and_json_in_a_cell_of_a_csv_file():
    assert RetrievalMeasure("recall").judge(row(retrieved_ids=[7, 8], relevant_ids=["7"])).score == 1.0
    assert RetrievalMeasure("recall").judge(row(retrieved_ids='["7", "8"]', relevant_ids="[7]")).score == 1.0
    graded = row(retrieved_ids='["b", "a"]', relevant_ids='{"a": 3, "b": 1}')
    assert RetrievalMeasure("ndcg").judge(graded).score == pytest.approx(0.7967, abs=1e-4)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({}, "no relevant documents are known"),
        ({"retrieved_ids": ["a"]}, "no relevant documents are known"),
        ({"relevant_ids": ["a"], "contexts": ["text of a"]}, "no metadata['retrieved_ids']"),
        ({"relevant_ids": [], "retrieved_ids": ["a"]}, "no document is relevant"),
        ({"relevant_ids": {"a": 0}, "retrieved_ids": ["a"]}, "no document is relevant"),
        ({"relevant_ids": {"a": -2}, "retrieved_ids": ["a"]}, "the grade of 'a'"),
        ({"relevant_ids": {"a": "much"}, "retrieved_ids": ["a"]}, "the grade of 'a'"),
    ],
)
def test_what_cannot_be_measured_abstains(columns, said):
    judgment = RetrievalMeasure().judge(row(**columns))
    assert (judgment.status, judgment.score) == (Status.ABSTAIN, None)
    assert said in judgment.reasoning


def test_nothing_retrieved_scores_0():
    assert RetrievalMeasure().judge(row(relevant_contexts=["a"])).status is Status.FAIL
    judgment = RetrievalMeasure().judge(row(relevant_ids=["a"], retrieved_ids=[]))
    assert (judgment.status, judgment.score) == (Status.FAIL, 0.0)


def test_a_rank_below_k_is_not_found():
    judgment = RetrievalMeasure("recall", k=1, threshold=1).judge(row(retrieved_ids=["x", "a"], relevant_ids=["a"]))
    assert (judgment.critic, judgment.score) == ("recall@1", 0.0)
    assert judgment.reasoning == "recall@1 is 0: 0 of 1 relevant ids among 1 retrieved; asked for at least 1"
    assert [(one.passed, one.detail) for one in judgment.findings] == [(False, "rank 2")]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"measure": "mrr"}, "Did you mean 'reciprocal_rank'"),
        ({"measure": "map"}, "Did you mean 'average_precision'"),
        ({"measure": "recal"}, "Did you mean 'recall'"),
        ({"measure": 3}, "unknown measure 3"),
        ({"k": 0}, "k is the number of documents"),
        ({"threshold": 1.1}, "the threshold is a score from 0 to 1"),
        ({"threshold": float("nan")}, "the threshold is a score from 0 to 1"),
        ({"threshold": "high"}, "the threshold is a score from 0 to 1"),
    ],
)
def test_wrong_options_are_refused_at_once(options, said):
    with pytest.raises(ConfigurationError, match=said):
        RetrievalMeasure(**options)


def test_in_a_jury_file():
    jury = load_jury("{check: retrieval, measure: ndcg, k: 3, threshold: 0.9}\n")
    assert jury.judge(row(retrieved_ids=["a"], expected_ids=["a"])).passed
    with pytest.raises(ConfigurationError, match="measure"):
        load_jury("{check: retrieval, measure: mrr}\n")


def test_a_file_of_retrievals_is_judged_without_a_complaint_about_its_columns(tmp_path):
    from typer.testing import CliRunner

    from jury_adapters.cli.app import app

    rows = [{"query": "q", "expected_ids": ["a"], "retrieved_ids": ["b", "a"]}, {"query": "r", "expected_ids": ["c"],
            "retrieved_ids": ["b", "a"]}]  # fmt: skip
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    (tmp_path / "jury.yaml").write_text("{check: retrieval, measure: hit_rate}\n")
    arguments = ["judge", str(tmp_path / "rows.jsonl"), "--jury", str(tmp_path / "jury.yaml")]
    result = CliRunner().invoke(app, arguments)
    assert "means nothing here" not in result.output
    assert "no row has an answer" not in result.output
    assert "passed           1 of 2 decided" in result.stdout


@pytest.mark.parametrize(
    ("retrieved", "relevant"),
    [
        ([1, 2], [2.0]), ("[1, 2]", "[2]"), (["d1 "], ["d1"]), ([["d1", "d2"]], ["d2"]),
        ([{"id": "d1", "score": 0.4}], ["d1"]), (["", "d1"], ["d1", ""]),
    ],
)  # fmt: skip
def test_ids_are_the_same_in_every_spelling(retrieved, relevant):
    judgment = RetrievalMeasure("recall").judge(row(retrieved_ids=retrieved, relevant_ids=relevant))
    assert judgment.score == 1.0
    assert "retrieved " not in [one.name for one in judgment.findings]


def test_arrays_and_columns_of_tables_are_lists():
    import numpy as np

    judgment = RetrievalMeasure("recall").judge(row(retrieved_ids=np.array([1, 2]), relevant_ids=np.array([2])))
    assert judgment.score == 1.0
    many = row(retrieved_ids=np.array([f"d{number}" for number in range(1500)]), relevant_ids=["d3"])
    assert RetrievalMeasure("hit_rate").judge(many).score == 1.0


def test_an_empty_list_does_not_hide_what_another_column_has():
    texts = {"reference_contexts": ["b"], "retrieved_contexts": ["a", "b"]}
    assert RetrievalMeasure().judge(row(reference_context_ids=[], **texts)).status is Status.PASS
    assert RetrievalMeasure().judge(row(reference_context_ids=["x"], **texts)).status is Status.PASS
    assert RetrievalMeasure().judge(row(relevant_ids="", expected_ids=["a"], retrieved_ids=["a"])).status is Status.PASS


def test_texts_may_have_grades():
    case = row(relevant_contexts={"a": 0, "b": 3}, contexts=["b"])
    assert RetrievalMeasure("recall").judge(case).score == 1.0
    assert [one.name for one in RetrievalMeasure().judge(case).findings] == ["retrieved b"]


def test_an_absurd_grade_abstains():
    judgment = RetrievalMeasure("ndcg").judge(row(retrieved_ids=["a"], relevant_ids={"a": 10**400}))
    assert judgment.status is Status.ABSTAIN
