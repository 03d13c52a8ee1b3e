"""The offline screen: what it flags, what it knows in another notation, what it passes, and what it leaves open."""

# ruff: noqa: RUF001

import json
import pickle
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury_adapters import CascadedJury, ConfigurationError, Message, Status, Tier
from jury_adapters.checks import CHECKS
from jury_adapters.grounding import (
    ContextRelevance,
    NamesAndNumbers,
    SentenceAlignment,
    SentenceSupport,
    grounding_screen,
    sentences,
    tidy,
)

HARBOUR = (
    "The harbour of Lunvik was built in 1874 by Marta Olsen and her brother Jens. It was not rebuilt after the storm "
    "of 1931. About 2,400 people live there, and the ferry to Ostrava takes 45 minutes. "
    "The mayor may close the old pier."
)
SEASON = "The season 2024/25 starts on Saturday 7 September 2024 and ends on 15 June 2025."
VALVE = "The relief valve has the order code RV-3306-17 and it is held by four screws of the size M10."
JSON = json.dumps({"price_eur": 1250.5, "city": "Zürich", "share": 0.155, "items": [1, 2], "date": "2026-10-02"})
PYTHON = "{'opened': datetime.date(2026, 10, 2), 'seen': datetime.datetime(2026, 10, 2, 14, 30, 15), 'id': 'CL-9'}"
CHECKED = [NamesAndNumbers(), SentenceAlignment(), SentenceSupport(0.6), ContextRelevance(0.6), grounding_screen()]


def named(answer, contexts, question="", **fields):
    found = NamesAndNumbers().judge(question=question or None, answer=answer, contexts=contexts, **fields)
    assert found.status in (Status.FAIL, Status.ABSTAIN), found
    return [one.name for one in found.findings]


FLAGGED = [
    (HARBOUR, "It was built in 1875.", ["number: 1875"]),
    (HARBOUR, "The harbour was built by Pia Olsen.", ["name: Pia"]),
    (HARBOUR, "Marta Olsen of Bergen built it for $3 million.", ["number: $3 million", "name: Bergen"]),
    (HARBOUR, "The ferry takes 45 hours.", ["number: 45"]),
    (HARBOUR, "Step 7.", ["number: 7"]),
    (HARBOUR, "He saw Bergen. She saw Bergen. They saw Bergen in 1555, in 1555.", ["number: 1555", "name: Bergen"]),
    (HARBOUR, "It opened on a Sunday in April.", ["name: Sunday", "name: April"]),
    ("It lies in Australia, to the south of the town.", "It lies in Austria.", ["name: Austria"]),
    ("The engineer Tomas Heller leads the work.", "It is led by Ingrid Solberg.", ["name: Ingrid Solberg"]),
    ("The brake pads are replaced at 7 mm.", "The limit is 7 mm, I'm Solberg.", ["name: Solberg"]),
    ("It opens at 9:30 and closes at 10:15.", "It opens at 10:30.", ["number: 10:30"]),
    ("The session is 17 minutes and 30 seconds long.", "It ends at 17:30.", ["number: 17:30"]),
    ("It began at 10:30:16.", "It began at 10:30:15.", ["number: 10:30:15"]),
    ("It opens at 9:30 am.", "It opens at 9:30 pm.", ["number: 9:30 pm"]),
    ("The rate of 3 is for 14 pages.", "The rate is 3.14.", ["number: 3.14"]),
    ("About 77,984 people live in the town.", "Exactly 78,000 people live there.", ["number: 78,000"]),
    ("In all 74 men were there.", "About 90 men were there.", ["number: 90"]),
    ("It was in 1994 that it was built.", "It is of the 1980s.", ["number: 1980"]),
    ("It was in 1866 that it was built.", "It is of the 18th century.", ["number: 18th"]),
    ("Twenty-one of them came to the party.", "Twenty-two of them came.", ["number: Twenty-two"]),
    ("8" * 5000, "9" * 5000, ["number: " + "9" * 5000]),
    (SEASON, "The season starts on 7 September 2025.", ["number: 7 September 2025"]),
    (SEASON, "The season ends on 2024-06-15.", ["number: 2024-06-15"]),
    ("Opened on 3/4/2020, closed on 5/6/2021.", "It was opened on 3/4/2021.", ["number: 3/4/2021"]),
    ("The bus has 150 seats, and the road is 3.8 km long.", "The road is 3,900 metres long.", ["number: 3,900"]),
    ("The bag of flour weighs 7 kg.", "The bag weighs 7 grams.", ["number: 7"]),
    ("A loaf weighs 1,250 g in the shop.", "A loaf weighs 1,250 kg.", ["number: 1,250"]),
    ("The fee of the club is 50 euros.", "It is 50 USD a year.", ["number: 50"]),
    ("The new heating is for $310,000.", "It cost EUR 310,000.", ["number: EUR 310,000"]),
    (VALVE, "The valve has the order code RV-3306-71.", ["number: 71"]),
    (VALVE, "It is held by screws of the size M16.", ["number: 16"]),
    (JSON, "It costs 1,260.50 euros.", ["number: 1,260.50"]),
    (JSON, "It was on 3 October 2026.", ["number: 3 October 2026"]),
    (PYTHON, "It was seen at 15:30.", ["number: 15:30"]),
    # digits in every language
    ("Das Haus wurde im Jahr 1978 gebaut.", "Es war 1987.", ["number: 1987"]),
    ("Le billet coûte 4 euros et la carte 20 euros.", "Le billet coûte 99 euros.", ["number: 99"]),
    ("The maximum force of a door is 150 N.", "Die Kraft darf 250 N nicht überschreiten.", ["number: 250"]),
    ("السعر ١٢٫٥ يورو للشخص.", "السعر ١٣٫٥ يورو للشخص.", ["number: 13.5"]),
    ("عدد السكان ١٬٢٥٠٬٠٠٠ نسمة.", "عدد السكان ١٬٢٦٠٬٠٠٠ نسمة.", ["number: 1,260,000"]),
    ("ارتفع بنسبة ١٢٪ هذا العام.", "ارتفع بنسبة ١٣٪ هذا العام.", ["number: 13"]),
    ("جمعیت ۱٬۲۵۰٬۰۰۰ نفر است.", "جمعیت ۱٬۲۶۰٬۰۰۰ نفر است.", ["number: 1,260,000"]),
    ("السعر ٢٥ يورو للشخص.", "السعر ٣٥ يورو للشخص.", ["number: 35"]),
    ("型番はRV-3306-17です。", "型番はRV-3399-17です。", ["number: 3399"]),
    ("รุ่นABC-123ราคา20บาท", "รุ่นABC-123ราคา25บาท", ["number: 25"]),
    ("製品番号はABC-123、2018年。", "製品番号はＡＢＣ－１２４、２０１８年。", ["number: 124"]),
]


def test_a_number_or_name_that_no_context_has_is_named():
    found = [(answer, named(answer, contexts)) for contexts, answer, _ in FLAGGED]
    assert found == [(answer, names) for _, answer, names in FLAGGED]
    contexts, answer, _ = FLAGGED[0]
    assert grounding_screen().judge(answer=answer, contexts=contexts).stopped_at == "flags"


KNOWN = [
    (HARBOUR, "Marta built it, together with Jens Olsen."),
    (HARBOUR, "Olsen's harbour dates from the 1870s, the 19th century."),
    (HARBOUR, "1. Lunvik has 2400 people.\n2. It has two thousand four hundred of them."),
    (HARBOUR, "Step 1: Go to Lunvik. Step 2: take the ferry."),
    (HARBOUR, "**Step 1** - Go to Lunvik.\n### Step 2. The ferry\nTake it."),
    (HARBOUR, "(1) Go to Lunvik. (2) Take the ferry."),
    (HARBOUR, "Lunvik [3] has some 2, 400 people, **45** minutes away."),
    (HARBOUR, "Two people built it; the three of them were poor. Water is there."),
    ("77 984 people came.", "It was 77,984, about 78,000 people."),
    ("It cost $2.5bn in all, and 1.684 million of it was paid.", "It cost $2,500,000,000, and 1.7 million was paid."),
    ("It rose by 5 percent to 0.50.", "It rose by 5 %, to .5 in all."),
    ("It has two hundred and five thousand trees.", "There are 205,000 trees."),
    ("In the season 2007 -- 08 it was 74 men.", "In 2007-2008 it was over 70 men."),
    ("It opens at 9.30 am and closes at 6 pm.", "It opens at 09:30 and closes at 18:00."),
    ("It began at 10:30:16, and the ratio of both is 3:2.", "It began at 10:30. The ratio is 3:2."),
    ("The way is of 18 hours or three weeks, 3.8 km.", "It takes 1,080 minutes, or 21 days, for 3,800 metres."),
    ("It holds 0.5 litres; the loaf weighs 1.5 kg.", "It holds 500 ml and weighs 1500 grams."),
    ("The meeting approved it for 310,000 euros.", "It cost 310,000 EUR, that is €310,000."),
    (SEASON, "It starts on 2024-09-07, on September 7, and ends on June 15, 2025."),
    ("Minutes of 2024. The board met on 7 September.", "The board met on 7 September 2024."),
    ("From 1 to 30 June 2025 the hall is closed.", "It is closed from 1 June 2025 to 30 June 2025."),
    ("The hall was closed in the 5th week, all 5 times.", "All 5 may leave."),
    (VALVE, "It is the RV 3306 17, in other words rv-3306-17, with M10."),
    (JSON, "It costs 1,250.50 euros in Zürich, 15.5 % of it, on 2 October 2026, for 2 items."),
    (PYTHON, "It was opened on October 2nd, 2026, and seen at 14:30."),
    ("{'seen': '2026-10-02T14:30:15+02:00'}", "It was seen at 2:30 pm on 2 October 2026."),
    ("The WHO and the U.N. met in the US.", "It was the World Health Organization, in the U.S."),
    ("It was a party of the Netherlands and Italy, on You Tube.", "It is Dutch and Italian, as YouTube says."),
    ("Zoë and an F-16 were there on 2019-09-03.", "In September it was F-16s and Zoe."),
    ("The brake pads are replaced at 7 mm.", "It is 7 mm, I'M sure, and I’VE checked: DON'T wait, IT'S so."),
    ("The library is open, and there is nothing to read.", "See FAQ. The ATM wants your PIN."),
    # what another language spells out, or writes with capitals
    ("Das Haus wurde von zwei Brüdern gebaut und steht am Fluss.", "Das Gebäude steht am Ufer. Es hat 2 Etagen."),
    ("Das Haus öffnet am 2. Oktober 2026.", "Es öffnet am 2026-10-02."),
    ("三千人住在东京。", "东京 3000 人。"),
    ("两千人住在东京。", "东京 2000 人。"),
    ("يعيش في القاهرة عشرة", "10 في القاهرة"),
    ("السعر ١٢٫٥ يورو للشخص.", "السعر 12.5 يورو للشخص."),
    ("عدد السكان ١٬٢٥٠٬٠٠٠ نسمة.", "عدد السكان 1,250,000 نسمة."),
    ("製品番号はABC-123、2018年。", "製品番号はＡＢＣ－１２３、２０１８年。"),
    ("It is the " + unicodedata.normalize("NFC", "Café Zürich"), unicodedata.normalize("NFD", "It is the Café Zürich")),
    ("Es sind drei Filialen.", "Es sind 3 Filialen."),
    ("Sono tre giorni.", "Sono 3 giorni."),
    ("En trois semaines.", "En 3 semaines."),
    ("Frist: zwei Wochen.", "Man hat 2 Wochen Zeit."),
    ("Linie 12, Takt: zehn Minuten.", "Der Bus 12 fährt alle 10 Minuten."),
    ("Der Preis: 20 Euro.", "Die Kosten liegen bei 20 Euro."),
]


def test_what_the_contexts_have_in_another_notation_is_known():
    assert {answer: names for contexts, answer in KNOWN if (names := named(answer, contexts))} == {}


def test_what_the_question_and_earlier_messages_say_is_known_and_proves_nothing():
    question = "Did Pia Berg visit Lunvik in 1999?"
    assert (
        named("No, Pia Berg did not in 1999.", HARBOUR, question),
        named("No, Pia Berg did not in 1999.", HARBOUR),
    ) == ([], ["number: 1999", "name: Pia Berg"])
    earlier = [Message(role="assistant", content="The pump P-2207 holds 6130 litres.")]
    assert named("As I said, it holds 6130 litres.", HARBOUR, messages=earlier) == []
    said = grounding_screen().judge(answer=earlier[0].content, contexts=HARBOUR, messages=earlier)
    assert said.status is Status.ABSTAIN


TOKENS = (
    "2018 2018-05-03 2018/05/03 18:30 12.5 1,250 12,5 50% ３６．５℃ -5°C 3/4 ½ 1:2 10〜12 10~12 v2.1.3 ISO9001 "
    "A4 MK-4711 MK4711 Q3/2024 No.5 §5 $20 20€ ¥500 20万 3億 2.5亿 三分之一 AB-12-CD 123-ABC a1@b.co H2O 100km/h "
    "1st 21世纪 3つ ５ Ⅳ ① 2³ 10^5 1e-5 0x1F 192.168.0.1 F-16 iPhone15 COVID-19 PM2.5 T1/T2 1990s '90s 50-60% "
    "24/7 noon B2B 1'000 00:00:00 +49_30_1234 Windows_11 7:30_pm No._5 "
)
FRAMES = [
    ("这个型号是", "的产品。"), ("これは", "です。"), ("이것은 ", "입니다."), ("นี่คือ", "ครับ"), ("هذا هو ", "، نعم."),
    ("זה ", ", כן."), ("Das ist ", " und gilt."), ("This is the ", " that we use."), ("Это ", " здесь."),
    ("यह ", " है।"), ("(", ")."), ("「", "」。"), ("នេះជា", "បាទ"),
]  # fmt: skip


def test_a_copy_of_the_context_never_fails_in_any_script():
    texts = [before + token.replace("_", " ") + after for before, after in FRAMES for token in TOKENS.split()]
    assert [text for text in texts if named(text, text)] == []


OTHER_DIGITS = [
    ("2018", "2019"),
    ("12.5", "13.5"),
    ("1,250", "1,260"),
    ("ABC-123", "ABC-124"),
    ("20%", "25%"),
    ("３６．５", "３７．５"),
    ("٤٥٦", "٤٥٧"),
]


def test_another_number_fails_in_any_script():
    pairs = [(before + new + after, before + old + after) for before, after in FRAMES for old, new in OTHER_DIGITS]
    assert [answer for answer, context in pairs if not named(answer, context)] == []


@settings(deadline=None, max_examples=25)
@given(st.text(max_size=80), st.text(max_size=80))
def test_a_line_of_any_text_is_never_flagged_beside_itself(line, other):
    assert named(line, [other, line]) == []


@settings(deadline=None, max_examples=25)
@given(st.text(st.characters(), max_size=100), st.text(st.characters(), max_size=100), st.text(max_size=40))
def test_no_text_breaks_a_check(answer, contexts, question):
    assert [
        check
        for check in CHECKED
        if check.judge(answer=answer, contexts=contexts, question=question).status is Status.ERROR
    ] == []


@settings(deadline=None, max_examples=30)
@given(st.integers(10_001, 10**40))
def test_an_invented_number_is_always_flagged(number):
    assert named(f"It cost {number} in all.", HARBOUR) == [f"number: {number}"]


WHOLE = "Members vote in May. No members vote in June. The hall was sold."
VERBATIM = [
    (WHOLE, "Members vote in May.", True),
    (WHOLE, "the hall   was SOLD", True),
    (WHOLE, "- The hall was sold.\n- Members vote in May.", True),
    (WHOLE, "Members vote in June.", False),
    (WHOLE, "Members vote.", False),
    (WHOLE, "The hall was sold. It was cheap.", False),
    ("Is the hall sold? Members vote in May.", "Is the hall sold?", False),
    ("Is the hall sold? Members vote in May.", "The hall is sold.", False),
    ("Yes. The hall was sold.", "Yes.", False),
    ("The drug is not\nsafe for children.", "Safe for children.", False),
    ("Do not:\n- smoke in bed.\n- run in halls.", "Run in halls.", False),
    ("Do not:\n1. Open the valve.\n2. Run in halls.", "Open the valve.", False),
    ('He said: "It is safe. The drug is cheap." We disagree.', "The drug is cheap.", False),
    ("On 5 June 2024. 29 of 98 members were present, so there was no quorum.", "29 of 98 members were present.", False),
    ("The rate is 3 5 today.", "The rate is 3.5 today.", False),
    ("Heat it to -5 degrees Celsius.", "Heat it to 5 degrees Celsius.", False),
    ("Menu of the day\nGrilled fish with rice", "Grilled fish with rice", False),
    ("Dr. Smith met J. Doe of the U.S. Army. They ate.", "Dr. Smith met J. Doe of the U.S. Army.", True),
    ("东京是日本的首都。大阪不是首都。", "东京是日本的首都。", True),
    ("东京是日本的首都。大阪不是首都。", "大阪是首都。", False),
    ("不是。东京是日本的首都。", "不是。", False),
    ("Москва является столицей. Волга впадает в море.", "Волга впадает в море.", True),
    (json.dumps({"note": "The hall was sold.", "x": 1}), "The hall was sold.", True),
]


def test_only_whole_sentences_of_the_contexts_pass():
    for contexts, answer, passes in VERBATIM:
        found = SentenceAlignment().judge(answer=answer, contexts=contexts)
        assert found.status is (Status.PASS if passes else Status.ABSTAIN), (contexts, found)
        assert (grounding_screen().judge(answer=answer, contexts=contexts).passed is True) is passes


WORDS = st.sampled_from(
    ["river", "stone", "mill", "bread", "copper", "garden", "carried", "not", "with", "of", "the", "a"]
)
LINES = st.lists(st.lists(WORDS, min_size=4, max_size=9).map(" ".join), min_size=1, max_size=6, unique=True)


@settings(deadline=None, max_examples=25)
@given(LINES, st.data())
def test_a_sentence_passes_whole_and_never_with_a_word_less(lines, data):
    contexts = " ".join(f"There stood {line}." for line in lines)
    whole = f"There stood {data.draw(st.sampled_from(lines))}."
    words = whole.split()
    place = data.draw(st.integers(0, len(words) - 2))
    less = " ".join(words[:place] + words[place + 1 :])
    if {*whole[:-1].split()} - {"There", "not", "with", "of", "the", "a"} > {"stood"}:
        assert grounding_screen().judge(answer=whole, contexts=contexts).passed
    if less not in contexts.replace(". There", ".\nThere").splitlines():
        assert not grounding_screen().judge(answer=less, contexts=contexts).passed


def test_words_of_the_question_alone_prove_nothing():
    contexts = "The ferry stopped. It rained in Lunvik."
    assert SentenceAlignment().judge(answer="The ferry stopped.", contexts=contexts).passed
    asked = SentenceAlignment().judge(
        question="When did the ferry stop? The ferry stopped?", answer="The ferry stopped.", contexts=contexts
    )
    assert asked.status is Status.ABSTAIN


FERRY = "The ferry between the islands stopped running in 2018. The museum is not open in winter."
SUPPORTED = [
    ("The ferry stopped running in 2018.", Status.PASS),
    ("The museum isn't open in winter.", Status.PASS),
    ("The museum is open in winter.", Status.ABSTAIN),
    ("The ferry between the islands never stopped running.", Status.ABSTAIN),
    ("ferry", Status.ABSTAIN),
    ("Yes, it was.", Status.ABSTAIN),
    ("Bananas are yellow.", Status.FAIL),
    ("The ferry stopped running in 2019.", Status.FAIL),
    ("The ferry stopped running. Bananas are yellow.", Status.FAIL),
    ("Die Fähre fuhr bis 2018 zwischen den Inseln.", Status.ABSTAIN),
    ("大阪是首都", Status.ABSTAIN),
]


@pytest.mark.parametrize(("answer", "status"), SUPPORTED)
def test_support_is_that_of_the_weakest_sentence(answer, status):
    found = SentenceSupport(threshold=0.6).judge(question="When did the ferry run?", answer=answer, contexts=FERRY)
    assert found.status is status, found
    assert (found.score is None) is (status is Status.ABSTAIN)


def test_relevance_is_of_the_question_and_needs_no_answer():
    relevant = ContextRelevance(threshold=0.5)
    assert (
        relevant.judge(question="Who built the harbour?", contexts=HARBOUR).score,
        relevant.judge(question="How do vaccines train immunity?", contexts=HARBOUR).status is Status.FAIL,
    ) == (1.0, True)
    assert (
        relevant.judge(question="Wie wirken Impfungen auf das Immunsystem?", contexts=HARBOUR).status is Status.ABSTAIN,
        "no question" in relevant.judge(answer="x", contexts=HARBOUR).reasoning,
    ) == (True, True)


@pytest.mark.parametrize("check", CHECKED, ids=lambda one: one.name)
def test_without_texts_each_check_abstains_and_says_so(check):
    for contexts in ((), ("",), ("  ", "\n\t"), ("\u3000",), ("...",)):
        found = check.judge(question="Who?", answer="Marta built it.", contexts=contexts)
        assert found.status is Status.ABSTAIN
    assert [check.judge(answer=answer, contexts=HARBOUR).status for answer in ("!!!", "\U0001f600", "[1]")] == [
        Status.ABSTAIN
    ] * 3
    for answer in (None, "", " \n"):
        blank = Status.FAIL if check.name == "grounding_screen" else Status.ABSTAIN
        assert check.judge(answer=answer, contexts=HARBOUR).status is blank
    if check.name != "grounding_screen":
        assert (
            pickle.loads(pickle.dumps(check)).fingerprint,
            "no contexts" in check.judge(question="Who?", answer="Marta.", contexts=()).reasoning,
        ) == (check.fingerprint, True)


def test_a_verdict_of_the_screen_needs_no_review():
    judgment = grounding_screen().judge(answer="It was not rebuilt after the storm of 1931.", contexts=HARBOUR)
    assert (judgment.status, judgment.review_reasons) == (Status.PASS, ())


def test_the_final_judge_is_asked_only_where_the_screen_does_not_decide():
    asked = []
    screen = grounding_screen(lambda case: asked.append(case.answer) or True)
    answers = ["Pia Berg built it.", "It was not rebuilt after the storm of 1931.", "The harbour is of Marta Olsen."]
    found = [screen.judge(answer=answer, contexts=HARBOUR) for answer in answers]
    assert ([(one.passed, one.stopped_at) for one in found], asked) == (
        [(False, "flags"), (True, "verbatim"), (True, "final")],
        answers[2:],
    )
    inside = CascadedJury([Tier("grounded", grounding_screen(), "escalate_on_split"), Tier("last", lambda case: True)])
    assert inside.judge(answer=answers[2], contexts=HARBOUR).stopped_at == "last"


def test_the_checks_have_their_names_of_version_0_2_in_jury_files():
    assert [
        name
        for name in ("names_and_numbers", "sentence_alignment", "sentence_support", "context_relevance")
        if CHECKS[name].__module__ != "jury_adapters.grounding"
    ] == []
    for threshold in (-0.1, 1.1, float("nan"), True, "0.5"):
        with pytest.raises(ConfigurationError, match="threshold"):
            SentenceSupport(threshold=threshold)


LONG = ("1 ", "1,", "- ", "\n", "one ", "A. ", "Anna Berg and ", "[1, ", "九", '"', "5 m/s ", "datetime.date(", '{"a":')


def test_long_texts_are_judged_and_a_verdict_stays_small():
    for piece in LONG:
        text = piece * (8_000 // len(piece))
        assert [
            (answer, contexts)
            for answer, contexts in ((text, HARBOUR), (HARBOUR, text))
            if grounding_screen().judge(answer=answer, contexts=contexts).status is Status.ERROR
        ] == []
    many = SentenceSupport(threshold=0.5).judge(answer="The harbour is deep. " * 1500, contexts="It is deep. " * 1500)
    assert many.reasoning == "1,500 sentences and 1,500 of the contexts are too many to compare"
    found = NamesAndNumbers().judge(answer=" ".join(f"{n}." for n in range(10_000, 11_000)), contexts=HARBOUR)
    assert (len(found.findings), len(found.model_dump_json()) < 30_000) == (100, True)


def test_a_long_word_is_judged_in_linear_time():
    """In quadratic time it would take minutes, as with the genome of a virus in a context."""
    for unit in ("GATTACA", "Aa", "0F", "n't", "'s", "é've"):
        long = f"A{unit * (100_000 // len(unit))}'x"
        for answer, context in (
            ("In 2018.", f"It is a {long}. It stopped in 2018."),
            (f"Is it a {long}.", "It is in it."),
        ):
            assert NamesAndNumbers().judge(answer=answer, contexts=[context]).status is not Status.ERROR


def test_texts_are_tidied_and_cut_into_sentences():
    tidied = {"He did n't go .": "He didn't go.", "-LRB- born 1961 -RRB-": "(born 1961)", "٣٤": "34", "ａ１": "a1"}
    assert (
        {text: tidy(text) for text in tidied},
        sentences("Dr. Smith came. He said 5. One left"),
        sentences("东京。大阪。"),
    ) == (tidied, ["Dr. Smith came.", "He said 5.", "One left"], ["东京。", "大阪。"])
