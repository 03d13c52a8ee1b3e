"""Levels of a scale, among which a decision model chooses."""

from __future__ import annotations

from jury_adapters.critic.answers import Scale

_MOST_RATINGS = 21  # a scale of whole numbers with more than these has evenly spaced levels
_EVEN_LEVELS = 11


def levels_of(scale: Scale) -> tuple[str, ...]:
    """Return the levels from worst to best: every rating of a short integer scale, else eleven evenly spaced ones."""
    if scale.integer and scale.maximum - scale.minimum < _MOST_RATINGS:
        return tuple(str(level) for level in range(int(scale.minimum), int(scale.maximum) + 1))
    step = (scale.maximum - scale.minimum) / (_EVEN_LEVELS - 1)
    return tuple(f"{scale.minimum + step * position:.12g}" for position in range(_EVEN_LEVELS))
