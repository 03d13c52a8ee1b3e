"""Reading and writing: results files, pages, and what is never replaced."""

import gzip
import json
import os

import pytest
from panels import results, said

import jury_adapters.report as face
from jury_adapters import Ensemble, ResultsFile
from jury_adapters.core.values import ConfigurationError, InputError
from jury_adapters.report import Report
from jury_adapters.report.render import Rendering, Table

ROWS = [("q1", "PPP", None), ("q2", "FFF", None)]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text("".join(one.model_dump_json(exclude_defaults=True) + "\n" for one in results(ROWS)))
    return path


def test_a_file_of_a_run_is_read_packed_or_not(tmp_path):
    path = tmp_path / "run.jsonl"
    jury = Ensemble({"short": lambda case: len(case.answer) < 9, "polite": lambda case: "!" not in case.answer})
    cases = [{"id": str(n), "answer": text, "metadata": {"gold": "pass"}} for n, text in enumerate(("Yes.", "No!"))]
    with ResultsFile(path, jury, label="gold") as kept:
        assert len([*kept.judge(cases)]) == 2
    packed = tmp_path / "run.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    found = [Report(path), Report(str(packed), title="run.jsonl")]
    assert (
        found[0].to_dict(),
        found[0].title,
        found[0].tables()[0].title.startswith("2 cases, 2 decided: 50.0 %"),
    ) == (found[1].to_dict(), "run.jsonl", True)


def test_a_line_that_is_no_result_is_named(file):
    with pytest.raises(InputError, match=r"nowhere\.jsonl: No such file"):
        Report("nowhere.jsonl")
    file.write_text(file.read_text() + '{"jury": "j", "case": null, "judgment": {"status": "MAYBE"}}\n')
    with pytest.raises(InputError, match=r"results\.jsonl, line 3: no result: judgment\.status"):
        Report(file)


@pytest.mark.parametrize("name", ["page.html", "PAGE.HTML", "report.md", "report.json"])
def test_a_report_is_written_by_its_suffix(file, tmp_path, name):
    report = Report(file)
    path = report.write(tmp_path / name)
    forms = {".html": report.to_html, ".md": report.to_markdown, ".json": report.to_json}
    assert (path.read_text(encoding="utf-8"), {one.name for one in tmp_path.iterdir()}) == (
        forms[path.suffix.lower()](),
        {"results.jsonl", name},
    )
    report.write(path)  # an earlier report is replaced


def test_other_places_are_refused(file, tmp_path):
    report, before = Report(file), file.read_bytes()
    page = tmp_path / "linked.html"
    page.symlink_to(file)
    copy = tmp_path / "copy.html"
    os.link(file, copy)
    (tmp_path / "folder.html").mkdir()
    os.mkfifo(tmp_path / "pipe.html")
    places = {
        "report.pdf": "ends in .html, .md, .json",
        "report": "ends in .html, .md, .json",
        "linked.html": "is an input",
        "copy.html": "is an input",
        "folder.html": "not a regular file",
        "pipe.html": "not a regular file",
        "none/page.html": "cannot be written",
        "results.jsonl/page.html": "cannot be written",
    }
    for name, why in places.items():
        with pytest.raises(ConfigurationError, match=why):
            report.write(tmp_path / name)
    assert (file.read_bytes(), page.is_symlink()) == (before, True)


def test_a_file_is_complete_or_not_there(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")

    class Stopped(Rendering):
        def items(self):
            raise RuntimeError("stopped")
            yield

    with pytest.raises(RuntimeError):
        Stopped("new", (), ()).write(path)
    assert (path.read_text(), [one.name for one in tmp_path.iterdir()]) == ("old", ["page.html"])


def test_a_link_is_followed(tmp_path, file):
    target, link = tmp_path / "target.md", tmp_path / "link.md"
    target.write_text("old")
    link.symlink_to(target)
    Report(file).write(link)
    assert link.is_symlink()
    assert target.read_text().startswith("## ")


def test_no_case_at_all_is_a_report_too(tmp_path):
    (tmp_path / "empty.jsonl").touch()
    report = Report(tmp_path / "empty.jsonl")
    assert report.tables() == (Table("0 cases, 0 decided", ("verdict", "#cases", "#of all"), ()),)
    assert (
        "0 cases" in report.to_html(),
        "0 cases" in str(report),
        report.summary.share_passed,
        json.loads(report.to_json())["pass_rate"]["value"],
    ) == (True, True, None, None)
    assert report.to_markdown() == "## `empty.jsonl`\n\n### 0 cases, 0 decided\n"


def test_the_page_works_without_its_script():
    page = Report([said("P"), said("F", reasoning="the year is another")]).to_html()
    assert (page.count("<details "), "the year is another" in page) == (2, True)
    assert 'id="filters" hidden' in page  # controls that need the script are shown by it


def test_numbers_and_empty_cells_in_a_table():
    table = Table("t", ("name", "#n"), (("a", 12345), ("b", 0.5), ("c", None), ("d", -0.25)), "note")
    assert Rendering("", (table,), ()).to_markdown() == (
        "### t\n\n| name | n |\n| --- | ---: |\n| a | 12,345 |\n| b | 0.500 |\n| c |  |\n| d | -0.250 |\n\nnote\n"
    )


def test_the_face_has_its_names():
    assert {name: getattr(face, name).__name__ for name in face.__all__} == {name: name for name in face.__all__}
