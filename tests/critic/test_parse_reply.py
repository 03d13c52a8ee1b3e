import json

import pytest
from attacks import ATTACKS
from hypothesis import example, given
from hypothesis import strategies as st
from support.examples import SLOW
from support.proportion import assert_proportional

from jury_adapters import Judgment, Status, Usage
from jury_adapters.critic.answers import Choice, Labels
from jury_adapters.critic.parse_json import find_objects
from jury_adapters.critic.parse_reply import Reading, Unreadable, read_reply, repair_request
from jury_adapters.critic.quoted_answers import Material
from jury_adapters.critic.reply_judgments import judgment_from, parse_failure
from jury_adapters.critic.rubric import Rubric
from jury_adapters.models.base import Reply
from jury_adapters.results import Finding

pytestmark = pytest.mark.corpus

YES_NO = Rubric(name="yes or no")
RATING = Rubric(name="rating", scale={"minimum": 1, "maximum": 5, "pass_mark": 4})
UNIT = Rubric(name="unit", scale={"minimum": 0, "maximum": 1})
CLAIMS = Rubric(name="claims", claims=True)
PAIR = Rubric(name="pair", labels={"A": "none", "B": "none", "tie": "none"})
GRADED = Rubric(
    name="graded",
    answers=Labels.of(passing=["supported"], neutral=["partially supported", "partially"], failing=["no"]),
)


def answer_in(text, rubric=YES_NO, **options):
    read = read_reply(text, rubric, **options)
    return read.choice.text if isinstance(read, Reading) else None


class TestJson:
    def test_all_of_it(self):
        read = read_reply('{"reasoning": " why ", "answer": "yes", "confidence": 0.9}', YES_NO)
        assert read == Reading(Choice("YES", Status.PASS, "YES"), "why", 0.9)

    @pytest.mark.parametrize(
        "text",
        [
            '```json\n{"answer": "NO"}\n```',
            '```\n{"answer": "NO"}\n```',
            'Here you are: {"answer": "NO"} Hope it helps!',
            '{"answer": "NO",}',
            '{"reasoning": "x", "tags": ["a", "b",], "answer": "NO",}',
            '{"reasoning": "first\nsecond", "answer": "NO"}',
            '\ufeff{"answer": "NO"}',
            'Consider {a, b}.\n{"answer": "NO"}\nUse {braces} carefully.',
            'First {a}. {"answer": "NO"} {"other": 1} {}',
            'Draft: {"answer": "NO"}\nFinal: {"answer": "NO", "confidence": 0.5}',
            '<think>{"answer": "YES"} or so</think>\n{"answer": "NO"}',
            'thinking... {"answer": "YES"}\n</think>\n{"answer": "NO"}',
            '{"reasoning": "the text says </think> {\\"answer\\": \\"YES\\"}", "answer": "NO"}',
            '{" Answer ": "NO"}',
            '"NO"',
        ],
    )
    def test_whatever_stands_around_it(self, text):
        assert answer_in(text) == "NO"

    @pytest.mark.parametrize("name", ["answer", "verdict", "label", "kind", "score", "rating", "Verdict"])
    @pytest.mark.parametrize("reason", ["reasoning", "rationale", "reason", "explanation"])
    def test_other_names(self, name, reason):
        read = read_reply(json.dumps({name: "NO", reason: "because"}), YES_NO)
        assert (read.choice.text, read.reasoning) == ("NO", "because")

    def test_the_name_that_fits_the_vocabulary_comes_first(self):
        text = '{"score": 4, "label": "YES"}'
        assert answer_in(text) == "YES"
        assert answer_in(text, RATING) == "4"

    @pytest.mark.parametrize(
        "text",
        [
            '{"answer": ""}', '{"answer": ["YES"]}', '{"answer": {"label": "YES"}}', '{"answer": true}',
            '{"answer": 1}',
            '{"answer": null}', '{"result": {"answer": "YES"}}', '{"answers": "YES"}', '[{"answer": "YES"}]', "[]",
            '{"answer": "YES or NO"}', '{"answer": "NOT SURE"}', '{"answer": "YES"', "{'answer': 'YES'}", "{}", "true",
            '{"answer": "maybe"} Answer: YES', '{"reasoning": "he wrote "hi"\nAnswer: YES', "null", "3",
            '```json\n{"answer: YES\n```',
            'Consider {a, b}. {"answer": "NO"}\nUse {braces} {"carefully', 'A set { "like this" } and {"answer": "NO"}',
            '{"note {"answer": "NO"}', '{"answer": "YES"} no, I was wrong: {"answer": "NO"}',
            '{"answer": "NO"} {"answer": "maybe"}', '{"reasoning": "I begin", {"answer": "NO"}',
            '{"draft": {"answer": "YES"} stop. {"answer": "NO"}',
        ],
    )  # fmt: skip
    def test_what_is_no_vote(self, text):
        assert isinstance(read_reply(text, YES_NO), Unreadable)

    @pytest.mark.parametrize(
        "value", ["NaN", "Infinity", "-Infinity", "true", "0", "6", "4.5", '"four"', "1e999", "9" * 5000]
    )
    def test_what_is_no_rating(self, value):
        assert isinstance(read_reply(f'{{"answer": {value}}}', RATING), Unreadable)

    @pytest.mark.parametrize(
        ("value", "confidence"),
        [("0.85", 0.85), ("1", 1.0), ('"85%"', 0.85), ('"0.5"', 0.5), ("null", None)],
    )
    def test_confidence(self, value, confidence):
        read = read_reply(f'{{"answer": "YES", "confidence": {value}}}', YES_NO)
        assert (read.confidence, read.notes) == (confidence, ())

    @pytest.mark.parametrize("value", ["Infinity", "NaN", "85", "-0.1", "true", '"high"', "[1]", '"' + "x" * 999 + '"'])
    def test_a_confidence_without_sense_is_none_with_a_note(self, value):
        read = read_reply(f'{{"answer": "YES", "confidence": {value}}}', YES_NO)
        assert read.confidence is None
        assert "no usable confidence" in read.notes[0]
        assert len(read.notes[0]) < 250

    def test_reasons_in_a_list(self):
        assert read_reply('{"answer": "YES", "reasoning": ["a", 1, "b"]}', YES_NO).reasoning == "a\nb"


class TestProse:
    @pytest.mark.parametrize(
        ("text", "answer", "reasoning"),
        [
            ("Answer: YES\nReasoning: All fits.", "YES", "All fits."),
            ("Answer: [NO]\nReasoning: x", "NO", "x"),
            ("**Answer:** NO", "NO", ""),
            ("**Final Answer**: **no**", "NO", ""),
            ("I looked.\nMy final answer: (NO).", "NO", "I looked."),
            ("- Verdict = `YES`", "YES", ""),
            ("Verdict: **NO** (see above)", "NO", ""),
            ("Reasoning: because\nAnswer: NO", "NO", "because"),
            ("Answer: NO, not yesterday", "NO", ""),
            ("Answer: YES - it fits", "YES", ""),
            ("Answer: Paris\nVerdict: YES", "YES", ""),
            ("Answer: NO\nSo the final answer stands.\nAnswer: NO", "NO", "So the final answer stands."),
            ("NO", "NO", ""),
            ("  **Yes.** ", "YES", ""),
            ("NO, not yesterday", "NO", "not yesterday"),
            ("NO. Eyes were not drawn.", "NO", "Eyes were not drawn."),
            ("YES\nIt is fine.", "YES", "It is fine."),
            ("**NO** \u2014 it is not.", "NO", "it is not."),
            ("Unsure: hard to say", "UNSURE", "hard to say"),
            ("<think>maybe YES</think>NO", "NO", ""),
        ],
    )
    def test_plain_answers(self, text, answer, reasoning):
        read = read_reply(text, YES_NO)
        assert (read.choice.text, read.reasoning) == (answer, reasoning)

    @pytest.mark.parametrize(
        "text",
        [
            "NOT SURE", "Answer: NOT SURE\nReasoning: ambiguous", "I cannot determine this.", "maybe", "Nobody knows",
            "The answer is YES", "It is YES.", "YES or NO", "YES/NO",
            "YES (or NO)", "YES, NO", "YES, no.", "NO-one knows", "YESNO",
            "Answer: YES\nAnswer: NO", "Answer: YES or NO", "YES, it is.\nNO, it is not.", "<think>YES",
            "<think>x</think>",
            "Answer:", "Answer: YES NO", "yes it is", "this is not json at all", "{this is not json at all !!}", "-",
            "\x00",
        ],
    )  # fmt: skip
    def test_what_is_no_answer(self, text):
        assert isinstance(read_reply(text, YES_NO), Unreadable)

    def test_a_longer_label_is_not_its_first_word(self):
        assert answer_in("Partially supported. Some is there.", GRADED) == "partially supported"
        assert answer_in("Partially. Some is there.", GRADED) == "partially"
        assert answer_in("supported, mostly", GRADED) == "supported"
        assert answer_in("unsupported", GRADED) is None

    def test_letters(self):
        assert answer_in("A. Candidate A is better.", PAIR) == "A"
        assert answer_in("Answer: B", PAIR) == "B"
        assert answer_in("A, B and tie are possible", PAIR) is None
        assert answer_in("A. is short\nB. is long", PAIR) is None
        assert answer_in("A better answer is B", PAIR) is None

    @pytest.mark.parametrize(
        ("text", "answer"),
        [
            ("4", "4"), ("4/5", "4"), ("Score: 4/5", "4"), ("**Rating:** 4 (good)", "4"), ("Score: 4 out of 5.", "4"),
            ("4\nIt is good.", "4"), ("Answer: 4 - good", "4"), ("Rating: [4]", "4"), ("Score: 4. It is good.", "4"),
            ("4. Fourth, it is good.", None), ("4 or 5", None), ("Score: 4 or 5", None), ("Score: 4/10", None),
            ("Score: 4.5", None), ("Score: 80%", None), ("Score: 4-5", None), ("Score: 3\nScore: 4", None),
        ],
    )  # fmt: skip
    def test_ratings(self, text, answer):
        assert answer_in(text, RATING) == answer

    def test_percent(self):
        assert read_reply("Score: 85%", UNIT).choice.score == 0.85

    def test_digits_as_labels_are_no_list_items(self):
        rubric = Rubric(name="x", labels={"1": "pass", "2": "fail"})
        assert answer_in("1. The answer is wrong.", rubric) is None
        assert answer_in("1", rubric) == "1"


class TestClaims:
    def test_claims_become_checks(self):
        claims = [
            {"claim": " Paris is big ", "evidence": "a big city", "verdict": "Supported"},
            {"claim": "It is old", "quote": "founded 1990", "verdict": "contradicted"},
            {"claim": "It is red", "evidence": None, "label": "unsupported"},
            {"claim": "It is it", "verdict": "unclear"},
            {"claim": "odd", "verdict": "perhaps"},
            {"claim": ""},
            "text",
        ]
        read = read_reply(json.dumps({"claims": claims, "answer": "NO"}), CLAIMS)
        assert read.findings[:4] == (
            Finding("Paris is big", True, "supported", "a big city"),
            Finding("It is old", False, "contradicted", "founded 1990"),
            Finding("It is red", False, "unsupported"),
            Finding("It is it", None, "unclear"),
        )
        assert (read.findings[4].name, read.findings[4].passed) == ("odd", None)
        assert read.notes == ("2 of 7 claims could not be read",)

    def test_an_answer_that_passes_beside_claims_that_fail_is_another_answer(self):
        claims = [{"claim": "It is red", "verdict": "unsupported"}, {"claim": "It is big", "verdict": "supported"}]
        reply = json.dumps({"claims": claims, "answer": "YES"})
        assert read_reply(reply, CLAIMS) == Unreadable("the answer passes although 1 of 2 claims fail")
        rubric = Rubric(name="rated claims", claims=True, scale={"minimum": 1, "maximum": 5, "pass_mark": 4})
        rated = read_reply(json.dumps({"claims": claims, "answer": 4}), rubric)
        assert rated.notes == ("the answer passes although 1 of 2 claims fail",)  # a scale may allow for some
        unclear = [{"claim": "It is red", "verdict": "unclear"}]
        assert read_reply(json.dumps({"claims": unclear, "answer": "YES"}), CLAIMS).choice.status is Status.PASS

    @pytest.mark.parametrize("claims", [None, "all fine", 3, {}])
    def test_a_reply_without_claims_still_counts(self, claims):
        read = read_reply(json.dumps({"claims": claims, "answer": "NO"}), CLAIMS)
        assert (read.choice.text, read.findings, read.notes) == ("NO", (), ("the reply judges no single claims",))

    def test_a_claim_is_never_taken_for_the_answer(self):
        rubric = Rubric(name="x", claims=True, labels={"supported": "pass", "unsupported": "fail"})
        broken = '{"claims": [{"claim": "x", "verdict": "supported"}], "answer": unsupported}'
        assert isinstance(read_reply(broken, rubric), Unreadable)

    def test_claims_nobody_asked_for_are_left_alone(self):
        assert read_reply('{"claims": [{"claim": "x", "verdict": "supported"}], "answer": "NO"}', YES_NO).findings == ()


class TestJudgment:
    def test_what_it_carries(self):
        usage = Usage(input_tokens=10, calls=1)
        reply = Reply('{"answer": 4, "confidence": 9}', usage, "gpt-4o-2024", request_id="r1")
        judgment = judgment_from(reply, RATING)
        assert judgment == Judgment(
            Status.PASS, score=0.75, model="gpt-4o-2024", family="openai", usage=usage, raw_response=reply.text,
            metadata={
                "rubric": "rating", "rubric_version": "1", "rubric_fingerprint": RATING.fingerprint, "rating": 4,
                "notes": ["no usable confidence: 9"], "request_id": "r1",
            },
        )  # fmt: skip
        assert "r1" not in judgment.canonical_json()

    def test_a_neutral_label_has_no_status(self):
        judgment = judgment_from(Reply("tie"), PAIR)
        assert (judgment.status, judgment.label, judgment.score) == (None, "tie", None)

    def test_an_abstaining_label_is_an_abstention_without_error(self):
        judgment = judgment_from(Reply('{"answer": "UNSURE", "reasoning": "too vague"}'), YES_NO)
        assert (judgment.status, judgment.label, judgment.error) == (Status.ABSTAIN, "UNSURE", None)

    @pytest.mark.parametrize("text", ["", " \n\t"])
    def test_nothing_is_an_error(self, text):
        judgment = judgment_from(Reply(text), YES_NO)
        assert (judgment.status, judgment.error) == (Status.ERROR, "empty_response")

    @pytest.mark.parametrize(
        ("finish", "text", "error"),
        [
            ("refusal", "", "refused"),
            ("refusal", '{"answer": "YES"}', "refused"),
            ("filter", "", "filtered"),
            ("filter", '{"answer": "YES"}', "filtered"),
            ("length", "", "truncated"),
            ("length", "<think>so", "truncated"),
            ("length", '{"reasoning": "on and on', "truncated"),
            ("length", 'Draft {"answer": "YES"} final {"answer": "N', "truncated"),
            ("length", 'Draft {"answer": "YES"} final {', "truncated"),
        ],
    )
    def test_replies_that_ended_badly_abstain(self, finish, text, error):
        judgment = judgment_from(Reply(text, finish=finish, detail="because\nof it"), YES_NO)
        assert (judgment.status, judgment.error, judgment.raw_response) == (Status.ABSTAIN, error, text or None)
        assert judgment.reasoning.endswith("(because of it)")

    @pytest.mark.parametrize("finish", ["length", "other"])
    @pytest.mark.parametrize(
        "text",
        ['{"answer": "NO"}', '{"reasoning": "x", "answer": "NO"}\n', '```json\n{"answer": "NO"}\n```',
         '<think>x</think>{"answer": "NO"}'],
    )  # fmt: skip
    def test_a_reply_cut_off_counts_when_it_is_one_complete_object(self, text, finish):
        assert judgment_from(Reply(text, finish=finish), YES_NO).label == "NO"

    @pytest.mark.parametrize("finish", ["length", "other"])
    @pytest.mark.parametrize(
        "text",
        ['{"answer": "NO"}\nFurthermo', 'So:\n{"answer": "NO"}', "NO", "Answer: NO", '"NO"', "NO\nThe year",
         "Answer: NO\nThe", "<think>x</think>NO", "<answer>NO</answer>"],
    )  # fmt: skip
    def test_a_reply_cut_off_does_not_count_when_its_answer_may_go_on(self, text, finish):
        problem = read_reply(text, YES_NO, truncated=True)
        assert isinstance(problem, Unreadable)
        read = judgment_from(Reply(text, finish=finish), YES_NO)
        assert read == problem if finish == "other" else read.error == "truncated"

    def test_an_unreadable_reply_asks_for_another_and_then_abstains(self):
        reply = Reply('{"answer": "perhaps"}', model="claude-x")
        problem = judgment_from(reply, CLAIMS)
        assert problem == Unreadable('the answer must be exactly one of "YES", "NO", "UNSURE", not \'perhaps\'')
        request = repair_request(CLAIMS, problem)
        assert "not 'perhaps'" in request
        assert '"claims"' in request
        assert repair_request(YES_NO, "no JSON") != request
        judgment = parse_failure(reply, CLAIMS, problem)
        assert (judgment.status, judgment.error, judgment.raw_response) == (Status.ABSTAIN, "parse_fail", reply.text)
        assert (judgment.model, judgment.family) == ("claude-x", "anthropic")

    @pytest.mark.parametrize(("threshold", "status"), [(None, Status.PASS), (0.75, Status.PASS), (0.8, Status.FAIL)])
    def test_a_threshold_replaces_the_pass_mark(self, threshold, status):
        assert judgment_from(Reply("4"), RATING, threshold=threshold).status is status

    def test_a_threshold_leaves_an_answer_without_score_alone(self):
        assert judgment_from(Reply("NO"), YES_NO, threshold=0.0).status is Status.FAIL


RUBRICS = (YES_NO, RATING, UNIT, CLAIMS, PAIR, GRADED)
# Pieces from which replies, good and broken, are made.
PIECES = st.sampled_from(
    ["{", "}", "[", "]", '"', "\\", ",", ":", " ", "\n", "answer", '"answer"', "YES", "NO", "4", "Answer: ", "<think>",
     "</think>", "```", '{"answer": "YES"}', "claims", "NaN", "1e999", "**", "/5", "%", "."]
)  # fmt: skip


class TestProperties:
    @given(st.text() | st.lists(PIECES).map("".join))
    @example('{"answer": "\\ud83d"}')
    def test_reading_never_raises(self, text):
        for rubric in RUBRICS:
            for finish in ("stop", "length"):
                judgment = judgment_from(Reply(text, finish=finish), rubric)
                assert isinstance(judgment, Judgment | Unreadable)
                if isinstance(judgment, Judgment):
                    judgment.to_json()
                else:
                    parse_failure(Reply(text), rubric, judgment).to_json()

    @pytest.mark.slow
    @given(
        st.sampled_from(["YES", "NO", "UNSURE"]),
        st.text(),
        st.floats(0, 1),
        st.lists(st.tuples(st.text(), st.text(), st.sampled_from(["supported", "contradicted", "unclear"]))),
        st.sampled_from(["{}", "```json\n{}\n```", "Well. {} So.", "<think>{{}}</think>{}"]),
    )
    def test_a_well_formed_reply_reads_back(self, answer, reasoning, confidence, claims, around):
        data = {
            "reasoning": reasoning,
            "claims": [{"claim": f"c{claim}", "evidence": quote, "verdict": word} for claim, quote, word in claims],
            "answer": answer,
            "confidence": confidence,
        }
        read = read_reply(around.replace("{}", json.dumps(data, ensure_ascii=False)), CLAIMS)
        if answer == "YES" and any(word == "contradicted" for _, _, word in claims):
            assert isinstance(read, Unreadable)
            return
        assert read.choice == CLAIMS.answers.read(answer)
        assert (read.reasoning, read.confidence) == (reasoning.strip(), confidence)
        assert [finding.evidence for finding in read.findings] == [quote.strip() for _, quote, _ in claims]

    @pytest.mark.slow
    @given(st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text())))
    def test_an_object_is_found_in_any_prose_without_braces(self, value):
        text = json.dumps(value)
        found = find_objects(f"so: {text} there")
        assert not found.problem
        assert [(each.value, each.start, each.end) for each in found.objects] == (
            [(value, 4, 4 + len(text))] if value else []
        )

    @pytest.mark.corpus
    @pytest.mark.parametrize(
        "unit",
        ["{", "[", '{"a":', '{"a":[', '{"', '{"a":"{ "', "{}", '{"a":1}', '{"k":"\\"{', "<think>", "Answer: NO\n",
         "NO\n",
         "a", "\n", " ", '"', "\\", "**", "1", '{"answer":"YES"', "`", "Answer: x\n", "</think>\n", ">",
         "Reasoning:", ". ", "<a ", "[x]", "[/think]", "\u25c1a ", "<|a|>", "</x>", "not ", "YES - ", "</s>",
         "here is:\n"],
    )  # fmt: skip
    @pytest.mark.parametrize(
        ("around", "size"),
        [
            ("{}", 2_000_000 if SLOW else 100_000),
            # Plain words are read up to some length only, so these stay below it.
            *(
                (around, 100_000 if SLOW else 20_000)
                for around in ("NO{}x", "1{}x", "Answer: 1{}x", '"1{}x"', '{{"answer": "1{}x"}}')
            ),
        ],
    )
    def test_anything_is_read_in_proportion_to_its_length(self, unit, around, size):
        def read(length):
            text = around.format(unit * (length // len(unit)))
            for rubric in (YES_NO, RATING):
                read_reply(text, rubric)

        assert_proportional(read, size // 10)

    @pytest.mark.parametrize(
        "unit",
        [
            "Answer: YES\n",
            "YES\n",
            "{",
            '"answer": "',
            "</think>",
            "\\u0022",
            "&quot;",
            "\u200b",
            "<!--",
            "<a ",
            "[a](",
            "[a][",
            "\x9d",
            "\x1b[",
            "\x08a",
            "\\text{",
            "%20",
            "&amp;",
            "a\u0301",
            "</think>YES ",
        ],
    )
    def test_material_is_searched_in_proportion_to_its_length(self, unit):
        def search(length):
            material = Material(lambda: [unit * (length // len(unit))], YES_NO.answers)
            read_reply("I refuse.", YES_NO, material=material)

        assert_proportional(search, 100_000 if SLOW else 10_000)

    def test_the_material_is_not_searched_for_a_reply_that_is_a_whole_answer(self):
        def texts():
            raise AssertionError("searched")

        for text in (
            '{"answer": "NO"}',
            '```json\n{"answer": "NO"}\n```',
            "NO",
            "<answer>NO</answer>",
            "**Answer:** NO",
        ):
            assert read_reply(text, YES_NO, material=Material(texts, YES_NO.answers)).choice.text == "NO"
        with pytest.raises(AssertionError, match="searched"):
            read_reply("Answer: NO\nReasoning: x", YES_NO, material=Material(texts, YES_NO.answers))

    @pytest.mark.parametrize("name", ATTACKS)
    def test_quoting_an_attack_in_the_reasons_changes_nothing(self, name):
        quoted = ATTACKS[name][:100_000]
        data = {"reasoning": f"The text says: {quoted}", "answer": "NO", "confidence": 0.9}
        for text in (
            json.dumps(data),
            json.dumps(data, ensure_ascii=False),
            f"```json\n{json.dumps(data, indent=1)}\n```",
        ):
            assert answer_in(text) == "NO"
            assert answer_in(text[:-20]) is None, "broken JSON is asked for again, whatever is quoted in it"


@pytest.mark.parametrize("text", ["4\nfine", "\n4\nfine and short", "4\n\nthe claims are right", "4\nReasoning: fine"])
def test_a_line_of_reasons_in_lower_case_may_follow_a_rating(text):
    assert judgment_from(Reply(text), RATING).metadata["rating"] == 4


@pytest.mark.parametrize("text", ["4\nstars would be too many", "4\nis what the text asks for", "4\nor less"])
def test_a_sentence_that_goes_on_behind_a_rating_makes_it_unreadable(text):
    assert isinstance(judgment_from(Reply(text), RATING), Unreadable)


def test_reasons_that_are_left_out_introduce_nothing():
    assert judgment_from(Reply("Reasoning:\nAnswer: NO"), YES_NO).label == "NO"
    assert judgment_from(Reply("**Reasoning**:\n\nAnswer: NO"), YES_NO).label == "NO"
    quoted = Reply("The text ends with:\nReasoning:\nAnswer: YES")
    assert isinstance(judgment_from(quoted, YES_NO), Unreadable)
