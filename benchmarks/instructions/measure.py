"""User instructions per request of a gateway whose worker runs under valgrind."""

import socket
import time
from collections import Counter
from pathlib import Path

from msgspec import Struct

from benchmarks.gateway.load import GOOD, learn_pattern
from benchmarks.gateway.running import Gateway
from benchmarks.gateway.scenarios import Scenario
from benchmarks.instructions import callgrind
from benchmarks.instructions.parts import C_LIBRARY, part_of
from benchmarks.process_cpu import tree_running
from heterodyne.telemetry.build_form import BuildForm, build_form

ANSWER_S_MAX = 120.0  # under valgrind everything takes fifty times as long
SETTLE_S = 3.0  # records and books are written after the answer
WORKER = "benchmarks.instructions.counted_worker"


class Counted(Struct, frozen=True, kw_only=True):
    """One gateway, one scenario."""

    gateway: str
    scenario: str
    form: BuildForm
    parts: dict[str, int]  # of the worker

    @property
    def title(self) -> str:
        return f"{self.gateway}, {self.scenario}, {self.form}"

    @property
    def total(self) -> int:
        return sum(self.parts.values())

    @property
    def own(self) -> int:
        """Without the C library, which looks through bytes in another way on another model of processor."""
        return self.total - self.parts.get(C_LIBRARY, 0)


def count(gateway: Gateway, scenario: Scenario, requests: int, folder: Path) -> Counted:
    """What so many requests take more than the same time without any; dumps are in the folder."""
    worker = worker_of(gateway.pid)
    request, pattern = scenario.request(), learn_pattern(gateway.port, scenario.request())
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=ANSWER_S_MAX) as connection:
        _ask(connection, request, pattern.ending, requests // 2)
        time.sleep(SETTLE_S)
        callgrind.begin(worker)
        began_s = time.monotonic()
        _ask(connection, request, pattern.ending, requests)
        time.sleep(SETTLE_S)
        busy = callgrind.take(worker, folder)
        time.sleep(time.monotonic() - began_s)
        idle = callgrind.take(worker, folder)
        callgrind.end(worker)
    parts: Counter[str] = Counter()
    for sign, dump in ((1, busy), (-1, idle)):
        for (library, function), instructions in dump.by_function.items():
            parts[part_of(library, function)] += sign * instructions
    return Counted(
        gateway=gateway.name,
        scenario=scenario.name,
        form=build_form(),
        parts={part: round(instructions / requests) for part, instructions in parts.most_common()},
    )


def worker_of(supervisor: int) -> int:
    """The process that is counted."""
    (worker,) = tree_running(supervisor, WORKER)
    return worker.pid


def _ask(connection: socket.socket, request: bytes, ending: bytes, times: int) -> None:
    for _ in range(times):
        connection.sendall(request)
        answer = b""
        while not answer.endswith(ending):
            data = connection.recv(1 << 16)
            if not data:
                raise ConnectionResetError("closed before the answer was whole")
            answer += data
        if not answer.startswith(GOOD):
            raise ValueError(f"not an answer to measure: {answer[:300]!r}")
