"""``jury judge`` with images in rows: paths in the folder of the file, embedded ones, addresses, and bad ones."""

import json

import pytest
from support.pictures import data_url, encoded, png
from typer.testing import CliRunner

from jury_adapters.cli.app import app

JURY = """
jurors:
  - rubric: faithfulness
    model: openai:eyes
"""


@pytest.fixture
def run(server, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.png").write_bytes(png())
    (tmp_path / "b.png").write_bytes(png(shade=7))
    (tmp_path / "jury.yaml").write_text(JURY)

    def judge(rows, *options, name="data/rows.jsonl", **settings):
        text = "".join(json.dumps({"question": "?", "answer": "It is. TRUTH=YES", **row}) + "\n" for row in rows)
        arguments = ["judge", name, "--jury", "jury.yaml", "--out", "out.jsonl", "--force", *options]
        if name == "-":
            settings["input"] = text
        else:
            (tmp_path / name).write_text(text)
        done = CliRunner().invoke(app, arguments, catch_exceptions=False, **settings)
        out = tmp_path / "out.jsonl"
        return done, [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []

    return judge


def test_paths_are_read_from_the_folder_of_the_file(run, server, tmp_path):
    done, results = run(
        [{"images": ["a.png"]}, {"attachments": {"path": "a.png", "role": "answer"}, "contexts": ["A chart."]}]
    )
    assert done.exit_code == 0
    assert [row["verdict"]["status"] for row in results] == ["PASS", "PASS"]
    assert all(encoded(png()) in json.dumps(ask.body) for ask in server.asks)
    written = (tmp_path / "out.jsonl").read_text()
    assert encoded(png()) not in written
    assert "a.png" not in written


def test_a_cell_of_a_csv_file_names_several_images_and_their_roles(run, server, tmp_path):
    table = """question,answer,images
?,It is. TRUTH=YES,"[""a.png"", {""path"": ""a.png"", ""role"": ""answer""}]"
?,It is. TRUTH=YES,a.png
?,It is. TRUTH=YES,"{""path"": ""a.png"", ""role"": ""question""}"
"""
    (tmp_path / "data" / "rows.csv").write_text(table)
    options = ["judge", "data/rows.csv", "--jury", "jury.yaml", "--out", "out.jsonl", "--force"]
    done = CliRunner().invoke(app, options, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    statuses = [json.loads(line)["verdict"]["status"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert statuses == ["PASS", "PASS", "ABSTAIN"]  # faithfulness needs contexts, which may be an image
    assert sorted(json.dumps(ask.body).count(encoded(png())) for ask in server.asks) == [1, 2]


def test_embedded_images_need_no_folder(run, server):
    done, results = run([{"images": [data_url(png())]}], name="-")
    assert (done.exit_code, results[0]["verdict"]["status"]) == (0, "PASS")


@pytest.mark.parametrize("path", ["../b.png", "missing.png", "/etc/passwd"])
def test_a_row_that_names_another_file_is_unreadable_with_its_line(run, server, path):
    done, results = run([{"images": ["a.png"]}, {"images": [path]}])
    assert len(results) == len(server.asks) == 1
    assert "line 2" in done.output
    assert "folder of images" in " ".join(done.output.split())
    assert run([{"images": [path]}], "--strict")[0].exit_code == 2


def test_another_folder_is_allowed_by_an_option(run):
    done, results = run([{"images": ["b.png"]}], "--image-folder", ".")
    assert (done.exit_code, results[0]["verdict"]["status"]) == (0, "PASS")
    done, results = run([{"images": ["b.png"]}], "--image-folder", ".", name="-")
    assert (done.exit_code, results[0]["verdict"]["status"]) == (0, "PASS")


def test_standard_input_may_name_no_files(run, server):
    done, _ = run([{"images": ["b.png"]}], name="-")
    assert done.exit_code == 2
    assert "--image-folder" in " ".join(done.output.split())
    assert not server.asks


def test_an_address_is_an_abstention_unless_the_jury_allows_it(run, server, tmp_path):
    row = {"images": ["https://example.org/a.png"]}
    _, results = run([row])
    assert results[0]["verdict"]["status"] == "ABSTAIN"
    (tmp_path / "jury.yaml").write_text(JURY + "    image_urls: true\n")
    _, results = run([row])
    assert results[0]["verdict"]["status"] == "PASS"
    assert "https://example.org/a.png" in json.dumps(server.asks[-1].body)


def test_a_damaged_image_is_an_unreadable_row(run, server, tmp_path):
    (tmp_path / "data" / "a.png").write_bytes(png()[:40])
    done, _ = run([{"images": ["a.png"]}])
    assert done.exit_code == 2
    assert "damaged or cut off" in " ".join(done.output.split())
    assert not server.asks
