"""Trace of the functions that run from ``judge_many`` to the HTTP request, for one case and one critic.

``python -m tools.traced_path`` prints it, run in the folder ``tests``. ``docs/design.md`` shows the awaited functions.
"""

from __future__ import annotations

import ast
import sys
import threading
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

import openai  # noqa: F401  its own import takes seconds while it is traced
from support.vendor import VendorServer

import jury_adapters
from jury_adapters import Case, Critic, Ensemble

ROOT = Path(jury_adapters.__file__).parent


@dataclass
class Trace:
    """Functions of the package that ran, in the order of their first call.

    Attributes:
        called: code objects, each once.
        awaited: the functions that wait for the request while it is sent, the outermost first.
    """

    called: dict[CodeType, None] = field(default_factory=dict)
    awaited: list[CodeType] = field(default_factory=list)

    def record(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or self.awaited:
            return
        if _is_ours(frame.f_code):
            self.called.setdefault(frame.f_code)
        elif frame.f_code.co_qualname == "ClientSession._request":
            caller = frame.f_back
            while caller is not None:
                self.awaited.insert(0, caller.f_code)
                caller = caller.f_back


def trace_first_case() -> Trace:
    """Judge one case with a jury of one critic and record what runs until its request is sent."""
    trace = Trace()
    with VendorServer() as server:
        critic = Critic("openai:m", "faithfulness", name="truth", base_url=server.openai, api_key="k")
        jury, case = Ensemble([critic]), Case(question="q", answer="TRUTH=YES", contexts=["c"])
        threading.setprofile(trace.record)
        sys.setprofile(trace.record)
        try:
            (verdict,) = jury.judge_many([case])
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
    assert verdict.passed, verdict
    return trace


def place_of(code: CodeType) -> str:
    """Return a function as ``core/batch.py stream``."""
    return f"{Path(code.co_filename).relative_to(ROOT).as_posix()} {code.co_qualname}"


def named(codes: list[CodeType]) -> list[CodeType]:
    """Return the functions of the package without lambdas and comprehensions."""
    return [code for code in codes if _is_ours(code) and not code.co_name.startswith("<")]


def only_forwards(code: CodeType) -> bool:
    """Whether a function does nothing but call another one with its own parameters.

    A method that calls its object's private part, such as a cache its dictionary, hides that part and is no forwarder.
    """
    tree = _parsed(code.co_filename)
    first = {code.co_firstlineno}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = {node.lineno, *(decorator.lineno for decorator in node.decorator_list)}
            if node.name == code.co_name and lines & first:
                return _forwards(node)
    return False


@cache
def _parsed(path: str) -> ast.Module:
    return ast.parse(Path(path).read_text(encoding="utf-8"))


def _forwards(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    if len(body) != 1 or not isinstance(body[0], ast.Return | ast.Expr):
        return False
    value = body[0].value
    value = value.value if isinstance(value, ast.Await) else value
    if not isinstance(value, ast.Call) or "self._" in ast.unparse(value.func):
        return False
    given = [*value.args, *(keyword.value for keyword in value.keywords)]
    values = [argument.value if isinstance(argument, ast.Starred) else argument for argument in given]
    spec = node.args
    parameters = (*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg)
    own = {parameter.arg for parameter in parameters if parameter is not None}
    passed = {argument.id for argument in values if isinstance(argument, ast.Name)}
    return len(passed) == len(values) and passed <= own and own - {"self", "cls"} <= passed


def _is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(f"{ROOT}/")


if __name__ == "__main__":
    traced = trace_first_case()
    called = named(list(traced.called))
    print(f"{len(called)} functions in {len({code.co_filename for code in called})} files")
    for code in called:
        print(" ", place_of(code), "  <- only forwards" if only_forwards(code) else "")
    print("awaited:", *map(place_of, named(traced.awaited)), sep="\n  ")
