"""From a cascade and labelled cases to a cascade with a guarantee, on recorded judges."""

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support.panels import PANELS, SMALL, fold, fold_of, rows

from jury_adapters import CascadedJury, Ensemble, Tier
from jury_adapters.calibration import calibrate, suggest
from jury_adapters.calibration.binomial import upper_bound
from jury_adapters.calibration.failure import CalibrationFailed
from jury_adapters.calibration.guarantee import CalibratedJury, Guarantee, fingerprint_of
from jury_adapters.calibration.reliabilities import fit_reliabilities
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.function_judge import FunctionJudge
from jury_adapters.core.human_labels import UnclearLabels
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.voting.rules.bayes import Bayes
from jury_adapters.critic.recorded import RecordedCritic

TIERS = {"small": SMALL[:3], "with pro": (*SMALL[:3], "gemini-2.5-pro"), "all": PANELS["all14"]}
LABELLED = [row for row in rows() if fold_of(row) == 1]


@cache
def learned(panel: tuple[str, ...]) -> Bayes:
    """The vote of jurors by what is known of them from the other fold."""
    return fit_reliabilities(fold(0).panel(panel)).bayes()


def cascade(*, cost: float = 0.0, swapped: bool = False, **names: str) -> CascadedJury:
    labels = {"valid": "fail", "invalid": "pass"} if swapped else {"valid": "pass", "invalid": "fail"}
    tiers = []
    for name, panel in TIERS.items():
        jurors = [RecordedCritic(juror, labels=labels, cost=cost) for juror in panel]
        tiers.append(Tier(names.get(name, name), Ensemble(jurors, voting=learned(panel)), "escalate_on_split"))
    return CascadedJury([*tiers[:-1], Tier(tiers[-1].name, tiers[-1].judge)], name="feedback")


@cache
def the_guarantee() -> Guarantee:
    return calibrate(cascade(cost=0.001), LABELLED[:500]).guarantee


def sure(answer: str, confidence: float) -> FunctionJudge:
    """A judge as sure as the case says, that agrees with human labels as often as the case says."""

    def judge(case: Case) -> Judgment:
        return Judgment(Status.PASS if case.metadata[answer] else Status.FAIL, confidence=confidence)

    return FunctionJudge(judge, name=answer)


def test_a_calibrated_cascade_says_what_it_guarantees_and_keeps_it_on_the_other_cases() -> None:
    calibrated = calibrate(cascade(cost=0.001), LABELLED[:900], agreement=0.92)
    stated = calibrated.guarantee
    assert isinstance(calibrated, CascadedJury)
    assert (stated.n, stated.agreement, stated.method) == (900, 0.92, "both")
    assert stated.bound <= 0.08
    assert stated.errors / stated.decided < stated.bound
    assert stated.coverage == stated.decided / 900
    assert sum(stated.tier_shares.values()) == pytest.approx(stated.coverage)
    assert stated.cost_expected is not None
    assert 0.002 < stated.cost_expected < 0.021
    assert "900 labelled cases" in str(stated)

    verdicts = list(calibrated.judge_many(map(Case.from_row, LABELLED[900:])))
    decided = [(verdict, row) for verdict, row in zip(verdicts, LABELLED[900:], strict=True) if verdict.valid]
    abstained = [verdict for verdict in verdicts if not verdict.valid]
    agreed = [(verdict.status is Status.PASS) == (row["gold"] == "valid") for verdict, row in decided]
    assert sum(agreed) / len(agreed) >= 0.9
    assert len(decided) / len(verdicts) == pytest.approx(stated.coverage, abs=0.1)
    assert {verdict.stopped_at for verdict in abstained} <= {"abstained"}
    for verdict in abstained:
        assert verdict.status is Status.ABSTAIN
        assert "guaranteed agreement of 0.92" in verdict.reasoning
    for verdict, _row in decided:
        assert verdict.decision == "accepted"


@pytest.mark.slow
def test_what_runs_later_decides_as_the_calibration_counted() -> None:
    calibrated = calibrate(cascade(), LABELLED[:600], agreement=0.86)
    verdicts = list(calibrated.judge_many(map(Case.from_row, LABELLED[:600])))
    stated = calibrated.guarantee
    for name, share in stated.tier_shares.items():
        assert sum(verdict.stopped_at == name for verdict in verdicts) == round(share * stated.n)
    assert sum(verdict.valid for verdict in verdicts) == stated.decided


@pytest.mark.parametrize("method", ["path", "per_tier", "both"])
def test_a_tier_that_decides_nothing_is_not_asked(method: str) -> None:
    first, second = sure("coin", 0.6), sure("good", 0.9)
    cases = [{"metadata": {"coin": i % 2 == 0, "good": i % 20 != 0, "gold": "PASS"}} for i in range(400)]
    built = CascadedJury([Tier("coin", first, "escalate_on_split"), Tier("good", second)])
    calibrated = calibrate(built, cases, agreement=0.9, method=method)
    assert calibrated.guarantee.tier_shares == {"coin": 0.0, "good": 1.0}
    verdict = calibrated.judge(cases[0])
    assert verdict.stopped_at == "good"
    if method == "per_tier":
        assert calibrated.guarantee.thresholds["coin"] is None
        assert [tier.name for tier in verdict.tiers] == ["good"]


@pytest.mark.slow
def test_one_case_of_each_group_counts() -> None:
    programs = {row["meta"]["program"] for row in LABELLED}
    by_path = calibrate(cascade(), LABELLED, agreement=0.85, groups="meta.program").guarantee
    by_function = calibrate(
        cascade(), LABELLED, agreement=0.85, groups=lambda case: case.metadata["meta"]["program"]
    ).guarantee
    assert by_path.n == len(programs) < len(LABELLED)
    assert by_path == by_function
    with pytest.raises(ConfigurationError, match=r"no meta\.programme"):
        calibrate(cascade(), LABELLED, groups="meta.programme")


@pytest.mark.slow
def test_it_refuses_what_the_labels_cannot_show() -> None:
    with pytest.raises(ConfigurationError, match=r"20 labelled cases are too few.* at least 30"):
        calibrate(cascade(), LABELLED[:20])
    with pytest.raises(ConfigurationError, match=r"0 labelled cases are too few"):
        calibrate(cascade(), [{"answer": "nobody labelled this"}])
    with pytest.raises(ConfigurationError, match=r"no threshold keeps .*0\.99.*small agrees on .*uarantee less"):
        calibrate(cascade(), LABELLED[:400], agreement=0.99)
    with pytest.raises(ConfigurationError, match=r"agreement lies strictly between 0 and 1"):
        calibrate(cascade(), LABELLED[:50], agreement=90)
    with pytest.raises(ConfigurationError, match=r"Known: both, path, per_tier"):
        calibrate(cascade(), LABELLED[:50], method="pth")  # type: ignore[arg-type]


def test_a_jury_without_tiers_is_one_tier() -> None:
    panel = cascade().tiers[0].judge
    assert isinstance(panel, Ensemble)
    found = calibrate(panel, LABELLED[:300], agreement=0.85)
    assert list(found.guarantee.thresholds) == ["jury"]
    assert found.guarantee.applied_to(panel).guarantee == found.guarantee


def test_the_way_out_that_it_names_leads_out() -> None:
    cases = [wrong_on_one_in_twenty(i, passed=i % 2 == 0) for i in range(100)]
    one = CascadedJury([Tier("good", sure("good", 0.9))])
    with pytest.raises(CalibrationFailed, match=r"about (\d+) cases.* do for (0\.\d+)") as refused:
        calibrate(one, cases, agreement=0.93)
    found = re.search(r"about (\d+) cases.* do for (0\.\d+)", str(refused.value))
    assert found is not None
    enough, lower = int(found[1]), float(found[2])
    assert calibrate(one, [cases[i % 100] for i in range(enough)], agreement=0.93).guarantee.decided == enough
    assert calibrate(one, cases, agreement=lower).guarantee.decided == 100


def test_a_tier_that_blocks_the_guarantee_is_named() -> None:
    """The first tier is wrong on a third of the cases, with full confidence, so the second is hardly reached."""
    cases = [
        {
            "metadata": {
                "rash": (i % 3 > 0) == (i % 2 == 0),
                "good": i % 2 == 0,
                "gold": "PASS" if i % 2 == 0 else "FAIL",
            }
        }
        for i in range(60)
    ]
    rash = Tier("quick", sure("rash", 1.0), "escalate_on_split")
    good = Tier("careful", sure("good", 0.9))
    with pytest.raises(
        CalibrationFailed, match=r"Leave out the tier quick \(these labels would do without it"
    ) as refused:
        calibrate(CascadedJury([rash, good]), cases, agreement=0.95)
    assert "leave out the tier careful" not in str(refused.value)
    assert calibrate(CascadedJury([good]), cases, agreement=0.95).guarantee.decided == 60
    with pytest.raises(CalibrationFailed) as alone:
        calibrate(CascadedJury([Tier("quick", sure("rash", 1.0))]), cases, agreement=0.95)
    assert "eave out" not in str(alone.value)


def wrong_on_one_in_twenty(i: int, *, passed: bool) -> dict[str, object]:
    return {"metadata": {"good": passed != (i % 20 == 0), "gold": "PASS" if passed else "FAIL", "user": i}}


def test_a_guarantee_that_any_constant_answer_keeps_is_never_named() -> None:
    """The jury agrees with human labels on 95 of 100; so does always answering PASS."""
    cases = [wrong_on_one_in_twenty(i, passed=i % 20 != 1) for i in range(100)]
    one = CascadedJury([Tier("good", sure("good", 0.9))])
    with pytest.raises(CalibrationFailed) as refused:
        calibrate(one, cases, agreement=0.93)
    assert "always answering 'PASS' agrees with human labels on 95.0% of the labelled cases" in str(refused.value)
    assert "guarantee less" not in str(refused.value)


def test_a_guarantee_below_a_coin_is_never_named() -> None:
    cases = [{"metadata": {"good": i % 2 == 0, "gold": ["PASS", "FAIL", "UNSURE"][i % 3]}} for i in range(300)]
    one = CascadedJury([Tier("good", sure("good", 0.9))])
    with pytest.raises(CalibrationFailed) as refused:
        calibrate(one, cases, agreement=0.6, pass_labels=["PASS"])
    assert "guarantee less" not in str(refused.value)


def test_a_refusal_speaks_of_groups_where_groups_were_given() -> None:
    cases = [wrong_on_one_in_twenty(i, passed=i % 2 == 0) for i in range(100)]
    one = CascadedJury([Tier("good", sure("good", 0.9))])
    with pytest.raises(
        CalibrationFailed, match=r"on 100 independent labelled cases \(one per group\).*about \d+ groups"
    ):
        calibrate(one, cases, agreement=0.93, groups="user")


def test_the_names_of_functions_are_not_those_of_modules() -> None:
    import jury_adapters.calibration as package

    for name in package.__all__:
        assert find_spec(f"{package.__name__}.{name}") is None, f"a module of the name {name} would hide it"


@pytest.mark.slow
def test_it_refuses_cascades_it_would_spoil() -> None:
    with pytest.raises(ConfigurationError, match="is of a jury"):
        calibrate(sure("good", 0.9), LABELLED)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="already"):
        calibrate(the_guarantee().applied_to(cascade()), LABELLED)


@pytest.mark.parametrize(
    ("labelled", "options"),
    [
        ([({"metadata": {"good": True}}, True)] * 60, {}),
        ([({"metadata": {"good": False}}, "FAIL")] * 60, {}),
        ([({"metadata": {"good": i % 2 == 0}}, ("ok", "bad")[i % 2]) for i in range(60)], {"pass_labels": ["ok"]}),
        ([{"good": True, "gold": True}] * 60, {}),
    ],
)
def test_labels_come_as_words_truth_values_pairs_or_columns(labelled: list[Any], options: dict[str, Any]) -> None:
    found = calibrate(CascadedJury([Tier("only", sure("good", 0.9))]), labelled, **options).guarantee
    assert (found.n, found.errors, found.coverage) == (60, 0, 1.0)


def test_labels_that_cannot_be_compared_are_an_error_and_labels_of_jurors_explain_them() -> None:
    only = CascadedJury([Tier("only", sure("good", 0.9))])
    words = [({"metadata": {"good": True}}, word) for word in ("correct",) * 53 + ("wrong",) * 7]
    with pytest.raises(
        UnclearLabels, match=r"are correct 53, wrong 7, .* those that mean PASS: pass_labels=\['LABEL'\]"
    ):
        calibrate(only, words)
    with pytest.raises(
        UnclearLabels, match=r"has the label 'corect' \(did you mean 'correct'\?\); there are correct 53"
    ):
        calibrate(only, words, pass_labels=["corect"])
    with pytest.raises(UnclearLabels, match="has the label 'good'; there are"):
        suggest([sure("good", 0.9)], words, pass_labels=["correct", "good"])
    with pytest.raises(ConfigurationError, match=r"a list of labels: \['correct'\]"):
        calibrate(only, words, pass_labels="correct")
    labels = FunctionJudge(lambda case: Judgment(None, label=case.metadata["said"], confidence=0.9), name="labels")
    cases = [{"metadata": {"said": "AB"[i % 2], "gold": "AB"[i % 2] if i else "B"}} for i in range(80)]
    assert calibrate(CascadedJury([Tier("only", labels)]), cases).guarantee.errors == 1


@pytest.mark.slow
def test_a_guarantee_survives_yaml_and_knows_its_cascade(tmp_path: Path) -> None:
    calibrated = the_guarantee().applied_to(cascade())
    file = tmp_path / "guarantee.yaml"
    file.write_text(calibrated.guarantee.to_yaml())
    read = Guarantee.from_yaml(file)
    assert read == calibrated.guarantee == Guarantee.from_yaml(file.read_text())
    again = read.applied_to(cascade(cost=0.5))  # prices change nothing of what is said
    case = Case.from_row(LABELLED[0])
    assert isinstance(again, CalibratedJury)
    assert [str(tier.policy) for tier in again.tiers] == [str(tier.policy) for tier in calibrated.tiers]
    assert again.judge(case).status == calibrated.judge(case).status


def other_rule() -> CascadedJury:
    built = cascade()
    changed = Ensemble(built.tiers[0].judge.members, voting="majority")
    return CascadedJury([Tier("small", changed, "escalate_on_split"), *built.tiers[1:]])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda: cascade(small="tiny"), "calibrated for the tiers small, with pro, all"),
        (lambda: cascade(swapped=True), "other jurors, rubrics"),
        (other_rule, "other jurors, rubrics"),
        (lambda: CascadedJury(cascade().tiers[1:]), "calibrated for the tiers"),
    ],
)
def test_it_complains_about_another_cascade(changed: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        the_guarantee().applied_to(changed())


def test_critics_are_known_by_model_and_rubric() -> None:
    class Known(RecordedCritic):
        @property
        def fingerprint(self) -> str:
            return self._print

        _print = "model-a rubric-1"

    def one(fingerprint: str) -> CascadedJury:
        critic = Known("gpt-4o", labels={"valid": "pass", "invalid": "fail"})
        critic._print = fingerprint
        return CascadedJury([Tier("only", critic)])

    assert fingerprint_of(one("model-a rubric-1")) == fingerprint_of(one("model-a rubric-1"))
    assert fingerprint_of(one("model-a rubric-1")) != fingerprint_of(one("model-a rubric-2"))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda plain: {**plain, "n": "many"},
        lambda plain: {**plain, "colour": "red"},
        lambda plain: {name: value for name, value in plain.items() if name != "bound"},
    ],
)
def test_what_is_no_guarantee_is_refused(spoil: Any) -> None:
    plain = the_guarantee().to_dict()
    with pytest.raises(InputError, match="not a guarantee"):
        Guarantee.from_dict(spoil(plain))


def test_changed_numbers_of_a_guarantee_are_refused() -> None:
    plain = the_guarantee().to_dict()
    assert Guarantee.from_dict(plain) == the_guarantee()
    for change in ({"agreement": 0.99}, {"errors": 0}, {"thresholds": dict.fromkeys(the_guarantee().thresholds, 0.5)}):
        with pytest.raises(InputError, match="were changed by hand; calibrate again"):
            Guarantee.from_dict({**plain, **change})


def test_files_without_a_guarantee_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.yaml: No such file"):
        Guarantee.from_yaml(tmp_path / "missing.yaml")
    with pytest.raises(InputError, match="expected the key"):
        Guarantee.from_yaml("tiers: []\nname: x\n")


@pytest.mark.slow
def test_the_tier_that_abstains_is_no_juror_whose_call_is_saved() -> None:
    calibrated = calibrate(cascade(), LABELLED[:900], agreement=0.92)
    verdicts = list(calibrated.judge_many(map(Case.from_row, LABELLED[900:1000])))
    early = [verdict for verdict in verdicts if "abstained" in verdict.skipped]
    assert early
    for verdict in early:
        asked = [tier for tier in calibrated.tiers[:-1] if tier.name in verdict.skipped]
        assert verdict.calls_saved == sum(tier.judge.size for tier in asked)


@pytest.mark.parametrize("method", ["both", "path", "per_tier"])
def test_the_bound_is_that_of_clopper_and_pearson_at_its_own_level(method: Any) -> None:
    found = calibrate(CascadedJury([Tier("only", sure("good", 0.9))]), perfect(60), delta=0.1, method=method).guarantee
    assert found.bound_delta == (0.05 if method == "both" else 0.1)
    assert found.bound == pytest.approx(upper_bound(found.errors, found.decided, found.bound_delta))


def perfect(number: int) -> list[dict[str, object]]:
    return [{"metadata": {"good": i % 2 == 0, "gold": "PASS" if i % 2 == 0 else "FAIL"}} for i in range(number)]
