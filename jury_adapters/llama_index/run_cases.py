"""Cases of watched runs, and the options for reading a run."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from jury_adapters.core.advised_map import answer_path, existing, such_as
from jury_adapters.core.case import Case
from jury_adapters.core.evidence import Evidence, EvidenceTools
from jury_adapters.core.field_map import FieldMapLike, field_map_of
from jury_adapters.core.mapped_case import mapped_case

_log = logging.getLogger(__name__)

if TYPE_CHECKING:  # they import LlamaIndex, which a handler loads only when there is a run to read
    from inspect import BoundArguments

    from jury_adapters.llama_index.runs import Asked, Found, Heard


class RunCases:
    """Factory of the cases of runs; the returned functions are called in the background.

    Args:
        field_map: where the fields of a case are in the row of a run, which has ``inputs`` and ``outputs``.
        evidence_tools: the tools of an agent whose outputs are contexts.

    Raises:
        ConfigurationError: an option is invalid.
    """

    def __init__(self, field_map: FieldMapLike | None, evidence_tools: EvidenceTools) -> None:
        self._field_map = field_map_of(field_map)
        self._evidence = Evidence(evidence_tools)
        self._has_warned = False
        self._has_warned_of_question = False

    def asked(self, arguments: BoundArguments) -> Asked:
        """Read the question of a run; called at its start, since engines append to the given history."""
        from jury_adapters.llama_index.runs import Asked

        return Asked.of(arguments, keep=self._field_map is not None)

    def without_result(self, asked: Asked, heard: Heard | None) -> Callable[[], Case]:
        """Return the case of a run that failed; the field map is not used, because there are no outputs."""
        from jury_adapters.llama_index import runs

        return partial(runs.case_of, asked, heard or runs.Heard(), self._evidence, runs.Found())

    def of_result(self, asked: Asked, heard: Heard, result: object) -> Callable[[], Case]:
        """Return the case of a result; if the result cannot be read, the judgment says so."""
        from jury_adapters.llama_index import runs

        try:
            asked, found = self._without_unread(asked), self._without_guess(result, runs.Found.of(result))
            case = partial(runs.case_of, asked, heard, self._evidence, found)
        except Exception as error:
            case = partial(_raise, error)
        if self._field_map is None:
            return case
        return partial(self._mapped, asked, runs.outputs_of(result), case)

    def _without_guess(self, result: object, found: Found) -> Found:
        """Warn once of fields that are the answer only because none is named so, unless the field map names it."""
        from jury_adapters.llama_index.runs import outputs_of
        from jury_adapters.llama_index.workflow_results import fields_of, guess_in

        guess = guess_in(result)
        if not guess:
            return found
        if self._maps("answer"):
            return replace(found, ambiguous=tuple(said for said in found.ambiguous if said != guess))
        if not self._has_warned:
            self._has_warned = True
            row = {"outputs": outputs_of(result)}
            paths = existing({"answer": answer_path(fields_of(result))}, row)
            _log.warning(
                '%s. Call the field of the answer "answer", or say where it is with a field map%s (logged once)',
                guess, such_as(paths),
            )  # fmt: skip
        return found

    def _without_unread(self, asked: Asked) -> Asked:
        """Warn once of texts of which none is known as the question, unless the field map names it."""
        if not asked.unread:
            return asked
        if self._maps("question"):
            return replace(asked, unread="")
        if not self._has_warned_of_question:
            self._has_warned_of_question = True
            _log.warning(
                '%s. Call the field of the question "question", or say where it is with a field map%s (logged once)',
                asked.unread, such_as({"question": asked.likely}),
            )  # fmt: skip
        return asked

    def _maps(self, field: str) -> bool:
        """Whether the field map decides what this field is."""
        return callable(self._field_map) or (self._field_map is not None and field in self._field_map.paths)

    def of_stream(self, asked: Asked, heard: Heard, stream: object) -> Callable[..., Case]:
        """Return a function from the answer of a stream, which is not kept, to its case.

        Without an answer, because the stream broke, the field map is not used.
        """
        from jury_adapters.llama_index import runs

        asked = self._without_unread(asked)
        plain = partial(runs.case_of, asked, heard, self._evidence, runs.Found.beside(stream))
        outputs = runs.outputs_of_stream(stream)

        def case(answer: Callable[[], object] | None = None) -> Case:
            if self._field_map is None or answer is None:
                return plain(answer)
            return self._mapped(asked, outputs(answer()), partial(plain, answer))

        return case

    def _mapped(self, asked: Asked, outputs: object, case: Callable[[], Case]) -> Case:
        return mapped_case(self._field_map, {"inputs": asked.inputs, "outputs": outputs}, case, self._evidence)


def _raise(error: Exception) -> Case:
    raise error
