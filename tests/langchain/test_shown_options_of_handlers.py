"""`help()` of the handlers shows every option: its name, its default and what it means."""

import inspect
import pydoc

import pytest

from jury_adapters import JudgeQueue
from jury_adapters.langchain import JuryCallbackHandler, judge_runs
from jury_adapters.langchain.run_judging import RunOptions


@pytest.mark.parametrize("made", [JuryCallbackHandler, judge_runs])
def test_help_shows_every_option(made):
    shown = inspect.signature(made).parameters
    assert shown.keys() - {"jury"} == RunOptions.__annotations__.keys() | inspect.get_annotations(RunOptions).keys()
    for name, one in inspect.signature(JudgeQueue).parameters.items():
        if one.kind is one.KEYWORD_ONLY:
            assert (shown[name].default, shown[name].annotation) == (one.default, one.annotation)
    text = pydoc.plain(pydoc.render_doc(made))
    assert all(f"\n |      {name}: " in text for name in shown)
    assert "RunWatcher`" not in text
    assert "sample: 'float' = 1.0" in text
