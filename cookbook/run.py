"""Run the notebooks of this folder, and fail where a cell raises: python cookbook/run.py [NAMES]."""

import sys
import tempfile
from pathlib import Path
from time import perf_counter

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent


def main(names: list[str]) -> None:
    """Run each notebook in an empty folder, offline."""
    paths = [HERE / name for name in names] or sorted(HERE.glob("*.ipynb"))
    for path in paths:
        started = perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            notebook = nbformat.read(path, as_version=4)
            NotebookClient(notebook, timeout=120, resources={"metadata": {"path": folder}}).execute()
        print(f"{path.name}: {perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
