"""The behaviour facts of the seed systems in cases.json: each is run, or listed with the step that covers it."""

import json
from itertools import zip_longest
from pathlib import Path

import pytest
from fact_tables import each_row
from jurors import PASS, Says
from pydantic import ValidationError

from jury_adapters import CascadedJury, ConfigurationError, Ensemble, Judgment, Tier, all_of, any_of, judge
from jury_adapters.voting import krippendorff_alpha, pairwise_agreement

FACTS = {
    fact["id"]: fact for fact in json.loads((Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))["cases"]
}

CRITIC, COMPAT, WORKSPACES, STATS = (
    "critic (step 2)", "compat.cross_judge (step 3)", "workspace (step 4)", "stats (step 5)",
)  # fmt: skip
LATER_FAMILIES = {
    "critic.parse": CRITIC,
    "rag": CRITIC,
    "llm.correctness": CRITIC,
    "label_classifier": CRITIC,
    "deterministic": WORKSPACES,  # tests/workspace/test_workspace_conformance.py
}
LATER_FACTS = {
    "dfl-01": CRITIC,
    "sco-02": f"{CRITIC}: Scale",
    "sco-04": f"{CRITIC}: Scale",
    **dict.fromkeys(("ens-02", "ens-03", "ens-05", "ens-07"), COMPAT),  # query_id, keyword names, the caller's dict
    **dict.fromkeys(("lab-27", "lab-28", "lab-29", "lab-30"), COMPAT),  # avg_confidence and agreement_pct
    "cmp-14": "not adopted: majority is the default, which dfl-03 asks for",
}
LATER_FIELDS = {"avg_confidence": COMPAT, "agreement_pct": COMPAT, "informative": STATS}

# A broken juror is a missing vote. Facts that this changes, with the policy that holds them, and the status that 1.0
# gives. No policy is that of PROPAGATE: PASS, ERROR and ABSTAIN average to at least 0.5 whatever the broken juror says.
DEVIATIONS = {
    "maj-18": ("fail", "ERROR"),
    "lab-07": ("ignore", "ERROR"),
    "lab-18": ("ignore", "ERROR"),
    "err-weighted_average-propagate": (None, "PASS"),
}
# The seed's default of 0.7 for the score from which a juror passes is given; ours is what the juror says.
GIVEN = {"quo-14": {"threshold": 0.7}, "quo-15": {"threshold": 0.7}}

ERRORS = {"TREAT_AS_FAIL": "fail", "TREAT_AS_ABSTAIN": "abstain", "IGNORE": "ignore", "PROPAGATE": "missing"}
NEEDED = {"reasoning": "so it is", "error": "broken"}  # the facts do not say why a judge abstains or breaks


def judgment_of(given):
    needed = {"ABSTAIN": ["reasoning"], "ERROR": ["error"]}.get(given["status"], [])
    return Judgment(**{name: NEEDED[name] for name in needed}, **given)


def jury_of(given, **options):
    judgments = [judgment_of(one) for one in given["judgments"]]
    labels = dict.fromkeys((one.label for one in judgments if one.label), "PASS")
    if "error_policy" in given:
        options["errors"] = ERRORS[given["error_policy"]]
    if "tie_policy" in given and given["strategy"] == "majority":
        options["tie"] = given["tie_policy"].lower()
    if "weights" in given:
        options["weights"] = given["weights"]
    return Ensemble([Says(one, labels=labels) for one in judgments], voting=given["strategy"], **options)


def facts_of(verdict, errors="missing", fallback=None):
    """Return what a verdict says, in the words of the facts."""
    inside = verdict.judgments[-1].judgments if verdict.tiers else verdict.judgments
    number = {status: sum(one.status == status for one in inside) for status in ("PASS", "FAIL", "ABSTAIN", "ERROR")}
    failed = number["FAIL"] + (number["ERROR"] if errors == "fail" else 0)
    return {
        "status": verdict.status.value,
        "score": pytest.approx(verdict.score, abs=1e-6),
        "tie": verdict.tied,
        "unanimous": len(set(verdict.ballots)) == 1,
        "disagreement": len(set(verdict.ballots)) > 1,
        "eligible": number["PASS"] + failed if verdict.decided else 0,
        "counts": {
            "passed": number["PASS"], "failed": failed, "abstained": number["ABSTAIN"], "errors": number["ERROR"],
        },
        "stopped_at": verdict.stopped_at,
        "tiers_run": [*verdict.tiers],
        "failed_tiers": [name for name, one in verdict.tiers.items() if one.status == "ERROR"],
        "individual": [one.status.value for one in inside if one.status != "ERROR"],
        "failed_members": number["ERROR"],
        "sub_verdicts": sum(bool(one.judgments) for one in verdict.judgments),
        "named_results": len(verdict.by_name),
        "names": [*verdict.by_name],
        "consensus": verdict.label or (fallback if verdict.status == "ABSTAIN" else verdict.status.value),
        "voting": verdict.voting,
        "n_verdicts": len(verdict.judgments),
        "n_errors": number["ERROR"],
        "passed": verdict.passed,
        "raises": False,
    }  # fmt: skip


def check(verdict, expected, **details):
    found = facts_of(verdict, **details)
    expected = {name: value for name, value in expected.items() if name not in LATER_FIELDS}
    if "counts" in expected:
        found["counts"] = {name: found["counts"][name] for name in expected["counts"]}
    assert {name: found[name] for name in expected} == expected


def run_vote(given, expected, **options):
    if expected.get("raises"):
        with pytest.raises(ConfigurationError):
            jury_of(given)
        return
    jury = jury_of(given, **options)
    check(jury.judge("?"), expected, errors=jury.counts.errors)


def run_labels(given, expected, **options):
    if "resolve" in given:
        with pytest.raises(ConfigurationError):
            Ensemble([Says(PASS)], voting=given["resolve"])
        return
    labels = dict.fromkeys((one["kind"] for one in given["verdicts"]), "LABEL")
    jurors = [
        Says(
            RuntimeError(one["error"])
            if "error" in one
            else Judgment(status="LABEL", label=one["kind"], confidence=one["confidence"]),
            one["critic_id"],
            labels=labels,
        )
        for one in given["verdicts"]
    ]
    rule, own = given["voting"], dict(given.get("kwargs", {}))
    fallback = own.pop("fallback", None)
    if rule in ("unanimous", "first_disagreement"):
        rule, own["on_split"] = "unanimous", fallback or "SPLIT"
    jury = Ensemble(jurors, voting=rule, weights=given.get("critic_weights"), **own, **options)
    check(jury.judge("?"), expected, errors=jury.counts.errors, fallback=fallback)


def run_ensemble(given, expected):
    if "voting_callable_name" in given:

        def rule(votes):
            return given["returns"][0]

        rule.__name__ = given["voting_callable_name"]
        check(Ensemble([Says(PASS)], voting=rule).judge("?"), expected)
    elif "critics" in given:
        said = {"ok": PASS, "broken_template": KeyError("no such field")}
        verdict = Ensemble([Says(said[one]) for one in given["critics"]]).judge("?")
        check(verdict, expected)
        assert verdict.status == "PASS"
    else:
        run_labels(given, expected)


def tier_of(given):
    if given.get("throws"):
        inside = Says(KeyError("broken tier"))
    elif "nested_cascade" in given:
        inside = CascadedJury(map(tier_of, given["nested_cascade"]["tiers"]))
    else:
        inside = jury_of(given)
    return Tier(given["name"], inside, given["policy"])


def run_cascade(given, expected):
    if expected.get("raises"):
        with pytest.raises(ConfigurationError, match=expected.get("mentions")):
            CascadedJury(map(tier_of, given["tiers"]))
        return
    check(CascadedJury(map(tier_of, given["tiers"])).judge("?"), expected)


def run_composition(given, expected):
    if "meta" in given:
        members = [
            Says(KeyError("broken member")) if one.get("throws") else jury_of({"strategy": "majority", **one})
            for one in given["meta"]["members"]
        ]
        check(Ensemble(members, voting=given["meta"]["strategy"]).judge("?"), expected)
    elif "judges" in given:
        check(Ensemble([judge(lambda case: True, name=name or "") for name in given["judges"]]).judge("?"), expected)
    elif "jury" in given:
        jurors = [Says(judgment_of({"status": status}), name) for name, status in given["jury"]["judges"]]
        check(Ensemble(jurors, voting=given["jury"]["strategy"]).judge("?"), expected)
    else:
        log = []
        jurors = [Says(judgment_of(one), log=log) for one in given["judgments"]]
        compose = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "all_of": all_of, "any_of": any_of}[given["op"]]
        assert {"status": compose(*jurors).judge("?").status.value, "judges_run": len(log)} == expected


def run_quorum(given, expected, **options):
    if "juror_passes" in given:
        judgments = [Judgment(status="PASS" if passed else "FAIL") for passed in given["juror_passes"]]
    else:
        outputs = given.get("juror_outputs") or [{"pass": True, "score": score} for score in given["juror_scores"]]
        judgments = [Judgment(status="PASS" if one["pass"] else "FAIL", score=one["score"]) for one in outputs]
    options |= {"voting": "quorum", "quorum": given["quorum"]}
    if expected.get("raises"):
        with pytest.raises(ConfigurationError):
            Ensemble(map(Says, judgments), **options)
        return
    assert Ensemble(map(Says, judgments), **options).judge("?").passed is expected["passed"]
    if "juror_passes" in expected:
        alone = [Ensemble([Says(one)], **options | {"quorum": 1}).judge("?").passed for one in judgments]
        assert alone == expected["juror_passes"]


def agreeing(alpha, **fields):
    """Return a verdict of two jurors whose scores agree by exactly this much."""
    jurors = [Judgment(status="PASS", score=score, model="gpt-4o") for score in (0.0, round(1 - alpha, 9))]
    verdict = Judgment(status="PASS", voting="average", judgments=jurors, **fields)
    assert verdict.agreement == pytest.approx(alpha)
    return verdict


def run_band(given, expected):
    if "gate" in given:
        single = Ensemble([Says(PASS)]).judge("?")
        assert single.agreement is None
        assert single.require(min_agreement=given["gate"]["minimum"]) is single
        return
    verdict = agreeing(given["alpha"])
    review = "low_agreement" in verdict.review_reasons
    assert {"confidence": verdict.agreement_band, "escalate_for_review": review} == expected


def run_bias(given, expected):
    if "jurors" in given:
        jury = Ensemble([Says(Judgment(status="PASS", model=model)) for model in given["jurors"]])
        assert jury.judge("?", generator=given["generator"]).same_family is expected["same_family"]
    else:
        verdict = agreeing(given["alpha"], generator="gpt-5" if given["same_family"] else "claude-sonnet-4-5")
        assert verdict.same_family is given["same_family"]
        assert (verdict.bias_warning is not None) is expected["bias_warning_set"]


def run_alpha(given, expected):
    units = given["units_by_raters"] if "units_by_raters" in given else [*zip_longest(*given["raters_by_units"])]
    for level in given.get("levels", [given.get("level")]):
        alpha = krippendorff_alpha(units, level)
        if "equal" in expected:
            assert alpha == krippendorff_alpha(zip(*given["also"], strict=True), level)
        else:
            assert alpha == pytest.approx(expected["alpha"], abs=1e-6)
            assert round(alpha, 3) == expected.get("rounded", round(alpha, 3))
    if "mean_pairwise_agreement" in expected:
        items = [pairwise_agreement([one for one in unit if one is not None]) for unit in units]
        assert sum(items) / len(items) == pytest.approx(expected["mean_pairwise_agreement"], abs=1e-6)


def run_item_agreement(given, expected):
    said = [
        {"status": "LABEL", "label": label} if label else {"status": "ABSTAIN", "reasoning": "cannot say"}
        for label in given["labels"]
    ]
    verdict = Ensemble([Says(Judgment(**one), labels={"K": "LABEL", "R": "LABEL"}) for one in said]).judge("?")
    found = {
        "pairwise_agreement": verdict.agreement,
        "modal_share": verdict.confidence,
        "unanimous": len(set(verdict.ballots)) == 1,
        "valid": len(verdict.ballots),
    }
    assert {name: found[name] for name in expected} == expected


def run_score(given, expected):
    assert expected == {"raises": True}
    with pytest.raises(ValidationError):
        Judgment(status="PASS", score=float(given["value"]))


def run_defaults(given, expected):
    assert given["class"] == "Ensemble"
    assert Ensemble([Says(PASS)]).judge("?").voting == expected["voting"]
    assert expected["voting_kwargs"] == {}
    assert Ensemble([Says(PASS)], voting="majority").judge("?").status == "PASS"


RUNNERS = {
    "alpha": run_alpha,
    "cascade": run_cascade,
    "composition": run_composition,
    "defaults": run_defaults,
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
RUN = [name for name, fact in FACTS.items() if fact["family"] in RUNNERS and name not in LATER_FACTS]


@each_row("name", [name for name in RUN if DEVIATIONS.get(name, [name])[0]])
def test_a_fact_holds(name: str) -> None:
    fact = FACTS[name]
    options = {"errors": DEVIATIONS[name][0]} if name in DEVIATIONS else GIVEN.get(name, {})
    RUNNERS[fact["family"]](fact["input"], fact["expected"], **options)


@each_row("name", DEVIATIONS)
def test_the_default_of_errors_is_the_one_deviation(name: str) -> None:
    fact = FACTS[name]
    assert fact["input"].get("error_policy", "PROPAGATE") == "PROPAGATE"
    assert fact["expected"].get("status") != DEVIATIONS[name][1]
    RUNNERS[fact["family"]](fact["input"], {"status": DEVIATIONS[name][1]})


def test_every_fact_is_run_or_listed_and_the_lists_are_no_longer_than_needed() -> None:
    later = {name for name, fact in FACTS.items() if fact["family"] in LATER_FAMILIES} | {*LATER_FACTS}
    assert len(FACTS) == 190
    assert {*RUN} | later == {*FACTS}
    assert not {*RUN} & later
    assert {*RUNNERS} | {*LATER_FAMILIES} == {fact["family"] for fact in FACTS.values()}
    assert not {*RUNNERS} & {*LATER_FAMILIES}
    assert {FACTS[name]["family"] for name in LATER_FACTS} <= {*RUNNERS}
    assert {*DEVIATIONS} | {*GIVEN} <= {*RUN}
    assert {*LATER_FIELDS} <= {field for name in RUN for field in FACTS[name]["expected"]}
