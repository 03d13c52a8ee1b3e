"""A model whose SDK is not installed is refused where it is made, like one without a key."""

import subprocess
import sys

import pytest

from jury_adapters.core.installation import install_command, needs_extra

WITHOUT = """
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in {sdks!r} else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):  # it finds the metadata of packages as before
        return getattr(self.finder, name)

sys.meta_path = [Without(finder) for finder in sys.meta_path]

from jury_adapters import ConfigurationError, Critic, panel

try:
    {call}
except ConfigurationError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("sdk", "other"), [("openai", "anthropic"), ("anthropic", "openai")])
def test_it_is_refused_with_the_command_that_installs_it(sdk, other):
    def said_of(model):
        return said([sdk], f'Critic("{model}", "faithfulness", name="truth", api_key="k")')

    assert said_of(f"{sdk}:m") == needs_extra("this model", "an SDK", sdk) + "\n"
    assert said_of(f"{other}:m") == ""


@pytest.mark.slow
def test_a_panel_names_all_missing_sdks_at_once():
    missing = said(["anthropic", "openai"], 'panel("faithfulness", "openai:m", "anthropic:m", "gemini:m")')
    command = install_command("openai,anthropic")
    assert missing == f"these models need SDKs, of the extras openai and anthropic: {command}\n"
    assert "openai" in command
    assert "anthropic" in command


def said(sdks, call):
    code = WITHOUT.format(sdks=sdks, call=call)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
