"""Exit codes for the outcome of ``jury judge``, with the message for each."""

from __future__ import annotations

from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.fail_under import FailUnder
from jury_adapters.cli.streams import Messages
from jury_adapters.core.case_files import CaseFile
from jury_adapters.core.formatting import counted
from jury_adapters.report.summary import Summary


def code_of_errors(summary: Summary, messages: Messages) -> ExitCode:
    """Return the exit code of a run that errors kept from its results, or for which a model was given up."""
    for model, count in summary.given_up.items():
        messages.not_met(f"{model} was given up and not asked for {counted(count.cases, 'case')}")
    if summary.unanswered and (not summary.answered or 2 * summary.unanswered > summary.cases):
        causes = summary.causes.most_common(_MOST_CAUSES)
        causes_shown = "; ".join(f"{counted(times, 'time')} {cause[:_LONGEST_CAUSE]}" for cause, times in causes)
        which = "no case was"
        if summary.answered:
            which = f"{summary.unanswered:,} of {counted(summary.cases, 'case')} were not"
        messages.warn(f"{which} decided, because of errors: {causes_shown}")
        return ExitCode.NOT_MET
    return ExitCode.NOT_MET if summary.given_up else ExitCode.OK


def code_of_gates(summary: Summary, gate: FailUnder, messages: Messages) -> ExitCode:
    """Return the exit code for the gates of the jury file and --fail-under; each that is missed is named."""
    missed, below = _gates_missed(summary, messages), gate.exit_code(summary, messages)
    return missed or below


def code_of_unread_rows(file: CaseFile, messages: Messages, *, strict: bool) -> ExitCode:
    """Return the exit code for ``--strict``; a row that could not be read is reported even with ``--quiet``."""
    if not file.unreadable:
        return ExitCode.OK
    message = f"{file.name}: {counted(file.unreadable, 'row')} could not be read and {_was(file.unreadable)} not judged"
    if messages.quiet:
        messages.warn(f"{message}; the first, {file.first_problem}")
    elif strict:
        messages.info(f"{message}, which --strict minds")
    return ExitCode.NOT_MET if strict else ExitCode.OK


def _gates_missed(summary: Summary, messages: Messages) -> ExitCode:
    """Return the exit code for the gates of the jury file."""
    if summary.gates is None or not summary.gates.missed:
        return ExitCode.OK
    verb = "misses" if summary.gates.missed == 1 else "miss"
    messages.not_met(f"{summary.gates.missed:,} of {counted(summary.cases, 'verdict')} {verb} a gate of the jury file")
    return ExitCode.NOT_MET


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


_MOST_CAUSES = 3
_LONGEST_CAUSE = 200
