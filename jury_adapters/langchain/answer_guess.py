"""Guesses which of the outputs is the answer, for messages to users whose outputs have names of their own."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence

from jury_adapters.core.case import Case
from jury_adapters.core.errors import plain_repr
from jury_adapters.core.field_names import ALIASES, FIELD_NAMES, LABELS, columns_of
from jury_adapters.core.graph_commands import state_update
from jury_adapters.core.input_output import WHOLE_PART, Found, present, read_outputs
from jury_adapters.core.loose_values import messages_in, opened
from jury_adapters.core.unnamed_answer import names_an_answer

_NAMED = 5
_log = logging.getLogger(__name__)


class AnswerGuess:
    """Warning, given once, that it is unclear which of the outputs is the answer.

    The whole outputs are judged then, or there is no answer.

    Args:
        is_mapped: whether a field map is given; then there is no warning.
    """

    __slots__ = ("_done",)

    def __init__(self, *, is_mapped: bool) -> None:
        self._done = is_mapped

    def tell_input(self, value: object, name: str) -> None:
        """Check the input of a runnable or a node: a row with ``outputs``, or the state of a graph.

        Args:
            value: the input; only a mapping, or an object with the fields of a state, is checked.
            name: the name of the runnable.
        """
        state = None if self._done else opened(value)
        if not isinstance(state, Mapping):
            return
        if "outputs" in state:
            self.tell(state.get("inputs"), state["outputs"], name)
            return
        state = {field: given for field, given in state.items() if field not in _REFERENCES}
        texts = [field for field, given in state.items() if isinstance(given, str) and field not in _KNOWN]
        if not texts or not state.keys().isdisjoint(_RECOGNISED) or messages_in(state) is not None:
            return
        found = read_outputs(state)
        answer = found.get("answer")
        if found.get("candidates") or (answer is not None and WHOLE_PART not in found):
            return
        self._done = True
        judged = "no answer is judged" if answer is None else "all of the input is judged as one JSON text"
        _log.warning(
            "%s: no key of the input is known as the answer, so %s. Its texts are %s: say where the fields are, such as"
            " field_map=%s", name, judged, ", ".join(map(plain_repr, texts[:_NAMED])), _state_map(state, texts, found),
        )  # fmt: skip

    def tell(self, inputs: object, outputs: object, key: str) -> None:
        """Check one row; the check is cheap if there is nothing to warn about."""
        outputs = state_update(outputs)
        if self._done or not isinstance(outputs, Mapping) or any(name in outputs for name in _ANSWERS):
            return
        texts = [name for name, given in outputs.items() if isinstance(given, str)]
        if not texts:
            return
        try:
            found = read_outputs(outputs)
        except Exception:  # the verdict on this row has the error
            return
        if found.get("answer") is None and (said := unread_answer(outputs)):
            self._done = True
            _log.warning("%s: %s", key, said)
        if WHOLE_PART not in found:
            return
        self._done = True
        asked = _likely_question(inputs) if isinstance(inputs, Mapping) and inputs else "question"
        _log.warning(
            "%s: none of the outputs %s is known as the answer, so all of them are judged as one JSON text. If one of "
            "them is the answer, name it in a field map, such as field_map={'answer': %r, 'question': %r}",
            key, _shown(outputs), _path("outputs", _likely_answer(outputs)), _path("inputs", asked),
        )  # fmt: skip


def unread_answer(outputs: object) -> str:
    """Return a sentence for outputs in which no answer was found although they have texts; empty for any others.

    Outputs with messages are those of an agent, which may end without an answer.
    """
    outputs = state_update(outputs)
    if not isinstance(outputs, Mapping) or "messages" in outputs:
        return ""
    if not any(isinstance(given, str) and given.strip() for given in outputs.values()):
        return ""
    said = f"no answer was found in the outputs {_shown(outputs)}"
    if outputs.keys() <= _OTHER_FIELDS:
        return f"{said}, the names of other parts of a case; a run that stopped before it answered has no answer"
    path = _path("outputs", _likely_answer(outputs))
    return f"{said}; say where it is with a field map, such as field_map={{'answer': {path!r}}}"


def _shown(outputs: Mapping[str, object]) -> str:
    """Return the names of the outputs that are not missing, the first few of them."""
    names = [plain_repr(name) for name, given in outputs.items() if given is not None]
    return ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")


def _state_map(state: Mapping[str, object], texts: Sequence[str], found: Found) -> str:
    """Return a field map for the state of a graph, as an example for a message."""
    answer = _likely_answer({field: state[field] for field in texts})
    paths = {"answer": _path("", answer)}
    asked = next((field for field in texts if field != answer and not _ID.search(field)), None)
    if asked is not None and found.get("question") is None:
        paths = {"question": _path("", asked), **paths}
    return repr(paths)


def _likely_answer(outputs: Mapping[str, object]) -> str:
    """Return the name of the text that may be the answer; without one, the name of another value.

    It is a text whose name is one of answers, such as ``reply``, or else the longest. Ids, the label of a reply, the
    question and the other parts of a case are not the answer.
    """
    rest = {name: given for name, given in outputs.items() if name not in _OTHER_FIELDS}
    return _likely_text(rest or outputs, names_an_answer)


def _likely_question(inputs: Mapping[str, object]) -> str:
    """Return the name of the input that may be the question: one that is known, or else a text."""
    known = columns_of(present(inputs), ("question",)).of.get("question")
    return _likely_text(inputs, lambda _: False) if known is None else known


def _likely_text(values: Mapping[str, object], is_named: Callable[[str], bool]) -> str:
    """Return the name of a text that has a likely name, or else of the longest; of another value without a text."""
    named = {str(name): given for name, given in values.items() if given is not None} or dict(values)
    rest = {name: given for name, given in named.items() if name not in LABELS and not _ID.search(name)} or named
    lengths = {name: len(given) if isinstance(given, str) else 0 for name, given in rest.items()}
    return max(lengths, key=lambda name: (lengths[name] > 0 and is_named(name), lengths[name]))


def _path(part: str, name: object) -> str:
    """Return the path of a name in a part of the row, quoted if it is not a plain name; no part is the whole input."""
    plain = isinstance(name, str) and name.replace(" ", "_").isidentifier() and not name.startswith("_")
    return f"{part}.{name}".removeprefix(".") if plain else f"{part}[{str(name)!r}]"


_ID = re.compile(r"(?:^|[^A-Za-z])(?:id|ID|Id)s?$|[a-z]I[dD]s?$")  # claim_id, CLAIM_ID, claimId
_KNOWN = ALIASES.keys() | Case.model_fields
_OTHER_FIELDS = frozenset(
    name
    for field, names in FIELD_NAMES.items()
    if field not in ("answer", "metadata")
    for name in (field, *names.exact, *names.everywhere)
)
_REFERENCES = frozenset(FIELD_NAMES["reference"].everywhere)
_ANSWERS = FIELD_NAMES["answer"].in_its_part
_RECOGNISED = frozenset({*_ANSWERS, "structured_response", "intermediate_steps", "generations"})
