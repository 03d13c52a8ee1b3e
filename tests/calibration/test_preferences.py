"""Preferences of judges for answers of their own model, and of their vendor."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from jury_adapters import ConfigurationError
from jury_adapters.calibration import Votes, agreement_report, self_preference

DATA = Path(__file__).parents[1] / "data" / "votes"


def judged(generators, votes, gold=None, **more):
    rows = [
        {"item_id": str(n), "gold": None if gold is None else gold[n], "meta": {"generator": generator},
         "votes": {juror: {"label": label, "model": juror} for juror, label in cast.items()}, **more}
        for n, (generator, cast) in enumerate(zip(generators, votes, strict=True))
    ]  # fmt: skip
    return Votes.from_recorded(rows)


@pytest.mark.slow
def test_a_judge_that_prefers_its_own_answers_is_found_and_the_size_is_right():
    chance = np.random.default_rng(5)
    generators = [("gpt-4o", "claude-3")[n % 2] for n in range(3000)]
    gold = ["PASS" if draw < 0.5 else "FAIL" for draw in chance.random(3000)]
    votes = []
    for generator, truth in zip(generators, gold, strict=True):
        cast = {name: truth if chance.random() < 0.8 else "FAIL" for name in ("gpt-4o", "claude-3", "gemini-1.5")}
        if generator == "gpt-4o" and truth == "FAIL" and chance.random() < 0.3:
            cast["gpt-4o"] = "PASS"
        votes.append(cast)
    found = {(f.subject, f.details["gold"]): f for f in self_preference(judged(generators, votes, gold))}
    assert set(found) == set(product(("claude-3", "gpt-4o"), ("PASS", "FAIL")))
    prefers = found["gpt-4o", "FAIL"]
    assert prefers.interval[0] < 0.3 < prefers.interval[1]
    assert "kinder to its own answers than to those of other models" in prefers.sentence
    assert "more than chance explains" in prefers.sentence
    for other in (found["gpt-4o", "PASS"], found["claude-3", "PASS"], found["claude-3", "FAIL"]):
        low, high = other.interval or (other.value, other.value)  # of jurors that all say the same, draws are equal
        assert low < 0.02
        assert high > -0.02


def test_self_preference_by_hand_and_by_family():
    # own: gpt PASS, other FAIL -> 1; not own: gpt FAIL, other FAIL -> 0
    votes = judged(
        ["gpt-4o-2024", "llama-3"] * 20, [{"gpt-4o": "PASS", "b": "FAIL"}, {"gpt-4o": "FAIL", "b": "FAIL"}] * 20
    )
    (by_family,) = self_preference(votes, match="family")
    assert (by_family.value, by_family.details["own"], by_family.details["other"]) == (1.0, 20, 20)
    assert by_family.warnings[0].startswith("without human labels, the answers may differ in quality")
    assert by_family.name == "vendor preference"
    assert "kinder to answers of its vendor (openai) than to those of other vendors" in by_family.sentence
    (nobody,) = self_preference(votes)
    assert nobody.value is None
    assert "no juror judged an answer of its own model" in nobody.reason
    with pytest.raises(ConfigurationError, match="pass_label"):
        self_preference(judged(["x"], [{"x": "good"}]))


@pytest.mark.parametrize("generator", ["gpt-4o", "openai:gpt-4o", "openrouter:openai/gpt-4o", "OpenAI/GPT-4o"])
@pytest.mark.parametrize("juror", ["gpt-4o", "azure:gpt-4o", "openai/gpt-4o"])
def test_a_vendor_before_the_name_makes_no_other_model(generator, juror):
    votes = judged([generator, "llama-3"] * 20, [{juror: "PASS", "b": "FAIL"}, {juror: "FAIL", "b": "FAIL"}] * 20)
    (found,) = self_preference(votes)
    assert (found.subject, found.value, found.details["own"]) == (juror, 1.0, 20)
    (vendors,) = self_preference(votes, match="family")
    assert vendors.value is None  # the only answers of the vendor are those of the juror's own model


def test_own_model_and_own_vendor_are_told_apart():
    """The juror is kind to its own answers, and as strict as others to those of another model of its vendor."""
    kind, strict = {"gpt-4o": "PASS", "b": "FAIL"}, {"gpt-4o": "FAIL", "b": "FAIL"}
    votes = judged(["gpt-4o", "gpt-4.1-mini", "llama-3"] * 20, [kind, strict, strict] * 20)
    (own,), (vendor,) = self_preference(votes), self_preference(votes, match="family")
    assert (own.value, own.details["own"], own.details["other"]) == (1.0, 20, 40)
    assert (vendor.value, vendor.details["own"], vendor.details["other"]) == (0.0, 20, 20)


@pytest.mark.slow
def test_the_recorded_judges_are_compared_within_each_gold_label():
    votes = Votes.from_recorded(DATA / "codefeedback.jsonl.gz", group="meta.program", pass_label="valid")
    found = self_preference(votes)
    assert len(found) == 12  # six of the fourteen judges wrote feedback, two gold labels
    many = [one for one in found if min(one.details["own"], one.details["other"]) >= 30]
    assert 0 < len(many) < len(found)
    assert all(-1 <= one.interval[0] <= one.value <= one.interval[1] <= 1 for one in many)
    assert {one.interval for one in found if one not in many} == {None}
    assert all("gpt-4o-mini" in one.details["reference"] for one in found if "gpt" not in one.subject)
    assert not any("gpt" in name for one in found if "gpt" in one.subject for name in one.details["reference"])
    assert self_preference(votes) == found  # a seed makes it repeatable


WRITERS = ["mistral-large", "gemini-2.5-pro"]


def stern_and_mild(n=600, *, missing=False):
    """Return innocent votes: right answers pass and half of the wrong ones, but the stern juror fails all of these.

    The stern juror is of the vendor of one writer, so it would be in the reference of the mild one on one side only.
    """
    rows = []
    for at in range(n):
        wrong = at % 4 < 2
        mild = "PASS" if not wrong or at % 8 < 4 else "FAIL"
        cast = {"mistral-small": mild, "gemini-2.5-flash": "FAIL" if wrong else "PASS", "gpt-4o": mild, "qwen3": mild}
        if missing and at % 2 == 0:
            del cast["gpt-4o" if at % 3 else "qwen3"]
        rows.append({"item_id": str(at), "gold": "FAIL" if wrong else "PASS", "meta": {"generator": WRITERS[at % 2]},
                     "votes": {juror: {"label": label, "model": juror} for juror, label in cast.items()}})  # fmt: skip
    return Votes.from_recorded(rows)


@pytest.mark.parametrize("missing", [False, True])
def test_a_stern_juror_that_wrote_some_answers_makes_no_other_juror_look_kind(missing):
    found = self_preference(stern_and_mild(missing=missing), match="family")
    assert {one.subject for one in found} == {"mistral-small", "gemini-2.5-flash"}
    for one in found:
        assert one.details["reference"] == ["gpt-4o", "qwen3"]
        assert abs(one.value) < 0.02
        assert "more than chance explains" not in one.sentence
        assert one.sentence.startswith(f"Compared with gpt-4o and qwen3, {one.subject} treats answers of its vendor")


def test_a_juror_without_a_neutral_reference_has_no_number_and_a_reason():
    both = stern_and_mild().panel(["mistral-small", "gemini-2.5-flash"])
    for one in self_preference(both, match="family"):
        assert (one.value, one.interval) == (None, None)
        assert one.reason.startswith(
            "no other juror judged answers on both sides without being of a vendor that wrote "
        )
    (alone, _) = self_preference(both.panel(["mistral-small"]), match="family")
    assert alone.reason == "there is no other juror to compare it with"


def test_answers_of_further_writers_make_a_writer_a_reference():
    """Mistral wrote no answer of gemini's, nor of llama's, so it is a reference for gemini on these two."""
    rows = [
        {"item_id": str(at), "gold": "FAIL", "meta": {"generator": [*WRITERS, "llama-3"][at % 3]},
         "votes": {"mistral-large": {"label": "PASS" if at % 9 == 0 else "FAIL"},
                   "gemini-2.5-pro": {"label": "PASS" if at % 6 == 1 else "FAIL"}}}
        for at in range(360)
    ]  # fmt: skip
    found = {one.subject: one for one in self_preference(Votes.from_recorded(rows, pass_label="PASS"))}
    for juror, other, value in (("gemini-2.5-pro", "mistral-large", 0.5), ("mistral-large", "gemini-2.5-pro", 1 / 3)):
        one = found[juror]
        assert (one.value, one.details["own"], one.details["other"]) == (pytest.approx(value), 120, 120)
        assert one.details["reference"] == [other]
        assert "more than chance explains" in one.sentence


def test_answers_of_unknown_writers_are_on_neither_side():
    rows = [
        {"item_id": str(at), "gold": "FAIL", "meta": {"generator": ["gpt-4o", "llama-3", None][at % 3]},
         "votes": {"gpt-4o": {"label": "PASS" if at % 3 else "FAIL"}, "qwen3": {"label": "FAIL"}}}
        for at in range(120)
    ]  # fmt: skip
    (found,) = self_preference(Votes.from_recorded(rows, pass_label="PASS"))
    assert (found.value, found.details["own"], found.details["other"]) == (-1.0, 40, 40)


@pytest.mark.parametrize(("own", "interval"), [(29, False), (30, True)])
def test_an_interval_and_its_words_never_contradict_each_other(own, interval):
    rows = [
        {"item_id": str(at), "gold": "FAIL", "meta": {"generator": "gpt-4o" if at < own else "llama-3"},
         "votes": {"gpt-4o": {"label": "PASS" if at < own and at % 5 else "FAIL"}, "qwen3": {"label": "FAIL"}}}
        for at in range(200)
    ]  # fmt: skip
    votes = Votes.from_recorded(rows, pass_label="PASS")
    (found,) = self_preference(votes)
    assert (found.interval is not None) == interval
    assert ("too few items to tell that from chance" in found.sentence) == (not interval)
    assert ("more than chance explains" in found.sentence) == interval
    assert found.sentence in str(agreement_report(votes))


@pytest.mark.parametrize("juror", ["{% raw %}", "{0}", "{among}"])
def test_a_name_with_braces_is_a_name(juror):
    votes = judged([juror] * 3, [{juror: "PASS", "b": "FAIL"}] * 3, ["PASS"] * 3)
    (found,) = self_preference(votes)
    assert found.reason == f"{juror} judged only its own answers among the items with the human label 'PASS'"
