"""Judged cases as flat rows, for a table, a spreadsheet or a data frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jury_adapters.core.formatting import to_word
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.opinions import Path, criteria_of, juror_names, opinions_of
from jury_adapters.core.usage import NO_USAGE
from jury_adapters.core.values import JsonValue
from jury_adapters.core.verdict import Verdict
from jury_adapters.report.entries import Entry
from jury_adapters.report.figures import contest


def flat_rows(entries: Sequence[Entry]) -> list[dict[str, JsonValue]]:
    """Return one row per case.

    The result of a criterion is in the column ``criterion:NAME``, and its score, if it has one, in ``score:NAME``; a
    juror's opinion is in the column ``vote:NAME``, and a text or number of the metadata in the column ``meta:NAME``.
    """
    names = juror_names(path for entry in entries for path, _ in opinions_of(entry.judgment))
    criteria = juror_names(path for entry in entries for path, _ in criteria_of(entry.judgment))
    return [_row(entry, names, criteria) for entry in entries]


def _row(entry: Entry, names: Mapping[Path, str], criteria: Mapping[Path, str]) -> dict[str, JsonValue]:
    judgment = entry.judgment
    verdict = judgment if isinstance(judgment, Verdict) else None
    recorded = judgment.usage.recorded or NO_USAGE
    known = verdict.case_metadata if entry.case is None and verdict is not None else {}
    metadata = known if entry.case is None else entry.case.metadata
    return {
        "index": entry.index,
        "where": entry.where,
        "item_id": entry.item_id,
        "line": entry.line,
        "key": entry.key,
        "question": None if entry.case is None else entry.case.question,
        "answer": None if entry.case is None else entry.case.answer,
        "status": None if judgment.status is None else str(judgment.status),
        "label": judgment.label,
        "score": judgment.score,
        "confidence": judgment.confidence,
        "agreement": contest(judgment)[1],
        "needs_review": judgment.needs_review,
        "stopped_at": None if verdict is None else verdict.stopped_at,
        "cost_usd": judgment.usage.cost_usd,
        "cost_complete": judgment.usage.cost_complete,
        "calls": judgment.usage.calls,
        "recorded_calls": recorded.calls,
        "recorded_cost_usd": recorded.cost_usd,
        "reasoning": judgment.reasoning,
        "error": judgment.error,
        "unmet": "; ".join(entry.unmet) or None,
        **{f"meta:{name}": value for name, value in metadata.items() if isinstance(value, str | int | float)},
        **_criteria_columns(judgment, criteria),
        **{f"vote:{names[path]}": to_word(vote) for path, vote in opinions_of(judgment)},
    }


def _criteria_columns(judgment: Judgment, names: Mapping[Path, str]) -> dict[str, JsonValue]:
    columns: dict[str, JsonValue] = {}
    for path, result in criteria_of(judgment):
        columns[f"criterion:{names[path]}"] = to_word(result)
        if result.score is not None:
            columns[f"score:{names[path]}"] = result.score
    return columns
