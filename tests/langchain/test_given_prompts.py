"""Objects of LangChain that hold messages, given to Case.from_messages."""

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.prompt_values import ChatPromptValue

from jury_adapters import Case, ConfigurationError


def test_a_prompt_value_is_not_read_as_an_empty_conversation():
    with pytest.raises(ConfigurationError, match=r'not ChatPromptValue; give its "messages"'):
        Case.from_messages(ChatPromptValue(messages=[HumanMessage("When?")]))


def test_one_message_is_not_a_list():
    with pytest.raises(ConfigurationError, match=r'list of messages, not .*\("assistant", "Hi"\)'):
        Case.from_messages(HumanMessage("When?"))
