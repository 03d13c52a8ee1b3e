"""Tests that need langchain-core 1.8, collected only where it is installed."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("langchain_core.decisions") else ["test_*.py"]
