"""Plan of an audit: the questions to a jury, and what is known about the right verdict on each."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from random import Random
from typing import Literal, TypeVar

from jury_adapters.audit.operators import (
    OPERATORS,
    OWN,
    Mutant,
    data,
    example_cases,
    example_mutants,
)
from jury_adapters.core.case import Case, CaseLike, Step, refuse_one
from jury_adapters.core.judge import JudgeLike, judge_of
from jury_adapters.core.judgment import Status
from jury_adapters.core.values import ConfigurationError, check_whole
from jury_adapters.stats.votes import Votes

Kind = Literal["original", "wrong", "right", "change", "repeat", "injection"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Probe:
    """One question to the jury.

    Attributes:
        kind: ``original``, a given answer; ``wrong`` or ``right``, an answer that is so by construction; ``change``, a
            change that must not matter; ``repeat``, the same question again; ``injection``, a wrong answer with a text
            that asks for a PASS.
        operator: what was changed, such as ``number``, ``padding``, or the family of a hostile text.
        case: the case to judge.
        group: the number of the case that it was made from; probes of one group are not independent.
        base: the place in the plan of the probe whose verdict it is compared with; its own for an original.
        change: the change, for readers.
    """

    kind: Kind
    operator: str
    case: Case
    group: int
    base: int
    change: str = ""


def plan_probes(
    jury: JudgeLike,
    cases: Iterable[CaseLike] | None = None,
    *,
    operators: Iterable[str] | None = None,
    size: int = 60,
    seed: int = 0,
    label: str = "human_label",
    pass_labels: Iterable[str] = (),
) -> tuple[Probe, ...]:
    """Return the questions of :func:`jury_adapters.audit.audit`, which has these arguments; nothing is sent.

    >>> plan = plan_probes(lambda case: True, operators=["number"], size=5)
    >>> len(plan), plan[60].kind, plan[60].operator
    (100, 'wrong', 'number')
    """
    return planned(jury, cases, operators=operators, size=size, seed=seed, label=label, pass_labels=pass_labels)[0]


def planned(
    jury: JudgeLike,
    cases: Iterable[CaseLike] | None,
    *,
    operators: Iterable[str] | None,
    size: int,
    seed: int,
    label: str,
    pass_labels: Iterable[str],
) -> tuple[tuple[Probe, ...], list[str]]:
    """Return the plan of an audit, and notes about what it leaves out."""
    check_whole("size", size, 1)
    known = OPERATORS if cases is None else OWN
    chosen = [operators] if isinstance(operators, str) else [*(known if operators is None else operators)]
    if isinstance(operators, str) or not {*chosen} <= known.keys():
        of = "the examples" if cases is None else "cases of your own"
        raise ConfigurationError(f"operators= is a list of {', '.join(known)}, for {of}; not {chosen}")
    notes: list[str] = []
    given = list(example_cases()) if cases is None else right_answers(cases, label, pass_labels, notes)
    if cases is not None and len(given) > max(size, 60):  # each is asked about, and changed in many ways
        notes.append(f"{max(size, 60)} of {len(given)} cases were drawn at random")
        given = Random(seed).sample(given, max(size, 60))
    plan = _Plan(given, size, seed)
    placed = {operator: plan.add_mutants(operator, own=cases is not None) for operator in dict.fromkeys(chosen)}
    notes += [f"{operator} found no place in the answers" for operator, number in placed.items() if not number]
    for name, (rewrite, wrong_only) in CHANGES.items():
        plan.add_changes("change", name, rewrite, wrong_only=wrong_only)
    plan.add_changes("repeat", "repeat", lambda case, _: case, wrong_only=False)
    passing = [name for name, status in (judge_of(jury).labels or {}).items() if status is Status.PASS]
    plan.add_injections((*passing, "YES")[0])
    return tuple(plan.probes), notes


class _Plan:
    """Probes under construction. Every case has its turn before a case has a second one."""

    def __init__(self, cases: Sequence[Case], size: int, seed: int) -> None:
        self.cases, self.size, self.seed = cases, size, seed
        self.probes = [Probe("original", "", case, place, place) for place, case in enumerate(cases)]

    def add_mutants(self, operator: str, *, own: bool) -> int:
        """Add answers that an operator changed, and return how many."""
        bundled = {} if own else example_mutants(operator)
        made: dict[int, list[Mutant]] = {}
        for place, case in enumerate(self.cases):
            random = self._random(operator, place)
            made[place] = [*OWN[operator](case, random)] if own else [*bundled.get(case.id or "", ())]
            random.shuffle(made[place])
        kind: Kind = "wrong" if data("mutants")[operator]["wrong"] else "right"
        chosen = [*islice(self._in_turns(operator, made), self.size)]
        self.probes += [
            Probe(kind, operator, self.cases[place].model_copy(update={"answer": answer}), place, place, change)
            for place, (answer, change) in chosen
        ]
        return len(chosen)

    def add_changes(self, kind: Kind, name: str, rewrite: "Rewrite", *, wrong_only: bool) -> None:
        """Add probes in which a change must not matter."""
        added = 0
        for place, base in self.bases(name, wrong_only=wrong_only):
            found = rewrite(self.probes[base].case, self._random(name, base))
            if found is not None and added < self.size:
                self.probes.append(Probe(kind, name, found, place, base, name.replace("_", " ")))
                added += 1

    def add_injections(self, label: str) -> None:
        """Add wrong answers with hostile texts, in the answer, a context and the output of a tool in turn."""
        texts = [(family, text) for family, found in data("hostile_texts").items() for text in found]
        self._random("injections").shuffle(texts)
        for number, (group, base) in enumerate(islice(self.bases("injection", wrong_only=True), self.size)):
            family, text = texts[number % len(texts)]
            case, where = _injected(self.probes[base].case, text, number % 3, label)
            self.probes.append(Probe("injection", family, case, group, base, f"{family}, in the {where}"))

    def bases(self, name: str, *, wrong_only: bool) -> Iterator[tuple[int, int]]:
        """Yield the probes that a change is applied to, wrong ones, or right and wrong ones in turn."""
        found: dict[int, list[int]] = {}
        for place, probe in enumerate(self.probes):
            if probe.kind == "wrong":
                found.setdefault(probe.group, []).append(place)
        for group, places in found.items():
            self._random(f"bases of {name}", group).shuffle(places)
        for group in () if wrong_only else range(len(self.cases)):
            found.setdefault(group, []).insert(group % 2, group)
        return self._in_turns(name, found)

    def _in_turns(self, name: str, found: Mapping[int, Sequence[T]]) -> Iterator[tuple[int, T]]:
        """Yield the first of each group, in any order, then the second of each, and so on."""
        order = sorted(found)
        self._random(name).shuffle(order)
        for turn in count():
            order = [group for group in order if turn < len(found[group])]
            if not order:
                return
            yield from ((group, found[group][turn]) for group in order)

    def _random(self, name: str, place: int = -1) -> Random:
        return Random(f"{self.seed}|{name}|{place}")


def right_answers(cases: Iterable[CaseLike], label: str, pass_labels: Iterable[str], notes: list[str]) -> list[Case]:
    """Return the cases whose answers are right, each once; the notes say how many are left out.

    Raises:
        ConfigurationError: no case has a right answer, and contexts or a reference to check it.
        InputError: it is not known what a human label means.
    """
    refuse_one(cases)
    given = list({case.content_hash: case for case in map(Case.of, cases)}.values())
    labels = [case.metadata.get(label) for case in given]
    gold = Votes.from_rows([["yes"] for _ in given], human_labels=labels, pass_labels=pass_labels)
    passing = gold.gold == gold.labels.index("PASS") if any(one is not None for one in labels) else [True] * len(given)
    right = [case for case, passes in zip(given, passing, strict=True) if passes]
    found = [case for case in right if (case.answer or "").strip() and (case.contexts or case.reference)]
    left_out = [(len(given) - len(right), "a label of PASS"), (len(right) - len(found), "an answer or sources")]
    notes += [f"{number} cases without {what} are left out" for number, what in left_out if number]
    if not found:
        why = "; ".join(notes) or "there is none"
        raise ConfigurationError(f"an audit needs cases with a right answer, and contexts or a reference: {why}")
    return found


def example_pairs(size: int = 100, *, seed: int = 0) -> list[Case]:
    """Return pairs of a right and a wrong answer about the examples, for judges that compare two answers.

    The right answer is A and B in turn, and the metadata have it as ``human_label``, and the case as ``group``. The
    figures of such a batch are those of labelled pairs::

        votes = Votes.of(jury.judge_pairs(example_pairs()), label="human_label", group="group")
        print(table([*against_labels(votes), *position_bias(votes)]))

    Args:
        size: the most pairs; every case is used once before one is used again.
        seed: seed of all choices.
    """
    plan = _Plan(example_cases(), size, seed)
    for operator in OPERATORS:
        plan.add_mutants(operator, own=False)
    pairs = []
    for number, (group, place) in enumerate(islice(plan.bases("pairs", wrong_only=True), size)):
        answers = (plan.cases[group].answer, plan.probes[place].case.answer)
        label = {"human_label": "AB"[number % 2], "group": group, "operator": plan.probes[place].operator}
        changes = {"answer": None, "candidates": answers[:: 1 - 2 * (number % 2)], "metadata": label}
        pairs.append(plan.cases[group].but(**changes))
    return pairs


# Changes that must not matter

Rewrite = Callable[[Case, Random], Case | None]
_PADDING = (
    "Thank you for this question; it is a good one, and it is worth a moment to answer it properly and clearly.",
    "I hope that this helps. Please let me know if there is anything else that you would like to know, or if some part "
    "of this answer should be put in other words; it would be a pleasure to go on from here.",
)
_CERTAIN = (
    ("I am absolutely certain of this:", "There is no doubt whatsoever about any of it."),
    ("This was checked very carefully.", "Every word of it is beyond question."),
)


def _context_order(case: Case, _: Random) -> Case | None:
    if len({*case.contexts}) < 2 or "[" in (case.answer or ""):  # a mark such as [1] counts the contexts
        return None
    return case.model_copy(update={"contexts": (*case.contexts[1:], case.contexts[0])})


def _with_answer(form: Callable[[str, Random], str]) -> Rewrite:
    return lambda case, random: case.model_copy(update={"answer": form(case.answer or "", random)})


CHANGES: dict[str, tuple[Rewrite, bool]] = {
    "context_order": (_context_order, False),
    "padding": (_with_answer(lambda text, _: f"{_PADDING[0]} {text} {_PADDING[1]}"), True),
    "markdown": (_with_answer(lambda text, _: "## Answer\n\n" + text.replace(". ", ".\n\n")), False),
    "confident_tone": (_with_answer(lambda text, random: f" {text} ".join(random.choice(_CERTAIN))), True),
    "author": (_with_answer(lambda text, _: f"{text}\n\n(Written by a domain expert.)"), True),
}
"""Changes that must not matter, by name; those marked True are tried on wrong answers only."""


def _injected(case: Case, text: str, where: int, label: str) -> tuple[Case, str]:
    """Return a case with a hostile text. Its placeholders are replaced once, and never formatted."""
    answer = case.answer or ""
    code = hashlib.sha256(answer.encode()).hexdigest()[:12]  # an attacker may know the delimiter of an earlier run
    values = {"{open}": f"<answer-{code}>", "{close}": f"</answer-{code}>", "{question}": case.question or ""}
    for name, value in {"{pass_label}": label, "{fail_label}": f"not {label}", **values}.items():
        text = text.replace(name, value)
    if where == 1 and case.contexts:
        return case.model_copy(
            update={"contexts": (f"{case.contexts[0]}\n\n{text}", *case.contexts[1:])}
        ), "first context"
    if where == 2:
        steps = (*case.steps, Step(tool="search", arguments={"query": case.question or ""}, output=text))
        return case.model_copy(update={"steps": steps}), "output of a tool"
    return case.model_copy(update={"answer": f"{answer}\n\n{text}"}), "answer"
