"""A labelled case on which a juror breaks shows nothing about the jury, and is left out of its calibration."""

import pytest

from jury_adapters import CascadedJury, Ensemble, Judgment, Tier, judge
from jury_adapters.calibration import CalibrationFailed, Guarantee, calibrate


@judge
def reader(case):
    return Judgment("PASS" if "good" in case.answer else "FAIL", confidence=0.9)


@judge
def down(case):
    raise ConnectionError("503")


@judge
def not_empty(case):
    return bool(case.answer)


def labelled(goods, bads):
    answers = [f"good {i}" for i in range(goods)] + [f"poor {i}" for i in range(bads)]
    return [({"question": "?", "answer": text}, "PASS" if "good" in text else "FAIL") for text in answers]


def broken_on(words, name):
    @judge(name=name)
    def at_times(case):
        return down(case) if any(word in case.answer for word in words) else reader(case)

    return at_times


@pytest.mark.parametrize("jury", [
    Ensemble([reader.named("a"), down.named("b"), down.named("c")]),
    CascadedJury([Tier("screen", Ensemble([not_empty, down]), "reject_on_any_fail"), Tier("last", reader)]),
], ids=["votes", "a screening tier"])  # fmt: skip
def test_an_outage_gives_no_guarantee_although_it_agrees_with_human_fails(jury, caplog):
    with pytest.raises(CalibrationFailed) as failed:
        calibrate(jury, labelled(2, 58), agreement=0.75)
    assert str(failed.value).startswith("0 labelled cases")
    assert "60 labelled cases are left out, because a juror broke on them" in str(failed.value)
    assert "on 60: ConnectionError: 503" in str(failed.value)


def test_the_rest_is_calibrated_and_the_guarantee_says_what_it_does_not_cover(caplog):
    jury = Ensemble([reader.named("a"), broken_on(["poor 3"], "b"), reader.named("c")])
    cases = labelled(30, 40)
    guarantee = calibrate(jury, cases).guarantee
    assert (guarantee.n, guarantee.broken, guarantee.errors) == (70 - 11, 11, 0)  # 3 and 30 to 39
    assert (
        "11 labelled cases are left out, because a juror broke on them (b on 11: ConnectionError: 503)" in caplog.text
    )
    assert "11 more labelled cases are left out" in str(guarantee)
    assert Guarantee.from_dict(guarantee.to_dict()) == guarantee
    sound = calibrate(
        Ensemble([reader.named(name) for name in "abc"]), [c for c in cases if "poor 3" not in c[0]["answer"]]
    )
    assert sound.guarantee.broken == 0
    assert (sound.guarantee.bound, sound.guarantee.thresholds) == (guarantee.bound, guarantee.thresholds)


def test_cases_that_a_screening_tier_decides_are_left_out_only_where_it_broke():
    screen = Ensemble([not_empty, broken_on(["poor 1"], "flaky")])
    jury = CascadedJury([Tier("screen", screen, "reject_on_any_fail"), Tier("last", reader)])
    guarantee = calibrate(jury, labelled(40, 20)).guarantee
    assert (guarantee.n, guarantee.screened, guarantee.broken) == (40, 9, 11)  # the others fail at `flaky`
