"""Side by side with the released package: the same votes, the same reading of replies, the same requests."""

import json
import random
from types import ModuleType

import cross_judge as theirs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import SLOW, examples

import jury_adapters.compat.cross_judge as ours

VOTES = 2500 if SLOW else 500
REPLIES = 800 if SLOW else 200
LABELS = ["KEEP", "REJECT", "SPLIT", "MERGE", "UNCLEAR", "PASS", "FAIL", "DISAGREE", "", "grün"]
ERRORS = [None, None, None, None, "parse_fail", "empty_response", "TimeoutError: slow", ""]
LEGACY_STRATEGIES = [
    ("majority", {}),
    ("majority", {"priority": ["FAIL", "KEEP"], "fallback": "F"}),
    ("unanimous", {}),
    ("unanimous", {"fallback": "F"}),
    ("weighted", {}),
    ("weighted", {"use_confidence": False}),
    ("weighted", {"weights": {"c0": 2.5, "c1": 0.1}, "fallback": "F"}),
    ("first_disagreement", {}),
    ("first_disagreement", {"disagree_label": "SPLIT", "fallback": "F"}),
]


def rows_of(rng: random.Random) -> list[dict[str, object]]:
    few = rng.sample(LABELS, rng.randint(1, 4))
    return [
        {
            "kind": rng.choice(few),
            "confidence": rng.choice([0.0, 1.0, 0.5, 0.1, 0.3, rng.random()]),
            "critic_id": f"c{rng.randint(0, 4)}",
            "reasoning": rng.choice(["", "so it is"]),
            "error": rng.choice(ERRORS),
        }
        for _ in range(rng.randint(0, 7))
    ]


@pytest.mark.slow
def test_votes_of_any_rows_come_out_the_same():
    rng = random.Random(20261121)
    for number in range(VOTES):
        rows = rows_of(rng)
        kwargs = {"fallback": "F"} if number % 3 == 0 else {}
        if number % 2:
            kwargs["priority"] = rng.sample(LABELS, rng.randint(0, 4))
        for voting, options in (("majority", kwargs), ("unanimous", {"fallback": "F"} if kwargs else {})):
            meta = {"n": number} if number % 2 else None
            mine, yours = (
                m.Ensemble([], voting, options).aggregate_verdicts(
                    [m.Verdict(**row) for row in rows], query_id="q", meta=meta
                )
                for m in (ours, theirs)
            )
            same_but_for_rounded_alpha(mine, yours)


@pytest.mark.slow
def test_older_votes_of_any_rows_come_out_the_same():
    rng = random.Random(17)
    for _ in range(VOTES):
        rows = [
            {
                "reviewer_id": row["critic_id"],
                "verdict": row["kind"],
                **{n: row[n] for n in ("confidence", "error")},
            }
            for row in rows_of(rng)
        ]
        for strategy, options in rng.sample(LEGACY_STRATEGIES, 4):
            mine, yours = (
                m.JudgePanel([], strategy, options).aggregate_verdicts(
                    "i", [m.LegacyVerdict(**row) for row in rows], meta={"a": 1}
                )
                for m in (ours, theirs)
            )
            assert mine.model_dump_json() == yours.model_dump_json()


@pytest.mark.slow
@examples(200)
@given(
    st.lists(st.tuples(st.text(max_size=3), st.floats(0, 1), st.none() | st.text(max_size=3)), max_size=6),
    st.none() | st.lists(st.text(max_size=3), max_size=3),
    st.text(max_size=3),
)
def test_any_label_votes_the_same(rows, priority, consensus):
    mine, yours = (
        [m.Verdict(kind=kind, confidence=confidence, error=error) for kind, confidence, error in rows]
        for m in (ours, theirs)
    )
    assert ours.majority_vote(mine, priority=priority) == theirs.majority_vote(yours, priority=priority)
    assert ours.unanimous(mine, fallback="?") == theirs.unanimous(yours, fallback="?")
    assert ours.agreement_pct(mine, consensus) == theirs.agreement_pct(yours, consensus)


def same_but_for_rounded_alpha(mine: ours.EnsembleVerdict, yours: theirs.EnsembleVerdict) -> None:
    assert mine.krippendorff_alpha == (None if yours.krippendorff_alpha is None else round(yours.krippendorff_alpha, 9))
    assert mine.model_dump_json(exclude={"krippendorff_alpha"}) == yours.model_dump_json(exclude={"krippendorff_alpha"})


def test_own_votes_get_the_same_and_are_called_the_same():
    def loudest(verdicts, *, floor=0.0):
        heard = [v for v in verdicts if v.confidence > floor]
        return (max(heard, key=lambda v: v.confidence).kind if heard else "NOBODY"), len(heard) > 1

    rows = [{"kind": "A", "confidence": 0.2}, {"kind": "B", "confidence": 0.9, "error": "boom"}, {"kind": "C"}]
    for kwargs in ({}, {"floor": 0.5}, {"floor": 0.95}):
        mine, yours = (
            m.Ensemble([], loudest, kwargs).aggregate_verdicts([m.Verdict(**row) for row in rows], query_id="q")
            for m in (ours, theirs)
        )
        assert mine.model_dump() == yours.model_dump()
    assert mine.voting == "loudest"


def test_verdicts_take_either_schema_and_give_the_same_json():
    for fields in (
        {"kind": "KEEP"},
        {"verdict": "KEEP", "rationale": "r", "reviewer_id": "x", "confidence": "0.5"},
        {"kind": "A", "verdict": "B", "reasoning": "a", "rationale": "b", "extra": [1]},
    ):
        mine, yours = ours.Verdict(**fields), theirs.Verdict(**fields)
        assert mine.model_dump_json() == yours.model_dump_json()
        assert (mine.verdict, mine.rationale, mine.reviewer_id) == (yours.verdict, yours.rationale, yours.reviewer_id)
        assert ours.Verdict.model_validate_json(yours.model_dump_json()) == mine
    result = theirs.Ensemble([]).aggregate_verdicts([yours], query_id="q")
    read = ours.EnsembleVerdict.model_validate_json(result.model_dump_json())
    assert read.model_dump() == result.model_dump()


class Canned:
    """A client that answers with one text: as ``httpx.Client`` does, and as ``openai.OpenAI`` does."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.requests: list[dict[str, object]] = []
        self.chat = self.completions = self.message = self
        self.choices = [self]

    @property
    def content(self) -> str:
        return self.text

    def post(self, url, *, json, headers):
        self.requests.append({"url": url, "json": json, "headers": headers})
        return self

    def json(self):
        return {"choices": [{"message": {"content": self.text}}]}

    def create(self, **request):
        self.requests.append(request)
        return self


def reply_of(rng: random.Random) -> str:
    """A reply as models write them: mostly whole, in a fence or prose, now and then broken."""
    pairs = {
        rng.choice(["kind", "verdict", "kind", "Kind"]): rng.choice(["KEEP", " reject ", "Split", 7, True, ["A"], ""]),
        "confidence": rng.choice([0.9, 1, "0.7", "high", 85, -2, True, [], {}, 10**30, "inf", 1e999]),
        rng.choice(["reasoning", "rationale"]): rng.choice(
            ["because", "it {is} so", 'a "b"', "x" * 1500, 5, {"a": []}]
        ),
    }
    if rng.random() < 0.2:
        pairs.pop(rng.choice(list(pairs)))
    body = json.dumps(pairs, indent=rng.choice([None, 2]), ensure_ascii=rng.random() < 0.5)
    if rng.random() < 0.1:
        body = body.removesuffix("}").rstrip() + rng.choice([",}", ",\n}", ", }", "", "}}", "\n"])
    odd = ["```json\n", "```\n", "My verdict: ", "I see {a set}. ", "<think>\n", '{"kind": "X"} ']
    before = rng.choice(odd) if rng.random() < 0.4 else ""
    after = rng.choice(["", "", "", "", "\n```", "\nThat is all.", " {done}", "\n  "])
    return before + body + after


@pytest.mark.slow
def test_replies_as_models_write_them_are_read_the_same():
    rng = random.Random(3)
    same, both_fail, only_ours = 0, 0, 0
    for _ in range(REPLIES):
        reply = reply_of(rng)
        mine, yours = (m.Critic("c", "m", api_key="k", http_client=Canned(reply)).judge("q") for m in (ours, theirs))
        if yours.error == "parse_fail" and mine.error is None:
            only_ours += 1  # a documented difference, with its own test
            continue
        assert mine.model_dump(exclude={"elapsed_s"}) == yours.model_dump(exclude={"elapsed_s"}), reply
        same += 1
        both_fail += yours.error == "parse_fail"
    assert same > 0.625 * REPLIES
    assert both_fail > REPLIES / 80
    assert only_ours > REPLIES / 40


@pytest.mark.slow
def test_replies_to_reviewers_are_read_the_same():
    rng = random.Random(4)
    for _ in range(REPLIES):
        reply = reply_of(rng)
        mine, yours = (m.Reviewer("r", "m", client=Canned(reply)).ask("q") for m in (ours, theirs))
        if not (yours.error == "parse_fail" and mine.error is None):
            assert mine.model_dump(exclude={"elapsed_s"}) == yours.model_dump(exclude={"elapsed_s"}), reply


@pytest.mark.parametrize("reply", ["", "  \n", "no braces", "}{", "{", "[1, 2]", "{}", '{"a": 1}', '{"kind": }'])
def test_replies_that_say_nothing(reply):
    mine, yours = (m.Critic("c", "m", api_key="k", http_client=Canned(reply)).judge("q") for m in (ours, theirs))
    assert mine.model_dump(exclude={"elapsed_s"}) == yours.model_dump(exclude={"elapsed_s"})
    mine, yours = (m.Reviewer("c", "m", client=Canned(reply)).ask("q") for m in (ours, theirs))
    assert mine.model_dump(exclude={"elapsed_s"}) == yours.model_dump(exclude={"elapsed_s"})


@pytest.mark.parametrize(
    ("template", "raised"),
    [("{gone}", KeyError), ("{gone:.2f} {query}", KeyError), ("{row[gone]}", KeyError), ("{row[a][9]}", IndexError),
     ("{query:d}", ValueError)],
)  # fmt: skip
def test_templates_that_cannot_be_filled_raise_the_same(template, raised):
    for module in (ours, theirs):
        critic = module.Critic("c", "m", template, api_key="k", http_client=Canned("{}"))
        with pytest.raises(raised):
            critic.judge("q", {"row": {"a": []}})


def test_clients_that_callers_bring_get_the_same_requests():
    context = {"score": 0.456, "row": {"a": [1, 2]}, "name": "N"}
    context |= {"größe": "L", "my key": "spaced", "width": 9}
    template = "{query} {score:.1f} {row[a][1]} {name!r:>5} {name:{width}} {größe} {my key} {{literal}} {row}"
    for options in ({}, {"system_prompt": ""}, {"temperature": 0.7, "max_tokens": 5, "base_url": "http://h/v1/"}):
        clients = [Canned('{"kind": "KEEP"}'), Canned('{"kind": "KEEP"}')]
        for module, client in zip((ours, theirs), clients, strict=True):
            critic = module.Critic("c", "m", template, api_key="k", http_client=client, **options)
            assert critic.judge("a {query}", context=context).kind == "KEEP"
            assert critic.judge("a", context={**context, "query": "in its place"}).kind == "KEEP"
        assert clients[0].requests == clients[1].requests
    clients = [Canned('{"verdict": "KEEP"}'), Canned('{"verdict": "KEEP"}')]
    for module, client in zip((ours, theirs), clients, strict=True):
        assert module.Reviewer("r", "m", client=client, temperature=0.3).ask("the {prompt}").verdict == "KEEP"
    assert clients[0].requests == clients[1].requests


def test_a_client_that_breaks_is_the_same_verdict():
    class Broken:
        def post(self, *_, **__):
            raise ConnectionError("no way to 10.0.0.1")

    mine, yours = (m.Critic("c", "m", api_key="k", http_client=Broken()).judge("q") for m in (ours, theirs))
    assert mine.model_dump(exclude={"elapsed_s"}) == yours.model_dump(exclude={"elapsed_s"})
    mine, yours = (m.Reviewer("c", "m", client=Broken()).ask("q") for m in (ours, theirs))
    assert mine.model_dump(exclude={"elapsed_s"}) == yours.model_dump(exclude={"elapsed_s"})


@pytest.mark.parametrize("own", ["subclass", "duck", "patched"])
def test_critics_of_the_callers_own_class_vote_along(own):
    results = []
    for module in (ours, theirs):
        with pytest.MonkeyPatch.context() as patching:
            results.append(with_own_critic(module, own, patching))
    assert results[0] == results[1]
    assert results[0]["verdicts"][0]["tag"] == "kept"


def with_own_critic(module: ModuleType, own: str, patching: pytest.MonkeyPatch) -> dict[str, object]:
    def judge(self, query, context=None):
        return module.Verdict(kind=query, confidence=0.5, critic_id=self.name, tag="kept", elapsed_s=1.0)

    bases = {"subclass": (module.Critic,), "duck": (), "patched": ()}[own]
    critic = type("Own", bases, {"judge": judge, "name": "own", "__init__": lambda self: None})()
    if own == "patched":
        critic = module.Critic("own", "m")
        patching.setattr(critic, "judge", lambda query, context=None: judge(critic, query), raising=True)
    canned = module.Critic("c", "m", api_key="k", http_client=Canned('{"kind": "b"}'))
    result = module.Ensemble([critic, canned]).judge("A", query_id="", context={}, meta={"x": 1})
    result.verdicts[1].elapsed_s = 0.0
    return result.model_dump()


def test_what_a_test_puts_in_the_place_of_a_method_is_asked(monkeypatch):
    for module in (ours, theirs):
        monkeypatch.setattr(module.Critic, "judge", lambda self, query, context=None, m=module: m.Verdict(kind=query))
        monkeypatch.setattr(
            module.Reviewer, "ask", lambda self, p, m=module: m.LegacyVerdict(reviewer_id=self.reviewer_id, verdict=p)
        )
        assert module.Ensemble([module.Critic("c", "m")]).judge("A").consensus == "A"
        assert module.JudgePanel([module.Reviewer("r", "m")]).ask("i", "A").consensus == "A"
