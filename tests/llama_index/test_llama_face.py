"""The names of ``jury_adapters.llama_index``, and what importing them loads."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import jury_adapters.llama_index as face

NAMES = {
    "JuryEvaluator", "JuryEvaluationResult", "JuryFaithfulnessEvaluator", "JuryRelevancyEvaluator",
    "JuryAnswerRelevancyEvaluator", "JuryContextRelevancyEvaluator", "JuryCorrectnessEvaluator",
    "JuryHallucinationEvaluator", "JuryGuidelineEvaluator", "JuryPairwiseEvaluator", "JurySpanHandler", "judge_runs",
    "JuryGuardQueryEngine", "JuryNodePostprocessor", "run_of",
}  # fmt: skip


def printed(program):
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return run.stdout.strip()


def test_names_are_found_described_and_declared_for_type_checkers():
    assert ({*face.__all__} == NAMES == {*dir(face)}, sorted(face.__all__)) == (True, face.__all__)
    assert [
        name
        for name in NAMES
        if (
            bool(getattr(face, name).__doc__),
            getattr(face, name).__module__.startswith("jury_adapters.llama_index."),
        )
        != (True, True)
    ] == []
    tree = ast.parse(Path(face.__file__).read_text(encoding="utf-8"))
    (block,) = (one for one in tree.body if isinstance(one, ast.If))
    declared = {alias.name: one.module for one in block.body if isinstance(one, ast.ImportFrom) for alias in one.names}
    assert declared == face._HOMES
    with pytest.raises(AttributeError, match="has no attribute 'JuryTool'"):
        _ = face.JuryTool


def test_importing_the_package_loads_no_framework_and_what_is_missing_is_named():
    assert printed(
        "import sys, jury_adapters.llama_index as face\n"
        "print([one for one in sys.modules if one.startswith('llama')])\n"
        "sys.modules['llama_index'] = None\n"
        "try: face.judge_runs\n"
        "except ImportError as error: print(error)"
    ) == "[]\njudge_runs needs llama-index-core: pip install 'jury-adapters[llama-index]'"  # fmt: skip
