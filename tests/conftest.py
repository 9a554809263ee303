"""The served product, shared by every test that asks the embedded models something."""

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from compiling.build import stale
from heterodyne.testing.serve_process import ServeProcess, is_alive
from tests.support.coroutines import pytest_pyfunc_call  # noqa: F401  # a hook: tests may be coroutines
from tests.support.examples import examples
from tests.support.file_by_file import pytest_xdist_make_scheduler  # noqa: F401  # a hook, where there are processes
from tests.support.leftovers import watch_over_this_run

# How long an example takes is the machine's affair.
settings.register_profile(
    "any machine", deadline=None, max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


def pytest_sessionstart(session: pytest.Session) -> None:
    """A run that is killed leaves no server behind; its workers are among what it has started."""
    if not hasattr(session.config, "workerinput"):
        if changed := stale():
            names = ", ".join(changed)
            pytest.exit(f"compiled before they were changed: {names}; run `make compile` or `make uncompile`", 2)
        watch_over_this_run()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browsers come last: Playwright's event loop stays in this thread from then on, and other tests run their own."""
    items.sort(key=lambda item: "browser" in item.path.parts)


def pytest_collection_finish() -> None:
    """Thousands of collected tests stay to the end: looking through them again and again took an eighth of the time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Books, keys and audit logs of tests are not those of whoever runs them; their tables are as wide as they need."""
    os.environ.pop("COLUMNS", None)
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServeProcess]:
    """`heterodyne serve` with its default models; at the end it has to leave in order, with all its children."""
    with ServeProcess(tmp_path_factory.mktemp("served")) as serve:
        serve.wait_ready()
        yield serve
        children = serve.children()
        assert len(children) == 3, "two engines and a worker"
        assert serve.stop() == 0, serve.log
        assert not [pid for pid in children if is_alive(pid)], "children outlived their supervisor"
