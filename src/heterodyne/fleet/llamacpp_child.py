"""The process that holds one llama.cpp engine: reads a ChildOrder, serves until its standard input ends.

Run as `python -m heterodyne.fleet.llamacpp_child`. Its parent keeps the pipe open and watches the exit code.
"""

import os
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from heterodyne.fleet.child_answer import claim_stdout, fail
from heterodyne.fleet.child_order import ChildListening, ChildOrder

PROMPT_CACHE_MIB = 256  # llama.cpp would keep up to 8 GiB of old prompts
# New requests, cancellations and the other slots' tokens wait for a running batch. On a CPU 64 tokens are already
# within a few percent of full prefill speed; the default of 2048 would stop everything for half a minute.
CPU_BATCH_TOKENS = 64
HTTP_THREADS_MIN = 256  # each open connection holds one; health checks need theirs while requests queue


def main() -> NoReturn:
    """Serve one order, then leave."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    answer = claim_stdout()
    try:
        order = msgspec.json.decode(sys.stdin.buffer.readline(), type=ChildOrder)
    except msgspec.MsgspecError as error:
        fail(answer, f"unreadable order: {error}")
    problem = _problem(order)
    if problem is not None:
        fail(answer, problem)
    watcher = threading.Thread(target=_leave_at_end_of_input, daemon=True)
    watcher.start()
    try:
        server = _start(order)
    except (RuntimeError, ValueError, OSError) as error:
        fail(answer, f"llama.cpp does not start {order.model_path} on {order.host}:{order.port}: {error}")
    os.write(answer, msgspec.json.encode(ChildListening(listening=server.listening_address)) + b"\n")
    watcher.join()
    os._exit(0)


def _leave_at_end_of_input() -> None:
    while sys.stdin.buffer.read(4096):
        pass
    # The engine's own threads would finish their answers first; no reader is left.
    os._exit(0)


def _problem(order: ChildOrder) -> str | None:
    """What llama.cpp would report only as a failed start."""
    try:
        with Path(order.model_path).open("rb") as weights:
            if weights.read(4) != b"GGUF":
                return f"{order.model_path} is not a GGUF file"
        family = socket.AF_INET6 if ":" in order.host else socket.AF_INET
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((order.host, order.port))
    except FileNotFoundError:
        return f"no weights at {order.model_path}"
    except OSError as error:
        return f"{error.filename or f'{order.host}:{order.port}'}: {error.strerror}"
    return None


def _start(order: ChildOrder) -> Any:
    # OpenMP threads would spin at every barrier; with one other busy process on the cores that decodes five times
    # slower than sleeping does. Read when the engine is loaded, so it is set before.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import xllamacpp  # noqa: PLC0415 - a bad order is answered before the engine is loaded

    params = xllamacpp.CommonParams()
    params.model.path = order.model_path
    params.model_alias = {order.alias}
    params.hostnames = [order.host]
    params.port = order.port
    params.n_parallel = order.slots
    params.n_ctx = (order.context_tokens or 0) * order.slots
    params.n_gpu_layers = order.gpu_layers
    params.cpuparams.n_threads = order.threads or _cores()
    params.cpuparams_batch.n_threads = order.threads or _cores()
    params.n_threads_http = max(HTTP_THREADS_MIN, 8 * order.slots)
    params.cont_batching = True
    params.cache_prompt = True
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.ctx_shift = False
    params.warmup = True
    params.use_jinja = True
    params.chat_template = order.chat_template or ""
    params.endpoint_metrics = True
    params.endpoint_slots = True
    if order.slot_folder is not None:
        params.slot_save_path = order.slot_folder.rstrip("/") + "/"  # it puts names right behind
    params.ui = False
    params.cors_origins = ""  # no web page may read what this port answers
    params.verbosity = 1  # errors
    if order.purpose == "embed":
        _prepare_embedding(params, xllamacpp)
    elif order.gpu_layers == 0 or not _has_gpu(xllamacpp):
        params.n_batch = params.n_ubatch = max(CPU_BATCH_TOKENS, order.slots)
    return xllamacpp.Server(params)


def _prepare_embedding(params: Any, xllamacpp: Any) -> None:
    params.embedding = True
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    # Attention is not causal: a whole input goes through in one physical batch.
    batch_tokens = max(params.n_ctx, params.n_batch)
    params.n_batch = batch_tokens
    params.n_ubatch = batch_tokens


def _has_gpu(xllamacpp: Any) -> bool:
    cpu = xllamacpp.ggml_backend_dev_type.GGML_BACKEND_DEVICE_TYPE_CPU
    return any(device["type"] != cpu for device in xllamacpp.get_device_info())


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


if __name__ == "__main__":
    main()
