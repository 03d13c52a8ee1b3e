"""Outputs in which no name is known as the answer: one text is the answer, or all of the outputs are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from jury_adapters.core.field_names import FIELD_NAMES, METADATA_NAMES, may_be_answer
from jury_adapters.core.loose_values import page_of


def unnamed_answer(outputs: Mapping[str, object], *, retrieved: bool, asked: bool, chat: bool) -> str | None:
    """Return the name of the text that is the answer; None if no single text is.

    The only text is not the answer if another value belongs to the answer too, as in an extraction such as
    ``{"covered": False, "reason": "theft"}``. Known bookkeeping, such as a thread's id, and retrieved documents do not
    belong to it. Outputs that have the question are the state of a graph, whose other values, such as a number of
    tries, do not belong to it either.

    Args:
        outputs: the outputs that are not a field of the case.
        retrieved: whether the outputs have contexts; then bookkeeping is never the answer.
        asked: whether the outputs have a question.
        chat: whether the outputs have messages, none of which answers; then the answer is the only text with a name of
            answers, such as ``reply``.
    """
    if chat:
        return only_text({name: given for name, given in outputs.items() if names_an_answer(name)})
    content = {name: given for name, given in outputs.items() if name not in _BOOKKEEPING} or outputs
    text = only_text({name: given for name, given in content.items() if not retrieved or may_be_answer(name)})
    beside = (given for name, given in outputs.items() if name != text and _may_be_part(name))
    return text if asked or all(map(_are_documents, beside)) else None


def only_text(values: Mapping[str, object]) -> str | None:
    """Return the name of the only text; None without any, or of several."""
    texts = [name for name, given in values.items() if isinstance(given, str)]
    return texts[0] if len(texts) == 1 else None


def names_an_answer(name: str) -> bool:
    """Whether the last word of a name is one for answers, as in ``Model Reply``, and none is of expected ones."""
    words = [word.casefold() for word in _WORD.findall(name)]
    return bool(words) and words[-1] in _ANSWERS and not _NOT_ANSWERS.intersection(words)


def _may_be_part(name: str) -> bool:
    return may_be_answer(name) and name not in METADATA_NAMES


def _are_documents(value: object) -> bool:
    """Whether a value is a list of documents, as objects of LangChain or LlamaIndex."""
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        return False
    return all(not isinstance(item, Mapping) and page_of(item) is not None for item in value)


_ANSWERS = frozenset({*FIELD_NAMES["answer"].in_its_part, "reply", "answers", "replies", "responses", "outputs"})
_NOT_ANSWERS = frozenset({"expected", "gold", "golden", "correct", "ideal", "target", "reference", "true", "truth"})
_BOOKKEEPING = frozenset({"thread_id", "session_id", "run_id", "request_id", *METADATA_NAMES} - {"id"})
"""Names of texts that are never a part of an extraction; an ``id`` may be, such as that of an invoice."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
