"""The registry: every file of the folder is a rule, and what is derived from it is what the rules do."""

import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, get_args, get_type_hints

import pytest

import jury_adapters
from jury_adapters import ConfigurationError, Ensemble
from jury_adapters.config.grammar import EnsembleSpec
from jury_adapters.core.voting import STRATEGIES, VotingName, VotingOptions, options_of, resolve, rules
from jury_adapters.core.voting.base import VotingStrategy
from jury_adapters.core.voting.rules.majority import Majority

KINDS = list(dict.fromkeys(STRATEGIES.values()))
NEEDED = {"reliabilities": [0.9]}
BOUNDED = [
    (kind, option)
    for kind in KINDS
    for option in options_of(kind).values()
    if getattr(option.type, "__metadata__", None)
]


def needed_by(kind):
    return {name: NEEDED[name] for name, option in options_of(kind).items() if option.required}


def values_at(option, **steps):
    """The bounds of an option's type, each moved by a step."""
    bounds = option.type.__metadata__[0].metadata
    return [getattr(bound, name) + step for bound in bounds for name, step in steps.items() if hasattr(bound, name)]


def test_every_file_of_the_folder_is_a_rule():
    files = sorted(path.stem for path in Path(rules.__path__[0]).glob("*.py") if path.stem != "__init__")
    assert [kind.name for kind in KINDS] == files
    assert len(files) == 10


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_rule_has_all_that_is_derived_from_it(kind):
    assert all(STRATEGIES[name] is kind for name in (kind.name, *kind.also_called))
    assert type(resolve(kind.name.upper().replace("_", "-"), **needed_by(kind))) is kind
    assert kind.passes_when
    assert kind.good_for
    assert [name for name, option in options_of(kind).items() if not option.about] == []


def test_names_and_options_are_the_same_everywhere():
    options = {name for kind in KINDS for name in options_of(kind)}
    assert set(get_args(VotingName)) == STRATEGIES.keys()
    assert get_type_hints(VotingOptions).keys() == options
    assert options <= set(EnsembleSpec.keys())


@pytest.mark.parametrize(("kind", "option"), BOUNDED, ids=lambda value: getattr(value, "name", None))
def test_bounds_of_jury_files_are_those_of_the_constructor(kind, option):
    for value in values_at(option, ge=0, le=0):
        kind(**{**needed_by(kind), option.name: value})
    refused = values_at(option, ge=-1, le=1, gt=0, lt=0)
    assert refused
    for value in refused:
        with pytest.raises(ConfigurationError, match=f"{option.name} "):
            kind(**{**needed_by(kind), option.name: value})


def test_every_number_has_bounds():
    assert [(kind.name, option.name) for kind in KINDS for option in options_of(kind).values()
            if option.type in (int, float)] == []  # fmt: skip


def test_a_strategy_of_ones_own_is_used_and_takes_no_name():
    @dataclass(frozen=True, kw_only=True)
    class Mine(Majority):
        name: ClassVar[str] = "majority"

    @dataclass(frozen=True, kw_only=True)
    class Other(Majority):
        name: ClassVar[str] = "other"

    assert Ensemble([lambda case: True], voting=Mine()).strategy == Mine()
    assert type(resolve("majority")) is Majority
    assert isinstance(Other(), VotingStrategy)
    with pytest.raises(ConfigurationError, match="unknown voting strategy 'other'"):
        Ensemble([lambda case: True], voting="other")


@pytest.mark.slow
def test_the_rules_are_found_in_a_zip_file(tmp_path):
    """As where Python imports an application from one file."""
    root = Path(jury_adapters.__file__).parent
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as packed:
        for path in [*root.glob("*.py"), *(root / "core").rglob("*.py")]:
            packed.write(path, path.relative_to(root.parent))
    code = "import jury_adapters.core.voting as v; print(v.__file__, *v.STRATEGIES)"
    found = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(tmp_path / "app.zip")}, text=True, capture_output=True,
        check=True, cwd=tmp_path,
    )  # fmt: skip
    place, *names = found.stdout.split()
    assert "app.zip" in place
    assert names == list(STRATEGIES)
