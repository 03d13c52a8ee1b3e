"""Arguments of evaluator functions in LangSmith's form: texts, or dictionaries where the annotations ask for them."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Union, get_args, get_origin, is_typeddict

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.judges.external_calls import Arguments, takes

PARTS = ("inputs", "outputs", "reference_outputs")
_GIVEN = (*PARTS, "context", "run", "example")


def texts(case: Case) -> dict[str, object]:
    """Return the texts of a case under the names of an evaluator's arguments."""
    return {
        "inputs": case.question,
        "outputs": case.answer,
        "reference_outputs": case.reference,
        "context": "\n\n".join(case.contexts) or None,
    }


def arguments_of(function: Callable[..., object]) -> Arguments:
    """Return the function that makes the arguments of an evaluator: a dictionary for each part annotated as one.

    The question is in ``inputs["question"]``, the answer in ``outputs["answer"]``, the contexts in
    ``outputs["contexts"]``, and the reference in ``reference_outputs["answer"]``. All other arguments are texts.
    """
    wanted = [part for part in PARTS if _is_mapping(_annotations(function).get(part))]
    if not wanted:
        return texts

    def arguments(case: Case) -> dict[str, object]:
        contexts = {"contexts": list(case.contexts)} if case.contexts else {}
        dictionaries: dict[str, object] = {
            "inputs": None if case.question is None else {"question": case.question},
            "outputs": None if case.answer is None else {"answer": case.answer, **contexts},
            "reference_outputs": None if case.reference is None else {"answer": case.reference},
        }
        return {**texts(case), **{part: dictionaries[part] for part in wanted}}

    return arguments


def check_parameters(function: Callable[..., object]) -> None:
    """Check that a case has all arguments that an evaluator requires.

    Raises:
        ConfigurationError: it requires another one; the message says how to give it.
    """
    named, _ = takes(function)
    required = [name for name, parameter in named.items() if parameter.default is parameter.empty]
    unknown = next((name for name in required if name not in _GIVEN), None)
    if unknown is not None:
        raise ConfigurationError(
            f"the evaluator requires {unknown!r}, and gets only {', '.join(_GIVEN)}; give its arguments with "
            f"from_evaluator(..., arguments=lambda case: {{'outputs': case.answer, {unknown!r}: ...}})"
        )


def explained(error: Exception, given: Arguments, *, of_runs: bool) -> Exception:
    """Return the exception of an evaluator; one of a function that expects other arguments says how to give them.

    Args:
        error: what the evaluator raised.
        given: the function that made its arguments, without ``arguments=``.
        of_runs: whether it takes a run or an example.
    """
    looked_up, said = isinstance(error, KeyError), str(error)
    if of_runs and looked_up:
        got = "a run and an example with the keys 'input' and 'question', and 'output' and 'answer'"
    elif given is not texts and looked_up:
        got = "{'question': ...} as inputs, {'answer': ...} as outputs and as reference_outputs"
    elif said.startswith("string indices must be") or "'str' object has no attribute" in said:
        got = "texts; annotate a parameter as dict to get {'question': ...} or {'answer': ...}"
    else:
        return error
    return ConfigurationError(
        f"{type(error).__name__}: {error}; the evaluator got {got}. To give it anything else, use from_evaluator(..., "
        "arguments=lambda case: {'outputs': {'reply': case.answer}, ...})"
    )


def _annotations(function: Callable[..., object]) -> dict[str, object]:
    """Return the annotations of the parameters; as texts if a name in them is unknown here."""
    try:
        parameters = inspect.signature(function, eval_str=True).parameters
    except Exception:  # an annotation may be any expression
        parameters = types.MappingProxyType(takes(function)[0])
    return {name: parameter.annotation for name, parameter in parameters.items()}


def _is_mapping(annotation: object) -> bool:
    """Whether an annotation is a dictionary, possibly an optional one, and nothing else."""
    if isinstance(annotation, str):
        return annotation.removeprefix("typing.").split("[")[0].strip() in ("dict", "Dict", "Mapping")
    origin = get_origin(annotation)
    if origin is Annotated:
        return _is_mapping(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return all(_is_mapping(one) for one in get_args(annotation) if one is not types.NoneType)
    kind: Any = origin or annotation
    return is_typeddict(kind) or (isinstance(kind, type) and issubclass(kind, Mapping))
