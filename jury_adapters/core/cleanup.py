"""Cancellation of tasks that waits until they have ended."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any


async def cancel_and_wait(tasks: Iterable[asyncio.Future[Any]]) -> None:
    """Cancel the tasks that are still running, and return when all of them have ended.

    A cancelled task may need time to clean up. This function waits for it, even if the caller is cancelled meanwhile:
    the cancellation is raised after the last task has ended. ``asyncio.TaskGroup`` follows the same rule.

    Args:
        tasks: tasks or futures; those that have ended are ignored.

    Raises:
        asyncio.CancelledError: the caller was cancelled while it waited.

    >>> async def main():
    ...     task = asyncio.create_task(asyncio.sleep(60))
    ...     await cancel_and_wait([task])
    ...     return task.cancelled()
    >>> asyncio.run(main())
    True
    """
    alive = [task for task in tasks if not task.done()]
    for task in alive:
        task.cancel()
    cancelled: asyncio.CancelledError | None = None
    while alive:
        try:
            await asyncio.wait(alive)
        except asyncio.CancelledError as error:
            cancelled = error
        alive = [task for task in alive if not task.done()]
    if cancelled is not None:
        raise cancelled
