"""``jury judge --out``: a file of the same jury is continued, and nothing is lost or paid for twice."""

import json
import os
import pty
import signal
import subprocess
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

from command import BOAT, BRIEF, KEY, Command, Content, boat, command, environment, lines, polite
from model_server import Server, error

from jury_adapters import ResultsFile, Status, read_results
from jury_adapters.config import load_jury

OUT = ("judge", "cases.jsonl", "--jury", "jury.yaml", "--out", "r.jsonl", "--json")
CRITIC = "criterion: The answer is polite.\nmodel: openai:gpt-4o-mini\nmax_tokens: 100\n"


def statuses(path: Path) -> list[str]:
    return [one.judgment.status.value for one in read_results(path)]


def test_a_finished_file_is_not_judged_again_and_new_cases_are_added(run: Command) -> None:
    first = run(*OUT, "--limit", "2", files={"cases.jsonl": boat("valid", "invalid", "valid"), "jury.yaml": BOAT})
    before = (run.folder / "r.jsonl").read_bytes()
    whole = run(*OUT)
    assert (
        first.json["cases"],
        whole.json["cases"],
        (run.folder / "r.jsonl").read_bytes().startswith(before),
        run(*OUT).json["cases"],
        statuses(run.folder / "r.jsonl"),
    ) == (2, 3, True, 3, ["PASS", "FAIL", "PASS"])
    few = run(*OUT, "--limit", "1", "--fail-under", "1")
    assert (
        few.code,
        few.json["cases"],
        "r.jsonl also has 2 results of other cases, which are not counted here" in few.err,
    ) == (0, 1, True)


def test_errors_are_judged_again_and_leave_the_file_first(run: Command) -> None:
    """Traps 4 and 5: a case is never in the file twice, unless it is two equal rows."""
    rows = boat("valid", "ERROR", "valid")
    rows.append(rows[2])
    files: dict[str, Content] = {"cases.jsonl": lines(rows) + "{oops\n", "jury.yaml": BOAT}
    assert run(*OUT, files=files).json["statuses"]["ERROR"] == 2
    files["cases.jsonl"] = [*rows[:1], {**rows[1], "votes": {"boat": "invalid"}}, *rows[2:]]
    done = run(*OUT, files=files)
    assert (
        {name: number for name, number in done.json["statuses"].items() if number},
        sorted(statuses(run.folder / "r.jsonl")),
    ) == ({"PASS": 3, "FAIL": 1}, ["FAIL", "PASS", "PASS", "PASS"])


def test_results_of_another_jury_are_refused_unless_they_are_to_be_replaced(run: Command) -> None:
    """Trap 3."""
    run(*OUT, files={"cases.jsonl": boat("valid"), "jury.yaml": BOAT})
    before = (run.folder / "r.jsonl").read_bytes()
    done = run(*OUT, files={"jury.yaml": BRIEF})
    assert (
        done.code,
        (run.folder / "r.jsonl").read_bytes(),
        "r.jsonl, line 1, is of another jury; choose another file, or --overwrite" in done.err,
        run(*OUT, "--overwrite").json["cases"],
        statuses(run.folder / "r.jsonl"),
    ) == (2, before, True, 1, ["PASS"])


def test_a_file_that_holds_no_results_is_refused(run: Command) -> None:
    done = run(*OUT, files={"cases.jsonl": boat("valid"), "jury.yaml": BOAT, "r.jsonl": '{"notes": "mine"}\n'})
    assert (done.code, "r.jsonl, line 1: no result" in done.err, (run.folder / "r.jsonl").read_text()) == (
        2,
        True,
        '{"notes": "mine"}\n',
    )


def test_a_last_line_that_was_cut_off_is_judged_again(run: Command) -> None:
    run(*OUT, files={"cases.jsonl": boat("valid", "invalid"), "jury.yaml": BOAT})
    path = run.folder / "r.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert (run(*OUT).json["cases"], statuses(path)) == (2, ["PASS", "FAIL"])


def test_a_store_pays_for_nothing_twice_and_a_dry_run_pays_for_nothing(run: Command, vendor: Server) -> None:
    estimate = run(
        "judge",
        "cases.jsonl",
        "--jury",
        "jury.yaml",
        "--dry-run",
        "--json",
        "--out",
        "r.jsonl",
        files={"cases.jsonl": boat(None, None), "jury.yaml": CRITIC},
    )
    assert (
        estimate.code,
        estimate.json["cases"],
        len(vendor.requests),
        estimate.json["total"]["cost_usd"] > 0,
        not (run.folder / "r.jsonl").exists(),
        "2 cases; an upper limit" in run("judge", "cases.jsonl", "--jury", "jury.yaml", "--dry-run").out,
    ) == (0, 2, 0, True, True, True)
    for _ in range(2):
        done = run("judge", "cases.jsonl", "--jury", "jury.yaml", "--store", "runs.db", "--json")
        assert (done.code, done.json["statuses"]["PASS"], len(vendor.requests)) == (0, 2, 2)
    assert done.json["usage"]["recorded_calls"] == 2


def test_a_budget_leaves_cases_undecided_and_a_larger_one_goes_on(run: Command, vendor: Server) -> None:
    cost = 100 * 0.15e-6 + 10 * 0.6e-6
    done = run(
        *OUT, "--max-usd", str(6 * cost + 0.0002), files={"cases.jsonl": boat(*[None] * 12), "jury.yaml": CRITIC}
    )
    passed = done.json["statuses"]["PASS"]
    assert (
        0 < passed < 12,
        done.json["statuses"]["ERROR"],
        done.json["usage"]["cost_usd"] <= 6 * cost + 0.0002,
        f"--max-usd: {12 - passed} calls did not fit, after $" in done.err,
        done.code,
    ) == (True, 12 - passed, True, True, 1 if passed < 6 else 0)
    whole = run(*OUT, "--max-usd", "1")
    assert (whole.code, whole.json["statuses"]["PASS"], len(vendor.requests)) == (0, 12, 12)


def test_an_unknown_price_is_not_nothing(run: Command, vendor: Server) -> None:
    """Trap 9."""
    done = run(
        "judge",
        "cases.jsonl",
        "--jury",
        "jury.yaml",
        "--json",
        files={"cases.jsonl": boat(None), "jury.yaml": CRITIC.replace("gpt-4o-mini", "our-own")},
    )
    assert (done.code, done.json["usage"]["cost_complete"], len(vendor.requests)) == (0, False, 1)
    refused = run("judge", "cases.jsonl", "--jury", "jury.yaml", "--max-usd", "5", "--json")
    assert (
        refused.code,
        refused.json["statuses"]["ERROR"],
        len(vendor.requests),
        "the price of the call is unknown" in refused.err,
        "or more" in run("judge", "cases.jsonl", "--jury", "jury.yaml", "--dry-run").out,
    ) == (1, 1, 1, True, True)


def test_a_refused_key_is_an_outage_and_in_no_text(run: Command, vendor: Server) -> None:
    vendor.plan = error("401 Unauthorized", f"wrong key {KEY}")
    done = run(
        *OUT,
        "--report",
        "page.html",
        "--store",
        "runs.db",
        files={"cases.jsonl": boat(None, None), "jury.yaml": CRITIC},
    )
    assert (done.code, "2 of 2 cases could not be judged" in done.err) == (1, True)
    texts = [done.out, done.err, (run.folder / "r.jsonl").read_text(), (run.folder / "page.html").read_text()]
    assert (not any(KEY in text for text in texts), KEY.encode() not in (run.folder / "runs.db").read_bytes()) == (
        True,
        True,
    )


def test_a_jury_file_with_an_address_needs_permission(run: Command, vendor: Server) -> None:
    jury = f"criterion: The answer is polite.\nmodel: 'vllm:m'\nbase_url: {vendor.base_url('openai')}\n"
    done = run("judge", "cases.jsonl", "--jury", "jury.yaml", files={"cases.jsonl": boat(None), "jury.yaml": jury})
    assert (
        done.code,
        len(vendor.requests),
        "--allow-base-url" in done.err,
        run("judge", "cases.jsonl", "--jury", "jury.yaml", "--allow-base-url").code,
        len(vendor.requests),
    ) == (2, 0, True, 0, 1)


def test_ctrl_c_keeps_what_is_judged_and_the_same_command_goes_on(run: Command) -> None:
    """On a terminal, with a bar; the partial summary is printed, and the exit code is 130."""
    with Server(lambda request: [0.5 if request.number > 20 else 0.01, *polite(request)]) as vendor:
        (run.folder / "cases.jsonl").write_text(lines(boat(*[None] * 400, human_label=[None] * 399 + ["good"])))
        (run.folder / "jury.yaml").write_text(CRITIC)
        env = environment(OPENAI_BASE_URL=vendor.base_url("openai"), OPENAI_API_KEY=KEY, TERM="xterm")
        master, slave = pty.openpty()
        shown: list[bytes] = []
        # A shell that runs the tests in the background ignores Ctrl-C, and so would the command.
        heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
        streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": slave, "env": env, "preexec_fn": heed}
        with subprocess.Popen(command(*OUT, "--pass-label", "good"), cwd=run.folder, **streams) as process:
            os.close(slave)
            reader = threading.Thread(target=_drain, args=(master, shown))
            reader.start()
            while process.poll() is None and (
                not (run.folder / "r.jsonl").exists() or (run.folder / "r.jsonl").read_bytes().count(b"\n") < 5
            ):
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            out = process.communicate()[0]
        reader.join()
        os.close(master)
    err = b"".join(shown).decode()
    kept = [*read_results(run.folder / "r.jsonl")]
    assert process.returncode == 130, err
    assert (
        5 <= len(kept) < 400,
        json.loads(out)["cases"],
        json.loads(out)["complete"],
        f"stopped by Ctrl-C: {len(kept)} of 400 rows are judged; the same command goes on with r.jsonl" in err,
    ) == (True, len(kept), False, True)
    assert "/400" in err  # the bar
    assert ("Traceback" not in err, {one.judgment.status for one in kept}) == (True, {Status.PASS})


def _drain(master: int, shown: list[bytes]) -> None:
    while True:
        try:
            shown.append(os.read(master, 4096))
        except OSError:  # the other end is closed
            return


def test_one_process_writes_a_file_at_a_time(run: Command) -> None:
    run(*OUT, files={"cases.jsonl": boat("valid"), "jury.yaml": BOAT})
    with ResultsFile(run.folder / "r.jsonl", load_jury(run.folder / "jury.yaml")):
        done = run(*OUT)
    assert (done.code, "r.jsonl is being written by another process" in done.err) == (2, True)
