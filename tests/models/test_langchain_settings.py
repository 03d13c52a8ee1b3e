"""Settings of a critic that a chat model decides itself."""

import pytest
from support.chat import ScriptedChat

from jury_adapters import ConfigurationError, Critic


def test_another_value_than_the_one_that_is_set_is_refused():
    for model in (ScriptedChat(max_tokens=50), ScriptedChat(max_tokens=50).with_retry()):
        with pytest.raises(ConfigurationError, match=r"max_tokens=500 has no effect, because \S+ has max_tokens=50 of"):
            Critic(model, "faithfulness", max_tokens=500)
        with pytest.raises(ConfigurationError, match="request_timeout belongs to a model named by text"):
            Critic(model, "faithfulness", request_timeout=5)
        Critic(model, "faithfulness", max_tokens=50, temperature=0.9)
