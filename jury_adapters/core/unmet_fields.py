"""Fields that every judge in a jury needs and that no case of a place in an application has."""

from __future__ import annotations

from collections.abc import Collection

from jury_adapters.core.combinators import AllOf
from jury_adapters.core.fallbacks import FallbackJudge
from jury_adapters.core.field_map import CheckedFieldMap, FieldMap
from jury_adapters.core.judge import Judge


def unmet_fields(judge: Judge, absent: Collection[str], field_map: CheckedFieldMap = None) -> tuple[str, ...]:
    """Return the fields without which nothing in a judge judges a case; empty if a judge in it needs none of them.

    Args:
        judge: a judge or a jury.
        absent: the fields that no case has by itself.
        field_map: the checked field map of the user. The fields that it names are there, and a function may fill any.
    """
    if field_map is not None and not isinstance(field_map, FieldMap):
        return ()
    return _unmet(judge, frozenset(absent) - (field_map.paths.keys() if field_map is not None else set()))


def _unmet(judge: Judge, absent: Collection[str]) -> tuple[str, ...]:
    if judge.required_fields:
        return tuple(name for name in judge.required_fields if name in absent)
    only_first = isinstance(judge, FallbackJudge | AllOf)  # where it abstains, no other judge is asked
    missing = [_unmet(member, absent) for member in (judge.members[:1] if only_first else judge.members)]
    return tuple(dict.fromkeys(name for names in missing for name in names)) if all(missing) else ()
