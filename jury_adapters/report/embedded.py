"""The cases as JSON for the page: a small row for each to filter and sort, and the details to be opened one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Self

from jury_adapters.core.case import Case
from jury_adapters.core.claims import Claim
from jury_adapters.core.formatting import to_word, visible
from jury_adapters.core.forms import Form, form_of
from jury_adapters.core.human_labels import GOLD, human_label_of
from jury_adapters.core.judgment import Finding, Judgment
from jury_adapters.core.label_reading import said_by
from jury_adapters.core.opinions import (
    Path,
    comparable_opinions_of,
    first_vote,
    opinions_of,
)
from jury_adapters.core.values import JsonValue
from jury_adapters.core.verdict import Verdict, is_pairwise_opinion
from jury_adapters.core.verdict_facts import outage_as_error
from jury_adapters.report.comparison import Comparison
from jury_adapters.report.entries import Entry
from jury_adapters.report.figures import contest
from jury_adapters.report.flips import Flip
from jury_adapters.report.late_texts import LateTexts
from jury_adapters.report.thumbnails import Thumbnails

_LONGEST = 20_000  # characters of one text; a longer text makes the page slow, and is rarely read
_MOST_FORMS = 1 << 10
_ENCODE = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
_NOTHING: tuple[object, ...] = (None, "", [])
_UNSAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


class Embedding:
    """Rows and details of the cases as JSON, case by case; both fit a script element safely.

    Args:
        late: the marks of the texts that are known only after the last case.
        column: the entry of a case's metadata that holds its human label.
        compared: a comparison with an earlier run; its changed cases say so.
    """

    def __init__(self, late: LateTexts, column: str = GOLD, compared: Comparison | None = None) -> None:
        self._late = late
        self._column = column
        self._flips = {flip.index: flip for flip in compared.flips} if compared is not None else {}
        self._thumbnails = Thumbnails()
        self._known: dict[Form, _Shared] = {}

    def row(self, entry: Entry) -> str:
        """Return the small row of a case, for the list."""
        truth = human_label_of(entry.case, entry.judgment, self._column)
        human = None if truth is None else self._late.relation((truth, said_by(outage_as_error(entry.judgment))))
        own = safe_json(_row(entry, self._flips.get(entry.index), human))
        return f"{own[:-1]},{self._shared(entry.judgment).row[1:]}"

    def details(self, entry: Entry) -> str:
        """Return the details of a case, which the page reads when the case is opened; call it in the order of cases."""
        return safe_json(_details(entry, self._shared(entry.judgment), self._thumbnails))

    def _shared(self, judgment: Judgment) -> _Shared:
        form = form_of(judgment)
        shared = self._known.get(form)
        if shared is None:
            if len(self._known) >= _MOST_FORMS:
                self._known.clear()
            shared = self._known[form] = _Shared.of(judgment, self._late)
        return shared


class _Shared(NamedTuple):
    """Parts of the JSON that all cases with judgments of one form have.

    Attributes:
        row: the part of the row as JSON.
        notes: how the verdict came about, apart from the tiers.
        jurors: the part of the details of each juror.
    """

    row: str
    notes: tuple[str, ...]
    jurors: tuple[Mapping[str, JsonValue], ...]

    @classmethod
    def of(cls, judgment: Judgment, late: LateTexts) -> Self:
        return cls(
            safe_json(_shared_row(judgment, late)),
            tuple(map(shown, _shared_notes(judgment))),
            tuple(_shared_juror(late.name(path, ending), vote) for path, ending, vote in _votes(judgment)),
        )


def safe_json(value: JsonValue) -> str:
    r"""Return JSON on one line that can neither end a script element nor begin a comment.

    >>> print(safe_json("</script><!--"))
    "\u003c/script\u003e\u003c!--"
    """
    text = _ENCODE(value)
    return text.translate(_UNSAFE) if any(sign in text for sign in "<>&") else text


def shown(text: str) -> str:
    """Return text that is safe to show: lines are kept, other control and bidirectional characters are made visible."""
    clipped = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} … ({len(text) - _LONGEST:,} more characters)"
    return clipped if clipped.isprintable() else "\n".join(visible(line) for line in clipped.splitlines())


def _row(entry: Entry, flip: Flip | None, human: str | None) -> JsonValue:
    judgment, case = entry.judgment, entry.case
    row: dict[str, JsonValue] = {"where": shown(entry.where)}
    if entry.unmet:
        row["unmet"] = True
    if human is not None:
        row["human"] = human
    _add_score_and_cost(row, judgment)
    if case is not None:
        texts = {"question": shown(_asked(case)), "answer": shown(case.answer or "")}
        row |= {name: text for name, text in texts.items() if text}
    if flip is not None:
        texts = {"was": shown(flip.before), "why": shown(_behind(flip))}
        row |= {name: text for name, text in texts.items() if text}
    return row


def _shared_row(judgment: Judgment, late: LateTexts) -> JsonValue:
    contested, agreement = contest(judgment)
    first = first_vote(judgment)
    row: dict[str, JsonValue] = {
        "verdict": shown(to_word(judgment)),
        "contest": round(contested, 4),
        "review": judgment.needs_review,
        "votes": [[late.name(path), shown(to_word(vote))] for path, vote in opinions_of(judgment)],
    }
    rest: dict[str, JsonValue] = {
        "split": (first is not None and first.disagreement) or None,
        "against": _dissenting(judgment, late),
        "label": judgment.label and shown(judgment.label),
        "agreement": agreement,
        "tier": judgment.stopped_at if isinstance(judgment, Verdict) else None,
    }
    return row | {name: value for name, value in rest.items() if value not in _NOTHING}


def _dissenting(judgment: Judgment, late: LateTexts) -> list[JsonValue]:
    """Return the jurors whose opinion differs from the verdict, as the table of jurors counts them."""
    verdict = judgment.opinion
    if verdict is None or is_pairwise_opinion(judgment):
        return []
    votes = comparable_opinions_of(judgment)
    return [late.name(path) for path, vote in votes if (opinion := vote.opinion) is not None and opinion != verdict]


def _behind(flip: Flip) -> str:
    reasons = (f"{change.juror}: {change.reasoning}" for change in flip.changes if change.reasoning)
    return "\n".join((flip.why, *reasons))


def _details(entry: Entry, shared: _Shared, thumbnails: Thumbnails) -> JsonValue:
    judgment, case = entry.judgment, entry.case
    votes = (vote for _, _, vote in _votes(judgment))
    details: dict[str, JsonValue] = {
        "reasoning": shown(judgment.error or judgment.reasoning),
        "findings": _findings(judgment.findings),
        "claims": _claims(judgment.claims),
        "unmet": [shown(note) for note in entry.unmet],
        "notes": [*_tier_notes(judgment), *shared.notes],
        "jurors": [_juror(same, vote) for same, vote in zip(shared.jurors, votes, strict=True)],
    }
    if case is not None:
        details |= {
            "contexts": [shown(text) for text in case.contexts],
            "images": thumbnails.of(case.attachments),
            "reference": shown(case.reference or ""),
            "candidates": [shown(text) for text in case.candidates],
            "messages": [
                f"{shown(message.role)}: {shown(message.content)}" for message in case.messages if message.is_shown
            ],
            "steps": [shown(_step(step.tool, step.text, step.output, step.error)) for step in case.trajectory],
            "generator": shown(case.generator or ""),
            "gold": "" if case.metadata.get("gold") is None else shown(str(case.metadata["gold"])),
        }
    return {name: value for name, value in details.items() if value not in ("", [])}


def _votes(judgment: Judgment) -> Iterator[tuple[Path, str, Judgment]]:
    """Yield the path and the opinion of each juror; for a pairwise juror, also its vote in each order.

    The text between them is the ending of the juror's name.
    """
    for path, opinion in opinions_of(judgment):
        yield path, "", opinion
        if isinstance(opinion, Verdict) and is_pairwise_opinion(opinion):
            yield from ((path, f" / {order.critic}", order) for order in opinion.judgments)


def _shared_juror(name: str, vote: Judgment) -> dict[str, JsonValue]:
    values: dict[str, JsonValue] = {"name": name, "verdict": shown(to_word(vote))}
    texts = {"label": vote.label, "model": vote.model, "error": vote.error}
    return values | {key: shown(text) for key, text in texts.items() if text}


def _juror(shared: Mapping[str, JsonValue], vote: Judgment) -> JsonValue:
    values = dict(shared)
    _add_score_and_cost(values, vote)
    if vote.confidence is not None:
        values["confidence"] = vote.confidence
    if vote.elapsed_s is not None:
        values["seconds"] = vote.elapsed_s
    if vote.reasoning:
        values["reasoning"] = shown(vote.reasoning)
    if vote.findings:
        values["findings"] = _findings(vote.findings)
    if vote.claims:
        values["claims"] = _claims(vote.claims)
    return values


def _add_score_and_cost(values: dict[str, JsonValue], judgment: Judgment) -> None:
    usage = judgment.usage.total
    if judgment.score is not None:
        values["score"] = judgment.score
    if usage.cost_usd:
        values["cost"] = usage.cost_usd
    if not usage.cost_complete:
        values["unpriced"] = True


def _findings(findings: Sequence[Finding]) -> list[JsonValue]:
    return [
        {"name": shown(c.name), "passed": c.passed, "detail": shown(c.detail), "evidence": shown(c.evidence)}
        for c in findings
    ]


def _claims(claims: Sequence[Claim]) -> list[JsonValue]:
    return [
        {
            "text": shown(claim.text),
            "verdict": claim.verdict,
            "sentence": shown(claim.sentence),
            "evidence": shown(claim.evidence),
            "passage": claim.passage,
            "reasoning": shown(claim.reasoning),
            "votes": [f"{shown(name)}: {vote}" for name, vote in claim.votes.items()],
        }
        for claim in claims
    ]


def _tier_notes(judgment: Judgment) -> list[str]:
    """Return why each tier of a cascade stopped or continued."""
    if not isinstance(judgment, Verdict) or not judgment.tiers:
        return []
    return [shown(f"{tier.name} ({tier.policy}): {tier.why}") for tier in judgment.tiers]


def _shared_notes(judgment: Judgment) -> Iterator[str]:
    """Yield what else there is to know about how a verdict came about, in addition to its reasoning."""
    if not isinstance(judgment, Verdict):
        return
    yield from filter(None, (judgment.bias_warning, judgment.panel_warning))
    for juror, fallback in judgment.fallbacks_used.items():
        yield f"{fallback} judged as the fallback of {juror}"
    if judgment.skipped:
        yield f"not needed: {', '.join(judgment.skipped)}"
    if judgment.tally.tied and not judgment.by_rule:
        yield "the vote was tied"


def _asked(case: Case) -> str:
    return case.question or (case.messages[-1].content if case.messages else "")


def _step(tool: str | None, text: str | None, output: str | None, error: str | None) -> str:
    parts = (text, f"calls {tool}" if tool else None, output, f"error: {error}" if error else None)
    return "\n".join(part for part in parts if part)
