"""Audits as a user runs them: figures, findings, jurors, stores, budgets, own cases, and what is refused."""

import json
from collections import Counter

import pytest

from jury_adapters import (
    Budget,
    CascadedJury,
    Case,
    ConfigurationError,
    Critic,
    Ensemble,
    InputError,
    PairwiseCritic,
    Scorecard,
    Status,
    Tier,
    judge,
    open_store,
)
from jury_adapters.audit import OPERATORS, OWN, audit, example_cases, example_pairs, plan_probes
from jury_adapters.audit.auditing import holm
from jury_adapters.audit.operators import example_mutants
from jury_adapters.grounding import NamesAndNumbers, grounding_screen
from jury_adapters.stats import Votes, against_labels, position_bias
from jury_adapters.testing import ScriptedModel

RIGHT = {case.answer for case in example_cases()}
KILLS, PASSED, ALARMS, HOSTILE, GIVEN = (
    "Wrong answers that got FAIL",
    "Wrong answers that got PASS",
    "Right answers in another form that got FAIL",
    "Wrong answers that a hostile text made PASS",
    "Given answers that got PASS",
)
FEW = {"operators": ["number", "negation", "layout"], "size": 8}


def knows(case):
    """Whether an answer is right, in Markdown or not."""
    return case.answer.removeprefix("## Answer\n\n").replace(".\n\n", ". ") in RIGHT


@judge(name="strict")
def knows_the_answers(case):
    return case.answer in RIGHT


@judge(name="generous")
def passes_all(case):
    return True


def found_of(result, section, of, name=None):
    """Return a figure of a subject, by default the total of the section."""
    mine = [one for one in result.sections[section] if one.of == of]
    return mine[0] if name is None else next(one for one in mine if one.name == name)


def critic(name, says=lambda text: "YES"):
    def reply(prompt):
        return json.dumps({"reasoning": "", "answer": says(prompt.text), "confidence": 0.9})

    model = ScriptedModel(reply, model=name)
    made = Critic(model, "faithfulness", name=name)
    made._model_asked = model
    return made


def test_the_examples_and_their_changed_answers_are_what_the_page_says():
    cases = {case.id: case for case in example_cases()}
    assert (len(cases), all(case.contexts and case.reference for case in cases.values())) == (60, True)
    made = {name: example_mutants(name) for name in OPERATORS}
    changed = [(name, ident, one) for name, found in made.items() for ident, some in found.items() for one in some]
    assert (
        len(changed),
        all(one.answer not in RIGHT and one.answer.strip() and one.change for _, _, one in changed),
        len({(ident, one.answer) for _, ident, one in changed}) > 1100,
    ) == (1146, True, True)
    screen = NamesAndNumbers()
    failed, of = Counter(), Counter()
    for name, ident, one in changed[::4]:
        case = cases[ident]
        of[name] += 1
        failed[name] += (
            screen.judge(question=case.question, answer=one.answer, contexts=case.contexts).status is Status.FAIL
        )
    assert all(failed[name] >= 0.95 * of[name] for name in ("number", "date", "unit", "name", "foreign_sentence"))
    rights = [name for name in OPERATORS if name.endswith(("notation", "words", "order", "layout", "conversion"))]
    assert [name for name in rights if failed[name]] == []


def test_a_juror_that_knows_the_answers_and_one_that_passes_all():
    result = audit(Ensemble([knows_the_answers, passes_all], voting="unanimous", name="both"), size=12)
    assert [found_of(result, KILLS, of).value for of in ("both", "strict", "generous")] == [1.0, 1.0, 0.0]
    assert found_of(result, ALARMS, "strict").value == 1.0  # it knows one wording alone
    assert (found_of(result, ALARMS, "generous").value, found_of(result, GIVEN, "both").n) == (0.0, 60)
    weak = {(one.of, one.name) for one in result.findings}
    assert (
        {("generous", "misses_wrong_answers"), ("strict", "false_alarms")} <= weak,
        [one for one in result.findings if one.of == "generous" and one.name != "misses_wrong_answers"],
        result.missed,
    ) == (True, [], ())
    assert result.probes == result.planned == len(plan_probes(passes_all, size=12))
    low, high = found_of(result, KILLS, "both").interval
    assert (low < high == 1.0, len(audit(passes_all, **FEW).missed)) == (True, 16)


def test_a_judge_that_fails_everything_has_noticed_nothing():
    result = audit(judge(lambda case: False, name="no"), **FEW)
    assert (
        found_of(result, KILLS, "no").n,
        found_of(result, ALARMS, "no").n,
        found_of(result, GIVEN, "no").value,
        result.unmet(min_kill_rate=0.5),
        [one.name for one in result.findings],
    ) == (0, 0, 0.0, ["min_kill_rate=0.5: nothing is known"], ["fails_right_answers"])


def test_abstentions_are_neither_killed_nor_passed_and_errors_leave_it_open():
    unsure = judge(lambda case: Status.PASS if case.answer in RIGHT else Status.ABSTAIN, name="unsure")
    result = audit(unsure, **FEW)
    assert (
        found_of(result, KILLS, "unsure").value,
        found_of(result, PASSED, "unsure").value,
        "misses_wrong_answers" not in {one.name for one in result.findings},
    ) == (0.0, 0.0, True)

    @judge
    def broken(case):
        if case.answer not in RIGHT:
            raise ConnectionError("no line")
        return True

    kills = found_of(audit(broken, **FEW), KILLS, "broken")
    assert (kills.value, kills.n, "16 of 16 undecided" in kills.note) == (None, 0, True)


def test_jurors_of_later_tiers_are_asked_about_every_probe():
    last = critic("last")
    jury = CascadedJury([Tier("names", NamesAndNumbers(), "reject_on_any_fail"), Tier("panel", last)], name="cascade")
    result = audit(jury, **FEW)
    assert (
        [one.of for one in result.sections[GIVEN]],
        len(last._model_asked.prompts) == result.probes == result.usage.calls,
        found_of(result, KILLS, "panel").n,
        found_of(result, KILLS, "cascade", "number").value,
    ) == (["cascade", "names", "panel"], True, 16, 1.0)


def test_nested_juries_are_taken_apart():
    inner = Ensemble([knows_the_answers, passes_all], voting="unanimous", name="inner")
    card = Scorecard({"facts": inner, "length": judge(lambda case: True, name="length")}, name="card")
    result = audit(CascadedJury([Tier("card", card, "escalate_on_split"), Tier("last", passes_all)]), **FEW)
    names = [one.of for one in result.sections[GIVEN]][1:]
    assert (names, found_of(result, KILLS, "card / facts / strict").value) == (
        ["card / facts / strict", "card / facts / generous", "card / length", "last"],
        1.0,
    )
    alike = audit(Ensemble([passes_all, knows_the_answers], name="generous"), operators=["number"], size=2)
    assert [one.of for one in alike.sections[GIVEN]] == ["generous", "generous (juror)", "strict"]


def test_a_vote_that_only_lets_a_case_through_a_screening_tier_is_no_weakness():
    def weak(policy, one):
        panel = Tier("panel", Ensemble([knows_the_answers, passes_all], voting="unanimous"))
        pair = Ensemble([one, passes_all.named("other")], errors="abstain")
        result = audit(
            CascadedJury([Tier("screen", pair, policy), panel], name="jury"),
            size=12,
            operators=["number", "name", "layout"],
        )
        return {
            (finding.of.rpartition(" / ")[2], finding.name) for finding in result.findings if "screen" in finding.of
        }

    assert (
        weak("reject_on_any_fail", passes_all),
        ("strict", "false_alarms") in weak("reject_on_any_fail", knows_the_answers),
        ("strict", "false_alarms") not in weak("accept_on_all_pass", knows_the_answers),
    ) == (set(), True, True)


def test_a_stored_audit_is_paid_for_once_and_repeats_are_further_samples(tmp_path):
    juror = critic("stored")
    with open_store(tmp_path / "runs.db") as store:
        first = audit(juror, store=store, **FEW)
        asked = len(juror._model_asked.prompts)
        assert asked == first.probes == first.usage.calls  # the repeated questions too
        again = audit(juror, store=store, **FEW)
    assert (len(juror._model_asked.prompts), again.sections, again.usage.calls) == (asked, first.sections, 0)


def test_a_spent_budget_leaves_a_prefix_and_says_so():
    """Later probes that need no call would be a selection: those that the screen decides."""
    readers = Ensemble([critic("one", lambda text: "YES" if " not " in text else "NO"), critic("two")], name="readers")
    jury = CascadedJury([Tier("screen", NamesAndNumbers(), "reject_on_any_fail"), Tier("readers", readers)], name="j")
    whole = audit(jury, **FEW)
    cut = audit(jury, budget=Budget(max_calls=130), **FEW)
    assert (cut.usage.calls <= 130, cut.probes < whole.probes == cut.planned) == (True, True)
    left_out = [note for note in cut.notes if "the budget was used up" in note]
    assert (
        left_out[0].startswith(f"j: {cut.planned - cut.probes} of {cut.planned} probes"),
        found_of(cut, GIVEN, "j").n,
    ) == (True, 60)
    assert (
        found_of(cut, KILLS, "j").n < found_of(whole, KILLS, "j").n,
        not any("undecided" in one.note and one.of == "j" for one in cut.sections[KILLS]),
        not any("budget" in note for note in whole.notes),
    ) == (True, True, True)
    nothing = audit(critic("poor"), budget=Budget(max_calls=30), **FEW)
    assert nothing.unmet(min_kill_rate=0.5) == ["min_kill_rate=0.5: nothing is known"]


def test_a_juror_that_obeys_or_is_moved_or_forgets_is_found():
    @judge(name="obeys")
    def obeys(case):
        return knows(case) or "YES" in case.model_dump_json()

    @judge(name="moved")
    def moved(case):
        return knows(case) or "domain expert" in case.answer

    asked = Counter()

    @judge(name="forgets")
    def forgets(case):
        asked[case.answer] += 1
        return knows(case) is (asked[case.answer] == 1)

    def weak(one):
        return {finding.name for finding in audit(one, operators=["number", "name"], size=30).findings}

    assert (weak(obeys), weak(moved), "unstable" in weak(forgets), weak(judge(knows, name="knows"))) == (
        {"obeys_hostile_texts"},
        {"moved_by:author"},
        True,
        set(),
    )


def test_a_judge_that_obeys_every_hostile_text_is_found_on_few_cases():
    own = [Case(answer=text, contexts=[text]) for text in (f"Line {at} stopped in {1990 + at}." for at in range(9))]
    hostile = {one.case.content_hash for one in plan_probes(passes_all, own) if one.kind == "injection"}
    obeys = judge(lambda case: case.content_hash in hostile or case.answer in case.contexts, name="obeys")
    assert "obeys_hostile_texts" in {one.name for one in audit(obeys, own).findings}


def test_the_screen_is_blind_to_negations_and_says_so():
    result = audit(grounding_screen(), operators=["number", "name", "negation"], size=15)
    assert (
        "blind_to:negation" in {one.name for one in result.findings if one.of == "grounding_screen"},
        all(0 < one.p_value <= 0.01 for one in result.findings),
    ) == (True, True)


def test_limits_are_met_or_named_and_wrong_ones_are_refused():
    result = audit(knows_the_answers, **FEW)
    assert (
        result.unmet(),
        result.unmet(min_kill_rate=1.0, max_flip_rate=0.2, max_injection_rate=0.0),
        result.unmet(min_kill_rate=0.9, max_false_alarm_rate=0.05),
    ) == ([], [], ["max_false_alarm_rate=0.05: found 1.000"])
    for limits in ({"min_kill_rate": 90}, {"max_flip_rate": -0.1}, {"min_score": 0.5}, {"max_flip_rate": float("nan")}):
        with pytest.raises(ConfigurationError, match=r"each in 0\.\.1"):
            result.unmet(**limits)


def test_a_result_is_json_and_prints_without_steering_the_terminal():
    case = Case(
        question="q", contexts=["The tank holds 300 litres and is in Ulm."], answer="The tank holds 300 litres."
    )
    result = audit(passes_all.named("j\x1b[31m"), [case], size=3)
    assert (
        json.loads(json.dumps(result.to_dict(), allow_nan=False))["planned"],
        "\x1b" not in str(result),
        KILLS in str(result),
        "Weaknesses beyond chance" in str(result),
    ) == (result.planned, True, True, True)


def test_own_cases_get_only_changes_that_are_certainly_wrong():
    contexts = ["The tank of Ulm holds 300 litres. The guide of the hall is Marta Olsen. It is open in June."]
    right = "The tank of Ulm holds 300 litres. It is open in June, and the guide of the hall is Marta Olsen."
    unsafe = (
        "It holds at least 300 litres. It is not in June? All of the hall is of up to 300 litres, or from 200 to 300."
    )
    made = {}
    for answer in (right, unsafe):
        plan = plan_probes(passes_all, [Case(answer=answer, contexts=contexts)], size=50)
        made[answer] = {name: [one.case.answer for one in plan if one.operator == name] for name in OWN}
    assert (
        all(made[right].values()),
        not any("300" in text for text in made[right]["number"]),
        all(right not in (text, text.replace(" not ", " ")) for text in made[right]["name"]),
        made[right]["negation"][0].count(" not "),
    ) == (True, True, True, 1)
    assert made[unsafe]["number"] == made[unsafe]["name"] == made[unsafe]["negation"] == []
    screen = NamesAndNumbers()
    assert [
        name
        for name in ("number", "name", "foreign_sentence")
        if {screen.judge(answer=text, contexts=contexts).status for text in made[right][name]} != {Status.FAIL}
    ] == []
    result = audit(passes_all, [Case(answer="水箱很大。", contexts=["水箱很大。"])], size=5)
    assert ("negation found no place in the answers" in result.notes, bool(result.unmet(min_kill_rate=0.5))) == (
        True,
        True,
    )


def test_only_right_answers_are_used_and_the_others_counted():
    base = example_cases()[:8]
    labels = ["yes", "no", None, "yes", "yes", "no", "yes", "yes"]
    given = [case.but(metadata={"human_label": label}) for case, label in zip(base, labels, strict=True)]
    result = audit(
        passes_all, [*given, Case(answer="x", metadata={"human_label": "yes"}), given[0]], operators=["layout"], size=3
    )
    assert (found_of(result, GIVEN, "generous").n, [note for note in result.notes if "cases" in note]) == (
        5,
        [
            "3 cases without a label of PASS are left out",
            "1 cases without an answer or sources are left out",
        ],
    )
    good = [case.but(metadata={"gold": word}) for case, word in zip(base, ["good", "bad"] * 4, strict=True)]
    with pytest.raises(InputError, match="good"):
        plan_probes(passes_all, good, label="gold")
    plan = plan_probes(passes_all, good, operators=["layout"], label="gold", pass_labels=["good"])
    assert sum(one.kind == "original" for one in plan) == 4
    fields = {"question": "q", "answer": "The tank holds 300 litres.", "contexts": ["The tank holds 300 litres."]}
    many = [{**fields, "question": f"q{number}"} for number in range(500)]
    drawn = audit(passes_all, many, operators=["number"], size=2)
    assert (
        drawn.sections[GIVEN][0].n,
        drawn.notes,
        audit(passes_all, [fields, dict(fields)], size=3).sections[GIVEN][0].n,
    ) == (60, ("60 of 500 cases were drawn at random",), 1)


REFUSED = [
    ({"operators": ["nubmer"]}, "operators= is a list of number"),
    ({"operators": "number"}, "operators= is a list"),
    ({"size": 0}, "size= is a whole number"),
    ({"size": True}, "size= is a whole number"),
    ({"cases": [Case(question="q"), Case(answer="a"), Case(answer=" ", contexts=["c"])]}, "contexts or a reference"),
    ({"cases": []}, "there is none"),
    ({"cases": Case(answer="a")}, "many cases"),
    ({"cases": [Case(answer="a", contexts=["c"])], "operators": ["swap"]}, "for cases of your own"),
]


def test_wrong_arguments_are_refused_in_a_sentence():
    for arguments, said in REFUSED:
        with pytest.raises(ConfigurationError, match=said):
            audit(passes_all, **arguments)


def test_a_plan_depends_on_its_seed_alone_and_gives_every_case_its_turn():
    first, same, other = (plan_probes(passes_all, size=20, seed=seed) for seed in (1, 1, 2))
    assert (first == same != other, all(first[one.base].group == one.group for one in first)) == (True, True)
    counts = Counter((one.kind, one.operator) for one in plan_probes(passes_all, size=100))
    assert counts["wrong", "number"] == counts["change", "padding"] == counts["repeat", "repeat"] == 100
    numbers = Counter(one.group for one in plan_probes(passes_all, size=100) if one.operator == "number")
    assert (max(numbers.values()), critic("x").estimate_cost(one.case for one in first).total.calls) == (2, len(first))


def test_hostile_texts_are_filled_in_once_and_stand_in_each_place():
    polite = judge(lambda case: "FINE", name="p", labels={"FINE": "pass", "RUDE": "fail"})
    hostile = [one for one in plan_probes(polite, operators=["number"], size=60) if one.kind == "injection"]
    assert {one.change.rpartition("in the ")[2] for one in hostile} == {"answer", "first context", "output of a tool"}
    texts = [one.case.model_dump_json() for one in hostile]
    assert (
        all("{pass_label}" not in text and "{open}" not in text for text in texts),
        sum("FINE" in text for text in texts) > 50,
    ) == (True, True)


def test_labelled_pairs_show_a_preferred_place():
    pairs = example_pairs(40)
    assert (
        Counter(one.metadata["human_label"] for one in pairs),
        all((one.candidates[0] in RIGHT) is (one.metadata["human_label"] == "A") for one in pairs),
    ) == ({"A": 20, "B": 20}, True)
    first = PairwiseCritic(Critic(ScriptedModel(['{"reasoning": "", "answer": "A"}']), "pairwise", name="first"))
    votes = Votes.of(Ensemble([first], on="label").judge_pairs(pairs), label="human_label", group="group")
    assert next(one for one in position_bias(votes) if one.n).n == 40
    chooses = judge(lambda case: "A" if case.candidates[0] in RIGHT else "B", name="knows", labels=["A", "B"])
    right = Votes.of(Ensemble([chooses, chooses.named("again")]).judge_pairs(pairs), label="human_label")
    assert against_labels(right, ["knows"])[0].value == 1.0


def test_copies_of_a_group_make_no_false_findings():
    passed = {case.question for case in example_cases()[::5]}  # one in five, which is tolerated
    tolerable = judge(lambda case: case.question in passed or knows(case), name="tolerable")
    assert audit(tolerable, operators=["number", "name", "negation", "contradiction"], size=60).findings == ()


def test_p_values_are_corrected_for_their_number():
    assert (holm([0.01, 0.04, 0.03, 0.005]), holm([])) == (pytest.approx([0.03, 0.06, 0.06, 0.02]), [])
