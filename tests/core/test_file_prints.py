"""Files that are recognised when they are read again."""

import os

import pytest

from jury_adapters.core.errors import InputError
from jury_adapters.core.file_prints import FilePrint


@pytest.mark.parametrize("size", [0, 10, 5_000, 100_000])
def test_more_rows_may_follow(tmp_path, size):
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"x" * size)
    found = FilePrint(file)
    found.check()
    with file.open("ab") as more:
        more.write(b"y" * 10_000)
    found.check()


@pytest.mark.parametrize("other", [b"", b"x" * 9_999, b"y" + b"x" * 9_999, b"x" * 9_999 + b"y", b"z" * 20_000])
def test_another_file_of_the_name_is_refused(tmp_path, other):
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"x" * 10_000)
    found = FilePrint(file)
    file.write_bytes(other)
    with pytest.raises(InputError, match="has changed since it was read"):
        found.check()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "rows.jsonl")
    with pytest.raises(InputError, match="pipe"):
        FilePrint(tmp_path / "rows.jsonl")
