"""Processes: forks, the end of a process with work pending, and what hangs at its end."""

import time

import pytest
from running import script

# Forks


def test_a_forked_child_judges_and_so_does_its_parent():
    """Trap 19: the loop, its lock and its thread stay in the parent."""
    said = script("""
        jury = Ensemble([passes, lambda case: True])
        say(jury.judge("before").status)
        child = os.fork()
        if child == 0:
            one = jury.judge("in the child").status
            many = {judgment.status for judgment in jury.judge_many(map(str, range(50)))}
            own = asyncio.run(jury.ajudge("own loop")).status
            os._exit(0 if {one, own} | many == {"PASS"} else 1)
        say(jury.judge("in the parent").status)
        say(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    assert said == ["PASS", "PASS", "0"]


def test_a_fork_in_the_middle_of_a_batch_leaves_both_able_to_judge():
    """Trap 19: also where another thread uses the loop at that moment."""
    said = script("""
        jury, children = Ensemble([passes, lambda case: True]), []
        thread = threading.Thread(target=lambda: say(len(list(jury.judge_many(map(str, range(300)))))))
        thread.start()
        for _ in range(5):
            child = os.fork()
            if child == 0:
                os._exit(0 if all(one.passed for one in jury.judge_many("a b c".split())) else 1)
            children.append(child)
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        thread.join()
        say(codes)
    """)
    assert said == ["300", "[0, 0, 0, 0, 0]"]


def test_workers_of_multiprocessing_judge_after_a_fork():
    """Trap 19."""
    said = script("""
        import multiprocessing
        jury = Ensemble([passes, lambda case: case.question != "3"], voting="veto")

        def work(question):
            return str(jury.judge(question).status), len(list(jury.judge_many(["a", "b"])))

        say(work("0"))
        with multiprocessing.get_context("fork").Pool(2) as pool:
            say(pool.map(work, "1234"))
        process = multiprocessing.get_context("fork").Process(target=work, args=("5",))
        process.start()
        process.join(20)
        say(process.exitcode)
    """)
    assert said == ["('PASS', 2)", "[('PASS', 2), ('PASS', 2), ('FAIL', 2), ('PASS', 2)]", "0"]


def test_a_queue_in_a_forked_child_judges_the_runs_of_the_child_only():
    """Trap 19: those of the parent are judged once, by the parent."""
    said = script("""
        async def slowly(case):
            await asyncio.sleep(0.3)
            return True

        queue = JudgeQueue(slowly, on_verdict=lambda judged: say(judged.run), exit_timeout=20)
        queue.put("of the parent")
        child = os.fork()
        if child == 0:
            ended = queue.flush(0)
            queue.put("of the child")
            os._exit(0 if ended and queue.flush(20) else 1)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        queue.flush(20)
        say(code)
    """)
    assert sorted(said) == ["0", "of the child", "of the parent"]


def test_a_full_queue_has_room_in_a_forked_child():
    """Trap 19."""
    said = script(
        """
        queue = JudgeQueue(asleep, max_pending=1, exit_timeout=0)
        say(queue.put("of the parent"))
        child = os.fork()
        if child == 0:
            os._exit(0 if queue.put("of the child") else 1)
        say(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """,
        quiet=False,
    )
    assert said[:2] == ["True", "0"]


# What hangs at the end


def since(said):
    """Return the seconds since the script said the time."""
    return time.time() - next(float(line) for line in said if line.replace(".", "").isdigit())


HANGING = {
    "a function": "say(judge(hangs, timeout=0.05).judge('q').error)",
    "an asynchronous judge": "say(judge(asleep, timeout=0.05).judge('q').error)",
    "a jury": "say(Ensemble([hangs, asleep]).with_timeout(0.05).judge('q').error)",
    "an open batch": "batch = judge(lambda case: case.question == '0' or hangs(case)).judge_many(map(str, range(100)));"
    "next(batch); say('timeout')",
    "an open batch as finished": "other = judge(asleep, timeout=0.2).judge_many(map(str, range(100)), ordered=False);"
    "next(other); say('timeout')",
    "a daemon thread": "threading.Thread(target=judge(hangs).judge, args=('q',), daemon=True).start();"
    "time.sleep(0.2); say('timeout')",
    "asyncio.run": "say(asyncio.run(judge(hangs, timeout=0.05).ajudge('q')).error)",
}


def test_nothing_that_hangs_keeps_the_process_from_ending():
    """Trap 15: its thread is a daemon. The process ends at once, quietly and with its exit code."""
    works = "\n".join(f"say({name!r}); {work}" for name, work in HANGING.items())
    said = script(f"{works}\nsay(time.time()); sys.exit(3)", code=3)
    assert [line for line in said if line in HANGING] == [*HANGING]
    assert sum("timeout" in line for line in said) == len(HANGING)
    assert since(said) < 45


def test_a_thread_that_judges_ends_its_batch_after_the_main_thread():
    said = script("""
        jury = Ensemble([passes, lambda case: True])

        def batch():
            time.sleep(0.2)
            say(sum(judgment.passed for judgment in jury.judge_many(map(str, range(40)))))

        threading.Thread(target=batch).start()
        say("end of the main thread")
    """)
    assert said == ["end of the main thread", "40"]


def test_an_exit_hook_may_ask_an_asynchronous_judge():
    said = script("""
        import atexit
        atexit.register(lambda: say(judge(passes).judge("q").status))
    """)
    assert said == ["PASS"]


# What is pending at the end


@pytest.mark.parametrize("sink", ["told", "told_later"])
def test_what_is_pending_at_the_end_is_judged_and_its_sink_told(sink, tmp_path):
    """Trap 1. Name look-ups of HTTP clients use the pool of asyncio, which must still take work."""
    path = tmp_path / "verdicts"
    said = script(
        f"""
        async def asynchronous(case):
            await asyncio.sleep(0.2)
            return True

        def in_a_thread(case):
            time.sleep(0.2)
            return True

        async def in_the_pool(case):
            await asyncio.to_thread(time.sleep, 0.2)
            return True

        def told(judged):
            with open(sys.argv[1], "a") as file:
                file.write(f"{{judged.run}} {{judged.judgment.status}}\\n")

        async def told_later(judged):
            await asyncio.to_thread(told, judged)

        for slowly in (asynchronous, in_a_thread, in_the_pool):
            queue = JudgeQueue(slowly, on_verdict={sink}, max_concurrency=2, exit_timeout=25)
            for number in range(3):
                queue.put(f"{{slowly.__name__}} {{number}}")
        say("end")
        """,
        path,
    )
    assert said == ["end"]
    expected = [f"{how} {number} PASS" for how in ("asynchronous", "in_a_thread", "in_the_pool") for number in range(3)]
    assert sorted(path.read_text().splitlines()) == expected


ENDS = {
    "sys.exit": ("sys.exit(3)", 3),
    "an exception": ("raise LookupError('of the application')", 1),
    "a queue that nobody holds": ("del queue", 0),
}


@pytest.mark.parametrize(("end", "code"), ENDS.values(), ids=ENDS)
def test_however_the_application_ends_what_is_pending_is_judged(end, code):
    """Trap 1."""
    said = script(
        f"""
        async def slowly(case):
            await asyncio.sleep(0.1)
            return True

        queue = JudgeQueue(slowly, on_verdict=lambda judged: say("judged", judged.run), exit_timeout=25)
        queue.put("q")
        {end}
        """,
        code=code,
        quiet=code != 1,
    )
    assert "judged q" in said


def test_at_the_end_a_queue_takes_nothing_new():
    said = script(
        """
        def told(judged):
            say("taken:", queue.put("more"))

        async def slowly(case):
            await asyncio.sleep(0.2)
            return True

        queue = JudgeQueue(slowly, on_verdict=told, exit_timeout=25)
        queue.put("first")
    """,
        quiet=False,
    )
    assert said[0] == "taken: False"


def test_the_end_of_the_process_waits_for_all_queues_together_and_no_longer_than_told():
    said = script(
        """
        queues = [JudgeQueue(judge(hangs if number % 2 else asleep), exit_timeout=1.5) for number in range(20)]
        for queue in queues:
            queue.put("q")
        say(time.time())
        """,
        quiet=False,
    )
    assert sum("closed with 1 runs not judged" in line for line in said) == 20
    assert since(said) < 18
