"""Is an answer grounded in its contexts? A screen of plain jurors: no model, no key, no download, milliseconds.

They read words, so they can say three things: *not grounded* (a name or number that no source has), *grounded* (said
nearly in the source's own words), and *undecided*, with what a person or a model should look at. Grounded never means
correct: a wrong name that stands in the contexts is invisible to every rule here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jury_adapters.core.cascade import CascadedJury, Tier
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judge import Judge, PlainJudge
from jury_adapters.core.judgment import PASS_OR_FAIL, Check, Judgment, Status, abstain
from jury_adapters.core.tolerance import reaches
from jury_adapters.core.values import freeze_mapping, unit_interval
from jury_adapters.judges.findings import (
    adds_to,
    aligned,
    listed,
    missing_items,
    negated,
    new_words,
    relevance,
    says_something,
    supported,
)
from jury_adapters.judges.passages import Source, read_sentences, read_source

__all__ = [
    "ContextRelevance",
    "NamesAndNumbers",
    "SentenceAlignment",
    "SentenceSupport",
    "Undecided",
    "grounding_screen",
]


@dataclass(frozen=True)
class NamesAndNumbers(PlainJudge):
    """Flags names, numbers, dates and quantities of the answer that neither contexts nor question contain.

    FAIL with one check for each missing item (the sentence is its evidence), else ABSTAIN: it never passes an answer,
    because known names and numbers can be put together wrongly. Spelling does not matter ("two million" is 2,000,000,
    22 February 2020 is 2020-02-22, "Italian" is Italy, "UN" is United Nations).

    What it leaves alone: counts up to ten written as words, single capitalised words that begin a sentence, titles,
    and, where the source is not running English, all names and all numbers that might be spelled out there. What it
    cannot see: a wrong name or number that stands elsewhere in the contexts, and sums that are right but not written.

    Args:
        name: what the juror is called in verdicts.

    >>> NamesAndNumbers().judge(answer="Ann left in 2019.", contexts="Ann left the firm in 2018.").checks[0].name
    'number: 2019'
    """

    opinion_statuses = PASS_OR_FAIL
    name: str = "NamesAndNumbers"

    def examine(self, case: Case) -> Judgment:
        ready = _read(case)
        if isinstance(ready, str):
            return abstain(ready)
        source, lines = ready
        missing = missing_items(source, lines)
        note = "" if source.english else " (names were not checked: the source is not running English)"
        if not missing:
            return abstain(f"every name and number is in the contexts or the question, which proves nothing{note}")
        reasoning = f"not in the contexts or the question: {listed(check.name for check in missing)}{note}"
        return Judgment(Status.FAIL, reasoning=reasoning, checks=tuple(missing[:_MOST_CHECKS]))


@dataclass(frozen=True)
class SentenceAlignment(PlainJudge):
    """Passes an answer whose every sentence stands nearly verbatim in the contexts, with nothing new.

    Nearly verbatim: all words of the sentence stand in one place of the contexts, at least 90 % of them in the same
    order, and neighbours are neighbours there or at most three words apart. Nothing that negates or hedges ("not",
    "denied", "may") stands at that place without standing in the sentence. Articles do not count. Else ABSTAIN; there
    is one check per sentence. PASS means *grounded*, not correct.

    Where words cannot be separated (Chinese, Thai, text without spaces) only whole sentences of the contexts pass.
    "Yes", "No" and the letter of a choice stay open, although most contexts have those words somewhere. So does an
    answer that has no content word beyond the question's.

    Args:
        name: what the juror is called in verdicts.

    >>> SentenceAlignment().judge(answer="Ann left in 2018.", contexts="Ann left the firm in 2018. Bo stayed.").status
    <Status.PASS: 'PASS'>
    """

    opinion_statuses = PASS_OR_FAIL
    name: str = "SentenceAlignment"

    def examine(self, case: Case) -> Judgment:
        ready = _read(case)
        if isinstance(ready, str):
            return abstain(ready)
        source, lines = ready
        if not any(says_something(line) for line in lines):
            return abstain("the answer has no word that could be told apart from any other text: yes, no, a letter")
        if case.question and not adds_to(case.question, lines):
            return abstain("the answer has no word beyond those of the question")
        checks = [aligned(source.passages, line) for line in lines]
        open_checks = [check for check in checks if not check.passed]
        if not open_checks:
            shown = tuple(checks[:_MOST_CHECKS])
            return Judgment(
                Status.PASS, reasoning="every sentence stands in the contexts, nearly verbatim", checks=shown
            )
        reasoning = f"{len(open_checks)} of {len(checks)} sentences are in their own words"
        return abstain(reasoning, checks=tuple((checks if len(checks) <= _MOST_CHECKS else open_checks)[:_MOST_CHECKS]))


@dataclass(frozen=True)
class SentenceSupport(PlainJudge):
    """How much of each answer sentence the contexts have: a number, and a verdict only where you set a threshold.

    A sentence's support is the share of its content words that the best place of the contexts has, rare words counting
    more (IDF). The answer's support is that of its weakest sentence, in ``metadata["support"]``, with
    ``metadata["mean"]`` beside it.

    Args:
        threshold: support from here on, 0..1, is PASS, below is FAIL; None (default) always abstains. An answer above
            it abstains that negates otherwise than the contexts, or has no word beyond the question's. There is no
            threshold for all data: the best one was 0.4 on encyclopedic claims and 0.98 on news. Fit yours on labels.
        name: what the juror is called in verdicts.

    Raises:
        ConfigurationError: a threshold outside 0..1.

    >>> SentenceSupport(threshold=0.5).judge(answer="Ann left.", contexts="Ann left the firm in 2018.").score
    1.0
    """

    opinion_statuses = PASS_OR_FAIL
    threshold: float | None = None
    name: str = "SentenceSupport"

    def __post_init__(self) -> None:
        _check_threshold(self.threshold, self.name)

    def examine(self, case: Case) -> Judgment:
        ready = _read(case)
        if isinstance(ready, str):
            return abstain(ready)
        source, lines = ready
        checks = supported(source.passages, lines)
        scores = [check.score for check in checks if check.score is not None]
        if not scores:
            return abstain("no sentence has words that can be compared with the contexts")
        support = min(scores)
        unread = len(checks) - len(scores)
        checks = (
            sorted(checks, key=lambda check: check.score or 0.0)[:_MOST_CHECKS]
            if len(checks) > _MOST_CHECKS
            else checks
        )
        details = {"support": support, "mean": sum(scores) / len(scores), "unread": unread}
        doubt = self._doubt(case, source, lines, support, unread)
        which = "the only sentence" if len(scores) == 1 else f"the weakest of {len(scores)} sentences"
        text = f"{which} has {support:.0%} of its content words in the contexts"
        if doubt:
            return abstain(f"{text}; {doubt}", checks=tuple(checks), metadata=freeze_mapping(details))
        return _rated(support, self.threshold, text, checks, details)

    def _doubt(self, case: Case, source: Source, lines: Sequence[str], support: float, unread: int) -> str:
        """Return why support above the threshold is no PASS; "" when it is one."""
        if self.threshold is None or not reaches(support, self.threshold):
            return ""
        if unread:
            return f"{unread} more could not be read"
        if case.question and not adds_to(case.question, lines):
            return "the answer has no word beyond those of the question"
        differing = negated(source.passages, lines)
        return f"a negation differs from the contexts: {listed(differing, 3)}" if differing else ""


@dataclass(frozen=True)
class ContextRelevance(PlainJudge):
    """Whether the contexts are about the question: the share of its content words that they contain.

    It judges the retrieval, not the answer, and needs none. The number is in ``metadata["support"]``.

    Args:
        threshold: a share from here on, 0..1, is PASS, below is FAIL; None (default) always abstains.
        name: what the juror is called in verdicts.

    Raises:
        ConfigurationError: a threshold outside 0..1.

    >>> ContextRelevance(threshold=0.5).judge(question="When did Ann leave?", contexts="Ann left. Leaving hurt.").score
    1.0
    """

    opinion_statuses = PASS_OR_FAIL
    threshold: float | None = None
    name: str = "ContextRelevance"

    def __post_init__(self) -> None:
        _check_threshold(self.threshold, self.name)

    def examine(self, case: Case) -> Judgment:
        contexts, question = _contexts(case), (case.question or "").strip()
        if not contexts or not question:
            return abstain(_lacking("question", contexts, there=bool(question)))
        found = relevance(case.question or "", read_source(contexts, case.question or "").passages)
        if found is None:
            return abstain("the question has no words that can be compared with the contexts")
        share, missing = found
        text = f"{share:.0%} of the question's content words stand in the contexts"
        detail = f"missing: {listed(missing)}" if missing else ""
        return _rated(
            share, self.threshold, text, [Check("question words", None, detail, score=share)], {"support": share}
        )


@dataclass(frozen=True)
class Undecided(PlainJudge):
    """The last word of a screen without a model: always abstains, and lists what a person should look at.

    Checks name the missing names, numbers and words; ``metadata`` has ``support`` (see :class:`SentenceSupport`) and
    ``relevance`` (see :class:`ContextRelevance`), None where they cannot be computed.

    Args:
        name: what the juror is called in verdicts.

    >>> Undecided().judge(answer="Ann quit her job.", contexts="Ann left the firm in 2018.").checks[0].name
    'word: quit'
    """

    opinion_statuses = PASS_OR_FAIL
    name: str = "Undecided"

    @property
    def size(self) -> int:
        """0: it gives no opinion, so nothing is saved where it is not asked."""
        return 0

    def examine(self, case: Case) -> Judgment:
        ready = _read(case)
        if isinstance(ready, str):
            return abstain(ready)
        source, lines = ready
        checks = [*missing_items(source, lines), *new_words(source.passages, lines)]
        scores = [check.score for check in supported(source.passages, lines) if check.score is not None]
        support = min(scores, default=None)
        about = (relevance(case.question or "", source.passages) or (None,))[0]
        numbers = [f"support {support:.2f}"] if support is not None else []
        numbers += [f"relevance {about:.2f}"] if about is not None else []
        looked = "every word is in the contexts; look at how they are put together"
        if checks:
            looked = f"not in the contexts: {listed(check.name for check in checks)}"
        reasoning = "; ".join(["words alone cannot decide this", looked, *numbers])
        details = {"support": support, "relevance": about}
        return abstain(reasoning, checks=tuple(checks[:_MOST_CHECKS]), metadata=freeze_mapping(details))


def grounding_screen(final: Judge | None = None, *, name: str = "grounding_screen") -> CascadedJury:
    """The jury that needs no model: flag what is new, accept what is verbatim, hand on the rest.

    Args:
        final: who decides what words cannot: a critic or a jury of critics. None (default) leaves it undecided: the
            verdict is ABSTAIN and lists what to look at.
        name: what the jury is called.

    Returns:
        A cascade with the tiers ``flags``, ``verbatim`` and ``undecided`` (or ``final``).

    >>> grounding_screen().judge(answer="Ann left in 2019.", contexts="Ann left in 2018.").stopped_at
    'flags'
    """
    last = Tier("undecided", Undecided(), policy="final") if final is None else Tier("final", final, policy="final")
    return CascadedJury(
        [
            Tier("flags", NamesAndNumbers(), policy="reject_on_any_fail"),
            Tier("verbatim", SentenceAlignment(), policy="accept_on_all_pass"),
            last,
        ],
        name=name,
    )


_MOST_CHECKS = 100  # an answer of megabytes would else make a verdict of megabytes


def _read(case: Case) -> tuple[Source, tuple[str, ...]] | str:
    """The contexts and the sentences of the answer, or why there is nothing to compare."""
    contexts, lines = _contexts(case), read_sentences(case.answer or "")
    if not contexts or not lines:
        return _lacking("answer", contexts, there=bool(lines))
    return read_source(contexts, case.question or ""), lines


def _lacking(field: str, contexts: Sequence[str], *, there: bool) -> str:
    """What the case does not have: this field, the contexts, or both."""
    if there:
        return "no contexts to compare with"
    return f"no {field} to compare with the contexts" if contexts else f"no {field} and no contexts to compare"


def _contexts(case: Case) -> tuple[str, ...]:
    return tuple(context for context in case.contexts if context.strip())


def _rated(
    number: float, threshold: float | None, text: str, checks: Sequence[Check], details: dict[str, float]
) -> Judgment:
    if threshold is None:
        return abstain(f"{text}; no threshold is set", checks=tuple(checks), metadata=freeze_mapping(details))
    status = Status.PASS if reaches(number, threshold) else Status.FAIL
    reasoning = f"{text}; the threshold is {threshold:.0%}"
    return Judgment(status, score=number, reasoning=reasoning, checks=tuple(checks), metadata=freeze_mapping(details))


def _check_threshold(threshold: float | None, name: str) -> None:
    if isinstance(threshold, bool):
        raise ConfigurationError(f"{name}: threshold is a number from 0 to 1, not {threshold}")
    if threshold is not None:
        unit_interval(threshold, f"{name}: threshold")
