"""`help()` of the handlers shows every option: its name, its default and what it means."""

import inspect
import pydoc

import pytest

from jury_adapters import JudgeQueue
from jury_adapters.llama_index import JurySpanHandler, judge_runs

OWN = {"jury", "select", "events", "max_open", "evidence_tools", "field_map"}


@pytest.mark.parametrize("made", [JurySpanHandler, judge_runs])
def test_help_shows_every_option(made):
    shown = inspect.signature(made).parameters
    queue = {
        name: one for name, one in inspect.signature(JudgeQueue).parameters.items() if one.kind is one.KEYWORD_ONLY
    }
    assert shown.keys() == OWN | queue.keys()
    assert all(
        (shown[name].default, shown[name].annotation) == (one.default, one.annotation) for name, one in queue.items()
    )
    text = pydoc.plain(pydoc.render_doc(made))
    assert all(f"\n |      {name}: " in text for name in shown)


def test_a_handler_of_ones_own_shows_its_own_arguments():
    class Mine(JurySpanHandler):
        def __init__(self, share):
            super().__init__(lambda case: True, sample=share)

    assert list(inspect.signature(Mine).parameters) == ["share"]
    assert Mine(0.5).judge is not None
