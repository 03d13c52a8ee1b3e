"""Contexts of a run with tools that retrieve: what the model read, in callbacks as in guards and evaluators."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.prompts import PromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool, create_retriever_tool, tool
from support.langchain_apps import Scripted, Watched, agent, ask, call

from jury_adapters import Case
from jury_adapters.checks import NamesAndNumbers
from jury_adapters.langchain import JuryMiddleware, to_case
from jury_adapters.langchain.run_contexts import divided

NEW, OLD = "Returns are accepted within 30 days.", "Until 2019, returns were accepted within 14 days."


class Policies(BaseRetriever):
    """Finds both policies."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(NEW, id="new"), Document(OLD, id="old")]


def joined(query: str) -> str:
    return "\n\n".join(page.page_content for page in Policies().invoke(query))


def the_best(query: str) -> str:
    return Policies().invoke(query)[0].page_content


def with_stock(query: str) -> str:
    return f"{the_best(query)}\nThere are 340 pieces in stock today."


def with_sources(query: str) -> str:
    pages = Policies().invoke(query)
    return "\n\n".join(f"Source: {page.id}\nContent: {page.page_content}" for page in pages)


def turned_round(query: str) -> str:
    return "\n---\n".join(page.page_content for page in reversed(Policies().invoke(query)))


def cut_short(query: str) -> str:
    return f"{the_best(query)[:20]}..."


def a_number(query: str) -> str:
    return f"found {len(Policies().invoke(query))} pages"


def tool_of(function: Callable[[str], str]) -> BaseTool:
    def policies(query: str) -> str:
        """The policies."""
        return function(query)

    return tool(policies)


def contexts_of(given: BaseTool, evidence_tools: Any = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The contexts of one run for the callbacks, and those for guard and evaluator, which are the same."""
    guarded: list[Case] = []
    guard = JuryMiddleware(lambda case: guarded.append(case) or True, evidence_tools=evidence_tools)
    watched = Watched(evidence_tools=evidence_tools)
    app = agent(call("policies", query="returns"), "Within 30 days.", tools=[given], middleware=[guard])
    state = app.invoke(ask("How long?"), watched.config)
    others = to_case(state, evidence_tools=evidence_tools).contexts
    assert guarded[0].contexts == others
    return watched.case().contexts, others


NAMED = pytest.mark.parametrize("evidence_tools", [None, ["policies"], lambda step: step.tool == "policies"])


@NAMED
@pytest.mark.parametrize(("function", "wanted"), [
    (joined, (NEW, OLD)),
    (the_best, (NEW,)),
    (with_stock, (NEW, "There are 340 pieces in stock today.")),
    (with_sources, (f"Source: new\nContent: {NEW}", f"Source: old\nContent: {OLD}")),
    (turned_round, (OLD, NEW)),
    (cut_short, ("Returns are accepted...",)),
    (a_number, ("found 2 pages",)),
])  # fmt: skip
def test_contexts_are_what_the_model_read(function: Any, wanted: Any, evidence_tools: Any) -> None:
    """The output is divided into the documents in it, and nothing of it is lost."""
    heard, others = contexts_of(tool_of(function), evidence_tools)
    assert heard == wanted
    rest = others[0]
    for text in heard:
        assert text in rest
        rest = rest.replace(text, "")
    assert not rest.strip(" \n-")


@NAMED
@pytest.mark.parametrize("artifact", [False, True])
def test_the_tool_of_a_retriever_is_read_the_same(evidence_tools: Any, artifact: bool) -> None:
    options: dict[str, Any] = {"response_format": "content_and_artifact"} if artifact else {}
    heard, (text,) = contexts_of(create_retriever_tool(Policies(), "policies", "Policies.", **options), evidence_tools)
    assert heard == (NEW, OLD)
    assert text == "\n\n".join(heard)
    prompt = PromptTemplate.from_template("A page: {page_content}")
    framed = create_retriever_tool(Policies(), "policies", "Policies.", document_prompt=prompt, **options)
    assert contexts_of(framed, evidence_tools)[0] == (f"A page: {NEW}", f"A page: {OLD}")


@pytest.mark.parametrize("evidence_tools", [[], lambda step: False])
def test_a_tool_that_is_no_evidence_gives_no_documents_either(evidence_tools: Any) -> None:
    for function in (joined, with_stock, a_number):
        assert contexts_of(tool_of(function), evidence_tools) == ((), ())


def test_an_answer_from_a_passage_that_the_model_never_read_fails() -> None:
    verdicts = []
    for function in (joined, the_best):
        watched = Watched(NamesAndNumbers())
        app = agent(call("policies", query="returns"), "Within 14 days.", tools=[tool_of(function)])
        app.invoke(ask("How long?"), watched.config)
        verdicts.append(watched.one().judgment.status)
    assert verdicts == ["ABSTAIN", "FAIL"]


def test_two_calls_keep_their_order_and_their_own_documents() -> None:
    @tool
    def opening() -> str:
        """When the shop is open."""
        return "It is open on Monday."

    watched = Watched()
    script = (call("opening"), call("policies", query="returns"), "Within 30 days.")
    app = agent(*script, tools=[opening, tool_of(with_stock)])
    app.invoke(ask("How long?"), watched.config)
    assert watched.case().contexts == ("It is open on Monday.", NEW, "There are 340 pieces in stock today.")


@pytest.mark.parametrize(("text", "passages", "parts"), [
    ("It is 112 m long", ["1", "12"], ["It is 112 m long"]),
    ("red\nor red", ["red"], ["red", "or red"]),
    ("It is red.", ["It is red. It is old."], ["It is red."]),
    ("It is red.\nIt is old.", ["It is red.\nIt is old.", "It is red.", "It is old."], ["It is red.\nIt is old."]),
    ("a\nb", ["a", "b"], ["a", "b"]),
    ("a -- b", ["a", "b"], ["a", "b"]),
    ("a (1) b", ["a", "b"], ["a (1) b"]),
    ("a [1]\nb [2]\nall", ["a", "b"], ["a [1]", "b [2]", "all"]),
    ("1:\na\n\n2:\nb\n", ["a", "b"], ["1:\na", "2:\nb"]),
    ("a\nby one\n\nb\nby two", ["a", "b"], ["a\nby one", "b\nby two"]),
    ("a\nby one\nb", ["a", "b"], ["a\nby one\nb"]),
    ("is red", ["", " ", " is red\n"], ["is red"]),
    ("  padded  ", [], ["  padded  "]),
    ("- one\n- two\n", ["one", "two"], ["- one", "- two"]),
])  # fmt: skip
def test_an_output_is_divided_where_it_is_clear_what_belongs_together(
    text: str, passages: list[str], parts: list[str]
) -> None:
    assert divided(text, passages) == parts


def test_dividing_does_not_take_long() -> None:
    """Short passages that are within every word of a long output."""
    text, begun = "ab" * 200_000, perf_counter()
    assert divided(text, ["a", "b", *(f"ab{n}" for n in range(1_000))]) == [text]
    assert perf_counter() - begun < 5


# Tools in which a model writes


def librarian(query: str) -> str:
    pages = joined(query)
    return str(Scripted(script=["You have one month, said the librarian."]).invoke(pages).text)


def quoting_librarian(query: str) -> str:
    return f"{librarian(query)} {the_best(query)}"


def test_documents_are_the_evidence_where_a_model_wrote_the_output_of_a_tool_from_them() -> None:
    """Guards and evaluators know the output only, and take it."""
    assert contexts_of(tool_of(librarian)) == ((NEW, OLD), ("You have one month, said the librarian.",))


def test_the_output_of_a_named_tool_counts_whole_although_a_model_wrote_it() -> None:
    heard, others = contexts_of(tool_of(librarian), ["policies"])
    assert heard == others == ("You have one month, said the librarian.",)


class Rewriting(BaseRetriever):
    """Lets a model rewrite the query."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        callbacks = run_manager.get_child()
        better = Scripted(script=["policies on returns"]).invoke(query, {"callbacks": callbacks}).text
        return Policies().invoke(str(better), {"callbacks": callbacks})


def test_a_model_inside_a_retriever_writes_no_output() -> None:
    heard, others = contexts_of(tool_of(lambda query: f"found {len(Rewriting().invoke(query))} pages"))
    assert heard == others == ("found 2 pages",)


def test_an_output_with_a_document_in_it_is_what_the_model_read() -> None:
    heard, _ = contexts_of(tool_of(quoting_librarian))
    assert heard == (f"You have one month, said the librarian. {NEW}",)


def test_an_agent_inside_a_tool_inside_a_tool_is_a_model_that_writes() -> None:
    inner = tool_of(joined)

    def outer(query: str) -> str:
        app = agent(call("policies", query=query), "You have one month.", tools=[inner])
        return str(app.invoke(ask(query))["messages"][-1].text)

    def outermost(query: str) -> str:
        return str(tool_of(outer).invoke({"query": query})).upper()

    assert contexts_of(tool_of(outermost))[0] == (NEW, OLD)
