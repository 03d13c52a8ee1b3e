"""Formatting of judgments and numbers: text for a terminal, HTML for a notebook.

Texts may come from a model or from a judged answer, so control characters are made visible and HTML is escaped.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from html import escape

from jury_adapters.core.judgment import Judgment
from jury_adapters.core.usage import Usage
from jury_adapters.core.verdict import TierResult, Verdict
from jury_adapters.core.verdict_facts import is_doubtful

_LONGEST = 160
_LOOK = ": needs review"
# Control and format characters, lone surrogates, and separators that would break a line.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_COLOURS = {"PASS": "#1a7f37", "FAIL": "#cf222e", "ABSTAIN": "#9a6700", "ERROR": "#8250df"}


def counted(number: int, what: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "case"), counted(1200, "case"), counted(2, "vote is", "votes are")
    ('1 case', '1,200 cases', '2 votes are')
    """
    return f"{number:,} {what if number == 1 else plural or what + 's'}"


def percent(share: float | None, digits: int = 1) -> str:
    """Return a share as a percentage, or ``-`` for None.

    >>> percent(0.9238), percent(0.5, 0), percent(None)
    ('92.4 %', '50 %', '-')
    """
    return "-" if share is None else f"{100 * share:.{digits}f} %"


def percent_span(interval: tuple[float, float] | None) -> str:
    """Return an interval of shares as percentages, or an empty text for None.

    >>> percent_span((0.5, 0.9238))
    '50.0 to 92.4 %'
    """
    return "" if interval is None else f"{100 * interval[0]:.1f} to {100 * interval[1]:.1f} %"


def two_decimals(value: float | None) -> str:
    """Return a number with two decimals and without a negative zero, or ``-`` for None.

    >>> two_decimals(-0.001), two_decimals(None)
    ('0.00', '-')
    """
    return "-" if value is None else f"{round(value, 2) + 0.0:.2f}"


def money(dollars: float, *, complete: bool = True) -> str:
    """Return US dollars with cents, or with four decimals below one dollar.

    Args:
        dollars: the amount.
        complete: False if the amount is a lower bound, because a price is unknown. Nothing is then known of an amount
            of 0.

    >>> money(0), money(0.0123), money(1234.5), money(2, complete=False), money(0, complete=False)
    ('$0.00', '$0.0123', '$1,234.50', '$2.00 or more', 'unknown cost')
    """
    if not dollars and not complete:
        return "unknown cost"
    amount = f"${dollars:,.2f}" if dollars >= 1 or not dollars else f"${dollars:.4f}"
    return amount if complete else f"{amount} or more"


def calls_and_cost(usage: Usage) -> str:
    """Return the number and the cost of model calls: those that were made, and those served from a record.

    >>> calls_and_cost(Usage(calls=2, cost_usd=0.01)), calls_and_cost(Usage(calls=2, cost_usd=0.01).as_recorded())
    ('2, $0.0100', '0, $0.00; on record 2, $0.0100')
    """
    made = _calls_and_cost(usage)
    return made if usage.recorded is None else f"{made}; on record {_calls_and_cost(usage.recorded)}"


def _calls_and_cost(usage: Usage) -> str:
    unknown = " (the cost of a call is unknown)" if usage.cost_usd and not usage.cost_complete else ""
    return f"{usage.calls:,}, {money(usage.cost_usd, complete=usage.cost_complete)}{unknown}"


def latency(seconds: float | None) -> str:
    """Return the duration of one judgment, or ``-`` for None.

    >>> latency(0.0002), latency(0.25), latency(3), latency(None)
    ('< 1 ms', '250 ms', '3.0 s', '-')
    """
    if seconds is None:
        return "-"
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms" if seconds >= 0.001 else "< 1 ms"
    return f"{seconds:.1f} s"


def duration(seconds: float) -> str:
    """Return the duration of a run.

    >>> duration(0.24), duration(600)
    ('0.2 s', '10.0 min')
    """
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def clip(text: str, longest: int) -> str:
    """Return a text on one line with visible control characters, cut to this many characters.

    >>> clip("a long text", 6)
    'a lon…'
    """
    line = visible(text[: longest + 1])
    return line if len(line) <= longest else line[: longest - 1] + "…"


def to_word(judgment: Judgment) -> str:
    """Return PASS, FAIL, ABSTAIN or ERROR, or a label without a PASS/FAIL meaning."""
    return str(judgment.opinion or judgment.status)


def to_text(judgment: Judgment) -> str:
    """Return a judgment as text: one line, the claims, and for a verdict one more line per juror and tier."""
    lines = [to_line(judgment), *_claim_lines(judgment)]
    if isinstance(judgment, Verdict):
        lines += _details(judgment, "  ")
    return "\n".join(lines)


def to_line(judgment: Judgment) -> str:
    """Return a judgment as one line: outcome, judge, score, confidence and reasoning."""
    parts = [_word(judgment)]
    if judgment.critic or judgment.fallback_used:
        parts.append(_who(judgment))
    numbers = [
        text
        for text, value in (
            (f"score {judgment.score:.2f}" if judgment.score is not None else "", judgment.score),
            (f"confidence {judgment.confidence:.2f}" if judgment.confidence is not None else "", judgment.confidence),
        )
        if value is not None
    ]
    if numbers:
        parts.append(f"({', '.join(numbers)})")
    head = " ".join(parts)
    return f"{head}: {_clip(judgment.reasoning)}" if judgment.reasoning else head


def to_html(judgment: Judgment) -> str:
    """Return a judgment as HTML for a notebook; every value is escaped."""
    word = _word(judgment)
    colour = _COLOURS.get(judgment.status or "", "#57606a")
    head = f'<b style="color:{colour}">{escape(word)}</b> {escape(_clip(to_line(judgment)[len(word) :]))}'
    claims = _claims_table(judgment)
    if not isinstance(judgment, Verdict) or not judgment.judgments:
        return f"<div>{head}{claims}</div>"
    rows = "".join(
        f'<tr><td>{escape(_who(j))}</td><td style="color:{_COLOURS.get(j.status or "", "#57606a")}">'
        f"{escape(_word(j))}</td><td>{_number(j.score)}</td><td>{_number(j.confidence)}</td>"
        f"<td>{escape(_clip(j.reasoning))}</td></tr>"
        for j in judgment.judgments
    )
    notes = "<br>".join(escape(line) for line in _notes(judgment))
    return (
        f"<div>{head}<table><thead><tr><th>juror</th><th>vote</th><th>score</th><th>confidence</th><th>reasoning</th>"
        f"</tr></thead><tbody>{rows}</tbody></table>{claims}{notes}</div>"
    )


def visible(text: str) -> str:
    """Return a text on one line, with control characters and direction-changing characters made visible."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def visible_lines(text: str) -> str:
    r"""Return a text with its line breaks, and with every other control character made visible.

    >>> print(visible_lines("one\n\x1b[2J"))
    one
    \x1b[2J
    """
    return "\n".join(visible(line) for line in text.split("\n"))


def _claim_lines(judgment: Judgment) -> Iterator[str]:
    """Yield the claims, each with the words of the answer and, below them, those of the passage."""
    for claim in judgment.claims:
        votes = ", ".join(f"{name}: {vote}" for name, vote in claim.votes.items())
        yield f"  {claim.verdict}: {_clip(claim.text)}{f' ({_clip(votes)})' if votes else ''}"
        if claim.sentence:
            yield f"    answer: {_clip(claim.sentence)}"
        if claim.evidence:
            yield f"    passage {claim.passage}: {_clip(claim.evidence)}"


def _claims_table(judgment: Judgment) -> str:
    """Return the claims as an HTML table, the words of the answer beside those of the passage; "" without claims."""
    if not judgment.claims:
        return ""
    rows = "".join(
        f"<tr><td>{escape(_clip(claim.text))}</td><td>{claim.verdict}</td><td>{escape(_clip(claim.sentence))}</td>"
        f"<td>{claim.passage or ''}</td><td>{escape(_clip(claim.evidence))}</td></tr>"
        for claim in judgment.claims
    )
    return (
        "<table><thead><tr><th>claim</th><th>verdict</th><th>answer</th><th>passage</th><th>evidence</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def _escaped(char: str) -> str:
    if char in "\n\r\t":
        return " "
    if unicodedata.category(char) not in _UNSEEN:
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _who(judgment: Judgment) -> str:
    fallback = f"[fallback: {_clip(judgment.fallback_used)}]" if judgment.fallback_used is not None else ""
    return f"{_clip(judgment.critic)} {fallback}".strip()


def _word(judgment: Judgment) -> str:
    if judgment.label is None:
        return str(judgment.status)
    label = _clip(judgment.label)
    return label if judgment.status is None else f"{judgment.status} [{label}]"


def _details(verdict: Verdict, indent: str) -> list[str]:
    lines = []
    for tier in verdict.tiers:
        lines.append(f"{indent}{_tier_line(tier)}")
        lines += _jurors(tier.judgment, indent + "  ")
    if verdict.tiers:
        if verdict.skipped:
            lines.append(_clip(f"{indent}not needed: {', '.join(verdict.skipped)}"))
    else:
        lines += _jurors(verdict, indent)
    return lines + [f"{indent}{note}" for note in _notes(verdict)]


def _jurors(judgment: Judgment, indent: str) -> list[str]:
    if not isinstance(judgment, Verdict):
        return [f"{indent}{to_line(judgment)}"]
    if judgment.tiers:
        return [f"{indent}{to_line(judgment)}", *_details(judgment, indent + "  ")]
    lines = []
    for juror in judgment.judgments:
        lines.append(f"{indent}{to_line(juror)}")
        if isinstance(juror, Verdict):
            lines += _details(juror, indent + "  ")
    return lines


def _tier_line(tier: TierResult) -> str:
    stopped = "stopped here" if tier.stopped else "went on"
    return f"tier {_clip(tier.name)} ({_clip(tier.policy)}) {stopped}: {_clip(tier.why)}"


def _notes(verdict: Verdict) -> list[str]:
    notes = []
    if verdict.agreement is not None:
        band = f", band {verdict.agreement_band}"
        asked = " among the jurors asked" if verdict.partial else ""
        look = _LOOK if verdict.agreement_band == "low" else ""
        notes.append(f"agreement {verdict.agreement:.2f}{band}{asked}{look}")
    if verdict.tally.errors_decided:
        notes.append(f"jurors that broke turned this verdict{_LOOK}")
    if "over_budget" in verdict.review_reasons:
        notes.append(f"decided without every juror, because of the budget{_LOOK}")
    if verdict.needs_review and not verdict.valid and not is_doubtful(verdict):
        notes.append(f"not decided{_LOOK}")
    if verdict.fallbacks_used:
        used = ", ".join(f"{fallback} for {juror}" for juror, fallback in verdict.fallbacks_used.items())
        notes.append(f"fallbacks voted: {used}")
    if verdict.tally.tied and not verdict.by_rule:
        notes.append("the vote was tied")
    if verdict.partial and verdict.skipped and not verdict.tiers:
        notes.append(f"settled without: {', '.join(verdict.skipped)}")
    if verdict.calls_saved:
        notes.append(f"judge calls saved: {verdict.calls_saved}")
    if verdict.failed_tiers:
        notes.append(f"broken tiers: {', '.join(verdict.failed_tiers)}")
    notes += [f"warning: {text}" for text in (verdict.bias_warning, verdict.panel_warning) if text]
    notes += _usage(verdict.usage)
    return [_clip(note) for note in notes]


def _usage(usage: Usage) -> Iterator[str]:
    """Yield the usage of the model calls of a verdict: those that were made, and those served from a record."""
    for used, when in ((usage, ""), (usage.recorded, "on record: ")):
        if used is None or not used.calls:
            continue
        bound = "" if used.cost_complete else " or more (the cost of a call is unknown)"
        calls = "1 model call" if used.calls == 1 else f"{used.calls} model calls"
        yield f"{when}{calls}, {used.input_tokens} + {used.output_tokens} tokens, ${used.cost_usd:.6f}{bound}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _clip(text: str) -> str:
    return clip(text, _LONGEST)
