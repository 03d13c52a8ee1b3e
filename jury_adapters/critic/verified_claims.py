"""Claims of a reply whose quotations are verified, and the judgment that they give (``claims: verified`` in a rubric).

A model may misquote, and judged text may have told it what to claim. So nothing counts that the case does not show:

- A claim whose sentence is not in the answer is unclear, because the answer does not make it.
- A supported claim whose evidence is not in the passage that it names is unclear.
- A claim that is made twice counts once. If its verdicts differ, the reply is unreadable.
- One claim with a wrong type, more than :data:`MOST_CLAIMS` claims, or an overlong text make the reply unreadable.

Quotations are compared without hidden characters and without differences of case, white space, quotation marks, hyphens
and composed accents. They must consist of whole words: 12.50, can't and non-toxic are one word each. A quotation of
fewer than five letters and digits proves nothing, unless it is the whole text.

The score is supported claims / decided claims, where unclear claims are not decided. The judgment abstains if there is
no claim, or if fewer than half of the claims are decided. It passes if the score reaches the threshold, which is 1.0 by
default: every decided claim must be supported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from unicodedata import combining, normalize

from jury_adapters.core.case import Case
from jury_adapters.core.claims import Claim, ClaimVerdict, supported_share
from jury_adapters.core.formatting import counted
from jury_adapters.core.hidden_characters import without_hidden
from jury_adapters.core.judgment import Status
from jury_adapters.core.tolerance import reaches
from jury_adapters.core.values import JsonValue
from jury_adapters.critic.answers import Choice, Labels, Unreadable, comparable
from jury_adapters.critic.rubric import CLAIM_LABELS

MOST_CLAIMS: Final = 100
LONGEST_TEXT: Final = 2_000
"""Characters of one text of a claim."""


def read_claims(value: JsonValue) -> tuple[Claim, ...] | Unreadable:
    """Return the claims as the model gave them, or the reason that they cannot be read."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return Unreadable('the object has no list "claims"')
    if len(value) > MOST_CLAIMS:
        return Unreadable(f'"claims" has more than {MOST_CLAIMS} items')
    found: dict[str, Claim] = {}
    for position, item in enumerate(value, start=1):
        claim = _claim(item)
        if isinstance(claim, Unreadable):
            return Unreadable(f"claim {position}: {claim.problem}")
        if found.setdefault(comparable(claim.text), claim).verdict != claim.verdict:
            return Unreadable(f"claim {position}: an earlier item gives the same claim another verdict")
    return tuple(found.values())


def verify_claims(claims: Sequence[Claim], case: Case) -> tuple[Claim, ...]:
    """Return the claims with only those quotations that the case contains, and ``unclear`` where that is needed."""
    answer = _plain(case.answer or "")
    passages = [_plain(text) for text in case.contexts]
    return tuple(_verified(claim, answer, passages) for claim in claims)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of the claims as a whole.

    Attributes:
        choice: the answer that the claims give, in the rubric's words.
        summary: the numbers of claims, as text.
        notes: a note if the model gave another answer.
    """

    choice: Choice
    summary: str
    notes: tuple[str, ...]


def outcome_of(claims: Sequence[Claim], given: Choice, answers: Labels, threshold: float | None) -> Outcome:
    """Return the result of verified claims.

    Args:
        claims: the claims.
        given: the answer that the model gave for the whole. The claims decide; a different answer is noted.
        answers: the labels of the rubric.
        threshold: the lowest share of supported claims that passes; 1.0 by default.
    """
    share = supported_share(claims)
    verdicts = [claim.verdict for claim in claims]
    supported, unclear = verdicts.count("supported"), verdicts.count("unclear")
    decided = len(claims) - unclear
    summary = f"{supported} of {counted(decided, 'decided claim')} supported"
    if unclear:
        summary += f", {unclear} unclear"
    status = Status.ABSTAIN
    if share is not None and 2 * decided >= len(claims):
        status = Status.PASS if reaches(share, 1.0 if threshold is None else threshold) else Status.FAIL
    label = given.label
    if given.status is not status:
        label = next((one.name for one in answers.labels if one.meaning is status), None)
    differs = given.status is not status
    notes = (f"the model answered {given.text}, but its claims give {label or status}",) if differs else ()
    score = None if status is Status.ABSTAIN else share
    return Outcome(Choice(label or status, status, label, score), summary if claims else _NO_CLAIM, notes)


def _claim(item: JsonValue) -> Claim | Unreadable:
    if not isinstance(item, Mapping):
        return Unreadable("it must be an object")
    fields = {key.strip().casefold(): value for key, value in item.items()}
    if len(fields) < len(item):
        return Unreadable("it has a key twice")
    texts = {}
    for key in ("claim", "sentence", "evidence", "reason"):
        value = fields.get(key)
        if not isinstance(value, str) and (value is not None or key == "claim"):
            return Unreadable(f'"{key}" must be text')
        texts[key] = (value or "").strip()
        if len(texts[key]) > LONGEST_TEXT:
            return Unreadable(f'"{key}" is longer than {LONGEST_TEXT} characters')
    if not texts["claim"]:
        return Unreadable('"claim" is empty')
    read = CLAIM_LABELS.read(fields.get("verdict"))
    if isinstance(read, Unreadable):
        return Unreadable(read.problem.replace("the answer", '"verdict"', 1))
    number = _number(fields.get("passage"))
    if isinstance(number, Unreadable):
        return number
    reason = texts["reason"]
    if read.text == "contradicted":
        reason = f"contradicted: {reason}" if reason else "contradicted"
    return Claim(texts["claim"], _VERDICTS[read.status], texts["sentence"], texts["evidence"], number, reason)


def _number(value: JsonValue) -> int | Unreadable | None:
    """Return the number of a passage; None for 0 and null."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        return Unreadable('"passage" must be the number of a context, or 0')
    return value or None


def _verified(claim: Claim, answer: str, passages: Sequence[str]) -> Claim:
    passage, doubts = claim.passage, []
    quoted = _unquoted(claim.evidence)
    if passage is None and quoted:
        passage = next((number for number, text in enumerate(passages, start=1) if _contains(text, quoted)), None)
    has_evidence = passage is not None and passage <= len(passages) and _contains(passages[passage - 1], quoted)
    has_sentence = _contains(answer, _unquoted(claim.sentence))
    if not has_sentence:
        doubts.append("the sentence is not in the answer")
    if claim.verdict == "supported" and not has_evidence:
        where = "any passage" if claim.passage is None else f"passage {claim.passage}"
        doubts.append(f"the evidence is not in {where}" if quoted else "there is no evidence")
    return replace(
        claim,
        verdict="unclear" if doubts else claim.verdict,
        sentence=claim.sentence if has_sentence else "",
        evidence=claim.evidence if has_evidence else "",
        passage=passage if has_evidence else None,
        reasoning="; ".join([*doubts, claim.reasoning] if claim.reasoning else doubts),
    )


def _contains(text: str, quoted: str) -> bool:
    """Return whether a text contains a quotation as whole words; both are plain."""
    if not quoted or (text != quoted and sum(map(str.isalnum, quoted)) < _SHORTEST):
        return False
    at = -1
    for _ in range(_MOST_PLACES):
        at = text.find(quoted, at + 1)
        if at < 0:
            return False
        if not _is_cut(text, at) and not _is_cut(text, at + len(quoted)):
            return True
    return False


def _is_cut(text: str, at: int) -> bool:
    """Return whether a cut before this place separates parts of one word or one number: ``12|.50``, ``can|'t``."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if _is_of_word(before) and _is_of_word(after):
        return True
    joins = before if _is_of_word(after) else after
    outer = at - 2 if joins is before else at + 1
    inner = after if joins is before else before
    if joins not in _JOINTS or not 0 <= outer < len(text) or not _is_of_word(inner):
        return False
    if joins in _JOINTS_OF_DIGITS:
        return inner.isdigit() and text[outer].isdigit()
    return _is_of_word(text[outer])


def _is_of_word(char: str) -> bool:
    """Return whether a character is part of a word; letters only of scripts that have spaces and capitals."""
    return char.isdigit() or char == "_" or char.lower() != char.upper() or bool(combining(char))


def _plain(text: str) -> str:
    """Return a text without hidden characters, and without differences of case, white space and typography."""
    return comparable(normalize("NFC", without_hidden(text)).translate(_TYPOGRAPHY))


def _unquoted(text: str) -> str:
    return _plain(text).strip("\"'` ")


_SHORTEST = 5  # letters and digits
_TYPOGRAPHY = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u02bc\uff07", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\uff02", '"'),
        **dict.fromkeys("\u2010\u2011\u2013\u2212", "-"),  # models write a hyphen for any of these
    }
)
_JOINTS_OF_DIGITS = ".,:/"
_JOINTS = f"{_JOINTS_OF_DIGITS}'-"
_MOST_PLACES = 1000  # bounds the search for a quotation of repeated characters
_NO_CLAIM = "the answer makes no claim that could be checked"
_VERDICTS: dict[Status | None, ClaimVerdict] = {
    Status.PASS: "supported", Status.FAIL: "unsupported", Status.ABSTAIN: "unclear",
}  # fmt: skip
