"""Votes per juror and results per criterion, counted verdict by verdict."""

from __future__ import annotations

from collections.abc import Hashable

from jury_adapters.core.budget import BUDGET_EXHAUSTED
from jury_adapters.core.opinions import criteria_of, fallbacks_in, is_inside, opinions_of, screening_tiers_in
from jury_adapters.core.return_values import is_failed_run
from jury_adapters.core.unasked import is_unasked
from jury_adapters.core.verdict import Verdict, is_pairwise_opinion
from jury_adapters.core.verdict_facts import outage_as_error
from jury_adapters.report.counters import NOT_COMPARED, CriterionCount, JurorCount


class JurorCounts:
    """Counts by the path of a juror or criterion: the names of its tiers and juries, and its own.

    Attributes:
        jurors: the votes of each juror.
        screening: the jurors in screening tiers, which are not compared with the verdict.
        of_criteria: the jurors that judge a criterion of a scorecard, which are not compared with the verdict either.
        by_criterion: the results of each criterion.
    """

    def __init__(self) -> None:
        self.jurors: dict[tuple[str, ...], JurorCount] = {}
        self.screening: set[tuple[str, ...]] = set()
        self.of_criteria: set[tuple[str, ...]] = set()
        self.by_criterion: dict[tuple[str, ...], CriterionCount] = {}

    def add(self, verdict: Verdict, group: Hashable | None, times: int) -> None:
        """Count the votes and criteria in verdicts of one form.

        Args:
            verdict: one of the verdicts.
            group: the group of their cases; None for independent cases.
            times: the number of verdicts.
        """
        screening_tiers, own = tuple(screening_tiers_in(verdict)), is_pairwise_opinion(verdict)
        criteria = {path: result for path, result in criteria_of(verdict) if not is_failed_run(result)}
        for path, result in criteria.items():
            self.by_criterion = with_criterion(self.by_criterion, path)
            self.by_criterion[path].add_result(result, group, times)
        replaced, decided = dict(fallbacks_in(verdict)), outage_as_error(verdict)
        for path, vote in opinions_of(verdict):
            screening = bool(screening_tiers) and is_inside(path, screening_tiers)
            of_criterion = bool(criteria) and is_inside(path, criteria)
            if screening:
                self.screening.add(path)
            elif of_criterion:
                self.of_criteria.add(path)
            compared = not (screening or of_criterion or own)  # the only juror of a pairwise opinion is the jury itself
            fallback = next((name for place, name in replaced.items() if path[: len(place)] == place), None)
            juror = self.jurors.get(path)
            if juror is None:
                juror = self.jurors[path] = JurorCount()
            if vote.error == BUDGET_EXHAUSTED:  # the juror was not asked
                juror.over_budget += times
            elif is_unasked(vote):
                juror.empty_answers += times
            else:
                juror.add(vote, decided if compared else NOT_COMPARED, group, fallback=fallback, times=times)


def with_criterion(
    criteria: dict[tuple[str, ...], CriterionCount], path: tuple[str, ...]
) -> dict[tuple[str, ...], CriterionCount]:
    """Return criteria with one more, unless it is there: after those of the scorecard around it, or else at the end."""
    if path in criteria:
        return criteria
    around = max((path[:end] for end in range(len(path)) if path[:end] in criteria), key=len, default=None)
    items = list(criteria.items())
    after = len(items)
    if around is not None:
        after = 1 + max(place for place, (one, _) in enumerate(items) if one[: len(around)] == around)
    return dict([*items[:after], (path, CriterionCount()), *items[after:]])
