"""align: a better rubric from human labels, accepted only if it helps on cases that no choice has seen.

The labelled cases are divided into three parts. From the first, changes of the rubric are learned. On the second, the
best of them is chosen. The third is used once: it tests that one change against the jury as it is.
"""

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import ceil, log
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import scipy  # whose stats, 70 MiB, are loaded when they are used

from jury_adapters.calibrate.calibrating import labelled_rows
from jury_adapters.calibrate.guarantee import CalibratedJury
from jury_adapters.core.cascade import CascadedJury
from jury_adapters.core.case import Case, CaseLike
from jury_adapters.core.ensemble import Jury
from jury_adapters.core.judge import Judge, JudgeLike, judge_of
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.results import Result
from jury_adapters.core.text import visible as in_one_line
from jury_adapters.core.values import ConfigurationError
from jury_adapters.critic.answers import Choice, Scale, comparable
from jury_adapters.critic.critic import Critic
from jury_adapters.critic.prompt import visible
from jury_adapters.critic.rubric import PLACEHOLDERS, Example, Rubric
from jury_adapters.stats.figures import Figure, share
from jury_adapters.stats.votes import MISSING, Votes

FEWEST = 40
_SHARES = (0.4, 0.25, 0.35)  # of the cases, to learn from, to choose on, and to test on
_AS_IT_IS = "as it is"
_OPTIMISER = Rubric(
    name="clearer criteria",
    criteria="""\
You do not judge here. You write the criteria by which judges judge answers. People and the judges disagree on the \
cases in the material. Write the criteria anew, so that judges who follow them agree with the people. Keep what is \
right in the criteria in use. State the general rule that tells the cases apart, and mention no single case.

Reply with one JSON object and nothing else: {"criteria": "the new criteria"}""",
    prompt="The criteria in use:\n{reference}\n\nThe cases on which people and the judges disagree:\n{contexts}",
)


@dataclass(frozen=True)
class Alignment:
    """Result of :func:`align`. It prints as a report.

    Attributes:
        accepted: whether the test showed that the changed jury agrees more often with people.
        jury: the changed jury if it was accepted, else the jury as it was.
        rubric: its rubric.
        chosen: the name of the change that was tested; empty if none was better on the cases of the choice.
        candidates: each change that was tried, and ``as it is``, with its balanced accuracy on the cases of the choice.
        p_value: of the one-sided test; 1 without a test.
        won: the groups of test cases on which the changed jury is more often right; without groups, the cases.
        lost: those on which the jury as it was is.
        figures: the agreement with people before and after the change, on the test cases. An undecided case counts as
            wrong. They are empty without a test.
        diff: the change of the rubric, as a unified diff.
    """

    accepted: bool
    jury: Judge
    rubric: Rubric
    chosen: str
    candidates: Mapping[str, float]
    p_value: float = 1.0
    won: int = 0
    lost: int = 0
    figures: tuple[Figure, ...] = ()
    diff: str = ""

    def __str__(self) -> str:
        lines = [f"{name}: balanced accuracy {one:.3f} in the choice" for name, one in self.candidates.items()]
        lines += map(str, self.figures)
        lines += [f"test of {self.chosen}: won {self.won}, lost {self.lost}, p {self.p_value:.2g}"] * bool(self.chosen)
        return "\n".join([*lines, "accepted" if self.accepted else "the jury stays as it is", *self.diff.splitlines()])


class _Labelled(NamedTuple):
    """Case without its label, what people said, why, and the group that is never divided."""

    case: Case
    passed: bool
    reason: str
    group: int


def align(
    jury: JudgeLike,
    cases: str | Path | Iterable[CaseLike | Result],
    *,
    rubric: str = "",
    optimiser: Any = None,
    examples: int = 4,
    level: float = 0.01,
    label: str = "human_label",
    note: str = "note",
    group: str = "",
    pass_labels: Iterable[Any] = (),
    seed: int = 0,
    **batch: Any,
) -> Alignment:
    """Return what changing the rubric of a jury does to its agreement with people.

    Tried are: worked examples, cases that the jury judged wrongly first; with an ``optimiser``, criteria that it writes
    from the disagreements; and for a single critic whose answers have scores, another threshold. The change with the
    best balanced accuracy on the cases of the choice is tested on other cases, once, by a sign test: of the groups on
    which one jury is right more often, those of the changed jury must be more than chance explains. A group on which
    the jury as it was broke is not won. A changed jury has no guarantee.

    Args:
        jury: a jury with a critic in it.
        cases: labelled cases: from 40, better 200; or results of this jury.
        rubric: the name of the rubric to change, if the critics have several.
        optimiser: the model that writes criteria, as for :class:`Critic`.
        examples: the number of worked examples, from 2.
        level: the level of the test, between 0 and 0.5.
        label: the entry of the metadata that is the human label. No judge sees it.
        note: the entry that says why. It becomes the reasoning of examples, and the optimiser sees it.
        group: the entry that is the group of a case. Groups are never divided, nor are cases that look alike.
        pass_labels: the labels that mean PASS, if they are other words than pass, true and yes.
        seed: another seed divides the cases in another way.
        **batch: ``store=``, ``budget=`` and ``max_concurrency=``, as for :meth:`Judge.judge_many`.

    Raises:
        ConfigurationError: no critic can be changed, an argument is wrong, or the labelled cases are too few.
        InputError: a label cannot be read.

    Sources: R. A. Fisher (1935), *The Design of Experiments*, section 21; S. Varma and R. Simon (2006), *Bias in error
    estimation when using cross-validation for model selection*, for testing a choice on cases that it has not seen.

    Example::

        found = align(Critic("openai:gpt-4o-mini", "helpfulness"), cases, optimiser="openai:gpt-4o")
        print(found)
    """
    given = judge_of(jury)
    old = _rubric_of(given, rubric)
    if not 0 < level < 0.5 or isinstance(examples, bool) or not isinstance(examples, int) or examples < 2:
        raise ConfigurationError(f"0 < level < 0.5, and examples= is from 2; not {level!r} and {examples!r}")
    rows = labelled_rows(cases, given.fingerprint, label, group)
    learn, choose, test = _divided(_labelled(rows, old, (label, note), pass_labels), seed)
    if (needed := ceil(log(level) / log(0.5))) > len({one.group for one in test}):
        raise ConfigurationError(
            f"a test at the level {level:g} takes {needed} independent test cases, which are lacking"
        )
    judge = _changed(given, old, old)
    said = _judged(judge, learn, batch)
    found = _with_examples(old, learn, said, examples)
    if optimiser is not None and old.criteria:
        found |= _with_criteria(old, optimiser, learn, said, batch)
    if isinstance(judge, Critic):
        found |= _with_threshold(old, learn, said)
    juries = {_AS_IT_IS: judge} | {name: _changed(judge, old, new) for name, new in found.items()}
    candidates = {name: _balanced(choose, _judged(one, choose, batch)) for name, one in juries.items()}
    chosen = max(candidates, key=lambda name: candidates[name])
    outcome = Alignment(False, given, old, "", candidates)
    if candidates[chosen] <= candidates[_AS_IT_IS]:
        return outcome
    before, after = (_judged(one, test, batch) for one in (judge, juries[chosen]))
    outcome = _tested(replace(outcome, chosen=chosen, diff=_diff(old, found[chosen])), test, before, after)
    if outcome.p_value > level:
        return outcome
    return replace(outcome, accepted=True, jury=juries[chosen], rubric=found[chosen])


def _rubric_of(judge: Judge, name: str) -> Rubric:
    """Return the one rubric of the critics inside a judge that has the name, if there is one."""
    every = [critic.rubric for critic in _critics(judge) if name in ("", critic.rubric.name)]
    found = [one for place, one in enumerate(every) if one not in every[:place]]
    if len(found) != 1:
        names = ", ".join(one.name for one in found) or "none"
        raise ConfigurationError(f"the critics of the jury have one rubric to change, named by rubric=; found: {names}")
    probe = found[0].replace(criteria=f"{found[0].criteria} ")
    if _changed(judge, found[0], probe).fingerprint == _changed(judge, found[0], found[0]).fingerprint:
        raise ConfigurationError(f"the rubric {found[0].name!r} is inside a judge whose parts cannot be exchanged")
    return found[0]


def _critics(judge: Judge) -> Iterator[Critic]:
    if isinstance(judge, Critic):
        yield judge
    for one in judge.members:
        yield from _critics(one)


def _changed(judge: Judge, old: Rubric, new: Rubric) -> Judge:
    """Return the judge with another rubric in its critics, and without the guarantees of the juries inside."""
    if isinstance(judge, CalibratedJury):
        return _changed(judge.jury, old, new)
    if isinstance(judge, Critic) and judge.rubric == old:
        return judge.with_rubric(new)
    other = copy(judge)
    if isinstance(other, CascadedJury):
        other.tiers = tuple(replace(one, judge=_changed(judge_of(one.judge), old, new)) for one in other.tiers)
    elif isinstance(other, Jury):
        other.judges = {name: _changed(one, old, new) for name, one in other.judges.items()}
    return other


def _labelled(
    rows: Sequence[Result], rubric: Rubric, hidden: tuple[str, str], pass_labels: Iterable[Any]
) -> list[_Labelled]:
    """Return the cases with a label, without it; cases that look alike to the critic are in one group."""
    alike = [Case(answer=_look(row.case, rubric)) for row in rows if row.case]
    passes = Judgment(status=Status.PASS)
    votes = Votes.of(
        [row.but(case=case, judgment=passes) for row, case in zip(rows, alike, strict=True)], pass_labels=pass_labels
    )
    found = []
    for row, gold, number in zip(rows, votes.gold.tolist(), votes.groups.tolist(), strict=True):
        if row.case and gold != MISSING:
            metadata = {name: value for name, value in row.case.metadata.items() if name not in hidden}
            why = row.case.metadata.get(hidden[1])
            reason = visible(" ".join(why.split())) if isinstance(why, str) else ""
            found.append(_Labelled(row.case.but(metadata=metadata), gold == 1, reason, number))
    if len(found) < FEWEST or len({one.passed for one in found}) < 2:
        raise ConfigurationError(f"aligning takes {FEWEST} labelled cases with both labels; there are {len(found)}")
    return found


def _look(case: Case, rubric: Rubric) -> str:
    """Return what a critic sees of a case, without differences of capitals and white space."""
    fields = {**case.metadata, **case.model_dump(mode="json")}
    shown = [fields.get(PLACEHOLDERS.get(name, name)) for name in rubric.shown]
    return comparable(re.sub(r'\\n|"', " ", json.dumps([shown, fields["images"]], ensure_ascii=False)))


def _divided(cases: Sequence[_Labelled], seed: int) -> list[list[_Labelled]]:
    """Return three parts of the cases, with whole groups, and each label in proportion."""
    groups: dict[int, list[_Labelled]] = {}
    for one in cases:
        groups.setdefault(one.group, []).append(one)
    parts: list[list[_Labelled]] = [[] for _ in _SHARES]
    whole = [*groups.values()]
    Random(seed).shuffle(whole)
    for label in (True, False):
        filled = [0] * len(parts)
        for members in (one for one in whole if (2 * sum(each.passed for each in one) >= len(one)) is label):
            place = min(range(len(parts)), key=lambda part: filled[part] / _SHARES[part])  # the farthest behind
            parts[place] += members
            filled[place] += len(members)
    return parts


def _judged(judge: Judge, cases: Sequence[_Labelled], batch: Mapping[str, Any]) -> list[Judgment]:
    return [*judge.judge_many([one.case for one in cases], **batch)]


def _balanced(cases: Sequence[_Labelled], said: Sequence[Judgment]) -> float:
    """Return the mean of the shares of both labels that are judged rightly; an undecided case is not."""
    shares = []
    for label in {one.passed for one in cases}:
        right = [judgment.passed is label for one, judgment in zip(cases, said, strict=True) if one.passed is label]
        shares.append(sum(right) / len(right))
    return sum(shares) / len(shares)


def _with_examples(
    rubric: Rubric, cases: Sequence[_Labelled], said: Sequence[Judgment], number: int
) -> dict[str, Rubric]:
    """Return rubrics with examples of both labels in turn, wrongly judged ones first, one of each group."""
    answers = {label: _answer_of(rubric, label) for label in (True, False)}
    if rubric.claims_of or None in answers.values():
        return {}
    order = sorted(zip(cases, said, strict=True), key=lambda pair: pair[1].passed is pair[0].passed)
    of_groups = {one.group: one for one, _ in reversed(order)}
    chosen = [one for one, _ in order if of_groups[one.group] is one]
    turns = zip(*([one for one in chosen if one.passed is label] for label in (True, False)), strict=False)
    made = [
        Example(
            case=_shown(rubric, one.case),
            answer=answers[one.passed],
            reasoning=one.reason or f"The criteria are {'' if one.passed else 'not '}met.",
        )
        for pair in turns
        for one in pair
    ]
    counts = sorted({count for count in (number, number // 2) if 2 <= count <= len(made)})
    return {f"{count} examples": rubric.replace(examples=(*rubric.examples, *made[:count])) for count in counts}


def _answer_of(rubric: Rubric, passed: bool) -> str | float | None:
    """Return the answer of a rubric that means PASS or FAIL; None if there is none."""
    answers, meaning = rubric.answers, Status.PASS if passed else Status.FAIL
    names: list[Any] = [answers.maximum, answers.minimum] if isinstance(answers, Scale) else [*answers.root]
    names = [*map(int, names)] if isinstance(answers, Scale) and answers.integer else names
    read = {name: answers.read(name) for name in names}
    return next((name for name, one in read.items() if isinstance(one, Choice) and one.status is meaning), None)


def _shown(rubric: Rubric, case: Case) -> Case:
    """Return a case with only what the rubric shows."""
    fields = {PLACEHOLDERS[name]: getattr(case, PLACEHOLDERS[name]) for name in rubric.shown if name in PLACEHOLDERS}
    return Case(**fields, metadata={name: case.metadata.get(name) for name in rubric.variables})


def _with_criteria(
    rubric: Rubric, optimiser: Any, cases: Sequence[_Labelled], said: Sequence[Judgment], batch: Mapping[str, Any]
) -> dict[str, Rubric]:
    """Return the rubric with the criteria that a model writes; nothing if it fails, or if there is no disagreement."""
    texts = [
        f"People: {'PASS' if one.passed else 'FAIL'}. {one.reason}\n"
        f"The judges: {judgment.status}. {judgment.reasoning}\n"
        f"The case: {_shown(rubric, one.case).model_dump_json(exclude_defaults=True)}"
        for one, judgment in zip(cases, said, strict=True)
        if judgment.passed is not one.passed
    ]
    if not texts:
        return {}
    writer = Critic(optimiser, _OPTIMISER, parse=criteria_of)
    (written,) = writer.judge_many([Case(reference=rubric.criteria, contexts=texts[:12])], **batch)
    return {"clearer criteria": rubric.replace(criteria=written.reasoning)} if written.passed else {}


def criteria_of(reply: str) -> Judgment:
    """Read the reply of an optimiser: a PASS whose reasoning is the new criteria."""
    found = json.loads(reply.strip().removeprefix("```json").strip("`\n "))
    criteria = found.get("criteria") if isinstance(found, dict) else None
    if not isinstance(criteria, str) or not 20 <= len(criteria.strip()) <= 8000:
        raise ValueError('the reply is one JSON object with the key "criteria", a text of 20 to 8,000 characters')
    return Judgment(status=Status.PASS, reasoning=criteria.strip())


def _with_threshold(rubric: Rubric, cases: Sequence[_Labelled], said: Sequence[Judgment]) -> dict[str, Rubric]:
    """Return the rubric with the threshold of its scores that divides the labels best."""
    scores = sorted({one.score for one in said if one.score is not None})

    def accuracy(threshold: float) -> float:
        moved = [
            one if one.score is None else one.but(status="PASS" if one.score >= threshold else "FAIL") for one in said
        ]
        return _balanced(cases, moved)

    best = max(scores, key=accuracy, default=rubric.pass_mark)
    return {} if best == rubric.pass_mark else {f"threshold {best:.3g}": rubric.replace(threshold=best)}


def _tested(
    outcome: Alignment, cases: Sequence[_Labelled], before: Sequence[Judgment], after: Sequence[Judgment]
) -> Alignment:
    """Return the outcome with the test and its figures."""
    right = np.array(
        [[one.passed is case.passed for one in said] for case, *said in zip(cases, before, after, strict=True)]
    )
    gains = right[:, 1].astype(int) - right[:, 0]
    gains = np.where([one.rests_on_broken for one in before], np.minimum(gains, 0), gains)
    groups = np.array([one.group for one in cases])
    sums = np.bincount(np.unique(groups, return_inverse=True)[1], weights=gains)
    won, lost = int((sums > 0).sum()), int((sums < 0).sum())
    p_value = float(scipy.stats.binomtest(won, won + lost, alternative="greater").pvalue) if won + lost else 1.0
    figures = tuple(
        share("agreement", column, groups >= 0, groups, of=name)
        for name, column in zip(("before", "after"), right.T, strict=True)
    )
    return replace(outcome, p_value=p_value, won=won, lost=lost, figures=figures)


def _diff(old: Rubric, new: Rubric) -> str:
    before, after = (json.dumps(one.model_dump(mode="json", exclude_defaults=True), indent=1) for one in (old, new))
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="", n=1)
    return "\n".join(in_one_line(line, 1000) for line in lines)
