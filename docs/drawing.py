"""A small kit for the pictures of the documentation: shapes, text and charts as SVG.

Pictures are built as XML trees with the standard library, so that every text is escaped. Each has a title and a
description for screen readers, uses the reader's own fonts, and brings its own background, so that it is legible on a
light page and on a dark one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import hypot
from typing import TypeAlias
from xml.etree import ElementTree as ET

Point: TypeAlias = tuple[float, float]


class Drawing:
    """An SVG picture with a background of its own.

    Args:
        size: width and height.
        title: what it is, for screen readers.
        told: what it shows, for screen readers.
    """

    def __init__(self, size: Point, title: str, told: str) -> None:
        width, height = size
        self._root = ET.Element("svg", {
            "xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {width:g} {height:g}", "width": f"{width:g}",
            "height": f"{height:g}", "role": "img", "aria-labelledby": "title told",
        })  # fmt: skip
        ET.SubElement(self._root, "title", {"id": "title"}).text = title
        ET.SubElement(self._root, "desc", {"id": "told"}).text = told
        ET.SubElement(self._root, "style").text = STYLE
        self.box((0, 0), size, "paper", corner=10)

    def box(self, at: Point, size: Point, kind: str, *, corner: float = 8) -> None:
        """A rectangle."""
        self._put("rect", kind, x=at[0], y=at[1], width=size[0], height=size[1], rx=corner)

    def card(self, at: Point, size: Point, heading: str, lines: Sequence[str]) -> None:
        """A box with a heading and lines of text."""
        self.box(at, size, "card")
        middle = at[0] + size[0] / 2
        self.text((middle, at[1] + 34), heading, "heading", "middle")
        for row, line in enumerate(lines):
            self.text((middle, at[1] + 62 + row * 20), line, "tiny", "middle")

    def text(self, at: Point, words: str, kind: str = "", anchor: str = "start") -> None:
        """One line of text; ``at`` is its base line."""
        if words:
            self._put("text", kind, x=at[0], y=at[1]).text = words
            self._root[-1].set("text-anchor", anchor)

    def line(self, start: Point, end: Point, kind: str) -> None:
        """A straight line."""
        self._put("line", kind, x1=start[0], y1=start[1], x2=end[0], y2=end[1])

    def arrow(self, start: Point, end: Point) -> None:
        """A line with a head."""
        length = hypot(end[0] - start[0], end[1] - start[1])
        x, y = (end[0] - start[0]) / length, (end[1] - start[1]) / length
        back = (end[0] - 8 * x, end[1] - 8 * y)
        self.line(start, back, "wire")
        self.shape([end, (back[0] - 4 * y, back[1] + 4 * x), (back[0] + 4 * y, back[1] - 4 * x)], "head")

    def shape(self, corners: Sequence[Point], kind: str) -> None:
        """A filled polygon."""
        self._put("polygon", kind).set("points", " ".join(f"{x:.1f},{y:.1f}" for x, y in corners))

    def dot(self, at: Point, kind: str, tooltip: str = "") -> None:
        """A round mark."""
        mark = self._put("circle", f"dot {kind}", cx=at[0], cy=at[1], r=4.5)
        if tooltip:
            ET.SubElement(mark, "title").text = tooltip

    def svg(self) -> str:
        """The picture as text."""
        return ET.tostring(self._root, encoding="unicode") + "\n"

    def _put(self, tag: str, kind: str, **places: float) -> ET.Element:
        values = {name: f"{value:.1f}" for name, value in places.items()}
        return ET.SubElement(self._root, tag, {**values, "class": kind} if kind else values)


@dataclass(frozen=True)
class Chart:
    """A pair of axes on a drawing.

    Attributes:
        draw: where it is drawn.
        corner: its upper left corner.
        size: width and height.
        xs: the values at its left and right edge.
        ys: the values at its lower and upper edge.
    """

    draw: Drawing
    corner: Point
    size: Point
    xs: Point
    ys: Point

    def at(self, value: Point) -> Point:
        """Position of a pair of values on the drawing."""
        across = (value[0] - self.xs[0]) / (self.xs[1] - self.xs[0])
        up = (value[1] - self.ys[0]) / (self.ys[1] - self.ys[0])
        return self.corner[0] + across * self.size[0], self.corner[1] + (1 - up) * self.size[1]

    def axes(self, across: Sequence[tuple[float, str]], up: Sequence[tuple[float, str]]) -> None:
        """Ticks with their labels; a line for each."""
        for value, label in up:
            left, y = self.at((self.xs[0], value))
            self.draw.line((left, y), (left + self.size[0], y), "grid")
            self.draw.text((left - 8, y + 4), label, "tiny", "end")
        for value, label in across:
            x, bottom = self.at((value, self.ys[0]))
            self.draw.line((x, bottom), (x, bottom + 5) if up else (x, self.corner[1]), "grid")
            self.draw.text((x, bottom + 20), label, "tiny", "middle")

    def line(self, points: Sequence[Point], kind: str) -> None:
        """Values joined by a line, with a dot and a tooltip each."""
        for one, other in pairwise(points):
            self.draw.line(self.at(one), self.at(other), f"thick {kind}")
        for point in points:
            self.draw.dot(self.at(point), kind, f"{point[0]:g}: {point[1]:.1%}")


STYLE = """
svg { --paper: #fafbfd; --ink: #1b2130; --muted: #566074; --rule: #ccd2de; --card: #ffffff;
  --blue: #2456c5; --pass: #17713f; --fail: #b02a21; --warn: #8a5200; }
@media (prefers-color-scheme: dark) { svg { --paper: #1d2029; --ink: #eaecf2; --muted: #a9b1c2; --rule: #434a5a;
  --card: #272b36; --blue: #8fb2ff; --pass: #6fd19c; --fail: #ff9b91; --warn: #efbd62; } }
text { font: 14px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; fill: var(--ink); }
.strong { font-weight: 600; } .heading { font-size: 16px; font-weight: 600; }
.note, .tiny { font-size: 13px; fill: var(--muted); } .tiny { font-size: 12px; }
.paper { fill: var(--paper); stroke: var(--rule); } .card { fill: var(--card); stroke: var(--rule); stroke-width: 1.5; }
.absent { fill: none; stroke: var(--muted); stroke-dasharray: 4 4; }
.wire { stroke: var(--muted); stroke-width: 1.5; } .head { fill: var(--muted); }
.grid { stroke: var(--rule); } .dashed { stroke: var(--muted); stroke-dasharray: 5 4; } .thick { stroke-width: 2.5; }
text.blue, .dot.blue { fill: var(--blue); } line.blue { stroke: var(--blue); }
text.pass, .dot.pass { fill: var(--pass); } line.pass { stroke: var(--pass); }
text.fail { fill: var(--fail); } text.muted { fill: var(--muted); }
text.warn, .dot.warn { fill: var(--warn); } line.warn { stroke: var(--warn); }
.soft { stroke-width: 1.5; fill-opacity: 0.14; } .soft.faint { fill-opacity: 0.07; stroke: none; }
.soft.blue { fill: var(--blue); stroke: var(--blue); } .soft.pass { fill: var(--pass); stroke: var(--pass); }
.soft.fail { fill: var(--fail); stroke: var(--fail); } .soft.warn { fill: var(--warn); stroke: var(--warn); }
.soft.muted { fill: var(--muted); stroke: var(--muted); } .soft.blue.faint { stroke: none; }
"""
