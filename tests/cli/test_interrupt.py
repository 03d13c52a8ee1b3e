from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Callable

import pytest

from jury_adapters.cli.interrupt import CtrlC


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def test_a_block_without_ctrl_c_is_just_a_block():
    with CtrlC():
        pass
    with pytest.raises(ValueError, match="mine"), CtrlC():
        raise ValueError("mine")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_leaves_the_block():
    with pytest.raises(KeyboardInterrupt), CtrlC():
        press()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_that_came_out_as_another_error_is_ctrl_c():
    with pytest.raises(KeyboardInterrupt) as caught, CtrlC():
        pressed_inside_a_library()
    assert isinstance(caught.value.__cause__, ValueError)


def pressed_inside_a_library() -> None:
    try:
        press()
    except KeyboardInterrupt as error:
        raise ValueError("a library's own") from error


def test_steps_that_belong_together_are_finished_before_ctrl_c_comes():
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt), CtrlC() as ctrl_c:
        two_steps(ctrl_c, done)
    assert done == ["one", "two"]


def two_steps(ctrl_c: CtrlC, done: list[str]) -> None:
    with ctrl_c.held():
        done.append("one")
        press()
        done.append("two")
    done.append("never")


def test_ctrl_c_that_was_swallowed_is_raised_again():
    with pytest.raises(KeyboardInterrupt), CtrlC():
        pressed_inside_a_finalizer_and_working_on()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def pressed_inside_a_finalizer_and_working_on() -> None:
    with contextlib.suppress(KeyboardInterrupt):
        press()
    time.sleep(30)


def test_where_ctrl_c_is_ignored_it_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with CtrlC():
            press()
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_another_thread_nothing_happens():
    done = []

    def work() -> None:
        with CtrlC():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


class PressesAsItGoes:
    """Object whose finalizer runs while Ctrl-C is pressed."""

    def __del__(self) -> None:
        press()


def test_a_swallowed_ctrl_c_leaves_the_block_and_is_not_reported():
    reported: list[object] = []
    before, sys.unraisablehook = sys.unraisablehook, reported.append
    try:
        with pytest.raises(KeyboardInterrupt), CtrlC():
            drop(PressesAsItGoes)
        assert not reported
        assert sys.unraisablehook == reported.append
        with CtrlC():
            drop(FailsAsItGoes)
        assert len(reported) == 1
    finally:
        sys.unraisablehook = before


class FailsAsItGoes:
    """Object whose finalizer has an error of its own."""

    def __del__(self) -> None:
        raise ValueError("mine")


def drop(made: Callable[[], object]) -> None:
    made()
