"""``jury show``: what may stand in a jury file."""

from collections.abc import Callable
from importlib.resources import files
from inspect import cleandoc
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter

from jury_adapters.checks import CHECKS
from jury_adapters.cli.console import AsJson, show_json
from jury_adapters.cli.console import show as line
from jury_adapters.config import jury_schema
from jury_adapters.core.text import visible
from jury_adapters.core.values import ConfigurationError
from jury_adapters.critic.rubric import Rubric, bundled_rubrics
from jury_adapters.models.prices import PRICES, PRICES_AS_OF
from jury_adapters.models.vendors import VENDORS


def show(
    name: Annotated[
        str, typer.Argument(help="checks, rubrics, models, schema, or the name of a check or a rubric.")
    ] = "checks",
    *,
    as_json: AsJson = False,
) -> None:
    """Show the checks, rubrics and models that a jury file may name, one of them in full, or the schema of such files.

    With the schema, an editor completes and checks jury files: jury show schema > jury.schema.json
    """
    lists: dict[str, Callable[[], dict[str, str]]] = {"checks": _checks, "rubrics": _rubrics, "models": _models}
    if name == "schema":
        show_json(jury_schema())
    elif name in lists:
        found = lists[name]()
        for key, about in () if as_json else found.items():
            line(f"{key:<32} {about}")
        if as_json:
            show_json(found)
    elif name in CHECKS or name in bundled_rubrics():
        _show_one(name, as_json=as_json)
    else:
        known = ", ".join((*lists, "schema", *CHECKS, *bundled_rubrics()))
        raise ConfigurationError(f"'{visible(name, 40)}' is none of {known}")


def _checks() -> dict[str, str]:
    return {name: (kind.__doc__ or "").partition("\n")[0] for name, kind in CHECKS.items()}


def _rubrics() -> dict[str, str]:
    return {name: Rubric.bundled(name).criteria.partition("\n")[0] for name in bundled_rubrics()}


def _models() -> dict[str, str]:
    servers = {f"{name}:MODEL": f"{one.key_variable or 'no key'}, {one.address}" for name, one in VENDORS.items()}
    prices = {
        name: f"${into:g} in, ${out:g} out per million tokens, {PRICES_AS_OF}" for name, (into, out) in PRICES.items()
    }
    return servers | prices


def _show_one(name: str, *, as_json: bool) -> None:
    """Show a check with its options, and a rubric as a file that can be changed; a few have one name."""
    schema = TypeAdapter(CHECKS[name]).json_schema() if name in CHECKS else None
    rubric = Rubric.bundled(name).model_dump(mode="json", exclude_defaults=True) if name in bundled_rubrics() else None
    if as_json:
        show_json({"check": schema, "rubric": rubric})
        return
    if schema is not None:
        line(f"check: {name}", "bold")
        line(cleandoc(CHECKS[name].__doc__ or ""))
        for option, one in schema["properties"].items():
            given = "required" if option in schema.get("required", ()) else f"default {one.get('default')!r}"
            line(f"  {option}: {_kind(one)}, {given}")
    if rubric is not None:
        line(f"# rubric: {name}", "bold")
        line((files("jury_adapters.critic") / "rubrics" / f"{name}.yaml").read_text(encoding="utf-8"))


def _kind(schema: dict[str, Any]) -> str:
    """Return the type of an option in words of JSON schema."""
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    return " or ".join(map(repr, schema["enum"])) if "enum" in schema else str(schema.get("type", "any value"))
