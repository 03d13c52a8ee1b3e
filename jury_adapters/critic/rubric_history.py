"""History of a rubric: which rubric it replaced, why, and with which effect."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class RubricChange(BaseModel):
    """Change that made a rubric from another; for readers only, and in no fingerprint.

    Attributes:
        parent: the fingerprint of the rubric before the change.
        date: the day of the change (ISO 8601).
        change: the change, in a few words.
        labels: the digest of the labelled cases by which it was chosen and tested.
        effect: the measured effect, in a sentence.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    parent: str
    date: str
    change: str = ""
    labels: str = ""
    effect: str = ""
