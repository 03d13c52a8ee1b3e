"""Suggestions: the best jury for each cost, with numbers that hold on other cases."""

from itertools import pairwise

import numpy as np
import pytest
from support.panels import PANELS, fold_of, rows

from jury_adapters.calibration import suggest
from jury_adapters.calibration.candidates import Candidate, Evidence
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judgment import Status
from jury_adapters.critic.critic import Critic
from jury_adapters.critic.recorded import RecordedCritic

COSTS = {"gpt-4o-mini": 0.0001, "gemini-1.5-flash": 0.00008, "claude_3.5_haiku": 0.0008, "gemini-2.5-pro": 0.004}
LABELS = {"valid": "pass", "invalid": "fail"}
P_OR_F = {"P": "pass", "F": "fail"}
FIT, REPORT = ([row for row in rows() if fold_of(row) == number] for number in (0, 1))


def jurors(*names: str, priced: bool = True) -> list[RecordedCritic]:
    chosen = names or (*PANELS["small5"], "gemini-2.5-pro")
    return [RecordedCritic(n, labels=LABELS, cost=COSTS.get(n, 0.002) if priced else 0) for n in chosen]


@pytest.mark.slow
def test_the_front_rises_in_cost_and_quality_and_the_juries_work() -> None:
    found = suggest(jurors(), FIT, groups="meta.program", largest=4)
    costs = [each.cost for each in found]
    reached = [each.balanced_accuracy for each in found]
    assert costs == sorted(costs)
    assert all(later > earlier for earlier, later in pairwise(reached))
    assert found[0].jurors == ("gemini-1.5-flash",)
    assert found.unit == "US$"
    assert found.n == len(FIT)
    assert found.tried > 100
    assert "balanced accuracy" in str(found)

    best = found[-1]
    assert best.balanced_accuracy > 0.65
    verdicts = list(best.jury.judge_many(map(Case.from_row, REPORT)))
    right = np.array([
        0.5 if not verdict.valid else (verdict.status is Status.PASS) == (row["gold"] == "valid")
        for verdict, row in zip(verdicts, REPORT, strict=True)
    ])  # fmt: skip
    gold = np.array([row["gold"] == "valid" for row in REPORT])
    elsewhere = (right[gold].mean() + right[~gold].mean()) / 2
    assert elsewhere == pytest.approx(best.balanced_accuracy, abs=4 * best.standard_error)
    assert sum(verdict.usage.cost_usd for verdict in verdicts) / len(verdicts) <= best.cost * 1.05


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["majority", "weighted", "bayes", "k_veto", "cascade"])
def test_what_is_computed_is_what_the_jury_says(rule: str) -> None:
    names = ("gpt-4o-mini", "gemini-1.5-flash", "claude_3.5_haiku")
    votes = Votes.from_recorded(FIT, jurors=(*names, "gemini-2.5-pro"), pass_label="valid")
    candidate = Candidate(names, rule, "gemini-2.5-pro" if rule == "cascade" else None)  # type: ignore[arg-type]
    judges = {judge.name: judge for judge in jurors(*names, "gemini-2.5-pro")}
    jury = candidate.built(judges, votes)
    computed = Evidence.of(votes, np.arange(len(FIT)) % 10).predict(candidate)
    said = {Status.PASS: 1, Status.FAIL: 0, Status.ABSTAIN: -1}
    judged = np.array([said[jury.judge(Case.from_row(row)).status] for row in FIT[:300]])
    # The jury has learned from all items, the computation of each item from nine tenths of the others.
    agreed = (judged == computed[:300]).mean()
    assert agreed == 1 if rule in ("majority", "cascade") else agreed > 0.97


@pytest.mark.slow
def test_a_budget_leaves_out_what_costs_more() -> None:
    found = suggest(jurors(), FIT[:600], budget=0.001, largest=2)
    assert all(each.cost <= 0.001 for each in found)
    with pytest.raises(
        ConfigurationError, match=r"the cheapest, gemini-1\.5-flash, costs 7\.1\d*e-05"
    ):  # some votes are missing
        suggest(jurors(), FIT[:600], budget=0.00001, largest=2)


@pytest.mark.slow
def test_a_cascade_pays_for_the_last_juror_only_where_the_first_disagree() -> None:
    draw = np.random.default_rng(0)
    skill = {"cheap-1": 0.85, "cheap-2": 0.85, "dear": 0.97}
    cases = []
    for _ in range(600):
        gold = bool(draw.integers(2))
        cast = {name: {"label": "FP"[gold if draw.random() < right else 1 - gold]} for name, right in skill.items()}
        cases.append({"metadata": {"gold": gold, "votes": cast}})
    judges = [RecordedCritic(name, labels=P_OR_F, cost=1.0 if name == "dear" else 0.01) for name in skill]
    (best,) = [each for each in suggest(judges, cases) if each.rule == "cascade"]
    assert (best.jurors, best.final, best.name) == (("cheap-1", "cheap-2"), "dear", "cheap-1 + cheap-2 -> dear")
    assert best.cost == pytest.approx(0.02 + 2 * 0.85 * 0.15, abs=0.06)
    assert best.balanced_accuracy == pytest.approx(0.85**2 + 2 * 0.85 * 0.15 * 0.97, abs=0.03)
    verdicts = list(best.jury.judge_many(cases))
    assert sum(verdict.usage.total.cost_usd for verdict in verdicts) / 600 == pytest.approx(best.cost)


@pytest.mark.slow
def test_without_prices_calls_are_counted() -> None:
    found = suggest(jurors("gpt-4o-mini", "gemini-2.5-pro", priced=False), FIT[:300])
    assert found.unit == "calls"
    assert found[0].cost == 1


def test_a_juror_of_unknown_price_does_not_look_free(server) -> None:
    panel = [
        Critic(f"openai:{name}", "faithfulness", name=name, base_url=server.openai, api_key="k")
        for name in ("gpt-4o-mini", "brand-new")
    ]
    cases = [
        Case(answer=f"number {n} TRUTH={'YES' if n % 2 else 'NO'}", contexts=["c"], metadata={"gold": bool(n % 2)})
        for n in range(8)
    ]
    with pytest.raises(ConfigurationError, match=r"what brand-new costs is not known.*set_price\('vendor:model'"):
        suggest(panel, cases, folds=2)
    assert suggest(panel[1:], cases, folds=2).unit == "calls"


@pytest.mark.slow
def test_numbers_are_cross_validated_so_noise_suggests_nothing() -> None:
    draw = np.random.default_rng(0)
    cases = []
    for _ in range(400):
        cast = {f"j{juror}": {"label": "FP"[draw.integers(2)]} for juror in range(5)}
        cases.append({"metadata": {"gold": bool(draw.integers(2)), "votes": cast}})
    noise = [RecordedCritic(f"j{i}", labels=P_OR_F) for i in range(5)]
    found = suggest(noise, cases, largest=3)
    assert max(each.balanced_accuracy for each in found) < 0.5 + 4 * found[0].standard_error


@pytest.mark.slow
def test_wrong_input_says_what_to_do() -> None:
    with pytest.raises(ConfigurationError, match="of both kinds"):
        suggest(jurors(), [row for row in FIT[:100] if row["gold"] == "valid"])
    with pytest.raises(ConfigurationError, match="pass_labels"):
        suggest([RecordedCritic("gpt-4o-mini")], FIT[:100])
    with pytest.raises(ConfigurationError, match="folds"):
        suggest(jurors(), FIT[:100], folds=1)


def test_the_standard_error_of_cases_in_groups_is_that_of_groups() -> None:
    """Five alike cases on each of 40 documents tell as much as 40 cases."""

    def cases(copies: int) -> list[tuple[Case, str]]:
        return [
            (
                Case(
                    question=f"{document} {copy}",
                    metadata={
                        "document": document,
                        "votes": {"gpt-4o-mini": {"label": "valid" if document % 3 else "invalid"}},
                    },
                ),
                "valid" if document % 2 else "invalid",
            )
            for document in range(40)
            for copy in range(copies)
        ]

    judges = jurors("gpt-4o-mini")
    alone, blind, grouped = (
        suggest(judges, cases(copies), groups=group, pass_labels=["valid"])[0].standard_error
        for copies, group in ((1, None), (5, None), (5, "document"))
    )
    assert blind == pytest.approx(alone / 5**0.5)
    assert grouped == pytest.approx(alone * (40 / 39) ** 0.5)
