"""Places in a jury file: paths of problems, permissions, files beside it, and the question that is asked at a place."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from jury_adapters.core.text import visible
from jury_adapters.core.values import ConfigurationError, InputError, without_keys
from jury_adapters.critic.rubric import Rubric

_LONGEST_PROBLEM = 1000  # characters


@dataclass(frozen=True)
class Question:
    """What the critics at a place are asked, unless they say it themselves.

    Attributes:
        rubric: the rubric.
        answers: the labels or the scale that replace those of the rubric.
        answers_alone: the labels or the scale that are not beside a question, and replace those of any rubric inside.
    """

    rubric: Rubric | None = None
    answers: Mapping[str, Any] = field(default_factory=dict)
    answers_alone: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """Place in a jury file where a judge is built.

    Attributes:
        file: the file, for messages, and because paths in it are relative to its folder.
        allow_commands: whether checks may run programs.
        allow_base_url: whether texts may go to an address in the file.
        steps: the keys and numbers that lead to the place.
        question: what is said above it.
    """

    file: Path
    allow_commands: bool = False
    allow_base_url: bool = False
    steps: tuple[str | int, ...] = ()
    question: Question = field(default_factory=Question)

    def at(self, *steps: str | int, question: Question | None = None) -> Self:
        """Return a place inside this one, where critics are asked the same unless another question is given."""
        return replace(self, steps=(*self.steps, *steps), question=question or self.question)

    def refusal(self, problem: str) -> ConfigurationError:
        """Return the error for a problem at this place."""
        return ConfigurationError(line_of(self.file, self.steps, problem))

    @contextmanager
    def named(self) -> Iterator[None]:
        """Add the place to errors that are raised inside."""
        try:
            yield
        except ConfigurationError as error:
            raise self.refusal(str(error)) from None

    def path(self, given: str | Path) -> Path:
        """Return a path of the file.

        Raises:
            ConfigurationError: it leads out of the folder of the file.
        """
        try:
            inside = (self.file.parent / given).resolve().is_relative_to(self.file.parent.resolve())
        except (OSError, ValueError, RuntimeError):  # a null character, a circle of links
            inside = False
        if not inside:
            raise self.refusal(
                f"{str(given)!r} leads out of the folder of the jury file, which reads nothing outside it"
            )
        return self.file.parent / given


def line_of(file: Path, steps: Sequence[str | int], problem: str) -> str:
    """Return one line for a problem: the file, the path in it, and what is wrong, without keys."""
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")
    text = ": ".join(part for part in (str(file), path, problem.replace("\n", " ")) if part)
    return visible(without_keys(text), _LONGEST_PROBLEM)


def problems_in(file: Path, content: Any, error: ValidationError) -> InputError:
    """Return the error that names each problem which pydantic found, with its place in the file."""
    found: dict[tuple[str | int, ...], list[str]] = {}
    for one in error.errors(include_url=False, include_input=False):
        found.setdefault(_steps_in(content, one), []).append(one["msg"].removeprefix("Value error, "))
    above = {steps[:length] for steps in found for length in range(len(steps))}  # has a nearer problem inside
    lines = [
        line_of(file, steps, ", or ".join(dict.fromkeys(said))) for steps, said in found.items() if steps not in above
    ]
    return InputError("\n".join([*lines[:20], *([f"{file}: {len(lines) - 20} more problems"] if lines[20:] else [])]))


def _steps_in(content: Any, error: ErrorDetails) -> tuple[str | int, ...]:
    """Return where in the file a problem is: its path without the names of types, which no file has."""
    steps: list[str | int] = []
    for step in error["loc"]:
        known = content if isinstance(content, Mapping) else range(len(content)) if isinstance(content, list) else ()
        if step in known:
            content = content[step]
            steps.append(step)
    if error["type"] == "missing":
        steps.append(error["loc"][-1])
    return tuple(steps)
