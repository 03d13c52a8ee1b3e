"""A progress bar for batches, in a terminal or a notebook."""

from __future__ import annotations

from collections.abc import Callable

from jury_adapters.core.errors import ConfigurationError


def progress_bar(total: int | None = None, description: str = "judging") -> Callable[[int], None]:
    """A callback for ``judge_many(..., progress=...)`` that draws a bar, in a terminal as in a notebook.

    Args:
        total: how many cases there are; without it the bar counts without an end.
        description: what stands before the bar.

    Raises:
        ConfigurationError: tqdm is not installed.

    >>> verdicts = list(jury.judge_many(cases, progress=progress_bar(len(cases))))  # doctest: +SKIP
    """
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ConfigurationError("the progress bar needs tqdm: pip install 'jury-adapters[cli]'") from error
    bar = tqdm(total=total, desc=description, unit="case")

    def advance(done: int) -> None:
        bar.update(done - bar.n)
        if done == total:
            bar.close()

    return advance
