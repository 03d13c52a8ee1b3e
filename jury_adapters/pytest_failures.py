"""Message of a test that fails because a verdict does not meet its conditions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jury_adapters.audit import Audit
    from jury_adapters.core.case import Case
    from jury_adapters.core.judgment import Judgment

_LONGEST = 300
AUDIT_OVER_BUDGET = (
    "the budget was used up, so the audit measured a part of its probes only: raise it (--jury-max-usd; --jury-store "
    "keeps what was paid for), or ask less (sizes=)."
)
"""Advice about an audit that a budget kept from its end."""


def explain_failure(case: Case, judgment: Judgment, unmet: list[str]) -> str:
    """Return the failure message, which presupposes no knowledge of this package."""
    from jury_adapters.core.formatting import visible

    lines = ["The jury's verdict does not meet what this test asks:"]
    lines += [f"  - {note}" for note in unmet]
    lines.append("What was judged:")
    shown = {"question": case.question, "answer": case.answer, "reference": case.reference}
    shown |= {f"context {number}": text for number, text in enumerate(case.contexts, start=1)}
    shown |= {f"candidate {number}": text for number, text in enumerate(case.candidates, start=1)}
    for name, text in shown.items():
        if text is not None:
            lines.append(f"  {name}: {visible(text[:_LONGEST])}{' [...]' if len(text) > _LONGEST else ''}")
    lines.append("What the jury said:")
    lines += [f"  {line}" for line in str(judgment).splitlines()]
    lines.append(_advice(judgment, unmet))
    return "\n".join(lines)


def explain_failed_audit(audit: Audit, unmet: Sequence[str]) -> str:
    """Return the failure message of an audit; its last line says so if a budget kept the audit from its end."""
    cut = [f"What to do: {AUDIT_OVER_BUDGET}"] if any(one.unasked for one in audit.subjects) else []
    return "\n".join([*unmet, "", str(audit), *cut])


def _advice(judgment: Judgment, unmet: Sequence[str]) -> str:
    """Return what to do first: an outage or a budget explains the outcome before the answer does."""
    from jury_adapters.core.opinions import votes_in
    from jury_adapters.core.over_budget import is_over_budget
    from jury_adapters.core.verdict_facts import is_outage

    status, reasons = str(judgment.status), judgment.review_reasons
    votes = [vote for _, vote in votes_in(judgment)]
    if is_outage(judgment) or not {"broken_tier", "errors_decided"}.isdisjoint(reasons):
        return _advice_on_outage(judgment, [vote for vote in votes if str(vote.status) == "ERROR"])
    if status in ("ABSTAIN", "PASS") and is_over_budget(judgment):
        return (
            "What to do: the budget did not allow every call, so raise it (--jury-max-usd); --jury-store keeps what "
            "was paid for. Nothing is missing in the case."
        )
    if status == "ABSTAIN":
        return "What to do: the jury could not say. Give the case what is missing (see the reasons above)."
    if "low_agreement" in reasons:
        return (
            "What to do: the jurors disagree, so read the answer yourself. If it is wrong, fix the application; if it "
            "is right, fix the rubric or the juror that erred."
        )
    if not any(note.startswith(("passed", "decided", "the label")) for note in unmet):
        return _advice_on_conditions(status, [vote for vote in votes if str(vote.status) == "ERROR"])
    return "What to do: read the reasons above. If they are right, fix the application; if not, fix the rubric."


def _advice_on_conditions(status: str, broken: Sequence[Judgment]) -> str:
    """Return what to do about a verdict that is the one that was asked for, but misses another condition."""
    asked = f"the verdict is {status}, as asked, but misses another condition"
    if broken:
        return f"What to do: {asked}. {_names(broken)} broke: fix that and run again ({_fixes(broken)})."
    return f"What to do: {asked}: read the answer yourself, or change the jury or the condition."


def _advice_on_outage(judgment: Judgment, broken: Sequence[Judgment]) -> str:
    """Return what to do about judges that broke, with the fix for the kind of their errors if it is known."""
    others = " A panel with `errors: ignore` decides without it." if "errors_decided" in judgment.review_reasons else ""
    return (
        f"What to do: {_names(broken)} broke, so this says nothing about the answer. Fix that and run again "
        f"({_fixes(broken)}).{others}"
    )


def _names(broken: Sequence[Judgment]) -> str:
    return ", ".join(dict.fromkeys(vote.critic for vote in broken if vote.critic)) or "the judge"


def _fixes(broken: Sequence[Judgment]) -> str:
    """Return the fixes for the kinds of the errors, as far as they are known."""
    from jury_adapters.core.secrets import error_code
    from jury_adapters.models.error_fixes import ERROR_FIXES

    fixes = dict.fromkeys(ERROR_FIXES.get(error_code(vote.error), "") for vote in broken)
    return "; ".join(filter(None, fixes)) or "see the error above"
