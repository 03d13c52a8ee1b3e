"""Jury files that may come from anyone: keys, addresses, programs, paths, and files that are built to harm."""

import asyncio
from pathlib import Path

from config_support import GUARANTEE, listening, loaded, members, problem, write

from jury_adapters.checks import CHECKS
from jury_adapters.config import load_jury
from jury_adapters.models.vendors import VENDORS

CASE = {"question": "Is it?", "answer": "It is."}
CRITIC = "criterion: 'Is it so?', model: '{model}', base_url: '{url}'"
# Every place of a file in which a judge may be, and its path.
PLACES = {
    "{{" + CRITIC + "}}": "",
    "jurors: [{{check: not_empty}}, {{" + CRITIC + "}}]": "jurors[1].",
    "jurors: {{a: {{" + CRITIC + "}}}}": "jurors.a.",
    "scorecard: {{a: {{" + CRITIC + "}}}}": "scorecard.a.",
    "jurors: [{{jurors: [{{jurors: [{{" + CRITIC + "}}]}}]}}]": "jurors[0].jurors[0].jurors[0].",
    "tiers: [{{name: only, judge: {{jurors: [{{" + CRITIC + "}}]}}}}]": "tiers[0].judge.jurors[0].",
    "jurors: [{{tiers: [{{name: only, judge: {{" + CRITIC + "}}}}]}}]": "jurors[0].tiers[0].judge.",
    "{{check: not_empty, fallbacks: [{{check: not_empty, fallbacks: [{{" + CRITIC + "}}]}}]}}":
        "fallbacks[0].fallbacks[0].",
}  # fmt: skip


def test_no_key_of_the_environment_goes_to_an_address_of_a_file(tmp_path: Path, secrets: str) -> None:
    with listening() as thief:
        url = thief.base_url("openai")
        for place, path in PLACES.items():
            for allowed in (False, True):
                said = problem(tmp_path, place.format(model="openai:m", url=url), allow_base_url=allowed)
                assert (
                    said.startswith(f"{path}base_url: no address in a file gets a key, and openai:m needs one"),
                    secrets not in said,
                ) == (True, True)
        for vendor, row in VENDORS.items():
            for name in (vendor, vendor.upper(), vendor.title()):
                text = "{" + CRITIC.format(model=f"{name}:m", url=url) + "}"
                assert ("no address in a file gets a key" in problem(tmp_path, text, allow_base_url=True)) == bool(
                    row.key_variable
                )
        assert thief.requests == []


def test_an_address_of_a_file_needs_permission_and_gets_no_key(tmp_path: Path, secrets: str) -> None:
    with listening() as server:
        url = server.base_url("openai")
        for place, path in PLACES.items():
            said = problem(tmp_path, place.format(model="vllm:m", url=url))
            assert (
                said.startswith(f"{path}base_url: this address would get the judged texts"),
                "allow_base_url=True or --allow-base-url" in said,
            ) == (True, True)
        assert server.requests == []
        for model in ("vllm:m", "ollama:m", "llama.cpp:m"):
            jury = loaded(tmp_path, "{" + CRITIC.format(model=model, url=url) + "}", allow_base_url=True)
            assert asyncio.run(jury.ajudge(CASE)).passed
        assert (len(server.requests), secrets not in repr(server.requests)) == (
            3,
            True,
        )


def test_a_local_model_without_an_address_needs_no_permission(tmp_path: Path) -> None:
    critic = loaded(tmp_path, "{criterion: 'Is it so?', model: 'ollama:m'}")
    assert critic.model.address == VENDORS["ollama"].address


# What somebody might try to say where a request goes, or which key goes with it.
OTHER_WAYS = [
    "api_key: sk-very-secret-key", "api_key_env: GEMINI_API_KEY", "key_variable: GEMINI_API_KEY", "vendor: openai",
    "http_client: x", "client: x", "default_headers: {a: b}", "headers: {a: b}", "proxy: 'http://localhost:9'",
    "organization: x", "url: 'http://localhost:9'", "endpoint: 'http://localhost:9'", "limits: {}", "store: runs.db",
    "parse: os.system", "prompt: '{answer}'", "'<<': {base_url: 'http://localhost:9/v1'}", "__class__: x",
]  # fmt: skip


def test_a_file_has_no_other_way_to_name_keys_addresses_or_code(tmp_path: Path) -> None:
    for option in OTHER_WAYS:
        for text in (f"{{criterion: x, model: 'ollama:m', {option}}}", f"{{jurors: [{{check: not_empty}}], {option}}}",
                     f"tiers: [{{name: only, judge: {{check: not_empty, {option}}}}}]"):  # fmt: skip
            said = problem(tmp_path, text, allow_base_url=True, allow_commands=True)
            assert "unknown key" in said, text
            assert "very-secret" not in said
    write(tmp_path, "criteria: x\nbase_url: http://localhost:9/v1\n", "own.yaml")
    assert "base_url: Extra inputs" in problem(tmp_path, "rubric: own.yaml\nmodel: 'ollama:m'", allow_base_url=True)


def test_a_key_that_a_file_has_in_a_wrong_place_is_not_repeated(tmp_path: Path) -> None:
    for text in ("{criterion: x, model: sk-proj-0123456789abcdef}", "{check: sk-proj-0123456789abcdef}",
                 "{rubric: sk-proj-0123456789abcdef, model: 'ollama:m'}", "{sk-proj-0123456789abcdef: 1}",
                 "{criterion: x, model: 'vllm:m', base_url: 'http://user:password0123@localhost/v1'}"):  # fmt: skip
        said = problem(tmp_path, text, allow_base_url=True)
        assert (bool(said), "0123" not in said) == (True, True)


def test_no_variable_is_put_into_an_address(tmp_path: Path, secrets: str) -> None:
    for part in ("$OPENAI_API_KEY", "${OPENAI_API_KEY}", "{}", "{key}", "%7B%7D"):
        text = "{" + CRITIC.format(model="vllm:m", url=f"http://localhost:9/{part}") + "}"
        assert loaded(tmp_path, text, allow_base_url=True).model.address == f"http://localhost:9/{part}"
        text = "{" + CRITIC.format(model="vllm:m", url=part) + "}"
        said = problem(tmp_path, text, allow_base_url=True)
        assert (said.startswith("model: base_url= is an http:// or https:// address"), secrets not in said) == (
            True,
            True,
        )


PROGRAMS = [name for name in CHECKS if CHECKS[name].runs_commands]


def test_a_check_that_runs_programs_needs_permission_everywhere(tmp_path: Path) -> None:
    assert {"command", "tests_pass", "build_passes"} <= {*PROGRAMS}
    for name in PROGRAMS:
        options = f"argv: [touch, '{tmp_path}/made']" if name == "command" else "tool: make"
        check = f"{{check: {name}, {options}}}"
        for text, path in ((check, ""), (f"jurors: [{check}]", "jurors[0]."),
                           (f"tiers: [{{name: a, judge: {{scorecard: {{b: {check}}}}}}}]",
                            "tiers[0].judge.scorecard.b."),
                           (f"{{check: not_empty, fallbacks: [{check}]}}", "fallbacks[0].")):  # fmt: skip
            said = problem(tmp_path, text)
            assert (
                said.startswith(f"{path}check: {name} runs programs"),
                "allow_commands=True or --allow-commands" in said,
                problem(tmp_path, text, allow_commands=True),
            ) == (True, True, "")
    assert not (tmp_path / "made").exists()


def test_a_file_reads_nothing_outside_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "inside"
    write(tmp_path, "criteria: Is it polite?", "outside.yaml")
    write(tmp_path, "check: not_empty", "jury.yaml")
    write(folder, "criteria: Is it polite?", "own.yaml")
    (folder / "link.yaml").symlink_to(tmp_path / "outside.yaml")
    (folder / "circle.yaml").symlink_to(folder / "circle.yaml")
    (folder / "inner.yaml").symlink_to("own.yaml")
    outside = ["../outside.yaml", f"{tmp_path}/outside.yaml", "link.yaml", "x/../../outside.yaml", "/etc/hosts.yaml",
               "circle.yaml", '"a\\0.yaml"']  # fmt: skip
    for path in outside:
        said = problem(folder, f"{{rubric: {path}, model: 'ollama:m'}}")
        assert said.startswith("rubric: ")
        assert "leads out of the folder of the jury file" in said or path == "circle.yaml"
        if path != "circle.yaml":
            assert "leads out of the folder" in problem(folder, f"{{jury: {path}, guarantee: {GUARANTEE}}}")
    for path in ("own.yaml", "./own.yaml", "x/../own.yaml", "inner.yaml", f"{folder}/own.yaml"):
        (folder / "x").mkdir(exist_ok=True)
        assert problem(folder, f"{{rubric: {path}, model: 'ollama:m'}}") == ""


def test_paths_of_a_file_do_not_depend_on_the_working_directory(tmp_path: Path, monkeypatch) -> None:
    write(tmp_path, "criteria: Is it polite?", "deep/own.yaml")
    path = write(tmp_path, "{rubric: deep/own.yaml, model: 'ollama:m'}")
    whole = load_jury(path).fingerprint
    monkeypatch.chdir(tmp_path / "deep")
    assert (
        load_jury("../jury.yaml").fingerprint,
        load_jury({"rubric": "own.yaml", "model": "ollama:m"}).fingerprint,
    ) == (whole, whole)


BOMBS = {
    "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]": "anchors, aliases and tags are not read",
    "jurors: [{check: not_empty}]\nname: " + "x" * 1_000_000: "longer than 1,000,000 characters",
    "[" * 5_000: "not YAML of plain values",
    "{a: " * 5_000: "",
    "jurors: [" * 40 + "{check: not_empty}" + "]" * 40: "",
    "{jurors: [" * 35 + "{check: not_empty}" + "]}" * 35: "juries are nested too deep",
    "{jurors: [" * 300 + "{check: not_empty}" + "]}" * 300: "",
    "jurors: [" + "{check: not_empty}, " * 500 + "]": "List should have at most 100 items",
    "timeout: 1e999\ncheck: not_empty": "timeout: Input should be a finite number",
    "jurors: [{check: not_empty}]\noptions: {min_share: '1e99999999'}": "options.min_share",
    "jurors: [{check: not_empty}]\nvoting: quorum\noptions: {quorum: 1/1e99999999}": "options.quorum",
    "check: !!python/name:os.system": "anchors, aliases and tags are not read",
    "check: !!python/object/new:os.system [touch made]": "anchors, aliases and tags are not read",
    "check: !!binary aGk=": "anchors, aliases and tags are not read",
    "? {a: b}\n: c": "is not text",
}  # fmt: skip


def test_a_file_that_is_built_to_harm_is_refused(tmp_path: Path, monkeypatch) -> None:
    """Without a refusal, some of them would be read for hours."""
    monkeypatch.chdir(tmp_path)
    for text, expected in BOMBS.items():
        said = problem(tmp_path, text)
        assert said, text[:40]
        assert (expected in said, len(said) < 5_000) == (True, True)
    assert [*tmp_path.iterdir()] == [tmp_path / "jury.yaml"]


def test_a_large_file_of_allowed_size_makes_a_jury_that_works(tmp_path: Path) -> None:
    inner = ", ".join(["{check: not_empty}"] * 50)
    jury = loaded(tmp_path, "jurors: [" + ", ".join([f"{{jurors: [{inner}]}}"] * 20) + "]")
    assert (jury.size, len(members(jury)), jury.judge(answer="Yes.").passed) == (1000, 1000, True)
    nested = loaded(tmp_path, "{jurors: [" * 25 + "{check: not_empty}" + "]}" * 25)
    assert (nested.judge(answer="Yes.").passed, bool(nested.fingerprint)) == (True, True)
