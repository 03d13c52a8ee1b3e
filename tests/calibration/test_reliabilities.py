"""Reliabilities from labels, and the votes they feed, against the reference numbers on recorded judges."""

import math

import numpy as np
import pytest
from support.panels import PANELS, SMALL, fold, fold_of, rows

from jury_adapters import Ensemble
from jury_adapters.calibration.quality import quality
from jury_adapters.calibration.reliabilities import fit_k_veto, fit_reliabilities, fit_threshold
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.voting import resolve
from jury_adapters.core.voting.rules.k_veto import KVeto
from jury_adapters.critic.recorded import RecordedCritic

# accuracy / balanced accuracy / kappa on fold 1, fitted on fold 0
REFERENCE = {
    "majority": {
        "small3": "0.904 / 0.551 / 0.124",
        "small5": "0.913 / 0.572 / 0.187",
        "small7": "0.918 / 0.586 / 0.228",
        "all14": "0.920 / 0.571 / 0.208",
    },
    "weighted": {
        "small3": "0.904 / 0.551 / 0.124",
        "small5": "0.912 / 0.559 / 0.154",
        "small7": "0.918 / 0.578 / 0.210",
        "all14": "0.920 / 0.571 / 0.208",
    },
    "bayes": {
        "small3": "0.915 / 0.529 / 0.092",
        "small5": "0.906 / 0.608 / 0.254",
        "small7": "0.906 / 0.640 / 0.306",
        "all14": "0.894 / 0.684 / 0.339",
    },
    "k_veto": {
        "small3": "0.880 / 0.613 / 0.218",
        "small5": "0.864 / 0.632 / 0.223",
        "small7": "0.813 / 0.696 / 0.236",
        "all14": "0.714 / 0.749 / 0.205",
    },
}


def jury(rule: str, panel: tuple[str, ...]) -> Ensemble:
    jurors = [RecordedCritic(name, labels={"valid": "pass", "invalid": "fail"}) for name in panel]
    fit = fold(0).panel(panel)
    if rule == "weighted":
        weights = fit_reliabilities(fit).weights()
        return Ensemble(jurors, voting="weighted", weights=weights, use_confidence=False, tie="first")
    if rule == "bayes":
        return Ensemble(jurors, voting=fit_reliabilities(fit).bayes())
    if rule == "k_veto":
        return Ensemble(jurors, voting=fit_k_veto(fit))
    return Ensemble(jurors, tie="first")


@pytest.mark.parametrize("name", PANELS)
@pytest.mark.parametrize("rule", REFERENCE)
def test_aggregation_of_recorded_judges_gives_the_reference_numbers(rule: str, name: str) -> None:
    votes = fold(1)
    panel = PANELS[name]
    at = [votes.jurors.index(juror) for juror in panel]
    strategy, weights = (built := jury(rule, panel)).strategy, built.weights
    said = {0: Judgment(Status.FAIL), 1: Judgment(Status.PASS), -1: Judgment(Status.ABSTAIN, reasoning="cannot say")}
    assert votes.labels == ("invalid", "valid")
    # Where no juror voted a jury abstains; the reference says what naive Bayes and the veto come to without any votes.
    nobody = 1 if rule in ("bayes", "k_veto") else -1
    code = {Status.PASS: 1, Status.FAIL: 0, Status.ABSTAIN: nobody}
    tallied = {}  # many items have the same votes
    for key in {tuple(line) for line in votes.codes[:, at].tolist()}:
        result = strategy.tally([said[vote] for vote in key], weights)
        tallied[key] = code[result.status]
    found = quality(np.array([tallied[tuple(line)] for line in votes.codes[:, at].tolist()]), votes.gold)
    assert f"{found.accuracy:.3f} / {found.balanced_accuracy:.3f} / {found.kappa:.3f}" == REFERENCE[rule][name]


@pytest.mark.parametrize("name", PANELS)
def test_the_posterior_as_a_matrix_gives_the_reference_numbers_too(name: str) -> None:
    fitted = fit_reliabilities(fold(0).panel(PANELS[name]))
    found = quality(fitted.predict(fold(1).panel(PANELS[name])), fold(1).gold)
    numbers = f"{found.accuracy:.3f} / {found.balanced_accuracy:.3f} / {found.kappa:.3f}"
    assert numbers == REFERENCE["bayes"][name]


@pytest.mark.parametrize("rule", REFERENCE)
def test_a_jury_over_cases_says_what_the_tally_of_its_rule_says(rule: str) -> None:
    built = jury(rule, PANELS["small5"])
    some = [row for row in rows() if fold_of(row) == 1][:60]
    for row in some:
        verdict = built.judge(Case.from_row(row))
        assert verdict.status == built.strategy.tally(verdict.judgments, built.weights).status


@pytest.mark.slow
def test_the_bayes_vote_carries_the_posterior_as_its_confidence() -> None:
    panel = PANELS["small7"]
    fitted = fit_reliabilities(fold(0).panel(panel))
    votes = fold(1).panel(panel)
    posterior = fitted.posterior(votes)
    cases = [Case.from_row(row) for row in rows() if fold_of(row) == 1][:200]
    built = jury("bayes", panel)
    for case, expected in zip(cases, posterior, strict=False):
        verdict = built.judge(case)
        if verdict.valid:  # no juror voted: a jury abstains, the posterior is the prior
            assert verdict.confidence == pytest.approx(expected.max(), abs=1e-9)
            assert verdict.score == pytest.approx(expected[1], abs=1e-9)


def test_confusions_and_weights_are_the_smoothed_counts() -> None:
    votes = Votes.from_rows(
        [["PASS"], ["PASS"], ["FAIL"], [None], ["PASS"]], jurors=["a"], gold=["PASS", "PASS", "PASS", "PASS", "FAIL"]
    )
    found = fit_reliabilities(votes)["a"]
    assert found.labels == ("FAIL", "PASS")
    np.testing.assert_allclose(found.confusion, [[1 / 3, 2 / 3], [2 / 5, 3 / 5]])
    assert (found.n, found.accuracy) == (4, pytest.approx(3 / 6))
    assert found.weight == pytest.approx(math.log(found.accuracy / (1 - found.accuracy)))
    assert found.right_on("PASS") == pytest.approx(3 / 5)


def test_a_juror_below_chance_weighs_nothing_or_counts_against_its_vote() -> None:
    rows_of_votes = [["PASS", "FAIL"], ["FAIL", "PASS"]] * 20
    fitted = fit_reliabilities(Votes.from_rows(rows_of_votes, jurors=["good", "bad"], gold=["PASS", "FAIL"] * 20))
    assert fitted["bad"].weight < 0
    assert fitted.weights()["bad"] == 0
    assert fitted.weights()["good"] > 0
    flipping = fitted.bayes(per_label=False)
    said = [Judgment(Status.ABSTAIN, reasoning="cannot say", critic="good"), Judgment(Status.FAIL, critic="bad")]
    assert flipping.tally(said).status is Status.PASS
    only_bad = Votes.from_rows([[row[1]] for row in rows_of_votes], jurors=["bad"], gold=["PASS", "FAIL"] * 20)
    with pytest.raises(ConfigurationError, match="noise"):
        fit_reliabilities(only_bad).weights()


def test_a_learned_threshold_balances_both_kinds_of_error() -> None:
    panel = PANELS["small7"]
    fitted = fit_reliabilities(fold(0).panel(panel))
    threshold = fit_threshold(fitted.posterior(fold(0).panel(panel))[:, 1], fold(0))
    votes = fold(1).panel(panel)
    passes = fitted.posterior(votes)[:, 1]
    balanced = quality((passes >= threshold).astype(np.int64), votes.gold).balanced_accuracy
    assert balanced > quality(fitted.predict(votes), votes.gold).balanced_accuracy + 0.05
    strategy = fitted.bayes(threshold=threshold)
    said = [Judgment(Status.PASS if vote == 1 else Status.FAIL) for vote in votes.codes[0]]
    named = [Judgment(each.status, critic=name) for each, name in zip(said, panel, strict=True)]
    assert (strategy.tally(named).status is Status.PASS) == bool(passes[0] >= threshold)


def test_a_threshold_separates_two_clear_groups_in_the_middle() -> None:
    votes = Votes.from_rows([["PASS"]] * 4, gold=["FAIL", "FAIL", "PASS", "PASS"], labels=("FAIL", "PASS"))
    assert fit_threshold(np.array([0.1, 0.2, 0.6, 0.9]), votes) == pytest.approx(0.4)


def test_wrong_input_says_what_to_do() -> None:
    unlabelled = Votes.from_rows([["PASS", "FAIL"]])
    with pytest.raises(ConfigurationError, match="no gold"):
        fit_reliabilities(unlabelled)
    with pytest.raises(ConfigurationError, match="smoothing"):
        fit_reliabilities(fold(0), smoothing=0)
    with pytest.raises(ConfigurationError, match="pass_label"):
        fit_reliabilities(Votes.from_rows([["A", "B"]], gold=["A"])).bayes()
    with pytest.raises(ConfigurationError, match="other jurors"):
        fit_reliabilities(fold(0).panel(SMALL)).posterior(fold(1))
    with pytest.raises(ConfigurationError, match="only one"):
        fit_threshold(np.array([0.5]), Votes.from_rows([["PASS"]], gold=["PASS"], labels=("FAIL", "PASS")))


def test_k_objections_fail_a_case_and_fewer_do_not() -> None:
    one, other = Judgment(Status.FAIL), Judgment(Status.PASS)
    vote = resolve("k_veto", k=2)
    assert vote.tally([one, other, other]).status is Status.PASS
    assert vote.tally([one, one, other, other, other]).status is Status.FAIL
    assert vote.tally([Judgment(Status.ABSTAIN, reasoning="cannot say")]).status is Status.ABSTAIN
    assert vote.tally([one, Judgment(Status.ERROR, error="x"), other]).status is Status.FAIL
    assert vote.tally([one, other, other, other]).confidence == pytest.approx(3 / 4)
    with pytest.raises(ConfigurationError, match="from 1"):
        KVeto(k=0)
    with pytest.raises(ConfigurationError, match="only 3 jurors"):
        Ensemble([lambda case: True] * 3, voting="k_veto", k=4)


def test_an_early_stopping_veto_stops_at_the_kth_objection_or_when_it_cannot_come() -> None:
    def answers(*said: bool) -> Ensemble:
        jurors = [lambda case, passed=passed: passed for passed in said]
        return Ensemble(jurors, voting="k_veto", k=2, schedule="early_stop")

    stopped = answers(False, False, True, True, True).judge("q")
    assert (stopped.status, stopped.calls_saved) == (Status.FAIL, 3)
    passed = answers(True, True, True, True, False).judge("q")
    assert (passed.status, passed.calls_saved) == (Status.PASS, 1)


def test_a_panel_is_read_by_name() -> None:
    fitted = fit_reliabilities(fold(0))
    assert [each.juror for each in fitted] == list(fold(0).jurors)
    assert "gpt-4o-mini" in repr(fitted["gpt-4o-mini"])
    with pytest.raises(ConfigurationError, match="Did you mean"):
        fitted["gpt-4o-mimi"]
