"""Runs of applications, messages, rows and files of rows, read as cases."""
