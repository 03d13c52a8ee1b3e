"""Check of the conversation from which a case is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from pydantic import BaseModel

from jury_adapters.core.conversation import messages_with_calls
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.message_texts import field_of


def given_messages(value: object) -> list[object]:
    """Return the messages in a list of messages. Values that are not messages are kept if others are.

    Raises:
        ConfigurationError: the value is a text, a mapping or one message, or no value in it is a message.

    >>> given_messages({"messages": [("user", "Hello")]})
    Traceback (most recent call last):
        ...
    jury_adapters.core.errors.ConfigurationError: a conversation is a list of messages, not dict; give its "messages"
    """
    if isinstance(value, str | bytes | Mapping | BaseModel) or not isinstance(value, Iterable):
        hint = 'give its "messages"' if isinstance(field_of(value, "messages"), list | tuple) else _FORMS
        raise ConfigurationError(f"a conversation is a list of messages, not {type(value).__name__}; {hint}")
    messages = list(value)
    if messages and not any(_may_be_message(one) for one in messages):
        raise ConfigurationError(f"none of the {len(messages)} values is a message; {_FORMS}")
    return messages


def _may_be_message(value: object) -> bool:
    """Whether a value is a message, or an item of an API that has other types and is skipped."""
    is_item = isinstance(field_of(value, "type"), str) and field_of(value, "role") is None
    return is_item or bool(messages_with_calls([value]))


_FORMS: Final = 'a message is such as {"role": "user", "content": "Hello"} or ("assistant", "Hi")'
