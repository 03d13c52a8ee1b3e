"""Ten applications, called in seven ways, with an honest answer and six planted faults: what the jury is shown.

Each application is called in each way with the honest answer and two of the faults, so that each fault is planted in
each application and met in each way.
"""

import time
from collections import Counter

import pytest
from fact_tables import each_row
from langchain_support import APPS, WAYS
from scripted import FAULTS, HONEST, PAGE, QUESTION, breaks, never_ends, reviewed

from jury_adapters import Ensemble, judge
from jury_adapters.langchain import JuryCallbackHandler, judge_runs

EXPECTED = {"honest": "PASS", **dict.fromkeys(FAULTS, "FAIL")}


def planted(app, way):
    """Return the answers that an application gives when it is called in a way."""
    first, faults = 2 * (7 * [*APPS].index(app) + [*WAYS].index(way)), [*FAULTS]
    return {"honest": HONEST, **{name: FAULTS[name] for name in (faults[first % 6], faults[(first + 1) % 6])}}


def test_each_fault_is_planted_in_each_application_and_met_in_each_way():
    found = [(app, way, fault) for app in APPS for way in WAYS for fault in planted(app, way)]
    assert {(app, fault) for app, _, fault in found} == {(app, fault) for app in APPS for fault in EXPECTED}
    assert {(way, fault) for _, way, fault in found} == {(way, fault) for way in WAYS for fault in EXPECTED}


@each_row("way", WAYS)
@pytest.mark.parametrize("app", APPS)
def test_each_answer_is_judged_once_with_what_was_planted(app, way):
    make, tools = APPS[app]
    for fault, answer in planted(app, way).items():
        seen = []
        handler = JuryCallbackHandler(reviewed, on_verdict=seen.append)
        WAYS[way](*make(answer), {"callbacks": [handler]})
        assert handler.close()
        assert handler.counts == {"judged": 1}, fault
        case, judgment = seen[0].case, seen[0].judgment
        assert (case.question, case.answer, case.contexts) == (QUESTION, answer, (PAGE,)), fault
        assert [step.tool for step in case.steps if step.tool] == tools
        assert not any(step.error for step in case.steps)
        assert judgment.status == EXPECTED[fault], (fault, judgment)
        assert case.generator == (None if app == "tool chain" else "gpt-4o-mini")


@pytest.mark.parametrize("app", APPS)
def test_a_broken_juror_is_a_missing_vote_and_never_decides(app):
    """Two jurors agree on the fault: one that broke cannot change it. Beside one juror it could."""
    for answer, status in ((HONEST, "PASS"), (FAULTS["made-up number"], "FAIL")):
        slow = judge(never_ends, timeout=0.02)
        seen = []
        for jury in (
            Ensemble([reviewed, reviewed, breaks]),
            Ensemble([reviewed, reviewed, slow]),
            Ensemble([reviewed, breaks], voting="unanimous"),
            Ensemble([reviewed, slow, breaks]),
        ):
            handler = JuryCallbackHandler(jury, on_verdict=seen.append)
            WAYS["invoke"](*APPS[app][0](answer), {"callbacks": [handler]})
            handler.close()
        found = [one.judgment.status for one in seen]
        # One FAIL decides a unanimous jury, whatever the broken juror would have said.
        assert found == [status, status, "FAIL" if status == "FAIL" else "ERROR", "ERROR"]
        assert {one.case.answer for one in seen} == {answer}


@each_row("way", ["invoke", "ainvoke"])
@each_row("app", APPS)
def test_the_same_runs_are_judged_in_a_block(app, way):
    seen = []
    with judge_runs(reviewed, on_verdict=seen.append) as handler:
        WAYS[way](*APPS[app][0](HONEST), {})
    assert handler.counts == {"judged": 1}
    assert (seen[0].case.question, seen[0].case.answer, seen[0].case.contexts) == (QUESTION, HONEST, (PAGE,))
    assert seen[0].judgment.status == "PASS"


@each_row("app", APPS)
def test_the_application_gets_what_it_gets_without_a_handler(app):
    make, _ = APPS[app]
    (bare, given), (watched, _) = make(HONEST), make(HONEST)
    handler = JuryCallbackHandler(breaks)
    plain, found = bare.invoke(given), watched.invoke(given, {"callbacks": [handler]})
    texts = [[one.text for one in said["messages"]] if "messages" in said else said for said in (plain, found)]
    assert texts[0] == texts[1] or texts[0].text == texts[1].text
    handler.close()


def test_a_slow_jury_does_not_slow_the_application():
    def slow(case):
        time.sleep(0.3)
        return True

    handler = JuryCallbackHandler(slow)
    app, given = APPS["rag"][0](HONEST)
    app.invoke(given)
    started = time.perf_counter()
    app.invoke(given, {"callbacks": [handler]})
    assert time.perf_counter() - started < 0.2
    assert handler.flush(5)
    assert handler.counts == Counter(judged=1)
