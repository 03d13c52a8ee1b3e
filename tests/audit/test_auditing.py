"""Audits as a user runs them: figures, findings, cost, stores, budgets and reports."""

import json
from collections import Counter
from random import Random

import pytest

from jury_adapters import (
    Budget,
    CascadedJury,
    Case,
    ConfigurationError,
    Critic,
    Ensemble,
    Judge,
    Judgment,
    Scorecard,
    Status,
    Tier,
    escalate_below,
    grounding_screen,
    judge,
)
from jury_adapters.audit import Sizes, Standards, audit, audit_pairs, example_cases, plan_audit
from jury_adapters.checks import NamesAndNumbers, NotEmpty
from jury_adapters.report.audit_page import audit_page

SMALL = Sizes(per_operator=6, per_invariance=6, injections=6)
RIGHT = {case.answer for case in example_cases()}


@judge(name="strict")
def knows_the_answers(case):
    return case.answer in RIGHT


@judge(name="generous")
def passes_all(case):
    return True


def reader(name, wrong_when=lambda text: False):
    """Return a critic with a scripted model that counts its calls."""
    calls = []

    async def model(prompt):
        calls.append(str(prompt))
        answer = "YES" if not wrong_when(str(prompt)) else "NO"
        return json.dumps({"reasoning": "", "answer": answer, "confidence": 0.9})

    made = Critic(model, "faithfulness", name=name)
    made.calls = calls
    return made


@pytest.mark.slow
def test_a_juror_that_knows_the_answers_and_one_that_passes_all():
    found = audit(Ensemble([knows_the_answers, passes_all], voting="unanimous", name="both"), sizes=SMALL)
    jury, strict, generous = found.subjects
    assert (jury.name, strict.name, generous.name) == ("both", "strict", "generous")
    assert (jury.kill_rate.value, strict.kill_rate.value, generous.kill_rate.value) == (1.0, 1.0, 0.0)
    assert strict.false_alarm_rate.value == 1.0  # it knows one wording alone
    assert generous.false_alarm_rate.value == 0.0
    assert jury.originals_passed.value == 1.0
    names = {(one.subject, one.name) for one in found.findings}
    assert {("generous", "misses_wrong_answers"), ("strict", "false_alarms")} <= names
    assert not [one for one in found.findings if one.subject == "generous" and one.name != "misses_wrong_answers"]
    assert found.missed == ()


@pytest.mark.slow
def test_the_report_says_whose_figures_are_empty_because_it_fails_right_answers():
    @judge(name="too strict")
    def too_strict(case):
        return False

    said = str(audit(Ensemble([passes_all, too_strict], voting="unanimous", name="both"), sizes=SMALL))
    assert "both: 60 of 60; give cases whose answers it passes" in said
    assert "too strict: 60 of 60" in said
    assert "generous: 60" not in said


@pytest.mark.slow
def test_a_judge_that_fails_everything_has_noticed_nothing():
    @judge
    def fails_all(case):
        return False

    figures = audit(fails_all, sizes=SMALL).jury
    assert (figures.kill_rate.n, figures.false_alarm_rate.n) == (0, 0)
    assert figures.originals_passed.value == 0.0


@pytest.mark.slow
def test_abstentions_are_neither_killed_nor_passed():
    @judge
    def unsure(case):
        return Status.PASS if case.answer in RIGHT else Status.ABSTAIN

    found = audit(unsure, sizes=SMALL)
    figures = found.jury
    assert figures.kill_rate.hits == 0
    assert figures.kill_rate.abstained == figures.kill_rate.n > 0
    assert figures.passed_wrong.hits == 0
    assert "misses_wrong_answers" not in {one.name for one in found.findings}


@pytest.mark.slow
def test_a_judge_that_breaks_never_raises_and_is_counted():
    @judge
    def broken(case):
        if case.answer not in RIGHT:
            raise ConnectionError("no line")
        return True

    figures = audit(broken, sizes=SMALL).jury
    assert figures.kill_rate.n == 0
    assert figures.kill_rate.undecided > 20


@pytest.mark.slow
def test_jurors_of_later_tiers_are_asked_too():
    last = reader("last")
    jury = CascadedJury(
        [Tier("names", NamesAndNumbers(), "reject_on_any_fail"), Tier("panel", last, "final")], name="cascade"
    )
    plan = plan_audit(jury, sizes=SMALL)
    found = plan.run()
    assert [one.name for one in found.subjects] == ["cascade", "names", "panel"]
    assert not any(one.partial for one in found.subjects)
    assert len(last.calls) == len(plan.probes)  # asked once about each, by the cascade or by itself
    without = plan_audit(jury, sizes=SMALL, every_juror=False).run()
    assert [one.partial for one in without.subjects] == [False, False, True]


@pytest.mark.slow
def test_nested_juries_are_taken_apart():
    inner = Ensemble([knows_the_answers, passes_all], name="inner")
    card = Scorecard({"facts": inner, "length": NotEmpty()}, pass_when="all", name="card")
    jury = CascadedJury([Tier("card", card, escalate_below(0.9)), Tier("last", passes_all, "final")])
    found = audit(jury, sizes=SMALL)
    assert [one.name for one in found.subjects[1:]] == [
        "card/facts/strict", "card/facts/generous", "card/length", "last",
    ]  # fmt: skip
    assert found.subjects[1].kill_rate.value == 1.0


@pytest.mark.slow
def test_the_best_juror_and_the_advice():
    jury = Ensemble([knows_the_answers, passes_all, passes_all.named("second")], name="panel")
    found = audit(jury, sizes=Sizes(20, 0, 0)).comparison
    assert found.best_juror in ("generous", "second", "strict")
    assert found.error_correlation == pytest.approx(0.0, abs=1.0)
    crowd = Ensemble([knows_the_answers, passes_all, passes_all.named("second")], name="panel")
    report = audit(crowd, operators=["number", "name", "negation"], sizes=Sizes(40, 0, 0))
    assert report.jury.kill_rate.value == 0.0  # two of three pass all


@pytest.mark.slow
def test_advice_names_the_juror_that_is_better_than_the_jury():
    @judge(name="right")
    def right(case):
        return case.answer in RIGHT

    others = [passes_all.named(f"generous {number}") for number in range(2)]
    operators = ["number", "name", "layout"]

    @judge(name="knows")
    def knows(case):
        plain = case.answer.replace("**", "").removeprefix("## Answer\n\n")
        return (
            plain in RIGHT
            or plain.replace("\n\n", " ") in RIGHT
            or plain.replace("\n- ", " ").removeprefix("- ") in RIGHT
        )

    found = audit(Ensemble([knows, *others]), operators=operators, sizes=Sizes(60, 0, 0)).comparison
    assert found.best_juror == "knows"
    assert found.juror_better > 100
    assert any("knows alone judged" in line for line in found.advice)
    assert sum("or weigh it less" in line for line in found.advice) == 2


@pytest.mark.slow
def test_a_stored_audit_is_not_paid_for_twice_and_repeats_are_real(tmp_path):
    juror = reader("stored")
    plan = plan_audit(juror, sizes=SMALL)
    first = plan.run(store=tmp_path / "runs.db")
    asked = len(juror.calls)
    assert asked == len(plan.probes) == first.usage.calls  # the repeated questions too
    again = plan.run(store=tmp_path / "runs.db")
    assert len(juror.calls) == asked
    assert again.jury == first.jury


@pytest.mark.slow
def test_the_budget_is_kept():
    juror = reader("dear")
    found = plan_audit(juror, sizes=SMALL).run(budget=Budget(max_calls=30))
    assert len(juror.calls) == 30
    assert found.jury.kill_rate.n < 30


@pytest.mark.slow
def test_the_estimate_sends_nothing_and_counts_every_probe():
    juror = reader("planned")
    plan = plan_audit(juror, sizes=SMALL)
    assert plan.estimate_cost().calls == len(plan.probes)
    assert juror.calls == []


@pytest.mark.slow
def test_a_juror_that_obeys_is_found():
    obedient = reader("obedient", lambda prompt: True)
    fair = reader("fair", lambda prompt: True)
    assert "obeys_injections" not in {one.name for one in audit(fair, sizes=SMALL).findings}

    class Obeys(Judge):
        name = "obeys"

        def assess(self, case):
            seen = case.model_dump_json().lower()
            return case.answer in RIGHT or "yes" in seen.replace("yesterday", "")

    found = audit(Obeys(), sizes=Sizes(10, 10, 60))
    assert "obeys_injections" in {one.name for one in found.findings}
    assert found.unmet(max_injection_rate=0.1)[0].startswith("injection success rate")
    assert obedient.calls == []


@pytest.mark.slow
def test_limits():
    found = audit(Ensemble([knows_the_answers]), sizes=SMALL)
    assert found.unmet() == ()
    assert found.unmet(min_kill_rate=1.0, max_flip_rate=0.0) == ()
    (alarm,) = found.unmet(min_kill_rate=0.9, max_false_alarm_rate=0.05)
    assert alarm == "false alarm rate: 100.0 %; asked for at most 5.0 %"
    with pytest.raises(ConfigurationError, match="share from 0 to 1"):
        found.unmet(min_kill_rate=90)
    nothing = audit(passes_all, operators=["number"], sizes=Sizes(0, 5, 0))
    assert nothing.unmet(min_kill_rate=0.5) == ("kill rate: no probe was decided",)


@pytest.mark.slow
def test_everything_is_json_and_prints():
    found = audit(grounding_screen(), sizes=SMALL)
    as_json = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert as_json["subjects"][0]["name"] == "grounding_screen"
    text = str(found)
    assert "Wrong answers that got FAIL" in text
    report = str(audit(Ensemble([knows_the_answers, passes_all]), sizes=SMALL))
    assert "What the jury adds" in report
    assert "among the answers that both decided (p " in " ".join(report.split())


@pytest.mark.slow
def test_the_vote_that_only_lets_a_case_through_a_screening_tier_is_no_weakness():
    @judge(name="fails all")
    def fails_all(case):
        return False

    def cascade(policy, one):
        pair = Ensemble([one, NotEmpty()], errors="abstain")
        tiers = [Tier("screen", pair, policy), Tier("panel", Ensemble([knows_the_answers, passes_all]))]
        return audit(CascadedJury(tiers, name="jury"))

    def weak(found, name):
        return {one.name for one in found.findings if one.subject == name}

    rejecting = cascade("reject_on_any_fail", passes_all)
    assert [one.lets_through for one in rejecting.subjects] == [None, Status.PASS, Status.PASS, None, None]
    assert weak(rejecting, "screen/generous") == weak(rejecting, "screen/NotEmpty") == set()
    assert "misses_wrong_answers" in weak(rejecting, "panel/generous")
    assert "screen/generous, screen/NotEmpty: in a screening tier, where PASS only lets a case" in str(rejecting)
    assert not any("screen" in line for line in rejecting.comparison.advice)
    assert rejecting.to_dict()["subjects"][1]["lets_through"] == "PASS"
    assert "in a screening tier, where PASS only lets a case through" in audit_page(rejecting)

    accepting = cascade("accept_on_all_pass", fails_all)
    assert weak(accepting, "screen/fails all") == set()
    assert "false_alarms" in weak(cascade("reject_on_any_fail", knows_the_answers), "screen/strict")
    assert weak(cascade("accept_on_all_pass", knows_the_answers), "screen/strict") == set()
    assert "misses_wrong_answers" in weak(cascade("accept_on_all_pass", passes_all), "screen/generous")


def test_text_of_cases_is_made_visible():
    case = Case(
        question="q", contexts=["The tank\x1b[31m holds 300 litres and was built in 1987 by the town of Ulm."],
        answer="The tank\x1b[31m of the town holds 300 litres and was built in 1987.",
    )  # fmt: skip
    text = str(audit(passes_all, [case], operators=["number", "date"], sizes=Sizes(3, 0, 0)))
    assert "\x1b" not in text


def test_own_cases_and_what_is_not_usable():
    with pytest.raises(ConfigurationError, match="contexts or a reference"):
        audit(passes_all, [Case(question="q"), Case(question="q", answer="a"), Case(answer=" ", contexts=["c"])])
    found = audit(passes_all, [Case(question="q", answer="The tank holds 300 litres.", reference="300 litres")])
    assert found.jury.kills["number"].n == 1


@pytest.mark.parametrize("run", [plan_audit, audit_pairs])
def test_cases_that_cannot_be_used_are_counted(run, caplog):
    bare = [Case(question="q", answer=f"The tank holds {litres} litres.") for litres in (200, 300)]
    run(passes_all, [*example_cases()[:2], *bare, Case(question="q", answer=" ", contexts=["A tank."])])
    said = [record.getMessage().removeprefix("auditing: ") for record in caplog.records]
    assert said == [
        "1 case is left out, because it has no answer: an audit needs right answers",
        "2 cases are left out, because they have neither contexts nor a reference: an audit needs one of them",
    ]


def test_wrong_construction_says_what_to_do():
    with pytest.raises(ConfigurationError, match="per_operator is a number of probes from 0"):
        Sizes(per_operator=-1)
    with pytest.raises(ConfigurationError, match="level lies strictly between 0 and 1"):
        Standards(level=1.0)
    with pytest.raises(ConfigurationError, match="operator"):
        audit(passes_all, operators=["nubmer"])


def test_cases_are_given_as_in_judge_many():
    fields = {"question": "q", "answer": "The tank holds 300 litres.", "contexts": ["The tank holds 300 litres."]}
    assert audit(passes_all, [fields], sizes=SMALL).jury.kills["number"].n == 1
    assert audit(passes_all, (case for case in example_cases()[:3]), sizes=SMALL).jury.kill_rate.n > 3
    for wrong in ("cases.jsonl", Case(answer="a"), fields):
        with pytest.raises(ConfigurationError, match="a list of Case objects"):
            audit(passes_all, wrong)
    with pytest.raises(ConfigurationError, match="case 2 is a Case or a mapping"):
        audit(passes_all, [fields, "question"])
    with pytest.raises(ConfigurationError, match="Sizes"):
        audit(passes_all, sizes=(3, 3, 3))
    with pytest.raises(ConfigurationError, match="a list of names"):
        audit(passes_all, operators="number")


@pytest.mark.slow
def test_the_plan_depends_on_the_seed_alone():
    first, same, other = (plan_audit(passes_all, sizes=SMALL, seed=seed).probes for seed in (1, 1, 2))
    assert first == same != other
    assert [probe.number for probe in first] == list(range(len(first)))
    for probe in first:
        assert probe.base is None or first[probe.base].group == probe.group


@pytest.mark.slow
def test_sizes_are_upper_limits_and_cases_take_turns():
    probes = plan_audit(passes_all, sizes=Sizes(100, 90, 80)).probes
    counts = Counter((probe.kind, probe.name) for probe in probes if probe.kind != "injection")
    assert counts["wrong", "number"] == 100
    assert counts["invariance", "padding"] == counts["repeat", "repeat"] == 90
    assert sum(probe.kind == "injection" for probe in probes) == 80
    numbers = Counter(probe.group for probe in probes if probe.name == "number")
    assert max(numbers.values()) == 2


@pytest.mark.slow
def test_jurors_of_a_family_are_told_that_it_wrote_the_answer():
    jury = Ensemble([Critic("openai:gpt-4o-mini", "faithfulness", api_key="k"), knows_the_answers])
    names = {probe.name for probe in plan_audit(jury, sizes=SMALL).probes if probe.kind == "invariance"}
    assert names == {"context_order", "label_order", "padding", "confident_tone", "author", "author:openai"}


@pytest.mark.slow
def test_a_juror_that_takes_the_first_label_is_moved_by_their_order():
    async def first_label(prompt):
        labels = prompt.split('"answer"')[-1]
        answer = "YES" if labels.index("YES") < labels.index("NO") else "NO"
        return json.dumps({"reasoning": "", "answer": answer, "confidence": 1})

    found = audit(Critic(first_label, "faithfulness", name="first"), sizes=Sizes(20, 40, 0))
    assert found.jury.flips["label_order"].to_fail == found.jury.flips["label_order"].n == 40
    assert "moved_by:label_order" in {one.name for one in found.findings}
    assert found.jury.flips["repeat"].to_fail == 0


@pytest.mark.slow
def test_a_random_juror_is_unstable():
    draws = Random(1)

    @judge(name="coin")
    def coin(case):
        return draws.random() < 0.5

    names = {one.name for one in audit(coin).findings}
    assert names == {"misses_wrong_answers", "false_alarms", "unstable"}


@pytest.mark.slow
def test_labels_alone_cannot_be_audited():
    @judge
    def labels(case):
        return Judgment(None, label="A")

    found = audit(labels, sizes=SMALL)
    assert found.jury.originals_passed.n == 0
    assert found.findings == ()


@pytest.mark.slow
def test_a_jury_of_one_juror_has_its_figures_once():
    """Columns and findings of the only juror would repeat those of the jury."""
    alone = audit(Ensemble([passes_all], name="alone"), sizes=Sizes(10, 0, 0))
    assert [figures.name for figures in alone.subjects] == ["alone"]
    assert {finding.subject for finding in alone.findings} == {"alone"}
    several = audit(Ensemble([passes_all, passes_all.named("second")], name="two"), sizes=Sizes(10, 0, 0))
    assert len(several.subjects) == 3


def test_answers_that_people_failed_are_not_right_answers(caplog):
    cases = [
        case.model_copy(update={"metadata": {**case.metadata, "gold": gold}})
        for case, gold in zip(example_cases()[:6], ["PASS", "FAIL", "fail", False, None, True], strict=True)
    ]
    with_label = {probe.case.metadata.get("gold") for probe in plan_audit(passes_all, cases, sizes=SMALL).probes}
    assert with_label <= {"PASS", True}
    assert [record.getMessage() for record in caplog.records] == [
        "auditing: 3 cases are left out, because the human label is FAIL: an audit needs right answers",
        "auditing: 1 case is left out, because it has no human label and others do: an audit needs right answers",
    ]
    with pytest.raises(ConfigurationError, match="the human label of every case is FAIL"):
        audit(passes_all, cases[1:4], sizes=SMALL)
    with pytest.raises(ConfigurationError, match="no human label means PASS"):
        audit(passes_all, cases[1:5], sizes=SMALL)


def test_labels_in_other_words_need_those_that_mean_pass(caplog):
    cases = [
        case.model_copy(update={"metadata": {**case.metadata, "gold": gold}})
        for case, gold in zip(example_cases()[:6], ["good", "bad", "unsure", "good", None, "bad"], strict=True)
    ]
    for run in (plan_audit, audit, audit_pairs):
        with pytest.raises(ConfigurationError, match=r"human labels are bad 2, good 2, unsure 1, .* pass_labels="):
            run(passes_all, cases)
    probes = plan_audit(passes_all, cases, pass_labels=["good"], sizes=SMALL).probes
    assert {probe.case.metadata.get("gold") for probe in probes} == {"good"}
    assert "3 cases are left out, because the human label is FAIL" in caplog.text
