"""Field maps as messages advise them: made from the names that a row has, with paths that exist in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from jury_adapters.core.field_map import FieldMap
from jury_adapters.core.field_names import FIELD_NAMES, LABELS, columns_of
from jury_adapters.core.input_output import present
from jury_adapters.core.loose_values import json_text, messages_in, opened
from jury_adapters.core.unnamed_answer import names_an_answer


def advised_map(row: Mapping[str, object], fields: Sequence[str] = ("answer", "question")) -> dict[str, str]:
    """Return an example of a field map for a row of a run, with ``inputs`` and ``outputs``.

    It is empty if the row has no place for the first of the fields; another one is left out. So is the question of a
    conversation: reading it from its place would lose the turns before it.

    >>> advised_map({"inputs": "When?", "outputs": {"first": "At nine.", "second": "At ten, or so."}})
    {'answer': 'outputs.second', 'question': 'inputs'}
    """
    paths = {"answer": answer_path(row.get("outputs")), "question": question_path(row.get("inputs"))}
    found = existing({field: paths[field] for field in fields}, row)
    return found if fields[0] in found else {}


def answer_path(outputs: object) -> str:
    """Return the path of the value that may be the answer, in a row with these outputs; empty if they have no names."""
    fields = opened(outputs)
    return path_of("outputs", likely_answer(fields)) if isinstance(fields, Mapping) and fields else ""


def question_path(inputs: object) -> str:
    """Return the path of the value that may be the question, in a row with these inputs; empty for a conversation."""
    fields = opened(inputs)
    if not fields or messages_in(fields) is not None:
        return ""
    if not isinstance(fields, Mapping):
        return "inputs"
    known = columns_of(present(fields), ("question",)).of.get("question")
    return "" if known is None and "messages" in fields else path_of("inputs", likely_question(fields))


def existing(paths: Mapping[str, str], row: Mapping[str, object]) -> dict[str, str]:
    """Return the paths that lead to a value in a row; an empty path leads nowhere."""
    found = FieldMap({field: path for field, path in paths.items() if path}).known_in(row)
    return {field: path for field, path in found.paths.items() if found.values(row)[field] is not None}


def such_as(paths: Mapping[str, str]) -> str:
    """Return the example at the end of a sentence that advises a field map; empty without paths."""
    return f", such as field_map={dict(paths)!r}" if paths else ""


def likely_answer(outputs: Mapping[str, object]) -> str:
    """Return the name of the text that may be the answer; without one, the name of another value.

    It is a text whose name is one of answers, such as ``reply``, or else the longest. Ids, the label of a reply, the
    question and the other parts of a case are not the answer.
    """
    rest = {name: given for name, given in outputs.items() if name not in OTHER_FIELDS}
    return _likely(rest or outputs, lambda name, text: (bool(text) and names_an_answer(name), len(text)))


def likely_question(inputs: Mapping[str, object]) -> str:
    """Return the name of the input that may be the question: one that is known, or else the value with most words."""
    known = columns_of(present(inputs), ("question",)).of.get("question")
    return _likely(inputs, lambda name, text: (" " in text, len(text)), nested=True) if known is None else known


def path_of(part: str, name: object) -> str:
    """Return the path of a name in a part of the row, quoted if it is not a plain name; no part is the whole row."""
    plain = isinstance(name, str) and name.replace(" ", "_").isidentifier() and not name.startswith("_")
    return f"{part}.{name}".removeprefix(".") if plain else f"{part}[{str(name)!r}]"


def is_id(name: str) -> bool:
    """Whether a name is that of an id.

    >>> is_id("claim_id"), is_id("threadId"), is_id("valid")
    (True, True, False)
    """
    return bool(_ID.search(name))


def _likely(values: Mapping[str, object], rank: Callable[[str, str], tuple[bool, int]], *, nested: bool = False) -> str:
    """Return the name of the text of the highest rank; if ``nested``, mappings and lists count as their JSON text."""
    named = {str(name): given for name, given in values.items() if given is not None} or dict(values)
    rest = {name: given for name, given in named.items() if name not in LABELS and not is_id(name)} or named
    texts = {name: _text(given, nested=nested) for name, given in rest.items()}
    return max(texts, key=lambda name: rank(name, texts[name]))


def _text(value: object, *, nested: bool) -> str:
    if isinstance(value, str):
        return value
    return json_text(value) if nested and isinstance(value, Mapping | list | tuple) and value else ""


_ID = re.compile(r"(?:^|[^A-Za-z])(?:id|ID|Id)s?$|[a-z]I[dD]s?$")  # claim_id, CLAIM_ID, claimId
OTHER_FIELDS = frozenset(
    name
    for field, names in FIELD_NAMES.items()
    if field not in ("answer", "metadata")
    for name in (field, *names.exact, *names.everywhere)
)
"""Names of the parts of a case other than its answer."""
