"""Comparison of a jury with its jurors: paired comparison with the best one, correlation of errors, and advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from jury_adapters.audit.asking import Answers, JurorAnswers
from jury_adapters.audit.looks import AskedProbes
from jury_adapters.audit.probes import Probe
from jury_adapters.core.clustered_shares import sign_flip_test
from jury_adapters.core.judgment import Status
from jury_adapters.core.values import JsonValue

Errors = Mapping[int, bool]
"""Whether a judgment is wrong, by number of the probe; only for probes with a known truth that were decided."""


@dataclass(frozen=True, slots=True)
class JurorComparison:
    """Comparison of the jury with its jurors, on the changed answers that both decided.

    Attributes:
        best_juror: the juror with the smallest mean of the error rates on wrong and on right answers; empty for a
            single judge.
        jury_better: number of changed answers that the jury judged rightly and the best juror wrongly.
        juror_better: number of changed answers that the best juror judged rightly and the jury wrongly.
        p: two-sided p value of the hypothesis that both are equally good, by cases.
        error_correlation: mean correlation of the errors of two jurors; None if it is unknown.
        effective_votes: number of independent jurors that would give the same information; None if it is unknown.
        advice: recommendations in sentences. They are never applied.
    """

    best_juror: str = ""
    jury_better: int = 0
    juror_better: int = 0
    p: float = 1.0
    error_correlation: float | None = None
    effective_votes: float | None = None
    advice: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the comparison as JSON values."""
        return {
            "best_juror": self.best_juror, "jury_better": self.jury_better, "juror_better": self.juror_better,
            "p": self.p, "error_correlation": self.error_correlation, "effective_votes": self.effective_votes,
            "advice": list(self.advice),
        }  # fmt: skip


def compare_jurors(asked: AskedProbes, verdicts: Answers, jurors: Sequence[JurorAnswers]) -> JurorComparison:
    """Compare a jury with its jurors on the answers that are wrong, or right, by construction.

    Jurors of screening tiers are left out, because they answer another question.
    """
    changed = [probe for probe in asked.common if probe.kind in ("wrong", "right")]
    jury = _errors(changed, verdicts)
    errors = {juror.name: _errors(changed, juror.answers) for juror in jurors if juror.lets_through is None}
    wrong = {probe.number: probe.wrong for probe in changed}
    rates = {name: rate for name, found in errors.items() if (rate := _mean_error(found, wrong)) is not None}
    if not rates:
        return JurorComparison()
    best = min(rates, key=lambda name: rates[name])
    better, worse, p = _paired(changed, jury, errors[best], asked.data_sets)
    correlation = _mean_correlation(list(errors.values()))
    n = len(errors)
    effective = None if correlation is None or n < 2 else n / (1 + (n - 1) * max(0.0, correlation))
    return JurorComparison(
        best,
        better,
        worse,
        p,
        correlation,
        effective,
        tuple(_advice(best, (better, worse, p), effective, errors, asked)),
    )


def _errors(probes: Sequence[Probe], answers: Answers) -> Errors:
    statuses = {probe.number: answers[probe.number].status for probe in probes if probe.number in answers}
    return {
        probe.number: (statuses[probe.number] is Status.PASS) is probe.wrong
        for probe in probes
        if statuses.get(probe.number) in (Status.PASS, Status.FAIL)
    }


def _mean_error(errors: Errors, wrong: Mapping[int, bool]) -> float | None:
    """Return the mean of the error rates on wrong and on right answers; None without either."""
    rates = []
    for kind in (True, False):
        found = [error for number, error in errors.items() if wrong[number] is kind]
        if not found:
            return None
        rates.append(sum(found) / len(found))
    return sum(rates) / 2


def _paired(probes: Sequence[Probe], first: Errors, second: Errors, data_sets: int) -> tuple[int, int, float]:
    """Return how often only the second errs, how often only the first errs, and the p value by cases, corrected."""
    better = worse = 0
    by_case: dict[int, int] = {}
    for probe in probes:
        if probe.number in first and probe.number in second:
            difference = second[probe.number] - first[probe.number]
            better += difference > 0
            worse += difference < 0
            by_case[probe.group] = by_case.get(probe.group, 0) + difference
    return better, worse, min(1.0, data_sets * sign_flip_test(by_case.values()))


def _mean_correlation(errors: Sequence[Errors]) -> float | None:
    """Return the mean over pairs of jurors of the correlation of their errors, over pairs where it is defined."""
    found = []
    for place, first in enumerate(errors):
        for second in errors[place + 1 :]:
            both = [(first[number], second[number]) for number in first.keys() & second.keys()]
            n = len(both)
            a, b, ab = sum(x for x, _ in both), sum(y for _, y in both), sum(x and y for x, y in both)
            spread = a * (n - a) * b * (n - b)
            if spread:
                found.append((n * ab - a * b) / sqrt(spread))
    return sum(found) / len(found) if found else None


def _advice(
    best: str,
    paired: tuple[int, int, float],
    effective: float | None,
    errors: Mapping[str, Errors],
    asked: AskedProbes,
) -> list[str]:
    if len(errors) < 2:
        return []
    advice = []
    better, worse, p = paired
    if p <= 0.05 and worse > better:
        advice.append(
            f"{best} alone judged {worse} changed answers rightly that the jury judged wrongly, against {better} the "
            f"other way round (p {p:.2g}): give it more weight, let it decide in a later tier, or use it alone"
        )
    elif p > 0.05:
        advice.append(
            f"on these answers the jury is neither shown to be better nor worse than {best} alone (p {p:.2g})"
        )
    for name, found in errors.items():
        lost, won, one_p = _paired(asked.common, found, errors[best], asked.data_sets)
        if name != best and one_p <= 0.01 and won > 2 * max(1, lost):
            advice.append(
                f"drop {name}, or weigh it less: it is wrong on {won} answers on which {best} is right, and right on "
                f"{lost} on which {best} is wrong"
            )
    if effective is not None and effective < 0.6 * len(errors):
        advice.append(
            f"{len(errors)} jurors give the information of {effective:.1f} independent ones, because they err on the "
            "same answers: a juror of another model family adds more than one of the same"
        )
    return advice
