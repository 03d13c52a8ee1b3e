"""LangSmith: evaluation without a server, summaries of an experiment, and feedback on the runs of an application.

- :func:`offline_client` and :func:`examples`: evaluate on this machine, and send nothing.
- :func:`summary`: pass rate, agreement and cost of an experiment.
- :func:`feedback`: a sink for ``on_verdict=`` that sends verdicts to LangSmith.
"""

from __future__ import annotations

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.installation import needs_extra

try:
    import langsmith as _  # noqa: F401
except ImportError as missing:
    raise ConfigurationError(needs_extra("jury_adapters.langchain.langsmith", "LangChain", "langchain")) from missing

from jury_adapters.langchain.offline import examples, offline_client
from jury_adapters.langchain.sinks import feedback
from jury_adapters.langchain.summaries import summary

__all__ = ["examples", "feedback", "offline_client", "summary"]
