"""Contexts are what was found: nodes and outputs of tools, and never what a model wrote."""

import asyncio
from functools import partial

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.response.schema import Response
from llama_index.core.chat_engine.types import AgentChatResponse
from llama_index.core.query_engine import CustomQueryEngine, SubQuestionQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import IndexNode, NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool, QueryEngineTool, RetrieverTool, ToolOutput
from llama_index_support import (
    CALL,
    NESTED,
    PAGES,
    SEEN,
    Pages,
    Parts,
    agent_in_tool,
    agents,
    behind_a_node,
    keep,
    model,
    node,
    own,
    question_chat,
    rag,
    react_agent,
    router,
    run,
    sub_questions,
    tool,
)
from scripted import FAULTS, HONEST, PAGE, QUESTION, grounded

from jury_adapters import default_case
from jury_adapters.llama_index import JuryGuardQueryEngine, judge_runs, run_of

BAD = FAULTS["made-up number"]


class Table(CustomQueryEngine):
    """Engine that finds its facts itself, as those of tables do: it returns a text, or a text with facts about it."""

    facts: dict | None = None

    def custom_query(self, query_str):
        return BAD if self.facts is None else Response(BAD, [node(page=7)], self.facts)


def judged(do, **options):
    seen = []
    with judge_runs(grounded, on_verdict=seen.append, **options):
        do()
    (only,) = seen
    return only.case, only.judgment.status.value


def agent_of(*tools, answer=BAD, calls):
    return FunctionAgent(tools=list(tools), llm=model(*calls, answer))


@pytest.mark.parametrize("make", [agent_in_tool, agents, react_agent])
def test_what_an_agent_inside_wrote_proves_nothing(make):
    """The inner agent invents 2019 first; only the page that was looked up counts."""
    case, status = judged(lambda: run(make(BAD)))
    assert (case.contexts, status, "pages" in [step.tool for step in case.steps]) == ((SEEN,), "FAIL", True)


def test_what_an_engine_inside_a_tool_wrote_proves_nothing():
    async def ask(question: str) -> str:
        """Ask the engine."""
        return str(await rag(BAD).aquery(question))

    def ask_now(question: str) -> str:
        """Ask the engine."""
        return str(rag(BAD).query(question))

    engine = QueryEngineTool.from_defaults(rag(BAD), name="ask", description="d")
    bare = QueryEngineTool.from_defaults(Table(), name="ask", description="d")
    asks = FunctionTool.from_defaults(ask_now, async_fn=ask, name="ask")
    for used, given, contexts in (
        (tool(ask, "ask"), {"question": "q"}, (SEEN,)),
        (asks, {"question": "q"}, (SEEN,)),
        (engine, {"input": "q"}, (SEEN,)),
        (bare, {"input": "q"}, ()),
        (QueryEngineTool.from_defaults(own(BAD), name="ask", description="d"), {"input": "q"}, (SEEN,)),
    ):
        case, status = judged(lambda used=used, given=given: run(agent_of(used, calls=[("ask", given)])))
        assert (case.contexts, status, [step.tool for step in case.steps]) == (
            contexts,
            "FAIL" if contexts else "ABSTAIN",
            ["ask"],
        )


def test_nodes_of_a_retriever_in_a_tool_count_once_each():
    found = Pages(node("The ferry is red."), node(page=7), node("The ferry is red."))
    finds = RetrieverTool.from_defaults(found, name="find", description="d")
    case, _ = judged(lambda: run(agent_of(finds, calls=[("find", {"input": "ferry"})])))
    assert case.contexts == ("The ferry is red.", SEEN)
    evaluated = default_case(run_of(QUESTION, run(agent_of(finds, calls=[("find", {"input": "ferry"})]))))
    assert (evaluated.contexts, evaluated.steps[0].tool) == (case.contexts, "find")


def test_notes_hand_offs_and_a_tool_that_says_the_answer_prove_nothing():
    async def answer(text: str) -> str:
        """Give the answer."""
        return BAD

    for name, function in (("remember", keep), ("final_answer", answer), ("anything", answer)):
        used = tool(function, name)
        case, _ = judged(lambda used=used, name=name: run(agent_of(used, calls=[(name, {"text": BAD})])))
        assert (case.contexts, case.steps[0].tool) == ((), name)


def test_a_tool_that_answers_for_its_agent_proves_its_answer_by_the_nodes():
    ask = QueryEngineTool.from_defaults(rag(BAD), name="ask", description="d", return_direct=True)

    def do():
        return run(agent_of(ask, calls=[("ask", {"input": QUESTION})], answer="not asked"))

    case, status = judged(do)
    assert (case.answer, case.contexts, status) == (BAD, (SEEN,), "FAIL")
    case = default_case(run_of(QUESTION, do()))
    assert (case.answer, case.contexts) == (BAD, (SEEN,))


def test_the_answer_of_an_engine_inside_is_no_context():
    for make in (sub_questions, *NESTED):
        for do in (lambda made: made.query(QUESTION), lambda made: asyncio.run(made.aquery(QUESTION))):
            case, status = judged(lambda make=make, do=do: do(make(BAD)))
            assert (SEEN in case.contexts, "2019" in str(case.contexts), status) == (True, False, "FAIL")
        told = default_case(run_of(QUESTION, make(BAD).query(QUESTION))).contexts  # without spans
        assert told == ((SEEN,) if make is sub_questions else ())
    for inner, contexts in ((Table(), ()), (Table(facts={"sql_query": "SELECT 2019"}), (SEEN,))):
        tools = [QueryEngineTool.from_defaults(inner, name="pages", description="d")]
        parts = SubQuestionQueryEngine(
            Parts(), get_response_synthesizer(llm=model(BAD)), tools, verbose=False, use_async=False
        )
        link = NodeWithScore(node=IndexNode(index_id="i", text="years", obj=inner), score=0.5)
        mixed, alone = Pages(link, node("The ferry is red.")), Pages(link)
        for engine, more in ((parts, ()), (rag(BAD, alone), ()), (rag(BAD, mixed), ("The ferry is red.",))):
            case, _ = judged(lambda engine=engine: engine.query(QUESTION))
            assert {*case.contexts} - {"years"} == {*contexts, *more}


def test_what_a_guard_withheld_proves_nothing():
    """The page that the refused engine found reached nobody."""
    for guard in (
        JuryGuardQueryEngine(rag(BAD), lambda case: False),
        JuryGuardQueryEngine(JuryGuardQueryEngine(rag(BAD), lambda case: False), lambda case: True),
    ):
        tools = [QueryEngineTool.from_defaults(guard, name="pages", description="d")]
        parts = SubQuestionQueryEngine(
            Parts(), get_response_synthesizer(llm=model(HONEST)), tools, verbose=False, use_async=False
        )
        for do in (
            lambda tools=tools: run(agent_of(*tools, answer=HONEST, calls=[("pages", {"input": QUESTION})])),
            lambda parts=parts: parts.query(QUESTION),
        ):
            case, status = judged(do)
            assert (case.answer, case.contexts, status) == (HONEST, (), "ABSTAIN")


def test_a_page_that_an_engine_gives_as_its_answer_is_a_context():
    for make in (behind_a_node, router):
        case, status = judged(lambda make=make: make(PAGE).query(QUESTION))
        assert (case.contexts, status) == ((SEEN,), "PASS")


def test_a_page_in_the_form_of_an_answer_is_a_context_of_a_watched_run():
    faq = "Query: When did it stop?\nResponse: In 2018."
    assert judged(lambda: rag(HONEST, Pages(node(faq))).query(QUESTION))[0].contexts == (faq,)


def test_a_node_that_the_application_made_counts_without_score_and_metadata():
    plain = NodeWithScore(node=TextNode(text="Sub question: asked by a reader. The ferry stopped in 2019."))
    assert [
        len(default_case(run_of(QUESTION, response)).contexts)
        for response in (Response(BAD, [plain]), Response(BAD, [TextNode(text=PAGE)]))
    ] == [1] * 2


def test_the_answer_that_a_chat_passes_on_is_no_evidence_for_itself():
    case, status = judged(lambda: question_chat(BAD).chat(QUESTION))
    assert (case.contexts, status) == ((SEEN,), "FAIL")
    passed_on = AgentChatResponse(
        response=BAD,
        sources=[ToolOutput(tool_name="query_engine", content=BAD, raw_input={}, raw_output=Response(BAD))],
    )
    assert default_case(run_of(QUESTION, passed_on)).contexts == ()


def test_evidence_names_the_tools_that_find_things():
    async def file_it(text: str) -> str:
        """File a text, and say so in other words."""
        return "Filed under harbours: closing year 2019."

    def do():
        return run(agent_of(PAGES, tool(file_it, "file_it"), calls=[CALL, ("file_it", {"text": "the ferry"})]))

    assert judged(do)[1] == "PASS"  # a text that a tool writes counts, unless the tools are named
    case, status = judged(do, case=partial(default_case, evidence=lambda step: step.tool == "pages"))
    assert (case.contexts, status) == ((SEEN,), "FAIL")


def test_what_a_failed_tool_said_proves_nothing():
    async def broken(query: str) -> str:
        """Break."""
        raise ValueError("page 2019 is missing")

    case, status = judged(lambda: run(agent_of(tool(broken, "pages"), calls=[CALL])))
    assert (case.contexts, status, "2019" in case.steps[0].error) == ((), "ABSTAIN", True)
