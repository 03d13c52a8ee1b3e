import subprocess
import sys

from jury_adapters.core.installation import needs_extra


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_the_package_loads_no_ray():
    out = run("import sys, jury_adapters.ray; print(any(m in sys.modules for m in ('ray', 'pyarrow')))")
    assert out.strip() == "False"


def test_without_ray_the_message_says_what_to_install():
    code = """
import sys
sys.modules["ray"] = None  # as if it were not installed
from jury_adapters import ConfigurationError
import jury_adapters.ray as on_ray
try:
    on_ray.judge_dataset
except ConfigurationError as error:
    print(error)
"""
    assert needs_extra("judge_dataset", "Ray Data", "ray") in run(code)


def test_an_unknown_name_is_an_attribute_error():
    assert run("import jury_adapters.ray as d; print(hasattr(d, 'nothing'), sorted(dir(d)))").startswith("False")
