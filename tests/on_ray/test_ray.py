"""On two local workers; ``pytest -m ray tests/on_ray``, with the extra ``ray`` installed."""

import json
import sys
from functools import partial
from types import ModuleType

import pytest
from support.pictures import png

import jury_adapters.ray as on_ray
from jury_adapters import Case, ConfigurationError, Critic, InputError, Limits
from jury_adapters.ray.rates import LEASE_S, Rate
from tests.on_ray import juries, runs
from tests.on_ray.clusters import local_cluster
from tests.on_ray.windows import most_within

# Ray warns of its own coming changes.
pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module", autouse=True)
def cluster():
    with local_cluster():
        yield


def test_10_000_cases_get_the_verdicts_of_one_process(tmp_path):
    assert runs.recorded_run(10_000, tmp_path).whole


def test_a_lost_worker_loses_nothing_and_doubles_nothing(tmp_path):
    outcome = runs.recorded_run(2_000, tmp_path, seconds=0.4, disturb=runs.kill_a_worker)
    assert outcome.disturbed
    assert outcome.whole


def test_both_workers_together_keep_rate_and_slots(tmp_path):
    outcome = runs.http_run(300, tmp_path, Limits(requests_per_minute=3000, max_concurrency=9))
    assert outcome.whole
    assert outcome.most_in_flight <= 9
    rate = Rate(3000, 0.0, whole=True)
    for seconds in (1, 5, 10):
        assert most_within(outcome.asked, seconds) <= 50 + rate.per_second * (seconds + LEASE_S)


def test_run_again_only_what_is_missing_is_judged_and_equal_rows_are_counted(tmp_path):
    rows = list(juries.recorded_rows(600))
    first = juries.written(tmp_path / "first.jsonl", iter(rows[:400] + rows[:10]))
    all_of_them = juries.written(tmp_path / "all.jsonl", iter(rows + rows[:10] + rows[:10]))
    on_ray.judge_dataset(first, juries.recorded, out=tmp_path / "out", batch_size=64)
    told: list[on_ray.Progress] = []
    results = on_ray.judge_dataset(
        all_of_them, juries.recorded, out=tmp_path / "out", batch_size=50, progress=told.append, total=620
    )
    assert results.count() == 620
    assert (told[-1].counts.cases, told[-1].counts.skipped, told[-1].ended) == (210, 410, True)
    assert on_ray.read_summary(tmp_path / "out").counts == told[-1].counts
    with pytest.raises(ConfigurationError, match="holds results already"):
        on_ray.judge_dataset(first, juries.recorded, out=tmp_path / "out", resume=False)


def test_relative_paths_are_those_of_this_program_and_not_of_the_workers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the workers were started elsewhere
    juries.written(tmp_path / "rows.jsonl", juries.recorded_rows(20))
    results = on_ray.judge_dataset("rows.jsonl", juries.recorded, out="out", store="runs.db", workers=1)
    assert results.count() == 20
    assert list((tmp_path / "out").glob("part-*.parquet"))
    assert (tmp_path / "runs.db").exists()


def test_a_ray_dataset_with_another_frameworks_columns_stays_a_dataset(tmp_path):
    import ray.data

    rows = [
        {"user_input": "q", "response": "a", "retrieved_contexts": ["c"], "votes": {"gpt-4o": {"label": "valid"}}},
        {"user_input": "q", "response": "a", "retrieved_contexts": ["c"], "votes": {"gpt-4.1-mini": {"label": "no"}}},
    ]
    judged = on_ray.judge_dataset(ray.data.from_items(rows), juries.recorded, workers=1).take_all()
    expected = [juries.recorded().judge(Case.from_row(row)).canonical_json() for row in rows]
    assert sorted(row["canonical_json"] for row in judged) == sorted(expected)
    assert judged[0]["key"] == judged[1]["key"] == Case.from_row(rows[0]).content_hash
    assert (judged[0]["question"], judged[0]["contexts"]) == ("q", ["c"])


def test_a_row_that_is_no_case_has_an_error_that_says_why(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"response": "a"}\nnot json\n{"anwser": "b"}\n')
    judged = on_ray.judge_dataset(path, partial(juries.recorded), out=tmp_path / "out", workers=1).take_all()
    said = {row["position"].rpartition(":")[2]: row for row in judged}
    assert said["1"]["status"] != "ERROR"
    assert "not JSON" in json.loads(said["2"]["canonical_json"])["reasoning"]
    assert "there are anwser" in json.loads(said["3"]["canonical_json"])["reasoning"]


def test_a_jury_file_that_has_changed_does_not_go_on_in_the_same_folder(tmp_path):
    rows = juries.written(tmp_path / "rows.jsonl", juries.numbered_rows(20))
    jury = tmp_path / "jury.yaml"
    jury.write_text("jurors: [{check: not_empty}, {check: length_between, maximum: 80}]\n")
    results = on_ray.judge_dataset(rows, jury, out=tmp_path / "out", workers=1)
    assert results.count() == 20
    jury.write_text("jurors: [{check: not_empty}]\n")
    with pytest.raises(ConfigurationError, match="the jury file has changed"):
        on_ray.judge_dataset(rows, jury, out=tmp_path / "out")


def test_what_cannot_work_is_said_at_once(tmp_path):
    rows = juries.written(tmp_path / "rows.jsonl", juries.numbered_rows(3))
    literal = Critic("openai:gpt-4o", "correctness_without_reference", name="a", api_key="sk-0123456789abcdef")
    with pytest.raises(ConfigurationError, match="literal api_key") as caught:
        on_ray.judge_dataset(rows, literal)
    assert "0123456789abcdef" not in str(caught.value)
    with pytest.raises(ConfigurationError, match="no such jury file"):
        on_ray.judge_dataset(rows, tmp_path / "none.yaml")
    with pytest.raises(ConfigurationError, match="a jury is a judge"):
        on_ray.judge_dataset(rows, 3)
    with pytest.raises(InputError, match="no such file"):
        on_ray.judge_dataset(tmp_path / "none.jsonl", juries.recorded)
    with pytest.raises(ConfigurationError, match="workers is a whole number"):
        on_ray.judge_dataset(rows, juries.recorded, workers=0)


def only_here(monkeypatch):
    """A function of a module that no worker has."""
    module = ModuleType("only_here")
    exec("def jury(): ...", vars(module))
    monkeypatch.setitem(sys.modules, "only_here", module)
    return module.jury


@pytest.mark.parametrize(
    ("jury", "said"),
    [
        (dict, r"a worker cannot judge: the function made no judge, but dict"),
        (juries.missing_file, r"cannot be made here \(FileNotFoundError: .*nowhere.txt"),
        (
            only_here,
            r"cannot be made here \(ModuleNotFoundError: No module named 'only_here'\); modules, files and keys",
        ),
    ],
)
def test_a_jury_that_cannot_be_built_on_the_worker_says_why(tmp_path, monkeypatch, jury, said):
    jury = jury(monkeypatch) if jury is only_here else jury
    rows = juries.written(tmp_path / "rows.jsonl", juries.numbered_rows(3))
    with pytest.raises(ConfigurationError, match=said):
        on_ray.judge_dataset(rows, jury, out=tmp_path / "out", workers=1)


def test_workers_load_a_jury_file_with_the_permissions_that_it_was_given(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "env-0123456789-secret")
    rows = juries.written(tmp_path / "rows.jsonl", iter([{"answer": "it is so", "workspace": str(tmp_path)}]))
    jury = tmp_path / "jury.yaml"
    jury.write_text("jurors: [{check: command, argv: ['true']}]\n")
    with pytest.raises(ConfigurationError, match=r"allow_commands=True"):
        on_ray.judge_dataset(rows, jury, out=tmp_path / "a", workers=1)
    allowed = on_ray.judge_dataset(rows, jury, out=tmp_path / "b", workers=1, allow_commands=True)
    assert [row["status"] for row in allowed.take_all()] == ["PASS"]
    jury.write_text("jurors: [{criterion: ok, model: 'openai:m', base_url: 'http://localhost:9/v1'}]\n")
    with pytest.raises(ConfigurationError, match=r"allow_base_url=True"):
        on_ray.judge_dataset(rows, jury, out=tmp_path / "c", workers=1)


def test_the_images_of_rows_are_in_the_folder_of_their_file_as_on_one_machine(tmp_path, caplog):
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "plan.png").write_bytes(png())
    (tmp_path / "rows" / "readme.md").write_text("Rows of a plan.")
    path = juries.written(tmp_path / "rows" / "a.jsonl", iter([{"answer": "a plan", "images": ["plan.png"]}]))
    for where in (path, tmp_path / "rows", f"{tmp_path}/r*/*.jsonl"):
        [row] = on_ray.judge_dataset(where, partial(juries.recorded), workers=1).take_all()
        assert "not a case" not in row["canonical_json"], where
        assert json.loads(row["attachments"])[0]["mime_type"] == "image/png"
    assert "2 files left out, because rows are not read from such files: plan.png, readme.md" in caplog.text


def test_files_that_cannot_be_read_are_refused_before_anything_is_judged(tmp_path):
    juries.written(tmp_path / "a.jsonl", juries.numbered_rows(3))
    (tmp_path / "b.xlsx").write_bytes(b"PK")
    with pytest.raises(InputError, match=r"b\.xlsx: a spreadsheet is not read"):
        on_ray.judge_dataset(f"{tmp_path}/*", juries.recorded, out=tmp_path / "out")
    (tmp_path / "b.xlsx").rename(tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"b\.parquet is a Parquet file, and a\.jsonl is not"):
        on_ray.judge_dataset(tmp_path, juries.recorded, out=tmp_path / "out")


def test_a_misspelt_name_of_limits_is_said_before_anything_is_asked(tmp_path):
    rows = juries.written(tmp_path / "rows.jsonl", juries.numbered_rows(3))
    limits = {"opnai": Limits(requests_per_minute=5)}
    with pytest.raises(ConfigurationError, match="limits= has 'opnai'"):
        on_ray.judge_dataset(rows, juries.recorded, out=tmp_path / "out", workers=1, limits=limits)
