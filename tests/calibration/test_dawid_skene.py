"""Dawid-Skene against crowd-kit, and its protection against the wrong side."""

import json
from dataclasses import replace

import numpy as np
import pytest
from support.counted_calls import calls_of
from support.panels import DATA, PANELS, fold

from jury_adapters.calibration.latent import dawid_skene, independent_votes
from jury_adapters.calibration.quality import quality
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.errors import ConfigurationError

CROWD_KIT = json.loads((DATA / "cascades" / "crowdkit_dawid_skene.json").read_text())
LLMBAR = [f"{model}/Vanilla" for model in ("GPT-4", "PaLM2", "ChatGPT", "ChatGPT-0301", "LLaMA2", "Falcon")]


def adversarial() -> Votes:
    """LLMBar's adversarial items, on which four of six judges are below chance."""
    return Votes.from_recorded(
        DATA / "votes" / "llmbar_vanilla.jsonl.gz",
        jurors=LLMBAR,
        abstain_labels=["tie"],
        where=lambda row: "Adversarial" in row["item_id"],
    )


@pytest.mark.slow
@pytest.mark.parametrize("diagonal", [0.0, 2.0])
@pytest.mark.parametrize("name", PANELS)
@pytest.mark.parametrize("part", ["all", "fold1"])
def test_the_labels_are_those_of_crowd_kit(part: str, name: str, diagonal: float) -> None:
    votes = fold(None if part == "all" else 1).panel(PANELS[name])
    theirs = np.array([{"i": 0, "v": 1, "-": -1}[letter] for letter in CROWD_KIT[f"{part}/{name}"]])
    ours = dawid_skene(votes, clamp=False, diagonal=diagonal).codes
    assert (ours == theirs)[theirs >= 0].mean() >= 0.98


def test_the_textbook_gives_the_reference_quality() -> None:
    found = quality(dawid_skene(fold(None), clamp=False, diagonal=0).codes, fold(None).gold)
    assert (round(found.accuracy, 3), round(found.balanced_accuracy, 3)) == (0.902, 0.644)
    assert found.kappa == pytest.approx(0.290, abs=5e-4)


@pytest.mark.slow
def test_it_finds_the_reliabilities_that_made_the_votes() -> None:
    draw = np.random.default_rng(0)
    truth = draw.choice(3, 4000, p=[0.5, 0.3, 0.2])
    confusions = np.array([np.full((3, 3), 0.1) + 0.7 * np.eye(3), [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]]])
    confusions = np.concatenate([confusions] * 3)
    codes = np.stack([[draw.choice(3, p=row) for row in juror[truth]] for juror in confusions], axis=1)
    codes[draw.random(codes.shape) < 0.1] = -1
    votes = Votes.from_rows([["ABC"[c] if c >= 0 else None for c in row] for row in codes.tolist()])
    found = dawid_skene(votes)
    assert found.converged
    np.testing.assert_allclose(found.reliabilities.prior, [0.5, 0.3, 0.2], atol=0.03)
    np.testing.assert_allclose(found.reliabilities.confusions, confusions, atol=0.06)
    assert (found.codes == truth).mean() > 0.93
    assert found.predicted[0] == "ABC"[found.codes[0]]


@pytest.mark.slow
def test_it_warns_of_the_wrong_side_and_a_few_labels_turn_it_round() -> None:
    votes = adversarial()
    alone = dawid_skene(votes, clamp=False, trusted="GPT-4/Vanilla")
    assert quality(alone.codes, votes.gold).accuracy < 0.3
    assert any("trusted GPT-4/Vanilla" in warning for warning in alone.warnings)

    shown = np.random.default_rng(0).choice(len(votes.items), 40, replace=False)
    gold = np.full(len(votes.items), -1)
    gold[shown] = votes.gold[shown]
    anchored = dawid_skene(replace(votes, gold=gold), trusted="GPT-4/Vanilla")
    assert (anchored.codes[shown] == gold[shown]).all()
    hidden = gold < 0
    assert quality(anchored.codes[hidden], votes.gold[hidden]).accuracy > 0.75
    assert not any("trusted" in warning for warning in anchored.warnings)


def test_it_warns_when_many_jurors_are_hardly_two() -> None:
    labelled = dawid_skene(fold(1))
    assert labelled.n_eff is not None
    assert labelled.n_eff < 2
    assert any("independent votes" in warning for warning in labelled.warnings)
    assert independent_votes(fold(None), fold(None).gold) == pytest.approx(1.5751, abs=5e-4)


def test_clamped_items_keep_their_labels_and_teach() -> None:
    votes = Votes.from_rows([["PASS", "FAIL"]] * 10 + [["FAIL", "PASS"]] * 10, gold=["PASS"] * 8 + [None] * 12)
    found = dawid_skene(votes)
    assert set(found.predicted[:10]) == {"PASS"}
    assert found.reliabilities["juror 1"].accuracy > 0.8
    assert any("only 20 items" in warning for warning in found.warnings)


def test_items_without_votes_get_the_base_rates() -> None:
    votes = Votes.from_rows([["PASS", "PASS"]] * 30 + [["FAIL", "FAIL"]] * 10 + [[None, None]])
    found = dawid_skene(votes)
    np.testing.assert_allclose(found.posterior[-1], found.reliabilities.prior, atol=1e-3)


def test_wrong_input_says_what_to_do() -> None:
    with pytest.raises(ConfigurationError, match="no votes"):
        dawid_skene(Votes.from_rows([[None, None]], labels=("FAIL", "PASS")))
    with pytest.raises(ConfigurationError, match="2 labels"):
        dawid_skene(Votes.from_rows([["PASS"]]))
    with pytest.raises(ConfigurationError, match="trusted juror"):
        dawid_skene(Votes.from_rows([["PASS", "FAIL"]]), trusted="somebody")
    for option in ("diagonal", "smoothing", "tolerance", "rounds"):
        with pytest.raises(ConfigurationError, match=option):
            dawid_skene(Votes.from_rows([["PASS", "FAIL"]]), **{option: -1})


def test_ten_times_as_many_items_take_hardly_more_calls_than_few() -> None:
    def calls(items: int) -> int:
        draw = np.random.default_rng(0)
        truth = draw.integers(0, 2, items)
        codes = np.where(draw.random((items, 14)) < 0.75, truth[:, None], 1 - truth[:, None])
        votes = replace(
            fold(None),
            codes=codes,
            items=tuple(map(str, range(items))),
            gold=np.full(items, -1),
            groups=np.arange(items),
        )
        return calls_of(lambda: dawid_skene(votes))

    assert calls(5000) < 3 * calls(500)
