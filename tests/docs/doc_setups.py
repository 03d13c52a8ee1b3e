"""Objects that pages assume: the reader's own application, cases and alerts, from real frameworks without a network.

A setup is called before its page is followed, and returns names for the code of the page.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from jury_adapters.cli.app import app
from jury_adapters.results import JudgedRun

VOTES = Path(__file__).parents[1] / "data/votes/codefeedback.jsonl.gz"
FERRY = {
    "question": "When did the ferry stop running?",
    "answer": "The ferry between the islands stopped running in 2018.",
    "contexts": ["The ferry between the islands stopped running in 2018."],
}


def setup_of(page: str) -> dict[str, Any]:
    """The names that a page takes for granted."""
    make = SETUPS.get(page)
    return make() if make else {}


def readme() -> dict[str, Any]:
    """An application of each framework, an environment to activate, and the labels of people."""
    from langchain.agents import create_agent
    from support.langchain_apps import Scripted, call

    activate = Path(".venv/bin/activate")
    activate.parent.mkdir(parents=True)
    activate.touch()
    label(40)
    return {
        **llama_index(),
        **langchain(),
        "alert": Alerts(),
        "create_agent": create_agent,
        "model": Scripted(script=[call("weather", city="Oslo"), "It is 80F in Oslo."]),
    }


def label(count: int) -> None:
    """Have somebody pass so many cases with `jury review`, which writes labels.jsonl."""
    cases = [{**FERRY, "contexts": [*FERRY["contexts"], f"Page {number}."]} for number in range(count)]
    Path("earlier.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")
    for command, answers in [
        ("judge earlier.jsonl --out judged.jsonl", ""),
        ("review judged.jsonl --only all --by ben", "p\n" * count),
    ]:
        CliRunner().invoke(app, command.split(), input=answers, catch_exceptions=False)


def llama_index() -> dict[str, Any]:
    """A query engine over an index, with a model that answers by script."""
    from llama_index.core import Document, MockEmbedding, VectorStoreIndex
    from support.llama_apps import Model

    documents = [Document(text=FERRY["contexts"][0])]
    index = VectorStoreIndex.from_documents(documents, embed_model=MockEmbedding(embed_dim=8))
    llm = Model(answer="The ferry stopped running in 2019.")
    return {
        "index": index,
        "llm": llm,
        "query_engine": index.as_query_engine(llm=llm),
        "questions": [FERRY["question"]],
    }


def llama_index_answer() -> dict[str, Any]:
    """The same, and an answer of the engine."""
    given = llama_index()
    return {**given, "response": given["query_engine"].query(FERRY["question"])}


def langchain() -> dict[str, Any]:
    """A chain and a target, with a model that answers by script."""
    from support.langchain_apps import chain, weather

    answering = chain("The ferry stopped running in 2019.")
    return {
        "chain": answering,
        "question": {"question": FERRY["question"]},
        "target": lambda inputs: {"answer": answering.invoke(inputs)},
        "tools": [weather],
    }


class Alerts(list[JudgedRun]):
    """An alert that keeps what it is told."""

    def __call__(self, judged: JudgedRun) -> None:
        self.append(judged)


def recorded_votes() -> dict[str, Any]:
    """The recorded votes, under the name that the page gives them."""
    shutil.copy(VOTES, "votes.jsonl.gz")
    return {}


SETUPS: dict[str, Callable[[], dict[str, Any]]] = {
    "README.md": readme,
    "docs/tutorial/real_votes.md": recorded_votes,
    "docs/moving/llama_index_evaluators.md": llama_index_answer,
}
