"""Judges of a workspace: the files, commands, tests and coverage that a coding agent left behind.

Optional part: the judges are found in :mod:`jury_adapters.checks`.
"""
