"""The table of renames: no old name is left in the package, the documentation or the recipes."""

import re
from functools import cache
from pathlib import Path

import pytest

import jury_adapters

ROOT = Path(__file__).parents[2]
# A method with its parenthesis, a class, an option, an option's value, a logger; a command, an option of one;
# a key of a jury file with its value.
NAME = re.compile(
    r"\b[a-z]+: (?:[a-z_]+\b|\{faithful: 2\})|\{\w+: \w+, check: \w+|\{jury: |"
    r'\.\w+\(|\bjury_adapters[\w.]+|\b[A-Z]\w*\b|\b\w+(?==)|"\w+"|\bjury [a-z-]+|--[a-z-]+'
)

# Names that have another meaning elsewhere. Where they were renamed, the code refuses them, and documents run the code.
STILL_USED = {"rubric", "prompt_template", "repeat", "timeout", "http_client", "rubrics", ".from_criteria(", ".custom("}
STILL_USED |= {'"truth"', '"faithfulness"', ".from_yaml_prompt(", "pass_labels", "abstain_labels"}
STILL_USED |= {"usd", "tokens", "calls", "on_error", "fallback", "guards", '"guards"', '"guard"'}


PAGE = ROOT / "docs" / "moving" / "renames.md"
TABLE = PAGE.read_text(encoding="utf-8")


@cache
def renames():
    """Return the rows of the table: the names of the old code, and those of the new one."""
    rows = [line.strip("|").split(" | ") for line in TABLE.splitlines() if line.startswith("| ") and "`" in line]
    return [tuple(set(NAME.findall(" ".join(re.findall(r"`([^`]+)`", cell)))) for cell in row) for row in rows]


@cache
def texts():
    """Return the text of each file of the package, the documentation and the recipes."""
    patterns = ("jury_adapters/**/*.py", "README.md", "docs/**/*.md", "cookbook/*.md", "cookbook/*.ipynb")
    paths = [path for pattern in patterns for path in ROOT.glob(pattern) if path != PAGE]
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").replace('\\"', '"') for path in paths}


def test_the_table_names_what_was_renamed():
    gone = set().union(*(old - new for old, new in renames()))
    assert {"Docket", ".offer(", '"frugal"', ".plan(", "cool_off_s", "jury_adapters.core.journal"} <= gone


@pytest.mark.parametrize(("old", "new"), renames(), ids=lambda names: "-".join(sorted(names))[:60])
def test_no_old_name_is_left(old, new):
    gone = {
        name: re.compile(
            re.escape(name)
            if name[0] == "."
            else rf"{re.escape(name)}(?![\w-])"
            if name[0] == "-"
            else rf"(?<![\w.]){re.escape(name)}(?!\w| \w)"
        )
        for name in old - new - STILL_USED
    }
    assert gone or old & STILL_USED
    assert [
        (path, name)
        for path, text in texts().items()
        for name, pattern in gone.items()
        if name in text and pattern.search(text)
    ] == []


@pytest.mark.parametrize("part", ["calibration", "cli", "config", "core", "report"])
def test_a_guard_is_what_blocks_at_run_time_and_not_a_tier(part):
    word = re.compile(r"(?<![A-Za-z])guard(?:s|ed)?(?![a-z])", re.IGNORECASE)
    assert [path for path, text in texts().items() if f"/{part}/" in path and word.search(text)] == []


# The names at the top level before the first rename.
FIRST_NAMES = [
    "Alpha", "BatchModel", "Budget", "BuildPasses", "CascadedJury", "Case", "Check", "Command",
    "ConfigurationError", "Contains", "ContextRelevance", "CostLimit", "CoverageImproved", "CoverageKept", "Critic",
    "DecisionCritic", "DirectorySuperset", "Docket", "Ensemble", "Equals", "FileContent", "FileExists",
    "FilesMatch", "FinalAnswer", "ForbiddenTools", "GateFailed", "InputError", "Judge", "JudgedRun", "Judgment",
    "Jury", "JuryError", "Labels", "LengthBetween", "Limits", "Matches", "Message", "ModelError", "NamesAndNumbers",
    "NoToolErrors", "NotEmpty", "PairwiseCritic", "PlainJudge", "Plan", "PlanRow", "Policy", "RecordedCritic",
    "RefusalCheck", "Rubric", "Run", "Scale", "Scorecard", "SentenceAlignment", "SentenceSupport", "Status", "Step",
    "StepLimit", "Store", "Tally", "TestsPass", "Tier", "TierPolicy", "TierResult", "ToolCall", "ToolCalls",
    "Transcript", "Undecided", "Usage", "ValidJSON", "Verdict", "abstain", "all_of", "always_fail", "always_pass",
    "any_of", "combine", "compares", "escalate_below", "family_of", "grounding_screen", "judge", "judging",
    "krippendorff_alpha", "log_verdicts", "needs_review", "normalise_score", "otel_events", "pairwise_agreement",
    "progress_bar", "rag_jury", "recorded_jury", "set_price", "trace_juries",
]  # fmt: skip


@pytest.mark.parametrize("name", [name for name in FIRST_NAMES if name not in jury_adapters.__all__])
def test_every_name_that_left_the_top_level_is_in_the_table(name):
    assert any({name, f"jury_adapters.{name}", f".{name}("} & old for old, _ in renames()) or f"`{name}(" in TABLE
