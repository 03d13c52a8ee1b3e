"""Normal form of texts with the same meaning: quotes, dashes, accents, tokenised text, sentences, words, stems.

The quality of lexical judges depends on this module. Everything here runs in time linear in the text, because answers
and contexts come from outside and may be megabytes long.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice

from jury_adapters.grounding.months import in_date


def tidy(text: str) -> str:
    """Undo what tokenisers and typesetters do to a text; upper and lower case stay.

    Unicode compatibility forms, curly quotes, long dashes and accents become plain ones, ``-LRB-`` a bracket, and the
    spaces of tokenised text around punctuation, clitics and brackets go. Python's text of a date is its ISO form.

    >>> tidy("He did n't pay -LRB- $ 5 -RRB- to Zoë’s café .")
    "He didn't pay ($5) to Zoe's cafe."
    """
    if not text.isascii():
        text = text.replace("\u00b4", "'")  # NFKC makes a space of it
        text = _GLUED_FRACTION.sub(" ", text)  # NFKC makes "51/2" of "5½"
        text = _EXPONENT.sub("^", text)  # and "106" of "10⁶"
        text = _RUN.sub(lambda run: unicodedata.normalize("NFKC", run[0]), text).translate(_PLAIN)
    if "`" in text:
        text = _GRAVE.sub("'", text)
    if "datetime." in text:
        text = _PYTHON_DATE.sub(_iso, _PYTHON_TIME.sub(_clock, text))
    if "-" in text:
        text = _BRACKETS.sub(lambda match: _BRACKET[match[1]], text)
    for pattern, replacement in _SPACING:
        text = pattern.sub(replacement, text)
    return text


def sentences(text: str) -> list[str]:
    """Split tidied text into sentences; a line break ends one too.

    Abbreviations ("Dr. Smith", "U.S. Army", "J. Doe") and decimal points do not end a sentence. A passage and a
    sentence copied from it are split at the same places.
    """
    found: list[str] = []
    for line in text.splitlines():
        if not line:
            continue
        start = 0
        for end in _ENDS.finditer(line):
            if end[1] is not None and _goes_on(line, end.start(), end.end()):
                continue
            if piece := line[start : end.end()].strip():
                found.append(piece)
            start = end.end()
        if piece := line[start:].strip():
            found.append(piece)
    return found


def words(text: str) -> list[str]:
    """Return the words and numerals of tidied text, lower case, without possessives.

    "didn't" becomes "did", "not", and "I'll" becomes "i", "will"; a decimal or a time of day is one word. A number with
    commas is one word too, such as "3,000" and "300,000", but not "101,102" and "[12,345]", which may be lists.

    >>> words("It didn't open at 9:30 a.m. for 3.50.")
    ['it', 'did', 'not', 'open', 'at', '9:30am', 'for', '3.50']
    """
    return WORD.findall(spaced_words(join_numerals(text.casefold())))


def join_numerals(text: str) -> str:
    """Return text in lower case with each number with commas, and each time with its half of the day, as one word.

    >>> join_numerals("3,000 at 2.15 p.m. or 5 am")
    '3000 at 2:15pm or 5am'
    """
    if "," in text:
        text = _THOUSANDS.sub(lambda match: re.sub("[, ]", "", match[0]), text)
    return _HALF_OF_DAY.sub(_joined_time, text)


def spaced_words(text: str) -> str:
    """Return text in lower case with contractions in full and without possessives, ready to be cut into words."""
    if "n't" in text:
        text = text.replace("won't", "will not").replace("can't", "can not").replace("n't", " not")
    text = text.replace("cannot", "can not").replace("'s", "").replace("s' ", "s ")
    if "'" in text:
        text = _CLITIC.sub(lambda match: _CLITICS[match[1]], text)
    if not text.isascii():
        text = text.translate(_LETTERS)
    return text


def is_contraction(word: str) -> bool:
    """Return whether a word is a function word with a shortened verb or "not": "I'm", "THEY'VE", "don't".

    >>> [is_contraction(word) for word in ("I'm", "WON'T", "Anna's", "O'Brien")]
    [True, True, False, False]
    """
    found = _CONTRACTION.fullmatch(word.casefold())
    return found is not None and (found[1] in STOPWORDS or found[1] in _SHORTENED)


def content(items: Iterable[str]) -> list[str]:
    """Return the stems of the content words: no articles, pronouns, auxiliaries, prepositions, question words."""
    return [stem(word) for word in items if word not in STOPWORDS]


def stem(word: str) -> str:
    """Cut the common English endings cautiously: two stems for one word are better than one stem for two words.

    >>> [stem(word) for word in ("cities", "played", "running", "boxes", "news")]
    ['city', 'play', 'run', 'box', 'news']
    """
    if len(word) < 5 or not word.isascii():
        return word[:-1] if len(word) == 4 and word.endswith("s") and word[-2] not in "suiw" else word
    for ending, replacement in _ENDINGS if word.endswith(_ANY_ENDING) else ():
        if word.endswith(ending) and len(root := word[: -len(ending)] + replacement) >= 3:
            if ending in ("ing", "ed") and root[-1] == root[-2] and root[-1] not in "lsz":
                root = root[:-1]  # running -> runn -> run
            return root.removesuffix("e") if len(root) > 4 else root  # hoped, hoping and hope all become "hop"
    return word.removesuffix("e") if len(word) > 4 else word


def unsegmented(text: str) -> bool:
    """Return whether words cannot be separated: half of the letters or more without spaces, or a long run of letters.

    A name in Chinese or Japanese among other words has spaces around it, and is a word like them.

    >>> unsegmented("东京是日本的首都"), unsegmented("Tokyo is the capital"), unsegmented("The capital is 東京 now")
    (True, False, False)
    """
    spaceless = len(_NO_SPACES.findall(text))
    return 2 * spaceless > sum(char.isalpha() for char in text) if spaceless else _RUN_ON.search(text) is not None


def spaceless(word: str) -> bool:
    """Return whether a word has letters of a script without spaces, and so may be several words or a part of one."""
    return _NO_SPACES.search(word) is not None


def looks_english(text: str) -> bool:
    """Return whether names can be recognised by their capitals, as in English, where other words rarely have one.

    German capitalises every noun, Russian and Finnish inflect their names. The first 2,000 characters decide: running
    English has some 35% of the function words counted here, its European neighbours under 5%.
    """
    found = words(text[:2000])
    return sum(word in _ENGLISH for word in found) > 0.1 * len(found)


def bigrams(items: list[str]) -> Iterator[tuple[str, str]]:
    """Return the pairs of neighbours."""
    return zip(items, islice(items, 1, None), strict=False)


_STOPWORDS = """
    a about above after again against all also another although am an and any are as at be because been before being
    below between both but by can could did do does doing done down during each either else every few for from further
    get got had has have having he her here hers herself him himself his how however i if in into is it its itself
    just may me might more most much must my myself neither nor not now of off on once only onto or other our ours out
    over own per please same shall she should since so some such than that the their theirs them themselves then there
    therefore these they this those though through thus to too toward towards under until up upon us very via was we
    were what when where whether which while who whom whose why will with within without would yes yet you your yours
"""
STOPWORDS = frozenset(_STOPWORDS.split())
"""English words without content of their own, including question words."""

_FUNCTION_WORDS = (
    "the of and to is that for with as on by it at from are were which has have his her their its been this but not "
    "who they he she or be"
)
_ENGLISH = frozenset(_FUNCTION_WORDS.split())
_ENDINGS = (
    ("ies", "y"), ("ied", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("ss", "ss"),
    ("us", "us"), ("is", "is"), ("ing", ""), ("ed", ""), ("ly", ""), ("s", ""),
)  # fmt: skip
_ANY_ENDING = tuple(ending for ending, _ in _ENDINGS)


def _joined_time(match: re.Match[str]) -> str:
    minutes = "" if match[2] in (None, "00") else f":{match[2]}"
    return f"{match[1]}{minutes}{match[3]}m"


def _goes_on(line: str, stop: int, end: int) -> bool:
    """Return whether a full stop belongs to an abbreviation, a date ("1. Juni") or a tokenised number ("1. 7 million").

    One after a year ("5 June 2024. 29 members ...") ends a sentence.
    """
    if line[stop - 1 : stop].isdigit() and line[end : end + 3].lstrip()[:1].isdigit():
        return _YEAR.search(line, max(0, stop - 5), stop) is None
    if in_date(line, stop, end):
        return True
    return _ABBREVIATION.search(line, max(0, stop - 12), stop + 1) is not None


def _iso(match: re.Match[str]) -> str:
    """Return Python's text of a date or time, such as "datetime.date(2026, 10, 2)", in ISO form.

    What comes after the seconds, such as a time zone, stays.
    """
    year, month, day = (int(match[part]) for part in ("year", "month", "day"))
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return match[0]
    time = f" {_time(match['time'])}" if match["time"] else ""
    return f"{year:04}-{month:02}-{day:02}{time}"


def _clock(match: re.Match[str]) -> str:
    """Return Python's text of a time of day, such as "datetime.time(9, 30)", as "09:30"."""
    return _time(match["time"])


def _time(numbers: str) -> str:
    return ":".join(f"{int(number):02}" for number in numbers.split(", "))


class _Plain(dict[int, str]):
    """Cache of plain forms of characters: no diacritics, plain quotes and dashes, no invisible marks."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        parts = [part for part in unicodedata.normalize("NFKD", char) if not _DIACRITIC.match(part)]
        value = unicodedata.normalize("NFC", "".join(parts))
        if unicodedata.category(char) == "Cf":
            value = ""
        elif unicodedata.category(char) == "Nd":
            value = str(unicodedata.decimal(char))
        self[code] = value
        return value


class _Letters(dict[int, str]):
    """Cache of forms of characters: punctuation and symbols outside ASCII become spaces; the others stay."""

    def __missing__(self, code: int) -> str:
        value = " " if code > 127 and unicodedata.category(chr(code))[0] in "PSZC" else chr(code)
        self[code] = value
        return value


# Only diacritics that writers add or omit freely; the vowel signs of Indic scripts are letters and stay.
_DIACRITIC = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0670]")
_APOSTROPHES = "\u2018\u2019\u201a\u201b\u2032\u2035\u02b9\u02bb\u02bc\u02bd\ua78c`"
_PLAIN = _Plain()
_PLAIN.update(dict.fromkeys(map(ord, _APOSTROPHES), "'"))
_PLAIN.update(dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033"), '"'))
_PLAIN.update(dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2212\ufe63"), "-"))
_PLAIN.update(dict.fromkeys(map(ord, "\u2014\u2015"), " - "))
_PLAIN.update({ord(a): b for a, b in zip("øØłŁđĐı", "oOlLdDi", strict=True)})
_PLAIN.update({ord("æ"): "ae", ord("Æ"): "Ae", ord("œ"): "oe", ord("Œ"): "Oe", 0x2044: "/"})
_LETTERS = _Letters()

# Short pieces, because normalising one long run of combining marks takes quadratic time.
_RUN = re.compile(r"[^\x00-\x7f]{1,64}")
_GLUED_FRACTION = re.compile("(?<=\\d)(?=[\u00bc-\u00be\u2150-\u215e])")
_EXPONENT = re.compile("(?<=\\d)(?=[\u00b2\u00b3\u00b9\u2070\u2074-\u2079])")
_GRAVE = re.compile(r"(?<=[A-Za-z])`(?=(?:[mdst]|re|ve|ll)\b)", re.IGNORECASE)  # "I`m"
_TIME_OF_DAY = r"(?P<time>\d{1,2}, \d{1,2}(?:, \d{1,2})?)(?:, \d{1,6})?(?:\)|(?=, (?:fold|tzinfo)=))"
_PYTHON_TIME = re.compile(rf"\bdatetime\.time\({_TIME_OF_DAY}")
_PYTHON_DATE = re.compile(
    r"\bdatetime\.(?:date(?!time)|datetime)\((?P<year>\d{4}), (?P<month>\d{1,2}), (?P<day>\d{1,2})"
    rf"(?:\)|, {_TIME_OF_DAY})"
)
# The ending 'd is "had" or "would", so it is left out.
_CLITICS = {"m": " am", "re": " are", "ve": " have", "ll": " will", "d": ""}
_CLITIC = re.compile(r"(?<=[^\W\d_])'(m|re|ve|ll|d)(?!\w)")
_CONTRACTION = re.compile(r"([a-z]+?)(?:n't|'(?:m|re|ve|ll|d|s|t))+")
_SHORTENED = frozenset(("ca", "wo", "sha", "ai", "let", "might", "must", "need", "ought", "dare"))
_BRACKET = {"LRB": "(", "RRB": ")", "LSB": "[", "RSB": "]", "LCB": "{", "RCB": "}"}
_BRACKETS = re.compile("-(LRB|RRB|LSB|RSB|LCB|RCB)-")
# Bounded numbers of spaces: an unbounded run before a mark would be scanned again from every space.
_SPACING = (
    (re.compile(r"``|''"), '"'),
    (re.compile(r"(?<!-)-{2,3}(?!-)"), " - "),
    (re.compile(r" {2,}|\t+"), " "),
    (re.compile(r"(\w) n't\b"), r"\1n't"),
    (re.compile(r"(\w) '(s|re|ve|ll|d|m)\b"), r"\1'\2"),
    (re.compile(r" (?=[,.;:!?%)\]}](?:[\s)\]}\"',.]|$))"), ""),
    (re.compile(r"(?<=[(\[{]) (?=\S)|(?<=[$£€¥]) (?=[\d.])"), ""),
    (re.compile(r"(?<=\b[A-Z]\.) (?=[A-Z]\.)"), ""),  # "U. S." is "U.S."
)

_ENDS = re.compile(
    r"(?:(\.)|[!?\u3002\u2026])[.!?]{0,3}[\"')\]]{0,3}(?:(?=\s{1,3}[^\sa-z]|[\u3040-\u9fff])|(?<=\u3002)|$)"
)
_YEAR = re.compile(r"(?<![\d.,])(?:1[5-9]|20)\d\d$")
_ABBREVIATION = re.compile(
    r"\b(?:(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|Gen|Gov|Sen|Rep|Lt|Col|Sgt|Capt|Rev|Hon|St|Mt|Jr|Sr|vs|No|Nos|Vol|Fig|ca|c|"
    r"approx|Inc|Ltd|Co|Corp|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec|i\.e|e\.g|a\.m|p\.m|U\.S|U\.K)\.)$"
)
_THOUSANDS = re.compile(
    r"(?<![\w.,\[{])(?:\d{1,2}(?:, ?\d{3})+|\d{3}(?:,\d{3}){0,9}?,000(?:,\d{3}){0,9})(?![\w\]}]|,\d)"
)
_HALF_OF_DAY = re.compile(r"(?<![\d.:,])(1[0-2]|0?[1-9])(?:[.:]([0-5]\d))? ?([ap])(?:\.m\b\.?|m\b)")
WORD = re.compile(r"\d+(?:[.:]\d+)+(?:[ap]m(?!\w))?|[^\s\x00-/:-@\[-`{-\x7f]+(?:'[^\s\x00-/:-@\[-`{-\x7f]+)*")
_SPACELESS = (
    "\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_NO_SPACES = re.compile(f"[{_SPACELESS}]")
GLUED = f"{_SPACELESS}\u1100-\u11ff\uac00-\ud7af"
"""Ranges of the letters that touch numerals and Latin words: of scripts without spaces, and of Korean."""
_RUN_ON = re.compile(r"[^\W\d_]{40}")  # the longest words of real texts stay below 40 letters
