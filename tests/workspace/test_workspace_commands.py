"""Checks that run programs: real programs, in real folders, that end, hang, flood, fork and look for keys."""

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from jury_adapters import ConfigurationError, Ensemble
from jury_adapters.checks import BuildPasses, Command, TestsPass

SECRET = "environment-secret-0123456789"


FAST = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # the plugins of this machine load slowly


def sh(script: str, **options: object) -> Command:
    return Command(["sh", "-c", script], **options)


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pid: int) -> bool:
    for _ in range(200):
        if not alive(pid):
            return True
        time.sleep(0.01)
    return False


ENDS = [
    ("exit 0", "PASS", 0), ("exit 3", "FAIL", 3), ("kill -9 $$", "FAIL", 137), ("kill -TERM $$", "FAIL", 143),
    ("exit 255", "FAIL", 255), ("test -t 0 || cat | grep . || exit 7", "FAIL", 7),
]  # fmt: skip


def test_the_exit_code_decides(tmp_path: Path) -> None:
    for script, status, code in ENDS:
        judgment = sh(script).judge(workspace=tmp_path)
        assert (judgment.status, judgment.metadata["exit_code"]) == (status, code), script
        assert judgment.findings[0].passed == (status == "PASS")


def test_output_is_kept_from_its_end_and_the_last_line_is_the_reason(tmp_path: Path) -> None:
    judgment = sh("echo first; echo last >&2; echo; exit 1").judge(workspace=tmp_path)
    assert (
        judgment.metadata["output"],
        judgment.reasoning.endswith("ended with 1: last"),
        judgment.findings[0].evidence,
    ) == ("first\nlast\n\n", True, "first\nlast\n\n")
    judgment = sh("yes | head -c 5000000; echo END; exit 1").judge(workspace=tmp_path)
    assert (
        len(judgment.metadata["output"]),
        judgment.metadata["output"].endswith("END\n"),
        "\x1b" not in str(sh("printf '\\033[2Jgone'; exit 1").judge(workspace=tmp_path)),
        sh("printf '\\377\\376'").judge(workspace=tmp_path).passed,
    ) == (20_000, True, True, True)


def test_a_program_that_writes_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jury_adapters.workspace.process._LARGEST_OUTPUT", 1_000_000)
    judgment = sh("yes", time_limit=60.0).judge(workspace=tmp_path)
    assert (judgment.status, judgment.error, len(judgment.metadata["output"])) == (
        "ERROR",
        "output: more than 1,000,000 bytes",
        20_000,
    )


def test_a_program_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    judgment = sh("sleep 50 & echo $! > pid; echo said; sleep 60", time_limit=1.0).judge(workspace=tmp_path)
    assert (
        judgment.status,
        judgment.error,
        judgment.metadata["output"],
        gone(int((tmp_path / "pid").read_text())),
        sh("trap '' TERM INT HUP; sleep 60", time_limit=0.2).judge(workspace=tmp_path).status,
    ) == ("ERROR", "timeout: no end within 1 s", "said\n", True, "ERROR")


@pytest.mark.timeout(40)
def test_what_a_program_leaves_behind_is_ended_and_makes_no_one_wait(tmp_path: Path) -> None:
    assert (
        sh("sleep 50 & echo $! > pid").judge(workspace=tmp_path).passed,
        gone(int((tmp_path / "pid").read_text())),
    ) == (True, True)
    assert sh("setsid sleep 50 & echo $! > pid; sleep 0.1").judge(workspace=tmp_path).passed  # it keeps the output open
    if alive(left := int((tmp_path / "pid").read_text())):
        os.kill(left, signal.SIGKILL)


def test_cancelling_a_judgment_ends_the_program(tmp_path: Path) -> None:
    async def cancelled() -> None:
        task = asyncio.create_task(sh("echo $$ > pid; sleep 50").ajudge(workspace=tmp_path))
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert gone(int((tmp_path / "pid").read_text()))
    (tmp_path / "pid").unlink()
    judgment = sh("echo $$ > pid; sleep 50").with_timeout(1.0).judge(workspace=tmp_path)
    assert (judgment.status, judgment.error, gone(int((tmp_path / "pid").read_text()))) == (
        "ERROR",
        "timeout",
        True,
    )


def test_no_key_of_the_environment_reaches_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "LC_API_KEY", "HOME_TOKEN", "AWS_SECRET_ACCESS_KEY", "DATABASE_URL", "GIT_ASKPASS",
                 "PYTHONPATH", "LD_PRELOAD", "BASH_ENV", "http_proxy"):  # fmt: skip
        monkeypatch.setenv(name, SECRET if name != "LD_PRELOAD" else "")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    judgment = Command(["env"]).judge(workspace=tmp_path)
    assert judgment.passed
    names = {line.partition("=")[0] for line in judgment.metadata["output"].splitlines()}
    assert {"PATH", "LC_ALL", "NO_COLOR"} <= names
    assert not names & {"OPENAI_API_KEY", "LC_API_KEY", "HOME_TOKEN", "AWS_SECRET_ACCESS_KEY", "DATABASE_URL",
                        "GIT_ASKPASS", "PYTHONPATH", "LD_PRELOAD", "BASH_ENV", "http_proxy"}  # fmt: skip
    assert SECRET not in judgment.model_dump_json()


def test_keys_that_are_passed_on_are_in_no_judgment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", SECRET)
    monkeypatch.setenv("CI_JOB", "7")
    given = {"MY_PASSWORD": "given-pass", "MODE": "fast"}
    script = f"echo $DEPLOY_TOKEN $MY_PASSWORD $MODE $CI_JOB sk-abcdefgh12345678; echo {SECRET} >&2; exit 1"
    check = sh(script, env=given, pass_env=["DEPLOY_TOKEN", "CI_*"])
    judgment = check.judge(workspace=tmp_path)
    assert judgment.metadata["output"].startswith("[key] [key] fast 7 [key]\n[key]")
    for text in (judgment.model_dump_json(), str(judgment), repr(check), check.fingerprint):
        assert [word for word in (SECRET, "given-pass") if word in text] == []
    broken = Command(["/no/such/program", SECRET], env={"A_KEY": SECRET}).judge(workspace=tmp_path)
    assert (broken.status, SECRET not in broken.model_dump_json()) == ("ERROR", True)


def test_a_program_is_never_looked_for_in_the_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent could leave a program or a module with the name of the tool, which passes."""
    for name in ("pytest", "make", "no-such-program-anywhere"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 0\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "pytest.py").write_text("raise SystemExit(0)\n")
    (tmp_path / "test_a.py").write_text("def test_a():\n    assert False\n")
    monkeypatch.chdir(tmp_path)
    assert TestsPass("pytest", env=FAST).judge(workspace=tmp_path).status == "FAIL"
    (tmp_path / "work").mkdir()
    for name in ("make", "bin/make", "work/bin/make"):  # of the PATH of the user, and of the agent
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name}\n")
        (tmp_path / name).chmod(0o755)
    made = BuildPasses("make", env={"PATH": f"bin:{os.environ['PATH']}"}).judge(workspace=tmp_path / "work")
    assert (
        made.metadata["output"],
        Command(["no-such-program-anywhere"]).judge(workspace=tmp_path).status,
        Command(["./no-such-program-anywhere"]).judge(workspace=tmp_path).passed,
    ) == ("bin/make\n", "ERROR", True)


def test_the_tests_of_a_project_are_run(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "test_it.py").write_text("def test_it():\n    assert 1 + 1 == 2\n")
    check = TestsPass("pytest", cwd="sub", env=FAST)
    assert (
        check.judge(workspace=tmp_path).passed,
        not (tmp_path / "sub" / ".pytest_cache").exists(),
        TestsPass("pytest", ["-k", "x"], cwd="sub", env=FAST).judge(workspace=tmp_path).metadata["exit_code"],
    ) == (True, True, 5)
    (tmp_path / "sub" / "test_it.py").write_text(
        "def test_it():\n    assert 1 + 1 == 11\n"
    )  # of another size: a cache is by second and size
    judgment = check.judge(workspace=tmp_path)
    assert (judgment.status, "assert (1 + 1) == 11" in judgment.findings[0].evidence) == ("FAIL", True)


def test_a_project_is_built_by_its_tool(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for program in ("mvn", "gradle", "cargo", "npm", "go", "make"):
        path = tmp_path / "bin" / program
        path.write_text(f'#!/bin/sh\necho {program} "$@"\n')
        path.chmod(0o755)
    variables = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    commands = {
        "maven": ("mvn -B test", "mvn -B -DskipTests package"), "cargo": ("cargo test", "cargo build"),
        "gradle": ("gradle --no-daemon test", "gradle --no-daemon assemble"), "make": ("make test", "make"),
        "npm": ("npm test", "npm run build"), "go": ("go test ./...", "go build ./..."),
    }  # fmt: skip
    for tool, (tests, build) in commands.items():
        for kind, expected in ((TestsPass, tests), (BuildPasses, build)):
            judgment = kind(tool, ["-x"], env=variables).judge(workspace=tmp_path)
            assert judgment.metadata["output"] == f"{expected} -x\n"


def test_a_check_without_a_folder_abstains(tmp_path: Path) -> None:
    assert [
        Command(["touch", "made"], cwd=cwd).judge(**given).status
        for given, cwd in (
            ({"answer": "x"}, "."),
            ({"workspace": tmp_path / "nowhere"}, "."),
            ({"workspace": tmp_path}, "no"),
        )
    ] == ["ABSTAIN"] * 3
    (tmp_path / "out").symlink_to("/tmp")
    assert Command(["true"], cwd="out").judge(workspace=tmp_path).status == "ABSTAIN"


WRONG = [
    (Command, {"argv": []}), (Command, {"argv": "ls"}), (Command, {"argv": [1]}), (Command, {}),
    (Command, {"argv": ["x"], "cwd": "../x"}), (Command, {"argv": ["x"], "cwd": "/"}),
    (Command, {"argv": ["x"], "env": {"A": 1}}), (Command, {"argv": ["x"], "env": {"A=B": "1"}}),
    (Command, {"argv": ["x"], "env": {"": "1"}}), (Command, {"argv": ["x"], "time_limit": 0}),
    (Command, {"argv": ["x"], "time_limit": float("inf")}), (Command, {"argv": ["x"], "sandbox": print}),
    (TestsPass, {}), (TestsPass, {"tool": "tox"}), (BuildPasses, {"tool": "pytest"}),
]  # fmt: skip


def test_wrong_options_are_refused_at_once() -> None:
    for kind, options in WRONG:
        with pytest.raises(ConfigurationError):
            kind(**options)
    assert Command(["x\0y"]).judge(workspace=".").status == "ERROR"


def test_programs_run_side_by_side_and_the_loop_goes_on(tmp_path: Path) -> None:
    """Four programs that wait for each other: one after the other, none would end."""
    wait = "touch $0; while ! [ -e a -a -e b -a -e c -a -e d ]; do sleep 0.01; done"
    jury = Ensemble({name: Command(["sh", "-c", wait, name], time_limit=30.0) for name in "abcd"}, voting="unanimous")
    assert (
        jury.judge(workspace=tmp_path).passed,
        Command([sys.executable, "-c", "print(1)"]).judge(workspace=tmp_path).metadata["output"],
    ) == (True, "1\n")
