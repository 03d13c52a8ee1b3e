"""No sentence of an analysis contradicts its number: every function that writes one, with numbers at the edges."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from support.examples import SLOW

import jury_adapters
from jury_adapters.calibration import (
    Votes,
    agreement_report,
    position_consistency,
    prediction_powered_rate,
    rogan_gladen,
    true_pass_rate,
)
from jury_adapters.calibration.estimates import FEW_ITEMS, Estimate
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.statistics import compare, compare_unpaired
from tests.calibration import number_estimates
from tests.calibration.number_estimates import of_numbers

pytestmark = pytest.mark.corpus

ROOT = Path(jury_adapters.__file__).parent
BATCHES = 240 if SLOW else 90
Rule = Callable[[Estimate], bool]

SENTENCES = {
    "calibration.agreement.alpha": "krippendorff alpha",
    "calibration.agreement.raw_agreement": "raw agreement",
    "calibration.agreement.cohen_kappa": "mean pairwise cohen kappa",
    "calibration.agreement.label_shares": "label share",
    "calibration.agreement._chance_corrected": "gwet AC|fleiss kappa",
    "calibration.bias._consistency": "position consistency",
    "calibration.preferences._preference": "self-preference|vendor preference",
    "calibration.bias._with_length": "verbosity bias",
    "calibration.estimates.undefined": ".*",
    "calibration.independence.effective_votes": "effective number of votes",
    "calibration.independence.residual_agreement": "residual agreement",
    "calibration.juror_stats.dissent": "dissent rate",
    "calibration.juror_drift.drift": "drift",
    "calibration.juror_stats._recall": "true-positive rate|true-negative rate|recall of",
    "calibration.pass_rate.true_pass_rate": "true pass rate",
    "calibration.pass_rate.prediction_powered_rate": "true pass rate",
    "calibration.pass_rate.rogan_gladen": "true pass rate",
    "statistics.comparing._corrected": r"difference of pass rates, b minus a \(PPI",
    "statistics.differences.paired_difference": r"difference of pass rates, b minus a \(paired",
    "statistics.differences.unpaired_difference": r"difference of pass rates, b minus a \(independent",
    **number_estimates.SENTENCES,
}
"""The functions that make an estimate, each with the names of its estimates."""


def size(estimate: Estimate) -> float:
    """Return the value as it is printed, with three decimals."""
    assert estimate.value is not None
    return round(estimate.value, 3)


def sure(estimate: Estimate) -> bool:
    """Whether the interval leaves out 0."""
    return estimate.interval is not None and (estimate.interval[0] > 0 or estimate.interval[1] < 0)


def low(estimate: Estimate) -> float:
    """Return the lower end of the interval, or the value where there is none."""
    assert estimate.value is not None
    return estimate.value if estimate.interval is None else estimate.interval[0]


DIRECTIONS: dict[str, dict[str, Rule]] = {
    "krippendorff alpha": {
        "no more than chance": lambda f: size(f) <= 0,
        "may be chance": lambda f: size(f) > 0 >= low(f),
        "only somewhat beyond chance": lambda f: 0 < size(f) < 0.667 and low(f) > 0,
        "may be as little as": lambda f: size(f) >= 0.666 and 0 < low(f) < 0.667,
        "tentative": lambda f: 0.666 <= size(f) <= 0.8 and low(f) > 0.666,
        "well beyond chance": lambda f: size(f) >= 0.8 and low(f) > 0.666,
    },
    "effective number of votes": {
        "worth as many independent ones": lambda f: abs(f.value - len(f.details["jurors"])) < 0.06,
        "wrong on the same items": lambda f: f.value < len(f.details["jurors"]) and f.details["phi"] > 0,
        "wrong on different items": lambda f: f.value > len(f.details["jurors"]) and f.details["phi"] < 0,
    },
    "self-preference|vendor preference": {
        " kinder to ": lambda f: size(f) > 0,
        " stricter to ": lambda f: size(f) < 0,
        " treats .* like ": lambda f: size(f) == 0,
    },
    "verbosity bias": {
        "prefer longer": lambda f: size(f) > 0,
        "prefer shorter": lambda f: size(f) < 0,
        "neither longer nor shorter": lambda f: size(f) == 0,
    },
    "drift|self-preference|vendor preference|verbosity": {
        "more than chance explains": sure,
        "within chance|which may be chance(?!:)": lambda f: not sure(f),
        "too few items to tell": lambda f: min(f.n, f.details.get("own", f.n), f.details.get("other", f.n)) < FEW_ITEMS,
        "there is no interval": lambda f: f.interval is None,
    },
    "drift": {
        r"moved by \+0\.000": lambda f: size(f) == 0,
        r"moved by \+(?!0\.000)": lambda f: size(f) > 0,
        "moved by -": lambda f: size(f) < 0,
    },
    "difference of pass rates": {
        ": b is better": lambda f: low(f) > 0,
        ": a is better": lambda f: f.interval[1] < 0,
        "do(es)? not tell which is better": lambda f: not sure(f) or f.details["p_value"] >= 0.05,
    },
    "difference of pass rates, b minus a": {
        r"b passes [\d.]+ percentage points more cases than a": lambda f: f.value > 0,
        r"b passes [\d.]+ percentage points fewer cases than a": lambda f: f.value < 0,
        "b passes as many cases as a": lambda f: f.value == 0,
    },
    "position consistency": {
        "the one shown first": lambda f: f.details["first_share"] >= 0.5,
        "the one shown second": lambda f: f.details["first_share"] < 0.5,
        r"of the pairs\.$": lambda f: f.details["flips"] == 0,
    },
    **number_estimates.DIRECTIONS,
}
"""By estimates: patterns of which a sentence has exactly one, and what is true of the number then."""

PRINTED = {
    "raw agreement": lambda f: f"{100 * f.value:.1f} %",
    "dissent rate": lambda f: f"{100 * f.value:.1f} %",
    "label share": lambda f: f"{100 * f.value:.1f} %",
    "true-positive|true-negative|recall": lambda f: f"{100 * f.value:.1f} %",
    "true pass rate": lambda f: f"{100 * f.value:.1f} %",
    "position consistency": lambda f: f"{100 * f.value:.1f} %",
    "krippendorff|gwet|fleiss|mean pairwise|verbosity|residual": lambda f: f"{size(f) + 0.0:.3f}",
    "drift": lambda f: f"{size(f) + 0.0:+.3f}",
    "difference": lambda f: f"{abs(100 * f.value):.1f}|as many cases as",
    "effective": lambda f: f"{f.value:.1f}|as many independent",
    "self-preference|vendor preference": lambda f: f"{abs(size(f)):.3f}|treats",
    **number_estimates.PRINTED,
}
"""By estimates: the pattern of the number in the sentence."""


@cache
def estimates() -> dict[str, list[Estimate]]:
    """Return estimates by name, of batches at the edges and of random ones."""
    made: dict[str, list[Estimate]] = defaultdict(list)
    for seed in range(BATCHES):
        for estimate in of_batch(np.random.default_rng(seed), seed):
            made[estimate.name].append(estimate)
    for votes in (TENTATIVE, INDEPENDENT, OF_ANY_LENGTH):
        for estimate in agreement_report(votes).estimates:
            made[estimate.name].append(estimate)
    return made


TENTATIVE = Votes.from_rows([["PASS", "PASS"]] * 260 + [["FAIL", "FAIL"]] * 260 + [["PASS", "FAIL"]] * 80)
"""Votes whose alpha, with its interval, is above 2/3 and below 0.8."""
INDEPENDENT = Votes.from_rows([[n % 4 > 0, n // 4 % 4 > 0] for n in range(160)], gold=[True] * 160)
"""Votes whose errors have the correlation 0."""
OF_ANY_LENGTH = Votes.from_recorded(
    [
        {"item_id": str(n), "answer": "x" * (1 + n // 2 % 5), "votes": {"a": {"label": ("PASS", "FAIL")[n % 2]}}}
        for n in range(40)
    ]
)
"""Votes that do not depend on the length of the answer."""


def of_batch(random: np.random.Generator, seed: int):
    """Yield the estimates of a batch: few items or many, jurors that copy, oppose or ignore each other and people."""
    items, jurors = int(random.choice([0, 1, 2, 5, 40, 90, 600])), int(random.choice([1, 2, 3, 4]))
    truth = random.random(items) < random.choice([0.0, 0.1, 0.5, 0.9, 1.0])
    columns = [drawn(random, truth) for _ in range(jurors)]
    if jurors > 1 and random.random() < 0.4:
        columns[1] = list(columns[0]) if random.random() < 0.5 else opposed(columns[0])
    known, models = random.choice([0.0, 0.3, 1.0]), ["gpt-4o", "gpt-4o-mini", "claude-haiku-4-5", "mistral-large"]
    rows = [
        {
            "item_id": str(number),
            "votes": {model: {"label": said, "model": model} for model, said in zip(models, row, strict=False) if said},
            "gold": ("PASS" if truth[number] else "FAIL") if random.random() < known else None,
            "answer": "word " * int(random.integers(1, 4 if seed % 2 else 400)),
            "meta": {"generator": str(random.choice(models)), "document": str(number // 3)},
        }
        for number, row in enumerate(zip(*columns, strict=True))
    ]
    votes = Votes.from_recorded(
        rows, labels=["FAIL", "PASS"], pass_label="PASS", group="" if seed % 3 else "meta.document"
    )
    yield from agreement_report(votes, draws=60).estimates
    for random_sample in (True, False):
        yield true_pass_rate(votes, random_sample=random_sample)
    yield from orders(random)
    yield from of_numbers(random, seed)
    yield from differences(np.random.default_rng([seed, 1]), seed)
    passed = random.integers(0, 2, (2, 60))
    yield prediction_powered_rate(passed[0, : seed % 40], passed[1, : seed % 40], passed[1, 40:])
    yield rogan_gladen(
        int(random.integers(0, 101)), 100, true_positives=int(random.integers(0, 11)), positives=10,
        true_negatives=int(random.integers(0, 11)), negatives=10,
    )  # fmt: skip


def drawn(random: np.random.Generator, truth: np.ndarray) -> list[str | None]:
    """Draw a juror's votes, which are right with a chance of its own; some are missing."""
    right = random.random(len(truth)) < random.choice([0.0, 0.3, 0.5, 0.8, 0.94, 1.0])
    missing = random.random(len(truth)) < random.choice([0.0, 0.0, 0.3, 1.0])
    said = np.where(right, truth, ~truth)
    return [None if gone else "PASS" if one else "FAIL" for one, gone in zip(said, missing, strict=True)]


def opposed(column: list[str | None]) -> list[str | None]:
    return [None if one is None else {"PASS": "FAIL", "FAIL": "PASS"}[one] for one in column]


def differences(random: np.random.Generator, seed: int):
    """Yield differences of two systems, with and without labels and groups."""
    n, better = int(random.choice([1, 3, 30, 200])), random.choice([0.0, 0.1, 0.4])
    a = random.random(n) < random.choice([0.0, 0.5, 1.0])
    b = np.where(random.random(n) < better, seed % 2 == 0, a)
    said = [[None if random.random() < 0.05 else int(one) for one in system] for system in (a, b)]
    people = [[int(one) if at < 0.6 * n else None for at, one in enumerate(system)] for system in (a, b)]
    groups = [at // 4 for at in range(n)] if seed % 3 == 0 else ()
    yield compare(*said, groups=groups)
    yield compare(*said, labels_a=people[0], labels_b=people[1], groups=groups)
    yield compare_unpaired(*said)


def orders(random: np.random.Generator):
    """Yield the consistency of a pairwise juror."""
    n, steady = int(random.choice([1, 4, 40])), random.random()
    first = random.choice(["A", "B", "tie"], n, p=random.dirichlet([1, 1, 1])).tolist()
    second = [one if random.random() < steady else str(random.choice(["A", "B", "tie"])) for one in first]
    votes = [{"label": a, "label_order_ab": a, "label_order_ba": b} for a, b in zip(first, second, strict=True)]
    rows = [{"item_id": str(number), "votes": {"critic": vote}} for number, vote in enumerate(votes)]
    yield from position_consistency(Votes.from_recorded([*rows, ALL_LABELS]))


ALL_LABELS = {"item_id": "", "votes": {other: {"label": other} for other in ("A", "B", "tie")}}
"""An item that the critic did not answer; it makes the three labels known."""


def of(pattern: str) -> list[Estimate]:
    """Return the estimates with a value whose name begins so."""
    return [f for name, made in estimates().items() if re.match(pattern, name) for f in made if f.value is not None]


def makers() -> set[str]:
    """Return the functions of the package that make a :class:`Estimate`, from its source."""
    found = set()
    for path in (*ROOT.glob("calibration/*.py"), *ROOT.glob("statistics/*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef) and any(
                isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Estimate"
                for call in ast.walk(function)
            ):
                found.add(f"{module}.{function.name}")
    return found


def test_every_function_that_makes_a_finding_is_listed():
    assert makers() == set(SENTENCES)


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize("pattern", sorted(set(SENTENCES.values()) - {".*"}))
def test_the_edges_reach_every_kind_of_estimate(pattern):
    assert len(of(pattern)) >= BATCHES / 16


_NO_NUMBER = "There is no number to give"


@pytest.mark.slow
def test_an_undefined_number_says_so_with_its_reason():
    without = [estimate for made in estimates().values() for estimate in made if estimate.value is None]
    assert len(without) >= 100
    for estimate in without:
        assert estimate.reason
        begin = "Human labels do not correct the pass rate" if "random sample" in estimate.reason else _NO_NUMBER
        assert estimate.sentence == f"{begin}: {estimate.reason}."
        assert estimate.interval is None


@pytest.mark.parametrize("pattern", DIRECTIONS)
def test_the_words_follow_the_number(pattern):
    seen: Counter[str] = Counter()
    for estimate in of(pattern):
        said = [words for words in DIRECTIONS[pattern] if re.search(words, estimate.sentence)]
        assert len(said) == 1, str(estimate)
        assert DIRECTIONS[pattern][said[0]](estimate), str(estimate)
        seen[said[0]] += 1
    assert set(seen) == set(DIRECTIONS[pattern]), "the edges do not reach every direction"


@pytest.mark.parametrize("pattern", PRINTED)
def test_the_sentence_has_the_number(pattern):
    for estimate in of(pattern):
        assert re.search(PRINTED[pattern](estimate).replace("+", r"\+"), estimate.sentence), str(estimate)


def test_an_interval_holds_its_number():
    for made in estimates().values():
        for estimate in made:
            if estimate.interval is not None and estimate.value is not None:
                assert estimate.interval[0] - 1e-9 <= estimate.value <= estimate.interval[1] + 1e-9, str(estimate)


def test_a_contradiction_is_found():
    wrong = Estimate("drift", -0.2, 50, (-0.3, -0.1), "a's votes moved by +0.200; that is within chance.")
    said = [words for words in DIRECTIONS["drift"] if re.search(words, wrong.sentence)]
    assert not any(DIRECTIONS["drift"][words](wrong) for words in said)


def test_labels_without_a_meaning_are_refused():
    with pytest.raises(ConfigurationError):
        true_pass_rate(Votes.from_rows([["a", "b"]]))
