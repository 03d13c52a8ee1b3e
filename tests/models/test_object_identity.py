"""Identity of a model object: everything that decides its answers, no secret, the same in every process."""

import dataclasses
import enum
import functools
import json
import pathlib

import pytest
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from jury_adapters.models.object_identity import identity_of_object, plain_setting

SECRET = "not-like-a-key-at-all"


class Kind(enum.Enum):
    FAST = "fast"


@dataclasses.dataclass
class Audio:
    voice: str = "low"
    api_key: str = SECRET


class Inner(BaseModel):
    effort: str = "high"
    token: str = SECRET


class Model(BaseModel):
    model_config = ConfigDict(protected_namespaces=())

    model: str = "m"
    temperature: float | None = None
    base_url: str | None = None
    strict: bool = False
    model_kwargs: dict = Field(default_factory=dict)
    api_key: str | None = None
    max_retries: int = 2
    timeout: float = 60.0


def plain_function(text):
    return text


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (0.5, 0.5),
        (Kind.FAST, "fast"),
        ((1, "a", None), [1, "a", None]),
        ({"b", "a"}, ["a", "b"]),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        (SecretStr(SECRET), None),
        (b"bytes", None),
        ({"X-Api-Key": SECRET, "Authorization": SECRET, "x-team": "blue", "maxTokens": 5, "token": 5}, {
            "x-team": "blue", "maxTokens": 5, "token": 5}),
        ({"credentials": {"user": SECRET}, "keys": [SECRET]}, {}),
        (f"https://me:{SECRET}@host/v1?key={SECRET}", "https://host/v1"),
        ("sk-0123456789abcdef", "[key]"),
        ("see https://host/x for rules", "see https://host/x for rules"),
        (plain_function, f"{__name__}.plain_function"),
        (functools.partial(plain_function, text="a"), ["partial", f"{__name__}.plain_function", [], {"text": "a"}]),
        (Audio(), [f"{__name__}.Audio", {"voice": "low"}]),
        (Inner(), [f"{__name__}.Inner", {"effort": "high"}]),
        (object(), "builtins.object"),
    ],
)  # fmt: skip
def test_a_setting_is_plain_and_without_secrets(value, plain):
    assert plain_setting(value) == plain
    json.dumps(plain_setting(value))


def test_a_setting_that_holds_itself_ends():
    loop = []
    loop.append(loop)
    assert "..." in json.dumps(plain_setting(loop))


@pytest.mark.parametrize(
    "other",
    [
        {"model": "n"}, {"temperature": 0.5}, {"base_url": "http://localhost:1"}, {"strict": True},
        {"model_kwargs": {"seed": 1}}, {"model_kwargs": {"extra_headers": {"x-provider": "a"}}},
    ],
)  # fmt: skip
def test_what_decides_the_answers_tells_objects_apart(other):
    assert identity_of_object(Model()) != identity_of_object(Model(**other))


@pytest.mark.parametrize(
    "other",
    [
        {"api_key": SECRET}, {"max_retries": 7}, {"timeout": 1.0}, {"model_kwargs": {"api_key": SECRET}},
        {"temperature": None},
    ],
)  # fmt: skip
def test_keys_and_how_a_call_is_made_do_not(other):
    assert identity_of_object(Model()) == identity_of_object(Model(**other))


def test_a_new_setting_that_is_off_does_not_count():
    newer = type("Model", (Model,), {"__module__": Model.__module__, "__annotations__": {"fast": bool}, "fast": False})
    assert identity_of_object(Model()) == identity_of_object(newer())
    assert identity_of_object(Model()) != identity_of_object(newer(fast=True))


def test_the_address_is_the_clients_and_else_the_objects_own():
    class Client:
        base_url = "http://localhost:2/v1/"

    class Late(Model):
        client: object = None

    assert identity_of_object(Late(base_url="http://localhost:1")).address == "http://localhost:1"
    elsewhere = Late(base_url="http://localhost:1", client=Client())
    assert identity_of_object(elsewhere).address == "http://localhost:2/v1"
    # A client that is made late, and adds to the path, makes no difference.
    assert identity_of_object(Late(base_url="http://localhost:2", client=Client())) == identity_of_object(
        Late(base_url="http://localhost:2")
    )


def test_an_object_without_model_and_address_is_not_known():
    class Fake(BaseModel):
        answers: list[str] = Field(default_factory=list)

    assert not identity_of_object(Fake()).known
    assert not identity_of_object(object()).known
    assert identity_of_object(Model()).known
