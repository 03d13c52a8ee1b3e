"""Contents of ``jury demo``: recorded votes of real LLM judges against human labels, and the offline screen."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from importlib.resources import as_file, files
from textwrap import fill

from rich.console import Console
from rich.table import Table
from rich.text import Text

from jury_adapters.cli.recorded_pairs import (
    LARGE,
    LARGE_COST,
    LARGE_TIER,
    OTHER_PROMPTS,
    SMALL,
    SMALL_COST,
    SMALL_TIER,
    PairScore,
    is_adversarial,
    pair_juror,
    pair_jury,
)
from jury_adapters.core.case import Case
from jury_adapters.core.case_files import read_cases
from jury_adapters.core.formatting import percent, visible
from jury_adapters.core.values import JsonValue
from jury_adapters.grounding.screen import grounding_screen
from jury_adapters.report.summary import Summary


def run_demo(console: Console) -> None:
    """Show both juries on the data included in the package."""
    _Pairs().print(console)
    _print_screen(console, _screened())
    console.print(Text(_NEXT_STEPS))


def demo_figures() -> dict[str, JsonValue]:
    """Return the results of the demo as JSON values."""
    return {
        "jury": _Pairs().to_dict(),
        "screen": [
            {"answer": answer, "said": said, "findings": list(findings)} for answer, said, findings in _screened()
        ],
    }


class _Pairs:
    """Jury run on the natural pairs of LLMBar, and beside them on the adversarial ones and with other prompts."""

    def __init__(self) -> None:
        cases = _cases("llmbar.jsonl.gz")
        natural = [case for case in cases if not is_adversarial(case)]
        adversarial = [case for case in cases if is_adversarial(case)]
        self.jury, large = pair_jury(), pair_juror(LARGE)
        verdicts = list(self.jury.judge_many(natural))
        self.summary = Summary()
        for case, verdict in zip(natural, verdicts, strict=True):
            self.summary.add(case, verdict, str(case.metadata["item_id"]))
        self.score = PairScore.of_judgments("the jury", natural, verdicts, "jury")
        self.large = PairScore.of_judge(large, natural)
        self.small = [PairScore.of_judge(pair_juror(model), natural) for model in SMALL]
        self.constant = PairScore.of_constant(natural)
        self.stops = [
            self.score.only(tier, [one.stopped_at == tier for one in verdicts]) for tier in (SMALL_TIER, LARGE_TIER)
        ]
        self.hard, self.hard_large = (PairScore.of_judge(judge, adversarial) for judge in (self.jury, large))
        self.prompts = [
            tuple(PairScore.of_judge(judge, natural) for judge in (pair_jury(prompt), pair_juror(LARGE, prompt)))
            for prompt in OTHER_PROMPTS
        ]

    @property
    def rows(self) -> list[PairScore]:
        """The jury, each juror on all pairs, and the constant answer."""
        return [self.score, self.large, *self.small, self.constant]

    def to_dict(self) -> dict[str, JsonValue]:
        """Return JSON values."""
        return {
            "name": self.jury.name,
            "scores": [row.to_dict() for row in self.rows],
            "against_large": _difference(self.score, self.large),
            "stopped": [stop.to_dict() for stop in self.stops],
            "adversarial": {
                "scores": [self.hard.to_dict(), self.hard_large.to_dict()],
                "against_large": _difference(self.hard, self.hard_large),
            },
            "other_prompts": {
                prompt: [score.to_dict() for score in scores]
                for prompt, scores in zip(OTHER_PROMPTS, self.prompts, strict=True)
            },
            **self.summary.to_dict(),
        }

    def print(self, console: Console) -> None:
        _print_heading(console, "A jury of LLM judges")
        _print_paragraph(console, self._intro())
        _print_lines(console, ["", *_score_table(self.rows), ""])
        _print_paragraph(console, self._gain(), "bold")
        _print_lines(console, ["", *_stop_lines(self.stops), ""])
        _print_paragraph(console, self._limit())
        _print_paragraph(console, self._method(), "dim")
        console.print()

    def _intro(self) -> str:
        return _INTRO.format(pairs=self.score.pairs, small=", ".join(SMALL[:-1]), last=SMALL[-1], large=LARGE)

    def _gain(self) -> str:
        saved = percent(1 - self.score.cost_usd / self.large.cost_usd, 0)
        compared = _compared(self.score, self.large)
        return _GAIN.format(compared=compared, saved=saved, asked=self.stops[-1].pairs, large=LARGE)

    def _limit(self) -> str:
        compared = _compared(self.hard, self.hard_large)
        return _LIMIT.format(compared=compared, pairs=self.hard.pairs, large=LARGE)

    def _method(self) -> str:
        others = [jury.right - large.right for jury, large in self.prompts]
        return _METHOD.format(
            pairs=self.score.pairs, hard=self.hard.pairs, prompts=len(self.prompts), large=LARGE, fewer=-min(others),
            more=max(others), small_cost=f"{SMALL_COST:.3f}", large_cost=f"{LARGE_COST:.3f}",
        )  # fmt: skip


def _score_table(rows: Sequence[PairScore]) -> list[str]:
    """Return a table as lines of plain text."""
    heads = _aligned(("", "right", "wrong", "undecided", "balanced accuracy (95 %)", "cost"))
    lines = [heads, "─" * len(heads)]
    for row in rows:
        found, limits = row.against_labels, row.against_labels.balanced_interval
        interval = "" if limits is None else " to ".join(f"{100 * limit:.1f}" for limit in limits)
        balanced = f"{percent(found.balanced_accuracy)}  {interval:>12}"
        name = f"{row.name} alone" if row.kind == "juror" else row.name
        counts = (str(number) for number in (row.right, row.wrong, row.undecided))
        lines.append(_aligned((name, *counts, balanced, f"${row.cost_usd:.2f}")))
    return [f"  {line}" for line in lines]


def _aligned(cells: Sequence[str]) -> str:
    name, right, wrong, undecided, balanced, cost = cells
    return f"{name:<17}  {right:>5}  {wrong:>5}  {undecided:>9}  {balanced:>24}  {cost:>6}"


def _stop_lines(stops: Sequence[PairScore]) -> list[str]:
    lines = ["  Who stopped where"]
    for stop in stops:
        counts = f"{stop.right} right, {stop.wrong} wrong, {stop.undecided} undecided"
        lines.append(f"    {stop.name:<18}  {stop.pairs:>3} pairs: {counts}")
    return lines


def _compared(one: PairScore, other: PairScore) -> str:
    """Return what the difference between two judges shows, with their counts and its interval."""
    difference, (low, high) = one.minus(other)
    shown = "more often right" if low > 0 else "less often right" if high < 0 else "not shown to differ"
    points = f"{100 * difference:+.1f} points, 95 % interval {100 * low:+.1f} to {100 * high:+.1f}"
    return f"{shown}: {one.right} right against {other.right} ({points})"


def _difference(one: PairScore, other: PairScore) -> dict[str, JsonValue]:
    difference, interval = one.minus(other)
    return {"difference": difference, "interval": list(interval)}


def _screened() -> list[tuple[str, str, list[str]]]:
    """Return answers with the result of the offline screen and its findings."""
    screen = grounding_screen()
    results = []
    for case in _cases("grounding_examples.jsonl"):
        verdict = screen.judge(case)
        said = {"PASS": "grounded", "FAIL": "not grounded"}.get(str(verdict.status), "abstained")
        findings = [check.name for check in verdict.findings if not check.passed]
        results.append((case.answer or "", said, findings or [str(verdict.stopped_at)]))
    return results


def _print_screen(console: Console, screened: Sequence[tuple[str, str, list[str]]]) -> None:
    _print_heading(console, "The offline screen for RAG answers")
    _print_paragraph(console, _SCREEN_INTRO.format(answers=len(screened)))
    table = Table.grid(padding=(0, 1, 0, 0))
    for answer, said, findings in screened:
        style = {"grounded": "green", "not grounded": "red"}.get(said, "yellow")
        found = ", ".join(findings[:_MOST_FINDINGS]) + (", ..." if len(findings) > _MOST_FINDINGS else "")
        table.add_row(Text(f"  {said}", style), Text.assemble(visible(answer), (f"  {visible(found)}", "dim")))
    console.print(table)


def _print_heading(console: Console, heading: str) -> None:
    console.rule(Text(heading, style="bold"), align="left")


def _print_paragraph(console: Console, text: str, style: str = "") -> None:
    """Print a paragraph, wrapped to the width of the console, but not wider than 100 columns."""
    width = min(console.width, _WIDEST)
    wrapped = fill(text, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    console.print(Text(wrapped, style=style))


def _print_lines(console: Console, lines: Sequence[str]) -> None:
    console.print(Text("\n".join(lines)), soft_wrap=True)


def _cases(name: str) -> list[Case]:
    with ExitStack() as stack:
        path = stack.enter_context(as_file(files("jury_adapters.cli") / "data" / name))
        return [row.case for row in read_cases(path) if row.case is not None]


_WIDEST = 100
_MOST_FINDINGS = 2
_INTRO = (
    "{pairs} pairs of answers: which follows the instruction better? Recorded votes of models of 2023 beside human "
    "labels (LLMBar Natural, MIT); no key, no network. A model whose choice changes with the order of the answers is "
    "undecided. {small} and {last} judge first; {large} decides unless they agree."
)
_GAIN = (
    "At assumed prices the jury costs {saved} less than its best juror, {large}, which judges {asked} pairs "
    "only. It is {compared}."
)
_LIMIT = (
    "On the {pairs} other pairs of LLMBar, written to fool judges, the jury is {compared}. Small models that are wrong "
    "together never ask {large}. So measure a jury on your own labelled cases: jury replay, jury calibrate."
)
_METHOD = (
    "All {pairs} natural pairs count. Panel and prompt (metrics and a reference first) are the best ones on the other "
    "{hard}; with the {prompts} other prompts on record the jury is right on {fewer} pairs fewer to {more} more than "
    "{large}. Balanced: mean share right where the first answer is better and where the second is; undecided is not "
    "right. Prices are assumed, ${small_cost} and ${large_cost} ({large}) a vote; none are recorded."
)
_SCREEN_INTRO = "{answers} answers of our own, checked by rules, no model. Grounded: said by the context, not correct."
_NEXT_STEPS = """
Next: judge your own. The column names of any framework will do.
  jury judge answers.jsonl                    the offline screen for RAG answers
  jury judge answers.jsonl --jury jury.yaml   your own jury: `jury show schema`
  jury replay votes.jsonl --jury jury.yaml    other juries over recorded votes"""
