import io
import sys

from jury_adapters import Ensemble
from jury_adapters.observability import progress_bar


def test_the_bar_counts_every_case_and_ends(monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    bar = progress_bar(3, "judging answers")
    assert len(list(Ensemble([lambda case: True]).judge_many(["a", "b", "c"], progress=bar))) == 3
    assert "judging answers: 100%" in shown.getvalue()
    assert "3/3" in shown.getvalue()


def test_without_a_total_it_counts_on(monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    bar = progress_bar()
    for done in (1, 2, 5):
        bar(done)
    assert "judging" in shown.getvalue()
