"""LangSmith: the pass rate of an experiment, evaluation without a server, and verdicts as feedback on traced runs."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from math import sqrt
from typing import Any
from uuid import UUID, uuid5

from langsmith import Client
from langsmith.schemas import Example, Run
from langsmith.utils import get_tracer_project

from jury_adapters.core.asking import JudgedRun
from jury_adapters.core.judgment import Status
from jury_adapters.langchain.evaluator import JuryEvaluator, facts_of, parts_of, value_of

_Z = 1.959963984540054  # of a two-sided interval of 95 %


def offline_client() -> Client:
    """Return a LangSmith client that sends nothing, for evaluation on this machine without a key.

    ``upload_results=False`` alone still uploads the runs of LangChain models that the target calls::

        examples = [Example(id=uuid4(), **row) for row in rows]
        offline_client().evaluate(target, data=examples, evaluators=[...], upload_results=False)

    Without ``upload_results=False`` an evaluation fails, because no server listens at the client's address. LangSmith
    before 0.12 still tries to send there, in vain and slowly.

    >>> offline_client().api_url
    'http://127.0.0.1:1'
    """
    return Client(api_url="http://127.0.0.1:1", api_key="offline", tracing_sampling_rate=0.0, auto_batch_tracing=False)


def pass_rate(evaluator: JuryEvaluator, *, key: str = "") -> Callable[[Sequence[Run], Sequence[Example]], Any]:
    """Return a summary evaluator: the share of decided rows that passed, with an interval of 95 % (Wilson, 1927).

    With ``num_repetitions`` the interval is that of so many rows as there are examples.

    Rows that are ABSTAIN or ERROR are left out of the rate; the comment counts them. Runs of the application that
    failed count as not passed.

    Args:
        evaluator: the evaluator of the same experiment. It remembers the statuses of its last 100,000 rows.
        key: the feedback key; by default that of the evaluator with ``pass_rate`` after a dot.

    >>> passed = pass_rate(JuryEvaluator(lambda case: True, key="exact"))
    >>> passed.__name__, passed([], [])["score"]
    ('exact.pass_rate', None)
    """

    def summary(runs: Sequence[Run], examples: Sequence[Example]) -> dict[str, Any]:
        counts = Counter(evaluator.statuses.get(str(run.id)) for run in runs)
        decided = [run for run in runs if evaluator.statuses.get(str(run.id)) in (Status.PASS, Status.FAIL)]
        rate = counts[Status.PASS] / len(decided) if decided else None
        said = [f"{counts[Status.PASS]} of {len(decided)} passed"]
        if rate is not None:  # repetitions of an example are no further examples
            number = len({run.reference_example_id or run.id for run in decided})
            said.append("95 % interval {:.3f} to {:.3f}".format(*wilson(rate, number)))
        others = (Status.ABSTAIN, Status.ERROR, Status.LABEL)
        said += [f"{counts[status]} {status}" for status in others if counts[status]]
        said += [f"{counts[None]} not judged by this evaluator"] if counts[None] else []
        return {
            "key": summary.__name__,
            "score": rate,
            "comment": "; ".join(said),
        }

    summary.__name__ = key or f"{evaluator.key}.pass_rate"
    return summary


def wilson(share: float, number: int) -> tuple[float, float]:
    """Return the interval of a share by Wilson's method, https://doi.org/10.1080/01621459.1927.10502953.

    >>> ["%.3f" % bound for bound in wilson(0.8, 10)]
    ['0.490', '0.943']
    """
    spread = _Z**2 / number
    half = _Z * sqrt(share * (1 - share) / number + spread / (4 * number))
    return max(0.0, (share + spread / 2 - half) / (1 + spread)), min(1.0, (share + spread / 2 + half) / (1 + spread))


def feedback_sink(
    client: Client | None = None, *, key: str = "", per_juror: bool = False, project: str = ""
) -> Callable[[JudgedRun], None]:
    """Return a function for ``on_verdict=`` that sends each verdict to LangSmith, as feedback on the traced run.

    LangChain's tracing gives the run there the id that the callback handler sees. Criteria of a scorecard that were
    asked are feedback too, under ``key.criterion``. The same verdict twice is one feedback. A request is tried five
    times, because the run may not have arrived yet; what fails then is counted as ``sink_errors`` of the handler.

    Args:
        client: the client; by default one for the environment that gives up a request after ten seconds.
        key: the feedback key; by default the name of the jury.
        per_juror: whether each juror's judgment is feedback too, under ``key.juror``.
        project: the name of the project to which the runs are traced; by default that of the environment.
    """
    sender = client or Client(timeout_ms=(3_000, 10_000), auto_batch_tracing=False)

    @cache
    def project_id() -> UUID:
        found: UUID = sender.read_project(project_name=project or get_tracer_project()).id
        return found

    def send(judged: JudgedRun) -> None:
        run_id, judgment = UUID(str(judged.run.id)), judged.judgment
        for name, one in parts_of(key or judgment.critic or "jury", judgment, per_juror).items():
            facts = facts_of(one)
            sender.create_feedback(
                run_id,
                name,
                score=facts["score"],
                value=value_of(one),
                comment=facts["comment"],
                source_info=facts["metadata"],
                feedback_source_type="model",
                feedback_id=uuid5(run_id, name),
                session_id=project_id(),
                stop_after_attempt=5,
            )

    return send
