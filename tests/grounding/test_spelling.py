"""Findings and reasons that show words with their accents."""

import pytest

from jury_adapters.checks import ContextRelevance, NamesAndNumbers, SentenceAlignment, SentenceSupport
from jury_adapters.grounding import Undecided
from jury_adapters.grounding.spelling import as_written

ANSWER = "Die Rückschlagklappe schließt größtenteils nach 730 Sekunden."
CONTEXT = "Die Klappe wird für 20 Sekunden geöffnet und dann überprüft."


@pytest.mark.parametrize("judge", [Undecided(), SentenceSupport(), SentenceAlignment()])
def test_words_that_are_missing_have_their_accents(judge):
    judgment = judge.judge(answer=ANSWER.replace("nach 730", "für 20"), contexts=CONTEXT)
    shown = " ".join(f"{finding.name} {finding.detail}" for finding in judgment.findings)
    assert "rückschlagklappe" in shown
    assert "größtenteils" in shown


def test_evidence_and_reasons_have_them_too():
    judgment = NamesAndNumbers().judge(answer=ANSWER, contexts=CONTEXT)
    assert judgment.findings[0].evidence == ANSWER
    assert "größtenteils" in Undecided().judge(answer=ANSWER, contexts=CONTEXT).reasoning
    supported = SentenceSupport().judge(answer="Die Klappe wird geöffnet.", contexts=CONTEXT)
    assert supported.findings[0].evidence == CONTEXT


def test_words_of_a_question_have_them():
    judgment = ContextRelevance().judge(question="Wann schließt die Tür?", contexts=CONTEXT)
    assert "tür" in judgment.findings[0].detail


def test_the_words_of_a_message_stay():
    judgment = Undecided().judge(answer="För Ös öl.", contexts="Bönor är gröna och växer på träd i skogen.")
    assert "not in the contexts" in judgment.reasoning


def test_a_word_that_is_written_in_both_ways_stays():
    assert as_written("fur, ole", "für und fur", "Öle") == "fur, öle"
