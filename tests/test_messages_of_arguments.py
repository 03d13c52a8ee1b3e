"""Errors for a wrong argument: what they show of the argument, and what they never show."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest
from langchain_core.language_models import FakeListChatModel

import jury_adapters


class Chat(FakeListChatModel):
    """A model of another package whose repr shows its key."""

    token: str = "my private words"


class Client:
    """An object that can be called, and whose repr shows its key."""

    def __repr__(self):
        return "Client('my private words')"

    def __call__(self, *_, **__):
        return self


KINDS = {"model": lambda: Chat(responses=["yes"]), "client": Client}
WRAPS = {"alone": lambda one: one, "in a list": lambda one: [one], "in a mapping": lambda one: {"a": one}}
FITTING = {
    "model": "openai:gpt-4o-mini", "rubric": "faithfulness", "judges": [lambda case: True], "criteria": "polite",
    "jury": lambda case: True, "judge": lambda case: True, "voting": "majority",
}  # fmt: skip
PACKAGES = (
    "", ".checks", ".voting", ".langchain", ".llama_index", ".store", ".calibration", ".statistics", ".report",
    ".batch_api", ".decision",
)  # fmt: skip
OF_OTHERS = {("JuryTool", "args_schema"), ("Status", "value")}  # LangChain and Python write these messages


def constructors():
    """Every public class, its constructors by another name, and every public function that can be called."""
    for package in PACKAGES:
        module = import_module(f"jury_adapters{package}")
        for name in module.__all__:
            found = getattr(module, name)
            if isinstance(found, type) and not issubclass(found, dict):
                if not issubclass(found, BaseException):
                    yield name, found
                    own = [key for key, value in vars(found).items() if isinstance(value, classmethod)]
                    yield from ((f"{name}.{key}", getattr(found, key)) for key in own if not key.startswith("_"))
            elif inspect.isfunction(found) and not inspect.iscoroutinefunction(found):
                yield name, found


def called_with(function, place, given):
    """Call a function with fitting arguments, except for one; return the message of the error, or an empty text."""
    args, kwargs = [], {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            args += [given] if parameter.name == place else []
        elif parameter.kind is parameter.VAR_KEYWORD:
            kwargs |= {"anything": given} if parameter.name == place else {}
        elif parameter.name == place:
            kwargs[place] = given
        elif parameter.default is parameter.empty:
            kwargs[parameter.name] = FITTING.get(parameter.name, "x")
    try:
        function(*args, **kwargs)
    except Exception as error:
        return str(error)
    return ""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_error_shows_the_repr_of_an_object_in_a_wrong_place_which_may_hold_a_key(kind, wrap):
    shown = {
        (name, place)
        for name, function in constructors()
        for place in inspect.signature(function).parameters
        if "my private words" in called_with(function, place, WRAPS[wrap](KINDS[kind]()))
    }
    assert shown <= OF_OTHERS


def test_no_error_formats_an_argument_by_its_repr():
    raised = re.compile(r"(?:Configuration|Input)Error\((?:[^()]|\([^()]*\))*?, not \{[^{}]*!r\}", re.DOTALL)
    files = Path(jury_adapters.__file__).parent.rglob("*.py")
    assert not [(file.name, found[-80:]) for file in files for found in raised.findall(file.read_text("utf-8"))]
