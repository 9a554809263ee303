"""Four gateways, each a `heterodyne serve` of its own, that reload together: on one real Redis and one PostgreSQL."""

import json
import os
import signal
import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from heterodyne.cli.main import cli
from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.postgres_server import database
from tests.support.redis_server import RedisServer
from tests.support.requests import MODEL
from tests.support.threads import in_thread

GATEWAYS = 4
DEADLINE_S = 60.0
PREPARE_S = 60.0  # fleet.reload_timeout_s
SHORT_S = 6.0  # the same, for one that nobody answers


class Together:
    """All four, and what they share."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack = stack
        self.engine = stack.enter_context(in_thread(ScriptedEngine(behaviours.stream(3))))
        self.redis = stack.enter_context(RedisServer(keeps=False))
        self._database = stack.enter_context(database())
        self._folders = [folder / f"gateway-{number}" for number in range(GATEWAYS)]
        for one in self._folders:
            one.mkdir()
        self.serves = [stack.enter_context(ServeProcess(one, config=self.file(1.0))) for one in self._folders]
        for serve in self.serves:
            serve.wait_ready()
        self.wait(lambda: all(len(self.page(n)["settings"]["others"]) == GATEWAYS - 1 for n in range(GATEWAYS)))

    def file(self, price: float, more: str = "", *, prepare_s: float = PREPARE_S) -> str:
        """The settings of all of them."""
        return "\n".join(
            (
                f'[stores]\nurl = "{self._database}"\nfleet_url = "{self.redis.url}"',
                f"[fleet]\nreload_timeout_s = {prepare_s}",
                f'[pools.pool]\nmodel = "{MODEL}"\nurls = ["{self.engine.url}"]\nprice_usd_per_hour = {price}',
                more,
            )
        )

    def write(
        self,
        price: float,
        more: str = "",
        *,
        at: tuple[int, ...] = tuple(range(GATEWAYS)),
        prepare_s: float = PREPARE_S,
    ) -> None:
        for number in at:
            self.serves[number].config_file.write_text(self.file(price, more, prepare_s=prepare_s))

    def reload(self, at: int, *words: str) -> Result:
        return CliRunner().invoke(cli, ["fleet", "reload", *words, "--url", self.serves[at].admin_url])

    @contextmanager
    def reloading(self, at: int) -> Iterator[list[Result]]:
        """Meanwhile; the result is there afterwards."""
        results: list[Result] = []
        thread = threading.Thread(target=lambda: results.append(self.reload(at)))
        thread.start()
        yield results
        thread.join(DEADLINE_S)
        assert not thread.is_alive()

    @contextmanager
    def slow_to_read(self, at: int) -> Iterator[Callable[[], object]]:
        """Whoever reads the file waits until it is called."""
        path = self.serves[at].config_file
        text = path.read_text()
        path.unlink()
        os.mkfifo(path)
        try:
            yield lambda: path.write_text(text)
        finally:
            path.unlink()
            path.write_text(text)

    def name(self, at: int) -> str:
        return f"{socket.gethostname()}:{self.serves[at].url.rpartition(':')[2]}"

    def page(self, at: int) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.serves[at].admin_url}/admin/fleet", timeout=5) as answer:
            page: dict[str, Any] = json.load(answer)
        return page

    def prices(self, *at: int) -> set[float]:
        """What the gateways work by."""
        numbers = at or range(GATEWAYS)
        return {self.page(number)["replicas"][0]["price"]["usd_per_hour"] for number in numbers}

    def versions(self, *at: int) -> set[str]:
        return {self.page(number)["settings"]["version"] for number in at or range(GATEWAYS)}

    def metric(self, at: int, name: str) -> float:
        with urllib.request.urlopen(f"{self.serves[at].url}/metrics", timeout=5) as page:
            lines = page.read().decode().splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))

    def start_again(self, at: int) -> None:
        """One that was killed, with the file that it has."""
        folder = self._folders[at]
        config = self.serves[at].config_file.read_text()
        self.serves[at] = self._stack.enter_context(ServeProcess(folder, config=config))
        self.serves[at].wait_ready()

    def kill(self, at: int) -> None:
        """As a machine that is gone."""
        serve = self.serves[at]
        for pid in (serve.process.pid, *serve.children()):
            os.kill(pid, signal.SIGKILL)
        serve.process.wait(DEADLINE_S)

    @contextmanager
    def stopped(self, pid: int) -> Iterator[None]:
        """It hangs for a while."""
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    @staticmethod
    def wait(is_so: Callable[[], bool]) -> None:
        until_s = time.monotonic() + DEADLINE_S
        while not is_so():
            assert time.monotonic() < until_s, "not in time"
            time.sleep(0.1)


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Together]:
    with ExitStack() as stack:
        yield Together(stack, tmp_path_factory.mktemp("together"))


def test_all_take_the_same_file_at_the_word_of_one(together: Together) -> None:
    together.write(2.0)
    began_s = time.monotonic()
    done = together.reload(1)
    assert done.exit_code == 0, done.output
    assert together.prices() == {2.0}
    assert len(together.versions()) == 1
    assert all(together.name(number) in done.stdout for number in range(GATEWAYS))
    print(f"taken by all after {time.monotonic() - began_s:.1f} s")
    together.wait(lambda: together.metric(0, "heterodyne_supervisor_settings_info") == 1.0)
    together.wait(lambda: together.metric(0, "heterodyne_supervisor_settings_apart") == 0.0)


def test_one_whose_file_differs_refuses_and_nobody_takes_it(together: Together) -> None:
    held, versions = together.prices(), together.versions()
    together.write(3.0)
    together.write(3.5, at=(2,))
    done = together.reload(0)
    assert done.exit_code == 1
    assert f"{together.name(2)}: its file says something else at `pools.pool`" in done.stderr
    together.write(3.0, "wheels = 4", at=(2,))
    done = together.reload(0)
    assert done.exit_code == 1
    assert f"{together.name(2)}: " in done.stderr
    assert "wheels" in done.stderr
    assert (together.prices(), together.versions()) == (held, versions)


def test_one_whose_worker_hangs_cannot_take_it_and_all_go_back(together: Together) -> None:
    held, versions = together.prices(), together.versions()
    together.write(4.0)
    with together.stopped(together.serves[3].pid_of("worker-0")):
        done = together.reload(0)
        assert done.exit_code == 1
        assert f"{together.name(3)}: A worker did not take the new settings in time" in done.stderr
        together.wait(lambda: (together.prices(), together.versions()) == (held, versions))
    together.wait(lambda: together.metric(0, 'heterodyne_supervisor_reloads_total{outcome="undone"') == 1.0)


def test_a_second_reload_meanwhile_is_refused_by_the_name_of_the_first(together: Together) -> None:
    together.write(5.0, prepare_s=SHORT_S)
    with together.slow_to_read(3) as go_on, together.reloading(0) as first:
        together.wait(lambda: bool(together.page(1)["settings"]["under_way"]))
        second = together.reload(1)
        go_on()
    assert second.exit_code == 1
    assert f"of {together.name(0)}, is under way" in second.stderr
    assert first[0].exit_code == 0, first[0].output
    assert together.prices() == {5.0}


def test_one_that_is_killed_between_the_phases_is_named_and_nobody_takes_it(together: Together) -> None:
    together.write(6.0)
    name = together.name(3)
    with together.slow_to_read(3), together.reloading(0) as refused:
        together.wait(lambda: bool(together.page(1)["settings"]["under_way"]))
        together.kill(3)
    assert refused[0].exit_code == 1
    assert f"{name} did not answer within {SHORT_S:g} s" in refused[0].stderr
    assert together.prices(0, 1, 2) == {5.0}
    together.start_again(3)  # by the new file, which nobody has agreed on
    assert together.prices(3) == {6.0}
    together.wait(lambda: together.metric(0, "heterodyne_supervisor_settings_apart") == 1.0)
    together.wait(lambda: any(one["event"] == "settings_differ" for one in together.serves[3].events()))
    status = CliRunner().invoke(cli, ["fleet", "status", "--url", together.serves[0].admin_url])
    assert f"  {together.name(3)} (" in status.stderr
    assert together.reload(1).exit_code == 0
    assert together.prices() == {6.0}


def test_without_redis_nobody_reloads_but_one_that_is_told_to_go_alone(together: Together) -> None:
    together.wait(lambda: len(together.page(0)["settings"]["others"]) == GATEWAYS - 1)
    together.redis.kill()
    together.write(7.0)
    refused = together.reload(0)
    assert refused.exit_code == 1
    assert "Redis, where gateways leave their reports, does not answer" in refused.stderr
    assert "--alone" in refused.stderr
    assert together.prices() == {6.0}
    alone = together.reload(0, "--alone")
    assert alone.exit_code == 0, alone.output
    assert (together.prices(0), together.prices(1, 2, 3)) == ({7.0}, {6.0})
    together.redis.start()
    together.wait(lambda: together.metric(0, "heterodyne_supervisor_settings_apart") == 3.0)
    assert together.reload(2).exit_code == 0
    assert together.prices() == {7.0}
    together.wait(lambda: together.metric(0, "heterodyne_supervisor_settings_apart") == 0.0)
