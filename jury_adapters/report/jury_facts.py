"""Find from their judgments whether two runs were judged by one jury."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from jury_adapters.core.formatting import clip, counted
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.opinions import ABSTAINED, Path, juror_names, opinions_of
from jury_adapters.core.verdict import Verdict

RUBRIC = "rubric_fingerprint"
"""Entry of a judgment's metadata: the hash of the rubric that was asked."""


@dataclass
class JuryFacts:
    """Facts about the jury of a run: its voting rules, policies of tiers, and jurors with weights, models and rubrics.

    A single judge is the only juror of its run. Votes by fallbacks are counted, and their models left out. Jurors and
    tiers that no case needed are known by their names.
    """

    _votings: dict[Path, set[str]] = field(default_factory=dict)
    _policies: dict[Path, set[str]] = field(default_factory=dict)
    _jurors: set[Path] = field(default_factory=set)
    _judges: set[Path] = field(default_factory=set)
    _skipped: set[Path] = field(default_factory=set)
    _models: dict[Path, set[str]] = field(default_factory=dict)
    _rubrics: dict[Path, set[object]] = field(default_factory=dict)
    _votes: Counter[Path] = field(default_factory=Counter)
    _by_fallback: dict[Path, Counter[str]] = field(default_factory=dict)
    _weights: dict[Path, set[float]] = field(default_factory=dict)
    _unknown: bool = False

    def add(self, judgment: Judgment, times: int = 1) -> None:
        """Note the jurors of one judgment, or of several of its form.

        Beyond the first hundreds, other jurors are not noted.
        """
        if len(self._jurors) + len(self._judges) >= _MOST_JURORS:
            self._unknown = True
            return
        self._skipped.update(_skipped_in(judgment, ()))
        for path, voting in _votings_in(judgment):
            self._votings.setdefault(path, set()).add(voting)
        for path, policy in _policies_in(judgment, ()):
            self._policies.setdefault(path, set()).add(policy)
        for path, weight in _weights_in(judgment):
            self._weights.setdefault(path, set()).add(weight)
        opinions = list(opinions_of(judgment))
        if not opinions and judgment.valid and judgment.critic:
            self._judges.add((judgment.critic,))
            opinions = [((judgment.critic,), judgment)]
        else:
            self._jurors.update(path for path, _ in opinions)
        for path, vote in opinions:
            if not vote.valid:
                continue
            self._votes[path] += times
            if vote.fallback_used is not None:
                self._by_fallback.setdefault(path, Counter())[vote.fallback_used] += times
                continue
            if vote.model is not None:
                self._models.setdefault(path, set()).add(vote.model)
            if (rubric := vote.metadata.get(RUBRIC)) is not None:
                self._rubrics.setdefault(path, set()).add(rubric)

    def differences(self, other: JuryFacts) -> Iterator[str]:
        """Yield clauses about what differs between this jury, that of a, and another one, that of b."""
        for path in sorted(self._votings.keys() & other._votings.keys()):
            if (a := self._votings[path]) != (b := other._votings[path]):
                where = f"in {path[-1]}, " if path else ""
                yield f"{where}a votes by {_listed(a)} and b by {_listed(b)}"
        for path in sorted(self._policies.keys() & other._policies.keys()):
            if (a := self._policies[path]) != (b := other._policies[path]):
                yield f"in {path[-1]}, a has the policy {_listed(a)} and b {_listed(b)}"
        jurors = self._jurors or self._judges, other._jurors or other._judges
        unreached = self._unreached(), other._unreached()
        names = juror_names(sorted(jurors[0] | jurors[1] | unreached[0] | unreached[1]))
        if all(jurors) and not (self._unknown or other._unknown):
            for run, own, others in (("a", 0, 1), ("b", 1, 0)):
                alone = _alone(jurors[own] | unreached[own], jurors[others], unreached[others])
                if alone:
                    only = sorted(names[path] for path in alone)
                    yield f"{counted(len(only), 'juror is', 'jurors are')} in {run} only ({_listed(only)})"
        for path in sorted(jurors[0] & jurors[1]):
            weights = self._weights.get(path, set()), other._weights.get(path, set())
            if len(weights[0]) == len(weights[1]) == 1 and weights[0] != weights[1]:
                yield f"{names[path]} has the weight {min(weights[0]):g} in a and {min(weights[1]):g} in b"
            models = self._models.get(path, set()), other._models.get(path, set())
            if all(models) and models[0] != models[1]:
                yield f"{names[path]} is {_listed(models[0])} in a and {_listed(models[1])} in b"
            rubrics = self._rubrics.get(path, set()), other._rubrics.get(path, set())
            if all(rubrics) and rubrics[0] != rubrics[1]:
                yield f"{names[path]} has another rubric in b"
            used = {*self._by_fallback.get(path, ()), *other._by_fallback.get(path, ())}
            if any(abs(self._share(path, name) - other._share(path, name)) > _MORE_FALLBACKS for name in used):
                yield f"{names[path]} {self._fallbacks(path)} in a and {other._fallbacks(path)} in b"

    def _unreached(self) -> set[Path]:
        """Return the jurors and tiers that no case needed."""
        return self._skipped - _beginnings(self._jurors)

    def _share(self, path: Path, fallback: str) -> float:
        """Return the share of a juror's votes that a fallback cast."""
        return self._by_fallback.get(path, Counter())[fallback] / max(1, self._votes[path])

    def _fallbacks(self, path: Path) -> str:
        used = self._by_fallback.get(path, Counter())
        if not used:
            return "voted itself"
        return f"was replaced by {_listed(set(used))} in {used.total():,} of {counted(self._votes[path], 'vote')}"


def _votings_in(judgment: Judgment) -> Iterator[tuple[Path, str]]:
    """Yield the path and the voting rule of each jury that voted."""
    for path, verdict in _juries_in(judgment, ()):
        if verdict.voting and verdict.judgments:
            yield path, verdict.voting


def _weights_in(judgment: Judgment) -> Iterator[tuple[Path, float]]:
    """Yield the path and the weight of each juror that has one."""
    for path, verdict in _juries_in(judgment, ()):
        if len(verdict.weights) == len(verdict.judgments):
            for juror, weight in zip(verdict.judgments, verdict.weights, strict=True):
                yield (*path, juror.critic), weight


def _juries_in(judgment: Judgment, path: Path) -> Iterator[tuple[Path, Verdict]]:
    """Yield the verdict of each jury in a judgment that is not a cascade, with its path."""
    if not isinstance(judgment, Verdict):
        return
    if judgment.tiers:
        for tier in judgment.tiers:
            yield from _juries_in(tier.judgment, (*path, tier.name))
        return
    yield path, judgment
    for juror in judgment.judgments:
        yield from _juries_in(juror, (*path, juror.critic))


def _policies_in(judgment: Judgment, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the path and the policy of each tier that ran."""
    if not isinstance(judgment, Verdict):
        return
    for tier in judgment.tiers:
        yield (*path, tier.name), tier.policy
        yield from _policies_in(tier.judgment, (*path, tier.name))
    if not judgment.tiers:
        for juror in judgment.judgments:
            yield from _policies_in(juror, (*path, juror.critic))


def _skipped_in(judgment: Judgment, path: Path) -> Iterator[Path]:
    """Yield the paths of the jurors and tiers that a judgment did not need."""
    if not isinstance(judgment, Verdict):
        return
    yield from ((*path, name) for name in judgment.skipped if name != ABSTAINED)
    if judgment.tiers:
        for tier in judgment.tiers:
            yield from _skipped_in(tier.judgment, (*path, tier.name))
        return
    for juror in judgment.judgments:
        yield from _skipped_in(juror, (*path, juror.critic))


def _alone(known: set[Path], jurors: set[Path], unreached: set[Path]) -> set[Path]:
    """Return the jurors that another run with these jurors cannot have had, also in what none of its cases reached."""
    return {path for path in known - _beginnings(jurors) if not _beginnings({path}) & unreached}


def _beginnings(paths: set[Path]) -> set[Path]:
    """Return the paths, with those of the juries and tiers around each."""
    return {path[:length] for path in paths for length in range(1, len(path) + 1)}


def _listed(names: set[str] | list[str]) -> str:
    shown = sorted(names)
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return clip(", ".join(shown[:_SHOWN]), _LONGEST) + more


_MOST_JURORS = 500
_SHOWN = 3
_MORE_FALLBACKS = 0.01  # difference between the shares of votes by a fallback that makes a juror another one
_LONGEST = 120  # characters of a list of names
