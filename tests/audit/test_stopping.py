"""Early stopping of audits: what is asked, what counts, and how figures allow for it."""

import json
from random import Random

import pytest

from jury_adapters import Case, ConfigurationError, Critic, Ensemble, Status, judge
from jury_adapters.audit import Sizes, audit, example_cases, plan_audit
from jury_adapters.audit.figures import Share
from jury_adapters.voting import any_of

SIZES = Sizes(per_operator=60, per_invariance=60, injections=60)
RIGHT = {case.answer for case in example_cases()}
WRONG = {probe.case.content_hash for probe in plan_audit(lambda case: True, sizes=SIZES).probes if probe.wrong}


@judge(name="perfect")
def knows_the_truth(case):
    return case.content_hash not in WRONG


def at_random(case):
    return Random(case.content_hash).random() < 0.5


@pytest.mark.slow
def test_operators_with_a_clear_rate_are_asked_about_half_as_much():
    full, early = audit(knows_the_truth, sizes=SIZES), audit(knows_the_truth, sizes=SIZES, precision=0.1)
    assert full.stopped == ()
    assert full.planned == full.probes
    assert early.planned == full.probes
    assert early.probes < 0.7 * full.probes
    assert ("wrong", "negation") in early.stopped
    assert early.jury.kills["negation"].n == 30 == full.jury.kills["negation"].n / 2
    assert early.jury.kill_rate.value == 1


@pytest.mark.slow
def test_rates_that_are_not_known_are_asked_about_to_the_end():
    found = audit(judge(at_random), sizes=SIZES, precision=0.1)
    assert found.stopped == (("repeat", "repeat"),)  # it gives the same answer to the same question
    assert {probe.name for probe in found.missed} > {"number", "negation"}
    assert found.jury.kills["number"].looks == 2


@pytest.mark.slow
def test_a_juror_with_an_unclear_rate_keeps_all_from_being_stopped():
    jury = Ensemble([knows_the_truth, judge(at_random)], voting="unanimous")
    assert audit(jury, sizes=SIZES, precision=0.1).stopped == (("repeat", "repeat"),)


@pytest.mark.slow
def test_the_rate_of_all_counts_what_every_operator_was_asked():
    def half_blind_to_names(case):
        return case.content_hash not in WRONG or (case.content_hash in names and at_random(case))

    plan = plan_audit(half_blind_to_names, sizes=SIZES, precision=0.1)
    names = {probe.case.content_hash for probe in plan.probes if (probe.kind, probe.name) == ("wrong", "name")}
    found = plan.run()
    kills = found.jury.kills
    assert ("wrong", "name") not in found.stopped
    assert ("wrong", "number") in found.stopped
    assert found.jury.kill_rate.n == found.jury.passed_wrong.n < sum(share.n for share in kills.values())
    assert [one.name for one in found.findings if one.name.startswith("blind")] == ["blind_to:name"]


@pytest.mark.slow
def test_the_probes_of_a_stopped_operator_are_its_first_half():
    asked = []

    def remembers(case):
        asked.append(case.content_hash)
        return case.content_hash not in WRONG

    plan = plan_audit(remembers, sizes=SIZES, precision=0.1)
    plan.run()
    mutants = [probe.case.content_hash for probe in plan.probes if (probe.kind, probe.name) == ("wrong", "number")]
    assert set(mutants[:30]) <= set(asked)
    assert len(set(mutants[30:]) & set(asked)) < 20  # those that another change was made from are asked all the same


@pytest.mark.slow
def test_intervals_are_wider_where_asking_might_have_stopped():
    groups = tuple((1, 1) for _ in range(18)) + ((0, 1),) * 2
    once, twice = Share(groups).interval, Share(groups, looks=2).interval
    assert twice[0] < once[0] < once[1] < twice[1]
    assert audit(knows_the_truth, sizes=SIZES, precision=0.1).jury.kills["number"].looks == 2


@pytest.mark.slow
def test_a_juror_that_fails_every_given_answer_keeps_nothing_from_being_stopped():
    jury = any_of(knows_the_truth, judge(lambda case: False, name="strict"))
    assert ("wrong", "negation") in audit(jury, sizes=SIZES, precision=0.1).stopped


@pytest.mark.slow
def test_the_report_says_what_was_stopped():
    found = audit(knows_the_truth, sizes=SIZES, precision=0.1)
    said = str(found)
    assert f"{found.probes:,} of {found.planned:,} probes were asked" in said
    assert "negation" in said.split("Findings", maxsplit=1)[0]
    assert "negation" in json.loads(json.dumps(found.to_dict()))["stopped"]
    assert "Stopped early" not in str(audit(knows_the_truth, sizes=Sizes(5, 5, 5)))


@pytest.mark.slow
def test_a_store_makes_the_second_audit_free(tmp_path):
    calls = []

    async def model(prompt):
        calls.append(prompt)
        return json.dumps({"reasoning": "", "answer": "YES", "confidence": 0.9})

    critic = Critic(model, "faithfulness", name="reader")
    sizes, cases = Sizes(per_operator=30, per_invariance=10, injections=10), example_cases()[:20]
    first = audit(critic, cases, sizes=sizes, precision=0.2, store=tmp_path / "runs.db")
    before = len(calls)
    second = audit(critic, cases, sizes=sizes, precision=0.2, store=tmp_path / "runs.db")
    assert len(calls) == before > 0
    assert second.stopped == first.stopped != ()
    assert second.jury == first.jury


@pytest.mark.parametrize("precision", [0, 0.5, -0.1, 1, True, float("nan")])
def test_an_unusable_precision(precision):
    with pytest.raises(ConfigurationError, match=r"between 0 and 0\.5"):
        plan_audit(lambda case: True, [Case(answer="In 2018.", contexts=["In 2018."])], precision=precision)


@pytest.mark.slow
def test_errors_are_not_taken_as_a_known_rate():
    @judge
    def broken(case):
        raise ValueError("no")

    found = audit(broken, sizes=SIZES, precision=0.1)
    assert found.stopped == ()
    assert all(one.status is Status.ERROR for one in [broken.judge(answer="x")])
