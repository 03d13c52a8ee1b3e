"""Pytest plugin: the answers of an application are judged in its tests.

It does nothing until a test uses the fixture ``jury``::

    def test_refunds(jury):  # the jury of --jury, or of `jury = ` in the configuration of pytest
        jury.check(question=QUESTION, answer=ask(QUESTION), contexts=DOCUMENTS)

    @pytest.mark.jury("strict.yaml", min_agreement=0.8)  # a jury file or a Judge; conditions as in Judgment.require
    def test_opening_hours(jury):
        jury.check(question=HOURS, answer=ask(HOURS))
"""

import inspect
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:  # pytest loads this module in every run, which must not become slower by it
    from _pytest.terminal import TerminalReporter  # pytest 8 does not export it

    from jury_adapters.core.asking import Asking, JudgedRun
    from jury_adapters.core.case import Case, CaseLike
    from jury_adapters.core.judge import Judge, JudgeLike
    from jury_adapters.core.judgment import Judgment
    from jury_adapters.core.values import GateFailed

Conditions = Mapping[str, Any]
_MARK = "jury(judge, **conditions): the jury of this test, a file or a Judge, and what its judgments must meet"
_NO_JURY = (
    "no jury is named: mark the test with @pytest.mark.jury('jury.yaml'), run pytest with --jury=jury.yaml, or set "
    '`jury = "jury.yaml"` in the configuration of pytest'
)
_UNDECIDED = "this says nothing about the answer: the case lacks something, a judge broke, or the budget is used up"
_LONGEST = 300


class JuryWarning(UserWarning):
    """A test names a jury, passes, and has not asked it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; the jury and the store are also settings of the configuration file."""
    group = parser.getgroup("jury", "juries of LLM judges")
    group.addoption("--jury", metavar="FILE", help="the jury of tests that name none, a YAML file")
    group.addoption("--jury-store", metavar="PLACE", help="keep judgments here, so that nothing is paid for twice")
    group.addoption("--jury-max-usd", type=float, metavar="USD", help="spend at most so many US dollars on judging")
    group.addoption("--jury-allow-commands", action="store_true", help="let jury files run programs")
    group.addoption("--jury-allow-base-url", action="store_true", help="let jury files name servers; they get no key")
    parser.addini("jury", "the jury of tests that name none, relative to the root directory")
    parser.addini("jury_store", "where judgments are kept, relative to the root directory")


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
    config.addinivalue_line("markers", _MARK)
    config.stash[_SESSION] = _Session(config)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the store. There is no session if pytest was stopped before it began."""
    if _SESSION in config.stash:
        config.stash[_SESSION].close()


@pytest.fixture
def jury(request: pytest.FixtureRequest) -> "JuryFixture":
    """The jury that judges the answers of this test; see :class:`JuryFixture`."""
    session, test = request.config.stash[_SESSION], request.node
    given, conditions = _marked(test)
    return JuryFixture(session.judge_of(given, test.path.parent), conditions, session, test)


class JuryFixture:
    """Value of the fixture ``jury``: the jury of a test, and what its judgments must meet.

    Without further conditions a judgment must be PASS. The conditions are those of :meth:`Judgment.require`. Those of
    :meth:`check` replace those of :meth:`using`, and these those of the mark.

    Example::

        def test_politeness(jury):
            jury.using("polite.yaml", min_confidence=0.5).check(question=QUESTION, answer=ask(QUESTION))
    """

    def __init__(self, judge: "Judge | None", conditions: Conditions, session: "_Session", test: pytest.Item) -> None:
        self._judge, self._conditions = judge, _checked(conditions)
        self._session, self._test = session, test

    def using(self, jury: "str | Path | JudgeLike", **conditions: Any) -> "JuryFixture":
        """Return the fixture with another jury: the path of a file, a Judge, or a function of a case."""
        __tracebackhide__ = True
        judge = self._session.judge_of(jury, self._test.path.parent)
        return JuryFixture(judge, {**self._conditions, **conditions}, self._session, self._test)

    def check(
        self, case: "CaseLike | None" = None, /, *, conditions: Conditions | None = None, **fields: Any
    ) -> "Judgment":
        """Judge a case, and fail the test if the judgment does not meet the conditions.

        Args:
            case: a Case, a question or a mapping of fields.
            conditions: such as ``{"passed": False}`` for an answer that must fail.
            **fields: fields of the case by name.
        """
        __tracebackhide__ = True
        wanted, asking, found = self._prepared(conditions, case, fields)
        return self._met(wanted, asking.judged(found))

    async def acheck(
        self, case: "CaseLike | None" = None, /, *, conditions: Conditions | None = None, **fields: Any
    ) -> "Judgment":
        """Check in an asynchronous test; see :meth:`check`."""
        __tracebackhide__ = True
        wanted, asking, found = self._prepared(conditions, case, fields)
        return self._met(wanted, await asking.ajudged(found))

    def judge(self, case: "CaseLike | None" = None, /, **fields: Any) -> "Judgment":
        """Judge a case, and assert nothing."""
        __tracebackhide__ = True
        _, asking, found = self._prepared(None, case, fields)
        return self._session.count(self._test, asking.judged(found).judgment)

    async def ajudge(self, case: "CaseLike | None" = None, /, **fields: Any) -> "Judgment":
        """Judge a case in an asynchronous test, and assert nothing."""
        __tracebackhide__ = True
        _, asking, found = self._prepared(None, case, fields)
        return self._session.count(self._test, (await asking.ajudged(found)).judgment)

    def _prepared(
        self, conditions: Conditions | None, case: "CaseLike | None", fields: Mapping[str, Any]
    ) -> "tuple[Conditions, Asking, Case]":
        from jury_adapters.core.asking import Asking
        from jury_adapters.core.case import Case

        __tracebackhide__ = True
        if self._judge is None:
            _failed(_NO_JURY)
        with _misuse():
            wanted = {"passed": True, **self._conditions, **_checked(conditions or {})}
            return wanted, Asking(self._judge, **self._session.options), Case.of(case, fields)

    def _met(self, wanted: Conditions, judged: "JudgedRun") -> "Judgment":
        from jury_adapters.core.values import GateFailed

        __tracebackhide__ = True
        judgment = self._session.count(self._test, judged.judgment)
        try:
            with _misuse():
                return judgment.require(**wanted)
        except GateFailed as failed:
            _failed(_explained(judged, failed))


class _Session:
    """Options of this run of pytest, and the figures of its judgments."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.asked: set[str] = set()  # the tests that have asked a jury
        self.sums: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self._juries: dict[Path, Judge] = {}

    @cached_property
    def options(self) -> dict[str, Any]:
        """The store and the budget. Each worker of pytest-xdist may spend an equal share of the budget."""
        from jury_adapters.core.budget import Budget
        from jury_adapters.store import open_store

        place, usd = self._place("jury_store"), self.config.getoption("--jury-max-usd")
        workers = getattr(self.config, "workerinput", {}).get("workercount", 1)
        return {
            "store": None if place is None else open_store(place),
            "budget": None if usd is None else Budget(max_usd=usd / workers),
        }

    def judge_of(self, given: Any, folder: Path) -> "Judge | None":
        """Return the jury that a mark or a test names, else that of this run."""
        from jury_adapters.core.judge import judge_of

        __tracebackhide__ = True
        with _misuse():
            if given is not None and not isinstance(given, str | Path):
                return judge_of(given)
            if given is None:
                return None if (place := self._place("jury")) is None else self._loaded(Path(place))
            return self._loaded(folder / given if (folder / given).exists() else self.config.rootpath / given)

    def _loaded(self, path: Path) -> "Judge":
        from jury_adapters.config import load_jury

        if path not in self._juries:
            may = {name: self.config.getoption(f"--jury-allow-{name}") for name in ("commands", "base-url")}
            self._juries[path] = load_jury(path, allow_commands=may["commands"], allow_base_url=may["base-url"])
        return self._juries[path]

    def _place(self, name: str) -> str | None:
        """Return a path relative to where it was written: on the command line or in the configuration."""
        option = self.config.getoption(f"--{name.replace('_', '-')}")
        folder = self.config.invocation_params.dir if option else self.config.rootpath
        given = str(option or self.config.getini(name))
        return None if not given else given if "://" in given else str(folder / given)

    def count(self, test: pytest.Item, judgment: "Judgment") -> "Judgment":
        self.asked.add(test.nodeid)
        usage = judgment.usage
        found = {"calls": usage.calls, "nano-usd": round(usage.cost_usd * 1e9), "unpriced": not usage.cost_complete}
        self.sums.update({judgment.status.value: 1, **found})
        for one in (judgment, *judgment.jurors()):
            if one.error is not None and not one.judgments:
                self.notes[f"{one.critic} broke: {one.error}"] += 1
        if judgment.needs_review:
            self.notes[f"needs review: {test.nodeid} ({', '.join(judgment.review_reasons)})"] += 1
        return judgment

    def lines(self) -> Iterator[str]:
        from jury_adapters.core.judgment import Status
        from jury_adapters.core.text import visible

        said = {status.value: self.sums[status.value] for status in Status if self.sums[status.value]}
        yield f"{sum(said.values()):,} judgments: {', '.join(f'{number:,} {name}' for name, number in said.items())}"
        if self.sums["calls"]:
            unknown = " or more: a price is unknown" if self.sums["unpriced"] else ""
            yield f"{self.sums['calls']:,} model calls, ${self.sums['nano-usd'] / 1e9:.4f}{unknown}"
        if self.sums["crashed"]:
            yield f"{self.sums['crashed']:,} worker processes crashed; what they judged is missing here"
        for note, times in self.notes.items():
            yield visible(note, _LONGEST) + f" ({times:,} times)" * (times > 1)

    def close(self) -> None:
        if (store := vars(self).get("options", {}).get("store")) is not None:
            store.close()


_SESSION = pytest.StashKey[_Session]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Warn of a test that names a jury, passes, and has not asked it: it would pass whatever the answer is."""
    asked, takes = item.config.stash[_SESSION].asked, "jury" in getattr(item, "fixturenames", ())
    try:
        result = yield
        # The mark of a class or a module is a default, also for tests that are not about answers.
        marked = item.get_closest_marker("jury") if takes else any(mark.name == "jury" for mark in item.own_markers)
        if marked and item.nodeid not in asked:
            why = "never asks it" if takes else "does not take the fixture `jury`"
            item.warn(JuryWarning(f"the test is marked with a jury and {why}: jury.check(question=..., answer=...)"))
        return result
    finally:
        asked.discard(item.nodeid)  # another run of the test must ask again


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Add the figures of a worker of pytest-xdist that has ended; one that crashed has sent none."""
    session, sent = node.config.stash[_SESSION], getattr(node, "workeroutput", {}).get("jury_adapters")
    sums, notes = sent or ({"crashed": int(bool(error))}, {})
    session.sums.update(sums)
    session.notes.update(notes)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the figures of a worker of pytest-xdist to the main process."""
    if (sent := getattr(session.config, "workeroutput", None)) is not None:
        mine = session.config.stash[_SESSION]
        sent["jury_adapters"] = (dict(mine.sums), dict(mine.notes))


def pytest_terminal_summary(terminalreporter: "TerminalReporter", config: pytest.Config) -> None:
    """Print the judgments and the cost of this run, the judges that broke, and the tests that need review."""
    if any(config.stash[_SESSION].sums.values()):
        terminalreporter.section("jury")
        for line in config.stash[_SESSION].lines():
            terminalreporter.line(line)


def _marked(test: pytest.Item) -> tuple[Any, dict[str, Any]]:
    """Return the jury and the conditions of the marks of a test; the closest that says something counts."""
    __tracebackhide__ = True
    of_parameters = [one for one in getattr(getattr(test, "callspec", None), "marks", ()) if one.name == "jury"]
    marks = [*of_parameters, *test.iter_markers("jury")]  # parameters, test, class, module
    if any(len(mark.args) > 1 for mark in marks):
        _failed("@pytest.mark.jury takes one jury, and conditions by name; several judges make an Ensemble([...])")
    named = [mark.args[0] for mark in marks if mark.args] or [None]
    return named[0], {name: value for mark in reversed(marks) for name, value in mark.kwargs.items()}


def _checked(conditions: Conditions) -> Conditions:
    """Return conditions, if they are those of :meth:`Judgment.require`."""
    from jury_adapters.core.judgment import Judgment

    __tracebackhide__ = True
    known = [*inspect.signature(Judgment.require).parameters][1:]
    if unknown := [str(name) for name in conditions if name not in known]:
        _failed(f"{', '.join(unknown)}: no such condition; the conditions are {', '.join(known)}")
    return conditions


def _failed(message: str) -> NoReturn:
    """Fail the test with a message for its author, without a traceback of this package."""
    __tracebackhide__ = True
    raise pytest.fail.Exception(message, pytrace=False) from None


@contextmanager
def _misuse() -> Iterator[None]:
    """Fail the test with the message of a wrong construction alone."""
    from jury_adapters.core.values import ConfigurationError

    __tracebackhide__ = True
    try:
        yield
    except ConfigurationError as error:
        _failed(str(error))


def _explained(judged: "JudgedRun", failed: "GateFailed") -> str:
    """Return what a failed test says: what was asked for, what was judged, and what the jury said."""
    from jury_adapters.core.text import visible

    case, judgment = judged.case, judged.judgment
    shown = {"question": case.question, "answer": case.answer, "reference": case.reference} if case else {}
    for name, many in (("context", case.contexts), ("candidate", case.candidates)) if case else ():
        shown |= {f"{name} {number}": text for number, text in enumerate(many, start=1)}
    texts = [f"  {name}: {visible(text, _LONGEST)}" for name, text in shown.items() if text is not None]
    tree = [f"  {line}" for line in str(judgment).splitlines()]
    note = [] if judgment.decided else [_UNDECIDED]
    return "\n".join([str(failed), "what was judged:", *texts, "what the jury said:", *tree, *note])
