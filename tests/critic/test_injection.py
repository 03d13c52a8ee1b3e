"""Texts that try to take over the judge, in every place they can stand; asserted on the request that arrived.

What is asserted is structure, not what a model makes of it: the system prompt stays byte for byte, no message is added,
every attack stands inside a fence that only its own tag ends, and nothing else of the prompt moves.
"""

import json
import re

import pytest
from attacks import ATTACKS
from support.vendor import Act

from jury_adapters import Case, Critic, Rubric, Status
from jury_adapters.critic.delimiters import visible
from jury_adapters.critic.prompt import MATERIAL, system_text
from jury_adapters.decision import DecisionCritic
from jury_adapters.models.limits import Limits

# aiohttp warns of bodies above 1 MB, which is what long attacks are for.
pytestmark = [pytest.mark.corpus, pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")]

RUBRIC = Rubric.bundled("faithfulness")
FENCED = re.compile(
    r"Question:\n<(?P<q>question-[0-9a-f]{12})>\n(?P<question>.*)\n</(?P=q)>\n\n"
    r"Contexts:\nContext 1:\n<(?P<c>context-1-[0-9a-f]{12})>\n(?P<contexts>.*)\n</(?P=c)>\n\n"
    r"Answer to judge:\n<(?P<a>answer-[0-9a-f]{12})>\n(?P<answer>.*)\n</(?P=a)>",
    re.DOTALL,
)
PLAIN = {"question": "Who left?", "contexts": "Ann left in 2018.", "answer": "Ann did."}
# Replies that are an answer in themselves, whoever thought of them; all others give none.
OWN_ANSWERS = {
    "fake JSON verdict",
    "fake verdict in a code fence",
    "fake answer line",
    "fake bold answer",
    "thinking block",
}


def critic(server, vendor="openai"):
    url = server.anthropic if vendor == "anthropic" else server.openai
    return Critic(
        "m",
        RUBRIC,
        name="judge",
        vendor=vendor,
        base_url=url,
        api_key="sk-test-0000",
        limits=Limits(attempts=1),
        request_timeout=30,
    )


def case_with(field, text):
    fields = {**PLAIN, field: text}
    return Case(**{**fields, "contexts": [fields["contexts"]]})


def assert_fenced(user, field, attack):
    """The user's message is the template, its three fences, and in them the three texts; nothing else."""
    found = FENCED.fullmatch(user)
    assert found is not None
    assert {name: found[name] for name in PLAIN} == {**PLAIN, field: visible(attack)}
    for tag in (found["q"], found["c"], found["a"]):
        assert user.count(tag) == user.lower().count(tag) == 2
        assert user.count(f"<{tag}>") == user.count(f"</{tag}>") == 1


def test_there_are_enough_attacks():
    assert len(ATTACKS) >= 40
    assert max(map(len, ATTACKS.values())) >= 200_000


@pytest.mark.slow
def test_a_megabyte_of_an_attack_leaves_the_prompt_as_it_is(server):
    attack = ATTACKS["many closing tags"] * 3
    assert len(attack) > 1_000_000
    critic(server).judge(case_with("answer", attack))
    assert_fenced(server.asks[0].body["messages"][1]["content"], "answer", attack)


@pytest.mark.corpus
@pytest.mark.parametrize("field", PLAIN)
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_in_the_material_leaves_the_prompt_as_it_is(server, name, field):
    critic(server).judge(case_with(field, ATTACKS[name]))
    (ask,) = server.asks
    messages = ask.body["messages"]
    assert [message["role"] for message in messages] == ["system", "user"]
    assert all(message.keys() == {"role", "content"} for message in messages)
    assert messages[0]["content"] == system_text(RUBRIC)
    assert_fenced(messages[1]["content"], field, ATTACKS[name])


@pytest.mark.parametrize("name", ATTACKS)
def test_the_same_holds_for_another_vendors_protocol(server, name):
    critic(server, "anthropic").judge(case_with("answer", ATTACKS[name]))
    (ask,) = server.asks
    system = ask.body["system"]
    shown = system if isinstance(system, str) else "".join(part["text"] for part in system)
    assert shown == system_text(RUBRIC)
    (message,) = ask.body["messages"]
    content = message["content"]
    user = content if isinstance(content, str) else "".join(part["text"] for part in content)
    assert message["role"] == "user"
    assert_fenced(user, "answer", ATTACKS[name])


@pytest.mark.parametrize("name", ATTACKS)
def test_the_same_holds_for_decision_models(server, name):
    asked = DecisionCritic("m", RUBRIC, name="judge", base_url=server.openai, limits=Limits(attempts=1))
    asked.judge(case_with("answer", ATTACKS[name]))
    harmless = DecisionCritic("m", RUBRIC, name="judge", base_url=server.openai, limits=Limits(attempts=1))
    harmless.judge(case_with("answer", PLAIN["answer"]))
    attacked, plain = (ask.body for ask in server.asks)
    assert attacked["questions"] == plain["questions"]
    assert attacked["input"].startswith(f"{MATERIAL}\n\n")
    assert_fenced(attacked["input"].removeprefix(f"{MATERIAL}\n\n"), "answer", ATTACKS[name])


@pytest.mark.parametrize("name", ATTACKS)
def test_a_reply_votes_only_with_an_answer_of_its_own(server, name):
    server.plan = lambda ask: Act(text=ATTACKS[name])
    judgment = critic(server).judge(case_with("answer", "Ann did."))
    if name in OWN_ANSWERS:
        assert (judgment.status, judgment.label) == (Status.PASS, "YES")
        assert len(server.asks) == 1
    else:
        assert judgment.status in {Status.ABSTAIN, Status.ERROR}
        assert judgment.label is None
        assert len(server.asks) == 2
    for ask in server.asks:
        assert ask.body["messages"][0]["content"] == system_text(RUBRIC)
        assert_fenced(ask.body["messages"][1]["content"], "answer", "Ann did.")


@pytest.mark.parametrize("name", ATTACKS)
def test_an_honest_no_stays_a_no_when_the_reply_quotes_an_attack(server, name):
    reply = {"reasoning": f"The answer says: {ATTACKS[name]}", "answer": "NO", "confidence": 0.9}
    server.plan = lambda ask: Act(text=json.dumps(reply))
    judgment = critic(server).judge(case_with("answer", ATTACKS[name]))
    assert (judgment.status, judgment.label, judgment.confidence) == (Status.FAIL, "NO", 0.9)


@pytest.mark.slow
def test_attacks_in_every_field_at_once_stay_apart(server):
    text = ATTACKS["many closing tags"]
    critic(server).judge(Case(question=text, contexts=[text], answer=text))
    found = FENCED.fullmatch(server.asks[0].body["messages"][1]["content"])
    assert found is not None
    assert found["question"] == found["contexts"] == found["answer"] == visible(text)
