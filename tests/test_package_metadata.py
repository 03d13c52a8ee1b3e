"""Metadata of the package: one version everywhere, a citation, and commands that work."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import jury_adapters
from jury_adapters.cli.app import app

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION = PROJECT["version"]
TEXTS = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").replace('\\"', '"')
    for pattern in ("*.md", "docs/**/*.md", "cookbook/*.md", "cookbook/*.ipynb", "jury_adapters/**/*.py", "docs/*.py")
    for path in sorted(ROOT.glob(pattern))
}
# `pip install`, with options and quotes, of the name that no registry has; also with an extra alone.
BY_NAME = re.compile(r"pip install\s+(?:-\S+\s+)*['\"]?jury[-_]adapters(?![\w.-]*\.whl)|[`']jury-adapters\[[\w,. -]+\]")


def test_every_place_has_the_same_version():
    assert jury_adapters.__version__ == VERSION
    assert CliRunner().invoke(app, ["--version"]).stdout.split()[-1] == VERSION
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == VERSION
    assert re.findall(r"^## (\S+)", TEXTS["CHANGELOG.md"], re.MULTILINE)[0] == VERSION


@pytest.mark.slow
def test_texts_name_this_version():
    """The README by its first two numbers; wheels and tags by all of them."""
    short = VERSION.rpartition(".")[0]
    assert re.findall(r"\bversion (\d+\.\d+)\b", TEXTS["README.md"]) == [short]
    named = re.compile(r"\bjury_adapters-(\d[\w.]*?)-py3|\btag -s v(\d[\w.]*\d)|\bjury-adapters\S*==(\d[\w.]*\d)")
    found = {(name, one) for name, text in TEXTS.items() for one in map("".join, named.findall(text))}
    assert found
    assert {(name, version) for name, version in found if version != VERSION} == set()


def test_the_changelog_has_the_four_kinds_of_changes_in_user_terms():
    section = TEXTS["CHANGELOG.md"].split(f"## {VERSION}")[1].split("\n## ")[0]
    assert re.findall(r"^### (\w+)$", section, re.MULTILINE) == ["Added", "Changed", "Fixed", "Security"]
    lines = re.findall(r"^- (.+)$", section, re.MULTILINE)
    assert len(lines) == len(set(lines))
    assert not re.search(r"\b(?:tests?/|core\.|_\w+\()", section)


def test_the_citation_agrees_with_the_project():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert citation["message"]
    assert "jury_adapters" in citation["title"]
    assert citation["license"] == PROJECT["license"]
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in PROJECT["authors"]]
    assert citation["keywords"] == PROJECT["keywords"]


def test_no_public_address_is_invented():
    """Both are set when the repository has an address; a release step says so."""
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert ("urls" in PROJECT) == ("repository-code" in citation)
    if "urls" not in PROJECT:
        assert "[project.urls]" in TEXTS["CONTRIBUTING.md"].split("## Release\n")[1]


def test_the_package_is_typed_and_says_so():
    assert "Typing :: Typed" in PROJECT["classifiers"]
    assert not [one for one in PROJECT["classifiers"] if one.startswith("License ::")]  # `license` has the expression
    assert (ROOT / "jury_adapters" / "py.typed").is_file()
    assert all((ROOT / name).is_file() for name in PROJECT["license-files"])


@pytest.mark.slow
def test_no_text_installs_the_package_by_a_name_that_no_registry_has():
    release = re.compile(r"^7\. .*$", re.MULTILINE)  # once published, a release is tried by name
    assert len(TEXTS) > 500
    assert {name for name, text in TEXTS.items() if BY_NAME.search(release.sub("", text))} == set()


@pytest.mark.parametrize(
    "text", ["pip install jury-adapters", "pip install -U 'jury-adapters[x]'", "`jury-adapters[x]`"]
)
def test_the_search_finds_such_commands(text: str):
    assert BY_NAME.search(text)


def test_the_page_on_installing_lists_every_extra():
    page = (ROOT / "docs/how_to/install.md").read_text(encoding="utf-8")
    table = set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE))
    assert table == PROJECT["optional-dependencies"].keys() - {"test", "dev", "docs"}
