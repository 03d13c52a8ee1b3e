"""From a jury and labelled cases to a jury with a guarantee."""

import json
import re
import subprocess
import sys
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury_adapters import (
    Budget,
    CascadedJury,
    Case,
    ConfigurationError,
    Critic,
    Ensemble,
    InputError,
    Judgment,
    Result,
    ResultsFile,
    Tier,
    abstain,
    judge,
    open_store,
    read_results,
)
from jury_adapters.calibrate import CalibrationFailed, calibrate
from jury_adapters.testing import ScriptedModel


def sure(entry, *, name="", confidence=0.9, seen=None):
    """Return a judge that says what an entry of the metadata says, as sure as the case says."""

    async def says(case):
        if seen is not None:
            seen.append(case.id)
        stated = case.metadata.get("sure", confidence)
        return Judgment(status="PASS" if case.metadata[entry] else "FAIL", confidence=stated)

    return judge(says, name=name or entry)


def labelled(number=60, wrong=(), **entries):
    """Return cases with good and bad answers in turn; the judge `good` is wrong about some."""
    return [
        Case(
            id=f"{i}",
            answer=f"answer {i}",
            metadata={"good": (i % 2 == 0) != (i in wrong), "human_label": i % 2 == 0, **entries},
        )
        for i in range(number)
    ]


def cascade(*tiers):
    *first, (name, last) = tiers
    return CascadedJury([*(Tier(name, one, "escalate_on_split") for name, one in first), Tier(name, last)])


GOOD = sure("good")
SCREEN = Tier("screen", judge(lambda case: bool(case.answer), name="not empty"), "reject_on_any_fail")


def test_what_runs_later_decides_as_it_was_counted():
    cases = [
        Case(
            id=f"{i}",
            answer=f"{i}",
            metadata={
                "first": i % 2 == 0,
                "good": (i % 2 == 0) != (i % 40 == 5),
                "human_label": i % 2 == 0,
                "sure": (2 / 3, 0.6, 1.0, 0.4)[i % 4],
            },
        )
        for i in range(400)
    ]
    jury = cascade(("first", sure("first")), ("second", sure("good", confidence=None)))
    found = calibrate(jury, cases)
    guarantee = found.guarantee
    verdicts = [*found.judge_many(cases)]
    stopped = Counter(one.stopped_at for one in verdicts)
    assert (
        {name: stopped[name] for name in guarantee.tiers},
        sum(one.decided for one in verdicts) == guarantee.decided == guarantee.n - stopped["abstained"],
    ) == (dict(guarantee.tiers), True)
    wrong = [one.decided and one.passed != (int(one.case_id) % 2 == 0) for one in verdicts]
    assert (sum(wrong), guarantee.errors / guarantee.decided < guarantee.bound <= 0.1) == (guarantee.errors, True)
    (undecided, *_) = [one for one in verdicts if not one.decided]
    assert (undecided.status.value, undecided.stopped_at, "guaranteed agreement of 0.9" in undecided.reasoning) == (
        "ABSTAIN",
        "abstained",
        True,
    )


def at_random(name, seed):
    """Return a judge that is often right, sometimes undecided, sometimes broken, and sometimes states no confidence."""

    async def says(case):
        random = Random(f"{seed} {name} {case.id}")
        kind = random.random()
        if kind < 0.05:
            raise ConnectionError("503")
        if kind < 0.1:
            return abstain("cannot say")
        right = random.random() < 0.85
        stated = None if kind < 0.15 else random.choice((0.5, 0.6, 2 / 3, 0.8, 1.0))
        return Judgment(status="PASS" if case.metadata["human_label"] is right else "FAIL", confidence=stated)

    return judge(says, name=name)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.booleans())
def test_any_jury_decides_as_it_was_counted(seed, tiers, screens):
    screen = Tier(
        "screen", judge(lambda case: Random(f"{seed}{case.id}").random() < 0.9, name="s"), "reject_on_any_fail"
    )
    names = [f"t{number}" for number in range(tiers)]
    rest = cascade(*((name, at_random(name, seed)) for name in names)).tiers
    cases = labelled(90)
    try:
        found = calibrate(CascadedJury([screen, *rest] if screens else rest), cases, 0.6)
    except CalibrationFailed:
        return
    verdicts = [one for one in found.judge_many(cases) if one.stopped_at != "screen"]
    decided = [one for one in verdicts if one.decided]
    assert (len(verdicts), len(decided), Counter(one.stopped_at for one in decided)) == (
        found.guarantee.n,
        found.guarantee.decided,
        Counter(dict(found.guarantee.tiers)),
    )
    assert (
        sum(one.passed is not (int(one.case_id) % 2 == 0) for one in decided),
        not any(one.judgments[-1].rests_on_broken for one in decided),
    ) == (found.guarantee.errors, True)


def test_a_confidence_exactly_at_the_threshold_decides():
    """Two of three votes are a confidence of 2/3."""
    panel = Ensemble({"a": GOOD, "b": GOOD, "c": judge(lambda case: case.metadata["human_label"] is False, name="c")})
    found = calibrate(panel, labelled(60), 0.9)
    assert (found.guarantee.tiers, found.judge(labelled(1)[0]).decided) == ({"jury": 60}, True)


def test_a_judge_that_states_no_confidence_counts_as_sure():
    found = calibrate(judge(lambda case: case.metadata["good"], name="check"), labelled(60, {3}))
    assert (
        found.guarantee.threshold,
        found.guarantee.decided,
        found.guarantee.errors,
        found.judge(labelled(1)[0]).passed,
    ) == (1.0, 60, 1, True)


def test_a_bad_last_tier_is_left_out_and_not_asked():
    seen = []
    bad = sure("bad", confidence=1.0, seen=seen)
    cases = [case.but(metadata={**case.metadata, "bad": int(case.id) % 3 == 0}) for case in labelled(200)]
    found = calibrate(cascade(("good", GOOD), ("bad", bad)), cases)
    assert (dict(found.guarantee.tiers), found.guarantee.cost_saved) == ({"good": 200}, 0.0)
    seen.clear()
    assert (found.judge(cases[0]).passed, seen) == (True, [])


def test_copies_of_a_case_count_once():
    cases = labelled(90, {4, 7})
    of_own_ids = [case.but(id=f"{copy} {case.id}") for copy in range(5) for case in cases]
    for many in (cases, cases * 5, [case.but(id=None) for case in cases] * 5, of_own_ids):
        found = calibrate(cascade(("a", GOOD), ("b", GOOD)), many).guarantee
        assert (found.n, found.errors) == (90, 2)


def test_labels_of_results_are_a_random_sample_or_refused():
    """Labels of cases on which all jurors agree show nothing of the others."""
    cases = [Case(id=f"{at}", answer=f"{at}", metadata={"x": True, "y": True, "z": at % 3 > 0}) for at in range(300)]
    jury = Ensemble([sure(name, confidence=None) for name in "xyz"])
    said = [Result(jury=jury.fingerprint, case=case, judgment=one) for case, one in jury.judge_pairs(cases)]
    random, agreed = (
        [one.but(human_label=True if at % every == 1 else None) for at, one in enumerate(said)] for every in (2, 3)
    )
    assert calibrate(jury, random).guarantee.n == 150
    with pytest.raises(CalibrationFailed, match=r"no random sample: 1\.000 of them have .*, and 0\.500 of the others"):
        calibrate(jury, agreed)


def test_one_case_of_each_group_counts_whatever_the_order():
    cases = [case.but(metadata={**case.metadata, "document": int(case.id) // 5}) for case in labelled(200, {2, 51, 77})]
    seen = []
    found = calibrate(sure("good", seen=seen), cases, 0.75, group="document").guarantee
    assert (found.n, len(seen)) == (40, 40)  # the others are not even judged
    assert found == calibrate(GOOD, cases[::-1] + cases, 0.75, group="document").guarantee
    drawn = {seed: calibrate(GOOD, cases, 0.75, group="document", seed=seed).guarantee.errors for seed in range(8)}
    assert len(set(drawn.values())) > 1
    with pytest.raises(ConfigurationError, match="no case has a group: group='documents'"):
        calibrate(GOOD, cases, group="documents")


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        (("correct", "wrong"), {}, "pass_labels= names those that mean PASS"),
        (("correct", "wrong"), {"pass_labels": ["corect"]}, "no case has the label 'corect'"),
        (("correct", "wrong"), {"pass_labels": "correct"}, "is a list of labels, not 'correct'"),
        ((1, 0), {}, "0 independent labelled cases are too few"),  # grades are no labels
        ((None, None), {}, "0 independent labelled cases are too few"),
    ],
)
def test_labels_that_cannot_be_read_are_refused_before_anything_is_asked(words, options, message):
    seen = []
    cases = [case.but(metadata={**case.metadata, "human_label": words[int(case.id) % 2]}) for case in labelled(60)]
    with pytest.raises((ConfigurationError, InputError, CalibrationFailed), match=message):
        calibrate(sure("good", seen=seen), cases, **options)
    assert seen == []


def test_labels_are_words_truth_values_or_named():
    for words, options in (
        ((True, False), {}),
        (("pass", "FAIL"), {}),
        (("yes", "no"), {}),
        (("ok", "bad"), {"pass_labels": ["ok"]}),
        ((5, 1), {"pass_labels": [5]}),
    ):
        cases = [
            case.but(metadata={"good": case.metadata["good"], "mine": words[int(case.id) % 2]}) for case in labelled(60)
        ]
        found = calibrate(GOOD, cases, label="mine", **options).guarantee
        assert (found.n, found.errors) == (60, 0)


def test_labels_that_are_neither_good_nor_bad():
    says = judge(lambda case: "AB"[int(case.id) % 2], name="pairs", labels=["A", "B"])
    cases = [case.but(metadata={"human_label": "AB"[(int(case.id) + (case.id == "7")) % 2]}) for case in labelled(60)]
    found = calibrate(Ensemble([says]), cases).guarantee
    assert (found.errors, found.constant) == (1, "A")


def test_two_labels_of_one_case_are_refused():
    cases = labelled(60)
    other = cases[4].but(metadata={**cases[4].metadata, "human_label": False})
    with pytest.raises(InputError, match="the case 4 has two human labels"):
        calibrate(GOOD, [*cases, other])


def at_times(*words):
    @judge(name="at times")
    def breaks(case):
        if any(case.answer.endswith(word) for word in words):
            raise ConnectionError("503")
        return Judgment(status="PASS" if case.metadata["good"] else "FAIL", confidence=0.9)

    return breaks


@pytest.mark.parametrize("errors", ["missing", "fail"])
def test_an_outage_gives_no_guarantee_although_it_agrees_with_human_fails(errors):
    cases = [case.but(metadata={"good": False, "human_label": False}) for case in labelled(60)]
    down = {name: at_times("1", "2", "3", "4", "5", "6", "7", "8", "9", "0") for name in "ab"}
    with pytest.raises(CalibrationFailed, match="no threshold") as failed:
        calibrate(Ensemble({"good": GOOD, **down}, errors=errors), cases, 0.75)
    assert failed.value.figures[0].n == 0


def test_where_a_judge_broke_nothing_is_decided_later_either():
    jury = Ensemble({"a": GOOD, "b": at_times("7"), "c": GOOD})
    cases = labelled(100)
    found = calibrate(jury, cases)
    assert (
        found.guarantee.n,
        found.guarantee.decided,
        found.guarantee.broken,
        jury.judge(cases[7]).decided,
        found.judge(cases[7]).status.value,
        found.judge(cases[7]).judgments[0].why,
    ) == (100, 90, 10, True, "ABSTAIN", "a judge broke")


def test_failed_runs_are_no_votes():
    failed = [Case(id=f"f{i}", error="timeout", metadata={"good": True, "human_label": False}) for i in range(50)]
    assert calibrate(GOOD, labelled(60) + failed).guarantee == calibrate(GOOD, labelled(60)).guarantee


def screened_cases():
    """Twenty empty answers, of which people pass two, and a hundred others, of which the judge gets five wrong."""
    empty = [Case(id=f"e{i}", metadata={"good": False, "human_label": i < 2}) for i in range(20)]
    return empty + labelled(100, {3, 18, 47, 60, 75})


def test_screening_tiers_are_counted_apart_and_run_as_before():
    jury = CascadedJury([SCREEN, Tier("rest", GOOD)])
    found = calibrate(jury, screened_cases(), 0.88)
    alone = calibrate(cascade(("rest", GOOD)), screened_cases()[20:], 0.88).guarantee
    figures = ("n", "decided", "errors", "bound", "tiers", "constant_agreement")
    assert (
        all(getattr(found.guarantee, name) == getattr(alone, name) for name in figures),
        found.guarantee.screened,
        found.guarantee.screened_errors,
        [tier.name for tier in found.tiers],
    ) == (True, 20, 2, ["screen", "rest", "abstained"])
    verdict = found.judge(screened_cases()[0])
    assert (
        verdict.passed,
        verdict.stopped_at,
        verdict.by_rule,
        "screening tiers: agreement 0.900" in "\n".join(map(str, found.guarantee.figures())),
        "of the decided cases behind the screening tiers agree" in str(found.guarantee),
        str(found.guarantee).endswith("not guaranteed: screening tiers decide 20, of which 2 disagree"),
    ) == (False, "screen", *[True] * 4)


def test_cases_on_which_a_screening_tier_broke_are_left_out():
    for if_broken in ("escalate", "reject"):
        screen = Tier("screen", at_times("7"), "reject_on_any_fail", if_broken=if_broken)
        cases = [case.but(metadata={"good": True, "human_label": True}) for case in labelled(100)]
        found = calibrate(CascadedJury([screen, Tier("rest", GOOD)]), cases).guarantee
        assert (found.n, found.screened, found.broken) == (90, 0, 10)


@pytest.mark.parametrize(
    ("jury", "cases", "options", "message"),
    [
        (GOOD, labelled(29), {}, "29 independent labelled cases are too few; a guarantee takes 30 or more"),
        (CascadedJury([SCREEN, Tier("rest", GOOD)]), screened_cases()[:49], {}, "29 .* of 49 that reach the tiers"),
        (GOOD, labelled(40), {"agreement": 0.95}, "no threshold shows an agreement of 0.95"),
    ],
)
def test_labels_that_show_too_little(jury, cases, options, message):
    with pytest.raises(CalibrationFailed, match=message):
        calibrate(jury, cases, **options)


def test_a_refusal_says_how_each_tier_and_a_constant_answer_agree():
    cases = [case.but(metadata={**case.metadata, "human_label": int(case.id) < 54}) for case in labelled(60)]
    with pytest.raises(CalibrationFailed) as failed:
        calibrate(cascade(("quick", GOOD), ("careful", GOOD)), cases)
    said = [f"{one.of} {one.value:.2f} of {one.n}" for one in failed.value.figures]
    assert (said, "always PASS: agreement 0.900" in str(failed.value)) == (
        ["quick 0.50 of 60", "careful 0.50 of 60", "always PASS 0.90 of 60"],
        True,
    )


def test_a_guarantee_names_the_agreement_of_a_constant_answer():
    cases = [case.but(metadata={"good": int(case.id) % 20 > 0, "human_label": True}) for case in labelled(100)]
    found = calibrate(GOOD, cases).guarantee
    assert (
        found.constant,
        found.constant_agreement,
        found.errors,
        "always answering PASS agrees with 1.000" in str(found),
    ) == ("PASS", 1.0, 5, True)
    coverage, agreement, constant, saved = found.figures()
    assert (coverage.value, agreement.value, constant.value, saved.value, str(agreement)) == (
        1.0,
        0.95,
        1.0,
        0.0,
        "agreement 0.950 [0.888, 0.978] (n = 100); guaranteed: 0.9",
    )


def test_juries_that_cannot_be_calibrated():
    early = Ensemble([GOOD, GOOD], schedule="early_stop")
    for jury, message in (
        (CascadedJury([Tier("a", GOOD, "escalate_on_split"), SCREEN, Tier("b", GOOD)]), "'screen' .* goes before all"),
        (cascade(("a", GOOD), ("abstained", GOOD)), "give yours another name"),
        (cascade(("a", GOOD), ("b", early)), "'b' stops early"),
        (calibrate(GOOD, labelled(60)), "calibrate its .jury"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            calibrate(jury, labelled(60))


def test_levels_have_ranges():
    for options in ({"agreement": 90}, {"agreement": 1.0}, {"delta": 0}, {"delta": 0.3}):
        with pytest.raises(ConfigurationError, match=r"between 0 and 1, and 0 < delta <= 0\.25; not"):
            calibrate(GOOD, labelled(60), **options)


def test_results_are_not_asked_again_and_what_they_lack_is(tmp_path):
    first, last = [], []
    jury = CascadedJury(
        [
            Tier("first", sure("good", name="first", seen=first), "escalate_below", 0.8),
            Tier("last", sure("good", name="last", seen=last)),
        ]
    )
    cases = [case.but(metadata={**case.metadata, "sure": (0.9, 0.6)[int(case.id) % 3 == 0]}) for case in labelled(90)]
    with ResultsFile(tmp_path / "r.jsonl", jury, label="human_label") as results:
        assert len([*results.judge(cases)]) == 90
    assert (len(first), len(last)) == (90, 30)
    found = calibrate(jury, tmp_path / "r.jsonl")
    assert (
        len(first),
        len(last),
        found.guarantee
        == calibrate(jury, cases).guarantee
        == calibrate(jury, read_results(tmp_path / "r.jsonl")).guarantee,
    ) == (90, 90, True)
    with pytest.raises(InputError, match="result 1 is of another jury"):
        calibrate(GOOD, tmp_path / "r.jsonl")


def test_results_of_a_jury_without_tiers_ask_nothing(tmp_path):
    seen = []
    jury = sure("good", seen=seen)
    with ResultsFile(tmp_path / "r.jsonl", jury, label="human_label", group="id") as results:
        list(results.judge(labelled(60)))
    assert (calibrate(jury, tmp_path / "r.jsonl").guarantee.n, len(seen)) == (60, 60)


def model(prompt):
    number = re.search(r"answer (\d+)", prompt.turns[-1].text)
    answer = "YES" if number and int(number[1]) % 2 == 0 else "NO"
    return json.dumps({"reasoning": "-", "answer": answer})


def test_a_store_pays_once_and_a_spent_budget_gives_no_guarantee(tmp_path):
    scripted = ScriptedModel(model, usd_per_token=1e-6)
    critic = Critic(scripted, prompt="Judge: {answer}", labels={"YES": "pass", "NO": "fail"})
    with pytest.raises(CalibrationFailed, match="the budget was spent"):
        calibrate(critic, labelled(60), budget=Budget(max_calls=20))
    with open_store(tmp_path / "s.db") as store:
        guarantee = calibrate(critic, labelled(60), store=store).guarantee
        calls = len(scripted.prompts)
        assert calibrate(critic, labelled(60), store=store).guarantee == guarantee
    assert (len(scripted.prompts), guarantee.errors) == (calls, 0)


def test_the_cost_that_is_saved_is_that_of_the_calls():
    cheap, dear = (
        Critic(
            ScriptedModel(model, usd_per_token=price, model=f"m{price}"),
            prompt="Judge: {answer}",
            labels={"YES": "pass", "NO": "fail"},
        )
        for price in (1e-6, 1e-5)
    )
    found = calibrate(cascade(("cheap", cheap), ("dear", dear)), labelled(60)).guarantee
    assert (dict(found.tiers), found.cost_saved) == ({"cheap": 60, "dear": 0}, pytest.approx(0.9))


def test_a_guarantee_is_loaded_without_numpy_and_calibrate_says_what_it_needs():
    program = """
import sys
sys.modules["numpy"] = None
from jury_adapters.calibrate import CalibratedJury, Guarantee
try:
    from jury_adapters.calibrate import calibrate
except ModuleNotFoundError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'jury-adapters[stats]'" in run.stdout
