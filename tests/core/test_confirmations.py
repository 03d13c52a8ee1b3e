"""Outputs that confirm the arguments of their call are no evidence; outputs that say something new are."""

import json

import pytest

from jury_adapters import Step
from jury_adapters.core.confirmations import tokens_of
from jury_adapters.core.evidence import Evidence

SENTENCE = "The Eiffel Tower was sold in 1925 for 70000 francs."
SALE = {"what": "Eiffel Tower sold", "year": 1925, "price": "70000 francs"}
NUMBERS = {"year": 1925, "price": 70000}
LONG = "The Eiffel Tower was sold in 1925 for 70000 francs to a scrap dealer called Andre Poisson."


def contexts(output, arguments):
    return Evidence().contexts([Step(tool="record", arguments=arguments, output=output)])


@pytest.mark.parametrize(("output", "arguments"), [
    (SENTENCE, {"text": SENTENCE}),
    (f"Recorded: {SENTENCE}", {"text": SENTENCE}),
    ("Recorded year 1925 and price 70000 francs", NUMBERS),
    ("Recorded year 1925 and price 70000", NUMBERS),
    ("what=Eiffel Tower sold, year=1925, price=70000 francs", SALE),
    ("Stored what=Eiffel Tower sold, year=1925, price=70000 francs", SALE),
    ("Stored. what: Eiffel Tower sold; year: 1925; price: 70000 francs", SALE),
    ("what: Eiffel Tower sold\nyear: 1925\nprice: 70000 francs\n", SALE),
    ("- **what**: Eiffel Tower sold\n- **year**: 1925\n- **price**: 70,000 francs\n", SALE),
    ("The Eiffel Tower was sold in 1925 for 70,000 francs", {"what": "Eiffel Tower sold", **NUMBERS}),
    ("The Eiffel Tower was sold in 1925 for 70 000 francs", {"what": "Eiffel Tower sold", **NUMBERS}),
    ("The Eiffel Tower was sold in 1925 for 70'000.00 francs", {"what": "Eiffel Tower sold", **NUMBERS}),
    ("The Eiffel Tower was sold in 1925 for 70000 francs", {"what": "Eiffel Tower sold", "n": ["1925", "70,000"]}),
    ("| what | year | price |\n|---|---|---|\n| Eiffel Tower sold | 1925 | 70000 francs |", SALE),
    ("| what | year | price |\n|---|---|---|\n| Eiffel Tower sold | 1925 | 70000 francs |",
     {"columns": ["what", "year", "price"], "rows": [["Eiffel Tower sold", "1925", "70000 francs"]]}),
    ("<table><tr><th>year</th><th>price</th></tr><tr><td>1925</td><td>70,000</td></tr></table>", NUMBERS),
    ("Note saved: Eiffel Tower sold 1925 for 70000 francs", {"text": "sold 1925, Eiffel Tower, 70000 francs"}),
    ("For 70000 francs, in 1925, the Eiffel Tower was sold!", {"text": SENTENCE}),
    ("SAVED <b>THE EIFFEL TOWER WAS SOLD IN 1925</b> <i>for 70000 francs</i>", {"text": SENTENCE}),
    ("<p>The <a href='/e'>Eiffel&nbsp;Tower</a> was sold in 1925 for 70000 francs.</p>", {"text": SENTENCE}),
    ("Saved: The Eiffel Tower was sold in 1925 for 70000 francs to a scr...", {"text": LONG}),
    ("Saved: The Eiffel Tower was sold in 1925 for 70000 francs to a scr…", {"text": LONG}),
    ("Checklist\n- [ ] Eiffel Tower sold in 1925\n- [x] price 70000 francs", {
        "items": ["Eiffel Tower sold in 1925", "price 70000 francs"]}),
    ("1. Eiffel Tower sold in 1925\n2. price 70000 francs", {"list": ["price 70000 francs", "Eiffel Tower sold 1925"]}),
    (json.dumps({"ok": True, "record": SALE}), SALE),
    (json.dumps({"status": "saved", "data": SALE}, indent=2), SALE),
    (json.dumps(SALE), SALE),
    (repr(SALE), SALE),
    ("OK. The year is 1925. The price is 70000.", NUMBERS),
    ("✅ Success! Your note was added: 1925, 70000 francs, Eiffel Tower", {"note": "Eiffel Tower: 1925: 70000 francs"}),
    ("Due date: 2025-03-04 (saved)", {"dueDate": "2025-03-04"}),
    ("Received, thanks. Owner is Bob Miller; the tower is his.", {"owner": "Bob Miller", "object": "tower"}),
    ("Yes, it was sold in 1925 for 70000 francs.", {"text": "Sold? Yes, it was sold in 1925, for 70000 francs"}),
    ("Temperature -5 noted", {"temperature": -5}),
    ("Updated the entry: opening hours 9:10 to 16:25", {"text": "opening hours", "open_from": "9:10", "to": "16:25"}),
])  # fmt: skip
def test_a_confirmation_is_no_evidence(output, arguments):
    assert contexts(output, arguments) == ()


@pytest.mark.parametrize(("output", "arguments"), [
    ("The ferry stopped in 2018.", {"question": "When did the ferry stop?"}),
    ("The ferry stopped in 2018.", {"text": "When did the ferry stop?"}),
    ("The ferry stopped in 2018.", {"query": "ferry stopped"}),
    ("The ferry stopped in 2018.", {"query": "ferry stopped 2018"}),
    ("Yes, the library is open on Saturdays", {"question": "Is the library open on Saturdays?"}),
    ("Yes, the library is open on Saturdays", {"text": "the library is open on Saturdays"}),
    ("No.", {"claim": "The library is open on Saturdays."}),
    ("The library is open on Saturdays.", {"question": "Is the library open on Saturdays?"}),
    ("The library is open on Saturdays.", {"text": "Is the library open on Saturdays?"}),
    ("The library is open on Saturdays.", {"search_query": "library open Saturdays"}),
    ("The library is not open on Saturdays.", {"text": "The library is open on Saturdays."}),
    ("The library is open on Sundays.", {"day": "Saturday", "place": "library"}),
    ("Eiffel Tower: built in 1889", {"text": "Eiffel Tower built"}),
    ("The Eiffel Tower was sold in 1925 for 80,000 francs", {"what": "Eiffel Tower sold", **NUMBERS}),
    ("The Eiffel Tower was sold in 1925 for 700,00 francs", {"what": "Eiffel Tower sold", **NUMBERS}),
    ("Temperature 5 in Oslo today", {"city": "Oslo", "temperature": -5}),
    ("Oslo: 5 sunny", {"city": "Oslo", "day": 5}),
    ("Oslo, day 5: sunny", {"city": "Oslo", "day": 5}),
    ("Paris: 21 °C", {"city": "Paris"}),
    ("42", {"expression": "6 * 7"}),
    ("2 * 1 = 2", {"a": 2, "b": 1}),
    ("7 > 5", {"a": 5, "b": 7}),
    ("7 is larger than 5", {"a": 5, "b": 7}),
    ("The maximum is 12", {"values": [3, 9, 12]}),
    ("9", {"code": "print(max([3, 9]))"}),
    ("BA 7", {"flights": ["LH 4", "BA 7"]}),
    ("positive", {"text": "I like it.", "labels": ["positive", "negative"]}),
    ("Treaty of Westphalia\nIt was signed in 1648.", {"topic": "history of the Treaty of Westphalia"}),
    ("Treaty of Westphalia: signed in 1648", {"topic": "Treaty of Westphalia"}),
    ("The buses of line 4 leave at 9:10.", {"line": "4"}),
    ("The record price was 70000 francs in 1923.", {"year": 1925, "price": 70000}),
    ('{"open": true}', {"day": "Saturday", "place": "library"}),
    ('{"ok": false}', {"text": SENTENCE}),
    ("Error: the note could not be saved", {"text": SENTENCE}),
    ("Not saved: 1925", {"year": 1925}),
    ("done", {"x": 1}),
    ("Booked BA 7 to Rome for Ann Smith, seat 12A", {"flight": "BA 7", "city": "Rome"}),
    ("Ann Smith owns the tower.", {"owner": "Bob Miller", "object": "tower"}),
])  # fmt: skip
def test_an_output_with_something_new_is_evidence(output, arguments):
    assert contexts(output, arguments) == (output,)


@pytest.mark.parametrize(("output", "arguments", "left"), [
    ("Recorded year 1925 and price 70000 francs for the Eiffel Tower sold.", NUMBERS,
     "Recorded year … and price … francs for the Eiffel Tower sold."),
    ("Saved note 12: Eiffel Tower sold 1925 for 70000 francs", {"text": "sold 1925, Eiffel Tower, 70000 francs"},
     "Saved note 12: …"),
    ("Saved note 12 in the archive: Eiffel Tower sold in 1925", SALE, "Saved note 12 in the archive: …"),
    ("Year 1925 saved with price 70000.\nThere are 11 older notes.", NUMBERS, "….\nThere are 11 older notes."),
    (f"Yes, I have recorded: {SENTENCE}", {"text": SENTENCE}, "Yes, I have recorded: …"),
    (f"Not saved: {SENTENCE}", {"text": SENTENCE}, "Not saved: …"),
    (f"No results for '{SENTENCE}'", {"text": SENTENCE}, "No results for '…'"),
    ("year: 1925\nprice: 70000\nbuyer: Poisson", NUMBERS, "…\n…\nbuyer: Poisson"),
    ("There are 11 notes. The latest: the <b>Eiffel Tower</b> was sold in 1925 for 70000 francs", {"text": SENTENCE},
     "There are 11 notes. The latest: …"),
    ("There are 11 notes, such as The Eiffel Tower was sold in 1925 for 70000 francs to a scr... and more from May.",
     {"text": LONG}, "There are 11 notes, such as …... and more from May."),
])  # fmt: skip
def test_of_a_mixed_output_the_new_parts_are_evidence(output, arguments, left):
    assert contexts(output, arguments) == (left,)


def test_numbers_are_compared_without_separators_and_words_without_case_and_marks():
    for same in ("70000", "70,000", "70 000", "70'000", "70000.0"):
        assert [token.form.replace(" ", "") for token in tokens_of(same)] == ["70000"]
    assert [token.form for token in tokens_of("**Due:** 18:00, -5 °C")] == ["due", "18:00", "-5", "c"]
    assert [token.form for token in tokens_of("x-ray 2026-01-02")] == ["x", "ray", "2026", "01", "02"]


@pytest.mark.slow
def test_a_long_page_and_long_arguments_are_compared_too():
    page = "the bus and the ferry and the tram leave at 9:10\n" * 2_000
    written = "\n".join(f"the note {number} of the tower and the bridge" for number in range(2_000))
    assert contexts(page, {"text": written}) == (page,)
