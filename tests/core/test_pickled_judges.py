"""Judges of functions that are sent to other processes."""

import multiprocessing
import pickle
import subprocess
import sys
import textwrap
import warnings
from concurrent.futures import ProcessPoolExecutor

import pytest
from support.picklable_judges import Checks, length_score, lower_case, patient, polite

from jury_adapters import CascadedJury, Case, Ensemble, Tier, judge

JURORS = [polite, length_score, patient, Checks.ends_well, lower_case]
CASE = Case(question="q", answer="yes, please.")
EXPECTED = ["PASS", "FAIL", "PASS", "PASS", "PASS"]


def statuses(jury):
    return [str(judgment.status) for judgment in jury.judge(CASE).judgments]


@pytest.mark.parametrize("juror", JURORS, ids=lambda juror: juror.name)
def test_a_judge_of_a_function_comes_back_with_its_settings(juror):
    for _ in range(2):  # what was pickled once is pickled again
        again = pickle.loads(pickle.dumps(juror))
        assert (again.name, again.threshold, again.timeout, again.cost) == (
            juror.name, juror.threshold, juror.timeout, juror.cost,
        )  # fmt: skip
        assert again.judge(CASE).status is juror.judge(CASE).status


def test_a_copy_under_another_name_keeps_its_own_settings():
    again = pickle.loads(pickle.dumps(polite.named("courteous").with_timeout(3)))
    assert (again.name, again.timeout, polite.name, polite.timeout) == ("courteous", 3, "polite", None)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_juries_go_to_process_pools(method):
    juries = [
        Ensemble(JURORS), polite & length_score, polite.with_samples(3),
        CascadedJury([
            Tier("cheap", Ensemble([polite]), policy="reject_on_any_fail"), Tier("last", patient, policy="final"),
        ]),
    ]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of a fork of a process with threads
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
            assert pool.submit(statuses, juries[0]).result(60) == EXPECTED
            for jury in juries:
                assert str(pool.submit(jury.judge, CASE).result(60).status) == str(jury.judge(CASE).status)


@pytest.mark.slow
def test_the_judges_of_a_script_go_to_a_pool_of_new_processes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import multiprocessing
        from jury_adapters import Ensemble, judge

        @judge
        def short(case):
            return len(case.answer) < 80

        if __name__ == "__main__":
            jury = Ensemble([short, short.named("again")])
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.apply(jury.judge, ("q",)).status, pool.apply(short.judge, ({"answer": "yes"},)).status)
    """)
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("ERROR PASS\n", "")


def test_a_function_that_other_processes_cannot_import_is_refused_by_its_name():
    @judge
    def inside(case):
        return True

    for unknown in (inside, judge(lambda case: True)):
        with pytest.raises((AttributeError, pickle.PicklingError), match=r"inside|lambda"):
            pickle.dumps(Ensemble([unknown]))
