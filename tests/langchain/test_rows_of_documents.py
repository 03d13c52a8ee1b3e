"""Rows that hold documents of LangChain, as a retriever gave them."""

import pytest
from langchain_core.documents import Document

from jury_adapters import Case, Ensemble

PAGE = "The ferry stopped in 2018."


@pytest.mark.parametrize("page", [Document(PAGE, metadata={"source": "a.pdf"}), Document(PAGE).model_dump()])
def test_a_row_takes_the_text_of_a_document(page):
    assert Case.from_row({"question": "When?", "contexts": [page, "another"]}).contexts == (PAGE, "another")
    assert Case.from_row({"question": "When?", "context": page}).contexts == (PAGE,)
    assert Case.from_row({"question": "When?", "answer": page}).answer == PAGE


def test_batches_of_such_rows_are_judged_by_their_text():
    jury = Ensemble([lambda case: case.contexts == (PAGE,)])
    row = Case.from_row({"question": "When?", "answer": "2018", "contexts": [Document(PAGE)]})
    assert [verdict.passed for verdict in jury.judge_many([row])] == [True]
