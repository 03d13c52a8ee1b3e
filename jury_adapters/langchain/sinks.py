"""Sink that sends verdicts on an application's runs to LangSmith."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypedDict
from uuid import UUID, uuid5

from langsmith import Client
from langsmith.utils import LangSmithError, get_tracer_project

from jury_adapters.core.arguments import check_texts
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.opinions import asked_jurors, criteria_of, juror_names
from jury_adapters.core.runs import JudgedRun
from jury_adapters.core.verdict_facts import case_score
from jury_adapters.langchain.results import comment_of, metadata_of, value_of


def feedback(
    client: Client | None = None,
    *,
    annotation_queue: str | UUID | None = None,
    per_juror: bool = False,
    key: str | None = None,
    project: str | UUID | None = None,
    extend_trace_retention: bool = True,
) -> Callable[[JudgedRun], None]:
    """Return a sink that sends the verdict of each judged run to LangSmith as feedback.

    Each criterion of a scorecard that was asked is feedback too, under the key ``<key>.<criterion>``.

    The run itself must be traced there under its LangChain id, as LangChain's own tracing does. If the run is not there
    yet, the request is repeated a few times. All of this happens in the background: failures are logged and counted by
    the handler, and do not affect the application. Sending the same verdict twice gives one feedback entry.

    Args:
        client: the client; by default one that gives up on a request after 10 seconds.
        annotation_queue: the name or id of a queue for runs that need review: those without a decision (ABSTAIN,
            ERROR), and those for which the jury asks for it. A queue of that name is created if there is none.
        per_juror: whether each juror's judgment is feedback too, under the key ``<key>.<juror>``.
        key: the feedback's key; by default the jury's name.
        project: the name or id of the project that the runs are traced to; by default that of the environment.
        extend_trace_retention: whether LangSmith keeps a trace with feedback for its longer period of retention, as is
            LangSmith's own default; this can change what a trace costs. False needs a release of langsmith that has
            the option.

    Raises:
        ConfigurationError: the key is not a text.

    >>> handler = JuryCallbackHandler(jury, on_verdict=feedback(annotation_queue="review"))  # doctest: +SKIP
    """
    check_texts(key=key)
    client = client or Client(timeout_ms=(3_000, 10_000), auto_batch_tracing=False)
    retention: _Retention = {} if extend_trace_retention else {"extend_trace_retention": False}
    place = _Place(client, project, annotation_queue, retention)

    def give_feedback(judged: JudgedRun) -> None:
        judgment = judged.judgment
        name = key or judgment.critic or "jury"
        place.give(judged, name, judgment)
        for part, inner in _parts(judgment, per_juror=per_juror).items():
            place.give(judged, f"{name}.{part}", inner)
        if annotation_queue is not None and judgment.needs_review:
            place.enqueue(judged)

    return give_feedback


def _parts(judgment: Judgment, *, per_juror: bool) -> dict[str, Judgment]:
    """Return the criteria of the scorecards in a judgment, and its jurors if asked for, by name."""
    criteria = dict(criteria_of(judgment))
    names = juror_names(criteria)
    found = {names[path]: one for path, one in criteria.items()}
    return found | asked_jurors(judgment) if per_juror else found


class _Retention(TypedDict, total=False):
    """Option that is only given to LangSmith's client if it differs from the default."""

    extend_trace_retention: bool


class _Place:
    """A project and an annotation queue in LangSmith; their ids are looked up once, when they are first needed."""

    def __init__(
        self, client: Client, project: str | UUID | None, queue: str | UUID | None, retention: _Retention
    ) -> None:
        self._client = client
        self._project = project
        self._queue = queue
        self._retention = retention
        self._lock = threading.Lock()

    def give(self, judged: JudgedRun, key: str, judgment: Judgment) -> None:
        """Send one judgment."""
        run_id = _id_of(judged)
        self._client.create_feedback(
            run_id,
            key,
            score=case_score(judgment),
            value=value_of(judgment),
            comment=comment_of(judgment) or None,
            source_info=metadata_of(judgment),
            feedback_source_type="model",
            feedback_id=uuid5(run_id, key),
            session_id=self._project_id(),
            stop_after_attempt=_ATTEMPTS,
            **self._retention,
        )

    def enqueue(self, judged: JudgedRun) -> None:
        """Put the run into the queue."""
        queue, run_id = self._queue_id(), _id_of(judged)
        where = {"run_id": run_id, "session_id": self._project_id(), "start_time": _start_of(run_id, judged)}
        with warnings.catch_warnings():
            # Deprecated since langsmith 0.15, which only offers an asynchronous call of the newest servers instead.
            warnings.filterwarnings("ignore", message=r"add_runs_to_annotation_queue\(\) is deprecated")
            try:
                self._client.add_runs_to_annotation_queue(queue, runs=[where])
            except (TypeError, LangSmithError):  # an older client or server, which takes only ids
                self._client.add_runs_to_annotation_queue(queue, run_ids=[run_id])

    def _project_id(self) -> UUID:
        with self._lock:
            found = _as_uuid(self._project)
            if found is None:
                name = str(self._project or get_tracer_project())
                found = self._project = self._client.read_project(project_name=name).id
            return found

    def _queue_id(self) -> UUID:
        with self._lock:
            found = _as_uuid(self._queue)
            if found is None:
                name = str(self._queue)
                queue = next(iter(self._client.list_annotation_queues(name=name, limit=1)), None)
                found = self._queue = (queue or self._client.create_annotation_queue(name=name)).id
            return found


def _id_of(judged: JudgedRun) -> UUID:
    run_id = _as_uuid(judged.run.id)
    if run_id is None:
        raise ConfigurationError(
            "feedback belongs to a run of LangSmith, and this one has no id of LangSmith: "
            f"{plain_repr(judged.run.id or judged.run.name)}; judge the runs with JuryCallbackHandler, or rows with "
            "JuryEvaluator in an experiment"
        )
    return run_id


def _as_uuid(value: str | UUID | None) -> UUID | None:
    if value is None or isinstance(value, UUID):
        return value
    try:
        return UUID(value)
    except ValueError:
        return None


def _start_of(run_id: UUID, judged: JudgedRun) -> datetime:
    """Return the start time of a run: the time in its id, if the id has one (UUID version 7)."""
    if run_id.version == 7:
        return datetime.fromtimestamp((run_id.int >> 80) / 1000, UTC)
    return datetime.now(UTC) - timedelta(seconds=judged.run.elapsed_s or 0.0)


_ATTEMPTS = 5
