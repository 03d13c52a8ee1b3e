"""Fields of a field map in place of what an adapter read itself."""

import pytest

from jury_adapters import Case, ConfigurationError, InputError
from jury_adapters.core.case_parts import Step
from jury_adapters.core.evidence import DEFAULT_EVIDENCE, Evidence
from jury_adapters.core.field_map import field_map_of
from jury_adapters.core.mapped_case import mapped_case

READ = Case(question="q", answer="draft", contexts=["page"], metadata={"run": 1})
LOG = [
    {"role": "user", "content": "2 + 2?"},
    {"role": "assistant", "content": "", "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}},
    ]},
    {"role": "tool", "tool_call_id": "1", "content": "2 + 2 = 4"},
    {"role": "assistant", "content": "4"},
]  # fmt: skip


def mapped(field_map, row, read=lambda: READ, evidence=DEFAULT_EVIDENCE):
    return mapped_case(field_map_of(field_map), row, read, evidence)


def test_without_a_map_the_case_is_what_was_read():
    assert mapped(None, {}) is READ


def test_named_fields_replace_those_that_were_read():
    case = mapped({"answer": "out.reply", "reference": "wanted"}, {"out": {"reply": 4}, "wanted": "four"})
    assert case == Case(question="q", answer="4", contexts=["page"], reference="four", metadata={"run": 1})


def test_a_mapped_value_that_is_missing_leaves_the_field_empty():
    assert mapped({"answer": "out", "contexts": "hits"}, {"out": None, "hits": None}) == Case(
        question="q", metadata={"run": 1}
    )


def test_mapped_messages_bring_question_answer_steps_and_evidence():
    case = mapped({"messages": "log"}, {"log": LOG})
    assert (case.question, case.answer, case.contexts) == ("2 + 2?", "4", ("2 + 2 = 4",))
    assert case.trajectory == (Step(tool="search", output="2 + 2 = 4"),)
    none = mapped({"messages": "log"}, {"log": LOG}, evidence=Evidence([]))
    assert none.contexts == ("page",)  # nothing in the messages is evidence, so those that were read stay


def test_metadata_is_joined():
    assert mapped({"metadata": "tags"}, {"tags": {"user": "ann"}}).metadata == {"run": 1, "user": "ann"}


def test_a_function_makes_the_whole_case_and_nothing_is_read():
    assert mapped(lambda row: Case(answer=row["x"]), {"x": "4"}, lambda: pytest.fail("was read")) == Case(answer="4")
    with pytest.raises(ConfigurationError, match="must return a Case"):
        mapped(lambda row: row["x"], {"x": "4"})


def test_a_path_that_leads_nowhere_is_reported():
    with pytest.raises(InputError, match="no 'reply'"):
        mapped({"answer": "reply"}, {"out": "4"})


def unreadable():
    raise InputError("cannot read an answer from Page")


def test_an_answer_that_cannot_be_read_is_not_needed_where_the_map_names_one():
    assert mapped({"answer": "out"}, {"out": "4"}, unreadable) == Case(answer="4")
    for field_map, row in (({"reference": "out"}, {"out": "4"}), ({"answer": "out"}, {"out": None})):
        with pytest.raises(InputError, match="cannot read an answer from Page"):
            mapped(field_map, row, unreadable)


def test_documents_of_a_retriever_are_mapped_into_the_metadata():
    row = {"out": {"ids": ["d7", "d1"], "gold": {"d1": 3}}}
    case = mapped({"retrieved_ids": "out.ids", "relevant_ids": "out.gold"}, row)
    assert case == Case(
        question="q", answer="draft", contexts=["page"], metadata={"run": 1},
        retrieved_ids=["d7", "d1"], relevant_ids={"d1": 3},
    )  # fmt: skip
