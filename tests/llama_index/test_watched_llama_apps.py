"""Fourteen applications, called in all their ways, with an honest answer and six planted faults: what the jury sees."""

import threading

import pytest
from llama_index_support import APPS, SEEN, query, rag
from scripted import FAULTS, HONEST, QUESTION, breaks, never_ends, reviewed

from jury_adapters import Ensemble, judge
from jury_adapters.llama_index import JurySpanHandler, judge_runs

EXPECTED = {"honest": "PASS", **dict.fromkeys(FAULTS, "FAIL")}
# What the user gets of LlamaIndex for an empty text of a model.
EMPTY = {"", "Empty Response", "None"}
SOME = ("honest", "made-up number", "quoted injection")


@pytest.mark.parametrize("app", APPS)
def test_each_answer_is_judged_once_with_what_was_planted(app):
    make, ways, tools = APPS[app]
    faults = {"honest": HONEST, **FAULTS}
    for place, do in enumerate(ways.values()):
        for fault in faults if place == 0 else SOME:
            answer, seen = faults[fault], []
            with judge_runs(reviewed, on_verdict=seen.append) as handler:
                do(make(answer))
            assert handler.counts == {"judged": 1}, fault
            case, judgment = seen[0].case, seen[0].judgment
            assert (case.question, case.contexts) == (QUESTION, (SEEN,)), fault
            assert case.answer == answer or (not answer and case.answer in EMPTY), fault
            assert ([step.tool for step in case.steps if step.tool], not any(step.error for step in case.steps)) == (
                tools,
                True,
            )
            assert judgment.status == EXPECTED[fault], (fault, judgment)
            assert (case.generator, case.messages, not handler._open) == ("gpt-4o-mini", (), True)


@pytest.mark.parametrize("app", APPS)
def test_a_broken_juror_is_a_missing_vote_and_never_decides(app):
    """Two jurors agree on the fault: one that broke cannot change it. Beside one juror it could."""
    make, ways, _ = APPS[app]
    ask = next(iter(ways.values()))
    for answer, status in ((HONEST, "PASS"), (FAULTS["made-up number"], "FAIL")):
        slow = judge(never_ends, timeout=0.02)
        seen = []
        for jury in (
            Ensemble([reviewed, reviewed, slow]),
            Ensemble([reviewed, breaks], voting="unanimous"),
            Ensemble([reviewed, slow, breaks]),
        ):
            with judge_runs(jury, on_verdict=seen.append):
                ask(make(answer))
        found = [one.judgment.status for one in seen]
        # One FAIL decides a unanimous jury, whatever the broken juror would have said.
        assert (found, {one.case.answer for one in seen}) == (
            [status, "FAIL" if status == "FAIL" else "ERROR", "ERROR"],
            {answer},
        )


def test_the_application_gets_what_it_gets_without_a_handler():
    for make, ways, _ in APPS.values():
        for do in ways.values():
            with judge_runs(breaks):
                assert str(do(make(HONEST))) == HONEST


def test_a_slow_jury_does_not_slow_the_application():
    released = threading.Event()
    with judge_runs(lambda case: released.wait(10)) as handler:
        query(rag(HONEST))
        assert not handler.counts
        released.set()
    assert handler.counts == {"judged": 1}


def test_a_handler_judges_from_attach_to_close():
    handler = JurySpanHandler(reviewed)
    query(rag(HONEST))
    assert handler.attach() is handler.attach() is handler
    query(rag(HONEST))
    assert handler.close()
    query(rag(HONEST))
    assert handler.counts == {"judged": 1}
    with pytest.raises(Exception, match="was closed"):
        handler.attach()
