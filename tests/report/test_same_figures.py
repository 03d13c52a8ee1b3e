"""Page, terminal, Markdown and Python give the same figures of the same run."""

import html
import io
import itertools
import json
import random
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from jury_adapters import CascadedJury, Case, Ensemble, Judge, Judgment, PairwiseCritic, Tier, Usage, abstain
from jury_adapters.calibration import Votes
from jury_adapters.cli.app import app
from jury_adapters.cli.results import Results
from jury_adapters.core.batch import Judged, stream
from jury_adapters.core.case_files import Place
from jury_adapters.core.jury import Jury
from jury_adapters.core.row_files import read_rows
from jury_adapters.critic.recorded import RecordedCritic
from jury_adapters.report import Report
from jury_adapters.statistics import full_report

DATA = Path(__file__).parent.parent / "data" / "votes"
CODEFEEDBACK = Path(str(files("jury_adapters.cli") / "data" / "codefeedback_200.jsonl.gz"))
PANEL = ("gpt-4o-mini", "gemini-1.5-flash", "claude_3.5_haiku")
Rows = list[dict[str, Any]]


def labels() -> tuple[Rows, Jury]:
    """Recorded judges that say valid and invalid, where only the jurors know which of them passes."""
    rows = [dict(row.values or {}) for row in itertools.islice(read_rows(CODEFEEDBACK), 80)]
    meanings = {"valid": "pass", "invalid": "fail"}
    return rows, Ensemble([RecordedCritic(name, labels=meanings, cost=0.4) for name in PANEL], name="labels")


def scripted(name: str, says: dict[str, float], *, cost: float = 0.0) -> Judge:
    """A juror that draws what it says of each case from these shares; ERROR raises."""

    def judge(case: Case) -> Judgment:
        draw = random.Random(f"{name} {case.metadata['item_id']}")
        said = draw.choices(list(says), list(says.values()))[0]
        if said == "ERROR":
            raise TimeoutError("no answer")
        usage = Usage(calls=1, input_tokens=9, output_tokens=2, cost_usd=cost) if cost else Usage()
        if said == "ABSTAIN":
            return abstain("unsure", usage=usage)
        if said == "score":
            score = draw.randint(0, 4) / 4
            return Judgment("PASS" if score >= 0.5 else "FAIL", score=score, usage=usage, model=f"{name}-model")
        return Judgment(said, usage=usage, model=f"{name}-model")

    return Judge.from_function(judge, name=name)


def cascade() -> tuple[Rows, Jury]:
    """A screening tier that rejects, a tier that escalates, and a juror that stands in two tiers."""
    often, errs = {"PASS": 0.7, "FAIL": 0.3}, {"PASS": 0.6, "FAIL": 0.3, "ABSTAIN": 0.05, "ERROR": 0.05}
    small = Ensemble([scripted("ann", errs, cost=0.001), scripted("bob", often), scripted("cleo", often)])
    large = Ensemble([scripted("ann", often, cost=0.001), scripted("dan", often, cost=0.5), scripted("eve", often)])
    tiers = [
        Tier("screen", scripted("not empty", {"PASS": 0.8, "FAIL": 0.2}), "reject_on_any_fail"),
        Tier("small", small, "escalate_on_split"),
        Tier("large", large),
    ]
    rows = [{"item_id": f"c{at}", "question": "q", "answer": "x" * (at % 9 + 1), "gold": ("PASS", "FAIL")[at % 3 == 0]}
            for at in range(70)]  # fmt: skip
    return rows, CascadedJury(tiers, name="cascade")


def pairwise() -> tuple[Rows, Jury]:
    """Recorded pairwise judges, asked in both orders."""

    def judge(name: str) -> Judge:
        def better(case: Case) -> Judgment:
            vote = case.metadata["votes"][name]
            if case.candidates[0] == "one":
                return Judgment(None, label=vote["label_order_ab"])
            return Judgment(None, label={"A": "B", "B": "A"}.get(vote["label_order_ba"], "tie"))

        return PairwiseCritic(Judge.from_function(better, name=name))

    rows = [{**(row.values or {}), "candidates": ["one", "another"]}
            for row in itertools.islice(read_rows(DATA / "llmbar_vanilla.jsonl.gz"), 60)]  # fmt: skip
    names = ("GPT-4/Vanilla", "PaLM2/Vanilla", "Falcon/Vanilla")
    return rows, Ensemble([judge(name) for name in names], on="label", name="pairs")


def scores() -> tuple[Rows, Jury]:
    """Numeric scores with errors and abstentions, of rows in another framework's column names."""
    says = {"score": 0.8, "ABSTAIN": 0.1, "ERROR": 0.1}
    jurors = [scripted("fay", says), scripted("gus", says, cost=0.02), scripted("hal", {"score": 1.0})]
    rows = [{"item_id": f"s{at}", "input": "q", "actual_output": "y" * (7 * at % 41)} for at in range(50)]
    return rows, Ensemble(jurors, voting="average", errors="abstain", name="scores")


@dataclass
class Run:
    """One run in all its forms."""

    judged: list[Judged]
    report: Report
    results: Path
    cases: Path
    page: str
    terminal: str
    markdown: str

    @property
    def summary(self) -> dict[str, Any]:
        return dict(self.report.figures.summary.to_dict())


def call(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module", params=[labels, cascade, pairwise, scores], ids=lambda make: make.__name__)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("run")
    rows, jury = request.param()
    cases, results, page = folder / "cases.jsonl", folder / "results.jsonl", folder / "page.html"
    cases.write_text("".join(json.dumps(row) + "\n" for row in rows))
    judged = list(stream(jury, [Case.from_row(row) for row in rows]))
    with Results(results, cases=cases) as file:
        for one in judged:
            file.write(one.case, Place(one.index + 1, str(rows[one.index]["item_id"])), one.judgment)
    report = Report.from_results(judged, title=jury.name)
    call("report", results, "--cases", cases, "--html", page, "--quiet")
    console = Console(file=io.StringIO(), width=220, highlight=False)
    Report.read(results, cases=cases).summary(console)
    markdown = call("report", results, "--cases", cases, "--markdown")
    assert isinstance(console.file, io.StringIO)
    return Run(judged, report, results, cases, page.read_text("utf-8"), console.file.getvalue(), markdown)


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def two(value: float | None) -> str:
    return "-" if value is None else f"{value + 0.0:.2f}".replace("-0.00", "0.00")


def cells(table: str) -> list[list[str]]:
    """The cells of each row of an HTML table, without markup."""
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
    texts = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL) for row in rows]
    return [[html.unescape(re.sub(r"<span.*?</span>|<[^>]+>", "", text)).strip() for text in row] for row in texts]


def measures(page: str) -> list[list[str]]:
    """The name, the value, the interval and the sentence of each measure of a page."""
    row = r"<tr><th[^>]*>([^<]*)<span[^>]*>([^<]*)</span></th><td[^>]*>([^<]*)(?:<span[^>]*>([^<]*)</span>)?</td></tr>"
    return [[html.unescape(found[part] or "") for part in (1, 3, 4, 2)] for found in re.finditer(row, page)]


def section(page: str, name: str) -> str:
    return page.partition(f'id="{name}"')[2].partition("</section>")[0]


def facts(page: str) -> dict[str, str]:
    found = re.findall(r"<dt[^>]*>(.*?)</dt><dd[^>]*>(.*?)</dd>", page)
    return {html.unescape(name): html.unescape(re.sub(r"<[^>]+>", "", value)) for name, value in found}


def headline_of(markdown: str) -> str:
    """The paragraph of the Markdown with the pass rate, below what is said of the jury against human labels."""
    return next(block for block in markdown.split("\n\n") if " cases · " in block or block.endswith(" cases"))


def lines(terminal: str) -> dict[str, str]:
    """The figures above the tables of the terminal, below those against human labels, by name."""
    figures = next(block for block in terminal.split("\n\n") if "\n  needs review" in block or "\n  failed " in block)
    return {line[2:19].strip(): line[19:].strip() for line in figures.splitlines()}


def terminal_table(terminal: str, title: str) -> list[dict[str, str]]:
    """The rows of a table of the terminal, by heading; columns stand two spaces or more apart."""
    block = next((block for block in terminal.split("\n\n") if block.startswith(title)), "")
    if not block:
        return []
    _, heading, rule, *rows = block.splitlines()
    assert set(rule.strip()) == {"─"}
    words = list(re.finditer(r"\S+(?: \S+)*", heading))
    # a cell belongs to the heading whose span it overlaps, for numbers are aligned to the right
    found = []
    for row in rows:
        told = {word[0]: "" for word in words}
        for cell in re.finditer(r"\S+(?: {1,2}\S+)*?(?= {3}|\s*$)", row):
            at = max(words, key=lambda word, cell=cell: min(word.end(), cell.end()) - max(word.start(), cell.start()))
            told[at[0]] = cell[0].strip()
        found.append(told)
    return found


@pytest.mark.slow
def test_the_counts_are_the_same(run: Run) -> None:
    json_summary = json.loads(call("report", run.results, "--cases", run.cases, "--json"))
    python, read = run.summary, dict(Report.read(run.results, cases=run.cases).figures.summary.to_dict())
    assert {name: value for name, value in json_summary.items() if name != "title"} == read
    for one in (python, read):  # verdicts alone do not know their lines
        one["look_first"] = [{**case, "where": case["where"].partition(" (")[0]} for case in one["look_first"]]
    assert python == read


@pytest.mark.slow
def test_the_headline_is_the_same(run: Run) -> None:
    summary, page, terminal = run.summary, facts(run.page), lines(run.terminal)
    headline = headline_of(run.markdown)
    names = {"passed": "Passed", "failed": "Failed", "abstained": "Abstained", "errors": "Errors",
             "needs_review": "Needs review", "calls_saved": "Calls saved"}  # fmt: skip
    on_terminal = {"needs_review": "needs review", "calls_saved": "calls saved"}
    for name, shown in names.items():
        assert page.get(shown, "0") == f"{summary[name]:,}"  # what did not happen is left out
        told = terminal.get(on_terminal.get(name, name), "0")
        assert re.split(r"[ ,]", told)[0] in (f"{summary[name]:,}", "nothing"), name
    for label, times in summary["labels"].items():
        assert page[label] == f"{times:,}"
        assert terminal[f"label {label}"].startswith(f"{times:,} of ")
        assert f"`{label}` {times:,}" in run.markdown
    if summary["pass_rate"] is None:
        assert "95 % interval " not in headline
    else:
        rate, (low, high) = percent(summary["pass_rate"]), map(percent, summary["pass_rate_interval"])
        assert f'<p class="big">{rate}</p>' in run.page
        assert f"95 % interval {low} to {high}" in run.page
        assert f"**{rate} passed** (95 % interval {low} to {high})" in run.markdown
        assert terminal["passed"].endswith(f"decided: {rate} (95 % interval {low.removesuffix(' %')} to {high})")
    agreement = two(summary["mean_agreement"])
    shown = page.get("Agreement", page.get("Agreement before escalation"))
    assert (shown or "-") == agreement == terminal.get("agreement", "-")[:4].strip()
    cost = page.get("Cost", page.get("Cost, at least"))
    if summary["calls"]:
        assert terminal["model calls"].startswith(f"{summary['calls']:,}, {cost}")
        assert cost in headline
    else:
        assert cost is None


@pytest.mark.slow
def test_the_tiers_are_the_same(run: Run) -> None:
    tiers = run.summary["tiers"]
    on_page = re.findall(r'<div class="tier"><p dir="auto">(.*?)</p><p class="quiet">(.*?)</p>', run.page)
    on_terminal = terminal_table(run.terminal, "Who stopped where")
    assert [name for name, _ in on_page] == [row["tier"] for row in on_terminal] == [tier["tier"] for tier in tiers]
    for tier, (_, told), row in zip(tiers, on_page, on_terminal, strict=True):
        decided = tier["decided"]
        share = percent(decided / run.summary["cases"])
        assert told.startswith(f"reached {tier['reached']:,} · decided {decided:,} ({share} of all cases)")
        assert (row["reached"], re.sub(" +", " ", row["decided"])) == (f"{tier['reached']:,}", f"{decided:,} {share}")
        left = sum(tier["stopped"].values()) - decided
        assert f"· {left:,} stopped undecided" in told or not left
        assert f"| `{tier['tier']}` | {tier['reached']:,} | {decided:,} |" in run.markdown
        cost = re.search(r"· (\$\S+)$", told)
        if cost is not None:
            undecided = f" {left:,} |" if "| undecided |" in run.markdown else ""
            assert f"| `{tier['tier']}` | {tier['reached']:,} | {decided:,} |{undecided} {cost[1]} |" in run.markdown
    total = sum(tier["decided"] for tier in tiers)
    assert not tiers or total == run.summary["passed"] + run.summary["failed"] + sum(run.summary["labels"].values())


def test_the_jurors_are_the_same(run: Run) -> None:
    summary, figures = run.summary, run.report.figures
    heading, *on_page = cells(section(run.page, "jurors").partition("</table>")[0])
    on_terminal = terminal_table(run.terminal, "Jurors")
    assert len(on_page) == len(on_terminal) == len(summary["jurors"]) == len(figures.jurors)
    for counted, juror, row, line in zip(summary["jurors"], figures.jurors, on_page, on_terminal, strict=True):
        votes = counted["votes"]
        told = dict(zip(heading, row, strict=True))
        decided = votes.get("PASS", 0) + votes.get("FAIL", 0)
        rate = percent(votes.get("PASS", 0) / decided if decided else None)
        assert told["juror"] == juror.name in (counted["juror"], " / ".join([*counted["in"], counted["juror"]]))
        assert (line["juror"], line.get("in", "")) == (counted["juror"], " / ".join(counted["in"]))
        assert told["asked"] == f"{sum(votes.values()):,}" == f"{juror.asked:,}"
        assert told["pass rate"] == rate == percent(juror.pass_rate)
        assert told["dissent"] == percent(counted["dissent"]) == percent(juror.count.dissent)
        expected = "screening" if counted["screening"] else f"{told['dissent']} of {counted['compared']:,}"
        assert line["differs from the verdict"] == (
            "" if counted["dissent"] is None and not counted["screening"] else expected
        )
        assert told["abstained"] == f"{votes.get('ABSTAIN', 0):,}"
        assert told["errors"] == f"{votes.get('ERROR', 0):,}" == f"{juror.errors:,}"
        assert told["kappa with the rest"] == two(juror.kappa)
        shown = {name: times for name, times in line.items() if name not in ("in", "juror", "differs from the verdict")}
        assert {name: times for name, times in shown.items() if times != "0"} == {k: f"{n:,}" for k, n in votes.items()}
        row_of = [
            told[name] for name in ("asked", "pass rate", "dissent", "kappa with the rest", "abstained", "errors")
        ]
        row_of[1] += f" of {decided:,}" if decided else ""
        row_of[3] += "" if juror.kappa is None else f" of {juror.compared:,}"
        paid = bool(summary["cost_usd"])
        assert f"| `{juror.name}` | {' | '.join([*row_of, *([told['cost']] if paid else [])])} |" in run.markdown


@pytest.mark.slow
def test_the_analysis_is_the_same(run: Run) -> None:
    python = full_report(Votes.from_verdicts(run.judged))
    page_report = run.report.agreement.report
    assert page_report is not None
    terminal = json.loads(call("report", "--agreement", run.results, "--cases", run.cases, "--json"))
    assert page_report.to_dict() == python.to_dict() == terminal
    text = call("report", "--agreement", run.results, "--cases", run.cases)
    known = [found for found in python.sections.values() if any(one.value is not None for one in found)]
    rows = measures(section(run.page, "agreement"))
    for estimate, (name, value, interval, sentence) in zip(itertools.chain.from_iterable(known), rows, strict=True):
        assert name == (f"{estimate.subject}: {estimate.name}" if estimate.subject else estimate.name)
        assert value == two(estimate.value)
        assert interval == (
            "" if estimate.interval is None else f"{estimate.interval[0]:.2f} to {estimate.interval[1]:.2f}"
        )
        assert sentence == estimate.sentence
        assert f"\n{str(estimate).splitlines()[0]}\n" in text


@pytest.mark.slow
def test_a_juror_is_the_same_in_the_table_and_in_the_analysis(run: Run) -> None:
    figures, report = run.report.figures, run.report.agreement.report
    assert report is not None
    screening = {path[-1] for path in figures.summary.screening_jurors}
    names = [juror.name for juror in figures.jurors if juror.name not in screening]
    assert list(report.jurors) == names
    # what jurors decide: of scores, that they pass or fail
    decided = "label" if report.find("label share").subject in ("A", "B", "tie") else "status"
    kappas = full_report(Votes.from_verdicts(run.judged, on=decided)).find("mean pairwise cohen kappa")
    place = {juror.name: at for at, juror in enumerate(figures.jurors)}
    matrix, shared = kappas.details["matrix"], kappas.details["n"]
    heat = html.unescape(section(run.page, "heat"))
    for (a, one), (b, other) in itertools.combinations(enumerate(names), 2):
        pair = figures.pairs[place[one], place[other]]
        assert isinstance(matrix, list)
        assert isinstance(shared, list)
        assert (pair.n, pair.kappa) == (shared[a][b], pytest.approx(matrix[a][b], abs=1e-9))
        assert f"{one} and {other}: kappa {two(pair.kappa)} over {pair.n:,} cases" in heat


@pytest.mark.slow
def test_drift_is_told_of_what_passes_however_the_labels_are_called() -> None:
    rows, jury = labels()
    judged = list(stream(jury, [Case.from_row(row) for row in rows]))
    told = full_report(Votes.from_verdicts(judged, pass_label="valid")).to_dict()
    found = Report.from_results(judged).agreement.report
    assert found is not None
    assert found.to_dict() == told
    assert found.find("drift", PANEL[0]).value is not None


@pytest.mark.slow
def test_drift_goes_by_the_order_of_the_cases_and_not_by_who_finished_first() -> None:
    rows, jury = scores()
    judged = list(stream(jury, [Case.from_row(row) for row in rows]))
    finished = random.Random(1).sample(judged, len(judged))  # as with ordered=False
    told = full_report(Votes.from_verdicts(judged)).to_dict()
    assert full_report(Votes.from_verdicts(finished)).to_dict() == told
    later = Report.from_results(finished)
    assert later.agreement.report is not None
    assert later.agreement.report.to_dict() == told
    assert later.figures.summary.to_dict() == Report.from_results(judged).figures.summary.to_dict()


def test_one_pairwise_juror_is_analysed_on_the_page_too() -> None:
    rows, jury = pairwise()
    judged = list(stream(jury.members[0], [Case.from_row(row) for row in rows]))
    page = Report.from_results(judged).agreement
    assert "fewer than two jurors" in page.note
    assert page.report is not None
    assert page.report.to_dict() == full_report(Votes.from_verdicts(judged)).to_dict()
    assert [estimate.name for found in page.sections.values() for estimate in found].count("position consistency") == 1
    (juror,) = Report.from_results(judged).figures.jurors
    assert (juror.name, juror.asked, juror.count.dissent) == ("GPT-4/Vanilla", len(rows), None)
