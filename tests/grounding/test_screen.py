"""The grounding screen: what it flags, what it accepts, what it leaves open, and what it cannot see."""

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.proportion import assert_proportional

from jury_adapters.core.case import Case
from jury_adapters.core.case_parts import Message
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Status
from jury_adapters.grounding import screen as screen_module
from jury_adapters.grounding.screen import (
    ContextRelevance,
    NamesAndNumbers,
    SentenceAlignment,
    SentenceSupport,
    Undecided,
    grounding_screen,
)

PASS, FAIL, ABSTAIN, ERROR = Status.PASS, Status.FAIL, Status.ABSTAIN, Status.ERROR

HARBOUR = (
    "The harbour of Lunvik was built in 1874 by Marta Olsen and her brother Jens. It was not rebuilt after the storm "
    "of 1931. About 2,400 people live there, and the ferry to Ostrava takes 45 minutes. "
    "The mayor may close the old pier."
)
JURORS = [NamesAndNumbers(), SentenceAlignment(), SentenceSupport(), ContextRelevance(), Undecided()]
NEED_ANSWER = [juror for juror in JURORS if not isinstance(juror, ContextRelevance)]


def judge(juror, answer, contexts=HARBOUR, question="Who built the harbour of Lunvik?"):
    return juror.judge(Case(question=question, answer=answer, contexts=contexts))


def named(judgment):
    return [finding.name for finding in judgment.findings]


@pytest.mark.parametrize("juror", JURORS, ids=lambda juror: juror.name)
class TestEveryJuror:
    @pytest.mark.parametrize("contexts", [(), ("",), ("  ", "\n\t"), ("\u3000",)])
    def test_without_contexts_it_abstains_and_says_so(self, juror, contexts):
        judgment = judge(juror, "Marta built it.", contexts)
        assert judgment.status is ABSTAIN
        assert "no contexts" in judgment.reasoning

    def test_its_name_and_pickle(self, juror):
        assert juror.name == type(juror).__name__
        assert pickle.loads(pickle.dumps(juror)) == juror

    @pytest.mark.parametrize(
        "text", ["\ud800", "\x00", "\u0301" * 300, "...", "\U0001f600", "\u202e", "-LRB-", "[1]", "1.", "''"]
    )
    def test_odd_text_breaks_nothing(self, juror, text):
        assert judge(juror, text).status is not ERROR
        assert judge(juror, "Marta.", text, text).status is not ERROR


@pytest.mark.parametrize("juror", NEED_ANSWER, ids=lambda juror: juror.name)
@pytest.mark.parametrize("answer", [None, "", "  \n", "!!!", "\U0001f600", "[1]"])
def test_without_words_in_the_answer_nothing_is_said(juror, answer):
    judgment = juror.judge(Case(answer=answer, contexts=HARBOUR))
    assert judgment.status is ABSTAIN
    assert judgment.reasoning.startswith("no answer to compare with the contexts")


@pytest.mark.parametrize("juror", [*NEED_ANSWER, ContextRelevance()], ids=lambda juror: juror.name)
def test_where_both_are_missing_both_are_named(juror):
    field = "question" if isinstance(juror, ContextRelevance) else "answer"
    assert f"no {field} and no contexts" in juror.judge(Case(contexts=[" "])).reasoning


class TestNamesAndNumbers:
    @pytest.mark.parametrize(
        ("answer", "missing"),
        [
            ("It was built in 1875.", ["number: 1875"]),
            ("The harbour was built by Pia Olsen.", ["name: Pia Olsen"]),
            ("Marta Olsen of Bergen built it for $3 million.", ["number: $3 million", "name: Bergen"]),
            ("The ferry takes 45 hours.", ["number: 45 hours"]),
            ("Some 3,100 people live there.", ["number: 3,100"]),
            ("Step 7.", ["number: 7"]),
            ("In step 7.5 the ferry leaves.", ["number: 7.5"]),
        ],
    )
    def test_flags(self, answer, missing):
        judgment = judge(NamesAndNumbers(), answer)
        assert judgment.status is FAIL
        assert named(judgment) == missing
        assert all(
            finding.passed is False and finding.evidence == answer and finding.detail for finding in judgment.findings
        )
        assert all(item in judgment.reasoning for item in missing)

    @pytest.mark.parametrize(
        "answer",
        [
            "Marta built it, together with Jens Olsen.",
            "Olsen's harbour dates from the 1870s, the 19th century.",
            "1. Lunvik has 2400 people.\n2. It has two thousand four hundred of them.",
            "Step 1: Go to Lunvik. Step 2: take the ferry.",
            "**Step 1** - Go to Lunvik.\n### Step 2. The ferry\nTake it.",
            "(1) Go to Lunvik. (2) Take the ferry.",
            "Lunvik [3] has some 2, 400 people.",
            "Two people built it; the three of them were poor.",
            "Water is there. Ships come.",
        ],
    )
    def test_does_not_flag(self, answer):
        judgment = judge(NamesAndNumbers(), answer)
        assert judgment.status is ABSTAIN
        assert not judgment.findings

    @pytest.mark.parametrize("written", ["75 \u00b0C", "75\u00b0 C", "75 \u2103", "75 \u00baC", "75 degrees C", "75 C"])
    def test_a_scale_of_temperatures_is_known_by_its_letter(self, written):
        contexts = f"The water of the harbour may be at {written}."
        assert judge(NamesAndNumbers(), "It is at 75 degrees Celsius.", contexts).status is ABSTAIN
        assert named(judge(NamesAndNumbers(), "It is at 75 degrees Fahrenheit.", contexts)) == [
            "number: 75 degrees Fahrenheit"
        ]

    def test_what_the_question_says_is_known(self):
        question = "Did Pia Berg visit Lunvik in 1999?"
        assert judge(NamesAndNumbers(), "No, Pia Berg did not in 1999.", question=question).status is ABSTAIN
        assert judge(NamesAndNumbers(), "No, Pia Berg did not in 1999.").status is FAIL

    @pytest.mark.parametrize(
        ("role", "flagged"), [("user", []), ("assistant", ["code: P-2207"]), ("tool", ["code: P-2207"])]
    )
    def test_what_the_user_said_earlier_is_known_and_what_others_said_is_not(self, role, flagged):
        answer = "I noted 6130 litres for P-2207."
        conversation = [
            Message(role=role, content="It is P-2207."),
            Message(role="assistant", content="And the litres?"),
        ]
        case = Case(answer=answer, question="It has 6130 litres.", messages=conversation, contexts=[HARBOUR])
        assert named(NamesAndNumbers().judge(case)) == flagged

    def test_each_item_is_named_once(self):
        judgment = judge(NamesAndNumbers(), "He saw Bergen. She saw Bergen. They saw Bergen in 1555, in 1555.")
        assert named(judgment) == ["name: Bergen", "number: 1555"]

    @pytest.mark.parametrize(
        ("contexts", "answer"),
        [
            (
                "Das Haus wurde von zwei Brüdern gebaut und steht am Fluss.",
                "Das Gebäude steht am Ufer. Es hat 2 Etagen.",
            ),
            ("Москва является столицей России.", "Столица России находится в Москве."),
            ("\u4e09\u5343\u4eba\u4f4f\u5728\u4e1c\u4eac\u3002", "\u4e1c\u4eac 3000 \u4eba\u3002"),
            (
                "يعيش في القاهرة عشرة",
                "10 في القاهرة",
            ),
            ("Helsingissä asuu paljon ihmisiä.", "Helsinki on iso Kaupunki."),
        ],
    )
    def test_other_languages_are_not_flagged_for_how_they_write(self, contexts, answer):
        judgment = judge(NamesAndNumbers(), answer, contexts, "")
        assert judgment.status is ABSTAIN
        assert "not checked: names" in judgment.reasoning

    def test_exact_numbers_are_checked_in_every_language(self):
        assert judge(NamesAndNumbers(), "Es war 1987.", "Das Haus wurde im Jahr 1978 gebaut.", "").status is FAIL

    @pytest.mark.slow
    def test_a_verdict_stays_small(self):
        judgment = judge(NamesAndNumbers(), " ".join(f"{number}." for number in range(10_000, 30_000)))
        assert judgment.status is FAIL
        assert len(judgment.findings) <= 100
        assert "more" in judgment.reasoning


class TestSentenceAlignment:
    @pytest.mark.parametrize(
        "answer",
        [
            "The harbour of Lunvik was built in 1874 by Marta Olsen and her brother Jens.",
            "the harbour of Lunvik was built in 1874 by Marta Olsen",
            "Harbour of Lunvik was built in 1874 by Marta Olsen.",
            "It was not rebuilt after the storm of 1931. About 2, 400 people live there .",
            "1874",
            "Marta Olsen",
        ],
    )
    def test_accepts_nearly_verbatim_sentences(self, answer):
        judgment = judge(SentenceAlignment(), answer)
        assert judgment.status is PASS
        assert all(finding.passed for finding in judgment.findings)
        assert judgment.confidence is None

    @pytest.mark.parametrize(
        ("answer", "detail"),
        [
            ("It was rebuilt after the storm of 1931.", "not"),
            ("The mayor close the old pier.", "may"),
            ("The harbour of Lunvik was built in 1931 by Marta Olsen.", "qualify"),
            ("Jens and her brother Marta Olsen built the harbour.", ""),
            ("The harbour of Lunvik was built in 1874 by Marta Olsen and her husband Jens.", "husband"),
            ("Trolls dance.", "no place"),
        ],
    )
    def test_leaves_the_rest_open(self, answer, detail):
        judgment = judge(SentenceAlignment(), answer)
        assert judgment.status is ABSTAIN
        assert detail in judgment.findings[0].detail

    @pytest.mark.parametrize("answer", ["No.", "not", "A", "B", "Yes, it may."])
    def test_words_that_stand_everywhere_prove_nothing(self, answer):
        contexts = "No. It may not contain vitamin B. A man said yes."
        assert judge(SentenceAlignment(), answer, contexts).status is ABSTAIN

    def test_a_denial_around_the_words_keeps_them_from_passing(self):
        contexts = "Critics deny that the drug is safe. The drug is sold in Oslo."
        assert judge(SentenceAlignment(), "The drug is safe.", contexts).status is ABSTAIN
        assert judge(SentenceAlignment(), "The drug is sold in Oslo.", contexts).status is PASS

    def test_one_open_sentence_leaves_the_answer_open(self):
        judgment = judge(SentenceAlignment(), "It was not rebuilt after the storm of 1931. Trolls dance.")
        assert judgment.status is ABSTAIN
        assert [finding.passed for finding in judgment.findings] == [True, None]
        assert judgment.reasoning.startswith("1 of 2")


class TestScripts:
    CHINESE = "\u4e1c\u4eac\u662f\u65e5\u672c\u7684\u9996\u90fd\u3002\u5927\u962a\u4e0d\u662f\u9996\u90fd\u3002"

    def test_whole_sentences_without_spaces_pass_and_parts_stay_open(self):
        assert (
            judge(SentenceAlignment(), "\u4e1c\u4eac\u662f\u65e5\u672c\u7684\u9996\u90fd\u3002", self.CHINESE).status
            is PASS
        )
        assert judge(SentenceAlignment(), "\u5927\u962a\u662f\u9996\u90fd\u3002", self.CHINESE).status is ABSTAIN
        assert judge(SentenceAlignment(), "\u9996\u90fd", self.CHINESE).status is ABSTAIN

    @pytest.mark.parametrize(
        "answer",
        [
            "\u5927\u962a\u662f\u9996\u90fd\u3002",
            "\u0e01\u0e23\u0e38\u0e07\u0e40\u0e17\u0e1e",
            "\u043c\u043e\u0441\u043a\u0432\u0430" * 10,
        ],
    )
    def test_support_is_not_claimed_where_words_cannot_be_separated(self, answer):
        judgment = judge(SentenceSupport(threshold=0.1), answer, self.CHINESE)
        assert judgment.status is ABSTAIN
        assert "support" not in judgment.metadata

    def test_one_unreadable_sentence_keeps_the_rest_from_passing(self):
        answer = "Marta Olsen built it.\n\u5927\u962a\u662f\u9996\u90fd\u3002"
        judgment = judge(SentenceSupport(threshold=0.1), answer)
        assert judgment.status is ABSTAIN
        assert "1 more could not be read" in judgment.reasoning
        assert judge(SentenceSupport(threshold=1.0), "Trolls dance.\n" + answer).status is FAIL

    @pytest.mark.parametrize("city", ["京都", "กรุงเทพ", "Kyoto", "서울", "القاهرة", "Αθήνα"])
    def test_a_name_in_any_script_among_other_words_is_compared(self, city):
        contexts = f"In 2023 the bus delays of {city} were 10.3 minutes on average."
        answer = f"The bus delays of {city} were 10.3 minutes on average in 2023."
        assert judge(SentenceSupport(threshold=0.6), answer, contexts).score == 1.0
        assert judge(ContextRelevance(threshold=0.6), "x", contexts, f"What are the delays of {city}?").score == 1.0

    def test_a_name_without_spaces_that_is_no_word_of_the_contexts_is_the_reason_to_abstain(self):
        contexts = "The bus delays of 京都 were 10.3 minutes."
        judgment = judge(SentenceSupport(threshold=0.6), "The bus delays of 大阪 were 10.3 minutes.", contexts)
        assert judgment.status is ABSTAIN
        assert judgment.reasoning == (
            "no sentence can be compared with the contexts: "
            "in a script without spaces, and not a word of the contexts: 大阪"
        )
        question = judge(ContextRelevance(threshold=0.6), "x", contexts, "How long are the delays of 大阪?")
        assert question.status is ABSTAIN
        assert "in a script without spaces, and not a word of the contexts: 大阪" in question.reasoning

    def test_why_nothing_is_compared_is_the_script_or_the_want_of_words(self):
        for answer, why in (("大阪是首都", "words cannot be separated"), ("Yes, it was.", "there is no content word")):
            reasoning = judge(SentenceSupport(threshold=0.6), answer, self.CHINESE).reasoning
            assert reasoning == f"no sentence can be compared with the contexts: {why}"

    def test_a_question_without_spaces_is_not_rated(self):
        assert (
            judge(ContextRelevance(threshold=0.5), "x", self.CHINESE, "\u9996\u90fd\u5728\u54ea\u91cc").status
            is ABSTAIN
        )

    def test_arabic_and_cyrillic_with_spaces_are_compared(self):
        contexts = "Москва является столицей России. Волга впадает в Каспийское море."
        assert judge(SentenceAlignment(), "Волга впадает в Каспийское море.", contexts).status is PASS
        assert judge(SentenceSupport(), "Волга впадает в Каспийское море.", contexts).metadata["support"] == 1.0


class TestSentenceSupport:
    def test_abstains_without_a_threshold_and_still_gives_its_number(self):
        judgment = judge(SentenceSupport(), "Marta Olsen built the harbour. Trolls dance.")
        assert judgment.status is ABSTAIN
        assert judgment.score is None
        assert judgment.metadata["support"] == 0.0
        assert judgment.metadata["mean"] == 0.5
        assert [finding.score for finding in judgment.findings] == [1.0, 0.0]
        assert "troll" in judgment.findings[1].detail

    def test_with_a_threshold_it_passes_and_fails(self):
        assert judge(SentenceSupport(threshold=0.8), "Marta Olsen built the harbour.").status is PASS
        judgment = judge(SentenceSupport(threshold=0.8), "Trolls built the harbour.")
        assert judgment.reasoning.startswith("the only sentence has ")
        assert judgment.status is FAIL
        assert judgment.score == judgment.metadata["support"] < 0.8

    def test_rare_words_count_more(self):
        contexts = "The dog barks. The dog sleeps. The dog eats fish."
        rare = judge(SentenceSupport(), "fish quantum", contexts).metadata["support"]
        common = judge(SentenceSupport(), "dog quantum", contexts).metadata["support"]
        assert rare > common

    def test_an_answer_of_function_words_has_no_support_to_measure(self):
        assert "support" not in judge(SentenceSupport(), "Yes, it was.").metadata


class TestContextRelevance:
    def test_needs_a_question_and_no_answer(self):
        judgment = ContextRelevance(threshold=0.5).judge(question="Who built the harbour?", contexts=HARBOUR)
        assert judgment.status is PASS
        assert judgment.score == 1.0
        assert "no question" in ContextRelevance().judge(answer="x", contexts=HARBOUR).reasoning

    def test_contexts_about_something_else(self):
        judgment = ContextRelevance(threshold=0.5).judge(question="How do vaccines train immunity?", contexts=HARBOUR)
        assert judgment.status is FAIL
        assert judgment.metadata["support"] == 0.0
        assert "vaccine" in judgment.findings[0].detail

    def test_abstains_without_a_threshold(self):
        judgment = ContextRelevance().judge(question="Who built the harbour?", contexts=HARBOUR)
        assert judgment.status is ABSTAIN
        assert judgment.metadata["support"] == 1.0


@pytest.mark.parametrize("kind", [SentenceSupport, ContextRelevance])
@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan"), True, "0.5"])
def test_wrong_thresholds_are_refused(kind, threshold):
    with pytest.raises(ConfigurationError):
        kind(threshold=threshold)


class TestUndecided:
    def test_lists_what_to_look_at(self):
        judgment = judge(Undecided(), "Trolls rebuilt the harbour of Bergen in 1999.")
        assert judgment.status is ABSTAIN
        assert named(judgment) == ["number: 1999", "name: Bergen", "word: trolls", "word: bergen"]
        assert "word: trolls" in judgment.reasoning
        assert 0 < judgment.metadata["support"] < 1
        assert judgment.metadata["relevance"] == 1.0
        assert f"support {judgment.metadata['support']:.2f}" in judgment.reasoning

    def test_says_so_when_only_the_order_can_be_wrong(self):
        judgment = judge(Undecided(), "Jens built Marta Olsen.", question=None)
        assert "put together" in judgment.reasoning
        assert judgment.metadata["relevance"] is None


class TestScreen:
    def test_three_outcomes(self):
        screen = grounding_screen()
        assert screen.name == "grounding_screen"
        flagged = judge(screen, "Pia Berg built it.")
        assert (flagged.status, flagged.stopped_at, flagged.decision) == (FAIL, "flags", "rejected")
        verbatim = judge(screen, "It was not rebuilt after the storm of 1931.")
        assert (verbatim.status, verbatim.stopped_at, verbatim.decision) == (PASS, "verbatim", "accepted")
        open_ = judge(screen, "The harbour is the work of Marta Olsen.")
        assert (open_.status, open_.stopped_at, open_.decision) == (ABSTAIN, "abstained", "final")
        assert open_.judgments[0].metadata["support"] > 0

    def test_a_final_judge_takes_the_place_of_undecided(self):
        asked = []
        final = Judge.from_function(lambda case: asked.append(case) or True, name="critic")
        screen = grounding_screen(final=final)
        assert judge(screen, "Pia Berg built it.").status is FAIL
        assert not asked
        verdict = judge(screen, "The harbour is the work of Marta Olsen.")
        assert (verdict.status, verdict.stopped_at) == (PASS, "final")
        assert len(asked) == 1

    def test_without_contexts_nothing_is_decided(self):
        assert judge(grounding_screen(), "Marta.", ()).status is ABSTAIN

    def test_blind_spot_a_wrong_name_copied_from_the_context_passes(self):
        """Words alone cannot see which of two known names is right: grounded is not correct."""
        verdict = judge(grounding_screen(), "Jens", question="Who is the sister who built the harbour?")
        assert verdict.status is PASS

    def test_blind_spot_a_known_number_in_the_wrong_place_is_not_flagged(self):
        assert judge(grounding_screen(), "The harbour dates from 1931.").status is ABSTAIN


VOCABULARY = "river stone mill bread copper winter quiet garden window carried moved opened under with of the a"
WORDS = st.sampled_from(VOCABULARY.split())
SENTENCES = st.lists(WORDS, max_size=12).map(lambda found: " ".join(["There", "stood", *found]) + ".")


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(SENTENCES, min_size=1, max_size=8), st.data())
def test_a_sentence_of_the_context_is_never_flagged_and_always_accepted(lines, data):
    answer = data.draw(st.sampled_from(lines))
    contexts = (" ".join(lines),)
    assert judge(NamesAndNumbers(), answer, contexts, "").status is ABSTAIN
    assert judge(SentenceAlignment(), answer, contexts, "").status is PASS
    assert judge(grounding_screen(), answer, contexts, "").status is PASS


@settings(deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_a_line_of_any_text_is_never_flagged_against_itself(line, other):
    judgment = judge(NamesAndNumbers(), line, (f"{other}\n{line}",), "")
    assert judgment.status is ABSTAIN


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(SENTENCES, min_size=1, max_size=5), st.integers(10_000, 10**12))
def test_an_invented_number_is_always_flagged(lines, number):
    number += number % 10 == 0  # 41230 might round something
    judgment = judge(grounding_screen(), f"{lines[0]} It cost {number} in all.", (" ".join(lines),), "")
    assert judgment.status is FAIL
    assert f"number: {number}" in judgment.reasoning


@pytest.mark.slow
@settings(deadline=None)
@given(st.text(st.characters(), max_size=200), st.text(st.characters(), max_size=200), st.text(max_size=60))
def test_nothing_ever_breaks(answer, contexts, question):
    for juror in (*JURORS, SentenceSupport(threshold=0.5), ContextRelevance(threshold=0.5), grounding_screen()):
        assert judge(juror, answer, contexts, question).status is not ERROR


LONG_TEXTS = {
    "prose": lambda size: (HARBOUR + " Trolls dance in Bergen. ") * (size // 250),
    "run-on": lambda size: "word " * (size // 5),
    "one word": lambda size: "x" * size,
    "names": lambda size: "Anna Berg and " * (size // 14),
    "numbers": lambda size: " ".join(map(str, range(10_000, 10_000 + size // 6))),
    "measures": lambda size: " ".join(f"{number},000 mm" for number in range(size // 12)),
    "chinese numbers": lambda size: "\u6709\u4e09\u5343\u4eba3\u4e07\u4eba" * (size // 8),
    "chinese": lambda size: "\u4e1c\u4eac\u662f\u9996\u90fd" * (size // 5),
    "marks": lambda size: "e\u0301\u0327" * (size // 3),
    "lines": lambda size: "\n" * size,
    "stops": lambda size: ". " * (size // 2),
}


@pytest.mark.parametrize("characters", [4_000, pytest.param(20_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", LONG_TEXTS)
def test_long_texts_take_time_in_proportion(kind, characters):
    def screened(size):
        text = LONG_TEXTS[kind](size)
        assert judge(grounding_screen(), text).status is not ERROR
        assert judge(grounding_screen(), "Marta built it.", text[: size // 2]).status is not ERROR

    assert_proportional(screened, characters)


def test_the_public_names_are_exactly_all():
    home = screen_module.__name__
    named = {name: value for name, value in vars(screen_module).items() if name[0] != "_"}
    own = {name for name, value in named.items() if getattr(value, "__module__", "") == home}
    assert own == set(screen_module.__all__)


def test_initials_that_spell_a_common_word_are_no_acronym_of_it():
    contexts = "The engineer Tomas Heller leads the work, which is due to end in 2026."
    flagged = NamesAndNumbers().judge(answer="The work is led by Ingrid Solberg.", contexts=contexts)
    assert [finding.name for finding in flagged.findings] == ["name: Ingrid Solberg"]
    known = "The WHO and the U.N. met in Geneva."
    assert not NamesAndNumbers().judge(answer="It was the World Health Organization.", contexts=known).findings
    assert not NamesAndNumbers().judge(answer="It was the United Nations.", contexts=known).findings


@pytest.mark.parametrize(
    ("answer", "context", "flagged"),
    [
        ("It opens at 10:30.", "It opens at 9:30 and closes at 10:15.", ["number: 10:30"]),
        ("It ends at 17:30.", "The session is 17 minutes and 30 seconds long.", ["number: 17:30"]),
        ("It began at 10:30:15.", "It began at 10:30:16.", ["number: 10:30:15"]),
        ("It opens at 9:30 pm.", "It opens at 9:30 am.", ["number: 9:30 pm"]),
        ("It opens at 9:30.", "It opens at 09:30.", []),
        ("It opens at 9:30 a.m.", "It opens at 9.30 am.", []),
        ("It opens at 9:30.", "It opens at 9:30 p.m.", []),
        ("It closes at 18:00.", "It closes at 6 pm.", []),
        ("It closes at 6 p.m.", "It closes at 18:00.", []),
        ("It closes at 6 pm.", "It closes at 6 in the evening.", []),
        ("It began at 10:30.", "It began at 10:30:16.", []),
        ("The rate is 3.14.", "The rate of 3 is for 14 pages.", ["number: 3.14"]),
        ("The ratio is 3:2.", "The ratio of the two is 3:2.", []),
    ],
)
def test_a_time_and_a_decimal_are_one_number(answer, context, flagged):
    judgment = NamesAndNumbers().judge(answer=answer, contexts=[context])
    assert [finding.name for finding in judgment.findings] == flagged


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("The shop opens at 10:30 daily.", "The shop opens at 10 30 daily."),
        ("The rate is 3.5 today.", "The rate is 3 5 today."),
    ],
)
def test_the_digits_of_a_time_or_a_decimal_are_not_words_of_their_own(answer, context):
    assert SentenceAlignment().judge(answer=answer, contexts=[answer]).status == "PASS"
    assert SentenceAlignment().judge(answer=answer, contexts=[context]).status == "ABSTAIN"


@pytest.mark.parametrize(
    "answer",
    [
        "See FAQ.",
        "Check FAQ or ask.",
        "Ask FAQ",
        "TL;DR: the library is open.",
        "Read RSVP now.",
        "Read the PDF, or ask the API for the URL.",
        "The ATM wants your PIN.",
        "Show your ID; the TV has USB.",
    ],
)
def test_a_first_word_before_a_word_in_capitals_is_no_name(answer):
    judgment = NamesAndNumbers().judge(
        answer=answer, contexts="The library is open, and there is nothing to read or see."
    )
    assert judgment.status is ABSTAIN, judgment


@pytest.mark.parametrize("word", ["YES", "NO", "OK", "Ok", "FAQ", "FAQs", "NOT", "NEVER", "ASAP", "NOTE"])
def test_a_word_in_capitals_that_names_nothing_is_no_name(word):
    source = "The ferry runs in the spring, and it is full on most of the days."
    assert NamesAndNumbers().judge(answer=f"We say {word} to the ferry.", contexts=[source]).findings == ()
    named = NamesAndNumbers().judge(answer=f"We say {word} to UNICEF.", contexts=[source])
    assert [finding.name for finding in named.findings] == ["name: UNICEF"]


FERRY = ["The ferry between the islands stopped running in 2018. The museum is not open in winter."]


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("The ferry stopped running in 2018.", PASS),
        ("The museum isn't open in winter.", PASS),
        ("No, the ferry between the islands stopped running in 2018.", PASS),
        ("The ferry between the islands never stopped running.", ABSTAIN),
        ("The museum is open in winter.", ABSTAIN),
        ("ferry", ABSTAIN),
        ("The ferry.", ABSTAIN),
        ("Bananas are yellow.", FAIL),
    ],
)
def test_support_is_no_pass_where_a_negation_differs_or_nothing_is_added(answer, status):
    judgment = SentenceSupport(threshold=0.6).judge(question="When did the ferry run?", answer=answer, contexts=FERRY)
    assert judgment.status is status, judgment
    assert judgment.metadata["support"] >= (0.6 if status is not FAIL else 0)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("29 of 98 members were present.", '29 of 98 members were present. ("no" is only in the contexts)'),
        ("The fee never rose by 2 euros.", 'The fee never rose by 2 euros. ("never" is only in the answer)'),
    ],
)
def test_support_names_the_negation_that_differs_and_the_side_that_has_it(answer, said):
    contexts = [
        "Of 5 June 2024. 29 of 98 members were present, so the meeting had no quorum.",
        "The fee rose by 2 euros.",
    ]
    found = SentenceSupport(threshold=0.6).judge(question="What happened?", answer=answer, contexts=contexts)
    assert found.status is ABSTAIN
    assert found.reasoning.endswith(f"a negation differs from the contexts: {said}")


TWICE_NEGATED = [
    ("The pump can be opened without a key.", "The pump cannot be opened without a key."),
    ("Guests may stay, but not in June.", "Guests may not stay, but not in June."),
    ("Die Pumpe darf ohne Schlüssel offen sein.", "Die Pumpe darf nie ohne Schlüssel offen sein."),
    ("La cuve peut être ouverte sans clé.", "La cuve ne peut pas être ouverte sans clé."),
    ("Насос можно открыть без ключа.", "Насос не можно открыть без ключа."),  # noqa: RUF001
]


@pytest.mark.parametrize(("fewer", "more"), TWICE_NEGATED)
def test_a_negation_beside_another_one_is_noticed_too(fewer, more):
    jury = SentenceSupport(threshold=0.5)
    assert jury.judge(answer=fewer, contexts=fewer).status is PASS
    assert jury.judge(answer=more, contexts=more).status is PASS
    for answer, contexts, said in ((fewer, more, "it has 1 of them, and the contexts have 2"),
                                   (more, fewer, "it has 2 of them, and the contexts have 1")):  # fmt: skip
        found = jury.judge(answer=answer, contexts=contexts)
        assert found.status is ABSTAIN, found
        assert found.reasoning.endswith(f"({said})")


def test_a_place_that_says_more_may_have_more_negations():
    contexts = "The pump can be opened without a key, but the valve cannot, and it never leaks."
    found = SentenceSupport(threshold=0.5).judge(answer="The pump can be opened without a key.", contexts=contexts)
    assert found.status is PASS, found


def test_words_of_the_question_alone_are_not_grounded():
    jury = SentenceAlignment()
    assert jury.judge(question="When did the ferry stop?", answer="The ferry.", contexts=FERRY).status is ABSTAIN
    assert jury.judge(question="What stopped?", answer="The ferry.", contexts=FERRY).status is PASS
    assert jury.judge(answer="The ferry.", contexts=FERRY).status is PASS


@pytest.mark.parametrize(("context", "answer"), [
    ("Visitors park at lot C. Parking costs 4 euros a day. Staff park free at lot A.", "Parking costs 9 euros a day."),
    ("Employees get 27 days of paid leave a year.", "Employees get 350 days."),
    ("Le billet coûte 4 euros et la carte 20 euros.", "Le billet coûte 9 euros."),
])  # fmt: skip
@pytest.mark.parametrize("question", ["What does visitor parking cost?", "How many days?", ""])
def test_a_number_with_a_unit_that_the_contexts_write_in_digits_is_compared_in_any_prose(context, answer, question):
    verdict = NamesAndNumbers().judge(question=question, answer=answer, contexts=[context])
    assert verdict.status == "FAIL", verdict.reasoning


def test_the_screen_does_not_say_that_every_word_is_there_where_it_looked_at_few():
    said = grounding_screen().judge(
        question="?",
        answer="Room Cedar seats 20 people.",
        contexts=["Room Birch seats 12 people. Room Cedar seats 8 people."],
    )
    assert "every word is in the contexts" not in said.reasoning


@pytest.mark.parametrize(
    "answer",
    [
        "Die Garantie des Herstellers auf Zelte beträgt drei Jahre, und Sie brauchen den Beleg und ein Foto.",
        "La garantie du Fabricant est de trois ans pour les tentes, avec un Reçu et une Photo.",
        "La garantía del Fabricante para las tiendas es de tres años, con el Recibo y una Foto.",
    ],
)
def test_names_of_an_answer_in_another_language_are_not_checked(answer):
    contexts = [
        "The manufacturer's warranty on tents is three years. Claims need the receipt and a photo of the damage."
    ]
    judgment = NamesAndNumbers().judge(question="How long is the warranty?", answer=answer, contexts=contexts)
    assert judgment.status is Status.ABSTAIN
    assert "not checked: names, because the answer does not read as English" in judgment.reasoning
    wrong = NamesAndNumbers().judge(answer=f"{answer} 1987", contexts=contexts)
    assert [finding.name for finding in wrong.findings] == ["number: 1987"]


@pytest.mark.parametrize("answer", ["Vincent van Gogh and Leonardo da Vinci", "Los Angeles, La Paz", "Ann left."])
def test_the_names_of_a_short_answer_are_checked(answer):
    contexts = ["The painter and the mayor of the city were at the opening, and it was late."]
    assert "not checked" not in NamesAndNumbers().judge(answer=answer, contexts=contexts).reasoning


@pytest.mark.parametrize(
    ("answer", "contexts", "named"),
    [
        ("You may work five night shifts in a row.", "You may work four night shifts in a row at most.", "five"),
        ("On the third day you get a badge.", "On day 2 of the stay you get a badge.", "third"),
        ("Two wards and six rooms are closed.", "Wards A and B are closed, and rooms 1 to 5.", "Two, six"),
    ],
)
def test_counts_in_words_that_are_not_compared_are_named(answer, contexts, named):
    """They are often the result of counting, so they fail no answer; the reason does not say that they were found."""
    found = NamesAndNumbers().judge(answer=answer, contexts=[contexts])
    assert found.status is Status.ABSTAIN
    assert f"but for counts up to ten in words, which are not compared ({named})" in found.reasoning


@pytest.mark.parametrize(
    ("answer", "contexts", "status"),
    [
        ("At least nine hours of rest are due.", "At least eleven hours of rest are due.", "FAIL"),
        ("At least nine hours of rest are due.", "At least 9 hours of rest are due.", "ABSTAIN"),
        ("The course takes two days.", "The course takes 3 days.", "FAIL"),
        ("The course takes two days.", "The course takes 48 hours.", "ABSTAIN"),
        ("Es dauert two hours.", "Der Kurs dauert 3 hours und beginnt am Morgen nach der Aufnahme.", "ABSTAIN"),
    ],
)
def test_a_measure_in_words_is_compared_with_measures_in_its_unit(answer, contexts, status):
    assert NamesAndNumbers().judge(answer=answer, contexts=[contexts]).status == status


BOARD = "Minutes of 14 June. Of the 96 members 41 were present, and Marta Lindqvist was elected to the board."


@pytest.mark.parametrize(
    ("answer", "flagged"),
    [
        ("Ole Brandt, Anna Weber", ["Ole Brandt", "Anna Weber"]),
        ("Marta Lindqvist, Ole Brandt and Anna Weber.", ["Ole Brandt", "Anna Weber"]),
        ("Marta Lindqvist and Ole Brandt.", ["Ole Brandt"]),
        ("Elected: Marta Lindqvist; John F. Kennedy", ["Kennedy"]),
        ("Board: Marta Lindqvist, Ole Brandt", ["Ole Brandt"]),
        ("Chair: Marta Lindqvist; Treasurer: Ole Brandt.", ["Ole Brandt"]),
        ("Marta Lindqvist, Karl Anders and Ole Brandt were.", ["Karl Anders", "Ole Brandt"]),
        ("- **Marta Lindqvist, Ole Brandt**", ["Ole Brandt"]),
        ("Mrs Anna Maria Weber.", ["Anna Maria Weber"]),
        ("Contact Mrs. Anna Weber.", ["Anna Weber"]),
    ],
)
def test_full_names_are_compared_where_every_word_has_a_capital(answer, flagged):
    found = NamesAndNumbers().judge(answer=answer, contexts=[BOARD])
    assert [finding.name for finding in found.findings] == [f"name: {name}" for name in flagged]


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ("Contact Anna Maria Weber", "Contact Anna Maria Weber"),
        ("Elected Members and Time Limits\n\nMarta Lindqvist was elected.", "Time Limits"),
        ("## Elected Members, Time Limits\n\nMarta Lindqvist was elected.", "Time Limits"),
        ("Marta Lindqvist, Oslo, Bergen", "Oslo, Bergen"),
    ],
)
def test_words_in_title_case_that_are_not_compared_are_named(answer, named):
    """They may be a heading, so they fail no answer; the reason does not say that they were found."""
    found = NamesAndNumbers().judge(answer=answer, contexts=[BOARD])
    assert found.status is Status.ABSTAIN
    assert f"but for sentences in title case or capitals, which are not compared ({named})" in found.reasoning


@pytest.mark.parametrize(
    "answer", ["The Minutes Of Marta Lindqvist, Elected Members", "Marta Lindqvist, Members Present"]
)
def test_words_in_title_case_that_the_contexts_have_are_not_named(answer):
    assert "not compared" not in NamesAndNumbers().judge(answer=answer, contexts=[BOARD]).reasoning


@pytest.mark.parametrize(
    ("answer", "contexts", "flagged"),
    [
        ("It cost 310,000 EUR.", "The meeting approved a new heating system for 310,000 euros.", []),
        ("It cost EUR 310,000.", "The meeting approved a new heating system for €310,000.", []),
        ("It is USD 50 a year.", "The fee of the club is $50 a year, and it is due in May.", []),
        ("It is 50 USD a year.", "The fee of the club is 50 dollars a year.", []),
        ("The disk has 50 GB.", "The disk of the machine has 50 gigabytes.", []),
        ("It cost EUR 310,000.", "The meeting approved a new heating system for $310,000.", ["name: EUR"]),
        ("It is 50 USD a year.", "The fee of the club is 50 euros.", ["number: 50 USD"]),
    ],
)
def test_the_code_of_a_currency_or_unit_is_compared_with_its_word_and_sign(answer, contexts, flagged):
    found = NamesAndNumbers().judge(answer=answer, contexts=[contexts])
    assert [finding.name for finding in found.findings] == flagged
