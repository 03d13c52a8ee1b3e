"""Jurors of the contract tests: they say what they are told to, and know how often they were asked."""

from itertools import product

from jury_adapters import Check, Ensemble, Judgment, Status

PASS, FAIL = Judgment(status="PASS"), Judgment(status="FAIL")
ABSTAIN = Judgment(status="ABSTAIN", reasoning="cannot say")
ERROR = Judgment(status="ERROR", error="down")
LETTERS = {"P": PASS, "F": FAIL, "-": ABSTAIN, "!": ERROR}


class Says(Check):
    """Judge that always says the same; it raises an exception, and fails loudly if its judgment is None."""

    def __init__(self, said, name="", *, cost=0.0, labels=(), log=None, timeout=None):
        self.name, self.cost, self.timeout = name, cost, timeout
        self.labels = {label: Status(meaning) for label, meaning in dict(labels).items()}
        self._said, self._log = said, [] if log is None else log

    @property
    def asked(self):
        return len(self._log)

    def check(self, case):
        self._log.append(self.name)
        if isinstance(self._said, BaseException):
            raise self._said
        return self._said


def votes_of(text):
    """Return judgments written as letters: P, F, - for ABSTAIN, ! for ERROR."""
    return [LETTERS[letter] for letter in text]


def jurors_of(text):
    return [Says(vote, f"j{place}") for place, vote in enumerate(votes_of(text))]


def result(judgment):
    """Return what a count must agree on."""
    return judgment.status.value, judgment.label


def labelled(label, status="LABEL", **fields):
    return Judgment(status=status, label=label, **{"reasoning": "said so"} | fields)


def scored(score, status):
    return Judgment(status=status, score=score)


def sure(confidence, status):
    return Judgment(status=status, confidence=confidence)


A, B, C, GOOD, ODD = (
    labelled("A"), labelled("B"), labelled("C"), labelled("good", "PASS"), labelled("odd"),
)  # fmt: skip
STATUSES = ({}, (PASS, FAIL, ABSTAIN))
SCORES = ({}, (PASS, FAIL, scored(0.7, "PASS"), scored(0.4, "FAIL"), ABSTAIN))
SURE = ({}, (PASS, FAIL, sure(0.3, "PASS"), sure(0.0, "FAIL"), ABSTAIN))
TWO = ({"A": "LABEL", "B": "LABEL"}, (A, B, PASS, FAIL, ABSTAIN))
THREE = ({"A": "LABEL", "B": "LABEL", "C": "LABEL"}, (A, B, C, PASS, FAIL, ABSTAIN))
SURE_LABELS = ({"A": "LABEL", "B": "LABEL"}, (A, labelled("A", confidence=0.4), B, PASS, FAIL, ABSTAIN))
RATED = ({"good": "PASS", "bad": "FAIL"}, (GOOD, labelled("bad", "FAIL"), PASS, FAIL, ABSTAIN))
MIXED = (
    {"good": "PASS", "odd": "LABEL", "N/A": "ABSTAIN"},
    (GOOD, ODD, PASS, FAIL, ABSTAIN),
)  # fmt: skip


def every(**choices):
    """Return all combinations of options."""
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


TIES = (None, "fail", "pass", "abstain", "first")
SHARES = (0, 0.5, "2/3", 0.8)
RELIABILITIES = (((0.9, 0.8), (0.7, 0.6), (0.55, 0.9), (0.5, 0.5)), ((0.6, 0.6),) * 4, ((0.99, 0.2),) * 4)
# The rules with all their options, and what the jurors may say.
RULES = {
    "majority": ("majority", every(tie=TIES, priority=((), ("PASS",)), min_share=SHARES), STATUSES),
    "majority by confidence": ("majority", every(use_confidence=[True], tie=TIES, min_share=(0, "2/3")), SURE),
    "majority of two labels": ("majority", every(tie=(*TIES, "B"), priority=((), ("B", "FAIL"))), TWO),
    "majority share of two labels": ("majority", every(tie=(None, "abstain"), min_share=SHARES[1:]), TWO),
    "majority of three labels": ("majority", every(tie=(None, "abstain", "C"), min_share=(0, 0.5)), THREE),
    "majority of labels by confidence": ("majority", every(use_confidence=[True], tie=(None, "abstain")), SURE_LABELS),
    "majority of rated labels": ("majority", every(on=["label"], tie=(None, "abstain", "bad")), RATED),
    "majority of ratings": ("majority", every(tie=(None, "first")), RATED),
    "majority of mixed labels": ("majority", every(tie=(*TIES, "good", "odd", "N/A"), priority=((), ("odd",))), MIXED),
    "majority of mixed labels by status": ("majority", every(on=["status"], tie=(None, "abstain")), MIXED),
    "unanimous": ("unanimous", every(on_split=("fail", "abstain", "SPLIT")), STATUSES),
    "unanimous labels": ("unanimous", every(on_split=("fail", "abstain", "SPLIT", "A")), TWO),
    "unanimous rated labels": ("unanimous", every(on=["label", "status"], on_split=("fail", "bad")), RATED),
    "unanimous mixed labels": ("unanimous", every(on_split=("fail", "abstain", "SPLIT", "odd")), MIXED),
    "veto": ("veto", every(k=(1, 2, 3)), STATUSES),
    "veto of labels": ("veto", every(k=(1, 2)), MIXED),
    "quorum": ("quorum", every(quorum=(0, 0.34, 0.5, 0.67, "2/3", 1)), STATUSES),
    "quorum of scores": ("quorum", every(quorum=(0.5, 0.67), threshold=(0.0, 0.5, 0.7, 1.0)), SCORES),
    "average": ("average", every(threshold=(0.0, 0.4, 0.5, 0.7, 1.0)), SCORES),
    "median": ("median", every(threshold=(0.0, 0.4, 0.5, 0.55, 0.7, 1.0)), SCORES),
    "bayes": (
        "bayes", every(reliabilities=RELIABILITIES, prior=(0.2, 0.5), threshold=(0.3, 0.5, 0.9)), STATUSES,
    ),
}  # fmt: skip
SHARED = ("majority", "unanimous", "veto", "quorum", "bayes")  # rules whose confidence is a share of what may be voted
# What may be set beside the rule; weights and required jurors are those of the first jurors.
CIRCUMSTANCES = [
    {},
    *({"weights": weights} for weights in ((1, 2, 3, 0.5), (0, 1, 1, 2), (1, 0, 0, 0))),
    *({"required": required} for required in ((0,), (0, 1))),
    *({"min_votes": number} for number in (2, 3)),
    *({"errors": policy} for policy in ("fail", "abstain", "ignore")),
    {"weights": (0, 1, 1, 2), "required": (0,), "min_votes": 2},
    {"weights": (2, 1, 0, 1), "required": (1,), "errors": "fail"},
    {"required": (1,), "min_votes": 2, "errors": "ignore"},
]


def jury_of(rule, options, labels, size, circumstances=None):
    given = {**options, **(circumstances or {})}
    if "weights" in given:
        given["weights"] = given["weights"][:size]
    given |= {name: min(given[name], size) for name in ("k", "min_votes") if name in given}
    if "reliabilities" in given:
        given["reliabilities"] = given["reliabilities"][:size]
    given["required"] = [f"j{place}" for place in given.get("required", ()) if place < size]
    return Ensemble([Says(None, f"j{place}", labels=labels) for place in range(size)], voting=rule, **given)
