"""Commands of LangGraph in outputs, as LangSmith and files have them, are read as their update of the state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from jury_adapters import Case
from jury_adapters.core.graph_commands import is_command, state_update
from jury_adapters.core.input_output import read_outputs

SAYS = {"answer": "Section 5.2 says yes."}


def written(update: Any, **fields: Any) -> dict[str, Any]:
    """A command as LangSmith writes it."""
    return {"graph": None, "update": update, "resume": None, "goto": [], **fields}


@pytest.mark.parametrize(
    ("outputs", "update"),
    [
        (written(SAYS, goto="end"), SAYS),
        ({"update": SAYS, "goto": "end"}, SAYS),
        ({"output": written(SAYS)}, SAYS),
        ({"output": [written(SAYS), written(None, goto="end")]}, SAYS),
        ([written(SAYS), {"draft": "x"}], {**SAYS, "draft": "x"}),
        (written([["answer", "Yes."], ["sure", True]]), {"answer": "Yes.", "sure": True}),
        (
            [written({"messages": [{"role": "user", "content": "?"}]}), {"messages": {"role": "ai", "content": "!"}}],
            {"messages": [{"role": "user", "content": "?"}, {"role": "ai", "content": "!"}]},
        ),
        (
            [written({"n": 1}), {"role": "tool", "content": "18 degrees"}],
            {"n": 1, "messages": {"role": "tool", "content": "18 degrees"}},
        ),
        (written({"role": "ai", "content": "!"}), {"role": "ai", "content": "!"}),
        (written(None, goto="end"), None),
        ([written(None, goto="end")], None),
        (written("text"), "text"),
    ],
)
def test_the_update_of_commands(outputs: Any, update: Any) -> None:
    assert state_update(outputs) == update


@pytest.mark.parametrize(
    "value",
    [
        None, "text", 3, [], {}, ["text"], SAYS, {"update": SAYS}, {"goto": "end"}, {"graph": "png", "update": "today"},
        {"update": SAYS, "goto": "end", "answer": "x"}, {"output": "x"}, {"output": SAYS}, [SAYS, {"update": "x"}],
    ],
)  # fmt: skip
def test_other_values_are_unchanged(value: Any) -> None:
    assert state_update(value) is value


def test_another_class_of_this_name_is_not_a_command() -> None:
    @dataclass
    class Command:
        program: str

    assert not is_command(Command("ls"))
    assert read_outputs(Command("ls")) == {"answer": "ls"}


def test_a_row_has_the_answer_of_the_update() -> None:
    row = {"inputs": {"question": "Theft?"}, "outputs": {"output": written(SAYS, goto="end")}}
    assert Case.from_row(row) == Case(question="Theft?", answer="Section 5.2 says yes.")


def test_a_command_with_messages_is_a_turn() -> None:
    said = {"role": "assistant", "content": "Yes."}
    assert read_outputs(written({"messages": [said]}))["answer"] == "Yes."
    assert "answer" not in read_outputs(written(None, goto="end"))
