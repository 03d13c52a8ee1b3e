"""CascadedJury, a jury of tiers from cheap to costly, and the policies that say where it stops."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from jury_adapters.core.case import Case
from jury_adapters.core.judge import Judge, JudgeLike, ask, judge_of
from jury_adapters.core.judgment import Judgment, Status, Usage, total_usage
from jury_adapters.core.values import ROUNDING, ConfigurationError

Policy = Literal["reject_on_any_fail", "accept_on_all_pass", "escalate_on_split", "escalate_below", "final"]


@dataclass(frozen=True)
class Tier:
    """Tier of a cascade: a judge, and the policy that says when the cascade stops there.

    Attributes:
        name: the name in verdicts.
        judge: a judge or a function.
        policy: ``reject_on_any_fail`` stops with FAIL if one judge says FAIL. ``accept_on_all_pass`` stops with PASS if
            all say PASS. ``escalate_on_split`` stops where all judges agree and none broke. ``escalate_below`` stops
            where the confidence reaches ``confidence``. ``final`` always stops. Names in capitals, and ``FINAL_TIER``,
            are accepted.
        confidence: the confidence for ``escalate_below``, 0..1.
        if_broken: what a broken judge does in ``reject_on_any_fail``: the case goes on (``escalate``) or is FAIL
            (``reject``).

    Raises:
        ConfigurationError: there is no such policy, or the judge of a tier that is not final stops early.
    """

    name: str
    judge: JudgeLike
    policy: str = "final"
    confidence: float = 0.8
    if_broken: Literal["escalate", "reject"] = "escalate"

    def __post_init__(self) -> None:
        policy = str(self.policy).lower().removesuffix("_tier")
        if policy not in get_args(Policy):
            raise ConfigurationError(f"policy= is {', '.join(get_args(Policy))}; not {self.policy!r}")
        if not (isinstance(self.confidence, int | float) and 0 <= self.confidence <= 1 and self.name) or (
            self.if_broken not in ("escalate", "reject")
        ):
            raise ConfigurationError("a tier has a name, a confidence= in 0..1, and if_broken= 'escalate' or 'reject'")
        if self.if_broken == "reject" and policy != "reject_on_any_fail":
            raise ConfigurationError(f"if_broken= goes with the policy reject_on_any_fail, not {policy}")
        judge = judge_of(self.judge)
        if policy != "final" and judge.stops_early:
            raise ConfigurationError(
                f"tier {self.name!r} stops early; only the final tier may, since other policies read all votes"
            )
        object.__setattr__(self, "judge", judge)
        object.__setattr__(self, "policy", policy)

    def decide(self, judgment: Judgment) -> tuple[Status | None, str]:
        """Return the status with which the cascade stops here (None: it goes on), and why."""
        said = judgment.judgments if judgment.on else (judgment,)  # the votes; other juries say one thing together
        return _POLICIES[self.policy](self, judgment, said)


_Said = tuple[Judgment, ...]
_Decision = tuple[Status | None, str]


SCREENING = {"reject_on_any_fail": "no FAIL", "accept_on_all_pass": "not all said PASS"}
"""Policies of tiers that decide by a rule on all votes, and why a cascade goes on after such a tier."""


def _reject_on_any_fail(tier: Tier, _: Judgment, said: _Said) -> _Decision:
    failed = [one.critic for one in said if one.status is Status.FAIL]
    if failed:
        return Status.FAIL, f"{', '.join(failed)} said FAIL, and one FAIL rejects"
    if tier.if_broken == "reject" and any(one.is_missing for one in said):
        return Status.FAIL, "a judge broke, and if_broken='reject'"
    return None, SCREENING[tier.policy]


def _accept_on_all_pass(tier: Tier, _: Judgment, said: _Said) -> _Decision:
    return (Status.PASS, "all said PASS") if all(one.passed for one in said) else (None, SCREENING[tier.policy])


def _escalate_on_split(_: Tier, judgment: Judgment, said: _Said) -> _Decision:
    cast = [one for one in (judgment, *said) if one.decided]
    votes = {one.ballot if judgment.on == "label" else one.status.value for one in cast}
    agree = judgment.decided and len(votes) == 1 and not any(one.is_missing for one in said)
    return (judgment.status, f"all said {judgment.ballot}") if agree else (None, "the judges do not all agree")


def _escalate_below(tier: Tier, judgment: Judgment, _: _Said) -> _Decision:
    if not judgment.decided or judgment.confidence is None:
        return None, "no confidence"
    sure = judgment.confidence >= tier.confidence - ROUNDING
    return (
        judgment.status if sure else None,
        f"confidence {judgment.confidence:.2f} {'reaches' if sure else 'is below'} {tier.confidence:g}",
    )


_POLICIES: dict[str, Callable[[Tier, Judgment, _Said], _Decision]] = {
    "reject_on_any_fail": _reject_on_any_fail,
    "accept_on_all_pass": _accept_on_all_pass,
    "escalate_on_split": _escalate_on_split,
    "escalate_below": _escalate_below,
    "final": lambda _, judgment, __: (judgment.status, "the final tier decides"),
}


class CascadedJury(Judge):
    """Jury that asks its tiers in order until one can decide the case.

    The verdict says which tiers ran, where the cascade stopped and why. Label and confidence are those of the tier at
    which it stopped, unless its policy overruled the tier's vote; so is the score, if that tier passes from the same
    score as the last.

    Args:
        tiers: tiers with different names; the last, and only the last, is ``final``.
        name: the name in verdicts.

    Raises:
        ConfigurationError: there is no tier, a name occurs twice, or the last tier is not the final one
            (``FINAL_TIER``).

    >>> cheap = Tier("length", lambda case: len(case.answer) < 40, "reject_on_any_fail")
    >>> jury = CascadedJury([cheap, Tier("tone", lambda case: "!" not in case.answer)])
    >>> jury.judge(answer="No!").stopped_at
    'tone'
    """

    def __init__(self, tiers: Iterable[Tier], *, name: str = "") -> None:
        self.tiers, self.name = tuple(tiers), name or type(self).__name__
        if wrong := [one for one in self.tiers if not isinstance(one, Tier)]:
            raise ConfigurationError(
                f"a cascade is a list of tiers, Tier(name, judge, policy), not of {type(wrong[0]).__name__}"
            )
        names = [tier.name for tier in self.tiers]
        final = [tier.policy == "final" for tier in self.tiers]
        if not names or len(set(names)) < len(names) or any(final[:-1]) or not final[-1]:
            raise ConfigurationError(
                "a cascade is a list of tiers with different names, of which only the last has the policy final "
                f"(FINAL_TIER); not {[(tier.name, tier.policy) for tier in self.tiers]}"
            )
        self.cost = self.members[0].cost
        vocabularies = [one.labels for one in self.members]
        self.labels = (
            None if None in vocabularies else {label: one[label] for one in vocabularies if one for label in one}
        )
        self.pass_mark = self.members[-1].pass_mark

    @property
    def members(self) -> tuple[Judge, ...]:
        """The judges of the tiers."""
        return tuple(judge_of(tier.judge) for tier in self.tiers)

    def _parts(self) -> dict[str, Callable[[Case], Usage]]:
        return {tier.name: judge_of(tier.judge).estimate for tier in self.tiers}

    async def assess(self, case: Case) -> Judgment:
        """Ask the tiers in order until one decides."""
        ran: list[Judgment] = []
        for tier, judge in zip(self.tiers, self.members, strict=True):
            judgment = await ask(judge, case, judge.name or tier.name)
            status, why = tier.decide(judgment)
            by_rule = judgment.by_rule or (status is not None and tier.policy in SCREENING)
            ran.append(judgment.but(tier=tier.name, why=why, by_rule=by_rule))
            if status is not None:
                break
        return self._verdict(status or judgment.status, ran)  # the last tier always decides

    def _verdict(self, status: Status, ran: list[Judgment]) -> Judgment:
        last = ran[-1]
        own = status is last.status  # else the policy overrules the vote, and with it score, label and confidence
        said = (
            last.reasoning
            if own
            else "; ".join(one.reasoning for one in last.judgments if one.status is status and one.reasoning)
        )
        return Judgment(
            status=status,
            score=last.score if own and self.members[len(ran) - 1].pass_mark == self.pass_mark else None,
            label=last.label if own else None,
            confidence=last.confidence if own else None,
            reasoning=f"at {last.tier}: {said or last.why}",
            error=last.error if status is Status.ERROR else None,
            findings=last.findings,
            judgments=tuple(ran),
            voting="cascade",
            by_rule=last.by_rule,
            usage=total_usage(ran),
            skipped=tuple(tier.name for tier in self.tiers[len(ran) :]),
        )
