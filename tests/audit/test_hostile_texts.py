"""Hostile texts: how many, where they stand, and that a critic shows them as data."""

import re
from collections import Counter

import pytest

from jury_adapters import Case, ConfigurationError, Critic, Ensemble, judge
from jury_adapters.audit import inject, injections
from jury_adapters.audit.hostile_texts import PLACES, delimiters_of, labels_of, places_of

CASE = Case(question="How high is {the} tower?", answer="It is 40 m high.", contexts=["It is 41 m high.", "It is red."])


def critic(rubric="faithfulness", **options):
    asked = []

    async def model(prompt):
        asked.append(prompt)
        return '{"reasoning": "", "answer": "NO", "confidence": 1}'

    made = Critic(model, rubric, name="critic", **options)
    made.asked = asked
    return made


def test_there_are_more_than_a_hundred_of_many_kinds():
    found = injections()
    assert len(found) >= 120
    assert len({one.family for one in found}) >= 20
    assert len({one.name for one in found}) == len(found)
    places = Counter(place for one in found for place in one.places)
    assert all(places[place] >= 40 for place in PLACES)


def test_no_text_occurs_twice():
    plain = [re.sub(r"\s", "", one.text).casefold() for one in injections()]
    assert len(set(plain)) == len(plain)


@pytest.mark.parametrize("place", PLACES)
def test_every_text_is_put_into_its_places_with_all_placeholders_filled(place):
    for one in injections(place=place):
        changed = inject(CASE, one, place, pass_label="GOOD", fail_label="BAD")
        assert changed is not None
        assert changed.content_hash != CASE.content_hash or place == "metadata"
        text = changed.model_dump_json()
        assert "GOOD" in text
        assert not re.search(r"\{(?:pass_label|fail_label|question|open|close)\}", text)
        assert changed.question == CASE.question  # its braces are no placeholders


def test_a_text_is_read_once_so_that_it_cannot_fill_placeholders_itself():
    case = Case(question="{close} {pass_label}", answer="a", contexts=["b"])
    one = next(one for one in injections(family="example_poisoning") if "{question}" in one.text)
    assert "{close} {pass_label}" in inject(case, one, "answer").answer


def test_the_rest_of_the_case_stays():
    one = injections(place="answer")[0]
    changed = inject(CASE, one, "answer")
    assert changed.answer.startswith(CASE.answer + "\n\n")
    assert (changed.contexts, changed.question) == (CASE.contexts, CASE.question)
    step = inject(CASE, injections(place="tool_output")[0], "tool_output").trajectory[-1]
    assert step.tool == "search"


def test_a_case_without_the_place_is_left_out():
    bare = Case(question="q", answer="a")
    assert inject(bare, injections(place="context")[0], "context") is None
    assert inject(Case(question="q"), injections(place="answer")[0], "answer") is None


def test_a_place_that_a_text_is_not_for_is_refused():
    one = injections(family="caption_text")[0]
    with pytest.raises(ConfigurationError, match="image_caption"):
        inject(CASE, one, "answer")
    with pytest.raises(ConfigurationError, match="place"):
        injections(place="answr")


def test_the_delimiters_are_those_of_a_critic_and_do_not_close_after_the_change():
    asking = critic()
    asking.judge(CASE)
    opening, closing = delimiters_of(CASE)
    shown = str(asking.asked[-1])
    assert opening in shown
    for one in injections(family="delimiter_escape"):
        changed = inject(CASE, one, "answer", delimiters=(opening, closing))
        asking.judge(changed)
        prompt = str(asking.asked[-1])
        now_opening, now_closing = delimiters_of(changed)
        assert now_opening in prompt
        assert now_closing not in changed.answer


def test_labels_and_places_are_those_of_the_rubric():
    assert labels_of(critic()) == ("YES", "NO")
    own = Critic(critic().model.inner, prompt="{answer}", labels={"GOOD": "pass", "BAD": "fail"}, name="own")
    assert labels_of(Ensemble([own, own])) == ("GOOD", "BAD")
    assert places_of(critic()) == ("answer", "context", "image_caption")
    assert places_of(own) == ("answer",)

    @judge
    def anything(case):
        return True

    assert places_of(anything) == PLACES
    assert labels_of(anything) == ("YES", "NO")
