import pytest

from jury_adapters import ConfigurationError, Judgment, Status
from jury_adapters.core.voting import FunctionVote, resolve
from jury_adapters.core.voting.rules.average import Average
from jury_adapters.core.voting.rules.majority import Majority
from jury_adapters.core.voting.rules.quorum import Quorum
from jury_adapters.core.voting.rules.unanimous import Unanimous


def test_names_are_read_in_any_case_and_with_dashes():
    assert resolve(" Weighted-Average ") == resolve("weighted_average")
    assert type(resolve("PLURALITY")) is Majority
    assert type(resolve("Consensus")) is Unanimous


def test_an_unknown_name_says_which_one_was_probably_meant():
    with pytest.raises(ConfigurationError, match=r"unknown voting strategy 'majorty'\. Did you mean 'majority'\?"):
        resolve("majorty")


def test_options_reach_their_strategy():
    assert resolve("quorum", quorum="2/3", threshold=0.6, min_votes=2) == Quorum(
        quorum="2/3", threshold=0.6, min_votes=2
    )


@pytest.mark.parametrize(
    ("voting", "options", "message"),
    [
        ("average", {"tie": "pass"}, r"unknown option of average 'tie'\. Known: errors, min_votes, threshold"),
        ("majority", {"threshold": 0.5}, r"unknown option of majority 'threshold'"),
        ("quorum", {"threshhold": 0.5}, r"Did you mean 'threshold'\?"),
        ("majority", {"_min_share": 1}, r"unknown option of majority '_min_share'"),
        (lambda judgments: True, {"tie": "pass"}, r"unknown option of a function 'tie'\. Known: errors, min_votes"),
    ],
)
def test_an_option_of_another_strategy_is_refused_with_its_own(voting, options, message):
    with pytest.raises(ConfigurationError, match=message):
        resolve(voting, **options)


def test_a_ready_strategy_is_taken_as_it_is_and_takes_no_options():
    ready = Average(threshold=0.7)
    assert resolve(ready) is ready
    with pytest.raises(ConfigurationError, match=r"give threshold to Average\(\.\.\.\) itself"):
        resolve(ready, threshold=0.6)


def test_a_function_becomes_a_strategy_with_the_common_options():
    strategy = resolve(lambda judgments: True, errors="ignore", min_votes=2)
    assert type(strategy) is FunctionVote
    assert strategy.tally([Judgment(Status.PASS)]).status is Status.ABSTAIN


def test_bayes_by_name_says_what_it_needs():
    with pytest.raises(ConfigurationError, match=r"bayes needs reliabilities=, one per juror: \{'gpt': 0\.9"):
        resolve("bayes")
    assert resolve("bayes", reliabilities=[0.9]).prior == 0.5


@pytest.mark.parametrize("bad", [5, None, ["majority"]])
def test_what_is_no_voting_at_all_is_refused(bad):
    with pytest.raises(ConfigurationError, match="takes a name, a strategy or a function"):
        resolve(bad)
