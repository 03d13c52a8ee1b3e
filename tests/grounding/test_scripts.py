"""Numbers of answers in Chinese, Japanese, Korean and Thai, and what is said where words cannot be compared."""

import pytest

from jury_adapters import Status, grounding_screen
from jury_adapters.checks import NamesAndNumbers
from jury_adapters.grounding.east_asian import in_digits, scaled_value, written_numbers
from jury_adapters.grounding.languages import in_other_script, script

DOORS = [
    "Wind above 12 m/s forbids roof work, and the closing force is 150 N. The course of 5 March 2024 began at 3:30 pm, "
    "and 30,000 people and the mayor were at the opening of the 1.2 km tunnel, which had cost 120 million yen."
]
RIGHT = [
    "閉まる力は150です。",
    "閉まる力は150Nです。",
    "风速超过12米/秒时禁止作业。",
    "문을 닫는 힘은 150N입니다.",
    "힘은150N입니다.",
    "แรงปิดคือ150นิวตัน",
    "講習は2024年3月5日の午後3時30分に始まった。",
    "3月5日の15時半に始まった。",
    "2024年3月に始まった。",
    "교육은 2024년 3월 5일 오후 3시 30분에 시작했다.",
    "课程于2024年3月5日15点30分开始。",
    "3万人が来た。",
    "有3万人参加。",
    "3만 명이 왔다.",
    "費用は1億2000万円だった。",
    "隧道长1.2千米。",
    "①閉まる力は150です。②風速は12です。",
    "1.閉まる力は150です。",
    "手順1\uff1a扉を閉める。手順2\uff1a力は150です。",
    "１５０ニュートンです。",
    "最大１２メートルです。",
]
WRONG = [
    ("閉まる力は250です。", "250"),
    ("風速は15メートル。", "15メートル"),
    ("閉まる力は250 Nです。", "250"),
    ("关门力为250牛顿。", "250"),
    ("문을 닫는 힘은 250N입니다.", "250"),
    ("힘은250N입니다.", "250"),
    ("แรงปิดคือ250นิวตัน", "250"),
    ("講習は2024年3月6日に始まった。", "2024年3月6日"),
    ("2025年3月に始まった。", "2025年3月"),
    ("4月に始まった。", "4月"),
    ("교육은 2024년 4월 5일에 시작했다.", "2024년 4월 5일"),
    ("午前3時30分に始まった。", "3時30分"),
    ("4万人が来た。", "4万"),
    ("3千人が来た。", "3千"),
    ("5만 명이 왔다.", "5만"),
    ("費用は1億3000万円だった。", "1億3000万"),
    ("①閉まる力は250です。", "250"),
    ("１７メートルです。", "17メートル"),
]


def judged(answer, contexts=DOORS):
    return NamesAndNumbers().judge(question="Q?", answer=answer, contexts=contexts)


@pytest.mark.parametrize("answer", RIGHT)
def test_right_numbers_are_not_flagged(answer):
    found = judged(answer)
    assert found.status is Status.ABSTAIN, found.reasoning
    assert "every name and number" not in found.reasoning
    assert "not checked: names, because the answer does not read as English" in found.reasoning


@pytest.mark.parametrize(("answer", "number"), WRONG)
def test_wrong_numbers_are_flagged(answer, number):
    assert [finding.name for finding in judged(answer).findings] == [f"number: {number}"]


@pytest.mark.parametrize(
    ("context", "answer", "number"),
    [
        ("关门力为 150 牛顿。", "关门力为 250 牛顿。", "250"),
        ("关门力为150牛顿\uff0c一般不超过三人。", "关门力为250牛顿。", "250"),
        ("关门力为一百五十牛顿。", "关门力为250牛顿。", "250"),
        ("東京には三千人が住む。", "東京には4000人が住む。", "4000"),
        ("三月五日に始まった。", "3月6日に始まった。", "3月6日"),
        ("문을 닫는 힘은 150N입니다.", "문을 닫는 힘은 250N입니다.", "250"),
        ("แรงปิดคือ 150 นิวตัน", "แรงปิดคือ 250 นิวตัน", "250"),
        ("Die Kraft beträgt 150 Newton.", "Die Kraft beträgt 250 Newton.", "250 Newton"),
    ],
)
def test_wrong_numbers_are_flagged_in_the_language_of_the_contexts(context, answer, number):
    assert [finding.name for finding in judged(answer, [context]).findings] == [f"number: {number}"]


@pytest.mark.parametrize(
    ("context", "answer"),
    [
        ("关门力为一百五十牛顿。", "关门力为150牛顿。"),
        ("二〇二四年三月五日\uff0c十五人参加。", "2024年3月5日\uff0c15人参加。"),
        ("东京有三千五百万人。", "东京有3500万人。"),
        ("费用为一亿二千万元。", "费用为1.2亿元。"),
        ("需要两三天。", "需要3天。"),
        ("比率是三点五。", "比率是3.5。"),
        ("百分之十五的人参加。", "15%的人参加。"),
        ("りんごがふたつある。", "りんごが2つある。"),
        ("Im Haus wohnen zwei Personen und 3 Katzen.", "Im Haus wohnen 2 Personen."),
        ("이백오십 명이 왔다.", "250명이 왔다."),
    ],
)
def test_numbers_that_the_contexts_spell_out_are_not_flagged(context, answer):
    found = judged(answer, [context])
    assert found.status is Status.ABSTAIN, found.reasoning


@pytest.mark.parametrize(
    ("answer", "context", "flagged"),
    [
        ("隧道长1200米。", "隧道长1.2公里。", False),
        ("隧道长1.2千米。", "The tunnel is 1200 m long, and it is new.", False),
        ("隧道长1.3千米。", "The tunnel is 1200 m long, and it is new.", True),
        ("深さは150センチです。", "The pit is 1.5 m deep, and it is new.", False),
        ("深さは150メートルです。", "The pit is 150 cm deep, and it is new.", True),
        ("90分間かかります。", "It takes 1.5 hours, and it is free.", False),
        ("무게는 2톤입니다.", "It weighs 2000 kg, and it is new.", False),
        ("무게는 3톤입니다.", "It weighs 2000 kg, and it is new.", True),
        ("容量は500ミリリットルです。", "容量は0.5リットルです。", False),
        ("5千瓦", "It has 5 kW, and it is new.", False),
    ],
)
def test_units_in_east_asian_words_are_converted(answer, context, flagged):
    assert bool(judged(answer, [context]).findings) is flagged


def test_numbers_in_chinese_characters_are_named_where_the_source_has_not_got_them():
    assert "numbers in Chinese characters, which are not compared (十五)" in judged("風速は十五メートル。").reasoning
    assert "Chinese characters" not in judged("風速は十二メートル。一般に安全。万一の場合。").reasoning


def test_an_answer_without_numbers_is_not_said_to_be_checked():
    reasoning = judged("東京は日本の首都です。").reasoning
    assert reasoning.startswith("the answer has no number that can be compared (not checked: names, because")


@pytest.mark.parametrize(
    "answer", ["閉まる力は150です。", "閉まる力は150 Nです。", "关门力为150牛顿。", "แรงปิดคือ150นิวตัน"]
)
def test_the_screen_does_not_say_that_words_were_found_which_it_cannot_compare(answer):
    reasoning = grounding_screen().judge(question="Q?", answer=answer, contexts=DOORS).reasoning
    assert "every word" not in reasoning
    assert "no word can be compared: words cannot be separated" in reasoning


def test_what_is_unread_among_english_sentences_is_said():
    contexts = ["The closing force of the door is 150 N, and it is tested."]
    answer = "The closing force of the door is 150 N.\n大阪は首都です。"
    assert (
        "words in scripts without spaces, which are not compared (大阪は首都です)" in judged(answer, contexts).reasoning
    )
    screened = grounding_screen().judge(question="Q?", answer=answer, contexts=contexts)
    assert "no new word was found, but 1 of 2 sentences could not be read" in screened.reasoning


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("二〇二四年", "2024年"),
        ("三千五百万", "35000000"),
        ("一万两千", "12000"),
        ("百人", "100人"),
        ("一亿零五", "100000005"),
        ("3千人", "3千人"),
        ("ふたり", "2り"),
        ("三点五", "3.5"),
    ],
)
def test_numbers_in_chinese_characters_have_values(text, digits):
    assert in_digits(text) == digits


def test_numbers_with_scales_have_values():
    assert [scaled_value(text) for text in ("3万5千", "1.5億", "2백만", "1,200万")] == [
        "35000",
        "150000000",
        "2000000",
        "12000000",
    ]
    assert written_numbers("十五人、一般、万一、三百二十、二") == ["十五", "三百二十"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Zoë and Øre", "latin"),
        ("Это не Anna.", "cyrillic"),
        ("Network の設定を開く", "han"),
        ("힘은 250N", "hangul"),
        ("12 %", ""),
        ("The capital is 東京.", "latin"),
        ("แรงปิด", "thai"),
    ],
)
def test_scripts(text, name):
    assert script(text) == name
    assert in_other_script(text) is (name not in ("", "latin"))


SPELLED_OUT = [
    ("Der Kessel braucht 25 Tage.", "Der Kessel braucht fünfundzwanzig Tage und ist gut."),
    ("Der Kessel braucht 2 Tage.", "Der Kessel braucht zwei Tage, die Pumpe 30 Tage."),
    ("Der Kessel braucht 2,5 Stunden.", "Der Kessel braucht zweieinhalb Stunden und ist gut."),
    ("Der Kessel kostet 1,5 Millionen.", "Der Kessel kostet 1.500.000 Euro und ist gut."),
    ("Der Kessel hat 200 Rohre.", "Der Kessel hat zweihundert Rohre und ist gut."),
    ("25 % der Kessel sind alt.", "Ein Viertel der Kessel ist alt und wird ersetzt."),
]
NOT_SPELLED_OUT = [
    ("Der Faktor ist 3,8 bis 9,5.", "Der Faktor ist 8,3 bis 9,5 und er ist gut.", "3,8"),
    ("Der Druck ist 18 bar.", "Der Druck ist 7,5 bar und er ist gut.", "18 bar"),
    ("Der Motor hat 170 Nm.", "Der Kessel ist gut und er hat ein Rohr.", "170 Nm"),
    ("Der Kessel braucht 45 Tage.", "Der Kessel braucht zwei Tage, die Pumpe 30 Tage.", "45 Tage"),
    ("Der Kessel braucht 170 Stunden.", "Der Kessel braucht 6 Monate und er ist gut.", "170 Stunden"),
    ("Der Kessel hat 40 Rohre.", "Der Kessel hat 30 Rohre und er ist gut.", "40"),
    ("Der Kessel hat 125 Rohre.", "Der Kessel ist gut und er hat ein Rohr.", "125"),
]


@pytest.mark.parametrize(("answer", "context"), SPELLED_OUT)
def test_a_number_that_may_be_spelled_out_is_not_flagged(answer, context):
    assert NamesAndNumbers().judge(answer=answer, contexts=context).findings == ()


@pytest.mark.parametrize(("answer", "context", "number"), NOT_SPELLED_OUT)
def test_a_number_that_is_never_spelled_out_is_flagged(answer, context, number):
    judgment = NamesAndNumbers().judge(answer=answer, contexts=context)
    assert [finding.name for finding in judgment.findings] == [f"number: {number}"]


@pytest.mark.parametrize(
    ("answer", "context", "flagged"),
    [
        ("The slot is 3,4 mm wide.", "The slot is 4,3 mm wide and it is measured with the gauge.", True),
        ("Der Spalt ist 3,4 mm breit.", "Der Spalt ist 4,3 mm breit und er wird gemessen.", True),
        ("The slot is 4.3 mm wide.", "The slot is 4,3 mm wide and it is measured with the gauge.", False),
        ("See rooms 3,4.", "The rooms 4 and 3 of the house are open, and it is free.", False),
        ("See rooms 3,4.", "The rooms 1,3,4 of the house are open, and it is free.", False),
    ],
)
def test_the_digits_of_a_decimal_comma_are_no_list_beside_decimal_commas(answer, context, flagged):
    assert bool(NamesAndNumbers().judge(answer=answer, contexts=context).findings) is flagged
