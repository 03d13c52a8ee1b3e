"""Results files: one complete line per case, continued where a run ended, whatever ended it."""

import asyncio
import gzip
import json
import os
import random
import time
from collections import Counter
from contextlib import closing
from functools import reduce

import pytest
from fact_tables import each_row
from running import Gauge, Memory, Paying, cases, passes, script, start, tasks_left, until

from jury_adapters import (
    CascadedJury,
    Case,
    ConfigurationError,
    Ensemble,
    Image,
    InputError,
    Judgment,
    Result,
    ResultsFile,
    Status,
    Step,
    Tier,
    Usage,
    judge,
    read_results,
)

PASS, FAIL, ERROR = Status.PASS, Status.FAIL, Status.ERROR


class Sometimes:
    """Judge function that breaks where it is told to, and counts what it is asked."""

    def __init__(self, *breaks):
        self.breaks, self.asked = breaks, []

    async def __call__(self, case):
        self.asked.append(case.question)
        if case.question in self.breaks:
            raise OSError("down")
        return True


def judged(path, jury, rows, **options):
    """Judge rows into a file, and return the results that this run gave."""
    with ResultsFile(path, jury, **options) as results:
        return list(results.judge([*rows], ordered=True))


def lines(path):
    return path.read_bytes().splitlines(keepends=True)


def questions(path):
    return [result.case.question for result in read_results(path)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.jsonl"


# One line per case


def test_every_case_is_one_complete_line_that_can_be_read(path):
    jury = CascadedJury(
        [Tier("screen", Ensemble([passes, lambda case: 0.25]), "accept_on_all_pass"), Tier("last", lambda case: True)]
    )
    rows = [
        Case(question="Zeile\nzwei\u2028drei", answer="\ud83d\ude00 ü", contexts=["a", "b"], reference="r"),
        Case(id="2", question="q", generator="gpt-4o", metadata={"list": [1, {"a": None}], "x": 0.1}),
        Case(question="q", steps=[Step(tool="t", arguments={"n": 1}, output="o", error="e", echo=True)]),
        Case(question="q", images=[Image(data=b"\x89PNG\x00\xff", media_type="image/png")], candidates=["a", "b"]),
        Case(question="q", error="the run failed"),
    ]
    found = judged(path, jury, rows)
    assert [result.case for result in found] == rows
    assert [json.loads(line)["jury"] for line in lines(path)] == [jury.fingerprint] * 5
    read = list(read_results(path))
    assert read == found
    assert all(type(result) is Result and type(result.judgment) is Judgment for result in read)
    assert read[0].judgment.judgments[0].judgments[1].score == 0.25


def test_the_file_is_readable_while_it_is_written(path):
    with ResultsFile(path, judge(Gauge())) as results:
        for number, result in enumerate(results.judge(cases(20)), start=1):
            assert list(read_results(path))[-1] == result
            assert len(lines(path)) == number


def test_a_slow_case_holds_no_line_back(path):
    @judge
    async def slow_first(case):
        await asyncio.sleep(60 if case.question == "a" else 0)
        return True

    with ResultsFile(path, slow_first) as results, closing(results.judge([*"abcd"])) as found:
        assert sorted(next(found).case.question for _ in range(3)) == ["b", "c", "d"]
    assert sorted(questions(path)) == ["b", "c", "d"]


def test_label_and_group_come_from_the_metadata(path):
    rows = [
        {"question": "a", "metadata": {"gold": "good", "doc": 7, "other": 1}},
        {"question": "b", "metadata": {"gold": True, "doc": "d"}},
        {"question": "c", "metadata": {"gold": 0.5}},
        {"question": "d"},
    ]
    found = judged(path, passes, rows, label="gold", group="doc")
    assert found == list(read_results(path))
    assert [result.human_label for result in found] == ["good", True, 0.5, None]
    assert [result.group for result in found] == ["7", "d", None, None]
    assert found[0].case.metadata == {"gold": "good", "doc": 7, "other": 1}
    assert lines(path)[0].count(b'"other"') == 1


DEEP = reduce(lambda inside, _: [inside], range(400), "x")


@pytest.mark.parametrize("odd", [["a", "b"], {"a": 1}, DEEP], ids=["a list", "a mapping", "400 lists in each other"])
def test_a_label_or_a_group_that_is_a_list_ends_no_run(path, odd):
    """What was paid for would be lost with it."""
    rows = [{"question": "a", "metadata": {"gold": odd, "doc": odd}}, {"question": "b", "metadata": {"gold": "good"}}]
    found = judged(path, passes, rows, label="gold", group="doc")
    assert [result.judgment.status for result in found] == [PASS, PASS]
    assert found[1].human_label == "good"
    assert len(list(read_results(path))) == 2


def test_a_row_that_makes_no_case_is_a_line_too(path):
    found = judged(path, passes, ["a", {"unknown": 1, "id": "r-7"}, "b"])
    assert [result.judgment.status for result in found] == [PASS, ERROR, PASS]
    assert (found[1].case, found[1].judgment.case_id) == (None, "r-7")
    assert list(read_results(path)) == found


def test_options_of_a_batch_apply(path):
    paying, store = Paying(), Memory()
    with ResultsFile(path, paying) as results:
        found = list(results.judge(["a", "b"], store=store, max_concurrency=1, ordered=False))
    assert (len(found), len(store.kept)) == (2, 2)
    with ResultsFile(path, paying) as results, pytest.raises(ConfigurationError, match="max_concurrency"):
        list(results.judge(["c"], max_concurrency=0))


@pytest.mark.parametrize("one", ["a question", Case(question="q"), {"question": "q"}], ids=["text", "case", "mapping"])
def test_one_case_is_not_taken_for_many_cases(path, one):
    with ResultsFile(path, passes) as results, pytest.raises(ConfigurationError, match="many cases"):
        list(results.judge(one))
    assert lines(path) == []


def test_leaving_a_run_cancels_what_is_in_flight(path):
    gauge = Gauge()
    with ResultsFile(path, judge(gauge)) as results:
        for _ in results.judge([*cases(1), *cases(30, 60)]):
            break
    assert until(lambda: gauge.now == 0 and tasks_left() == 0)
    assert len(lines(path)) == 1


# Continuing


def test_what_the_file_has_is_not_judged_again(path):
    counts = Sometimes()
    judged(path, counts, "abc")
    before = lines(path)
    assert [result.case.question for result in judged(path, counts, "abcde")] == ["d", "e"]
    assert counts.asked == ["a", "b", "c", "d", "e"]
    assert lines(path)[:3] == before
    assert judged(path, counts, "abcde") == []


def test_errors_are_judged_again_and_have_one_line(path):
    judged(path, judge(Sometimes("b", "d"), name="one"), [*"abcd", {"unknown": 1}])
    assert len(lines(path)) == 5
    found = judged(path, judge(Sometimes("d"), name="one"), [*"abcd", {"unknown": 1}])
    assert [result.judgment.status for result in found] == [PASS, ERROR, ERROR]
    assert [result.case and result.case.question for result in read_results(path)] == ["a", "c", "b", "d", None]


def test_errors_that_are_not_judged_again_go_back(path):
    judged(path, judge(Sometimes("b"), name="one"), "ab")
    judged(path, judge(Sometimes(), name="one"), "a")
    assert [result.judgment.status for result in read_results(path)] == [PASS, ERROR]
    judged(path, judge(Sometimes(), name="one"), "ab")
    assert [result.judgment.status for result in read_results(path)] == [PASS, PASS]


def test_what_a_replaced_line_took_stays_in_the_file(path):
    """Money that was paid for an ERROR is in the costs of the judgment that replaces it, whatever id it shares."""

    def took(calls, *broken):
        used = Usage(calls=calls, cost_usd=calls / 10, cost_complete=not broken)
        said = {True: Judgment(status=ERROR, error="down", usage=used), False: Judgment(status=PASS, usage=used)}
        return judge(lambda case: said[case.answer in broken], name="paid")

    rows = [{"id": "q", "answer": one} for one in "abc"]
    judged(path, took(1, "a", "b"), rows)
    judged(path, took(2, "b"), rows)
    judged(path, took(4), rows)
    found = {one.case.answer: one.judgment for one in read_results(path)}
    assert [(found[one].status, found[one].usage.calls, found[one].usage.cost_complete) for one in "abc"] == [
        (PASS, 3, False), (PASS, 7, False), (PASS, 1, False),
    ]  # fmt: skip


def test_a_kill_loses_no_line_that_was_to_be_judged_again(path, tmp_path):
    """Nor is a line there twice, of cases whose files may have changed."""
    run = """
        path, ids, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
        rows = [Case(id=one, workspace=os.path.dirname(path)) for one in ids]
        with ResultsFile(path, judge(passes, name="one")) as results:
            for number, _ in enumerate(results.judge(rows, ordered=True), start=1):
                if number == most:
                    os.kill(os.getpid(), 9)
    """

    def ids():
        return "".join(one.case.id for one in read_results(path))

    assert (script(run, path, "abc", 9), ids()) == ([], "abc")
    assert (script(run, path, "abc", 1, code=-9), ids()) == ([], "bca")
    assert (script(run, path, "bd", 9), ids(), len(lines(path))) == ([], "cabd", 4)


def test_labels_and_groups_that_were_corrected_replace_those_of_the_lines(path):
    counts, rows = Sometimes(), [{"question": one, "metadata": {"gold": "pass", "doc": "d", "n": 1}} for one in "abc"]
    judged(path, counts, rows, label="gold", group="doc")
    rows[1:] = [
        {"question": "b", "metadata": {"gold": "fail", "doc": "e", "n": 1}},
        {"question": "c", "metadata": {"n": 1}},
    ]
    with ResultsFile(path, counts, label="gold", group="doc") as results:
        results.relabel(map(Case.of, rows))
        assert [*results.judge(rows)] == []
    assert [(one.human_label, one.group) for one in read_results(path)] == [("pass", "d"), ("fail", "e"), (None, None)]


def test_a_run_whose_source_raised_goes_on_in_the_same_file(path):
    counts = Sometimes()

    def rows(number):
        yield from "abc"[:number]
        if number < 3:
            raise OSError("disk gone")

    with ResultsFile(path, counts) as results:
        with pytest.raises(OSError, match="disk gone"):
            list(results.judge(rows(2)))
        assert [result.case.question for result in results.judge(rows(3))] == ["c"]
    assert questions(path) == ["a", "b", "c"]


def test_abstentions_and_fails_are_results(path):
    rows = [{"question": "a", "answer": "x"}, {"question": "b", "error": "the run failed"}]
    jury = judge(lambda case: "ABSTAIN", name="abstains")
    assert [result.judgment.status for result in judged(path, jury, rows)] == ["ABSTAIN", FAIL]
    assert judged(path, jury, rows) == []


def test_equal_cases_are_as_many_lines(path):
    counts = Sometimes()
    rows = ["a", "a", "b", Case(question="a", metadata={"n": 1}), Case(question="a", id="own")]
    assert len(judged(path, counts, rows[:2])) == 2
    assert len(judged(path, counts, rows)) == 3
    assert judged(path, counts, rows[::-1]) == []
    assert sorted(questions(path)) == ["a", "a", "a", "a", "b"]


def test_a_line_counts_for_exactly_its_case(path):
    """A vote in the metadata, a label that was corrected, or another label column make another line."""
    counts = Sometimes()
    one = {"id": "1", "question": "a", "metadata": {"n": 1, "gold": "pass", "other": "fail"}, "generator": "gpt-4o"}
    assert len(judged(path, counts, [one], label="gold")) == 1
    assert judged(path, counts, [one], label="gold") == []
    changed = [{**one, "id": "2"}, {**one, "answer": "other"}, {**one, "generator": None}, {**one, "metadata": {}}]
    assert len(judged(path, counts, changed, label="gold")) == 4
    (corrected,) = judged(path, counts, [one], label="other")
    assert corrected.human_label == "fail"


def test_a_case_with_a_workspace_is_judged_again(path, tmp_path):
    counts, rows = Sometimes(), [{"id": "1", "workspace": str(tmp_path)}]
    assert len(judged(path, counts, rows)) == len(judged(path, counts, rows)) == 1
    assert len(lines(path)) == 1


@pytest.mark.parametrize("content", [b"my only copy", b'{"rows": [1, 2]}', b'{"jury": "x"}'])
def test_a_file_of_others_is_never_replaced(path, content):
    path.write_bytes(content)
    for overwrite in (False, True):
        with pytest.raises(ConfigurationError, match="no result"):
            ResultsFile(path, passes, overwrite=overwrite)
    assert path.read_bytes() == content


def test_the_permissions_of_a_file_stay(path):
    judged(path, passes, "a")
    path.chmod(0o600)
    judged(path, passes, "ab")
    assert (path.stat().st_mode & 0o777, [one.name for one in path.parent.iterdir()]) == (0o600, [path.name])


def test_a_line_that_is_cut_off_is_named_so(path):
    judged(path, passes, "ab")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="line 2, is cut off; a run that continues the file judges it again"):
        list(read_results(path))


@pytest.mark.parametrize("cut", [1, 40, -1], ids=["one byte", "a part", "the line break"])
def test_a_last_line_that_was_cut_off_is_dropped_and_judged_again(path, cut):
    counts = Sometimes()
    judged(path, counts, "abc")
    first, second, third = lines(path)
    path.write_bytes(first + second + third[:cut])
    assert [result.case.question for result in judged(path, counts, "abc")] == ["c"]
    assert questions(path) == ["a", "b", "c"]


@pytest.mark.parametrize("content", [b"", b'{"jury":"'], ids=["empty", "one line cut off"])
def test_a_file_without_a_complete_line_is_begun(path, content):
    path.write_bytes(content)
    judged(path, passes, "ab")
    assert questions(path) == ["a", "b"]


def test_the_file_of_another_jury_is_refused_and_left_alone(path):
    judged(path, judge(passes, name="one"), "ab")
    before = path.read_bytes()
    with pytest.raises(ConfigurationError, match=r"line 1, is of another jury; .*overwrite=True"):
        ResultsFile(path, judge(passes, name="two"))
    assert path.read_bytes() == before
    judged(path, judge(passes, name="two"), "c", overwrite=True)
    assert questions(path) == ["c"]


def test_the_line_that_is_no_result_is_named_and_the_file_left_alone(path):
    judged(path, passes, "ab")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes() + b'{"jury": "x"\n')
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"results\.jsonl, line 3: no result: Invalid JSON: [^\d]* at column 12$"):
        ResultsFile(path, passes)
    assert path.read_bytes() == before


def test_nothing_is_left_beside_the_file(path, tmp_path):
    judged(path, passes, "ab")
    with pytest.raises(ConfigurationError):
        ResultsFile(path, judge(passes, name="other"))
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


# Two writers


def test_a_second_writer_is_refused_until_the_first_is_done(path):
    with ResultsFile(path, passes) as results:
        list(results.judge(["a"]))
        for overwrite in (False, True):
            with pytest.raises(ConfigurationError, match="written by another process"):
                ResultsFile(path, passes, overwrite=overwrite)
        said = script(
            """
            try:
                ResultsFile(sys.argv[1], passes)
            except ValueError as error:
                say(error)
            """,
            path,
        )
        assert len(said) == 1
        assert said[0].endswith("is being written by another process")
        list(results.judge(["b"]))
    assert judged(path, passes, "abc") != []
    assert questions(path) == ["a", "b", "c"]


def test_a_writer_that_was_killed_holds_nothing(path):
    with start("file = ResultsFile(sys.argv[1], passes)\nsay('open')\ntime.sleep(60)", path) as process:
        assert process.stdout.readline() == "open\n"
        with pytest.raises(ConfigurationError, match="written by another process"):
            ResultsFile(path, passes)
        process.kill()
        process.wait(30)
    assert len(judged(path, passes, "a")) == 1


# What cannot be written


@pytest.mark.parametrize(
    "where",
    ["", "missing/results.jsonl", "x" * 300, "x" * 254],
    ids=["a folder", "a folder that is missing", "a name too long", "no room for a file beside it"],
)
def test_what_cannot_be_written_is_refused_in_one_sentence(tmp_path, where):
    with pytest.raises(ConfigurationError, match="cannot be written") as refusal:
        ResultsFile(tmp_path / where, passes)
    assert "\n" not in str(refusal.value)


FULL = """
    import resource
    path, limit = sys.argv[1], int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        with ResultsFile(path, judge(passes, name="juror")) as results:
            for result in results.judge({"question": str(n), "answer": "x" * 300} for n in range(100)):
                say(result.case.question)
    except (OSError, ValueError) as error:
        say(error)
"""


def test_a_disk_that_is_full_loses_no_line_that_was_handed_out_and_at_the_beginning_leaves_the_file_alone(path):
    *handed_out, error = script(FULL, path, 10_000)
    assert 10 < len(handed_out) < 90
    assert "File too large" in error
    complete = [json.loads(line)["case"]["question"] for line in lines(path) if line.endswith(b"\n")]
    assert complete[: len(handed_out)] == handed_out
    assert script(FULL, path, 10_000_000) == [str(number) for number in range(len(complete), 100)]
    assert questions(path) == [str(number) for number in range(100)]
    before = path.read_bytes()
    (error,) = script(FULL, path, 5_000)
    assert "File too large" in error
    assert path.read_bytes() == before


# Kill -9

VICTIM = """
    async def slow(case):
        await asyncio.sleep(0.002)
        os.write(log, f"{case.id}\\n".encode())
        return True, "x" * 50

    path, asked = sys.argv[1:]
    log = os.open(asked, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    rows = [Case(id=str(n % 140), question=str(n % 70), answer="y" * 2000) for n in range(160)]
    with ResultsFile(path, judge(slow, name="slow")) as results:
        for result in results.judge(rows, max_concurrency=2):
            pass
    say("done")
"""


def test_a_run_that_is_killed_again_and_again_loses_no_case_and_doubles_none(path, tmp_path):
    """Trap 8. Of 160 cases 20 are equal to others, which makes two lines of each. A window is eight cases."""
    asked, dice, kills = tmp_path / "asked", random.Random(4), []
    expected = Counter(str(number % 140) for number in range(160))
    for least in (8, 90):
        with start(VICTIM, path, asked) as process:
            assert until(lambda least=least: path.exists() and len(lines(path)) > least)
            time.sleep(dice.uniform(0, 0.02))
            process.kill()
        complete = [line for line in lines(path) if line.endswith(b"\n")]
        kills.append((Counter(json.loads(line)["case"]["id"] for line in complete), Counter(asked.read_text().split())))
    with start(VICTIM, path, asked) as process:
        assert process.communicate(timeout=60) == ("done\n", "")
    assert Counter(result.case.id for result in read_results(path)) == expected
    assert all(result.judgment.passed for result in read_results(path))
    total = Counter(asked.read_text().split())
    for written, before in kills:
        assert written.total() < 160, "it was not killed at work"
        assert all(total[name] == before[name] for name, number in written.items() if number == expected[name])
    assert total.total() <= 160 + 8 * len(kills)


# Reading


def test_a_packed_file_is_read(path, tmp_path):
    found = judged(path, passes, "abc")
    packed = tmp_path / "results.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert list(read_results(packed)) == list(read_results(str(packed))) == found
    packed.write_bytes(packed.read_bytes()[:-12])
    with pytest.raises(InputError, match="cut off"):
        list(read_results(packed))


def damaged(data):
    return data[:40] + bytes(byte ^ 255 for byte in data[40:60]) + data[60:]


@each_row(
    ("name", "content"),
    [
        ("r.jsonl", b"no json\n"),
        ("r.jsonl", b"\xef\xbb\xbf\n"),
        ("r.jsonl", b'{"jury": 1}\n'),
        ("r.jsonl", b"[]\n"),
        ("r.jsonl", b'{"jury": "x", "case": null, "judgment": {"status": "MAYBE"}}\n'),
        ("r.jsonl", b'{"jury": "x", "case": null, "judgment": {"status": "PASS", "score": NaN}}\n'),
        ("r.jsonl", b'{"jury": "x", "case": null, "judgment": {"status": "PASS", "score": "0.5"}}\n'),
        ("r.jsonl", b"\xff\xfe\n"),
        ("r.jsonl.gz", b"no gzip"),
        ("r.jsonl.gz", gzip.compress(b'{"jury": "x"}\n')),
        ("r.jsonl.gz", gzip.compress(os.urandom(2000))[:900]),
        ("r.jsonl.gz", damaged(gzip.compress(b"\n".join(b'{"jury": "%d"}' % n for n in range(2000))))),
        ("missing.jsonl", None),
        ("", None),
    ],
    ids=range(14),
)
def test_what_is_no_results_file_is_an_input_error_that_names_it(tmp_path, name, content):
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError) as refusal:
        list(read_results(file))
    assert str(refusal.value).startswith(str(file))
    assert str(refusal.value).isprintable()


HOSTILE = "\x1b[2J\x1b]0;owned\x07\u202egnp.exe\x00<script>alert(1)</script>$(reboot){0.__class__}%s"


@pytest.mark.parametrize(
    "hostile",
    [
        {HOSTILE: 1},
        {"jury": HOSTILE, "case": {HOSTILE: HOSTILE}, "judgment": {"status": HOSTILE}},
        {"jury": "x", "case": None, "judgment": {"status": "PASS", "metadata": [HOSTILE], HOSTILE: HOSTILE}},
        {"jury": "x", "case": None, "judgment": {"status": "PASS", "judgments": [{HOSTILE: HOSTILE}]}},
    ],
    ids=range(4),
)
def test_what_a_hostile_file_says_is_not_printed_raw(path, hostile):
    path.write_text(json.dumps(hostile) + "\n")
    with pytest.raises(InputError) as refusal:
        list(read_results(path))
    assert str(refusal.value).isprintable()
    with pytest.raises(ConfigurationError) as refusal:
        ResultsFile(path, passes)
    assert str(refusal.value).isprintable()


def test_hostile_texts_come_back_as_they_are_and_print_harmlessly(path):
    case = Case(question=HOSTILE, answer=HOSTILE, id=HOSTILE, metadata={HOSTILE: HOSTILE})
    (found,) = judged(path, judge(lambda case: (True, HOSTILE), name=HOSTILE), [case])
    (read,) = read_results(path)
    assert read == found
    assert read.case == case
    assert all(line.isprintable() for line in str(read.judgment).splitlines())
    assert "\\u001b" in str(read.judgment)


def test_a_link_is_followed_and_what_is_no_file_is_left_alone(tmp_path):
    link, target, pipe = tmp_path / "link.jsonl", tmp_path / "target.jsonl", tmp_path / "pipe"
    link.symlink_to(target)
    with ResultsFile(link, judge(passes)) as results:
        list(results.judge(["a"]))
    assert link.is_symlink()
    assert target.read_bytes().count(b"\n") == 1
    os.mkfifo(pipe)
    with pytest.raises(ConfigurationError, match="not a regular file"):
        ResultsFile(pipe, judge(passes))
    assert pipe.is_fifo()
