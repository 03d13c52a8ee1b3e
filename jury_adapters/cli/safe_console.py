"""Console of the command: no text that it prints can control the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from jury_adapters.core.formatting import visible_lines


class SafeConsole(Console):
    """Console that makes control characters visible in everything it prints, so that no text can control the terminal.

    Tables measure a text before it is printed, so texts from files are already made visible there. This class is a
    second line of defence, for all texts of all commands.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render as :class:`rich.console.Console` does, with safe texts; rich's own control codes are kept."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(visible_lines(segment.text), segment.style)
