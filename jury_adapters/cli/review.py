"""``jury review``: label cases yourself, blind, one key per answer."""

import json
import os
import random
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from jury_adapters.cli.console import ExitCode, check_places, file_argument, file_option, say, show
from jury_adapters.cli.labels import COLUMN
from jury_adapters.core.case import Case
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.results import read_results
from jury_adapters.core.values import ConfigurationError
from jury_adapters.inputs.files import read_rows

_SKIP, _QUIT = "s", "q"
_BEGINNING = b'{"key": "'  # of every line of a file of labels


def review(
    results: Annotated[Path, file_argument("What jury judge wrote with --out.")],
    *,
    out: Annotated[Path, file_option("Add the labels to this file, one line of JSON each.")],
    sample: Annotated[
        int | None, typer.Option(help="Draw so many cases at random, instead of those that need review.", min=1)
    ] = None,
    by: Annotated[str, typer.Option(help="Your name, where several people label.")] = "",
) -> ExitCode:
    """Label cases yourself: one key per answer, and the verdict of the jury is hidden until then.

    A label is on the disk before the next case is shown. The same command goes on where it was stopped; what you have
    labelled is not asked again.

    Without --sample, the cases that need review come first. Their labels say little of the other cases: for rates,
    comparisons and guarantees, label a random --sample.
    """
    check_places({"--out": out}, (results,))
    if not sys.stdin.isatty():
        raise ConfigurationError("jury review reads single keys, so it needs a terminal")
    found = {one.case.content_hash: (one.case, one.judgment) for one in read_results(results) if one.case is not None}
    choices = _choices(judgment for _, judgment in found.values())
    with out.open("a+b") as file:
        _drop_cut_line(file, out)
        mine = {row.values.get("key") for row in read_rows(out) if row.values.get("by", "") == by}
        # The same sample every time, so that the next call goes on with it.
        chosen = random.Random(0).sample(sorted(found), min(sample, len(found))) if sample else _contested(results)
        left = [key for key in chosen if key not in mine]
        code, done = ExitCode.MET, 0
        try:
            for number, key in enumerate(left, start=1):
                case, judgment = found[key]
                _show_case(case, f"{number:,} of {len(left):,}")
                pressed = _asked(choices)
                if pressed == _QUIT:
                    break
                if pressed != _SKIP:
                    _keep(file, {"key": key, "id": case.id, COLUMN: choices[pressed], "by": by})
                    done += 1
                show(str(judgment))
        except (KeyboardInterrupt, EOFError):
            code = ExitCode.INTERRUPTED
    say(f"{done:,} labels more in {out}; next: jury report {results} --labels {out}")
    if not left:
        say("there is no such case left to label; --sample N draws more")
    elif not sample:
        say("these cases are no random sample; rates, comparisons and guarantees need labels of a --sample")
    return code


def _choices(judgments: Iterator[Judgment]) -> dict[str, str]:
    """Return the labels by their keys: PASS and FAIL, or the labels that the jury and its jurors gave."""
    said = {one.ballot or "" for whole in judgments for one in (whole, *whole.jurors()) if one.status is Status.LABEL}
    return {str(place): label for place, label in enumerate(sorted(said)[:9], start=1)} or {"p": "PASS", "f": "FAIL"}


def _drop_cut_line(file: BinaryIO, out: Path) -> None:
    """Remove a last line that was cut off, from a file that has only lines of this command."""
    file.seek(0)
    *whole, cut = file.read().split(b"\n")
    if not all(line[: len(_BEGINNING)] == _BEGINNING[: len(line)] for line in (*whole, cut)):
        raise ConfigurationError(f"{out} has other lines than jury review writes; give another --out")
    file.truncate(file.tell() - len(cut))


def _contested(results: Path) -> list[str]:
    from jury_adapters.report import Summary

    summary = Summary()
    for result in read_results(results):
        summary.add(result)
    cases = (one.case for one in summary.contested if one.judgment.needs_review)
    return [*dict.fromkeys(case.content_hash for case in cases if case is not None)]


def _show_case(case: Case, place: str) -> None:
    show(f"\n{place}  {case.id or ''}", "bold")
    texts: list[tuple[str, str | None]] = [(one.role, one.content) for one in case.messages]
    texts += [("question", case.question)]
    texts += [(f"step: {one.tool or 'text'}", one.output or one.text or one.error) for one in case.steps]
    texts += [(f"context {number}", text) for number, text in enumerate(case.contexts, start=1)]
    texts += [("reference", case.reference), ("answer", case.answer), ("error of the application", case.error)]
    texts += [(f"answer {letter}", text) for letter, text in zip("ABCDEFGHI", case.candidates, strict=False)]
    for name, text in texts:
        if text is not None:
            show(f"{name}:", "dim")
            show(text)


def _asked(choices: Mapping[str, str]) -> str:
    """Return the key that was pressed."""
    known = {**choices, _SKIP: "skip", _QUIT: "quit"}
    show("  ".join(f"[{key}] {word}" for key, word in known.items()), "bold")
    while (pressed := typer.getchar().lower()) not in known:
        pass
    show(known[pressed])
    return pressed


def _keep(file: BinaryIO, row: Mapping[str, str | None]) -> None:
    """Write a label, and return when it is on the disk."""
    file.write(json.dumps({name: one for name, one in row.items() if one}).encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())
