"""Expected tool calls, and their pairing with the calls that were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jury_adapters.core.case_parts import Step
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.loose_values import from_json
from jury_adapters.core.message_calls import ARGUMENTS
from jury_adapters.core.values import freeze_mapping


@dataclass(frozen=True)
class ToolCall:
    """Expected tool call.

    Attributes:
        tool: the tool's name.
        arguments: the arguments; None if any are accepted.
    """

    tool: str
    arguments: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.tool, str) or not self.tool:
            raise ConfigurationError(f"a tool has a name, not {plain_repr(self.tool)}")
        if self.arguments is not None:
            object.__setattr__(self, "arguments", freeze_mapping(self.arguments))

    @classmethod
    def of(cls, given: object) -> ToolCall:
        """Return a call from a name, a pair ``(name, arguments)``, a mapping with ``tool`` and ``arguments`` or a Step.

        A mapping may use the names of other packages, such as ``name`` and ``input_parameters``, or be a tool call of
        OpenAI. One without arguments means any arguments.

        Raises:
            ConfigurationError: the value has none of these forms.
        """
        if isinstance(given, ToolCall):
            return given
        if isinstance(given, str):
            return cls(given)
        if isinstance(given, Step) and given.tool is not None:
            return cls(given.tool, given.arguments)
        if isinstance(given, tuple | list) and len(given) == 2 and isinstance(given[1], Mapping):
            return cls(given[0], given[1])
        if isinstance(given, Mapping) and (call := _in_mapping(given)) is not None:
            return cls(*call)
        raise ConfigurationError(
            "an expected call is a tool's name, a pair (name, arguments), or {'tool': ..., 'arguments': ...}; "
            f"not {plain_repr(given)}"
        )

    def __str__(self) -> str:
        if self.arguments is None:
            return self.tool
        return f"{self.tool}({', '.join(f'{name}={value!r}' for name, value in self.arguments.items())})"


def _in_mapping(given: Mapping[str, object]) -> tuple[str, Mapping[str, object] | None] | None:
    """Return the tool and the arguments in a mapping; None if it is not a call, or may have unknown arguments."""
    inner = given.get("function")
    call = inner if isinstance(inner, Mapping) else given
    tool = next((call[name] for name in _TOOLS if isinstance(call.get(name), str)), None)
    if not isinstance(tool, str):
        return None
    named = next((name for name in ARGUMENTS if call.get(name) is not None), None)
    if named is None:
        unread = any(isinstance(value, Mapping) for name, value in call.items() if name not in _NO_ARGUMENTS)
        return None if unread else (tool, None)
    arguments = from_json(value) if isinstance(value := call[named], str) else value
    return (tool, arguments) if isinstance(arguments, Mapping) else None


def pairs_in_order(fits: Sequence[Sequence[bool]], expected: int) -> dict[int, int]:
    """Return the calls made and expected, paired in order: a longest common subsequence."""
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
    """Return the calls made and expected, paired in any order: a maximum bipartite matching by augmenting paths.

    Greedy pairing could choose the wrong partner if arguments compare loosely.
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


_TOOLS = ("tool", "name", "tool_name")
_NO_ARGUMENTS = frozenset({"output", "metadata"})
