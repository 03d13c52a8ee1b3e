"""Plots of the page, as inline SVG.

They are built as XML trees with the standard library, so that every text is escaped. Classes of the page's style sheet
give the colours, so that they follow dark mode and print.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from markupsafe import Markup

from jury_adapters.core.formatting import clip, counted, money, percent, two_decimals
from jury_adapters.report.embedded import shown
from jury_adapters.report.figures import BINS, Figures, TierFigures

if TYPE_CHECKING:
    from jury_adapters.report.analysis import Analysis
    from jury_adapters.statistics.reliability import ReliabilityBin

_WIDE = 520.0  # width of a tier's bar, which is stretched to the available space
_STRONG = 0.72  # from this strength on, a number is more readable in the page's background colour
_Point = tuple[float, float]
_DOTS = 24  # dots of a diagonal
_MOST_PAIRS_IN_WORDS = 15  # pairs of jurors; the description of a plot with more of them has no numbers
_LONGEST = 26  # characters of a name in a plot; the whole name is its tooltip


def rate_bar(figures: Figures) -> Markup:
    """Return the pass rate on a line from 0 to 100 %, with its interval; empty if nothing was decided."""
    rate, interval = figures.summary.pass_rate, figures.summary.pass_interval
    if rate is None or interval is None:
        return Markup("")
    (low, high), words = interval, figures.summary.interval_words
    plot = _plot(300, 34, f"pass rate {percent(rate)}, {words} {percent(low)} to {percent(high)}")
    _box(plot, (0, 8), (300, 8), "track", corner=4)
    _box(plot, (300 * low, 8), (max(300 * (high - low), 2), 8), "band", corner=4)
    _box(plot, (min(max(300 * rate - 1.5, 0), 297), 3), (3, 18), "mark")
    for share, anchor in ((0, "start"), (0.5, "middle"), (1, "end")):
        _write(plot, (300 * share, 32), percent(share, 0), "tick", anchor)
    return _markup(plot)


def funnel(figures: Figures) -> list[tuple[str, str, Markup]]:
    """Return for each tier its name, its numbers of reached and decided cases with the cost, and a bar.

    Only the bar is drawn, so that it fits a narrow screen while the text keeps its size.
    """
    return [_of_tier(tier, figures.summary.cases) for tier in figures.tiers]


def heat_map(figures: Figures) -> Markup:
    """Return a table of jurors: below the diagonal the share of cases decided alike, above it Cohen's kappa.

    Jurors that share no decided case with another juror, such as those of screening tiers, are omitted; empty if that
    is true of all jurors.
    """
    compared = sorted({position for pair, met in figures.pairs.items() if met.n for position in pair})
    if not compared:
        return Markup("")
    names, cell = [figures.jurors[position].name for position in compared], 46
    left = 34 + 6.5 * min(max(map(len, names)), _LONGEST - 3)
    size = cell * len(names)
    plot = _plot(left + size, size + 24, f"agreement of each juror with each other{_pairs_in_words(figures)}")
    for row, name in enumerate(names):
        label = _group(plot, name)
        _write(label, (left - 8, row * cell + cell / 2 + 4), f"{clip(name, _LONGEST - 3)} {row + 1}", "name", "end")
        _write(plot, (left + row * cell + cell / 2, size + 16), str(row + 1), "tick", "middle")
        for column, other in enumerate(names):
            if row == column:
                _box(plot, (left + column * cell + 1, row * cell + 1), (cell - 2, cell - 2), "diagonal", corner=4)
                continue
            pair = figures.pairs.get((compared[min(row, column)], compared[max(row, column)]))
            value = None if pair is None else pair.share if row > column else pair.kappa
            what = "decided alike" if row > column else "kappa"
            number = two_decimals(value)
            group = _group(
                plot, f"{name} and {other}: {what} {number} over {counted(0 if pair is None else pair.n, 'case')}"
            )
            strength = 0.0 if value is None else max(0.0, 2 * value - 1 if row > column else value)
            heat = _box(group, (left + column * cell + 1, row * cell + 1), (cell - 2, cell - 2), "heat", corner=4)
            heat.set("fill-opacity", f"{0.06 + 0.94 * strength:.3f}")
            kind = "cell strong" if strength > _STRONG else "cell"
            _write(group, (left + column * cell + cell / 2, row * cell + cell / 2 + 4), number, kind, "middle")
    return _markup(plot)


def histograms(figures: Figures) -> list[tuple[str, Markup]]:
    """Return the histograms of scores, of the verdict and of each juror that gives scores, each with a name."""
    by_name = [("the verdict", figures.scores), *((juror.name, juror.scores) for juror in figures.jurors)]
    return [(shown(name), _histogram(name, counts)) for name, counts in by_name if counts]


def reliability(analysis: Analysis) -> list[tuple[str, Markup]]:
    """Return the reliability diagram of each juror whose confidence can be compared with human labels, by name."""
    if analysis.report is None:
        return []
    from jury_adapters.statistics.reliability import bins_of

    found = [(estimate.subject, bins_of(estimate)) for estimate in analysis.report.estimates]
    return [(shown(name), _diagram(name, bins)) for name, bins in found if bins]


def _pairs_in_words(figures: Figures) -> str:
    """Return the numbers of the heat map for screen readers; empty if there are too many to listen to."""
    if not 0 < len(figures.pairs) <= _MOST_PAIRS_IN_WORDS:
        return ""
    found = (
        f"{figures.jurors[one].name} and {figures.jurors[other].name} decide {percent(pair.share)} alike, kappa "
        f"{two_decimals(pair.kappa)}"
        for (one, other), pair in figures.pairs.items()
    )
    return f": {'; '.join(found)}"


def _diagram(name: str, bins: Sequence[ReliabilityBin]) -> Markup:
    """Return a plot of the share of right answers against confidence; the two are equal on the diagonal."""
    size, left, top = 180.0, 58.0, 8.0
    plot = _plot(left + size + 24, size + 44, f"how often {name} is right, by its confidence")
    _box(plot, (left, top), (size, size), "track")
    for step in range(_DOTS + 1):
        share = step / _DOTS
        _box(plot, (left + size * share - 1, top + size * (1 - share) - 1), (2, 2), "axis")
    for one in bins:
        low, high = one.interval
        caption = f"confidence {one.confidence:.2f}: {percent(one.accuracy)} of {one.n:,} right"
        group = _group(plot, f"{caption}, 95 % interval {percent(low)} to {percent(high)}")
        x, y = left + size * one.confidence, top + size * (1 - one.accuracy)
        _box(group, (x - 1, top + size * (1 - high)), (2, size * (high - low)), "bar")
        _box(group, (x - 4, y - 4), (8, 8), "mark", corner=4)
    for share in (0, 0.5, 1):
        _write(plot, (left + size * share, top + size + 14), percent(share, 0), "tick", "middle")
        _write(plot, (left - 5, top + 4 + size * (1 - share)), percent(share, 0), "tick", "end")
    _write(plot, (left + size / 2, top + size + 32), "confidence", "tick", "middle")
    return _markup(plot)


def _of_tier(tier: TierFigures, cases: int) -> tuple[str, str, Markup]:
    decided = tier.count.decided
    caption = f"reached {tier.count.reached:,} · decided {decided:,} ({percent(decided / cases)} of all cases)"
    if tier.count.undecided:
        caption += f" · {tier.count.undecided:,} stopped undecided"
    if tier.usage.cost_usd or not tier.usage.cost_complete:
        caption += f" · {money(tier.usage.cost_usd, complete=tier.usage.cost_complete)}"
    bar = _plot(_WIDE, 16, f"{tier.name}: {tier.count.reached:,} reached it, {decided:,} decided here")
    bar.set("preserveAspectRatio", "none")
    for width, kind in ((1.0, "track"), (tier.count.reached / cases, "band"), (decided / cases, "bar")):
        _box(bar, (0, 0), (_WIDE * width, 16), kind, corner=3)
    return tier.name, caption, _markup(bar)


def _histogram(name: str, counts: Sequence[int]) -> Markup:
    plot = _plot(200, 86, f"scores of {name}, in tenths: {', '.join(map(str, counts))}")
    highest = max(counts)
    for position, count in enumerate(counts):
        height = 62 * count / highest
        group = _group(plot, f"{position / BINS:.1f} to {(position + 1) / BINS:.1f}: {count:,}")
        _box(group, (position * 20 + 1, 66 - height), (18, height), "bar", corner=2)
    _box(plot, (0, 66), (200, 1), "axis")
    for share, anchor in ((0, "start"), (0.5, "middle"), (1, "end")):
        _write(plot, (200 * share, 82), f"{share:g}", "tick", anchor)
    return _markup(plot)


def _plot(width: float, height: float, description: str) -> ET.Element:
    """Return an empty plot, with a text for screen readers."""
    return ET.Element(
        "svg",
        {"viewBox": f"0 0 {width:g} {height:g}", "width": f"{width:g}", "height": f"{height:g}", "role": "img",
         "aria-label": shown(description)},
    )  # fmt: skip


def _group(parent: ET.Element, tooltip: str) -> ET.Element:
    group = ET.SubElement(parent, "g")
    ET.SubElement(group, "title").text = shown(tooltip)
    return group


def _box(parent: ET.Element, at: _Point, size: _Point, kind: str, *, corner: float = 0) -> ET.Element:
    place = {"x": at[0], "y": at[1], "width": size[0], "height": size[1], "rx": corner}
    return ET.SubElement(parent, "rect", {name: f"{value:.2f}" for name, value in place.items()} | {"class": kind})


def _write(parent: ET.Element, at: _Point, text: str, kind: str, anchor: str = "start") -> None:
    place = {"x": f"{at[0]:.2f}", "y": f"{at[1]:.2f}", "class": kind, "text-anchor": anchor}
    ET.SubElement(parent, "text", place).text = shown(text)


def _markup(plot: ET.Element) -> Markup:
    return Markup(ET.tostring(plot, encoding="unicode", short_empty_elements=False))
