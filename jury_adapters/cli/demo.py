"""``jury demo``: recorded votes of four language models on 100 pairs of answers, beside labels of people."""

from collections import Counter
from collections.abc import Iterable
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from jury_adapters.cli.console import AsJson, show, show_json
from jury_adapters.core.case import Case
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.values import ConfigurationError
from jury_adapters.inputs.files import read_rows
from jury_adapters.inputs.rows import case_of_row

_DATA = files("jury_adapters.cli") / "data"
_LARGE = "GPT-4"
_SHOWN = ("LLMBar/Natural/33", "LLMBar/Natural/52")  # short ones: the small models agree, and they do not
_INTRO = """\
100 pairs of answers: which one follows the instruction better?
Recorded votes of four models of 2023 beside labels of people (LLMBar, MIT licence)."""
_SAVED = """\
PaLM2, LLaMA2 and Falcon decide where they agree; GPT-4 decides the other pairs. It was asked about
{asked} of {pairs} pairs, so {saved:.0%} of its calls were saved."""
_LIMIT = """\
This is one jury on one data set. How good yours is, your own labelled answers tell."""


def demo(
    *,
    folder: Annotated[
        Path | None, typer.Option(help="Write the pairs and the jury to this new folder, to use them.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """See a jury at work: real votes, people's labels, no key and no network."""
    from jury_adapters.config import load_jury
    from jury_adapters.report.render import Table, print_tables

    if folder is not None:
        _copy_to(folder)
    with as_file(_DATA / "pairs.jsonl.gz") as pairs, as_file(_DATA / "jury.yaml") as file:
        jury = load_jury(file)
        judged = [*jury.judge_pairs(case_of_row(row.values) for row in read_rows(pairs))]
    found = [(case, judgment) for case, judgment in judged if case is not None]
    votes = {name: [case.metadata["votes"].get(name) for case, _ in found] for name in found[0][0].metadata["votes"]}
    votes["the cascade"] = [judgment.ballot for _, judgment in found]
    people = [case.metadata["human_label"] for case, _ in found]
    scores = {name: _score(said, people) for name, said in votes.items()}
    asked = sum(_LARGE in judgment.tiers for _, judgment in found)
    if as_json:
        return show_json({"pairs": len(found), "scores": scores, "asked_gpt4": asked})
    show(_INTRO)
    columns = ("", "#right", "#wrong", "#undecided")
    rows = tuple((name, *(f"{number:,}" for number in one.values())) for name, one in scores.items())
    print_tables([Table("", columns, rows)])
    show(_SAVED.format(asked=asked, pairs=len(found), saved=1 - asked / len(found)), "bold")
    for case, judgment in found:
        if case.id in _SHOWN:
            _show_pair(case, judgment)
    show(f"\n{_LIMIT}")
    here = folder or Path("demo")
    again = f"jury judge {here}/pairs.jsonl.gz --jury {here}/jury.yaml --report report.html"
    show(f"Next: {again if folder else f'jury demo --folder {here}'}", "bold")
    return None


def _score(said: Iterable[str | None], people: Iterable[str]) -> dict[str, int]:
    kinds = Counter(
        "undecided" if vote not in ("A", "B") else "right" if vote == label else "wrong"
        for vote, label in zip(said, people, strict=True)
    )
    return {name: kinds[name] for name in ("right", "wrong", "undecided")}


def _show_pair(case: Case, judgment: Judgment) -> None:
    """Print a pair, the verdict, and why it was given there."""
    votes = ", ".join(f"{name} {vote}" for name, vote in case.metadata["votes"].items())
    show(f"\n{' '.join((case.question or '').split())}", "bold")
    for letter, answer in zip("AB", case.candidates, strict=True):
        show(f"  {letter}: {answer}")
    for name, tier in judgment.tiers.items():
        show(f"  {name}: {tier.ballot or 'no decision'} ({tier.why})")
    show(f"  votes: {votes}; people: {case.metadata['human_label']}")


def _copy_to(folder: Path) -> None:
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise ConfigurationError(f"--folder {folder} exists; name a new one") from None
    for name in ("pairs.jsonl.gz", "jury.yaml", "README.md"):
        (folder / name).write_bytes((_DATA / name).read_bytes())
