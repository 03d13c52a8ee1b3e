"""Fields of a case as the prompt shows them: contexts, candidates, messages, and steps with tool outputs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jury_adapters.core.case import Case
from jury_adapters.core.case_parts import Message, Step
from jury_adapters.critic.rubric import PLACEHOLDERS


@dataclass(frozen=True, slots=True)
class Piece:
    """Untrusted text with the name of its delimiter, its name in prose, and the heading above it, if there is one."""

    tag: str
    called: str
    text: str
    heading: str = ""


def pieces_of(name: str, case: Case, variables: Mapping[str, str]) -> list[Piece]:
    """Return the texts that replace a placeholder, or none if the case lacks them."""
    field = PLACEHOLDERS.get(name)
    match field:
        case "question" | "answer" | "reference":
            text = getattr(case, field)
            return [] if text is None else [Piece(field, f"the {field}", text)]
        case "contexts":
            return [_numbered("context", str(position), text) for position, text in enumerate(case.contexts, start=1)]
        case "candidates":
            letters = {"candidate_a": 0, "candidate_b": 1}
            if name in letters:
                chosen = list(enumerate(case.candidates))[letters[name] :][:1]
                return [Piece(f"candidate-{_letter(i).lower()}", f"candidate {_letter(i)}", text) for i, text in chosen]
            return [_numbered("candidate", _letter(i), text) for i, text in enumerate(case.candidates)]
        case "messages":
            text = "\n".join(_message_lines(case.messages))
        case "trajectory":
            text = "\n".join(_step_lines(case.trajectory))
        case "metadata":
            text = json.dumps(case.metadata, ensure_ascii=False, indent=2) if case.metadata else ""
        case _:
            return [Piece(name, name.replace("_", " "), variables[name])] if name in variables else []
    return [Piece(field, f"the {field}", text)] if text else []


def _numbered(kind: str, number: str, text: str) -> Piece:
    return Piece(f"{kind}-{number.lower()}", f"{kind} {number}", text, f"{kind.capitalize()} {number}:\n")


def _letter(position: int) -> str:
    return chr(ord("A") + position) if position < 26 else str(position + 1)


def _message_lines(messages: tuple[Message, ...]) -> Iterator[str]:
    """Yield the lines of messages, with indented contents that cannot look like the beginning of a message."""
    for position, message in enumerate((one for one in messages if one.is_shown), start=1):
        yield f"[{position}] {' '.join(message.role.split())}:"
        yield _indented(message.content)


def _step_lines(steps: tuple[Step, ...]) -> Iterator[str]:
    for position, step in enumerate(steps, start=1):
        yield f"[{position}] {'calls ' + ' '.join(step.tool.split()) if step.tool is not None else 'says'}:"
        if step.text:
            yield _indented(step.text)
        if step.arguments:
            yield _indented(f"arguments: {json.dumps(step.arguments, ensure_ascii=False)}")
        for what, text in (("output", step.output), ("error", step.error)):
            if text is not None:
                yield f"    {what}:\n{_indented(text, 8)}"


def _indented(text: str, by: int = 4) -> str:
    """Return the text with every line indented, including lines after unusual line separators."""
    return "\n".join(" " * by + line for line in text.splitlines())
