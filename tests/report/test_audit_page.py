"""The page of an audit: complete, escaped, and with a policy that allows no script."""

import re

from jury_adapters import Case, Ensemble, judge
from jury_adapters.audit import Sizes, audit
from jury_adapters.report.audit_page import audit_page

ATTACK = "<script>document.documentElement.dataset.owned=1</script>"


@judge(name=f"juror {ATTACK}")
def passes_all(case):
    return True


def a_page():
    text = f"The tank {ATTACK} holds 300 litres and was built in 1987 by the town of Ulm."
    case = Case(question=ATTACK, answer=text, contexts=[text])
    jury = Ensemble([passes_all, passes_all.named("second")], name=f"jury {ATTACK}")
    found = audit(jury, [case], sizes=Sizes(4, 4, 4))
    return found, audit_page(found, [f"limit {ATTACK}"])


def test_nothing_of_a_case_or_a_name_is_markup():
    found, page = a_page()
    assert ATTACK not in page
    assert page.count("<script") == 0
    assert "script-src" in page
    assert "&lt;script&gt;" in page
    assert len(found.missed) > 1


def test_the_page_has_every_subject_change_and_missed_answer():
    found, page = a_page()
    for name in (*found.jury.kills, *found.jury.false_alarms, *found.jury.flips, "injection"):
        assert f">{name}<" in page, name
    assert page.count('<details class="case">') == len(found.missed)
    assert re.search(r"<h1[^>]*>jury &lt;script", page)
    assert "Limits that are not met" in page
    assert "Limits that are not met" not in audit_page(found)
