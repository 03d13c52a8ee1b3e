"""``jury show models``: models with a known price, and vendors with their servers."""

from __future__ import annotations

import os
from dataclasses import asdict

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jury_adapters.cli.streams import show, write_json
from jury_adapters.core.values import JsonValue
from jury_adapters.models.limits import Limits
from jury_adapters.models.prices import PRICES
from jury_adapters.vendors import PRICES_AS_OF, VENDORS, Vendor


def print_models(*, as_json: bool) -> None:
    """Print the vendors, and the models whose price is known."""
    if as_json:
        write_json(_to_dict())
    else:
        show(_print)


def model_names(incomplete: str) -> list[str]:
    """Return the models with a price, and `vendor:` for all vendors, for completion in the shell."""
    names = [*PRICES, *(f"{vendor}:" for vendor in VENDORS)]
    return [name for name in names if name.startswith(incomplete)]


def _to_dict() -> dict[str, JsonValue]:
    return {
        "prices_as_of": PRICES_AS_OF,
        "currency": "USD per million tokens",
        "models": [
            {"model": name, "input": price.input, "output": price.output, "cached": price.cached}
            for name, price in PRICES.items()
        ],
        "vendors": [
            {"vendor": name, "base_url": vendor.base_url, "url_variable": vendor.url_variable, "sdk": vendor.sdk,
             "key_variable": vendor.key_variable, "key_set": _is_set(vendor.key_variable)}
            for name, vendor in VENDORS.items()
        ],
        "limits": {**asdict(Limits())},
    }  # fmt: skip


def _server(vendor: Vendor) -> str:
    if vendor.url_variable is None or "{}" in vendor.base_url:
        return vendor.base_url.replace("{}", f"${vendor.url_variable}")
    return f"{vendor.base_url}, or ${vendor.url_variable}"


def _is_set(variable: str | None) -> bool:
    return variable is None or bool(os.environ.get(variable))


def _print(console: Console) -> None:
    table = _table(
        f"Prices in US dollars per million tokens, as of {PRICES_AS_OF}", "model", "#input", "#output", "#cached"
    )
    for name, price in PRICES.items():
        cached = "" if price.cached is None else f"{price.cached:g}"
        table.add_row(name, f"{price.input:g}", f"{price.output:g}", cached)
    console.print(table)
    console.print()
    table = _table("Vendors", "write", "key", "server")
    for name, vendor in VENDORS.items():
        key = "none needed"
        if vendor.key_variable is not None:
            key = f"{vendor.key_variable} ({'set' if _is_set(vendor.key_variable) else 'not set'})"
        table.add_row(f"{name}:MODEL", key, _server(vendor))
    console.print(table)
    limits = Limits()
    console.print(
        Text(
            f"\nUnless told otherwise a call is tried {limits.attempts} times, with waits of at most "
            f"{limits.max_wait_s:g} s and {limits.deadline_s:g} s in all; at most {limits.max_concurrency} calls to a "
            "model are in flight.\nWhether a model answers: jury doctor --ask vendor:model"
        )
    )


def _table(title: str, *headings: str) -> Table:
    """Return an empty table; a heading that begins with # is above numbers."""
    table = Table(title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, show_edge=False)
    for heading in headings:
        number = heading.startswith("#")
        table.add_column(heading.removeprefix("#"), justify="right" if number else "left", overflow="fold")
    return table
