"""Sample of changed answers to read, up to 200 for each operator, of those used by default.

    python tests/tools/sample_of_mutants.py > tests/data/mutants/read.jsonl

Every line has the operator, the case, the change, the sentences that are new, and a verdict to fill in: ``valid``,
``invalid`` (no sensible answer, or of unclear truth), or ``equivalent`` (still right where it should be wrong, or wrong
where it should be right). Verdicts of the file are kept for mutants that it already has.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

from jury_adapters.audit import OPERATORS, Operator, example_cases
from jury_adapters.audit.operators.material import Material, sentences_of

READ = Path(__file__).parents[1] / "data/mutants/read.jsonl"
MOST = 200


def sample(operator: Operator, most: int = MOST) -> list[dict[str, str]]:
    """Return the mutants of one operator, in random order if there are more than asked for."""
    found = list(_mutants(operator))
    Random(operator.name).shuffle(found)
    return sorted(found[:most], key=lambda one: (one["case"], one["change"]))


def main() -> None:
    """Print the sample with the verdicts that are known."""
    known = {}
    if READ.exists():
        for line in READ.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            known[row["operator"], row["case"], row["change"], row["new"]] = row["verdict"]
    for operator in OPERATORS:
        for row in sample(operator) if operator.default else ():
            verdict = known.get((row["operator"], row["case"], row["change"], row["new"]), "")
            print(json.dumps({**row, "verdict": verdict}, ensure_ascii=False))


def _mutants(operator: Operator) -> Iterator[dict[str, str]]:
    cases = example_cases()
    pool = [sentence.text for case in cases for sentence in sentences_of(case.answer or "")]
    for case in cases:
        name = str(case.metadata["id"])
        random = Random(f"{operator.name}|{name}")
        material = Material(case, random.sample(pool, 40))
        before = [sentence.text for sentence in material.sentences]
        for mutant in operator.mutants(material, random):
            new = [sentence.text for sentence in sentences_of(mutant.answer) if sentence.text not in before]
            shown = " ".join(new) if operator.name != "sentence_order" else mutant.answer
            yield {"operator": operator.name, "case": name, "change": mutant.change, "new": shown}


if __name__ == "__main__":
    main()
