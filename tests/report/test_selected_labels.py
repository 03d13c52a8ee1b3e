"""Labelled cases that are not like the others correct no difference, whatever differs beside the answers."""

import random
import re

import pytest

from jury_adapters import Case, Judgment
from jury_adapters.calibration.random_samples import association_p_value
from jury_adapters.core.batch import Judged
from jury_adapters.core.statistics import fisher_less
from jury_adapters.report import Report

KINDS = {
    "the same passages": lambda system: {"contexts": ["A passage."]},
    "other passages": lambda system: {"contexts": [f"A passage as {system} cuts it."]},
    "no passages": lambda system: {},
    "other steps": lambda system: {"trajectory": [{"tool": f"search of {system}"}]},
    "other sources": lambda system: {"retrieved_ids": [f"{system}1"]},
}


def rows(system, more, texts):
    """30 answers with their labels; b is wrong where it has another answer."""
    return [
        {"id": f"q{at}", "question": f"{at}?", "answer": text, "gold": text == "Yes.", **more(system)}
        for at, text in enumerate(texts)
    ]


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def systems(request):
    """Rows of two systems: every third answer of b is another one."""
    texts = ["No." if at % 3 == 0 else "Yes." for at in range(30)]
    return rows("a", request.param, ["Yes."] * 30), rows("b", request.param, texts)


def run(found):
    cases = [Case.from_row({name: value for name, value in row.items() if name != "gold"}) for row in found]
    return Report.from_results(
        [
            Judged(at, case, Judgment("PASS" if case.answer.endswith("Yes.") else "FAIL"))
            for at, case in enumerate(cases)
        ]
    )


def corrected(systems, labels):
    a, b = map(run, systems)
    return a.compare(b, labels=labels).corrected


@pytest.mark.parametrize("system", [0, 1])
def test_labels_of_one_system_do_not_correct(systems, system):
    found = corrected(systems, systems[system])
    assert found.value is None
    assert found.reason.startswith("both answers are the same in 20 of 20 cases with both labels, and in 0 of the 10 ")


def test_a_few_labels_of_the_other_system_do_not_make_a_random_sample(systems):
    found = corrected([part[:12] for part in systems], [*systems[0], *systems[1][:3]])
    assert found.value is None
    assert found.reason.startswith(
        "of the cases with different answers, 3 have a label of one answer only and 1 of both; where both answers are "
        "the same, one label is that of both (8 cases), so the cases with both labels are not a random sample"
    )


def test_independent_samples_of_labels_are_not_called_what_they_are_not(systems):
    """Two random halves label both answers of more cases where these are equal, because one label is then enough."""
    a, b = ([{**row, "id": f"{copy}{row['id']}"} for copy in "rst" for row in part] for part in systems)
    draw = random.Random(3)
    found = corrected((a, b), [row for part in (a, b) for row in part if draw.random() < 0.3])
    assert found.value is None
    assert "one label is that of both" in found.reason


def test_labels_of_both_systems_correct(systems):
    everything = corrected(systems, [*systems[0], *systems[1]])
    assert everything.value == pytest.approx(-1 / 3)
    some = corrected(systems, [*systems[0][:15], *systems[1][:15]])
    assert some.details["labelled"] == 15
    assert some.value == pytest.approx(-1 / 3)


def test_a_forgotten_label_does_not_matter(systems):
    assert corrected(systems, [*systems[0][:15], *systems[1][3:15]]).details["labelled"] == 14


def test_one_label_of_both_answers_everywhere_says_nothing_about_the_difference():
    """The verdicts differ because the passages do; the answers are the same."""
    more = KINDS["other passages"]
    systems = [rows(system, more, ["Yes."] * 30) for system in "ab"]
    found = corrected(systems, systems[0])
    assert found.value is None
    assert found.reason == (
        "in each of the 30 cases with both labels, one label is that of both answers, which are the same, so the "
        "labels pass as many answers of a as of b"
    )
    for row in systems[1][:10]:
        row["gold"] = False  # such as: not grounded in these passages
    assert corrected(systems, [*systems[0], *systems[1]]).value == pytest.approx(-1 / 3)


CHANCE = random.Random(7)
RIGHT = [[CHANCE.random() < share for _ in range(120)] for share in (0.6, 0.75)]


def judged(groups=1):
    """Two systems whose answers always differ; the jury is right, and every answer has a label."""
    found = []
    for system, right in zip("ab", RIGHT, strict=True):
        texts = [f"{system}: {'Yes.' if good else 'No.'}" for good in right]
        found.append([
            {"id": f"q{at}", "question": f"{at}?", "answer": text, "gold": good, "meta": {"doc": at * groups // 120}}
            for at, (text, good) in enumerate(zip(texts, right, strict=True))
        ])  # fmt: skip
    return found


def with_labels_of(chosen, groups=1, group=None):
    systems = judged(groups)
    first, second = map(run, systems)
    labels = [row for part in systems for row in (part[at] for at in chosen)]
    return first.compare(second, labels=labels, group=group).corrected


SELECTIONS = {
    "the verdicts differ": [at for at in range(120) if RIGHT[0][at] != RIGHT[1][at]][:30],
    "the verdict of a is PASS": [at for at in range(120) if not RIGHT[0][at]][:30],
    "the verdict of b is PASS": [at for at in range(120) if not RIGHT[1][at]][:30],
}


@pytest.mark.parametrize("fact", SELECTIONS)
def test_labels_of_changed_or_of_failed_cases_do_not_correct(fact):
    found = with_labels_of(SELECTIONS[fact])
    assert found.value is None
    said = re.match(rf"{fact} in (\d+) of 30 cases with both labels, and in (\d+) of the 90 others, so ", found.reason)
    assert int(said[1]) in (0, 30)


@pytest.mark.slow
def test_labels_of_random_cases_correct():
    refused = sum(with_labels_of(random.Random(seed).sample(range(120), 40)).value is None for seed in range(200))
    assert refused <= 3  # 0.8 are expected at most, by four tests at 0.001


def test_whole_groups_may_be_labelled_but_not_the_changed_cases_of_each():
    """Cases of one document are alike, so those of three of ten documents may differ much from the others."""
    spread = sorted(range(120), key=lambda at: RIGHT[1][at])
    systems = judged(10)
    for place, at in enumerate(spread):
        for part in systems:
            part[at]["meta"] = {"doc": place // 12}
    first, second = map(run, systems)
    of_groups = [row for part in systems for row in part if row["meta"]["doc"] < 3]
    alone = first.compare(second, labels=of_groups).corrected
    assert alone.reason.startswith("the verdict of b is PASS in ")
    grouped = first.compare(second, labels=of_groups, group="meta.doc").corrected
    assert grouped.value is not None
    changed = [part[at] for part in systems for at in SELECTIONS["the verdicts differ"]]
    assert (
        "so the labelled cases are not a random sample"
        in first.compare(second, labels=changed, group="meta.doc").corrected.reason
    )


def test_the_test_of_groups_is_exact():
    """By hand: two documents of four and three cases, of which two and one are labelled."""
    labelled, holds = [1, 1, 0, 0, 1, 0, 0], [1, 1, 0, 0, 1, 0, 0]
    p = association_p_value(labelled, holds, "aaaabbb")
    assert p == pytest.approx(2 * (1 / 6) * (1 / 3))
    assert association_p_value(labelled, holds, ()) == pytest.approx(2 * fisher_less(0, 4, 3, 3))
