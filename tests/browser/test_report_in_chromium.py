"""The page in a real browser: needs ``chromium`` on the path; run with ``pytest -m browser tests/browser``."""

import json
import re
import shutil
import subprocess
import sys
from html import escape, unescape
from pathlib import Path

import pytest

from jury_adapters import Case, Ensemble, Image, Judge, Judgment, Status
from jury_adapters.core.batch import Judged, stream
from jury_adapters.core.claims import Claim
from jury_adapters.core.judgment import Finding
from jury_adapters.report import Report
from jury_adapters.report.page import content_policy
from tests.support.hostile_page import ATTACKS, RUN, hostile_report
from tests.support.pictures import encoded, png

pytestmark = pytest.mark.browser

SCRIPT = re.compile(r"<script>(.*?)</script>\s*</body>", re.DOTALL)
STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
OPEN_ALL = "for (const made of document.querySelectorAll('details')) made.open = true;"


def told(html, tmp_path, more, *options):
    """Content of the page after ``more`` has been added to its script, and its policy adapted."""
    (style,), (script,) = STYLE.findall(html), SCRIPT.findall(html)
    longer = f"{script}\n{more}"
    old, new = (escape(content_policy(style, one)).replace("&#x27;", "&#39;") for one in (script, longer))
    assert old in html
    path = tmp_path / "page.html"
    path.write_text(html.replace(old, new).replace(script, longer), encoding="utf-8")
    return dumped(path, tmp_path, *options)


def dumped(path, tmp_path, *options):
    browser = shutil.which("chromium")
    assert browser is not None, "install chromium to run the tests in a browser"
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
               "--virtual-time-budget=3000", "--dump-dom", *options, path.as_uri()]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=90, check=True).stdout


def measured(html, tmp_path, more, *options):
    note = "const p = document.createElement('p'); p.id = 'told'; p.textContent = JSON.stringify(out); "
    dom = told(html, tmp_path, f"const out = {{}}; {more}; {note} document.body.append(p);", *options)
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
      const said = () => new Event("input", { bubbles: true });
      const set = (id, value) => { byId(id).value = value; byId(id).dispatchEvent(said()); };
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


def test_the_count_of_cases_that_need_review_leads_to_these_cases(tmp_path):
    html = Report.from_results(
        [Judgment("PASS"), Judgment("ABSTAIN", reasoning="cannot say"), Judgment("FAIL")]
    ).to_html()
    found = measured(html, tmp_path, """
      byId("verdict").value = "PASS"; byId("verdict").dispatchEvent(new Event("input", { bubbles: true }));
      byId("to-review").click();
      out.shown = [...document.querySelectorAll("details.case .badge")].map((badge) => badge.textContent);
      out.ticked = byId("review").checked; out.verdict = byId("verdict").value; out.place = location.hash;
    """)  # fmt: skip
    assert found == {"shown": ["ABSTAIN"], "ticked": True, "verdict": "", "place": "#cases"}


def test_claims_are_marked_in_the_text_and_words_only_as_whole_words(tmp_path):
    findings = (Finding("word: ran", False, "not in the contexts", "The brand ran out."), Finding("costs rose", True))
    judgment = Judgment("FAIL", critic="a", findings=findings)
    case = Case(question="ran?", answer="The brand ran out. Costs rose.", contexts=["The brand ran out."])
    html = Report.from_results([Judged(0, case, Ensemble([lambda case: True]).aggregate([judgment]))]).to_html()
    found = measured(html, tmp_path, """
      const made = document.querySelector("details.case"); made.open = true; made.dispatchEvent(new Event("toggle"));
      out.marks = [...made.querySelectorAll("mark")].map((mark) => [mark.textContent, mark.className]);
      out.texts = [...made.querySelectorAll(".body > .text")].map((text) => text.textContent);
    """)  # fmt: skip
    assert found["marks"] == [["ran", "fail"], ["ran", "fail"], ["Costs rose", "pass"]]
    assert found["texts"] == ["ran?", "The brand ran out.", "The brand ran out. Costs rose."]


def test_each_claim_shows_the_sentence_of_the_answer_beside_the_passage(tmp_path):
    claims = (Claim("It ran out", "supported", "The brand ran out.", "brand ran out", 1), Claim("It rose", "unclear"))
    case = Case(answer="The brand ran out. It rose.", contexts=["A brand ran out."])
    html = Report.from_results([Judged(0, case, Judgment("PASS", critic="a", claims=claims))]).to_html()
    found = measured(html, tmp_path, """
      const made = document.querySelector("details.case"); made.open = true; made.dispatchEvent(new Event("toggle"));
      out.kinds = [...made.querySelectorAll(".claims > li")].map((item) => item.className);
      out.quotes = [...made.querySelectorAll(".claims q")].map((quote) => quote.textContent);
      out.titles = [...made.querySelectorAll(".sides .quiet")].map((title) => title.textContent);
      out.marks = [...made.querySelectorAll("mark")].map((mark) => [mark.textContent, mark.className]);
    """)  # fmt: skip
    assert found["kinds"] == ["pass", "abstain"]
    assert found["quotes"] == ["The brand ran out.", "brand ran out"]
    assert found["titles"][:2] == ["Answer", "Context 1"]
    assert ["The brand ran out.", "pass"] in found["marks"] or ["The brand ran out", "pass"] in found["marks"]


def test_ten_thousand_cases_load_in_two_seconds_and_filter_at_once(tmp_path):
    jury = Ensemble([lambda case: True])
    judgments = [Judgment("PASS" if at else "FAIL", critic=f"juror {at}", reasoning="because " * 20) for at in range(3)]
    verdict = jury.aggregate(judgments)
    cases = [Case(question=f"question {at}", answer="answer " * 40, contexts=["context " * 60]) for at in range(10_000)]
    html = Report.from_results(Judged(at, case, verdict) for at, case in enumerate(cases)).to_html()
    found = measured(html, tmp_path, """
      out.loaded = performance.now();
      const started = performance.now();
      byId("search").value = "question 77"; update(); document.body.offsetHeight;
      out.filtered = performance.now() - started; out.found = found.length;
    """)  # fmt: skip
    assert found["found"] == 111
    assert found["loaded"] < 4000  # promised: 2 s; twice that for a machine that does other work
    assert found["filtered"] < 400


def test_on_paper_everything_is_open_and_afterwards_it_is_as_before(tmp_path):
    found = measured(split_report(130).to_html(), tmp_path, """
      const sections = () => [...document.querySelectorAll("section details:not(.case)")].map((made) => made.open);
      const cases = () => document.querySelectorAll("details.case[open]").length;
      document.querySelectorAll("details.case")[50].open = true;
      out.before = [sections(), cases()];
      window.dispatchEvent(new Event("beforeprint"));
      out.printed = [sections(), cases(), document.querySelectorAll("details.case .juror").length];
      out.told = byId("on-paper").textContent;
      window.dispatchEvent(new Event("afterprint"));
      out.after = [sections(), cases()];
    """)  # fmt: skip
    assert False in found["before"][0]
    assert found["printed"] == [[True] * len(found["before"][0]), 21, 60]
    assert found["told"] == (
        "The first 20 cases are opened, and those you have opened yourself. 30 more are on the page only."
    )
    assert found["after"] == found["before"]


def test_printing_opens_them_by_itself(tmp_path):
    path, paper = tmp_path / "page.html", tmp_path / "page.pdf"
    split_report(60).to_html(path)
    dumped(path, tmp_path, f"--print-to-pdf={paper}")
    closed = path.read_text(encoding="utf-8").replace('addEventListener("beforeprint"', 'addEventListener("never"')
    (style,), (script,) = STYLE.findall(closed), SCRIPT.findall(closed)
    policy = escape(content_policy(style, script)).replace("&#x27;", "&#39;")
    path.write_text(re.sub(r"default-src &#39;none&#39;[^\"]*", lambda _: policy, closed), encoding="utf-8")
    dumped(path, tmp_path, f"--print-to-pdf={tmp_path / 'closed.pdf'}")
    assert pages(paper) >= pages(tmp_path / "closed.pdf") + 4


@pytest.mark.parametrize("width", [500, 1280])  # this mode of Chromium has no window below 500
def test_nothing_is_wider_than_the_window(width, tmp_path):
    made = hostile_report(ATTACKS[0] * 3)
    html = made.to_html(compared=hostile_report(ATTACKS[0] * 3, passing=False).compare(made))
    found = measured(html, tmp_path, """
      for (const made of document.querySelectorAll("details")) {
        made.open = true; made.dispatchEvent(new Event("toggle"));
      }
      out.window = innerWidth; out.page = document.documentElement.scrollWidth;
    """, f"--window-size={width},900", "--hide-scrollbars")  # fmt: skip
    assert found["page"] <= found["window"] == width


def test_the_bars_of_tiers_fit_on_a_phone_and_their_words_stay_large(tmp_path):
    """This mode of Chromium has no narrow window, so the page itself is made as narrow as one of 390 pixels."""
    found = measured(hostile_report("plain").to_html(), tmp_path, """
      document.body.style.width = "390px";
      const card = byId("tiers").closest("section");
      out.card = card.clientWidth; out.needed = card.scrollWidth;
      out.scrolling = card.querySelectorAll(".scroll").length;
      const words = (tier) => [...tier.querySelectorAll("p")].map((p) => p.textContent);
      out.tiers = [...card.querySelectorAll(".tier")].map(words);
      out.bars = [...card.querySelectorAll(".tier svg")].map((bar) => bar.getBoundingClientRect());
      out.fonts = [...card.querySelectorAll(".tier p")].map((p) => parseFloat(getComputedStyle(p).fontSize));
    """, "--window-size=500,900", "--hide-scrollbars")  # fmt: skip
    assert found["needed"] == found["card"] < 390
    assert found["scrolling"] == 0
    assert found["tiers"] == [
        ["t plain", "reached 3 · decided 0 (0.0 % of all cases)"],
        ["u plain", "reached 3 · decided 3 (100.0 % of all cases)"],
    ]
    assert [(bar["height"], bar["width"] > 250) for bar in found["bars"]] == [(16, True)] * 2
    assert min(found["fonts"]) >= 12


@pytest.mark.parametrize("dark", [False, True])
def test_every_text_stands_out_from_what_is_behind_it(dark, tmp_path):
    found = measured(split_report(8).to_html(), tmp_path, """
      const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
      const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
        .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
        .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
      const behind = (made) => {
        for (let at = made; at; at = at.parentElement) {
          const colour = rgb(getComputedStyle(at).backgroundColor);
          if (colour.length === 3) return colour;
        }
        return [255, 255, 255];
      };
      for (const made of document.querySelectorAll("details")) {
        made.open = true; made.dispatchEvent(new Event("toggle"));
      }
      out.poor = []; out.seen = 0; out.page = getComputedStyle(document.body).backgroundColor; out.small = [];
      for (const made of document.querySelectorAll("body *")) {
        const own = [...made.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
        if (!own || made.closest("svg, script, noscript") || !made.checkVisibility()) continue;
        const style = getComputedStyle(made);
        const [one, other] = [light(rgb(style.color)), light(behind(made))].sort((a, b) => b - a);
        const ratio = (one + 0.05) / (other + 0.05);
        out.seen += 1;
        if (ratio < 4.5) out.poor.push([made.tagName, made.className, made.textContent.slice(0, 30), ratio]);
        if (parseFloat(style.fontSize) < 12) out.small.push([made.tagName, made.className, style.fontSize]);
      }
    """, f"--blink-settings=preferredColorScheme={0 if dark else 1}")  # fmt: skip
    assert found["page"] == ("rgb(15, 19, 26)" if dark else "rgb(246, 247, 249)")
    assert found["seen"] > 100
    assert (found["poor"], found["small"]) == ([], [])


def test_the_pictures_of_the_documentation_can_be_made(tmp_path):
    script = Path(__file__).parents[2] / "docs" / "make_screenshots.py"
    subprocess.run([sys.executable, script, tmp_path], check=True, capture_output=True, timeout=200)
    made = {path.name: path.read_bytes() for path in tmp_path.glob("*.png")}
    shown = {path.name for path in (script.parent / "images").glob("report-*.png")}
    assert set(made) == shown
    widths = {name: int.from_bytes(picture[16:20], "big") for name, picture in made.items()}
    assert widths == {"report-desktop-light.png": 1280, "report-desktop-dark.png": 1280, "report-phone.png": 390}


def split_report(cases):
    """Three jurors that differ, one that abstains, one that breaks; scores, checks and all."""

    def juror(name, says):
        def judge(case):
            number = int(case.question)
            if name == "c" and number % 7 == 3:
                raise ValueError("no answer")
            if name == "c" and number % 5 == 2:
                return Judgment("ABSTAIN", reasoning="cannot tell")
            finding = Finding("four", number % 4 == 0, "counted", "the answer")
            return Judgment(
                "PASS" if says(number) else "FAIL", score=0.7, reasoning="looked at it", findings=(finding,), model="m"
            )

        return Judge.from_function(judge, name=name)

    jury = Ensemble(
        [juror("a", lambda n: n % 2 == 0), juror("b", lambda n: n % 3 == 0), juror("c", lambda n: n % 2 == 0)]
    )
    asked = [Case(question=str(at), answer="the answer", contexts=["the context"]) for at in range(cases)]
    return Report.from_results(stream(jury, asked), title="a title")


def pages(path):
    return len(re.findall(rb"/Type\s*/Page\b", path.read_bytes()))


def test_a_thumbnail_is_loaded_within_the_policy(tmp_path):
    image = Image(base64=encoded(png(width=40, height=20)), role="question")
    report = Report.from_results([(Case(question="?", answer="!", attachments=[image]), Judgment(Status.PASS))])
    found = measured(
        report.to_html(), tmp_path,
        f"{OPEN_ALL} const [img] = document.querySelectorAll('img.thumbnail'); complete(img?.closest('details') ?? "
        "document.querySelector('details.case')); const one = document.querySelector('img.thumbnail'); "
        "out.source = one.src.slice(0, 15); out.alt = one.alt; out.width = one.naturalWidth;",
    )  # fmt: skip
    assert found["source"] == "data:image/png;"
    assert found["alt"].startswith("Image 1: question, image/png, 40 x 20 pixels")


def test_the_page_of_an_audit_runs_no_script(tmp_path):
    from jury_adapters import judge
    from jury_adapters.audit import Sizes, audit
    from jury_adapters.report.audit_page import audit_page

    attack = "<img src=x onerror=\"document.documentElement.setAttribute('data-owned', 1)\">"
    text = f"The tank {attack} holds 300 litres and was built in 1987 by the town of Ulm."
    passes_all = judge(name=f"juror {attack}")(lambda case: True)
    found = audit(passes_all, [Case(question=attack, answer=text, contexts=[text])], sizes=Sizes(4, 4, 4))
    path = tmp_path / "audit.html"
    path.write_text(audit_page(found), encoding="utf-8")
    dom = dumped(path, tmp_path)
    assert "data-owned" not in dom.split("<head>")[0]
    assert dom.count('<details class="case"') == len(found.missed)
