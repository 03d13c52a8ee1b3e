"""Base class of the blocks in which runs are judged."""

from __future__ import annotations

import logging


class Block:
    """Object that works only as a ``with`` block, and says in the log if it never was one.

    Attributes:
        entered: whether there is nothing to say: the block has begun, or could not be made.
        forgotten: what to say otherwise.
    """

    entered = True
    forgotten = ""

    def __del__(self) -> None:
        if not self.entered:
            _log.warning(self.forgotten)


_log = logging.getLogger(__name__)
