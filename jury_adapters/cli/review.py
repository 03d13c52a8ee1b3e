"""``jury review``: human labels for the cases that need review."""

from __future__ import annotations

import getpass
from collections import Counter
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from jury_adapters.cli.asking import BACK, MORE, NOTE, QUIT, SKIP, Asker, choices_of
from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.interrupt import CtrlC
from jury_adapters.cli.label_file import UNSURE, Label, LabelFile, Said, Seen, said_in, said_of
from jury_adapters.cli.options import AsJson, Quiet, file_argument, file_option, number_option
from jury_adapters.cli.review_selection import Selection, Which
from jury_adapters.cli.review_summary import ReviewSummary
from jury_adapters.cli.reviewer_conflicts import contradictions, final_labels, latest
from jury_adapters.cli.showing import has_texts, show_case, show_verdict
from jury_adapters.cli.streams import Messages, show, write_json
from jury_adapters.core.case import Case
from jury_adapters.core.duplicates import Identity
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.formatting import counted
from jury_adapters.core.judgment import Status
from jury_adapters.core.results_file import cases_named_in
from jury_adapters.core.return_values import is_failed_run

if TYPE_CHECKING:
    from jury_adapters.report.entries import Entry


def review(
    results: Annotated[Path, file_argument("What `jury judge --out` wrote.")],
    *,
    cases: Annotated[
        Path | None,
        file_option("The cases that were judged.", show_default="the file that the results name"),
    ] = None,
    labels: Annotated[
        Path | None,
        file_option(
            "The file that labels are added to; made where it is missing.",
            show_default="labels.jsonl beside the results",
        ),
    ] = None,
    by: Annotated[str, typer.Option(help="Who labels.", show_default="your login name")] = "",
    limit: Annotated[int | None, number_option("Ask about N cases at most.", 1)] = None,
    only: Annotated[
        Which | None,
        typer.Option(
            help="Where the jury asks for review; where its jurors differ too; or all, in random order.",
            show_default="contested",
        ),
    ] = None,
    sample: Annotated[
        int | None,
        number_option("Ask about N random cases only: the same ones in each file of results with these ids.", 1),
    ] = None,
    verdict_first: Annotated[bool, typer.Option("--show", help="Show the verdict before you answer.")] = False,
    blind: Annotated[bool, typer.Option("--blind", help="Never show the verdict.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Label cases yourself, the most contested first, and see how far you and the jury agree.

    You see the question, the contexts and the answer, and say pass, fail or unsure; the verdict is shown afterwards, so
    that it does not sway you. Without a terminal each line of standard input is an answer, perhaps with a note: `fail
    the year is wrong`.

    Every label is on the disk before the next case is shown. Run again to go on. Several reviewers may share one file;
    it is what `jury calibrate` reads. Calibrate with labels of --only all: contested cases are not a fair sample.

    For `jury compare`, label both answers to the same random cases: run it with --sample N on the results of each
    system, with one file of --labels. Cases are drawn by id, else by question.

    Exit code: 0, 2 for bad input, 130 stopped by Ctrl-C (with the summary).
    """
    messages = Messages()
    try:
        if verdict_first and blind:
            raise ConfigurationError("--show and --blind contradict each other; give one of them")
        file = labels or results.parent / "labels.jsonl"
        if file.suffix.lower() != ".jsonl":
            raise InputError(f"--labels {file}: labels are JSON lines; give it a name that ends in .jsonl")
        if any(file.exists() and path.exists() and file.samefile(path) for path in (results, cases) if path):
            raise InputError(f"--labels would add labels to {file}, which is read; give another file")
        selection = Selection.of(only, sample)
        entries = _entries(results, cases, messages)
        who = by.strip() or _login()
        before = said_in(file) if file.exists() and file.stat().st_size else []
        seen: Seen = "never" if blind else "before" if verdict_first else "after"
        session = _Session(entries, before, selection, who=who, seen=seen, messages=messages)
        stopped = session.run(file, limit)
    except ConfigurationError as error:
        messages.error(str(error))
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    summary = session.summary(file)
    if as_json:
        write_json(summary.to_dict())
    elif not quiet:
        show(lambda console: console.print(Text(str(summary))))
    raise typer.Exit(ExitCode.INTERRUPTED if stopped else ExitCode.OK)


class _Session:
    """Session of one reviewer at the terminal, from the first case to the last."""

    def __init__(
        self,
        entries: Sequence[Entry],
        before: Sequence[Said],
        selection: Selection,
        *,
        who: str,
        seen: Seen,
        messages: Messages,
    ) -> None:
        every = {_identity(entry): entry for entry in entries}
        # A failed run has its place in a sample too: that of another system has the same cases.
        self._wanted = [entry for entry in selection.choose([*every.values()]) if not is_failed_run(entry.judgment)]
        self._entries = {identity: entry for identity, entry in every.items() if not is_failed_run(entry.judgment)}
        self._said = {identity: said for (identity, by), said in latest(before).items() if by == who}
        self._selection = selection
        self._who = who
        self._seen = seen
        self._messages = messages
        failed_runs = sum(is_failed_run(entry.judgment) for entry in entries)
        if failed_runs:
            messages.info(f"{counted(failed_runs, 'run')} of the application failed and left nothing to label")
        self._shown: set[Identity] = set()  # cases whose verdict the reviewer has seen
        self._now: set[Identity] = set()

    def run(self, path: Path, limit: int | None) -> bool:
        """Ask about one case after the other; return whether Ctrl-C ended the session."""
        asked = [entry for entry in self._wanted if _identity(entry) not in self._said][:limit]
        self._hint_at_sample(path, limit)
        if not asked:
            done = f"{self._who} has labelled every case of {self._selection}"
            none = f"no case is of {self._selection}; --only all asks about every case"
            self._messages.info(f"nothing to ask: {done if self._wanted else none}")
            return False
        choices = choices_of(_labels(self._entries.values()), UNSURE)
        try:
            with CtrlC() as ctrl_c, LabelFile(path) as file, Asker(self._messages, choices) as asker:
                position = 0
                while position < len(asked):
                    position += self._one(asked[position], f"{position + 1} of {len(asked)}", asker, file, ctrl_c)
                    if position < 0:
                        self._messages.info("this is the first case")
                        position = 0
        except (EOFError, _Quit):
            return False
        except KeyboardInterrupt:
            self._messages.info("")
            return True
        return False

    def _hint_at_sample(self, path: Path, limit: int | None) -> None:
        """Say that --limit selects other cases than those of another system with labels in the same file.

        It passes over answers that both systems share and that have a label, so more than the limit would be labelled
        where the answers are equal.
        """
        if limit is None or self._selection != Selection("all"):
            return
        ids = {item for _, item in self._entries} - {None}
        others = {item for key, item in self._said if item in ids and (key, item) not in self._entries}
        if others:
            self._messages.info(
                f"{path} has labels of other answers to {counted(len(others), 'case')} with these ids; for jury "
                "compare, label the same random cases of both systems: give --sample N for both, not --limit"
            )

    def summary(self, path: Path) -> ReviewSummary:
        """Summarize the labels of this reviewer for these results."""
        mine = {identity: said for identity, said in self._said.items() if identity in self._entries}
        both = [
            (said, opinion)
            for identity, said in mine.items()
            if said.said != UNSURE and (opinion := self._entries[identity].judgment.opinion) is not None
        ]
        counts: dict[str, int] = {}
        for said in mine.values():
            counts[said.said] = counts.get(said.said, 0) + 1
        everybody = said_in(path) if path.exists() else []
        last = latest(everybody)
        reviewers = Counter(by for _, by in last)
        return ReviewSummary(
            path, self._who, len(self._now), len(mine),
            sum(_identity(entry) not in self._said for entry in self._wanted), self._selection,
            dict(sorted(counts.items())), len(both), sum(said.said == opinion for said, opinion in both),
            sum(said.verdict_seen == "before" for said, _ in both),
            sum(truth is not None for truth in final_labels(everybody).values()), contradictions(everybody),
            dict(sorted(reviewers.items())), {one.chosen for one in last.values()} - {"all"},
        )  # fmt: skip

    def _one(self, entry: Entry, number: str, asker: Asker, file: LabelFile, ctrl_c: CtrlC) -> int:
        """Ask about one case; return the number of cases to move forward."""
        case, identity = _case(entry), _identity(entry)
        heading = f"{number}: {entry.where}"
        self._show(case, heading)
        if self._seen == "before":
            self._show_verdict(entry)
        started = perf_counter()
        note = ""
        while True:
            said, action, new_note = asker.ask()
            note = new_note or note
            if said is not None:
                seconds = perf_counter() - started
                with ctrl_c.held():  # either both written and counted, or neither
                    self._keep(self._label(entry, said, note, seconds), file)
                if self._seen == "after" and identity not in self._shown:
                    self._show_verdict(entry)
                return 1
            if action == NOTE:
                note = new_note or asker.note()
            elif action == MORE:
                self._show(case, heading, whole=True)
            elif action == QUIT:
                raise _Quit
            else:
                return {SKIP: 1, BACK: -1}[action]

    def _label(self, entry: Entry, said: str, note: str, seconds: float) -> Label:
        seen: Seen = "before" if _identity(entry) in self._shown else self._seen
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        return Label(
            _case(entry), entry.line, entry.item_id, said, self._who, now, seconds, note, entry.judgment, seen,
            self._selection.only,
        )  # fmt: skip

    def _keep(self, label: Label, file: LabelFile) -> None:
        file.add(label)
        said = said_of(label.to_row())
        if said is not None:
            self._said[said.identity] = said
            self._now.add(said.identity)

    def _show(self, case: Case, heading: str, *, whole: bool = False) -> None:
        show_case(self._messages.console, case, heading, whole=whole)

    def _show_verdict(self, entry: Entry) -> None:
        self._shown.add(_identity(entry))
        show_verdict(self._messages.console, entry.judgment)


class _Quit(Exception):
    """The reviewer ends the session."""


def _entries(results: Path, cases: Path | None, messages: Messages) -> list[Entry]:
    from jury_adapters.cli.report_sources import refuse_store
    from jury_adapters.report.entries import results_of

    refuse_store(results)
    source = cases or cases_named_in(results)
    entries = results_of(results, source)
    if not entries:
        raise InputError(f"{results}: there are no verdicts in it")
    found = [entry for entry in entries if entry.case is not None and has_texts(entry.case)]
    if not found:
        raise InputError(
            f"{results}: the texts of its cases are not known; give the file that was judged: --cases CASES"
            if source is None
            else f"{source}: no case of {results} is in it; give the file that was judged, as it was: --cases CASES"
        )
    if lacking := len(entries) - len(found):
        cases_left = counted(lacking, "case is", "cases are")
        messages.info(f"{source}: {cases_left} left out, which {results} has and which cannot be found in it as judged")
    return found


def _labels(entries: Collection[Entry]) -> list[str]:
    """Return the labels of a jury with neither PASS nor FAIL: all that it or a juror gave to any case."""
    from jury_adapters.core.opinions import opinions_of

    if any(entry.judgment.status in (Status.PASS, Status.FAIL) for entry in entries):
        return []
    opinions = [entry.judgment for entry in entries]
    opinions += [vote for entry in entries for _, vote in opinions_of(entry.judgment)]
    return sorted({opinion.label or "" for opinion in opinions if opinion.status is None})


def _identity(entry: Entry) -> Identity:
    return (_case(entry).content_hash, entry.item_id)


def _case(entry: Entry) -> Case:
    if entry.case is None:
        raise InputError(f"{entry.where}: its texts are not known")
    return entry.case


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # for example, in a container without users
        raise ConfigurationError("who labels? give --by NAME") from None
