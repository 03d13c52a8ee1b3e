"""The checks of licences and vulnerabilities, on what they read."""

import sys
from importlib.metadata import Distribution
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import audit
import licences


@pytest.mark.parametrize(
    ("expression", "meant"),
    [
        ("MIT", True),
        ("Apache-2.0 AND MIT", True),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only AND MIT", False),
        ("MPL-2.0 AND (Apache-2.0 OR GPL-2.0-only)", True),
        ("(MIT", False),
        ("MIT) GPL-3.0-only", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("AGPL-3.0-or-later", False),
        ("", False),
        ("AND", False),
    ],
)
def test_an_expression_is_allowed_when_allowed_licences_meet_it(expression, meant):
    assert licences.allowed(expression) is meant


class Said(Distribution):
    """A package that says this of itself."""

    def __init__(self, text: str) -> None:
        self._text = text

    def read_text(self, filename: str) -> str | None:
        return self._text if filename == "METADATA" else None

    def locate_file(self, path: str) -> Path:
        return Path(path)


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        ("Name: a\nLicense-Expression: MIT\nLicense: other\n", "MIT"),
        ("Name: a\nLicense: BSD\n", "BSD-3-Clause"),
        ("Name: a\nLicense: MIT License\n        \n        Copyright (c) somebody\n", "MIT"),
        ("Name: a\nClassifier: License :: OSI Approved :: Apache Software License\n", "Apache-2.0"),
        ("Name: a\n", ""),
    ],
)
def test_what_a_package_says_of_itself(text, licence):
    assert licences.licence_of(Said(text)) == licence


@pytest.mark.slow
def test_this_package_brings_permissive_licences_only():
    found = licences.installed("jury-adapters", ["all"])
    assert {"pydantic", "tenacity", "anyio", "pyyaml"} <= found.keys()
    assert [name for name, one in found.items() if not licences.allowed(licences.licence_of(one))] == []


def test_an_audit_that_looked_up_nothing_says_so(capsys):
    skipped = [{"name": "a", "skip_reason": "not found"}, {"name": "b", "skip_reason": "not found"}]
    assert audit.judge(skipped, require=False) == 0
    assert "AUDIT NOT MADE" in capsys.readouterr().out
    assert audit.judge(skipped, require=True) == 2


def test_a_known_vulnerability_fails(capsys):
    packages = [{"name": "a", "version": "1", "vulns": [{"id": "CVE-1"}]}, {"name": "b", "version": "2", "vulns": []}]
    assert audit.judge(packages, require=False) == 1
    assert "CVE-1" in capsys.readouterr().out
