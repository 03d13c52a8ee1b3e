"""The check of refusals: sentences that were written for this table, and texts that take a backtracking engine long."""

import pytest

from jury_adapters.checks import RefusalCheck

REFUSALS = [
    "I'm sorry, but I can't help with that.",
    "I\u2019m sorry, I can\u2019t assist with this request. Please ask a doctor.",
    "**Sorry, I am unable to answer this question.**",
    "Unfortunately, I cannot provide medical advice.",
    "As an AI language model, I can't create such content.",
    "I apologize, but I won't be able to continue with this.",
    "Thank you for asking, but I must respectfully decline.",
    "I'm afraid I can't discuss that, but I can suggest something else.",
    "I'm not comfortable helping with this.",
    "We regret that we cannot answer this.",
    "This goes against my guidelines.",
]
UNKNOWN = [
    "I don't know.",
    "I'm not sure.",
    "Sorry, I have no idea!",
    "I do not know when the lighthouse was built. Please ask the harbour office.",
    "I'm sorry, but I don't have enough information to answer.",
    "The provided documents do not mention when the lighthouse was built.",
    "The manual doesn't say.",
    "There is no information about that in the context.",
    "Based on the context, I cannot determine the fee.",
    "I could not find the answer in the documents.",
    "It is not clear from the context.",
    "The oil grade is not specified.",
    "Why the bridge was closed remains unknown.",
    "Nobody knows when it was lost.",
    "Empty Response",
    "Unknown.",
]
ANSWERS = [
    "In 2018.",
    "42",
    "New York.",
    "It is Paris, in France.",
    "The lighthouse was built in 1884.",
    'The clerk told them: "I can\'t help with that."',
    "I can't give exact figures, but it was about 40 %.",
    "I'm sorry to hear that. Turn it off and on again.",
    "I don't know the exact day. It opened in May.",
    "I'm not sure, but I think it was 2018.",
    "The documents do not say when, but the ferry stopped in 2018.",
    "The valve is not included in the price.",
    "There is nothing on the table.",
    "It is not possible to park there.",
    "We cannot refund tickets after 30 days.",
    "I have to give you two keys.",
    "The policy does not cover water damage.",
]
FOREIGN = [
    "",
    "Ich kann Ihnen dabei leider nicht helfen.",
    "Je ne sais pas.",
    "Non lo so.",
    "Eu nao sei quando.",
    "No sé.",
    "申し訳ありませんが、お手伝いできません。",
    "لا أعرف.",
]


@pytest.mark.parametrize(
    ("texts", "status", "if_allowed"),
    [
        (REFUSALS, "FAIL", "FAIL"),
        (UNKNOWN, "FAIL", "PASS"),
        (ANSWERS, "PASS", "PASS"),
        (FOREIGN, "ABSTAIN", "ABSTAIN"),
    ],
)
def test_a_text_is_an_answer_a_refusal_or_in_no_known_language(texts, status, if_allowed):
    found = {text: RefusalCheck().judge(answer=text).status.value for text in texts}
    assert found == dict.fromkeys(texts, status)
    allowed = {text: RefusalCheck(allow_unknown=True).judge(answer=text).status.value for text in texts}
    assert allowed == dict.fromkeys(texts, if_allowed)


def test_the_reason_quotes_the_refusal_and_a_case_without_an_answer_is_open():
    judgment = RefusalCheck().judge(answer="Sorry, I can't help with that. Bye\x1b[2J!")
    assert (judgment.reasoning, RefusalCheck().judge(question="?").status) == (
        "the answer refuses: 'Sorry, I can't help with that'",
        "ABSTAIN",
    )


@pytest.mark.parametrize("piece", ["I'm sorry, ", " ", "the manual ", "in the x, ", "I don't have ", "not found "])
def test_long_texts_are_read_in_no_time(piece):
    assert RefusalCheck().judge(answer=piece * 20_000).status in ("PASS", "FAIL", "ABSTAIN")
