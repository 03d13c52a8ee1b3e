"""Text around an answer that shows that the answer is not the reply's own, or that retracts it."""

from __future__ import annotations

import re

from jury_adapters.core.judgment import Status
from jury_adapters.critic.answers import Choice, Scale, Vocabulary


def is_introduced(before: str, *, by_own_words: bool = False) -> bool:
    """Return whether an unfinished sentence, or one that ends with a colon, precedes the answer.

    Such a sentence may introduce a quotation, a draft or an example: "The text ends with:".

    Args:
        before: the text before the answer.
        by_own_words: whether to ignore a few words that only announce an answer ("Here is my verdict:").
    """
    if by_own_words:
        before = _FENCE_AT_END.sub("", before.rstrip())
    before = _REASONS_LEFT_OUT.sub("", before)
    line = before.rstrip().rpartition("\n")[2].strip()
    if not line.strip(_DECORATION):
        return False
    announced = by_own_words and _ANNOUNCED.fullmatch(f"{_SENTENCE_END.split(line)[-1]}\n") is not None
    last = line.rstrip(_DECORATION)[-1:]
    if last in ":\uff1a":
        return not announced
    if last in ",;\u3001\uff0c-\u2013\u2014":
        return True
    if _LIST_ITEM.match(line) and before.endswith("\n\n"):
        return _COMMENT.search(line) is not None
    return (last.isalnum() and not announced and _COMPLETE.match(line) is None) or _COMMENT.search(line) is not None


def takes_back(after: str, choice: Choice, vocabulary: Vocabulary, *, is_separate: bool = False) -> bool:
    """Return whether the text after an answer may retract it, or shows that the answer is the name of something.

    "Supported: no" and "Score: 5 - 3" are not answers. After an answer that passes, or that has no meaning of its own,
    a negation counts too, unless it is in a part of the text that is marked as reasons.

    Args:
        after: the text after the answer, from the answer's last character on.
        choice: the answer.
        vocabulary: the answers of the rubric.
        is_separate: whether the answer is complete without the text, as a JSON object is.
    """
    if _COMMENT.search(after):
        return True
    clean = choice.status in (Status.FAIL, Status.ABSTAIN)
    if not is_separate and _is_heading(after, clean=clean, is_rating=isinstance(vocabulary, Scale)):
        return True
    if _RETRACTED.search(after):
        return True
    if isinstance(vocabulary, Scale):
        own, _, rest = after.partition("\n") if not is_separate else ("", "", after)
        return _has_further_number(own, vocabulary) or _REDUCED.match(rest) is not None
    if clean:
        return False
    reasons = _REASONS.search(after)
    unmarked = after[: reasons.start()] if reasons else after
    return _NEGATED.search(unmarked) is not None


def _is_heading(after: str, *, clean: bool, is_rating: bool) -> bool:
    """Return whether the text after a label makes it a heading, or the beginning of a phrase.

    A line of reasons that begins in lower case may follow the line of a rating.
    """
    joined = _JOINED.match(after)
    sign, rest = (joined["sign"] or "", after[joined.end() :]) if joined else ("", after)
    if sign and sign[0] in _SIGNS and (_VALUE.match(rest) or _BEGINS_NEGATED.match(rest)):
        return True
    if clean:
        return False
    goes_on = _SENTENCE_GOES_ON if is_rating else _GOES_ON
    return sign in _NAMING or _LIMITED.match(rest) is not None or goes_on.match(after) is not None


def _has_further_number(line: str, scale: Scale) -> bool:
    """Return whether another number follows a rating on its line, except the scale's maximum."""
    whole = re.escape(f"{scale.maximum:g}")
    rest = re.sub(rf"(?:/|\b(?:out )?of)\s*+{whole}(?![\d.]*\d)", "", line, flags=re.IGNORECASE)
    return _FURTHER.search(rest) is not None


_DECORATION = " \t\r\n*_`~\"'"
_FENCE_AT_END = re.compile(r"(?<![^\n])[ \t]*+(?:`{3,}|~{3,})[\w+-]*+\Z")
_SENTENCE_END = re.compile(r"(?<=[.!?\u3002])[ \t]+")
# "Reasoning: the year differs" and "# Judgment" are complete without punctuation.
_COMPLETE = re.compile(r"#|\||\*\*[^*]+\*\*$|(?:\d{1,3}[.)])?[^\w{]*+\w[\w \t*_/-]{0,40}[:=\uff1a]")
_ANNOUNCED = re.compile(
    r"[\W_\d]*+(?:(?:so|therefore|thus|hence|ok|okay|sure|certainly|and|here|is|are|it|you|this|below|my|the|our|in|"
    r"as|own|overall|final|json|requested|format|formatted|structured|object|output|response|reply|assistant|answer|verdict|"
    r"judg(?:e)?ment|decision|conclusion|result|evaluation|assessment|score|rating|label|"
    r"hier|ist|mein|das|meine|urteil|bewertung|ergebnis|antwort|voici|mon|ma|le|la|jugement|r\u00e9ponse|"
    r"\u7b54\u6848|\u5224\u5b9a|\u7d50\u8ad6|\u7ed3\u8bba|\u56de\u7b54)[\W_]++)++",
    re.IGNORECASE,
)  # fmt: skip
_REASONS_LEFT_OUT = re.compile(
    r"^[ \t*_#]*+(?:reason(?:s|ing)?|rationale|explanation)[ \t*_]*+:\s*+\Z", re.IGNORECASE | re.MULTILINE
)
_LIST_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])[ \t]")
_COMMENT = re.compile(r"<!--|-->|/\*|\*/|(?<!~)~~(?!~)|</?(?:del|s|strike)>", re.IGNORECASE)
_NAMING = (":", "=", "\uff1a")
_GOES_ON = re.compile(r"[ \t]*+\r?\n\s*+[a-z](?![\w \t*`]{0,30}[:=])")
_SENTENCE_GOES_ON = re.compile(
    r"[ \t]*+\r?\n\s*+(?:is|are|was|were|would|will|should|could|can|may|might|must|seems?|or|and|but|if|unless|when|"
    r"as|of|out|to|that|which|stars?|points?)(?!\w)"
)
_SIGNS = ":=\uff1a(-\u2013\u2014\u2192"
_JOINED = re.compile(r"[ \t*_`\"'\])}]*+(?P<sign>[:=\uff1a(,;\u2192]|-++>?|[\u2013\u2014])?[ \t*_`\"'(\[]*+")
_NEGATIONS = (
    r"no|not|none|nope|nothing|nobody|never|neither|nor|without|hardly|barely|false|zero|nil|n/a|"
    r"non|pas|nein|nicht|kein\w*+|nie|ni|nada|niet|geen|\u043d\u0435|\u043d\u0435\u0442|\u043d\u0438"
)
_BEGINS_NEGATED = re.compile(rf"(?:{_NEGATIONS})(?!\w)", re.IGNORECASE)
# A number or a truth value after a label is the label's value: "Correct (0/3)", "Yes: 0".
_VALUE = re.compile(r"[-+]?[.]?\d|(?:yes|no|true|false|none|pass|fail)[\W_]*+(?:\Z|\n|(?<=[)\]]))", re.IGNORECASE)
_LIMITED = re.compile(
    r"(?:but|or|if|unless|except|though|although|however|were|would|only|provided|assuming|when|says?|as)(?!\w)", re.I
)
_RETRACTED = re.compile(
    r"(?<!\w)(?:wait|kidding|joking|scratch that|correction|take (?:that|it|this) back|took (?:that|it) back|"
    r"on (?:second|further) thought|second thought|on reflection|or rather|actually,|would be (?:wrong|my)|"
    r"(?:just|only|merely|as) an example|retract\w*+|i (?:was|am) wrong|update:|were (?:it )?true)(?!\w)",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    rf"(?<!\w)(?:{_NEGATIONS}|(?:un|in)(?:support|correct|accura|valid|safe|found|true)\w*+|fail\w*+|reject\w*+|wrong\w*+|"
    rf"contradict\w*+|refut\w*+|\w++n['\u2019]t|cannot|off topic)(?!\w)"
    r"|[\u4e0d\u6ca1\u975e\u7121\u65e0]|\u306a\u3044|\u307e\u305b\u3093",
    re.IGNORECASE,
)
_REASONS = re.compile(
    r"^[ \t#*_\-]*+(?:reason(?:s|ing)?|rationale|explanation|justification|evidence)[ \t*_`]*+[:=.\n]|^\s*+because\b",
    re.IGNORECASE | re.MULTILINE,
)
_FURTHER = re.compile(
    r"\d|(?<!\w)(?:minus|plus|less|deduct\w*+|subtract\w*+|times|halved?|before|after|one|two|three|four|five|six|seven|"
    r"eight|nine|ten)(?!\w)",
    re.IGNORECASE,
)
_REDUCED = re.compile(r"\s*+(?:minus|less|deduct\w*+|subtract\w*+|after deduct\w*+)(?!\w)", re.IGNORECASE)
