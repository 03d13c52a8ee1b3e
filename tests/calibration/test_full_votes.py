"""A judge that states no confidence is calibrated as a jury of one is, however its tier is written."""

from collections.abc import Callable
from typing import Any

import pytest

from jury_adapters import CascadedJury, Case, Ensemble, Judge, Scorecard, Tier
from jury_adapters.calibration import calibrate
from jury_adapters.calibration.failure import CalibrationFailed
from jury_adapters.calibration.full_votes import full_votes_sentence
from jury_adapters.calibration.guarantee import Guarantee
from jury_adapters.core.function_judge import FunctionJudge
from jury_adapters.core.judgment import Judgment, Status, abstain
from jury_adapters.critic.recorded import RecordedCritic


def labelled(number: int = 120, wrong: int = 12) -> list[dict[str, Any]]:
    """Labelled cases with recorded votes: two cheap jurors that split on a third, and one that is mostly right."""
    rows = []
    for i in range(number):
        gold = i % 2 == 0
        good = gold if i >= wrong else not gold
        votes = {"one": gold, "other": gold if i % 3 else not gold, "good": good}
        named = {name: "yes" if vote else "no" for name, vote in votes.items()}
        rows.append({"answer": f"answer {i}", "item_id": f"i{i}", "gold": gold, "votes": named})
    return rows


def recorded(name: str) -> RecordedCritic:
    return RecordedCritic(name, labels={"yes": "pass", "no": "fail"})


def plain_function() -> Judge:
    return FunctionJudge(lambda case: bool(case.metadata["votes"]["good"] == "yes"), name="good")


def cascade(last: Judge, *, first: bool = True) -> CascadedJury:
    cheap = [Tier("cheap", Ensemble([recorded("one"), recorded("other")]), "escalate_on_split")] if first else []
    return CascadedJury([*cheap, Tier("last", last)])


def fields(guarantee: Guarantee) -> dict[str, Any]:
    return {name: value for name, value in guarantee.to_dict().items() if name not in ("full_votes", "fingerprint")}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["both", "path", "per_tier"])
@pytest.mark.parametrize(
    "single",
    [lambda: recorded("good"), plain_function, lambda: Scorecard({"only": recorded("good")})],
    ids=["recorded", "function", "scorecard"],
)
def test_a_judge_alone_gives_what_a_jury_of_one_gives(single: Callable[[], Judge], method: Any) -> None:
    rows = labelled(wrong=3)
    alone = calibrate(cascade(single()), rows, 0.85, method=method)
    of_one = calibrate(cascade(Ensemble([recorded("good")])), rows, 0.85, method=method)
    assert fields(alone.guarantee) == fields(of_one.guarantee)
    assert alone.guarantee.tier_shares["last"] > 0.2
    assert (alone.guarantee.full_votes, of_one.guarantee.full_votes) == (("last",), ())
    for row in labelled(200, 20):
        left, right = alone.judge(Case.from_row(row)), of_one.judge(Case.from_row(row))
        assert (left.status, left.stopped_at) == (right.status, right.stopped_at)


def test_a_judge_alone_in_the_only_tier_gets_the_guarantee_that_its_labels_show() -> None:
    calibrated = calibrate(cascade(plain_function(), first=False), labelled(200, 20), 0.8)
    assert (calibrated.guarantee.decided, calibrated.guarantee.errors) == (200, 20)
    verdict = calibrated.judge(Case.from_row(labelled()[50]))
    assert (verdict.status, verdict.stopped_at) == (Status.PASS, "last")
    assert "a judge that states no confidence counts as a jury of one" in verdict.tiers[0].why
    assert "The tier 'last' states no confidence" in str(calibrated.guarantee)


def test_a_judge_alone_that_is_not_good_enough_is_refused_with_its_own_agreement() -> None:
    with pytest.raises(CalibrationFailed, match=r"last agrees on 70\.0% of the 200 cases") as failed:
        calibrate(cascade(plain_function(), first=False), labelled(200, 60), 0.9)
    assert failed.value.grants is not None
    assert "no verdict with a confidence" not in str(failed.value)


def test_the_guarantee_knows_such_tiers_after_it_was_written() -> None:
    jury = cascade(recorded("good"))
    calibrated = calibrate(jury, labelled(), 0.8)
    read = Guarantee.from_yaml(calibrated.guarantee.to_yaml())
    assert read == calibrated.guarantee
    row = Case.from_row(labelled()[30])  # the cheap jurors split
    assert read.applied_to(jury).judge(row) == calibrated.judge(row)
    assert calibrated.judge(row).stopped_at == "last"


def sometimes_sure(every: int) -> FunctionJudge:
    """A judge that states no confidence on each tenth case, and errs on each case of that number."""

    def judge(case: Case) -> Judgment:
        number = int(str(case.item_id)[1:])
        status = Status.PASS if bool(case.metadata["gold"]) == bool(number % every) else Status.FAIL
        return Judgment(status, confidence=None if number % 10 == 1 else 0.9)

    return FunctionJudge(judge)


def test_a_judge_that_states_some_confidences_decides_nothing_without_one() -> None:
    calibrated = calibrate(cascade(sometimes_sure(40), first=False), labelled(), 0.9)
    assert (calibrated.guarantee.full_votes, calibrated.guarantee.decided) == ((), 108)
    left_out = calibrated.judge(Case.from_row(labelled()[11]))
    assert (left_out.status, left_out.tiers[0].why) == (Status.ABSTAIN, "no verdict with a confidence")
    with pytest.raises(CalibrationFailed) as failed:
        calibrate(cascade(sometimes_sure(3), first=False), labelled(), 0.9)
    said = "of the 108 cases on which it has a verdict with a confidence (12 more verdicts without one can never"
    assert said in str(failed.value)


def test_a_confidence_stated_after_all_counts_as_it_is_stated() -> None:
    def judge(case: Case) -> Judgment:
        return Judgment(Status.PASS if case.metadata["gold"] else Status.FAIL, confidence=case.metadata.get("sure"))

    calibrated = calibrate(cascade(FunctionJudge(judge), first=False), labelled(), 0.9)
    row = labelled()[0]
    assert calibrated.judge(Case.from_row(row)).status is Status.PASS
    assert calibrated.judge(Case.from_row({**row, "sure": 0.1})).status is Status.ABSTAIN


def test_a_jury_without_any_verdict_gets_no_figures_of_its_agreement() -> None:
    with pytest.raises(CalibrationFailed) as failed:
        calibrate(cascade(FunctionJudge(lambda _: abstain("no contexts")), first=False), labelled(), 0.8)
    assert failed.value.grants is None
    assert "no tier gave a verdict on any of the 120 labelled cases" in str(failed.value)
    assert "no contexts" in str(failed.value)
    assert "%" not in str(failed.value)


def test_the_sentence_names_every_tier() -> None:
    assert full_votes_sentence([]) == ""
    assert full_votes_sentence(["a", "b", "c"]).startswith("The tiers 'a', 'b' and 'c' state no confidence")
