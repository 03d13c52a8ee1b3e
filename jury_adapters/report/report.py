"""The report of a run: built from verdicts or files, available in several forms."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from jury_adapters.core.case_groups import group_of_case
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.formatting import counted, visible
from jury_adapters.core.human_labels import UnclearLabels, listed_labels
from jury_adapters.core.installation import needs_extra
from jury_adapters.core.judge import CaseLike
from jury_adapters.core.judged_file import cases_for_group
from jury_adapters.core.results_file import pass_labels_named_in, planned_in
from jury_adapters.core.runs import JudgedRun, Run
from jury_adapters.core.sequential_gate import GateDecision
from jury_adapters.core.values import JsonValue
from jury_adapters.core.whole_file import whole_file, write_whole
from jury_adapters.critic.recorded import is_store
from jury_adapters.judges.experiment_rows import group_of_repeats
from jury_adapters.judges.framework_results import FrameworkResults
from jury_adapters.report.analysis import Analysis, CollectedVotes
from jury_adapters.report.bare_judgments import warn_of_bare_judgments
from jury_adapters.report.comparison import Comparison, compare
from jury_adapters.report.entries import Entry, FileEntries, decision_of, entries_of, known_group, recorded_of
from jury_adapters.report.figures import Figures
from jury_adapters.report.lone_runs import with_groups_of_lone_runs
from jury_adapters.report.prepared_page import PreparedPage
from jury_adapters.report.rows import flat_rows
from jury_adapters.report.run_facts import labels_used, noting_juries
from jury_adapters.report.written_results import write_results_file
from jury_adapters.store import place_name

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]
    from rich.console import Console

    from jury_adapters.core.label_comparison import LabelComparison

_NO_TITLE = "Jury report"


class Report:
    """Report on the cases of one run.

    Create one with :meth:`from_results` or :meth:`read`.

    Args:
        entries: the judged cases, in order.
        title: the jury, or what was judged; the heading of the page.
        unread: the rows that could not be read, and so were not judged, with the reason, as in ``line 3: not JSON``;
            the page shows the first ones.
        unreadable: the number of these rows, if ``unread`` does not name all.
        decision: that of a :class:`~jury_adapters.core.sequential_gate.SequentialGate` which ended the run early.
        planned: number of cases that the run was to judge, if it may have been stopped; None if it is unknown.
        pass_labels: the human labels that mean PASS, if the judgments do not show it; see :attr:`label_comparison`.
        group: the field that identifies the group of a case, such as ``"document"``, ``"meta.user"`` or ``"question"``.
            It is an entry of the metadata or a field of the case. Cases of one group are alike, and every interval
            takes that into account. Empty for independent cases.

    Raises:
        ConfigurationError: there are no entries, or one has no such field.

    >>> from jury_adapters import Judgment
    >>> report = Report.from_results(Judgment("PASS") for _ in range(9))
    >>> report.figures.summary.pass_rate
    1.0
    """

    def __init__(
        self,
        entries: Sequence[Entry] | FileEntries,
        *,
        title: str = "",
        unread: Sequence[str] = (),
        unreadable: int = 0,
        decision: GateDecision | None = None,
        planned: int | None = None,
        pass_labels: Collection[str] = (),
        group: str = "",
    ) -> None:
        self._rows = entries if isinstance(entries, FileEntries) else tuple(entries)
        self._counted: Figures | None = None
        self._prepared: PreparedPage | None = None
        self._kept_labels: Collection[str] = ()  # PASS labels of the run, which no case here need have
        self.pass_labels = listed_labels(pass_labels)
        self.unread = tuple(unread)
        self.unreadable = max(unreadable, len(self.unread))
        self.title = title or _NO_TITLE
        self._given_title = "" if self.title == _NO_TITLE else self.title
        self.decision, self.planned = decision, planned
        if not len(self._rows):
            raise ConfigurationError("there is nothing to report: no case was judged")
        self.group = group
        for entry in self._rows if group and isinstance(self._rows, tuple) else ():
            group_of_case(entry.case, entry.judgment, group, entry.place)

    @classmethod
    def from_results(
        cls,
        results: FrameworkResults,
        *,
        title: str = "",
        unread: Sequence[str] = (),
        decision: GateDecision | None = None,
        pass_labels: Collection[str] = (),
        group: str | None = None,
    ) -> Self:
        """Return the report of results.

        Pairs of case and verdict, as :meth:`~jury_adapters.Judge.judge_pairs` yields them, include the texts of the
        cases, and so do runs that were judged in the background. Of the attempts at one answer, which a jury sent back,
        the last one is the case, with the usage of all. Verdicts alone include the id and the metadata of their cases,
        and the judgments of a single judge nothing, as the log says: no ids and no human labels.

        Results of LlamaIndex's evaluators include their query, response and contexts. Results of this package's
        evaluators have the verdict; in others, ``passing``, ``score`` and ``feedback`` count. Without ``passing``, a
        score from 0.5 passes. The scores of an evaluator count if all of them can be scores from 0 to 1; ratings from
        1 to 5 are no scores. Rows of a LangSmith experiment include the run and the example. If several evaluators
        judged an item, in the dictionary of ``BatchEvalRunner`` or in a row of LangSmith, each is a criterion, and an
        item passes if all of them pass. The criteria of an evaluator's scorecard have rows of their own.
        Evaluators of two answers do not count, and their criterion has the labels ``A``, ``B`` and ``tie``; LangSmith's
        metrics (numbers other than 0 and 1) count only if alone.

        Args:
            results: verdicts, pairs of case and verdict, judged runs, ``EvaluationResult`` objects, or rows of
                LangSmith's ``ExperimentResults``, in order; or lists of ``EvaluationResult`` by the name of the
                evaluator.
            title: the heading; for the results of one evaluator, its name by default.
            unread: rows that were not cases, and so have no verdict, with the reason, as in ``line 3: not JSON``.
            decision: that of a :class:`~jury_adapters.core.sequential_gate.SequentialGate` which ended the run early.
            pass_labels: the human labels that mean PASS.
            group: as for the class; by default the example, if LangSmith ran examples several times. ``""``: none.
                A run without the group is one of its own if others have it, and the log says so.

        Raises:
            ConfigurationError: there are no results, or there are other objects among them, evaluators of one batch
                have different numbers of results or judged different items, or a case has no such group.
            UnclearLabels: cases have human labels, and none has one of the ``pass_labels``.

        >>> from jury_adapters import grounding_screen
        >>> Report.from_results(grounding_screen().judge_pairs(cases)).to_html("report.html")  # doctest: +SKIP
        """
        title = title or (next(iter(results)) if isinstance(results, Mapping) and len(results) == 1 else "")
        entries = with_groups_of_lone_runs(entries_of(results), group or "")
        warn_of_bare_judgments(entries)
        group = group_of_repeats(entry.case for entry in entries) if group is None else group
        return cls(
            entries, title=title, unread=unread, decision=decision, pass_labels=pass_labels, group=group
        )._checked()

    @classmethod
    def read(
        cls,
        path: str | Path,
        *,
        cases: str | Path | None = None,
        title: str = "",
        unread: Sequence[str] = (),
        pass_labels: Collection[str] | None = None,
        group: str | None = None,
        prepare_page: bool = False,
    ) -> Self:
        """Return the report of a file that ``jury judge --out`` wrote, or of a store (``.db``).

        Args:
            path: the file. A store keeps the judgments of critics and no verdicts: a majority vote is taken over them.
            cases: the cases that were judged, for their texts; a store contains these itself.
            title: the heading; by default the name of the jury that judged every case, else the file's name.
            unread: rows of the cases that could not be read, with the reason; neither results nor a store contain them.
            pass_labels: the human labels that mean PASS; by default those that the results name, unless the labels in
                use are different ones.
            group: as for the class; by default that of the run, and ``""`` for none. Results hold the metadata of the
                cases; for other fields, such as the question, the file that they name is read, with the texts.
            prepare_page: whether to collect the cases for :meth:`write_html`, which otherwise reads the results again.

        Raises:
            InputError: a line is not a result, a store is empty, or a case has no such group; the message names it.
        """
        recorded = is_store(path)
        entries = recorded_of(path) if recorded else FileEntries(path, cases or cases_for_group(path, group))
        group = (known_group(path, entries) if group is None else group) if not recorded else group or ""
        juries: set[str] = set()
        prepared = PreparedPage(group) if prepare_page else None
        noted = entries if prepared is None else prepared.noting(entries)
        figures = Figures.of(noting_juries(noted, juries), group=group)
        decision, planned = (None, None) if recorded else (decision_of(path), planned_in(path))
        kept = () if recorded else pass_labels_named_in(path, labels_used(entries))
        title = title or (juries.pop() if len(juries) == 1 else "") or place_name(path)
        found = cls(
            entries,
            title=title,
            unread=unread,
            decision=decision,
            planned=planned,
            pass_labels=pass_labels or kept,
            group=group,
        )
        found._counted, found._prepared, found._kept_labels = figures, prepared, kept
        return found

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The judged cases, in order. Those of a results file are read into memory when they are asked for."""
        return tuple(self._rows)

    def __iter__(self) -> Iterator[Entry]:
        """Yield the judged cases in order, without keeping those of a results file in memory."""
        return iter(self._rows)

    @cached_property
    def figures(self) -> Figures:
        """Numbers of the report."""
        figures = self._counted or Figures.of(self._rows, group=self.group)
        figures.summary.label_comparison.pass_labels = self.pass_labels
        figures.summary.label_comparison.known_labels = self._kept_labels
        figures.summary.unreadable = self.unreadable
        figures.summary.decision, figures.summary.planned = self.decision, self.planned
        return figures

    @property
    def label_comparison(self) -> LabelComparison:
        """Comparison of the jury, its jurors and constant answers with human labels, if there are any.

        >>> from jury_adapters import Case, Judgment
        >>> cases = [Case(answer=text, metadata={"gold": gold}) for text, gold in [("a", "good"), ("b", "bad")]]
        >>> report = Report.from_results([(case, Judgment("PASS")) for case in cases], pass_labels=["good"])
        >>> report.label_comparison.jury.false_passes.to_dict()["count"]
        1
        """
        return self.figures.summary.label_comparison

    @cached_property
    def agreement(self) -> Analysis:
        """Agreement of the jurors, with warnings; or the reason why it cannot be measured."""
        votes = CollectedVotes(self.group)
        deque(votes.noting(self._rows), maxlen=0)
        return self._analysed(votes)

    def summary(self, console: Console | None = None) -> None:
        """Print the summary: pass rate, tiers, jurors, and the cases to look at first.

        Args:
            console: the console to print to; standard output by default.

        Raises:
            ConfigurationError: rich is not installed; the message names the extra.
        """
        try:
            from rich.console import Console

            from jury_adapters.report.terminal import print_summary
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "rich":
                raise
            raise ConfigurationError(needs_extra("the summary", "rich", "report")) from None

        print_summary(console or Console(highlight=False), self.figures.summary, heading=self._given_title)

    def to_html(self, path: str | Path | None = None, *, compared: Comparison | None = None) -> str:
        """Return the report as one HTML file that needs no network and runs only its own script.

        Args:
            path: a file to write it to as well; an existing file is replaced once the new one is complete.
            compared: a comparison with an earlier run, to show with it.

        Raises:
            ConfigurationError: Jinja2 is missing.
            OSError: the file cannot be written.
        """
        html = "".join(self._page(compared))
        if path is not None:
            write_whole(path, html)
        return html

    def write_html(self, path: str | Path, *, compared: Comparison | None = None) -> None:
        """Write the page of :meth:`to_html` to a file, without the whole page in memory.

        Args:
            path: the file; an existing file is replaced once the new one is complete.
            compared: a comparison with an earlier run, to show with it.

        Raises:
            ConfigurationError: Jinja2 is missing.
            OSError: the file cannot be written.
        """
        with whole_file(path) as file:
            for piece in self._page(compared):
                file.write(piece.encode())

    def to_markdown(self, *, compared: Comparison | None = None) -> str:
        """Return the report as a pull-request comment: the rate, the jurors, and the cases to look at first."""
        from jury_adapters.report.markdown import markdown

        return markdown(self.figures, title=self._given_title, compared=compared)

    def to_rows(self) -> list[dict[str, JsonValue]]:
        """Return one flat row per case, for a table, a spreadsheet or a data frame.

        The result of a criterion is in the column ``criterion:NAME``, and its score, if any, in ``score:NAME``. A
        juror's opinion is in the column ``vote:NAME``, a text or number of a case's metadata in ``meta:NAME``.
        """
        return flat_rows(self.entries)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows of :meth:`to_rows` as a data frame.

        Raises:
            ConfigurationError: pandas is missing.
        """
        try:
            import pandas
        except ModuleNotFoundError:
            raise ConfigurationError("to_pandas() needs pandas: pip install pandas; to_rows() needs nothing") from None
        return pandas.DataFrame(self.to_rows())

    def write_results(self, path: str | Path, *, cases: str | Path | None = None, force: bool = False) -> None:
        """Write a results file, which :meth:`read`, ``jury compare`` and the other commands read like their own.

        Args:
            path: the file, which ends in ``.jsonl``.
            cases: a second file, for the texts of the cases; results contain none.
            force: whether existing files may be replaced.

        Raises:
            ConfigurationError: a file exists already, does not end in ``.jsonl``, or both are the same.
            OSError: a file cannot be written.
        """
        planned = None if self.decision is not None else self.planned
        write_results_file(self._rows, path, cases, self.pass_labels, group=self.group, planned=planned, force=force)

    def send_to(self, sink: Callable[[JudgedRun], object]) -> None:
        """Call a sink with each case, such as ``otel_events()`` or LangSmith's ``feedback()``.

        A case without a run of an application has a run with an empty id, named as the case is.

        Args:
            sink: a plain function of a judged run, as for ``on_verdict=``.

        Raises:
            Exception: any exception that the sink raises.

        >>> from jury_adapters.observability import otel_events
        >>> report.send_to(otel_events())  # doctest: +SKIP
        """
        for entry in self.entries:
            sink(JudgedRun(entry.run or Run("", kind="result", name=entry.where), entry.case, entry.judgment))

    def compare(
        self,
        other: Report,
        *,
        labels: Iterable[CaseLike | tuple[CaseLike, str | bool]] | None = None,
        pass_labels: Collection[str] = (),
        group: str | None = None,
    ) -> Comparison:
        """Compare this run (a) with another (b): the difference of their pass rates, and the cases that changed.

        >>> from jury_adapters import Judgment
        >>> before, after = Report.from_results([Judgment("FAIL")] * 4), Report.from_results([Judgment("PASS")] * 4)
        >>> before.compare(after).difference
        1.0

        Args:
            other: the second run. Cases are matched by item id if all have one, else by question if each has its own,
                else by content. Verdicts without their cases are matched by line or position. If no case is in both
                runs, or questions repeat without ids, the pass rates are compared as those of independent samples.
            labels: rows with ``gold``, cases with ``metadata["gold"]``, or pairs of case and label. A label belongs to
                an answer; labels of both answers of a case correct the difference. Needs NumPy.
            pass_labels: the labels that mean PASS.
            group: as for the class; by default that of the other run, else that of this one, else the id where several
                pairs have one. ``""`` takes all cases as independent.

        Raises:
            ConfigurationError: the labels cannot be read, none of them belongs to a compared answer, or a case has no
                such group.
        """
        if not isinstance(other, Report):
            raise ConfigurationError(
                f"compare() takes a Report, not {plain_repr(other)}; Report.from_results(results) makes one"
            )
        kept = (other.group or self.group) if group is None else group
        return compare(
            self._rows, other._rows, titles=(self.title, other.title), labels=labels, pass_labels=pass_labels,
            group=kept, needs_groups=bool(group), by_id=group is None, gates=(self.decision, other.decision),
            planned=(self.planned, other.planned),
        )  # fmt: skip

    def _page(self, compared: Comparison | None) -> Iterator[str]:
        from jury_adapters.report.page import page

        prepared, self._prepared = self._prepared, None
        if prepared is None or compared is not None:
            prepared = PreparedPage(self.group, compared)
            deque(prepared.noting(self._rows), maxlen=0)
        with prepared as found:
            yield from page(
                found.cases, self.figures, self._analysed(found.votes),
                title=self.title, unread=self.unread, compared=compared,
            )  # fmt: skip

    def _analysed(self, votes: CollectedVotes) -> Analysis:
        found = votes.analysed(self.label_comparison, self.decision) if self.figures.jurors else Analysis(None)
        if len(self.figures.jurors) > 1:
            return found
        return replace(found, note="There are fewer than two jurors, so there is no agreement to measure.")

    def _checked(self) -> Self:
        unknown = self.label_comparison.unknown_pass_label if self.pass_labels else ""
        if unknown:
            raise UnclearLabels(unknown)
        return self

    def __repr__(self) -> str:
        return f"Report({visible(self.title)!r}, {counted(len(self._rows), 'case')})"
