"""Fuzz targets: one function for each entry point that accepts text from elsewhere.

Each function takes any bytes, uses them as a user of the package would, and asserts what is promised. Any other
exception is a finding. The functions do not need a fuzzer: :mod:`fuzz_nightly` calls them with atheris,
``test_fuzz_corpus.py`` with the seed corpus and hypothesis.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from jury_adapters import Case, Judgment, Rubric, Status, Verdict
from jury_adapters.config import load_jury
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.row_files import read_rows
from jury_adapters.critic.answers import Choice, Labels, Scale, Unreadable
from jury_adapters.critic.delimiters import visible
from jury_adapters.critic.parse_reply import Reading, read_reply, repair_request
from jury_adapters.critic.prompt import build_prompt, missing_fields, system_text
from jury_adapters.critic.quoted_answers import Material
from jury_adapters.critic.reply_judgments import judgment_from, parse_failure
from jury_adapters.models.base import Reply
from jury_adapters.report.entries import results_of

CLAIMS = Rubric.bundled("hallucination")
PLAIN = Rubric.bundled("faithfulness")
RATED = Rubric(name="rated", criteria="It is good.", answers=Scale(minimum=1, maximum=5, pass_mark=4))
FINE = Rubric(name="fine", criteria="It is good.", answers=Scale(minimum=0, maximum=1, pass_mark=0.5, integer=False))
PAIR = Rubric(
    name="pair", user_prompt="{candidates}", criteria="Which is better?", answers=Labels.of(neutral=["A", "B", "tie"])
)
RUBRICS = (PLAIN, CLAIMS, RATED, FINE, PAIR)
FINISHES = ("stop", "length")


def reply(data: bytes) -> None:
    """A model's reply ends as an answer of the vocabulary, or as a reason why it is none."""
    text = _text(data)
    for rubric in RUBRICS:
        for finish in FINISHES:
            _check_reading(read_reply(text, rubric, truncated=finish == "length"), rubric)
            given = Reply(text, model="m", finish=finish)
            material = Material(lambda: [text], rubric.answers)
            _check_reading(read_reply(text, rubric, material=material), rubric)
            judgment = judgment_from(given, rubric, material=material)
            if isinstance(judgment, Unreadable):
                assert len(repair_request(rubric, judgment)) < 2000, "a repair request must stay short"
                judgment = parse_failure(given, rubric, judgment)
            _check_judgment(judgment)


def rubric(data: bytes) -> None:
    """YAML is a rubric that can be asked, or an error that says what is wrong."""
    try:
        found = Rubric.from_yaml(f"{_text(data)}\n")
    except ConfigurationError as refused:
        _check_message(refused)
        return
    assert found.fingerprint == found.model_copy(update={"description": "another"}).fingerprint
    json.dumps(found.reply_schema(), allow_nan=False)
    case = Case(question="q", answer="a", contexts=("c",), reference="r", candidates=("a", "b"))
    variables = dict.fromkeys(found.variables, "v")
    prompt = build_prompt(found, case, variables)
    assert prompt == build_prompt(found, case, variables)
    missing_fields(found, case, variables)


def jury(data: bytes) -> None:
    """YAML is a jury, or an error that says what is wrong; no file makes it run a program."""
    try:
        found = load_jury(f"{_text(data)}\n")
    except ConfigurationError as refused:
        _check_message(refused)
        return
    assert found.size >= 0
    repr(found)


def prompt(data: bytes) -> None:
    """Check that no case changes the system prompt, and that only its own tag ends the fence of a text."""
    question, answer, *contexts = [*_text(data).split("\x1d"), "", ""][:5]
    case = Case(question=question, answer=answer, contexts=contexts)
    built = build_prompt(PLAIN, case)
    assert built.system == system_text(PLAIN)
    (turn,) = built.turns
    assert not _UNSEEN.search(turn.text), "hidden characters must be written out"
    rest = turn.text
    numbered = [(f"context-{number}", text) for number, text in enumerate(contexts, start=1)]
    for tag, text in (("question", question), *numbered, ("answer", answer)):
        if not text.strip():
            continue
        shown = visible(text)
        start = re.search(rf"<({tag}-[0-9a-f]{{12}})>\n{re.escape(shown)}\n</\1>", rest)
        assert start, f"no whole fence around the {tag}"
        assert turn.text.count(f"</{start[1]}>") == turn.text.count(f"<{start[1]}>") == 1
        rest = rest[start.end() :]
    assert build_prompt(PLAIN, case) == built
    json.dumps(turn.text).encode()


def results(data: bytes) -> None:
    """A judgment from elsewhere is read and shown without harm, or refused with InputError."""
    text = _text(data)
    for kind in (Judgment, Verdict):
        for source in (text, data):
            with suppress(InputError):
                _check_judgment(kind.from_json(source))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "results.jsonl")
        path.write_bytes(data)
        with suppress(InputError):
            for entry in results_of(path, path):
                assert entry.where
                _check_judgment(entry.judgment)


def rows(data: bytes) -> None:
    """A file of cases comes as rows; a row is a case, or an error that says why not."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("rows.jsonl", "rows.json", "rows.csv", "rows.jsonl.gz"):
            path = Path(folder, name)
            path.write_bytes(data)
            with suppress(InputError):
                _read_cases(path)
        packed = io.BytesIO()
        with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as file:
            file.write(data)
        path = Path(folder, "packed.jsonl.gz")
        path.write_bytes(packed.getvalue())
        _read_cases(path)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "reply": reply,
    "rubric": rubric,
    "jury": jury,
    "prompt": prompt,
    "results": results,
    "rows": rows,
}

_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\ufeff\U000e0000-\U000e007f]")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass") if _decodes(data) else data.decode("utf-8", "replace")


def _decodes(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _check_reading(reading: Reading | Unreadable, asked: Rubric) -> None:
    if isinstance(reading, Unreadable):
        assert reading.problem
        return
    assert reading.confidence is None or 0 <= reading.confidence <= 1
    again = asked.answers.read(json.loads(reading.choice.text) if reading.choice.label is None else reading.choice.text)
    assert isinstance(again, Choice), "an answer is one of the vocabulary"
    assert again == reading.choice


def _check_judgment(judgment: Judgment) -> None:
    text = judgment.to_json()
    assert type(judgment).from_json(text) == judgment, "JSON and back is the same"
    json.loads(text, parse_constant=_no_constant)
    judgment.canonical_json()
    assert judgment.score is None or 0 <= judgment.score <= 1
    assert judgment.status in (*Status, None)
    str(judgment).encode()
    page = judgment._repr_html_()
    page.encode()
    assert not re.search(r"<(?:script|img|svg|iframe)\b", page, re.IGNORECASE), "text must be escaped in a notebook"


def _check_message(error: Exception) -> None:
    assert str(error).strip(), "an error says what is wrong"


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def _read_cases(path: Path) -> None:
    for row in read_rows(path):
        if row.values is None:
            assert row.error
            continue
        try:
            case = Case.from_row(row.values)
        except (ValidationError, ConfigurationError):  # the readers of files tell it with its line
            continue
        assert re.fullmatch("[0-9a-f]{32}", case.content_hash)
        assert Case.model_validate_json(case.model_dump_json()).content_hash == case.content_hash
