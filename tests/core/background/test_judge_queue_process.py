"""Judge queues at the end of a process, and in a child of it."""

import subprocess
import sys
import textwrap

import pytest


def _script(body: str) -> str:
    code = """
        import asyncio, os, sys, threading, time
        from jury_adapters import Case, Judge
        from jury_adapters.core.background.judge_queue import JudgeQueue, Run

        async def slowly(case):
            await asyncio.to_thread(time.sleep, float(case.question))  # needs the thread pools
            return True

        async def waiting(case):
            await asyncio.sleep(float(case.question))
            return True

        def told(judged):
            print(f"judged {judged.run.id}\\n", end="", flush=True)

        def queue(judge=slowly, **options):
            return JudgeQueue(Judge.from_function(judge), on_verdict=told, **options)
    """
    script = textwrap.dedent(code) + textwrap.dedent(body)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout + done.stderr


@pytest.mark.slow
def test_what_is_pending_is_judged_before_the_process_ends():
    output = _script("""
        first, second = queue(), queue(max_concurrency=1)
        for n in range(3):
            first.put(Case(question="0.1"), run=Run(f"a{n}"))
            second.put(Case(question="0.1"), run=Run(f"b{n}"))
        print("end", flush=True)
    """)
    lines = output.splitlines()
    assert lines[0] == "end"
    assert sorted(lines[1:]) == [f"judged {name}{n}" for name in "ab" for n in range(3)]


@pytest.mark.slow
def test_the_end_of_the_process_waits_for_all_queues_together_and_no_longer_than_told():
    output = _script("""
        queues = [queue(waiting, exit_timeout=0.3) for _ in range(5)]
        for one in queues:
            one.put(Case(question="1.5"), run=Run("slow"))
        import atexit
        atexit.register(lambda: print("warned", flush=True))
    """)
    assert output.count("the process ends with 1 run not judged") == 5
    assert "judged slow" not in output.partition("warned")[0]


@pytest.mark.slow
def test_a_forked_child_judges_its_own_runs_and_not_its_parents():
    output = _script("""
        import warnings
        warnings.simplefilter("ignore")  # newer Pythons warn of forking with threads, which is what is tested
        one = queue()
        one.put(Case(question="0.3"), run=Run("parent"))
        child = os.fork()
        if child == 0:
            assert one.pending == 0
            one.put(Case(question="0"), run=Run("child"))
            assert one.flush(10)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert one.flush(10)
    """)
    assert sorted(output.splitlines()) == ["judged child", "judged parent"]


@pytest.mark.slow
def test_at_the_end_of_the_process_nothing_new_is_taken():
    output = _script("""
        def offers_more(judged):
            print("taken:", late.put(Case(question="0"), run=Run("late")), flush=True)

        late = JudgeQueue(Judge.from_function(slowly), on_verdict=offers_more)
        late.put(Case(question="0.2"), run=Run("1"))
    """)
    assert output.splitlines()[0] == "taken: False"


@pytest.mark.slow
def test_closing_logs_how_many_runs_it_did_not_wait_for():
    output = _script("""
        one = queue(waiting, exit_timeout=0)
        for n in range(3):
            one.put(Case(question="30"), run=Run(str(n)))
        assert not one.close(0.2)
        assert not asyncio.run(one.aclose(0.1))
    """)
    assert "closed with 3 runs not judged within 0.2 s; they are judged while the process runs" in output
    assert "at its end for up to exit_timeout=" in output
    assert "closed with 3 runs not judged within 0.1 s" in output
    assert "the process ends with 3 runs not judged" in output
