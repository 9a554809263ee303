"""The same questions to a running gateway's admin API or, where no gateway listens, to the store itself."""

from collections.abc import Callable
from typing import Generic, TypeVar

import click

from heterodyne.cli.admin_client import AdminUnreachable

Source = TypeVar("Source")
T = TypeVar("T")


class AdminOrStore(Generic[Source]):
    """The source that gives the first answer gives all others, so that no list is half of each. One per command."""

    def __init__(self, admin: Source, store: Callable[[], Source] | None, *, instead: str) -> None:
        """Without a store there is no fallback; `instead` is printed where no gateway listens."""
        self._admin = admin
        self._store = store
        self._instead = instead
        self._source: Source | None = admin if store is None else None  # None: no answer yet

    def call(self, ask: Callable[[Source], T]) -> T:
        """The answer of either."""
        if self._source is None:
            assert self._store is not None
            try:
                answer = ask(self._admin)
            except AdminUnreachable as error:
                if not error.is_connection_refused:
                    raise
                click.echo(self._instead, err=True)
                self._source = self._store()
            else:
                self._source = self._admin
                return answer
        return ask(self._source)
