"""Jury files of the tests: text that is written to a file and loaded from there, as a user does."""

from pathlib import Path
from typing import Any

from model_server import Server, answer, response

from jury_adapters import Judge
from jury_adapters.config import load_jury

GUARANTEE = (
    "{agreement: 0.9, delta: 0.1, threshold: 0.8, tiers: {all: 60}, n: 70, decided: 60, errors: 2, bound: 0.09, "
    "constant: PASS, constant_agreement: 0.7, fingerprint: '12e456789012'}"
)


def write(folder: Path, text: str, name: str = "jury.yaml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def loaded(folder: Path, text: str, **permissions: bool) -> Judge:
    return load_jury(write(folder, text), **permissions)


def problem(folder: Path, text: str, **permissions: bool) -> str:
    """Return what is wrong with a jury file, without its path; empty if it is loaded."""
    path = write(folder, text)
    try:
        load_jury(path, **permissions)
    except ValueError as error:
        said = str(error)
        assert all(line.startswith(f"{path}") for line in said.splitlines()), said
        return said.replace(f"{path}: ", "").replace(f"{path}, ", "")
    return ""


def members(judge: Any) -> list[Judge]:
    """Return all judges inside a judge that have none inside."""
    return [single for one in judge.members for single in members(one)] if judge.members else [judge]


def listening() -> Server:
    """Return a server on loopback that keeps what it is sent, and answers YES in the protocol of OpenAI."""
    return Server(lambda request: [response(answer(request, '{"reasoning": "so it is", "answer": "YES"}'))])
