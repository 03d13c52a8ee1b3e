"""Counting of the results of a batch, in one pass.

Cases with the same votes, human label and review reasons have one *pattern*. Each pattern is kept once, with a
few bytes for each case, and the cases that a person should read first. So the memory hardly grows with the batch.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from heapq import heappush, heappushpop
from operator import attrgetter
from typing import Any, NamedTuple

from jury_adapters.calibrate.guarantee import ABSTAINED
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.results import Result
from jury_adapters.core.text import visible
from jury_adapters.core.values import ROUNDING, ConfigurationError
from jury_adapters.stats.votes import NOTHING, Entry, case_of, label_of, result_of

Path = tuple[str, ...]
"""The names of the tiers, criteria and juries around a judge, then its own."""

CONTESTED = 1000
BY_ERRORS = "FAIL only because judges broke"
_NO_DIGITS = str.maketrans("", "", "0123456789")
_URGENCY = {Status.ERROR: 3.0, Status.ABSTAIN: 2.0, Status.FAIL: 0.1}  # beside the doubt, which is in 0..1
_INSIDE = {"cascade": "tier", "scorecard": "criterion", "all_of": "criterion", "any_of": "criterion"}


class Pattern(NamedTuple):
    """What cases have in common that count alike.

    Attributes:
        judgment: the votes, without texts, scores and costs. A FAIL that only broken judges caused is an ERROR.
        label: the human label.
        failed: whether the application failed.
        by_errors: whether the verdict was FAIL only because judges broke.
        reasons: the review reasons.
    """

    judgment: Judgment
    label: str | None
    failed: bool
    by_errors: bool
    reasons: tuple[str, ...]


class Counting:
    """Counts of a batch, to which results are added one by one.

    Args:
        pass_labels: the human labels that mean PASS, beside true, pass and yes; see :meth:`Votes.of`.

    Attributes:
        cases: the number of cases.
        statuses: how many verdicts have each status. A FAIL that only broken judges caused is not among them.
        failed_by_errors: how many verdicts are FAIL although no judge said FAIL, because judges broke.
        usage: the sums of the fields of :class:`Usage`, and how many cases have an ``unknown`` cost.
        spent: the same by judge and model.
        juries: how many results each jury has, by its fingerprint.
        errors: the errors of judges, with their numbers.
        biased: how many cases have the warning of :attr:`Judgment.bias_warning`.

    Raises:
        ConfigurationError: ``pass_labels`` is one text.
    """

    def __init__(self, *, pass_labels: Iterable[Any] = ()) -> None:
        if isinstance(pass_labels, str):
            raise ConfigurationError(f"pass_labels= is a list of labels, not {pass_labels!r}")
        self.pass_labels = tuple(pass_labels)
        self.cases = self.failed_by_errors = self.biased = 0
        self.statuses: Counter[Status] = Counter()
        self.usage: Counter[str] = Counter()
        self.spent: dict[tuple[Path, str], Counter[str]] = {}
        self.juries, self.errors = Counter[str](), Counter[str]()
        self.patterns, self._numbers = list[Pattern](), dict[Any, int]()
        # By case: the number of its pattern; hashes of its id or content, content, group, and labelled content; or 0.
        self.places, (self.keys, self.contents, self.groups, self.copies) = array("i"), (array("q") for _ in range(4))
        self._heap: list[tuple[float, int, Result]] = []

    def add(self, entry: Entry) -> None:
        """Count a result, a judgment, or a pair of a case and its judgment."""
        result = result_of(entry)
        judgment, by_errors, reasons = result.judgment, failed_by_errors(result.judgment), reasons_of(result.judgment)
        self.cases += 1
        self.failed_by_errors += by_errors
        self.statuses[judgment.status] += not by_errors
        self.juries[result.jury] += 1
        self.biased += "low_agreement" in reasons and bool(judgment.generator and judgment.bias_warning)
        self._count(result, by_errors, reasons)
        self._spend(judgment)
        self._keep(result, reasons)

    def _count(self, result: Result, by_errors: bool, reasons: tuple[str, ...]) -> None:
        """Note the pattern of a case, and the hashes that tell which cases belong together."""
        case, given, known = case_of(result), result.human_label, key_of(result)
        grade = not isinstance(given, str | bool) and not self.pass_labels  # a number is a label by pass_labels alone
        label = None if grade else label_of(given)
        failed, shape = case.error is not None and not case.answer, _shape(result.judgment)
        number = self._numbers.setdefault((shape, label, failed, by_errors, reasons), len(self.patterns))
        if number == len(self.patterns):
            self.patterns.append(Pattern(_bare(shape), label, failed, by_errors, reasons))
        copy = hash((known, case.content_hash)) if known and label is not None else 0
        content = 0 if failed or case.content_hash == NOTHING else hash(case.content_hash)
        group = 0 if result.group is None else hash(result.group)
        links = {"keys": known, "contents": content, "groups": group, "copies": copy}
        for name, value in {"places": number, **links}.items():
            getattr(self, name).append(value)

    def _spend(self, judgment: Judgment) -> None:
        self.usage.update({**vars(judgment.usage), "unknown": not judgment.usage.cost_complete})
        for path, kind, one in [((judgment.critic,), "", judgment)] if is_single(judgment) else parts_of(judgment):
            if is_single(one) and kind != "tier":  # a tier of one judge comes again as its juror
                spent = self.spent.setdefault((path, one.model or ""), Counter())
                spent.update({**vars(one.usage), "unknown": not one.usage.cost_complete})
                if one.error and (one.error[:200] in self.errors or len(self.errors) < CONTESTED):
                    self.errors[one.error[:200]] += 1

    def _keep(self, result: Result, reasons: tuple[str, ...]) -> None:
        """Keep the most contested cases; of equal ones the first."""
        judgment, full = result.judgment, len(self._heap) == CONTESTED
        base = 4.0 if {*reasons} - {"abstained", "error"} else _URGENCY.get(judgment.status, 0.0)
        if full and base + 1 <= self._heap[0][0]:  # spares the agreement of most cases
            return
        doubt = 1 - (judgment.agreement if judgment.agreement is not None else judgment.confidence or 1.0)
        (heappushpop if full else heappush)(self._heap, (base + doubt, -self.cases, result))

    @property
    def contested(self) -> list[Result]:
        """The cases to read first, at most 1,000.

        In this order: those on which judges disagree, those that could not be judged, those on which the jury
        abstained, and the others, FAIL before PASS.
        """
        return [result for *_, result in sorted(self._heap, key=lambda entry: entry[:2], reverse=True)]

    @property
    def share_passed(self) -> float | None:
        """PASS / all cases: ABSTAIN, ERROR and labels have not passed. None without cases."""
        return self.statuses[Status.PASS] / self.cases if self.cases else None

    def unmet(self, *, fail_under: float | None = None) -> list[str]:
        """Return why a batch is not good enough, one sentence each; empty if it is.

        An outage is always a reason: more than half of the cases could not be judged, or none was decided because of
        errors.

        Args:
            fail_under: the share of the cases that must pass, 0..1. ABSTAIN and ERROR have not passed.

        Raises:
            ConfigurationError: ``fail_under`` is not in 0..1, or verdicts are labels that neither pass nor fail.
        """
        broke, causes = self.statuses[Status.ERROR] + self.failed_by_errors, self.errors.most_common(1)
        undecided, passed = broke + self.statuses[Status.ABSTAIN], self.statuses[Status.PASS]
        outage = bool(broke) and (2 * broke > self.cases or undecided == self.cases)
        why = "".join(f": {visible(error)}" for error, _ in causes)
        found = [f"{broke:,} of {self.cases:,} cases could not be judged{why}"] if outage else []
        if fail_under is None:
            return found
        if not 0 <= fail_under <= 1 or self.statuses[Status.LABEL]:
            said = ", ".join(self.statuses) or "nothing"
            raise ConfigurationError(f"fail_under= is in 0..1, of PASS and FAIL; not {fail_under!r} of {said}")
        if (self.share_passed or 0.0) < fail_under - ROUNDING or not self.cases:
            left = f"; {undecided:,} undecided ones have not passed" if undecided else ""
            found.append(f"{passed:,} of {self.cases:,} cases passed, a share below {fail_under:g}{left}")
        return found


def name_of(result: Result) -> str:
    """Return the name by which a reader finds a case: its id, or what was asked."""
    return next(filter(None, (getattr(case_of(result), field) for field in ("id", "question", "answer"))), "")


def key_of(result: Result) -> int:
    """Return a hash of the id of a case, else of its content, by which cases are matched; 0 if it has neither."""
    known = case_of(result).id or case_of(result).content_hash
    return 0 if known == NOTHING else hash(known)


def is_single(judgment: Judgment) -> bool:
    """Whether this is the judgment of one judge; a pairwise judge has judgments of both orders in it."""
    return not judgment.judgments or judgment.voting == "pairwise"


def word_of(judgment: Judgment) -> str:
    """Return what a judgment says: its status, or the label that is neither good nor bad."""
    word = judgment.label if judgment.status is Status.LABEL and judgment.label else judgment.status.value
    return f"label {word}" if judgment.status is Status.LABEL and word in [*Status] else word


def parts_of(judgment: Judgment, path: Path = ()) -> Iterator[tuple[Path, str, Judgment]]:
    """Yield the judgments inside, at any depth: the path, the kind and the judgment.

    The kind is ``tier``, ``criterion`` or ``juror``. A tier that is one judge is both a tier and a juror,
    but for that with which a calibrated jury abstains.
    """
    kind = _INSIDE.get(judgment.voting, "juror")
    for one in () if is_single(judgment) else judgment.judgments:
        here = (*path, (one.tier if kind == "tier" else None) or one.critic)
        yield here, kind, one
        if kind == "tier" and is_single(one) and here[-1] != ABSTAINED:
            yield (*here, one.critic), "juror", one
        yield from parts_of(one, here)


def reasons_of(judgment: Judgment) -> tuple[str, ...]:
    """Return why a case needs review; a FAIL that only broken judges caused is a reason too."""
    return (*judgment.review_reasons, *(["failed_by_errors"] if failed_by_errors(judgment) else []))


def failed_by_errors(judgment: Judgment) -> bool:
    """Whether a verdict is FAIL although no judge that decides it said FAIL, because some broke."""
    if judgment.status is not Status.FAIL or not judgment.judgments or not judgment.rests_on_broken:
        return False
    last = judgment.judgments[-1:]
    alone = (last[0].judgments if judgment.by_rule else ()) or last  # of a cascade, the last tier decides
    deciding = alone if judgment.voting == "cascade" else judgment.judgments
    return not any(one.status is Status.FAIL and not failed_by_errors(one) for one in deciding)


_FIELDS = ("critic", "voting", "on", "tier", "by_rule", "skipped")
_fields_of = attrgetter(*_FIELDS)


def _shape(judgment: Judgment) -> tuple[Any, ...]:
    """Return what counts of a judgment, as a key."""
    status = Status.ERROR if failed_by_errors(judgment) else judgment.status
    label = None if status is Status.ERROR else judgment.label
    why = judgment.why.translate(_NO_DIGITS)  # its numbers would make every case a pattern of its own
    return status, label, why, tuple(map(_shape, judgment.judgments)), *_fields_of(judgment)


@lru_cache(4096)  # so that patterns share the judgments of jurors
def _bare(shape: tuple[Any, ...]) -> Judgment:
    status, label, why, inside, *fields = shape
    text = {Status.ERROR: {"error": "broken"}, Status.ABSTAIN: {"reasoning": "undecided"}}.get(status, {})
    known = dict(zip(_FIELDS, fields, strict=True), judgments=tuple(map(_bare, inside)))
    return Judgment(status=status, label=label, why=why, **text, **known)
