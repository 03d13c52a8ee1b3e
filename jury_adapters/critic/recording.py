"""Judgments of a store, by case, critic and request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

from jury_adapters.core.cache import CacheKey
from jury_adapters.core.case import Case
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.store import Entry, existing_store

_FINGERPRINT_SHOWN = 8  # characters


class Recording:
    """Judgments of a store, by case, critic and request.

    A critic is identified by its fingerprint, which covers model, parameters and rubric, and by its names. Its name is
    the given one, else ``"<rubric> <model>"``, so several critics may have one name.

    Args:
        entries: the entries of the store, with errors; an error counts only if no other judgment has its key.
        cases: the cases of the store by their keys.

    Attributes:
        cases: the cases, without their metadata.
        hidden: the number of cases that differ from another case only in the metadata that the prompt shows. A store
            keeps no metadata, so only the first of such cases is found.
    """

    def __init__(self, entries: Iterable[Entry], cases: Iterable[tuple[str, Case]] = ()) -> None:
        self.cases = {case.content_hash: case for _, case in cases}
        self._entries: list[Entry] = []
        self._found: dict[str, dict[tuple[str, str], dict[str, Entry]]] = {}
        self._critics: dict[str, dict[str, None]] = {}
        hidden: set[str] = set()
        for entry in entries:
            self._add(entry, hidden)
        self.hidden = len(hidden)
        self._full_names: dict[str, str] = {}
        self._enter_names()

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a store.

        Raises:
            InputError: there is no such store.
            ConfigurationError: the store cannot be read.
        """
        with existing_store(path) as store:
            return cls(store.entries(errors=True), store.cases())

    def critics(self, fingerprint: str | None, names: Sequence[str]) -> tuple[str, ...]:
        """Return the fingerprints of the critics with this fingerprint, or else with the first of these names.

        Args:
            fingerprint: the fingerprint of a critic; None if it is unknown.
            names: the names under which the critic may be recorded, the most likely first.
        """
        if fingerprint is not None and fingerprint in self._full_names:
            return (fingerprint,)
        return next((tuple(self._critics[name]) for name in names if name in self._critics), ())

    @property
    def full_names(self) -> list[str]:
        """Full names of the critics with a first request that did not fail, in the order of the store."""
        return list(dict.fromkeys(name for _, name, _ in self.first_asks()))

    def full_name(self, fingerprint: str) -> str:
        """Return the name of a critic, with ``@`` and a part of its fingerprint if several critics have that name."""
        return self._full_names[fingerprint]

    def judgment(self, case: Case, key: str | None, fingerprint: str, sample: str) -> Judgment | None:
        """Return a critic's judgment of a case for this request, or None if it is not recorded.

        Args:
            case: the case.
            key: the key of the case with the metadata that the prompt shows; None if that is unknown, and then the
                first case of this content is used.
            fingerprint: the fingerprint of the critic.
            sample: the request, as in :class:`CacheKey`.
        """
        found = self._found.get(case.content_hash, {}).get((fingerprint, sample), {})
        entry = next(iter(found.values()), None) if key is None else found.get(key)
        return None if entry is None else entry.judgment

    def has_fallback(self, case: Case, fingerprint: str, sample: str) -> bool:
        """Return whether a judgment of the critic's fallback is recorded for this sample."""
        begin = f"{sample}.for-{fingerprint}"
        asks = (ask for _, ask in self._found.get(case.content_hash, {}))
        return any(ask == begin or ask.startswith(f"{begin}.") for ask in asks)

    def first_asks(self) -> Iterator[tuple[str, str, Judgment]]:
        """Yield the case's key, the critic's full name and the judgment of each first request, without errors."""
        for entry in self._entries:
            if _is_first_ask(entry):
                yield _case_key(entry), self._full_names[_fingerprint(entry)], entry.judgment

    def _add(self, entry: Entry, hidden: set[str]) -> None:
        self._entries.append(entry)
        asks = self._found.setdefault(_case_key(entry), {})
        found = asks.setdefault((_fingerprint(entry), entry.key.sample), {})
        known = found.setdefault(entry.key.case_key, entry)
        if known.judgment.status is Status.ERROR:
            found[entry.key.case_key] = entry
        if len(found) > 1:
            hidden.update(list(found)[1:])

    def _enter_names(self) -> None:
        """Index the critics by their names and by their full names.

        A critic does not affect the names of others if all its first requests failed, or if it was only asked as a
        fallback.
        """
        keys = {_fingerprint(entry): entry.key for entry in self._entries}
        names = {_fingerprint(entry): _name(entry) for entry in reversed(self._entries)}  # each critic's first name
        voters = {_fingerprint(entry) for entry in self._entries if _is_first_ask(entry)}
        for fingerprint, name in names.items():
            same = [other for other in {**dict.fromkeys(voters), fingerprint: None} if names[other] == name]
            self._full_names[fingerprint] = _full_name(name, keys[fingerprint], [keys[other] for other in same])
        for entry in sorted(self._entries, key=lambda entry: _fingerprint(entry) not in voters):
            fingerprint = _fingerprint(entry)
            for name in (_name(entry), self._full_names[fingerprint]):
                known = self._critics.setdefault(name, {})
                if fingerprint in voters or not known.keys() & voters:
                    known[fingerprint] = None


def _full_name(name: str, key: CacheKey, same: Sequence[CacheKey]) -> str:
    """Return the name of a critic, with the differing parts of its key if several critics have that name."""
    if len(same) == 1:
        return name
    several_rubrics = len({other.rubric for other in same if other.critic == key.critic}) > 1
    rubric = f"-{key.rubric[:_FINGERPRINT_SHOWN]}" if several_rubrics else ""
    return f"{name}@{key.critic[:_FINGERPRINT_SHOWN]}{rubric}"


def _is_first_ask(entry: Entry) -> bool:
    return "." not in entry.key.sample and entry.judgment.status is not Status.ERROR


def _case_key(entry: Entry) -> str:
    """Return the key of the case itself, without the hash of the metadata that the prompt showed."""
    return entry.key.case_key.partition("-")[0]


def _fingerprint(entry: Entry) -> str:
    return f"{entry.key.critic}-{entry.key.rubric}"


def _name(entry: Entry) -> str:
    judgment = entry.judgment
    return judgment.critic or f"{judgment.metadata.get('rubric', entry.key.rubric)} {judgment.model}"
