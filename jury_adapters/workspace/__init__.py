"""Checks of the folder in which an agent worked: programs, files and test coverage. See :mod:`jury_adapters.checks`."""
