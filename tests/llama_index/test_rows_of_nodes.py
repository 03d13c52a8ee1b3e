"""Rows that hold nodes of LlamaIndex, as a retriever gave them."""

import pytest
from llama_index.core.schema import Document as LlamaDocument
from llama_index.core.schema import IndexNode, MediaResource, Node, NodeWithScore, TextNode

from jury_adapters import Case

PAGE = "The ferry stopped in 2018."
NODE = TextNode(text=PAGE, metadata={"source": "a.pdf"})


@pytest.mark.parametrize(
    "page",
    [
        NODE,
        NodeWithScore(node=NODE, score=0.5),
        NodeWithScore(node=Node(text_resource=MediaResource(text=PAGE))),
        IndexNode(text=PAGE, index_id="x"),
        LlamaDocument(text=PAGE),
    ],
    ids=lambda page: type(page).__name__,
)
def test_a_row_takes_the_text_of_a_node(page):
    assert Case.from_row({"question": "When?", "contexts": [page, "another"]}).contexts == (PAGE, "another")
    assert Case.from_row({"question": "When?", "context": page}).contexts == (PAGE,)
    assert Case.from_row({"question": "When?", "answer": page}).answer == PAGE


def test_what_is_no_document_stays_as_it_is():
    row = {"contexts": [{"page": "a", "score": 0.5}, 3, {"text": "a", "score": 0.5}], "answer": {"page": 1}}
    case = Case.from_row(row)
    assert case.contexts == ('{"page": "a", "score": 0.5}', "3", "a")  # a text with its score is a document
    assert case.answer == '{"page": 1}'
