"""A worker holds no file: sent and read, however large one is, its memory stays where it was."""

import http.client
import json
import os
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from heterodyne.testing.serve_process import ServeProcess

FILE_MIB = int(os.environ.get("FILE_TEST_MIB", "96"))
MEMORY_MIB_MAX = 24  # a slice here, a piece there, and what the allocator keeps
BOUNDARY = "a-boundary"
LINE = b'{"custom_id": "x", "method": "POST", "url": "/v1/chat/completions", "body": {"words": "%s"}}\n' % (b"w" * 926)
HEAD = (
    f'--{BOUNDARY}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
    f'--{BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="in.jsonl"\r\n\r\n'
).encode()
TAIL = f"\r\n--{BOUNDARY}--\r\n".encode()
PIECE = LINE * 256


def pieces() -> Iterator[bytes]:
    yield HEAD
    for _ in range(FILE_MIB * 4):
        yield PIECE
    yield TAIL


def peak_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def forget_peak(pid: int) -> int:
    """The memory that is in RAM now, of which the peak is told from here on."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")
    return peak_kib(pid)


def test_memory_stays_where_it_was_while_a_large_file_passes(served: ServeProcess) -> None:
    pid, address = served.pid_of("worker-0"), urlsplit(served.url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=200)
    size = FILE_MIB * 4 * len(PIECE)
    headers = {
        "content-type": f"multipart/form-data; boundary={BOUNDARY}",
        "content-length": str(len(HEAD) + size + len(TAIL)),
    }
    connection.request("GET", "/v1/files")  # the store is open from here on
    connection.getresponse().read()
    before_kib, began_s = forget_peak(pid), time.monotonic()
    connection.request("POST", "/v1/files", body=pieces(), headers=headers)
    made = json.loads(connection.getresponse().read())
    sent_s, sending_kib = time.monotonic() - began_s, peak_kib(pid) - before_kib
    assert made["bytes"] == size, made
    before_kib, began_s = forget_peak(pid), time.monotonic()
    connection.request("GET", f"/v1/files/{made['id']}/content")
    answer, digest, read = connection.getresponse(), sha256(), 0
    while piece := answer.read(1 << 20):
        digest.update(piece)
        read += len(piece)
    read_s, reading_kib = time.monotonic() - began_s, peak_kib(pid) - before_kib
    wanted = sha256()
    for _ in range(FILE_MIB * 4):
        wanted.update(PIECE)
    assert (read, digest.digest()) == (size, wanted.digest())
    connection.request("DELETE", f"/v1/files/{made['id']}")
    assert json.loads(connection.getresponse().read())["deleted"]
    connection.close()
    print(f"{size >> 20} MiB: sent in {sent_s:.2f} s, +{sending_kib} KiB; read in {read_s:.2f} s, +{reading_kib} KiB")
    assert sending_kib < MEMORY_MIB_MAX * 1024
    assert reading_kib < MEMORY_MIB_MAX * 1024
