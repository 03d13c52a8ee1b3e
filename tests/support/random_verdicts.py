"""Random verdicts with few words, so that many of them count alike, and copies that differ in one place."""

from dataclasses import replace

from jury_adapters.core.judgment import Finding, Judgment, evolve
from jury_adapters.core.tally import Tally
from jury_adapters.core.usage import Usage
from jury_adapters.core.verdict import SCORECARD, TierResult, Verdict

POLICIES = (("accept_on_all_pass", "final"), ("reject_on_any_fail", "escalate_on_split", "final"), ("final",))


class RandomVerdicts:
    """Verdicts from one random generator.

    Args:
        draw: the generator.
    """

    def __init__(self, draw):
        self.draw = draw

    def verdict(self, name="jury", depth=0, case_metadata=None):
        status, values = self._common(name)
        if case_metadata is not None:
            values |= {"case_id": case_metadata.get("item_id"), "case_metadata": case_metadata}
        values["same_family"] = self.draw.choice([None, True, False])
        kind = self.draw.choice(["panel", "panel", "panel", "scorecard", "cascade", "pairwise"])
        if kind == "scorecard":
            judgments = [self.judgment(one, depth) for one in ("tone", "facts")]
            return Verdict(status, judgments=judgments, voting=SCORECARD, tally=self._tally(judgments), **values)
        if kind == "cascade":
            return self._cascade(status, values, depth)
        if kind == "pairwise":
            values["metadata"] = {**values["metadata"], "position_consistent": self.draw.choice([True, False, None])}
            return Verdict(status, judgments=[self.judgment(one, 9) for one in ("AB", "BA")], **values)
        judgments = [self.judgment(one, depth) for one in self.draw.choice([("a", "b"), ("a", "b", "c")])]
        return Verdict(
            status, judgments=judgments, voting="majority",
            weights=self.draw.choice([(), (1,) * len(judgments)]), tally=self._tally(judgments),
            partial=self.draw.random() < 0.2, calls_saved=self.draw.choice([0, 0, 1]),
            skipped=self.draw.choice([(), ("d",)]), **values,
        )  # fmt: skip

    def judgment(self, name, depth=0):
        if depth < 2 and self.draw.random() < 0.2:
            return self.verdict(name, depth + 1)
        status, values = self._common(name)
        return Judgment(status, **values)

    def changed(self, judgment):
        """Return a copy of a judgment that differs in one place: in itself, or in one that is inside it."""
        inside = getattr(judgment, "judgments", ())
        if inside and self.draw.random() < 0.5:
            place = self.draw.randrange(len(inside))
            return evolve(judgment, judgments=(*inside[:place], self.changed(inside[place]), *inside[place + 1 :]))
        tiers = getattr(judgment, "tiers", ())
        if tiers and self.draw.random() < 0.5:
            place = self.draw.randrange(len(tiers))
            return evolve(judgment, tiers=(*tiers[:place], self._changed_tier(tiers[place]), *tiers[place + 1 :]))
        other = self.verdict(judgment.critic) if isinstance(judgment, Verdict) else self.judgment(judgment.critic, 9)
        names = [name for name in type(judgment).__dataclass_fields__ if name not in ("judgments", "tiers")]
        name = self.draw.choice(names)
        return evolve(judgment, **{name: getattr(other, name)})

    def _changed_tier(self, tier):
        changes = {
            "judgment": self.changed(tier.judgment), "broken": not tier.broken, "stopped": not tier.stopped,
            "why": "another reason", "name": "other", "policy": "escalate_on_split",
        }  # fmt: skip
        name = self.draw.choice(list(changes))
        return replace(tier, **{name: changes[name]})

    def _cascade(self, status, values, depth):
        tiers = [
            TierResult(
                f"tier {at}", policy, self.judgment(f"judge {at}", depth), self.draw.random() < 0.4,
                self.draw.random() < 0.2, self.draw.choice(["it went on", "it stopped"]),
            )
            for at, policy in enumerate(self.draw.choice(POLICIES))
        ]  # fmt: skip
        judgments = getattr(tiers[-1].judgment, "judgments", ())
        return Verdict(
            status, judgments=judgments, tiers=tiers, stopped_at=tiers[-1].name,
            decision=self.draw.choice(["rejected", "accepted", "final"]),
            skipped=self.draw.choice([(), ("tier 9",), ("abstained",)]), **values,
        )  # fmt: skip

    def _tally(self, judgments):
        on = self.draw.choice(["status", "status", "label", "score"])
        ballots = tuple(one.numeric_score if on == "score" else one.ballot for one in judgments)
        voted = sum(ballot is not None for ballot in ballots)
        odd = self.draw.random() < 0.1
        return Tally(on, voted, ballots=ballots, tied=odd, errors_decided=self.draw.random() < 0.1)

    def _common(self, name):
        draw = self.draw
        status = draw.choice(["PASS", "PASS", "FAIL", "FAIL", "ABSTAIN", "ERROR", None])
        values = {
            "critic": name, "reasoning": draw.choice(["", "short", "née"]), "usage": self._usage(),
            "metadata": self._metadata(),
        }  # fmt: skip
        if draw.random() < 0.5:
            values |= {"confidence": draw.choice([0.0, 0.4, 1.0]), "elapsed_s": draw.choice([0, 0.5])}
        if draw.random() < 0.5:
            values |= {"model": draw.choice(["m1", "m2"]), "family": draw.choice(["openai", None])}
        if status is None:
            values["label"] = draw.choice(["A", "tie"])
        elif status == "ABSTAIN":
            values |= {"reasoning": draw.choice(["no contexts", "unsure"])}
            values |= {"error": draw.choice([None, "parse_fail", "budget_exhausted"])}
        elif status == "ERROR":
            values |= {"error": draw.choice(["timeout", "budget_exhausted", "down (status 503, request req_1)"])}
        elif draw.random() < 0.5:
            values |= {"label": {"PASS": "valid", "FAIL": "invalid"}[status], "score": draw.choice([None, 0.0, 0.7])}
        if draw.random() < 0.1:
            values["findings"] = (Finding("claim", draw.choice([True, None])),)
        return status, values

    def _usage(self):
        if self.draw.random() < 0.3:
            return Usage()
        complete = self.draw.random() < 0.7
        usage = Usage(input_tokens=9, calls=self.draw.randint(0, 1), cost_usd=0.01, cost_complete=complete)
        return usage.as_recorded() if self.draw.random() < 0.4 else usage

    def _metadata(self):
        entries = {
            "empty_answer": True, "rubric_fingerprint": self.draw.choice(["r1", "r2"]), "run_error": "it broke",
            "fallback_used": {"judge": self.draw.choice(["f1", "f2"])}, "not_asked": self.draw.choice(["m1", "m2"]),
            "rating": self.draw.choice([1, 4]), "anything": self.draw.random(),
        }  # fmt: skip
        return {name: value for name, value in entries.items() if self.draw.random() < 0.08}
