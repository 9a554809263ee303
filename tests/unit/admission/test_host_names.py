"""Which names a gateway answers to."""

import pytest

from heterodyne.admission.host_names import HostNames
from heterodyne.domain.errors import UnknownHost


@pytest.mark.parametrize(
    "host", [b"localhost", b"localhost:8080", b"127.0.0.1:8080", b"[::1]:8080", b"LocalHost:8080", b"lab.example", None]
)
def test_a_keyless_gateway_answers_to_its_own_names(host: bytes | None) -> None:
    HostNames(("lab.example",), has_keys=False).check(host)


@pytest.mark.parametrize("host", [b"evil.example", b"localhost.evil.example", b""])
def test_a_keyless_gateway_does_not_answer_to_others(host: bytes) -> None:
    with pytest.raises(UnknownHost, match="host_names"):
        HostNames((), has_keys=False).check(host)


def test_a_gateway_with_keys_answers_to_any_name() -> None:
    HostNames((), has_keys=True).check(b"anything.example")
