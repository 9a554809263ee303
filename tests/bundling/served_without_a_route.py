"""Run by `unshare -rn python3 served_without_a_route.py BUNDLE FOLDER`: installs, serves, and asks, with no route out.

It uses nothing of the checkout: what it starts is what a machine in a locked room would have.
"""

import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 0x1, 0x40
PORT, CONSOLE_PORT = 18080, 18081
READY_S = 180.0
ASK_S = 120.0


def main(bundle: Path, folder: Path) -> None:
    """Fails by an exception, and with what `serve` said."""
    bring_up_loopback()
    assert not has_route(), "this is no room without a network"
    folder.mkdir()
    home, environment = folder / "home", folder / "heterodyne"
    home.mkdir()
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    subprocess.run([sys.executable, "-I", str(bundle / "install.py"), str(environment)], check=True, env=env)
    flags = ["--set", f"gateway.port={PORT}", "--set", f"console.port={CONSOLE_PORT}"]
    said = folder / "serve.log"
    with said.open("wb") as log:
        command = [str(environment / "bin" / "heterodyne"), *flags, "serve"]
        serve = subprocess.Popen(command, env=env, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
        try:
            check(serve)
        except BaseException:
            sys.stderr.write(said.read_text(errors="replace"))
            raise
        finally:
            serve.send_signal(signal.SIGTERM)
            serve.wait(60)


def bring_up_loopback() -> None:
    """What `ip link set lo up` does, where there is no `ip`."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP | IFF_RUNNING))


def has_route() -> bool:
    """Whether anything beyond this machine can be named; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        return any_socket.connect_ex(("192.0.2.1", 9)) == 0


def check(serve: "subprocess.Popen[bytes]") -> None:
    """A chat and an embedding."""
    until_s = time.monotonic() + READY_S
    while True:
        assert serve.poll() is None, f"serve left with {serve.returncode}"
        assert time.monotonic() < until_s, "no chat was answered in time"
        try:
            chat = ask("/v1/chat/completions", messages=[{"role": "user", "content": "Say hello."}], max_tokens=8)
            break
        except OSError:  # not there, or its engine is not ready
            time.sleep(1.0)
    words = chat["choices"][0]["message"]["content"]
    assert words.strip()
    while True:
        try:
            vector = ask("/v1/embeddings", model="all-minilm-l6-v2", input="hello")["data"][0]["embedding"]
            break
        except OSError:
            assert time.monotonic() < until_s, "nothing was embedded in time"
            time.sleep(1.0)
    assert len(vector) == 384
    print(f"It said {words!r}, and embedded a word in {len(vector)} numbers.")


def ask(path: str, model: str = "smollm2-135m", **members: object) -> dict:
    body = json.dumps({"model": model, **members}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=ASK_S) as answer:
        return json.load(answer)


if __name__ == "__main__":
    os.umask(0o077)
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).absolute())
