"""One report of everything that votes tell: as text, as JSON, and without what they do not allow."""

import copy
import json
import pickle
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from jury_adapters.calibration import Estimate, Votes, agreement_report, drift, self_preference, verbosity
from jury_adapters.calibration.estimates import FewItems, undefined

DATA = Path(__file__).parents[1] / "data" / "votes"


@cache
def codefeedback():
    votes = Votes.from_recorded(DATA / "codefeedback.jsonl.gz", group="meta.program", pass_label="valid")
    return agreement_report(votes, draws=200)


def test_the_report_gathers_what_the_votes_allow():
    report = codefeedback()
    assert list(report.sections) == ["Agreement", "Labels", "Independence", "Jurors", "Biases", "Rates"]
    assert report.find("krippendorff alpha (nominal)").value == pytest.approx(0.2968, abs=1e-4)
    assert report.find("effective number of votes").value == pytest.approx(1.5751, abs=1e-4)
    assert report.find("true-negative rate", "gemini-2.5-pro").value == pytest.approx(0.582, abs=1e-3)
    assert report.find("true pass rate (PPI++)").details["naive"] > 0.97
    with pytest.raises(KeyError, match="nothing of nobody"):
        report.find("nothing", "nobody")


def test_every_estimate_has_n_and_a_sentence_and_a_number_or_a_reason():
    for estimate in codefeedback().estimates:
        assert estimate.n > 0
        assert estimate.sentence.endswith(".")
        assert (estimate.value is None) != (estimate.reason == "")
        interval = estimate.interval or (estimate.value,) * 2
        assert estimate.value is None or interval[0] <= estimate.value <= interval[1]


@pytest.mark.slow
def test_the_text_tells_the_numbers_and_where_they_mislead():
    text = str(codefeedback())
    assert text.startswith("2,686 items, 14 jurors, 36,044 votes (4.1 % missing), 2,686 items with a human label")
    assert "gwet AC1 = 0.914" in text
    assert "The 14 jurors are worth about 1.6 independent ones" in text
    told = text[text.index("Where these numbers mislead") :]
    assert "The panel is worth fewer than two independent votes" in told
    assert "94.3 % of the votes are 'valid'" in told


@pytest.mark.slow
def test_the_json_is_json():
    data = json.loads(json.dumps(codefeedback().to_dict(), allow_nan=False))
    assert (data["items"], len(data["jurors"]), data["labelled"]) == (2686, 14, 2686)
    first = data["sections"]["Agreement"][0]
    assert (first["name"], first["n"]) == ("raw agreement", 2675)


@pytest.mark.slow
def test_pairs_people_and_scores_get_what_suits_them():
    pairs = Votes.from_recorded(DATA / "llmbar_vanilla.jsonl.gz", abstain_labels=["tie"])
    found = agreement_report(pairs, draws=50)
    assert found.find("position consistency", "GPT-4/Vanilla").n == 419
    assert "Rates" not in found.sections
    ratings = Votes.from_recorded(DATA / "newsroom_ratings.jsonl.gz", column="human_votes")
    names = [estimate.name for estimate in agreement_report(ratings, "ordinal", draws=50).estimates]
    assert "krippendorff alpha (ordinal)" in names
    assert "gwet AC2 (quadratic)" in names
    assert "residual agreement" in names
    scores = Votes.from_rows(np.random.default_rng(0).random((50, 3)).tolist())
    assert [f.name for f in agreement_report(scores, draws=50).sections["Agreement"]] == [
        "krippendorff alpha (interval)", "gwet AC2 (quadratic)",
    ]  # fmt: skip


cell = st.none() | st.sampled_from(["PASS", "FAIL"])


@pytest.mark.slow
@examples(60)
@given(
    rows=st.integers(0, 4).flatmap(lambda n: st.lists(st.lists(cell, min_size=n, max_size=n), max_size=6)),
    data=st.data(),
)
def test_no_votes_are_too_odd_for_a_report(rows, data):
    gold = data.draw(st.lists(cell, min_size=len(rows), max_size=len(rows)))
    groups = data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    report = agreement_report(Votes.from_rows(rows, gold=gold, groups=groups), draws=10)
    assert str(report)
    json.dumps(report.to_dict(), allow_nan=False)


def test_equal_seeds_make_equal_reports():
    votes = Votes.from_rows([["PASS", "FAIL"], ["PASS", "PASS"], ["FAIL", "FAIL"]] * 15)
    assert agreement_report(votes, seed=3).to_dict() == agreement_report(votes, seed=3).to_dict()
    assert agreement_report(votes, seed=3).to_dict() != agreement_report(votes, seed=4).to_dict()


def test_a_finding_reads_on_its_own():
    estimate = Estimate("rate", 0.5, 1200, (0.4, 0.6), "Half of it.", ("it is odd",), subject="x")
    assert str(estimate) == "x: rate = 0.500 [0.400, 0.600] (n = 1,200)\n  Half of it.\n  Warning: it is odd."
    nothing = undefined("rate", 0, "there is nothing")
    assert str(nothing) == "rate = none (n = 0)\n  There is no number to give: there is nothing."
    assert nothing.to_dict()["value"] is None


def few_votes(items):
    rows = [{"item_id": str(n), "answer": "x" * (items - n), "gold": ("PASS", "FAIL")[n % 2],
             "meta": {"generator": ("a", "d")[n % 2]},
             "votes": {"a": {"label": "PASS" if n < items / 2 else "FAIL"}, "b": {"label": ("PASS", "FAIL")[n % 2]},
                       "c": {"label": "PASS"}}}
            for n in range(items)]  # fmt: skip
    return Votes.from_recorded(rows)


def test_few_items_get_no_verdict_on_drift_or_biases():
    votes = few_votes(6)
    for estimate in (
        *drift(votes),
        *(one for one in verbosity(votes) if one.value is not None),
        *self_preference(votes),
    ):
        assert "more than chance explains" not in str(estimate)
        assert estimate.value is None or "too few items" in estimate.sentence
        assert estimate.interval is None
    report = agreement_report(votes, draws=50)
    assert not {"drift", "verbosity bias"} & {estimate.name for estimate in report.estimates}
    many = agreement_report(few_votes(60), draws=50)
    assert {"drift", "verbosity bias"} <= {estimate.name for estimate in many.estimates}
    assert "more than chance explains" in many.find("drift", "a").sentence


def test_without_a_label_that_means_pass_drift_is_of_agreement_and_says_so():
    """A juror that says good ever more often, beside a steady one."""
    random = Random(1)
    rows = []
    for number in range(160):
        steady = "good" if random.random() < 0.6 else "bad"
        lenient = "good" if number >= 80 and random.random() < 0.9 else steady
        rows.append({"item_id": str(number), "votes": {"lenient": lenient, "steady": steady}})
    for estimate in drift(Votes.from_recorded(rows)):
        assert estimate.value < 0
        assert f"The agreement of {estimate.subject} with the other jurors moved by -" in estimate.sentence
        assert "Whether the juror became more lenient is not known" in estimate.sentence
    lenient, steady = drift(Votes.from_recorded(rows, pass_label="good"))
    assert lenient.value > 0 > steady.value
    assert "Compared with the other jurors, lenient's votes moved by +" in lenient.sentence


@pytest.mark.slow
def test_the_text_begins_with_three_lines_that_say_what_matters():
    report = codefeedback()
    lines = str(report).splitlines()
    assert lines[1] == ""
    assert lines[2].startswith("Against human labels: 2,686 labelled cases, of which human labels pass 2,484 (valid)")
    lines = [lines[0], *lines[lines.index("In short") - 1 :]]
    assert lines[4:7] == [f"- {line}" for line in report.in_short]
    assert lines[7] == ""
    agreed, rate, trust = report.in_short
    assert "give the same answer on" in agreed
    assert "Human labels would pass about" in rate
    assert "see where they mislead, at the end" in trust
    assert report.to_dict()["in_short"] == [agreed, rate, trust]
    small = agreement_report(few_votes(6), draws=50).in_short
    assert "6 items are few" in small[-1]
    assert "not looked for" in small[-1]
    assert agreement_report(Votes.from_rows([]), draws=0).in_short == ("There are no votes.",)


def test_few_items_are_warned_of_once_and_chance_corrected_figures_do_not_stand_in_short():
    report = agreement_report(
        Votes.from_rows([["PASS", "PASS", "FAIL"], ["PASS", "FAIL", None], ["FAIL", "FAIL", "FAIL"]])
    )
    text = str(report)
    few = [line for line in text.splitlines() if "can move a lot with the next few" in line]
    assert len(few) == 1
    assert few[0].startswith("- Some numbers rest on 1 to 3 items only") or few[0].startswith(
        "- Some numbers rest on 2 to 3"
    )
    assert "raw agreement" in few[0]
    assert sum("rest on" in warning for warning in report.warnings) == 1
    assert report.find("krippendorff alpha (nominal)").n == 3
    assert not any("guessing" in line or "independent" in line for line in report.in_short)


def test_the_warning_of_few_items_is_copied_with_what_it_knows():
    warning = FewItems.of(3)
    for same in (copy.deepcopy(warning), pickle.loads(pickle.dumps(warning))):
        assert (same, same.items) == (warning, 3)


def test_the_text_of_a_report_steers_no_terminal():
    name = "a\x1b]0;title\x07\u202e"
    votes = Votes.from_rows([["PASS", "FAIL"], ["FAIL", "FAIL"]] * 20, jurors=[name, "b"])
    text = str(agreement_report(votes, draws=0))
    assert "a\\x1b]0;title\\x07\\u202e" in text
    assert not {"\x1b", "\x07", "\u202e"} & set(text)


def test_of_three_reviewers_without_gold_the_careless_one_is_named():
    """Nora and Otto err on one item in ten each; Pia passes nearly everything."""
    chance = np.random.default_rng(8)
    truth = chance.random(200) < 0.6
    rows = [
        ["PASS" if said else "FAIL" for said in (good ^ (chance.random() < 0.1), good ^ (chance.random() < 0.1),
                                                  good or chance.random() < 0.85)]
        for good in truth
    ]  # fmt: skip
    report = agreement_report(Votes.from_rows(rows, jurors=["nora", "otto", "pia"]), draws=50)
    together = report.find("residual agreement").sentence
    assert "highest for nora and otto" in together
    assert together.endswith(": either these two err alike, or pia errs alone where they agree.")
    assert together in report.in_short
    kappa = report.find("mean pairwise cohen kappa")
    matrix = kappa.details["matrix"]
    assert matrix[0][1] == max(matrix[0][1], matrix[0][2], matrix[1][2])
    lowest, of = min((matrix[0][2], "nora and pia"), (matrix[1][2], "otto and pia"))
    assert f"from {lowest:.3f} ({of}) to {matrix[0][1]:.3f} (nora and otto) by pair" in kappa.sentence


def test_of_four_reviewers_the_pair_that_departs_together_is_named_alone():
    chance = np.random.default_rng(8)
    rows = [["PASS" if one else "FAIL" for one in chance.random(4) < 0.6] for _ in range(100)]
    report = agreement_report(Votes.from_rows(rows), draws=0)
    assert "err alike" not in report.find("residual agreement").sentence


@pytest.mark.parametrize("jurors", [["a"], ["a", "b"], ["a", "b", "c"]])
def test_votes_without_items_have_a_report_without_numbers(jurors):
    report = agreement_report(Votes.from_rows([], jurors=jurors))
    assert report.items == 0
    assert all(found.value is None for section in report.sections.values() for found in section)
    assert str(report)
