"""The group of a case: from a row, from the case, or from the metadata of its verdict."""

import pytest

from jury_adapters import Case, Ensemble, InputError
from jury_adapters.checks import Contains
from jury_adapters.core.case_groups import group_of_case, group_of_row

VERDICT = Ensemble([Contains(["a"])]).judge(Case(answer="a", metadata={"meta": {"user": 7}, "document": "minutes"}))


@pytest.mark.parametrize(
    ("row", "field", "group"),
    [
        ({"document": "minutes"}, "document", "minutes"),
        ({"meta": {"document": "minutes"}}, "meta.document", "minutes"),
        ({"meta.document": "column", "meta": {"document": "path"}}, "meta.document", "column"),
        ({"Document Name": "minutes"}, "Document Name", "minutes"),
        ({"document": 0}, "document", 0),
        ({"document": False}, "document", False),
        ({"document": ["a", "b"]}, "document", "['a', 'b']"),
    ],
)
def test_a_column_counts_before_a_path(row, field, group):
    assert group_of_row(row, field, "line 1") == group


@pytest.mark.parametrize("row", [{}, {"document": None}, {"document": float("nan")}, {"document": " "}, {"doc": "x"}])
def test_a_row_without_the_field_or_with_an_empty_one_is_refused(row):
    with pytest.raises(InputError, match=r"line 7 has no document, the field that groups the cases"):
        group_of_row(row, "document", "line 7")


@pytest.mark.parametrize("field", ["meta.user.name", "meta.nothing", "document.name", "meta..user", "."])
def test_a_path_that_leads_nowhere_is_refused(field):
    with pytest.raises(InputError, match="has no"):
        group_of_row({"meta": {"user": 7}, "document": "minutes"}, field, "line 1")


def test_the_message_names_the_other_fields():
    with pytest.raises(InputError, match=r"It has document, user$"):
        group_of_row({"document": "x", "user": "y", "empty": None}, "documnt", "line 1")


@pytest.mark.parametrize(
    ("row", "field", "meant"),
    [
        ({"manual": "m7"}, "meta.manual", "manual"),
        ({"meta": {"manual": "m7"}}, "manual", "meta.manual"),
        ({"manual": "m7", "metadata": {"manual": "m7"}}, "meta.manual", "manual"),
        ({"Document": "x"}, "document", "Document"),
        ({"document": "x", "user": "y"}, "documnt", "document"),
    ],
)
def test_the_message_suggests_the_name_that_works(row, field, meant):
    with pytest.raises(InputError, match=rf"every case needs one\. Did you mean '{meant}'\? It has"):
        group_of_row(row, field, "line 1")
    group_of_row(row, meant, "line 1")


@pytest.mark.parametrize("row", [{"user": "y"}, {"user": "y", "meta": {"document": " "}}])
def test_the_message_suggests_no_other_field(row):
    with pytest.raises(InputError, match=r"every case needs one\. It has user"):
        group_of_row(row, "document", "line 1")


@pytest.mark.parametrize("field", ["question", "generator", "answer"])
def test_the_texts_of_a_case_group_it_too(field):
    case = Case(question="q", answer="a", generator="g", metadata={"id": 1})
    assert group_of_case(case, None, field, "line 1") == getattr(case, field)


def test_without_the_case_its_verdict_knows_the_metadata_only():
    assert group_of_case(None, VERDICT, "meta.user", "line 1") == 7
    assert group_of_case(None, VERDICT, "document", "line 1") == "minutes"
    with pytest.raises(InputError, match=r"only the metadata in its verdict; give .*\(jury report --cases"):
        group_of_case(None, VERDICT, "answer", "line 1")
