"""The judges of workspace/commands.py: real programs, real process groups, nothing left behind."""

import asyncio
import copy
import os
import pickle
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judgment import Status
from jury_adapters.workspace.commands import BuildPasses, Command, TestsPass

PASS, FAIL, ABSTAIN, ERROR = Status.PASS, Status.FAIL, Status.ABSTAIN, Status.ERROR
EMPTY_PATH = {"PATH": "/nowhere"}


def python(code, *args, **options):
    return Command([sys.executable, "-c", code, *args], **options)


def shell(text, **options):
    return Command(text, shell=True, **options)


def alive(pid):
    """Whether a process runs; one that has ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def written(path):
    """The process ids that a program wrote, once it has."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if path.exists() and path.read_text().endswith("end\n"):
            return [int(pid) for pid in path.read_text().split()[:-1]]
        time.sleep(0.01)
    raise AssertionError("the program did not start")


# A child of the program, one in a session of its own, and one whose parent has gone: all ignore a polite request.
FORKS = """
trap '' TERM
sleep 600 & echo $! >> pids
setsid sh -c 'trap "" TERM; echo $$ >> pids; while :; do sleep 1; done' &
(sh -c 'trap "" TERM; echo $$ >> pids; while :; do sleep 1; done' &)
while [ "$(wc -l < pids)" -lt 3 ]; do sleep 0.01; done
echo end >> pids
"""


class TestOutcomes:
    @pytest.mark.parametrize(
        ("judge", "status", "code"),
        [
            (Command(["true"]), PASS, 0),
            (Command(("false",)), FAIL, 1),
            (python("raise SystemExit(3)"), FAIL, 3),
            (python("raise SystemExit(3)", exit_code=3), PASS, 3),
            (python("raise SystemExit(3)", exit_code=[0, 3]), PASS, 3),
            (shell("exit 0 | exit 7"), FAIL, 7),
            (shell("kill -9 $$"), FAIL, 137),
        ],
    )
    def test_the_exit_code_decides(self, tmp_path, judge, status, code):
        judgment = judge.judge(workspace=tmp_path)
        assert (judgment.status, judgment.metadata["exit_code"]) == (status, code)
        assert judgment.findings[0].passed is (status is PASS)

    def test_it_runs_in_the_workspace_and_tells_what_was_said(self, tmp_path):
        (tmp_path / "src").mkdir()
        judgment = shell("pwd; echo oops >&2; exit 1", cwd="src").judge(workspace=tmp_path)
        assert judgment.metadata["output"] == f"{tmp_path}/src\noops\n"
        assert judgment.metadata["command"] == "/bin/sh -c 'pwd; echo oops >&2; exit 1'"
        assert judgment.reasoning.endswith("ended with 1: oops")

    def test_a_list_is_no_shell(self, tmp_path):
        judgment = Command(["echo", "$HOME", ";", "exit 1"]).judge(workspace=tmp_path)
        assert judgment.metadata["output"] == "$HOME ; exit 1\n"

    @pytest.mark.parametrize("argv", [["no-such-program-xyz"], ["./not-executable"], ["/"]])
    def test_what_cannot_be_started_is_an_error(self, tmp_path, argv):
        (tmp_path / "not-executable").write_text("x")
        judgment = Command(argv).judge(workspace=tmp_path)
        assert judgment.status is ERROR
        assert "cannot be started" in judgment.reasoning

    @pytest.mark.parametrize("judge", [Command(["true"]), TestsPass(), BuildPasses()])
    def test_without_a_workspace_it_abstains(self, judge):
        assert judge.judge(question="?").reasoning == "there is no workspace"
        assert judge.judge(workspace="/no/such/folder").status is ABSTAIN
        assert judge.judge(workspace=__file__).status is ABSTAIN

    def test_a_folder_that_leads_out_is_not_entered(self, tmp_path):
        (tmp_path / "work").mkdir()
        (tmp_path / "work" / "out").symlink_to("..")
        judgment = Command(["touch", "escaped"], cwd="out").judge(workspace=tmp_path / "work")
        assert judgment.status is ABSTAIN
        assert "leads out" in judgment.reasoning
        assert not (tmp_path / "escaped").exists()

    def test_there_is_no_input_to_wait_for(self, tmp_path):
        assert Command(["cat"], timeout_s=10).judge(workspace=tmp_path).status is PASS


class TestOutput:
    @pytest.mark.slow
    def test_a_flood_is_read_and_capped(self, tmp_path):
        code = "import sys; sys.stdout.write('start' + 'x' * 30_000_000 + 'end')"
        output = python(code, max_output=1000).judge(workspace=tmp_path).metadata["output"]
        assert len(output) < 1100
        assert output.startswith("startx")
        assert output.endswith("xend")
        assert "29999008 bytes left out" in output

    def test_bytes_that_are_no_text_are_shown_as_such(self, tmp_path):
        judgment = python("import sys; sys.stdout.buffer.write(b'a\\xff\\x00b')").judge(workspace=tmp_path)
        assert judgment.metadata["output"] == "a\ufffd\x00b"
        assert judgment.to_json()

    def test_a_program_that_closes_its_output_is_waited_for(self, tmp_path):
        judgment = shell("exec >&- 2>&-; sleep 0.3; exit 4").judge(workspace=tmp_path)
        assert judgment.metadata["exit_code"] == 4


class TestEnvironment:
    def test_no_key_passes_through(self, tmp_path, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        monkeypatch.setenv("DATABASE_URL", "postgres://user:secret@host")
        monkeypatch.setenv("CI_JOB", "7")
        monkeypatch.setenv("LC_TIME", "C")
        monkeypatch.setenv("LC_API_KEY", "sk-secret")
        judge = Command(["env"], env={"MINE": "1"}, pass_env="CI_*")
        lines = judge.judge(workspace=tmp_path).metadata["output"].splitlines()
        assert {"MINE=1", "CI_JOB=7", "LC_TIME=C", f"PATH={os.environ['PATH']}"} <= set(lines)
        assert not any("secret" in line for line in lines)

    def test_what_is_passed_on_was_asked_for(self, tmp_path, monkeypatch):
        monkeypatch.setenv("DEBUG", "yes")
        assert "DEBUG" not in Command(["env"]).judge(workspace=tmp_path).metadata["output"]
        assert "DEBUG=yes" in Command(["env"], pass_env=["DEBUG"]).judge(workspace=tmp_path).metadata["output"]


class TestNothingOutlivesIt:
    def assert_gone(self, folder):
        pids = written(folder / "pids")
        until = time.monotonic() + 60
        while any(map(alive, pids)) and time.monotonic() < until:
            time.sleep(0.01)
        assert [pid for pid in pids if alive(pid)] == []
        assert len(pids) == 3

    def test_when_its_time_is_up(self, tmp_path):
        judgment = shell("echo begun; " + FORKS + "wait", timeout_s=1.5).judge(workspace=tmp_path)
        assert (judgment.status, judgment.error) == (ERROR, "timeout")
        # The shell may still say "Killed" of a child that went before it.
        assert judgment.metadata["output"].splitlines()[0] == "begun"
        self.assert_gone(tmp_path)

    def test_when_it_ends_by_itself(self, tmp_path):
        judgment = shell(FORKS, timeout_s=60).judge(workspace=tmp_path)  # its children hold the output open
        assert judgment.status is PASS
        self.assert_gone(tmp_path)

    def test_when_judging_is_cancelled(self, tmp_path):
        async def cancelled():
            task = asyncio.create_task(shell(FORKS + "wait").ajudge(workspace=tmp_path))
            await asyncio.to_thread(written, tmp_path / "pids")
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(cancelled())
        self.assert_gone(tmp_path)

    def test_when_the_judges_own_time_limit_is_shorter(self, tmp_path):
        judgment = shell(FORKS + "wait").with_timeout(1.5).judge(workspace=tmp_path)
        assert (judgment.status, judgment.error) == (ERROR, "timeout")
        self.assert_gone(tmp_path)

    def test_no_zombie_is_left(self, tmp_path):
        for judge in (Command(["true"]), Command(["nope"]), shell("sleep 60", timeout_s=0.1)):
            judge.judge(workspace=tmp_path)
        ps = ["ps", "-o", "stat=,args=", "--ppid", str(os.getpid())]
        mine = subprocess.run(ps, capture_output=True, text=True, check=True)
        assert [line for line in mine.stdout.splitlines() if line.startswith("Z")] == []
        assert "sleep 60" not in mine.stdout

    def test_a_polite_program_may_clean_up(self, tmp_path):
        text = "trap 'echo cleaned; exit' TERM; echo ready; while :; do sleep 0.05; done"
        judgment = shell(text, timeout_s=0.5).judge(workspace=tmp_path)
        assert judgment.error == "timeout"
        assert "cleaned" in judgment.metadata["output"]


@pytest.mark.slow
def test_the_loop_goes_on_while_programs_run(tmp_path):
    async def both():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1
                if ticks == 10:
                    (tmp_path / "go").touch()

        ticking = asyncio.create_task(tick())
        judgments = await asyncio.gather(*(shell(waits).ajudge(workspace=tmp_path) for _ in range(8)))
        ticking.cancel()
        return judgments, ticks

    # Each waits for all others and for ten ticks of the loop.
    waits = 'touch here.$$; while [ "$(ls here.* | wc -l)" -lt 8 ] || [ ! -e go ]; do sleep 0.05; done'
    judgments, ticks = asyncio.run(both())
    assert [judgment.status for judgment in judgments] == [PASS] * 8
    assert ticks >= 10


def test_a_sandbox_wraps_the_command(tmp_path):
    seen = []

    def sandbox(argv, workspace):
        seen.append((argv, workspace))
        return ["env", "BOXED=1", *argv]

    judgment = Command(["printenv", "BOXED"], sandbox=sandbox).judge(workspace=tmp_path)
    assert judgment.metadata["output"] == "1\n"
    assert judgment.metadata["command"] == "printenv BOXED"
    assert seen == [(("printenv", "BOXED"), tmp_path.resolve())]
    broken = Command(["true"], sandbox=lambda argv, workspace: 1 / 0).judge(workspace=tmp_path)
    assert (broken.status, broken.error) == (ERROR, "ZeroDivisionError: division by zero")
    assert Command(["true"], sandbox=lambda argv, workspace: []).judge(workspace=tmp_path).status is ERROR


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Command("make check"), "with shell=True one text"),
        (lambda: Command(["make"], shell=True), "with shell=True one text"),
        (lambda: Command([]), "takes a list"),
        (lambda: Command(["sleep", 3]), "numbers are written in quotes"),
        (lambda: Command(["x\0"]), "argv takes texts"),
        (lambda: Command(["x"], exit_code=[]), "exit_code"),
        (lambda: Command(["x"], exit_code=256), "exit_code"),
        (lambda: Command(["x"], cwd="../x"), "leads out"),
        (lambda: Command(["x"], env={"A": 1}), "env maps names"),
        (lambda: Command(["x"], timeout_s=0), "timeout"),
        (lambda: Command(["x"], max_output=0), "max_output"),
        (lambda: Command(["x"], sandbox="bwrap"), "sandbox takes a function"),
        (lambda: TestsPass("pytst"), "Did you mean 'pytest'"),
        (lambda: BuildPasses("pytest"), "unknown tool"),
        (lambda: TestsPass(args=[3]), "args takes texts"),
    ],
)
def test_wrong_construction_is_said_at_once(make, says):
    with pytest.raises(ConfigurationError, match=says):
        make()


@pytest.mark.parametrize("judge", [Command(["true"], env={"A": "1"}), TestsPass("make"), BuildPasses()])
def test_judges_can_be_sent_and_compared(judge):
    for twin in (pickle.loads(pickle.dumps(judge)), copy.deepcopy(judge)):
        assert twin == judge
        assert hash(twin) == hash(judge)


def script(path, text="#!/bin/sh\necho ran $0 $@\n", mode=0o755):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


class TestPresets:
    @pytest.mark.parametrize(
        ("files", "program", "tests", "builds"),
        [
            (["pom.xml"], "mvn", "-B test", "-B -DskipTests package"),
            (["build.gradle.kts"], "gradle", "--no-daemon test", "--no-daemon assemble"),
            (["Cargo.toml", "Makefile"], "cargo", "test", "build"),
            (["package.json"], "npm", "test", "run build"),
            (["Makefile"], "make", "test", ""),
        ],
    )
    def test_the_files_say_which_tool(self, tmp_path, files, program, tests, builds):
        """The programs are stand-ins, found on a PATH of their own; real make, npm and pytest run below."""
        work, tools = tmp_path / "work", tmp_path / "tools"
        work.mkdir()
        for file in files:
            (work / file).write_text({"package.json": '{"scripts": {"test": "x", "build": "x"}}'}.get(file, "test:\n"))
        environment = {"PATH": f"{tools}:{os.environ['PATH']}"}
        script(tools / program)
        for judge, arguments in ((TestsPass(env=environment), tests), (BuildPasses(env=environment), builds)):
            judgment = judge.judge(workspace=work)
            assert judgment.status is PASS
            assert judgment.metadata["output"].split() == ["ran", str(tools / program), *arguments.split()]

    @pytest.mark.parametrize(
        ("tool", "goals", "expected"),
        [
            ("maven", ["clean", "verify"], "mvn -B clean verify --extra"),
            ("gradle", ["check"], "gradle --no-daemon check --extra"),
            ("npm", ["run", "bundle"], "npm run bundle --extra"),
            ("make", "all", "make all --extra"),
            ("cargo", [], "cargo --extra"),
        ],
    )
    def test_goals_replace_the_default_goals_of_a_build(self, tmp_path, tool, goals, expected):
        judge = BuildPasses(tool, goals=goals, args=["--extra"], sandbox=lambda argv, workspace: ["/bin/echo", *argv])
        assert judge.judge(workspace=tmp_path).metadata["output"] == f"{expected}\n"

    def test_goals_are_texts(self):
        with pytest.raises(ConfigurationError, match="goals takes texts"):
            BuildPasses(goals=[1])

    def test_programs_have_two_minutes_by_default(self):
        assert {judge.timeout_s for judge in (Command(["true"]), TestsPass(), BuildPasses())} == {120}

    @pytest.mark.parametrize(("file", "wrapper"), [("pom.xml", "mvnw"), ("build.gradle", "gradlew")])
    def test_a_wrapper_comes_before_an_installed_tool(self, tmp_path, file, wrapper):
        (tmp_path / file).write_text("")
        script(tmp_path / wrapper)
        judgment = TestsPass(args=["-x"]).judge(workspace=tmp_path)
        assert judgment.metadata["output"].startswith(f"ran {tmp_path}/{wrapper} ")
        assert judgment.metadata["output"].endswith("test -x\n")
        (tmp_path / wrapper).chmod(0o644)  # as it comes out of an archive
        assert BuildPasses().judge(workspace=tmp_path).status is PASS

    def test_a_wrapper_that_leads_out_is_not_run(self, tmp_path):
        script(tmp_path / "elsewhere" / "mvnw")
        (tmp_path / "work").mkdir()
        (tmp_path / "work" / "pom.xml").write_text("")
        (tmp_path / "work" / "mvnw").symlink_to("../elsewhere/mvnw")
        judgment = TestsPass(env=EMPTY_PATH).judge(workspace=tmp_path / "work")
        assert (judgment.status, judgment.reasoning) == (ABSTAIN, "mvn is not installed")

    def test_a_tool_in_a_sandbox_need_not_be_installed_here(self, tmp_path):
        (tmp_path / "Cargo.toml").write_text("")
        judge = TestsPass(env=EMPTY_PATH, sandbox=lambda argv, workspace: ["/bin/echo", *argv])
        assert judge.judge(workspace=tmp_path).metadata["output"] == "cargo test\n"
        assert TestsPass(env=EMPTY_PATH).judge(workspace=tmp_path).reasoning == "cargo is not installed"

    @pytest.mark.parametrize(
        "files",
        [{}, {"package.json": "{}"}, {"package.json": "[broken"}, {"Makefile": "all:\n"}, {"README.md": "tests"}],
    )
    def test_nothing_to_test_abstains(self, tmp_path, files):
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        judgment = TestsPass().judge(workspace=tmp_path)
        assert judgment.status is ABSTAIN
        assert "maven, gradle, cargo, npm, pytest, make" in judgment.reasoning

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("test", "status", "code"), [("assert 1", PASS, 0), ("assert 0", FAIL, 1), (None, FAIL, 5)]
    )
    def test_with_the_real_pytest(self, tmp_path, test, status, code):
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        if test:
            (tmp_path / "test_a.py").write_text(f"def test_a():\n    {test}\n")
        judgment = TestsPass(env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}).judge(workspace=tmp_path)
        assert (judgment.status, judgment.metadata["exit_code"]) == (status, code)
        assert judgment.findings[0].name == "pytest test"

    def test_with_the_real_make(self, tmp_path):
        if not shutil.which("make"):
            assert BuildPasses("make").judge(workspace=tmp_path).status is ABSTAIN
            return
        (tmp_path / "Makefile").write_text("all:\n\techo built\ntest:\n\texit 3\n")
        assert BuildPasses().judge(workspace=tmp_path).status is PASS
        assert TestsPass().judge(workspace=tmp_path).status is FAIL

    def test_a_test_that_never_ends_is_an_error(self, tmp_path):
        script(tmp_path / ".venv" / "bin" / "pytest", "#!/bin/sh\nsleep 60\n")
        (tmp_path / "test_a.py").write_text("")
        judgment = TestsPass(timeout_s=0.3).judge(workspace=tmp_path)
        assert (judgment.status, judgment.error) == (ERROR, "timeout")
        assert "pytest test was stopped after 0.3 s" in judgment.reasoning


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"timeout_s": None}, "timeout_s is a positive number of seconds, not None"),
        ({"exit_code": None}, "exit_code is one or more numbers from 0 to 255, not None"),
        ({"env": ["CI=1"]}, "env is a mapping .* not list"),
        ({"env": {"A=B": "1"}}, "the name of a variable in env"),
        ({"env": {"": "1"}}, "the name of a variable in env"),
        ({"pass_env": 5}, "pass_env takes texts"),
    ],
)
def test_wrong_options_are_refused_when_the_command_is_built(options, message):
    with pytest.raises(ConfigurationError, match=message):
        Command(["true"], **options)
    if "exit_code" not in options:
        with pytest.raises(ConfigurationError, match=message):
            TestsPass(**options)
    with pytest.raises(ConfigurationError, match="the first text of argv is the program; it is empty"):
        Command(["", "x"])


def test_keys_that_a_program_was_given_and_prints_are_not_in_the_judgment(tmp_path, monkeypatch):
    monkeypatch.setenv("MISTRAL_API_KEY", "vendor-key-1234")
    prints = "import os, sys; sys.exit('no such key ' + ', '.join(os.environ[name] for name in sys.argv[1:3]))"
    given = {"pass_env": ["MISTRAL_API_KEY"], "env": {"DEPLOY_TOKEN": "deploy-5678"}}
    judgment = python(prints, "MISTRAL_API_KEY", "DEPLOY_TOKEN", "--header=Bearer sk-aaaaaaaabbbbbbbb", **given).judge(
        question="?", workspace=tmp_path
    )
    assert judgment.status is FAIL
    assert judgment.reasoning.endswith("no such key [key], [key]")
    stored = judgment.to_json()
    assert "no such key [key], [key]" in stored
    for secret in ("vendor-key-1234", "deploy-5678", "sk-aaaaaaaabbbbbbbb"):
        assert secret not in stored
    missing = Command(["/no/such/program", "--key", "vendor-key-1234"]).judge(question="?", workspace=tmp_path)
    assert missing.status is ERROR
    assert "vendor-key-1234" not in missing.to_json()


@pytest.mark.parametrize("returned", ["bwrap true", None, [], [Path("/bin/true")], 5])
def test_a_sandbox_that_does_not_return_a_command_is_an_error_that_says_so(tmp_path, returned):
    judgment = Command(["true"], sandbox=lambda argv, workspace: returned).judge(question="?", workspace=tmp_path)
    assert judgment.status is ERROR
    assert "sandbox returns the command to run, as a list of texts; not" in judgment.error
