"""A case on the screen, and in a file that the screen was sent to."""

import io

from rich.console import Console

from jury_adapters import Case, Ensemble
from jury_adapters.cli.showing import show_case, show_verdict

CASE = Case(question="Why?\n\nReally?", answer=f"Because {'it is so ' * 40}")


def shown(*, terminal):
    file = io.StringIO()
    console = Console(file=file, width=60, force_terminal=terminal, color_system=None)
    show_case(console, CASE, "case 1 of 2")
    show_verdict(console, Ensemble([lambda case: (True, "fine")]).judge(CASE))
    return file.getvalue().split("\n")


def test_in_a_pipe_no_line_is_wrapped_and_nothing_stands_behind_one():
    lines = shown(terminal=False)
    assert [line for line in lines if line != line.rstrip()] == []
    assert lines[:6] == ["", "case 1 of 2 ────", "question", "  Why?", "", "  Really?"]
    assert f"  {CASE.answer}".rstrip() in lines
    assert any(line.startswith("  PASS") for line in lines)


def test_on_a_terminal_lines_are_wrapped_and_stay_two_columns_in():
    lines = shown(terminal=True)
    assert max(map(len, lines)) <= 60
    assert lines[1].startswith("case 1 of 2 ─")
    wrapped = [line for line in lines if "it is so" in line]
    assert len(wrapped) > 5
    assert all(line.startswith("  ") for line in wrapped)
