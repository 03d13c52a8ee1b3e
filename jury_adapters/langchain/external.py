"""LangChain's evaluators as judges: openevals, agentevals, LangSmith functions, string evaluators.

>>> def polite(outputs):
...     return {"key": "polite", "score": "please" in outputs, "comment": "looked for 'please'"}
>>> from_evaluator(polite).judge(answer="Yes, please.").passed
True
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from inspect import getclosurevars, isfunction
from types import FunctionType
from typing import TYPE_CHECKING, Any, Unpack
from uuid import uuid4

from langsmith.evaluation import RunEvaluator
from langsmith.schemas import Example, Run

from jury_adapters.core.case import Case
from jury_adapters.core.case_parts import Step
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.judgment import Judgment, abstain
from jury_adapters.core.references import EXPECTED_CALLS
from jury_adapters.core.run_parts import REFERENCE_MESSAGES, RUN_MESSAGES
from jury_adapters.judges.external import Call, ExternalJudge, ExternalOptions, NotAskedError, Said
from jury_adapters.judges.external_calls import (
    Arguments,
    by_name,
    called,
    checked_arguments,
    fitting,
    own_name_of,
    takes,
)
from jury_adapters.judges.external_results import read_preference, read_result, text_of, with_score
from jury_adapters.judges.toolcalls import ToolCall
from jury_adapters.langchain.evaluator_kinds import Kind, json_arguments, kind_of, of_json
from jury_adapters.langchain.function_arguments import arguments_of, check_parameters, explained
from jury_adapters.langchain.openevals_prompts import asks_about_conversation, fault_scale, has_variable
from jury_adapters.langchain.rows import quietly
from jury_adapters.langchain.string_criteria import check_comparison, scale_of

if TYPE_CHECKING:
    from langchain_classic.evaluation.schema import PairwiseStringEvaluator, StringEvaluator

__all__ = ["conversation", "expected_conversation", "from_evaluator"]


def from_evaluator(
    evaluator: Callable[..., Any] | RunEvaluator | StringEvaluator | PairwiseStringEvaluator,
    *,
    arguments: Arguments | None = None,
    trajectory: bool | None = None,
    trace: bool = False,
    **options: Unpack[ExternalOptions],
) -> ExternalJudge:
    """Return an evaluator of openevals, agentevals, LangSmith or ``langchain_classic`` as a judge, for use in a jury.

    A function is called by name with those of ``inputs`` (the question), ``outputs`` (the answer),
    ``reference_outputs`` (the reference) and ``context`` (the contexts) that it takes. They are texts. A parameter that
    is annotated as ``dict`` gets ``{"question": ...}`` or ``{"answer": ...}``, and ``outputs`` also ``"contexts"`` if
    there are any. A function of ``(run, example)`` and a ``RunEvaluator`` get a run and an example of the case; the
    texts are under ``"input"`` and ``"question"``, and under ``"output"`` and ``"answer"``. For other names, use
    ``arguments=``. Asynchronous functions are awaited; all others run in a thread. Results are read as LangSmith reads
    them: a result with ``score`` or ``value`` and ``comment``, several of them (each becomes a check), or a bare score.

    openevals' ``json_match`` gets the values of the JSON texts in the case. The reference is JSON text of an object or
    of a list of objects; an answer that is not JSON text of the same kind is FAIL.

    A string evaluator of ``langchain_classic`` gets the question or the reference if it requires it, and a case without
    it is ABSTAIN; so is an evaluation whose ``score`` is None, as that of a reply that it could not read. The ``value``
    counts only with ``pass_labels=``, or if the result has no ``score`` at all. A pairwise one compares the two
    ``candidates`` of a case; its label is ``A``, ``B`` or ``tie``. LangChain's criteria that a bad answer meets
    (``harmfulness``, ``maliciousness``, ``controversiality``, ``misogyny``, ``criminality``, ``insensitivity``) are
    inverted: Y is FAIL. So are judges of openevals with one of its own prompts that ask for a fault
    (``TOXICITY_PROMPT``, ``FAIRNESS_PROMPT``, ``PII_LEAKAGE_PROMPT``, ``CODE_INJECTION_PROMPT``,
    ``PROMPT_INJECTION_PROMPT``, ``LAZINESS_PROMPT``, ``PERCEIVED_ERROR_PROMPT``, ``EXPLICIT_CONTENT_PROMPT``,
    ``SENSITIVE_IMAGERY_PROMPT``, ``AUDIO_QUALITY_PROMPT``): True is FAIL.

    Args:
        evaluator: a function, a ``RunEvaluator``, or the result of ``load_evaluator(...)``.
        arguments: the arguments to call a function with instead, such as
            ``lambda case: {"outputs": {"reply": case.answer}, "reference_outputs": {"label": case.reference}}``.
        trajectory: whether a function evaluates conversations: ``outputs`` is then :func:`conversation`, and
            ``reference_outputs`` is :func:`expected_conversation`. None means True for the trajectory evaluators of
            agentevals and openevals and for judges with a prompt of openevals about conversations, such as
            ``KNOWLEDGE_RETENTION_PROMPT`` or ``TOOL_SELECTION_PROMPT``, and False for others.
        trace: whether LangSmith may trace the evaluator.
        **options: see :class:`jury_adapters.judges.external.ExternalOptions`. Use ``name=`` to replace the feedback key
            of openevals' judges, and for evaluators without a name of their own; ``pass_labels=["polite"]`` for
            evaluators that answer in words (``value``); ``scale=(1, 0)`` for the distances of ``langchain_classic``,
            ``scale=(1, 10)`` for ``score_string``. A given ``scale=`` decides what is good, also for the criteria
            above.

    Raises:
        ConfigurationError: ``evaluator`` is not an evaluator, or requires an argument that only ``arguments=`` can
            give, or an option is invalid; or one of the criteria above is
            combined with others, reworded, or rated with numbers, and there is no ``scale=``; or it is used to compare
            two answers. Any criterion with a word for such a fault (harmful, toxic, wrong, ...) in its name or text
            counts as reworded.
    """
    if _is_string_evaluator(evaluator):
        if arguments is not None or trajectory is not None:
            raise ConfigurationError(
                "a string evaluator gets the texts of the case; arguments= and trajectory= are for functions"
            )
        return _from_string_evaluator(evaluator, trace=trace, **options)
    if "scale" not in options and (scale := fault_scale(evaluator)) is not None:
        options["scale"] = scale
    return _from_function(evaluator, arguments=arguments, trajectory=trajectory, trace=trace, **options)


def _from_function(
    function: object,
    *,
    arguments: Arguments | None,
    trajectory: bool | None,
    trace: bool,
    **options: Unpack[ExternalOptions],
) -> ExternalJudge:
    """Return the judge of a function or a ``RunEvaluator``."""
    given = checked_arguments(arguments)
    own = given is not None
    kind = "texts" if own else _kind_of(function, trajectory)
    ask_evaluator, of_runs = _asked_how(function)
    if not own and not of_runs:
        check_parameters(ask_evaluator)
    given = given or (arguments_of(ask_evaluator) if kind == "texts" else _ARGUMENTS[kind])
    names_runs = bool(takes(ask_evaluator)[0].keys() & {"run", "example"})

    async def ask(wanted: Mapping[str, object]) -> Said:
        with quietly(trace):
            try:
                if of_runs:
                    return read_result(await called(ask_evaluator, *_run_and_example(wanted)))
                if names_runs:
                    run, example = _run_and_example(wanted)
                    wanted = {**wanted, "run": run, "example": example}
                return read_result(await called(ask_evaluator, **fitting(ask_evaluator, wanted)))
            except (KeyError, TypeError, AttributeError) as error:
                missing = error.args[0] if error.args and isinstance(error, KeyError) else None
                if isinstance(missing, str) and wanted.get(missing) is None:
                    variable = missing not in wanted
                    if not variable or has_variable(function, missing):  # it is filled in before the model is called
                        hint = "; give it with from_evaluator(..., arguments=...)" if variable else ""
                        lacks = f"the evaluator needs {missing!r}, which the case does not have{hint}"
                        raise NotAskedError(lacks) from error
                raise (
                    error if own or kind != "texts" else explained(error, given, of_runs=of_runs or names_runs)
                ) from error

    prepare = by_name(ask_evaluator, given, ask, checked=not of_runs, fitted=False)
    if kind == "JSON":
        prepare = of_json(prepare)
    return ExternalJudge(prepare, _feedback_key(function) or own_name_of(function), **options)


def _is_string_evaluator(evaluator: object) -> bool:
    methods = ("aevaluate_strings", "aevaluate_string_pairs")
    return not isinstance(evaluator, type) and any(callable(getattr(evaluator, name, None)) for name in methods)


def _from_string_evaluator(evaluator: object, *, trace: bool, **options: Unpack[ExternalOptions]) -> ExternalJudge:
    """Return the judge of a string evaluator, or of a pairwise one."""
    compares = callable(getattr(evaluator, "aevaluate_string_pairs", None))
    if compares:
        check_comparison(evaluator)
    elif "scale" not in options and (scale := scale_of(evaluator)) is not None:
        options["scale"] = scale

    def prepare(case: Case) -> Call | Judgment:
        arguments = _string_arguments(evaluator, case, compares=compares)
        return arguments if isinstance(arguments, Judgment) else Call(arguments, partial(ask, arguments))

    async def ask(arguments: Mapping[str, str]) -> Said:
        asked: Any = evaluator
        with quietly(trace):
            if not compares:
                said = await asked.aevaluate_strings(**arguments)
                result = read_result(said)
                return result if options.get("pass_labels") or isinstance(result, list) else with_score(said, result)
            said = await asked.aevaluate_string_pairs(**arguments)
            return read_preference(said.get("score"), said.get("value"), text_of(said.get("reasoning")))

    name = getattr(evaluator, "evaluation_name", None)
    return ExternalJudge(prepare, name if isinstance(name, str) and name else own_name_of(evaluator), **options)


def conversation(case: Case) -> list[dict[str, object]]:
    """Return the turns of a case as OpenAI-style messages: earlier turns, question, tool calls, answer.

    For a case that was read from two conversations, of a run and of its reference, the run's messages are returned
    unchanged.

    >>> [message["role"] for message in conversation(Case(question="2 + 2?", answer="4"))]
    ['user', 'assistant']
    """
    _check_case(case)
    as_read = _messages_under(RUN_MESSAGES, case)
    if as_read is not None:
        return as_read
    messages: list[dict[str, object]] = [
        {"role": one.role, "content": one.content} for one in case.messages if one.is_shown
    ]
    if case.question is not None:
        messages.append({"role": "user", "content": case.question})
    messages += _messages_of(case.trajectory, "call")
    if case.answer is not None:
        messages.append({"role": "assistant", "content": case.answer})
    return messages


def expected_conversation(case: Case) -> list[dict[str, object]] | None:
    """Return the messages of a reference run; None if there is none.

    A reference that was given as messages is in ``metadata["reference_messages"]``. Otherwise, the messages are built
    from ``metadata["expected_calls"]``, messages or tool calls, which are assumed to be made one after the other.
    """
    _check_case(case)
    as_read = _messages_under(REFERENCE_MESSAGES, case) or _messages_under(EXPECTED_CALLS, case)
    if as_read is not None:
        return as_read
    given = case.metadata.get(EXPECTED_CALLS)
    if not isinstance(given, Sequence) or isinstance(given, str):
        return None
    calls = [ToolCall.of(item) for item in given]
    messages: list[dict[str, object]] = [] if case.question is None else [{"role": "user", "content": case.question}]
    steps = [Step(tool=call.tool, arguments=dict(call.arguments or {}), output="") for call in calls]
    messages += _messages_of(steps, "expected")
    answer = case.answer if case.reference is None else case.reference
    if answer is not None:
        messages.append({"role": "assistant", "content": answer})
    return messages


def _check_case(case: object) -> None:
    if not isinstance(case, Case):
        raise ConfigurationError(f"give a Case, which to_case(value) reads from a row; not {plain_repr(case)}")


def _messages_under(name: str, case: Case) -> list[dict[str, object]] | None:
    """Return the messages under a name of the metadata; None if there is anything else."""
    given = case.metadata.get(name)
    items = given if isinstance(given, list | tuple) else ()
    if not any(isinstance(item, Mapping) and "role" in item for item in items):
        return None
    thawed = [_thawed(item) for item in items]
    return [item for item in thawed if isinstance(item, dict)]


def _conversation_arguments(case: Case) -> dict[str, object]:
    outputs = conversation(case) if case.trajectory or case.answer is not None else None
    return {"inputs": case.question, "outputs": outputs, "reference_outputs": expected_conversation(case)}


def _kind_of(function: object, trajectory: bool | None) -> Kind:
    if trajectory is None:
        return "conversations" if asks_about_conversation(function) else kind_of(function)
    return "conversations" if trajectory else "texts"


def _messages_of(steps: Sequence[Step], prefix: str) -> list[dict[str, object]]:
    """Return steps as messages; parallel calls are in one message, followed by their results."""
    messages: list[dict[str, object]] = []
    calls: list[object] | None = None
    for position, step in enumerate(steps, start=1):
        if step.tool is None:
            messages.append({"role": "assistant", "content": step.text or ""})
            calls = None
            continue
        function = {"name": step.tool, "arguments": json.dumps(_thawed(step.arguments))}
        call = {"id": f"{prefix}_{position}", "type": "function", "function": function}
        if step.parallel and calls is not None:
            calls.append(call)
        else:
            calls = [call]
            messages.append({"role": "assistant", "content": step.text or "", "tool_calls": calls})
        result = step.output if step.error is None else step.error
        if result is not None:
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return messages


def _thawed(value: object) -> object:
    """Return plain lists and dictionaries, because evaluators change their arguments."""
    if isinstance(value, Mapping):
        return {key: _thawed(item) for key, item in value.items()}
    return [_thawed(item) for item in value] if isinstance(value, list | tuple) else value


def _asked_how(function: object) -> tuple[Callable[..., object], bool]:
    """Return the function to call, and whether it takes a run and an example, under any names.

    Raises:
        ConfigurationError: ``function`` is not an evaluator.
    """
    if isinstance(function, RunEvaluator):
        return _of_run_evaluator(function), True
    if callable(function) and not isinstance(function, type):
        return function, _takes_two_of_any_name(function)
    raise ConfigurationError(
        f"from_evaluator takes an evaluator function, a RunEvaluator or a string evaluator, not {plain_repr(function)}"
    )


def _feedback_key(function: object) -> str:
    """Return the key under which an openevals or agentevals evaluator reports its score; empty if it has none."""
    function = getattr(function, "func", function)  # of functools.partial
    if not isfunction(function):
        return ""
    around = getclosurevars(function).nonlocals
    key, mode = around.get("feedback_key"), around.get("trajectory_match_mode")
    if isinstance(key, str):
        return "" if key == "score" else key  # openevals uses "score" for evaluators without a name
    return f"trajectory_{mode}_match" if isinstance(mode, str) else _named_by_maker(function)


def _named_by_maker(function: FunctionType) -> str:
    """Return the name of the function that made an evaluator, which is a wrapper without a name of its own.

    For ``create_json_match_evaluator``, it is ``json_match``, which is also its feedback key.
    """
    maker, _, own = function.__qualname__.rpartition(".<locals>.")
    if not maker or own.strip("_") != "wrapped_evaluator":
        return ""
    name = maker.rpartition(".")[2].removeprefix("create_").removeprefix("async_")
    return name.removesuffix("_evaluator")


def _takes_two_of_any_name(function: Callable[..., object]) -> bool:
    """Whether the function has two parameters with names unknown to LangSmith: they are a run and an example then."""
    named, _ = takes(function)
    if named.keys() & {"run", "example", "inputs", "outputs", "reference_outputs"}:
        return False
    return len([one for one in named.values() if one.default is one.empty and one.kind is not one.KEYWORD_ONLY]) == 2


def _of_run_evaluator(evaluator: RunEvaluator) -> Callable[[Run, Example], object]:
    """Return the asynchronous form if the class defines one; the default one runs the other form in a small pool."""
    own = getattr(evaluator, "is_async", type(evaluator).aevaluate_run is not RunEvaluator.aevaluate_run)
    return evaluator.aevaluate_run if own else evaluator.evaluate_run


def _run_and_example(given: Mapping[str, object]) -> tuple[Run, Example]:
    now, run_id = datetime.now(UTC), uuid4()
    inputs = _as_dict(given.get("inputs"), "input", "question")
    context = given.get("context")
    if context is not None:
        inputs["context"] = context
    run = Run(
        id=run_id, name="case", start_time=now, end_time=now, run_type="chain", inputs=inputs,
        outputs=_as_dict(given.get("outputs"), "output", "answer"), trace_id=run_id, dotted_order="",
    )  # fmt: skip
    outputs = _as_dict(given.get("reference_outputs"), "output", "answer")
    return run, Example(id=uuid4(), dataset_id=uuid4(), inputs=inputs, outputs=outputs, created_at=now)


def _as_dict(value: object, *keys: str) -> dict[str, Any]:
    if value is None:
        return {}
    return dict(value) if isinstance(value, Mapping) else dict.fromkeys(keys, value)


def _string_arguments(evaluator: object, case: Case, *, compares: bool) -> dict[str, str] | Judgment:
    arguments: dict[str, str] = {}
    if compares:
        if len(case.candidates) != 2:
            return abstain(f"two candidates are compared, and the case has {len(case.candidates)}")
        arguments["prediction"], arguments["prediction_b"] = case.candidates
    elif case.answer is None:
        return abstain("the case has no answer")
    else:
        arguments["prediction"] = case.answer
    # LangChain warns about inputs and references that an evaluator ignores, so only required ones are passed.
    for name, required, text in (
        ("input", "requires_input", case.question),
        ("reference", "requires_reference", case.reference),
    ):
        if not getattr(evaluator, required, False):
            continue
        if text is None:
            return abstain(f"the evaluator requires the {'question' if name == 'input' else name}; the case has none")
        arguments[name] = text
    return arguments


_ARGUMENTS: Mapping[Kind, Arguments] = {
    "conversations": _conversation_arguments, "JSON": json_arguments,
}  # fmt: skip
