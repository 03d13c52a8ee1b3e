"""Labelled cases that are not like the others correct no difference, whatever differs beside the answers."""

import pytest

from jury_adapters import Case, Judgment
from jury_adapters.core.batch import Judged
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
        [Judged(at, case, Judgment("PASS" if case.answer == "Yes." else "FAIL")) for at, case in enumerate(cases)]
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
    assert found.reason.startswith("both answers are the same in 8 of 9 cases with both labels, and in 0 of the 3 oth")


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
