"""Message for an early-stopping jury that asked every juror about every case."""

from __future__ import annotations

from jury_adapters.cli.streams import Messages
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.formatting import visible
from jury_adapters.core.jury import Jury
from jury_adapters.report.summary import Summary


def report_no_early_stop(jury: Jury, summary: Summary, messages: Messages) -> None:
    """Say that no verdict was stopped early, if jurors whose labels are not known to mean PASS or FAIL are the reason.

    One label without such a meaning makes a vote on statuses a vote on labels, so it is open until all have voted.

    Args:
        jury: the jury; only its own schedule counts, not that of juries inside it.
        summary: the verdicts.
        messages: prints the message.
    """
    if not isinstance(jury, Ensemble) or jury.schedule != "early_stop" or getattr(jury.strategy, "on", "") != "auto":
        return
    if summary.stopped_early or summary.labels or not summary.decided:
        return
    unknown = [name for name, member in zip(jury.names, jury.members, strict=True) if None in member.opinion_statuses]
    if unknown:
        more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
        named = ", ".join(map(visible, unknown[:_NAMED]))
        messages.info(
            f"schedule: early_stop saved no calls: a label of {named}{more} may mean "
            "neither PASS nor FAIL, which would make this a vote on labels, so all are asked; give these jurors "
            "labels:, or the jury on: status",
            "yellow",
        )


_NAMED = 3
