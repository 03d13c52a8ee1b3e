"""Reliable handling of Ctrl-C."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self

_AGAIN_AFTER = 1.0  # seconds


class CtrlC:
    """Block that Ctrl-C always leaves with KeyboardInterrupt.

    Python raises KeyboardInterrupt at any line that is running. Inside a finalizer it is swallowed, and inside a
    library's callback it becomes that library's error. Therefore, the first Ctrl-C is recorded: it is raised again
    every second until the block is left, and the block then raises KeyboardInterrupt, whatever else it would have
    raised. Python's report of a swallowed one is not printed.

    If Ctrl-C is ignored or has another handler, and outside the main thread, the block does nothing.
    """

    def __init__(self) -> None:
        self._pressed = False
        self._held = False
        self._ours = False
        self._report: Callable[[sys.UnraisableHookArgs], object] = sys.unraisablehook

    @contextmanager
    def held(self) -> Iterator[None]:
        """Delay Ctrl-C until the end of a part of the block, for steps that belong together."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self._pressed:
            raise KeyboardInterrupt

    def __enter__(self) -> Self:
        in_main = threading.current_thread() is threading.main_thread()
        self._ours = in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._ours:
            signal.signal(signal.SIGINT, self._raise)
            self._report, sys.unraisablehook = sys.unraisablehook, self._report_others
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._ours:
            return
        sys.unraisablehook = self._report
        if self._pressed and hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._pressed and kind is not KeyboardInterrupt:
            raise KeyboardInterrupt from error

    def _report_others(self, swallowed: sys.UnraisableHookArgs) -> None:
        if not isinstance(swallowed.exc_value, KeyboardInterrupt):
            self._report(swallowed)

    def _raise(self, number: int, frame: FrameType | None) -> None:
        if not self._pressed and hasattr(signal, "setitimer"):  # not on Windows, where the user presses it again
            signal.signal(signal.SIGALRM, self._raise)
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_AFTER, _AGAIN_AFTER)
        self._pressed = True
        if not self._held:
            raise KeyboardInterrupt
