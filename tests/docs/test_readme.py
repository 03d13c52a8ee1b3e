"""The README: short enough to read, with a section for each way to use the package."""

from doc_pages import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_can_be_read_in_ten_minutes():
    assert len(README.splitlines()) <= 250


def test_it_has_a_section_for_each_reader():
    headings = [line.removeprefix("## ") for line in README.splitlines() if line.startswith("## ")]
    assert headings == [
        "Two commands", "Judge your own file", "From Python", "Ask models", "What plugs in where", "In LlamaIndex",
        "In LangChain", "In tests", "Measured", "Honest limits", "Where to go on",
    ]  # fmt: skip
