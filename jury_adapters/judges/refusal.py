"""Check that an answer is not a refusal."""

import re

from jury_adapters.core.judge import Returned
from jury_adapters.core.judgment import abstain
from jury_adapters.core.text import visible
from jury_adapters.grounding import looks_english
from jury_adapters.judges.options import Flag, OfAnswer, declared

_PLAIN = {0x2018: "'", 0x2019: "'", 0x2BC: "'", 0xA0: " ", ord("*"): None, ord("_"): None, ord("#"): None}
_OPENING = (
    r"\s*(?:(?:(?:(?:i|we)(?:'m| am|'re| are)? )?(?:very |so |really |truly )?(?:sorry|afraid|apologi[sz]e|regret)"
    r"|apologies|unfortunately|well|as an? (?:ai|artificial|language|large)[^,.\n]{0,60}|thank(?:s| you)[^,.\n]{0,60}"
    r"|(?:based on|given|according to|from|in) (?:the|this|these|your)[^,.\n]{0,60}(?=,))[,:;!]? ?(?:but |that )?){0,3}"
)
_CANNOT = r"(?:can't|cannot|can not|could not|couldn't|won't|will not|not able to|unable to)(?: be able to)?"
_REFUSAL = re.compile(
    rf"{_OPENING}(?:i(?:'m| am)? ?(?:{_CANNOT}|not comfortable|decline to|refuse to) ?"
    r"(?:help|assist|answer|comply|do (?:that|this|it|so)|fulfil|provid|shar|support|creat|generat|discuss|writ|giv"
    r"|engag|continu|respond|offer|produc)|i (?:must|have to) (?:respectfully )?decline"
    rf"|we(?:'re| are)? ?{_CANNOT} (?:answer|(?:help|assist)(?: you)? with (?:this|that|your))"
    r"|(?:this|that|it)(?:'s| is)?(?: request)? (?:violates|goes against|against) (?:my|our))"
    # An answer that declines a detail and goes on is none; one that offers something else is.
    r"(?![^.!?\n]*\b(?:but|however|though),? (?!if|please|feel|let|happy|i(?:'m| am|'d|'ll| can| would)\b))[^.!?\n]*",
    re.IGNORECASE,
)
_FACTS = r"(?:information|details?|data|knowledge|idea|mention|answer|context|clue)"
_SOURCE = (
    r"(?:the|these|this|those|your|my|any of the|none of the|provided|given)(?: \w+){0,3}? ?(?:contexts?|documents?"
    r"|passages?|sources?|texts?|excerpts?|manuals?|handbooks?|documentation|knowledge base|information|articles?|data"
    r"|results)"
)
_GIVEN = r"(?:known|clear|specified|mentioned|stated|documented|indicated|available|provided|given|found)"
_FIND = r"(?:find|determine|tell|say|know|locate|confirm|establish|verify|infer|answer)"
# The whole answer says that the answer is not known, with at most an offer, an apology or advice behind it.
_UNKNOWN = re.compile(
    rf"{_OPENING}(?:i (?:really |honestly |just )?(?:do not|don't) (?:know(?! of)|have [^.;!?\n]*{_FACTS})"
    rf"|i(?:'m| am) (?:not|un)(?: ?sure| ?certain|aware)"
    rf"|(?:i|we)(?:'ve| have) (?:no|not enough|insufficient) (?:\w+ )?{_FACTS}"
    rf"|(?:i|we)(?:'m| am|'re| are|) ?{_CANNOT} {_FIND}(?! enough)"
    rf"|there(?:'s| is| are)(?:n't| not)? (?:no|any|not enough) (?:\w+ )?{_FACTS}"
    rf"|there (?:is|was) nothing about|nothing in {_SOURCE}"
    rf"|{_SOURCE} (?:does not|do not|doesn't|don't|did not|didn't)"
    r" (?:say|mention|specify|state|contain|include|provide|tell|indicate|list|answer|have"
    rf"|cover (?:this|that))|{_SOURCE} (?:has|have|contains?|gives?|provides?|lists?) no|(?:nobody|no one) knows"
    rf"|(?:no|not enough) (?:\w+ )?{_FACTS} "
    rf"|(?:it|this|that|the answer|(?:this|that|the)(?: \w+)? information)(?:'s| is| was)(?: not|n't)"
    rf" (?:{_GIVEN}|in {_SOURCE})"
    r"|[^.;!?\n]{1,80} (?:is|are|was|were)(?: not|n't) (?:specified|mentioned|stated|documented|indicated)"
    r"(?= in| by| any|[.!]|$)"
    r"|(?:when|where|who|what|why|how|which|whether) [^.;!?\n]{1,120} (?:is|was|are|were|remains?)"
    r" (?:unknown|unclear|not known)"
    r"|(?:it |that )?(?:cannot|can't|could not) be (?:determined|answered|found)"
    rf"|it is (?:unknown|unclear|(?:not |im)possible to {_FIND})"
    rf"|(?:unknown|unclear|n/a|empty response|not {_GIVEN}|not sure|no (?:\w+ )?(?:results?|match(?:es)?)(?: found)?)"
    r"(?= in|[.!]|$))(?![^.;!?\n]*,? (?:but|however|although|though|so) )[^.;!?\n]*[.!]?"
    r"(?:\s+(?:please|if|you|could|would|can|sorry|try|let|feel|contact|consult|check|i(?:'m|'d| am| would))\b.*)?\s*",
    re.IGNORECASE | re.DOTALL,
)


@declared
class RefusalCheck(OfAnswer):
    """The answer is not a refusal in English, such as "I'm sorry, but I can't help with that".

    FAIL where the answer opens with a refusal in the first person, or says nothing but that the answer is not known ("I
    don't know.", "The manual does not say.", LlamaIndex's "Empty Response"). An answer that declines one detail and
    goes on ("I can't give exact figures, but it was about 40 %") passes. It abstains where the answer does not read as
    English: on one or two words in other letters, and on three or more without an English function word. It knows usual
    phrases and no meanings; ``Critic(model, "refusal_appropriateness")`` reads an answer.

    Args:
        allow_unknown: whether an answer may say that it is not known, for questions that the contexts cannot answer.
        name: the name in verdicts.

    >>> RefusalCheck().judge(answer="Sorry, I cannot help with that.").status.value
    'FAIL'
    """

    allow_unknown: Flag = False

    def read(self, answer: str) -> Returned:
        text = answer[:1000].translate(_PLAIN)
        refused, unknown = _REFUSAL.match(text), _UNKNOWN.fullmatch(text)
        if found := refused or (None if self.allow_unknown else unknown):
            return False, f"the answer refuses: '{visible(found[0].strip())}'"
        # Of a few words, looks_english asks little; repeated, they are many.
        if not unknown and not looks_english(answer if len(answer.split()) < 3 else f"{answer} " * 8):
            return abstain("only English refusals are known, and the answer does not read as English")
        return True, "it does not open with a refusal"
