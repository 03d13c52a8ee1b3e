"""No jury that is shown passes a bad answer, and each passes a good one.

Critics ask a local server that answers each criterion by ``tests/data/shown_juries.yaml``. Only a model can tell
some of the bad answers; a page or notebook whose jury passes one of them states this limit.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from doc_pages import PAGES, ROOT, called
from doc_setups import setup_of
from shown_juries import (
    ILLUSTRATION,
    NOTEBOOKS,
    Shown,
    juries_of_notebook,
    juries_of_page,
    members_inside,
    shows_a_jury,
)
from support.vendor import Act, Ask, answer

from jury_adapters import Critic, Ensemble, Rubric, rag_jury

TRIAL = yaml.safe_load((ROOT / "tests/data/shown_juries.yaml").read_text(encoding="utf-8"))
BUNDLED = {name: Rubric.bundled(name).criteria.partition("\n")[0] for name in TRIAL["rubrics"]}
FENCED = re.compile(r"<answer-[0-9a-f]+>\n(.*?)\n?</answer", re.DOTALL)

LIMIT = "cannot see that an answer is"

SHOWING = ("README.md", "docs/how_to/", "docs/tutorial/", "cookbook/")
SHOWN = [page for page in PAGES if called(page).startswith(SHOWING) and shows_a_jury(page)]


# Notebooks that judge thousands of recorded votes before they show their last jury.
HEAVY = {"cascades_that_save_money.ipynb"}


def as_parameter(notebook: Path) -> Any:
    marks = [pytest.mark.slow] if notebook.name in HEAVY else []
    return pytest.param(notebook, id=notebook.name, marks=marks)


def truth(ask: Ask) -> Act:
    """Answer as a sound critic does."""
    rubric = next(name for name, line in [*BUNDLED.items(), *((s, s) for s in TRIAL["sentences"])] if line in ask.text)
    said = FENCED.findall(ask.text)[-1].strip()
    kinds = {text: kind for kind, text in TRIAL["answers"].items()}
    verdict = {**TRIAL["rubrics"], **TRIAL["sentences"]}[rubric][kinds[said]]
    body = {**ask.body, "messages": [*ask.body["messages"], {"role": "user", "content": f"TRUTH={verdict}"}]}
    return Act(text=answer(replace(ask, body=body)))


def wrong_about(shown: Shown, page: str = "") -> list[str]:
    """Return what a jury says wrongly about the answers, except for limits that the text of its page states."""
    states_limit = LIMIT in " ".join(page.split())
    asks_models = any(isinstance(part, Critic) for part in members_inside(shown.jury))
    wrong = []
    for kind, text in TRIAL["answers"].items():
        verdict = shown.jury.judge(answer=text, **TRIAL["case"])
        if kind in TRIAL["only_a_model_can_tell"] and states_limit and not asks_models:
            continue
        if verdict.passed is not True if kind == "good" else verdict.passed is True:
            wrong.append(f"{shown.where}: {shown.jury!r}: {kind} answer {text!r}: {verdict}")
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("page", SHOWN, ids=called)
@pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")
def test_no_jury_of_a_page_passes_a_bad_answer(page, reader, vendors):
    shown = juries_of_page(page, setup_of(called(page)))
    vendors.plan = truth
    text = page.read_text(encoding="utf-8")
    wrong = [problem for one in shown for problem in wrong_about(one, text)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("notebook", [as_parameter(path) for path in NOTEBOOKS])
def test_no_jury_of_a_notebook_passes_a_bad_answer(notebook, reader, vendors, monkeypatch):
    monkeypatch.chdir(notebook.parent)
    try:
        shown = juries_of_notebook(notebook)
    except (ModuleNotFoundError, SystemExit) as missing:
        pytest.skip(str(missing))
    vendors.plan = truth
    text = notebook.read_text(encoding="utf-8")
    wrong = [problem for one in shown for problem in wrong_about(one, text)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_the_ready_made_jury_passes_no_bad_answer(reader, vendors):
    vendors.plan = truth
    jury = rag_jury("openai:gpt-4o-mini", "anthropic:claude-haiku-4-5")
    assert wrong_about(Shown("rag_jury", jury)) == []
    assert len(vendors.asks) > 0


def test_every_table_knows_every_kind_of_answer():
    kinds = set(TRIAL["answers"])
    assert kinds >= {"good", "empty", "irrelevant", "refusing", "fabricated"}
    assert all(set(row) == kinds for table in ("rubrics", "sentences") for row in TRIAL[table].values())


def test_illustrations_are_few():
    texts = [path.read_text(encoding="utf-8") for path in (*SHOWN, *NOTEBOOKS)]
    assert sum(text.count(ILLUSTRATION) for text in texts) <= 17
    assert ILLUSTRATION not in (ROOT / "README.md").read_text(encoding="utf-8")


def test_a_jury_that_passes_everything_or_nothing_is_found():
    for says in (True, False):
        jury = Ensemble([lambda case, says=says: says])
        assert wrong_about(Shown("a page", jury))
