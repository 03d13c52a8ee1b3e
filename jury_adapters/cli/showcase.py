"""Contents of ``jury demo``: recorded votes of real LLM judges against human labels, and the offline screen."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from importlib.resources import as_file, files
from time import perf_counter

from rich.console import Console
from rich.text import Text

from jury_adapters.core.cascade import CascadedJury, Tier
from jury_adapters.core.case import Case
from jury_adapters.core.case_files import read_cases
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.formatting import visible
from jury_adapters.core.values import JsonValue
from jury_adapters.critic.recorded import RecordedCritic
from jury_adapters.grounding.screen import grounding_screen
from jury_adapters.report.summary import Summary
from jury_adapters.report.terminal import print_summary

SMALL = ("gpt-4o-mini", "gemini-1.5-flash", "claude_3.5_haiku")
LARGE = "gemini-2.5-pro"
# The source recorded no prices; these are assumed, in US dollars per vote, to show the cost of a cascade.
_SMALL_COST, _LARGE_COST = 0.0003, 0.0060
_LABELS = {"valid": "pass", "invalid": "fail"}


def run_demo(console: Console) -> None:
    """Show both juries on the data included in the package."""
    feedback = _Feedback()
    feedback.print(console)
    _print_screen(console, _screened())
    console.print(Text(_NEXT_STEPS))


def demo_figures() -> dict[str, JsonValue]:
    """Return the results of the demo as JSON values."""
    feedback = _Feedback()
    return {
        "jury": {"name": feedback.jury.name, "cost_of_asking_all_usd": feedback.everyone, **feedback.summary.to_dict()},
        "screen": [
            {"answer": answer, "said": said, "findings": findings} for answer, said, findings in _screened()
        ],
    }  # fmt: skip


def feedback_jury() -> CascadedJury:
    """Return a jury in which three small models vote and a large one decides if they are split."""
    small = [RecordedCritic(name, labels=_LABELS, cost=_SMALL_COST) for name in SMALL]
    large = RecordedCritic(LARGE, labels=_LABELS, cost=_LARGE_COST)
    return CascadedJury(
        [Tier("small models", Ensemble(small, min_votes=2), "escalate_on_split"), Tier("large model", large)],
        name="small-to-large cascade",
    )


class _Feedback:
    """Jury run on 200 pieces of feedback."""

    def __init__(self) -> None:
        self.cases = _cases("codefeedback_200.jsonl.gz")
        self.jury = feedback_jury()
        self.summary = Summary(look_first=5, pass_labels=["valid"])
        started = perf_counter()
        for case, verdict in zip(self.cases, self.jury.judge_many(self.cases), strict=True):
            self.summary.add(case, verdict, str(case.metadata["item_id"]))
        self.seconds = perf_counter() - started

    @property
    def everyone(self) -> float:
        """Cost of asking every judge about every case."""
        return len(self.cases) * (len(SMALL) * _SMALL_COST + _LARGE_COST)

    def print(self, console: Console) -> None:
        console.rule(Text("A jury of LLM judges", style="bold"), align="left")
        console.print(Text(_FEEDBACK_INTRO))
        print_summary(console, self.summary, title=self.jury.name, seconds=self.seconds)
        spent = self.summary.usage.cost_usd
        console.print(Text(_SAVED.format(saved=self.summary.calls_saved, everyone=self.everyone, spent=spent)))


def _screened() -> list[tuple[str, str, str]]:
    """Return answers with the result of the offline screen and its findings."""
    screen = grounding_screen()
    results = []
    for case in _cases("grounding_examples.jsonl"):
        verdict = screen.judge(case)
        said = {"PASS": "grounded", "FAIL": "not grounded"}.get(str(verdict.status), "abstained")
        findings = ", ".join(check.name for check in verdict.findings if not check.passed)
        results.append((case.answer or "", said, findings or str(verdict.stopped_at)))
    return results


def _print_screen(console: Console, screened: Sequence[tuple[str, str, str]]) -> None:
    console.rule(Text("The offline screen for RAG answers", style="bold"), align="left")
    console.print(Text(_SCREEN_INTRO))
    for answer, said, findings in screened:
        style = {"grounded": "green", "not grounded": "red"}.get(said, "yellow")
        console.print(Text.assemble("  ", (f"{said:13}", style), visible(answer)))
        console.print(Text(f"  {'':13}{visible(findings)}", style="dim"))
    console.print(Text(_SCREEN_LIMITS))


def _cases(name: str) -> list[Case]:
    with ExitStack() as stack:
        path = stack.enter_context(as_file(files("jury_adapters.cli") / "data" / name))
        return [row.case for row in read_cases(path) if row.case is not None]


_FEEDBACK_INTRO = """\
  200 pieces of feedback on students' programs. Is the feedback valid? 14 LLM judges and a human have voted
  (ai-cet/llm-judge-calibration, MIT). The votes are replayed: no key, no network.
  3 small models judge first; where they do not agree, gemini-2.5-pro decides.
  Few of the pieces are invalid, so look at the false passes: how many of these the jury lets through.
"""
_SAVED = """
  Asking all 4 judges about every case would have taken {saved} more votes of the large model
  and cost ${everyone:.2f} instead of ${spent:.2f} (assumed prices; the source recorded none).
"""
_SCREEN_INTRO = """\
  6 answers of our own writing. No model: plain rules flag names and numbers that the context does not have, and
  accept what is in it nearly word for word. On everything else it abstains, with what to look at.
"""
_SCREEN_LIMITS = """
  "Grounded" means said by the context, never "correct": a wrong name that is in the context passes unseen.
"""
_NEXT_STEPS = """\
Next: judge your own. Any framework's column names will do (question, answer, contexts; query, response; ...):

  jury judge answers.jsonl --out results.jsonl      the offline screen over your RAG answers
  jury judge answers.jsonl --jury jury.yaml         your own jury; `jury show schema` describes the file"""
