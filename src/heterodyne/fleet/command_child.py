"""The process around one replica that an operator's command runs: starts it, says when it is ready, ends it.

Run as `python -m heterodyne.fleet.command_child`. It reads a CommandOrder and answers as every child does, so the
parent need not know what the command is. The command ends with this process, however that ends.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection, HTTPException
from typing import NoReturn

import msgspec

from heterodyne.fleet.child_answer import claim_stdout, fail
from heterodyne.fleet.child_order import ChildListening, CommandOrder

POLL_S = 0.05
PROBE_TIMEOUT_S = 2.0
PR_SET_PDEATHSIG = 1  # of Linux's prctl: a signal when the parent is gone
OK = 200


def main() -> NoReturn:
    """Serve one order, then leave."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    answer = claim_stdout()
    try:
        order = msgspec.json.decode(sys.stdin.buffer.readline(), type=CommandOrder)
    except msgspec.MsgspecError as error:
        fail(answer, f"unreadable order: {error}")
    try:
        command = subprocess.Popen(  # noqa: S603  # the operator's own command
            words_of(order),
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            start_new_session=True,
            preexec_fn=_end_with_parent,  # noqa: PLW1509  # no thread has been started yet
        )
    except OSError as error:
        fail(answer, f"{order.words[0]}: {error.strerror}")
    told = _Told()
    signal.signal(signal.SIGTERM, lambda *_: told.leave())
    threading.Thread(target=told.read, daemon=True).start()
    is_ready = False
    while command.poll() is None:
        if told.is_to_leave:
            _end(command, order)
        if not is_ready and _is_ready(order):
            is_ready = True
            os.write(answer, msgspec.json.encode(ChildListening(listening=f"http://{order.host}:{order.port}")) + b"\n")
        time.sleep(POLL_S)
    if not is_ready:
        fail(answer, f"{order.words[0]} ended with {command.returncode} before it was ready")
    os._exit(command.returncode or 1)  # nobody asked it to end


class _Told:
    """Whether the parent wants it to end, by a signal or by the end of its input. Looked at between two naps: a signal
    may come in the middle of anything."""

    is_to_leave = False

    def leave(self) -> None:
        self.is_to_leave = True

    def read(self) -> None:
        while sys.stdin.buffer.read(4096):
            pass
        self.leave()


def words_of(order: CommandOrder) -> list[str]:
    """The command, with what stands for something put in its place."""
    return [_filled(word, order) for word in order.words]


def _filled(word: str, order: CommandOrder) -> str:
    return word.replace("{port}", str(order.port)).replace("{host}", order.host).replace("{python}", sys.executable)


def _end_with_parent() -> None:
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:  # other systems have none; there it outlives a parent that was killed
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _end(command: "subprocess.Popen[bytes]", order: CommandOrder) -> NoReturn:
    """Ask, wait, insist; what it has started belongs to its group."""
    until_s = time.monotonic() + order.stop_timeout_s
    _signal_group(command, signal.SIGTERM)
    while command.poll() is None and time.monotonic() < until_s:
        time.sleep(POLL_S)
    _signal_group(command, signal.SIGKILL)
    os._exit(0)


def _signal_group(command: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    try:
        os.killpg(command.pid, number)
    except ProcessLookupError:
        return


def _is_ready(order: CommandOrder) -> bool:
    connection = HTTPConnection(order.host, order.port, timeout=PROBE_TIMEOUT_S)
    try:
        connection.request("GET", order.health_path)
        return connection.getresponse().status == OK
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    main()
