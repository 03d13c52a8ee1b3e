"""Early stopping of an audit: operators whose rates are known well enough are asked about no more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from jury_adapters.audit.asking import Answers, Asking
from jury_adapters.audit.figures import share_of
from jury_adapters.audit.looks import LOOKS, AskedProbes, Block, asked_probes, block_of, looks_of
from jury_adapters.audit.probes import Probe


def ask_all(asking: Asking, probes: Sequence[Probe]) -> AskedProbes:
    """Ask about all probes."""
    asking.ask(probes)
    return AskedProbes(probes, probes)


def ask_until_known(asking: Asking, probes: Sequence[Probe], precision: float, *, every_juror: bool) -> AskedProbes:
    """Ask about each operator, change and hostile text until its rate is known well enough.

    There are looks after half and after all of the probes. The first stops each operator whose rate has an interval of
    at most ``precision`` to both sides. The intervals are those of Bonferroni's method for all
    looks: they hold at the look at which asking was stopped, whichever that is.

    Args:
        asking: the jury, and its answers so far.
        probes: the probes of the audit.
        precision: half the width of the interval.
        every_juror: whether the rates of all jurors must be known, and not only that of the jury.

    Source: C. Jennison and B. W. Turnbull (2000), *Group Sequential Methods with Applications to Clinical Trials*,
    chapter 9, for repeated confidence intervals.
    """
    looks = looks_of(probes)
    by_number = {probe.number: probe for probe in probes}
    blocks: dict[Block, list[Probe]] = defaultdict(list)
    for probe in probes:
        blocks[block_of(probe)].append(probe)
    last: dict[Block, int] = {}
    going_on = list(blocks)
    for look in range(LOOKS):
        due = [probe for block in going_on for probe in blocks[block] if looks[probe.number] == look]
        bases = [by_number[probe.base] for probe in due if probe.base is not None]
        wanted = {probe.number: probe for probe in (*bases, *due) if probe.number not in asking.verdicts}
        asking.ask([wanted[number] for number in sorted(wanted)])
        last.update(dict.fromkeys(going_on, look))
        answers = [asking.verdicts, *(juror.answers for juror in asking.jurors if every_juror)]
        going_on = [
            block for block in going_on
            if block[0] == "original"
            or not _is_known([one for one in blocks[block] if looks[one.number] <= look], answers, precision)
        ]  # fmt: skip
    return asked_probes(probes, last)


def _is_known(probes: Sequence[Probe], answers: Sequence[Answers], precision: float) -> bool:
    """Return whether the rates of all subjects are known well enough.

    A subject that gives FAIL to the given answers learns nothing from answers made from them, and is left out.
    """
    shares = [share_of(probes, one, LOOKS) for one in answers]
    counted = [share for share in shares if share.n or share.undecided]
    return bool(counted) and all(high - low <= 2 * precision for low, high in (share.interval for share in counted))
