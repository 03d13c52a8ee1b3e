"""Labels of people in a file, and the results to which they belong.

A label belongs to an answer. A row names it by ``key``, the hash of the content of the case that ``jury review``
writes, by the id of the case, best with the answer beside it, or by all columns of the case. What belongs to no result
is refused.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from jury_adapters.core.case import NAMES, Case
from jury_adapters.core.results import Result
from jury_adapters.core.text import visible
from jury_adapters.core.values import InputError
from jury_adapters.inputs.files import read_rows
from jury_adapters.inputs.rows import case_of_row
from jury_adapters.inputs.run import missing

COLUMN = "human_label"
_IDS = ("id", "item_id", "example_id")


class Label(NamedTuple):
    """Label that a person gave.

    Attributes:
        line: its line in the file.
        key: the hash of the content of the case; empty if unknown.
        id: the id of the case; empty if unknown.
        answer: the answer that was labelled; None if unknown.
        by: the person.
        value: the label, as a word.
        sense: what it means, by which labels are compared: PASS, FAIL, or the word without capitals.
    """

    line: int
    key: str
    id: str
    answer: str | None
    by: str
    value: str
    sense: str

    def is_of(self, case: Case, content: str) -> bool:
        """Whether it is the label of a case with this content."""
        if self.key:
            return self.key == content
        return bool(self.id) and self.id == case.id and self.answer in (None, case.answer)


class Labels:
    """Labels of a file.

    Args:
        path: rows with the label, and ``key``, an id, or the case; None for no labels. Of two labels that a person
            (``by``) gave to one answer, the second counts.
        column: the column with the label.
        pass_labels: the labels that mean PASS, and then all others mean FAIL; see :meth:`Votes.of`.
        alone: whether an id without an answer may name a case. It may not where two answers have one id.

    Attributes:
        contested: how many cases have no majority of their labels; they count as not labelled.

    Raises:
        InputError: a row cannot be read, or names no case.
    """

    def __init__(
        self, path: Path | None, *, column: str = COLUMN, pass_labels: Iterable[str] = (), alone: bool = True
    ) -> None:
        self.path, self.contested = path, 0
        self._used: set[int] = set()
        self._alone: dict[str, str] = {}  # the content of the case that an id alone names
        self._all = [] if path is None else [*self._read(path, column, {one.strip().casefold() for one in pass_labels})]
        if path is not None and not self._all:
            raise InputError(f"{path}: no row has a label in the column '{visible(column, 40)}'")
        self._named: defaultdict[str, list[Label]] = defaultdict(list)
        for one in self._all:
            if not alone and not one.key and one.answer is None:
                raise InputError(
                    f"{path}, line {one.line}: the id '{visible(one.id, 40)}' does not tell which of two answers was "
                    "labelled; give `key` or the answer"
                )
            self._named[one.key or one.id].append(one)

    def _read(self, path: Path, column: str, passing: Collection[str]) -> Iterator[Label]:
        from jury_adapters.stats.votes import MEANINGS, label_of  # needs NumPy

        for line, row, error in ((row.line, row.values, row.error) for row in read_rows(path)):
            if error is not None:
                raise InputError(f"{path}, line {line}: {error}")
            value = label_of(row.get(column))
            if value is None:
                continue
            key, by = ("" if missing(row.get(name)) else str(row[name]) for name in ("key", "by"))
            id_ = next((str(row[name]) for name in _IDS if not missing(row.get(name)) and str(row[name])), "")
            if not (key or id_):
                try:
                    key = case_of_row(row).content_hash
                except InputError as problem:
                    raise InputError(f"{path}, line {line}: no `key`, no `id`, and no case: {problem}") from None
            answer = next((str(row[name]) for name in NAMES["answer"] if not missing(row.get(name))), None)
            sense = "PASS" if (word := value.casefold()) in passing else MEANINGS.get(word, "FAIL" if passing else word)
            yield Label(line, key, id_, answer, by, value, sense)

    def attached(self, results: Iterable[Result]) -> Iterator[Result]:
        """Yield results with their labels; the label of a result that has none in the file stays.

        Raises:
            InputError: an id alone names two answers.
        """
        for result in results:
            found = [*self._of(result.case)] if self._all and result.case is not None else []
            said = Counter(one.sense for one in {one.by or one.line: one for one in found}.values())
            sense, most = said.most_common(1)[0] if said else ("", 0)
            agreed = [one.value for one in found if one.sense == sense and 2 * most > said.total()]
            self.contested += bool(found) and not agreed
            yield result.but(human_label=agreed[0] if agreed else None) if found else result

    def _of(self, case: Case) -> Iterator[Label]:
        content = case.content_hash
        for one in sorted(
            (*self._named.get(content, ()), *self._named.get(case.id or "", ())), key=lambda one: one.line
        ):
            if one.is_of(case, content):
                if not one.key and one.answer is None and self._alone.setdefault(one.id, content) != content:
                    raise InputError(
                        f"{self.path}, line {one.line}: the id '{visible(one.id, 40)}' is that of two answers; give "
                        "`key` or the answer"
                    )
                self._used.add(one.line)
                yield one

    def remarks(self) -> Iterator[str]:
        """Yield what to know of the labels, after all results have passed.

        Raises:
            InputError: a label belongs to no result.
        """
        left = [one for one in self._all if one.line not in self._used]
        if left:
            name = f"the key '{visible(left[0].key, 40)}'" if left[0].key else f"the id '{visible(left[0].id, 40)}'"
            raise InputError(
                f"{self.path}: {len(left):,} of {len(self._all):,} labels belong to no result with the same key, or id "
                f"and answer; the first is line {left[0].line} with {name}"
            )
        if self._alone:
            yield f"{len(self._alone):,} labels were found by the id alone, without key or answer"
        if self.contested:
            yield f"{self.contested:,} cases have no majority of their labels, and count as not labelled"
