"""Shared by all tests. Its place puts this folder on the path, so that tests can import `support`."""

import asyncio
import gc
import importlib
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count

import pytest
from support.vendor import Act, Ask, VendorServer
from support.wire import CERTIFICATE

from jury_adapters.core import instrumentation
from jury_adapters.models import calls

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # What a script starts in the background is deaf to Ctrl-C, and so are the programs that the tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# One certificate instead of all that are known: each client of an SDK would read those, which takes 30 ms.
os.environ["SSL_CERT_FILE"] = str(CERTIFICATE)

_ended = count(1)

# Collecting makes a million objects that all stay; passes over them would take a third of its time.
gc.disable()

# What is compiled once serves all workers and the programs that tests start, also where nothing is kept by default.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

with suppress(ImportError):  # where typer is missing
    importlib.import_module("support.built_once")

with suppress(ImportError):
    # A time limit on a single example fails wherever the machine has other work for a moment.
    hypothesis = importlib.import_module("hypothesis")
    examples = importlib.import_module("support.examples").examples(100)
    hypothesis.settings.register_profile("unhurried", parent=examples)
    hypothesis.settings.load_profile("unhurried")


@pytest.hookimpl(tryfirst=True)  # before the tests with the marker `slow` are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave four of five parameters of each test with the marker `corpus` to the slow run; mark what has two sizes."""
    places: Counter[tuple[object, ...]] = Counter()
    for item in items:
        if item.get_closest_marker("corpus") is not None:
            function = (item.path, getattr(item, "cls", None), getattr(item, "originalname", item.name))
            if places[function] % 5:
                item.add_marker(pytest.mark.slow)
            places[function] += 1
        is_property = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        if is_property or hasattr(getattr(item, "module", None), "SLOW"):
            item.add_marker(pytest.mark.sized)


def pytest_collection_finish() -> None:
    """Keep the garbage collector from all that is imported by now: each of its passes would take 0.2 s and more."""
    with suppress(ImportError):  # where it is imported later, it looks for a referrer of an object that is frozen
        importlib.import_module("hypothesis")
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_runtest_logfinish() -> None:
    """Do the same for what tests import and keep: without it, a pass takes 0.3 s at the end of the run."""
    if next(_ended) % 300 == 0:
        gc.collect()
        gc.freeze()


@pytest.fixture(autouse=True)
def no_observer_left() -> Iterator[None]:
    """Fail a test that leaves the tracing on: each later verdict of the process would be kept in its spans."""
    yield
    left = [place.__name__ for place in (instrumentation, calls) if place.observer is not None]
    for place in (instrumentation, calls):
        place.observer = None
    assert not left, f"tracing is still on: {left}"


@pytest.fixture
def server() -> Iterator[VendorServer]:
    """A local server that speaks as the vendors do; set its `plan`."""
    with VendorServer() as running:
        yield running


@pytest.fixture
def two_servers() -> Iterator[tuple[VendorServer, VendorServer]]:
    """Two servers: the first one answers YES to everything, the second one NO."""
    with VendorServer(_always("YES")) as first, VendorServer(_always("NO")) as second:
        yield first, second


@pytest.fixture
def own_loop() -> Iterator[None]:
    """LlamaIndex makes an event loop in the main thread, and leaves it behind: give it one, and close that."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


def _always(label: str) -> Callable[[Ask], Act]:
    return lambda ask: Act(text=json.dumps({"reasoning": "so it says", "answer": label}))
