"""Juries as YAML files; see :func:`load_jury`."""

from jury_adapters.config.jury_file import load_jury
from jury_adapters.config.schema import jury_schema

__all__ = ["jury_schema", "load_jury"]
