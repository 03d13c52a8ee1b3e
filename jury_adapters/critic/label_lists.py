"""Lists of labels in the text of a prompt: in a sentence, a table, bullets, worked examples, or an open last line.

Each form here is an instruction to the judge. A prompt may also quote labels of the material, as in *The mail was
classified as SPAM or HAM*; the judge is not asked to answer with those.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AskedLabels:
    """Labels among which a prompt asks the judge to choose.

    Attributes:
        names: the labels.
        is_complete: whether each item is certainly a label; in bullets and tables, an item may be a remark.
    """

    names: tuple[str, ...]
    is_complete: bool = True


def listed_labels(text: str) -> Iterator[AskedLabels]:
    """Yield the labels of each sentence or line that lists them. Names of formats, such as JSON, are left out."""
    text = _MARKED.sub(lambda match: f'"{match["tagged"] or match["bracketed"]}"', _squeezed(text))
    for match in _instructions(text, _LISTED, _ONE_OF, _CLASSIFIED, _CHOICE_LINE, _BRACKETED_LINE):
        names = tuple(_bare(name) for name in _SEPARATOR.split(match["labels"]))
        if len(names) > 1 and not _FORMATS.intersection(names):
            yield AskedLabels(names)
    for match in _instructions(text, _OTHERWISE, _EACH_IF):
        yield AskedLabels((_bare(match["first"]), _bare(match["second"])))


def defined_labels(text: str) -> Iterator[AskedLabels]:
    """Yield the labels that bullets, a table or worked examples define, if the prompt asks for one of them."""
    text = _squeezed(text)
    open_line = _OPEN_LINE.search(text)
    asks = open_line is not None or _ASKS_FOR_LABEL.search(text) is not None
    for match in _instructions(text, _INTRODUCTION):
        if asks or match["asks"]:
            yield from _definitions(_first_words(text[match.end() :]))
    for match in _instructions(text, _TABLE):
        if asks:
            yield from _definitions([_bare(row.split("|")[1]) for row in match["rows"].strip().splitlines()])
    if open_line is not None:
        values = re.findall(rf"^[ \t]*{open_line['name']}:[ \t]*(\S+)[ \t]*$", text, re.MULTILINE)
        names = tuple(dict.fromkeys(_bare(value) for value in values if "{" not in value))
        if len(names) > 1:
            yield AskedLabels(names)


def listed_scales(text: str) -> Iterator[tuple[int, int]]:
    """Yield the lowest and the highest rating of each sentence that asks for a rating."""
    for match in _instructions(_squeezed(text), *_SCALES):
        low, high = int(match["low"]), int(match["high"])
        if low < high:
            yield low, high


def _instructions(text: str, *patterns: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Yield the matches that tell the judge how to answer.

    Three kinds of matches are left out: a match in reported speech; a match in a step, such as a rating of each claim;
    and a match before a question, because the judge is asked for the answer to that question.
    """
    question = max((match.start() for match in _QUESTION.finditer(text)), default=-1)
    for pattern in patterns:
        for match in pattern.finditer(text):
            labels = max(match.start(), match.start(1))
            sentence = max(text.rfind(mark, 0, labels) for mark in ("\n", ". ", "! ", "? "))
            sentence = max(sentence, labels - _LONGEST_SENTENCE, 0)
            is_other = _REPORTED.search(text, sentence, labels) or _STEP.search(match[0])
            if not is_other and question < match.end():
                yield match


def _squeezed(text: str) -> str:
    """Return the text with single spaces and no empty lines, which keeps the patterns fast."""
    return re.sub(" ?\n[ \n]*", "\n", re.sub(r"[^\S\n]+", " ", text))


def _definitions(names: list[str]) -> Iterator[AskedLabels]:
    if len(names) > 1:
        yield AskedLabels(tuple(names), is_complete=False)


def _first_words(text: str) -> list[str]:
    """Return the labels with which the lines of a list begin. The list ends at the first line without a label."""
    names: list[str] = []
    for line in text.lstrip().splitlines():
        item = _ITEM.match(line)
        if item is None:
            break
        names.append(_bare(item["label"]))
    return names


def _bare(name: str) -> str:
    return name.strip(_EDGES)


# --- words ------------------------------------------------------------------------------------------------------------

_EDGES = "\"'`*\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d. \t\u00a0"
_LONGEST_SENTENCE = 400
_FORMATS = frozenset({"JSON", "XML", "YAML", "HTML", "CSV", "TOML", "SQL", "PDF", "TEXT", "MARKDOWN"})
_SLOT = r"(?:answer|verdict|label|grade|rating|score|decision|classification|category|judge?ment)"
_WORDS = (
    "yes|no|true|false|correct|incorrect|right|wrong|good|bad|pass|fail|passed|failed|valid|invalid|safe|unsafe|"
    "relevant|irrelevant|supported|unsupported|accept|reject|acceptable|unacceptable|"
    "ja|nein|wahr|falsch|richtig|oui|non|vrai|faux|verdadero|falso|correcto|incorrecto"
)
_QUOTED = (
    r"\"[^\"\n]{1,30}\"|'[^'\n]{1,30}'|`[^`\n]{1,30}`|\u201c[^\u201d\n]{1,30}\u201d|"
    r"\u201e[^\u201c\u201d\n]{1,30}[\u201c\u201d]|\u00ab[^\u00bb\n]{1,30}\u00bb|\u300c[^\u300d\n]{1,30}\u300d"
)
# Words other than these count only in capitals, because a criterion may say "Answer English or French".
_LABEL = rf"\**(?:{_QUOTED}|N/A|[A-Z][A-Z0-9_]*(?![a-z0-9_])|(?i:{_WORDS})(?!\w))\**"
_SPOKEN = rf"(?:{_QUOTED}|[A-Z][A-Z0-9_]+|\d|(?i:{_WORDS}))(?!\w)"
_PLAIN = rf"(?:{_LABEL}|[^\W\d_][\w-]{{0,24}})"
_OR = r"(?:,\s*(?:(?:or|oder|ou|o)\s)?|\s+(?:or|oder|ou|o|and)\s+|\s*[/|\u3001]\s*|\s*(?:或者?|还是)\s*)"
_SEPARATOR = re.compile(
    r",\s*(?:(?:or|oder|ou|o)\s)?|\s+(?:or|oder|ou|o|and)\s+|\s*(?<!\bN)/(?!A\b)\s*|\s*[|\u3001]\s*|\s*(?:或者?|还是)\s*",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:told|instructed|(?<!are )asked|said|says|policy|survey|users?|customers?|assistant|agent|model|bot|tool|"
    r"quiz|forms?)\b[^.!?\n]{0,80}?[:,]\s",
    re.IGNORECASE,
)
# A rating of a part, or one that is not the reply, is a step: "Score each claim from 0 to 1."
_STEP = re.compile(
    r"\b(?:each|every|in your mind|in your head|internally|silently|(?:for|to) yourself)\b", re.IGNORECASE
)
_QUESTION = re.compile(
    r"(?:^|[.!?:,;\"']\s)\s*(?:Is|Are|Was|Were|Does|Do|Did|Has|Have|Had|Can|Could|Should|Will|Would|May|does|did|is|are)\s"
    r"[^.!?\n]{3,200}\?",
    re.MULTILINE,
)
# <verdict>GOOD</verdict> and [[GOOD]] are other ways to write "GOOD".
_MARKED = re.compile(
    rf"<(?P<tag>{_SLOT})>\s*(?P<tagged>[^<>{{}}\n]{{1,30}}?)\s*</(?P=tag)>|\[\[(?P<bracketed>[^\[\]\n]{{1,30}})\]\]",
    re.IGNORECASE,
)

# --- sentences --------------------------------------------------------------------------------------------------------

_POLITE = r"(?i:(?:please|bitte|then|only|just)\s)?"
_BEGINS = (
    r"(?:^\s*(?:[-*\u2022]\s+|\d{1,2}[.)]\s+)?|[.!?:;,]\s+|\b(?:please|bitte|then|only|just|and)\s+|"
    rf"\byou (?:must|should|will|need to|have to|are to|are asked to)\s+|\byour (?:task|job) is to\s+){_POLITE}"
)
_VERB = (
    "(?i:answer|reply|respond|output|choose|return|write|print|say|put|generate|assign|label it|classify it|"
    "antworte|antworten sie|réponds|répondez|responde|responda)"
)
# Words allowed between the verb and the labels. Others could make it an instruction about something else.
_FILLER = (
    r"(?:\s+(?i:only|just|with|exactly|either|one of|one|words?|the|by|a|an|as|in|of|single|character|being|your|final|"
    r"verdict|answer|label|json|object|key|tags|nur|mit|entweder|uniquement|seulement|par|soit|solo|sólo|únicamente|con)"
    r"(?!\w)){0,8}\s*:?\s*"
)
_MUST_BE = (
    rf"(?i:\byour (?:final )?(?:{_SLOT}|reply|response)|[\"'`](?:verdict|answer|label)[\"'`](?: key| field)?|"
    r"\bthe verdict)(?i:\s+(?:must|should|can|may|has to)(?: only| strictly| always)? be)"
)
_IN_CHINESE = r"(?:请|只|仅|只能)(?:回答|输出|返回|回复|选择)[:\uff1a]?\s*"
# A list is a list of labels if the sentence ends after it, or continues with when to use them.
_ENDS = (
    r"(?=[\"'`*)\]}>]*(?:\s*[.,;:!(\u3002\uff0c\u2014-]|\s*$|\s+(?i:if|when|depending|based|only|on|as|and|then|with|"
    r"without|to|for|nothing|in|at|according|after|here|corresponding)\b))"
)
_LISTED = re.compile(
    rf"(?:{_BEGINS}{_VERB}{_FILLER}|{_MUST_BE}{_FILLER}|{_IN_CHINESE}|[\"'](?:answer|verdict|label)[\"']\s*:\s*)"
    rf"(?P<labels>{_LABEL}(?:{_OR}{_LABEL})+){_ENDS}",
    re.MULTILINE,
)
_ONE_OF = re.compile(
    rf"{_BEGINS}(?i:answer|reply|respond|output|choose|label|classify)\b[^.!?:\n]{{0,60}}\b(?i:one of)"
    r"(?i:\s+(?:the following|these)(?:\s+(?:labels|words|answers))?)?\s*:\s*"
    rf"(?P<labels>{_PLAIN}(?:{_OR}{_PLAIN})+)",
    re.MULTILINE,
)
_CLASSIFIED = re.compile(
    rf"{_BEGINS}(?i:rate|grade|score|classify|label|categori[sz]e)\b[^.!?:\n]{{0,50}}?\b(?i:as)(?i:\s+either)?\s+"
    rf"(?P<labels>{_PLAIN}(?:{_OR}{_PLAIN})+)(?=\s*(?:[.;,]|$))",
    re.MULTILINE,
)
# "GRADE: CORRECT or INCORRECT here", "Label: <good|bad>", and as the last line "Answer (toxic / harmless):".
_CHOICE_LINE = re.compile(
    rf"^\s*(?i:{_SLOT})\s*:\s*[<\[]?(?P<labels>{_LABEL}(?:{_OR}{_LABEL})+)[>\]]?(?:\s+here)?[ \t]*$", re.MULTILINE
)
_BRACKETED_LINE = re.compile(
    rf"^\s*(?i:{_SLOT})\s*(?::\s*[<\[]|\()(?P<labels>{_PLAIN}(?:{_OR}{_PLAIN})+)[>\])]:?\s*\Z", re.MULTILINE
)
_OTHERWISE = re.compile(
    rf"\b{_VERB}{_FILLER}(?P<first>{_SPOKEN})[^\n]{{0,200}}?\b(?i:otherwise|else),?\s+"
    rf"(?:{_VERB}{_FILLER})?(?P<second>{_SPOKEN})"
)
_EACH_IF = re.compile(
    rf"\b{_VERB}{_FILLER}(?P<first>{_SPOKEN})\s+(?i:if|when)\b[^\n]{{1,200}}?(?:[,;]|\band|\bor)\s+(?i:(?:and|or)\s+)?"
    rf"(?:{_VERB}{_FILLER})?(?P<second>{_SPOKEN})\s+(?i:if|when)\b"
)

# --- definitions ------------------------------------------------------------------------------------------------------

_OPEN_LINE = re.compile(rf"^[ \t]*(?P<name>(?i:(?:final )?{_SLOT})):\s*\Z", re.MULTILINE)
_ASKS_FOR_LABEL = re.compile(
    rf"{_BEGINS}(?i:answer|reply|respond|output|return|choose|give|print|write)(?i:\s+(?:only|just|with|one|exactly|the|of))*"
    r"\s+(?i:labels?|verdicts?|ratings?|grades?|category|letter)\b(?!\s+of)",
    re.MULTILINE,
)
_INTRODUCTION = re.compile(
    rf"(?:(?P<asks>{_BEGINS}(?i:answer|reply|respond|output|return|choose|pick|select|assign|classify|rate)\b[^.!?:\n]{{0,60}}"
    r"\b(?i:one (?:label|of)|one of (?:these|the following)))|^\s*(?i:(?:possible|allowed|valid) "
    r"(?:verdicts|labels|ratings|grades|outputs|judge?ments)))[^.!?:\n]{0,40}:[ \t]*\n",
    re.MULTILINE,
)
_ITEM = re.compile(
    r"[ \t]*(?:[-*\u2022]\s+|\d{1,2}[.)]\s+)?(?P<label>[*\"'`]*\w[\w-]*(?: [\w-]+){0,2}[*\"'`]*)[*\s]*"
    r"(?:$|[:=(]|\s[-\u2013\u2014]\s)"
)
_TABLE = re.compile(
    r"^[ \t]*\|\s*\**(?i:label|verdict|grade|rating|judge?ment)\**\s*\|[^\n]*\n[ \t]*\|[\s:|-]+\|[ \t]*\n"
    r"(?P<rows>(?:[ \t]*\|[^\n]*(?:\n|\Z)){2,40})",
    re.MULTILINE,
)

# --- scales -----------------------------------------------------------------------------------------------------------

_RATE = (
    r"(?:(?:(?:^|[.!?:;]\s)\s*(?:please\s|then\s|finally,?\s)*|\byou (?:must|should|will|need to|have to) (?:then )?|"
    r"\byour (?:task|job) is to )(?:rate|score|grade|give|assign|answer|reply|respond)\b|"
    r"\byour (?:score|rating|grade) (?:has to|must|should|can) be\b)"
)
_RANGE = r"(?P<low>\d{1,3})\s*(?:to|and|-|\u2013)\s*(?P<high>\d{1,3})"
_SCALES = tuple(
    re.compile(f"{_RATE}{form}", re.MULTILINE | re.IGNORECASE)
    for form in (
        rf"[^.!?\n]{{0,80}}?(?:\bfrom|\bbetween|\bscale of)\s+{_RANGE}\b",
        rf"[^.!?\n\d]{{0,60}}?\s{_RANGE}(?=\s*(?:[.,;:)]|$))",
        # (1 = very poor, 5 = very good)
        r"[^.!?\n\d]{0,80}?(?P<low>\d{1,3})\s*=\s*[^\n\d=]{1,40}?[\s,;](?P<high>\d{1,3})\s*=\s*[^\n\d=]{1,40}[).\n]",
    )
)
