"""``jury align``: a jury file with a rubric that agrees more with human labels, if a test shows that it does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from json import dumps
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from jury_adapters.align import Aligner, estimate_alignment
from jury_adapters.align import align as align_jury
from jury_adapters.align.aligning import rubric_to_change, rubric_yaml
from jury_adapters.align.alignment import Alignment
from jury_adapters.align.vote_thresholds import vote_threshold
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
    Group,
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
    number_option,
    share_option,
)
from jury_adapters.cli.places import check_place
from jury_adapters.cli.streams import Messages, write, write_json
from jury_adapters.core.case import Case
from jury_adapters.core.case_files import CaseFile
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.field_map import FieldMap
from jury_adapters.core.human_labels import GOLD, UnclearLabels
from jury_adapters.core.judge import Judge
from jury_adapters.core.whole_file import write_whole
from jury_adapters.critic.changed_rubrics import rubrics_in
from jury_adapters.critic.rubric import Rubric
from jury_adapters.yaml_files import compose

_VOID = "# A guarantee of the jury before was left out: it does not hold for a changed jury.\n"


def align(
    cases: Annotated[
        Path, file_argument("Cases with human labels: what `jury review` wrote, or JSONL, JSON or CSV (.gz too).")
    ],
    *,
    jury: Annotated[Path, file_option("The jury, as YAML.")],
    out: Annotated[Path | None, file_option("Write the changed jury to this file, and its rubric beside it.")] = None,
    force: Force = False,
    optimiser_model: Annotated[
        str | None, typer.Option(help="A model that writes clearer criteria, such as openai:gpt-4o.", metavar="MODEL")
    ] = None,
    rubric: Annotated[str, typer.Option(help="The rubric to change, if the jury has several.", metavar="NAME")] = "",
    level: Annotated[float, share_option("The level of the test by which a change is accepted.")] = 0.01,
    test_share: Annotated[float, share_option("The share of the labels that is kept for the test.")] = 0.4,
    examples: Annotated[int, number_option("Add at most N examples.", 1)] = 4,
    seed: Annotated[int, number_option("The seed of all divisions and choices.", 0)] = 0,
    map_: Map = None,
    labels: Labels = None,
    label_column: LabelColumn = GOLD,
    pass_label: PassLabels = None,
    group: Group = "",
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
    """Look for a rubric with which a jury agrees more with human labels, and accept it only if a test shows it.

    It takes 40 labelled cases or more, and better 200. One part of the labels chooses a change: examples from the
    labelled cases, another pass mark, vote threshold or label order, and with --optimiser-model clearer criteria. The
    other part, which was not looked at, tests it once.

    If nothing was better, nothing is written. Otherwise --out gets the jury file with the new rubric, and the rubric
    with its history is written beside it.

    Exit code: 0 for an accepted change, 1 if there is none, 2 for bad input, 130 stopped by Ctrl-C.
    """
    messages = Messages(quiet=quiet)
    permissions: Permissions = {"allow_commands": allow_commands, "allow_base_url": allow_base_url}
    try:
        judge = read_jury(jury, permissions, calibrated=False)
        check_prices(price, judge, optimiser_model)
        target = None if out is None else _Target(jury, out, judge, rubric_to_change(judge, rubric), permissions)
        if target is not None:
            target.check(sources=(cases, jury, labels, *_files_in(jury)), force=force)
        labelled, *_ = labelled_cases(
            CaseFile(cases, messages.info, field_map=FieldMap.parse(map_ or ())), label_column, messages,
            labels=labels, holds="the alignment holds",
        )  # fmt: skip
        budget = budget_of(max_usd, max_calls, max_tokens)
        how = Aligner(optimiser_model, rubric, level, test_share=test_share, max_examples=examples, seed=seed)
        try:
            if dry_run:
                check_scope(judge, store, budget)
                estimate = estimate_alignment(
                    judge, _with_gold(labelled), aligner=how, pass_labels=pass_label or (), group=group
                )
                write(estimate_text(estimate, as_json=as_json))
                return
            found = align_jury(
                judge, _with_gold(labelled),
                aligner=how, pass_labels=pass_label or (), group=group, store=store, max_concurrency=concurrency,
                budget=budget,
            )  # fmt: skip
        except UnclearLabels as error:
            raise InputError(f"{cases}: {error.what}; name those that mean PASS: --pass-label LABEL") from None
        if found.accepted and target is not None:
            target.write(found)
    except ConfigurationError as error:
        messages.error(str(error))
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    if as_json:
        write_json(found.to_dict())
    elif not quiet:
        write(str(found))
    raise typer.Exit(ExitCode.OK if found.accepted else ExitCode.NOT_MET)


def _with_gold(labelled: Iterable[tuple[Case, str | bool]]) -> list[Case]:
    """Return the cases with their label in the metadata."""
    return [case.model_copy(update={"metadata": {**case.metadata, GOLD: label}}) for case, label in labelled]


class _Target:
    """Jury file with a changed rubric, and the file of the rubric beside it.

    Args:
        jury: the jury file that is changed.
        out: the new jury file.
        judge: the jury of the file.
        rubric: the rubric that is replaced.
        permissions: the permissions of the jury file.
    """

    def __init__(self, jury: Path, out: Path, judge: Judge, rubric: Rubric, permissions: Permissions) -> None:
        self._jury, self._out, self._before, self._permissions = jury, out, rubric, permissions
        self._threshold = vote_threshold(judge)
        self._rubric = out.with_name(f"{out.stem}.rubric.yaml")

    def check(self, *, sources: Iterable[Path | None], force: bool) -> None:
        """Check that both files may be written and that they would be that jury.

        Raises:
            InputError: a file exists or is one of the sources, the jury file does not name the rubric where it can be
                replaced, or the new file would describe another jury.
        """
        known = list(sources)
        for path in (self._out, self._rubric):
            check_place(path, sources=known, force=force)
            if path.exists() and not force:
                raise InputError(f"{path} exists already; give another --out, or --force to replace it")
        self._try()

    def _try(self) -> None:
        """Write a trial of both files, and read it: relative paths, anchors and permissions may be in the way."""
        name = f".jury-align-{uuid4().hex[:12]}"
        trial = self._before.model_copy(update={"system_prompt": f"{self._before.system_prompt} "})
        files = (self._out.with_name(f"{name}.rubric.yaml"), self._out.with_name(f"{name}.yaml"))
        threshold = None if self._threshold is None else self._threshold / 2
        try:
            write_whole(files[0], rubric_yaml(trial))
            write_whole(files[1], self._text(files[0].name, threshold))
            jury = read_jury(files[1], self._permissions)
        except ConfigurationError as error:
            said = str(error).replace(str(files[1]), str(self._jury))
            raise InputError(f"a changed jury file would not work as {self._out}: {said}") from None
        except OSError as error:
            raise InputError(f"{self._out}: {error.strerror or error}") from error
        finally:
            for file in files:
                file.unlink(missing_ok=True)
        read = [one.fingerprint for one in rubrics_in(jury)]
        if vote_threshold(jury) != threshold:
            raise InputError(f"{self._jury}: the threshold of the vote cannot be replaced in it; use `align` in Python")
        if trial.fingerprint not in read or self._before.fingerprint in read:
            raise InputError(
                f"{self._jury}: the rubric cannot be replaced in this file, because the file does not name it, or "
                "because `labels:` or `scale:` replace those of the rubric; use `align` in Python"
            )

    def write(self, found: Alignment) -> None:
        """Write the rubric and the jury file of an accepted alignment.

        Raises:
            InputError: a file cannot be written.
        """
        try:
            write_whole(self._rubric, rubric_yaml(found.rubric))
            left_out = _VOID if _has_guarantee(self._jury) else ""
            write_whole(self._out, left_out + self._text(self._rubric.name, found.threshold))
        except OSError as error:
            raise InputError(f"{self._out}: {error.strerror or error}") from error

    def _text(self, place: str, threshold: float | None) -> str:
        text, margin = text_without_guarantee(self._jury)
        if threshold is not None:
            text = _with_threshold(text, self._jury, margin, threshold)
        changed = _with_rubric(text, self._jury, self._before.fingerprint, place)
        if changed is None:
            raise InputError(
                f"{self._jury}: the rubric cannot be replaced, because the file does not name it; use `align` in Python"
            )
        return changed


def _has_guarantee(path: Path) -> bool:
    root = compose(path.read_text(encoding="utf-8-sig"), str(path), "a jury file is one mapping")
    return isinstance(root, MappingNode) and any(key.value == "guarantee" for key, _ in root.value)


def _with_threshold(text: str, path: Path, margin: str, threshold: float) -> str:
    """Return the text of a jury file with another threshold of its vote."""
    root = compose(text, str(path), "a jury file is one mapping")
    given = [value for key, value in root.value if key.value == "threshold"] if isinstance(root, MappingNode) else []
    if not given:
        return f"{text.rstrip()}\n{margin}threshold: {threshold!r}\n"
    return text[: given[0].start_mark.index] + repr(threshold) + text[given[0].end_mark.index :]


def _with_rubric(text: str, path: Path, parent: str, place: str) -> str | None:
    """Return the text of a jury file in which every mention of a rubric is that of a file; None without a mention."""
    root = compose(text, str(path), "a jury file is one mapping")
    mentions = sorted(_mentions(root, path.parent, parent), key=lambda node: -node[0].start_mark.index)
    named = place if re.fullmatch(r"[^\W\d_][\w.-]*", place) else dumps(place)
    for key, value in mentions:
        end = value.end_mark.index
        if value.style in ("|", ">"):  # a block ends where the next key begins
            end = len(text[:end].rstrip())
        text = text[: key.start_mark.index] + f"rubric: {named}" + text[end:]
    return text if mentions else None


def _files_in(path: Path) -> list[Path]:
    """Return the YAML files that a jury file mentions."""
    text = path.read_text(encoding="utf-8-sig")
    return [path.parent / found for found in re.findall(r"[^\s\"',\[\]{}]+\.ya?ml", text)]


def _mentions(node: Node | None, folder: Path, parent: str) -> list[tuple[ScalarNode, ScalarNode]]:
    """Return the keys and values that name the rubric with this fingerprint, or its criterion."""
    found: list[tuple[ScalarNode, ScalarNode]] = []
    if isinstance(node, SequenceNode):
        for one in node.value:
            found += _mentions(one, folder, parent)
    if isinstance(node, MappingNode):
        for key, value in node.value:
            if isinstance(value, ScalarNode) and key.value in ("rubric", "criterion"):
                found.append((key, value))
            else:
                found += _mentions(value, folder, parent)
    return [pair for pair in found if _names(pair, folder, parent)]


def _names(pair: tuple[ScalarNode, ScalarNode], folder: Path, parent: str) -> bool:
    key, value = pair[0].value, pair[1].value
    if key == "criterion":
        rubric = Rubric.from_criteria(value)
    elif value.endswith((".yaml", ".yml")):
        rubric = Rubric.from_yaml(folder / value)
    else:
        rubric = Rubric.bundled(value)
    return rubric.fingerprint == parent
