"""Tables of facts: one test goes through all rows, and its failure names every row that is wrong."""

import functools
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest


def each_row(names: str | tuple[str, ...], rows: Iterable[Any], ids: Any = ()) -> Callable[..., Any]:
    """Return a decorator with the arguments of ``pytest.mark.parametrize`` that makes one test of all rows.

    Each row that is wrong is in the group of exceptions that the test raises, with its number, values and id.
    The fixtures of the test are shared by the rows, but for ``tmp_path``: each row has a folder of its own.
    """
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [row if isinstance(row, type(pytest.param())) else pytest.param(*_values(row, names)) for row in rows]
    assert table, "a table without rows tests nothing"
    assert not any(row.marks for row in table), "marks are for single tests"
    given = [dict(zip(names, row.values, strict=True)) for row in table]
    labels = [ids(row.values[0]) if callable(ids) else row.id for row in table]
    labels = labels if callable(ids) else [*ids] or labels

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def all_rows(*args: Any, **fixtures: Any) -> None:
            wrong = []
            for number, (label, row) in enumerate(zip(labels, given, strict=True)):
                folder = {"tmp_path": _folder(fixtures["tmp_path"], number)} if "tmp_path" in fixtures else {}
                try:
                    test(*args, **{**fixtures, **folder, **row})
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"row {number} {label or ''}: {row!r}")
                    wrong.append(error)
            if wrong:
                raise BaseExceptionGroup(f"{len(wrong)} of {len(given)} rows are wrong", wrong)

        signature = inspect.signature(test)
        others = [parameter for name, parameter in signature.parameters.items() if name not in names]
        all_rows.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return all_rows

    return decorated


def run_by(run: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a decorator that has an asynchronous test run by a function such as ``asyncio.run``."""

    def decorated(test: Callable[..., Any]) -> Callable[..., None]:
        return functools.wraps(test)(lambda *args, **fixtures: run(test(*args, **fixtures)))

    return decorated


def _values(row: Any, names: list[str]) -> Iterable[Any]:
    return [row] if len(names) == 1 else row


def _folder(path: Path, number: int) -> Path:
    (path / str(number)).mkdir()
    return path / str(number)
