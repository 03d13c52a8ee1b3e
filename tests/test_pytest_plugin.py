"""The pytest plugin, in real runs of pytest."""

import pytest
from support.vendor import Act

# Loaded here, so that the runs of pytest inside these tests find the same classes and not second copies.
from jury_adapters import *  # noqa: F403

JURY = "jurors: [{check: not_empty}, {check: length_between, maximum: 20}, {check: contains, texts: [ferry]}]\n"


@pytest.fixture
def run(pytester, monkeypatch):
    """Run these tests in a fresh project with a jury file, and give the result."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # plugins of others take most of the time

    def start(tests, *options, ini=""):
        pytester.makefile(".yaml", jury=JURY)
        pytester.makeini(f"[pytest]\n{ini}")
        pytester.makepyfile(tests)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "jury_adapters.pytest_plugin", *options)

    return start


def test_a_verdict_that_passes_lets_the_test_pass_and_is_counted(run):
    result = run("def test_it(jury): assert jury.check(answer='the ferry').passed", "--jury=jury.yaml")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*= jury =*", "1 verdict: 1 PASS", "mean agreement 1.00*"])


def test_a_failure_shows_the_case_the_dissent_and_what_to_do(run):
    result = run(
        "def test_it(jury): jury.check(question='when?', answer='In the year two thousand and nineteen.')",
        "--jury=jury.yaml",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "The jury's verdict does not meet what this test asks:",
            "  - passed=True: found FAIL",
            "  question: when?",
            "  answer: In the year two thousand and nineteen.",
            "What the jury said:",
            "  FAIL*",
            "    PASS NotEmpty*",
            "    FAIL LengthBetween*",
            "What to do: the jurors disagree*",
        ]
    )
    assert "pytest_plugin.py" not in result.stdout.str()  # the reader's own test, not our frames


def test_an_asynchronous_test_has_acheck_and_ajudge(run):
    result = run(
        """
        import asyncio

        def test_passes(jury):
            async def body():
                assert (await jury.ajudge(answer="no")).status == "PASS"
                return await jury.acheck(answer="the ferry", min_agreement=0.9)
            assert asyncio.run(body()).passed

        def test_fails(jury):
            async def body():
                await jury.acheck(question="when?", answer="In the year two thousand and nineteen.")
            asyncio.run(body())
        """,
        "--jury=jury.yaml",
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["  - passed=True: found FAIL", "  question: when?", "3 verdicts: 1 FAIL, 2 PASS"])


@pytest.mark.slow
def test_a_jury_that_breaks_or_cannot_say_fails_also_the_test_that_expects_no_pass(run):
    result = run(
        """
        import pytest
        from jury_adapters import Ensemble, abstain, judge

        broken = judge(name="broken")(lambda case: 1 / 0)
        silent = judge(name="silent")(lambda case: abstain("no contexts"))

        @pytest.mark.parametrize("one", [broken, silent, Ensemble([broken], errors="propagate"), Ensemble([silent])])
        @pytest.mark.parametrize("allowed", [{}, {"decided": None}])
        def test_it(jury, one, allowed):
            jury.using(one).check(answer="x", passed=False, **allowed)
        """
    )
    result.assert_outcomes(failed=4, passed=4)
    result.stdout.fnmatch_lines(["  - decided=True: found ERROR (ZeroDivisionError: division by zero)"])
    result.stdout.fnmatch_lines(["  - decided=True: found ABSTAIN (no contexts)"])
    result.stdout.fnmatch_lines(["needs review: *test_it*"])


def test_the_mark_names_the_jury_and_its_conditions(run):
    result = run(
        """
        import pytest

        @pytest.mark.jury("jury.yaml", min_agreement=0.9)
        def test_it(jury):
            jury.check(answer="a ferry that is rather long")
        """
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["  - min_agreement=0.9: found 0.333333", "needs review: *::test_it"])


def test_the_mark_takes_a_judge_and_the_fixture_another_one(run):
    result = run(
        """
        import pytest
        from jury_adapters import Ensemble, judge

        @judge
        def yes(case): return True

        @judge
        def no(case): return False, "never"

        @pytest.mark.jury(yes)
        def test_one(jury):
            jury.check(answer="x")
            jury.using(Ensemble([no, no])).check(answer="x", conditions={"passed": False, "min_votes": 2})

        @pytest.mark.jury(no)
        def test_two(jury):
            jury.check(answer="x")
        """
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["  - passed=True: found FAIL", "  FAIL no*never", "3 verdicts: 2 FAIL, 1 PASS"])


def test_the_jury_of_the_configuration(run):
    run("def test_it(jury): jury.check(answer='ferry')", ini="jury = jury.yaml").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        ("def test_it(jury): jury.check(answer='x')", "*which jury shall judge?*--jury=jury.yaml*"),
        (
            "import pytest\n@pytest.mark.jury(7)\ndef test_it(jury): jury.check(answer='x')",
            "*not int*path of a YAML file*",
        ),
        ("import pytest\n@pytest.mark.jury('no.yaml')\ndef test_it(jury): jury.check(answer='x')", "*no.yaml*"),
        (
            "import pytest\nfrom jury_adapters.checks import NotEmpty\n@pytest.mark.jury(NotEmpty(), min_agreement=1)\n"
            "def test_it(jury): jury.check(answer='x')",
            "*min_agreement: only a jury's verdicts have that*",
        ),
    ],
)
def test_wrong_use_is_explained(run, tests, said):
    run(tests).stdout.fnmatch_lines([said])


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ("'jury.yaml', min_agreemnt=0.8", "unknown condition 'min_agreemnt'. Did you mean 'min_agreement'?*"),
        ("'no.yaml'", "*no.yaml*"),
        ("7", "*not int*path of a YAML file*"),
    ],
)
def test_a_wrong_mark_is_one_line_before_anything_is_judged(run, mark, said):
    result = run(f"""
        import pytest

        @pytest.mark.jury({mark})
        def test_it(jury):
            print("it ran")
            jury.check(answer="ferry")
        """)
    result.assert_outcomes(errors=1)
    shown = result.stdout.str().partition("ERROR at setup of test_it")[2].partition("short test summary")[0]
    said_lines = [line for line in shown.splitlines()[1:] if line.strip("= ")]
    assert len(said_lines) == 1
    result.stdout.fnmatch_lines([said])
    assert "it ran" not in result.stdout.str()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("jury.using(jury.judge_object, min_agreemnt=1)", "unknown condition 'min_agreemnt'*"),
        ("jury.check(answer='x', conditions={'min_agreemnt': 1})", "unknown condition 'min_agreemnt'*"),
        (
            "jury.check(answer='x', conditions={'min_confidence': 'high'})",
            "min_confidence takes a number, not 'high'; a band*",
        ),
    ],
)
def test_a_wrong_condition_in_a_test_is_one_line_too(run, call, said):
    result = run(f"def test_it(jury): {call}", "--jury=jury.yaml")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([said])
    assert "pytest_plugin.py" not in result.stdout.str()


def test_abstentions_errors_and_labels_fail_with_their_own_advice(run):
    result = run(
        """
        import pytest
        from jury_adapters import Judgment, judge, abstain

        @judge
        def unsure(case): return abstain("no context")

        @judge
        def broken(case): raise ValueError("gone")

        @judge
        def labels(case): return Judgment(None, label="KEEP")

        @pytest.mark.parametrize("one", [unsure, broken, labels])
        def test_it(jury, one):
            jury.using(one).check(answer="x")
        """
    )
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(
        [
            "*could not say*",
            "*broken broke, so this says nothing about the answer*",
            "*'KEEP' has no PASS/FAIL meaning*",
        ]
    )


@pytest.mark.slow
def test_outages_and_budgets_are_not_called_disagreement(run, server):
    server.plan = lambda ask: Act(status=401, error={"message": "Incorrect API key provided"})
    result = run(
        f"""
        from jury_adapters import Critic, CascadedJury, Ensemble, ModelError, Scorecard, Tier, abstain
        from jury_adapters.core.budget import BUDGET_EXHAUSTED

        refused = Critic("openai:gpt-4o-mini", "faithfulness", name="refused", base_url={server.openai!r}, api_key="k")
        right = {{"answer": "x", "contexts": ["x"]}}
        yes, no = (lambda case: True), (lambda case: False)

        def down(case): raise ConnectionError("down")

        def test_key(jury): jury.using(Ensemble({{"yes": yes, "refused": refused}})).check(**right)

        def test_outage(jury): jury.using(Scorecard({{"a": Ensemble({{"yes": yes, "down": down}})}})).check(**right)

        def test_tier(jury):
            cascade = CascadedJury([Tier("screen", down, "reject_on_any_fail"), Tier("last", yes)])
            jury.using(cascade, needs_review=False).check(**right)

        def test_budget(jury):
            jury.using(lambda case: abstain("the budget is used up", error=BUDGET_EXHAUSTED)).check(**right)

        def test_decided_without_the_broken_one(jury):
            jury.using(Ensemble({{"no": no, "never": no, "down": down}})).check(**right)
        """
    )
    result.assert_outcomes(failed=5)
    result.stdout.fnmatch_lines(
        [
            "What to do: refused broke, so this says nothing about the answer. Fix that * (the key is refused: *",
            "What to do: down broke, *",
            "What to do: down broke, *",
            "What to do: the budget did not allow every call, *",
            "What to do: read the reasons above. *",
        ]
    )
    assert "disagree, so" not in result.stdout.str()


def test_a_judge_without_a_name_that_broke_is_called_one(run):
    result = run("def test_it(jury): jury.using(lambda case: 1 / 0).judge(answer='a')")
    result.stdout.fnmatch_lines(["a judge without a name broke 1 of 1 time: ZeroDivisionError: *"])


def test_a_juror_that_broke_is_named_though_the_others_decided(run):
    result = run(
        """
        import pytest
        from jury_adapters import Ensemble

        def down(case):
            if "ferry" in case.answer: raise ConnectionError("503 \\x1b[31m")
            return True

        jurors = {"yes": lambda case: True, "too": lambda case: True, "down": down}

        @pytest.mark.parametrize("answer", ["the ferry", "a ferry", "a boat"])
        def test_it(jury, answer): jury.using(Ensemble(jurors)).check(answer=answer)

        def test_alone(jury): jury.using(down).judge(answer="the ferry")
        """
    )
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["4 verdicts: 1 ERROR, 3 PASS", "down broke 3 of 4 times: ConnectionError: 503*"])
    assert "\x1b[31m" not in result.stdout.str()


@pytest.mark.slow
def test_jurors_that_the_budget_left_out_are_counted(run, server):
    result = run(
        f"""
        import pytest
        from jury_adapters import Critic, Ensemble, Limits

        def critic(name, limit):
            return Critic("openai:gpt-4o-mini", "faithfulness", name=name, base_url={server.openai!r}, api_key="k",
                          max_tokens=limit)

        @pytest.mark.jury(Ensemble([critic("cheap", 10), critic("dear", 100_000), critic("dearer", 200_000)]))
        def test_it(jury):
            jury.check(question="q", answer="TRUTH=YES", contexts=["c"])
        """,
        "--jury-max-usd=0.001",
    )
    result.assert_outcomes(passed=1)
    assert len(server.asks) == 1
    result.stdout.fnmatch_lines(
        [
            "1 verdict: 1 PASS",
            "1 judged without every juror, because of the budget, and 1 of them decided",
            "needs review: *::test_it",
        ]
    )
    assert "broke" not in result.stdout.str()


def test_judging_asserts_nothing(run):
    result = run("def test_it(jury): assert not jury.judge(answer='x' * 30).passed", "--jury=jury.yaml")
    result.assert_outcomes(passed=1)


@pytest.mark.slow
def test_what_a_store_holds_is_not_asked_again(run, pytester, server):
    tests = f"""
        import pytest
        from jury_adapters import Critic

        critic = Critic("openai:gpt-4o-mini", "faithfulness", name="c", base_url={server.openai!r}, api_key="k")

        @pytest.mark.jury(critic)
        def test_it(jury):
            jury.check(question="q", answer="TRUTH=YES", contexts=["c"])
        """
    run(tests, "--jury-store=runs.db").assert_outcomes(passed=1)
    asked = len(server.asks)
    result = run(tests, "--jury-store=runs.db", "--jury-max-usd=1")
    result.assert_outcomes(passed=1)
    assert asked == len(server.asks) == 1
    result.stdout.fnmatch_lines(["1 verdict: 1 PASS"])
    assert "model call" not in result.stdout.str()  # none was made in this run


@pytest.mark.slow
def test_worker_processes_are_counted_together(run):
    result = run(
        "import pytest\n@pytest.mark.parametrize('n', range(4))\ndef test_it(jury, n): jury.check(answer='a ferry')",
        "-p", "xdist", "--jury=jury.yaml", "-n2",
    )  # fmt: skip
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["4 verdicts: 4 PASS"])


@pytest.mark.slow
def test_worker_processes_share_the_budget(run):
    result = run(
        """
        import pytest
        from jury_adapters.langchain import from_evaluator

        def polite(outputs): return {"score": 1.0}

        dear = from_evaluator(polite, cost=0.25)

        @pytest.mark.parametrize("n", range(8))
        def test_it(jury, n): jury.using(dear).check(answer="the ferry")
        """,
        "-p", "xdist", "-n2", "--dist=load", "--jury-max-usd=1",
    )  # fmt: skip
    result.assert_outcomes(passed=4, failed=4)
    result.stdout.fnmatch_lines(["*8 verdicts: 4 ABSTAIN, 4 PASS*", "4 model calls, *$1.00*"])


@pytest.mark.parametrize("how", ["jury.check(answer='a')", "asyncio.run(jury.acheck(answer='a'))"])
def test_a_budget_that_a_juror_without_a_price_cannot_keep_is_said_without_a_traceback_of_ours(run, how):
    result = run(
        f"""
        import asyncio
        from jury_adapters import Critic
        from jury_adapters.testing import ScriptedModel

        def test_it(jury):
            jury = jury.using(Critic(ScriptedModel("Answer: YES"), "answer_relevance", name="critic"))
            {how}
        """,
        "--jury-max-usd=1",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["Budget(max_usd=) needs the price of every juror, and that of 'critic'*"])
    assert "budget.py" not in result.stdout.str()


def test_a_run_without_juries_says_nothing_of_them(run):
    result = run("def test_it(): assert True")
    assert "= jury =" not in result.stdout.str()


def test_the_gates_of_the_jury_file_are_asked_in_every_test_and_a_tests_own_go_before_them(run, pytester):
    pytester.makefile(".yaml", gated="gates: {min_agreement: 0.9, min_votes: 3}\n" + JURY)
    result = run(
        """
        import pytest
        LONG = "a ferry that is rather long"

        def test_short(jury):
            jury.check(answer="the ferry")

        def test_split(jury):
            jury.check(answer=LONG)

        @pytest.mark.jury("gated.yaml", min_agreement=0.3)
        def test_marked(jury):
            jury.check(answer=LONG)

        def test_asked(jury):
            jury.check(answer=LONG, conditions={"min_agreement": 0.3})

        def test_without_gates(jury):
            from jury_adapters.checks import NotEmpty
            jury.using(NotEmpty()).check(answer=LONG)
        """,
        "--jury=gated.yaml",
    )
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(["*FAILED*test_split*"])
    result.stdout.fnmatch_lines(["  - min_agreement=0.9: found 0.333333"])


@pytest.mark.parametrize(
    "given", ["'jury.yaml'", "pathlib.Path('jury.yaml')", "lambda case: 'ferry' in case.answer", "NotEmpty()"]
)
def test_using_takes_what_the_mark_takes(run, given):
    result = run(
        f"""
        import pathlib, pytest
        from jury_adapters.checks import NotEmpty

        def test_it(jury): assert jury.using({given}).check(answer="the ferry").passed

        @pytest.mark.jury({given}, passed=True)
        def test_marked(jury): assert jury.check(answer="the ferry").passed
        """
    )
    result.assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("[NotEmpty()]", "jury.using(...): * several judges make a jury: Ensemble(*"),
        ("NotEmpty", "jury.using(...): * a judge is NotEmpty()*"),
        ("3", "jury.using(...): give a jury, another Judge or a function of a Case, not int*"),
        ("'absent.yaml'", "*absent.yaml*"),
    ],
)
def test_using_says_what_it_takes(run, given, said):
    result = run(f"from jury_adapters.checks import NotEmpty\ndef test_it(jury): jury.using({given}).check(answer='a')")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([said.replace("[", "[[]")])
    assert "pytest_plugin.py" not in result.stdout.str()


@pytest.mark.slow
def test_conditions_stand_beside_the_fields_of_the_case(run):
    result = run(
        """
        def test_met(jury): jury.check(answer="the ferry", min_agreement=0.9)
        def test_unmet(jury): jury.check(answer="a ferry that is rather long", min_agreement=0.9, passed=False)
        def test_fails_as_it_should(jury): jury.check(answer="no boat here at all, is there?", passed=False)
        def test_goes_before_the_mapping(jury):
            jury.check(answer="the ferry", conditions={"passed": False, "min_votes": 1}, passed=True)
        """,
        "--jury=jury.yaml",
    )
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*min_agreement=0.9: found 0.3*"])


def test_a_field_that_no_case_has_is_said_without_a_traceback(run):
    result = run("def test_it(jury): jury.check(anwser='a', min_agreemnt=0.9)", "--jury=jury.yaml")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*unknown field 'anwser'. Did you mean 'answer'?*Conditions are *min_agreement*"])
    assert "pytest_plugin.py" not in result.stdout.str()


def test_a_marked_test_that_asks_nobody_draws_a_warning(run):
    result = run(
        """
        import pytest

        @pytest.mark.jury("jury.yaml")
        def test_forgets_the_fixture(): assert True

        @pytest.mark.jury("jury.yaml")
        def test_never_checks(jury): assert True

        @pytest.mark.jury("jury.yaml")
        def test_checks(jury): jury.check(answer="the ferry")

        @pytest.mark.jury("jury.yaml")
        def test_only_judges(jury): jury.judge(answer="the ferry")

        @pytest.mark.jury("jury.yaml")
        def test_asks_by_another_name(request): request.getfixturevalue("jury").check(answer="the ferry")

        @pytest.mark.jury("jury.yaml")
        def test_is_skipped(jury): pytest.skip("not today")
        """,
        "-Wdefault",  # where warnings are errors, it is one
    )
    result.assert_outcomes(passed=5, skipped=1, warnings=2)
    result.stdout.fnmatch_lines(["*does not take the fixture `jury`*", "*marked with a jury, and judged nothing*"])


def test_a_mark_of_a_whole_module_does_not_oblige_every_test_in_it(run):
    result = run(
        """
        import pytest

        pytestmark = pytest.mark.jury("jury.yaml")

        def test_judged(jury): jury.check(answer="the ferry")

        def test_of_something_else(): assert True
        """,
        "-Wdefault",
    )
    result.assert_outcomes(passed=2, warnings=0)


@pytest.mark.parametrize("place", ["class", "module"])
def test_a_test_that_takes_the_fixture_under_a_mark_of_its_class_or_module_is_obliged(run, place):
    mark = 'pytest.mark.jury("jury.yaml")'
    result = run(
        f"""
        import pytest

        pytestmark = {mark if place == "module" else "[]"}

        {f"@{mark}" if place == "class" else ""}
        class TestAnswers:
            def test_forgets(self, jury): assert True

            @pytest.mark.parametrize("year", [2018, 2019])
            def test_checks(self, jury, year): jury.check(answer=f"the ferry in {{year}}")

            def test_of_something_else(self): assert True
        """,
        "-Wdefault",
    )
    result.assert_outcomes(passed=4, warnings=1)
    result.stdout.fnmatch_lines(["*::test_forgets", "*marked with a jury, and judged nothing*"])


def test_a_label_that_steers_terminals_is_shown_in_the_summary_and_not_obeyed(run):
    result = run(
        r"""
        from jury_adapters import Judgment, judge

        wild = judge(name="wild")(lambda case: Judgment(None, label="\x1b[2Jgone"))

        def test_it(jury): jury.using(wild).judge(answer="a")
        """
    )
    result.assert_outcomes(passed=1)
    assert "\x1b[2J" not in result.stdout.str()
    result.stdout.fnmatch_lines(["1 verdict: 1 *x1b*2Jgone"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("juror", "option"),
    [
        ("{criterion: ok, model: 'openai:m', base_url: 'http://localhost:9/v1'}", "--jury-allow-base-url"),
        ("{check: command, argv: ['true']}", "--jury-allow-commands"),
    ],
)
def test_what_a_jury_file_needs_a_permission_for_is_an_option(run, pytester, monkeypatch, juror, option):
    monkeypatch.setenv("OPENAI_API_KEY", "env-0123456789-secret")
    pytester.makefile(".yaml", risky=f"jurors: [{juror}]\n")
    tests = "def test_it(jury): assert jury.judge_object.members"
    refused = run(tests, "--jury=risky.yaml")
    refused.assert_outcomes(errors=1)
    refused.stdout.fnmatch_lines([f"*`pytest {option}`*"])
    assert "0123456789" not in refused.stdout.str()
    run(tests, "--jury=risky.yaml", option).assert_outcomes(passed=1)


@pytest.mark.slow
def test_an_audit_fails_the_test_that_its_limits_are_not_met_in(run):
    result = run(
        """
        from jury_adapters.audit import Sizes
        from jury_adapters.checks import NamesAndNumbers

        SMALL = Sizes(per_operator=3, per_invariance=2, injections=2)

        def test_met(jury):
            found = jury.using(NamesAndNumbers()).audit(sizes=SMALL, max_flip_rate=0.5)
            assert found.jury.kill_rate.n > 20

        def test_missed(jury):
            jury.using(NamesAndNumbers()).audit(sizes=SMALL, min_kill_rate=0.99)

        def test_misspelt(jury):
            jury.using(NamesAndNumbers()).audit(sizes=SMALL, min_killrate=0.99)

        def test_no_jury(jury):
            jury.audit(min_kill_rate=0.9)
        """
    )
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(["kill rate: *asked for at least 99.0 %", "*Wrong answers that got FAIL*"])
    result.stdout.fnmatch_lines(["*min_killrate*"])
    result.stdout.fnmatch_lines(["which jury shall judge?*"])
    assert "pytest_plugin.py" not in result.stdout.str()


@pytest.mark.slow
def test_an_audit_that_the_budget_cut_off_says_so(run):
    result = run(
        """
        from jury_adapters import Budget, Critic
        from jury_adapters.audit import Sizes
        from jury_adapters.testing import ScriptedModel

        SMALL = Sizes(per_operator=3, per_invariance=2, injections=2)

        def audit(jury, **limits):
            jury._session.options["budget"] = Budget(max_calls=30)
            jury.using(Critic(ScriptedModel("NO"), "faithfulness")).audit(sizes=SMALL, **limits)

        def test_passes(jury):
            audit(jury)

        def test_fails(jury):
            audit(jury, min_kill_rate=0.9)
        """,
        ini="filterwarnings = default",
    )
    result.assert_outcomes(passed=1, failed=1, warnings=1)
    result.stdout.fnmatch_lines(["Left out, because the budget*", "What to do: the budget was used up, so the audit*"])
    result.stdout.fnmatch_lines(["*JuryWarning: the budget was used up*"])


def test_a_condition_that_could_not_be_measured_is_in_the_summary(run):
    result = run(
        """
        import pytest
        from jury_adapters import Ensemble, Scorecard

        yes, no = (lambda case: True), (lambda case: False)
        card = Scorecard({"alone": yes})
        split = Scorecard({"split": Ensemble([yes, yes, no])})

        @pytest.mark.parametrize("number", range(2))
        def test_card(jury, number): jury.using(card, min_agreement=0.9, min_confidence=0.9).check(answer="a")

        def test_strict(jury): jury.using(card, min_agreement=0.9, undefined="fail").check(answer="a")
        def test_split(jury): jury.using(split, min_agreement=0.9).check(answer="a")
        """
    )
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(
        [
            "  - min_agreement=0.9: undefined (a scorecard without a criterion that two jurors voted on)",
            "  - min_agreement=0.9: found 0.333333, of the criterion split",
            "*= jury =*",
            "min_agreement=0.9 could not be measured on 2 verdicts, first in *::test_card[[]0[]]: a scorecard without*",
            "min_confidence=0.9 could not be measured on 2 verdicts, first in *: a scorecard has no confidence",
        ]
    )


@pytest.mark.slow
def test_a_condition_that_worker_processes_could_not_measure_is_counted_once(run):
    tests = "from jury_adapters import Ensemble\n" + "".join(
        f"def test_{n}(jury): jury.using(Ensemble([lambda case: True]), min_agreement=1).check(answer='a')\n"
        for n in range(3)
    )
    result = run(tests, "-p", "xdist", "-n2")
    result.stdout.fnmatch_lines(
        ["min_agreement=1 could not be measured on 3 verdicts, first in *: fewer than two ballots"]
    )
