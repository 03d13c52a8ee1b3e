"""SDKs are imported before the time limits of judges begin, and where Ctrl-C can interrupt it."""

import pytest
from support.scripts import Ran, run_script
from support.vendor import VendorServer

SLOW_IMPORTS = """
import asyncio, json, sys, threading, time
from importlib.abc import MetaPathFinder

class Slow(MetaPathFinder):
    "Finder that makes the import of an SDK slow, and notes the thread of the import."
    threads = []
    def find_spec(self, name, path=None, target=None):
        if name in ("openai.types", "anthropic.types"):
            Slow.threads.append(threading.current_thread() is threading.main_thread())
            time.sleep(3)

from jury_adapters import Critic, panel
openai, anthropic = sys.argv[1:]
def critic(model):
    return Critic(model, "faithfulness", base_url=openai if "openai" in model else anthropic, api_key="none")
jury = panel(critic, "openai:gpt-4o-mini", "anthropic:claude-haiku-4-5", juror_timeout=2.5)
case = {"question": "When?", "answer": "In 2018. TRUTH=YES", "contexts": ["It was in 2018."]}
assert not {"openai", "anthropic", "aiohttp"} & set(sys.modules)
sys.meta_path.insert(0, Slow())
"""


def run(server: VendorServer, script: str) -> Ran:
    return run_script(SLOW_IMPORTS + script, server.openai, server.anthropic)


@pytest.mark.slow
@pytest.mark.parametrize(
    "judging",
    ["[jury.judge(case)]", "list(jury.judge_many([case] * 2))", "[asyncio.run(jury.ajudge(case))]",
     "asyncio.run(five())", "[jury.with_timeout(2.5).judge(case)]"],
)  # fmt: skip
def test_a_time_limit_of_a_juror_begins_after_the_import_of_its_sdk(server: VendorServer, judging):
    script = f"""
async def five():
    return await asyncio.gather(*[jury.ajudge({{**case, "question": str(n)}}) for n in range(5)])
print(json.dumps([judgment.status.value for verdict in {judging} for judgment in verdict.judgments]))
"""
    assert set(run(server, script).result) == {"PASS"}


@pytest.mark.slow
def test_synchronous_judging_imports_sdks_in_the_calling_thread(server: VendorServer):
    script = "jury.judge(case); list(jury.judge_many([case])); print(json.dumps(Slow.threads))"
    assert run(server, script).result == [True, True]


@pytest.mark.slow
def test_an_application_can_import_the_sdks_when_it_starts(server: VendorServer):
    script = "jury.prepare(); print(json.dumps([name in sys.modules for name in ('openai', 'anthropic', 'aiohttp')]))"
    assert run(server, script).result == [True, True, True]


@pytest.mark.slow
def test_a_process_that_ends_while_an_sdk_is_imported_ends_quietly(server: VendorServer):
    script = """
async def late():
    try:
        await asyncio.wait_for(jury.ajudge(case), 0.5)
    except TimeoutError:
        print("late")
asyncio.run(late())
"""
    ran = run(server, script)
    assert (ran.code, ran.out, ran.err) == (0, "late\n", "")


@pytest.mark.slow
def test_ctrl_c_during_the_import_of_an_sdk_stops_jury_judge_with_its_summary(server: VendorServer, tmp_path):
    (tmp_path / "jury.yaml").write_text(
        "{name: two, jurors: {a: {rubric: faithfulness, model: 'openai:m'},"
        " b: {rubric: faithfulness, model: 'anthropic:m'}}}"
    )
    (tmp_path / "cases.jsonl").write_text('{"question": "q", "answer": "a", "contexts": ["c"]}\n' * 50)
    script = f"""
import os, signal
os.chdir({str(tmp_path)!r})
time.sleep = lambda seconds: os.kill(os.getpid(), signal.SIGINT)
from jury_adapters.cli import main
sys.argv = ["jury", "judge", "cases.jsonl", "--jury", "jury.yaml", "--store", "run.db"]
main()
"""
    keys = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": server.openai,
            "ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": server.anthropic}  # fmt: skip
    ran = run_script(SLOW_IMPORTS + script, server.openai, server.anthropic, env=keys)
    assert (ran.code, ran.err) == (130, "stopped by Ctrl-C; the summary is of the 0 cases judged until then\n")
    assert ran.out.startswith("0 cases judged by two")
    assert not server.asks


@pytest.mark.slow
def test_the_log_does_not_report_requests_that_were_not_sent():
    script = """
import logging
from jury_adapters import Limits
time.sleep = lambda seconds: None
logging.basicConfig(level="INFO")
critic = Critic("openai:m", "faithfulness", base_url=openai, api_key="none", limits=Limits(attempts=1))
print(critic.judge(case).error)
"""
    ran = run_script(SLOW_IMPORTS + script, "http://127.0.0.1:9", "http://127.0.0.1:9")
    assert ran.out.startswith("connection:")
    assert "200 OK" not in ran.err
