"""Things that a reader of the pages has: an empty folder, keys, and models at local addresses."""

import asyncio
import logging
import os
import sys

import pytest
from doc_pages import ROOT
from support.vendor import VendorServer

from jury_adapters.core import instrumentation
from jury_adapters.models import calls
from jury_adapters.testing import no_waiting
from jury_adapters.vendors import VENDORS


@pytest.fixture(scope="module")
def vendors():
    """One server for all pages: critics of one model share a client, and its address is read once."""
    with VendorServer() as server:
        yield server


@pytest.fixture
def reader(tmp_path, monkeypatch, vendors):
    """An empty folder, keys of all vendors that open nothing, and a loop for LlamaIndex, which makes one else."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    # The pytest of a page loads our plugin alone, not those that happen to be installed here: that takes seconds.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "jury_adapters.pytest_plugin")
    for variable in ("CI", "BUILD_NUMBER", "FORCE_COLOR", "PYTEST_ADDOPTS", "JURY_MODEL", "JURY_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)  # what is printed would depend on them
    for vendor in VENDORS.values():
        for variable in (vendor.key_variable, vendor.url_variable):
            if variable:
                monkeypatch.setenv(variable, "http://127.0.0.1:9" if variable.endswith("ENDPOINT") else "a-test-key")
    # A page may begin to trace in a block that is run, and end it in one that is not.
    for place in (instrumentation, calls):
        monkeypatch.setattr(place, "observer", None)
    before = dict(os.environ)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    monkeypatch.setenv("OPENAI_BASE_URL", vendors.openai)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", vendors.anthropic)
    plan = vendors.plan
    with no_waiting():
        yield
    vendors.plan = plan
    loop.run_until_complete(loop.shutdown_asyncgens())  # closes the clients that belong to it
    asyncio.set_event_loop(None)
    loop.close()
    for name in os.environ.keys() - before.keys():  # what the page has exported
        del os.environ[name]
    if "llama_index_instrumentation" in sys.modules:  # what the page has subscribed
        root = sys.modules["llama_index_instrumentation"].get_dispatcher()
        root.event_handlers[:] = [one for one in root.event_handlers if type(one).__module__.startswith("llama_index")]
    for name, logger in logging.Logger.manager.loggerDict.items():  # what the page has made audible
        if isinstance(logger, logging.Logger) and name.startswith(("jury_adapters", "quality")):
            logger.setLevel(logging.NOTSET)
            logger.handlers.clear()
