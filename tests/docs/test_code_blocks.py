"""Every code block of the documentation is run: the README, the docs, the recipes' pages, CONTRIBUTING.

A page is followed from top to bottom in an empty folder. Python blocks share one namespace; ``sh`` blocks call the
real command line; a block with ``title="name"`` becomes a file; YAML blocks load as jury files; a ``text`` or
``console`` block is compared with what was printed before it, where ``...`` stands for anything. Models by name are
asked at a local server that speaks as the vendors do, and answers YES unless the judged text holds ``TRUTH=NO``.

With ``JURY_DOCS_WRITE=1`` what is printed is written into the pages; read the difference before you keep it.
"""

import os
from collections import Counter

import pytest
from doc_pages import PAGES, ROOT, Block, blocks_of, called
from doc_runner import LANGUAGES, PageError, PageRunner, with_outputs
from doc_setups import SETUPS, Alerts, setup_of

WRITES = bool(os.environ.get("JURY_DOCS_WRITE"))

# Lines of `sh` blocks that are not run, by how they begin. What follows from them is tested elsewhere, where possible.
LINES_NOT_RUN = {
    "pip ": "needs a package registry; .ci/run installs every extra, and .ci/wheel builds the wheel",
    "python3 -m venv": "needs a package registry; .ci/run runs the README's two commands in clean copies",
    "git ": "changes a repository",
    "mkdocs ": "needs the extra docs; .ci/run builds the site",
    ".ci/": "takes three quarters of an hour and more; CI runs it",
    "ruff ": "the tools of a checkout; .ci/run runs them",
    "pytest tests": "this very suite",
    "JURY_DOCS_WRITE=1": "this very test",
    "pytest -q --nbmake": "runs all notebooks for minutes; .ci/run does",
    "python tests/": "a benchmark or a table of docs/reliability; takes minutes and measures the machine",
    "open ": "opens a browser",
}

# Blocks that are not run, by page and first line. This list gets shorter, not longer.
BLOCKS_NOT_RUN = {
    ("docs/how_to/ray.md", "from jury_adapters.ray import judge_dataset, progress_bar"): "needs the extra ray",
    ("docs/how_to/ray.md", "from jury_adapters import Limits"): "needs the extra ray",
    ("cookbook/models.md", "from langchain_aws import ChatBedrockConverse"): "needs langchain-aws and an AWS account",
    ("cookbook/models.md", "from llama_index.llms.vertex import Vertex"): "needs a package of Google's and an account",
}

# Pages whose code asks models by name.
ASKS_MODELS = {
    "README.md", "docs/tutorial/models.md", "docs/how_to/real_models.md",
    "docs/how_to/llama_index_evaluators.md", "docs/how_to/langchain_evaluation.md",
    "docs/moving/langchain_evaluators.md", "docs/moving/llama_index_evaluators.md",
}  # fmt: skip

TEXTS = {called(page): page.read_text(encoding="utf-8") for page in PAGES}
BLOCKS = {page: blocks_of(text) for page, text in TEXTS.items()}


def left_out(page: str, line: str) -> str:
    """Reason why a block, given by its first line, or a shell line is not run; empty if it is run."""
    begun = next((reason for begins, reason in LINES_NOT_RUN.items() if line.startswith(begins)), "")
    return BLOCKS_NOT_RUN.get((page, line), "") or begun


# Two warnings that LlamaIndex and LangSmith give of themselves.
@pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")
@pytest.mark.parametrize(
    "page",
    # The README runs always, and all pages do where their outputs are written.
    [
        pytest.param(page, marks=[] if WRITES or page == "README.md" else pytest.mark.corpus)
        for page, blocks in BLOCKS.items()
        if blocks
    ],
)
def test_a_page_does_what_it_says(page, reader, vendors, capsys):
    asked_before = len(vendors.asks)
    runner = PageRunner(page, setup_of(page), lambda: capsys.readouterr().out, left_out)
    problems = []
    try:
        for block in BLOCKS[page]:
            problems += runner.problem_with(block)
    finally:
        if WRITES:
            assert (ROOT / page).read_text(encoding="utf-8") == TEXTS[page], "somebody has edited the page meanwhile"
            (ROOT / page).write_text(with_outputs(TEXTS[page], runner.outputs), encoding="utf-8")
    assert not problems, "\n\n".join(problems)
    # A judge never raises, so that code runs is not proof that anybody was asked.
    assert len(vendors.asks) > asked_before or page not in ASKS_MODELS
    for heard in (name for name in runner.names.values() if isinstance(name, Alerts)):
        assert heard, "nothing was judged"
        assert {judged.judgment.error for judged in heard} == {None}


def test_what_is_not_run_is_on_the_lists_and_nothing_else():
    blocks = Counter((page, block.first_line) for page, found in BLOCKS.items() for block in found)
    lines = [
        line for found in BLOCKS.values() for block in found if block.language == "sh"
        for line in block.code.splitlines()
    ]  # fmt: skip

    assert all(blocks[entry] == 1 for entry in BLOCKS_NOT_RUN), "an entry fits no block, or several"
    assert all(any(line.startswith(begins) for line in lines) for begins in LINES_NOT_RUN), "an entry fits no line"
    assert all(reason for listed in (BLOCKS_NOT_RUN, LINES_NOT_RUN) for reason in listed.values())
    assert len(BLOCKS_NOT_RUN) <= 4
    assert len(LINES_NOT_RUN) <= 11


def test_every_block_is_of_a_language_that_is_run():
    found = {(page, block.line, block.language) for page, blocks in BLOCKS.items() for block in blocks}

    assert [place for place in sorted(found) if place[2] not in LANGUAGES] == []


def test_every_setup_has_its_page():
    assert SETUPS.keys() | ASKS_MODELS <= BLOCKS.keys()


@pytest.fixture
def runner(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    return PageRunner("page.md", {"given": 3}, lambda: capsys.readouterr().out, lambda page, line: "")


def a_block(language, code, title=""):
    return Block(language, title, code, line=7)


@pytest.mark.parametrize("shown", ["4\n", "5\n3\n", "\n"])
def test_another_output_than_the_page_shows_is_found(runner, shown):
    runner.follow(a_block("python", "print(given)\n"))

    with pytest.raises(PageError, match=r"page\.md:7: the page shows another output"):
        runner.follow(a_block("text", shown))


def test_output_is_taken_with_dots_for_anything(runner):
    runner.follow(a_block("python", "print(given, 'took 0.3 s')\n"))

    runner.follow(a_block("text", "3 took ... s\n"))


def test_output_that_follows_nothing_is_found(runner):
    with pytest.raises(PageError, match="follows nothing"):
        runner.follow(a_block("text", "3\n"))


def test_a_block_with_a_title_is_a_file_for_the_next_ones(runner, capsys):
    runner.follow(a_block("yaml", "jurors: [{check: not_empty}]\n", "jury.yaml"))
    runner.follow(a_block("jsonl", '{"answer": "Yes."}\n', "cases.jsonl"))
    runner.follow(a_block("sh", "jury judge cases.jsonl --jury jury.yaml\n"))

    assert "1 of 1 decided: 100.0 %" in runner.printed


def test_a_command_that_fails_is_found_unless_the_page_says_so(runner):
    with pytest.raises(PageError, match="exits with 2"):
        runner.follow(a_block("sh", "jury judge nothing.jsonl\n"))

    runner.follow(a_block("sh", "jury judge nothing.jsonl  # exits with 2\n"))


@pytest.mark.parametrize("code", ["jurors: [{check: no_such_check}]\n", "jurors: [{chekc: not_empty}]\n"])
def test_a_jury_file_that_is_none_is_found(runner, code):
    with pytest.raises(Exception, match=r"no_such_check|chekc"):
        runner.follow(a_block("yaml", code))


def test_an_unknown_language_is_found(runner):
    with pytest.raises(PageError, match="not 'ruby'"):
        runner.follow(a_block("ruby", "puts 1\n"))


def test_blocks_are_found_as_markdown_has_them():
    text = '```py title="a.py"\nx = 1\n```\n\n- item\n\n    ```sh\n    jury demo\n    ```\n\n````text\n```\n````\n'

    found = [(block.language, block.title, block.code, block.line) for block in blocks_of(text)]

    assert found == [("py", "a.py", "x = 1\n", 2), ("sh", "", "jury demo\n", 8), ("text", "", "```\n", 12)]
