"""Judging of an application's runs inside a block.

>>> with judge_runs(lambda case: "Paris" in case.answer, on_verdict=print) as handler:
...     pass
"""

from __future__ import annotations

from typing import Unpack

from jury_adapters.core.background.blocks import Block
from jury_adapters.core.background.options import WatchOptions
from jury_adapters.core.background.shown_options import shows_options_of
from jury_adapters.core.evidence import EvidenceTools
from jury_adapters.core.field_map import FieldMapLike
from jury_adapters.core.judge_like import JudgeLike
from jury_adapters.llama_index.engines import Engines
from jury_adapters.llama_index.spans import JurySpanHandler


@shows_options_of(JurySpanHandler)
class judge_runs(Block):  # noqa: N801  used like a function
    """Judge every query, chat and agent run of this process inside a ``with`` (or ``async with``) block.

    At the end of the block, it detaches and waits up to ``exit_timeout`` seconds for the verdicts. To judge until the
    end of the process, use ``JurySpanHandler(jury, ...).attach()``. A call without a block judges nothing, and the log
    says so.

    Args:
        jury: any judge: a jury, a critic, a check, a function of a case.
        select: the runs to judge; see :class:`JurySpanHandler`.
        events: whether to also emit a :class:`JuryVerdictEvent` per judged run, for LlamaIndex's event handlers.
        evidence_tools: the tools of an agent whose outputs are contexts; see :class:`JurySpanHandler`.
        field_map: where the fields of a case are in the inputs and outputs of a run; see :class:`JurySpanHandler`.
        **options: as for :class:`JurySpanHandler`.

    Raises:
        ConfigurationError: an option is out of range.

    >>> with judge_runs(jury, on_verdict=print) as handler:  # doctest: +SKIP
    ...     query_engine.query("Who wrote it?")
    >>> handler.counts.judged  # doctest: +SKIP
    1
    """

    forgotten = (
        "judge_runs() was called without a block, so it judges nothing; write `with judge_runs(jury):`, or "
        "JurySpanHandler(jury).attach() to judge until the end of the process"
    )

    def __init__(
        self,
        jury: JudgeLike,
        *,
        select: Engines | None = None,
        events: bool = False,
        evidence_tools: EvidenceTools = None,
        field_map: FieldMapLike | None = None,
        **options: Unpack[WatchOptions],
    ) -> None:
        self._handler = JurySpanHandler(
            jury, select=select, events=events, evidence_tools=evidence_tools, field_map=field_map, **options
        )
        self.entered = False

    def __enter__(self) -> JurySpanHandler:
        self.entered = True
        return self._handler.attach()

    def __exit__(self, *exc: object) -> None:
        self._handler.__exit__()

    async def __aenter__(self) -> JurySpanHandler:
        self.entered = True
        return self._handler.attach()

    async def __aexit__(self, *exc: object) -> None:
        await self._handler.__aexit__()
