"""Properties that every jury shares: members, unique names, and the model families that it judges."""

import asyncio
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import CascadedJury, ConfigurationError, Ensemble, Judgment, Jury, Status, Tier, Verdict, judge
from jury_adapters.checks import always_pass
from jury_adapters.compat.juries import combine
from jury_adapters.core.jury import judges_own_family, members_of, unique_names
from jury_adapters.voting import all_of, any_of


@given(st.lists(st.sampled_from(["", "a", "b", "a-2", "a-3", "Judge#1", "Judge#2", "Judge#1-2"]) | st.text(max_size=3)))
def test_names_are_unique_complete_and_in_order(names):
    unique = unique_names(names)
    assert len(unique) == len(names) == len(set(unique))
    assert all(unique)
    for name, own in zip(names, unique, strict=True):
        assert own.startswith(name or "Judge#")
    for name in set(filter(None, names)):
        assert name in unique  # the first of its name keeps it


def test_names_are_numbered_from_2_and_positions_from_1():
    assert unique_names(["a", "a", "", "a", "b", ""]) == ("a", "a-2", "Judge#3", "a-3", "b", "Judge#6")
    assert unique_names(["a", "a-2", "a"]) == ("a", "a-2", "a-3")
    assert unique_names(["", "Judge#1"]) != ("Judge#1", "Judge#1")
    assert unique_names([]) == ()


def test_functions_become_judges_and_judges_stay():
    one = always_pass()
    members = members_of([one, lambda case: True], "Jury")
    assert members[0] is one
    assert members[1].judge("q").status is Status.PASS


@pytest.mark.parametrize("nothing", [[], (), iter([])])
def test_a_jury_without_jurors_is_refused(nothing):
    with pytest.raises(ConfigurationError, match="at least one"):
        members_of(nothing, "Ensemble")


@pytest.mark.parametrize("single", [always_pass(), lambda case: True, print])
def test_one_judge_instead_of_a_list_is_refused_with_how_to_write_it(single):
    with pytest.raises(ConfigurationError, match=r"Ensemble\(\[judge\]\)"):
        members_of(single, "Ensemble")


@pytest.mark.parametrize("member", [5, "gpt-4o", None, Judgment("PASS")])
def test_a_member_that_is_no_judge_is_refused(member):
    with pytest.raises(ConfigurationError, match="a function of a Case"):
        members_of([always_pass(), member], "Ensemble")


JURIES = [
    Ensemble([always_pass(), always_pass(name="b")], name="jury"),
    combine(Ensemble([always_pass()]), name="jury"),
    CascadedJury([Tier("t", always_pass(), "final")], name="jury"),
]


@pytest.mark.parametrize("jury", JURIES)
def test_every_jury_is_a_judge_and_gives_verdicts_in_every_way_of_asking(jury):
    async def many():
        return [verdict async for verdict in jury.ajudge_many(["a", "b"])]

    found = [jury.judge("q"), asyncio.run(jury.ajudge("q")), *jury.judge_many(["a"]), *asyncio.run(many())]
    assert isinstance(jury, Jury)
    assert {type(verdict) for verdict in found} == {Verdict}
    assert {verdict.critic for verdict in found} == {"jury"}
    assert {verdict.status for verdict in found} == {Status.PASS}


@pytest.mark.parametrize("chain", [all_of(always_pass(), always_pass()), any_of(always_pass())])
def test_a_chain_of_judges_gives_a_verdict_too(chain):
    assert isinstance(chain.judge("q"), Verdict)
    assert chain.judge("q").passed


@pytest.mark.parametrize("error", [ValueError("x"), "timeout"])
def test_a_jury_that_breaks_says_so_in_a_verdict(error):
    verdict = JURIES[0].failure(error)
    assert isinstance(verdict, Verdict)
    assert verdict.status is Status.ERROR
    assert verdict.judgments == ()
    assert verdict.error in ("ValueError: x", "timeout")
    assert "agreement" not in str(verdict)


def test_a_jury_that_breaks_inside_a_jury_is_one_error_among_its_peers():
    class Broken(Jury):
        async def assess(self, case):
            raise RuntimeError("fell over")

    verdict = Ensemble([Broken(), always_pass(), always_pass("p")]).judge("q")
    assert [j.status for j in verdict.judgments] == ["ERROR", "PASS", "PASS"]
    assert isinstance(verdict.judgments[0], Verdict)
    assert verdict.judgments[0].error == "RuntimeError: fell over"


@pytest.mark.parametrize(
    ("judgment", "generator", "own"),
    [
        (Judgment("PASS", model="gpt-4o"), "openai:gpt-4.1", True),
        (Judgment("PASS", family="openai"), "gpt-4.1", True),
        (Judgment("PASS", model="gpt-4o", family="custom"), "gpt-4.1", False),
        (Judgment("PASS", model="claude-3"), "gpt-4.1", False),
        (Judgment("PASS"), "gpt-4.1", False),
        (Judgment("PASS", model="my-finetune"), "my-finetune", None),
        (Judgment("PASS", model="gpt-4o"), None, None),
        (Verdict("PASS", judgments=[Judgment("PASS", model="gpt-4o")]), "gpt-4.1", True),
        (Verdict("PASS", judgments=[Judgment("PASS", model="claude-3")], model="gpt-4o"), "gpt-4.1", False),
        (Verdict("PASS", model="gpt-4o"), "gpt-4.1", True),
    ],
)
def test_whether_a_juror_judges_its_own_family(judgment, generator, own):
    assert judges_own_family([Judgment("PASS"), judgment], generator) is own


def test_the_size_of_a_jury_is_the_number_of_opinions_it_can_take():
    assert [jury.size for jury in JURIES] == [2, 1, 1]
    assert combine(JURIES[0], JURIES[1]).size == 3
    assert judge(lambda case: True).size == 1


def test_gates_belong_to_a_copy_and_are_checked_at_once():
    jury = Ensemble([always_pass()], name="j")
    gated = jury.with_gates(min_confidence=0.8, min_agreement="high")
    assert (jury.gates, gated.gates) == ({}, {"min_confidence": 0.8, "min_agreement": "high"})
    assert gated.with_gates(passed=True).gates == {"passed": True}
    assert pickle.loads(pickle.dumps(gated)).gates == gated.gates
    assert gated.named("other").gates == gated.gates
    with pytest.raises(TypeError, match="cannot be changed"):
        gated.gates["passed"] = True
    for wrong in ({"min_agrement": 1}, {"min_confidence": "high"}, {"min_agreement": "hi"}, {"undefined": "skipped"}):
        with pytest.raises(ConfigurationError):
            jury.with_gates(**wrong)
