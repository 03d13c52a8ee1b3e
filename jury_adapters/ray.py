"""Judging on many machines with Ray Data.

>>> from jury_adapters.ray import judge_dataset
>>> rows = ray.data.read_json("cases/*.jsonl")  # doctest: +SKIP
>>> judged = judge_dataset(rows, "jury.yaml", workers=8, store="postgresql://me@host/runs")  # doctest: +SKIP
>>> judged.write_parquet("judged")  # doctest: +SKIP

Ray reads, writes, and starts lost workers again. The store remembers: what is stored is neither lost nor paid twice, so
a run that is started again continues. Ray is not installed with this package: ``pip install 'ray[data]'``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

from jury_adapters.config import load_jury
from jury_adapters.core.case import CaseLike
from jury_adapters.core.judge import Judge, JudgeLike, judge_of
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.values import ConfigurationError, InputError, check_whole
from jury_adapters.critic.critic import Critic
from jury_adapters.inputs.rows import case_of_row
from jury_adapters.models.limits import Limits
from jury_adapters.store import open_store

Jury = JudgeLike | str | Path | Callable[[], Judge]
COLUMNS = ("status", "score", "label", "confidence", "reasoning", "error", "calls", "cost_usd", "judgment")
"""The columns that a judged row has beside its own, with ``jury_`` before each name. ``jury_judgment`` is the whole
judgment as JSON, which :meth:`Judgment.model_validate_json` reads."""


class JudgeBatch:
    """Callable class for ``Dataset.map_batches``: it judges the rows of a batch, and returns them with columns.

    Each worker makes one, opens the store, and keeps both. A row that makes no case is an ERROR in its place. Rows are
    read like those of a file; see :func:`jury_adapters.inputs.rows.case_of_row`.

    Args:
        jury: the path of a jury file that every machine can read, a judge that can be pickled, or a function without
            arguments that makes the jury on the worker. Keys come from the environment of each worker.
        store: the path or URL of a store that every worker reaches; None for none.
        workers: the number of workers, by which the limits of each model are divided.
        max_concurrency: cases that a worker judges at once.
        field_map: columns by field, such as ``{"answer": "reply"}``.

    Raises:
        ConfigurationError: the jury or the store cannot be used, or a number is wrong.

    >>> judges = JudgeBatch(lambda case: "2018" in case.answer)
    >>> judges({"question": ["When?"], "answer": ["In 2018."]})["jury_status"]
    ['PASS']
    """

    def __init__(
        self,
        jury: Jury,
        *,
        store: str | Path | None = None,
        workers: int = 1,
        max_concurrency: int = 32,
        field_map: Mapping[str, str] = {},
    ) -> None:
        check_whole("workers", workers, 1)
        self._judge = _loaded(jury)
        divide_limits(self._judge, workers)
        self._store = None if store is None else open_store(store)
        self._max_concurrency, self._field_map = max_concurrency, dict(field_map)

    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """Return the columns of a batch with those of the judgments."""
        judgments = [
            *self._judge.judge_many(self._cases(batch), store=self._store, max_concurrency=self._max_concurrency)
        ]
        found = [_columns(one) for one in judgments]
        return {**batch, **{f"jury_{name}": [row[name] for row in found] for name in COLUMNS}}

    def _cases(self, batch: Mapping[str, Sequence[Any]]) -> Iterator[CaseLike]:
        for values in zip(*batch.values(), strict=True):
            row = {name: value for name, value in zip(batch, map(_plain, values), strict=True) if value is not None}
            try:
                yield case_of_row(row, self._field_map)
            except InputError as error:
                yield error  # type: ignore[misc]  # which the batch makes the ERROR of its row


def judge_dataset(
    dataset: Any,
    jury: Jury,
    *,
    workers: int,
    batch_size: int = 256,
    **options: Any,
) -> Any:
    """Return a dataset of Ray with the judgments of its rows. It is lazy, as all of Ray's.

    Args:
        dataset: a ``ray.data.Dataset``.
        jury: see :class:`JudgeBatch`.
        workers: the number of workers, each a process with one CPU.
        batch_size: rows of a batch, which a worker judges and returns together.
        **options: further options of :class:`JudgeBatch`: ``store``, ``max_concurrency`` and ``field_map``.

    Raises:
        ImportError: Ray is not installed.
        ConfigurationError: ``dataset`` is no dataset of Ray.
    """
    try:
        import ray.data
    except ImportError:
        raise ImportError("judge_dataset needs Ray: pip install 'ray[data]'") from None
    if not isinstance(dataset, ray.data.Dataset):
        raise ConfigurationError(
            f"a dataset is a ray.data.Dataset, such as ray.data.read_json(...), not {type(dataset)}"
        )
    return dataset.map_batches(
        JudgeBatch,
        fn_constructor_args=(jury,),
        fn_constructor_kwargs={"workers": workers, **options},
        batch_size=batch_size,
        batch_format="numpy",
        compute=ray.data.ActorPoolStrategy(size=workers),
    )


def divide_limits(judge: Judge, workers: int) -> None:
    """Give each critic inside a judge its share of the limits on its model, so that all workers together keep them."""
    seen: dict[int, Critic] = {}
    waiting = [judge]
    while waiting:
        one = waiting.pop()
        waiting += one.members
        if isinstance(one, Critic):
            seen[id(one)] = one
    for critic in seen.values():
        critic.limits = _share(critic.limits, workers)


def _share(limits: Limits, workers: int) -> Limits:
    rates = {name: getattr(limits, name) for name in ("requests_per_minute", "tokens_per_minute")}
    shares = {name: rate / workers for name, rate in rates.items() if rate is not None}
    return limits.but(max_concurrency=max(1, limits.max_concurrency // workers), **shares)


def _loaded(jury: Any) -> Judge:
    if isinstance(jury, str | Path):
        return load_jury(jury)
    is_maker = callable(jury) and not isinstance(jury, Judge) and not signature(jury).parameters
    return judge_of(jury() if is_maker else jury)


def _columns(judgment: Judgment) -> dict[str, Any]:
    """Return a judgment as values of columns, without anything that Arrow would have to guess."""
    own = {name: getattr(judgment, name) for name in ("score", "label", "confidence", "reasoning", "error")}
    usage = {"calls": judgment.usage.calls, "cost_usd": judgment.usage.cost_usd}
    whole = judgment.but(case_metadata={}).model_dump_json(exclude_defaults=True)
    return {"status": judgment.status.value, **own, **usage, "judgment": whole}


def _plain(value: Any) -> Any:
    """Return a value of NumPy, which Ray's batches consist of, as one of Python; a null in a struct is absent."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, list):
        return [*map(_plain, value)]
    return {name: _plain(one) for name, one in value.items() if one is not None} if isinstance(value, dict) else value
