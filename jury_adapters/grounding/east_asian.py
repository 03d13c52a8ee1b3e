"""Numbers, dates and times in Chinese, Japanese and Korean texts: "3万", "2024年3月5日", "午後3時半", "三千".

The patterns are parts of the search in :mod:`jury_adapters.grounding.quantities`, which ignores spaces in them.
"""

from __future__ import annotations

import re

from jury_adapters.grounding.normalisation import GLUED

DATE_PATTERN = r"""
    (?:\d{4}[年년]\ ?)?(?:1[0-2]|0?[1-9])[月월]\ ?(?:3[01]|[12]\d|0?[1-9])[日号號일]
    | (?:\d{4}[年년]\ ?)?(?:1[0-2]|0?[1-9])[月월](?!\d)
"""
CLOCK_PATTERN = r"(?:2[0-4]|[01]?\d)(?:時(?!間)|时(?!间)|点|點|시(?!간))\ ?(?:半|반|[0-5]?\d[分분])?"
_SCALED = r"(?:[百千백천]?[万萬亿億兆만억조]|[百백천]|千(?![米克]))"  # "5千米" are 5 km
_PLAIN = r"\d{1,15}(?:[.,]\d{1,15}){0,6}"
SCALED_PATTERN = rf"{_PLAIN}{_SCALED}(?:{_PLAIN}{_SCALED}?){{0,6}}"

_SCALES = {
    "十": 10, "百": 100, "백": 100, "千": 1000, "천": 1000, "万": 10**4, "萬": 10**4, "만": 10**4,
    "亿": 10**8, "億": 10**8, "억": 10**8, "兆": 10**12, "조": 10**12,
}  # fmt: skip
_DIGITS = {char: str(value % 10) for value, char in enumerate("〇一二三四五六七八九零")} | {
    "零": "0",
    "两": "2",
    "兩": "2",
}
_KANA = dict(zip(["ひと", "ふた", "みっ", "よっ", "いつ", "むっ", "なな", "やっ", "ここの"], range(1, 10), strict=True))
_PART = re.compile(r"(\d[\d,.]*)(\D*)")
_HAN_NUMBER = re.compile(r"(?<!\d)[〇零一二三四五六七八九十百千万萬亿億兆两兩]+(?!\d)")
_WRITTEN_HAN = re.compile(r"[一二三四五六七八九两兩]?(?:[十百千][一二三四五六七八九零〇十百千万萬亿億]*|[万萬亿億])")
_KANA_NUMBER = re.compile(rf"({'|'.join(_KANA)})(?=[つり])")
_HAN_POINT = re.compile(r"(?<=\d)[点點](?=\d+(?![\d分]))")
_KILO_UNIT = re.compile("[米克瓦卡赫帕升]")
_LATER_HALF = re.compile(r"(?:午後|下午|오후|晚上|夜) ?$")
_EARLIER_HALF = re.compile(r"(?:午前|上午|오전|早上|朝) ?$")
HEDGES = "约|約|大约|大約|近|超过|超過|およそ|ほぼ|약|거의"
"""Words for "about" and "more than" before a number."""


def scaled_value(digits: str) -> str:
    """Return the value of digits with scales, as decimal text; "" for digits that are no plain number.

    >>> scaled_value("1億2000万"), scaled_value("2.5万")
    ('120000000', '25000')
    """
    total = 0.0
    for number, scales in _PART.findall(digits):
        plain = number.replace(",", "").rstrip(".")
        if len(plain) > 15 or plain.count(".") > 1:
            return ""
        factor = 1
        for scale in scales:
            factor *= _SCALES.get(scale, 1)
        total += float(plain) * factor
    return f"{total:.6f}".rstrip("0").rstrip(".")


def is_kilo(scaled: str, text: str, end: int) -> bool:
    """Return whether the scale of "5千" belongs to the unit after it: "5千米" are 5 km."""
    return scaled.endswith("千") and _KILO_UNIT.match(text, end) is not None


def half_of_day(text: str, start: int) -> str:
    """Return "p" or "a" for a word such as "午後" or "오전" before a time of day, else ""."""
    if _LATER_HALF.search(text, max(0, start - 4), start):
        return "p"
    return "a" if _EARLIER_HALF.search(text, max(0, start - 4), start) else ""


def has_number_words(text: str) -> bool:
    """Return whether a text has numbers in Chinese characters, or Japanese counts such as "ふたつ"."""
    return _HAN_NUMBER.search(text) is not None or _KANA_NUMBER.search(text) is not None


def in_digits(text: str) -> str:
    """Return a text with its numbers in Chinese characters and kana in digits.

    >>> in_digits("二〇二四年三月五日、三千人"), in_digits("十五米")
    ('2024年3月5日、3000人', '15米')
    """
    text = _KANA_NUMBER.sub(lambda match: str(_KANA[match[1]]), text)
    return _HAN_POINT.sub(".", _HAN_NUMBER.sub(lambda match: _value(match[0]), text))


def written_numbers(text: str) -> list[str]:
    """Return the numbers above ten in Chinese characters, such as "十五"; smaller ones are parts of many words."""
    found = (match[0] for match in _HAN_NUMBER.finditer(text))
    return [number for number in found if len(number) > 1 and _WRITTEN_HAN.fullmatch(number)]


def _value(number: str) -> str:
    """Return a number in Chinese characters in digits."""
    if not any(char in _SCALES for char in number):
        value = "".join(_DIGITS[char] for char in number)
        return f"{' '.join(value)} {value}" if len(value) == 2 else value  # "两三" is two or three
    total = section = 0
    digits = ""
    for char in number:
        if char in _DIGITS:
            digits += _DIGITS[char]
        elif _SCALES[char] < 10**4:
            section += int(digits or "1") * _SCALES[char]
            digits = ""
        else:
            total += (section + int(digits or "0") or 1) * _SCALES[char]
            section, digits = 0, ""
    return str(total + section + int(digits or "0"))


GLUED_LETTER = rf"[{GLUED}]"
"""Pattern of a letter that may touch a numeral or unit without being a part of it."""
START = rf"(?:(?<!\w)|(?<={GLUED_LETTER}))"
"""Pattern of the place where a numeral may begin."""
END = rf"(?:(?!\w)|(?={GLUED_LETTER}))"
"""Pattern of the place where a unit may end."""
