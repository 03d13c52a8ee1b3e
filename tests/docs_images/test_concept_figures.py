"""The pictures and the tables of the concept pages are what the recorded votes come to."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest
from support.panels import PANELS, fold_of, rows

from jury_adapters import CascadedJury, Case, Ensemble, Judge, Judgment, Status, Tier
from jury_adapters.replay import RecordedCritic

DRAWN = pytest.mark.figures  # drawing takes 15 s; .ci/run does it
DOCS = Path(__file__).parents[2] / "docs"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def drawn() -> Iterator[dict[str, str]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS))
        import make_images

        assert isinstance(make_images, ModuleType)
        yield dict(make_images.pictures())


@DRAWN
def test_the_pictures_are_those_that_the_script_draws(drawn: dict[str, str]) -> None:
    for name, svg in drawn.items():
        assert (DOCS / "images" / name).read_text(encoding="utf-8") == svg, f"run python docs/make_images.py: {name}"


@DRAWN
def test_each_picture_is_told_in_words_and_needs_nothing_from_elsewhere(drawn: dict[str, str]) -> None:
    for name, svg in drawn.items():
        root = ET.fromstring(svg)
        assert root.get("role") == "img", name
        assert all(len(root.findtext(f"{SVG}{tag}", "")) > 10 for tag in ("title", "desc")), name
        assert not re.search(r"href|url\(|@import|<script|font-face", svg), name


@DRAWN
def test_each_picture_is_shown_with_a_text_in_its_place(drawn: dict[str, str]) -> None:
    shown = {name: alt for page in pages() for alt, name in re.findall(r"!\[([^\]]+)\]\(\.\./images/([^)]+)\)", page)}
    assert set(shown) >= set(drawn)
    assert all(len(alt) > 30 for alt in shown.values())


@DRAWN
def test_the_table_of_calls_saved_is_that_of_the_picture(drawn: dict[str, str]) -> None:
    page = (DOCS / "concepts" / "votes.md").read_text(encoding="utf-8")
    told = ET.fromstring(drawn["calls_saved.svg"]).findtext(f"{SVG}desc", "")
    for rule, line in (("majority", "majority"), ("weighted", "weighted vote"), ("unanimous", "unanimous")):
        (row,) = re.findall(rf"^\| `{rule}`[^|]*\|((?: [\d.]+ % \|){{6}})$", page, re.MULTILINE)
        assert re.findall(r"[\d.]+(?= %)", row) == re.findall(r"([\d.]+)%", told.split(f"{line}: ")[1].split(";")[0])


@pytest.mark.slow
def test_the_tables_of_juries_are_what_the_recorded_votes_come_to() -> None:
    small = [recorded(name) for name in PANELS["small3"]]
    large = recorded("gemini-2.5-pro")
    fallback = Ensemble([large, *small], voting="weighted", weights=[4, 1, 1, 1], use_confidence=False, tie="first",
                        schedule="early_stop")  # fmt: skip
    cascade = CascadedJury([Tier("small", Ensemble(small, min_votes=2), "escalate_on_split"), Tier("large", fallback)])
    verdicts = list(cascade.judge_many(cases()))
    of_three, alone = measured(Ensemble(small)), measured(large)
    expected = {
        "majority of the three small models": of_three,
        "majority of three small models": of_three,
        "**the cascade**": scored(verdicts),
        "the large model alone": alone,
        "`gemini-2.5-pro` alone": alone,
        "majority of all 14 models": measured(Ensemble([recorded(name) for name in PANELS["all14"]])),
        'always "valid"': scored([Judgment(Status.PASS)] * len(cases())),
    }
    found = [re.findall(r"^\| (.+?) \| \**([\d.]+)\** \| \**([\d.]+)\** \| \**(\d+) %", page, re.MULTILINE)
             for page in pages()]  # fmt: skip
    lines = {(jury, *figures) for page in found for jury, *figures in page}
    assert lines == {(jury, *figures) for jury, figures in expected.items()}
    stopped = [verdict.stopped_at for verdict in verdicts]
    assert f"{stopped.count('large') / len(stopped):.1%}" == "10.5%"


def pages() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted((DOCS / "concepts").glob("*.md"))]


@cache
def cases() -> list[Case]:
    return [Case.from_row(row) for row in rows() if fold_of(row) == 1]


def recorded(name: str) -> RecordedCritic:
    return RecordedCritic(name, labels={"valid": "pass", "invalid": "fail"})


def measured(judge: Judge) -> tuple[str, str, str]:
    return scored(list(judge.judge_many(cases())))


def scored(judgments: Sequence[Judgment]) -> tuple[str, str, str]:
    """Accuracy, balanced accuracy and the share of invalid cases found; no verdict is half right in the first two."""
    truth = [case.metadata["gold"] == "valid" for case in cases()]
    right = [float(said.passed is good) if said.valid else 0.5 for said, good in zip(judgments, truth, strict=True)]
    good, bad = ([hit for hit, passes in zip(right, truth, strict=True) if passes is kind] for kind in (True, False))
    balanced = (sum(good) / len(good) + sum(bad) / len(bad)) / 2
    return f"{sum(right) / len(right):.3f}", f"{balanced:.3f}", f"{100 * sum(bad) / len(bad):.0f}"
