"""The pytest plugin, in real runs of pytest: outcomes, what failures and the summary say, budgets and stores."""

from collections.abc import Callable

import pytest

import jury_adapters.pytest_plugin
import jury_adapters.testing
from jury_adapters.checks import CHECKS

pytest_plugins = ["pytester"]
# A run in this process forgets what it loads, so that a second run would have other classes than the plugin.
LOADED = [*(getattr(jury_adapters, name) for name in jury_adapters.__all__), *CHECKS.values()]

JURY = """
jurors:
  text: {check: not_empty}
  short: {check: length_between, maximum: 20}
  brief: {check: length_between, maximum: 25}
"""
HEAD = """
import asyncio
import pytest
from jury_adapters import CascadedJury, Critic, Ensemble, Judge, Tier, Usage, Judgment, abstain, judge
from jury_adapters.testing import ScriptedModel

@judge
def yes(case): return True
@judge
def no(case): return False, "never"
@judge
def silent(case): return abstain("no contexts")
@judge
def down(case): raise ConnectionError("503 \\x1b[31m")
@judge(labels=["KEEP"])
def keep(case): return "KEEP"

def critic(price, **options):
    model = ScriptedModel(['{"reasoning": "so", "answer": "YES"}'], usd_per_token=price)
    return Critic(model, "answer_relevance", max_tokens=100, **options)

"""
Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run these tests in a new project with a jury file, and return the result."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in ("CI", "BUILD_NUMBER"):  # with which pytest repeats whole messages in its summary
        monkeypatch.delenv(name, raising=False)

    def start(tests: str, *options: str, ini: str = "") -> pytest.RunResult:
        pytester.makefile(".yaml", jury=JURY)
        pytester.makeini(f"[pytest]\n{ini}")
        pytester.makepyfile(HEAD + tests)
        loaded = "ignore::pytest.PytestAssertRewriteWarning"  # pytest before 9.2 says that it was imported before
        return pytester.runpytest_inprocess(
            "-p", "no:cacheprovider", "-p", "jury_adapters.pytest_plugin", "-W", "default", "-W", loaded, *options
        )

    return start


def test_a_passing_answer_passes_and_is_counted(run: Run) -> None:
    result = run(
        """
def test_it(jury):
    assert jury.check(answer="the ferry").passed
    assert jury.judge(answer="x" * 30).status == "FAIL"  # judging asserts nothing

def test_in_a_loop(jury):
    async def body():
        assert (await jury.ajudge({"response": "no"})).status == "PASS"
        return await jury.acheck(answer="the ferry", conditions={"min_agreement": 0.9})
    assert asyncio.run(body()).passed
""",
        "--jury=jury.yaml",
    )
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*= jury =*", "4 judgments: 3 PASS, 1 FAIL"])
    assert "pytest_plugin.py" not in result.stdout.str()


def test_a_failure_shows_what_was_asked_for_what_was_judged_and_what_the_jury_said(run: Run) -> None:
    result = run(
        """
def test_it(jury):
    jury.check(question="when?", answer="In the year two thousand and \\x1b[31m nineteen.", contexts=["In 2018."])

def test_in_a_loop(jury):
    async def body():
        await jury.acheck(question="when?", answer="In the year two thousand and nineteen.")
    asyncio.run(body())
""",
        "--jury=jury.yaml",
    )
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "the judgment does not meet its gates (FAIL*",
            "  - passed=True: found False",
            "what was judged:",
            "  question: when?",
            "  answer: In the year two thousand and \\u001b[[]31m nineteen.",
            "  context 1: In 2018.",
            "what the jury said:",
            "  FAIL*",
            "    PASS text*",
            "    FAIL short*",
        ]
    )
    assert [word for word in ("pytest_plugin.py", "\x1b[31m") if word in result.stdout.str()] == []


def test_what_is_undecided_never_passes_unless_the_test_says_so(run: Run) -> None:
    result = run("""
@pytest.mark.parametrize("one", [silent, down, Ensemble([down, down]), Ensemble([silent]), Ensemble([yes, down])])
@pytest.mark.parametrize("passed", [True, False, None])
def test_refused(jury, one, passed):
    jury.using(one).check(answer="x", conditions={"passed": passed})

@pytest.mark.parametrize("one", [silent, down])
def test_lifted(jury, one):
    jury.using(one, passed=None, decided=None).check(answer="x")

def test_a_label_is_no_pass(jury):
    jury.using(keep).check(answer="x")
""")
    result.assert_outcomes(failed=16, passed=2)
    result.stdout.fnmatch_lines(["  - decided=True: found False", "this says nothing about the answer: *"])
    result.stdout.fnmatch_lines(["  - passed=True: found None"])
    result.stdout.fnmatch_lines(
        ["18 judgments: 1 LABEL, 7 ABSTAIN, 10 ERROR", "down broke: ConnectionError: 503*times)"]
    )
    result.stdout.fnmatch_lines(["needs review: *test_lifted*abstained*"])
    assert "\x1b[31m" not in result.stdout.str()


def test_the_closest_mark_names_the_jury_and_each_condition(run: Run) -> None:
    result = run("""
pytestmark = pytest.mark.jury(yes, min_confidence=0.0)

class TestMarked:
    pytestmark = pytest.mark.jury(Ensemble([no, no]), passed=False)

    def test_of_the_class(self, jury): jury.check(answer="x")

    @pytest.mark.jury("jury.yaml", passed=True)
    def test_of_its_own(self, jury): jury.check(answer="the ferry")

    @pytest.mark.parametrize("word", [pytest.param("x", marks=pytest.mark.jury(Ensemble([silent]), decided=None))])
    def test_of_its_parameters(self, jury, word): jury.check(answer=word, conditions={"passed": None})

@pytest.mark.jury(min_agreement=0.9)
def test_of_the_module_with_its_own_condition(jury):
    jury.using(Ensemble([yes, yes, no])).check(answer="x")

def test_without(jury): jury.check(answer="x")
""")
    result.assert_outcomes(passed=2, failed=3)
    shown = result.stdout.str()
    assert "- min_agreement=0.9: found 0.333" in shown
    assert shown.count("min_confidence=0.0: found None") == 2  # a single judge, and an abstention, have none


def test_the_jury_of_the_configuration_and_files_beside_the_test(run: Run, pytester: pytest.Pytester) -> None:
    inner = pytester.mkdir("inner")
    (inner / "own.yaml").write_text("check: not_empty\n")
    (inner / "test_inner.py").write_text(
        "import pytest\n@pytest.mark.jury('own.yaml')\ndef test_own(jury): jury.check(answer='long ' * 20)\n"
        "@pytest.mark.jury('jury.yaml')\ndef test_root(jury): jury.check(answer='ferry')\n"
    )
    run("def test_it(jury): jury.check(answer='ferry')", ini="jury = jury.yaml").assert_outcomes(passed=3)


WRONG = {
    "def test_it(jury): jury.check(answer='x')": "no jury is named: *--jury=jury.yaml*",
    "@pytest.mark.jury(7)\ndef test_it(jury): print('it ran')": "a judge is a Judge or a function of a case, not int",
    "@pytest.mark.jury('no.yaml')\ndef test_it(jury): print('it ran')": "*no.yaml*",
    "@pytest.mark.jury(yes, no)\ndef test_it(jury): print('it ran')": "*takes one jury*",
    "@pytest.mark.jury(yes, min_agreemnt=1)\ndef test_it(jury): print('it ran')": "min_agreemnt: no such condition;*",
    "def test_it(jury): jury.using(yes, min_votes=2)": "min_votes: no such condition; the conditions are passed, *",
    "def test_it(jury): jury.using(yes).check(answer='x', conditions={'decded': None})": "decded: no such condition;*",
    "def test_it(jury): jury.using(yes).check(answer='x', conditions={'min_agreement': 'hi'})": "*high, medium*'hi'",
    "def test_it(jury): jury.using(yes).check(answr='x')": "no case: answr: *",
    "def test_it(jury): jury.using(yes).check()": "a case is a Case, *",
}


def test_wrong_use_is_one_line_and_no_traceback_of_the_package(run: Run) -> None:
    tests = [test.replace("test_it", f"test_{number}") for number, test in enumerate(WRONG)]
    result = run("\n".join(tests))
    result.assert_outcomes(failed=6, errors=4)
    shown = result.stdout.str()
    assert [word for word in ("it ran", "pytest_plugin.py") if word in shown] == []
    for said in WRONG.values():
        result.stdout.fnmatch_lines_random([said])


def test_a_marked_test_that_asks_no_jury_is_warned_about(run: Run) -> None:
    """Trap 18: it would pass whatever the answer is."""
    result = run(
        """
@pytest.mark.jury(yes)
def test_forgets(jury): pass

@pytest.mark.jury(yes)
def test_does_not_take_it(): pass

@pytest.mark.jury(yes)
def test_asks(jury): jury.judge(answer="x")

@pytest.mark.jury(yes)
def test_fails_anyway(jury): assert False

@pytest.mark.jury(yes)
class TestAll:
    def test_is_not_about_answers(self): pass
    def test_forgets_too(self, jury): pass

def test_names_none(jury): pass
""",
        "-rw",
    )
    result.assert_outcomes(passed=6, failed=1, warnings=3)
    result.stdout.fnmatch_lines_random(
        [
            "*JuryWarning: the test is marked with a jury and never asks it: jury.check*",
            "*does not take the fixture `jury`*",
        ]
    )


def test_a_budget_refuses_what_does_not_fit_and_what_has_no_price(run: Run) -> None:
    result = run(
        """
def test_fits(jury): jury.using(critic(0.00001)).check(question="q", answer="a")
def test_does_not_fit(jury): jury.using(critic(0.01)).check(question="q", answer="a")
def test_has_no_price(jury): jury.using(critic(None)).check(question="q", answer="a")
""",
        "--jury-max-usd=0.1",
    )
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*the price of the call is unknown, so no limit in US dollars can hold it*"])
    result.stdout.fnmatch_lines(["1 model calls, $0.00*", "*broke: *over budget: 1 calls for $0.00*are spent*"])


def test_what_a_store_holds_is_not_asked_again(run: Run, pytester: pytest.Pytester) -> None:
    tests = "def test_it(jury): jury.using(critic(0.00001)).check(question='q', answer='a')"
    run(tests, "--jury-store=runs.db").stdout.fnmatch_lines(["1 judgments: 1 PASS", "1 model calls, $*"])
    second = run(tests, ini="jury_store = runs.db")
    second.assert_outcomes(passed=1)
    assert ("model calls" not in second.stdout.str(), (pytester.path / "runs.db").exists()) == (True, True)


def test_workers_share_the_budget_and_are_counted_together(run: Run, pytester: pytest.Pytester) -> None:
    """Trap 19: each of two workers may spend half, so that not all calls fit, as they would into two whole budgets."""
    tests = """
@pytest.mark.parametrize("n", range(12))
def test_it(jury, n): jury.using(critic(0.0005), passed=None, decided=None).check(question="q", answer=f"a{n}")
"""
    alone = run(tests, "--jury-max-usd=2")
    shared = run(tests, "--jury-max-usd=2", "-p", "xdist", "-n2", "--dist=load")
    fitted = [int(found.stdout.str().partition(" model calls")[0].rpartition("\n")[2]) for found in (alone, shared)]
    assert 1 <= fitted[1] <= fitted[0] < 12
    shared.stdout.fnmatch_lines(["12 judgments: *PASS, *ERROR"])


def test_jury_files_need_permission_to_run_programs(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", program='check: command\nargv: ["true"]\n')
    tests = "def test_it(jury): jury.check(answer='x', workspace='.')"
    run(tests, "--jury=program.yaml").assert_outcomes(errors=1)
    run(tests, "--jury=program.yaml", "--jury-allow-commands").assert_outcomes(passed=1)


def test_a_run_without_juries_says_nothing_of_them(run: Run) -> None:
    assert "= jury =" not in run("def test_it(): assert True").stdout.str()
