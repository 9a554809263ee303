"""An engine of nothing but the standard library, for tests that start many: `python -S small_engine.py PORT`."""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODEL = "small"
TOKENS = 40
TOKEN_S = 0.02


class SmallEngine(BaseHTTPRequestHandler):
    """Streams the same words to everybody."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Health, and the list of models."""
        self._whole({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    def do_POST(self) -> None:
        """A chat, streamed or whole."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not body.get("stream"):
            message = {"role": "assistant", "content": "hello"}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6}
            self._whole({"id": "c", "object": "chat.completion", "model": MODEL, "choices": [choice], "usage": usage})
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for number in range(TOKENS):
            time.sleep(TOKEN_S)
            self._event({"content": " hello"}, "stop" if number == TOKENS - 1 else None)
        self._chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _event(self, delta: dict[str, str], reason: str | None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        event = {"id": "c", "object": "chat.completion.chunk", "model": MODEL, "choices": [choice]}
        self._chunk(b"data: " + json.dumps(event).encode() + b"\n\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def _whole(self, page: dict[str, object]) -> None:
        body = json.dumps(page).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), SmallEngine).serve_forever()
