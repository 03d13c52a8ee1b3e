"""``jury doctor``: installed extras, keys that are set, a store that accepts judgments, models that answer."""

from __future__ import annotations

import asyncio
import os
import platform
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from jury_adapters import __version__
from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.extras import Extra, extras
from jury_adapters.cli.models import model_names
from jury_adapters.cli.options import AsJson, Quiet, file_option
from jury_adapters.cli.streams import Messages, show, write_json
from jury_adapters.core.errors import ConfigurationError, ModelError
from jury_adapters.core.formatting import visible
from jury_adapters.core.installation import install_command
from jury_adapters.core.preparation import prepare_model
from jury_adapters.core.values import JsonValue
from jury_adapters.models.addresses import plain_address
from jury_adapters.models.base import Options, Prompt
from jury_adapters.models.error_fixes import ERROR_FIXES
from jury_adapters.models.limits import Limits
from jury_adapters.models.registry import resolve_model
from jury_adapters.store import Store, existing_store, is_url, place_name
from jury_adapters.vendors import VENDORS

_TIMEOUT_S = 30.0
_PROMPT = Prompt.of("Reply with the single word: ready")
_MOST_TOKENS = 512  # a reply takes a few; a model that reasons first needs more
_OF_PYTHON = ((", or give api_key=", ""), ("vendor= or base_url=", "--base-url"), ("base_url=", "--base-url"))


def doctor(
    *,
    ask: Annotated[
        list[str] | None,
        typer.Option(
            help="Ask this model (vendor:model) one tiny question; may be given several times.",
            autocompletion=model_names,
        ),
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="The server of the models that are asked.")] = None,
    store: Annotated[str | None, file_option("See whether this store, a file or URL, takes judgments.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """See what is installed and set up; with --ask also which models answer.

    Nothing is sent anywhere without --ask. Keys are never shown, not even in part.

    Exit code: 0, or 1 when a model that was asked does not answer or the store takes nothing.
    """
    found = _Findings(
        extras(), _keys(), _addresses(), None if store is None else _stored(store), _asked(ask or [], base_url)
    )
    if as_json:
        write_json(found.to_dict())
    elif not quiet:
        show(found.print)
    else:
        for trouble in found.troubles():
            Messages().error(trouble)
    raise typer.Exit(ExitCode.NOT_MET if any(found.troubles()) else ExitCode.OK)


@dataclass(frozen=True, slots=True)
class Answered:
    """Result of asking one model.

    Attributes:
        model: its name, as it was requested.
        seconds: the duration of the call.
        cost_usd: its cost; None if the price is unknown.
        trouble: why it did not answer, and the fix; empty if it did.
    """

    model: str
    seconds: float = 0.0
    cost_usd: float | None = None
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class _Findings:
    extras: Sequence[Extra]
    keys: dict[str, bool]
    addresses: dict[str, str]
    store: tuple[str, str] | None
    models: Sequence[Answered]

    def troubles(self) -> Iterator[str]:
        """Yield the requested checks that failed."""
        if self.store is not None and self.store[1]:
            yield self.store[1]
        for answered in self.models:
            if answered.trouble:
                yield f"{answered.model}: {answered.trouble}"

    def to_dict(self) -> dict[str, JsonValue]:
        return {
            "python": platform.python_version(),
            "platform": platform.platform(),
            "jury_adapters": __version__,
            "extras": [
                {"extra": extra.name, "state": extra.state, "parts": [
                    {"name": part.name, "installed": part.installed, "supported": part.asked, "fits": part.fits}
                    for part in extra.parts
                ]}
                for extra in self.extras
            ],
            "keys_set": dict(self.keys),
            "base_urls": dict(self.addresses),
            "store": None if self.store is None else {
                "path": self.store[0], "writable": not self.store[1], "error": self.store[1] or None
            },
            "models": [
                {"model": one.model, "answers": not one.trouble, "seconds": round(one.seconds, 3),
                 "cost_usd": one.cost_usd, "error": one.trouble or None}
                for one in self.models
            ],
        }  # fmt: skip

    def print(self, console: Console) -> None:
        """Print all findings, the requested ones first."""
        console.print(Text(f"jury_adapters {__version__}, Python {platform.python_version()}", style="bold"))
        if self.store is not None:
            _heading(console, "Store")
            path, trouble = self.store
            _line(console, visible(path), trouble, "takes judgments")
        if self.models:
            _heading(console, "Models")
        for one in self.models:
            cost = "cost unknown" if one.cost_usd is None else f"${one.cost_usd:.6f}"
            _line(console, visible(one.model), one.trouble, f"answers in {one.seconds:.2f} s, {cost}")
        _heading(console, "Extras")
        for extra in self.extras:
            style, state = {"ready": "green", "other version": "yellow"}.get(extra.state, ""), f"{extra.state:<14}"
            console.print(Text.assemble(f"  {extra.name:<12} ", (state, style), _parts(extra)), soft_wrap=True)
        if not self.extras:
            console.print(Text(f"  the package runs from a folder and is not installed: {install_command('all')}"))
        _heading(console, "Keys")
        for variable, is_set in self.keys.items():
            console.print(Text.assemble(f"  {variable:<22} ", ("set", "green") if is_set else "not set"))
        for variable, address in self.addresses.items():
            console.print(Text(f"  {variable:<22} {visible(address)}"))
        if not self.models:
            console.print(Text("\nWhether a model answers: jury doctor --ask vendor:model"))


def _heading(console: Console, text: str) -> None:
    console.print(Text(f"\n{text}", style="bold"))


def _line(console: Console, name: str, trouble: str, well: str) -> None:
    result = (visible(trouble), "red") if trouble else (well, "green")
    console.print(Text.assemble(f"  {name}: ", result), soft_wrap=True)


def _parts(extra: Extra) -> str:
    """Return the parts of an extra, with the supported versions if a part is missing or has another version."""
    parts = []
    for part in extra.parts:
        range_ = "" if part.fits else f" (supported: {part.asked or 'any'})"
        parts.append(f"{part.name} {part.installed or 'missing'}{range_}")
    fix = "" if extra.state == "ready" else f"; {install_command(extra.name)}"
    return ", ".join(parts) + fix


def _keys() -> dict[str, bool]:
    """Return which vendors' keys are set, never their values."""
    variables = [vendor.key_variable for vendor in VENDORS.values() if vendor.key_variable is not None]
    return {variable: bool(os.environ.get(variable)) for variable in variables}


def _addresses() -> dict[str, str]:
    """Return the servers that environment variables name, without parts of the address that may be secret."""
    names = [vendor.url_variable for vendor in VENDORS.values() if vendor.url_variable is not None]
    return {name: plain_address(os.environ[name]) or "(no address)" for name in names if os.environ.get(name)}


def _stored(place: str) -> tuple[str, str]:
    """Return the store, and why it accepts no judgments (empty if it does). A missing store is not created."""
    path = Path(place)
    try:
        if is_url(place) or path.exists():
            with existing_store(place) as store:
                return store.name, ""
        with tempfile.TemporaryDirectory(dir=path.resolve().parent, prefix=".jury-doctor-") as folder:
            Store(Path(folder) / "runs.db").close()
    except ConfigurationError as error:
        return (place_name(place) if is_url(place) else place), str(error)
    except OSError as error:
        return (
            place,
            f"the store {place} cannot be made: {error.strerror or error}; the folder must exist and be writable",
        )
    return place, ""


def _asked(names: Sequence[str], base_url: str | None) -> list[Answered]:
    async def all_of_them() -> list[Answered]:
        return list(await asyncio.gather(*(_answer(name, base_url) for name in names)))

    return asyncio.run(all_of_them()) if names else []


def _in_a_shell(message: str) -> str:
    """Return a message of the package, which is written for programmers, in the terms of this command."""
    for python, ours in _OF_PYTHON:
        message = message.replace(python, ours)
    return message


async def _answer(name: str, base_url: str | None) -> Answered:
    started = perf_counter()
    try:
        model = resolve_model(
            name, base_url=base_url, request_timeout=_TIMEOUT_S, limits=Limits(attempts=1, deadline_s=_TIMEOUT_S)
        )
        await prepare_model(model)  # the time is that of the answer, not of importing an SDK
        started = perf_counter()
        reply = await model.complete(_PROMPT, None, Options(max_tokens=_MOST_TOKENS))
    except ConfigurationError as error:
        return Answered(name, trouble=_in_a_shell(str(error)))
    except ModelError as error:
        return Answered(
            name, perf_counter() - started, trouble=f"{str(error).removeprefix(f'{name}: ')}; {ERROR_FIXES[error.kind]}"
        )
    cost = reply.usage.cost_usd if reply.usage.cost_complete else None
    return Answered(name, perf_counter() - started, cost)
