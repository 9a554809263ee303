"""A port is ours, or we say whose it is."""

import os
import socket

import pytest

from heterodyne.domain.errors import PortInUse, SettingsInvalid
from heterodyne.supervisor.listen_address import claim


def test_a_free_port_is_held_and_can_be_shared_by_workers() -> None:
    with claim("127.0.0.1", 0) as holder:
        port = holder.getsockname()[1]
        with socket.socket() as worker:
            worker.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            worker.bind(("127.0.0.1", port))
            worker.listen()


def test_a_port_in_use_is_refused_with_the_name_of_whoever_has_it() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortInUse) as caught:
            claim("127.0.0.1", port)
        assert f"127.0.0.1:{port} is in use by process {os.getpid()} (" in str(caught.value)
        assert "`gateway.port` (--port, or HETERODYNE_GATEWAY__PORT)" in str(caught.value)


def test_even_another_gateways_port_is_not_shared() -> None:
    with claim("127.0.0.1", 0) as holder, pytest.raises(PortInUse):
        claim("127.0.0.1", holder.getsockname()[1])


def test_an_address_that_is_not_ours_is_a_setting_to_change() -> None:
    with pytest.raises(SettingsInvalid, match=r"^gateway\.host: cannot listen on 192\.0\.2\.1:"):
        claim("192.0.2.1", 8080)
