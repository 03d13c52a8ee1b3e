"""Commands that install a missing extra, for every way in which the package can have been installed."""

import json
import os
import shlex
import subprocess
import sys
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from jury_adapters.core.installation import install_command, needs_extra

METADATA = """\
Metadata-Version: 2.4
Name: jury-adapters
Version: 0.2.0
Requires-Dist: pydantic<3,>=2.7
Requires-Dist: regex>=2023.10.3; extra == 'checks'
Requires-Dist: jury-adapters[checks]; extra == 'cli'
Requires-Dist: typer>=0.19; extra == "cli"
Requires-Dist: regex>=2023.10.3; extra == "cli"
Requires-Dist: rich<16,>=13; extra == 'cli'
Requires-Dist: psycopg[binary]>=3.1.4; extra == 'postgres'
"""
PACKAGES = "pip install 'regex>=2023.10.3' 'typer>=0.19' 'rich<16,>=13'"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a folder of installed packages that has the metadata of this package and no code."""
    folder = tmp_path / "site" / "jury_adapters-0.2.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(METADATA, encoding="utf-8")
    return folder.parent


def installed(site: Path, said: object = None, *, raw: str | None = None) -> Distribution:
    """Return the package of a site folder, installed as `direct_url.json` says."""
    folder = site / "jury_adapters-0.2.0.dist-info"
    if said is not None or raw is not None:
        (folder / "direct_url.json").write_text(json.dumps(said) if raw is None else raw, encoding="utf-8")
    return Distribution.at(folder)


def project(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").touch()
    return folder


@pytest.mark.parametrize("name", ["clone", "with a space", "it's", "ünïcode", "100%", "a#b?c"])
def test_a_clone_is_named_and_stays_editable_if_it_was(tmp_path: Path, site: Path, name: str):
    folder = project(tmp_path / name)
    for info, option in (({"editable": True}, ["-e"]), ({"editable": False}, []), ({}, [])):
        command = install_command("cli", distribution=installed(site, {"url": folder.as_uri(), "dir_info": info}))
        assert shlex.split(command) == ["pip", "install", *option, f"{folder}[cli]"]


def test_a_wheel_file_is_named(tmp_path: Path, site: Path):
    wheel = tmp_path / "my wheels" / "jury_adapters-0.2.0-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.touch()
    package = installed(site, {"url": wheel.as_uri(), "archive_info": {"hashes": {"sha256": "0"}}})
    assert install_command("cli", distribution=package) == f"pip install '{wheel}[cli]'"
    wheel.unlink()
    assert install_command("cli", distribution=package) == PACKAGES


@pytest.mark.parametrize(
    "said",
    [
        None,  # from a registry
        {"url": "https://example.org/jury_adapters-0.2.0-py3-none-any.whl", "archive_info": {}},
        {"url": "https://example.org/jury", "vcs_info": {"vcs": "git", "commit_id": "0" * 40}},
        {"url": "file:///nowhere/clone", "dir_info": {"editable": True}},
        {"url": "file:///", "dir_info": {}},  # a folder without a project
        {"url": "file:///nowhere/jury_adapters-0.2.0-py3-none-any.whl", "archive_info": {}},
        {"url": 3, "dir_info": {}},
        {"url": "file:///", "dir_info": 3},
        {},
        [],
    ],
)
def test_otherwise_the_packages_of_the_extra_are_named(site: Path, said: object):
    package = installed(site, said)
    assert install_command("cli", distribution=package) == PACKAGES
    assert install_command("postgres", distribution=package) == "pip install 'psycopg[binary]>=3.1.4'"
    assert install_command("cli,postgres", distribution=package) == f"{PACKAGES} 'psycopg[binary]>=3.1.4'"


def test_an_extra_that_the_installed_version_does_not_have_is_in_the_folder_of_the_code(site: Path):
    command = install_command("new", distribution=installed(site))
    assert shlex.split(command)[:3] == ["pip", "install", "-e"]
    assert command.strip("'").endswith("[new]")


@pytest.mark.parametrize("raw", ["", "no json", '{"url": '])
def test_a_broken_record_of_the_installation_is_no_error(site: Path, raw: str):
    assert install_command("cli", distribution=installed(site, raw=raw)) == PACKAGES


def test_further_packages_come_last(site: Path):
    command = install_command("postgres", "langchain>=1.2", distribution=installed(site))
    assert command == "pip install 'psycopg[binary]>=3.1.4' 'langchain>=1.2'"


def said_by(python_path: Path, code: str) -> str:
    """Return what a Python without site packages prints; it has the metadata and code of one folder only."""
    command = [sys.executable, "-S", "-c", code]
    environment = {**os.environ, "PYTHONPATH": str(python_path)}
    return subprocess.run(
        command, env=environment, cwd=python_path, capture_output=True, text=True, check=True
    ).stdout.strip()


MESSAGE = "from jury_adapters.core.installation import needs_extra; print(needs_extra('Votes', 'NumPy', 'cli'))"


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """Return a folder with nothing of the package but the module, and no metadata."""
    folder = tmp_path / "clone" / "jury_adapters" / "core"
    folder.mkdir(parents=True)
    source = Path(sys.modules["jury_adapters.core.installation"].__file__ or "")
    (folder / source.name).write_bytes(source.read_bytes())
    return folder.parents[1]


@pytest.mark.slow
def test_a_message_names_feature_part_extra_and_command(site: Path, code: Path):
    (code / "jury_adapters").rename(site / "jury_adapters")
    assert said_by(site, MESSAGE) == f"Votes needs NumPy, of the extra cli: {PACKAGES}"


@pytest.mark.slow
def test_without_an_installation_the_folder_of_the_code_is_named(code: Path):
    assert said_by(code, MESSAGE) == "Votes needs NumPy, of the extra cli: pip install -e '.[cli]'"
    (code / "pyproject.toml").touch()
    assert said_by(code, MESSAGE) == f"Votes needs NumPy, of the extra cli: pip install -e '{code}[cli]'"


def test_the_package_of_these_tests_has_a_command():
    assert needs_extra("x", "y", "stats").startswith("x needs y, of the extra stats: pip install ")


def test_the_module_loads_nothing_for_it_at_import():
    code = (
        "import sys, jury_adapters.core.installation; "
        "print({'importlib.metadata', 'urllib.request', 'email'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
