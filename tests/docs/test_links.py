"""Every link of the documentation leads somewhere, without asking the network; every page stands in the navigation."""

import re
import unicodedata
from collections import Counter
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml
from doc_pages import PAGES, ROOT, called, without_blocks

import jury_adapters
from jury_adapters import ConfigurationError

DOCS = ROOT / "docs"
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
INCLUDED = re.compile(r'^--8<-- "([^"]+)"$', re.MULTILINE)
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*$", re.MULTILINE)
IDENTIFIER = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)
ELSEWHERE = ("https://", "http://", "mailto:")


class SiteLoader(yaml.SafeLoader):
    """Reads mkdocs.yml, whose extensions are named by Python tags that only mkdocs resolves."""


SiteLoader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)
SITE = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader=SiteLoader)

each_page = pytest.mark.parametrize("page", PAGES, ids=called)


def whole(page: Path) -> str:
    """A page's prose with the files that it includes."""
    text = without_blocks(page.read_text(encoding="utf-8"))
    return INCLUDED.sub(lambda found: without_blocks((ROOT / found[1]).read_text(encoding="utf-8")), text)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and mkdocs make them; repeated ones get numbers."""
    seen = Counter[str]()
    found = set()
    for heading in HEADING.findall(whole(page)):
        slug = slug_of(heading)
        found.add(f"{slug}{'_' if DOCS in page.parents else '-'}{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found | set(IDENTIFIER.findall(page.read_text(encoding="utf-8")))


def slug_of(heading: str) -> str:
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading)
    plain = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def navigated(nav: object) -> list[str]:
    """The pages of a navigation, from top to bottom."""
    if isinstance(nav, str):
        return [nav]
    entries = nav.values() if isinstance(nav, dict) else nav
    return [page for entry in entries for page in navigated(entry)]


@each_page
def test_links_lead_somewhere(page):
    for target in LINK.findall(without_blocks(page.read_text(encoding="utf-8"))):
        if target.startswith(ELSEWHERE):
            continue
        path, _, anchor = unquote(target).partition("#")
        file = (page.parent / path) if path else page
        assert file.exists(), f"{target}: there is no such file"
        if DOCS in page.parents:
            assert DOCS in file.resolve().parents, f"{target}: outside of docs, so not on the site"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{target}: no such heading"


@each_page
def test_included_files_exist_and_their_links_do_not_depend_on_their_place(page):
    for name in INCLUDED.findall(page.read_text(encoding="utf-8")):
        included = ROOT / name
        assert included.is_file(), name
        targets = LINK.findall(without_blocks(included.read_text(encoding="utf-8")))
        assert all(target.startswith((*ELSEWHERE, "#")) for target in targets), f"{name} has links of its own place"


def test_every_page_stands_in_the_navigation_once():
    listed = Counter(navigated(SITE["nav"]))

    assert listed == Counter(page.relative_to(DOCS).as_posix() for page in PAGES if DOCS in page.parents)


def test_every_picture_is_shown_somewhere():
    shown = {
        (page.parent / target).resolve()
        for page in PAGES
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if not target.startswith(ELSEWHERE)
    }
    pictures = {path.resolve() for path in DOCS.rglob("*") if path.suffix in (".svg", ".png", ".jpg")}

    assert pictures <= shown


@pytest.mark.parametrize(
    "identifier",
    sorted({name for page in PAGES for name in IDENTIFIER.findall(page.read_text(encoding="utf-8"))}),
)
def test_what_the_reference_names_exists(identifier):
    module, _, name = identifier.rpartition(".")
    with suppress(ConfigurationError):  # the name is known, and needs a package that is not installed
        assert (getattr(import_module(module), name).__doc__ or "").strip()


@pytest.mark.parametrize("face", ["jury_adapters", "jury_adapters.langchain", "jury_adapters.llama_index"])
def test_every_public_name_stands_in_the_reference(face):
    text = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md"))
    listed = {name for name in IDENTIFIER.findall(text) if name.startswith(f"{face}.")}
    names = import_module(face).__dir__() if face != "jury_adapters" else jury_adapters.__all__

    assert {f"{face}.{name}" for name in names} <= listed


def test_every_measured_table_names_a_benchmark_and_the_page_repeats_each():
    measured = (DOCS / "measured.md").read_text(encoding="utf-8")
    tables = re.findall(r"(?:^\|.*\n)+", measured, re.MULTILINE)
    named = [re.findall(r"tests/(?:benchmarks|simulations)/\w+\.py", table) for table in tables]
    repeated = re.findall(r"^python (tests/(?:benchmarks|simulations)/\w+\.py)", measured, re.MULTILINE)

    assert len(tables) >= 2
    assert all(named)
    assert {name for names in named for name in names} <= set(repeated)
    assert all((ROOT / name).is_file() for name in repeated)


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("Two commands", "two-commands"),
        ("What `jury judge` prints", "what-jury-judge-prints"),
        ("LangChain: in a loop", "langchain-in-a-loop"),
    ],
)
def test_anchors_are_made_as_mkdocs_makes_them(heading, slug):
    assert slug_of(heading) == slug
