"""A proxy asks the endpoint picker over TLS, and shows who it is."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import grpc
import pytest

from heterodyne.testing import behaviours
from tests.support import envoy, requests
from tests.support.certificates import Authority, Issued
from tests.support.envoy import ext_proc, listener, needs_envoy
from tests.support.gateways import gateway_over
from tests.support.pickers import health
from tests.support.raw_client import ask

NAME = "picker.example"


def over_tls(cluster: dict[str, Any], authority: Authority, shown: Issued | None) -> dict[str, Any]:
    """The cluster of a picker that is believed by its authority, and is shown this certificate."""
    context: dict[str, Any] = {
        "validation_context": {
            "trusted_ca": {"filename": str(authority.file)},
            "match_typed_subject_alt_names": [{"san_type": "DNS", "matcher": {"exact": NAME}}],
        }
    }
    if shown is not None:
        pair = {"filename": str(shown.certificate)}, {"filename": str(shown.key)}
        context["tls_certificates"] = [{"certificate_chain": pair[0], "private_key": pair[1]}]
    cluster["transport_socket"] = {
        "name": "envoy.transport_sockets.tls",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
            "sni": NAME,
            "common_tls_context": context,
        },
    }
    return cluster


@needs_envoy
async def test_only_a_proxy_that_shows_a_believed_certificate_is_answered(tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "theirs").mkdir()
    ours, theirs = Authority(tmp_path / "ours"), Authority(tmp_path / "theirs")
    own, proxys = ours.issue("own", NAME), theirs.issue("proxy", "proxy.example")
    picker = {
        "tls_certificate": str(own.certificate),
        "tls_key": str(own.key),
        "tls_client_authorities": str(theirs.file),
    }
    async with gateway_over(behaviours.answer(), picker=picker) as rig:
        port = rig.gateway.endpoint_picker_port
        clusters = [
            envoy.destination_cluster(),
            over_tls(envoy.static_cluster("known", [port], is_http2=True), ours, proxys),
            over_tls(envoy.static_cluster("stranger", [port], is_http2=True), ours, None),
        ]
        doors = [listener(name, [ext_proc(name)]) for name in ("known", "stranger")]
        async with envoy.running_envoy(doors, clusters) as proxy:
            assert (await ask(proxy.ports["known"], requests.chat())).status == 200
            assert (await ask(proxy.ports["stranger"], requests.chat())).status == 500


async def test_files_that_are_written_anew_are_shown_and_unfit_ones_are_not(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    held, newer, other = (authority.issue(name, f"{name}.example") for name in ("held", "newer", "other"))
    picker = {"tls_certificate": str(held.certificate), "tls_key": str(held.key)}
    root = authority.file.read_bytes()
    async with gateway_over(behaviours.answer(), picker=picker) as rig:
        port = rig.gateway.endpoint_picker_port
        assert await health(port, "readiness", root, "held.example") == "SERVING"
        shutil.copy(other.key, held.key)  # half of a rotation
        await asyncio.sleep(0)
        assert await health(port, "readiness", root, "held.example") == "SERVING"
        shutil.copy(newer.key, held.key)
        shutil.copy(newer.certificate, held.certificate)
        assert await health(port, "readiness", root, "newer.example") == "SERVING"
        with pytest.raises(grpc.aio.AioRpcError):
            await health(port, "readiness", root, "held.example")
