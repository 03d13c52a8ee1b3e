"""Stand-ins: who votes when a juror breaks, and how the verdict says so."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import (
    Budget,
    CascadedJury,
    ConfigurationError,
    Critic,
    Ensemble,
    Judge,
    Judgment,
    Limits,
    ModelError,
    Status,
    Store,
    Tier,
    Usage,
    Verdict,
    abstain,
    all_of,
    combine,
    judge,
)
from jury_adapters.core.stand_in import seated
from jury_adapters.testing import ScriptedModel, a_case, no_waiting

CASE = a_case()
YES, NO = '{"reasoning": "r", "answer": "YES"}', '{"reasoning": "r", "answer": "NO"}'


def fragile(name="fragile", why="no line"):
    @judge(name=name)
    def breaks(case):
        raise ConnectionError(why)

    return breaks


def says(outcome, name="sturdy", cost=0.0):
    return judge(name=name, cost=cost)(lambda case: outcome)


def critic(name, script, model="scripted", **options):
    scripted = ScriptedModel(script, model=model, delay=0.001)
    return Critic(name, scripted, rubric="correctness_without_reference", limits=Limits(attempts=1), **options)


DOWN = [ModelError("down", "server")]


def asked(critic):
    return len(critic.model.inner.calls)


# Who votes


def test_the_stand_in_votes_in_the_jurors_seat_and_the_verdict_says_so():
    verdict = Ensemble([fragile().backed_by(says(True)), says(True, "other")]).judge(CASE)
    first = verdict.by_name["fragile"]
    assert (verdict.status, first.status, first.stand_in) == (Status.PASS, Status.PASS, "sturdy")
    assert first.metadata["stand_in"] == {"judge": "sturdy", "error": "ConnectionError: no line"}
    assert verdict.stand_ins == {"fragile": "sturdy"}
    assert "PASS fragile [stand-in: sturdy]" in str(verdict)
    assert "stand-ins voted: sturdy for fragile" in str(verdict)
    assert "fragile [stand-in: sturdy]" in verdict._repr_html_()
    assert verdict.to_dict()["stand_ins"] == {"fragile": "sturdy"}
    assert Verdict.from_json(verdict.to_json()) == verdict
    assert Verdict.from_json(verdict.to_json()).stand_ins == verdict.stand_ins


@pytest.mark.parametrize("outcome", [True, False, abstain("no contexts"), Judgment(None, label="KEEP")])
def test_a_juror_that_does_not_break_keeps_its_seat(outcome):
    calls = []
    judgment = says(outcome, "own").backed_by(calls.append).judge(CASE)
    assert (judgment.critic, judgment.stand_in, calls) == ("own", None, [])
    verdict = Ensemble([says(outcome, "own").backed_by(fragile())]).judge(CASE)
    assert verdict.stand_ins == {}
    assert "stand" not in verdict.to_json() + str(verdict)


def test_when_both_break_it_is_an_error_with_both_errors():
    verdict = Ensemble([fragile().backed_by(fragile("spare", "no power"))]).judge(CASE)
    (judgment,) = verdict.judgments
    assert judgment.status is Status.ERROR
    assert judgment.error == "ConnectionError: no line; its stand-in spare: ConnectionError: no power"
    assert verdict.stand_ins == {}


@pytest.mark.parametrize(
    "backed",
    [fragile().backed_by(fragile("b")).backed_by(says(True, "c")),
     fragile().backed_by(fragile("b").backed_by(says(True, "c")))],
)  # fmt: skip
def test_stand_ins_have_stand_ins(backed):
    judgment = backed.judge(CASE)
    assert (judgment.critic, judgment.status, judgment.stand_in) == ("fragile", Status.PASS, "c")
    assert seated(backed).name == "fragile"


def test_names_stay_those_of_the_seats():
    breaks = Judge.from_function(lambda case: 1 / 0)
    jury = Ensemble([fragile("x").backed_by(says(True)).named("y"), breaks.backed_by(says(True))])
    assert jury.names == ("y", "Judge#2")
    assert jury.judge(CASE).stand_ins == {"y": "sturdy", "Judge#2": "sturdy"}


def test_a_stand_in_of_the_same_name_is_told_by_its_model():
    first, second = critic("faithful", DOWN), critic("faithful", [YES], model="claude-sonnet-4-5")
    judgment = first.backed_by(second).judge(CASE)
    assert (judgment.stand_in, judgment.model, judgment.family) == (
        "claude-sonnet-4-5",
        "claude-sonnet-4-5",
        "anthropic",
    )


def test_warnings_go_by_the_model_that_voted():
    case = a_case(generator="claude-sonnet-4-5")
    first = critic("one", DOWN, model="gpt-4o-mini")
    backed = first.backed_by(critic("two", [YES], model="claude-haiku-4-5"))
    assert Ensemble([backed, says(True)]).judge(case).same_family
    other = critic("one", [YES], model="gpt-4o-mini").backed_by(critic("two", [YES], model="claude-haiku-4-5"))
    assert not Ensemble([other, says(True)]).judge(case).same_family


@pytest.mark.parametrize("stand_in", [None, "sturdy", 3])
def test_a_stand_in_is_a_judge_or_a_function(stand_in):
    with pytest.raises(ConfigurationError, match="give a jury, another Judge or a function"):
        fragile().backed_by(stand_in)


# In juries


def test_in_tiers_chains_and_nested_juries():
    panel = Ensemble([fragile().backed_by(says(True)), says(True, "b")], name="panel")
    verdict = combine(panel, Ensemble([says(True)])).judge(CASE)
    assert verdict.stand_ins == {"panel > fragile": "sturdy"}
    assert "[stand-in: sturdy]" in str(verdict)
    cascade = CascadedJury([Tier("guards", panel, "reject_on_any_fail"), Tier("last", fragile().backed_by(says(True)))])
    assert cascade.judge(CASE).stand_ins == {"guards > fragile": "sturdy", "last": "sturdy"}
    assert "stand-ins voted: sturdy for guards > fragile, sturdy for last" in str(cascade.judge(CASE))
    assert all_of(says(True, "a"), fragile().backed_by(says(True))).judge(CASE).stand_ins == {"fragile": "sturdy"}


def test_a_jury_stands_in_for_a_juror_and_a_juror_for_a_jury():
    panel = Ensemble([says(True, "a"), says(True, "b")], name="panel")
    verdict = Ensemble([fragile().backed_by(panel)]).judge(CASE)
    assert verdict.stand_ins == {"fragile": "panel"}
    assert isinstance(verdict.judgments[0], Verdict)
    broken = Ensemble([fragile()], errors="propagate", name="broken")
    assert Ensemble([broken.backed_by(says(True))]).judge(CASE).stand_ins == {"broken": "sturdy"}


def test_a_jury_of_backed_juries_lets_an_error_through_like_one_of_juries():
    broken = Ensemble([fragile()], errors="propagate", name="broken")
    assert Ensemble([broken.backed_by(broken), Ensemble([says(True)])]).judge(CASE).status is Status.ERROR


def test_an_early_stopping_jury_settles_on_stand_ins_and_asks_the_cheapest_first():
    jury = Ensemble(
        [says(True, "dear", cost=9), fragile("a").backed_by(says(True)), fragile("b").backed_by(says(True))],
        schedule="early_stop",
        on="status",
    )
    verdict = jury.judge(CASE)
    assert (verdict.status, verdict.skipped, verdict.calls_saved) == (Status.PASS, ("dear",), 1)
    assert verdict.stand_ins == {"a": "sturdy", "b": "sturdy"}


def test_a_backed_early_stopping_jury_in_a_tier_asks_everyone():
    guards = Ensemble([says(True, "a"), says(True, "b"), says(False, "c")], schedule="early_stop")
    jury = CascadedJury([Tier("guards", guards.backed_by(fragile()), "reject_on_any_fail"), Tier("last", says(True))])
    assert jury.judge(CASE).decision == "rejected"


def test_a_time_limit_holds_for_each_of_the_two():
    waited = []

    @judge(name="slow")
    async def slow(case):
        await asyncio.sleep(60)
        waited.append(case)

    for backed in (
        Ensemble([slow.backed_by(says(True))], timeout=0.05),
        Ensemble([slow.backed_by(says(True)).with_timeout(0.05)]),
        Ensemble([slow.with_timeout(0.05).backed_by(says(True))]),
    ):
        verdict = backed.judge(CASE)
        assert verdict.stand_ins == {"slow": "sturdy"}
        assert verdict.judgments[0].metadata["stand_in"]["error"] == "timeout"
    judgment = slow.backed_by(slow.named("slower")).with_timeout(0.05).judge(CASE)
    assert judgment.error == "timeout; its stand-in slower: timeout"
    assert waited == []


def test_a_cancelled_juror_has_no_stand_in():
    calls = []

    @judge(name="slow")
    async def slow(case):
        await asyncio.sleep(60)

    async def run():
        task = asyncio.create_task(slow.backed_by(lambda case: calls.append(1)).ajudge(CASE))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert calls == []


# What it takes


def test_usage_of_both_adds_up_and_estimates_count_both():
    spent = Usage(10, 5, calls=1, cost_usd=0.5)

    @judge(name="half")
    def half(case):
        return Judgment(Status.ERROR, error="cut off", usage=spent)

    backed = half.backed_by(says(Judgment(Status.PASS, usage=spent)))
    assert backed.judge(CASE).usage == spent + spent
    both = half.backed_by(says(Judgment(Status.ERROR, error="e", usage=spent)))
    assert both.judge(CASE).usage == spent + spent
    first, second = critic("a", DOWN), critic("b", [YES])
    backed = first.backed_by(second)
    assert backed.estimate(CASE) == first.estimate(CASE) + second.estimate(CASE)
    assert backed.estimate_cost([CASE]).calls == 2
    assert Ensemble([backed, critic("c", [YES], model="m3")]).estimate_cost([CASE]).calls == 3
    assert backed.size == 1
    assert backed.priced == (first.priced and second.priced)


def test_a_budget_that_is_spent_is_no_error_and_nobody_stands_in():
    first, second = critic("a", DOWN), critic("b", [YES])
    with no_waiting():
        none = list(first.backed_by(second).judge_many([CASE], budget=Budget(calls=0)))
        one = list(first.backed_by(second).judge_many([CASE], budget=Budget(calls=1)))
    assert [(j.status, j.error) for j in none + one] == [(Status.ABSTAIN, "budget_exhausted")] * 2
    assert (asked(first), asked(second)) == (1, 0)


def test_a_store_keeps_each_for_itself_and_asks_nobody_twice(tmp_path):
    first, second = critic("a", [*DOWN, YES], model="m1"), critic("b", [NO], model="m2")
    with Store(tmp_path / "runs.db") as store:
        verdicts = [next(Ensemble([first.backed_by(second)]).judge_many([CASE], store=store)) for _ in range(3)]
        assert [dict(verdict.stand_ins) for verdict in verdicts] == [{"a": "b"}, {}, {}]
        assert (asked(first), asked(second)) == (2, 1)
        assert store.count() >= 2
        plain = list(Ensemble([second]).judge_many([CASE], store=store))  # a seat of its own is an opinion of its own
    assert asked(second) == 2
    assert plain[0].stand_ins == {}


def test_one_stand_in_for_two_jurors_gives_two_opinions():
    spare = critic("spare", [YES, NO])
    jury = Ensemble([critic("a", DOWN, model="m1").backed_by(spare), critic("b", DOWN, model="m2").backed_by(spare)])
    verdict = jury.judge(CASE)
    assert asked(spare) == 2
    assert verdict.stand_ins == {"a": "spare", "b": "spare"}
    assert verdict.disagreement


def warned(verdict):
    again = Verdict.from_json(verdict.to_json())
    assert (again.repeated_voters, again.panel_warning) == (verdict.repeated_voters, verdict.panel_warning)
    assert (f"warning: {verdict.panel_warning}" in str(verdict)) == (verdict.panel_warning is not None)
    return verdict.repeated_voters


def test_a_stand_in_that_votes_in_two_seats_is_no_second_independent_opinion():
    sturdy = says(True)
    verdict = Ensemble([fragile("a").backed_by(sturdy), fragile("b").backed_by(sturdy), says(True, "c")]).judge(CASE)
    assert warned(verdict) == {"sturdy": 2}
    assert verdict.panel_warning == "sturdy voted in 2 seats, as a stand-in: its votes are hardly 2 opinions"
    assert verdict.to_dict()["panel_warning"] == verdict.panel_warning
    both = critic("a", DOWN, model="gpt-4o"), critic("b", DOWN, model="gpt-4o-mini")
    spare = critic("spare", [YES, YES], model="claude-haiku-4-5")
    verdict = Ensemble([juror.backed_by(spare) for juror in both]).judge(CASE)
    assert warned(verdict) == {"spare": 2}
    assert verdict.panel_warning.startswith("all jurors are of one vendor family (anthropic) and may share")
    assert verdict.panel_warning.endswith("; spare voted in 2 seats, as a stand-in: its votes are hardly 2 opinions")


def test_who_votes_once_is_one_opinion_whatever_it_is_called():
    sturdy = says(True)
    one = [fragile("a").backed_by(sturdy), says(True, "b").backed_by(sturdy), says(True, "c")]
    unnamed = [fragile("a").backed_by(lambda case: True), fragile("b").backed_by(lambda case: True)]
    silent = [fragile("a").backed_by(sturdy), fragile("b").backed_by(says(abstain("?")))]
    models = [critic("a", DOWN, model="m1").backed_by(critic("x", [YES], model="m2")),
              critic("b", DOWN, model="m3").backed_by(critic("x", [YES], model="m4"))]  # fmt: skip
    samples = [critic("juror", [YES, YES], model="m1").named("juror")] * 2
    for jurors in (one, unnamed, silent, models, samples):
        assert warned(Ensemble(jurors).judge(CASE)) == {}


def test_a_stand_in_with_a_seat_of_its_own_is_warned_of_when_the_jury_is_built_and_when_it_votes_twice():
    sturdy = says(True)
    with pytest.warns(UserWarning, match="sturdy has a seat of its own and stands in for fragile") as told:
        jury = Ensemble([fragile().backed_by(sturdy), sturdy, says(True, "c")])
    assert told[0].filename == __file__
    verdict = jury.judge(CASE)
    assert warned(verdict) == {"sturdy": 2}
    spare = critic("spare", [YES], model="m2")
    chain = critic("a", [YES]).backed_by(critic("b", [YES]).backed_by(critic("spare", [YES], model="m2")))
    with pytest.warns(UserWarning, match="spare has a seat of its own and stands in for a"):
        Ensemble([chain, spare.backed_by(says(True))])
    Ensemble([says(True, "a").backed_by(sturdy), says(True, "b").backed_by(sturdy)])  # each breaks seldom
    Ensemble([sturdy.backed_by(sturdy), says(True, "b")])  # asked again, in the one seat it has


def test_a_jury_that_stands_in_is_one_voter_and_nested_juries_are_opened():
    panel = Ensemble([says(True, "x"), says(True, "y")], name="panel")
    sturdy = says(True)
    assert warned(Ensemble([fragile("a").backed_by(panel), fragile("b").backed_by(panel)]).judge(CASE)) == {"panel": 2}
    nested = combine(Ensemble([fragile("a").backed_by(sturdy)]), Ensemble([fragile("b").backed_by(sturdy)]))
    assert warned(nested.judge(CASE)) == {"sturdy": 2}
    cascade = CascadedJury([
        Tier("first", fragile("a").backed_by(sturdy), "escalate_on_split"),
        Tier("last", fragile("b").backed_by(sturdy)),
    ])  # fmt: skip
    assert warned(cascade.judge(CASE)) == {}  # in different tiers: the first has not decided


def test_a_juror_in_two_seats_gives_two_opinions_whoever_backs_it():
    juror = critic("juror", [YES, NO], model="m1")
    others = critic("b", [YES], model="m2"), critic("c", [YES], model="m3")
    verdict = Ensemble([juror, juror.backed_by(others[0]), juror.backed_by(others[1])]).judge(CASE)
    assert asked(juror) == 3
    assert len(verdict.judgments) == 3


def test_fingerprints_tell_pairs_apart():
    a, b, c = critic("a", [YES], model="m1"), critic("b", [YES], model="m2"), critic("c", [YES], model="m3")
    prints = {a.fingerprint, b.fingerprint, a.backed_by(b).fingerprint, a.backed_by(c).fingerprint,
              b.backed_by(a).fingerprint}  # fmt: skip
    assert len(prints) == 5
    assert a.backed_by(b).fingerprint == a.backed_by(b).fingerprint
    assert a.backed_by(says(True)).fingerprint is None


# Whatever is nested in whatever


class Told(Judge):
    def __init__(self, name, outcome, waits):
        self.name, self.outcome, self.waits, self.calls = name, outcome, waits, 0

    async def assess(self, case):
        self.calls += 1
        if self.waits:
            await asyncio.sleep(0)
        if self.outcome is Status.ERROR:
            raise ValueError("broken")
        usage = Usage(calls=1, cost_usd=1.0)
        return Judgment(self.outcome, usage=usage, reasoning="told")


leaves = st.builds(Told, st.sampled_from("abcd"), st.sampled_from(list(Status)), st.booleans())
trees = st.recursive(leaves, lambda inner: st.tuples(inner, inner), max_leaves=6)


def built(tree):
    return built(tree[0]).backed_by(built(tree[1])) if isinstance(tree, tuple) else tree


def leaves_of(tree):
    return [*leaves_of(tree[0]), *leaves_of(tree[1])] if isinstance(tree, tuple) else [tree]


@given(trees)
def test_the_first_that_does_not_break_votes_and_nobody_after_it_is_asked(tree):
    chain = leaves_of(tree)
    judgment = built(tree).judge(CASE)
    working = next((position for position, leaf in enumerate(chain) if leaf.outcome is not Status.ERROR), None)
    last = len(chain) - 1 if working is None else working
    assert [leaf.calls for leaf in chain] == [int(position <= last) for position in range(len(chain))]
    assert judgment.critic == chain[0].name
    assert judgment.usage.calls == (working is not None)
    if working is None:
        assert judgment.status is Status.ERROR
        assert judgment.error.count("ValueError: broken") == len(chain)
        assert judgment.stand_in is None
    else:
        assert judgment.status is chain[working].outcome
        assert (judgment.stand_in is None) == (working == 0)
    verdict = Ensemble([built(tree), Told("other", Status.PASS, False)]).judge(CASE)
    assert bool(verdict.stand_ins) == (judgment.stand_in is not None)
    assert Verdict.from_json(verdict.to_json()).canonical_json() == verdict.canonical_json()
