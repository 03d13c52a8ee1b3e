"""Tool calls that are expected, and how those made are paired with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jury_adapters.core.case_parts import Step
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.values import freeze_mapping


@dataclass(frozen=True)
class ToolCall:
    """A tool call that is expected.

    Attributes:
        tool: the tool's name.
        arguments: the arguments; None when any will do.
    """

    tool: str
    arguments: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.tool, str) or not self.tool:
            raise ConfigurationError(f"a tool has a name, not {self.tool!r}")
        if self.arguments is not None:
            object.__setattr__(self, "arguments", freeze_mapping(self.arguments))

    @classmethod
    def of(cls, given: object) -> ToolCall:
        """A call from a name, a pair ``(name, arguments)``, a mapping with ``tool`` and ``arguments``, or a Step.

        Raises:
            ConfigurationError: it is none of these.
        """
        if isinstance(given, ToolCall):
            return given
        if isinstance(given, str):
            return cls(given)
        if isinstance(given, Step) and given.tool is not None:
            return cls(given.tool, given.arguments)
        if isinstance(given, tuple | list) and len(given) == 2 and isinstance(given[1], Mapping):
            return cls(given[0], given[1])
        if isinstance(given, Mapping):
            tool, arguments = given.get("tool", given.get("name")), given.get("arguments", given.get("args"))
            if isinstance(tool, str) and (arguments is None or isinstance(arguments, Mapping)):
                return cls(tool, arguments)
        raise ConfigurationError(
            "an expected call is a tool's name, a pair (name, arguments), or {'tool': ..., 'arguments': ...}; "
            f"not {given!r}"
        )

    def __str__(self) -> str:
        if self.arguments is None:
            return self.tool
        return f"{self.tool}({', '.join(f'{name}={value!r}' for name, value in self.arguments.items())})"


def pairs_in_order(fits: Sequence[Sequence[bool]], expected: int) -> dict[int, int]:
    """Calls made and expected, paired in order: a longest common subsequence."""
    lengths = [[0] * (expected + 1) for _ in range(len(fits) + 1)]
    for made in reversed(range(len(fits))):
        for at in reversed(range(expected)):
            skipped = max(lengths[made + 1][at], lengths[made][at + 1])
            lengths[made][at] = max(skipped, lengths[made + 1][at + 1] + 1) if fits[made][at] else skipped
    pairs: dict[int, int] = {}
    made = at = 0
    while made < len(fits) and at < expected:
        if fits[made][at] and lengths[made][at] == lengths[made + 1][at + 1] + 1:
            pairs[made] = at
            made, at = made + 1, at + 1
        elif lengths[made + 1][at] >= lengths[made][at + 1]:
            made += 1
        else:
            at += 1
    return pairs


def pairs_in_any_order(fits: Sequence[Sequence[bool]], expected: int) -> dict[int, int]:
    """Calls made and expected, paired in any order, as many as can be: bipartite matching by augmenting paths.

    Greedy pairing would take the wrong partner where arguments compare loosely.
    """
    partner: dict[int, int] = {}  # expected -> made

    def placed(made: int, tried: set[int]) -> bool:
        for at in range(expected):
            if fits[made][at] and at not in tried:
                tried.add(at)
                if at not in partner or placed(partner[at], tried):
                    partner[at] = made
                    return True
        return False

    for made in range(len(fits)):
        placed(made, set())
    return {made: at for at, made in partner.items()}
