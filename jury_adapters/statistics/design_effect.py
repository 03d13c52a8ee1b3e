"""Design effect of cases that come in groups, such as those of one document."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, inf

from jury_adapters.core.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Clusters:
    """Cases that come in groups, each worth less than an independent one.

    Attributes:
        effect: design effect, ``1 + (group_size - 1) icc`` (L. Kish 1965, *Survey Sampling*).
        assumed: how the cases depend on each other, as the end of a sentence.
    """

    effect: float
    assumed: str

    @classmethod
    def of(cls, group_size: float, icc: float, *, whose: str = "whose cases") -> Clusters:
        """Compute Kish's design effect.

        Args:
            group_size: mean number of cases of a group, from 1.
            icc: correlation of two cases of a group, in 0..1.
            whose: what correlates, for the sentence.

        Raises:
            ConfigurationError: a group of less than one case, or a correlation outside 0..1.
        """
        if not 1 <= group_size < inf:
            raise ConfigurationError(f"a group has one case or more, not {group_size:g}")
        check_share(icc, "the correlation within groups (icc)")
        alike = f" of groups of {group_size:g} {whose} correlate by {icc:g}"
        return cls(1 + (group_size - 1) * icc, alike if group_size > 1 else ", independent of each other")

    def cases(self, independent: int) -> int:
        """Return how many cases are worth so many independent ones."""
        return ceil(round(independent * self.effect, 9))

    def independent(self, cases: int) -> int:
        """Return how many independent cases so many are worth, at least 1."""
        return max(1, floor(round(cases / self.effect, 9)))


def check_share(value: float, what: str) -> None:
    """Refuse a share outside 0..1.

    Raises:
        ConfigurationError: it is outside, or NaN.
    """
    if isinstance(value, bool) or not 0 <= value <= 1:
        raise ConfigurationError(f"{what} lies from 0 to 1, not {value:g}")
