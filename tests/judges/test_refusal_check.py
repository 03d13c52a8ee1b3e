"""The check of judges/refusal_check.py."""

from __future__ import annotations

import asyncio
import sys

import pytest

from jury_adapters.core.judgment import Status
from jury_adapters.judges.refusal_check import RefusalCheck

PASS, FAIL, ABSTAIN = Status.PASS, Status.FAIL, Status.ABSTAIN


class TestRefusalCheck:
    def test_the_patterns_are_compiled_when_the_check_is_made_and_not_while_a_loop_waits(self, monkeypatch):
        monkeypatch.delitem(sys.modules, "jury_adapters.judges.refusals", raising=False)
        check = RefusalCheck()
        compiled = sys.modules["jury_adapters.judges.refusals"]
        asyncio.run(check.ajudge(answer="Sorry, I can't help with that."))
        assert sys.modules["jury_adapters.judges.refusals"] is compiled

    @pytest.mark.parametrize(
        "answer",
        [
            "I'm sorry, but I can't help with that.",
            "I\u2019m sorry, but I can\u2019t help with that. If you feel unsafe, call someone.",
            "Sorry, I cannot assist with this request",
            "I cannot provide medical advice.",
            "I'm unable to help with that.",
            "I am not able to do that",
            "Unfortunately, I can't share that information.",
            "As an AI language model, I cannot write malware.",
            "I apologize, but I cannot fulfill this request.",
            "I must decline.",
            "I won't be able to continue with this.",
            "This violates my guidelines.",
            "**I'm sorry, but I can't do that.**",
            "I'm afraid I can't do that, but I can suggest something else.",
            "I'm not comfortable helping with that.",
            "Thank you for asking, but I can't discuss that.",
            "We regret that we cannot answer this.",
            "Unfortunately, we're unable to answer your question.",
            "Sorry, we are not able to help with that request.",
        ],
    )
    def test_refusals(self, answer):
        judgment = RefusalCheck().judge(answer=answer)
        assert judgment.status is FAIL
        assert judgment.findings[0].evidence

    @pytest.mark.parametrize(
        "answer",
        [
            "",
            "Paris.",
            'He told them: "I can\'t help with that."',
            'The song "I Can\'t Help Myself" was a hit in 1965.',
            "I can't wait to tell you: it is Paris.",
            "I can't think of a better place than Paris.",
            "I can't provide exact figures, but it was about 40 %.",
            "I'm sorry to hear that. Try turning it off and on again.",
            "I'm sorry, the train is late. It leaves at nine.",
            "You can say \"I'm sorry, but I can't help with that\" to decline politely.",
            "Sorry for the confusion! The answer is 4.",
            "I don't know the exact day. It opened in May.",
            "I'm not sure, but I think it was 2018.",
            "The text does not mention a fee, so entry is free. Entry is free on Mondays.",
            "I don't know of any restrictions.",
            "The documents do not say when, but the ferry stopped in 2018.",
            "It is not known to be toxic; doses up to 5 mg are safe.",
            "There is no fee.",
            "Unknown soldiers are buried there.",
            "When the valve is open, the flow is unclear to the eye; it is 5 litres a minute.",
            "What is not known to be safe is forbidden. The limit is 5 mg.",
            "How the ferry was lost is not known, but it sank in 2018.",
            "Nobody lives there.",
            "The policy does not cover water damage.",
            "The contract does not mention a deadline.",
            "The manual does not cover the ET420.",
            "The manual does not say so directly, but 180 N is the limit.",
            "The manual does not say. Section 4 of the guide says 180 N.",
            "The guide does not explain valves; it explains pumps.",
            "The records have no details of 2018, but those of 2019 do.",
            "The file has no header.",
            "There is nothing on the table.",
            "Not found guilty.",
            "No results of 2018 count.",
            "Unfortunately, the museum cannot provide parking.",
            "We cannot refund tickets after 30 days.",
            "We cannot help with baggage at the airport.",
            "We regret the delay and refund you 20 euros.",
            "I can't say enough good things about it.",
            "According to the manual, the valve is not included.",
            "Based on the context, the fee is 40 euros.",
            "Given the rules, we cannot accept late entries.",
            "In this case, I cannot recommend it because it is toxic.",
            "Your data is not available in the cloud, but on the device.",
            "The VAT is not included in the data, but it is 20 %.",
            "Breakfast is not included in the price.",
            "There isn't any fee.",
            "Nothing in the contract changes.",
            "It is not possible to park there.",
            "Lunch is not provided.",
            "The website gives no discount.",
            "The valve is not in the tank.",
            "The oil grade is not specified in the handbook, but the plate says 5W-30.",
            "The oil grade is not specified. The plate says 5W-30.",
            "The deposit is not given back.",
            "Smoking is not mentioned as a risk; age is.",
            "The terms do not provide a refund.",
            "The contract gives no refund.",
        ],
    )
    def test_answers(self, answer):
        assert RefusalCheck().judge(answer=answer).status is PASS

    @pytest.mark.parametrize(
        "answer",
        [
            "I don't know.",
            "I do not know when the ferry stopped running.",
            "I'm not sure.",
            "Sorry, I have no idea!",
            "I'm sorry, but I don't have enough information to answer.",
            "There is no information about that in the context.",
            "The provided documents do not mention when the ferry stopped running.",
            "The context doesn't say.",
            "No information is available on this topic.",
            "It is not clear from the context.",
            "I could not find the answer in the documents. Please contact support.",
            "Unknown.",
            "Not specified",
            "When the ferry between the islands stopped running is unclear.",
            "Why the bridge was closed remains unknown. You could ask the harbour office.",
            "How many people came was not recorded",
            "Nobody knows when the ferry stopped.",
            "Empty Response",
            "The documents do not say.",
            "The manuals do not say.",
            "The manual does not mention the closing force.",
            "The service manual doesn't say when it is due.",
            "I'm afraid the manuals don't cover this.",
            "The policy does not say.",
            "The contract does not specify whether it ends.",
            "None of the manuals cover this.",
            "The handbook has no information about that.",
            "The knowledge base does not contain an answer to this question.",
            "There is nothing about this in the manuals.",
            "It cannot be determined from the context.",
            "Not found.",
            "Not found in the documents.",
            "No matching results found.",
            "Not sure.",
            "I'm unable to find this information.",
            "We could not find any information about this.",
            "As an AI language model, I can't know the fee.",
            "Based on the context, I cannot determine the fee.",
            "From the given passages, I am unable to tell who pays.",
            "In the given context, there is no information about the fee.",
            "The answer is not provided in the context.",
            "This information is not available in the documents.",
            "The fee for U10 is not mentioned in the provided context.",
            "The exact date isn't specified in the documents. Please contact the office.",
            "Given the context, it is not possible to determine the fee.",
            "There isn't any information about this in the documents.",
            "Nothing in the context mentions the fee.",
            "It is not in the handbook.",
            "That isn't in the provided documents.",
            "The answer is not in the context.",
            "The oil grade is not specified.",
            "The service interval isn't stated anywhere. Please ask the maker.",
            "It's not mentioned.",
            "The oil grade is not documented in the handbook.",
            "The context information does not provide the oil grade.",
            "The provided context passages don't list the oil grade.",
            "Unfortunately, the handbook gives no oil grade.",
            "The documentation lists no interval for this filter.",
            "The handbook does not provide the oil grade.",
            "The retrieved passages contain no interval.",
            "Sorry, that information is not available.",
            "The requested information is not provided.",
        ],
    )
    def test_answers_that_only_say_that_it_is_not_known(self, answer):
        judgment = RefusalCheck().judge(answer=answer)
        assert (judgment.status, "is not known" in judgment.reasoning) == (FAIL, True)
        assert judgment.findings[0].evidence in answer
        assert RefusalCheck(allow_unknown=True).judge(answer=answer).status is PASS

    @pytest.mark.parametrize("answer", ["The manual does not mention it.", "The documents do not contain it."])
    def test_what_a_text_does_not_say_is_the_answer_to_a_question_about_it(self, answer):
        asked = "Does the manual mention the closing force, or do the documents contain it?"
        assert RefusalCheck().judge(question=asked, answer=answer).status is PASS
        assert RefusalCheck().judge(question="What is the closing force?", answer=answer).status is FAIL

    @pytest.mark.parametrize(
        ("question", "answer"),
        [
            ("Is the oil grade specified?", "The oil grade is not specified."),
            ("Is it in the handbook?", "It is not in the handbook."),
            ("Which grade is not specified?", "The oil grade is not specified."),
            ("Does the handbook list an interval?", "The handbook lists no interval."),
        ],
    )
    def test_what_is_not_said_is_the_answer_to_a_question_about_it(self, question, answer):
        assert RefusalCheck().judge(question=question, answer=answer).status is PASS
        assert RefusalCheck().judge(question="What is it?", answer=answer).status is FAIL

    def test_what_is_not_in_a_text_is_the_answer_to_a_question_about_it(self):
        answer = "The fee is not mentioned in the documents."
        assert RefusalCheck().judge(question="Is the fee mentioned in the documents?", answer=answer).status is PASS
        assert RefusalCheck().judge(question="What is the fee?", answer=answer).status is FAIL
