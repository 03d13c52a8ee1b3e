"""Fallbacks: who votes when a juror breaks, and how the verdict says so."""

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
    judge,
)
from jury_adapters.compat.juries import combine
from jury_adapters.core.fallbacks import without_fallbacks
from jury_adapters.testing import ScriptedModel, a_case, no_waiting
from jury_adapters.voting import all_of

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
    return Critic(scripted, "correctness_without_reference", name=name, limits=Limits(attempts=1), **options)


DOWN = [ModelError("down", "server")]


def asked(critic):
    return len(critic.model.inner.calls)


# Who votes


def test_the_fallback_votes_for_the_juror_and_the_verdict_says_so():
    verdict = Ensemble([fragile().with_fallbacks([says(True)]), says(True, "other")]).judge(CASE)
    first = verdict.by_name["fragile"]
    assert (verdict.status, first.status, first.fallback_used) == (Status.PASS, Status.PASS, "sturdy")
    assert first.metadata["fallback_used"] == {"judge": "sturdy", "error": "ConnectionError: no line"}
    assert verdict.fallbacks_used == {"fragile": "sturdy"}
    assert "PASS fragile [fallback: sturdy]" in str(verdict)
    assert "fallbacks voted: sturdy for fragile" in str(verdict)
    assert "fragile [fallback: sturdy]" in verdict._repr_html_()
    assert verdict.to_dict()["fallbacks_used"] == {"fragile": "sturdy"}
    assert Verdict.from_json(verdict.to_json()) == verdict
    assert Verdict.from_json(verdict.to_json()).fallbacks_used == verdict.fallbacks_used


@pytest.mark.parametrize("outcome", [True, False, abstain("no contexts"), Judgment(None, label="KEEP")])
def test_a_juror_that_does_not_break_votes_itself(outcome):
    calls = []
    judgment = says(outcome, "own").with_fallbacks([calls.append]).judge(CASE)
    assert (judgment.critic, judgment.fallback_used, calls) == ("own", None, [])
    verdict = Ensemble([says(outcome, "own").with_fallbacks([fragile()])]).judge(CASE)
    assert verdict.fallbacks_used == {}
    assert "fallback" not in verdict.to_json() + str(verdict)


def test_when_both_break_it_is_an_error_with_both_errors():
    verdict = Ensemble([fragile().with_fallbacks([fragile("spare", "no power")])]).judge(CASE)
    (judgment,) = verdict.judgments
    assert judgment.status is Status.ERROR
    assert judgment.error == "ConnectionError: no line; its fallback spare: ConnectionError: no power"
    assert verdict.fallbacks_used == {}


@pytest.mark.parametrize(
    "backed",
    [fragile().with_fallbacks([fragile("b")]).with_fallbacks([says(True, "c")]),
     fragile().with_fallbacks([fragile("b").with_fallbacks([says(True, "c")])])],
)  # fmt: skip
def test_fallbacks_have_fallbacks(backed):
    judgment = backed.judge(CASE)
    assert (judgment.critic, judgment.status, judgment.fallback_used) == ("fragile", Status.PASS, "c")
    assert without_fallbacks(backed).name == "fragile"


def test_names_stay_those_of_the_jurors():
    breaks = Judge.from_function(lambda case: 1 / 0)
    jury = Ensemble([fragile("x").with_fallbacks([says(True)]).named("y"), breaks.with_fallbacks([says(True)])])
    assert jury.names == ("y", "Judge#2")
    assert jury.judge(CASE).fallbacks_used == {"y": "sturdy", "Judge#2": "sturdy"}


def test_a_fallback_of_the_same_name_is_reported_by_its_model():
    first, second = critic("faithful", DOWN), critic("faithful", [YES], model="claude-sonnet-4-5")
    judgment = first.with_fallbacks([second]).judge(CASE)
    assert (judgment.fallback_used, judgment.model, judgment.family) == (
        "claude-sonnet-4-5",
        "claude-sonnet-4-5",
        "anthropic",
    )


def test_warnings_go_by_the_model_that_voted():
    case = a_case(generator="claude-sonnet-4-5")
    first = critic("one", DOWN, model="gpt-4o-mini")
    backed = first.with_fallbacks([critic("two", [YES], model="claude-haiku-4-5")])
    assert Ensemble([backed, says(True)]).judge(case).same_family
    other = critic("one", [YES], model="gpt-4o-mini").with_fallbacks([critic("two", [YES], model="claude-haiku-4-5")])
    assert not Ensemble([other, says(True)]).judge(case).same_family


@pytest.mark.parametrize("other", [None, "sturdy", 3])
def test_a_fallback_is_a_judge_or_a_function(other):
    with pytest.raises(ConfigurationError, match="give a jury, another Judge or a function"):
        fragile().with_fallbacks([other])


@pytest.mark.parametrize("wrong", [lambda case: True, says(True), "sturdy", None, {"sturdy": says(True)}])
def test_fallbacks_are_a_list(wrong):
    with pytest.raises(ConfigurationError, match=r"takes a list of judges.*write judge\.with_fallbacks\(\[other\]\)"):
        fragile().with_fallbacks(wrong)


def test_several_fallbacks_are_one_list_too():
    with pytest.raises(ConfigurationError, match=r"fallbacks are one list: judge\.with_fallbacks\(\[first, second\]\)"):
        fragile().with_fallbacks(says(True), says(False))


def test_an_empty_list_of_fallbacks_is_refused():
    with pytest.raises(ConfigurationError, match=r"no judge to ask: write judge\.with_fallbacks\(\[other\]\)"):
        fragile().with_fallbacks([])


def test_fallbacks_are_asked_in_order_until_one_answers():
    jury = Ensemble([fragile().with_fallbacks([fragile("b", "no power"), says(False, "c"), says(True, "d")])])
    (judgment,) = jury.judge(CASE).judgments
    assert (judgment.critic, judgment.status, judgment.fallback_used) == ("fragile", Status.FAIL, "c")
    error = "ConnectionError: no line; its fallback b: ConnectionError: no power"
    assert judgment.metadata["fallback_used"] == {"judge": "c", "error": error}
    assert jury.judge(CASE).fallbacks_used == {"fragile": "c"}
    broken = fragile().with_fallbacks([fragile("b", "no power"), fragile("c", "no air")]).judge(CASE)
    assert broken.error == f"{error}; its fallback c: ConnectionError: no air"
    assert broken.reasoning == f"the judge and each fallback broke: {broken.error}"


def test_an_abstention_of_a_fallback_is_an_answer():
    calls = []
    judgment = fragile().with_fallbacks([says(abstain("no contexts"), "b"), calls.append]).judge(CASE)
    assert (judgment.status, judgment.fallback_used, calls) == (Status.ABSTAIN, "b", [])


# In juries


def test_in_tiers_chains_and_nested_juries():
    panel = Ensemble([fragile().with_fallbacks([says(True)]), says(True, "b")], name="panel")
    verdict = combine(panel, Ensemble([says(True)])).judge(CASE)
    assert verdict.fallbacks_used == {"panel > fragile": "sturdy"}
    assert "[fallback: sturdy]" in str(verdict)
    cascade = CascadedJury(
        [Tier("checks", panel, "reject_on_any_fail"), Tier("last", fragile().with_fallbacks([says(True)]))]
    )
    assert cascade.judge(CASE).fallbacks_used == {"checks > fragile": "sturdy", "last": "sturdy"}
    assert "fallbacks voted: sturdy for checks > fragile, sturdy for last" in str(cascade.judge(CASE))
    assert all_of(says(True, "a"), fragile().with_fallbacks([says(True)])).judge(CASE).fallbacks_used == {
        "fragile": "sturdy"
    }


def test_a_jury_is_the_fallback_of_a_juror_and_a_juror_that_of_a_jury():
    panel = Ensemble([says(True, "a"), says(True, "b")], name="panel")
    verdict = Ensemble([fragile().with_fallbacks([panel])]).judge(CASE)
    assert verdict.fallbacks_used == {"fragile": "panel"}
    assert isinstance(verdict.judgments[0], Verdict)
    broken = Ensemble([fragile()], errors="propagate", name="broken")
    assert Ensemble([broken.with_fallbacks([says(True)])]).judge(CASE).fallbacks_used == {"broken": "sturdy"}


def test_a_jury_of_backed_juries_lets_an_error_through_like_one_of_juries():
    broken = Ensemble([fragile()], errors="propagate", name="broken")
    assert Ensemble([broken.with_fallbacks([broken]), Ensemble([says(True)])]).judge(CASE).status is Status.ERROR


def test_an_early_stopping_jury_settles_on_fallbacks_and_asks_the_cheapest_first():
    jury = Ensemble(
        [
            says(True, "dear", cost=9),
            fragile("a").with_fallbacks([says(True)]),
            fragile("b").with_fallbacks([says(True)]),
        ],
        schedule="early_stop",
        on="status",
    )
    verdict = jury.judge(CASE)
    assert (verdict.status, verdict.skipped, verdict.calls_saved) == (Status.PASS, ("dear",), 1)
    assert verdict.fallbacks_used == {"a": "sturdy", "b": "sturdy"}


def test_a_backed_early_stopping_jury_in_a_tier_asks_everyone():
    rules = Ensemble([says(True, "a"), says(True, "b"), says(False, "c")], schedule="early_stop")
    jury = CascadedJury(
        [Tier("rules", rules.with_fallbacks([fragile()]), "reject_on_any_fail"), Tier("last", says(True))]
    )
    assert jury.judge(CASE).decision == "rejected"


def test_a_time_limit_holds_for_each_of_the_two():
    waited = []

    @judge(name="slow")
    async def slow(case):
        await asyncio.sleep(60)
        waited.append(case)

    for backed in (
        Ensemble([slow.with_fallbacks([says(True)])], juror_timeout=0.05),
        Ensemble([slow.with_fallbacks([says(True)]).with_timeout(0.05)]),
        Ensemble([slow.with_timeout(0.05).with_fallbacks([says(True)])]),
    ):
        verdict = backed.judge(CASE)
        assert verdict.fallbacks_used == {"slow": "sturdy"}
        assert verdict.judgments[0].metadata["fallback_used"]["error"] == "timeout"
    judgment = slow.with_fallbacks([slow.named("slower")]).with_timeout(0.05).judge(CASE)
    assert judgment.error == "timeout; its fallback slower: timeout"
    assert waited == []


def test_a_cancelled_juror_has_no_fallback():
    calls = []

    @judge(name="slow")
    async def slow(case):
        await asyncio.sleep(60)

    async def run():
        task = asyncio.create_task(slow.with_fallbacks([lambda case: calls.append(1)]).ajudge(CASE))
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

    backed = half.with_fallbacks([says(Judgment(Status.PASS, usage=spent))])
    assert backed.judge(CASE).usage == spent + spent
    both = half.with_fallbacks([says(Judgment(Status.ERROR, error="e", usage=spent))])
    assert both.judge(CASE).usage == spent + spent
    first, second = critic("a", DOWN), critic("b", [YES])
    backed = first.with_fallbacks([second])
    assert backed.estimate(CASE) == first.estimate(CASE) + second.estimate(CASE)
    assert backed.estimate_cost([CASE]).calls == 2
    assert Ensemble([backed, critic("c", [YES], model="m3")]).estimate_cost([CASE]).calls == 3
    assert backed.size == 1
    assert backed.priced == (first.priced and second.priced)


def test_a_budget_that_is_spent_is_no_error_and_no_fallback_is_asked():
    first, second = critic("a", DOWN), critic("b", [YES])
    with no_waiting():
        none = list(first.with_fallbacks([second]).judge_many([CASE], budget=Budget(max_calls=0)))
        one = list(first.with_fallbacks([second]).judge_many([CASE], budget=Budget(max_calls=1)))
    assert [(j.status, j.error) for j in none + one] == [(Status.ABSTAIN, "budget_exhausted")] * 2
    assert (asked(first), asked(second)) == (1, 0)


def test_a_store_keeps_each_for_itself_and_asks_nobody_twice(tmp_path):
    first, second = critic("a", [*DOWN, YES], model="m1"), critic("b", [NO], model="m2")
    with Store(tmp_path / "runs.db") as store:
        verdicts = [next(Ensemble([first.with_fallbacks([second])]).judge_many([CASE], store=store)) for _ in range(3)]
        assert [dict(verdict.fallbacks_used) for verdict in verdicts] == [{"a": "b"}, {}, {}]
        assert (asked(first), asked(second)) == (2, 1)
        assert store.count() >= 2
        plain = list(Ensemble([second]).judge_many([CASE], store=store))  # as a juror it gives an opinion of its own
    assert asked(second) == 2
    assert plain[0].fallbacks_used == {}


def test_one_fallback_for_two_jurors_gives_two_opinions():
    spare = critic("spare", [YES, NO])
    jury = Ensemble(
        [critic("a", DOWN, model="m1").with_fallbacks([spare]), critic("b", DOWN, model="m2").with_fallbacks([spare])]
    )
    verdict = jury.judge(CASE)
    assert asked(spare) == 2
    assert verdict.fallbacks_used == {"a": "spare", "b": "spare"}
    assert verdict.disagreement


def warned(verdict):
    again = Verdict.from_json(verdict.to_json())
    assert (again.repeated_voters, again.panel_warning) == (verdict.repeated_voters, verdict.panel_warning)
    assert (f"warning: {verdict.panel_warning}" in str(verdict)) == (verdict.panel_warning is not None)
    return verdict.repeated_voters


def test_a_fallback_that_votes_twice_is_no_second_independent_opinion():
    sturdy = says(True)
    verdict = Ensemble(
        [fragile("a").with_fallbacks([sturdy]), fragile("b").with_fallbacks([sturdy]), says(True, "c")]
    ).judge(CASE)
    assert warned(verdict) == {"sturdy": 2}
    assert verdict.panel_warning == "sturdy voted 2 times, as a fallback: its votes are hardly 2 opinions"
    assert verdict.to_dict()["panel_warning"] == verdict.panel_warning
    both = critic("a", DOWN, model="gpt-4o"), critic("b", DOWN, model="gpt-4o-mini")
    spare = critic("spare", [YES, YES], model="claude-haiku-4-5")
    verdict = Ensemble([juror.with_fallbacks([spare]) for juror in both]).judge(CASE)
    assert warned(verdict) == {"spare": 2}
    assert verdict.panel_warning.startswith("all jurors are of one vendor family (anthropic) and may share")
    assert verdict.panel_warning.endswith("; spare voted 2 times, as a fallback: its votes are hardly 2 opinions")


def test_who_votes_once_is_one_opinion_whatever_it_is_called():
    sturdy = says(True)
    one = [fragile("a").with_fallbacks([sturdy]), says(True, "b").with_fallbacks([sturdy]), says(True, "c")]
    unnamed = [fragile("a").with_fallbacks([lambda case: True]), fragile("b").with_fallbacks([lambda case: True])]
    silent = [fragile("a").with_fallbacks([sturdy]), fragile("b").with_fallbacks([says(abstain("?"))])]
    models = [critic("a", DOWN, model="m1").with_fallbacks([critic("x", [YES], model="m2")]),
              critic("b", DOWN, model="m3").with_fallbacks([critic("x", [YES], model="m4")])]  # fmt: skip
    samples = [critic("juror", [YES, YES], model="m1").named("juror")] * 2
    for jurors in (one, unnamed, silent, models, samples):
        assert warned(Ensemble(jurors).judge(CASE)) == {}


def test_a_fallback_that_is_a_juror_is_warned_of_when_the_jury_is_built_and_when_it_votes_twice():
    sturdy = says(True)
    with pytest.warns(UserWarning, match="sturdy is a juror, and also a fallback of fragile") as told:
        jury = Ensemble([fragile().with_fallbacks([sturdy]), sturdy, says(True, "c")])
    assert told[0].filename == __file__
    verdict = jury.judge(CASE)
    assert warned(verdict) == {"sturdy": 2}
    spare = critic("spare", [YES], model="m2")
    chain = critic("a", [YES]).with_fallbacks([critic("b", [YES]).with_fallbacks([critic("spare", [YES], model="m2")])])
    with pytest.warns(UserWarning, match="spare is a juror, and also a fallback of a"):
        Ensemble([chain, spare.with_fallbacks([says(True)])])
    Ensemble([says(True, "a").with_fallbacks([sturdy]), says(True, "b").with_fallbacks([sturdy])])  # each breaks seldom
    Ensemble([sturdy.with_fallbacks([sturdy]), says(True, "b")])  # asked again, as one juror


def test_a_jury_that_is_a_fallback_is_one_voter_and_nested_juries_are_opened():
    panel = Ensemble([says(True, "x"), says(True, "y")], name="panel")
    sturdy = says(True)
    assert warned(
        Ensemble([fragile("a").with_fallbacks([panel]), fragile("b").with_fallbacks([panel])]).judge(CASE)
    ) == {"panel": 2}
    nested = combine(
        Ensemble([fragile("a").with_fallbacks([sturdy])]), Ensemble([fragile("b").with_fallbacks([sturdy])])
    )
    assert warned(nested.judge(CASE)) == {"sturdy": 2}
    cascade = CascadedJury([
        Tier("first", fragile("a").with_fallbacks([sturdy]), "escalate_on_split"),
        Tier("last", fragile("b").with_fallbacks([sturdy])),
    ])  # fmt: skip
    assert warned(cascade.judge(CASE)) == {}  # in different tiers: the first has not decided


def test_a_juror_that_sits_twice_gives_two_opinions_whatever_its_fallbacks():
    juror = critic("juror", [YES, NO], model="m1")
    others = critic("b", [YES], model="m2"), critic("c", [YES], model="m3")
    verdict = Ensemble([juror, juror.with_fallbacks([others[0]]), juror.with_fallbacks([others[1]])]).judge(CASE)
    assert asked(juror) == 3
    assert len(verdict.judgments) == 3


def test_fingerprints_tell_pairs_apart():
    a, b, c = critic("a", [YES], model="m1"), critic("b", [YES], model="m2"), critic("c", [YES], model="m3")
    prints = {a.fingerprint, b.fingerprint, a.with_fallbacks([b]).fingerprint, a.with_fallbacks([c]).fingerprint,
              b.with_fallbacks([a]).fingerprint}  # fmt: skip
    assert len(prints) == 5
    assert a.with_fallbacks([b]).fingerprint == a.with_fallbacks([b]).fingerprint
    assert a.with_fallbacks([says(True)]).fingerprint is None


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
trees = st.recursive(leaves, lambda inner: st.lists(inner, min_size=2, max_size=4), max_leaves=8)


def built(tree):
    return built(tree[0]).with_fallbacks([built(other) for other in tree[1:]]) if isinstance(tree, list) else tree


def leaves_of(tree):
    return [leaf for inner in tree for leaf in leaves_of(inner)] if isinstance(tree, list) else [tree]


@pytest.mark.slow
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
        assert judgment.fallback_used is None
    else:
        assert judgment.status is chain[working].outcome
        assert (judgment.fallback_used is None) == (working == 0)
    verdict = Ensemble([built(tree), Told("other", Status.PASS, False)]).judge(CASE)
    assert bool(verdict.fallbacks_used) == (judgment.fallback_used is not None)
    assert Verdict.from_json(verdict.to_json()).canonical_json() == verdict.canonical_json()
