"""Audits whose budget is used up: no figure rests on the probes that happened to need no call."""

import json

import pytest

from jury_adapters import Budget, CascadedJury, Critic, Ensemble, Tier
from jury_adapters.audit import Sizes, audit
from jury_adapters.checks import NamesAndNumbers
from jury_adapters.report.audit_page import audit_page

SMALL = Sizes(per_operator=6, per_invariance=6, injections=6)
CUT = "Left out, because the budget was used up"


def critic(name):
    """Return a critic that passes an answer with *not* and fails every other changed one."""

    async def model(prompt):
        return json.dumps({"reasoning": "", "answer": "YES" if " not " in str(prompt) else "NO", "confidence": 0.9})

    return Critic(model, "faithfulness", name=name)


def screened(**options):
    readers = Tier("readers", Ensemble([critic("one"), critic("two")]))
    jury = CascadedJury([Tier("screen", NamesAndNumbers(), "reject_on_any_fail"), readers], name="j")
    return audit(jury, sizes=SMALL, **options)


@pytest.fixture(scope="module")
def whole():
    return screened()


@pytest.mark.slow
def test_a_juror_is_not_measured_on_what_the_screen_left_over(whole):
    """The jury asks its readers about the changes that the screen passes only, before the readers are asked alone."""
    calls = whole.usage.calls
    cut = screened(budget=Budget(max_calls=calls - 60))
    jury, screen, one, two = cut.subjects
    assert jury == whole.jury
    assert (jury.unasked, screen.unasked) == (0, 0)
    assert (one.unasked + one.asked, two.unasked + two.asked) == (210, 210)
    assert min(one.unasked, two.unasked) > 100
    for found, full in zip((one, two), whole.subjects[2:], strict=True):
        assert found.broken == found.kill_rate.undecided == 0
        for name, share in found.kills.items():
            assert share.n == 0 or name == [*found.kills][-1] or share == full.kills[name]
    assert "negation" not in one.kills
    assert not any(finding.name == "blind_to:negation" for finding in cut.findings if finding.subject == two.name)
    assert f"readers/one: {one.unasked} of 210 probes" in str(cut)
    assert CUT in str(cut)
    assert "broken" not in str(cut)
    assert CUT in audit_page(cut)
    assert json.loads(json.dumps(cut.to_dict()))["subjects"][2]["unasked"] == one.unasked
    assert CUT not in str(whole)
    assert CUT not in audit_page(whole)


@pytest.mark.slow
def test_a_jury_is_not_measured_on_what_its_screen_decides_without_a_call(whole):
    cut = screened(budget=Budget(max_calls=80))
    assert cut.jury.asked == cut.probes == 40
    assert cut.jury.kill_rate.n == 0
    assert cut.jury.unasked == 170
    assert "nothing is known of the jury, because the budget was used up before its first changed answer" in str(cut)
    assert cut.unmet(min_kill_rate=0.5) == ("kill rate: no probe was decided",)


@pytest.mark.slow
def test_operators_that_may_stop_early_are_cut_in_the_order_in_which_they_were_asked():
    cut = screened(budget=Budget(max_calls=200), precision=0.2, every_juror=False)
    whole = screened(precision=0.2, every_juror=False)
    assert 0 < cut.jury.asked < whole.jury.asked
    assert cut.jury.originals_passed == whole.jury.originals_passed
