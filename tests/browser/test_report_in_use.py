"""The page in use: by keyboard, with a screen reader, on a phone, on paper, with ten cases and with ten thousand."""

from itertools import pairwise

import pytest

from jury_adapters import CascadedJury, Case, Ensemble, Judge, Judgment, Tier
from jury_adapters.core.batch import Judged, stream
from jury_adapters.report import Report
from tests.support.chromium import chromium
from tests.support.hostile_page import ATTACKS, hostile_report

pytestmark = pytest.mark.browser

FOCUSED = "[document.activeElement.id, document.activeElement.tagName]"
SHOWN = "[...document.querySelectorAll('.where')].map((one) => one.textContent)"
COUNT = "byId('count').textContent"
CHOOSE = "(([id, value]) => { const one = byId(id); one.value = value; one.dispatchEvent(new Event('input', " \
         "{ bubbles: true })); })(%r)"  # fmt: skip


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("browser")) as tab:
        yield tab


def juror(name, says):
    def judge(case):
        found = says(int(case.question))
        return Judgment("ABSTAIN" if found is None else "PASS" if found else "FAIL", reasoning=f"{name} has looked")

    return Judge.from_function(judge, name=name)


PANEL = Ensemble([
    juror("even", lambda n: n % 2 == 0), juror("third", lambda n: n % 3 == 0), juror("both", lambda n: n % 6 == 0),
])  # fmt: skip
JURY = CascadedJury(
    [Tier("panel", PANEL, "escalate_on_split"), Tier("last", juror("last", lambda n: None if n == 8 else n % 2 == 0))]
)


def labelled(count, jury=JURY):
    """Cases 0, 6, ... pass in the first tier; people pass every even case but 4, and have not seen the last one."""
    cases = [
        Case(
            question=str(at),
            answer=f"The answer to {at} " + "goes on and on. " * 20,
            contexts=["A passage. " * 400],
            metadata={"item_id": f"q{at}"}
            | ({} if at == count - 1 else {"gold": "good" if at % 2 == 0 and at != 4 else "bad"}),
        )
        for at in range(count)
    ]
    return Report.from_results(stream(jury, cases), title="a title", pass_labels=["good"])


def show(tab, report, tmp_path, **window):
    path = tmp_path / "page.html"
    report.to_html(path)
    tab.call("Emulation.setEmulatedMedia", media="")
    tab.open(path, **window)


def test_the_page_is_used_by_keyboard_alone(tab, tmp_path):
    show(tab, labelled(12), tmp_path)
    tab.press("Tab")
    assert tab.run("document.activeElement.className") == "skip"
    tab.press("Enter", "Tab")
    assert tab.run(FOCUSED) == ["search", "INPUT"]
    tab.type("q9")
    assert tab.run(SHOWN) == ["q9"]
    assert tab.run(COUNT) == "1 of 12 cases"
    passed = []
    while tab.run(FOCUSED)[1] != "SUMMARY":
        tab.press("Tab")
        passed.append(tab.run(FOCUSED)[0])
    assert passed == ["verdict", "tier", "human", "juror", "said", "sort", "review", "split", "clear", ""]
    tab.press("Enter")
    tab.wait_for("document.querySelector('.case').open && document.querySelectorAll('.juror').length === 4")
    tab.wait_for("document.querySelector('.body .text[tabindex]') !== null")
    tab.press("Tab")  # a passage that is longer than its box can be scrolled
    assert tab.run("document.activeElement.getAttribute('aria-label')") == "Context 1"
    tab.press("Shift+Tab", " ")
    assert tab.run("document.querySelector('.case').open") is False
    tab.press("Shift+Tab", "Enter")  # the button that clears the filters goes, and the focus stays in the form
    assert tab.run(FOCUSED) == ["search", "INPUT"]
    assert tab.run(COUNT) == "12 cases"
    assert tab.run("byId('clear').hidden") is True
    tab.press("Tab", "ArrowDown")
    assert tab.run("byId('verdict').value") == "PASS"
    assert tab.run(COUNT) == "5 of 12 cases"


def test_cases_are_filtered_by_tier_label_dissent_and_review(tab, tmp_path):
    show(tab, labelled(12), tmp_path)

    def chosen(**values):
        tab.run("byId('clear').click()")
        for name, value in values.items():
            tab.run(CHOOSE % [name, value])
        return sorted(tab.run(SHOWN), key=lambda name: int(name[1:]))

    def ticked(name):
        tab.run("byId('clear').click()")
        tab.run(f"byId('{name}').click()")
        return sorted(tab.run(SHOWN), key=lambda name: int(name[1:]))

    split = ["q2", "q3", "q4", "q8", "q9", "q10"]
    assert chosen(tier="last") == ticked("split") == split
    assert chosen(tier="panel") == ["q0", "q1", "q5", "q6", "q7", "q11"]
    assert chosen(human="false pass") == ["q4"]
    assert chosen(human="not decided") == ticked("review") == ["q8"]
    assert "q11" not in chosen(human="agrees")  # it has no label
    assert chosen(said="(differs)") == ["q2", "q3", "q4", "q9", "q10"]
    assert chosen(juror="third", said="(differs)") == ["q2", "q3", "q4", "q9", "q10"]
    assert chosen(juror="even", said="(differs)") == []
    assert tab.run(COUNT) == "None of 12 cases matches"
    assert chosen(juror="even", said="PASS", tier="panel") == ["q0", "q6"]
    assert chosen(search=" ANSWER TO 11") == ["q11"]
    tab.run("byId('to-split').click()")
    assert tab.run("[byId('split').checked, byId('search').value, location.hash]") == [True, "", "#cases"]
    assert tab.run("[...document.querySelectorAll('.chip')].map((one) => one.textContent).sort()") == [
        "false pass", "needs review",
    ]  # fmt: skip


def test_what_there_is_nothing_to_choose_from_is_not_offered(tab, tmp_path):
    offered = "[...document.querySelectorAll('.filters label')].filter((one) => !one.hidden)" \
              ".map((one) => one.querySelector('input, select').id)"  # fmt: skip
    show(tab, Report.from_results([Judgment("PASS"), Judgment("FAIL")]), tmp_path)
    assert tab.run(offered) == ["search", "verdict", "sort"]
    assert tab.run("[...byId('sort').options].map((one) => one.value)") == ["contest", "order", "where"]
    show(tab, Report.from_results([Judgment("PASS", score=0.5), Judgment("ABSTAIN", reasoning="?")]), tmp_path)
    assert tab.run(offered) == ["search", "verdict", "sort", "review"]
    show(tab, Report.from_results([Judgment("PASS")]), tmp_path)
    assert tab.run("document.querySelector('.filters').checkVisibility()") is False


def test_a_screen_reader_gets_names_roles_and_counts(tab, tmp_path):
    show(tab, labelled(12), tmp_path)
    found = tab.accessible()
    by_role = {}
    for one in found:
        by_role.setdefault(one["role"], []).append(one["name"])
    for role in ("searchbox", "combobox", "checkbox", "button", "link", "table", "image", "DisclosureTriangle"):
        assert all(name or role == "table" for name in by_role.get(role, [])), role
    assert by_role["searchbox"] == ["Search"]
    assert by_role["checkbox"] == ["needs review", "jurors split"]
    assert {"Verdict", "Stopped at tier", "Human label", "Juror", "Its opinion", "Sort by"} <= set(by_role["combobox"])
    assert {"decided", "pass rate", "dissent", "false passes"} <= set(by_role["columnheader"])
    assert {"the jury", "always PASS", "even", "last"} <= set(by_role["rowheader"])
    assert "even: PASS, third: PASS, both: PASS" in by_role["image"]
    assert any("even and both decide" in name for name in by_role["image"])
    assert {"main", "banner", "contentinfo", "search"} <= set(by_role)
    status = next(one for one in found if one["role"] == "status")
    assert status["live"] == "polite"
    assert len([one for one in found if one["role"] == "listitem" and one.get("level") == 1]) >= 12
    levels = tab.run(
        "document.querySelector('.case summary').click(), "
        "[...document.querySelectorAll('h1, h2, h3, h4')].map((one) => +one.tagName[1])"
    )
    assert all(after - before <= 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("count", [10, 300])
def test_nothing_is_cut_off_on_a_phone(count, dark, tab, tmp_path):
    show(tab, labelled(count), tmp_path, width=390, dark=dark)
    tab.run("for (const one of document.querySelectorAll('details')) one.open = true; document.body.offsetHeight")
    assert tab.run("[innerWidth, document.documentElement.scrollWidth]") == [390, 390]
    first = "document.querySelector('.who').getBoundingClientRect()"
    assert tab.run(f"{first}.width") < 140  # so that there is room for figures beside it
    tab.run("document.querySelector('.scroll').scrollLeft = 200")
    assert tab.run(f"{first}.left >= document.querySelector('.scroll').getBoundingClientRect().left") is True
    sides = "[...document.querySelectorAll('.filters label:not([hidden])')].map((one) => one.getBoundingClientRect())"
    assert tab.run(f"{sides}.every((one) => one.left >= 0 && one.right <= 390)") is True


def test_hostile_names_do_not_widen_the_page_on_a_phone(tab, tmp_path):
    show(tab, hostile_report(ATTACKS[0] * 3), tmp_path, width=390)
    tab.run("for (const one of document.querySelectorAll('details')) one.open = true; document.body.offsetHeight")
    assert tab.run("[innerWidth, document.documentElement.scrollWidth]") == [390, 390]


def test_on_paper_there_are_no_controls_and_the_text_is_black_on_white(tab, tmp_path):
    show(tab, labelled(30), tmp_path, width=720, dark=True)
    assert len(tab.paper()) > 10_000
    tab.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    tab.run("window.dispatchEvent(new Event('beforeprint'))")
    shown = "[...document.querySelectorAll('body *')].filter((one) => one.checkVisibility())"
    assert tab.run(f"{shown}.filter((one) => one.matches('input, select, button, .skip, noscript')).length") == 0
    texts = f"{shown}.filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))"
    style = "getComputedStyle(one)"
    inks = tab.run(f"[...new Set({texts}.map((one) => one.closest('svg') ? {style}.fill : {style}.color))]")
    papers = tab.run(f"[...new Set({texts}.map((one) => {style}.backgroundColor))].sort()")
    assert inks == ["rgb(0, 0, 0)"]
    assert papers == ["rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"]
    cut = f"{shown}.filter((one) => one.scrollWidth > one.clientWidth && {style}.overflow === 'hidden')"
    assert tab.run(f"{cut}.length") == 0
    whole = f"{shown}.filter((one) => one.matches('tr, .case:not([open]), .juror, figure'))"
    assert tab.run(f"[...new Set({whole}.map((one) => {style}.breakInside))]") == ["avoid"]
    assert tab.run("[innerWidth, document.documentElement.scrollWidth]") == [720, 720]
    tab.call("Emulation.setEmulatedMedia", media="")


def test_of_ten_thousand_cases_a_hundred_are_drawn_at_a_time(tab, tmp_path):
    votes = [[Judgment(one, critic=name) for name, one in zip("abc", says, strict=True)]
             for says in (("PASS", "PASS", "PASS"), ("PASS", "FAIL", "FAIL"))]  # fmt: skip
    verdicts = [Ensemble([lambda case: True]).aggregate(cast) for cast in votes]
    cases = (Case(question=f"question {at}", answer="answer " * 40, metadata={"id": f"q{at}"}) for at in range(10_000))
    show(tab, Report.from_results(Judged(at, case, verdicts[at % 7 == 0]) for at, case in enumerate(cases)), tmp_path)
    rows = "document.querySelectorAll('#list > li').length"
    assert tab.run(f"[{rows}, {COUNT}]") == [100, "10,000 cases, the first 100 are listed"]
    assert tab.run("document.querySelectorAll('body *').length") < 3000
    tab.run("window.scrollTo(0, document.body.scrollHeight)")
    assert tab.run(rows) == 100  # the end of the page can be reached
    assert tab.run("byId('more').textContent") == "Show 100 more of 9,900 left"
    tab.run("byId('more').focus()")
    tab.press("Enter")
    assert tab.run(f"[{rows}, {COUNT}]") == [200, "10,000 cases, the first 200 are listed"]
    assert tab.run("document.activeElement === byId('list').children[100].querySelector('summary')") is True
    tab.run("byId('search').focus()")
    tab.type("question 777")
    assert tab.run(f"[{rows}, {COUNT}]") == [11, "11 of 10,000 cases"]
    assert tab.run("byId('more').hidden") is True
    tab.run("byId('clear').click()")
    tab.run(CHOOSE % ["said", "(differs)"])
    assert tab.run(f"[{rows}, {COUNT}]") == [100, "1,429 of 10,000 cases, the first 100 are listed"]
