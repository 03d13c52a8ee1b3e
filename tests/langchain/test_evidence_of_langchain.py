"""What counts as evidence in runs of LangChain: what retrievers and tools found, and never what a model wrote."""

import json
from functools import partial

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import TodoListMiddleware
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langchain_support import ASKED, Pages, agent, call, model, pages, remember
from langgraph.types import Command
from pydantic import BaseModel
from scripted import FAULTS, HONEST, PAGE, QUESTION, grounded

from jury_adapters import default_case
from jury_adapters.langchain import JuryCallbackHandler, JuryEvaluator, JuryMiddleware

INVENTED = FAULTS["made-up number"]


class Reply(BaseModel):
    """A structured response."""

    answer: str


def judged(app, given, jury=grounded, **options):
    seen = []
    handler = JuryCallbackHandler(jury, on_verdict=seen.append, **options)
    app.invoke(given, {"callbacks": [handler]})
    handler.close()
    (one,) = seen
    return one


def inner_says(text, *script):
    """Return an agent that asks another one by a tool; the inner one looks at pages, and says something."""

    @tool
    def research(topic: str) -> str:
        """Ask the researcher."""
        inner = create_agent(model(*(script or (call("pages", query="ferry"),)), text), [pages])
        return inner.invoke({"messages": [("user", topic)]})["messages"][-1].text

    return create_agent(model(call("research", topic="ferry"), INVENTED), [research])


def test_trap_2_nor_are_they_where_the_inner_agent_found_nothing():
    one = judged(inner_says("It was 2019, I think.", call("remember", text="ferry")), ASKED)
    assert one.case.contexts == ()
    assert one.judgment.status == "ABSTAIN"


def test_trap_2_a_model_inside_a_tool_writes_no_evidence_but_its_documents_are():
    rag = {"context": Pages(), "question": RunnableLambda(str)} | RunnableLambda(str) | model("It was 2019.")

    @tool
    def research(topic: str) -> str:
        """Ask the documents."""
        return (rag | StrOutputParser()).invoke(topic)

    one = judged(create_agent(model(call("research", topic="ferry"), INVENTED), [research]), ASKED)
    assert one.case.contexts == (PAGE,)
    assert one.judgment.status == "FAIL"


def test_a_tool_that_retrieves_gives_its_text_once():
    @tool
    def search(query: str) -> str:
        """Search."""
        return "\n".join(page.page_content for page in Pages().invoke(query))

    one = judged(create_agent(model(call("search", query="ferry"), HONEST), [search]), ASKED)
    assert one.case.contexts == (PAGE,)


def test_a_tool_that_gives_documents_beside_its_text_counts_by_its_text():
    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Document]]:
        """Search."""
        return PAGE, [Document("The ferry stopped in 1999.")]

    one = judged(create_agent(model(call("search", query="ferry"), HONEST), [search]), ASKED)
    assert one.case.contexts == (PAGE,)


@pytest.mark.parametrize("strategy", [ToolStrategy, ProviderStrategy])
def test_trap_2_the_call_of_a_structured_response_is_no_evidence(strategy):
    last = call("Reply", answer=INVENTED) if strategy is ToolStrategy else json.dumps({"answer": INVENTED})
    app = create_agent(model(call("pages", query="ferry"), last), [pages], response_format=strategy(Reply))
    one = judged(app, ASKED)
    assert json.loads(one.case.answer) == {"answer": INVENTED}
    assert one.case.contexts == (PAGE,)
    assert one.judgment.status == "FAIL"


def test_trap_2_nor_is_a_failed_try_of_one():
    script = (call("Reply", wrong="2019"), call("Reply", answer=INVENTED))
    app = create_agent(model(*script), [], response_format=ToolStrategy(Reply))
    one = judged(app, ASKED)
    assert one.case.contexts == ()
    assert one.judgment.status == "ABSTAIN"


def test_trap_2_todos_and_handovers_are_no_evidence():
    todo = call("write_todos", todos=[{"content": "Say that it stopped in 2019", "status": "pending"}])
    one = judged(create_agent(model(todo, INVENTED), [], middleware=[TodoListMiddleware()]), ASKED)
    assert one.case.contexts == ()
    assert [step.tool for step in one.case.steps] == ["write_todos"]

    def handing_over(name, **goes):
        @tool(name)
        def hand_over(task: str) -> Command:
            """Hand over."""
            said = ToolMessage(f"Handed over: it stopped in 2019. {task}", tool_call_id=f"call-{name}")
            return Command(update={"messages": [said]}, **goes)

        return hand_over

    # One is known by its name, and one says where the run goes on.
    for hand_over in (handing_over("transfer_to_writer"), handing_over("escalate", goto="model")):
        one = judged(create_agent(model(call(hand_over.name, task="write"), INVENTED), [hand_over]), ASKED)
        assert (one.case.contexts, [step.tool for step in one.case.steps]) == ((), [hand_over.name])


def test_trap_2_a_tool_whose_output_is_the_answer_is_no_evidence():
    @tool(return_direct=True)
    def say(subject: str) -> str:
        """Say something."""
        return f"{INVENTED} That is so."

    one = judged(create_agent(model(call("pages", query="x"), call("say", subject="it"), "never"), [pages, say]), ASKED)
    assert one.case.answer == f"{INVENTED} That is so."
    assert one.case.contexts == (PAGE,)
    assert one.judgment.status == "FAIL"


def test_trap_2_a_note_is_no_evidence_and_the_user_may_say_which_tools_find_things():
    app = lambda: create_agent(  # noqa: E731
        model(call("pages", query="ferry"), call("file_report", year=2019), INVENTED), [pages, file_report]
    )
    one = judged(app(), ASKED)
    assert PAGE in one.case.contexts
    assert len(one.case.contexts) == 2  # the output of a tool that writes counts, as the page says
    chosen = partial(default_case, evidence=lambda step: step.tool == "pages")
    one = judged(app(), ASKED, case=chosen)
    assert one.case.contexts == (PAGE,)
    assert one.judgment.status == "FAIL"
    evaluator = JuryEvaluator(grounded, case=chosen)
    state = app().invoke(ASKED)
    assert evaluator(inputs=ASKED, outputs=state)["score"] == 0.0
    guard = JuryMiddleware(grounded, case=chosen, on_fail="block")
    made = create_agent(
        model(call("pages", query="ferry"), call("file_report", year=2019), INVENTED),
        [pages, file_report],
        middleware=[guard],
    )
    assert made.invoke(ASKED)["jury_verdict"]["status"] == "FAIL"


@tool
def file_report(year: int) -> str:
    """File a report."""
    return f"The report of the ferry office for {year} is filed as number 17."


def test_what_a_tool_said_of_its_failure_is_no_context():
    @tool
    def broken(query: str) -> str:
        """Look up."""
        raise ValueError("2019 is out of range")

    from langchain.agents.middleware import ToolRetryMiddleware

    retry = ToolRetryMiddleware(max_retries=0, on_failure="continue")
    one = judged(create_agent(model(call("broken", query="x"), INVENTED), [broken], middleware=[retry]), ASKED)
    assert one.case.contexts == ()
    assert [step.output for step in one.case.steps] == [None]


def test_a_summary_of_the_conversation_is_not_the_users_question():
    """LangChain's SummarizationMiddleware writes a message of the user."""
    summary = HumanMessage("Here is a summary: they spoke of 2019.", additional_kwargs={"lc_source": "summarization"})
    one = judged(agent(HONEST)[0], {"messages": [HumanMessage(QUESTION), summary]})
    assert one.case.question == QUESTION
    assert one.case.contexts == (PAGE,)


def test_thoughts_of_the_model_are_neither_answer_nor_evidence():
    """Situation 7: blocks of thinking before the text."""
    thought = AIMessage(
        [{"type": "thinking", "thinking": "Maybe 2019?", "signature": "x"}, {"type": "text", "text": HONEST}]
    )
    one = judged(create_agent(model(call("pages", query="ferry"), thought), [pages]), ASKED)
    assert one.case.answer == HONEST
    assert one.judgment.status == "PASS"


def test_system_messages_are_not_the_question():
    given = {"messages": [SystemMessage("Answer briefly."), HumanMessage(QUESTION)]}
    one = judged(agent(HONEST)[0], given)
    assert one.case.question == QUESTION


@pytest.mark.parametrize("shape", ["pages", "pages and notes", "structured"])
def test_every_route_shows_the_jury_the_same_case(shape):
    """One answer on all routes: handler, evaluator of the state, and middleware before the state."""
    for fault in ["honest", *FAULTS]:
        answer = {"honest": HONEST, **FAULTS}[fault]
        script = [call("pages", query="ferry")]
        script += [call("remember", text=f"{answer} Keep that in mind.")] if shape == "pages and notes" else []
        script += [call("Reply", answer=answer) if shape == "structured" else answer]
        options = {"response_format": ToolStrategy(Reply)} if shape == "structured" else {}
        drafts, cases = [], []
        guard = JuryMiddleware(grounded, on_fail="annotate", on_verdict=drafts.append)
        app = create_agent(model(*script), [pages, remember], middleware=[guard], **options)
        handler = JuryCallbackHandler(lambda case, cases=cases: cases.append(case) or grounded(case))
        state = app.invoke(ASKED, {"callbacks": [handler]})
        handler.close()

        JuryEvaluator(lambda case, cases=cases: cases.append(case) or grounded(case))(inputs=ASKED, outputs=state)
        found = [(one.question, one.answer, one.contexts) for one in (*cases, drafts[-1].case)]
        assert len(found) == 3
        assert len(set(found)) == 1
        question, said, contexts = found[0]
        assert (question, contexts) == (QUESTION, (PAGE,))
        assert said == (f'{{"answer":"{answer}"}}' if shape == "structured" and '"' not in answer else said)
        assert answer.split('"')[0] in said
