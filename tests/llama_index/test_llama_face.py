"""Messages of ``jury_adapters.llama_index`` where LlamaIndex is not installed."""

import subprocess
import sys

import pytest

from jury_adapters.core.installation import needs_extra

BARE = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name == {absent!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
import jury_adapters.llama_index as adapter
adapter.{name}
"""


def raised_without(absent: str, name: str) -> str:
    code = BARE.format(absent=absent, name=name)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return ran.stderr.strip().splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("absent", "name"),
    [
        ("llama_index", "JuryEvaluator"),
        ("llama_index.core", "JuryGuardQueryEngine"),
        ("llama_index_instrumentation", "judge_runs"),
    ],
)
def test_without_llama_index_a_name_says_what_to_install(absent: str, name: str):
    said = raised_without(absent, name)
    assert said.endswith(f"ConfigurationError: {needs_extra(name, 'LlamaIndex', 'llama-index')}")


@pytest.mark.slow
def test_another_module_that_is_missing_is_named_as_it_is():
    said = raised_without("llama_index.core.evaluation", "JuryEvaluator")
    assert said == "ModuleNotFoundError: No module named 'llama_index.core.evaluation'"
