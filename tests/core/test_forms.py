"""Forms of judgments: whatever is counted once for a form is the same for every judgment of that form."""

from random import Random

import pytest
from support.random_verdicts import RandomVerdicts

from jury_adapters import Judgment, Usage, Verdict
from jury_adapters.core import forms, opinions
from jury_adapters.core.forms import FormCounts, by_form, form_of
from jury_adapters.core.label_opinions import LabelOpinions
from jury_adapters.core.tally import Tally
from jury_adapters.report import embedded, figures, review_order, run_facts
from jury_adapters.report.jury_facts import JuryFacts
from jury_adapters.report.late_texts import LateTexts
from jury_adapters.report.verdict_counts import VerdictCounts

BY_FORM = [opinions._comparable_places, review_order._urgency, figures._asked_in, figures._cast_in]
OF_FORM = [run_facts._outcome]


def told_by(judgment):
    """Return everything that counts on a judgment alone, as plain values without the names of marks."""
    counts, beside, jury, late = VerdictCounts(), LabelOpinions(), JuryFacts(), LateTexts()
    late._mark = "mark"
    counts.add(judgment, "group", 1)
    beside.add(judgment, ("valid", "group"), 1)
    jury.add(judgment)
    return [
        *(function.__wrapped__(judgment) for function in BY_FORM),
        *(function(judgment) for function in OF_FORM),
        contents(counts),
        contents(beside),
        contents(jury),
        embedded._Shared.of(judgment, late),
    ]


def contents(value):
    """Return the contents of an object with all that is inside it."""
    if hasattr(value, "__slots__") and not isinstance(value, str | tuple | dict):
        return {name: contents(getattr(value, name)) for name in value.__slots__}
    if hasattr(value, "__dict__") and not isinstance(value, str | dict):
        return {name: contents(one) for name, one in vars(value).items()}
    if isinstance(value, dict):
        return {key: contents(one) for key, one in value.items()}
    return value


def one_by_one(judgments):
    counts, beside = VerdictCounts(), LabelOpinions()
    for judgment, group in judgments:
        counts.add(judgment, group, 1)
        beside.add(judgment, (group, group), 1)
    return contents(counts), contents(beside)


def by_their_forms(judgments):
    counts, beside = VerdictCounts(), LabelOpinions()
    waiting = FormCounts(counts.add), FormCounts(beside.add)
    for judgment, group in judgments:
        waiting[0].add(judgment, group)
        waiting[1].add(judgment, (group, group))
    for one in waiting:
        one.hand_on()
    return contents(counts), contents(beside)


@pytest.mark.parametrize("seed", range(20))
def test_a_change_that_leaves_the_form_changes_nothing_that_is_counted(seed):
    make = RandomVerdicts(Random(seed))
    alike = 0
    for _ in range(60):
        judgment = make.verdict()
        other = make.changed(judgment)
        if form_of(judgment) is form_of(other):
            alike += 1
            assert told_by(judgment) == told_by(other)
    assert alike  # the random changes find some


@pytest.mark.parametrize("seed", range(5))
def test_counts_by_form_are_the_counts_of_each_judgment(seed):
    make = RandomVerdicts(Random(seed))
    some = [make.verdict() for _ in range(30)]
    judgments = [(make.draw.choice(some), make.draw.choice(["x", "y"])) for _ in range(300)]
    for told, expected in zip(by_their_forms(judgments), one_by_one(judgments), strict=True):
        close = pytest.approx(expected.pop("agreements", 0))
        assert told.pop("agreements", 0) == close
        assert told == expected


CHANGES = {
    "status": Judgment("FAIL", critic="a"),
    "label": Judgment("PASS", critic="a", label="valid"),
    "name": Judgment("PASS", critic="b"),
    "model": Judgment("PASS", critic="a", model="m"),
    "score": Judgment("PASS", critic="a", score=0.7),
    "uncounted calls": Judgment("PASS", critic="a", usage=Usage(cost_complete=False)),
    "failed run": Judgment("PASS", critic="a", metadata={"run_error": "down"}),
    "fallback": Judgment("PASS", critic="a", metadata={"fallback_used": {"judge": "b"}}),
    "rubric": Judgment("PASS", critic="a", metadata={"rubric_fingerprint": "r"}),
    "model that was not asked": Judgment("PASS", critic="a", metadata={"not_asked": "m1"}),
    "another model that was not asked": Judgment("PASS", critic="a", metadata={"not_asked": "m2"}),
    "reason of an abstention": Judgment("ABSTAIN", critic="a", reasoning="unsure"),
    "another reason of an abstention": Judgment("ABSTAIN", critic="a", reasoning="no contexts"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_judgments_that_count_differently_have_different_forms(change):
    others = [Judgment("PASS", critic="a"), *(one for name, one in CHANGES.items() if name != change)]
    assert all(form_of(CHANGES[change]) is not form_of(other) for other in others)
    nested = [Verdict("PASS", judgments=[one]) for one in (CHANGES[change], others[0])]
    assert form_of(nested[0]) is not form_of(nested[1])


TALLY = {"on": "status", "eligible": 2, "ballots": ("PASS", "FAIL")}
VERDICT_CHANGES = [
    {"voting": "median"}, {"band_on": "share"}, {"partial": True}, {"calls_saved": 1}, {"weights": (1, 2)},
    {"same_family": True},
    {"skipped": ("c",)}, {"stopped_at": "last"}, {"decision": "final"}, {"tally": Tally(**TALLY | {"on": "label"})},
    {"tally": Tally(**TALLY | {"eligible": 1})}, {"tally": Tally(**TALLY | {"ballots": ("PASS",)})},
    {"tally": Tally(**TALLY, tied=True)}, {"tally": Tally(**TALLY, errors_decided=True)},
]  # fmt: skip


def test_verdicts_that_count_differently_have_different_forms():
    usual = {"tally": Tally(**TALLY), "voting": "majority"}
    forms = {id(form_of(Verdict("FAIL", **usual | change))) for change in ({}, *VERDICT_CHANGES)}
    assert len(forms) == 1 + len(VERDICT_CHANGES)


def test_texts_times_and_costs_are_not_part_of_the_form():
    one = Judgment("PASS", reasoning="a", confidence=0.1, elapsed_s=1, usage=Usage(calls=1, cost_usd=0.1))
    other = Judgment("PASS", reasoning="b", confidence=0.9, elapsed_s=2, usage=Usage(calls=7, cost_usd=0.2))
    assert form_of(one) is form_of(other)


def test_a_judgment_that_cannot_be_hashed_has_a_form_of_its_own():
    odd = [Verdict("PASS", tally=Tally(ballots=([1],))) for _ in range(2)]
    assert form_of(odd[0]).judgment is odd[0]
    assert form_of(odd[0]) is not form_of(odd[1])


def test_forms_are_forgotten_when_there_are_very_many():
    first = Judgment("PASS", label="first")
    form = form_of(first)
    for number in range(3_000):
        form_of(Judgment("PASS", label=f"{number}"))
    assert form_of(first) is not form
    assert form_of(first) is form_of(Judgment("PASS", label="first", reasoning="again"))


def test_counts_of_very_many_forms_are_handed_on_in_between_and_none_is_lost():
    handed = []
    counts = FormCounts(lambda judgment, key, times: handed.append((judgment.label, times)))
    for number in range(3_000):
        counts.add(Judgment("PASS", label=f"{number}"), None)
    assert handed
    counts.hand_on()
    counts.hand_on()
    assert handed == [(f"{number}", 1) for number in range(3_000)]


def test_a_function_by_form_is_called_once_for_each_form():
    calls = []
    function = by_form(lambda judgment: calls.append(judgment.status) or None)
    for status in ("PASS", "FAIL", "PASS"):
        assert function(Judgment(status, reasoning=f"{len(calls)}", model="counted once")) is None
    assert calls == ["PASS", "FAIL"]


def test_each_vote_on_scores_has_a_form_of_its_own_and_is_not_kept():
    verdicts = [
        Verdict("PASS", tally=Tally("score", 2, ballots=(0.5, 0.7)), critic="a vote on scores") for _ in range(2)
    ]
    one, other = map(form_of, verdicts)
    assert one is not other
    assert one.judgment is verdicts[0]
    assert not [form for form in forms._FORMS.values() if form.judgment.critic == "a vote on scores"]
