"""How `make test` deals tests out: whole files, in their order, and a test that ends its process is not tried again."""

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling


class FileByFile(LoadFileScheduling):
    """The plugin's own way, but for one thing: it would give a test that is stuck to the next process, and the next."""

    def remove_node(self, node: Any) -> str | None:
        """The process is gone; which test it was in."""
        for unit in self.assigned_work.get(node, {}).values():
            for test, is_done in unit.items():
                if not is_done:
                    unit[test] = True
                    super().remove_node(node)
                    return test
        return super().remove_node(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileByFile:
    """Called where a run has several processes."""
    return FileByFile(config, log)
