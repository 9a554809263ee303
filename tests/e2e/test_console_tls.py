"""The console over TLS: what it speaks, and a certificate that is renewed while somebody is looking."""

import http.client
import os
import shutil
import socket
import ssl
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from heterodyne.testing import behaviours
from heterodyne.testing.scripted_engine import ScriptedEngine
from heterodyne.testing.serve_process import ServeProcess
from tests.support.certificates import Authority
from tests.support.threads import in_thread

WITHIN_S = 30.0


def test_a_console_speaks_tls_and_takes_a_newer_certificate_without_cutting_anybody(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    shown, newer = (authority.issue(name, "127.0.0.1", "localhost") for name in ("shown", "newer"))
    door = f'[console]\ntls_certificate = "{shown.certificate}"\ntls_key = "{shown.key}"\n'
    with in_thread(ScriptedEngine(behaviours.answer(), model="chat")) as engine:
        pools = f'[pools.chat]\nmodel = "chat"\nengine = "openai"\nurls = ["{engine.url}"]\n'
        with ServeProcess(tmp_path, config=door + pools) as serve:
            serve.wait_ready()
            url = urlsplit(serve.admin_url)
            assert url.scheme == "https"
            place = str(url.hostname), int(url.port or 0)
            with closing(http.client.HTTPSConnection(*place, timeout=WITHIN_S, context=authority.believer())) as held:
                before = shown_to(held)
                shutil.copy(newer.key, shown.key)
                shutil.copy(newer.certificate, shown.certificate)
                wait_for_another(place, authority.believer(), before)
                assert shown_to(held) == before  # the same connection goes on
            assert status_by_terminal(serve.admin_url, authority)
            with pytest.raises(ssl.SSLError), connected(place, old_client()):
                pass
            assert plain_words(place) is None


def shown_to(connection: http.client.HTTPSConnection) -> bytes:
    """The certificate that this connection was made with, after one more answer over it."""
    connection.request("GET", "/health")
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (200, b'{"status":"ok"}')
    assert isinstance(connection.sock, ssl.SSLSocket)
    return connection.sock.getpeercert(binary_form=True) or b""


def wait_for_another(place: tuple[str, int], tls: ssl.SSLContext, before: bytes) -> None:
    until_s = time.monotonic() + WITHIN_S
    while True:
        with connected(place, tls) as secured:
            if secured.getpeercert(binary_form=True) != before:
                return
        assert time.monotonic() < until_s, "the newer certificate is not shown"
        time.sleep(0.1)


def connected(place: tuple[str, int], tls: ssl.SSLContext) -> ssl.SSLSocket:
    return tls.wrap_socket(socket.create_connection(place, timeout=WITHIN_S), server_hostname="127.0.0.1")


def plain_words(place: tuple[str, int]) -> int | None:
    """The status that HTTP without TLS is answered; None: it is not."""
    with (
        suppress(OSError, http.client.HTTPException),
        closing(http.client.HTTPConnection(*place, timeout=WITHIN_S)) as plain,
    ):
        plain.request("GET", "/health")
        return plain.getresponse().status
    return None


def old_client() -> ssl.SSLContext:
    """One that speaks TLS 1.1 at most."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        tls.minimum_version = tls.maximum_version = ssl.TLSVersion.TLSv1_1
    tls.set_ciphers("ALL:@SECLEVEL=0")
    return tls


def status_by_terminal(url: str, authority: Authority) -> bool:
    """Whether the command line sees the fleet."""
    command = [sys.executable, "-m", "heterodyne", "fleet", "status", "--url", url, "--json"]
    environment = {**os.environ, "SSL_CERT_FILE": str(authority.file)}
    found = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert found.returncode == 0, found.stderr
    return '"chat"' in found.stdout
