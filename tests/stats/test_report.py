"""All figures of a batch, their table, and JSON of them; public names; and speed."""

import ast
import json
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from recorded import codefeedback

import jury_adapters.stats as package
from jury_adapters import ConfigurationError
from jury_adapters.stats import Figure, Votes, table

ANALYSES = [
    *(package.pass_rate, package.true_pass_rate, package.raw_agreement, package.alpha, package.gwet_ac1),
    *(package.alpha_of_scores, package.effective_votes, package.against_labels, package.confidence_quality),
    *(package.graded_agreement, package.position_bias, package.length_bias, package.self_preference),
]

CELLS = st.sampled_from(["yes", "no", True, None, 0.5, 3])
BATCHES = st.integers(1, 3).flatmap(
    lambda n: st.lists(
        st.tuples(
            st.lists(CELLS, min_size=n, max_size=n),
            st.sampled_from(["yes", "no", None, 4]),
            st.sampled_from(["q1", "q2", None]),
            st.lists(st.sampled_from([None, 0.5, 0.9, 1.0]), min_size=n, max_size=n),
        ),
        max_size=8,
    )
)


def votes_of(batch):
    rows, labels, ids, sure = zip(*batch, strict=True) if batch else ((), (), (), ())
    votes = Votes.from_rows(rows, human_labels=labels, ids=ids, confidences=sure)
    writers = np.array(["juror 1" if at % 2 else "other" for at in range(len(batch))], dtype=np.str_)
    return replace(votes, lengths=np.arange(len(batch), dtype=float), generators=writers)


def figures_of(votes):
    """Return all figures for which the batch has the data."""
    found = []
    for analysis in ANALYSES:
        with suppress(ConfigurationError):
            said = analysis(votes)
            found += [said] if isinstance(said, Figure) else said
    return [one for one in found if one.n]


@settings(deadline=None, max_examples=25)
@given(BATCHES)
@example([([3, "yes", "no"], "yes", name, [None] * 3) for name in ("q1", "q2")])  # moves of almost 0
def test_no_batch_breaks_and_no_figure_contradicts_itself(batch):
    figures = figures_of(votes_of(batch))
    assert json.dumps([asdict(one) for one in figures], allow_nan=False)
    for one in figures:
        if one.value is None:
            assert one.interval is None
            assert one.note
        elif one.interval is not None:
            assert one.interval[0] <= one.value <= one.interval[1]
            assert one.interval[0] < one.interval[1]
        for text in (str(one), table(figures)):
            assert "nan" not in text.lower().replace("tenant", "")


@pytest.mark.parametrize("n", [0, 1, 2])
def test_batches_of_no_one_and_two_cases_that_are_all_alike(n):
    votes = Votes.from_rows([["yes", "yes"]] * n, human_labels=["yes"] * n, confidences=[[0.9, 0.9]] * n)
    corrected = {"Krippendorff's alpha", "Gwet's AC1", "Cohen's kappa", "effective votes", "balanced accuracy",
                 "AUROC of confidence", "true negative rate"}  # fmt: skip
    for one in figures_of(votes):
        if one.name in corrected:
            assert one.value is None
        assert one.interval is None or one.interval[0] < one.interval[1]


def test_a_full_batch_has_every_figure():
    votes = codefeedback(every=10)
    codes = np.column_stack([votes.codes[:, :-1], votes.codes[:, 0]])
    names = {one.name for one in figures_of(replace(votes, codes=codes, asked=np.ones_like(votes.asked)))}
    assert names == {
        "pass rate",
        "true pass rate",
        "raw agreement",
        "Krippendorff's alpha",
        "Gwet's AC1",
        "effective votes",
        "accuracy",
        "balanced accuracy",
        "Cohen's kappa",
        "true positive rate",
        "true negative rate",
        "length bias",
        "self-preference",
    }


def test_the_table_shows_what_figures_say():
    figures = [
        Figure("accuracy", 0.75, 40, (0.598, 0.858), of="GPT-4", note="x\x1b[2J"),
        Figure("pass rate", None, 12_345, note="why"),
    ]
    assert table(figures).splitlines() == [
        "of     figure     value  95 % interval        n  note",
        "GPT-4  accuracy   0.750  [0.598, 0.858]      40  x\\u001b[2J",
        "       pass rate      -                  12,345  why",
    ]
    assert table([]).startswith("of")
    assert json.loads(json.dumps(asdict(figures[0])))["interval"] == [0.598, 0.858]


def test_only_one_module_writes_prose_beside_numbers():
    """A figure prints name, value, interval, n and one note; nothing else formats a value or an interval."""
    folder = Path(package.__file__).parent
    for path in folder.glob("*.py"):
        formats = [
            node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.FormattedValue) and node.format_spec is not None
            and any("f" in str(getattr(part, "value", "")) for part in node.format_spec.values)
        ]  # fmt: skip
        assert not formats or path.name == "figures.py", path


def test_names_are_documented_and_listed():
    assert sorted(package.__all__) == [*package.__all__]
    assert all(getattr(package, name).__doc__ for name in package.__all__)


@pytest.mark.parametrize("library", ["numpy", "scipy"])
def test_without_its_libraries_it_says_what_to_install(library):
    code = f"import sys; sys.modules['{library}'] = None; import jury_adapters.stats"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "statistics need NumPy and SciPy: pip install 'jury-adapters[stats]'" in done.stderr


def test_tens_of_thousands_of_cases_take_seconds():
    rng = np.random.default_rng(0)
    template = Votes.from_rows([["yes"] * 5], human_labels=["yes"], verdicts=["yes"])
    n = 20_000
    votes = replace(
        template,
        codes=(rng.random((n, 6)) < 0.8).astype(np.int64),
        asked=np.ones((n, 6), dtype=bool),
        confidences=np.full((n, 6), np.nan),
        scores=np.full((n, 6), np.nan),
        orders=np.full((n, 6, 2), -1),
        gold=(rng.random(n) < 0.8).astype(np.int64),
        grades=np.full(n, np.nan),
        groups=np.arange(n),
        contents=np.zeros(n, dtype=int),
        keys=np.full(n, ""),
        lengths=np.full(n, np.nan),
        generators=np.full(n, ""),
    )
    found = {one.name: one for one in figures_of(votes)}
    assert found["raw agreement"].n == n
    assert np.ptp(found["Krippendorff's alpha"].interval) < 0.02
