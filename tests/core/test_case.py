"""Case: the names it understands, what it refuses, and a key that is the same everywhere."""

import copy
import datetime
import json
import pickle
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import Case, ConfigurationError, Message, Step
from jury_adapters.core.case import item_id_in

ALIASES = {
    "question": ("query", "input", "goal", "user_input"),
    "answer": ("response", "output", "prediction", "actual_output"),
    "contexts": ("context", "retrieved_contexts"),
    "reference": ("expected", "ground_truth", "reference_outputs"),
    "candidates": ("answers",),
}
SAMPLES = {"question": "q", "answer": "a", "contexts": ("c1", "c2"), "reference": "r", "candidates": ("x", "y")}
PAIRS = [(alias, field) for field, aliases in ALIASES.items() for alias in aliases]

FULL = {
    "question": "q",
    "answer": "a",
    "contexts": ("c",),
    "reference": "r",
    "candidates": ("x", "y"),
    "messages": ({"role": "user", "content": "hi"},),
    "trajectory": ({"tool": "search", "arguments": {"k": [1, {"deep": True}]}, "output": "found"},),
    "workspace": "work/folder",
    "generator": "gpt-4o",
    "metadata": {"id": 7, "tags": ["b", "a"]},
}
CHANGES = {
    "question": "Q",
    "answer": "A",
    "contexts": ("C",),
    "reference": "R",
    "candidates": ("y", "x"),
    "messages": ({"role": "user", "content": "ho"},),
    "trajectory": ({"tool": "search", "arguments": {"k": [1, {"deep": False}]}, "output": "found"},),
    "workspace": "work/other",
    "generator": "gpt-4.1",
    "metadata": {"id": 8, "tags": ["b", "a"]},
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.parametrize(("alias", "field"), PAIRS)
def test_every_alias_fills_its_field(alias, field):
    case = Case(**{alias: SAMPLES[field]})
    assert getattr(case, field) == SAMPLES[field]
    assert case == Case(**{field: SAMPLES[field]})


@pytest.mark.parametrize(("alias", "field"), PAIRS)
def test_two_names_for_one_field_are_refused_and_both_are_named(alias, field):
    with pytest.raises(ValueError, match="another name for") as refused:
        Case(**{alias: SAMPLES[field], field: SAMPLES[field]})
    assert repr(alias) in str(refused.value)
    assert repr(field) in str(refused.value)


def test_two_aliases_of_one_field_without_the_canonical_name_are_refused():
    with pytest.raises(ValueError, match="'input' is another name for 'question'"):
        Case(query="a", input="b")


@pytest.mark.parametrize(
    ("wrong", "meant"), [("questoin", "question"), ("Answer", "answer"), ("ground_thruth", "ground_truth")]
)
def test_an_unknown_field_is_refused_with_the_name_that_was_probably_meant(wrong, meant):
    with pytest.raises(ValueError, match=f"Did you mean '{meant}'"):
        Case(**{wrong: "x"})


def test_an_unknown_field_unlike_any_other_is_refused_with_the_known_names():
    with pytest.raises(ValueError, match="unknown field 'zzz'") as refused:
        Case(zzz=1)
    assert "retrieved_contexts" in str(refused.value)
    assert "Did you mean" not in str(refused.value)


@pytest.mark.parametrize(("first", "second"), [("response", "second_response"), ("prediction", "prediction_b")])
def test_two_answers_under_a_pair_of_names_become_candidates(first, second):
    case = Case(**{first: "one", second: "two"})
    assert case.candidates == ("one", "two")
    assert case.answer is None


def test_a_second_answer_without_the_first_is_an_unknown_field():
    with pytest.raises(ValueError, match="unknown field 'second_response'"):
        Case(second_response="two")


def test_a_pair_of_answers_beside_candidates_is_refused():
    with pytest.raises(ValueError, match=r"unknown field 'second_response'|another name"):
        Case(response="one", second_response="two", candidates=("a", "b"))


def test_context_as_one_text_is_one_context():
    assert Case(context="only").contexts == ("only",)


@pytest.mark.parametrize("given_as", [["a", "", "b"], ("a", "", "b")])
def test_context_as_a_sequence_keeps_order_and_blank_entries(given_as):
    assert Case(context=given_as).contexts == ("a", "", "b")


@pytest.mark.parametrize("name", ["context", "contexts", "retrieved_contexts"])
def test_context_as_a_mapping_is_refused_with_the_place_where_it_belongs(name):
    with pytest.raises(ValueError, match=r"Critic\.judge"):
        Case(**{name: {"tone": "formal"}})


@pytest.mark.parametrize("name", ["contexts", "candidates", "metadata"])
def test_none_means_nothing_for_fields_that_hold_several(name):
    assert Case(question="q", **{name: None}) == Case(question="q")


@pytest.mark.parametrize("value", [5, 0.5, True, b"bytes", ["list"], {"a": "b"}])
def test_the_constructor_takes_only_text_as_text_and_says_what_converts(value):
    with pytest.raises(ValueError, match=r"expected text, not .*from_row"):
        Case(question=value)


class Document:
    def __init__(self, page_content):
        self.page_content = page_content


class Node:
    node_id = "n1"

    def get_content(self):
        return "a node"


def test_contexts_may_be_the_documents_of_a_retriever():
    found = Case(question="q", contexts=[Document("a document"), Node(), "a text"])
    assert found.contexts == ("a document", "a node", "a text")
    assert found == Case.from_row({"question": "q", "contexts": [Document("a document"), Node(), "a text"]})


@pytest.mark.parametrize("value", [5, Document(None), object()])
def test_a_context_without_text_is_refused(value):
    with pytest.raises(ValueError, match="expected text, not"):
        Case(question="q", contexts=[value])


@pytest.mark.parametrize("value", [5, "text", ["list"]])
def test_metadata_that_is_no_mapping_is_refused(value):
    with pytest.raises(ValueError, match="expected a mapping"):
        Case(question="q", metadata=value)


def test_a_case_cannot_be_changed_all_the_way_down():
    inner = {"list": [1, {"x": 1}]}
    case = Case(**{**FULL, "metadata": inner})
    inner["list"].append("later")
    assert case.metadata == {"list": (1, {"x": 1})}
    with pytest.raises(ValueError, match="frozen"):
        case.question = "other"
    with pytest.raises(ValueError, match="frozen"):
        case.messages[0].content = "other"
    for mapping in (case.metadata, case.metadata["list"][1], case.trajectory[0].arguments):
        with pytest.raises(TypeError, match="cannot be changed"):
            mapping["new"] = 1
    assert isinstance(case.contexts, tuple)


def test_equal_cases_are_equal_and_hash_alike_whatever_they_were_made_of():
    one, two = Case(**FULL), Case(query="q", **{k: v for k, v in FULL.items() if k != "question"})
    two.content_hash  # noqa: B018  a case that has computed its key is no other case
    assert one == two
    assert hash(one) == hash(two)
    assert len({one, two}) == 1


@pytest.mark.parametrize("field", FULL)
def test_the_key_and_equality_see_every_field(field):
    one, other = Case(**FULL), Case(**{**FULL, field: CHANGES[field]})
    assert one != other
    if field == "metadata":  # ids and labels are not content
        assert one.content_hash == other.content_hash
        return
    assert one.content_hash != other.content_hash
    assert Case(**{name: value for name, value in FULL.items() if name != field}).content_hash not in (
        one.content_hash,
        other.content_hash,
    )


def test_fields_do_not_run_into_each_other_in_the_key():
    keys = [
        Case(question="a", answer="b").content_hash,
        Case(question="b", answer="a").content_hash,
        Case(question="ab").content_hash,
        Case(question="ab", answer="").content_hash,
        Case(contexts=("a", "b")).content_hash,
        Case(contexts=("ab",)).content_hash,
        Case(contexts=("a b",)).content_hash,
        Case(candidates=("a", "b")).content_hash,
    ]
    assert len(set(keys)) == len(keys)


def test_the_key_does_not_depend_on_the_order_of_keys():
    one = Case(question="q", metadata={"a": 1, "b": {"x": 1, "y": 2}})
    two = Case(question="q", metadata={"b": {"y": 2, "x": 1}, "a": 1})
    assert one.content_hash == two.content_hash


@pytest.mark.slow
def test_the_key_is_the_same_in_another_process():
    fields = {**FULL, "question": "¿qué? 判断 \U0001f600", "metadata": {"s": sorted({"x", "y", "z"}), "f": 0.1}}
    script = (
        "import json, sys; from jury_adapters import Case; print(Case(**json.loads(sys.stdin.read())).content_hash)"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            input=json.dumps(fields),
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert found == {Case(**fields).content_hash}


def test_the_key_of_a_known_case_never_changes():
    # Stores keep these keys; a change here throws away every stored judgment.
    assert Case(question="2 + 2?", answer="4").content_hash == "35d195a0e53eed20b060111e7901b212"


@pytest.mark.slow
@given(st.dictionaries(st.text(max_size=8), json_values, max_size=4))
def test_any_json_metadata_gives_a_key_and_survives_pickling(metadata):
    case = Case(question="q", metadata=metadata)
    assert len(case.content_hash) == 32
    again = pickle.loads(pickle.dumps(case))
    assert again == case
    assert again.content_hash == case.content_hash
    assert copy.deepcopy(case) == case


def test_a_full_case_survives_pickling_and_copies():
    case = Case(**FULL)
    for again in (pickle.loads(pickle.dumps(case)), copy.copy(case), copy.deepcopy(case), case.model_copy()):
        assert again == case
        assert again.content_hash == case.content_hash
        with pytest.raises(TypeError, match="cannot be changed"):
            again.metadata["new"] = 1


def test_fields_that_make_no_case_are_a_configuration_error_of_one_line():
    with pytest.raises(ConfigurationError) as refused:
        Case.of(None, {"question": "q", "answr": "a"})
    assert str(refused.value).startswith("unknown field 'answr'. Did you mean 'answer'?")
    assert len(str(refused.value).splitlines()) == 1
    assert refused.value.__suppress_context__


def test_a_changed_copy_is_checked_and_has_its_own_key():
    case = Case(question="q", answer="a")
    before = case.content_hash
    other = case.model_copy(update={"response": "b", "metadata": {"tags": ["x"]}})
    assert (other.question, other.answer, other.metadata) == ("q", "b", {"tags": ("x",)})
    assert other.content_hash == Case(question="q", answer="b", metadata={"tags": ["x"]}).content_hash != before
    with pytest.raises(ValueError, match="Did you mean 'answer'"):
        case.model_copy(update={"anwser": "b"})


@pytest.mark.slow
@given(st.text(alphabet=st.characters(categories=["Cs", "Lu", "So"])))
def test_lone_surrogates_are_replaced_on_entry_and_nothing_else_is(text):
    case = Case(question=text, contexts=[text], messages=[{"role": text, "content": text}], metadata={text: [text]})
    shown = [case.question, *case.contexts, case.messages[0].content, *case.metadata, case.metadata[case.question][0]]
    assert len(set(shown)) == 1
    assert case.question.encode().decode() == case.question
    paired = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert case.question == paired
    assert len(case.content_hash) == 32


def test_a_surrogate_pair_is_joined_and_a_byte_order_mark_stays():
    assert Case(question="\ud83d\ude00").question == "\U0001f600"
    assert Case(question="\ufeffa\ud800").question == "\ufeffa\ufffd"


def test_a_workspace_with_bytes_that_are_no_text_has_a_key():
    assert len(Case(workspace="folder/\udc80").content_hash) == 32


def test_text_of_a_subclass_becomes_plain_text():
    class Rich(str):
        source = "somewhere"

    case = Case(question=Rich("q"), metadata={Rich("k"): Rich("v")})
    assert type(case.question) is str
    assert {type(text) for pair in case.metadata.items() for text in pair} == {str}


def test_messages_and_steps_are_read_from_mappings_and_refuse_unknown_fields():
    case = Case(messages=[Message(role="user", content="hi")], trajectory=[{"text": "thinking"}, Step(tool="t")])
    assert case.messages[0].role == "user"
    assert [step.tool for step in case.trajectory] == [None, "t"]
    with pytest.raises(ValueError, match="extra"):
        Case(trajectory=[{"tol": "search"}])


# --- Case.of: what judge(...) is given


def test_a_bare_text_is_the_question():
    assert Case.of("2 + 2?", {}) == Case(question="2 + 2?")
    assert Case.of("2 + 2?", {"response": "4"}) == Case(question="2 + 2?", answer="4")


def test_a_mapping_and_keyword_fields_make_a_case():
    assert Case.of({"query": "q"}, {"answer": "a"}) == Case.of(None, {"question": "q", "answer": "a"})


def test_a_ready_case_is_taken_as_it_is_and_refuses_further_fields():
    case = Case(question="q")
    assert Case.of(case, {}) is case
    with pytest.raises(ConfigurationError, match="not both"):
        Case.of(case, {"answer": "a"})


@pytest.mark.parametrize("first", ["q", {"question": "q"}])
def test_a_field_given_twice_is_refused_and_never_dropped(first):
    with pytest.raises(ConfigurationError, match="'question' is given twice"):
        Case.of(first, {"question": "other"})
    with pytest.raises(ValueError, match="another name"):
        Case.of(first, {"query": "other"})


def test_nothing_at_all_is_refused():
    for nothing in (None, {}):
        with pytest.raises(ConfigurationError, match="nothing to judge"):
            Case.of(nothing, {})


@pytest.mark.parametrize("value", [5, ["q"], b"q", object()])
def test_what_is_no_case_is_refused_by_its_type(value):
    with pytest.raises(ConfigurationError, match=type(value).__name__):
        Case.of(value, {})


def test_a_mapping_with_keys_that_are_no_text_is_refused_as_a_value_error():
    with pytest.raises(ValueError, match="unknown field 1"):
        Case.of({1: "x"}, {})


# --- Case.from_row: loose rows


def test_unknown_columns_of_a_row_go_into_metadata():
    case = Case.from_row({"question": "q", "item_id": 3, "votes": {"a": {"label": "x"}}})
    assert case.question == "q"
    assert case.metadata == {"item_id": 3, "votes": {"a": {"label": "x"}}}


def test_a_row_with_two_names_for_one_field_keeps_both_and_says_so():
    case = Case.from_row({"response": "alias", "answer": "canonical", "input": "first", "query": "second"})
    assert (case.answer, case.question) == ("canonical", "first")
    assert case.metadata["response"] == "alias"
    assert case.metadata["query"] == "second"
    assert set(case.metadata["ambiguous"]) == {
        "response is ignored beside answer",
        "query is ignored beside input",
    }


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_missing_values_of_a_row_stay_missing(missing):
    case = Case.from_row({"question": "q", "answer": missing, "context": missing, "response": "r", "extra": missing})
    said = "response is taken, because answer is empty"
    assert case == Case(question="q", answer="r", metadata={"ambiguous": [said]})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (42, "42"),
        (0.5, "0.5"),
        (True, "true"),
        ({"output": "inner"}, "inner"),
        ({"a": 1, "b": "ü"}, '{"a": 1, "b": "ü"}'),
        (["a", 1, float("nan")], '["a", 1, null]'),
        (datetime.date(2024, 1, 31), "2024-01-31"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_values_of_a_row_become_text(value, text):
    assert Case.from_row({"answer": value}).answer == text


@pytest.mark.parametrize(
    ("value", "contexts"),
    [
        ('["a", "b"]', ("a", "b")),
        (' ["a"] ', ("a",)),
        ("[1] is a citation", ("[1] is a citation",)),
        ("[1, 2]", ("[1, 2]",)),
        ("[]", ()),
        ("plain", ("plain",)),
        (["a", 1, {"text": "b"}], ("a", "1", "b")),
        ({"page_content": "a"}, ("a",)),
        (7, ("7",)),
    ],
)
def test_contexts_of_a_row_are_read_from_lists_json_cells_and_single_values(value, contexts):
    assert Case.from_row({"contexts": value}).contexts == contexts


def test_the_generator_is_found_in_meta_unless_the_row_names_one():
    assert Case.from_row({"meta": {"generator": "gpt-4o"}}).generator == "gpt-4o"
    assert Case.from_row({"meta": {"generator": "gpt-4o"}, "generator": "claude"}).generator == "claude"
    assert Case.from_row({"meta": {"generator": 4}}).generator is None
    assert Case.from_row({"meta": {"generator": "gpt-4o"}}).metadata == {"meta": {"generator": "gpt-4o"}}


def test_metadata_of_a_row_is_joined_with_its_unknown_columns():
    assert Case.from_row({"metadata": {"a": 1}, "b": 2}).metadata == {"a": 1, "b": 2}
    assert Case.from_row({"metadata": "text"}).metadata == {"metadata": "text"}


@pytest.mark.parametrize("row", ["text", 5, None, ["a"]])
def test_a_row_that_is_no_mapping_is_refused(row):
    with pytest.raises(ConfigurationError, match="must be a mapping"):
        Case.from_row(row)


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(["question", "query", "answer", "contexts", "x", "metadata"]), json_values))
def test_any_json_row_makes_a_case(row):
    case = Case.from_row(row)
    assert len(case.content_hash) == 32


@pytest.mark.parametrize(
    "row",
    [
        {"Question": "q", "ANSWER": "a", "Ground Truth": "r", "ID": 3},
        {" question ": "q", "answer\t": "a", "ground-truth": "r", "Id": 3},
        {"prompt": "q", "completion": "a", "expected": "r", "id": 3},
        {"Prompt": "q", "Completion": "a", "Expected": "r", " id": 3},
    ],
    ids=["capitals", "spaces", "last resort", "last resort in capitals"],
)
def test_names_of_a_row_are_known_however_they_are_written(row):
    assert Case.from_row(row) == Case(question="q", answer="a", reference="r", metadata={"id": 3})


def test_a_column_under_its_right_name_is_the_one_that_counts():
    case = Case.from_row({"Answer": "no", "answer": "yes", "prompt": "all of it", "question": "q", "completion": "x"})
    assert (case.question, case.answer) == ("q", "yes")
    said = ("Answer is ignored beside answer",)
    assert case.metadata == {"Answer": "no", "prompt": "all of it", "completion": "x", "ambiguous": said}


def test_a_prompt_beside_messages_is_no_question():
    case = Case.from_row({"messages": [{"role": "user", "content": "hi"}], "prompt": "You are kind."})
    assert (case.question, case.metadata) == ("hi", {"prompt": "You are kind."})


def test_a_case_itself_is_strict_about_names():
    with pytest.raises(ValueError, match="Answer"):
        Case(Answer="a")


@pytest.mark.parametrize(
    ("row", "field", "value"),
    [
        ({"question": "q", "result": "a"}, "answer", "a"),
        ({"question": "q", "generation": "a", "gold": "pass"}, "answer", "a"),
        ({"answer": "a", "source_documents": [{"page_content": "c", "metadata": {}}]}, "contexts", ("c",)),
        ({"answer": "a", "documents": "c"}, "contexts", ("c",)),
        ({"answer": "a", "docs": ["c", "d"]}, "contexts", ("c", "d")),
        ({"answer": "a", "expected_output": "r"}, "reference", "r"),
    ],
)
def test_a_loose_row_may_call_a_field_what_frameworks_call_it(row, field, value):
    assert getattr(Case.from_row(row), field) == value


def test_what_may_be_something_else_is_no_field_beside_one():
    case = Case.from_row({"answer": "a", "result": "fail", "contexts": ["c"], "documents": ["d"]})
    assert (case.answer, case.contexts) == ("a", ("c",))
    assert case.metadata == {"result": "fail", "documents": ("d",)}


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("retrieved_ids", "retrieved_ids"), ("retrieved_context_ids", "retrieved_ids"),
        ("relevant_ids", "relevant_ids"), ("expected_ids", "relevant_ids"), ("reference_context_ids", "relevant_ids"),
        ("relevant_contexts", "relevant_contexts"), ("reference_contexts", "relevant_contexts"),
    ],
)  # fmt: skip
def test_the_documents_of_a_retriever_are_entries_of_the_metadata(name, entry):
    case = Case(**{"question": "q", name: ["d7", "d1"], "metadata": {"id": 7}})
    assert case.metadata == {"id": 7, entry: ("d7", "d1")}
    assert case.content_hash == Case(question="q").content_hash
    assert Case(**case.model_dump()) == case
    assert case.model_copy(update={"answer": "a"}).metadata == case.metadata
    assert case.model_copy(update={name: ["d2"]}).metadata == {"id": 7, entry: ("d2",)}


@pytest.mark.parametrize("other", [{"metadata": {"relevant_ids": ["d1"]}}, {"relevant_ids": ["d1"]}])
def test_documents_are_not_given_twice(other):
    with pytest.raises(ValueError, match="'relevant_ids' is given twice"):
        Case(question="q", expected_ids=["d2"], **other)


def test_a_misspelt_name_of_the_documents_is_refused_with_the_right_one():
    with pytest.raises(ValueError, match="Did you mean 'retrieved_ids'"):
        Case(question="q", retreived_ids=["d2"])


@pytest.mark.parametrize("name", ["id", "item_id"])
def test_an_id_of_a_row_is_the_id_of_the_case(name):
    case = Case(question="?", answer="a", **{name: "ferry"})
    assert (case.item_id, dict(case.metadata)) == ("ferry", {name: "ferry"})
    assert case.model_copy(update={name: "bridge"}).item_id == "bridge"
    assert case.content_hash == Case(question="?", answer="a").content_hash
    with pytest.raises(ValueError, match="given twice"):
        Case(answer="a", metadata={name: "x"}, **{name: "y"})


def test_a_human_label_of_a_row_is_metadata_and_no_part_of_the_content():
    case = Case(question="?", answer="a", gold="ok")
    assert dict(case.metadata) == {"gold": "ok"}
    assert case.content_hash == Case(question="?", answer="a").content_hash


def test_the_refusal_of_a_column_names_the_way_to_keep_it():
    with pytest.raises(ValueError, match=r"unknown field 'region'.*Case.from_row\(row\) keeps other columns"):
        Case(answer="a", region="north")


def test_the_state_of_an_agent_is_refused_with_what_reads_it():
    messages = [("user", "When?"), ("assistant", "At nine.")]
    with pytest.raises(ConfigurationError, match=r"judge Case\.from_row\(state\), or to_case\(state\)"):
        Case.of({"messages": messages, "jury_verdict": None}, {})
    assert Case.from_row({"messages": messages}).answer == "At nine."


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"id": "c0"}, "item_id"),
        ({"gold": "PASS"}, "metadata.get('gold')"),
        ({"expected_ids": ("d1",)}, "metadata.get('relevant_ids')"),
        ({"query": "When?"}, "question"),
        ({"actual_output": "In 2018."}, "answer"),
    ],
    ids=["id", "gold", "expected_ids", "query", "actual_output"],
)
def test_an_attribute_under_a_name_of_the_constructor_leads_to_the_value(fields, place):
    ((name, value),) = fields.items()
    case = Case(**fields)
    with pytest.raises(
        AttributeError, match=rf"'Case' object has no attribute '{name}'; use case\.{re.escape(place)}$"
    ):
        getattr(case, name)
    assert eval(f"case.{place}") == value
    assert not hasattr(case, name)


def test_an_attribute_that_no_case_has_is_refused_as_before():
    with pytest.raises(AttributeError, match=r"^'Case' object has no attribute 'colour'$"):
        _ = Case(answer="x").colour


@pytest.mark.parametrize("column", ["id", "item_id"])
@pytest.mark.parametrize("entry", ["id", "item_id"])
def test_the_column_of_an_id_has_priority_over_an_id_in_the_metadata(column, entry):
    row = {column: "row-1", "question": "q", "answer": "a", "metadata": {entry: "old", "page": 3}}
    case = Case.from_row(row)
    assert (case.item_id, item_id_in(row), case.metadata["page"]) == ("row-1", "row-1", 3)
    assert case.metadata["ambiguous"] == (f"{entry} in metadata is ignored beside {column}",)
    assert Case.from_row({**row, column: "old"}).metadata == {column: "old", "page": 3}
    assert Case.from_row({**row, column: None}).item_id == "old"
