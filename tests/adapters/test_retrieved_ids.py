"""Ids of retrieved documents: which are taken, and which ones a case keeps."""

import pytest
from langchain_core.documents import Document
from llama_index.core.schema import NodeWithScore, TextNode

from jury_adapters import Case
from jury_adapters.core.retrieved_ids import retrieved_ids
from jury_adapters.core.retriever_cases import with_retrieved_ids


@pytest.mark.parametrize(
    ("documents", "ids"),
    [
        ([Document("a", id="x"), Document("b", id="y")], ("x", "y")),
        ([Document("a", id="x", metadata={"id": "m"}), Document("b", metadata={"id": 7})], ("x", "7")),
        ([NodeWithScore(node=TextNode(text="a", id_="n1")), TextNode(text="b", id_="n2")], ("n1", "n2")),
        ([{"page_content": "a", "id": "x"}, {"page_content": "b", "metadata": {"id": "y"}}], ("x", "y")),
        ([Document("a", id="x"), Document("a", id="x")], ("x", "x")),
        ([Document("a", id="x"), Document("b")], None),
        (["a text"], None),
        ([], ()),
        ("a text", None),
        (None, None),
    ],
)
def test_the_ids_in_their_order(documents, ids):
    assert retrieved_ids(documents) == ids


def test_ids_that_the_case_has_already_are_kept():
    case = Case(question="q", metadata={"retrieved_doc_ids": ["page 3"], "run": 1})
    assert with_retrieved_ids(case, ("x",)) is case
    assert with_retrieved_ids(Case(question="q"), None) == Case(question="q")
    assert with_retrieved_ids(Case(question="q", metadata={"run": 1}), ("x",)).metadata == {
        "run": 1,
        "retrieved_ids": ("x",),
    }
