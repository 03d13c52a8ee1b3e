import asyncio
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury_adapters import Case, ConfigurationError, Ensemble, Judge, Judgment, Status, Usage, Verdict, judge
from jury_adapters.checks import NotEmpty
from jury_adapters.compat.juries import combine
from jury_adapters.core.voting.rules.majority import Majority
from jury_adapters.core.voting.rules.unanimous import Unanimous

CASE = Case(question="?", answer="!")


class Says(Judge):
    def __init__(self, status="PASS", name="", **fields):
        self.name, self.judgment = name, Judgment(status, **fields)

    def assess(self, case):
        return self.judgment


class Breaks(Judge):
    name = "broken"

    def __init__(self, error=None):
        self.error = error or ValueError("no template")

    def assess(self, case):
        raise self.error


class Waits(Judge):
    def __init__(self, seconds, name=""):
        self.seconds, self.name, self.waited = seconds, name, False

    async def assess(self, case):
        await asyncio.sleep(self.seconds)
        self.waited = True
        return True


def passes(case):
    return True


def fails(case):
    return False, "too short"


@pytest.mark.parametrize(
    ("given_names", "names"),
    [
        (["", ""], ["Judge#1", "Judge#2"]),
        (["a", "", "b"], ["a", "Judge#2", "b"]),
        (["a", "a", "a"], ["a", "a-2", "a-3"]),
        (["a", "a", "a-2"], ["a", "a-3", "a-2"]),
        (["Judge#2", ""], ["Judge#2", "Judge#2-2"]),
        (["", "Judge#1"], ["Judge#1", "Judge#1-2"]),
    ],
)
def test_no_two_jurors_share_a_name(given_names, names):
    jury = Ensemble([Says(name=name) for name in given_names])
    assert list(jury.names) == names
    verdict = jury.judge(CASE)
    assert [judgment.critic for judgment in verdict.judgments] == names
    assert list(verdict.by_name) == names
    aggregated = jury.aggregate(Judgment("PASS", critic=name) for name in given_names)
    assert [judgment.critic for judgment in aggregated.judgments] == names


@given(st.lists(st.sampled_from(["", "a", "a-2", "Judge#1", "Judge#2", "Judge#2-2"]), min_size=1, max_size=7))
def test_names_are_unique_whatever_they_are(names):
    jury = Ensemble([Says(name=name) for name in names])
    assert len(set(jury.names)) == len(names)


def test_functions_are_jurors_under_their_own_names():
    verdict = Ensemble([passes, fails, lambda case: 0.9]).judge(CASE)
    assert list(verdict.by_name) == ["passes", "fails", "Judge#3"]
    assert verdict.by_name["fails"].reasoning == "too short"
    assert [judgment.score for judgment in verdict.judgments] == [None, None, 0.9]


def test_a_verdict_says_who_voted_what_how_it_was_counted_and_what_it_cost():
    usage = Usage(input_tokens=10, calls=1, cost_usd=0.25)
    jury = Ensemble(
        [Says(usage=usage, confidence=0.9), Says("FAIL", usage=usage), Says("ABSTAIN", reasoning="cannot say")],
        voting="majority",
        weights=[3, 1, 1],
    )
    verdict = jury.judge(CASE)
    assert isinstance(verdict, Verdict)
    assert (verdict.status, verdict.tally.tied, verdict.voting) == (Status.FAIL, True, "majority")
    assert (verdict.tally.passed, verdict.tally.failed, verdict.tally.abstained) == (1, 1, 1)
    assert verdict.weights == (3, 1, 1)
    assert verdict.usage == Usage(input_tokens=20, calls=2, cost_usd=0.5)
    assert (verdict.agreement, verdict.disagreement, verdict.agreement_band) == (0.0, True, "low")
    assert (verdict.partial, verdict.calls_saved, verdict.skipped) == (False, 0, ())


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(4)))
def test_judgments_stand_in_juror_order_whoever_finishes_first(turns):
    class Later(Judge):
        def __init__(self, turn):
            self.turn = turn

        async def assess(self, case):
            for _ in range(self.turn):
                await asyncio.sleep(0)
            return Judgment("PASS", reasoning=str(self.turn))

    verdict = asyncio.run(Ensemble([Later(turn) for turn in turns]).ajudge(CASE))
    assert [judgment.reasoning for judgment in verdict.judgments] == [str(turn) for turn in turns]


@pytest.mark.parametrize("schedule", ["parallel", "sequential", "early_stop"])
@pytest.mark.parametrize("error", [ValueError("no template"), SystemExit(3), RecursionError(), OSError()])
def test_one_broken_juror_breaks_only_itself(schedule, error):
    verdict = Ensemble([Says(), Breaks(error), Says()], schedule=schedule, voting="unanimous").judge(CASE)
    assert verdict.status is Status.FAIL
    broken = verdict.by_name["broken"]
    assert broken.status is Status.ERROR
    assert broken.error.startswith(type(error).__name__)
    assert verdict.tally.errors == 1


def test_a_juror_that_returns_nonsense_is_an_error_that_says_what_to_return():
    verdict = Ensemble([lambda case: None, lambda case: 7, Says()], errors="ignore").judge(CASE)
    assert verdict.status is Status.PASS
    assert "return True or False" in verdict.by_name["Judge#1"].error
    assert "from 0 to 1" in verdict.by_name["Judge#2"].error


def test_a_juror_that_is_too_slow_is_a_timeout_and_the_others_vote():
    slow = Waits(60, "slow")
    verdict = Ensemble([slow, Waits(0, "fast"), Waits(0, "also fast")], juror_timeout=0.05).judge(CASE)
    assert not slow.waited
    assert verdict.by_name["slow"].error == "timeout"
    assert "0.05" in verdict.by_name["slow"].reasoning
    assert (verdict.status, verdict.tally.errors) == (Status.PASS, 1)


def test_a_plain_function_that_hangs_is_given_up_on():
    release = threading.Event()

    def hangs(case):
        release.wait(30)
        return True

    try:
        verdict = Ensemble([hangs, passes, passes], juror_timeout=0.05).judge(CASE)
    finally:
        release.set()
    assert [judgment.error for judgment in verdict.judgments] == ["timeout", None, None]
    assert verdict.status is Status.PASS


def test_the_shorter_of_the_jurys_and_the_jurors_own_timeout_applies():
    own, jurys = Waits(30, "own").with_timeout(0.01), Waits(30, "jury's").with_timeout(20)
    assert Ensemble([own]).judge(CASE).judgments[0].error == "timeout"
    assert Ensemble([own], juror_timeout=20).judge(CASE).judgments[0].reasoning == "no judgment within 0.01 s"
    assert Ensemble([jurys], juror_timeout=0.02).judge(CASE).judgments[0].reasoning == "no judgment within 0.02 s"


def test_the_jury_itself_may_time_out_and_says_so_in_a_verdict():
    verdict = Ensemble([Waits(30)]).with_timeout(0.02).judge(CASE)
    assert isinstance(verdict, Verdict)
    assert (verdict.status, verdict.error) == (Status.ERROR, "timeout")


@pytest.mark.parametrize("weights", [[5, 1, 1], {"a": 5}, {0: 5}])
def test_weights_by_position_name_or_number(weights):
    jury = Ensemble([Says(name="a"), Says("FAIL", "b"), Says("FAIL", "c")], voting="weighted", weights=weights)
    verdict = jury.judge(CASE)
    assert (verdict.status, verdict.weights) == (Status.PASS, (5, 1, 1))
    assert verdict.confidence == pytest.approx(5 / 7)


@pytest.mark.parametrize(
    ("judges", "options", "message"),
    [
        ([], {}, "Ensemble needs at least one judge"),
        (passes, {}, r"takes a list of judges; for one judge write Ensemble\(\[judge\]\)"),
        (Says(), {}, r"takes a list of judges"),
        ([5], {}, "give a jury, another Judge or a function of a Case, not int"),
        ([NotEmpty], {}, r"not the class NotEmpty; a judge is NotEmpty\(\)"),
        ("openai:gpt-4o", {}, "takes a list of judges"),
        ([lambda: True], {}, "takes one Case"),
        ([passes], {"schedule": "early_stp"}, r"unknown schedule 'early_stp'\. Did you mean 'early_stop'\?"),
        ([passes], {"band_on": "pair"}, r"Did you mean 'pairs'\?"),
        ([passes], {"juror_timeout": 0}, "timeout is a positive number of seconds"),
        ([passes], {"weights": [1, 2]}, "2 weights for 1 judgments; give one weight per judgment"),
        ([passes], {"weights": [0]}, "all weights are zero"),
        ([passes], {"weights": {"pases": 2}}, r"unknown juror in weights 'pases'\. Did you mean 'passes'\?"),
        ([passes], {"voting": "majorty"}, r"Did you mean 'majority'\?"),
        (
            [passes],
            {"shedule": "parallel"},
            r"option of Ensemble 'shedule'\. Did you mean 'schedule'\? Known: band_on,",
        ),
        ([passes], {"requird": [0]}, r"Did you mean 'required'\? Known: .*, disagree_label, .*, weights\."),
        ([passes], {"requird": [0], "voting": Majority()}, r"Did you mean 'required'\?"),
        ([passes], {"requird": [0], "voting": any}, r"Did you mean 'required'\?"),
        ([passes], {"strategy": "majority"}, "the argument strategy= is called voting= here"),
        ([passes], {"vote": "majority"}, "the argument vote= is called voting= here"),
        ([passes], {"threshold": 0.5}, "unknown option of majority 'threshold'"),
        ([passes], {"voting": Majority(), "tie": "pass"}, r"give tie to Majority\(\.\.\.\) itself"),
        ([passes], {"voting": "bayes"}, "bayes needs reliabilities="),
        ([passes], {"voting": "bayes", "reliabilities": {"p": 0.9}}, "no reliability for passes; it knows p"),
        ([passes], {"voting": "bayes", "reliabilities": [0.9, 0.8]}, "2 reliabilities for 1 jurors"),
    ],
)
def test_what_cannot_work_is_refused_when_the_jury_is_built(judges, options, message):
    with pytest.raises(ConfigurationError, match=message):
        Ensemble(judges, **options)


def breaks(case):
    raise ConnectionError("no line")


@pytest.mark.parametrize("voting", ["majority", "unanimous", "average", "median", "quorum", "weighted", "k_veto"])
def test_an_outage_is_no_opinion(voting):
    verdict = Ensemble([breaks, breaks, breaks], voting=voting, **({"k": 1} if voting == "k_veto" else {})).judge(
        answer="a"
    )
    assert (verdict.status, verdict.confidence, verdict.tally.eligible) == (Status.ERROR, None, 0)
    assert verdict.reasoning == "3 of 3 judges broke, and no other juror could say"
    assert verdict.error == "breaks: ConnectionError: no line"


def test_told_that_errors_are_fails_an_outage_is_one():
    assert Ensemble([breaks, breaks], errors="fail").judge(answer="a").status is Status.FAIL


def test_broken_jurors_that_turn_a_verdict_make_it_need_review():
    verdict = Ensemble([passes, breaks, breaks]).judge(answer="a")
    assert (verdict.status, verdict.tally.errors_decided, verdict.needs_review) == (Status.FAIL, True, True)
    assert verdict.reasoning == "2 of 3 voted FAIL, 2 of them by breaking"
    assert "jurors that broke turned this verdict: needs review" in str(verdict)
    assert Ensemble([passes, passes, passes, breaks]).judge(answer="a").tally.errors_decided is False
    assert Verdict.from_json(verdict.to_json()).tally.errors_decided is True


def test_of_takes_the_judges_one_by_one():
    jury = Ensemble([passes, fails, passes], voting="average", threshold=0.6, name="panel")
    verdict = jury.judge(CASE)
    assert (verdict.status, verdict.score, verdict.critic) == (Status.PASS, pytest.approx(2 / 3), "panel")
    assert jury.voting_kwargs == {"threshold": 0.6}


def test_aggregate_votes_over_judgments_obtained_elsewhere():
    jury = Ensemble([passes, passes, fails], voting="weighted", weights=[1, 1, 5])
    given_ = [Judgment("PASS"), Judgment("PASS"), Judgment("FAIL", model="gpt-4o")]
    verdict = jury.aggregate(given_, generator="gpt-5")
    assert (verdict.status, verdict.same_family, verdict.voting) == (Status.FAIL, True, "weighted")
    assert jury.judge(CASE).status is Status.FAIL
    with pytest.raises(ConfigurationError, match="3 weights for 2 judgments"):
        jury.aggregate(given_[:2])
    assert Ensemble([passes]).aggregate(given_).status is Status.PASS


def test_aggregate_gives_what_judging_gave():
    jury = Ensemble([passes, fails, Breaks(), Says("ABSTAIN", reasoning="cannot say"), Says(score=0.7)], tie="pass")
    verdict = jury.judge(CASE)
    again = jury.aggregate(verdict.judgments)
    assert (again.status, again.tally, again.judgments) == (verdict.status, verdict.tally, verdict.judgments)


def test_a_voting_function_that_raises_loses_no_judgment():
    def rule(judgments):
        raise RuntimeError("division by zero or so")

    usage = Usage(calls=1, cost_usd=0.5)
    verdict = Ensemble([Says(usage=usage), Breaks()], voting=rule).judge(CASE)
    assert (verdict.status, verdict.error) == (Status.ERROR, "RuntimeError: division by zero or so")
    assert [judgment.status for judgment in verdict.judgments] == ["PASS", "ERROR"]
    assert (verdict.tally.errors, verdict.tally.eligible, verdict.voting) == (1, 0, "rule")
    assert verdict.usage.cost_usd == 0.5


def test_a_voting_function_that_returns_nonsense_loses_no_judgment():
    verdict = Ensemble([passes], voting=lambda judgments: None).judge(CASE)
    assert verdict.status is Status.ERROR
    assert "return True or False" in verdict.error
    assert len(verdict.judgments) == 1


def test_an_error_counts_as_a_fail_among_judges_and_propagates_among_juries():
    assert Ensemble([passes, passes, Breaks()]).judge(CASE).status is Status.PASS
    broken = Ensemble([Breaks()], errors="propagate")
    juries = [Ensemble([passes]), Ensemble([passes]), broken]
    for jury in (Ensemble(juries), combine(*juries)):
        verdict = jury.judge(CASE)
        assert (verdict.status, verdict.tally.eligible, len(verdict.judgments)) == (Status.ERROR, 0, 3)
    assert Ensemble([*juries[:2], Breaks()]).judge(CASE).status is Status.PASS
    assert combine(*juries, errors="fail").judge(CASE).status is Status.PASS
    assert Ensemble(juries, errors="ignore").judge(CASE).status is Status.PASS
    assert Ensemble(juries, voting=Majority(errors="abstain")).judge(CASE).status is Status.PASS
    assert combine(*juries, voting=Majority(errors="ignore")).judge(CASE).status is Status.PASS


def test_combine_votes_by_majority_unless_told_otherwise():
    yes, no = Ensemble([passes]), Ensemble([fails])
    assert combine(yes, yes, no).judge(CASE).passed
    assert not combine(yes, yes, no, voting=Unanimous()).judge(CASE).passed
    assert combine(yes, no, voting="weighted_average", weights=[3, 1]).judge(CASE).score == 0.75


def test_juries_nest_and_keep_every_opinion():
    trio = Ensemble([Says(usage=Usage(calls=1)), Says(usage=Usage(calls=1)), Says("FAIL")], name="trio")
    middle = Ensemble([trio, trio, fails], name="middle")
    verdict = Ensemble([middle, fails, passes], name="top").judge(CASE)
    assert verdict.status is Status.PASS
    assert list(verdict.by_name) == ["middle", "fails", "passes"]
    assert list(verdict.by_name["middle"].by_name) == ["trio", "trio-2", "fails"]
    assert len(verdict.jurors()) == 3 + 3 + 1 + 2
    assert verdict.usage.calls == 4
    assert Ensemble([middle, fails, passes]).size == 9
    assert [isinstance(judgment, Verdict) for judgment in verdict.judgments] == [True, False, False]


def test_a_juror_of_the_generators_family_deep_inside_is_found():
    inner = Ensemble([Says(model="claude-opus-4-7"), Says("FAIL", model="gpt-4o")])
    verdict = Ensemble([Ensemble([inner]), Says(model="gemini-2.5-pro")]).judge("?", generator="claude-sonnet-4-5")
    assert verdict.same_family
    assert not Ensemble([inner]).judge("?", generator="qwen-2.5").same_family


def test_the_band_is_made_of_pairs_or_of_the_modal_share():
    jurors = [passes, passes, fails]
    assert Ensemble(jurors).judge(CASE).agreement_band == "low"
    verdict = Ensemble(jurors, band_on="share").judge(CASE)
    assert (verdict.agreement_band, verdict.needs_review) == ("medium", False)
    assert Ensemble([passes]).judge(CASE).agreement_band is None


def test_plain_juries_never_touch_a_loop():
    threads = []
    jury = Ensemble([lambda case: threads.append(threading.get_ident()) or True] * 2)
    assert jury.inline
    jury.judge(CASE)
    assert set(threads) == {threading.get_ident()}
    assert not Ensemble([passes, Waits(0)]).inline
    assert not Ensemble([passes], juror_timeout=1).inline


def test_a_jury_judges_inside_a_running_loop_too():
    async def notebook():
        return Ensemble([Waits(0), passes]).judge(CASE), await Ensemble([Waits(0), passes]).ajudge(CASE)

    verdicts = asyncio.run(notebook())
    assert [verdict.status for verdict in verdicts] == ["PASS", "PASS"]


def test_the_same_jury_may_be_asked_from_many_threads():
    jury = Ensemble([Waits(0), passes, lambda case: case.answer == "yes"], voting="unanimous")
    found = {}

    def ask(n):
        found[n] = jury.judge(answer="yes" if n % 2 else "no").passed

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: bool(n % 2) for n in range(16)}


def test_a_jury_keeps_its_jurors_apart_from_the_list_it_was_given():
    jurors = [passes, passes]
    jury = Ensemble(jurors)
    jurors.append(fails)
    assert len(jury.members) == 2
    assert Ensemble(juror for juror in jurors).names == ("passes", "passes-2", "fails")


def test_the_cost_of_a_jury_is_that_of_all_its_jurors():
    dear, cheap = Says(), Says()
    dear.cost, cheap.cost = 2.0, 0.5
    assert Ensemble([dear, Ensemble([cheap, cheap])]).cost == 3.0


@pytest.mark.parametrize("schedule", ["parallel", "sequential", "early_stop"])
def test_judging_twice_gives_the_same_canonical_verdict(schedule):
    jury = Ensemble([passes, Breaks(), Says(score=0.3, confidence=0.4)], schedule=schedule)
    assert jury.judge(CASE).canonical_json() == jury.judge(CASE).canonical_json()


def test_full_disagreement_stands_in_the_file():
    verdict = Ensemble([passes, fails]).judge(answer="a")
    assert verdict.to_dict()["agreement"] == 0.0


def test_a_mapping_gives_jurors_their_names():
    def check(case):
        return case.answer == "yes"

    jury = Ensemble({"build": check, "tests": lambda case: True}, weights={"tests": 2}, voting="weighted_average")
    verdict = jury.judge(answer="no")
    assert (jury.names, jury.weights) == (("build", "tests"), (1.0, 2.0))
    assert [(name, judgment.passed) for name, judgment in verdict.by_name.items()] == [
        ("build", False),
        ("tests", True),
    ]
    assert verdict.score == pytest.approx(2 / 3)


def test_one_judge_may_have_two_names_in_a_jury():
    same = judge(lambda case: True)
    assert Ensemble({"first": same, "second": same}).judge(answer="x").by_name.keys() == {"first", "second"}
    assert same.name == ""


@pytest.mark.parametrize(
    ("judges", "said"),
    [
        ({}, "at least one judge"),
        ({3: bool}, "3 is not a name"),
        ({" ": bool}, "' ' is not a name"),
        ({"a": 3}, "not int"),
    ],
)
def test_a_mapping_of_no_judges_is_refused(judges, said):
    with pytest.raises(ConfigurationError, match=said):
        Ensemble(judges)


def test_weights_without_a_rule_decide():
    judges = {"build": lambda case: False, "lint": lambda case: False, "tests": lambda case: True}
    heavy = Ensemble(judges, weights={"tests": 3})
    assert (heavy.judge(answer="x").status, heavy.voting) == (Status.PASS, "weighted")
    assert Ensemble(judges, weights={"tests": 3}, voting="majority").judge(answer="x").status is Status.FAIL
    assert Ensemble(judges).voting == "majority"


def test_a_verdict_without_votes_gives_the_reasons_of_its_jurors():
    def silent(why):
        return Judge.from_function(lambda case: Judgment("ABSTAIN", reasoning=why))

    same = Ensemble([silent("no contexts"), silent("no contexts")]).judge(answer="a")
    assert same.reasoning == "no juror voted: no contexts"
    other = Ensemble([silent("no contexts"), silent("the budget is spent")]).judge(answer="a")
    assert other.reasoning == "no juror voted: no contexts; the budget is spent"
    assert (
        Ensemble([silent("no contexts"), lambda case: True]).judge(answer="a").reasoning
        == "the only vote of 2 jurors is PASS"
    )
