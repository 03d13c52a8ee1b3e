"""Cases read from the inputs and outputs of runs: as they are, by path, by function."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypedDict
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.documents import Document
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage, message_to_dict
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.prompt_values import ChatPromptValue, StringPromptValue
from langsmith.schemas import Run
from pydantic import BaseModel

from jury_adapters import Case, ConfigurationError
from jury_adapters.core.errors import InputError
from jury_adapters.core.field_map import Path
from jury_adapters.core.field_names import FIELD_NAMES
from jury_adapters.langchain import to_case
from jury_adapters.langchain.case_reader import CaseReader

WEATHER = [
    HumanMessage("Weather in Paris?"),
    AIMessage("", tool_calls=[{"name": "weather", "args": {"city": "Paris"}, "id": "1"}]),
    ToolMessage("18 degrees", tool_call_id="1"),
    AIMessage("18 degrees in Paris."),
]
OPENAI = [
    {"role": "user", "content": "Weather in Paris?"},
    {
        "role": "assistant", "content": "",
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "1", "content": "18 degrees"},
    {"role": "assistant", "content": "18 degrees in Paris."},
]  # fmt: skip
QUESTION, CONTEXTS = (FIELD_NAMES[field].everywhere for field in ("question", "contexts"))
ANSWER, REFERENCE = (FIELD_NAMES[field].in_its_part for field in ("answer", "reference"))
KEYS = [
    "question", "answer", "messages", "documents", "output", "role", "content", "type", "x", "results", "steps",
    "inputs", "intermediate_steps", "generations", "page_content",
]  # fmt: skip
RUN = Run(
    id=uuid4(), name="r", run_type="chain", start_time=datetime.now(UTC), trace_id=uuid4(), inputs={"x": "q"},
    outputs={"y": "a"},
)  # fmt: skip
STEP = {"tool": "weather", "arguments": {"city": "Paris"}, "output": "18 degrees"}


def read(inputs=None, outputs=None, reference_outputs=None, /, **options):
    row = {"inputs": inputs, "outputs": outputs, "reference_outputs": reference_outputs}
    case = to_case(row, **options)
    return case.model_dump(exclude_defaults=True)


class State(BaseModel):
    question: str
    answer: str


@dataclass
class DataState:
    question: str
    answer: str


class Answered(BaseModel):
    city: str
    degrees: int


class TestUnderstoodAsItIs:
    @pytest.mark.parametrize(
        ("inputs", "question"),
        [
            ("q", "q"),
            *[({name: "q"}, "q") for name in QUESTION],
            ({"anything": "q"}, "q"),
            ({"anything": "q", "number": 3, "flag": True}, "q"),
            ({"one": "a", "two": "b"}, '{"one": "a", "two": "b"}'),
            ({"question": {"text": "q"}}, "q"),
            ({"input": [HumanMessage("q")]}, "q"),
            ([HumanMessage("q")], "q"),
            (HumanMessage("q"), "q"),
            ({"messages": [("user", "q")]}, "q"),
            ({"messages": ("user", "q")}, "q"),
            ({"messages": [{"role": "user", "content": [{"type": "text", "text": "q"}]}]}, "q"),
            ({"messages": [[dumpd(HumanMessage("q"))]]}, "q"),
            ({"messages": [message_to_dict(HumanMessage("q"))]}, "q"),
            (ChatPromptValue(messages=[HumanMessage("q")]), "q"),
            (StringPromptValue(text="q"), "q"),
            (State(question="q", answer=""), "q"),
            (DataState(question="q", answer=""), "q"),
            (7, "7"),
            ({}, None),
            (None, None),
        ],
    )  # fmt: skip
    def test_the_question(self, inputs, question):
        assert read(inputs).get("question") == question

    @pytest.mark.parametrize(
        ("outputs", "answer"),
        [
            ("a", "a"),
            *[({name: "a"}, "a") for name in ANSWER],
            ({"anything": "a"}, "a"),
            ({"output": {"answer": "a", "score": 3}}, "a"),
            ({"output": AIMessage("a")}, "a"),
            ({"output": {"messages": WEATHER}}, "18 degrees in Paris."),
            ({"output": None, "answer": "a"}, "a"),
            ({"answer": "a", "text": 3}, "a"),
            ({"answer": 4}, "4"),
            ({"answer": ["x", "y"]}, '["x", "y"]'),
            (AIMessage("a"), "a"),
            (AIMessage([{"type": "text", "text": "a"}]), "a"),
            ([AIMessage("a")], "a"),
            ({"messages": [AIMessage("a")], "structured_response": Answered(city="Paris", degrees=18)},
             '{"city": "Paris", "degrees": 18}'),
            (Answered(city="Paris", degrees=18), '{"city": "Paris", "degrees": 18}'),
            (State(question="q", answer="a"), "a"),
            (AgentFinish({"output": "a"}, "log"), "a"),
            (LLMResult(generations=[[ChatGeneration(message=AIMessage("a"))]]), "a"),
            ({"generations": [[{"text": "a"}]]}, "a"),
            ({"x": {"y": 1}}, '{"x": {"y": 1}}'),
            ("", ""),
            (None, None),
            ({}, None),
        ],
    )  # fmt: skip
    def test_the_answer(self, outputs, answer):
        found = CaseReader().case(
            "q", {"generations": outputs.generations} if isinstance(outputs, LLMResult) else outputs
        )
        assert found.answer == answer

    @pytest.mark.parametrize("name", CONTEXTS)
    @pytest.mark.parametrize(
        "given",
        [
            "text", ["text"], [Document("text")], Document("text"), [{"page_content": "text", "metadata": {"a": 1}}],
            [{"text": "text"}], [dumpd(Document("text"))], {"index": [Document("text")]},
        ],
        ids=str,
    )  # fmt: skip
    def test_the_contexts_in_inputs_and_outputs(self, name, given):
        assert read({"question": "q", name: given})["contexts"] == ("text",)
        assert read("q", {"answer": "a", name: given})["contexts"] == ("text",)

    def test_what_the_run_retrieved_wins_over_what_it_was_given(self):
        assert read({"q": "q", "docs": ["given"]}, {"answer": "a", "docs": ["found"]})["contexts"] == ("found",)

    def test_contexts_known_from_elsewhere_are_for_when_there_are_none(self):
        assert CaseReader().case("q", "a", contexts=("elsewhere",)).contexts == ("elsewhere",)
        assert CaseReader().case("q", {"answer": "a", "docs": ["found"]}, contexts=("elsewhere",)).contexts == (
            "found",
        )

    @pytest.mark.parametrize("outputs", [[Document("d")], {"output": [Document("d")]}, {"documents": [Document("d")]}])
    def test_a_retriever_gives_contexts_and_no_answer(self, outputs):
        assert read("q", outputs) == {"question": "q", "contexts": ("d",)}

    def test_a_retriever_that_found_nothing(self):
        assert read("q", []) == {"question": "q"}

    @pytest.mark.parametrize(
        "thread", [WEATHER, OPENAI, [dumpd(message) for message in WEATHER]], ids=["lc", "openai", "dumped"]
    )
    @pytest.mark.parametrize("wrapped", [False, True])
    def test_an_agent(self, thread, wrapped):
        found = read(None, {"messages": thread} if wrapped else thread)
        said = {"question": "Weather in Paris?", "answer": "18 degrees in Paris.", "trajectory": (STEP,)}
        assert found == {**said, "contexts": (STEP["output"],)}  # what the answer rests on

    def test_of_a_thread_the_last_turn_is_judged_and_the_others_came_before(self):
        earlier = [SystemMessage("Be brief."), HumanMessage("Hello"), AIMessage("Hi")]
        found = read({"messages": [HumanMessage("Weather in Paris?")]}, {"messages": [*earlier, *WEATHER]})
        assert found["answer"] == "18 degrees in Paris."
        assert [message["content"] for message in found["messages"]] == ["Be brief.", "Hello", "Hi"]

    def test_or_every_turn_where_that_is_asked_for(self):
        thread = [HumanMessage("Hello"), AIMessage("Hi"), *WEATHER]
        found = read(None, thread, thread, whole_thread=True)
        assert found["question"] == "Hello"
        assert found["trajectory"] == ({"text": "Hi"}, {"text": "(the user goes on: Weather in Paris?)"}, STEP)
        assert "messages" not in found
        assert found["metadata"]["reference_trajectory"].count("\n") == 2

    def test_an_agent_that_waits_for_a_person_has_no_answer_yet(self):
        assert "answer" not in read(None, {"messages": WEATHER[:2]})

    def test_intermediate_steps(self):
        steps = [
            (AgentAction("weather", {"city": "Paris"}, ""), "18 degrees"),
            (AgentAction("search", "x", "why"), None),
        ]
        found = read({"input": "q"}, {"output": "a", "intermediate_steps": steps})
        assert found["trajectory"] == (STEP, {"tool": "search", "arguments": {"input": "x"}, "text": "why"})

    def test_a_graph_trajectory_of_agentevals(self):
        graph = {"inputs": ["Hello"], "results": [{"messages": OPENAI}], "steps": [["__start__", "agent"], ["tools"]]}
        found = read(None, graph)
        assert (found["question"], found["answer"]) == ("Weather in Paris?", "18 degrees in Paris.")
        assert [step["text"] for step in found["trajectory"]] == [
            "visits the node __start__", "visits the node agent", "visits the node tools"
        ]  # fmt: skip

    @pytest.mark.parametrize(
        "given", ["r", {"answer": "r"}, {"output": "r"}, *[{name: "r"} for name in REFERENCE], AIMessage("r")]
    )
    def test_the_reference(self, given):
        assert read("q", "a", given)["reference"] == "r"

    def test_a_reference_trajectory(self):
        found = read("q", WEATHER, OPENAI)
        assert found["reference"] == "18 degrees in Paris."
        assert '"tool": "weather"' in found["metadata"]["reference_trajectory"]

    def test_chat_history_came_before_the_question(self):
        found = read({"input": "q", "chat_history": [HumanMessage("Hello"), AIMessage("Hi")]}, "a")
        assert found["question"] == "q"
        assert [message["content"] for message in found["messages"]] == ["Hello", "Hi"]

    def test_the_inputs_question_wins_and_the_outputs_one_is_for_when_there_is_none(self):
        assert read({"query": "asked"}, {"query": "rephrased", "result": "a"})["question"] == "asked"
        assert read(None, {"query": "rephrased", "result": "a"})["question"] == "rephrased"

    def test_small_values_without_a_meaning_go_along(self):
        found = read({"question": "q", "audience": "children", "state": {"large": 1}}, {"answer": "a", "seconds": 3})
        assert found["metadata"] == {"audience": "children", "seconds": 3}

    def test_a_state_with_a_value_nobody_knows(self):
        assert read({"question": "q", "thing": object()}, {"answer": "a"}) == {"question": "q", "answer": "a"}

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary(),
            lambda inner: st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(KEYS),
                inner, max_size=4),
            max_leaves=12,
        )
    )  # fmt: skip
    def test_whatever_is_given_makes_a_case(self, value):
        assert isinstance(CaseReader().case(value, value, value), Case)
        assert isinstance(CaseReader(whole_thread=True).case(value, value, value), Case)


class TestMapped:
    """Everything that a name, a path or a function of a part can say is said with a field map."""

    def test_by_name(self):
        found = read({"a": "q", "b": "no"}, {"x": "a"}, field_map={"question": "inputs.a", "answer": "outputs.x"})
        assert (found["question"], found["answer"]) == ("q", "a")

    def test_by_function_the_rest_of_a_part_is_not_read(self):
        found = read(
            {"a": "q", "b": "no"}, {"x": "a", "y": "no"},
            field_map=lambda row: Case(question=row["inputs"]["a"], answer=row["outputs"]["x"]),
        )  # fmt: skip
        assert found == {"question": "q", "answer": "a"}

    @pytest.mark.parametrize("field_map", [
        {"answer": "outputs.messages[-1].content"}, {"answer": "outputs.messages[3]"}, {"messages": "outputs.messages"},
    ])  # fmt: skip
    def test_by_path(self, field_map):
        assert read("q", {"messages": WEATHER}, field_map=field_map)["answer"] == "18 degrees in Paris."

    def test_by_function(self):
        found = read("q", WEATHER, field_map=lambda row: Case(answer=row["outputs"][2].content.upper()))
        assert found["answer"] == "18 DEGREES"

    def test_a_function_may_choose_a_part_that_is_then_recognized(self):
        def field_map(row):
            return to_case({"inputs": row["inputs"]["ask"], "outputs": row["outputs"]["agent"]})

        found = read({"ask": "q", "other": "no"}, {"agent": {"messages": WEATHER}, "reply": "no"}, field_map=field_map)
        assert (found["question"], found["answer"]) == ("q", "18 degrees in Paris.")
        assert (found["trajectory"], found["contexts"]) == ((STEP,), ("18 degrees",))

    def test_a_function_may_choose_a_thread_of_which_every_turn_is_judged(self):
        thread = [HumanMessage("Hello"), AIMessage("Hi"), *WEATHER]
        field_map = lambda row: to_case(row["outputs"]["thread"], whole_thread=True)  # noqa: E731
        assert read(None, {"thread": thread}, field_map=field_map)["question"] == "Hello"
        with pytest.raises(ConfigurationError, match=r"to_case\(row\['outputs'\]"):
            to_case({}, field_map={"answer": "outputs"}, whole_thread=True)

    def test_field_by_field(self):
        found = read(
            {"who": "me", "ask": {"text": "q"}},
            {
                "reply": "a", "hits": [Document("d")], "thread": WEATHER, "model": "gpt-4o",
                "before": [("user", "before")],
            },
            field_map={
                "question": "inputs.ask.text", "answer": "outputs.reply", "contexts": "outputs.hits",
                "trajectory": "outputs.thread", "generator": "outputs.model", "messages": "outputs.before",
            },
        )  # fmt: skip
        assert (found["question"], found["answer"], found["contexts"]) == ("q", "a", ("d",))
        assert (found["trajectory"], found["generator"]) == ((STEP,), "gpt-4o")
        assert found["messages"] == ({"role": "user", "content": "before"},)

    def test_field_by_field_with_functions(self):
        def field_map(row):
            inputs, outputs = row["inputs"], row["outputs"]
            contexts = [hit["doc"].page_content for hit in outputs["hits"]]
            return Case(question=inputs["ask"], contexts=contexts, metadata={"who": inputs["who"]})

        found = read({"who": "me", "ask": "q"}, {"hits": [{"doc": Document("d")}]}, field_map=field_map)
        assert found == {"question": "q", "contexts": ("d",), "metadata": {"who": "me"}}

    def test_candidates(self):
        found = read(None, {"both": ["a", AIMessage("b")]}, field_map={"candidates": "outputs.both"})
        assert found["candidates"] == ("a", "b")

    @pytest.mark.parametrize("wrong", [{"anser": "x"}, {"answer": ""}, {"answer": 3}, 3, "outputs.reply"])
    def test_wrong_maps_are_refused_at_once(self, wrong):
        with pytest.raises(ConfigurationError):
            CaseReader(wrong)

    def test_a_misspelt_field_is_named(self):
        with pytest.raises(ConfigurationError, match="Did you mean 'answer'"):
            CaseReader({"anser": "outputs.x"})


class TestToCase:
    def test_a_case_stays_as_it_is(self):
        case = Case(answer="a")
        assert to_case(case) is case

    @pytest.mark.parametrize(
        ("given", "question", "answer"),
        [
            ("a", None, "a"),
            (AIMessage("a"), None, "a"),
            (WEATHER, "Weather in Paris?", "18 degrees in Paris."),
            ({"messages": WEATHER}, "Weather in Paris?", "18 degrees in Paris."),
            ({"question": "q", "answer": "a"}, "q", "a"),
            ({"inputs": {"x": "q"}, "outputs": {"y": "a"}}, "q", "a"),
            (RUN, "q", "a"),
        ],
        ids=["text", "message", "messages", "state", "mapping", "parts", "run"],
    )
    def test_each_kind_of_object(self, given, question, answer):
        case = to_case(given)
        assert (case.question, case.answer) == (question, answer)

    def test_a_run_by_a_map(self):
        assert to_case(RUN, field_map={"answer": "inputs.x"}).answer == "q"

    def test_the_reference_of_a_row(self):
        assert to_case({"question": "q", "answer": "a", "ground_truth": "r"}).reference == "r"


class TestPath:
    @pytest.mark.parametrize(
        ("path", "value"),
        [
            ("a.b", 1),
            ("a['b']", 1),
            ('a["c d"]', 2),
            ("list[0]", "first"),
            ("list[-1]", "last"),
            ("nested[1][0].x", 3),
            ("a-b", 4),
            ("with space", 5),
            ("model.city", "Paris"),
        ],
    )
    def test_leads_to(self, path, value):
        tree = {
            "a": {"b": 1, "c d": 2}, "list": ["first", "last"], "nested": [[], [{"x": 3}]], "a-b": 4, "with space": 5,
            "model": Answered(city="Paris", degrees=18),
        }  # fmt: skip
        assert Path(path)(tree) == value

    @pytest.mark.parametrize(
        "path",
        ["b", "a.c", "list[2]", "list[-3]", "a[0]", "list.x", "text[0]", "model.copy", "model.nothing", "none.x"],
    )
    def test_or_says_where_it_ends(self, path):
        tree = {"a": {"b": 1}, "list": [1, 2], "text": "x", "model": Answered(city="Paris", degrees=18), "none": None}
        with pytest.raises(InputError, match="leads nowhere"):
            Path(path)(tree)

    @pytest.mark.parametrize("path", ["__class__", "a.__init__.__globals__", "a._private", "_x"])
    def test_private_names_are_refused(self, path):
        with pytest.raises(ConfigurationError, match="private"):
            Path(path)

    @given(st.text(max_size=30))
    def test_any_text_is_a_path_or_a_configuration_error(self, text):
        try:
            path = Path(text)
        except ConfigurationError:
            return
        with pytest.raises(InputError):
            path({})


class TypedState(TypedDict):
    question: str
    answer: str


def test_a_typed_dict_is_a_mapping_like_any_other():
    assert read("q", TypedState(question="x", answer="a"))["answer"] == "a"


def test_a_path_does_not_lead_into_what_an_object_keeps_to_itself() -> None:
    class Settings:
        def __init__(self) -> None:
            self._key = "sk-0123456789abcdef"
            self.name = "app"

    assert Path("['name']")(Settings()) == "app"
    assert Path("['_name']")({"_name": "of a mapping"}) == "of a mapping"
    for private in ("['_key']", "['__dict__']['_key']"):
        with pytest.raises(InputError, match="leads nowhere") as raised:
            Path(private)(Settings())
        assert "sk-" not in str(raised.value)


def test_an_agents_state_as_a_case_is_refused_with_what_reads_it():
    state = {"messages": [AIMessage("At nine.")], "jury_verdict": None}
    with pytest.raises(ConfigurationError, match=r"judge Case\.from_row\(state\), or to_case\(state\)"):
        Case.of(state, {})
    assert Case.from_row({"messages": state["messages"]}).answer == to_case(state).answer == "At nine."
