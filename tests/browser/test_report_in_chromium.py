"""The page in a real browser: needs ``chromium`` on the path; run with ``pytest -m browser tests/browser``."""

import json
import re
import shutil
import subprocess
from html import escape, unescape

import pytest

from jury_adapters import Case, Ensemble, Judgment
from jury_adapters.core.batch import Judged
from jury_adapters.core.judgment import Check
from jury_adapters.report import Report
from jury_adapters.report.page import content_policy
from tests.support.hostile_page import ATTACKS, RUN, hostile_report

pytestmark = pytest.mark.browser

SCRIPT = re.compile(r"<script>(.*?)</script>\s*</body>", re.DOTALL)
STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
OPEN_ALL = "for (const made of document.querySelectorAll('details')) made.open = true;"


def told(html, tmp_path, more):
    """What the page shows after its own script has been lengthened, and its policy with it."""
    (style,), (script,) = STYLE.findall(html), SCRIPT.findall(html)
    longer = f"{script}\n{more}"
    old, new = (escape(content_policy(style, one)).replace("&#x27;", "&#39;") for one in (script, longer))
    assert old in html
    path = tmp_path / "page.html"
    path.write_text(html.replace(old, new).replace(script, longer), encoding="utf-8")
    return dumped(path, tmp_path)


def dumped(path, tmp_path):
    browser = shutil.which("chromium")
    assert browser is not None, "install chromium to run the tests in a browser"
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
               "--virtual-time-budget=3000", "--dump-dom", path.as_uri()]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=90, check=True).stdout


def measured(html, tmp_path, more):
    note = "const p = document.createElement('p'); p.id = 'told'; p.textContent = JSON.stringify(out); "
    dom = told(html, tmp_path, f"const out = {{}}; {more}; {note} document.body.append(p);")
    return json.loads(unescape(re.search(r'<p id="told">(.*?)</p>', dom, re.DOTALL).group(1)))


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_injected_script_runs(attack, tmp_path):
    report = hostile_report(attack)
    html = report.to_html(compared=hostile_report(attack, passing=False).compare(report))
    dom = told(html, tmp_path, OPEN_ALL)
    assert "data-owned" not in dom.split("<head>")[0]
    assert dom.count('<details class="case" open=""') == 3  # the page works all the same
    assert 'class="juror"' in dom


def test_the_policy_stops_what_escaping_would_let_through(tmp_path):
    html = hostile_report("plain").to_html()
    path = tmp_path / "page.html"
    for injected in (f"<script>{RUN}</script>", f"<img src=x onerror={RUN}>", f"<svg onload={RUN}></svg>"):
        path.write_text(html.replace("<main>", f"{injected}<main>"), encoding="utf-8")
        assert "data-owned" not in dumped(path, tmp_path).split("<head>")[0]
        free = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", path.read_text(encoding="utf-8"))
        path.write_text(free, encoding="utf-8")
        assert "data-owned" in dumped(path, tmp_path).split("<head>")[0]  # so the attack itself is a good one


def test_filters_sorting_and_opening(tmp_path):
    html = hostile_report("plain").to_html()
    found = measured(html, tmp_path, """
      const set = (id, value) => { byId(id).value = value; byId(id).dispatchEvent(new Event("input")); };
      const shown = () => [...document.querySelectorAll("details.case .where")].map((where) => where.textContent);
      out.all = shown().length;
      set("search", "2 PLAIN"); out.searched = shown();
      set("search", ""); set("verdict", "PASS"); out.passed = shown().length;
      out.offered = [...byId("verdict").options].map((option) => option.value);
      set("verdict", ""); set("juror", "b plain"); set("said", "FAIL"); out.said = shown().length;
      set("said", "PASS"); out.never = shown().length;
      set("juror", ""); set("said", ""); set("sort", "where"); out.sorted = shown();
    """)  # fmt: skip
    assert found == {
        "all": 3, "searched": ["2 plain"], "passed": 3, "offered": ["", "PASS"], "said": 3, "never": 0,
        "sorted": ["0 plain", "1 plain", "2 plain"],
    }  # fmt: skip


def test_claims_are_marked_in_the_text_and_words_only_as_whole_words(tmp_path):
    checks = (Check("word: ran", False, "not in the contexts", "The brand ran out."), Check("costs rose", True))
    judgment = Judgment("FAIL", critic="a", checks=checks)
    case = Case(question="ran?", answer="The brand ran out. Costs rose.", contexts=["The brand ran out."])
    html = Report.of([Judged(0, case, Ensemble.of(lambda case: True).aggregate([judgment]))]).to_html()
    found = measured(html, tmp_path, """
      const made = document.querySelector("details.case"); made.open = true; made.dispatchEvent(new Event("toggle"));
      out.marks = [...made.querySelectorAll("mark")].map((mark) => [mark.textContent, mark.className]);
      out.texts = [...made.querySelectorAll(".body > .text")].map((text) => text.textContent);
    """)  # fmt: skip
    assert found["marks"] == [["ran", "fail"], ["ran", "fail"], ["Costs rose", "pass"]]
    assert found["texts"] == ["ran?", "The brand ran out.", "The brand ran out. Costs rose."]


def test_ten_thousand_cases_load_in_two_seconds_and_filter_at_once(tmp_path):
    jury = Ensemble.of(lambda case: True)
    judgments = [Judgment("PASS" if at else "FAIL", critic=f"juror {at}", reasoning="because " * 20) for at in range(3)]
    verdict = jury.aggregate(judgments)
    cases = [Case(question=f"question {at}", answer="answer " * 40, contexts=["context " * 60]) for at in range(10_000)]
    html = Report.of(Judged(at, case, verdict) for at, case in enumerate(cases)).to_html()
    found = measured(html, tmp_path, """
      out.loaded = performance.now();
      const started = performance.now();
      byId("search").value = "question 77"; update(); document.body.offsetHeight;
      out.filtered = performance.now() - started; out.found = found.length;
    """)  # fmt: skip
    assert found["found"] == 111
    assert found["loaded"] < 4000  # promised: 2 s; twice that for a machine that does other work
    assert found["filtered"] < 400
