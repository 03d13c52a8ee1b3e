"""Which mark of a test counts, and what the mark and the fixture refuse."""

import pytest

# Loaded here, so that the runs of pytest inside these tests find the same classes and not second copies.
from jury_adapters import *  # noqa: F403
from jury_adapters.checks import NotEmpty


@pytest.fixture
def run(pytester, monkeypatch):
    """Run these tests in a fresh project, and give the result."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def start(tests, *options, conftest=""):
        pytester.makefile(".yaml", short="jurors: [{check: not_empty}, {check: length_between, maximum: 5}]\n")
        pytester.makefile(".yaml", anything="jurors: [{check: not_empty}]\n")
        pytester.makeconftest(conftest)
        pytester.makepyfile(tests)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "jury_adapters.pytest_plugin", *options)

    return start


def test_a_mark_with_conditions_only_keeps_the_jury_of_the_class(run):
    result = run(
        """
        import pytest

        @pytest.mark.jury("short.yaml", min_votes=2)
        class TestAnswers:
            @pytest.mark.jury(passed=False)
            def test_long(self, jury):
                jury.check(answer="far too long")

            @pytest.mark.jury("anything.yaml")
            def test_other_jury(self, jury):
                jury.check(answer="far too long")

            @pytest.mark.jury("anything.yaml", min_votes=1)
            def test_other_jury_and_condition(self, jury):
                jury.check(answer="far too long")
        """,
        "--jury=anything.yaml",
    )
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*test_other_jury *", "*min_votes*"])


def test_the_mark_of_a_set_of_parameters_comes_before_that_of_the_test(run):
    result = run(
        """
        import pytest

        of_its_own = pytest.param("far too long", marks=pytest.mark.jury("anything.yaml"))
        turned = pytest.param("far too long", marks=pytest.mark.jury(passed=False))

        @pytest.mark.jury("short.yaml")
        @pytest.mark.parametrize("answer", ["short", of_its_own, turned])
        def test_it(jury, answer):
            jury.check(answer=answer)
        """
    )
    result.assert_outcomes(passed=3)


@pytest.mark.parametrize("given", ["'short.yaml', 'anything.yaml'", "judge='short.yaml'", "jury='short.yaml'"])
def test_a_mark_that_does_not_name_one_jury_first_is_refused(run, given):
    result = run(f"import pytest\n@pytest.mark.jury({given})\ndef test_it(jury): jury.check(answer='short')")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["@pytest.mark.jury takes one jury, first and without a name*"])


def test_conditions_that_are_not_a_mapping_are_refused_without_a_traceback(run):
    result = run("def test_it(jury): jury.check(answer='x', conditions=['min_votes'])", "--jury=short.yaml")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["conditions= is a mapping such as {'min_votes': 3}, not list"])
    assert "pytest_plugin.py" not in result.stdout.str()


def test_the_error_of_another_plugin_that_stops_pytest_is_shown(run):
    conftest = "import pytest\ndef pytest_configure(config): raise pytest.UsageError('name a city with --city')"
    result = run("def test_it(jury): pass", conftest=conftest)
    result.stderr.fnmatch_lines(["ERROR: name a city with --city"])
    assert "KeyError" not in result.stderr.str() + result.stdout.str()


def test_a_rerun_that_judges_nothing_gives_the_warning_too(run):
    conftest = """
        from _pytest.runner import runtestprotocol

        def pytest_runtest_protocol(item, nextitem):  # as plugins do that run a failed test again
            reports = runtestprotocol(item, log=False, nextitem=nextitem)
            if any(report.failed for report in reports):
                item._initrequest()
                reports = runtestprotocol(item, log=False, nextitem=nextitem)
            for report in reports:
                item.ihook.pytest_runtest_logreport(report=report)
            return True
        """
    result = run(
        """
        import pytest

        asked = []

        @pytest.mark.jury("short.yaml")
        def test_it(jury):
            if not asked:
                asked.append(1)
                jury.check(answer="far too long")
        """,
        "-Wdefault",
        conftest=conftest,
    )
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*marked with a jury, and judged nothing*"])


def test_without_the_condition_pass_a_label_without_that_meaning_is_accepted(run):
    result = run(
        """
        from jury_adapters import Ensemble, Judgment, judge

        @judge
        def tone(case):
            return Judgment(None, label="FRIENDLY")

        def test_single(jury):
            assert jury.using(tone).check(answer="Hello!", passed=None).label == "FRIENDLY"

        def test_jury(jury):
            jury.using(Ensemble([tone, tone.named("again")])).check(answer="Hello!", passed=None, min_votes=2)

        def test_too_few(jury):
            jury.using(Ensemble([tone, tone.named("again")])).check(answer="Hello!", passed=None, min_votes=3)

        def test_asked_for_pass(jury):
            jury.using(tone).check(answer="Hello!")
        """
    )
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["  - min_votes=3: found 2", "*the label 'FRIENDLY' has no PASS/FAIL meaning*"])


def test_the_last_line_names_a_juror_that_broke_where_only_its_vote_is_missing(run):
    result = run(
        """
        from jury_adapters import Ensemble, judge

        @judge
        def down(case):
            raise ConnectionError("no line")

        yes = judge(lambda case: True, name="yes")

        def test_votes(jury):
            jury.using(Ensemble([down, yes, yes.named("yes, too")])).check(answer="x", min_votes=3)

        def test_agreement(jury):
            jury.using(Ensemble([yes]), undefined="fail").check(answer="x", min_agreement=0.5)
        """
    )
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "What to do: the verdict is PASS, as asked, but misses another condition. down broke: fix that and *",
            "What to do: the verdict is PASS, as asked, but misses another condition: read the answer yourself*",
        ]
    )


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("min_kill=0.5", "unknown limit of an audit 'min_kill'. Did you mean 'min_kill_rate'?*"),
        ("min_kill_rate=2", "the limit of the kill rate is a share from 0 to 1, not 2"),
        ("max_flip_rate='5%'", "the limit of the flip rate is a share from 0 to 1, not '5%'"),
    ],
)
def test_a_wrong_limit_of_an_audit_is_refused_before_the_jury_is_asked(run, limit, message):
    result = run(
        f"""
        from jury_adapters import judge

        @judge
        def asked(case):
            print("the jury was asked")
            return True

        def test_it(jury):
            jury.using(asked).audit({limit})
        """
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([message])
    assert "the jury was asked" not in result.stdout.str()


@pytest.mark.slow
def test_the_summary_says_that_the_figures_of_a_crashed_worker_process_are_missing(run):
    tests = """
        import os

        def test_one(jury): jury.check(answer="x")

        def test_two(jury): jury.check(answer="y")

        def test_crash(jury):
            jury.check(answer="z")
            os._exit(7)

        def test_after(jury): jury.check(answer="a")
        """
    result = run(tests, "--jury=short.yaml", "-p", "xdist", "-n1")
    result.stdout.fnmatch_lines(["*1 worker process crashed: what was judged there is missing*"])
    plain = run("def test_one(jury): jury.check(answer='x')", "--jury=short.yaml", "-p", "xdist", "-n1")
    assert "judged there is missing" not in plain.stdout.str()


@pytest.mark.parametrize(
    ("given", "fix"),
    [("short", "judge(short)"), ("NotEmpty", "an instance, NotEmpty()"), ("Mine", "an instance, Mine()")],
)
def test_a_function_or_class_in_a_mark_is_refused_and_loses_no_test(run, given, fix):
    tests = f"""
        import pytest
        from jury_adapters import Judge
        from jury_adapters.checks import NotEmpty

        class Mine(Judge):
            def __init__(self, *given):
                pass

            def assess(self, case):
                return False

        def short(case):
            return False

        @pytest.mark.jury({given})
        def test_it(jury): jury.check(answer="")
        """
    try:
        result = run(tests)
        result.assert_outcomes(errors=1)
        result.stdout.fnmatch_lines([f"*@pytest.mark.jury({given}): *for the test; give {fix}"])
    finally:
        if "pytestmark" in vars(NotEmpty):
            del NotEmpty.pytestmark  # left there by the mark


def test_a_bare_mark_of_a_test_and_of_its_class_is_no_mistake(run):
    result = run(
        """
        import pytest

        @pytest.mark.jury
        class Answers:
            def test_it(self, jury): jury.check(answer="short")

        class TestAnswers(Answers):
            pass

        @pytest.mark.jury
        def test_it(jury): jury.check(answer="short")
        """,
        "--jury=short.yaml",
    )
    result.assert_outcomes(passed=2)
