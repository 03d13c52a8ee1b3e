"""The tables of docs/comparison.md, and the search for names in the source code of a package."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "docs/comparison.md").read_text(encoding="utf-8")
COLUMNS = ("LlamaIndex", "LangChain", "ragas", "DeepEval", "TruLens", "Phoenix", "here")
VERSIONS = {
    "LlamaIndex": ("llama-index-core==0.14.25",),
    "LangChain": ("openevals==0.2.2", "langchain-classic==1.0.8"),
    "ragas": ("ragas==0.4.3",),
    "DeepEval": ("deepeval==4.3.1",),
    "TruLens": ("trulens-feedback==2.16.0",),
    "Phoenix": ("arize-phoenix-evals==3.9.4",),
}
"""Distributions behind each column, in the versions that were read."""


def rows() -> list[list[str]]:
    """Return the cells of each row that compares names."""
    lines = [line.strip("| ").split(" | ") for line in TEXT.splitlines() if line.startswith("| ")]
    return [cells for cells in lines if len(cells) == len(COLUMNS) + 1 and cells[0] not in ("What", "---")]


def names_of(column: str) -> list[str]:
    """Return the names in one column, each once."""
    at = COLUMNS.index(column) + 1
    return list(dict.fromkeys(name for cells in rows() for name in re.findall(r"`([^`]+)`", cells[at])))


def undefined(names: Iterable[str], sources: Iterable[str]) -> list[str]:
    """Return the names that no source text defines as a class, a function or a constant."""
    missing = set(names)
    for text in sources:
        missing -= {name for name in missing if name in text and _definition(name).search(text)}
    return sorted(missing)


def _definition(name: str) -> re.Pattern[str]:
    return re.compile(rf"^\s*(?:class|def|async def)\s+{name}\b|^{name}\s*[:=]", flags=re.MULTILINE)
