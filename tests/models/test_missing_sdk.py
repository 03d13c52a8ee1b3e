"""A model whose SDK is not installed is refused where it is made, like one without a key."""

import subprocess
import sys

import pytest

from jury_adapters.core.installation import needs_extra

WITHOUT = """
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] == {sdk!r} else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):  # it finds the metadata of packages as before
        return getattr(self.finder, name)

sys.meta_path = [Without(finder) for finder in sys.meta_path]

from jury_adapters import ConfigurationError, Critic

try:
    Critic({model!r}, "faithfulness", name="truth", api_key="k")
except ConfigurationError as error:
    print(error)
"""


@pytest.mark.parametrize(("sdk", "other"), [("openai", "anthropic"), ("anthropic", "openai")])
def test_it_is_refused_with_the_command_that_installs_it(sdk, other):
    def said(model):
        code = WITHOUT.format(sdk=sdk, model=model)
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert said(f"{sdk}:m") == needs_extra("this model", "an SDK", sdk) + "\n"
    assert said(f"{other}:m") == ""
