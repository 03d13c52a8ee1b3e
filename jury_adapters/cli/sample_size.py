"""``jury sample-size``: the number of human labels, or cases, that a question needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.options import AsJson, number_option, share_option
from jury_adapters.cli.streams import Messages, show, write_json
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.formatting import percent

if TYPE_CHECKING:
    from jury_adapters.statistics import SampleSize

Option = float | int | bool | None

_QUESTIONS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "interval": (("rate",), ("judged", "expected", "tpr", "tnr", "group_size", "icc")),
    "agreement": (("expected",), ("delta", "coverage", "power")),
    "difference": (("rate",), ("discordant", "unpaired", "power", "level", "group_size", "icc")),
}
"""By question, the required and the optional options."""

_NO_QUESTION = """\
say what the labels are for:
  --interval 0.05 --rate 0.8          a pass rate of about 80 %, plus or minus 5 points
  --agreement 0.95 --expected 0.98    a guarantee of jury calibrate, for a jury that agrees on about 98 %
  --difference 0.05 --rate 0.8        a difference of 5 points between two systems"""


def sample_size(
    *,
    interval: Annotated[
        float | None, share_option("The 95 % interval of a pass rate is to reach so far to either side of its centre.")
    ] = None,
    agreement: Annotated[float | None, share_option("The agreement that jury calibrate is to guarantee.")] = None,
    difference: Annotated[
        float | None, share_option("The difference between the pass rates of two systems that is to be found.")
    ] = None,
    rate: Annotated[
        float | None, share_option("The expected pass rate; with --difference that of the system that passes less.")
    ] = None,
    expected: Annotated[
        float | None, share_option("The share of cases on which the jury is expected to agree with human labels.")
    ] = None,
    judged: Annotated[
        int | None, number_option("How many cases the jury judges, some of which get a human label.", 2)
    ] = None,
    tpr: Annotated[
        float | None, share_option("Of the cases with a human PASS, the share that the jury passes.")
    ] = None,
    tnr: Annotated[float | None, share_option("Of the cases with a human FAIL, the share that the jury fails.")] = None,
    delta: Annotated[float | None, share_option("The delta of jury calibrate; 0.1 unless given.")] = None,
    coverage: Annotated[
        float | None,
        share_option("The share of cases that the strictest threshold of the jury decides; 1 unless given."),
    ] = None,
    discordant: Annotated[
        float | None,
        share_option("The share of cases that one system passes and the other does not; as by chance unless given."),
    ] = None,
    unpaired: Annotated[
        bool, typer.Option("--unpaired", help="Each system answers cases of its own, not the same ones.")
    ] = False,
    power: Annotated[
        float | None, share_option("The probability of the guarantee, or of finding the difference; 0.8 unless given.")
    ] = None,
    level: Annotated[
        float | None, share_option("The probability of a difference where there is none; 0.05 unless given.")
    ] = None,
    group_size: Annotated[
        float | None, typer.Option(help="How many cases belong together, on average.", metavar="N")
    ] = None,
    icc: Annotated[
        float | None,
        share_option(
            "How far cases that belong together are alike, in 0 to 1: the correlation that jury report --group prints. "
            "For two systems on the same cases, that of their differences, which jury compare --group prints; usually "
            "near 0."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Plan how many human labels, or cases, a question takes.

    Three questions: --interval asks for labels that give a pass rate to so many points, --agreement for labels that
    give a guarantee of jury calibrate, --difference for cases that show a difference between two systems.

    With --interval and --judged the labels correct a jury's verdicts: say how good it is with --tpr and --tnr, or with
    --expected for both. For cases that belong together give --group-size and --icc: `jury report --group` prints both
    for a pass rate, and `jury compare --group` for the difference between two systems on the same cases.

    Exit code: 0, or 2 for bad input. Needs the extra `stats`.
    """
    given: dict[str, Option] = {
        "interval": interval, "agreement": agreement, "difference": difference, "rate": rate, "expected": expected,
        "judged": judged, "tpr": tpr, "tnr": tnr, "delta": delta, "coverage": coverage, "discordant": discordant,
        "unpaired": unpaired or None, "power": power, "level": level, "group_size": group_size, "icc": icc,
    }  # fmt: skip
    try:
        found = _answer({name: value for name, value in given.items() if value is not None})
    except ConfigurationError as error:
        Messages().error(str(error))
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    if as_json:
        write_json(found.to_dict())
    else:
        show(lambda console: _print(console, found))


def _answer(given: dict[str, Option]) -> SampleSize:
    """Answer the question that the options ask.

    Raises:
        ConfigurationError: there is no question or several, an option is missing or belongs to another question, a
            value is out of range, or no number answers the question.
    """
    asked = [name for name in _QUESTIONS if name in given]
    if not asked:
        raise ConfigurationError(_NO_QUESTION)
    if len(asked) > 1:
        raise ConfigurationError(f"{_option(asked[0])} and {_option(asked[1])} are two questions; ask one at a time")
    question = asked[0]
    needed, allowed = _QUESTIONS[question]
    missing = [_option(name) for name in needed if name not in given]
    if missing:
        raise ConfigurationError(f"{_option(question)} needs {missing[0]} too")
    strange = [_option(name) for name in given if name not in (question, *needed, *allowed)]
    if strange:
        raise ConfigurationError(f"{strange[0]} has no meaning for {_option(question)}")
    if ("group_size" in given) != ("icc" in given):
        raise ConfigurationError("--group-size and --icc are given together: how many cases, and how far alike")
    from jury_adapters import statistics

    values = {name: value for name, value in given.items() if name != question}
    target = given[question]
    match question:
        case "interval":
            return statistics.labels_for_interval(target, **_rates_of_jury(values))  # type: ignore[arg-type]
        case "agreement":
            return statistics.labels_for_guarantee(target, **values)  # type: ignore[arg-type]
    values["paired"] = not values.pop("unpaired", False)
    return statistics.cases_for_difference(target, **values)  # type: ignore[arg-type]


def _rates_of_jury(values: dict[str, Option]) -> dict[str, Option]:
    """Return the options of an interval, with the expected agreement as TPR and TNR."""
    expected = values.pop("expected", None)
    if expected is None:
        return values
    if "tpr" in values or "tnr" in values:
        raise ConfigurationError("--expected means both --tpr and --tnr; give it, or the two")
    return {**values, "tpr": expected, "tnr": expected}


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _print(console: Console, found: SampleSize) -> None:
    console.print(Text(found.sentence, "bold"))
    console.print()
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    table.add_column(found.unit, justify="right")
    table.add_column(found.measure, justify="right")
    for n, value in found.gives.items():
        shown = f"± {100 * value:.1f} points" if found.measure == "half-width" else percent(value)
        table.add_row(f"{n:,}", shown, style="bold" if n == found.n else "")
    console.print(table)
    console.print("\nAssumed:")
    for each in found.assumed:
        console.print(Text(f"- {each}"))
