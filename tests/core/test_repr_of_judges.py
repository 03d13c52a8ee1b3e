"""The repr of whatever judges: one short line that says which it is."""

import pytest

from jury_adapters import CascadedJury, Critic, Ensemble, Judge, Tier, escalate_below, judge
from jury_adapters.checks import Command
from jury_adapters.testing import ScriptedModel
from jury_adapters.voting import all_of, any_of

KEY = "sk-proj-0123456789abcdef"


class Polite(Judge):
    def assess(self, case):
        return True


@judge
def short(case):
    return True


cheap = Ensemble([short, Polite()], name="cheap")


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (short, "FunctionJudge('short')"),
        (Judge.from_function(lambda case: True), "FunctionJudge(function='<lambda>')"),
        (Polite(), "Polite()"),
        (Polite().named("kind"), "Polite('kind')"),
        (short.with_fallbacks([Polite()]), "FallbackJudge('short', fallbacks=['Polite'])"),
        (short.with_fallbacks([lambda case: True]), "FallbackJudge('short', fallbacks=['FunctionJudge'])"),
        (Ensemble([short, lambda case: True]), "Ensemble(members=['short', 'Judge#2'])"),
        (cheap, "Ensemble('cheap', members=['short', 'Polite'])"),
        (
            Ensemble([short, short], voting="median", schedule="sequential"),
            "Ensemble(members=['short', 'short-2'], voting='median', schedule='sequential')",
        ),
        (
            Ensemble([short.named(f"juror {at}") for at in range(50)]),
            "Ensemble(members=['juror 0', 'juror 1', 'juror 2', 'juror 3', 'juror 4' and 45 more])",
        ),
        (all_of(short, Polite()), "AllOf('all_of', members=['short', 'Polite'])"),
        (any_of(short), "AnyOf('any_of', members=['short'])"),
        (
            CascadedJury([Tier("first", cheap, escalate_below(0.8)), Tier("last", short)], name="both"),
            "CascadedJury('both', tiers=['first', 'last'])",
        ),
        (
            Tier("first", cheap, escalate_below(0.8)),
            "Tier('first', Ensemble('cheap', members=['short', 'Polite']), 'escalate_below(0.8)')",
        ),
        (
            Tier("screen", short, "reject_on_any_fail", if_broken="reject"),
            "Tier('screen', FunctionJudge('short'), 'reject_on_any_fail', if_broken='reject')",
        ),
        (Command(["make", "check"], cwd="src"), "Command(argv='make check', cwd='src')"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_it_says_class_name_members_and_what_is_not_as_usual(made, told):
    assert repr(made) == str(made) == told


def test_the_model_is_named_and_no_prompt_is_shown():
    critic = Critic(ScriptedModel("PASS"), name="truth", prompt="Is it so? {answer}")
    assert "Is it so" not in repr(critic)

    class Asking(Polite):
        model = critic.model

    assert repr(Asking()) == f"Asking(model={critic.model.name!r})"


@pytest.mark.parametrize("name", [f"a\n{KEY}", "x" * 10_000, "\x1b[31mred\u202e", "\ud800"])
def test_whatever_a_name_is_it_stays_one_short_line_without_keys(name):
    wild = short.named(name)
    for made in (
        wild,
        Ensemble([wild] * 50, name=name),
        wild.with_fallbacks([wild]),
        Tier(name, Ensemble([wild] * 50)),
    ):
        told = repr(made)
        assert told.isprintable()
        assert len(told) < 600
        assert KEY not in told
        told.encode()


def test_variables_and_keys_of_a_command_are_not_shown():
    told = repr(Command(["curl", "-H", f"Authorization: Bearer {KEY}"], env={"MY_TOKEN": "correct horse"}))
    assert told.startswith("Command(argv=")
    assert KEY not in told
    assert "correct horse" not in told


def test_a_judge_that_is_being_made_can_be_looked_at():
    assert repr(object.__new__(Ensemble)) == "Ensemble(...)"
