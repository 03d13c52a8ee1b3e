"""Display of a case for the reviewer who judges it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from jury_adapters.core.case import Case
from jury_adapters.core.case_parts import Step
from jury_adapters.core.formatting import counted, to_text, visible
from jury_adapters.core.judgment import Judgment
from jury_adapters.report.thumbnails import described

_LONGEST = 3000


def has_texts(case: Case) -> bool:
    """Whether the case has any text by which a reviewer could judge it."""
    return any(True for _ in _parts(case))


def show_case(console: Console, case: Case, heading: str, *, whole: bool = False) -> None:
    """Print a case. Its untrusted texts are shown unchanged, and can neither set colours nor move the cursor.

    Args:
        console: the console to print to.
        case: the case to judge.
        heading: the position of the case, such as ``3 of 20``.
        whole: whether long texts are shown in full.
    """
    console.print()
    title = Text(visible(heading), style="bold")
    if console.is_terminal:
        console.rule(title, align="left")
    else:
        console.print(title, ("-" if console.options.ascii_only else "─") * 4, soft_wrap=True)
    for name, text in _parts(case):
        console.print(Text(name, style="bold cyan"))
        shown = text if whole else text[:_LONGEST]
        _print_indented(console, "\n".join(visible(line) for line in shown.split("\n")))
        if len(shown) < len(text):
            console.print(Text(f"  ... {counted(len(text) - len(shown), 'more character')}; m shows them", "yellow"))


def show_verdict(console: Console, judgment: Judgment) -> None:
    """Print the judgment of the jury and of each juror."""
    console.print(Text("the jury", style="bold cyan"))
    _print_indented(console, to_text(judgment))


def _print_indented(console: Console, text: str) -> None:
    """Print lines indented by 2 columns: wrapped on a terminal, otherwise unwrapped and without trailing spaces."""
    if console.is_terminal:
        console.print(Padding(Text(text), (0, 0, 0, 2), expand=False))
    else:
        console.print(Text("\n".join(f"  {line}".rstrip() for line in text.split("\n"))), soft_wrap=True)


def _parts(case: Case) -> Iterator[tuple[str, str]]:
    """Yield the texts of a case, with the answer and the texts that belong to it last."""
    if case.question:
        yield "question", case.question
    for message in case.messages:
        yield f"message, {visible(message.role[:40])}", message.content
    yield from _numbered("context", case.contexts)
    yield from _numbered("image", [described(image) for image in case.attachments])
    if case.reference:
        yield "reference", case.reference
    for number, step in enumerate(case.trajectory, start=1):
        yield f"step {number}", _step(step)
    if case.answer is not None:
        yield "answer", case.answer or "(empty)"
    yield from _numbered("candidate", case.candidates)
    if case.workspace is not None:
        yield "workspace", str(case.workspace)


def _numbered(name: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for number, text in enumerate(texts, start=1):
        yield name if len(texts) == 1 else f"{name} {number}", text


def _step(step: Step) -> str:
    lines = [step.text or ""]
    if step.tool is not None:
        lines.append(f"{step.tool}({json.dumps(step.model_dump(mode='json')['arguments'], ensure_ascii=False)})")
    lines += [f"-> {step.output}" if step.output is not None else "", f"failed: {step.error}" if step.error else ""]
    return "\n".join(line for line in lines if line)
