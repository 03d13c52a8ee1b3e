"""Notice, before anything is sent, of fields that criteria speak of and that no case has."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from jury_adapters.cli.streams import Messages
from jury_adapters.core.case import Case
from jury_adapters.core.judge import Judge


def report_empty_fields(judge: Judge, cases: Iterable[Case], file: Path, messages: Messages) -> None:
    """Print the fields that a criterion of one sentence speaks of, that no case has, and without which it decides.

    A rubric with a prompt of its own says by ``requires`` what it cannot do without. The cases are read only as far as
    is needed, and not at all for a judge without such fields.

    Args:
        judge: the jury.
        cases: the cases of a file.
        file: the file, for the message.
        messages: prints the message.
    """
    if not _has_rubric(judge):
        return
    from jury_adapters.critic.changed_rubrics import rubrics_in
    from jury_adapters.critic.criteria import fields_spoken_of, user_prompt_for

    spoken_of = {
        field: rubric.criteria
        for rubric in rubrics_in(judge)
        if rubric.user_prompt == user_prompt_for(rubric.criteria)
        for field in fields_spoken_of(rubric.criteria)
        if field not in rubric.requires
    }
    lacking = set(spoken_of)
    read = iter(cases)
    some = False
    while lacking and (case := next(read, None)) is not None:
        some = True
        lacking = {field for field in lacking if not getattr(case, field)}
    for field in sorted(lacking if some else ()):
        messages.info(
            f"{file}: no case has {field}, of which a criterion speaks ({spoken_of[field]!r}); the critic judges "
            f"without and does not abstain. Name it with --map {field}=COLUMN, or use a rubric that requires it",
            "yellow",
        )


def _has_rubric(judge: Judge) -> bool:
    """Whether a judge or one inside it may ask a model; the modules of critics are not imported for checks."""
    return hasattr(judge, "rubric") or any(map(_has_rubric, judge.members))
