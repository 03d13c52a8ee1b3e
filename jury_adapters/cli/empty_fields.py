"""Notice, before anything is sent, of fields that critics need and no case has, and of contexts that no critic sees."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from jury_adapters.cli.streams import Messages
from jury_adapters.core.case import Case
from jury_adapters.core.field_names import FIELD_NAMES
from jury_adapters.core.formatting import counted
from jury_adapters.core.judge import Judge

if TYPE_CHECKING:
    from jury_adapters.critic.rubric import Rubric


def report_empty_fields(judge: Judge, cases: Iterable[Case], file: Path, messages: Messages) -> None:
    """Print the fields that no case has: those that rubrics require, and those that a criterion speaks of.

    A critic abstains without a field that its rubric requires, and judges without one of which a criterion of one
    sentence speaks: the cases without such a field are counted. It is also printed that the cases have contexts and no
    critic is shown them. The cases are read only as far as is needed, and not at all for a judge without critics.

    Args:
        judge: the jury.
        cases: the cases of a file.
        file: the file, for the message.
        messages: prints the message.
    """
    if not _has_rubric(judge):
        return
    from jury_adapters.critic.asking import variables_of
    from jury_adapters.critic.changed_rubrics import rubrics_in
    from jury_adapters.critic.prompt import missing_fields

    rubrics = {rubric.fingerprint: rubric for rubric in rubrics_in(judge)}
    required = {key: set(rubric.requires) for key, rubric in rubrics.items()}
    spoken_of = {field: rubric for rubric in rubrics.values() for field in _spoken_of(rubric)}
    lacking = dict.fromkeys(sorted(spoken_of), 0)  # number of cases without each field
    first: Case | None = None
    read = 0
    for case in cases if rubrics else ():
        read += 1
        first = first or case
        for field in lacking:
            lacking[field] += not getattr(case, field)
        for key, fields in ((key, fields) for key, fields in required.items() if fields):
            fields.intersection_update(missing_fields(rubrics[key], case, variables_of(rubrics[key], case)))
        if not lacking and not any(required.values()):
            break
    if first is None:
        return
    if first.contexts:
        _report_unseen_contexts(rubrics.values(), file, messages)
    for key, rubric in rubrics.items():
        for field in (name for name in rubric.requires if name in required[key]):
            fix = f"--map {field}=COLUMN" if field in FIELD_NAMES else f"a column {field}"
            messages.info(
                f"{file}: no case has {field}, which the rubric {rubric.name} requires, so its critics abstain on "
                f"every case without asking; give {fix}",
                "yellow",
            )
    for field, without in lacking.items():
        if without:
            messages.info(f"{file}: {_describe_lacking(field, without, read, spoken_of[field])}", "yellow")


def _describe_lacking(field: str, without: int, cases: int, rubric: Rubric) -> str:
    """Return the sentence that all or some cases lack a field of which a criterion speaks."""
    speaks = f"of which a criterion speaks ({rubric.criteria!r}); the critic judges"
    if without == cases:
        return (
            f"no case has {field}, {speaks} without and does not abstain. Name it with --map {field}=COLUMN, or use a "
            "rubric that requires it"
        )
    have, them = ("has", "it") if without == 1 else ("have", "them")
    return (
        f"{without:,} of {counted(cases, 'case')} {have} no {field}, {speaks} {them} without and does not abstain. A "
        "rubric that requires it abstains"
    )


def _report_unseen_contexts(rubrics: Collection[Rubric], file: Path, messages: Messages) -> None:
    """Print that no critic is shown the contexts, if that follows from the words of a criterion."""
    criteria = [rubric.criteria for rubric in rubrics if _is_one_sentence(rubric)]
    if criteria and not any("contexts" in rubric.user_template.names for rubric in rubrics):
        messages.info(
            f"{file}: the cases have contexts, and no critic is shown them, because no criterion speaks of them "
            f"({criteria[0]!r}). Where they matter, let it say contexts, sources, passages or documents"
        )


def _is_one_sentence(rubric: Rubric) -> bool:
    from jury_adapters.critic.criteria import user_prompt_for

    return rubric.user_prompt == user_prompt_for(rubric.criteria)


def _spoken_of(rubric: Rubric) -> Iterator[str]:
    """Yield the fields that a criterion of one sentence speaks of; a rubric with another prompt has none."""
    from jury_adapters.critic.criteria import fields_spoken_of

    if _is_one_sentence(rubric):
        yield from (field for field in fields_spoken_of(rubric.criteria) if field not in rubric.requires)


def _has_rubric(judge: Judge) -> bool:
    """Whether a judge or one inside it may ask a model; the modules of critics are not imported for checks."""
    return hasattr(judge, "rubric") or any(map(_has_rubric, judge.members))
