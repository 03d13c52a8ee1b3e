"""``jury demo``, ``show``, ``doctor``, the help, and what only a process of its own can show."""

import json
import subprocess
import sys
from pathlib import Path

from command import BOAT, KEY, Command, boat, command, environment, write
from model_server import Server, error

from jury_adapters.checks import CHECKS
from jury_adapters.config import jury_schema
from jury_adapters.critic.rubric import bundled_rubrics

OPTIONS = """
jury out report store max-usd fail-under map label-column pass-label group dry-run limit json quiet overwrite
allow-commands allow-base-url strict
"""
FIGURES = {"right": 93, "wrong": 3, "undecided": 4}  # those of tests/main_job.py


def test_the_demo_is_one_screen_and_its_next_command_runs(run: Command) -> None:
    done = run("demo")
    assert (
        done.code,
        len(done.out.splitlines()) <= 32,
        max(map(len, done.out.splitlines())) <= 100,
        "43 of 100 pairs, so 57% of its calls were saved" in done.out,
    ) == (0, True, True, True)
    assert done.out.count("people:") == 2  # two answers, with the votes and why they were decided there
    shown = run("demo", "--json").json
    assert (shown["scores"]["the cascade"], shown["asked_gpt4"]) == (FIGURES, 43)
    *_, last = run(*done.out.splitlines()[-1].removeprefix("Next: jury ").split()).out.splitlines()
    judged = run(*last.removeprefix("Next: jury ").split())
    assert (judged.code, judged.err, "100 cases" in judged.out, (run.folder / "report.html").exists()) == (
        0,
        "",
        True,
        True,
    )
    again = run("demo", "--folder", "demo")
    assert (again.code, "demo exists; name a new one" in again.err) == (2, True)


def test_the_lists_have_everything_and_each_name_is_shown(run: Command) -> None:
    checks, rubrics = run("show").out, run("show", "rubrics").out
    assert [
        name
        for name in CHECKS
        if (
            f"{name} " in checks,
            run("show", name).out.startswith(f"check: {name}\n"),
            bool(run("show", name, "--json").json["check"]["properties"]),
        )
        != (True, True, True)
    ] == []
    assert [
        name
        for name in bundled_rubrics()
        if (
            f"{name} " in rubrics,
            "criteria:" in run("show", name).out,
            bool(run("show", name, "--json").json["rubric"]["criteria"]),
        )
        != (True, True, True)
    ] == []
    models = run("show", "models").out
    assert [
        word
        for word in ("OPENAI_API_KEY, https://api.openai.com/v1", "$0.15 in, $0.6 out per million tokens")
        if word not in models
    ] == []
    assert (run("show", "schema").json, run("show", "checks", "--json").json.keys()) == (
        json.loads(json.dumps(jury_schema())),
        set(CHECKS),
    )
    unknown = run("show", "faithfulnes\x1b[2J")
    assert (unknown.code, "\x1b" in unknown.err, "faithfulness" in unknown.err) == (2, False, True)


def test_a_shown_rubric_is_a_file_that_can_be_changed(run: Command) -> None:
    (run.folder / "own.yaml").write_text(run("show", "tone").out)
    assert (
        run(
            "judge",
            "cases.jsonl",
            "--jury",
            "jury.yaml",
            "--dry-run",
            files={"cases.jsonl": boat(None), "jury.yaml": "rubric: own.yaml\nmodel: 'ollama:m'\n"},
        ).code
        == 0
    )


def test_doctor_says_which_keys_are_set_and_which_models_answer(run: Command, vendor: Server) -> None:
    done = run("doctor", "--ask", "openai:gpt-4o-mini")
    assert (
        done.code,
        len(vendor.requests),
        "OPENAI_API_KEY       set" in done.out,
        "openai:gpt-4o-mini answers in" in done.out,
        KEY not in done.out,
    ) == (0, 1, True, True, True)
    quietly = run("doctor", "--json").json
    assert (quietly["keys_set"]["OPENAI_API_KEY"], quietly["models"], len(vendor.requests)) == (True, {}, 1)
    vendor.plan = error("401 Unauthorized", f"wrong key {KEY}")
    refused = run("doctor", "--ask", "openai:gpt-4o-mini", "--ask", "nobody:x")
    assert (
        refused.code,
        "openai:gpt-4o-mini: ModelError" in refused.err,
        "nobody:x: ConfigurationError: 'nobody:x' is not 'vendor:model'" in refused.err,
        KEY not in refused.out + refused.err,
    ) == (1, True, True, True)


def test_every_command_has_a_help_with_its_options(run: Command) -> None:
    top = run("--help").out
    assert [
        name
        for name in ("judge", "report", "compare", "review", "calibrate", "audit", "show", "doctor", "demo")
        if (f"  {name} " in top, run(name, "-h").out.startswith(f"Usage: jury {name}")) != (True, True)
    ] == []
    options = run("judge", "--help").out
    assert (
        [name for name in OPTIONS.split() if f"--{name} " not in options],
        run("--version").out.startswith("jury-adapters "),
        run().code,
        run("jugde").code,
    ) == ([], True, 2, 2)


PROGRAM = """
import sys
from jury_adapters.cli import main
arguments, sys.argv[1:] = sys.argv[1:], ["--help"]
try:
    main()
except SystemExit:
    print([name for name in ("numpy", "openai", "jinja2") if name in sys.modules])
sys.argv[1:] = arguments
main()
"""


def test_the_help_loads_no_statistics_and_a_process_ends_with_the_exit_code(run: Command) -> None:
    write(run.folder, {"cases.jsonl": boat("huh"), "jury.yaml": BOAT})
    done = run_python(
        run.folder, PROGRAM, *["judge", "cases.jsonl", "--jury", "jury.yaml", "--json", "--fail-under", "1"]
    )
    shown, _, found = done.stdout.rpartition("[]\n")
    assert (
        done.returncode,
        json.loads(found)["cases"],
        "--version" in shown,
        "1 of 1 cases could not be judged" in done.stderr,
        "\x1b" in found + done.stderr,
    ) == (1, 1, True, True, False)


def test_a_reader_that_goes_away_gets_no_traceback(run: Command) -> None:
    with subprocess.Popen(
        command("show", "schema"), cwd=run.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()  # before anything is printed
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_a_missing_part_is_named(run: Command) -> None:
    missing = "import sys\nsys.modules['typer'] = None\nfrom jury_adapters.cli import main\nmain()"
    assert "pip install 'jury-adapters[cli]'" in run_python(run.folder, missing).stderr


def run_python(folder: Path, program: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    options = {"cwd": folder, "env": environment(), "capture_output": True, "text": True}
    return subprocess.run([sys.executable, "-c", program, *arguments], check=False, **options)  # type: ignore[call-overload,no-any-return]
