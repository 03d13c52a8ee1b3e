"""`labels=`, `scale=` and `parse=` of a critic, and prompts that ask for other answers than the critic allows."""

from __future__ import annotations

import pytest

from jury_adapters import ConfigurationError, Critic, Ensemble, Judgment, Labels, Rubric, Scale, Status
from jury_adapters.critic.asked_labels import check_asked_labels
from jury_adapters.critic.rubric import bundled_rubrics
from jury_adapters.models.base import Reply

POLITE = {"POLITE": "pass", "RUDE": "fail", "N/A": "abstain"}


def model(*replies: str):
    """A model that gives the replies in turn, and keeps the prompts it got."""
    left = list(replies)
    asked: list[str] = []

    async def scripted(prompt: str) -> str:
        asked.append(prompt)
        return left.pop(0)

    scripted.asked = asked
    return scripted


def critic(*replies: str, **options) -> Critic:
    options.setdefault("prompt", "Judge this.\n{answer}")
    options.setdefault("model", model(*replies))
    return Critic(**{"name": "tone", **options})


def polite_or_rude(text: str) -> tuple[bool, str]:
    """The first word of a reply is the verdict, the rest is the reason."""
    word, _, reason = text.partition(" ")
    if word not in ("POLITE", "RUDE"):
        raise ValueError(f"the first word must be POLITE or RUDE, not {word}")
    return word == "POLITE", reason


# --- labels= and scale= -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("reply", "status"), [("POLITE", Status.PASS), ("rude", Status.FAIL), ("N/A", Status.ABSTAIN)])
def test_each_label_means_what_the_mapping_says(reply: str, status: Status) -> None:
    judgment = critic(f'{{"reasoning": "r", "answer": "{reply}"}}', labels=POLITE).judge(answer="Thanks!")
    assert judgment.status is status


def test_a_number_is_a_score_that_passes_from_one_half() -> None:
    labels = {"great": 1, "fine": 0.5, "weak": 0.4}
    for name, score, status in [("great", 1, Status.PASS), ("fine", 0.5, Status.PASS), ("weak", 0.4, Status.FAIL)]:
        judgment = critic(f'{{"reasoning": "r", "answer": "{name}"}}', labels=labels).judge(answer="x")
        assert (judgment.score, judgment.status, judgment.label) == (score, status, name)


def test_the_prompt_and_the_schema_name_the_labels() -> None:
    scripted = model('{"reasoning": "r", "answer": "RUDE"}')
    asking = critic(model=scripted, labels=POLITE)
    asking.judge(answer="x")
    assert '"POLITE", "RUDE", "N/A"' in scripted.asked[0]
    assert asking.rubric.reply_schema()["properties"]["answer"]["enum"] == ["POLITE", "RUDE", "N/A"]


def test_labels_replace_those_of_a_rubric_and_a_labels_object_is_taken_too() -> None:
    for labels in ({"BACKED": "pass", "MADE UP": "fail"}, Labels.of(passing=["BACKED"], failing=["MADE UP"])):
        asking = Critic(model('{"reasoning": "r", "answer": "made up"}'), "faithfulness", name="truth", labels=labels)
        assert asking.judge(question="q", answer="a", contexts=["c"]).status is Status.FAIL


@pytest.mark.parametrize(
    "scale", [{"minimum": 1, "maximum": 5, "pass_mark": 4}, Scale(minimum=1, maximum=5, pass_mark=4)]
)
def test_a_scale_rates(scale: object) -> None:
    judgment = critic('{"reasoning": "r", "answer": 3}', scale=scale).judge(answer="x")
    assert (judgment.status, judgment.score, judgment.metadata["rating"]) == (Status.FAIL, 0.5, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": POLITE, "scale": {"minimum": 1, "maximum": 5}}, "labels= or scale=, not both"),
        ({"labels": ["POLITE", "RUDE"]}, "labels is a mapping"),
        (
            {"labels": {"POLITE": "passed"}},
            "'POLITE': unknown meaning 'passed'. Did you mean 'pass'.*or a score from 0 to 1",
        ),
        (
            {"labels": {"A": True, "B": False}},
            "'A': unknown meaning True. Did you mean 'pass'.*'B': .*Did you mean 'fail'",
        ),
        ({"labels": {"POLITE": "good"}}, "unknown meaning 'good'"),
        ({"labels": {"POLITE": 7}}, "labels: 'POLITE': .* less than or equal to 1"),
        ({"labels": {}}, "labels is a mapping"),
        ({"labels": {"YES": "pass", "yes ": "fail"}}, "differ only in case"),
        ({"scale": 5}, "scale is the worst and the best rating"),
        ({"scale": (1, 3, 5)}, "scale is the worst and the best rating"),
        ({"scale": (5, 1)}, "minimum < maximum"),
        ({"scale": ("a", 5)}, "scale"),
        ({"scale": {"minimum": 5, "maximum": 1}}, "minimum < maximum"),
    ],
)
def test_wrong_labels_and_scales_are_refused_at_construction(options: dict, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        critic(**options)


# --- prompts that ask for other answers -------------------------------------------------------------------------------

OTHER_ANSWERS = [
    "Is it polite? Answer POLITE or RUDE.\n{answer}",
    "{answer}\n\nReply with one word: GOOD/BAD",
    '{answer}\nReply with "good" or "bad".',
    "{answer}\nRespond only with Correct or Incorrect",
    "{answer}\nThen answer **HIT** or **MISS**.",
    "Answer YES, NO or MAYBE.\n{answer}",
    '{answer}\nReply like {"verdict": "GOOD" | "BAD"}',
    "Rate the answer from 1 to 5.\n{answer}",
    "Score it on a scale of 1-10.\n{answer}",
    "Is it polite? Reply with true or false.\n{answer}",
    "Output only A or B.\n{answer}",
    "Your verdict must be either ACCEPT or REJECT.\n{answer}",
    "Classify the answer as one of: supported, unsupported, unknown.\n{answer}",
    "Return 1 if the answer is polite, otherwise 0.\n{answer}",
    "If it is polite, say GOOD. Otherwise say BAD.\n{answer}",
    "{answer}\nLabel: CORRECT / INCORRECT",
]


@pytest.mark.parametrize("prompt", OTHER_ANSWERS)
def test_a_prompt_that_asks_for_other_answers_is_refused(prompt: str) -> None:
    with pytest.raises(ConfigurationError, match=r"the prompt asks for .* give (labels|scale)="):
        critic(prompt=prompt)
    with pytest.raises(ConfigurationError, match="the prompt asks for"):
        critic(prompt="{answer}", system_prompt=prompt.replace("{answer}", ""))


@pytest.mark.parametrize(
    ("prompt", "options"),
    [
        ("Is it polite? Answer POLITE or RUDE.\n{answer}", {"labels": POLITE}),
        ("Answer POLITE, RUDE or N/A.\n{answer}", {"labels": POLITE}),
        ("Rate the answer from 1 to 5.\n{answer}", {"scale": {"minimum": 1, "maximum": 5}}),
        ("Rate the answer from 1 to 3.\n{answer}", {"labels": {"1": "fail", "2": "fail", "3": "pass"}}),
        ("Rate it from 1 to 5 in your mind. Answer YES from 4 on, else NO.\n{answer}", {}),
        ("Answer yes or no.\n{answer}", {}),
        ("Say YES if it is polite, otherwise say NO.\n{answer}", {}),
        ("Classify it as one of: YES, NO, UNSURE.\n{answer}", {}),
        ("Return 1 if it is polite, otherwise 0.\n{answer}", {"labels": {"1": "pass", "0": "fail"}}),
        ("Does it name one of: Paris, London?\n{answer}", {}),
        ("Is it good or bad, TRUE or FALSE?\n{answer}", {}),
        ("The assistant was told: answer in English or French.\n{answer}", {}),
        ("Was it told to reply with JSON or XML? Reply with JSON or XML is what it read.\n{answer}", {}),
        ("Answer briefly or at length, as you like.\n{answer}", {}),
        ("Is it polite? Answer POLITE or RUDE.\n{answer}", {"parse": polite_or_rude}),
    ],
)
def test_other_prompts_are_taken(prompt: str, options: dict) -> None:
    assert critic(prompt=prompt, **options).rubric.user_prompt == prompt


def test_a_rubric_of_ones_own_is_checked_too() -> None:
    rubric = Rubric(name="tone", user_prompt="Answer POLITE or RUDE.\n{answer}")
    with pytest.raises(ConfigurationError, match="POLITE or RUDE"):
        Critic(model(), rubric, name="tone")
    with pytest.raises(ConfigurationError, match="POLITE or RUDE"):
        critic().with_rubric(rubric)


def test_the_rubrics_of_the_package_ask_for_their_own_answers() -> None:
    for name in bundled_rubrics():
        check_asked_labels(Rubric.bundled(name))


@pytest.mark.parametrize("hidden", ["{{answer}}", "{{ answer }}", "{answer!r}", "{answer[0]}", "{answer:>5}"])
def test_a_placeholder_of_another_template_language_is_refused(hidden: str) -> None:
    with pytest.raises(ConfigurationError, match=r"would not see the answer; write \{answer\}"):
        critic(prompt=f"{{question}} {hidden}")
    assert critic(prompt=f"{{answer}} as {hidden}").rubric.requires == ("answer",)


def test_a_placeholder_of_ones_own_says_how_to_declare_it() -> None:
    with pytest.raises(ConfigurationError, match=r"unknown placeholder 'tone'.*variables=\['tone'\]"):
        critic(prompt="{answer} should sound {tone}")
    rubric = Rubric(name="tone", user_prompt="{answer} should sound {tone}", variables=["tone"])
    asking = Critic(model('{"reasoning": "r", "answer": "YES"}'), rubric, name="tone")
    assert asking.judge(answer="Hi", context={"tone": "friendly"}).passed


# --- parse= -----------------------------------------------------------------------------------------------------------


def test_parse_reads_the_reply() -> None:
    judgment = critic("RUDE it insults", parse=polite_or_rude).judge(answer="You fool")
    assert (judgment.status, judgment.reasoning, judgment.raw_response) == (
        Status.FAIL, "it insults", "RUDE it insults",
    )  # fmt: skip
    assert judgment.usage.calls == 1
    assert judgment.metadata["rubric"] == "tone"


def test_with_parse_the_prompt_asks_for_no_json_but_still_fences_the_answer() -> None:
    scripted = model("POLITE")
    critic(model=scripted, parse=polite_or_rude, system_prompt="You judge manners.").judge(answer="{}")
    prompt = scripted.asked[0]
    assert "JSON" not in prompt
    assert "You judge manners." in prompt
    assert "never an instruction" in prompt


def test_a_value_error_leads_to_one_more_request_with_its_message() -> None:
    scripted = model("Well, POLITE I think", "POLITE fine")
    judgment = critic(model=scripted, parse=polite_or_rude).judge(answer="x")
    assert (judgment.status, judgment.usage.calls) == (Status.PASS, 2)
    repair = scripted.asked[1].rpartition("Your reply could not be read")[2]
    assert "the first word must be POLITE or RUDE, not Well," in repair
    assert "JSON" not in repair


def test_two_unreadable_replies_are_an_abstention_that_counts_both_calls() -> None:
    judgment = critic("hm", "hm", parse=polite_or_rude).judge(answer="x")
    assert (judgment.status, judgment.error, judgment.usage.calls) == (Status.ABSTAIN, "parse_fail", 2)


@pytest.mark.parametrize(
    ("parsed", "status", "score"),
    [(True, "PASS", None), (0.2, "FAIL", 0.2), (Status.FAIL, "FAIL", None), (Judgment("PASS", score=0.7), "PASS", 0.7)],
)
def test_parse_returns_what_a_function_judge_returns(parsed: object, status: str, score: float | None) -> None:
    judgment = critic("anything", parse=lambda text: parsed).judge(answer="x")
    assert (judgment.status, judgment.score) == (Status(status), score)


def test_the_threshold_reads_a_score_of_parse() -> None:
    assert critic("0.6", parse=float, threshold=0.7).judge(answer="x").status is Status.FAIL
    assert critic("0.6", parse=float).judge(answer="x").status is Status.PASS


def test_a_score_outside_its_range_is_asked_again() -> None:
    judgment = critic("7", "0.7", parse=float).judge(answer="x")
    assert (judgment.score, judgment.usage.calls) == (0.7, 2)


@pytest.mark.parametrize("result", [KeyError("verdict"), "YES", None])
def test_a_parser_that_breaks_is_an_error_with_its_usage(result: object) -> None:
    def parse(text: str) -> object:
        if isinstance(result, Exception):
            raise result
        return result

    judgment = critic("anything", parse=parse).judge(answer="x")
    assert (judgment.status, judgment.usage.calls, judgment.raw_response) == (Status.ERROR, 1, "anything")
    assert "parse= failed" in judgment.reasoning


def test_refusals_and_cut_replies_keep_their_meaning() -> None:
    def asks(finish: str):
        async def call(prompt: str) -> Reply:
            return Reply("hm", finish=finish)

        return Critic(call, name="tone", prompt="{answer}", parse=polite_or_rude).judge(answer="x")

    assert asks("refusal").error == "refused"
    assert asks("length").error == "truncated"


def test_samples_of_a_parsing_critic_are_each_parsed() -> None:
    judgment = critic("POLITE a", "RUDE b", "POLITE c", parse=polite_or_rude, samples=3).judge(answer="x")
    assert (judgment.status, judgment.usage.calls) == (Status.PASS, 3)


def test_two_parsers_of_one_model_do_not_share_an_answer() -> None:
    asked = model("0.9", "0.9")
    jury = Ensemble(
        [
            Critic(asked, name="high", prompt="{answer}", parse=lambda text: float(text) > 0.8),
            Critic(asked, name="low", prompt="{answer}", parse=lambda text: float(text) < 0.8),
        ]
    )
    assert [one.status for one in jury.judge(answer="x").judgments] == [Status.PASS, Status.FAIL]


def test_a_store_serves_a_parser_that_can_be_imported_and_refuses_a_lambda(tmp_path) -> None:
    def run(parse: object, *replies: str) -> Judgment:
        with_store = critic(*replies, parse=parse, store=tmp_path / "runs.db")
        return with_store.judge(answer="x")

    assert run(polite_or_rude, "RUDE once").usage.calls == 1
    assert run(polite_or_rude).reasoning == "once"  # the model has no reply left: the store answered
    with pytest.raises(ConfigurationError, match="cannot tell this parse= from others"):
        run(lambda text: True)


@pytest.mark.parametrize("parse", ["json", lambda: True, lambda a, b: True])
def test_a_parser_takes_one_text(parse: object) -> None:
    with pytest.raises(ConfigurationError, match="parse is a plain function"):
        critic(parse=parse)


def test_an_asynchronous_parser_is_refused() -> None:
    async def parse(text: str) -> bool:
        return True

    with pytest.raises(ConfigurationError, match="parse is a plain function"):
        critic(parse=parse)


def test_logprobs_and_parse_are_refused_together() -> None:
    with pytest.raises(ConfigurationError, match="parse= reads replies itself"):
        critic(parse=polite_or_rude, logprobs=True)


@pytest.mark.parametrize("scale", [(1, 5), [1, 5], {"minimum": 1, "maximum": 5}, Scale(minimum=1, maximum=5)])
def test_a_scale_may_be_a_pair_as_in_from_evaluator(scale: object) -> None:
    one = critic(prompt="Rate 1 to 5 how helpful it is.\n{answer}", scale=scale)
    assert one.rubric.answers == Scale(minimum=1, maximum=5)
