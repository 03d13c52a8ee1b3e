"""Audits of cases that were not made for them: copies, other languages, long texts, wrong use."""

from random import Random
from xml.etree import ElementTree

import pytest
from support.proportion import assert_proportional

from jury_adapters import ConfigurationError, Ensemble, judge
from jury_adapters.audit import OPERATORS, Sizes, audit, audit_pairs, example_cases, plan_audit
from jury_adapters.audit.junit import junit_of
from jury_adapters.report.audit_page import audit_page

CHINESE = [{"question": "水箱多大？", "answer": "水箱很大。", "contexts": ["水箱很大。"]}]  # noqa: RUF001


@judge(name="generous")
def generous(case):
    return True


@pytest.mark.slow
def test_copies_of_a_case_count_once():
    few = example_cases()[:4]
    copies = [
        case.model_copy(update={"metadata": {"id": number}, "answer": f" {case.answer}\n"})
        for number in range(10) for case in few
    ]  # fmt: skip
    once, often = plan_audit(generous, few), plan_audit(generous, [*few, *copies])
    assert [probe.case.answer for probe in often.probes] == [probe.case.answer for probe in once.probes]


@pytest.mark.slow
def test_copies_make_no_false_findings():
    right = {case.answer for case in example_cases()}
    found = 0
    for seed in range(20):
        random = Random(seed)
        passed = {case.question for case in example_cases() if random.random() < 0.2}  # which is tolerated

        @judge(name="tolerable")
        def tolerable(case, passed=passed):
            return case.question in passed or case.answer in right

        cases = [case for case in random.sample(example_cases(), 6) for _ in range(10)]
        found += bool(audit(tolerable, cases, sizes=Sizes(60, 0, 0)).findings)
    assert found == 0


def test_pairs_of_answers_that_no_operator_can_change_are_refused():
    with pytest.raises(ConfigurationError, match="no operator can make a wrong answer"):
        audit_pairs(generous, CHINESE)


GERMAN = [
    {"question": "Welches Maß?", "answer": f"Die Bremsscheiben haben ein Verschleißmaß von {size} mm.",
     "contexts": ["Die Bremsscheiben haben ein Verschleißmaß von 110 mm oder von 120 mm."]}
    for size in (110, 120)
]  # fmt: skip
LACKS = {
    "another language": (GERMAN, "2 answers do not read as English, which most changes need"),
    "no fact": (
        [{"question": "q", "answer": "It is so.", "contexts": ["It is so."]}],
        "no answer has a fact that can be changed so that it is certainly wrong",
    ),
}


@pytest.mark.parametrize(("cases", "why"), LACKS.values(), ids=LACKS)
def test_an_audit_without_a_wrong_answer_says_why(cases, why):
    operators = ["number", "citation", "unit"]
    plan = plan_audit(generous, cases, operators=operators)
    found = plan.run()
    assert plan.lack == found.lack == found.to_dict()["lack"]
    assert found.lack.startswith("no wrong answer could be made of ")
    assert found.lack.endswith(why)
    assert f"nothing is known of the kill rate, because {found.lack}" in str(found)
    assert "none beyond chance" not in str(found)
    assert f"Nothing is known of the kill rate, because {found.lack}" in audit_page(found)
    assert "No weakness beyond chance" not in audit_page(found)
    assert found.unmet(min_kill_rate=0.8) == (f"kill rate: {found.lack}",)


def test_an_audit_that_asks_for_no_wrong_answer_or_makes_one_lacks_none():
    assert plan_audit(generous, GERMAN, operators=["layout"]).lack == ""
    assert plan_audit(generous, GERMAN, sizes=Sizes(per_operator=0)).lack == ""
    assert "none beyond chance" in str(audit(generous, example_cases()[:3], sizes=Sizes(2, 0, 0)))


@pytest.mark.parametrize("pairs", [0, -1, "3", True, 2.5])
def test_a_number_of_pairs_is_a_number(pairs):
    with pytest.raises(ConfigurationError, match="pairs is a number of pairs from 1"):
        audit_pairs(generous, pairs=pairs)


@pytest.mark.slow
def test_long_answers_take_time_in_proportion():
    def plan(numbers):
        answer = " ".join(f"{number} km and the" for number in range(numbers))
        plan_audit(generous, [{"question": "q", "answer": answer, "contexts": ["the is of"]}])

    assert_proportional(plan, 50)


@pytest.mark.slow
def test_a_jury_with_the_name_of_a_juror_is_told_from_it():
    @judge(name="strict")
    def strict(case):
        return case.answer in {one.answer for one in example_cases()}

    jury = Ensemble([generous, strict, strict.named("second")], name="generous", voting="majority")
    report = audit(jury, sizes=Sizes(30, 10, 10))
    assert len({one.name for one in report.subjects}) == 4
    assert "misses_wrong_answers" not in {one.name for one in report.findings if one.subject == report.jury.name}
    first = junit_of(report).split("<testcase")[2]
    assert "gives PASS" not in first


def reminders(*languages):
    """Right answers that give advice about a quantity, which operators leave alone, in different languages."""
    texts = {
        "en": ("You may park for {} minutes near gate {}.", "Visitors may park for {} minutes near gate {}."),
        "fr": ("Vous pouvez rester {} minutes à la porte {}.", "On peut rester {} minutes à la porte {}."),
        "de": ("Sie dürfen {} Minuten an Tor {} parken.", "Gäste dürfen {} Minuten an Tor {} parken."),
    }
    for number, language in enumerate(languages):
        answer, context = (text.format(20 + number, 3 * number + 1) for text in texts[language])
        yield {"question": "How long?", "answer": answer, "contexts": [context]}


@pytest.mark.parametrize(
    ("languages", "foreign"), [(["en"] * 4, ""), (["en", "fr", "de"], "2 do not"), (["en", "de"], "1 does not")]
)
def test_an_audit_names_the_operators_without_a_place_and_of_how_many_errors_its_rate_is(languages, foreign):
    plan = plan_audit(generous, list(reminders(*languages)), sizes=Sizes(5, 2, 0))
    found = plan.run()
    wrong = [one.name for one in OPERATORS if one.effect == "wrong" and one.default]
    missing = [name for name in wrong if name not in found.jury.kills]
    assert found.lack == ""
    assert missing == list(found.unplaced.errors) == found.to_dict()["unplaced"]["errors"]
    assert found.to_dict()["measured_errors"] == [name for name in wrong if name not in missing]
    said = f"nothing is known of {len(missing)} of {len(wrong)} kinds of error"
    assert said in str(found)
    assert ", ".join(missing) in str(found)
    assert foreign in str(found)
    assert ("English" in str(found)) is bool(foreign)
    kinds = f"{len(wrong) - len(missing)} of {len(wrong)} kinds of error"
    assert f"Wrong answers that got FAIL (kill rate, of {kinds})" in str(found)
    page = audit_page(found)
    assert said.capitalize() in page
    assert f"an error by construction ({kinds}) got FAIL" in page
    suite = ElementTree.fromstring(junit_of(found))
    skipped = [case.get("name") for case in suite.iter("testcase") if case.find("skipped") is not None]
    assert skipped == [*found.unplaced.errors, *found.unplaced.forms]
    assert suite.get("skipped") == str(len(skipped))
    (unmet,) = found.unmet(min_kill_rate=0.99)
    assert unmet.startswith(f"kill rate of {kinds}: ")


def test_an_audit_names_other_forms_without_a_place_too():
    found = audit(generous, list(reminders("en", "en")), operators=["foreign_sentence", "layout", "date_notation"])
    assert "1 of 2 other forms of right answers, which found no place in the 2 given answers: date_notation" in str(
        found
    )
    assert found.kill_scope == ""


def test_an_audit_whose_operators_all_found_a_place_names_none():
    found = audit(generous, sizes=Sizes(3, 0, 0))
    assert "nothing is known" not in str(found)
    assert found.unplaced.sentences == ()
    assert "Wrong answers that got FAIL (kill rate)" in str(found)
    assert "skipped/" not in junit_of(found)
