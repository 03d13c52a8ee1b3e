"""Recognise refusals in English answers, and answers that only state that the answer is not known."""

from __future__ import annotations

import re


def refusal_in(answer: str) -> str:
    """Return the refusal at the beginning of an answer, or "" if there is none.

    A refusal of one detail followed by the answer ("I can't give exact figures, but it was 40 %") does not count.

    >>> refusal_in("I'm sorry, but I can't help with that. Ask a doctor.")
    "I'm sorry, but I can't help with that"
    """
    opening = _opening(answer)
    match = _REFUSAL.match(opening)
    if match is None or _ANSWERS_ANYWAY.match(opening, match.end()):
        return ""
    return match[0]


def unknown_in(answer: str, question: str = "") -> str:
    """Return the opening that states that the answer is not known, or "" if there is none or an answer follows.

    Args:
        answer: the answer.
        question: the question. "The manual does not mention it" answers one that asks what the manual mentions.

    >>> unknown_in("I don't know when it opened. Please ask the museum.")
    "I don't know when it opened"
    >>> unknown_in("I don't know the exact day. It opened in May.")
    ''
    >>> unknown_in("Empty Response")  # of an engine of LlamaIndex that finds no node
    'Empty Response'
    """
    opening = _opening(answer)
    match = _UNKNOWN.match(opening)
    if match is not None and (match["source"] or match["subject"]) and _ASKS_WHAT_IS_SAID.match(question):
        return ""
    if match is None or _CONTRADICTS.search(match["tail"]) or not _NO_ANSWER.fullmatch(opening, match.end()):
        return ""
    return match[0]


def _opening(answer: str) -> str:
    return answer[:_OPENING_LENGTH].translate(_PLAIN_CHARACTERS).lstrip(" \t\r\n*_#>\"'")


_OPENING_LENGTH = 600  # characters at the beginning of the answer, where a refusal is
_PLAIN_CHARACTERS = {0x2018: "'", 0x2019: "'", 0x2BC: "'", 0xA0: " ", 0x2014: "-", 0x2013: "-"}

_SORRY = (
    r"(?:(?:I(?:'m| am)|we(?:'re| are)) (?:very |really |so |truly )?(?:sorry|afraid)|"
    r"sorry|apologies|(?:my|our) apologies|(?:I|we) apologi[sz]e|unfortunately|regrettably|"
    r"(?:I|we) regret(?: to (?:say|inform you|tell you))?(?: that)?(?= )|"
    r"as an? (?:AI|artificial|language|large)[^,.\n]{0,60}|thanks?[^,.\n]{0,60}|"
    r"(?:based|going|relying) (?:only |solely |purely |strictly )?(?:on|upon|by)[^,.\n]{0,80}(?=,)|"
    r"(?:according to|(?:judging )?from|given|in|with) (?:only )?(?:the|these|this|your)[^,.\n]{0,80}(?=,))"
)
_LINK = r"[,.:;! -]{0,3}(?:but |that |for |the |any |inconvenience,? |confusion,? |however,? ){0,4}"
_CANNOT = (
    r"I(?:'m| am)? ?(?:really |simply |also |currently )?(?:can't|cannot|can not|could not|couldn't|won't|will not|"
    r"not able to|unable to|not going to|must decline to|have to decline to|not comfortable|not allowed to|"
    r"not permitted to|decline to|refuse to|do not feel comfortable|don't feel comfortable)(?: be able to)?"
)
_WE_CANNOT = (  # what "we" cannot do otherwise is mostly an answer, such as a rule of the shop
    r"we(?:'re| are)? ?(?:really |simply |currently )?(?:can't|cannot|can not|not able to|unable to)"
    r" (?:answer|help(?: you)? with|assist(?: you)? with|respond to|comply with)"
    r" (?:this|that|your|such a)(?: particular)?(?: question| request| query| one)?\b"
)
_ACTION = (
    r"(?: with (?:that|this)|(?: be)? ?(?:help|assist|answer|comply|do (?:that|this|it|so)|fulfill?|provid|share|"
    r"sharing|support|create|creating|generat|writ|discuss|give|giving|engag|continu|respond|participat|offer|produc|complet|"
    r"accommodat))\w*"
)
_REFUSAL = re.compile(
    rf"(?:{_SORRY}{_LINK}){{0,3}}"
    rf"(?:{_CANNOT}{_ACTION}|{_WE_CANNOT}"
    r"|I (?:must|have to) (?:respectfully )?decline\b"
    r"|(?:that|this)(?: request)? (?:goes against|violates) (?:my|our)\b"
    r"|it(?:'s| is) against (?:my|our) (?:guidelines|policy|policies|programming)\b)"
    r"[^.,;!?\n]{0,200}",
    re.IGNORECASE,
)
# The start of a clause that gives the answer anyway, and does not offer something else.
_ANSWERS_ANYWAY = re.compile(
    r"[,;.] ?(?:but|however|though),? (?!(?:if|please|feel|let|I(?:'m| am|'d| would| can|'ll)|happy|you)\b)",
    re.IGNORECASE,
)

_FACTS = r"(?:information|details?|data|knowledge|context|mention|answer|idea|clue)"
_SOURCE = (
    r"(?:(?:the|these|this|those|your|my)? ?(?:provided |given |available |supplied |retrieved |context |background )*"
    r"(?:contexts?|texts?|documents?|passages?|sources?|information|articles?|excerpts?|materials?|data)"
    r"(?: (?:provided|given|above|available|that I have))?)"
)
_WRITINGS = (
    r"(?:manuals?|handbooks?|guides?|instructions|documentation|files?|pages?|website|knowledge base|faqs?|"
    r"(?:search )?results?)"
)
_INSTRUCTIONS = r"(?:manuals?|handbooks?|instructions|documentation|knowledge base|faqs?|(?:search )?results?)"
_OTHER_WRITINGS = (  # what an application may be asked about, so most of what they do not say is an answer
    r"(?:reports?|papers?|books?|notes?|records?|transcripts?|logs?|policy|policies|rules?|regulations?|contracts?|"
    r"agreements?|guidelines?|terms)"
)
_DOES_NOT = r"(?:does not|do not|doesn't|don't|did not|didn't)(?: (?:actually|explicitly|directly))?"
_THE = r"(?:(?:the|these|this|those|your|my|our|any of the) (?:\w+ ){0,2}?)"
_OPEN = (  # an object that names no fact, or a clause that asks for it
    r"(?: (?:this|that|it|so|anything|an answer|any (?:information|details?)|(?:the|this|that|your) question))?"
    r"(?: (?:about|on|to) (?:this|that|it|(?:the|this|that|your) question))?"
    r"(?= *(?:[.!;]|$)| (?:when|where|who|whom|whose|what|why|how|which|whether|if)\b)"
)
_SILENT_SOURCE = (
    rf"(?:{_SOURCE} (?:does not|do not|doesn't|don't|did not|didn't) "
    r"(?:say|mention|contain|provide|specify|state|include|tell|indicate|give|list|answer|have)\b"
    rf"|{_THE}{_WRITINGS} {_DOES_NOT} (?:say|mention|specify|state|tell|indicate)\b"
    rf"|{_THE}{_INSTRUCTIONS} {_DOES_NOT} (?:give|provide|list|contain)\b"
    rf"|{_THE}(?:{_SOURCE}|{_INSTRUCTIONS}) "
    r"(?:gives?|provides?|states?|specif(?:y|ies)|mentions?|lists?|indicates?) no\b"
    rf"|{_THE}(?:\w+ )?(?:contexts?|passages?|excerpts?|results) contains? no\b"
    rf"|{_THE}(?:{_SOURCE}|{_WRITINGS}|{_OTHER_WRITINGS}) {_DOES_NOT} (?:say|mention|specify|state|tell|indicate|"
    rf"answer|address|cover|describe|explain|discuss|contain|give|provide|include|have){_OPEN}"
    rf"|none of (?:the|these|those|my|your) (?:\w+ ){{0,2}}?(?:{_SOURCE}|{_WRITINGS}|{_OTHER_WRITINGS}) "
    r"(?:say|mention|specif(?:y|ies)|state|tell|indicate|answer|address|cover|contain)s?\b"
    rf"|{_THE}(?:{_SOURCE}|{_WRITINGS}|{_OTHER_WRITINGS}) (?:has|have|had|contains?|gives?|provides?) "
    rf"(?:no|not enough) (?:\w+ )?{_FACTS}\b)"
)
_NOT_KNOWN = (
    r"(?:is|was|are|were|remains?) (?:still |currently |simply |as yet )?(?:unknown|unclear|uncertain|unspecified|"
    r"not (?:known|clear|stated|specified|mentioned|said|given|provided|recorded|documented))"
)
_STATED = r"(?:mentioned|stated|specified|indicated|documented)"
_GIVEN = (
    r"(?:mentioned|stated|specified|indicated|documented|provided|given|found|available|contained|included|present|covered|"
    r"described)"
)
_AT_END = r"(?= *(?:[.!;]|$))"
_UNKNOWN = re.compile(
    rf"(?:{_SORRY}{_LINK}){{0,3}}(?:well|hmm|honestly)?[, ]*"
    rf"(?:I (?:really |honestly |simply |just )?(?:don't|do not) (?:actually |really )?"
    rf"(?:know\b(?! of any| that)|have (?:any |enough |sufficient |the |access to |specific |that )*{_FACTS}\b)"
    rf"|I(?:'ve| have) (?:no|not enough|insufficient) (?:\w+ )?{_FACTS}\b"
    r"|I(?:'m| am) (?:not sure|unsure|uncertain|unaware|not aware|not certain)\b"
    r"|(?:I|we)(?:'m|'re)? (?:can't|cannot|can not|could not|couldn't|(?:am |are |was |were )?(?:unable|not able) to) "
    r"(?:find|determine|tell|say|know|locate|answer|confirm|establish|verify|infer)\b(?! enough)"
    rf"|there(?:'s| is| are| was)(?: not|n't)? (?:no|any|enough|not enough|insufficient) (?:\w+ )?{_FACTS}\b"
    rf"|nothing in {_THE}(?:{_SOURCE}|{_WRITINGS}) (?:says|mentions|states|tells|answers|indicates|specifies)\b"
    r"|it(?:'s| is| was)(?: not possible|n't possible| impossible) (?:for me )?to "
    r"(?:find|determine|tell|say|know|locate|answer|confirm|establish|verify|infer)\b"
    rf"|(?:no|not enough|insufficient) (?:\w+ )?{_FACTS}\b"
    r"(?= (?:is|was|are|were|about|on|for|available|provided|given|found)\b|[.!]|$)"
    r"|there(?:'s| is| was) nothing (?:about|regarding|on (?:this|that|it))\b"
    r"|not (?:found|mentioned|stated|specified|given) in (?:the|these|those|my|your|any|our)\b"
    rf"|(?P<source>{_SILENT_SOURCE})"
    rf"|(?P<subject>[^,.;:!?\n]{{1,80}}? (?:is|are|was|were)(?: not|n't)(?: \w+ly)? {_GIVEN}"
    rf"(?: anywhere)? (?:in|by) (?:{_SOURCE}|{_THE}{_WRITINGS}){_AT_END}"
    rf"|[^,.;:!?\n]{{1,80}}? (?:is|are|was|were)(?: not|n't)(?: \w+ly)? {_STATED}(?: anywhere| here)?{_AT_END}"
    rf"|(?:it|this|that|the answer|(?:this|that|the)(?: \w+)? information)(?:'s| is| was)(?: not|n't) in "
    rf"(?:{_SOURCE}|{_THE}{_WRITINGS}){_AT_END}"
    r"|(?:this|that|the)(?: \w+)? (?:information|details?|answer) (?:is|are|was|were)(?: not|n't) "
    rf"(?:available|provided|given|included|known){_AT_END})"
    r"|(?:(?:it|that|this) )?(?:can't|cannot|can not|could not|couldn't) be (?:determined|answered|found|established)\b"
    r"|(?:it|that|this)(?:'s| is| was)(?: not|n't) (?:known|clear|specified|mentioned|stated|said|provided|given)\b"
    r"|it(?:'s| is) (?:unknown|unclear)\b"
    rf"|(?:when|where|who|whom|whose|what|why|how|which|whether)\b[^.;!?\n]{{1,160}}? {_NOT_KNOWN}\b"
    r"|(?:nobody|no one|no-one) (?:knows|can (?:say|tell))\b"
    r"|no (?:\w+ )?(?:results?|match(?:es)?)(?: (?:was|were))?(?: found)?(?=[.!]|$)"
    r"|(?:unknown|unclear|n/a|empty response|not (?:specified|mentioned|stated|available|known|provided|found|sure))"
    r"(?=[.!]|$))"
    r"(?P<tail>[^.;!?\n]{0,200})",
    re.IGNORECASE,
)
# The same inside the sentence that states that the answer is not known.
_CONTRADICTS = re.compile(
    r",? (?:but|however|although|though|so) (?!(?:if|please|feel|let|I(?:'m| am|'d| would| can|'ll)|happy|you)\b)",
    re.IGNORECASE,
)
# The rest of an answer that still does not give the answer: nothing, or an offer, an apology or advice.
_NO_ANSWER = re.compile(
    r"[\s.;!?*_]*(?:(?:please|if|you (?:can|could|may|might|should)|could you|would you|can you|sorry|apologies|try|"
    r"let me|feel free|contact|consult|check|I(?:'m| am) (?:sorry|happy|afraid)|I(?:'d| would) (?:recommend|suggest|"
    r"advise)|maybe|perhaps you|is there anything)\b.*)?",
    re.IGNORECASE | re.DOTALL,
)
_ASKS_WHAT_IS_SAID = re.compile(
    rf"\s*(?:is|are|was|were)\b.*\b(?:{_GIVEN}|(?:in|by) (?:{_SOURCE}|{_THE}{_WRITINGS}))\b"
    r"|\s*(?:do|does|did)\b.*\b(?:say|mention|contain|specify|state|include|tell|indicate|give|provide|have|address|"
    r"cover|list|describe|explain|discuss)\b"
    rf"|\s*(?:what|which|who)\b.*(?:\bnot|n't)\b.*\b(?:{_GIVEN}|say|mention|contain|specify|state|cover|list|describe|"
    r"in the)\b",
    re.IGNORECASE | re.DOTALL,
)
