"""Guesses which of the outputs is the answer, for messages to users whose outputs have names of their own."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from jury_adapters.core.advised_map import OTHER_FIELDS, advised_map, existing, is_id, likely_answer, path_of, such_as
from jury_adapters.core.case import Case
from jury_adapters.core.errors import plain_repr
from jury_adapters.core.field_names import FIELD_NAMES, may_be_answer
from jury_adapters.core.graph_commands import state_update
from jury_adapters.core.input_output import WHOLE_PART, Found, read_outputs
from jury_adapters.core.loose_values import messages_in, opened

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
            "%s: no key of the input is known as the answer, so %s. Its texts are %s: say where the fields are%s",
            name, judged, ", ".join(map(plain_repr, texts[:_NAMED])), such_as(_state_map(state, texts, found)),
        )  # fmt: skip

    def tell(self, inputs: object, outputs: object, key: str) -> None:
        """Check one row; the check is cheap if there is nothing to warn about."""
        fields = None if self._done else opened(outputs)
        if not isinstance(fields, Mapping) or any(name in fields for name in _ANSWERS):
            return
        texts = [name for name, given in fields.items() if isinstance(given, str)]
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
        _log.warning(
            "%s: none of the outputs %s is known as the answer, so all of them are judged as one JSON text. If one of "
            "them is the answer, name it in a field map%s",
            key, _shown(fields), such_as(advised_map(mapped_row(inputs, outputs))),
        )  # fmt: skip


def unread_answer(outputs: object) -> str:
    """Return a sentence for outputs in which no answer was found although they have texts; empty for any others.

    Outputs with messages are those of an agent, which may end without an answer; of their texts, only those that may be
    an answer count.
    """
    fields = opened(outputs)
    if not isinstance(fields, Mapping):
        return ""
    texts = [name for name, given in fields.items() if isinstance(given, str) and given.strip()]
    if "messages" in fields:
        texts = [name for name in texts if may_be_answer(name) and not is_id(name)]
    if not texts:
        return ""
    if fields.keys() <= OTHER_FIELDS:
        return (
            f"no answer was found in the outputs {_shown(fields)}, the names of other parts of a case; a run that "
            "stopped before it answered has no answer"
        )
    example = such_as(advised_map(mapped_row(None, outputs), ["answer"]))
    if "messages" in fields:
        names = " or ".join(map(plain_repr, texts[:_NAMED]))
        return f"no answer was found in the messages; if {names} has it, say so with a field map{example}"
    return f"no answer was found in the outputs {_shown(fields)}; say where it is with a field map{example}"


def mapped_row(inputs: object, outputs: object) -> dict[str, object]:
    """Return the row of a run as a field map reads it."""
    return {"inputs": inputs, "outputs": state_update(outputs)}


def _shown(outputs: Mapping[str, object]) -> str:
    """Return the names of the outputs that are not missing, the first few of them."""
    names = [plain_repr(name) for name, given in outputs.items() if given is not None]
    return ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")


def _state_map(state: Mapping[str, object], texts: Sequence[str], found: Found) -> dict[str, str]:
    """Return a field map for the state of a graph, as an example for a message."""
    answer = likely_answer({field: state[field] for field in texts})
    paths = {"answer": path_of("", answer)}
    asked = next((field for field in texts if field != answer and not is_id(field)), None)
    if asked is not None and found.get("question") is None:
        paths = {"question": path_of("", asked), **paths}
    return existing(paths, state)


_KNOWN = frozenset(Case.model_fields).union(*(names.everywhere for names in FIELD_NAMES.values()))
_REFERENCES = frozenset(FIELD_NAMES["reference"].everywhere)
_ANSWERS = FIELD_NAMES["answer"].in_its_part
_RECOGNISED = frozenset({*_ANSWERS, "structured_response", "intermediate_steps", "generations"})
