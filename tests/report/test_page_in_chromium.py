"""The page of a report in Chromium: hostile texts in every field, two widths, two colour schemes, and no script."""

import shutil
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from panels import results
from test_report_hostile import PAIRS, REPORTS, shown

from jury_adapters.report import Report

pytestmark = pytest.mark.chromium

# The width, the colour of the background, and what stands out less from it than WCAG 2 asks (AA, 4.5 to 1).
SEEN = """() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => parts(colour).slice(0, 3).map((one) => one / 255)
    .map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, place) => sum + one * [0.2126, 0.7152, 0.0722][place], 0.05);
  const behind = (node) => parts(getComputedStyle(node).backgroundColor)[3] === 0
    ? behind(node.parentElement) : getComputedStyle(node).backgroundColor;
  const told = (node) => [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
  const contrast = (a, b) => Math.max(a / b, b / a);
  const pale = [...document.querySelectorAll("main *")].filter((node) => node.checkVisibility() && told(node))
    .filter((node) => contrast(light(getComputedStyle(node).color), light(behind(node))) < 4.5);
  return [document.documentElement.scrollWidth, behind(document.body), pale.map((node) => node.outerHTML.slice(0, 80))];
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=shutil.which("chromium"))


def opened(browser: Any, path: Path, **options: Any) -> tuple[Any, list[Any]]:
    """Open a page and every case on it; return it with its requests, messages, errors and dialogs."""
    page, heard = browser.new_page(**options), list[Any]()
    for event in ("request", "console", "pageerror", "dialog"):
        page.on(event, lambda what: (heard.append(what), getattr(what, "dismiss", str)()))  # a dialog would wait
    page.goto(path.as_uri())
    for summary in page.locator("summary").all():
        summary.click()
    return page, heard


@pytest.mark.parametrize("name", [*REPORTS, *PAIRS], ids=str)
def test_hostile_texts_are_shown_and_do_nothing(browser: Any, tmp_path: Path, name: Any) -> None:
    page, heard = opened(browser, shown(name).write(tmp_path / "page.html"))
    assert "<script>alert(1)</script><img src=x onerror=y>" in page.inner_text("main")
    schemes = {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 24, 27)"}
    for width, colours in product((360, 1280), schemes):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=colours)
        assert page.evaluate(SEEN) == [width, schemes[colours], []]
    assert [type(one).__name__ for one in heard] == ["Request"], heard  # of the page itself


def test_the_search_hides_cases_and_without_the_script_all_are_shown(browser: Any, tmp_path: Path) -> None:
    path = Report(results((id_, id_, None) for id_ in ("PPP", "PFF", "EEE"))).write(tmp_path / "page.html")
    page, plain = opened(browser, path)[0], opened(browser, path, java_script_enabled=False)[0]
    steps = {
        "1 of 3 cases": lambda: page.fill("#search", "Answer pff"),
        "3 of 3 cases": lambda: page.fill("#search", ""),
        "2 of 3 cases": lambda: page.check("#review"),
        "0 of 3 cases": lambda: page.select_option("#status", "PASS"),
    }
    for count, do in steps.items():
        do()
        assert (page.inner_text("#count"), page.locator("summary:visible").count()) == (count, int(count[0]))
    assert (plain.locator("pre:visible").count(), plain.is_visible("#filters")) == (page.locator("pre").count(), False)
