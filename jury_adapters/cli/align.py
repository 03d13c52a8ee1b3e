"""``jury align``: a jury file with a rubric that agrees more with human labels, if a test shows that it does."""

from __future__ import annotations

from collections.abc import Iterable
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from jury_adapters.align import Aligner
from jury_adapters.align import align as align_jury
from jury_adapters.align.aligning import rubric_yaml
from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.jury_files import Permissions, read_jury, text_without_guarantee
from jury_adapters.cli.labelled_cases import labelled_cases
from jury_adapters.cli.options import (
    AllowBaseUrl,
    AllowCommands,
    AsJson,
    Concurrency,
    Force,
    Group,
    LabelColumn,
    Labels,
    Map,
    MaxCalls,
    MaxTokens,
    MaxUsd,
    PassLabels,
    Quiet,
    StorePlace,
    file_argument,
    file_option,
    number_option,
    share_option,
)
from jury_adapters.cli.places import check_place
from jury_adapters.cli.streams import Messages, write
from jury_adapters.core.budget import Budget
from jury_adapters.core.case import Case
from jury_adapters.core.case_files import CaseFile
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.field_map import FieldMap
from jury_adapters.core.human_labels import GOLD, UnclearLabels
from jury_adapters.core.whole_file import write_whole
from jury_adapters.critic.changed_rubrics import rubrics_in
from jury_adapters.critic.rubric import Rubric
from jury_adapters.yaml_files import compose

if TYPE_CHECKING:
    from jury_adapters.align import Alignment

_VOID = "# A guarantee of the jury before was left out: it does not hold with another rubric.\n"


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
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Look for a rubric with which a jury agrees more with human labels, and accept it only if a test shows it.

    It takes 40 labelled cases or more, and better 200. One part of the labels chooses a change: examples from the
    labelled cases, another pass mark or label order, and with --optimiser-model clearer criteria. The other part, which
    was not looked at, tests it once.

    If nothing was better, nothing is written. Otherwise --out gets the jury file with the new rubric, and the rubric
    with its history is written beside it.

    Exit code: 0 for an accepted change, 1 if there is none, 2 for bad input, 130 stopped by Ctrl-C.
    """
    messages = Messages(quiet=quiet)
    permissions: Permissions = {"allow_commands": allow_commands, "allow_base_url": allow_base_url}
    try:
        if out is not None:
            check_place(out, sources=(cases, jury, labels), force=force)
        judge = read_jury(jury, permissions, calibrated=False)
        labelled, _ = labelled_cases(
            CaseFile(cases, messages.info, field_map=FieldMap.parse(map_ or ())), label_column, messages,
            labels=labels, holds="the alignment holds",
        )  # fmt: skip
        limited = (max_usd, max_calls, max_tokens) != (None, None, None)
        how = Aligner(optimiser_model, rubric, level, test_share=test_share, max_examples=examples, seed=seed)
        try:
            found = align_jury(
                judge, _with_gold(labelled),
                aligner=how, pass_labels=pass_label or (), group=group, store=store, max_concurrency=concurrency,
                budget=Budget(max_usd=max_usd, max_calls=max_calls, max_tokens=max_tokens) if limited else None,
            )  # fmt: skip
        except UnclearLabels as error:
            raise InputError(f"{cases}: {error.what}; name those that mean PASS: --pass-label LABEL") from None
        if found.accepted and out is not None:
            _write(found, jury, out, permissions)
    except ConfigurationError as error:
        messages.error(str(error))
        raise typer.Exit(ExitCode.BAD_INPUT) from None
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    if as_json:
        write(dumps(found.to_dict(), indent=2) + "\n")
    elif not quiet:
        write(str(found))
    raise typer.Exit(ExitCode.OK if found.accepted else ExitCode.NOT_MET)


def _with_gold(labelled: Iterable[tuple[Case, str | bool]]) -> list[Case]:
    """Return the cases with their label in the metadata."""
    return [case.model_copy(update={"metadata": {**case.metadata, GOLD: label}}) for case, label in labelled]


def _write(found: Alignment, jury: Path, out: Path, permissions: Permissions) -> None:
    """Write the rubric and the jury file, and check that the file is the jury that was tested.

    Raises:
        InputError: a file cannot be written, or the jury file means something else from there.
    """
    parent = found.rubric.history[-1].parent
    place = out.with_name(f"{out.stem}.rubric.yaml")
    text, _ = text_without_guarantee(jury)
    changed = _with_rubric(text, jury, parent, place.name)
    if changed is None:
        raise InputError(
            f"{jury}: the rubric stands in no place of the file that can be changed; use `align` in Python"
        )
    try:
        write_whole(place, rubric_yaml(found.rubric))
        write_whole(out, _VOID + changed)
    except OSError as error:
        raise InputError(f"{out}: {error.strerror or error}") from error
    written = {rubric.fingerprint for rubric in rubrics_in(read_jury(out, permissions))}
    if found.rubric.fingerprint not in written:
        raise InputError(
            f"{out} was written, but its `labels:` or `scale:` replace those of the new rubric; delete them there"
        )


def _with_rubric(text: str, path: Path, parent: str, place: str) -> str | None:
    """Return the text of a jury file in which every mention of a rubric is that of a file; None without a mention."""
    root = compose(text, str(path), "a jury file is one mapping")
    mentions = sorted(_mentions(root, path.parent, parent), key=lambda node: -node[0].start_mark.index)
    for key, value in mentions:
        text = text[: key.start_mark.index] + f"rubric: {place}" + text[value.end_mark.index :]
    return text if mentions else None


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
