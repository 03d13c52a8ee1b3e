"""Jury files given to a command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypedDict

from yaml import CollectionNode

from jury_adapters.core.errors import InputError, unknown
from jury_adapters.core.judge import Judge
from jury_adapters.core.jury import Jury
from jury_adapters.yaml_files import compose


class Permissions(TypedDict):
    """Permissions that the options of a command give to a jury file; see :func:`jury_adapters.config.load_jury`."""

    allow_commands: bool
    allow_base_url: bool


def read_jury(path: Path, permissions: Permissions, *, calibrated: bool = True, replay: bool = False) -> Jury:
    """Read a jury file; importing the configuration takes a while, so this does it on use.

    Raises:
        ConfigurationError: it is not a jury file, or needs a permission that it does not have.
    """
    from jury_adapters.config import load_jury

    return load_jury(path, **permissions, calibrated=calibrated, replay=replay)


def check_prices(prices: Sequence[str] | None, jury: Judge, *others: str | None) -> None:
    """Refuse a ``--price`` of a model that is not asked, which is probably misspelt.

    Args:
        prices: the values of the option.
        jury: the jury.
        *others: further models that are asked.

    Raises:
        InputError: neither the jury nor one of the others is such a model; the message names those that are.
    """
    if not prices:
        return
    from jury_adapters.models.prices import names_in_prices

    asked = [*dict.fromkeys((*_models_in(jury), *filter(None, others)))]
    for given in prices:
        name = given.rpartition("=")[0]
        if not any(name in names_in_prices(model) for model in asked):
            raise InputError(f"--price {given}: {unknown('model of the jury', name, asked)}")


def _models_in(judge: Judge) -> Iterator[str]:
    """Yield the names of the models that a judge and its members ask."""
    name = getattr(getattr(judge, "model", None), "name", None)
    if isinstance(name, str):
        yield name
    for member in judge.members:
        yield from _models_in(member)


def text_without_guarantee(path: Path) -> tuple[str, str]:
    """Return the text of a jury file up to the position of a guarantee, and the indentation of its keys.

    Raises:
        InputError: no key can be added below its text.
    """
    text = path.read_text(encoding="utf-8-sig")
    root = compose(text, str(path), "a jury file is one mapping")
    if not isinstance(root, CollectionNode) or root.flow_style:
        raise InputError(f"{path}: write the jury as `key: value` lines, not in braces, so that a key can be added")
    lines = text.splitlines(keepends=True)
    ended = next((number for number, line in enumerate(lines) if line.rstrip() == "..."), len(lines))
    starts = [key.start_mark.line for key, _ in root.value] + [ended]
    for position, (key, _) in enumerate(root.value):
        if key.value == "guarantee":
            own = lines[starts[position] : starts[position + 1]]
            kept = own[_indented(own) :]  # comments and blank lines that follow it
            lines[starts[position] : starts[position + 1]] = kept
            ended += len(kept) - len(own)
            break
    kept_text = "".join(lines[:ended])
    return kept_text.rstrip("\n") + "\n\n", " " * root.start_mark.column


def _indented(lines: Sequence[str]) -> int:
    """Return the number of lines of a key and its value: the first line, and those indented more."""
    margin = len(lines[0]) - len(lines[0].lstrip())
    return next(
        (
            number
            for number, line in enumerate(lines[1:], start=1)
            if line.strip() and len(line) - len(line.lstrip()) <= margin
        ),
        len(lines),
    )
