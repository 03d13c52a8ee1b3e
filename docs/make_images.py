"""Draw the pictures of the concept pages: ``python docs/make_images.py`` writes them to ``docs/images``.

Charts are computed from the recorded votes in ``cookbook/data`` each time the script runs; no number is written by
hand. It needs the extra ``stats``. How lines and texts become SVG stands in ``drawing.py``.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from drawing import Chart, Drawing, Point

from jury_adapters import CascadedJury, Case, Ensemble, Judge, Judgment, Status, Tier, Verdict, abstain
from jury_adapters.calibration import Votes, agreement_report, fit_reliabilities
from jury_adapters.calibration.thresholds import Trials, choose_thresholds
from jury_adapters.calibration.types import Ints
from jury_adapters.core.ensemble import EnsembleOptions
from jury_adapters.core.judgment import PASS_OR_FAIL
from jury_adapters.replay import RecordedCritic

HERE = Path(__file__).parent
RECORDED = HERE.parent / "cookbook" / "data" / "codefeedback.jsonl.gz"
SMALL = ("gpt-4o-mini", "gemini-1.5-flash", "claude_3.5_haiku")
LARGE = "gemini-2.5-pro"
# By list price when the votes were cast, the cheapest first: the order in which an early-stopping jury asks.
BY_PRICE = (
    "gemini-1.5-flash", "gpt-4o-mini", "deepseek-chat", "gpt-4.1-mini", "qwen-coder-plus", "gemini-2.5-flash",
    "claude_3.5_haiku", "gemini-1.5-pro", "gemini-2.5-pro", "gpt-4.1", "gpt-4o", "claude_3.5_sonnet", "gpt-4-turbo",
    "claude_3_opus",
)  # fmt: skip
DRAWS = 200

Row = dict[str, Any]


def main() -> None:
    """Write every picture."""
    for name, svg in pictures():
        (HERE / "images" / name).write_text(svg, encoding="utf-8")
        print(f"docs/images/{name}")


def pictures() -> Iterator[tuple[str, str]]:
    """File names and SVG texts; the same on every machine."""
    yield "life_of_a_case.svg", life_of_a_case()
    yield "early_stopping.svg", early_stopping()
    yield "calls_saved.svg", calls_saved()
    yield "cascade_funnel.svg", cascade_funnel()
    yield "agreement_coefficients.svg", agreement_coefficients()
    yield "coverage_guaranteed.svg", coverage_guaranteed()


def life_of_a_case() -> str:
    """A case on its way to a verdict."""
    draw = Drawing(
        (760, 340),
        "The life of a case",
        "A case goes to a jury. Each juror returns a judgment: PASS, FAIL, ABSTAIN or ERROR. A voting rule counts PASS "
        "and FAIL, lets ABSTAIN leave and treats ERROR as you asked. Out comes one verdict that keeps all judgments.",
    )
    draw.card((16, 92), (136, 130), "Case", ("question, answer,", "contexts, reference,", "trajectory, ..."))
    said = (("Juror 1", "PASS", "pass"), ("Juror 2", "FAIL", "fail"), ("Juror 3", "ABSTAIN", "muted"),
            ("Juror 4", "ERROR", "warn"))  # fmt: skip
    for position, (juror, status, kind) in enumerate(said):
        middle = 46 + position * 74
        draw.arrow((152, 157), (196, middle))
        draw.box((198, middle - 26), (84, 52), "card")
        draw.text((240, middle + 5), juror, "strong", "middle")
        draw.arrow((282, middle), (312, middle))
        draw.box((314, middle - 16), (90, 32), f"soft {kind}", corner=16)
        draw.text((359, middle + 5), status, f"strong {kind}", "middle")
        draw.arrow((404, middle), (448, 157))
    draw.card((450, 92), (144, 130), "Voting rule", ("PASS and FAIL vote", "ABSTAIN leaves", "ERROR: errors="))
    draw.arrow((594, 157), (622, 157))
    draw.card((624, 92), (120, 130), "Verdict", ("status, score,", "all judgments,", "agreement, cost"))
    draw.text((240, 324), "Judges", "note", "middle")
    draw.text((359, 324), "Judgments", "note", "middle")
    draw.text((597, 324), "a verdict is a judgment, a jury is a judge", "note", "middle")
    return draw.svg()


def early_stopping() -> str:
    """Jurors that an early-stopping panel of five asks in three cases, as the panel itself reports them."""
    draw = Drawing(
        (760, 308),
        "Early stopping in a panel of five",
        "Three cases, five jurors, majority vote. Three equal votes settle the first case and two jurors are not "
        "asked; the second needs four votes; the third, the closest, needs all five.",
    )
    for juror in range(5):
        draw.text((150 + juror * 84, 32), f"juror {juror + 1}", "note", "middle")
    for row, votes in enumerate(("PPPFP", "PPFPF", "PFPFP")):
        middle, verdict = 78 + row * 80, _early_stopped(votes)
        asked = len(votes) - verdict.calls_saved
        draw.text((16, middle + 5), f"case {row + 1}", "strong")
        for juror, vote in enumerate(votes):
            left = 114 + juror * 84
            if juror < asked:
                word, kind = ("PASS", "pass") if vote == "P" else ("FAIL", "fail")
                draw.box((left, middle - 18), (72, 36), f"soft {kind}", corner=18)
                draw.text((left + 36, middle + 5), word, f"strong {kind}", "middle")
            else:
                draw.box((left, middle - 18), (72, 36), "absent", corner=18)
                draw.text((left + 36, middle + 5), "not asked", "tiny", "middle")
        tally, saved = verdict.tally, verdict.calls_saved
        draw.text((548, middle - 4), f"{verdict.status}, {tally.passed} to {tally.failed}", "strong")
        left_over = {0: "no vote to spare", 1: "1 call saved"}.get(saved, f"{saved} calls saved")
        draw.text((548, middle + 15), f"{asked} of 5 asked, {left_over}", "note")
    draw.text(
        (16, 292),
        "Three are asked together, since fewer could not settle it; then more, only while it is open.",
        "note",
    )
    return draw.svg()


def calls_saved() -> str:
    """Calls that an early-stopping panel saves, by size and rule."""
    sizes = (3, 5, 7, 9, 11, 13)
    fit, report = _fold(0), _fold(1)
    lines: dict[str, list[Point]] = {"weighted vote": [], "majority": [], "unanimous": []}
    for size in sizes:
        codes = report.panel(BY_PRICE[:size]).codes
        weights = fit_reliabilities(fit.panel(BY_PRICE[:size])).weights()
        heavy = [weights[name] for name in BY_PRICE[:size]]
        order = np.argsort(-np.array(heavy), kind="stable").tolist()
        lines["weighted vote"].append(
            (size, _saved(codes, order, voting="weighted", weights=heavy, use_confidence=False, tie="abstain"))
        )
        lines["majority"].append((size, _saved(codes, range(size), tie="abstain")))
        lines["unanimous"].append((size, _saved(codes, range(size), voting="unanimous", on_split="abstain")))
    draw = Drawing(
        (760, 380),
        "Calls saved by early stopping, against the size of the panel",
        "Share of juror calls not made at identical verdicts. "
        + "; ".join(f"{name}: " + ", ".join(f"{y:.1%} of {x:g}" for x, y in points) for name, points in lines.items()),
    )
    draw.text((16, 30), f"Share of juror calls saved, at identical verdicts ({len(report.items):,} cases)", "strong")
    chart = Chart(draw, (64, 56), (470, 266), (2.5, 13.5), (0, 0.5))
    chart.axes(
        [(size, str(size)) for size in sizes], [(share, f"{share:.0%}") for share in (0, 0.1, 0.2, 0.3, 0.4, 0.5)]
    )
    draw.text((299, 366), "jurors in the panel", "note", "middle")
    for (name, points), kind, shift in zip(lines.items(), ("blue", "warn", "pass"), (-5, 14, 5), strict=True):
        chart.line(points, kind)
        x, y = chart.at(points[-1])
        draw.text((x + 12, y + shift), f"{name} {points[-1][1]:.0%}", f"strong {kind}")
    return draw.svg()


def cascade_funnel() -> str:
    """Number of cases that each tier of the recorded cascade decides."""
    cases = [Case.from_row(row) for row in _rows() if _fold_of(row) == 1]
    small = Ensemble([_recorded(name) for name in SMALL], min_votes=2)
    cascade = CascadedJury([Tier("small", small, "escalate_on_split"), Tier("large", _recorded(LARGE))])
    ended = Counter((verdict.stopped_at, verdict.status) for verdict in cascade.judge_many(cases))
    n = len(cases)
    escalated = sum(count for (tier, _), count in ended.items() if tier == "large")
    draw = Drawing(
        (760, 360),
        "Funnel of a cascade of two tiers",
        f"{n:,} cases reach three small models; where they agree, {n - escalated:,} end there. The other {escalated}, "
        f"{escalated / n:.1%}, go to one large model.",
    )
    wide, centre = 400.0, 220.0
    narrow = wide * escalated / n
    draw.text((16, 28), "every bar is as wide as the number of cases that reach it", "note")
    passed, failed = ended["small", Status.PASS], ended["small", Status.FAIL]
    first = ("Tier 1: three small models", "policy escalate_on_split", f"unanimous PASS: {passed:,} end here",
             f"unanimous FAIL: {failed:,} end here")  # fmt: skip
    _funnel_tier(draw, 44, wide, f"{n:,} cases", first)
    upper, lower = (centre - wide / 2, centre + wide / 2), (centre + narrow / 2, centre - narrow / 2)
    draw.shape([*((x, 114) for x in upper), *((x, 204) for x in lower)], "soft blue faint")
    draw.text((centre, 150), f"{escalated} escalate ({escalated / n:.1%}):", "strong", "middle")
    draw.text((centre, 169), "split, or fewer than two votes", "note", "middle")
    passed, failed = ended["large", Status.PASS], ended["large", Status.FAIL]
    last = ("Tier 2: one large model", "policy final", f"PASS: {passed}", f"FAIL: {failed}",
            f"no vote on record, ABSTAIN: {ended['large', Status.ABSTAIN]}")  # fmt: skip
    _funnel_tier(draw, 204, narrow, str(escalated), last)
    draw.text(
        (16, 344),
        f"{3 * n + escalated:,} calls in all, of which {escalated} to the large model instead of {n:,}.",
        "note",
    )
    return draw.svg()


def agreement_coefficients() -> str:
    """Coefficients of agreement of the same votes, with their intervals."""
    votes = Votes.from_recorded(_rows(), group="meta.program", pass_label="valid")
    report = agreement_report(votes)
    names = {"raw agreement": "raw agreement", "gwet AC1": "Gwet's AC1",
             "mean pairwise cohen kappa": "mean Cohen's kappa",
             "krippendorff alpha (nominal)": "Krippendorff's alpha"}  # fmt: skip
    found = [(shown, report.find(name)) for name, shown in names.items()]
    prevailing = report.find("label share", "valid").value or 0.0
    told = [(shown, one.value or 0.0, one.interval or (0.0, 0.0)) for shown, one in found]
    draw = Drawing(
        (760, 280),
        "Four coefficients of agreement, one set of votes",
        "; ".join(f"{shown} {value:.3f}, 95 % interval {low:.3f} to {high:.3f}" for shown, value, (low, high) in told),
    )
    heading = f"{len(votes.jurors)} jurors, {report.items:,} cases, {prevailing:.1%} of the votes are 'valid'"
    draw.text((16, 30), heading, "strong")
    chart = Chart(draw, (170, 46), (400, 184), (0, 1), (0, 4))
    chart.axes([(tick, f"{tick:g}") for tick in (0, 0.2, 0.4, 0.6, 0.8, 1)], [])
    for row, (shown, value, (low, high)) in enumerate(told):
        (x, y), kind = chart.at((value, 3.5 - row)), "blue" if row < 2 else "warn"
        draw.text((158, y + 5), shown, "", "end")
        draw.line((chart.at((low, 0))[0], y), (chart.at((high, 0))[0], y), f"thick {kind}")
        draw.dot((x, y), kind)
        draw.text((590, y + 5), f"{value:.3f} [{low:.3f}, {high:.3f}]", "tiny")
    draw.text(
        (370, 268),
        "0: as by chance (raw agreement is not corrected); 1: perfect. Lines: 95 % intervals",
        "note",
        "middle",
    )
    return draw.svg()


def coverage_guaranteed() -> str:
    """Cost of a guarantee: the share of cases decided, and how often the guarantee is kept."""
    population, targets = _population(), [round(0.86 + 0.01 * step, 2) for step in range(11)]
    decided, kept = [], []
    for target in targets:
        coverage, held = _kept(population, 1 - target)
        decided.append((target, coverage))
        kept.append((target, held))
    draw = Drawing(
        (760, 390),
        "Share of cases decided, against the agreement guaranteed",
        f"Mean of {DRAWS} calibrations with 1,000 labels each. "
        + "; ".join(f"guarantee {x:.0%}: decides {y:.1%}, kept in {held:.1%}"
                    for (x, y), (_, held) in zip(decided, kept, strict=True)),
    )  # fmt: skip
    draw.text((16, 30), f"{DRAWS} calibrations with 1,000 labels each, delta = 0.1", "strong")
    chart = Chart(draw, (64, 56), (500, 272), (0.855, 0.965), (0, 1))
    chart.axes(
        [(x, f"{x:.0%}") for x in targets[::2]], [(tick, f"{tick:.0%}") for tick in (0, 0.25, 0.5, 0.75, 0.9, 1)]
    )
    draw.text((314, 374), "agreement with human labels that is guaranteed for the decided cases", "note", "middle")
    draw.line(chart.at((0.855, 0.9)), chart.at((0.965, 0.9)), "dashed")
    chart.line(kept, "pass")
    chart.line(decided, "blue")
    y = chart.at(kept[-1])[1]
    draw.text((576, y + 1), "guarantees kept", "strong pass")
    draw.text((576, chart.at((0, 0.9))[1] + 12), "guaranteed: 1 - delta", "note")
    draw.text((576, chart.at(decided[-1])[1] - 12), "cases decided,", "strong blue")
    draw.text((576, chart.at(decided[-1])[1] + 6), "the rest abstains", "strong blue")
    return draw.svg()


class Replay(Judge):
    """Repeats the vote that stands for it in a case's answer: P for PASS, F for FAIL, - for none."""

    opinion_statuses = PASS_OR_FAIL

    def __init__(self, column: int, cost: float) -> None:
        self.column = column
        self.cost = cost

    def assess(self, case: Case) -> Judgment:
        """The vote."""
        status = {"P": Status.PASS, "F": Status.FAIL}.get((case.answer or "")[self.column])
        return abstain("no vote on record") if status is None else Judgment(status)


def _funnel_tier(draw: Drawing, top: float, width: float, told: str, lines: Sequence[str]) -> None:
    """A bar in the middle of the funnel; beside it the tier's name, its policy, and what ends there."""
    draw.box((220 - width / 2, top), (width, 70), "soft blue", corner=4)
    draw.text((220, top + 41), told, "strong blue", "middle")
    for row, line in enumerate(lines):
        draw.text((452, top + 18 + row * 19), line, ("strong", "note", "")[min(row, 2)])


def _early_stopped(votes: str, order: Sequence[int] = range(5), **options: Unpack[EnsembleOptions]) -> Verdict:
    """Verdict of an early-stopping panel on these votes, with its jurors asked in this order."""
    rank = {column: place for place, column in enumerate(order)}
    options["schedule"] = "early_stop"
    panel = Ensemble([Replay(column, rank[column]) for column in range(len(rank))], **options)
    verdict = panel.judge(answer=votes)
    assert isinstance(verdict, Verdict)
    return verdict


def _saved(codes: Ints, order: Sequence[int], **options: Unpack[EnsembleOptions]) -> float:
    """The share of calls that an early-stopping panel does not make; equal rows are judged once."""
    rows = Counter("".join("FP-"[code] for code in row) for row in codes.tolist())
    return sum(_early_stopped(row, order, **options).calls_saved * times for row, times in rows.items()) / codes.size


def _rows() -> list[Row]:
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _fold_of(row: Mapping[str, Any]) -> int:
    """Half of the programs fit (0), half report (1)."""
    return int(hashlib.sha256(f"fit{row['meta']['program']}".encode()).hexdigest()[:8], 16) % 2


def _fold(number: int) -> Votes:
    chosen = [row for row in _rows() if _fold_of(row) == number]
    return Votes.from_recorded(chosen, group="meta.program", pass_label="valid")


def _recorded(name: str) -> RecordedCritic:
    return RecordedCritic(name, labels={"valid": "pass", "invalid": "fail"})


def _population() -> Trials:
    """Three small jurors, then with a large one, then all 14; each a Bayes vote fitted on the other fold."""
    confidences, correct = [], []
    for panel in (SMALL, (*SMALL, LARGE), BY_PRICE):
        votes = _fold(1).panel(panel)
        posterior = fit_reliabilities(_fold(0).panel(panel)).posterior(votes)
        confidences.append(np.where(votes.answered.any(axis=1), posterior.max(axis=1), -1))
        correct.append(posterior.argmax(axis=1) == votes.gold)
    return Trials(np.stack(confidences, axis=1), np.stack(correct, axis=1))


def _kept(population: Trials, alpha: float) -> tuple[float, float]:
    """Mean coverage, and how often the guarantee is kept: the recorded cases are the population, labels are drawn."""
    draw, size = np.random.default_rng(0), len(population.confidences)
    coverage, held = [], []
    for _ in range(DRAWS):
        found, _by = choose_thresholds(population.take(draw.integers(0, size, 1000)), alpha, 0.1)
        outcome = population.outcome(found.thresholds)
        coverage.append(outcome.decided / outcome.items)
        held.append(outcome.errors <= alpha * outcome.decided)
    return float(np.mean(coverage)), float(np.mean(held))


if __name__ == "__main__":
    main()
