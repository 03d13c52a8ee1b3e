"""Times of day, fractions, signs and units: equal in any notation, and flagged or named where they differ."""

import pytest

from jury_adapters import Status
from jury_adapters.checks import NamesAndNumbers, SentenceSupport
from jury_adapters.grounding.fraction_words import value_of
from jury_adapters.grounding.times_of_day import times

DUTCH = "De vergadering van de leden begint om half acht 's avonds in de grote zaal."
FRENCH = "La réunion des membres commence à 19 h 30 dans la grande salle."
GERMAN = "Die Sitzung der Mitglieder beginnt um halb acht im großen Saal und ist öffentlich."
TABLE = "| Class | Fee |\n| Seniors | € 1,400.00 |"


def flagged(answer, context):
    return [finding.name for finding in NamesAndNumbers().judge(answer=answer, contexts=[context]).findings]


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("Sunday matches begin at 2:15 am.", "Matches begin at 2.15 p.m. on Sundays."),
        ("It closes at 5 a.m.", "It closes at 5 p.m. on the Friday of that week."),
        ("It closes at 05:00.", "It closes at 5 p.m. on the Friday of that week."),
        ("It closes at 5 p.m.", "It closes at 05:00 on the Friday of that week."),
        ("It closes at 5 a.m.", "Of the 5 players, all must be there when it closes at 5 p.m. on Fridays."),
        ("It closes at 6 a.m.", "It closes at 6 in the evening on most of the days."),
        ("It closes at 12 a.m.", "It closes at noon on most of the days."),
        ("It begins at half past eight.", "It begins at half past seven in the evening."),
        ("It begins at 8:45.", "It begins at a quarter to eight in the evening."),
        ("La réunion commence à 19h45.", FRENCH),
        ("La réunion commence à 20 h 30.", FRENCH),
        ("De vergadering begint om 19.34 uur.", DUTCH),
        ("De vergadering begint om 20.30 uur.", "De vergadering van de leden begint om 19.30 uur in de zaal."),
        ("Die Sitzung beginnt um 20 Uhr 30.", "Die Sitzung der Mitglieder beginnt um 19.30 Uhr im Saal."),
    ],
)
def test_another_time_of_day_is_flagged(answer, context):
    assert len(flagged(answer, context)) == 1


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("Sunday matches begin at 14:15.", "Matches begin at 2.15 p.m. on Sundays."),
        ("Sunday matches begin at 2:15.", "Matches begin at 2.15 p.m. on Sundays."),
        ("Sunday matches begin at 2.15.", "Matches begin at 2.15 p.m. on Sundays."),
        ("It begins at 19:30.", "It begins at half past seven in the evening."),
        ("It begins at 7.30 p.m.", "It begins at half seven in the evening, as in all of the years."),
        ("It begins at 19.30.", "It begins at 7:30 pm on all of the days."),
        ("It begins at half past seven.", "It begins at 19:30 on all of the days."),
        ("It begins at 7:45 pm.", "It begins at a quarter to eight in the evening."),
        ("It begins at 9:10.", "The meeting is at ten past nine in the hall."),
        ("It begins at 20:35.", "The meeting is at twenty-five to nine in the hall."),
        ("It begins at 9:30 p.m.", "The meeting is at nine thirty in the hall."),
        ("It is open from 10:00 to 18:00.", "The museum opens at ten and closes at six."),
        ("It begins at 12:00.", "It begins at noon on most of the days."),
        ("It closes at 6 p.m.", "It closes at six in the evening on most of the days."),
        ("It closes at 6 p.m.", "It closes at 6 o'clock on most of the days."),
        ("It is open from 9 a.m. to 5 p.m.", "It is open from 9 to 5 on most of the days."),
        ("It begins at 19:30.", "It begins at 1930 hours on all of the days."),
        ("The trip lasts 2h30.", "The trip lasts 2 hours and 30 minutes in all of the cases."),
        ("The trip lasts 150 minutes.", "The trip lasts 2 h 30 in all of the cases, as it was."),
        ("La réunion commence à 19h30.", FRENCH),
        ("La réunion commence à 19:30.", FRENCH),
        ("La réunion commence à 19.30.", FRENCH),
        ("De vergadering begint om 19.30 uur.", DUTCH),
        ("De vergadering begint om 7.30 uur.", DUTCH),
        ("De vergadering begint om 19:30.", DUTCH),
        ("Die Sitzung beginnt um 19.30 Uhr.", GERMAN),
        ("Die Sitzung beginnt um 19 Uhr 30.", GERMAN),
        ("Die Sitzung beginnt um 19:30 Uhr.", "Die Sitzung beginnt um 19.30 Uhr im großen Saal und ist öffentlich."),
    ],
)
def test_the_same_time_of_day_is_not_flagged(answer, context):
    assert flagged(answer, context) == []


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("At least 2/3 of the members must be present.", "At least two thirds of the members must be present."),
        ("At least two-thirds of the members must be present.", "At least 2/3 of the members must be present."),
        ("25 % of the members must be present.", "A quarter of the members must be present at the time."),
        ("A quarter of the members must be present.", "25 % of the members must be present at the time."),
        ("67 % of the members must be present.", "Two thirds of the members must be present at the time."),
        ("66.7 % of the members must be present.", "Two thirds of the members must be present at the time."),
        ("25 % of the members left.", "One in four members left, and the club was in need of more."),
        ("Half of the members left.", "50 % of the members left, and the club was in need of more."),
        ("Half of the members left.", "50.4 % of the members left, and 1/3 of the players."),
        ("More than half of the members left.", "62 % of the members left, and 1/3 of the players."),
        ("The doors open 30 minutes before it.", "The doors open half an hour before each match of the club."),
        ("The doors open half an hour before it.", "The doors open 30 minutes before each match of the club."),
        ("It takes 45 minutes.", "It takes three quarters of an hour to be there and back."),
        ("It takes 90 minutes.", "It takes one and a half hours to be there and back."),
        ("It takes 90 minutes.", "It takes an hour and a half to be there and back."),
        ("It takes 1.5 hours.", "It takes 1½ hours to be there and back."),
        ("It takes 6 months.", "It takes half a year to be there and back."),
        ("It cost 500,000 euros.", "It cost half a million euros in all of the years."),
        ("It rose by 0.5 %.", "It rose by half a percent in all of the years."),
        ("It rose by 0.5 %.", "It rose by 5 ‰ in all of the years."),
        ("It grew by 33 %.", "It grew by a third in the year to June."),
        ("It was cut by 50 %.", "It was cut by half in the year to June."),
        ("The match lasts 24 months.", "The match lasts for two years, as it was said."),
        ("2/3 of the members agreed.", "Of the 3 members, 2 agreed to it."),
        ("In the second half it rained.", "In the first half of the match it was dry, and then it was not."),
        ("25 % des membres sont là.", "Un quart des membres sont là pour la réunion."),
    ],
)
def test_the_same_share_or_measure_is_not_flagged(answer, context):
    assert flagged(answer, context) == []


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("Three quarters of the members must be present.", "At least 2/3 of the members must be present."),
        ("3/4 of the members must be present.", "At least two thirds of the members must be present."),
        ("30 % of the members must be present.", "A quarter of the members must be present at the time."),
        ("It takes 40 minutes.", "It takes half an hour to be there and back."),
        ("It takes half an hour.", "It takes two hours to be there and back."),
        ("It takes 100 minutes.", "It takes one and a half hours to be there and back."),
        ("The fee rises by 5 %.", "The fee of the club rises by 5 ‰ in the year."),
        ("The fee rises by 5 %.", "The fee of the club rises by 5 percentage points in the year."),
        ("Seniors pay $1,400.00.", TABLE),
        ("Seniors pay 1,400 dollars.", TABLE),
        ("Seniors pay £900.", TABLE),
    ],
)
def test_another_share_or_measure_is_flagged(answer, context):
    assert len(flagged(answer, context)) == 1


@pytest.mark.parametrize(
    ("answer", "context", "named"),
    [
        ("The limit is 5 °C.", "The temperature limit of the pool is -5 °C.", "signs, which are not compared (5 °C)"),
        ("The limit is \u22125 °C.", "The limit of the pool is 5 °C.", "signs, which are not compared (-5 °C)"),
        ("The fee rises by 5 %.", "The fee (in %) is to rise by 5 in the year.", "units, which are not compared (5%)"),
        ("Half of them left.", "Of the 40 members, 20 left.", "fractions in words, which are not compared (Half)"),
    ],
)  # fmt: skip
def test_what_is_not_compared_is_named(answer, context, named):
    judged = NamesAndNumbers().judge(answer=answer, contexts=[context])
    assert judged.status is Status.ABSTAIN
    assert f"but for {named}" in judged.reasoning


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("The limit is 5 °C.", "The limit is -5 °C."),
        ("The fee rises by 5 %.", "The fee rises by 5 ‰."),
        ("The fee is $40.", "The fee is €40."),
    ],
)
def test_support_does_not_pass_a_number_with_another_sign_or_unit(answer, context):
    judged = SentenceSupport(threshold=0.5).judge(answer=answer, contexts=[context])
    assert judged.status is Status.ABSTAIN
    assert "the contexts have another sign, unit or year" in judged.reasoning


def test_values_of_fractions_and_times():
    assert [str(value_of(text)) for text in ("two thirds", "2 1/2", "three-quarters", "half")] == [
        "2/3",
        "5/2",
        "3/4",
        "1/2",
    ]
    assert times("12 a.m.") == ["0:00"]
    assert times("24:00") == ["24:00", "0:00"]


@pytest.mark.parametrize(("answer", "status"), [
    ("À 16h.", "FAIL"), ("À 16h30.", "FAIL"), ("À 16:30.", "FAIL"), ("À 16:00.", "FAIL"),
    ("À 14:00.", "ABSTAIN"), ("À 20 h.", "ABSTAIN"),
])  # fmt: skip
def test_full_hours_in_digits_are_times_in_digits(answer, status):
    contexts = ["Les visites sont autorisées tous les jours de 14h à 20h."]
    assert NamesAndNumbers().judge(question="Quand ?", answer=answer, contexts=contexts).status == status
    german = ["Die Besuchszeit ist täglich von 14 Uhr bis 20 Uhr."]
    answer = answer.replace("À", "Um").replace("h30", ":30 Uhr").replace(" h", " Uhr").replace("h", " Uhr")
    assert NamesAndNumbers().judge(question="Wann?", answer=answer, contexts=german).status == status


ON_24 = "The reading room opens at 9:30 and closes at 18:00 on all of the days."


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("The reading room opens at 21:30.", ON_24),
        ("The reading room opens at 9:30 pm.", ON_24),
        ("The reading room closes at 6:00.", ON_24),
        ("Der Lesesaal öffnet um 21:30 Uhr.", "Der Lesesaal öffnet um 9:30 Uhr und schließt um 18:00 Uhr am Abend."),
        ("It opens at 21:30.", "18:00 is when it closes, and 9:30 when it opens, says the sign on the wall of Hall T"),
        ("Der Lesesaal öffnet um 21:30 Uhr.", "Der Lesesaal öffnet um 9:30 Uhr und schließt um 18 Uhr am Abend."),
        ("La salle ouvre à 21h30.", "La salle ouvre à 9h30 et ferme à 18h tous les jours de la semaine."),
        ("The bus leaves at 19:05.", "The bus to the lake leaves at 7:05 and 07:40, and comes back at ten."),
    ],
)
def test_a_time_twelve_hours_off_is_flagged_where_the_contexts_count_24_hours(answer, context):
    assert len(flagged(answer, context)) == 1


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("It opens at 9:30 am and closes at 6 pm.", ON_24),
        ("It opens at half past nine and closes at six.", ON_24),
        ("It opens at 09:30.", ON_24),
        ("It opens at 9:30 pm.", "The bar opens at 9:30 and closes at 11:00 on all of the days."),
        ("The tour begins at 4:15 pm.", "Logged at 2024-05-01T17:02:11. The tour of the cellar begins at 4:15."),
        ("It opens at 9:30 pm.", "9:30 is when the bar opens on all of the days, and the way to it is along line T"),
        ("It leaves at 9:30 pm.", "The train leaves at 9:30 and takes 18h to the sea on all of the days."),
        ("It closes at 24:00.", "The bar opens at 18:00 and closes at midnight on all of the days."),
    ],
)
def test_times_that_the_contexts_can_mean_are_in_them(answer, context):
    assert flagged(answer, context) == []
