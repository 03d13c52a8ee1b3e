"""Failed steps, fed to the collector directly: each waits for a retry until the run around it is over."""

from __future__ import annotations

from typing import Any

import pytest
from support.langchain_events import Ear


def by_name(run: Any, around: Any, inside: bool) -> bool:
    return run.name == "step"


@pytest.mark.parametrize("how", ["end", "fail", "evict", "leave"])
def test_a_step_that_failed_is_delivered_at_the_latest_when_the_run_around_it_is_over(how: str) -> None:
    ear = Ear(by_name, max_open=1)
    root = ear.start()
    between = ear.start(parent=root)
    ear.fail(ear.start(parent=between, name="step"), ValueError("no"))
    assert ear.heard == []
    if how != "leave":  # the run in between is still under way when its root is forgotten
        ear.fail(between, ValueError("no"))
    if how == "evict":
        ear.start()
    elif how == "fail":
        ear.fail(root, ValueError("no"))
    else:
        ear.end(root)
    assert [finished.run.error for finished in ear.heard] == ["ValueError: no"]


def test_a_step_that_failed_waits_only_while_the_run_around_it_is_under_way() -> None:
    ear = Ear(by_name)
    root = ear.start()
    between = ear.start(parent=root)
    late = ear.start(parent=between, name="step")
    ear.end(between)
    ear.fail(late, ValueError("no"))
    assert ear.heard == []
    ear.end(root)
    assert len(ear.heard) == 1


def test_of_many_steps_that_failed_in_a_run_without_end_the_last_ones_wait() -> None:
    ear = Ear(by_name)
    root = ear.start()
    for number in range(150):
        ear.fail(ear.start(parent=root, name="step", inputs=number), ValueError(str(number)))
    assert len(ear.heard) == 50
    ear.end(root)
    assert [finished.inputs for finished in ear.heard] == list(range(150))


def test_inputs_that_cannot_be_compared_are_not_those_of_a_retry() -> None:
    class Array:
        def __eq__(self, other: object) -> bool:
            raise ValueError("ambiguous")

        __hash__ = None  # type: ignore[assignment]

    ear = Ear(by_name)
    root = ear.start()
    ear.fail(ear.start(parent=root, name="step", inputs=Array()), ValueError("no"))
    ear.end(ear.start(parent=root, name="step", inputs=Array()))
    ear.end(root)
    assert len(ear.heard) == 2
