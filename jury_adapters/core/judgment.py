"""Judgment, what a judge says about a case. That of a jury has the judgments of its jurors, criteria or tiers in it."""

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, NoReturn, Self

from pydantic import BeforeValidator, Field, model_validator

from jury_adapters.core.agreement import BANDS, Band, band_of, pairwise_agreement
from jury_adapters.core.text import visible
from jury_adapters.core.values import (
    ROUNDING,
    Amount,
    ConfigurationError,
    Frozen,
    FrozenDict,
    GateFailed,
    Metadata,
    Share,
    Text,
    error_text,
    without_keys,
)


class Status(StrEnum):
    """What a judgment says."""

    PASS = "PASS"
    FAIL = "FAIL"
    LABEL = "LABEL"  # a label that is neither good nor bad, such as A, B or KEEP
    ABSTAIN = "ABSTAIN"  # cannot say: the case lacks what the judge needs. It is no vote
    ERROR = "ERROR"  # could not judge: broke, too slow, over budget. It is a missing vote


class Usage(Frozen):
    """Calls, tokens and cost of a judgment. What came from a store was paid before and is counted apart.

    Attributes:
        calls: requests to models.
        input_tokens: tokens of the prompts.
        output_tokens: tokens of the replies.
        cost_usd: cost in US dollars, as far as it is known.
        cost_complete: False if the price of a call is unknown, or if a call was cut off and may be billed.
        recorded_calls: calls of stored judgments.
        recorded_usd: cost of stored judgments.
    """

    calls: int = Field(0, ge=0)
    input_tokens: int = Field(0, ge=0)
    output_tokens: int = Field(0, ge=0)
    cost_usd: Amount = 0.0
    cost_complete: bool = True
    recorded_calls: int = Field(0, ge=0)
    recorded_usd: Amount = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        if self is NO_USAGE:
            return other
        sums = {name: value + getattr(other, name) for name, value in self.__dict__.items()}
        return Usage(**{**sums, "cost_complete": self.cost_complete and other.cost_complete})

    @property
    def cost(self) -> str:
        """The cost in words; an unknown one is never 0.

        >>> Usage(calls=1, cost_usd=0.5).cost, Usage(calls=1, cost_complete=False).cost
        ('$0.5000', 'cost unknown')
        """
        known = f"${self.cost_usd:,.4f}"
        return known if self.cost_complete else f"{known} or more" if self.cost_usd else "cost unknown"

    def as_recorded(self) -> "Usage":
        """Return the usage as that of a stored judgment, which costs nothing now."""
        return Usage(
            recorded_calls=self.calls + self.recorded_calls,
            recorded_usd=self.cost_usd + self.recorded_usd,
            cost_complete=self.cost_complete,
        )


NO_USAGE = Usage()


class Finding(Frozen):
    """One finding inside a judgment: a claim, a file, a rule.

    Attributes:
        name: what was looked at.
        passed: whether it is good; None if that is open.
        detail: why.
        evidence: the passage that shows it.
        score: 0..1, where there is one.
    """

    name: Text
    passed: bool | None
    detail: Text = ""
    evidence: Text = ""
    score: Share | None = None


_Redacted = Annotated[Text, BeforeValidator(lambda text: without_keys(text) if isinstance(text, str) else text)]


class Judgment(Frozen):
    """Result of one judge on one case; immutable, and neither true nor false.

    ``judgment.model_dump_json()`` writes it as JSON, and ``Judgment.model_validate_json(text)`` reads it, without loss.
    ``print(judgment)`` shows the tree of the judgments inside.

    Attributes:
        status: PASS, FAIL, LABEL, ABSTAIN or ERROR.
        score: 0..1, where the judge gives one.
        label: the label, such as ``KEEP``; None for a plain PASS or FAIL, and without a decision.
        confidence: 0..1, where the judge gives one. That of a vote depends on the rule: the share that voted for the
            outcome, one minus the mean distance of the scores, or the posterior of the outcome. If jurors broke, it is
            the lowest that their votes could have left.
        reasoning: why; required for ABSTAIN.
        findings: claims, files or rules that were looked at one by one.
        critic: the name of the judge.
        model: the model that was asked.
        usage: calls, tokens and cost, those of the jurors included.
        elapsed_s: seconds.
        error: what went wrong; only, and always, for ERROR. API keys are removed.
        metadata: anything else, as JSON values.
        judgments: the judgments of the jurors, the criteria, or the tiers that ran.
        voting: how they were combined: a voting rule, ``scorecard``, ``cascade``, ``all_of`` or ``any_of``.
        on: what a vote counted: ``status`` (PASS and FAIL) or ``label``.
        weights: the weights of the jurors, in the order of the judgments.
        tied: whether the rule had to break a tie.
        skipped: the names of jurors or tiers that were not asked.
        tier: on the judgment of a tier, its name.
        why: on the judgment of a tier, why the cascade stopped there or went on.
        by_rule: whether a screening tier decided, in which one objection or one doubt is enough, so that the other
            votes are not dissent.
        case_id: the id of the case, on the outermost judgment.
        case_metadata: its metadata, likewise.
        generator: the model that wrote the answer, likewise.
    """

    status: Status
    score: Share | None = None
    label: Text | None = None
    confidence: Share | None = None
    reasoning: Text = ""
    findings: tuple[Finding, ...] = ()
    critic: Text = ""
    model: Text | None = None
    usage: Usage = NO_USAGE
    elapsed_s: Amount | None = None
    error: _Redacted | None = None
    metadata: Metadata = Field(default_factory=FrozenDict)
    judgments: tuple["Judgment", ...] = ()
    voting: str = ""
    on: Literal["", "status", "label"] = ""
    weights: tuple[Amount, ...] = ()
    tied: bool = False
    skipped: tuple[Text, ...] = ()
    tier: Text | None = None
    why: Text = ""
    by_rule: bool = False
    case_id: Text | None = None
    case_metadata: Metadata = Field(default_factory=FrozenDict)
    generator: Text | None = None

    @model_validator(mode="after")
    def _means_what_it_says(self) -> Self:
        if not self.decided and (self.score is not None or self.label is not None):
            raise ValueError(f"{self.status} has no score and no label")
        if self.status is Status.ABSTAIN and not self.reasoning.strip():
            raise ValueError("ABSTAIN needs a reason")
        if (self.status is Status.ERROR) != bool((self.error or "").strip()):
            raise ValueError("ERROR, and nothing else, has an error")
        if self.status is Status.LABEL and not self.label:
            raise ValueError("LABEL needs a label")
        return self

    def __bool__(self) -> NoReturn:
        raise TypeError("a judgment is neither true nor false: ask .passed, .status or .decided")

    @property
    def passed(self) -> bool | None:
        """True for PASS, False for FAIL, None for everything else."""
        return self.status is Status.PASS if self.status in (Status.PASS, Status.FAIL) else None

    @property
    def decided(self) -> bool:
        """Whether the judge came to a result: the status is neither ABSTAIN nor ERROR."""
        return self.status not in (Status.ABSTAIN, Status.ERROR)

    @property
    def ballot(self) -> str | None:
        """The vote: the label, else PASS or FAIL; None for ABSTAIN and ERROR."""
        return (self.label or self.status.value) if self.decided else None

    @property
    def number(self) -> float | None:
        """The score, else 1.0 for PASS and 0.0 for FAIL; None for everything else."""
        return self.score if self.score is not None or self.passed is None else float(self.passed)

    @property
    def by_name(self) -> dict[str, "Judgment"]:
        """The judgments inside, by the name of the judge."""
        return {one.critic: one for one in self.judgments}

    @property
    def tiers(self) -> dict[str, "Judgment"]:
        """The judgments of the tiers that ran, by the name of the tier; empty if this is no cascade."""
        return {one.tier or "": one for one in self.judgments} if self.voting == "cascade" else {}

    @property
    def stopped_at(self) -> str | None:
        """The name of the tier at which a cascade stopped."""
        return next(reversed(self.tiers), None)

    def jurors(self) -> Iterator["Judgment"]:
        """Yield the judgments of the single judges inside, at any depth."""
        for one in self.judgments:
            yield from one.jurors() if one.judgments else (one,)

    @property
    def is_missing(self) -> bool:
        """Whether the judge broke, or a model's answer is not there: refused, filtered, cut off, or unreadable.

        An ABSTAIN with such a judgment inside is missing, too. In a vote it is a missing vote, so that whoever makes
        jurors refuse decides nothing.
        """
        return self.status is Status.ERROR or (
            self.status is Status.ABSTAIN
            and (self.metadata.get("cause") in _NOT_ANSWERED or any(one.is_missing for one in self.judgments))
        )

    @property
    def rests_on_broken(self) -> bool:
        """Whether this or a judgment inside is missing, so that score and confidence might have been others."""
        return self.is_missing or any(one.rests_on_broken for one in self.judgments)

    @property
    def ballots(self) -> list[str | float]:
        """The votes that agreement is about: statuses, labels or scores, as they were counted.

        Empty where the judgments inside answer different questions, and where a screening tier decided.
        """
        if self.by_rule or self.voting in ("scorecard", "all_of", "any_of"):
            return []
        if self.voting == "cascade":
            return self.judgments[-1].ballots if self.judgments else []
        if self.voting in ("average", "median"):
            return [one.number for one in self.judgments if one.number is not None]
        if self.on == "status":
            return [one.status.value for one in self.judgments if one.passed is not None]
        return [one.ballot for one in self.judgments if one.ballot is not None]

    @property
    def agreement(self) -> float | None:
        """Agreement of the jurors that voted, 0..1; None below two votes. See :func:`pairwise_agreement`."""
        return pairwise_agreement(self.ballots)

    @property
    def agreement_band(self) -> Band | None:
        """``high`` from 0.8, ``medium`` from 2/3, else ``low``; None if the agreement is undefined."""
        return band_of(self.agreement)

    @property
    def same_family(self) -> bool | None:
        """Whether a juror's model is of the vendor family of the model that wrote the answer; None if unknown."""
        own = _family_of(self.generator)
        families = {_family_of(one.model) for one in (*self.jurors(), self) if one.model}
        return None if own is None or not families - {None} else own in families

    @property
    def bias_warning(self) -> str | None:
        """A sentence where the jurors agree little and one may prefer its own family's answer; else None."""
        if not self.same_family or self.agreement_band != "low":
            return None
        return "a juror is of the vendor family of the model that wrote the answer, and the jurors agree little"

    @property
    def review_reasons(self) -> tuple[str, ...]:
        """Why the case needs human review; empty if it does not.

        ``abstained`` and ``error``: not decided. ``low_agreement``: the jurors are split, or those of a criterion, or
        of the tier that decided. ``few_votes``: most jurors abstained or broke. ``undecided_tier``: a judge of an
        earlier tier broke, or all abstained, so the tier did not do its work.
        """
        found = {Status.ABSTAIN: ["abstained"], Status.ERROR: ["error"]}.get(self.status, [])
        found += ["low_agreement"] * (self.agreement_band == "low")
        cast = sum(one.decided for one in self.judgments)
        found += ["few_votes"] * (bool(self.on) and self.decided and 2 * cast < len(self.judgments))
        inside = self.judgments if self.voting == "scorecard" else ()
        if self.voting == "cascade":
            inside = self.judgments[-1:]
            earlier = [tier.judgments or (tier,) for tier in self.judgments[:-1]]
            found += ["undecided_tier"] * any(
                any(one.is_missing for one in tier) or not any(one.decided for one in tier) for tier in earlier
            )
        found += [reason for one in inside for reason in one.review_reasons if reason not in ("abstained", "error")]
        return tuple(dict.fromkeys(found))

    @property
    def needs_review(self) -> bool:
        """Whether there is a reason for human review; see :attr:`review_reasons`."""
        return bool(self.review_reasons)

    def require(
        self,
        *,
        passed: bool | None = None,
        decided: bool | None = True,
        needs_review: bool | None = None,
        min_agreement: float | Band | None = None,
        min_confidence: float | None = None,
        max_cost_usd: float | None = None,
    ) -> Self:
        """Return the judgment if it meets every condition that is given.

        Args:
            passed: whether the status is PASS (True) or FAIL (False).
            decided: whether the status is neither ABSTAIN nor ERROR; None lifts the condition.
            needs_review: whether there are review reasons.
            min_agreement: the lowest agreement, 0..1 or a band. Undefined agreement, as of a single juror, meets it.
            min_confidence: the lowest confidence, 0..1. Without a confidence it is not met.
            max_cost_usd: the highest cost in US dollars, recorded cost included. An unknown cost does not meet it.

        Raises:
            GateFailed: a condition is not met; the message lists each.

        >>> Judgment(status="PASS", confidence=0.9).require(passed=True, min_confidence=0.8).status.value
        'PASS'
        """
        gates = {
            "passed": (passed, self.passed),
            "decided": (decided, self.decided),
            "needs_review": (needs_review, self.needs_review),
        }
        unmet = [
            f"{name}={wanted}: found {found}"
            for name, (wanted, found) in gates.items()
            if wanted is not None and wanted is not found
        ]
        least = BANDS.get(min_agreement) if isinstance(min_agreement, str) else min_agreement
        if least is None and min_agreement is not None:
            raise ConfigurationError(f"min_agreement= is a number in 0..1 or {', '.join(BANDS)}; not {min_agreement!r}")
        if least is not None and self.agreement is not None and not self.agreement >= least - ROUNDING:
            unmet.append(f"min_agreement={min_agreement}: found {self.agreement:.3g}")
        if min_confidence is not None and (self.confidence is None or not self.confidence >= min_confidence - ROUNDING):
            unmet.append(f"min_confidence={min_confidence}: found {self.confidence}")
        cost = self.usage.cost_usd + self.usage.recorded_usd
        if max_cost_usd is not None and not (cost <= max_cost_usd + ROUNDING and self.usage.cost_complete):
            unmet.append(
                f"max_cost_usd={max_cost_usd}: found {cost:.4g}{'' if self.usage.cost_complete else ' or more'}"
            )
        if unmet:
            raise GateFailed("\n  - ".join([f"the judgment does not meet its gates ({self._line()}):", *unmet]))
        return self

    def __str__(self) -> str:
        """Return the tree of judgments as text; what models wrote cannot move the cursor."""
        return "\n".join(self._lines(""))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def _line(self) -> str:
        word = (
            self.status.value
            if self.label is None
            else self.label
            if self.status is Status.LABEL
            else f"{self.status} [{self.label}]"
        )
        numbers = [
            f"{name} {value:.2f}" for name in ("score", "confidence") if (value := getattr(self, name)) is not None
        ]
        head = " ".join(
            filter(None, [visible(word), visible(self.critic), f"({', '.join(numbers)})" if numbers else ""])
        )
        said = self.reasoning if self.error is None else f"{self.error}: {self.reasoning}".removesuffix(": ")
        return f"{head}: {visible(said)}" if said else head

    def _lines(self, indent: str) -> Iterator[str]:
        yield f"{indent}{f'tier {visible(self.tier)} ({visible(self.why)}): ' if self.tier else ''}{self._line()}"
        for one in self.judgments:
            yield from one._lines(indent + "  ")
        notes = [
            f"agreement {self.agreement:.2f}, {self.agreement_band}" if self.agreement is not None else "",
            f"not asked: {', '.join(self.skipped)}" if self.skipped else "",
        ]
        if not indent:
            notes += [
                f"needs review: {', '.join(self.review_reasons)}" if self.needs_review else "",
                self.bias_warning or "",
                f"model calls: {self.usage.calls}, {self.usage.cost}" if self.usage.calls else "",
            ]
        yield from (f"{indent}  {visible(note)}" for note in notes if note)


Verdict = Judgment
"""The judgment of a jury, for annotations."""


def abstain(reasoning: str, **details: Any) -> Judgment:
    """Return an ABSTAIN with a reason.

    >>> abstain("the case has no contexts").ballot
    """
    return Judgment(status=Status.ABSTAIN, reasoning=reasoning, **details)


def broken(error: BaseException | str, **details: Any) -> Judgment:
    """Return an ERROR; keys are removed from the message."""
    return Judgment(
        status=Status.ERROR,
        error=(error_text(error) if isinstance(error, BaseException) else error) or "error",
        **details,
    )


def failed_run(error: str) -> Judgment:
    """Return the FAIL of a case whose application ended in an error, about which no judge needs to be asked."""
    return Judgment(status=Status.FAIL, reasoning=f"the run failed: {without_keys(error)}")


def total_usage(judgments: Iterable[Judgment]) -> Usage:
    """Return the usage of several judgments together."""
    return sum((one.usage for one in judgments if one.usage is not NO_USAGE), NO_USAGE)


def labels_of(given: Mapping[str, Status | str] | Iterable[str]) -> dict[str, Status]:
    """Return declared labels with their meaning; labels without a meaning are neither good nor bad.

    >>> labels_of({"POLITE": "pass", "N/A": "abstain"})["N/A"].value, labels_of(["A", "B"])["A"].value
    ('ABSTAIN', 'LABEL')
    """
    found = given if isinstance(given, Mapping) else dict.fromkeys(given, Status.LABEL)
    wrong = [
        label for label in found if not isinstance(label, str) or not label.strip() or label.upper() in list(Status)
    ]
    meanings = {label: str(meaning).upper() for label, meaning in found.items()}
    if isinstance(given, str) or wrong or not set(meanings.values()) <= {*Status} - {Status.ERROR}:
        raise ConfigurationError(
            f"labels= is a list of labels, or a mapping of labels to 'pass', 'fail', 'label' or 'abstain'; no label is "
            f"blank or the name of a status; not {given!r}"
        )
    return {label: Status(meaning) for label, meaning in meanings.items()}


_NOT_ANSWERED = frozenset({"refused", "filtered", "truncated", "unfinished", "parse_fail"})


_FAMILIES = {
    "anthropic": "claude",
    "openai": r"gpt|chatgpt|o\d",
    "google": "gemini|gemma|codegemma|palm",
    "mistral": "mistral|mixtral|ministral|codestral|pixtral|magistral|devstral|voxtral",
    "meta": "llama|codellama",
    "qwen": "qwen|qwq",
    "deepseek": "deepseek",
    "xai": "grok",
    "cohere": "command|aya",
    "microsoft": "phi",
    "amazon": "nova|titan",
    "moonshot": "kimi|moonshot",
    "zhipu": "glm",
}
"""The vendor families, with the words by which the name of a model begins or continues after a sign."""


def _family_of(model: str | None) -> str | None:
    """Return the vendor family of a model, from its name."""
    said = (model or "").lower()
    return next((one for one, names in _FAMILIES.items() if re.search(rf"(?<![a-z])(?:{names})(?![a-z])", said)), None)
