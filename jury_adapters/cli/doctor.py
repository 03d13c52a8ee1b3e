"""``jury doctor``: what is installed, which keys are set, and which models answer."""

import os
import platform
from importlib.metadata import distributions
from time import perf_counter
from typing import Annotated, Any

import typer

from jury_adapters.cli.console import AsJson, ExitCode, not_met, show, show_json
from jury_adapters.core import loop
from jury_adapters.core.text import visible
from jury_adapters.core.values import JuryError, error_text

_PACKAGES = ("jury-adapters", "openai", "anthropic", "langchain-core", "llama-index-core", "numpy", "scipy")
_QUESTION = "Reply with the single word: ready"


def doctor(
    *,
    ask: Annotated[
        list[str] | None, typer.Option(help="Ask this model one tiny question.", metavar="VENDOR:MODEL")
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="The server of the models that are asked.")] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """See what is installed, which keys are set, and with --ask which models answer.

    Nothing is sent without --ask, and keys are never shown. The exit code is 1 if a model does not answer.
    """
    from jury_adapters.models.vendors import VENDORS

    keys = {one.key_variable: bool(os.environ.get(one.key_variable)) for one in VENDORS.values() if one.key_variable}
    installed = {one.name: one.version for one in distributions()}
    models = {name: loop.run(_answer(name, base_url)) for name in ask or ()}
    found: dict[str, Any] = {
        "python": platform.python_version(),
        "packages": {name: installed.get(name) for name in _PACKAGES},
        "keys_set": keys,
        "models": models,
    }
    if as_json:
        show_json(found)
    else:
        _print(found)
    return not_met(f"{name}: {one['error']}" for name, one in models.items() if one["error"])


async def _answer(name: str, base_url: str | None) -> dict[str, Any]:
    from jury_adapters.models.base import Options, Prompt, Turn
    from jury_adapters.models.names import open_model

    started = perf_counter()
    try:
        model = open_model(name, base_url=base_url, timeout=30.0)
        # The reply takes a few tokens; a model that reasons first needs more.
        reply = await model.complete(Prompt("", (Turn("user", _QUESTION),)), None, Options(max_tokens=512))
    except JuryError as error:
        return {"answers": False, "seconds": None, "cost_usd": None, "error": visible(error_text(error), 400)}
    cost = reply.usage.cost_usd if reply.usage.cost_complete else None
    return {"answers": True, "seconds": round(perf_counter() - started, 2), "cost_usd": cost, "error": None}


def _print(found: dict[str, Any]) -> None:
    show(f"Python {found['python']}")
    for name, installed in found["packages"].items():
        show(f"  {name:<20} {installed or 'not installed'}")
    show("Keys")
    for name, there in found["keys_set"].items():
        show(f"  {name:<20} {'set' if there else 'not set'}", "green" if there else "")
    for name, one in found["models"].items():
        if one["answers"]:
            cost = "cost unknown" if one["cost_usd"] is None else f"${one['cost_usd']:.6f}"
            show(f"{name} answers in {one['seconds']} s, {cost}", "green")
    if not found["models"]:
        show("Whether a model answers: jury doctor --ask VENDOR:MODEL")
