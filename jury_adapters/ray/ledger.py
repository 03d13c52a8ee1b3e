"""Record of the rows that an earlier run has judged. Each of its results counts for one row of this run."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence


class Ledger:
    """Existing results, counted by the identity of their rows.

    A row that is twice in the input and once in the results still has to be judged once. Each batch claims results with
    its own token, so that a batch that is repeated after its worker was lost gets the same answer again.

    Args:
        identities: the identity of each result (32 hexadecimal digits, as of
            :func:`jury_adapters.ray.parts.row_id`), with repetitions.
    """

    def __init__(self, identities: Iterable[str]) -> None:
        # 12 bytes per result instead of a Python string: ten million take 120 MB, and about 400 more while they are
        # sorted. Of ten million random numbers of 64 bits, two are equal once in 370,000 runs.
        found = sorted(int(identity[:16], 16) for identity in identities)
        self._numbers = array("Q")
        self._left = array("I")
        for number in found:
            if self._numbers and self._numbers[-1] == number:
                self._left[-1] += 1
            else:
                self._numbers.append(number)
                self._left.append(1)
        self._claims: dict[str, bytes] = {}

    def claim(self, token: str, identities: Sequence[str]) -> list[bool]:
        """Return for each row of a batch whether there is a result for it, which is then not used for other rows.

        Args:
            token: the name of the batch; a repeated claim with the same token gets the same answer.
            identities: the rows of the batch.
        """
        known = self._claims.get(token)
        if known is None:
            known = self._claims[token] = bytes(self._take(identity) for identity in identities)
        return [bool(taken) for taken in known]

    def _take(self, identity: str) -> bool:
        number = int(identity[:16], 16)
        place = bisect_left(self._numbers, number)
        if place == len(self._numbers) or self._numbers[place] != number or self._left[place] == 0:
            return False
        self._left[place] -= 1
        return True
