"""Every behaviour fact in cases.json that this package has come to; the rest is listed here, with the reason."""

import inspect
import json
import sys
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from support.plain_judges import Says

from jury_adapters import (
    CascadedJury,
    Case,
    ConfigurationError,
    Critic,
    Ensemble,
    Judge,
    Judgment,
    Jury,
    Rubric,
    Status,
    Tier,
    Verdict,
)
from jury_adapters.checks import always_pass
from jury_adapters.compat.juries import combine
from jury_adapters.compat.verdict_measures import agreement_pct, avg_confidence, consensus, sub_verdicts
from jury_adapters.core.agreement import band_of, modal_share
from jury_adapters.core.gates import check_gates
from jury_adapters.core.values import normalise_score
from jury_adapters.core.voting import resolve
from jury_adapters.results import Tally
from jury_adapters.statistics import krippendorff_alpha, pairwise_agreement
from jury_adapters.voting import all_of, any_of
from jury_adapters.workspace.commands import Command
from jury_adapters.workspace.files import DirectorySuperset, FileContent, FileExists, FilesMatch

FILE = json.loads((Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))
CASES = {case["id"]: case for case in FILE["cases"]}

LATER_FAMILIES = {
    "critic.parse": "run in test_critic_conformance.py",
    "rag": "run in test_critic_conformance.py",
    "llm.correctness": "run in test_critic_conformance.py",
    "label_classifier": "run in test_critic_conformance.py",
}
LATER_CASES = {
    "ens-02": "query_id belongs to an upstream class name that is not offered yet",
    "ens-03": "query_id and meta belong to an upstream class name that is not offered yet",
    "ens-05": "the keyword names of an upstream class that is not offered yet",
    "ens-07": "validation of an upstream class that is not offered yet",
}
NOT_ADOPTED = {
    "dfl-01": "the defaults are those, but for the vendor: ours has none (tested below)",
    "cmp-14": "majority is the default strategy, as in dfl-03",
}

ERRORS = {"TREAT_AS_FAIL": "fail", "TREAT_AS_ABSTAIN": "abstain", "IGNORE": "ignore", "PROPAGATE": "propagate"}
ANY_CASE = Case(question="?", answer="!")


class Throws(Judge):
    async def assess(self, case):
        raise KeyError("broken template")


class ThrowingJury(Jury):
    async def assess(self, case):
        raise KeyError("broken member")


def judgments(given):
    return [Judgment(**_EXPLAINED | fields) for fields in given]


def options(given):
    found = {"voting": given["strategy"]}
    if "error_policy" in given:
        found["errors"] = ERRORS[given["error_policy"]]
    if "tie_policy" in given and given["strategy"] == "majority":
        found["tie"] = given["tie_policy"].lower()
    if "weights" in given:
        found["weights"] = given["weights"]
    return found


def jury_of(given):
    return Ensemble([Says(judgment) for judgment in judgments(given["judgments"])], **options(given))


def statuses(found):
    return [str(judgment.status) for judgment in found]


def check_verdict(verdict, expected):
    counts = {name: getattr(verdict.tally, name) for name in ("passed", "failed", "abstained", "errors")}
    facts = {
        "status": verdict.status,
        "score": verdict.score,
        "tie": verdict.tally.tied,
        "unanimous": verdict.tally.unanimous,
        "eligible": verdict.tally.eligible,
        "counts": {name: counts[name] for name in expected.get("counts", {})},
        "stopped_at": verdict.stopped_at,
        "tiers_run": [tier.name for tier in verdict.tiers],
        "failed_tiers": list(verdict.failed_tiers),
        "individual": statuses(j for j in verdict.judgments if j.status is not Status.ERROR),
        "failed_members": sum(judgment.status is Status.ERROR for judgment in verdict.judgments),
        "sub_verdicts": len(sub_verdicts(verdict)),
        "named_results": len(verdict.by_name),
        "consensus": consensus(verdict),
        "disagreement": verdict.disagreement,
        "avg_confidence": pytest.approx(avg_confidence(verdict), abs=1e-6),
        "agreement_pct": pytest.approx(agreement_pct(verdict), abs=1e-6),
        "voting": verdict.voting,
        "n_verdicts": len(verdict.judgments),
        "n_errors": verdict.tally.errors,
        "passed": verdict.passed,
    }
    if verdict.score is not None:
        facts["score"] = pytest.approx(verdict.score, abs=1e-6)
    assert {name: facts[name] for name in expected} == expected


def run_vote(given, expected):
    if expected.get("raises"):
        with pytest.raises(ConfigurationError):
            jury_of(given)
        return
    check_verdict(jury_of(given).judge(ANY_CASE), expected)


def label_judge(verdict):
    name = verdict["critic_id"]
    if "error" in verdict:
        return Says(Judgment(Status.ERROR, error=verdict["error"]), name)
    return Says(Judgment(None, label=verdict["kind"], confidence=verdict["confidence"]), name)


def run_labels(given, expected):
    if "resolve" in given:
        with pytest.raises(ConfigurationError):
            resolve(given["resolve"])
        return
    verdicts = given["verdicts"]
    kwargs = {"voting": given.get("voting", "majority"), "on": "label", **given.get("kwargs", {})}
    if "fallback" in kwargs:
        kwargs["default_label"] = kwargs.pop("fallback")
    if "critic_weights" in given:
        kwargs["weights"] = given["critic_weights"]
    if verdicts:
        verdict = Ensemble([label_judge(verdict) for verdict in verdicts], **kwargs).judge(ANY_CASE)
    else:
        verdict = Ensemble([always_pass()], **kwargs).aggregate([])
    if "metric" in given:
        check_verdict(verdict, {given["metric"]: expected["value"]})
    else:
        check_verdict(verdict, expected)


def run_ensemble(given, expected):
    if "voting_callable_name" in given:

        def rule(judgments):
            return tuple(given["returns"])

        rule.__name__ = given["voting_callable_name"]
        check_verdict(Ensemble([always_pass()], voting=rule).judge(ANY_CASE), expected)
    elif "critics" in given:
        critics = [always_pass() if critic == "ok" else Throws() for critic in given["critics"]]
        expected = {name: value for name, value in expected.items() if name != "raises"}  # it would fail this test
        verdict = Ensemble(critics).judge(ANY_CASE)
        check_verdict(verdict, expected)
        assert verdict.tally.passed == given["critics"].count("ok")
    else:
        run_labels(given, expected)


def run_defaults(given, expected):
    jury = Ensemble([always_pass()])
    assert {"voting": jury.voting, "voting_kwargs": jury.voting_kwargs} == expected


def tier_of(given):
    if given.get("throws"):
        judge = Throws()
    elif "nested_cascade" in given:
        judge = CascadedJury(tier_of(tier) for tier in given["nested_cascade"]["tiers"])
    else:
        judge = jury_of(given)
    return Tier(given["name"], judge, given["policy"])


def run_cascade(given, expected):
    if expected.get("raises"):
        with pytest.raises(ConfigurationError, match=expected.get("mentions")):
            CascadedJury(tier_of(tier) for tier in given["tiers"])
        return
    verdict = CascadedJury(tier_of(tier) for tier in given["tiers"]).judge(ANY_CASE)
    check_verdict(verdict, expected)
    assert len(sub_verdicts(verdict)) == len(verdict.tiers)


def run_composition(given, expected):
    if "meta" in given:
        meta = given["meta"]
        members = [
            ThrowingJury() if member.get("throws") else jury_of({"strategy": "majority", **member})
            for member in meta["members"]
        ]
        check_verdict(combine(*members, voting=meta["strategy"]).judge(ANY_CASE), expected)
    elif "judges" in given:
        jury = Ensemble(Says(Judgment(Status.PASS), name or "") for name in given["judges"])
        assert list(jury.names) == expected["names"]
        assert list(jury.judge(ANY_CASE).by_name) == expected["names"]
    elif "jury" in given:
        judges = [Says(Judgment(status, **_EXPLAINED), name) for name, status in given["jury"]["judges"]]
        check_verdict(Ensemble(judges, voting=given["jury"]["strategy"]).judge(ANY_CASE), expected)
    else:
        log = []
        judges = [Says(judgment, str(n), log) for n, judgment in enumerate(judgments(given["judgments"]))]
        compose = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "all_of": all_of, "any_of": any_of}[given["op"]]
        verdict = compose(*judges).judge(ANY_CASE)
        assert {"status": verdict.status, "judges_run": len(log)} == expected


def quorum_judgments(given):
    if "juror_passes" in given:
        return [Judgment("PASS" if passed else "FAIL") for passed in given["juror_passes"]]
    if "juror_scores" in given:
        return [Judgment("PASS", score=score) for score in given["juror_scores"]]
    return [Judgment("PASS" if juror["pass"] else "FAIL", score=juror["score"]) for juror in given["juror_outputs"]]


def run_quorum(given, expected):
    jurors = [Says(judgment) for judgment in quorum_judgments(given)]
    if expected.get("raises"):
        with pytest.raises(ConfigurationError):
            Ensemble(jurors, voting="quorum", quorum=given["quorum"])
        return
    verdict = Ensemble(jurors, voting="quorum", quorum=given["quorum"]).judge(ANY_CASE)
    assert verdict.passed is expected["passed"]
    if "juror_passes" in expected:
        alone = [Ensemble([juror], voting="quorum", quorum=1).judge(ANY_CASE).passed for juror in jurors]
        assert alone == expected["juror_passes"]


def run_band(given, expected):
    if "gate" in given:
        one_juror = Ensemble([always_pass()]).judge(ANY_CASE)
        (gate,) = check_gates(one_juror, min_agreement=given["gate"]["minimum"])
        assert gate.result == expected["gate_result"]
        assert "undefined" in gate.note
    else:
        band = band_of(given["alpha"])
        assert {"confidence": band, "escalate_for_review": band == "low"} == expected


def run_bias(given, expected):
    if "jurors" in given:
        jury = Ensemble(Says(Judgment(Status.PASS, model=model)) for model in given["jurors"])
        assert jury.judge("?", generator=given["generator"]).same_family is expected["same_family"]
    else:
        ballots = (0.0, round(1 - given["alpha"], 9))  # two scores that agree by exactly this much
        verdict = Verdict(Status.PASS, same_family=given["same_family"], tally=Tally("score", ballots=ballots))
        assert verdict.agreement == pytest.approx(given["alpha"])
        assert (verdict.bias_warning is not None) is expected["bias_warning_set"]


def run_alpha(given, expected):
    units = given["units_by_raters"] if "units_by_raters" in given else list(zip_longest(*given["raters_by_units"]))
    for level in given.get("levels", [given.get("level")]):
        alpha = krippendorff_alpha(units, level)
        if "equal" in expected:
            assert alpha == krippendorff_alpha(zip_longest(*given["also"]), level)
            continue
        assert alpha.value == pytest.approx(expected["alpha"], abs=1e-6)
        if "rounded" in expected:
            assert round(alpha.value, 3) == expected["rounded"]
        assert alpha.informative is expected.get("informative", True)
    if "mean_pairwise_agreement" in expected:
        per_item = [pairwise_agreement([rating for rating in unit if rating is not None]) for unit in units]
        assert sum(per_item) / len(per_item) == pytest.approx(expected["mean_pairwise_agreement"], abs=1e-6)


def run_item_agreement(given, expected):
    valid = [label for label in given["labels"] if label is not None]
    verdict = Ensemble([always_pass()]).aggregate(
        Judgment(Status.ABSTAIN, reasoning="cannot say") if label is None else Judgment(None, label=label)
        for label in given["labels"]
    )
    facts = {
        "pairwise_agreement": pairwise_agreement(valid),
        "modal_share": float(modal_share(valid)),
        "unanimous": verdict.tally.unanimous,
        "valid": verdict.tally.eligible,
    }
    assert {name: facts[name] for name in expected} == expected
    assert verdict.agreement == expected["pairwise_agreement"]


def run_score(given, expected):
    arguments = (float(given["value"]), given["min"], given["max"])
    if expected.get("raises"):
        with pytest.raises(ConfigurationError):
            normalise_score(*arguments)
    else:
        assert normalise_score(*arguments) == pytest.approx(expected["normalized"], abs=1e-6)


def workspace_judge(given, folder):
    """The judge that a case is about, and what else its Case needs; the files it speaks of are in the folder."""
    work = folder / "work"
    work.mkdir()
    for name, text in given.get("files", {}).items():
        (work / name).write_text(text)
    match given["judge"]:
        case "file_exists":
            return FileExists(given["path"])
        case "file_content":
            return FileContent(given["path"], given["expected"])
        case "command":
            return Command([sys.executable if given["argv"][0] == "python" else given["argv"][0], *given["argv"][1:]])
        case "superset_diff":
            assert given["expected_files"] is None
            return DirectorySuperset()
        case "text_file":
            (folder / "expected").mkdir()
            (folder / "expected" / "a.txt").write_text(given["expected_text"])
            (work / "a.txt").write_text(given["actual_text"])
            return FilesMatch(folder / "expected")


def run_deterministic(given, expected):
    with TemporaryDirectory() as folder:
        judgment = workspace_judge(given, Path(folder)).judge(workspace=Path(folder) / "work")
    assert judgment.status == expected["status"]
    if "checks" in expected:
        assert {check.name: check.passed for check in judgment.findings} == expected["checks"]
    assert set(expected.get("metadata_keys", ())) <= judgment.metadata.keys()


RUNNERS = {
    "alpha": run_alpha,
    "cascade": run_cascade,
    "composition": run_composition,
    "defaults": run_defaults,
    "deterministic": run_deterministic,
    "ensemble.fields": run_ensemble,
    "item_agreement": run_item_agreement,
    "labels.vote": run_labels,
    "quorum": run_quorum,
    "quorum.bias": run_bias,
    "quorum.confidence_band": run_band,
    "score": run_score,
    "voting.average": run_vote,
    "voting.consensus": run_vote,
    "voting.error_policy_matrix": run_vote,
    "voting.majority": run_vote,
    "voting.median": run_vote,
    "voting.weighted_average": run_vote,
}
LISTED = {id_ for id_, case in CASES.items() if case["family"] in LATER_FAMILIES} | set(LATER_CASES) | set(NOT_ADOPTED)
RUN = [id_ for id_, case in CASES.items() if case["family"] in RUNNERS and id_ not in LISTED]


@pytest.mark.parametrize("case_id", RUN)
def test_case(case_id):
    case = CASES[case_id]
    RUNNERS[case["family"]](case["input"], case["expected"])


def test_the_defaults_of_a_critic_are_the_known_ones_without_a_vendor():
    expected = {**CASES["dfl-01"]["expected"], "vendor": None}
    expected.pop("system_prompt_nonempty")
    for known, ours in (("timeout", "request_timeout"), ("http_client", "client")):
        expected[ours] = expected.pop(known)
    defaults = {name: p.default for name, p in inspect.signature(Critic).parameters.items()}
    assert {name: defaults[name] for name in expected} == expected
    assert Rubric.model_fields["system_prompt"].default.strip()


def test_every_case_is_run_or_listed_with_a_reason():
    assert len(CASES) == len(FILE["cases"])
    assert set(RUN) | LISTED == set(CASES)
    assert not set(RUN) & LISTED
    assert set(RUNNERS) | set(LATER_FAMILIES) == {case["family"] for case in CASES.values()}
    assert not set(RUNNERS) & set(LATER_FAMILIES)


# The cases of the data do not say why a judge abstains or breaks.
_EXPLAINED = {"reasoning": "so it is", "error": "broken"}
