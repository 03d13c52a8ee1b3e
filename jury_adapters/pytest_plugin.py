"""Pytest plugin: answers judged in tests, with failures that show which jurors disagreed.

It is installed with the package, and does nothing until a test uses the ``jury`` fixture::

    def test_refunds(jury):                       # the jury of --jury, or of `jury = ` in the pytest configuration
        jury.check(question=Q, answer=ask(Q), contexts=DOCUMENTS)

    @pytest.mark.jury("juries/strict.yaml", min_agreement=0.8)   # or a Judge; conditions as in verdict.require(...)
    def test_opening_hours(jury):
        jury.check(question=H, answer=ask(H))

    def test_politeness(jury):                    # any jury works: a file, a Judge, a function of a case
        jury.using("juries/polite.yaml").check(question=Q, answer=ask(Q), min_confidence=0.5)

The ``gates:`` of a jury file apply to every test that it judges; a test's own conditions take precedence. The mark may
stand on a class or a module; the closest mark that names a jury, or sets a condition, counts. A test that has the mark
and passes without asking its jury causes a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jury_adapters.pytest_conditions import (
    check_conditions,
    checked,
    condition_names,
    is_marked_in_place_of_a_test,
    marked,
    misuse_of_a_judge,
    misused,
    split,
)
from jury_adapters.pytest_failures import AUDIT_OVER_BUDGET, explain_failed_audit, explain_failure
from jury_adapters.pytest_sums import SessionSums, figures_of

if TYPE_CHECKING:
    from jury_adapters.audit import Audit, Sizes
    from jury_adapters.core.batch import BatchOptions
    from jury_adapters.core.case import Case
    from jury_adapters.core.gates import GateOptions
    from jury_adapters.core.judge import CaseLike, Judge
    from jury_adapters.core.judge_like import JudgeLike
    from jury_adapters.core.judgment import Judgment
    from jury_adapters.core.usage import Usage

_MARK = (
    "jury(judge, **conditions): which jury judges this test (the path of a YAML file, a Judge, or a function made one "
    "by @judge), and what its verdicts must meet, as in verdict.require(...)"
)
_NO_JURY = (
    "which jury shall judge? Mark the test with @pytest.mark.jury('jury.yaml') or @pytest.mark.jury(my_jury), run "
    'pytest with --jury=jury.yaml, or set `jury = "jury.yaml"` in the pytest configuration'
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; the jury and the store are settings, too."""
    group = parser.getgroup("jury", "juries of LLM judges")
    group.addoption("--jury", metavar="FILE", help="the jury of tests that name none, as YAML")
    group.addoption("--jury-store", metavar="FILE", help="keep judgments here; a test run again pays for nothing twice")
    group.addoption("--jury-max-usd", type=float, metavar="USD", help="spend at most this much on judging")
    for permission, may in (("commands", "run programs"), ("base-url", "send your keys to its own addresses")):
        group.addoption(f"--jury-allow-{permission}", action="store_true", help=f"let jury files {may}")
    parser.addini("jury", "the jury of tests that name none: the path of a YAML file, relative to the root directory")
    parser.addini("jury_store", "where judgments are kept, relative to the root directory")


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark, and start counting."""
    config.addinivalue_line("markers", _MARK)
    config.stash[_SESSION] = _Session(config)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the store; there is no session if another plugin or a conftest.py stopped pytest before it began."""
    session = config.stash.get(_SESSION, None)
    if session is not None:
        session.close()


class JuryWarning(UserWarning):
    """A test was meant to be judged, but was not."""


@pytest.fixture
def jury(request: pytest.FixtureRequest) -> JuryFixture:
    """Return the jury that judges the answers of this test; see :class:`JuryFixture`."""
    session = request.config.stash[_SESSION]
    named, conditions = marked(request.node)
    judge = session.judge_of(named, request.node.path.parent, "@pytest.mark.jury")
    return JuryFixture(judge, conditions, session, request.node)


class JuryFixture:
    """Value of the ``jury`` fixture: the jury of this test, and its conditions.

    Attributes:
        judge_object: the jury, or another Judge; None if the test does not name one (then use :meth:`using`).
        conditions: the conditions of :meth:`check` in addition to PASS and the jury's own gates.
    """

    def __init__(
        self, judge: Judge | None, conditions: Mapping[str, object], session: _Session, test: pytest.Item
    ) -> None:
        self.judge_object = judge
        self.conditions = conditions
        self._session = session
        self._test = test

    def using(self, judge: JudgeLike | str | Path, **conditions: Any) -> JuryFixture:
        """Return the same fixture with another jury, and further conditions.

        Args:
            judge: the path of a YAML file, relative to the test's folder or the root directory; a Judge; or a function
                of a case.
            **conditions: as in the mark; they take precedence over those of the mark.

        >>> jury.using("strict.yaml", min_agreement=0.8).check(question=Q, answer=ask(Q))  # doctest: +SKIP
        """
        __tracebackhide__ = True
        check_conditions(conditions)
        found = self._session.judge_of(judge, self._test.path.parent, "jury.using(...)")
        return JuryFixture(found, {**self.conditions, **conditions}, self._session, self._test)

    def judge(self, case: CaseLike | None = None, /, **fields: Any) -> Judgment:
        """Judge a case and count it, without an assertion."""
        __tracebackhide__ = True
        return self._judged(case, fields)[1]

    def check(
        self, case: CaseLike | None = None, /, *, conditions: GateOptions | None = None, **fields: Any
    ) -> Judgment:
        """Judge a case, and fail the test unless the verdict is PASS and meets every condition.

        Args:
            case: a Case, a question, or a mapping of fields.
            conditions: further conditions, as in ``verdict.require(...)``, as a mapping.
            **fields: the fields of a Case; and conditions, whose names are different. ``passed=False`` requires FAIL;
                ``passed=None, decided=None`` accepts any verdict. They take precedence over those of the mark,
                and those over the ``gates:`` of the jury file.

        Returns:
            The judgment.

        >>> jury.check(question=Q, answer=ask(Q), min_confidence=0.5)  # doctest: +SKIP
        """
        __tracebackhide__ = True
        asked, of_case = split(conditions, fields)
        return self._required(asked, *self._judged(case, of_case))

    async def ajudge(self, case: CaseLike | None = None, /, **fields: Any) -> Judgment:
        """Judge a case and count it, in an asynchronous test; see :meth:`judge`."""
        __tracebackhide__ = True
        return (await self._ajudged(case, fields))[1]

    async def acheck(
        self, case: CaseLike | None = None, /, *, conditions: GateOptions | None = None, **fields: Any
    ) -> Judgment:
        """Judge a case in an asynchronous test, and fail the test as :meth:`check` does.

        >>> await jury.acheck(question=Q, answer=await ask(Q))  # doctest: +SKIP
        """
        __tracebackhide__ = True
        asked, of_case = split(conditions, fields)
        return self._required(asked, *await self._ajudged(case, of_case))

    def audit(self, cases: Iterable[Case] | None = None, *, sizes: Sizes | None = None, **limits: float) -> Audit:
        """Audit the jury, and fail the test unless it meets every limit.

        Args:
            cases: as for :func:`jury_adapters.audit.audit`; by default those that come with the package.
            sizes: the numbers of probes.
            **limits: as for :meth:`jury_adapters.audit.Audit.unmet`, such as ``min_kill_rate=0.9``.

        >>> jury.audit(min_kill_rate=0.9, max_flip_rate=0.05)  # doctest: +SKIP
        """
        from jury_adapters.audit.auditing import audit, check_limits
        from jury_adapters.core.errors import ConfigurationError

        __tracebackhide__ = True
        if self.judge_object is None:
            misused(_NO_JURY)
        try:
            check_limits(limits)
            options = self._session.options
            found = audit(self.judge_object, cases, sizes=sizes, store=options["store"], budget=options["budget"])
            unmet = found.unmet(**limits)
        except (ConfigurationError, TypeError) as error:
            misused(str(error))
        self._session.count_usage(self._test.nodeid, found.usage)
        if unmet:
            pytest.fail(explain_failed_audit(found, unmet), pytrace=False)
        if any(one.unasked for one in found.subjects):
            self._test.warn(JuryWarning(AUDIT_OVER_BUDGET))
        return found

    def _judged(self, given: CaseLike | None, fields: Mapping[str, Any]) -> tuple[Case, Judgment]:
        __tracebackhide__ = True
        judge, case = self._case(given, fields)
        with misuse_of_a_judge():
            (judgment,) = judge.judge_many([case], **self._session.options)
        self._session.count(self._test.nodeid, judgment)
        return case, judgment

    async def _ajudged(self, given: CaseLike | None, fields: Mapping[str, Any]) -> tuple[Case, Judgment]:
        __tracebackhide__ = True
        judge, case = self._case(given, fields)
        with misuse_of_a_judge():
            (judgment,) = [one async for one in judge.ajudge_many([case], **self._session.options)]
        self._session.count(self._test.nodeid, judgment)
        return case, judgment

    def _case(self, given: CaseLike | None, fields: Mapping[str, Any]) -> tuple[Judge, Case]:
        from jury_adapters.core.case import Case
        from jury_adapters.core.errors import ConfigurationError

        __tracebackhide__ = True
        if self.judge_object is None:
            misused(_NO_JURY)
        try:
            return self.judge_object, Case.of(given, fields)
        except ConfigurationError as error:
            known = f" Conditions are {', '.join(sorted(condition_names()))}." if "unknown field" in str(error) else ""
            misused(f"{error}{known}")

    def _required(self, asked: Mapping[str, Any], case: Case, judgment: Judgment) -> Judgment:
        """Return the judgment, or fail the test if it does not meet the conditions."""
        __tracebackhide__ = True
        gates = getattr(self.judge_object, "gates", {})  # only juries have gates
        results = checked(judgment, {"passed": True, **gates, **self.conditions, **asked})
        self._session.sums.add_gates(self._test.nodeid, results)
        unmet = [gate.note for gate in results if gate.result == "failed"]
        if unmet:
            pytest.fail(explain_failure(case, judgment, unmet), pytrace=False)
        return judgment


class _Session:
    """Options of this run of pytest, and the figures of its judgments."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._store: Any = None
        self._options: BatchOptions | None = None
        self._juries: dict[Path, Judge] = {}
        self.judged: set[str] = set()  # the tests that have asked a jury
        self.sums = SessionSums()

    @property
    def options(self) -> BatchOptions:
        if self._options is None:
            from jury_adapters.core.budget import Budget
            from jury_adapters.core.cache import open_cache

            path = self._path("jury_store", self._config.getoption("--jury-store"))
            usd = self._config.getoption("--jury-max-usd")
            workers = getattr(self._config, "workerinput", {}).get("workercount", 1)  # of pytest-xdist
            self._store = open_cache(path)
            self._options = {"store": self._store, "budget": None if usd is None else Budget(max_usd=usd / workers)}
        return self._options

    def judge_of(self, named: object, folder: Path, where: str) -> Judge | None:
        """Return the jury that a mark or a test names, else the one of this run."""
        from jury_adapters.core.errors import ConfigurationError
        from jury_adapters.core.judge_like import judge_of

        __tracebackhide__ = True
        if isinstance(named, str | Path):
            return self._loaded(folder / named if (folder / named).exists() else self._config.rootpath / named)
        if named is not None:
            try:
                return judge_of(named)
            except ConfigurationError as error:
                misused(f"{where}: {error}. The path of a YAML file will do too.")
        path = self._path("jury", self._config.getoption("--jury"))
        return None if path is None else self._loaded(path)

    def count(self, node_id: str, judgment: Judgment) -> None:
        self.count_usage(node_id, judgment.usage, **figures_of(node_id, judgment))

    def count_usage(self, node_id: str, usage: Usage, **figures: Any) -> None:
        self.judged.add(node_id)
        spent = SessionSums(
            calls=usage.calls, tokens=usage.input_tokens + usage.output_tokens, cost_usd=usage.cost_usd,
            cost_complete=usage.cost_complete, **figures,
        )  # fmt: skip
        self.sums.add(asdict(spent))

    def close(self) -> None:
        close = getattr(self._store, "close", None)
        if close is not None:
            close()

    def _path(self, ini: str, option: str | None) -> Path | None:
        if option:
            return self._config.invocation_params.dir / option
        found = self._config.getini(ini)
        return self._config.rootpath / found if found else None

    def _loaded(self, path: Path) -> Judge:
        if path not in self._juries:
            from jury_adapters.config import load_jury
            from jury_adapters.core.errors import ConfigurationError

            try:
                self._juries[path] = load_jury(
                    path,
                    allow_commands=self._config.getoption("--jury-allow-commands"),
                    allow_base_url=self._config.getoption("--jury-allow-base-url"),
                )
            except ConfigurationError as error:
                misused(str(error))
        return self._juries[path]


_SESSION = pytest.StashKey[_Session]()


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class, name: str, obj: object) -> None:
    """Refuse a function or a class in a mark that pytest has taken for the test; the test itself would be lost."""
    if is_marked_in_place_of_a_test(obj) and not (collector.funcnamefilter(name) or collector.classnamefilter(name)):
        kind = f"an instance, {name}()" if isinstance(obj, type) else f"judge({name})"
        raise collector.CollectError(
            f"@pytest.mark.jury({name}): pytest takes a function or a class there for the test; give {kind}"
        )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Forget what an earlier run of the same test asked, such as the one before a rerun."""
    item.config.stash[_SESSION].judged.discard(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Warn of a test that names a jury, passes, and has not asked it: it would pass whatever the answer."""
    result = yield
    takes_it = "jury" in getattr(item, "fixturenames", ())
    # The mark of a class or a module is a default, also for tests that are not about answers.
    is_marked = item.get_closest_marker("jury") is not None if takes_it else _has_own_mark(item)
    if is_marked and item.nodeid not in item.config.stash[_SESSION].judged:
        forgot = "judged nothing" if takes_it else "does not take the fixture `jury`"
        item.warn(JuryWarning(f"marked with a jury, and {forgot}: call jury.check(question=..., answer=...)"))
    return result


def _has_own_mark(item: pytest.Item) -> bool:
    return any(mark.name == "jury" for mark in item.own_markers)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Add the figures of a worker process of pytest-xdist that has ended; one that crashed has not sent any."""
    counted = getattr(node, "workeroutput", {}).get("jury_adapters")
    sums = node.config.stash[_SESSION].sums
    if counted:
        sums.add(counted)
    elif error:
        sums.crashed += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the figures of a worker process of pytest-xdist to the main process."""
    sent = getattr(session.config, "workeroutput", None)
    if sent is not None:
        sent["jury_adapters"] = asdict(session.config.stash[_SESSION].sums)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the verdicts and the cost of this run, and the tests that need review."""
    sums = config.stash[_SESSION].sums
    if sums.counts or sums.calls:
        terminalreporter.section("jury")
        for line in sums.lines():
            terminalreporter.line(line)
