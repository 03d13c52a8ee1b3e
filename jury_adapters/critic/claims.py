"""Claims of a reply whose quotations are verified, and the answer that they give.

A model may misquote, and judged text may have said what to claim. So nothing counts that the case does not show:

- A claim whose sentence is not in the text that is judged is unclear, because that text does not make it.
- A supported claim whose evidence is not in the passage that it names, or in any if it names none, is unclear.
- A claim that is made twice counts once. If its verdicts differ, the reply is unreadable.

Quotations are compared with the text as it is and as the prompt shows it, without hidden characters and without
differences of case, white space, quotation marks, hyphens and composed accents. They consist of whole words: 12.50,
can't and non-toxic are one word each. A quotation of fewer than five letters and digits proves nothing, unless it is
the whole text.

The score is supported claims / decided claims, where unclear claims are not decided. The critic abstains if there is no
claim, or if fewer than half are decided. It passes if the score reaches the threshold, 1.0 by default.

No PASS rests on a misquotation: if the claims as the model gave them would not pass, or if its own answer does not pass
where no threshold is set, the reply is unreadable, and the model is asked once more.
"""

from typing import Annotated, Any, Literal
from unicodedata import combining, normalize

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from jury_adapters.core.case import Case
from jury_adapters.core.judgment import Finding, Judgment, Status, abstain
from jury_adapters.core.values import Frozen
from jury_adapters.critic.answers import Unreadable, comparable, passes
from jury_adapters.critic.prompt import HIDDEN, visible
from jury_adapters.critic.rubric import Rubric

_SHORTEST = 5  # letters and digits
_MOST_PLACES = 1000  # bounds the search for a quotation of repeated characters
_JOINTS_OF_DIGITS = ".,:/"
_JOINTS = f"{_JOINTS_OF_DIGITS}'-"
_AROUND = "\"'` .\u2026"  # which models write around a quotation
_PASSED = {"supported": True, "contradicted": False, "unsupported": False}
_Forms = tuple[str, ...]
_TYPOGRAPHY = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u02bc\uff07", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\uff02", '"'),
        **dict.fromkeys("\u2010\u2011\u2013\u2212", "-"),  # models write a hyphen for any of these
    }
)

_Words = Annotated[str, StringConstraints(strict=True, strip_whitespace=True, max_length=20_000)]


class Claim(Frozen):
    """Claim as the model gives it."""

    claim: Annotated[_Words, Field(min_length=1)]
    sentence: _Words
    passage: int = Field(ge=0, strict=True)
    evidence: _Words
    reason: _Words
    verdict: Literal["supported", "contradicted", "unsupported", "unclear"]


_CLAIMS: TypeAdapter[list[Claim]] = TypeAdapter(Annotated[list[Claim], Field(max_length=1000, strict=True)])


def read_claims(given: Any) -> list[Claim] | Unreadable:
    """Return the claims of a reply, each once, or why they cannot be read."""
    try:
        claims = _CLAIMS.validate_python(given)
    except ValidationError as error:
        first = error.errors()[0]
        where = [str(one) for one in first["loc"] if isinstance(one, int) or one in Claim.model_fields]
        return Unreadable(f'"claims": {": ".join([*where, first["msg"]])}')  # a key that was not asked for is untrusted
    found: dict[str, Claim] = {}
    for number, one in enumerate(claims, start=1):
        if found.setdefault(comparable(one.claim), one).verdict != one.verdict:
            return Unreadable(f'"claims": number {number} stands twice, with two verdicts')
    return list(found.values())


def verify(claims: list[Claim], own_answer: Status, case: Case, rubric: Rubric) -> Judgment | Unreadable:
    """Return the judgment that claims give, as far as their quotations are in the case; or why they are not read.

    Its reasoning has the numbers of claims, and its findings are the claims with the evidence that was verified.

    Args:
        claims: the claims.
        own_answer: the meaning of the answer that the model gave beside them.
        case: the case.
        rubric: the rubric that was asked.
    """
    own = _forms((case.answer if rubric.claims_of == "answer" else case.reference) or "")
    passages = [*map(_forms, case.contexts)]
    findings = tuple(_finding(one, own, passages, rubric.claims_of or "answer") for one in claims)
    counted = [one.passed for one in findings if one.passed is not None]
    summary = f"{sum(counted)} of {len(counted)} decided claims are supported"
    summary += f", and {len(findings) - len(counted)} are unclear" * (len(counted) < len(findings))
    if not findings or 2 * len(counted) < len(findings):
        return abstain(summary if findings else "there is no claim", findings=findings)
    share = sum(counted) / len(counted)
    status = passes(share, rubric.pass_mark)
    if status is Status.PASS:
        given = [_PASSED[one.verdict] for one in claims if one.verdict in _PASSED]
        if passes(sum(given) / len(given), rubric.pass_mark) is Status.FAIL:
            number, doubtful = next(
                (number, one)
                for number, (one, claim) in enumerate(zip(findings, claims, strict=True), start=1)
                if one.passed is not _PASSED.get(claim.verdict)
            )
            return Unreadable(f'"claims": number {number}: {doubtful.detail.split(";")[0]}')
        if rubric.threshold is None and own_answer is not Status.PASS:
            return Unreadable('all claims are supported, and "answer" says otherwise')
    label = next((name for name, meaning in rubric.answers.declared.items() if meaning is status), None)
    return Judgment(status=status, score=share, label=label, reasoning=summary, findings=findings)


def _finding(claim: Claim, own: _Forms, passages: list[_Forms], field: str) -> Finding:
    """Return a claim as a finding: it is open where its quotations are not in the case."""
    quoted = _plain(claim.evidence).strip(_AROUND)
    number = claim.passage or next((place for place, text in enumerate(passages, 1) if _contains(text, quoted)), 0)
    has_evidence = 0 < number <= len(passages) and _contains(passages[number - 1], quoted)
    doubts = [] if _contains(own, _plain(claim.sentence).strip(_AROUND)) else [f"the sentence is not in the {field}"]
    if claim.verdict == "supported" and not has_evidence:
        where = f"passage {claim.passage}" if claim.passage else "any passage"
        doubts.append(f"the evidence is not in {where}" if quoted else "there is no evidence")
    said = [claim.verdict] if claim.verdict in ("contradicted", "unclear") else []
    return Finding(
        name=claim.claim,
        passed=None if doubts else _PASSED.get(claim.verdict),
        detail="; ".join([*doubts, *said, *filter(None, [claim.reason])]),
        evidence=f"context {number}: {claim.evidence}" if has_evidence else "",
    )


def _forms(text: str) -> _Forms:
    """Return the plain forms of a text, as it is and as the prompt shows it."""
    shown = visible(text)
    return (_plain(text),) if shown == text else (_plain(text), _plain(shown))


def _plain(text: str) -> str:
    """Return a text without hidden characters, and without differences of case, white space and typography."""
    return comparable(normalize("NFC", HIDDEN.sub("", text)).translate(_TYPOGRAPHY))


def _contains(forms: _Forms, quoted: str) -> bool:
    """Return whether a form of a text contains a quotation as whole words; both are plain."""
    return any(_quotes(text, quoted) for text in forms)


def _quotes(text: str, quoted: str) -> bool:
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
    outer, inner = (at - 2, after) if joins is before else (at + 1, before)
    if joins not in _JOINTS or not 0 <= outer < len(text) or not _is_of_word(inner):
        return False
    if joins in _JOINTS_OF_DIGITS:
        return inner.isdigit() and text[outer].isdigit()
    return _is_of_word(text[outer])


def _is_of_word(char: str) -> bool:
    """Return whether a character is part of a word; of letters, only those of scripts that have spaces and capitals."""
    return char.isdigit() or char == "_" or char.lower() != char.upper() or bool(combining(char))
