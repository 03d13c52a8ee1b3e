"""Critics of a replayed jury. Their votes are recorded ones, and no model is asked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches

from jury_adapters.core.cascade import CascadedJury
from jury_adapters.core.case import Case
from jury_adapters.core.context import run_context
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.errors import InputError, plain_repr
from jury_adapters.core.fallbacks import FallbackJudge, without_fallbacks
from jury_adapters.core.formatting import counted, visible
from jury_adapters.core.judge import Judge, Outcome
from jury_adapters.core.judgment import ANY_OPINION, PASS_OR_FAIL, Judgment, OpinionStatuses, Status, abstain, broken
from jury_adapters.core.jury import Jury
from jury_adapters.core.opinions import Path
from jury_adapters.core.runner import run_judge
from jury_adapters.core.verdict import Verdict
from jury_adapters.critic.answers import Choice
from jury_adapters.critic.asking import case_key_of, pass_scores_of, rubric_statuses
from jury_adapters.critic.prompt import missing_fields
from jury_adapters.critic.recorded import RecordedCritic
from jury_adapters.critic.recording import Recording
from jury_adapters.critic.reply_judgments import empty_answer_judgment
from jury_adapters.critic.rubric import Rubric

_MOST_NAMED = 12
_NEAR = 0.8  # similarity from which a name may be a misspelling of another


class ReplayedCritic(RecordedCritic):
    """Critic that returns recorded votes.

    Votes come from ``case.metadata["votes"]``, by the critic's name in the jury. After :func:`serve_from` they come
    from a store, by the critic's fingerprint and the request, so each sample of a critic has its own vote. If the store
    lacks the fingerprint, it is searched for the critic's names.

    A bare label, or a vote without a status, has its meaning from the critic's rubric. If all labels of the rubric
    mean PASS, FAIL or ABSTAIN, a vote with another label abstains.

    Args:
        name: the critic's name.
        rubric: the critic's rubric.
        threshold: the critic's threshold; None for the rubric's own rule.
        own_name: the name under which a store keeps the judgments of the critic if no name was given.
        fingerprint: the fingerprint of the critic; None if it is unknown.
        unknown_because: the reason why the fingerprint is unknown.
        samples: the number of requests per case.
        order_cost: the critic's estimate of a judgment in US dollars; early stopping asks the cheapest first.
        model: the name of the critic's model; empty if it is unknown.

    Attributes:
        namesakes: the full names of the store's critics with this name, if there are several; no vote is served then.
        differs: whether the votes come from a critic of the store with the same name and another fingerprint.
    """

    def __init__(
        self,
        name: str,
        rubric: Rubric,
        *,
        threshold: float | None = None,
        own_name: str = "",
        fingerprint: str | None = None,
        unknown_because: str = "",
        samples: int = 1,
        order_cost: float = 0.0,
        model: str = "",
    ) -> None:
        super().__init__(name)
        self.cost = order_cost
        self.unknown_because = unknown_because
        self.namesakes: tuple[str, ...] = ()
        self.differs = False
        self._model = model
        self._cast_otherwise: dict[str, None] = {}
        self._rubric = rubric
        self._mark = threshold
        self._own_names = (name, own_name or name)
        self._fingerprint = fingerprint
        self._samples = samples
        self._recording: Recording | None = None
        self._by_name = False
        self._full_name: str | None = None
        self._jury: Ensemble | None = None
        self.place((), name)

    @property
    def fingerprint(self) -> str | None:
        return self._fingerprint

    @property
    def opinion_statuses(self) -> OpinionStatuses:
        return PASS_OR_FAIL if rubric_statuses(self._rubric, self._mark) == PASS_OR_FAIL else ANY_OPINION

    @property
    def pass_scores(self) -> frozenset[float]:
        return pass_scores_of(self._rubric, self._mark)

    @property
    def size(self) -> int:
        return self._samples

    @property
    def recorded_name(self) -> str:
        return self._full_name or self.name

    @property
    def from_store(self) -> bool:
        """Whether the votes come from a store."""
        return self._recording is not None

    async def assess(self, case: Case) -> Outcome:
        return self._judged(case) if self._jury is None else await self._jury.assess(case)

    @property
    def inline(self) -> bool:
        return True  # the samples, too, are only looked up

    def _judged(self, case: Case) -> Judgment:
        found = self._found(case)
        if found is None and self.from_store:
            if missing := self._missing(case):
                return abstain(f"nothing to judge: no {', no '.join(missing)}")
            empty = empty_answer_judgment(self._rubric, case, self._mark)
            if empty is not None:
                return empty
        self._asked[found is not None] += 1
        if found is None:
            return self._without_vote(None if self.from_store else case.metadata.get("votes"))
        if found.valid and found.status not in self.opinion_statuses:
            return abstain(f"recorded: {found.label}, which is not an answer of the rubric", usage=found.usage)
        return found

    def place(self, path: Path, name: str) -> None:
        """Set the names to look votes up by: this place in the jury, the juror's name, and the critic's own name."""
        self._names = tuple(dict.fromkeys((" / ".join((*path, name)), name, *self._own_names)))
        self._judge = name

    def serve_from(self, recording: Recording) -> None:
        """Serve votes from a store.

        If several critics in the store have the critic's name, and none has its fingerprint, no vote is served, and
        :attr:`namesakes` has their full names.
        """
        critics = recording.critics(self._fingerprint, self._names)
        self._recording = recording
        self._by_name = self._fingerprint not in critics
        self.namesakes = tuple(map(recording.full_name, critics)) if len(critics) > 1 else ()
        if len(critics) == 1:
            self.differs = self._by_name and self._fingerprint is not None
            self._full_name = recording.full_name(critics[0])
            self._fingerprint = critics[0]  # needed to find the votes of a fallback too
        if self._samples > 1:
            self._jury = self._with(_jury=None, _samples=1).with_samples(self._samples)

    def _found(self, case: Case) -> Judgment | None:
        recording, sample, critic = self._recording, run_context().sample, self._fingerprint
        if recording is None:
            vote = self._recorded(case)
            if isinstance(vote, Judgment):
                self._note_origin(vote)
            return None if vote is None else self._judgment_of(vote)
        if critic is None or self.namesakes:
            return None
        found = recording.judgment(case, self._key_of(case), critic, sample)
        if found is None and recording.has_fallback(case, critic, sample):
            return broken("not_recorded", "the store has a judgment of the fallback, and none of the critic")
        return None if found is None else self._served(found)

    @property
    def cast_otherwise(self) -> str:
        """Model and rubric of the votes of a results file, where they are not the critic's; empty otherwise."""
        return " and ".join(self._cast_otherwise)

    def _note_origin(self, vote: Judgment) -> None:
        """Note the model and rubric with which a vote, or the samples in it, was cast, where they differ."""
        if vote.fallback_used is not None:
            return
        for one in vote.judgments if isinstance(vote, Verdict) else (vote,):
            if self._model and one.model is not None and not _same_model(self._model, one.model):
                self._cast_otherwise[f"the model {visible(one.model)}"] = None
            if one.metadata.get("rubric_fingerprint") not in (None, self._rubric.fingerprint):
                self._cast_otherwise["another rubric"] = None

    def _key_of(self, case: Case) -> str | None:
        """Return the key under which this critic's judgment of a case is recorded, or None if it is unknown."""
        known = all(name in case.metadata for name in self._rubric.variables)
        return case_key_of(self._rubric, case) if known and not self._by_name and self._rubric.variables else None

    def _missing(self, case: Case) -> tuple[str, ...]:
        """Return the required fields that the case lacks, except variables, which a store does not keep."""
        return tuple(name for name in missing_fields(self._rubric, case) if name not in self._rubric.variables)

    def _status(self, label: str | None, score: float | None) -> Status | None:
        read = None if label is None else self._rubric.answers.read(label)
        if isinstance(read, Choice):
            return read.status
        mark = 0.5 if self._mark is None else self._mark
        return None if score is None else Status.PASS if score >= mark else Status.FAIL


class ReplayedFallbackJudge(FallbackJudge):
    """Replayed critic with its fallbacks.

    Results record one vote for all, either of the critic or of a fallback. A store has the judgments of each of them.
    """

    juror: ReplayedCritic

    async def _assess(self, case: Case, seconds: float | None) -> Judgment:
        if self.juror.from_store:
            return await super()._assess(case, seconds)
        return await run_judge(self.juror, case, timeout=seconds)


def serve_from(jury: Jury, recording: Recording) -> None:
    """Serve the votes of a replayed jury's critics, and of their fallbacks, from a store.

    Raises:
        InputError: the requests of two critics cannot be told apart; the message says why.
    """
    for critic in _critics_in(jury):
        critic.serve_from(recording)
    for judge in _judges_in(jury):
        members = [without_fallbacks(member) for member in judge.members]
        unknown = [one for one in members if isinstance(one, ReplayedCritic) and one.unknown_because]
        found = Counter(one.fingerprint for one in unknown if one.fingerprint is not None)
        for one in unknown:
            if one.fingerprint is not None and found[one.fingerprint] > 1:
                raise InputError(
                    f"two jurors have the votes of {visible(one.name)!r}, and which vote is whose is only known with "
                    f"the critic's fingerprint: {one.unknown_because}"
                )


def place_critics(jury: Jury) -> None:
    """Set the place of each replayed critic of a jury. It distinguishes votes with the same name.

    Raises:
        InputError: a juror asks a model and cannot be replayed; the message names it.
    """
    for path, name, juror in jurors_of(jury):
        if isinstance(juror, ReplayedCritic):
            juror.place(path, name)
        elif juror.requests_at_once:
            raise InputError(f"juror {plain_repr(visible(name))} asks a model and cannot be replayed; leave it out")


def check_votes(jury: Jury, cases: Iterable[Case], source: str, recording: Recording | None = None) -> Iterator[str]:
    """Check that every juror that was asked in a replay for recorded votes has some, if only of other cases.

    Args:
        jury: the jury, after it has judged the cases.
        cases: all cases of the source with their votes, more than it has judged if a limit was set.
        source: the name of the file of the votes, for the message.
        recording: the votes of a store.

    Yields:
        A sentence for each critic that lacked the votes of some cases, or has those of another critic of its name, and
        one for all other jurors that lacked some.

    Raises:
        InputError: a juror has no votes at all, or no juror has votes of these cases; the message names a juror, and
            says what to do.
    """
    jurors = {id(juror): name for _, name, juror in jurors_of(jury)}
    served = any(juror.served for juror in _recorded_in(jury))
    lacking: list[str] = []
    for juror in _recorded_in(jury):
        name = visible(jurors.get(id(juror), juror.name))
        if juror.missed and not juror.served and id(juror) in jurors:
            held = None if juror.has_own_votes else recording
            has_some = any(map(juror.has_vote, cases)) if held is None else served and _is_voter(juror, held)
            if not has_some:
                raise InputError(_no_votes(juror, name, cases, source, recording))
        if isinstance(juror, ReplayedCritic):
            yield from _notes_on(juror, name, fallback=id(juror) not in jurors)
        elif juror.missed:
            lacking.append(f"{name} for {counted(juror.missed, 'case')}")
    if lacking:
        yield f"without a recorded vote, and abstained: {', '.join(lacking)}"


def _notes_on(critic: ReplayedCritic, name: str, *, fallback: bool) -> Iterator[str]:
    """Yield a sentence where a critic lacked votes, and where its votes were cast by another one."""
    if critic.differs and critic.served:
        yield f"{name} has votes that were cast with another model, address, rubric or parameters, under its name"
    if critic.cast_otherwise:
        yield f"{name} has votes that were cast with {critic.cast_otherwise}, which the jury file does not name"
    if critic.missed:
        where = "that reached it as a fallback" if fallback else "that reached it"
        what = "case" if critic.size == 1 else "ask"
        yield f"{name} has no recorded vote for {counted(critic.missed, what)} {where}, and abstained"


def _no_votes(juror: RecordedCritic, name: str, cases: Iterable[Case], source: str, recording: Recording | None) -> str:
    if isinstance(juror, ReplayedCritic) and juror.namesakes:
        why = juror.unknown_because
        same = f"none has the model, parameters and rubric of this juror{f' ({why})' if why else ''}"
        return (
            f"{source} holds votes of {len(juror.namesakes)} critics that are called {name!r}, and {same}: "
            f"{', '.join(map(visible, juror.namesakes))}. Give the juror one of these as its `name:`, or replay the "
            "results of the run (`jury judge --out RESULTS`)"
        )
    if juror.has_own_votes:
        return f"the votes of {name!r} are of other cases than those of {source}: none has the id of one of these"
    asked = name if isinstance(juror, ReplayedCritic) else visible(juror.recorded_name)
    if recording is not None and _is_voter(juror, recording):
        return f"the votes of {asked!r} in {source} are of other cases than the ones given, and a replay asks no model"
    voters = (voter for case in cases for voter in _voters_of(case)) if recording is None else recording.full_names
    known = Counter(voters)
    held = ", ".join(visible(one) for one, _ in known.most_common(_MOST_NAMED)) or "no juror"
    alike = {one.casefold(): one for one in map(visible, known)}
    close = get_close_matches(asked.casefold(), alike, n=1, cutoff=_NEAR)
    meant = f". Did you mean {alike[close[0]]!r}?" if close else "."
    lack = f"{source} holds no votes of {asked!r}, and a replay asks no model; it holds votes of {held}{meant}"
    if not isinstance(juror, ReplayedCritic):
        return f"{lack} Give `recorded:` a name that has votes, or leave this juror out"
    return (
        f"{lack} Judge the cases with this jury first (`jury judge CASES --jury JURY --out RESULTS`), or give the "
        "juror the `name:` of one that has votes"
    )


def _is_voter(juror: RecordedCritic, recording: Recording) -> bool:
    return juror.recorded_name in recording.full_names


def unpriced_votes(jury: Jury) -> int:
    """Return the number of votes that a replayed jury was served without their usage; each was a call of a judge."""
    return sum(juror.unpriced for juror in _recorded_in(jury))


def may_decide_alone(judge: Judge) -> bool:
    """Return whether a replayed jury may decide a case without one of its critics. A store may lack such a case."""
    judge = without_fallbacks(judge)
    if isinstance(judge, ReplayedCritic):
        return False
    if isinstance(judge, CascadedJury):
        return may_decide_alone(judge.tiers[0].judge)
    asked = judge.members
    if isinstance(judge, Ensemble) and judge.schedule == "early_stop":
        return any(map(may_decide_alone, asked))
    return all(map(may_decide_alone, asked))


def jurors_of(judge: Judge, path: Path = (), name: str = "") -> Iterator[tuple[Path, str, Judge]]:
    """Yield each single juror of a jury with its path, as in verdicts, and its name. Fallbacks are left out."""
    judge = without_fallbacks(judge)
    if isinstance(judge, CascadedJury):
        for tier in judge.tiers:
            inside = without_fallbacks(tier.judge)
            whole = isinstance(inside, Jury)
            yield from jurors_of(inside, (*path, tier.name), "" if whole else inside.name or tier.name)
        return
    jurors = getattr(judge, "jurors", ())
    if not jurors:
        yield path, name or judge.name, judge
    for juror in jurors:
        inside = without_fallbacks(juror.judge)
        around = (*path, juror.name) if isinstance(inside, Jury) else path
        yield from jurors_of(inside, around, juror.name)


def _judges_in(judge: Judge) -> Iterator[Judge]:
    """Yield a judge and all judges inside it, including fallbacks."""
    yield judge
    for member in judge.members:
        yield from _judges_in(member)


def _recorded_in(jury: Jury) -> list[RecordedCritic]:
    return [judge for judge in _judges_in(jury) if isinstance(judge, RecordedCritic)]


def _critics_in(jury: Jury) -> list[ReplayedCritic]:
    return [judge for judge in _recorded_in(jury) if isinstance(judge, ReplayedCritic)]


def _same_model(name: str, recorded: str) -> bool:
    """Whether a recorded model is the one of a jury file, or a dated version of it (``gpt-4o-2024-08-06``)."""
    return re.fullmatch(rf"{re.escape(name)}([-@]\d[\d-]*)?", recorded) is not None


def _voters_of(case: Case) -> Iterable[str]:
    votes = case.metadata.get("votes")
    return votes if isinstance(votes, Mapping) else ()
