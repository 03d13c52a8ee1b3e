"""The worked examples of the design page, followed in a copy of the repository: each changes what it shows alone.

The blocks of a section are written, or applied as changes, in their order, and its commands are run. Then the copy has
what the section says, in every place that is derived.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from doc_pages import ROOT, blocks_of
from doc_runner import applied
from support.vendor import Act, VendorServer

PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")


@pytest.fixture
def checkout(tmp_path):
    root = tmp_path / "checkout"
    shutil.copytree(ROOT / "docs", root / "docs", ignore=shutil.ignore_patterns("*.png", "*.svg"))
    for path in ("jury_adapters", "tests/docs", "tests/support"):
        shutil.copytree(ROOT / path, root / path)  # with compiled files, whose imports take a fraction of the time
    for path in ("tests/conftest.py", "tests/data/localhost.pem", "pyproject.toml"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, root / path)
    return root


def follow(heading, root):
    """Do what a section says; the files of the package that it changes."""
    before = contents(root)
    for block in blocks_of(PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]):
        if block.title:
            (root / block.title).parent.mkdir(parents=True, exist_ok=True)
            (root / block.title).write_text(block.code, encoding="utf-8")
        elif block.language == "diff":
            assert applied(block, root)
        else:
            shell(block.code, root)
    after = contents(root)
    return {path for path in before | after if before.get(path) != after.get(path)}


def contents(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in (root / "jury_adapters").rglob("*.py")}


def shell(command, root, **variables):
    # No workers of pytest, of its plugins only the one with that option, and this Python before all others.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(root), "PYTEST_ADDOPTS": "-n 0",
           "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin", **variables}  # fmt: skip
    done = subprocess.run(command, shell=True, cwd=root, env=env, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def told_by(code, root, **variables):
    """JSON output of a program in the copy, parsed."""
    (root / "program.py").write_text(code, encoding="utf-8")
    return json.loads(shell("python program.py", root, **variables))


def page(root, name):
    return (root / "docs" / name).read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_voting_rule_is_one_file(checkout):
    changed = follow("Add a voting rule", checkout)
    assert changed == {
        "jury_adapters/core/voting/rules/trimmed_mean.py",
        "jury_adapters/core/voting/names.py",  # written by the command
    }
    assert "trim: int" in (checkout / "jury_adapters/core/voting/names.py").read_text()
    assert "| `trimmed_mean` | the mean score without the extremes" in page(checkout, "concepts/votes.md")
    assert "rules.trimmed_mean.TrimmedMean" in page(checkout, "reference/voting.md")
    told = told_by(
        """
import json
from jury_adapters import ConfigurationError, Ensemble
from jury_adapters.config import jury_schema, load_jury

def refused(build):
    try:
        build()
    except ConfigurationError as error:
        return str(error)

file = "jurors: [{check: not_empty}]\\nvoting: trimmed_mean\\n"
judge = lambda case: 0.5
keys = jury_schema()["$defs"]["jurors"]["properties"]
print(json.dumps({
    "verdict": Ensemble([judge], voting="Trimmed-Mean", trim=2).judge("?").voting,
    "file": load_jury(file + "trim: 2\\n").strategy.trim,
    "bound": refused(lambda: load_jury(file + "trim: 0\\n")),
    "other": refused(lambda: load_jury(file + "tie: fail\\n")),
    "misspelt": refused(lambda: Ensemble([judge], voting="trimmed_men")),
    "names": keys["voting"]["enum"],
    "option": keys["trim"],
}))
""",
        checkout,
    )
    assert told["verdict"] == "trimmed_mean"
    assert told["file"] == 2
    assert "trim: must be 1 or more, not 0" in told["bound"]
    assert "unknown option of trimmed_mean 'tie'" in told["other"]
    assert "Did you mean 'trimmed_mean'?" in told["misspelt"]
    assert "trimmed_mean" in told["names"]
    assert (told["option"]["minimum"], told["option"]["default"]) == (1, 1)
    assert told["option"]["description"].startswith("trimmed_mean: the number of scores that are left out")


@pytest.mark.slow
def test_a_tier_policy_is_one_file(checkout):
    assert follow("Add a tier policy", checkout) == {"jury_adapters/core/tier_policies.py"}
    assert "| `reject_below(0.8)` | the tier's score is below the threshold | FAIL | go on |" in page(
        checkout, "concepts/cascades.md"
    )
    told = told_by(
        """
import json
from jury_adapters import ConfigurationError, Tier, Verdict
from jury_adapters.config import jury_schema, load_jury

def refused(build):
    try:
        build()
    except ConfigurationError as error:
        return str(error)

file = (
    "tiers:\\n- {name: a, policy: POLICY, judge: {check: length_between, maximum: 3}}\\n"
    "- {name: b, judge: {check: not_empty}}\\n"
)
verdict = load_jury(file.replace("POLICY", "{reject_below: 0.3}")).judge(answer="too long")
print(json.dumps({
    "verdict": [verdict.status, verdict.decision, verdict.tiers[0].policy],
    "by_rule": verdict.by_rule,
    "again": Verdict.from_json(verdict.to_json()) == verdict,
    "without": refused(lambda: Tier("a", lambda case: True, "reject_below")),
    "unknown": refused(lambda: load_jury(file.replace("POLICY", "[3]"))),
    "schema": jury_schema()["$defs"]["tier"]["properties"]["policy"]["oneOf"],
}))
""",
        checkout,
    )
    assert told["by_rule"]
    assert told["again"]
    assert "reject_below needs its threshold: policy=reject_below(0.8)" in told["without"]
    assert "{escalate_below: 0.8} or {reject_below: 0.8}" in told["unknown"]
    assert "reject_below" in {name for option in told["schema"] for name in option.get("properties", ())}
    assert told["verdict"] == ["FAIL", "rejected", "reject_below(0.3)"]


@pytest.mark.slow
def test_a_vendor_is_one_row(checkout):
    assert follow("Add a vendor", checkout) == {"jury_adapters/vendors.py"}
    table = page(checkout, "how_to/real_models.md")
    assert "| `acme:MODEL` | `ACME_ACCESS` | `https://api.acme.example/v1`, or `$ACME_BASE_URL` |" in table
    key = "the-key-of-acme-0123456789"
    with VendorServer(lambda ask: Act(text='{"reasoning": "so it is", "answer": "YES"}')) as server:
        told = told_by(
            f"""
import json, os
from typer.testing import CliRunner
from jury_adapters import ConfigurationError, Critic, Ensemble
from jury_adapters.models import family_of
from jury_adapters.cli.app import app
from jury_adapters.config import load_jury
from jury_adapters.core.secrets import without_keys
from jury_adapters.models.registry import resolve_model

def refused(build):
    try:
        build()
    except ConfigurationError as error:
        return str(error)

def run(*words):
    return CliRunner().invoke(app, words).stdout

file = "jurors: [{{rubric: safety, model: 'acme:rocket-1', base_url: 'http://localhost:9/v1'}}]\\n"
critic = Critic("acme:rocket-1", "faithfulness", name="c")
verdict = Ensemble([critic]).judge(question="?", answer="!", contexts=["!"], generator="acme:comet")
print(json.dumps({{
    "verdict": [verdict.status, verdict.same_family, verdict.usage.cost_complete, verdict.usage.cost_usd > 0],
    "address": (os.environ.pop("ACME_BASE_URL"), resolve_model("acme:rocket-1").inner.address)[1],
    "families": [family_of("acme:comet"), family_of("acme:llama-3")],
    "redacted": without_keys("it was {key}"),
    "shell": [run("doctor"), run("show", "models")],
    "file": refused(lambda: load_jury(file)),
    "no_key": (os.environ.pop("ACME_ACCESS"), refused(lambda: resolve_model("acme:rocket-1")))[1],
}}))
""",
            checkout,
            ACME_ACCESS=key,
            ACME_BASE_URL=server.openai,
            NO_COLOR="1",
        )
    assert server.asks[0].headers["authorization"] == f"Bearer {key}"
    assert told["verdict"] == ["PASS", True, True, True]
    assert told["address"] == "https://api.acme.example/v1"
    assert told["families"] == ["acme", "meta"]
    assert told["redacted"] == "it was [key]"
    assert all("ACME_ACCESS" in text and key not in text for text in told["shell"])
    assert "acme:rocket-1" in told["shell"][1]
    assert "this address would get the key in ACME_ACCESS" in told["file"]
    assert "set the environment variable ACME_ACCESS" in told["no_key"]
