"""Texts that are written from the package are up to date; with ``JURY_DOCS_WRITE=1`` they are written anew."""

import os

import pytest
from derived_texts import COMMAND, derived_files
from doc_pages import ROOT

FILES = derived_files(ROOT)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_derived_text_is_what_the_package_says(path):
    if os.environ.get("JURY_DOCS_WRITE"):
        path.write_text(FILES[path], encoding="utf-8")
    assert path.read_text(encoding="utf-8") == FILES[path], f"run {COMMAND}"
