"""Many runs of a suite, one test of which depends on luck."""

import pytest

from tests.reliability import repeat_nightly

SUITE = """
from pathlib import Path

RUN = Path(__file__).with_name("run")


def test_of_luck():
    count = int(RUN.read_text()) if RUN.exists() else 0
    RUN.write_text(str(count + 1))
    assert count != {unlucky}


def test_that_passes():
    assert True
"""


@pytest.fixture(autouse=True)
def without_plugins(monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take most of the time of a small run


def repeat(folder, capsys, unlucky, *options):
    (folder / "test_suite.py").write_text(SUITE.replace("{unlucky}", str(unlucky)), encoding="utf-8")
    arguments = [*options, "--runs", "2", "--", "-c", "/dev/null", "--rootdir", str(folder), str(folder)]
    code = repeat_nightly.main(arguments)
    return code, capsys.readouterr().out


@pytest.mark.slow
def test_a_test_that_fails_once_is_reported(tmp_path, capsys):
    code, output = repeat(tmp_path, capsys, 1)
    assert code == 1
    assert "  1 of 2  test_suite::test_of_luck" in output
    assert "run 2 of 2: 1 failed" in output
    assert "test_that_passes" not in output


@pytest.mark.slow
def test_without_a_failure_it_says_so(tmp_path, capsys):
    code, output = repeat(tmp_path, capsys, 7)
    assert (code, output.splitlines()[-1]) == (0, "no test failed in 2 runs")


def test_a_run_without_results_counts(tmp_path, capsys):
    code, output = repeat(tmp_path, capsys, 7, "--timeout", "0.01")
    assert code == 1
    assert "2 of 2  (the whole run: no end within 0.01 s)" in output
