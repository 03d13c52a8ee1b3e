"""What counts as passed, failed and undecided, and which cases belong together."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from panels import panel, results, rows_of, said

from jury_adapters import CascadedJury, Case, Ensemble, Judgment, PairwiseCritic, Scorecard, Tier, Usage, all_of
from jury_adapters.calibrate import Guarantee
from jury_adapters.core.judgment import failed_run
from jury_adapters.core.results import Result
from jury_adapters.core.values import ConfigurationError, InputError
from jury_adapters.report import Report, Summary
from jury_adapters.report.counting import CONTESTED
from jury_adapters.report.summary import votes_of
from jury_adapters.stats import Votes, pass_rate
from jury_adapters.testing import ScriptedJudge


def judge_of(letter, name=""):
    return ScriptedJudge([said(letter)], name=name or letter)


def counted(*judgments):
    summary = Summary()
    for one in judgments:
        summary.add(one)
    return summary


def cascade(first, last, policy="reject_on_any_fail", **options):
    screen = Ensemble({name: judge_of(letter) for name, letter in zip("xyz", first, strict=False)}, name="screen")
    return CascadedJury([Tier("screen", screen, policy, **options), Tier("end", judge_of(last))]).judge(answer="a")


# A FAIL, and whether only broken judges caused it.
FAILS = {
    "a juror broke and counts as FAIL": (panel("PEE", errors="fail"), True),
    "a veto by a broken juror": (panel("PPE", errors="fail", voting="veto"), True),
    "a juror said FAIL beside a broken one": (panel("FFE"), False),
    "all said FAIL": (panel("FFF"), False),
    "a criterion that only a broken juror failed": (
        Scorecard({"sound": Ensemble([judge_of("P"), judge_of("E", "e")], errors="fail"), "fine": judge_of("P")}).judge(
            answer="a"
        ),
        True,
    ),
    "another criterion said FAIL": (
        Scorecard({"sound": Ensemble([judge_of("P"), judge_of("E", "e")], errors="fail"), "fine": judge_of("F")}).judge(
            answer="a"
        ),
        False,
    ),
    "a screening judge broke, which rejects": (cascade("PE", "P", if_broken="reject"), True),
    "a screening judge said FAIL, and another broke": (cascade("PPFE", "P"), False),
    "the last tier said FAIL after a screening judge broke": (cascade("PE", "F"), False),
    "a single judge": (said("F"), False),
}


@pytest.mark.parametrize("name", FAILS)
def test_a_fail_that_only_broken_judges_caused_is_in_no_rate_but_has_not_passed(name):
    judgment, by_errors = FAILS[name]
    assert judgment.status == "FAIL"
    summary = counted(judgment, said("P"))
    assert (
        summary.failed_by_errors,
        summary.statuses["FAIL"],
        pass_rate(votes_of(summary)).n,
        summary.share_passed,
        summary.unmet(fail_under=0.9) != [],
    ) == (by_errors, not by_errors, 2 - by_errors, 0.5, True)
    first = [row[0] for row in rows_of(summary, "First cases to look at") if "FAIL only" in row[2]]
    assert len(first) == by_errors
    words = {row[0]: row[1] for row in summary.tables()[0].rows}
    assert (
        words.get("FAIL only because judges broke", 0),
        words.get("review: FAIL only because judges broke", 0),
        bool(rows_of(summary, "Warnings") and rows_of(summary, "Warnings")[0][0].startswith("FAIL only")),
    ) == (by_errors, by_errors, by_errors)


GATES = [  # the verdicts, the share that must pass, and words of the reasons why it is not met
    ("PPPP", 1.0, []),
    ("PPPF", 0.75, []),
    ("PPPF", 0.76, ["3 of 4 cases passed, a share below 0.76"]),
    ("PPPA", 0.76, ["1 undecided ones have not passed"]),
    ("PPPE", 0.76, ["1 undecided ones have not passed"]),
    ("PPPE", None, []),
    ("PEEE", None, ["3 of 4 cases could not be judged: ModelError: down"]),
    ("PEE", 0.9, ["could not be judged", "a share below"]),
    ("AAE", None, ["1 of 3 cases could not be judged"]),
    ("AAA", None, []),
    ("AAA", 0.0, []),
    ("", 0.0, ["0 of 0 cases passed"]),
    ("FF", None, []),
    ("PPPPPPPFFF", 0.7, []),  # 0.7 is not a sum of binary fractions
]


@pytest.mark.parametrize(("verdicts", "share", "reasons"), GATES)
def test_a_gate_counts_what_is_undecided_as_not_passed_and_an_outage_is_never_met(verdicts, share, reasons):
    found = counted(*map(said, verdicts)).unmet(fail_under=share)
    assert (len(found), all(words in text for words, text in zip(reasons, found, strict=True))) == (len(reasons), True)


@pytest.mark.parametrize(("verdicts", "share"), [("PP", 1.5), ("PP", -0.1), ("AB", 0.5), ("PX", 0.5)])
def test_a_gate_refuses_labels_and_shares_that_are_none(verdicts, share):
    summary = counted(*(said(one) if one in "P" else Judgment(status="LABEL", label=one) for one in verdicts))
    with pytest.raises(ConfigurationError, match=r"fail_under= is in 0\.\.1, of PASS and FAIL"):
        summary.unmet(fail_under=share)


def test_pass_labels_are_a_list():
    with pytest.raises(ConfigurationError, match="list of labels"):
        Summary(pass_labels="valid")


def test_failed_runs_are_fail_in_the_rate_and_in_no_figure_of_a_judge():
    run = (Case(question="c", error="boom"), failed_run("boom"))
    report = Report([(Case(id=str(n)), panel("PPP")) for n in range(3)] + [run])
    assert (
        report.tables()[0].title.startswith("4 cases, 4 decided: 75.0 %"),
        ("failed runs of the application", 1, "25.0 %") in report.tables()[0].rows,
        [row[1] for row in rows_of(report, "Jurors")],
    ) == (True, True, [3, 3, 3])
    assert rows_of(report, "Warnings") == [
        ("the application failed: FAIL in the pass rate, and in no figure of a judge", 1)
    ]


def test_a_tier_that_could_not_do_its_work_is_named():
    report = Report([cascade("AE", "P", "escalate_on_split"), cascade("PP", "P", "escalate_on_split")])
    assert (
        rows_of(report, "Warnings")[0],
        ("review: a tier did not do its work", 1, "50.0 %") in report.tables()[0].rows,
    ) == (("tier screen: all its judges abstained or broke", 1), True)
    table = next(one for one in report.tables() if one.title.startswith("Tiers"))
    assert table.columns == ("tier", "#PASS", "#reached", "#stopped")
    assert table.rows == (("screen", 1, 2, 1), ("end", 1, 1, 1))


def test_criteria_have_rates_of_their_own_at_any_depth():
    card = [
        Scorecard({"sound": Ensemble([judge_of(a), judge_of("P", "p")], errors="fail"), "polite": judge_of(b)})
        for a, b in ("PF", "EP", "PP", "PA")
    ]
    report = Report([one.judge(answer="a") for one in card])
    table = next(one for one in report.tables() if one.title == "Criteria")
    assert table.columns == ("criterion", "#PASS", "#FAIL", "#ABSTAIN", "#ERROR", "#pass rate", "#95 % interval")
    assert ([row[:6] for row in table.rows], [row[0] for row in rows_of(report, "Jurors")]) == (
        [("sound", 3, 0, 0, 1, 1.0), ("polite", 2, 1, 1, 0, 2 / 3)],
        ["sound / P", "sound / p", "sound / E"],
    )
    chain = Report([all_of(judge_of("P"), judge_of("F")).judge(answer="a")])
    assert [row[0] for row in rows_of(chain, "Criteria")] == ["P", "F"]


def test_labels_that_contradict_each_other_are_left_out_and_counted():
    rows = [
        ("q1", "PPP", "pass"),
        ("q1", "PPP", "fail"),
        ("q2", "PPP", "Pass"),
        ("q2", "PPP", "yes"),
        ("q3", "FFF", "no"),
        *(("q4", "PPP", none) for none in ("N/A", "NaN", " ", "NA", "#N/A")),
    ]
    report = Report(results(rows))
    assert (
        rows_of(report, "Warnings"),
        {row[0]: row[3] for row in rows_of(report, "The jury against human labels")}["accuracy"],
    ) == ([("human labels that contradict another one of the same case: left out", 2)], 3)


def test_where_a_calibrated_jury_abstains_no_tier_and_no_juror_failed():
    jury = CascadedJury([Tier("first", ScriptedJudge([Judgment(status="PASS", confidence=0.4)], name="unsure"))])
    counts = {"tiers": {"first": 50}, "n": 60, "decided": 50, "errors": 1, "bound": 0.1, "constant": "PASS"}
    facts = {"agreement": 0.9, "delta": 0.1, "threshold": 0.5, "constant_agreement": 0.5}
    calibrated = Guarantee(**counts, **facts, fingerprint=jury.fingerprint).applied_to(jury)
    report = Report([calibrated.judge(answer="a")] * 3)
    tables = {table.title: [row[0] for row in table.rows] for table in report.tables()}
    assert (tables["Jurors"], tables["Tiers: where the cascade stopped"]) == (
        ["first / unsure"],
        ["first", "abstained"],
    )
    assert "Warnings" not in tables


def test_human_labels_mean_what_pass_labels_say():
    rows = [("q1", "PPP", "good"), ("q2", "FFF", "poor"), ("q3", "PPP", 5)]
    with pytest.raises(InputError, match="not good, poor; pass_labels="):
        Report(results(rows))
    report = Report(results(rows), pass_labels=["good", 5])
    assert rows_of(report, "The jury against human labels")[0][:2] == ("accuracy", 1.0)
    grades = Report(results([("q1", "PPP", 4.5), ("q2", "PPP", float("nan")), ("q3", "PPP", " ")]))
    assert (not rows_of(grades, "The jury against human labels"), not rows_of(grades, "Warnings")) == (True, True)


def test_labels_of_contested_cases_alone_are_called_no_random_sample():
    fair = [(f"q{n}", "PPP" if n % 2 else "FFF", (n % 2 > 0) if n % 4 > 1 else None) for n in range(200)]
    contested = [(f"q{n}", "PPP" if n % 2 else "PFF", False if n % 2 == 0 and n < 80 else None) for n in range(200)]
    notes = [Report(results(rows)).tables()[0].note for rows in (fair, contested)]
    assert (
        "Corrected by the human labels, 50.0 % of all cases pass (95 % interval " in notes[0],
        "Corrected" not in notes[1],
        "On the corrected rate: labelled cases are no random sample: 0.000 of them have verdicts of PASS" in notes[1],
    ) == (True, True, True)


def test_many_labels_are_counted_together_beyond_the_most_frequent():
    labels = [chr(ord("a") + n) for n in range(20)]
    report = Report(
        results((f"{n}{place}", label * 3, None) for n, label in enumerate(labels) for place in range(n + 1))
    )
    report.summary.add(said("A"))
    rows = {row[0]: row[1] for row in report.summary.tables()[0].rows}
    assert (
        rows["t"],
        rows["other labels"],
        rows["ABSTAIN"],
        sum(n for name, n in rows.items() if "review" not in name) == report.summary.cases == 211,
    ) == (20, sum(range(1, 9)), 1, True)


def test_labels_have_counts_and_no_pass_rate():
    report = Report(results([("q1", "KKD", "K"), ("q2", "DDD", "K"), ("q3", "AAA", "D")]))
    assert (
        report.tables()[0].title,
        [row[:2] for row in report.tables()[0].rows][:3],
        report.to_dict()["pass_rate"],
        rows_of(report, "The jury against human labels")[0][:2],
    ) == ("3 cases, 2 decided", [("K", 1), ("D", 1), ("ABSTAIN", 1)], None, ("accuracy", 0.5))
    forged = Judgment(status="LABEL", label="PASS")
    assert (Report([forged]).tables()[0].rows, counted(forged).share_passed) == ((("label PASS", 1, "100.0 %"),), 0.0)


def test_a_pairwise_judge_is_one_judge():
    orders = [Judgment(status="LABEL", label=label, usage=Usage(calls=1)) for label in "AB"]
    critic = PairwiseCritic(ScriptedJudge(orders, name="pairs", labels=["A", "B"]))
    report = Report([(Case(id="1"), Ensemble([critic]).judge(question="q", candidates=["a", "b"]))])
    assert ([row[0] for row in rows_of(report, "Jurors")], [row[:3] for row in rows_of(report, "Costs")]) == (
        ["pairs"],
        [("pairs", "", 2), ("all", "", 2)],
    )


def test_a_tier_of_one_judge_is_paid_and_breaks_once():
    paid = said("P", critic="strong", usage=Usage(calls=1, cost_usd=0.5))
    jury = CascadedJury(
        [Tier("cheap", judge_of("E"), "accept_on_all_pass"), Tier("end", ScriptedJudge([paid], name="s"))]
    )
    report = Report([jury.judge(answer="a")])
    rows = [row[:3] for row in rows_of(report, "Costs")]
    assert (rows, [*report.summary.errors.values()]) == ([("end / s", "", 1), ("all", "", 1)], [1])


def test_unknown_costs_are_not_zero():
    unknown = Usage(calls=2, cost_complete=False)
    report = Report([said("P", critic="x", usage=unknown), said("P", critic="y", usage=Usage(calls=1, cost_usd=0.5))])
    assert ({row[0]: row[5] for row in rows_of(report, "Costs")}, rows_of(report, "Warnings")) == (
        {
            "x": "unknown",
            "y": "$0.5000",
            "all": "$0.0000 or more",
        }
        | {"all": "$0.5000 or more"},
        [("calls of an unknown cost: the sum is a lower bound", 1)],
    )
    stored = Report([said("P", critic="x", usage=Usage(calls=2, cost_usd=1.0).as_recorded())])
    assert (rows_of(stored, "Costs")[0], not rows_of(Report([said("P")]), "Costs")) == (
        ("x", "", 0, 0, 0, "$0.0000", 2),
        True,
    )


def test_results_of_several_juries_are_named():
    mixed = [*results([("q1", "PPP", None)]), *results([("q2", "PPP", None)], jury="other")]
    assert rows_of(Report(mixed), "Warnings") == [("juries that judged these results, which are counted together", 2)]


def test_a_family_that_may_prefer_itself_is_named():
    inside = [said("P", critic="a", model="gpt-4o"), said("F", critic="b", model="claude")]
    judgment = Judgment(status="PASS", judgments=inside, voting="majority", on="status", generator="gpt-4o-mini")
    ((warning, cases),) = rows_of(Report([judgment]), "Warnings")
    assert (warning[:46], cases) == ("jurors that agree little, one of the vendor fa", 1)


def test_the_most_contested_cases_come_first_and_the_others_are_only_counted():
    order = ["PPP", "FFF", "AAA", "EEE", "PPF"]
    given = [(Case(id=f"{n}-{votes}"), verdict) for votes in order for verdict in [panel(votes)] for n in range(300)]
    random.Random(1).shuffle(given)
    summary = counted(*given)
    kinds = [one.case.id.partition("-")[2] for one in summary.contested]
    assert (summary.cases, kinds, len(summary.patterns), len([*Report(given).items()])) == (
        1500,
        ["PPF"] * 300 + ["EEE"] * 300 + ["AAA"] * 300 + ["FFF"] * (CONTESTED - 900),
        5,
        CONTESTED,
    )


def test_numbers_of_a_verdict_make_no_patterns_of_their_own():
    summary = counted(*(said("P", score=n / 500, confidence=n / 500, reasoning=str(n)) for n in range(500)))
    assert len(summary.patterns) == 1


LETTERS = st.sampled_from("PPFAE")
JURIES = st.sampled_from(["panel", "fail", "cascade", "card", "single"])


def verdict_of(kind, letters):
    a, b, c, d = letters
    if kind == "cascade":
        tier = Ensemble({"x": judge_of(a), "y": judge_of(b)}, name="two")
        return CascadedJury([Tier("t", tier, "escalate_on_split"), Tier("u", Ensemble({"z": judge_of(c)}))]).judge(
            answer="a"
        )
    if kind == "card":
        return Scorecard({"x": judge_of(a), "y": Ensemble({"p": judge_of(b), "q": judge_of(c)})}).judge(answer="a")
    return (
        said(d, critic="single")
        if kind == "single"
        else panel(a + b + c, errors="fail" if kind == "fail" else "missing")
    )


@settings(deadline=None, max_examples=15)
@given(
    JURIES,
    st.lists(
        st.tuples(
            st.sampled_from([None, "1", "2", "3"]),
            st.tuples(LETTERS, LETTERS, LETTERS, LETTERS),
            st.sampled_from([None, "pass", False]),
            st.sampled_from([None, "g", "h"]),
            st.booleans(),
        ),
        max_size=12,
    ),
)
def test_the_votes_of_a_summary_are_those_that_statistics_read(kind, rows):
    """All but FAILs that only broken judges caused, and labels that contradict each other, which are left out here."""
    given = [
        Result(
            jury="j",
            case=Case(id=name, answer=f"{n}", error="boom") if failed else Case(id=name, answer=f"{n} {label}"),
            judgment=failed_run("boom") if failed and not name else verdict_of(kind, letters),
            human_label=label,
            group=group,
        )
        for n, (name, letters, label, group, failed) in enumerate(rows)
    ]
    given = [one for one in given if one.judgment.status != "FAIL" or not one.judgment.rests_on_broken]
    theirs = Votes.of(given)
    ours = votes_of(counted(*given))
    assert (
        ours.labels,
        ours.jurors,
        ours.selected,
        [
            name
            for name in ("codes", "asked", "gold")
            if not (np.array_equal(getattr(ours, name), getattr(theirs, name)))
        ],
    ) == (theirs.labels, theirs.jurors, theirs.selected, [])
    same = [one.groups[:, None] == one.groups for one in (ours, theirs)]
    assert np.array_equal(*same)


def trees():
    """Return a strategy of judgments of any shape, as a results file of another program may have them."""
    word = st.sampled_from(["", "a", "b", "PASS", "reached", "#n"])
    statuses = st.sampled_from(["PASS", "FAIL", "LABEL", "ABSTAIN", "ERROR"])
    rules = st.sampled_from(["", "majority", "average", "cascade", "scorecard", "any_of", "pairwise"])

    def make(status, label, critic, inside, voting, on, tier, by_rule, score):
        text = {"ERROR": {"error": "down"}, "ABSTAIN": {"reasoning": "no"}}.get(status, {})
        decided = {} if text else {"score": score, "label": (label or "x") if status == "LABEL" else label or None}
        return Judgment(
            status=status,
            critic=critic,
            judgments=inside,
            voting=voting,
            on=on,
            tier=tier,
            by_rule=by_rule,
            **text,
            **decided,
        )

    def grown(inside):
        scores, tiers = st.none() | st.floats(0, 1), st.none() | word
        on = st.sampled_from(["", "status", "label"])
        return st.builds(make, statuses, word, word, inside, rules, on, tiers, st.booleans(), scores)

    return st.recursive(grown(st.just(())), lambda inner: grown(st.lists(inner, max_size=3)), max_leaves=6)


@settings(deadline=None, max_examples=15)
@given(st.lists(trees(), max_size=6))
def test_judgments_of_any_shape_have_a_report_whose_rows_sum_to_the_cases(judgments):
    report = Report(judgments, title="any")
    counts = [row[1] for row in report.tables()[0].rows if not row[0].startswith(("needs review", "review: "))]
    assert (
        sum(counts) == report.summary.cases == len(judgments),
        [table for table in report.tables() if not ({len(row) for row in table.rows} <= {len(table.columns)})],
    ) == (True, [])
    assert (bool(report.to_html()), bool(str(report)), bool(report.to_markdown()), bool(report.to_json())) == (
        True,
        True,
        True,
        True,
    )
