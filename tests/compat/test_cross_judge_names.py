"""The same names, arguments, defaults, prompts and exceptions as the released package."""

import copy
import dataclasses
import importlib
import inspect
import pickle
from importlib import resources
from pathlib import Path
from types import ModuleType, SimpleNamespace

import cross_judge as theirs
import pytest
from pydantic import BaseModel, SecretStr, ValidationError

import jury_adapters.compat.cross_judge as ours

SUBMODULES = (
    "core", "ensemble", "verdict", "voting", "schema", "vendors", "reviewer", "panel", "aggregation", "prompts"
)  # fmt: skip
TYPES = ("VerdictKind", "VerdictLabel", "VotingName", "VotingStrategy", "AggregationStrategy")


def test_every_public_name_is_there():
    assert sorted(ours.__all__) == sorted(theirs.__all__)
    for name in ours.__all__:
        assert hasattr(ours, name)
    assert ours.__version__ == theirs.__version__


@pytest.mark.parametrize("submodule", SUBMODULES)
def test_every_submodule_has_its_names(submodule):
    their_module = importlib.import_module(f"cross_judge.{submodule}")
    our_module = importlib.import_module(f"jury_adapters.compat.cross_judge.{submodule}")
    names = public_names(their_module)
    assert names
    for name in names:
        same_shape(getattr(our_module, name), getattr(their_module, name), name)


def public_names(module: ModuleType) -> list[str]:
    """Names that a module defines itself: its classes and functions, its types, and its constants."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (getattr(value, "__module__", None) == module.__name__ or name.isupper() or name in TYPES)
    ]


def same_shape(our: object, their: object, name: str) -> None:
    """The same fields, defaults and arguments; constants are equal."""
    if our is their:
        return
    if inspect.isclass(their) and issubclass(their, BaseModel):
        assert [(n, f.annotation, f.default) for n, f in our.model_fields.items() if n != "verdicts"] == [
            (n, f.annotation, f.default) for n, f in their.model_fields.items() if n != "verdicts"
        ]
        assert list(our.model_fields) == list(their.model_fields)
        assert our.model_config == their.model_config
        for attribute in ("verdict", "rationale", "reviewer_id"):
            assert hasattr(our, attribute) == hasattr(their, attribute)
    elif dataclasses.is_dataclass(their):
        assert shape(our) == shape(their)
    if inspect.isclass(their) and not issubclass(their, BaseModel):
        methods = [n for n, value in vars(their).items() if inspect.isroutine(getattr(their, n)) and n[0] != "_"]
        for method in methods:
            assert arguments(getattr(our, method)) == arguments(getattr(their, method)), f"{name}.{method}"
    elif inspect.isfunction(their):
        assert arguments(our) == arguments(their), name
    elif isinstance(their, str | tuple):
        assert our == their
    elif isinstance(their, dict):
        assert list(our) == list(their)


def shape(kind: type) -> list[tuple[str, object, bool]]:
    return [(f.name, f.default, f.repr) for f in dataclasses.fields(kind)]


def arguments(function: object) -> list[tuple[str, object, object]]:
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


def test_the_vendors_and_their_addresses_are_the_same():
    assert ours.VENDOR_DEFAULTS == theirs.VENDOR_DEFAULTS
    assert {n: dataclasses.asdict(v) for n, v in ours.VENDORS.items()} == {
        n: dataclasses.asdict(v) for n, v in theirs.VENDORS.items()
    }
    assert ours.Critic("a", "m").vendor == ours.Reviewer("a", "m").vendor == "deepseek"


def test_the_prompts_are_the_same_word_for_word():
    for file in resources.files("cross_judge").joinpath("prompts").iterdir():
        mine = Path(ours.__file__).parent / "prompts" / file.name
        assert mine.read_bytes() == file.read_bytes()
        their_critic = theirs.Critic.from_yaml_prompt("n", "m", str(file), temperature=0.3)
        our_critic = ours.Critic.from_yaml_prompt("n", "m", str(mine), temperature=0.3)
        assert dataclasses.asdict(our_critic) == dataclasses.asdict(their_critic)
    our_prompts = importlib.import_module("jury_adapters.compat.cross_judge.prompts")
    their_prompts = importlib.import_module("cross_judge.prompts")
    for item in ("plain", "{labels} and {x}"):
        assert our_prompts.render_user_prompt(item, ["A", "B"]) == their_prompts.render_user_prompt(item, ["A", "B"])


@pytest.mark.parametrize("module", [ours, theirs], ids=["ours", "theirs"])
def test_what_callers_catch(module, monkeypatch):
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    for call in (
        lambda: module.get_vendor("nobody"),
        lambda: module.get_strategy("nothing"),
        lambda: module.get_voting_strategy("nothing"),
        lambda: module.make_client("nobody"),
        lambda: module.Critic("c", "m", "{query} {other}", api_key="k").judge("q"),
        lambda: module.Ensemble([module.Critic("c", "m", "{other}", api_key="k")]).judge("q"),
        lambda: module.Ensemble([], "nothing").judge("q"),
    ):
        with pytest.raises(KeyError):
            call()
    with pytest.raises(RuntimeError, match=r"^Missing API key for vendor 'deepseek'. Set DEEPSEEK_API_KEY env var"):
        module.make_client()
    with pytest.raises(RuntimeError, match="Missing API key"):
        module.Reviewer("r", "m").ask("q")
    with pytest.raises(ValueError, match=r"Pass base_url=... explicitly for custom vendors"):
        module.Critic("c", "m", vendor="custom").judge("q")
    for wrong in ({}, {"kind": "A", "confidence": 1.1}, {"kind": "A", "confidence": float("nan")}):
        with pytest.raises(ValidationError):
            module.Verdict(**wrong)


@pytest.mark.parametrize("module", [ours, theirs], ids=["ours", "theirs"])
def test_a_missing_key_of_a_critic_is_a_verdict(module, monkeypatch):
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    verdict = module.Critic("c", "m").judge("q")
    assert (verdict.kind, verdict.critic_id, verdict.confidence) == ("ERROR", "c", 0.0)
    assert "Missing API key for vendor 'deepseek'. Set DEEPSEEK_API_KEY env var" in verdict.error
    assert verdict.reasoning == verdict.error


def test_clients_are_the_same(monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", "from-the-environment")
    for arguments_ in (("openrouter",), ("openai", "k"), ("OpenAI", "k", "http://127.0.0.1:1/v1")):
        with ours.make_client(*arguments_) as mine, theirs.make_client(*arguments_) as yours:
            assert type(mine) is type(yours)
            assert (mine.base_url, mine.api_key) == (yours.base_url, yours.api_key)


SECRET = "sk-0123456789abcdef"


def holders():
    """Everything of this API that keeps a key."""
    return [ours.Critic("c", "m", api_key=SECRET), ours.Reviewer("r", "m", api_key=SecretStr(SECRET))]


def test_a_key_is_kept_as_a_secret():
    for holder in holders():
        assert isinstance(holder.api_key, SecretStr)
        assert holder.api_key.get_secret_value() == SECRET
        holder.api_key = "sk-another-0123456"
        shown = f"{holder!r} {vars(holder)} {dataclasses.asdict(holder)} {holder.as_judge()!r}"
        assert "0123456" not in shown
        assert dataclasses.replace(holder).api_key == copy.deepcopy(holder).api_key == copy.copy(holder).api_key
        holder.api_key = None
        assert holder.api_key is None


def test_a_key_is_not_pickled():
    for holder in holders():
        with pytest.raises(TypeError, match="literal api_key= is not pickled"):
            pickle.dumps(holder)
        holder.api_key = None
        assert pickle.loads(pickle.dumps(holder)) == holder


def test_a_key_of_the_environment_is_not_kept(monkeypatch):
    monkeypatch.setenv("DEEPSEEK_API_KEY", SECRET)
    client = SimpleNamespace(post=lambda url, json, headers: sent.append(headers) or 1 / 0)
    sent = []
    for critic in (ours.Critic("c", "m"), ours.Critic("c", "m", http_client=client)):
        judge = critic.as_judge()
        assert SECRET not in repr([vars(judge), vars(judge.model.inner)])
    verdict = ours.Critic("c", "m", http_client=client).judge("q")
    assert sent[0]["Authorization"] == f"Bearer {SECRET}"
    assert SECRET not in verdict.model_dump_json()


def test_a_client_takes_a_secret():
    with ours.make_client("openai", SecretStr(SECRET)) as client:
        assert client.api_key == SECRET
