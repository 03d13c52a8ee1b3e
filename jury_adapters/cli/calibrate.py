"""``jury calibrate``: a jury file with a guarantee, from labelled cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from jury_adapters.calibration.broken_cases import broken_sentence
from jury_adapters.calibration.full_votes import full_votes_sentence
from jury_adapters.calibration.idle_tiers import idle_sentence
from jury_adapters.cli.budgets import budget_of, check_scope
from jury_adapters.cli.estimates import estimate_text
from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.jury_files import Permissions, check_prices, read_jury, text_without_guarantee
from jury_adapters.cli.labelled_cases import labelled_cases
from jury_adapters.cli.options import (
    AllowBaseUrl,
    AllowCommands,
    AsJson,
    Concurrency,
    DryRun,
    Force,
    LabelColumn,
    Labels,
    Map,
    MaxCalls,
    MaxTokens,
    MaxUsd,
    PassLabels,
    Prices,
    Quiet,
    StorePlace,
    file_argument,
    file_option,
    share_option,
)
from jury_adapters.cli.streams import Messages, show, write, write_json
from jury_adapters.core.cascade import CascadedJury
from jury_adapters.core.case import EMPTY_KEY, Case
from jury_adapters.core.case_files import CaseFile
from jury_adapters.core.duplicates import ContradictingLabels, merged_sentence
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.field_map import FieldMap
from jury_adapters.core.formatting import counted, percent, visible
from jury_adapters.core.human_labels import GOLD, UnclearLabels
from jury_adapters.core.jury import Jury
from jury_adapters.core.tier_policies import Policy
from jury_adapters.core.whole_file import write_whole
from jury_adapters.critic.changed_rubrics import rubrics_in

if TYPE_CHECKING:
    from jury_adapters.calibration.guarantee import Guarantee

_MOST_LABELS = 6


def calibrate(
    cases: Annotated[
        Path, file_argument("Cases with human labels: what `jury review` wrote, or JSONL, JSON or CSV (.gz too).")
    ],
    *,
    jury: Annotated[Path, file_option("The jury, as YAML; its tiers from cheap to costly.")],
    agreement: Annotated[float, share_option("The share of decided cases that is to agree with human labels.")] = 0.9,
    delta: Annotated[float, share_option("The probability with which the guarantee may fail.")] = 0.1,
    method: Annotated[
        Literal["both", "path", "per_tier"],
        typer.Option(help="One threshold for all tiers (path), one for each (per_tier), or the better (both)."),
    ] = "both",
    group: Annotated[
        str, typer.Option(help="What belongs together, such as document or meta.user; one case of each group counts.")
    ] = "",
    map_: Map = None,
    labels: Labels = None,
    label_column: LabelColumn = GOLD,
    pass_label: PassLabels = None,
    out: Annotated[Path | None, file_option("Write the jury file with the guarantee to this file.")] = None,
    force: Force = False,
    allow_commands: AllowCommands = False,
    allow_base_url: AllowBaseUrl = False,
    concurrency: Concurrency = None,
    store: StorePlace = None,
    max_usd: MaxUsd = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    price: Prices = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Choose when each tier decides, so that what the jury decides agrees with human labels.

    It takes 30 labelled cases or more; 59 for a guarantee of 95 %. They must be like those to come, and not those with
    which rubrics or reliabilities were made. Every tier judges every labelled case; screening tiers with which the jury
    begins (reject_on_any_fail, accept_on_all_pass) decide as they always do, and the guarantee is about the cases that
    they let through.

    Every tier is asked about every labelled case; --dry-run estimates the cost. If --max-usd or its kind ends the
    calls, there is no guarantee, and with --store the next run goes on where this one ended.

    --out takes the jury file as it is, with a `guarantee:` at its end; relative paths in it start from the new file's
    folder. `jury judge --jury` then abstains where no tier is sure enough.

    Exit code: 0, 1 when these labels allow no such guarantee (with what would help), 2 bad input. Needs the extra
    `stats`.
    """
    messages = Messages(quiet=quiet)
    try:
        _check_share("--agreement", agreement)
        _check_share("--delta", delta)
        file = _JuryFile(
            jury,
            out,
            cases,
            force=force,
            permissions={"allow_commands": allow_commands, "allow_base_url": allow_base_url},
        )
        labelled, places, contradicting, _ = labelled_cases(
            CaseFile(cases, messages.info, field_map=FieldMap.parse(map_ or ())), label_column, messages,
            labels=labels, holds="the guarantee holds",
        )  # fmt: skip
        check_prices(price, file.jury)
        budget = budget_of(max_usd, max_calls, max_tokens)
        _warn_of_aligned_labels(file.jury, labelled, pass_label or (), messages)
        from jury_adapters import calibration
        from jury_adapters.calibration.cascade_calibration import check_calibration
        from jury_adapters.calibration.failure import CalibrationFailed

        try:
            _warn_of_copies(labelled, group, messages)
            if dry_run:
                check_scope(file.jury, store, budget)
                check_calibration(file.jury, labelled, agreement, delta, method, groups=group or None,
                                  pass_labels=pass_label or ())  # fmt: skip
                write(estimate_text(file.jury.estimate_cost(case for case, _ in labelled), as_json=as_json))
                return
            calibrated = calibration.calibrate(
                file.jury, labelled, agreement, delta, method, groups=group or None, pass_labels=pass_label or (),
                max_concurrency=concurrency, store=store, budget=budget,
            )  # fmt: skip
            guarantee = replace(calibrated.guarantee, contradicting=contradicting)
        except CalibrationFailed as error:
            messages.info(f"no guarantee is possible: {error}", "yellow")
            if as_json:
                grants = None if error.grants is None else error.grants._asdict()
                write_json({"guarantee": None, "why": str(error), "grants": grants})
            raise typer.Exit(ExitCode.NOT_MET) from None
        except ContradictingLabels as error:
            raise InputError(f"{cases}: {error.describe([places[at] for at, _ in error.labels])}") from None
        except UnclearLabels as error:
            raise InputError(f"{cases}: {error.what}; name those that mean PASS: --pass-label LABEL") from None
        file.write(guarantee)
    except ConfigurationError as error:
        messages.error(str(error))
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    if as_json:
        write_json(guarantee.to_dict())
    elif not quiet:
        policies = _replaced_policies(file.jury, guarantee)
        meanings = _describe_labels(calibrated.labels, pass_label or ())
        show(lambda console: _print(console, guarantee, cases, group, labels=meanings, policies=policies))
        if out is not None:
            written_to = visible(str(out))
            show(
                lambda console: console.print(Text(f"\nWritten to {written_to}: jury judge CASES --jury {written_to}"))
            )


def _check_share(option: str, share: float) -> None:
    """Refuse 0 and 1 before any file is read or any juror is asked.

    Raises:
        ConfigurationError: the share is one of them.
    """
    if not 0 < share < 1:
        raise ConfigurationError(f"{option} lies strictly between 0 and 1, not {share:g}")


class _JuryFile:
    """The jury file, and a copy of it with a guarantee.

    Args:
        path: the jury file; an existing guarantee in it is dropped.
        out: the path of the copy; None for none.
        cases: the labelled cases, which it must not replace.
        force: whether an existing file may be replaced.
        permissions: the permissions of the jury file.

    Raises:
        ConfigurationError: it is not a jury file, or the copy cannot be written.
    """

    def __init__(self, path: Path, out: Path | None, cases: Path, *, force: bool, permissions: Permissions) -> None:
        self._permissions = permissions
        self.jury = read_jury(path, permissions, calibrated=False)
        self._text = text_without_guarantee(path)
        self._out = out
        if out is None:
            return
        if out.exists() and cases.exists() and out.samefile(cases):
            raise InputError(f"--out would replace the labelled cases, {cases}")
        if out.exists() and not force:
            raise InputError(f"{out} exists already; give another --out, or --force to replace it")
        if not out.resolve().parent.is_dir():
            raise InputError(f"{out}: its folder does not exist")

    def write(self, guarantee: Guarantee) -> None:
        """Write the file's own text with the guarantee below it, and check that it is a jury file.

        Raises:
            ConfigurationError: it cannot be written, or a relative path in it is wrong from there.
        """
        if self._out is None:
            return
        text, margin = self._text
        try:
            write_whole(self._out, text + indent(guarantee.to_yaml(), margin))
        except OSError as error:
            raise InputError(f"{self._out}: {error.strerror or error}") from error
        try:
            read_jury(self._out, self._permissions)
        except ConfigurationError as error:
            raise InputError(
                f"{self._out} was written, but cannot be used from there: {error}\nRelative paths in it start from its "
                "folder; give an --out beside the jury file"
            ) from error


def _warn_of_aligned_labels(
    jury: Jury, labelled: Sequence[tuple[Case, str | bool]], pass_labels: Collection[str], messages: Messages
) -> None:
    """Warn if a rubric of the jury was aligned with exactly these labels, which therefore agree with it too often."""
    changes = [change for rubric in rubrics_in(jury) for change in rubric.history]
    if not changes:
        return
    from jury_adapters.align.labelled import digest_of
    from jury_adapters.align.labelled import labelled_cases as cases_to_align

    with suppress(ConfigurationError):  # labels that cannot be aligned with were not
        cases = [case.model_copy(update={"metadata": {GOLD: label}}) for case, label in labelled]
        digest = digest_of(cases_to_align(cases, pass_labels=pass_labels))
        if any(change.labels == digest for change in changes):
            messages.info(
                "a rubric of this jury was aligned with these labels, so it agrees with them more often than with "
                "others, and the guarantee may not hold; calibrate with labels of other cases",
                "yellow",
            )


def _warn_of_copies(labelled: Sequence[tuple[Case, str | bool]], group: str, messages: Messages) -> None:
    """Warn of cases that repeat the content of another one under another id, and count as independent."""
    if group:
        return
    ids: dict[str, set[str | None]] = {}
    for case, _ in labelled:
        ids.setdefault(case.content_hash, set()).add(case.item_id)
    ids.pop(EMPTY_KEY, None)
    copies = sum(len(names) - 1 for names in ids.values())
    if copies:
        repeat = "repeats" if copies == 1 else "repeat"
        messages.info(
            f"{counted(copies, 'labelled case')} {repeat} the question, the answer and all else of another one under "
            "another id, and the guarantee takes them as independent; if they are copies, name what belongs together "
            "(--group question), or give copies one id",
            "yellow",
        )


def _replaced_policies(jury: Jury, guarantee: Guarantee) -> str:
    """Return the policies that the thresholds replace, with their tiers; empty without any."""
    tiers = jury.tiers if isinstance(jury, CascadedJury) else ()
    replaced = [tier for tier in tiers if tier.name in guarantee.thresholds and tier.policy.kind is not Policy.FINAL]
    return ", ".join(f"{visible(tier.name)}: {tier.policy}" for tier in replaced)


def _describe_labels(labels: Mapping[str, int], pass_labels: Collection[str]) -> str:
    """Return each human label with its number of cases, and whether it is read as PASS or as FAIL."""
    seen = Counter(labels)
    described = [
        f"{visible(label)} {times:,}{_read_as(label, pass_labels)}" for label, times in seen.most_common(_MOST_LABELS)
    ]
    return ", ".join([*described, *([f"{len(seen) - len(described)} more"] if len(seen) > len(described) else [])])


def _print(console: Console, guarantee: Guarantee, cases: Path, group: str, *, labels: str, policies: str) -> None:
    taken = f"one for each {visible(group)}" if group else "taken as independent of each other; if not, give --group"
    through = " that screening lets through" if guarantee.screening_tiers else ""
    sure = percent(1 - guarantee.delta)
    seen = f"{guarantee.errors:,} of {counted(guarantee.decided, 'decided case')} disagree with their human labels"
    console.print(
        Text(
            f"Calibrated on {counted(guarantee.n, 'labelled case')} of {visible(cases.name)}{through}, {taken}", "bold"
        )
    )
    if guarantee.merged:
        console.print(Text(f"  {merged_sentence(guarantee.merged, 'labelled case')}"))
    if guarantee.broken:
        console.print(Text(f"  {broken_sentence(guarantee.broken)}", "yellow"))
    if guarantee.contradicting:
        console.print(Text(f"  {guarantee.left_out}", "yellow"))
    for name, said in (
        ("labels", labels),
        *([("before it", _of_screening_tiers(guarantee))] if guarantee.screening_tiers else []),
        ("guarantee", f"at least {percent(guarantee.agreement)} of the decided cases agree with human labels"),
        ("confidence", f"{sure}: of many such calibrations, at least this share keep their guarantee"),
        ("seen", f"{seen} ({percent(guarantee.errors / guarantee.decided)})"),
        (
            "bound",
            f"at most {percent(guarantee.bound)} disagree, with a confidence of {percent(1 - guarantee.bound_delta)}",
        ),
        ("coverage", f"{percent(guarantee.coverage)} of {guarantee.cases} are decided; on the rest the jury abstains"),
        ("expected cost", _cost(guarantee.cost_expected)),
    ):
        console.print(Text(f"  {name:<14} {said}"))
    if guarantee.constant_sentence:
        console.print(Text(f"  {guarantee.constant_sentence}", "yellow"), soft_wrap=True)
    console.print()
    console.print(_tiers(guarantee))
    if full_votes := full_votes_sentence(guarantee.full_votes):
        console.print(Text(f"\n{full_votes}"))
    if idle := idle_sentence(guarantee.thresholds, guarantee.tier_shares):
        console.print(Text(f"\n{idle}", "yellow"))
    if policies:
        console.print(
            f"\nThese confidences replace the policies of the tiers ({policies}): a split vote too is decided where "
            "its confidence is high enough."
        )
    console.print(Text(f"\n{guarantee.grants.sentence(guarantee.agreement)}"))
    contradicted = "cases on which reviewers contradict each other, " if guarantee.contradicting else ""
    console.print(
        "\nIt holds for cases like the labelled ones, judged by this jury. It does not cover cases from elsewhere, the "
        f"cases {'that a screening tier decides or ' if guarantee.screening_tiers else ''}on which the jury abstains "
        f"or a juror breaks, {contradicted}any group of cases taken alone, or any change of jurors, models or rubrics."
    )


def _tiers(guarantee: Guarantee) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    for heading, side in (("tier", "left"), ("decides from confidence", "left"), ("decides", "right")):
        table.add_column(heading, justify="right" if side == "right" else "left")
    for name, threshold in guarantee.thresholds.items():
        decides_from = "never, and is not asked" if threshold is None else f"{threshold:.3f}"
        table.add_row(Text(visible(name)), decides_from, percent(guarantee.tier_shares[name]))
    table.add_row("(abstained)", "abstains on what is left", percent(1 - guarantee.coverage))
    return table


def _of_screening_tiers(guarantee: Guarantee) -> str:
    from jury_adapters.calibration.screening_tiers import name_screening_tiers

    return (
        f"{name_screening_tiers(guarantee.screening_tiers)} decided {guarantee.screened:,} of the "
        f"{counted(guarantee.screened + guarantee.n, 'labelled case')}, {guarantee.screened_errors:,} of them unlike "
        "their human labels; the guarantee does not cover these"
    )


def _cost(dollars: float | None) -> str:
    if dollars is None:
        return "unknown: a juror's price is not known"
    return f"${dollars:.6f} a case" if dollars else "$0: no juror costs anything"


def _read_as(label: str, pass_labels: Collection[str]) -> str:
    if not pass_labels or label in ("PASS", "FAIL"):
        return ""
    return " (PASS)" if label in pass_labels else " (FAIL)"
