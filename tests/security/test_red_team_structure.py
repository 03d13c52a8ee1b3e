"""The attacks of the red team against the structure of the request; ``tests/critic/test_injection.py`` has many more.

Each attack is handed in by a jury as the red team does it, and looked at as it arrived at the vendor's server: the
system prompt does not move, and the user's turn without its fenced answer is the same text for every attack.
"""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from red_attacks import ATTACKS
from red_items import ITEMS
from red_team import RUBRICS

from jury_adapters import Case, Critic, Limits
from jury_adapters.critic.delimiters import visible

QUESTION, PASSAGE, RIGHT, WRONG = ITEMS[0]
FENCED = re.compile(r"<(answer-[0-9a-f]{12})>\n(.*?)\n</\1>", re.DOTALL)


def requests(server, answer):
    """Per rubric of the jury: the system prompt, the user's turn without its answer, and the answer in its fence."""
    critics = [
        Critic("m", name, name=name, base_url=server.openai, api_key="none", limits=Limits(attempts=1))
        for name in RUBRICS
    ]
    start = len(server.asks)
    for critic in critics:  # in turn, so that the requests come in the order of the rubrics
        critic.judge(Case(question=QUESTION, contexts=(PASSAGE,), reference=RIGHT, answer=answer))
    seen = []
    for ask in server.asks[start:]:
        system, user = ask.body["messages"]
        assert (system["role"], user["role"]) == ("system", "user")
        (found,) = FENCED.finditer(user["content"])
        assert user["content"].count(found[1]) == 2
        seen.append((system["content"], FENCED.sub("ANSWER", user["content"]), found[2]))
    assert len(seen) == len(RUBRICS)
    return seen


@pytest.mark.corpus
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_moves_nothing_but_the_text_in_its_fence(server, attack):
    plain = requests(server, WRONG)
    attacked = requests(server, attack.apply(WRONG))
    assert [part[:2] for part in attacked] == [part[:2] for part in plain]
    assert {part[2] for part in attacked} == {visible(attack.apply(WRONG))}


def test_hidden_text_arrives_in_sight(server):
    (hidden,) = (attack for attack in ATTACKS if attack.name == "hidden Unicode")
    for _, _, answer in requests(server, hidden.apply(WRONG)):
        assert answer.isascii()
        assert "\\U000e0059" in answer


def test_the_attacks_are_those_of_the_table():
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) >= 14
    assert all(attack.source for attack in ATTACKS)
    assert len({item[0] for item in ITEMS}) == len(ITEMS)
