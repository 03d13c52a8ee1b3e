"""The glossary: one sentence per term, in order, and every name in it exists."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import jury_adapters

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", TEXT, flags=re.MULTILINE)
TERMS = {term: meaning for term, meaning, _ in ROWS if term not in ("term", "---")}
HOMES = ("checks", "results", "statistics", "replay", "langchain", "llama_index")
# What a reader meets in code, messages and pages, and may know under another name.
NEEDED = {
    "case", "judge", "judgment", "verdict", "critic", "juror", "jury", "panel", "ensemble", "scorecard", "cascade",
    "tier", "escalate", "abstain", "quorum", "fallback", "early stopping", "coverage", "guarantee", "needs review",
    "gate", "finding", "screening tier", "guardrail", "judge queue", "store", "budget", "limits",
}  # fmt: skip


def test_every_needed_term_is_there():
    assert sorted(NEEDED - TERMS.keys()) == []


@pytest.mark.parametrize("section", TEXT.split("\n## ")[1:], ids=lambda text: text.split("\n")[0])
def test_terms_are_in_alphabetical_order(section):
    terms = [term.lower() for term in re.findall(r"^\| ([^|]+) \|", section, flags=re.MULTILINE)][2:]
    assert terms == sorted(terms) != []


@pytest.mark.parametrize(("term", "meaning"), TERMS.items(), ids=TERMS)
def test_a_meaning_is_one_sentence(term, meaning):
    assert meaning.endswith(".")
    assert ". " not in meaning


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`([A-Z][a-z]\w+)`", " ".join(TERMS.values())))))
def test_every_class_exists(name):
    places = [jury_adapters, *(import_module(f"jury_adapters.{home}") for home in HOMES)]
    assert any(hasattr(place, name) for place in places)


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(case|judgment|verdict)\.(\w+)", TEXT))))
def test_every_attribute_exists(name):
    owner, attribute = name
    kind = getattr(jury_adapters, owner.capitalize())
    assert attribute in getattr(kind, "model_fields", {}) or hasattr(kind, attribute)
