"""Decision models need langchain-core 1.8; where it is older, we say so. What they do is tested in ``core18/``."""

import asyncio
import importlib
from importlib.util import find_spec

import pytest

from jury_adapters import ConfigurationError
from jury_adapters.decision.models import LangChainDecisionModel
from jury_adapters.models.base import Question

if find_spec("langchain_core.decisions") is None:

    def test_an_older_core_is_said_with_what_to_do():
        with pytest.raises(ConfigurationError, match=r"langchain-core>=1\.8"):
            importlib.import_module("jury_adapters.langchain.decisions")
        with pytest.raises(ConfigurationError, match=r"langchain-core>=1\.8"):
            asyncio.run(LangChainDecisionModel(object()).decide("text", [Question("Is it so?")]))
