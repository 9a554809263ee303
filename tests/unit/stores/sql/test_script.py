"""Scripts go no further than somebody waits for them."""

import sqlite3
from contextlib import closing

import pytest

from heterodyne.stores.sql.script import Script, Statement, run_on_sqlite


def counting(seen: list[int]) -> Script[None]:
    while True:
        ((number,),) = yield Statement("SELECT $1 + 1", (len(seen),))
        seen.append(number)


def test_a_script_that_no_caller_waits_for_ends() -> None:
    seen: list[int] = []
    with closing(sqlite3.connect(":memory:")) as connection, pytest.raises(sqlite3.OperationalError, match="no caller"):
        run_on_sqlite(connection, counting(seen), lambda: len(seen) == 3)
    assert seen == [1, 2, 3]
