"""llama.cpp with one file, in a process of its own, for as long as it is asked."""

import contextlib
import select
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from heterodyne.domain.errors import WeightsUnavailable
from heterodyne.fleet.child_order import ChildFailed, ChildListening, ChildOrder

START_S = 300.0
HEALTH_S = 10.0
PAUSE_S = 0.05


@contextmanager
def running_llamacpp(
    path: Path,
    *,
    purpose: Literal["generate", "embed"] = "generate",
    context_tokens: int = 512,
    slots: int = 1,
    threads: int = 0,
    slot_folder: Path | None = None,
) -> Iterator[str]:
    """Its URL, once it is ready. It ends with the block, and with this process."""
    order = ChildOrder(
        model_path=str(path),
        alias="parity",
        purpose=purpose,
        context_tokens=context_tokens,
        slots=slots,
        threads=threads,
        slot_folder=None if slot_folder is None else str(slot_folder),
    )
    child = subprocess.Popen(
        [sys.executable, "-m", "heterodyne.fleet.llamacpp_child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with contextlib.ExitStack() as stack:
        stack.enter_context(child)
        stack.callback(child.kill)
        assert child.stdin is not None
        child.stdin.write(msgspec.json.encode(order) + b"\n")
        child.stdin.flush()
        url = _listening(child, path)
        _wait_ready(child, url, path)
        yield url


def _listening(child: "subprocess.Popen[bytes]", path: Path) -> str:
    assert child.stdout is not None
    has_answer, _, _ = select.select([child.stdout], [], [], START_S)
    line = child.stdout.readline() if has_answer else b""
    if not line:
        raise WeightsUnavailable(f"{path}: llama.cpp did not start with it")
    said = msgspec.json.decode(line)
    if "error" in said:
        raise WeightsUnavailable(msgspec.convert(said, ChildFailed).error)
    return msgspec.convert(said, ChildListening).listening


def _wait_ready(child: "subprocess.Popen[bytes]", url: str, path: Path) -> None:
    until_s = time.monotonic() + START_S
    while True:
        try:
            urllib.request.urlopen(url + "/health", timeout=HEALTH_S).close()  # noqa: S310 - its own address
            return
        except urllib.error.HTTPError as error:
            error.close()  # it loads
        except OSError:
            pass  # it does not listen yet, or has ended
        if child.poll() is not None or time.monotonic() > until_s:
            raise WeightsUnavailable(f"{path}: llama.cpp does not get ready with it")
        time.sleep(PAUSE_S)
