"""A small HTTP server whose faults tests choose: it cuts, corrupts and refuses on demand; and tiny wheels."""

import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest


class FileServer:
    """One body at one address; each request is remembered."""

    def __init__(self, body: bytes, etag: str | None = '"v1"') -> None:
        self.body = body
        self.etag = etag
        self.url = ""
        self.requests: list[dict[str, str]] = []
        self.cuts_bytes: list[int] = []  # the next answers end after that many bytes
        self.bodies: list[bytes] = []  # the next answers carry these instead
        self.statuses: list[int] = []  # the next answers are these errors

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Serve one GET."""
        self.requests.append(dict(handler.headers))
        if self.statuses:
            handler.send_error(self.statuses.pop(0))
            return
        body = self.bodies.pop(0) if self.bodies else self.body
        start = self._start(handler)
        handler.send_response(206 if start else 200)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        if self.etag is not None:
            handler.send_header("ETag", self.etag)
        rest = body[start:]
        handler.send_header("Content-Length", str(len(rest)))
        handler.end_headers()
        handler.wfile.write(rest[: self.cuts_bytes.pop(0)] if self.cuts_bytes else rest)

    def _start(self, handler: BaseHTTPRequestHandler) -> int:
        asked = handler.headers.get("Range")
        if asked is None or handler.headers.get("If-Range", self.etag) != self.etag:
            return 0
        return int(asked.removeprefix("bytes=").removesuffix("-"))


@contextmanager
def serving(server: FileServer) -> Iterator[FileServer]:
    """Run `server` on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.answer(self)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        server.url = f"http://127.0.0.1:{http.server_port}/weights.gguf"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()


@pytest.fixture
def serve() -> Iterator[Callable[..., FileServer]]:
    """Start file servers that end with the test."""
    with ExitStack() as stack:
        yield lambda body, etag='"v1"': stack.enter_context(serving(FileServer(body, etag)))


@pytest.fixture
def make_wheel(tmp_path: Path) -> Callable[[dict[str, bytes]], Path]:
    """Write the wheel `tiny-weights==1.0` with these files; returns its path."""

    def make(files: dict[str, bytes]) -> Path:
        folder = tmp_path / "index"
        folder.mkdir(exist_ok=True)
        path = folder / "tiny_weights-1.0-py3-none-any.whl"
        about = "tiny_weights-1.0.dist-info"
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
            archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n")
            archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{about}/RECORD", "")
        return path

    return make
