"""The context of a run: what is set around judges reaches those inside, and nothing of it stays behind."""

import contextvars

from jury_adapters import Budget, Ensemble, Judge, judge
from jury_adapters.core.context import change_context, changed_context, enter_call, judging, leave_call, run_context
from jury_adapters.core.runner import run_judge
from jury_adapters.testing import a_case

CASE = a_case()


def test_changes_hold_inside_a_block_and_keep_what_is_set_around_it():
    before = run_context()
    budget = Budget(max_calls=1)
    with changed_context(budget=budget), judging():
        assert (run_context().budget, run_context().judging, run_context().sample) == (budget, True, before.sample)
        with changed_context(budget=None):
            assert (run_context().budget, run_context().judging) == (None, True)
        assert run_context().budget is budget
    assert run_context() is before


def test_a_juror_sees_what_is_set_around_its_jury():
    seen = []
    juror = judge(lambda case: seen.append(run_context().sample) is None)
    with changed_context(sample="7"):
        Ensemble([juror, juror], schedule="sequential").judge(CASE)
    assert seen == ["7", "7.1"]


def test_a_change_for_good_inside_a_judge_is_kept_and_the_judge_is_not_at_work_any_more():
    def marks(case):
        change_context(sample="marked")
        return True

    def main():
        for _ in range(150):  # more than judges may call each other
            assert judge(marks).judge(CASE).passed
        return run_context().sample

    assert contextvars.copy_context().run(main) == "marked"
    assert run_context().sample == "0"


def test_a_coroutine_that_is_closed_in_another_context_changes_nothing_there():
    class Waits(Judge):
        async def assess(self, case):
            await Suspended()

    class Suspended:
        def __await__(self):
            yield

    work = run_judge(Waits(), CASE)
    contextvars.copy_context().run(lambda: next_of(work))
    with changed_context(sample="of another"):
        inside = run_context()
        work.close()
        assert run_context() is inside


def next_of(work):
    call = enter_call("outer", CASE)
    try:
        work.send(None)
    finally:
        leave_call(call)
