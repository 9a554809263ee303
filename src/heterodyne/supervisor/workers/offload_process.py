"""The process beside a worker that works on large bodies, one job at a time, until its worker is gone.

Run as `python -m heterodyne.supervisor.workers.offload_process FD` by the worker; FD is a socket.
"""

import gc
import os
import signal
import socket
import sys

from heterodyne.engines.catalogue import DIALECTS
from heterodyne.gateway.offload.job import HEAD, decode_job, encode
from heterodyne.gateway.offload.perform import perform

NICE = 5  # streams of tokens go first
COLLECT_JOBS = 256  # what is read makes no reference cycles; errors may


def main() -> None:
    """One process's life."""
    # A signal to the whole group ends the worker, which still has answers to finish and then closes the socket.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.nice(NICE)
    gc.disable()  # a million values of one body are no reason to look at each of them again and again
    with socket.socket(fileno=int(sys.argv[1])) as worker:
        jobs = 0
        while _serve(worker):
            jobs += 1
            if jobs % COLLECT_JOBS == 0:
                gc.collect()


def _serve(worker: socket.socket) -> bool:
    """One job; False where the worker is gone."""
    head = _try_take(worker, HEAD.size)
    if head is None:
        return False
    message_bytes, body_bytes = HEAD.unpack(head)
    message, body = _try_take(worker, message_bytes), _try_take(worker, body_bytes)
    if message is None or body is None:
        return False
    result, made = perform(decode_job(message), bytes(body), DIALECTS)
    encoded = encode(result)
    try:
        worker.sendall(HEAD.pack(len(encoded), len(made)) + encoded)
        worker.sendall(made)
    except OSError:
        return False
    return True


def _try_take(worker: socket.socket, size: int) -> bytearray | None:
    """So many bytes; None where the worker has gone."""
    taken = bytearray(size)
    view, at = memoryview(taken), 0
    try:
        while at < size:
            count = worker.recv_into(view[at:])
            if not count:
                return None
            at += count
    except OSError:
        return None
    return taken


if __name__ == "__main__":
    main()
