"""The names of ``jury_adapters.statistics``: loaded when they are used, and all of them documented."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from jury_adapters import statistics
from jury_adapters.core.installation import needs_extra

ROOT = Path(__file__).parents[2]


def test_the_names_are_those_of_the_homes_and_of_the_type_checker():
    tree = ast.parse(Path(statistics.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    checked = {alias.name for node in block.body for alias in node.names}
    homes = [name for names in statistics._HOMES.values() for name in names]
    assert sorted(homes) == sorted(statistics.__all__) == sorted(checked)
    assert all(getattr(statistics, name).__doc__ for name in statistics.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = statistics.no_such_name


@pytest.mark.slow
def test_importing_the_package_loads_no_numpy_and_a_name_says_that_it_needs_it():
    code = (
        "import sys; from jury_adapters import statistics; assert 'numpy' not in sys.modules; sys.modules['numpy'] = "
        "None; statistics.labels_for_interval"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert needs_extra("labels_for_interval", "NumPy", "stats") in done.stderr


def test_every_name_stands_in_the_reference():
    page = (ROOT / "docs/reference/statistics.md").read_text(encoding="utf-8")
    assert all(f"::: jury_adapters.statistics.{name}\n" in page for name in statistics.__all__)
