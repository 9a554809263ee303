"""How `make test` deals tests out: whole files, in their order, and a test that ends its process is not tried again.

Browsers have a process of their own from the beginning: four of them at a time, each with a fleet, are more than two
cores carry, and no other test can run after one in its process.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

BROWSERS = "tests/browser/"


class FileByFile(LoadFileScheduling):
    """The plugin's own way, but for two things: it would give a test that is stuck to the next process, and the next;
    and of several tests with one name, as schemathesis makes them, it would run the first."""

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        """What a process has found."""
        seen = Counter[str]()
        told_apart = []
        for test in collection:
            seen[test] += 1
            told_apart.append(test if seen[test] == 1 else f"{test} #{seen[test]}")
        super().add_node_collection(node, told_apart)

    def _split_scope(self, nodeid: str) -> str:
        """What is dealt out together."""
        return BROWSERS if nodeid.startswith(BROWSERS) else super()._split_scope(nodeid)

    def _assign_work_unit(self, node: Any) -> None:
        """The next one; whoever comes first gets the browsers."""
        if BROWSERS in self.workqueue:
            self.workqueue.move_to_end(BROWSERS, last=False)
        super()._assign_work_unit(node)

    def _reschedule(self, node: Any) -> None:
        """A process begins a test when it knows of the next; one that takes another's place is dealt a unit only."""
        if BROWSERS in self.assigned_work.get(node, {}):
            if not node.shutting_down:
                node.shutdown()  # once it has run what it was dealt
            return
        super()._reschedule(node)
        while self.workqueue and not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
            self._assign_work_unit(node)

    def remove_node(self, node: Any) -> str | None:
        """The process is gone; which test it was in. What it has done is not dealt out again, only what was to come."""
        units = self.assigned_work.get(node, {})
        stuck = next((test for unit in units.values() for test, is_done in unit.items() if not is_done), None)
        for scope, unit in list(units.items()):
            if stuck in unit:
                unit[stuck] = True
            if all(unit.values()):
                del units[scope]
        super().remove_node(node)
        return stuck


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileByFile:
    """Called where a run has several processes."""
    return FileByFile(config, log)
