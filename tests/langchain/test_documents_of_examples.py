"""Retrievers with known relevant documents, measured in a LangSmith loop."""

import pytest
from langchain_core.documents import Document

from jury_adapters import Case
from jury_adapters.checks import RetrievalMeasure
from jury_adapters.langchain import JuryEvaluator, to_case
from jury_adapters.langchain.langsmith import examples, offline_client

pytestmark = pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")

PAGES = [Document("The ferry stopped.", id="ferry"), Document("An e-bike costs 29 euros.", id="prices")]
ASKED = {"question": "What does an e-bike cost?"}


def scored(outputs, target, **options):
    evaluator = JuryEvaluator(RetrievalMeasure("reciprocal_rank"), key="rank", **options)
    rows = offline_client().evaluate(
        target, data=examples([{"inputs": ASKED, "outputs": outputs}]), evaluators=[evaluator], upload_results=False
    )
    (row,) = rows
    (result,) = row["evaluation_results"]["results"]
    return result.score


@pytest.mark.parametrize("name", ["relevant_ids", "expected_ids"])
def test_relevant_ids_are_outputs_of_the_example_and_retrieved_ids_those_of_the_documents(name):
    assert scored({name: ["prices"]}, lambda inputs: {"documents": PAGES}) == 0.5
    assert scored({name: ["prices"]}, lambda inputs: PAGES) == 0.5
    assert scored({name: ["prices"], "answer": "29 euros"}, lambda inputs: {"answer": "29", "context": PAGES}) == 0.5
    assert scored({name: {"prices": 2, "ferry": 0}}, lambda inputs: {"documents": PAGES}) == 0.5
    assert scored({name: ["prices"]}, lambda inputs: {"documents": []}) == 0


def test_the_target_may_return_the_ids():
    assert scored({"relevant_ids": ["prices"]}, lambda inputs: {"retrieved_ids": ["prices"]}) == 1
    assert scored({"relevant_ids": [7]}, lambda inputs: {"retrieved_ids": [6, 7], "documents": PAGES}) == 0.5


def test_a_mapped_list_of_relevant_ids_is_compared_with_the_documents_too():
    mapped = {"relevant_ids": "reference_outputs.wanted"}
    assert scored({"wanted": ["prices"]}, lambda inputs: {"documents": PAGES}, field_map=mapped) == 0.5


def test_relevant_texts_are_outputs_of_the_example():
    texts = {"relevant_contexts": ["An e-bike costs 29 euros."]}
    assert scored(texts, lambda inputs: {"documents": PAGES}) == 0.5
    row = {"inputs": ASKED, "outputs": {"documents": PAGES}, "reference_outputs": {**texts, "relevant_ids": ["p1"]}}
    assert "retrieved_ids" not in to_case(row).metadata  # the texts say which documents are meant


def test_a_run_does_not_say_itself_which_documents_are_relevant():
    assert scored({"answer": "29"}, lambda inputs: {"documents": PAGES, "relevant_ids": ["ferry"]}) is None
    assert scored({"relevant_ids": ["prices"]}, lambda inputs: {"documents": PAGES, "relevant_ids": ["ferry"]}) == 0.5


def test_the_reference_answer_is_read_beside_the_relevant_ids():
    case = to_case(
        {"inputs": ASKED, "outputs": {"answer": "29"}, "reference_outputs": {"a": "29", "relevant_ids": ["p"]}}
    )
    assert (case.reference, case.metadata["relevant_ids"]) == ("29", ("p",))
    assert to_case({"inputs": ASKED, "outputs": "29", "reference_outputs": {"relevant_ids": ["p"]}}).reference is None


def test_a_row_of_a_file_is_read_in_the_same_way():
    judged = RetrievalMeasure("reciprocal_rank")
    documents = [{"id": page.id, "page_content": page.page_content} for page in PAGES]
    row = {"inputs": ASKED, "outputs": {"documents": documents}, "reference_outputs": {"relevant_ids": ["prices"]}}
    assert judged.judge(Case.from_row(row)).score == 0.5
    assert judged.judge(Case.from_row({**ASKED, "contexts": documents, "relevant_ids": ["prices"]})).score == 0.5


def test_ids_of_documents_are_read_only_where_relevant_ones_are_known():
    """They may differ from process to process, and would make equal cases differ."""
    row = {"inputs": ASKED, "outputs": {"answer": "29", "documents": PAGES}}
    assert "retrieved_ids" not in to_case(row).metadata
