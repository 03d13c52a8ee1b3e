"""Runs under way: what is inside them, and the failures inside them that a retry may make worthless."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Final, Literal, NamedTuple, TypeAlias

from jury_adapters.core.runs import Run
from jury_adapters.langchain.finished_runs import Found, ToolCall
from jury_adapters.langchain.paused_runs import task_of

Failure: TypeAlias = Callable[[], None]
"""Failed run that is chosen: a function that hands it over to be judged."""


class Attempt(NamedTuple):
    """Step that failed, and may be retried in the run around it.

    Attributes:
        step: the step.
        failures: the chosen runs that failed: the step itself, and those inside it.
    """

    step: OpenRun
    failures: list[Failure]


@dataclass(slots=True, eq=False)
class OpenRun:
    """Run under way.

    Attributes:
        chosen: whether the run is to be judged.
        wanted: whether the run or an enclosing run is to be judged, so that its findings matter.
        call_id: for the run of a tool, the id of the model's call, if there is one.
        tried: the findings of the last nested run that failed; a retry or a fallback makes them worthless.
        attempts: the nested steps that failed and were not retried so far.
        paused: whether a nested run paused for human input.
        halted: the state with which the nested run that ended last paused; None if it did not pause.
        waiting: the tasks of a graph that paused, and the checkpoint at which it did.
        tasks: for a run to be judged, the first tasks of a graph inside it, and the checkpoint from which it goes on.
        members: for a root, the nested runs that are under way.
        outcome: for a root, the outcome to count if no run in it was chosen; None if one was.
        unfinished: whether the run ended while a nested run was under way.
        refusal: the text of a middleware's refusal with which a nested run ended, the last one; or None.
        reviews: what middlewares did with the answers of the nested agents, in the order in which they ended.
    """

    key: int
    run: Run
    inputs: object
    chosen: bool
    parent: OpenRun | None
    wanted: bool
    call_id: str | None = None
    found: Found = field(default_factory=Found)
    tried: Found | None = None
    attempts: list[Attempt] = field(default_factory=list)
    paused: bool = False
    halted: object = None
    waiting: set[str] = field(default_factory=set)
    tasks: dict[str, None] = field(default_factory=dict)
    members: set[int] = field(default_factory=set)
    outcome: Literal["skipped", "broken"] | None = "skipped"
    unfinished: bool = False
    refusal: str | None = None
    reviews: list[str] = field(default_factory=list)
    started: float = field(default_factory=monotonic)

    @property
    def root(self) -> OpenRun:
        node = self
        while node.parent is not None:
            node = node.parent
        return node

    def is_inside(self, other: OpenRun) -> bool:
        """Return whether this run is nested in another one, at any depth."""
        around = self.parent
        while around is not None and around is not other:
            around = around.parent
        return around is not None

    def tell_task(self) -> None:
        """Record the task of this run in the chosen runs around it."""
        task = task_of(self.run.metadata)
        if task is not None and self.parent is not None:
            self.parent.note_task(task)

    def note_task(self, task: str) -> None:
        """Record a task, or a checkpoint, in this run and those around it, if they are chosen."""
        around: OpenRun | None = self
        while around is not None:
            if around.chosen and len(around.tasks) < _MOST_TASKS:
                around.tasks[task] = None
            around = around.parent

    def has_paused(self, outputs: object) -> bool:
        """Return whether this run ends with a pause: its own, or that of a graph whose state it returns."""
        return self.paused or (self.halted is not None and _are_equal(self.halted, outputs))

    def note_reviews(self, reviews: Iterable[str]) -> None:
        """Record what middlewares did with the answers of a nested run; the last 1,000 are kept."""
        self.reviews += reviews
        del self.reviews[:-_MOST_REVIEWS]

    def tool_call(self, output: object = None, error: str | None = None, documents: Sequence[object] = ()) -> Found:
        """Return the findings of the run of a tool: its call, in which nested calls do not count."""
        task = task_of(self.run.metadata) or (None if self.parent is None else self.parent.key)
        of = (self.call_id, task) if self.call_id else None
        return Found(calls=[ToolCall(self.run.name, self.inputs, output, error, documents, self.found.written, of)])

    def everything(self) -> Found:
        """Return all findings, those of the last failed run included."""
        if self.tried is not None:
            self.found.add(self.tried)
        return self.found

    def keep_attempt(self, step: OpenRun, failures: list[Failure]) -> list[Failure]:
        """Keep the failures of a nested step until it is retried or this run ends; return those that are too many."""
        self.attempts.append(Attempt(step, failures))
        return self.attempts.pop(0).failures if len(self.attempts) > _MOST_ATTEMPTS else []

    def forget_attempts_at(self, step: OpenRun) -> None:
        """Forget the failed attempts of which a nested step that begins is a retry."""
        if self.attempts:
            self.attempts = [attempt for attempt in self.attempts if not step.retries(attempt.step)]

    def take_failures(self) -> list[Failure]:
        """Return the failures inside this run that were not retried, and forget them."""
        failures = [failure for attempt in self.attempts for failure in attempt.failures]
        self.attempts.clear()
        return failures

    def retries(self, failed: OpenRun) -> bool:
        """Return whether this run is a further attempt at a step that failed inside the same run.

        It is one if LangChain's ``with_retry`` marks it as such, if it belongs to the same task of a LangGraph graph,
        or else if it is a chosen run of the same name that has the same inputs.
        """
        if any(tag.startswith(_RETRY_TAG) for tag in self.run.tags):
            return True
        task = task_of(self.run.metadata)
        if task is not None and self.parent is not None and task != task_of(self.parent.run.metadata):
            return task == task_of(failed.run.metadata)
        alike = (self.run.kind, self.run.name) == (failed.run.kind, failed.run.name)
        return alike and self.chosen and failed.chosen and _are_equal(self.inputs, failed.inputs)


def _are_equal(one: object, other: object) -> bool:
    """Whether two values of the application are equal; those that cannot be compared, such as arrays, are not."""
    try:
        return bool(one == other)
    except Exception:
        return False


_MOST_TASKS: Final = 100  # a resumed run begins with the tasks that paused
_MOST_ATTEMPTS: Final = 100
_MOST_REVIEWS: Final = 1_000
_RETRY_TAG: Final = "retry:attempt:"
