"""Redaction of everything that looks like a key, and of nothing else, in all that is kept or shown."""

import pytest
from support.proportion import assert_proportional

from jury_adapters import Ensemble, Judge, judge
from jury_adapters.core.fallbacks import FallbackJudge
from jury_adapters.core.secrets import error_text, without_keys

HEX = "0f3e9a0c55d24e1b8c6d77aa"
TOLD = {
    "OpenAI": "sk-proj-Abc0123456789-xyz",
    "bearer": "Bearer abc.def.ghi-012",
    "AWS": "AKIAIOSFODNN7EXAMPLE",
    "AWS, for a session": "ASIAIOSFODNN7EXAMPLE",
    "hex": HEX,
    "UUID": "123e4567-e89b-12d3-a456-426614174000",
    "GitHub": "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "Hugging Face": "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
}
SENTENCES = {
    "OpenAI": "401: {} is no key",
    "bearer": "header Authorization: {} refused",
    "AWS": "signed by {}, who is unknown",
    "AWS, for a session": "signed by {}",
    "hex": "GET /v1?api_key={}&x=1",
    "UUID": "{{'token': '{}'}}",
    "GitHub": "clone of https://{}@host",
    "Hugging Face": "no access for {}.",
}


@pytest.mark.parametrize("kind", TOLD)
def test_what_looks_like_a_key_goes_and_the_rest_stays(kind):
    key, sentence = TOLD[kind], SENTENCES[kind]
    told = without_keys(sentence.format(key))
    assert key not in told
    assert "[key]" in told
    before, _, after = sentence.format(key).partition(key)
    assert told.startswith(before)
    assert told.endswith(after) or kind == "bearer"


@pytest.mark.parametrize(
    "text",
    [
        "the key-performance index of a key-value-store",
        f"commit {HEX} is not there",
        "key=answer_relevance_score",
        "token: unexpected end of input",
        "max_tokens=4096000000",
        "KeyError: 'contexts'",
        "a task-oriented, risk-averse desk-researcher",
        "",
    ],
)
def test_plain_words_and_hashes_stay(text):
    assert without_keys(text) == text


@pytest.mark.parametrize(("begin", "piece"), [("key", " "), ("", "key"), ("", "a_"), ("", "sk-")])
def test_any_text_takes_time_in_proportion(begin, piece):
    assert_proportional(lambda size: without_keys(begin + piece * (size // len(piece))), 10_000)


@judge
def leaking(case):
    raise RuntimeError(SENTENCES[case.question].format(TOLD[case.question]))


@judge
async def waiting(case):
    raise RuntimeError(SENTENCES[case.question].format(TOLD[case.question]))


def voting(judgments):
    raise RuntimeError(SENTENCES[judgments[0].reasoning].format(TOLD[judgments[0].reasoning]))


@pytest.mark.parametrize("kind", TOLD)
@pytest.mark.parametrize(
    "broken",
    [
        leaking,
        waiting,
        leaking.with_timeout(60),
        leaking.with_fallbacks([waiting]),
        Ensemble([leaking, leaking]),
        Ensemble([leaking]) & leaking,
        Ensemble([lambda case: (True, case.question)], voting=voting),
    ],
    ids=["function", "async", "in a thread", "with a fallback", "jury", "chain", "vote"],
)
def test_the_error_of_a_judge_shows_no_key(broken: Judge, kind):
    judgment = broken.judge(question=kind)
    assert judgment.status == "ERROR"
    assert "[key]" in judgment.to_json()
    assert TOLD[kind] not in f"{judgment.to_json()} {judgment!r} {judgment} {judgment._repr_html_()}"
    assert isinstance(broken, FallbackJudge) is ("its fallback" in judgment.error)


def test_a_key_of_the_environment_is_hidden_in_what_a_function_raises(monkeypatch):
    monkeypatch.setenv("SOMEBODY_API_KEY", "correct horse battery staple")

    @judge
    def broken(case):
        raise ConnectionError("refused: correct horse battery staple")

    assert broken.judge("?").error == "ConnectionError: refused: [key]"


def test_the_text_of_a_group_of_exceptions_says_what_happened_and_has_no_key():
    group = ExceptionGroup(
        "unhandled", [ValueError("no sk-aaaabbbbccccdddd"), ExceptionGroup("more", [OSError("gone")])]
    )
    assert error_text(group) == (
        "ExceptionGroup: unhandled (2 sub-exceptions): ValueError: no [key]; "
        "ExceptionGroup: more (1 sub-exception): OSError: gone"
    )
    many = error_text(ExceptionGroup("many", [KeyError(number) for number in range(50)]))
    assert many.endswith("KeyError: 2; ...")
    deep = ValueError("at the bottom")
    for _ in range(2000):
        deep = ExceptionGroup("deep", [deep])
    assert error_text(deep).startswith("ExceptionGroup: deep (1 sub-exception): ExceptionGroup: deep")
