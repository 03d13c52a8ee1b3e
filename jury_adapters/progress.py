"""Progress bars for batches, in a terminal or a notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.installation import needs_extra

if TYPE_CHECKING:
    from tqdm import tqdm


def progress_bar(total: int | None = None, description: str = "judging") -> Callable[[int], None]:
    """Return a callback for ``judge_many(..., progress=...)`` that draws a bar, in a terminal or a notebook.

    Args:
        total: number of cases; without it, the bar has no end.
        description: the text before the bar.

    Raises:
        ConfigurationError: tqdm is not installed.

    >>> verdicts = list(jury.judge_many(cases, progress=progress_bar(len(cases))))  # doctest: +SKIP
    """
    bar = open_bar(total, description)

    def advance(done: int) -> None:
        bar.update(done - bar.n)
        if done == total:
            bar.close()

    return advance


def open_bar(total: int | None = None, description: str = "judging", *, leave: bool = True) -> tqdm[NoReturn]:
    """Draw a bar that counts cases.

    Args:
        total: number of cases; None for a bar without an end.
        description: the text before the bar.
        leave: whether the bar stays on the screen after it is closed.

    Raises:
        ConfigurationError: tqdm is not installed.
    """
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ConfigurationError(needs_extra("the progress bar", "tqdm", "cli")) from error
    return tqdm(total=total, desc=description, unit="case", leave=leave)
