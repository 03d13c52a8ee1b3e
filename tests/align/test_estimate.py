"""The estimate of an alignment: it sends nothing, and counts what the alignment then asks."""

import pytest

from jury_adapters import Critic, Ensemble
from jury_adapters.align import Aligner, align, estimate_alignment
from tests.simulations.labelled_jurors import RATED, RUBRIC, LearningModel, jury_of, labelled


class Silent(LearningModel):
    """Model that must not be asked."""

    async def complete(self, prompt, schema=None, options=None):
        raise AssertionError("asked")


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "optimiser"), [("examples", False), ("criterion", True)])
def test_an_alignment_with_a_test_takes_the_calls_of_the_estimate(kind, optimiser):
    def how(model):
        return Aligner(optimiser_model=model if optimiser else None, seed=3)

    silent = Silent(kind, 3)
    estimate = estimate_alignment(Critic(silent, RUBRIC, name="critic"), labelled(100, 3), aligner=how(silent))
    model = LearningModel(kind, 3)
    found = align(Critic(model, RUBRIC, name="critic"), labelled(100, 3), aligner=how(model))
    assert found.chosen
    assert estimate.calls == found.usage.calls
    steps = [row.name for row in estimate.rows]
    assert steps[0] == "as it is"
    assert steps[-2:] == ["the test, before", "the test, after"]
    assert ("the optimiser model" in steps) == optimiser
    assert str(estimate).startswith("step ")


@pytest.mark.slow
def test_a_change_that_asks_nothing_has_no_row():
    jury, _ = jury_of("low threshold", 1)
    names = [row.name for row in estimate_alignment(jury, labelled(100, 1)).rows]
    assert "another pass mark" in names
    assert "another vote threshold" not in names
    assert "labels in another order" not in names


def test_every_juror_is_counted_and_prices_are_those_of_the_models(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    critics = [Critic(model, RATED, api_key="none") for model in ("openai:gpt-4o-mini", "anthropic:claude-haiku-4-5")]
    estimate = estimate_alignment(
        Ensemble(critics), labelled(100, 1), aligner=Aligner("openai:gpt-4o"), pass_labels=["PASS"]
    )
    first = estimate.rows[0]
    assert (first.cases, first.calls) == (60, 120)
    assert estimate.cost_complete
    assert 0 < first.cost_usd < estimate.cost_usd
