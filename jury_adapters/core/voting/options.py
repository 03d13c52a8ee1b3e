"""Types of options with their bounds, which are used to validate jury files."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

Count: TypeAlias = Annotated[int, Field(ge=1)]
UnitInterval: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Probability: TypeAlias = Annotated[float, Field(gt=0, lt=1)]
"""Probability strictly between 0 and 1."""
