"""Rows of files as runs and cases: those of LangSmith, openevals, LlamaIndex, ragas and DeepEval, and flat ones."""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

from pydantic import Field, Json, TypeAdapter

from jury_adapters.core.case import NAMES, Case, Step
from jury_adapters.core.values import EMPTY, ConfigurationError, InputError
from jury_adapters.inputs.images import images_of_column
from jury_adapters.inputs.messages import field_of
from jury_adapters.inputs.run import MESSAGES, Run, default_case, listed, missing

_NAMES = {**NAMES, "messages": MESSAGES, "generator": ("generator",), "id": ("id", "item_id", "example_id")}
_PLAIN = ("candidates", "steps", "workspace", "images")  # fields of a case that a row may have as they are
_CALL = {"name": "tool", "input_parameters": "arguments", "output": "output"}  # of DeepEval
_CELL = TypeAdapter[Any](Annotated[Json[dict[str, Any]] | Any, Field(union_mode="left_to_right")])
_REMEDY = "name it by field_map={'answer': 'COLUMN'}, or --map answer=COLUMN"


def case_of_row(
    row: Mapping[str, Any], field_map: Mapping[str, str] = EMPTY, evidence: Callable[[Step], bool] | None = None
) -> Case:
    """Return the case of a row.

    A row has the parts ``inputs``, ``outputs`` and ``reference_outputs``, as in LangSmith and openevals, or it is flat,
    with the usual names as columns, as in LlamaIndex, ragas and DeepEval. The first of ``id``, ``item_id`` and
    ``example_id`` is the id; see :func:`jury_adapters.inputs.images.images_of_column` for ``images``. The other columns
    become metadata. Texts stay as they are, but where ``inputs`` is the text of a JSON object, as in a table, it is
    read, and so are the other two; None and NaN are missing.

    Args:
        row: the values by column.
        field_map: paths of columns by field, such as ``{"answer": "outputs.reply"}``. The fields are question, answer,
            contexts, reference, messages, generator and id. What is mapped is not looked for elsewhere.
        evidence: tells of a step whether its tool finds things.

    Raises:
        InputError: no column is known as the answer, or the row has no column of the ``field_map``.
        ConfigurationError: the ``field_map`` has another field.

    >>> case = case_of_row({"id": 7, "query": "When?", "reply": "In 2018.", "topic": "ferry"}, {"answer": "reply"})
    >>> case.id, case.answer, dict(case.metadata)
    ('7', 'In 2018.', {'topic': 'ferry'})
    """
    case = default_case(run_of_row(row, field_map), evidence, remedy=_REMEDY)
    plain = {
        name: images_of_column(row[name]) if name == "images" else row[name]
        for name in _PLAIN
        if not missing(row.get(name))
    }
    if isinstance(called := row.get("tools_called"), list):
        plain["steps"] = [
            {_CALL[name]: one for name in _CALL if (one := field_of(call, name)) is not None} or call for call in called
        ]
    try:
        return Case.of(case, plain) if plain else case
    except ConfigurationError as error:
        raise InputError(str(error)) from None


def run_of_row(row: Mapping[str, Any], field_map: Mapping[str, str] = EMPTY) -> Run:
    """Return the run of a row; see :func:`case_of_row`."""
    if not field_map.keys() <= _NAMES.keys():
        raise ConfigurationError(f"field_map= names {listed(field_map)}; the fields are {listed(_NAMES)}")
    if {"run", "example"} <= row.keys():  # a result of LangSmith's evaluate()
        ran = {name: field_of(row["run"], name) for name in ("id", "inputs", "outputs", "error")}
        row = {**ran, "reference_outputs": field_of(row["example"], "outputs")}
    row = dict(row) | {
        name: _CELL.validate_python(row[name])
        for name in row.keys() & {"inputs", "outputs", "reference_outputs"}
        if isinstance(cell := row.get("inputs"), str) and _CELL.validate_python(cell) is not cell
    }
    mapped = {field: _at(row, path, path) for field, path in field_map.items()}
    left = {name: one for name, one in row.items() if name not in (*_PLAIN, "tools_called", *field_map.values())}
    columns = {  # the "context" of DeepEval is what should have been retrieved
        field: {field: mapped[field]}
        if field in mapped
        else _popped(left, [one for one in names if one != "context" or "retrieval_context" not in row])
        for field, names in _NAMES.items()
    }
    answered = "answer" in mapped or bool(row.keys() & {*NAMES["answer"], "candidates"})
    failed = isinstance(left.get("error"), str) and not any(columns["answer"].values())
    known = columns["messages"] or (columns["contexts"] and columns["question"]) or row.keys() & {"workspace", "error"}
    # The outputs of an example of a dataset are what is expected.
    if not (answered or known or ("outputs" in row and "dataset_id" not in row)):
        raise InputError(f"none of the columns {listed(row)} is known as the answer; {_REMEDY}")
    columns["question" if answered else "answer"].update(columns["messages"])
    columns["answer"].update(columns["contexts"])
    first = {field: next(iter(found.values()), None) for field, found in columns.items()}
    return Run(
        id="" if first["id"] is None else str(first["id"]),
        inputs=_joined(None if "question" in mapped else left.pop("inputs", None), "question", columns["question"]),
        outputs=_joined(None if "answer" in mapped else left.pop("outputs", None), "answer", columns["answer"]),
        reference=columns["reference"] if len(columns["reference"]) > 1 else first["reference"],
        generator=None if first["generator"] is None else str(first["generator"]),
        error=left.pop("error") or None if failed else None,
        metadata={
            **(left.pop("metadata") if isinstance(left.get("metadata"), Mapping) else {}),
            **_popped(left, [*left]),
            **dict([*columns["id"].items()][1:]),
        },
    )


def _popped(columns: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Take columns out of a row, and return those that hold something; an empty answer is an answer."""
    found = {name: columns.pop(name) for name in names if name in columns}
    return {name: one for name, one in found.items() if not missing(one) and (name in NAMES["answer"] or str(one))}


def _joined(part: Any, field: str, columns: Mapping[str, Any]) -> Any:
    """Return a part of a row with the columns that belong to it."""
    fields = part if isinstance(part, Mapping) else {} if missing(part) else {field: part}
    return {**fields, **columns} if columns else part


def _at(value: Any, path: str, whole: str) -> Any:
    """Return what stands at a path such as ``outputs.replies.0``; names may have dots in them."""
    fields = {str(place): one for place, one in enumerate(value)} if isinstance(value, list) else value
    names = (path, *fields) if isinstance(fields, Mapping) else ()
    name = next((name for name in names if name in fields and f"{path}.".startswith(f"{name}.")), None)
    if name is None:
        raise InputError(f"the row has no '{whole}'")
    return (
        fields[name]
        if name == path or missing(fields[name])
        else _at(fields[name], path.removeprefix(f"{name}."), whole)
    )
