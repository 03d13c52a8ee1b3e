"""Runs as LangSmith gives them to evaluators."""

from uuid import uuid4

from langsmith.schemas import Run


def run_of(answer, error=None):
    """Return a run with this answer, or with an error."""
    return Run(
        id=uuid4(), name="t", run_type="chain", start_time="2026-01-01T00:00:00", trace_id=uuid4(),
        inputs={"question": "q"}, outputs={"answer": answer}, error=error,
    )  # fmt: skip
