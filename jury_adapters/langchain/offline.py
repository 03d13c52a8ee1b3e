"""LangSmith's evaluation loops without a server: a client that sends nothing, and examples made of dictionaries."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, Final, NoReturn
from uuid import UUID, uuid5

from langsmith import Client
from langsmith.schemas import Example

from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.field_names import FIELD_NAMES
from jury_adapters.core.judge import Judge
from jury_adapters.core.values import freeze_mapping


def offline_client() -> Client:
    """Return a LangSmith client that sends no requests, for local evaluation.

    ``upload_results=False`` by itself does not keep an experiment local: LangSmith still uploads the runs of every
    LangChain model that the target or the evaluators call, and ``aevaluate`` of LangSmith before 0.15.1 those of the
    target. With this client, nothing is uploaded::

        offline_client().evaluate(target, data=examples(rows), evaluators=[...], upload_results=False)

    The data must be :class:`langsmith.schemas.Example` objects, which :func:`examples` makes of dictionaries; named
    data sets are on the server. The client needs no key, and reads none from the environment.
    """
    # No server listens at this address: a request that is sent nevertheless does not leave this machine.
    return _OfflineClient(
        api_url="http://127.0.0.1:1", api_key="offline", tracing_sampling_rate=0.0, auto_batch_tracing=False
    )


class _OfflineClient(Client):
    """Client without a server. Calls that need the server are refused, with a message that names the alternative."""

    # LangSmith's long signatures may change, so they are not repeated here; users see those of Client.
    def evaluate(self, target: Any, /, data: Any = None, *positional: Any, **options: Any) -> Any:
        _check_evaluators([*positional, options.get("evaluators"), options.get("summary_evaluators")])
        return super().evaluate(target, _local(data, options), *positional, **options)

    async def aevaluate(self, target: Any, /, data: Any = None, *positional: Any, **options: Any) -> Any:
        _check_evaluators([*positional, options.get("evaluators"), options.get("summary_evaluators")])
        return await super().aevaluate(target, _local(data, options), *positional, **options)

    def request_with_retries(self, method: str, pathname: str, **_: Any) -> NoReturn:
        raise ConfigurationError(f"this client is offline, and sends no request for {pathname}. {_INSTEAD}")


def examples(rows: Iterable[Mapping[str, object]]) -> list[Example]:
    """Convert dictionaries to examples for LangSmith's evaluation loops.

    Args:
        rows: each ``{"inputs": {...}, "outputs": {...}, "metadata": {...}}``, where outputs (the reference, also as
            ``reference_outputs``) and metadata may be omitted; or only the inputs. In the latter form, a key
            ``reference``, ``expected``, ``ground_truth`` or similar is the reference.

    Returns:
        One example per row. Equal inputs with an equal reference have the same id in every process, whatever the
        metadata are, so that experiments can be compared. Rows that are equal in both are numbered in their order.

    Raises:
        ConfigurationError: there are no rows to read; a row, or a part of one, is not a dictionary; a row with inputs
            or outputs has another key; or a row has both question and answer at the top level, where the answer may be
            the reference or the answer to judge.

    >>> rows = [{"inputs": {"question": "2 + 2?"}, "outputs": {"answer": "4"}}, {"question": "3 + 3?"}]
    >>> [example.inputs["question"] for example in examples(rows)]
    ['2 + 2?', '3 + 3?']
    >>> offline_client().evaluate(target, data=examples(rows), evaluators=[...],
    ...                           upload_results=False)  # doctest: +SKIP
    """
    if not isinstance(rows, Iterable):
        raise ConfigurationError(f"examples() takes rows, each a dictionary; not {plain_repr(rows)}")
    made, seen = [], Counter[str]()
    for number, row in enumerate(rows, start=1):
        parts = _parts(row, number)
        identity = {name: part for name, part in parts.items() if name != "metadata"}  # labels do not make an example
        content = json.dumps(freeze_mapping(identity), sort_keys=True)
        again = f" {seen[content]}" if seen[content] else ""  # equal rows still become separate examples
        seen[content] += 1
        made.append(Example.model_validate({"id": uuid5(_EXAMPLES, content + again), **parts}))
    return made


def _check_evaluators(options: Iterable[object]) -> None:
    """Refuse judges among the evaluators; LangSmith says of them that they are not callable.

    Raises:
        ConfigurationError: an evaluator is a judge.
    """
    for evaluators in options:
        for evaluator in evaluators if isinstance(evaluators, list | tuple) else (evaluators,):
            if isinstance(evaluator, Judge):
                raise ConfigurationError(
                    f"{plain_repr(evaluator)} is a judge; evaluators=[JuryEvaluator(judge)] makes an evaluator of it"
                )


def _local(data: Any, options: Mapping[str, Any]) -> Any:
    """Return the data of an evaluation that needs no server.

    Raises:
        ConfigurationError: the data or the results are on the server; or the data are rows instead of examples.
    """
    if all(options.get(name, True) for name in ("upload_results", "upload_runs")):  # renamed in LangSmith 0.15.1
        raise ConfigurationError(f"this client is offline and can upload nothing. {_INSTEAD}")
    if isinstance(data, str | UUID):
        raise ConfigurationError(f"this client is offline and has no data set {plain_repr(str(data))}. {_INSTEAD}")
    if isinstance(data, Mapping) or not isinstance(data, Iterable):
        return data  # LangSmith reports the error
    rest = iter(data)
    first = next(rest, None)
    if isinstance(first, Mapping):
        raise ConfigurationError("data are examples, and these are dictionaries: data=examples(rows)")
    return data if isinstance(data, list | tuple) else chain(() if first is None else (first,), rest)


def _parts(row: Mapping[str, object], number: int) -> dict[str, dict[str, object]]:
    if not isinstance(row, Mapping):
        raise ConfigurationError(f"example {number} is a dictionary of inputs and outputs, not {type(row).__name__}")
    in_parts = any(isinstance(row.get(name), Mapping) for name in ("inputs", "outputs"))
    parts = _named_parts(row, number) if in_parts else _flat(row, number)
    for name, part in parts.items():
        if not isinstance(part, Mapping):
            raise ConfigurationError(f"example {number}: {name} is a dictionary, not {type(part).__name__}")
    return {name: dict(part) for name, part in parts.items() if isinstance(part, Mapping)}


def _named_parts(row: Mapping[str, object], number: int) -> dict[str, object]:
    """Return the parts of a row that has inputs or outputs as dictionaries; ``reference_outputs`` are the outputs.

    Raises:
        ConfigurationError: the row has an unknown key, no inputs, or outputs under both names.
    """
    for name in row:
        if name not in (*_PARTS, "reference_outputs"):
            raise ConfigurationError(
                f"example {number}: {unknown('part', name, _PARTS)} If the target takes the whole row, write "
                "{'inputs': row}"
            )
    parts = {name: part for name, part in row.items() if part is not None}
    if "inputs" not in parts:
        raise ConfigurationError(f"example {number} has no inputs: {{'inputs': {{...}}, 'outputs': {{...}}}}")
    if "reference_outputs" in parts:
        if "outputs" in parts:
            raise ConfigurationError(
                f"example {number} has outputs and reference_outputs; the outputs of an example are its reference, and "
                "the answers to judge come from the target: leave one of them out"
            )
        parts["outputs"] = parts.pop("reference_outputs")
    return parts


def _flat(row: Mapping[str, object], number: int) -> dict[str, object]:
    """Return the parts of a flat row: the inputs, and the reference if a key is named like one."""
    outputs = {name: value for name, value in row.items() if name in _REFERENCE}
    answer = next((name for name in row if name in _ANSWER), None)
    if answer is not None and not outputs and any(name in row for name in FIELD_NAMES["question"].everywhere):
        raise ConfigurationError(
            f"example {number}: is {plain_repr(answer)} the right answer? Then write {{'inputs': {{...}}, 'outputs': "
            f"{{{plain_repr(answer)}: ...}}}}. Is it for the target to use? Then {{'inputs': row}}"
        )
    inputs = {name: value for name, value in row.items() if name not in outputs}
    return {"inputs": inputs, "outputs": outputs} if outputs else {"inputs": inputs}


_INSTEAD: Final = "Evaluate rows of your own: evaluate(target, data=examples(rows), ..., upload_results=False)"
_PARTS: Final = ("inputs", "outputs", "metadata")
_REFERENCE: Final = frozenset(FIELD_NAMES["reference"].everywhere)
_ANSWER: Final = frozenset(FIELD_NAMES["answer"].exact)
_EXAMPLES: Final = UUID("5a0f3b0e-6f0e-5f57-9c1c-0d9b7c2f4e11")  # namespace of the ids of examples
