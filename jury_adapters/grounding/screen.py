"""Screen that checks whether an answer is grounded in its contexts: no model, no key, no download, milliseconds.

Its jurors read words, so they have three results: *not grounded* (a name or number that no source has), *grounded*
(nearly in the source's own words), and *abstained*, with a list of what needs review by a human or a model. Grounded
does not mean correct: no rule here detects a wrong name that is in the contexts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from jury_adapters.core.cascade import CascadedJury, Tier
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import PASS_OR_FAIL, Finding, Judgment, Status, abstain
from jury_adapters.core.tolerance import reaches
from jury_adapters.core.values import freeze_mapping, unit_interval
from jury_adapters.grounding.alignment import aligned
from jury_adapters.grounding.findings import (
    adds_to,
    differing_numbers,
    listed,
    missing_items,
    negated,
    new_words,
    relevance,
    says_something,
    supported,
    unreadable,
)
from jury_adapters.grounding.languages import differs
from jury_adapters.grounding.normalisation import tidy
from jury_adapters.grounding.passages import Source, read_sentences, read_source
from jury_adapters.grounding.reasons import (
    lacking,
    left_out,
    not_checked,
    not_translated,
    nothing_compared,
    nothing_missing,
    nothing_new,
    unread_sentences,
)
from jury_adapters.grounding.spelling import shows_words_as_written

__all__ = [
    "ContextRelevance",
    "NamesAndNumbers",
    "SentenceAlignment",
    "SentenceSupport",
    "Undecided",
    "grounding_screen",
]


@dataclass(frozen=True)
class NamesAndNumbers(Judge):
    """Flags numbers, quantities, dates and (in English) names of the answer that neither contexts nor question contain.

    FAIL with one check for each missing item (the sentence is its evidence), else ABSTAIN. It never passes an answer,
    because known names and numbers can be put together wrongly. Spelling does not matter ("two million" is 2,000,000,
    "two thirds" is 2/3, "half past seven" is 7:30, "2.15 p.m." is 14:15, 22 February 2020 is 2020-02-22, "2 m³" is
    2,000 litres, "Italian" is Italy, "UN" is United Nations). Codes such as "MK-4711-08" are compared as wholes. What
    the user said in earlier messages counts like the question. Month names are read in 19 European languages: "1er mars
    2020" is 2020-03-01.

    It ignores counts up to ten written as words, unless the contexts have numbers with the same unit; fractions in
    words, unless the contexts have fractions, or "more than" or the like stands before them; signs, because "fell by 5"
    may be "-5"; a unit where the contexts have the number with none; and sentences of four words or more in title case
    or capitals, such as "Contact Anna Maria Weber"; of those it compares lists of full names ("Ann Weber, Bo Smith")
    and names after a form of address ("Mrs Weber"). The reason of an abstention lists these where they differ, and
    numbers in Chinese characters. It ignores single capitalised words that begin a sentence and, if the source is not
    running English, all names; numbers that might be spelled out there too, if it is not in Chinese or Japanese either.
    It ignores all names if the source is English and the answer is not, which it recognises by the script, by function
    words and accents of the answer, or by the language of the question. The reason says so, or that nothing was
    compared. It cannot detect a wrong name or number that is elsewhere in the contexts, and flags sums that are right
    but not written there.

    Args:
        name: the juror's name in verdicts.

    >>> NamesAndNumbers().judge(answer="Ann left in 2019.", contexts="Ann left the firm in 2018.").findings[0].name
    'number: 2019'
    """

    opinion_statuses = PASS_OR_FAIL
    required_fields = ("answer", "contexts")
    name: str = "NamesAndNumbers"

    @shows_words_as_written
    def assess(self, case: Case) -> Judgment:
        ready = _read(case)
        if isinstance(ready, str):
            return abstain(ready)
        source, lines = ready
        missing = missing_items(source, lines)
        if not missing:
            return abstain(nothing_missing(source, lines))
        listing = listed(finding.name for finding in missing)
        reasoning = f"not in the contexts or the question: {listing}{not_checked(source)}{left_out(case)}"
        return Judgment(Status.FAIL, reasoning=reasoning, findings=tuple(missing[:_MOST_FINDINGS]))


@dataclass(frozen=True)
class SentenceAlignment(Judge):
    """Passes an answer if every sentence is nearly verbatim in the contexts, with nothing new.

    Nearly verbatim: all words of the sentence are at one place of the contexts and in the same order there, with the
    same signs ("-5", "5 ‰", "€ 40", "5 a.m."), and at most three words are left out between two neighbours. Articles
    do not count. What is left out must not change the sentence: a word anywhere in the sentence of the contexts that
    negates, forbids, hedges or reports ("not", "verboten", "denied", "may", "except"); a word in the same clause that
    narrows or bounds ("half", "höchstens", "each", "until"), all in English and 13 other European languages; a number
    before or between the words; or a word beside a number that is kept. A complete sentence also keeps each phrase with
    a preposition ("with a pacemaker", "in winter") and all of its clause to the end. Otherwise ABSTAIN, with one check
    per sentence. PASS means *grounded*, not correct: that an adjective is left out ("the paid-up members") is not
    noticed, nor what stands beyond a comma and has no number and no bound.

    If words cannot be separated (Chinese, Thai, text without spaces), only whole sentences of the contexts pass.
    "Yes", "No" and the letter of a choice are not decided, although most contexts have those words somewhere. Nor is an
    answer that has no content word in addition to the question's.

    Args:
        name: the juror's name in verdicts.

    >>> SentenceAlignment().judge(answer="Ann left in 2018.", contexts="Ann left the firm in 2018. Bo stayed.").status
    <Status.PASS: 'PASS'>
    """

    opinion_statuses = PASS_OR_FAIL
    required_fields = ("answer", "contexts")
    name: str = "SentenceAlignment"

    @shows_words_as_written
    def assess(self, case: Case) -> Judgment:
        ready = _read(case)
        if isinstance(ready, str):
            return abstain(ready)
        source, lines = ready
        if not any(says_something(line) for line in lines):
            return abstain("the answer has no word that could be told apart from any other text: yes, no, a letter")
        if case.question and not adds_to(case.question, lines):
            return abstain("the answer has no word beyond those of the question")
        findings = [aligned(source.passages, line) for line in lines]
        open_findings = [finding for finding in findings if not finding.passed]
        if not open_findings:
            shown = tuple(findings[:_MOST_FINDINGS])
            return Judgment(Status.PASS, reasoning="every sentence is in the contexts, nearly verbatim", findings=shown)
        how_many = f"{len(open_findings)} of {len(findings)} sentences"
        reasoning = f"{how_many} are not in the contexts nearly verbatim{not_translated(source)}"
        return abstain(
            reasoning, findings=tuple((findings if len(findings) <= _MOST_FINDINGS else open_findings)[:_MOST_FINDINGS])
        )


@dataclass(frozen=True)
class SentenceSupport(Judge):
    """Share of each answer sentence that the contexts have: a number, and a verdict only if you set a threshold.

    A sentence's support is the share of its content words at the best place of the contexts; rare words count more
    (IDF). Numbers, dates and measures count as there if the place states them in any notation: "3,000" and "3000",
    "1170mm" and "1.17 m". The answer's support is that of its weakest sentence, in ``metadata["support"]``, and
    ``metadata["mean"]`` is the mean.

    Args:
        threshold: the lowest support, 0..1, that passes; lower support fails; None (default) always abstains. An answer
            above it abstains if a sentence has a negation (of English and 13 other European languages) and its best
            place, a whole sentence of the contexts, has none, or the reverse; if it has more of them than that place,
            or fewer and the same other words; if the contexts have one of its numbers
            with another sign, unit or year only ("420 kg" beside "420 litres"); or if it has no word in addition to the
            question's. No threshold suits all data: the best one was 0.4 on encyclopedic claims and 0.98 on news. Fit
            yours on labels.
        name: the juror's name in verdicts.

    It abstains on texts in scripts without spaces (Chinese, Japanese, Thai), because their words cannot be separated. A
    name in such a script among other words is compared if the contexts have it as a word too. Other languages are
    compared word by word, and only English endings are cut. It also abstains on an answer in another language than its
    contexts, unless they have all of its words: it recognises another script, another language beside English contexts
    as :class:`NamesAndNumbers` does, and English beside another language.

    Raises:
        ConfigurationError: the threshold is outside 0..1.

    >>> SentenceSupport(threshold=0.5).judge(answer="Ann left.", contexts="Ann left the firm in 2018.").score
    1.0
    """

    opinion_statuses = PASS_OR_FAIL
    required_fields = ("answer", "contexts")
    threshold: float | None = None
    name: str = "SentenceSupport"

    def __post_init__(self) -> None:
        _check_threshold(self.threshold, self.name)

    @property
    def pass_scores(self) -> frozenset[float]:
        return frozenset() if self.threshold is None else frozenset({float(self.threshold)})

    @shows_words_as_written
    def assess(self, case: Case) -> Judgment:
        ready = _read(case)
        if isinstance(ready, str):
            return abstain(ready)
        source, lines = ready
        findings = supported(source, lines)
        scores = [finding.score for finding in findings if finding.score is not None]
        if not scores:
            return abstain(nothing_compared("no sentence", next((finding.detail for finding in findings), "")))
        support = min(scores)
        unread = len(findings) - len(scores)
        findings = (
            sorted(findings, key=lambda finding: finding.score or 0.0)[:_MOST_FINDINGS]
            if len(findings) > _MOST_FINDINGS
            else findings
        )
        details = {"support": support, "mean": sum(scores) / len(scores), "unread": unread}
        doubt = self._doubt(case, source, lines, support, unread)
        which = "the only sentence" if len(scores) == 1 else f"the weakest of {len(scores)} sentences"
        text = f"{which} has {support:.0%} of its content words in the contexts{left_out(case)}{not_translated(source)}"
        if doubt:
            return abstain(f"{text}; {doubt}", findings=tuple(findings), metadata=freeze_mapping(details))
        return _rated(support, self.threshold, text, findings, details)

    def _doubt(self, case: Case, source: Source, lines: Sequence[str], support: float, unread: int) -> str:
        """Return the reason that support decides nothing, or "" if it does."""
        if self.threshold is None:
            return ""
        if source.other_language and support < 1:
            return "support across languages shows nothing"
        if not reaches(support, self.threshold):
            return ""
        if unread:
            return f"{unread} more could not be read"
        if case.question and not adds_to(case.question, lines):
            return "the answer has no word beyond those of the question"
        if differing := negated(source, lines):
            return f"a negation differs from the contexts: {', '.join(differing[:3])}"
        numbers = differing_numbers(source, lines)
        return f"the contexts have another sign, unit or year: {listed(numbers, 3)}" if numbers else ""


@dataclass(frozen=True)
class ContextRelevance(Judge):
    """Relevance of the contexts to the question: the share of its content words that they contain.

    It judges the retrieval and needs no answer. The number is in ``metadata["support"]``. It abstains on a question in
    another language than the contexts, unless they have all of its words.

    Args:
        threshold: the lowest share, 0..1, that passes; a lower one fails; None (default) always abstains.
        name: the juror's name in verdicts.

    Raises:
        ConfigurationError: the threshold is outside 0..1.

    >>> ContextRelevance(threshold=0.5).judge(question="When did Ann leave?", contexts="Ann left. Leaving hurt.").score
    1.0
    """

    opinion_statuses = PASS_OR_FAIL
    required_fields = ("question", "contexts")
    threshold: float | None = None
    name: str = "ContextRelevance"

    def __post_init__(self) -> None:
        _check_threshold(self.threshold, self.name)

    @property
    def pass_scores(self) -> frozenset[float]:
        return frozenset() if self.threshold is None else frozenset({float(self.threshold)})

    @shows_words_as_written
    def assess(self, case: Case) -> Judgment:
        contexts, question = _contexts(case), (case.question or "").strip()
        if not contexts or not question:
            return abstain(lacking("question", contexts, there=bool(question)))
        source = read_source(contexts, question)
        found = relevance(question, source)
        if found is None:
            unread = unreadable(source.passages, tidy(question))
            return abstain(nothing_compared("no word of the question", unread))
        share, missing = found
        text = f"{share:.0%} of the question's content words are in the contexts"
        detail = f"missing: {listed(missing)}" if missing else ""
        findings, details = [Finding("question words", None, detail, score=share)], {"support": share}
        if missing and self.threshold is not None and _differs(source, question, "", source.passages.has_word):
            text += "; it is in another language than they are, and words are not translated"
            return abstain(text, findings=tuple(findings), metadata=freeze_mapping(details))
        return _rated(share, self.threshold, text, findings, details)


@dataclass(frozen=True)
class Undecided(Judge):
    """Last juror of a screen without a model: always abstains, and lists what needs review.

    Checks name the missing names, numbers and words; ``metadata`` has ``support`` (see :class:`SentenceSupport`) and
    ``relevance`` (see :class:`ContextRelevance`), None if they cannot be computed.

    Args:
        name: the juror's name in verdicts.

    >>> Undecided().judge(answer="Ann quit her job.", contexts="Ann left the firm in 2018.").findings[0].name
    'word: quit'
    """

    opinion_statuses = PASS_OR_FAIL
    required_fields = ("answer", "contexts")
    name: str = "Undecided"

    @property
    def size(self) -> int:
        """0, because it gives no opinion, and skipping it saves nothing."""
        return 0

    @shows_words_as_written
    def assess(self, case: Case) -> Judgment:
        ready = _read(case)
        if isinstance(ready, str):
            return abstain(ready)
        source, lines = ready
        findings = [*missing_items(source, lines), *new_words(source, lines)]
        scores = [finding.score for finding in supported(source, lines) if finding.score is not None]
        support = min(scores, default=None)
        about = (relevance(case.question or "", source) or (None,))[0]
        numbers = [f"support {support:.2f}"] if support is not None else []
        numbers += [f"relevance {about:.2f}"] if about is not None else []
        looked = nothing_new(source, lines)
        if findings:
            looked = f"not in the contexts: {listed(finding.name for finding in findings)}{not_translated(source)}"
            unread = unread_sentences(source, lines)
            looked += f"; {unread} of {len(lines)} sentences could not be read" if unread else ""
        reasoning = "; ".join(["words alone cannot decide this", looked, *numbers])
        details = {"support": support, "relevance": about}
        return abstain(reasoning, findings=tuple(findings[:_MOST_FINDINGS]), metadata=freeze_mapping(details))


def grounding_screen(final: Judge | None = None, *, name: str = "grounding_screen") -> CascadedJury:
    """Create a jury that needs no model: flag what is new, accept what is verbatim, pass on the rest.

    Args:
        final: the judge of the answers that rules cannot decide: a critic or a jury of critics. None (default) abstains
            on them: the verdict is ABSTAIN and lists what needs review.
        name: the jury's name.

    Returns:
        A cascade with the tiers ``flags``, ``verbatim`` and ``abstained`` (or ``final``).

    >>> grounding_screen().judge(answer="Ann left in 2019.", contexts="Ann left in 2018.").stopped_at
    'flags'
    """
    last = Tier("abstained", Undecided(), policy="final") if final is None else Tier("final", final, policy="final")
    return CascadedJury(
        [
            Tier("flags", NamesAndNumbers(), policy="reject_on_any_fail"),
            Tier("verbatim", SentenceAlignment(), policy="accept_on_all_pass"),
            last,
        ],
        name=name,
    )


_MOST_FINDINGS = 100  # bounds the verdict on an answer of megabytes


def _read(case: Case) -> tuple[Source, tuple[str, ...]] | str:
    """Return the source and the sentences of the answer, or the reason that there is nothing to compare."""
    contexts, lines = _contexts(case), read_sentences(case.answer or "")
    if not contexts or not lines:
        return lacking("answer", contexts, there=bool(lines))
    said = tuple(message.content for message in case.messages if message.role == "user")
    source = read_source(contexts, case.question or "", said)
    if _differs(source, case.answer or "", case.question or "", source.names.has):
        source = replace(source, compares_names=False, other_language=True)
    return source, lines


def _differs(source: Source, text: str, question: str, known: Callable[[str], bool]) -> bool:
    """Return whether a text, with its question and known words, is in another language than the contexts."""
    return differs(text, source.passages.text, question=question, english=source.english, known=known)


def _contexts(case: Case) -> tuple[str, ...]:
    return tuple(context for context in case.contexts if context.strip())


def _rated(
    number: float, threshold: float | None, text: str, findings: Sequence[Finding], details: dict[str, float]
) -> Judgment:
    if threshold is None:
        return abstain(f"{text}; no threshold is set", findings=tuple(findings), metadata=freeze_mapping(details))
    status = Status.PASS if reaches(number, threshold) else Status.FAIL
    reasoning = f"{text}; the threshold is {threshold:.0%}"
    return Judgment(
        status, score=number, reasoning=reasoning, findings=tuple(findings), metadata=freeze_mapping(details)
    )


def _check_threshold(threshold: float | None, name: str) -> None:
    if isinstance(threshold, bool):
        raise ConfigurationError(f"{name}: threshold is a number from 0 to 1, not {threshold}")
    if threshold is not None:
        unit_interval(threshold, f"{name}: threshold")
