"""Juries on many machines, on Ray Data. They need the extra ``ray``.

Importing this package does not load Ray or any other module of the package. :func:`judge_dataset` judges a dataset with
many workers that share the rate limits of their models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jury_adapters.core.lazy import load

if TYPE_CHECKING:
    from jury_adapters.ray.counts import Counts, Progress
    from jury_adapters.ray.dataset import judge_dataset, progress_bar, read_summary

__all__ = ["Counts", "Progress", "judge_dataset", "progress_bar", "read_summary"]

_HOME = {"Counts": "counts", "Progress": "counts"}
_RAY = ("Ray Data", "ray")


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load(f"{__name__}.{_HOME.get(name, 'dataset')}", name, {"ray": _RAY, "pyarrow": _RAY, "tqdm": _RAY})


def __dir__() -> list[str]:
    return sorted(__all__)
