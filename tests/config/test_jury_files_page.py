"""The page about jury files: its YAML is loaded, and its table is complete."""

import re
from pathlib import Path

from config_support import loaded

from jury_adapters.config import jury_file

PAGE = (Path(__file__).parents[2] / "docs" / "jury_files.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_every_file_of_the_page_is_loaded(tmp_path: Path) -> None:
    assert (len(blocks("yaml")), [text for text in blocks("yaml") if not (loaded(tmp_path, text).size >= 3)]) == (3, [])


def test_the_table_of_kinds_is_complete() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \|[^|]*\|(.*)\|$", PAGE, re.MULTILINE))
    assert [*rows] == [*jury_file.KINDS]
    shared = {"name", "weight", "required", "timeout", "fallbacks", "rubric", "criterion", "labels", "scale"}
    specs = {
        "rubric": "Critic",
        "recorded": "Recorded",
        "jurors": "Ensemble",
        "scorecard": "Scorecard",
        "tiers": "Cascade",
    }
    for kind, name in specs.items():
        spec = getattr(jury_file, f"{name}Spec")
        assert {*re.findall(r"`(\w+)`", rows[kind])} >= {*spec.model_fields} - shared - {kind}
    assert {*re.findall(r"`(\w+)`", rows["tiers"])} == {*jury_file.TierSpec.model_fields}
