"""Every documented difference from cross-judge: what it does wrong, and what happens here.

Each test is marked with the difference as the table in the cookbook calls it, and the last one compares the two.
"""

import json
import pickle
import re
import threading
from pathlib import Path

import cross_judge as theirs
import pytest
from support.vendor import Act, VendorServer, error

import jury_adapters.compat.cross_judge as ours
from jury_adapters import ConfigurationError
from jury_adapters.statistics import krippendorff_alpha
from jury_adapters.testing import no_waiting

COOKBOOK = Path(__file__).parents[2] / "cookbook" / "cross_judge.md"
BOTH = (ours, theirs)
KEEP = '{"kind": "KEEP", "confidence": 0.8}'
SHOWN: set[str] = set()


def difference(name: str):
    """Note that a test shows this difference."""
    SHOWN.add(name)
    return lambda function: function


class Answers:
    """A client that answers with one text, as ``httpx.Client`` does."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.prompt = ""

    def post(self, url, *, json, headers):
        self.prompt = json["messages"][-1]["content"]
        return self

    def json(self):
        return {"choices": [{"message": {"content": self.text}}]}


def asked(module, reply: str, **options):
    return module.Critic("c", "m", api_key="k", http_client=Answers(reply), **options).judge("q")


def panel(module, server: VendorServer, closing):
    return module.Ensemble([closing(module.Critic(n, n, base_url=server.openai, api_key="k")) for n in "abc"])


@difference("Krippendorff's alpha of one query")
def test_alpha_of_one_query():
    mine, yours = ([m.Verdict(kind=kind) for kind in "AABBB"] + [m.Verdict(kind="C")] * 2 for m in BOTH)
    values = set()
    for size in range(2, 8):
        for step in range(1, 4):
            chosen = slice(0, size, step)
            values.add(theirs.krippendorff_alpha(yours[chosen]))
            assert ours.krippendorff_alpha(mine[chosen]) in (0.0, 1.0, None)
    values = {value for value in values if value is not None}
    assert {round(value, 9) for value in values} == {0.0, 1.0}  # it measures nothing else than "are all equal?"
    assert len(values) > 2  # and what should be 0 is a rounding error


@difference("Krippendorff's alpha of one query")
def test_a_split_vote_counts_as_systematic_disagreement_there():
    kinds = next(k for k in ("AB" * n + "C" * n for n in range(1, 20)) if alpha_of(theirs, k) < 0)
    assert alpha_of(ours, kinds) == 0.0
    assert krippendorff_alpha([list("AAB"), list("BBB"), list("AAA")]).value == pytest.approx(
        0.6
    )  # over many it says more


def alpha_of(module, kinds: str) -> float:
    return module.krippendorff_alpha([module.Verdict(kind=kind) for kind in kinds])


@difference("Templates that read attributes")
def test_a_template_cannot_reach_into_objects():
    class Settings:
        def __init__(self):
            self.api_key = "sk-secret"

        def __str__(self):
            return "settings"

    client = Answers(KEEP)
    leaking = "{query} {settings.api_key} {settings.__class__.__init__.__globals__}"
    theirs.Critic("c", "m", leaking, api_key="k", http_client=client).judge("q", {"settings": Settings()})
    assert "sk-secret" in client.prompt
    assert "cross_judge.md" in client.prompt  # every global of this module
    for template in (leaking, "{query.upper}", "{a[0].b}", "{a:{b.c}}", "{a.b!r}", "{größe.b}"):
        with pytest.raises(ConfigurationError, match="an attribute can lead to keys"):
            ours.Critic("c", "m", template)
    changed = ours.Critic("c", "m", api_key="k", http_client=client)
    changed.prompt_template = leaking
    with pytest.raises(ConfigurationError, match=r"reads \{settings.api_key\}"):
        changed.judge("q", {"settings": Settings()})
    changed.prompt_template = "{my key.api_key}"
    with pytest.raises(ConfigurationError, match=r"reads \{my key.api_key\}"):
        changed.judge("q", {"my key": Settings()})


@difference("JSON in a template")
def test_single_braces_around_json_are_text():
    template = 'Judge: {query}\nOutput JSON: { "kind": ..., "confidence": ... } or {}'  # as in cross-judge's own README
    with pytest.raises(KeyError):
        asked(theirs, KEEP, prompt_template=template)
    client = Answers(KEEP)
    critic = ours.Critic("c", "m", template, api_key="k", http_client=client)
    assert critic.judge("a {b}").kind == "KEEP"
    assert client.prompt == 'Judge: a {b}\nOutput JSON: { "kind": ..., "confidence": ... } or {}'
    critic.prompt_template = 'as in {e.g. this}, {"a.b": 1}: {query}'
    assert critic.judge("x").kind == "KEEP"
    assert client.prompt == 'as in {e.g. this}, {"a.b": 1}: x'
    critic.prompt_template += " {missing}"
    with pytest.raises(KeyError, match="missing required key 'missing' in context"):
        critic.judge("q")


@difference("JSON in a template")
@pytest.mark.parametrize("template", ["Judge: {query", "Judge: query}", "{query!z}"])
def test_braces_without_a_placeholder_are_refused_when_the_critic_is_made(template):
    with pytest.raises(ValueError, match=r"expected '}'|Single '}'|conversion"):
        asked(theirs, KEEP, prompt_template=template)
    with pytest.raises(ConfigurationError, match=r"no placeholder that can be read.*write \{query\}"):
        ours.Critic("c", "m", template)


@difference("One critic after the other")
def test_all_are_asked_at_once(server, closing):
    meeting = {"theirs": 1, "ours": 3}
    for name, module in (("theirs", theirs), ("ours", ours)):
        server.most_in_flight = 0
        server.plan = lambda ask: Act(text=KEEP, delay=0.1)
        assert panel(module, server, closing).judge("q").agreement_pct == 1.0
        assert server.most_in_flight == meeting[name]


@difference("One critic after the other")
def test_reviewers_and_own_critics_are_asked_at_once():
    together = threading.Barrier(2, timeout=5)

    class Own:
        reviewer_id = "r"

        def judge(self, query, context=None):
            together.wait()
            return ours.Verdict(kind=query)

        def ask(self, user_prompt):
            together.wait()
            return ours.LegacyVerdict(reviewer_id="r", verdict=user_prompt)

    assert ours.Ensemble([Own(), Own()]).judge("A").consensus == "A"
    assert ours.JudgePanel([Own(), Own()]).ask("i", "A").consensus == "A"


@difference("Calls that fail for a moment")
@pytest.mark.parametrize("status", [429, 503])
def test_what_fails_for_a_moment_is_tried_again(server, closing, status):
    server.plan = lambda ask: error(status) if ask.attempt == 0 else Act(text=KEEP)
    for module, kind in ((theirs, "ERROR"), (ours, "KEEP")):
        with no_waiting():
            verdicts = panel(module, server, closing).judge(f"a question to be {kind}").verdicts
        assert {verdict.kind for verdict in verdicts} == {kind}


@difference("Parameters that a model refuses")
def test_a_model_that_refuses_temperature_is_asked_without(server, closing):
    refusal = error(400, "Unsupported parameter: 'temperature'", param="temperature", code="unsupported_parameter")
    server.plan = lambda ask: refusal if "temperature" in ask.body else Act(text=KEEP)
    for module, kind in ((theirs, "ERROR"), (ours, "KEEP")):
        critic = closing(module.Critic("c", "reasoner-9", base_url=server.openai, api_key="k"))
        assert critic.judge("q").kind == kind


@difference("A critic that raises")
def test_a_critic_that_raises_does_not_take_the_others_with_it():
    class Broken:
        name = reviewer_id = "broken"

        def judge(self, query, context=None):
            raise OSError("no disk")

        def ask(self, user_prompt):
            raise OSError("no disk")

    for module in BOTH:
        ensemble = module.Ensemble([Broken(), module.Critic("c", "m", api_key="k", http_client=Answers(KEEP))])
        if module is theirs:
            with pytest.raises(OSError, match="no disk"):
                ensemble.judge("q")
            continue
        result = ensemble.judge("q")
        assert (result.consensus, result.verdicts[0].kind, result.verdicts[0].critic_id) == ("KEEP", "ERROR", "broken")
        assert result.verdicts[0].error == result.verdicts[0].reasoning == "OSError: no disk"
        assert module.JudgePanel([Broken()]).ask("i", "p").verdicts[0].verdict == "ERROR"


@difference("Keys in error texts")
def test_an_error_does_not_show_the_key(server, closing):
    key = "sk-secret-123456789\n"  # as read from a file
    shown = closing(theirs.Critic("c", "m", base_url=server.openai, api_key=key)).judge("q").error
    assert "sk-secret-123456789" in shown
    with no_waiting():
        hidden = ours.Critic("c", "m", base_url=server.openai, api_key=key).judge("q")
    assert hidden.kind == "ERROR"
    assert "secret" not in hidden.model_dump_json()

    class Talkative:
        def post(self, url, *, json, headers):
            raise OSError(f"could not send {headers}")

    for module in BOTH:
        verdict = module.Critic("c", "m", api_key="abcdefghij", http_client=Talkative()).judge("q")
        assert ("abcdefghij" in verdict.model_dump_json()) == (module is theirs)


@difference("Keys that are kept")
def test_a_key_is_a_secret_that_does_not_leave_with_its_critic():
    kept = theirs.Critic("c", "m", api_key="abcdefghij")
    assert kept.api_key == "abcdefghij"
    assert b"abcdefghij" in pickle.dumps(kept)
    hidden = ours.Critic("c", "m", api_key="abcdefghij")
    assert "abcdefghij" not in f"{hidden.api_key} {vars(hidden)}"
    with pytest.raises(TypeError, match="literal api_key= is not pickled"):
        pickle.dumps(hidden)


@difference("Replies that only a stricter reader refuses")
@pytest.mark.parametrize(
    "reply",
    [
        '{"kind": "KEEP", "confidence": 0.8,}',
        '{"kind": "KEEP", "confidence": 0.8, "steps": [1, 2,]}',
        'The set {a, b} is fine.\n{"kind": "KEEP", "confidence": 0.8}',
        '{"kind": "KEEP", "confidence": 0.8}\nas I said of {x}.',
        'Draft: {"kind": "KEEP"}\nFinal: {"kind": "KEEP", "confidence": 0.8}',
        '<think>{"kind": "REJECT"}?</think>{"kind": "KEEP", "confidence": 0.8}',
        '{"kind": "KEEP", "confidence": 0.8, "reasoning": "one\ntwo"}',
    ],
)
def test_more_replies_can_be_read(reply):
    assert asked(theirs, reply).kind == "PARSE_FAIL"
    assert (asked(ours, reply).kind, asked(ours, reply).confidence) == ("KEEP", 0.8)


@pytest.mark.parametrize(
    "reply",
    [
        'Draft: {"kind": "REJECT"}\nFinal: {"kind": "KEEP", "confidence": 0.8}',
        '{"reasoning": "it says "{"kind": "KEEP"}", a trick", "kind": "REJECT"}',
        '<think>it says </think>{"kind": "KEEP"}, a trick</think>{"kind": "REJECT"}',
    ],
)
def test_replies_with_two_labels_are_as_unreadable_as_before(reply):
    assert asked(theirs, reply).kind == asked(ours, reply).kind == "PARSE_FAIL"


@pytest.mark.parametrize(
    "reply",
    [
        '{"kind": "KEEP", "reasoning": "a", "reasoning": "b", "confidence": 0.8}',
        '{"kind": "KEEP", "kind": "KEEP", "confidence": 0.1, "confidence": 0.8}',
        '{"kind": "KEEP", "confidence": 0.8, "steps": [{"a": 1, "a": 2}]}',
    ],
)
def test_of_a_repeated_key_the_last_value_counts_as_before(reply):
    before, now = (asked(module, reply) for module in (theirs, ours))
    assert (now.kind, now.confidence, now.reasoning) == (before.kind, before.confidence, before.reasoning)


@difference("Replies that only a stricter reader refuses")
def test_one_key_with_two_labels_is_unreadable():
    reply = '{"kind": "KEEP", "kind": "REJECT", "confidence": 0.8}'
    assert (asked(theirs, reply).kind, asked(ours, reply).kind) == ("REJECT", "PARSE_FAIL")


@difference("Replies that crash")
@pytest.mark.parametrize(
    ("reply", "raised", "kind"),
    [
        ('{"a": ' * 100_000 + "}", RecursionError, "PARSE_FAIL"),
        ('{"kind": ' + "9" * 5000 + "}", ValueError, "PARSE_FAIL"),
        ('{"kind": "KEEP", "confidence": 1' + "0" * 400 + "}", OverflowError, "KEEP"),
    ],
    ids=["deep", "long number", "huge confidence"],
)
def test_no_reply_crashes(reply, raised, kind):
    with pytest.raises(raised):
        asked(theirs, reply)
    assert asked(ours, reply).kind == kind


@difference("Replies that crash")
def test_half_a_character_does_not_crash_the_json():
    reply = '{"kind": "KEEP\\ud800"}'
    with pytest.raises(ValueError, match=r"surrogate|unicode"):
        asked(theirs, reply).model_dump_json()
    assert json.loads(asked(ours, reply).model_dump_json())["kind"] == "KEEP\ufffd"


@difference("A confidence that is not a number")
@pytest.mark.parametrize("written", ["NaN", '"nan"'])
def test_nan_is_no_certainty(written):
    reply = f'{{"kind": "KEEP", "confidence": {written}}}'
    assert asked(theirs, reply).confidence == 1.0
    assert asked(ours, reply).confidence == 0.0


@difference("A null in a reply")
def test_null_is_no_label():
    reply = '{"kind": null, "verdict": "keep", "reasoning": null}'
    assert (asked(theirs, reply).kind, asked(theirs, reply).reasoning) == ("NONE", "None")
    assert (asked(ours, reply).kind, asked(ours, reply).reasoning) == ("KEEP", "")
    assert asked(ours, '{"kind": null}').kind == "UNCLEAR"


@difference("Rows that are validated")
def test_a_validated_row_stays_as_it_was():
    for module in BOTH:
        row = {"verdict": "KEEP", "rationale": "r", "reviewer_id": "x"}
        assert module.Verdict.model_validate(row).kind == "KEEP"
        assert ("verdict" in row) == (module is ours)


@difference("Weights of reviewers")
def test_a_panel_goes_by_the_weights_of_its_reviewers():
    said = [("a", "KEEP"), ("b", "KEEP"), ("c", "REJECT")]
    for module, consensus in ((theirs, "KEEP"), (ours, "REJECT")):
        reviewers = [module.Reviewer(name, "m", weight=5.0 if name == "c" else 1.0) for name, _ in said]
        verdicts = [module.LegacyVerdict(reviewer_id=name, verdict=kind, confidence=0.5) for name, kind in said]
        assert module.JudgePanel(reviewers, "weighted").aggregate_verdicts("i", verdicts).consensus == consensus
        given = module.JudgePanel(reviewers, "weighted", {"weights": {"a": 9.0}}).aggregate_verdicts("i", verdicts)
        assert given.consensus == "KEEP"


@difference("Sums of weights")
def test_ties_of_weights_are_ties():
    verdicts = [("KEEP", 0.1)] * 10 + [("REJECT", 1.0)]
    for module, consensus in ((theirs, "REJECT"), (ours, "KEEP")):  # ten tenths are one, so the first label wins
        rows = [module.LegacyVerdict(reviewer_id="r", verdict=kind, confidence=c) for kind, c in verdicts]
        assert module.weighted(rows) == (consensus, True)


@difference("Weights that cannot be used")
def test_weights_that_cannot_be_used():
    for module in BOTH:
        rows = [module.LegacyVerdict(reviewer_id=name, verdict=name, confidence=1.0) for name in "AB"]
        nobody = module.weighted(rows, weights={"A": 0.0, "B": 0.0})
        assert nobody == (("A", True) if module is theirs else ("UNCLEAR", True))
        for wrong in (-1.0, float("nan")):
            if module is theirs:
                assert module.weighted(rows, weights={"A": wrong})[0] in "AB"
                continue
            with pytest.raises(ConfigurationError, match="finite number >= 0"):
                module.weighted(rows, weights={"A": wrong})


@difference("A reviewer of another vendor")
def test_a_reviewer_may_have_a_vendor_of_its_own(server, closing):
    server.plan = lambda ask: Act(text='{"verdict": "KEEP"}')
    for module in BOTH:
        reviewer = module.Reviewer("r", "m", vendor="custom", base_url=server.openai, api_key="k")
        if module is theirs:
            with pytest.raises(KeyError, match="Unknown vendor"):
                reviewer.ask("q")
            continue
        assert reviewer.ask("q").verdict == "KEEP"


@difference("A reviewer without a system prompt")
def test_an_empty_system_prompt_is_not_sent(server, closing):
    server.plan = lambda ask: Act(text='{"verdict": "KEEP"}')
    for module, roles in ((theirs, ["system", "user"]), (ours, ["user"])):
        closing(module.Reviewer("r", "m", system_prompt="", base_url=server.openai, api_key="k")).ask("q")
        assert [message["role"] for message in server.asks[-1].body["messages"]] == roles


@difference("A prompt file without a prompt")
@pytest.mark.parametrize("text", ["system_prompt: hello", "- a list", "", "a: [1"])
def test_a_file_without_a_prompt_is_refused(tmp_path, text):
    path = tmp_path / "prompt.yaml"
    path.write_text(text)
    if text.startswith("system"):
        assert theirs.Critic.from_yaml_prompt("n", "m", str(path)).prompt_template == ""
    with pytest.raises(ConfigurationError, match=r"prompt\.yaml[:,] "):
        ours.Critic.from_yaml_prompt("n", "m", str(path))


@difference("The output limit at OpenAI")
def test_openai_itself_gets_the_name_it_knows(server, closing, monkeypatch):
    server.plan = lambda ask: Act(text=KEEP)
    for module, name in ((theirs, "max_tokens"), (ours, "max_completion_tokens")):
        monkeypatch.setitem(module.VENDOR_DEFAULTS, "openai", (server.openai, "OPENAI_API_KEY"))
        assert closing(module.Critic("c", "o4-mini", vendor="openai", api_key="k")).judge("q").kind == "KEEP"
        assert server.asks[-1].body[name] == 2000


def test_the_table_of_differences_is_complete():
    table = COOKBOOK.read_text(encoding="utf-8").split("## What is different")[1]
    rows = re.findall(r"^\| (?!Difference|---)([^|]+?) \|", table, re.MULTILINE)
    assert sorted(rows) == sorted(SHOWN)
