"""A garbage collection that has really taken place."""

from __future__ import annotations

import gc
import threading
import time
from typing import Any


def collect_garbage(seconds: float = 30.0) -> None:
    """Collect all garbage. ``gc.collect()`` returns at once, and collects nothing, while another thread collects."""
    collected = False
    here = threading.get_ident()

    def note(phase: str, info: dict[str, Any]) -> None:
        nonlocal collected
        if phase == "stop" and info["generation"] == 2 and threading.get_ident() == here:
            collected = True

    gc.callbacks.append(note)
    try:
        until = time.monotonic() + seconds
        gc.collect()
        while not collected:
            assert time.monotonic() < until, "another thread collects garbage without end"
            time.sleep(0.001)
            gc.collect()
    finally:
        gc.callbacks.remove(note)
