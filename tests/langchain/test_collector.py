"""The collector, fed with events directly: any order, any number, and nothing stays behind."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import warnings
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.garbage import collect_garbage
from support.langchain_events import Ear

from jury_adapters.core.background.judge_queue import Run
from jury_adapters.core.context import judging
from jury_adapters.langchain.collector import snapshot


def page(text: str) -> Any:
    return SimpleNamespace(page_content=text)


def test_a_root_is_a_run_whose_parent_is_unknown() -> None:
    ear = Ear()
    ear.end(ear.start(parent=uuid4()))
    assert len(ear.heard) == 1
    assert ear.remembers_nothing()


def test_children_are_not_delivered() -> None:
    ear = Ear()
    root = ear.start()
    child = ear.start(parent=root)
    ear.end(ear.start(parent=child))
    ear.end(child)
    assert ear.heard == []
    ear.end(root)
    assert [run.run.id for run in ear.heard] == [str(root)]


def test_events_heard_twice_count_once() -> None:
    ear = Ear()
    root = uuid4()
    found = uuid4()
    for _ in range(2):
        ear.start(run_id=root)
    for _ in range(2):
        ear.start("retriever", root, run_id=found)
    for _ in range(2):
        ear.end(found, [page("a")])
    for _ in range(2):
        ear.end(root)
    (run,) = ear.heard
    assert len(run.found.documents) == 1
    ear.start(run_id=root)
    ear.end(root)
    assert len(ear.heard) == 1


def test_an_end_without_a_start_is_nothing() -> None:
    ear = Ear()
    ear.end(uuid4())
    ear.fail(uuid4(), ValueError("x"))
    assert ear.heard == []


def test_inputs_of_the_end_are_the_real_ones() -> None:
    ear = Ear()
    root = ear.start(inputs={"input": ""})
    ear.end(root, inputs={"question": "why?"})
    assert ear.heard[0].inputs == {"question": "why?"}


def test_a_run_without_a_parent_belongs_to_the_open_run_of_its_context() -> None:
    ear = Ear()
    root = ear.start()
    ear.end(ear.start(context_id=root), "attempt")
    ear.end(root)
    ear.end(ear.start(context_id=root), "much later")
    assert [run.outputs for run in ear.heard] == ["out", "much later"]


def test_late_events_of_a_run_that_is_over_are_no_new_root() -> None:
    ear = Ear()
    root = ear.start()
    child = ear.start(parent=root)
    ear.end(root, None)
    ear.end(child)
    ear.end(ear.start(parent=child))
    ear.end(ear.start(parent=root))
    assert ear.heard == []
    assert ear.remembers_nothing()
    assert ear.counted == ["unanswered"]


def test_runs_of_judges_are_ignored_with_all_that_is_in_them() -> None:
    ear = Ear()
    with judging():
        judge = ear.start()
    inside = ear.start(parent=judge)  # a thread of the judge's that has lost its context
    critic = ear.start("chat", tags=["jury_adapters:critic"])
    for run in (inside, judge, critic):
        ear.end(run)
    assert ear.heard == []
    assert ear.remembers_nothing()


def test_what_a_failed_attempt_retrieved_does_not_count() -> None:
    ear = Ear()
    root = ear.start()
    for attempt in range(2):
        tried = ear.start(parent=root)
        ear.end(ear.start("retriever", tried), [page(f"attempt {attempt}")])
        if attempt == 0:
            ear.fail(tried, TimeoutError())
        else:
            ear.end(tried)
    ear.end(root)
    assert [document.page_content for document in ear.heard[0].found.documents] == ["attempt 1"]


def test_a_run_that_failed_shows_what_its_last_attempt_found() -> None:
    ear = Ear()
    root = ear.start()
    node = ear.start(parent=root)
    tool = ear.start("tool", node, {"city": "Oslo"}, name="weather")
    for run in (tool, node, root):
        ear.fail(run, ValueError("no such city"))
    (failed,) = ear.heard
    assert failed.run.error == "ValueError: no such city"
    assert [call.tool for call in failed.found.calls] == ["weather"]
    assert failed.found.calls[0].error == "ValueError: no such city"


def test_of_a_retriever_over_retrievers_only_its_own_choice_counts() -> None:
    ear = Ear()
    root = ear.start()
    outer = ear.start("retriever", root)
    ear.end(ear.start("retriever", outer), [page("a"), page("b")])
    ear.end(outer, [page("b")])
    ear.end(root)
    assert [document.page_content for document in ear.heard[0].found.documents] == ["b"]


def test_documents_that_a_tool_hands_over_beside_its_text() -> None:
    ear = Ear()
    root = ear.start()
    tool = ear.start("tool", root, name="search")
    ear.end(tool, SimpleNamespace(content="two pages", artifact=[page("a"), page("b")]))
    ear.end(root)
    (called,) = ear.heard[0].found.calls
    assert [document.page_content for document in called.documents] == ["a", "b"]


@pytest.mark.parametrize(
    ("error", "counted"),
    [(GeneratorExit(), "abandoned"), (KeyboardInterrupt(), "cancelled"), (asyncio.CancelledError(), "cancelled")],
)
def test_a_run_that_the_application_ended_itself_is_no_failure(error: BaseException, counted: str) -> None:
    ear = Ear()
    ear.fail(ear.start(), error)
    assert ear.heard == []
    assert ear.counted == [counted]


def test_an_error_whose_text_is_broken() -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    ear = Ear()
    ear.fail(ear.start(), Odd())
    assert ear.heard[0].run.error == "Odd: (its message cannot be shown)"


def test_runs_that_never_end_are_forgotten() -> None:
    ear = Ear(max_open=10)
    roots = [ear.start() for _ in range(25)]
    for root in roots:
        ear.start(parent=root)
    assert ear.collector.open == 10
    assert ear.collector.remembered == 20
    assert ear.counted == ["evicted"] * 15
    for root in roots:
        ear.end(root)
    assert len(ear.heard) == 10
    assert ear.remembers_nothing()


def test_a_run_without_end_keeps_a_bounded_number_of_things() -> None:
    ear = Ear()
    root = ear.start()
    for number in range(1_500):
        ear.end(ear.start("retriever", root), [page(str(number))])
    assert ear.collector.remembered == 1
    ear.end(root)
    assert len(ear.heard[0].found.documents) == 1_000
    assert ear.heard[0].found.documents[-1].page_content == "1499"


def test_what_the_application_changes_later_is_not_seen() -> None:
    ear = Ear()
    messages = ["first"]
    inputs, outputs = {"messages": messages}, {"answer": "yes", "docs": ["a"]}
    root = ear.start(inputs=inputs)
    messages.append("second")
    ear.end(root, outputs)
    outputs["docs"].append("b")
    outputs["answer"] = "no"
    assert ear.heard[0].inputs == {"messages": ["first"]}
    assert ear.heard[0].outputs == {"answer": "yes", "docs": ["a"]}
    assert snapshot("text") == "text"


def test_the_end_of_an_abandoned_stream_may_come_while_another_event_is_noted() -> None:
    ear = Ear()

    class Stream:
        def __init__(self) -> None:
            self.itself = self
            self.root = ear.start()

        def __del__(self) -> None:
            ear.fail(self.root, GeneratorExit())

    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(50):
            Stream()
            ear.end(ear.start())
    finally:
        gc.set_threshold(*before)
    collect_garbage()
    assert len(ear.heard) == 50
    assert ear.counted == ["abandoned"] * 50
    assert ear.remembers_nothing()


def test_a_child_process_begins_anew_even_when_the_lock_was_held() -> None:
    ear = Ear()
    ear.start()
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with ear.collector._lock:
            held.set()
            release.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of any fork beside a thread
        child = os.fork()
    if child == 0:
        os._exit(0 if ear.collector.open == 0 and ear.end(ear.start()) is None and len(ear.heard) == 1 else 1)
    release.set()
    thread.join()
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


@given(st.lists(st.tuples(st.sampled_from(["start", "end", "fail", "none"]), st.integers(0, 7), st.integers(0, 8))))
def test_any_order_of_events_delivers_each_root_at_most_once(events: list[tuple[str, int, int]]) -> None:
    ear = Ear(max_open=4)
    ids = [UUID(int=number + 1) for number in range(8)]
    for what, run, parent in events:
        if what == "start":
            ear.start(run_id=ids[run], parent=None if parent in (8, run) else ids[parent])
        elif what == "fail":
            ear.fail(ids[run], ValueError("x"))
        else:
            ear.end(ids[run], "out" if what == "end" else None)
    delivered = [run.run.id for run in ear.heard]
    assert len(delivered) == len(set(delivered))
    assert ear.collector.open <= 4
    assert ear.collector.remembered <= 8
    for run_id in ids:
        ear.end(run_id)
    assert ear.remembers_nothing()


def test_chosen_runs_inside_chosen_runs_each_get_what_is_theirs() -> None:
    def chosen(run: Run, around: Run | None, inside: bool) -> bool:
        return run.name in ("outer", "inner")

    ear = Ear(chosen)
    root = ear.start(name="app")
    outer = ear.start(parent=root, name="outer")
    ear.end(ear.start("retriever", outer), [page("a")])
    inner = ear.start(parent=outer, name="inner")
    ear.end(ear.start("retriever", inner), [page("b")])
    for run in (inner, outer, root):
        ear.end(run)
    found = {run.run.name: [page.page_content for page in run.found.documents] for run in ear.heard}
    assert found == {"inner": ["b"], "outer": ["a", "b"]}


@pytest.mark.slow
def test_tools_that_fail_without_end_do_not_fill_the_memory() -> None:
    ear = Ear()
    root = ear.start()
    for number in range(1_500):
        ear.fail(ear.start("tool", root, name=f"tool {number}"), ValueError("no"))
    ear.end(root)
    (run,) = ear.heard
    assert [run.found.calls[0].tool, run.found.calls[-1].tool] == ["tool 500", "tool 1499"]
    assert len(run.found.calls) == 1_000


def test_metadata_that_cannot_be_compared_cost_no_run() -> None:
    class Array:
        """As numpy's: whether two are equal is not one answer."""

        def __eq__(self, other: object) -> Any:
            return self

        def __bool__(self) -> bool:
            raise ValueError("the truth value of an array is ambiguous")

        __hash__ = None  # type: ignore[assignment]

    ear = Ear()
    ear.end(ear.start(metadata={"embedding": Array(), "user": "u1"}))
    ear.end(ear.start(metadata={"embedding": Array(), "ls_integration": "langchain_create_agent"}))
    assert [run.run.kind for run in ear.heard] == ["chain", "agent"]
