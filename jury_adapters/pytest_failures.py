"""Message of a test that fails because a verdict does not meet its conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jury_adapters.core.case import Case
    from jury_adapters.core.judgment import Judgment

_LONGEST = 300


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
    lines.append(_advice(judgment))
    return "\n".join(lines)


def _advice(judgment: Judgment) -> str:
    from jury_adapters.core.verdict import is_doubtful

    status = str(judgment.status)
    if status == "ERROR":
        return "What to do: no opinion was had. Mend what broke (see the error above) and run again."
    if status == "ABSTAIN":
        return "What to do: the jury could not say. Give the case what is missing (see the reasons above)."
    if is_doubtful(judgment):
        return (
            "What to do: the jurors disagree, so read the answer yourself. If it is wrong, fix the application; if it "
            "is right, fix the rubric or the juror that erred."
        )
    return "What to do: read the reasons above. If they are right, fix the application; if not, fix the rubric."
