"""Conversations given to Case.from_messages: a list of messages, or a mistake that is told at once."""

import pytest

from jury_adapters import Case, ConfigurationError

TURN = [("user", "When?"), ("assistant", "In 2018.")]


def test_a_state_is_not_read_as_an_empty_conversation():
    with pytest.raises(ConfigurationError, match=r'not dict; give its "messages"'):
        Case.from_messages({"messages": TURN})


@pytest.mark.parametrize("value", ["user: When?", None, 3, {"role": "user", "content": "When?"}])
def test_anything_but_a_list_is_refused(value):
    with pytest.raises(ConfigurationError, match=r'list of messages, not .*\("assistant", "Hi"\)'):
        Case.from_messages(value)


@pytest.mark.parametrize(
    "values",
    [[{"from": "human", "value": "When?"}], [TURN], ["user: When?", "assistant: In 2018."], [("bot", "In 2018.")]],
)
def test_a_list_without_any_message_is_refused(values):
    with pytest.raises(ConfigurationError, match=rf"none of the {len(values)} values is a message"):
        Case.from_messages(values)


@pytest.mark.parametrize("items", [[], [{"type": "reasoning", "id": "r1", "summary": []}], [{"type": "compaction"}]])
def test_items_that_are_skipped_make_a_case_without_an_answer(items):
    assert Case.from_messages(items) == Case()


def test_messages_may_come_one_by_one():
    assert Case.from_messages(message for message in [*TURN, 3]).answer == "In 2018."
