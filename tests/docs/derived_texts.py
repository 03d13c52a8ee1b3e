"""Texts of the repository that are written from the package: the types of voting options, and tables of the pages.

Each is a whole file, or stands in a page between the lines ``<!-- derived: NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, permutations
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from jury_adapters import CascadedJury, Case, Ensemble, Judge, Rubric, Scale, Scorecard, Status, Tier, judge
from jury_adapters.core.docstrings import plain_text
from jury_adapters.core.gates import GateOptions, check_gates
from jury_adapters.core.tier_policies import POLICIES
from jury_adapters.core.voting import STRATEGIES, VotingStrategy, options_of
from jury_adapters.core.voting.registry import RULES
from jury_adapters.critic.rubric import bundled_rubrics
from jury_adapters.vendors import VENDORS
from jury_adapters.voting import all_of

COMMAND = "JURY_DOCS_WRITE=1 pytest tests/docs/test_derived_texts.py"


def derived_files(root: Path) -> dict[Path, str]:
    """Return every file that has a derived text, with the content that it should have."""
    files = {root / "jury_adapters/core/voting/names.py": voting_names()}
    for page, texts in PAGES.items():
        content = (root / page).read_text(encoding="utf-8")
        for name, text in texts.items():
            content = _with_text(content, name, text())
        files[root / page] = content
    return files


def voting_names() -> str:
    """Return the module with the names and options of the voting rules, for type checkers and editors."""
    lines, line = [], "   "
    for name in STRATEGIES:
        if len(line) + len(name) > 115:
            lines.append(line)
            line = "   "
        line += f' "{name}",'
    options: dict[str, list[str]] = {}
    for kind in _rules():
        hints = get_type_hints(kind)
        for name in options_of(kind):
            text = _type_text(hints[name])
            if text not in options.setdefault(name, []):
                options[name].append(text)
    typed = "\n".join(f"    {name}: {' | '.join(texts)}" for name, texts in options.items())
    return NAMES.format(command=COMMAND, names="\n".join([*lines, line]), options=typed)


def voting_rules_table() -> str:
    """Return the table of the voting rules."""
    rows = ["| rule | passes when | good for |", "| --- | --- | --- |"]
    for kind in _rules():
        names = f"`{kind.name}`" + "".join(f" (`{name}`)" for name in kind.also_called)
        rows.append(f"| {names} | {kind.passes_when} | {kind.good_for} |")
    own = "your own rule; it gets the judgments, and the weights if it takes two arguments"
    return "\n".join([*rows, f"| any function | as it says | {own} |"])


def voting_rules_reference() -> str:
    """Return the entries of the voting rules in the reference."""
    return "\n\n".join(f"::: {RULES}.{kind.name}.{kind.__name__}" for kind in _rules())


def gates_table() -> str:
    """Return the table of the conditions of `verdict.require`, from the docstring that explains each of them."""
    text = (check_gates.__doc__ or "").split("**conditions:")[1].split("Raises:")[0]
    meanings = dict(re.findall(r"``(\w+)``: (.*?)\.\s*(?=\n\s+``\w+``: |$)", text.strip() + "\n", re.DOTALL))
    if list(meanings) != list(GateOptions.__annotations__):
        raise ValueError(f"the docstring of check_gates explains {list(meanings)}")
    rows = [f"| `{name}` | {plain_text(' '.join(about.split()))} |" for name, about in meanings.items()]
    return "\n".join(["| condition | what it tests |", "| --- | --- |", *rows])


def policies_table() -> str:
    """Return the table of the policies of tiers."""
    rows = ["| policy | stops when | the verdict is | else |", "| --- | --- | --- | --- |"]
    for policy, rule in POLICIES.items():
        name = f"`{policy}(0.8)`" if rule.takes_threshold else f'`"{policy}"`'
        rows.append(f"| {name} | {rule.stops_when} | {rule.verdict_is} | {rule.otherwise} |".replace("|  |", "| |"))
    return "\n".join(rows)


def mixes_table() -> str:
    """Return the table of what four juries make of each mix of outcomes."""
    rows = [f"| the judges say | {' | '.join(MIXED)} |", "| --- |" + " --- |" * len(MIXED)]
    for count in range(1, len(Status) + 1):
        for mix in combinations(Status, count):
            outcomes = (mixed_outcomes(name, mix) for name in MIXED)
            rows.append(f"| {', '.join(mix)} | {' | '.join(' or '.join(said) for said in outcomes)} |")
    return "\n".join(rows)


def mixed_outcomes(name: str, mix: Sequence[Status]) -> list[str]:
    """Return the outcomes of a jury of such judges, in any order; a jury that keeps the order may have several."""
    return list(dict.fromkeys(MIXED[name]([_saying(status) for status in order]) for order in permutations(mix)))


def _saying(status: Status) -> Judge:
    return judge(name=status.value)(lambda case: status)


def _in_a_reject_tier(judges: Iterable[Judge]) -> str:
    tiers = [Tier("screen", Ensemble(judges), "reject_on_any_fail"), Tier("last", lambda case: True)]
    verdict = CascadedJury(tiers).judge(_ANY)
    return "goes on" if verdict.stopped_at == "last" else str(verdict.status)


_ANY = Case(answer="any")
MIXED: Mapping[str, Callable[[Sequence[Judge]], str]] = {
    "`all_of`": lambda judges: str(all_of(*judges).judge(_ANY).status),
    "`unanimous`": lambda judges: str(Ensemble(judges, voting="unanimous").judge(_ANY).status),
    "reject tier": _in_a_reject_tier,
    "`Scorecard`": lambda judges: str(Scorecard({f"c{n}": one for n, one in enumerate(judges)}).judge(_ANY).status),
}


def vendors_table() -> str:
    """Return the table of the vendors."""
    rows = ["| write | key from | server |", "| --- | --- | --- |"]
    for name, vendor in VENDORS.items():
        server = f"`{vendor.base_url}`".replace("`{}", f"`${vendor.url_variable}")
        if vendor.url_variable is not None and "{}" not in vendor.base_url:
            server += f", or `${vendor.url_variable}`"
        key = "no key needed" if vendor.key_variable is None else f"`{vendor.key_variable}`"
        rows.append(f"| `{name}:MODEL` | {key} | {server} |")
    return "\n".join(rows)


def rubrics_tables() -> str:
    """Return the tables of the rubrics that come with the package, by topic."""
    listed = [name for names in TOPICS.values() for name in names]
    if sorted(listed) != sorted(bundled_rubrics()):
        raise ValueError(f"not in exactly one topic: {set(bundled_rubrics()) ^ set(listed)}")
    return "\n\n".join(f"## {topic}\n\n{_rubrics_table(names)}" for topic, names in TOPICS.items())


def _rubrics_table(names: Sequence[str]) -> str:
    rows = ["| rubric | what it judges | needs | answers | also called | defined in |"]
    rows.append("| --- | --- | --- | --- | --- | --- |")
    for rubric in map(Rubric.bundled, names):
        needs = ", ".join(f"metadata.{name}" if name in rubric.variables else name for name in rubric.requires)
        source = re.sub(r"arXiv:([\d.]+\d)", r"[arXiv:\1](https://arxiv.org/abs/\1)", rubric.source)
        also = ", ".join(rubric.also_called)
        rows.append(
            f"| `{rubric.name}` | {rubric.description} | {needs} | {_answers(rubric)} | {also} | {_linked(source)} |"
        )
    return "\n".join(rows)


def _answers(rubric: Rubric) -> str:
    if isinstance(rubric.answers, Scale):
        scale = rubric.answers
        return f"{scale.minimum:g} to {scale.maximum:g}, passes from {scale.pass_mark:g}"
    return ", ".join(
        f"{label.name} ({label.meaning})" if label.meaning else label.name for label in rubric.answers.labels
    )


def _linked(text: str) -> str:
    return re.sub(r"(?<!\()(https://[^\s,;]+)", r"<\1>", text)


TOPICS: Mapping[str, Sequence[str]] = {
    "Answers": [
        "answer_relevance", "correctness", "graded_correctness", "correctness_without_reference", "completeness",
        "instruction_following", "helpfulness", "conciseness", "coherence", "fluency", "tone", "pairwise", "criteria",
    ],
    "Answers from retrieved contexts": [
        "faithfulness", "faithfulness_claims", "hallucination", "citation_support", "noise_sensitivity",
    ],
    "Retrieval": ["context_relevance", "context_recall", "passage_relevance"],
    "Safety": [
        "safety", "toxicity", "bias", "personal_data", "prompt_injection", "refusal_appropriateness",
    ],
    "Summaries, translations, queries and code": [
        "summary_coverage", "summary_claims", "translation_adequacy", "sql_equivalence", "code_equivalence",
    ],
    "Agents": [
        "task_completion", "trajectory", "tool_selection", "tool_arguments", "tool_results", "plan_adherence",
        "step_efficiency",
    ],
    "Conversations": ["knowledge_retention", "role_adherence", "resolution"],
}  # fmt: skip

PAGES: Mapping[str, Mapping[str, Any]] = {
    "docs/concepts/cases_and_verdicts.md": {"gates": gates_table},
    "docs/concepts/votes.md": {"voting rules": voting_rules_table},
    "docs/concepts/cascades.md": {"policies": policies_table},
    "docs/concepts/which_jury.md": {"mixes": mixes_table},
    "docs/how_to/real_models.md": {"vendors": vendors_table},
    "docs/reference/rubrics.md": {"rubrics": rubrics_tables},
    "docs/reference/voting.md": {"voting rules": voting_rules_reference},
}

NAMES = '''"""Names and options of the voting rules, for type checkers and editors.

Written from the rules by ``{command}``. A rule works without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal, TypeAlias, TypedDict

VotingName: TypeAlias = Literal[
{names}
]  # fmt: skip


class VotingOptions(TypedDict, total=False):
    """Options of all voting rules; each rule takes its own and refuses the others."""

{options}
'''


def _rules() -> list[type[VotingStrategy]]:
    return list(dict.fromkeys(STRATEGIES.values()))


def _type_text(hint: Any) -> str:
    """Return a type as it is written in Python."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " | ".join(map(_type_text, arguments))
    if origin is Literal:
        return "Literal[" + ", ".join(f'"{value}"' for value in arguments) + "]"
    if origin is not None:
        return f"{origin.__name__}[{', '.join(map(_type_text, arguments))}]"
    return "None" if hint is type(None) else "..." if hint is ... else hint.__name__


def _with_text(page: str, name: str, text: str) -> str:
    """Return the page with this text in the place of that name."""
    found = re.compile(rf"(<!-- derived: {name} -->\n\n).*?(\n\n<!-- end -->)", re.DOTALL)
    if len(found.findall(page)) != 1:
        raise ValueError(f"the page has no place, or more than one, for the derived text {name!r}")
    return found.sub(lambda match: f"{match[1]}{text}{match[2]}", page)
