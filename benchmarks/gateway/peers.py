"""One function per gateway: how it is installed and started, with one worker, in front of the mock's replicas."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from benchmarks.gateway.environments import PeerUnavailable, environment, version
from benchmarks.gateway.tenants import make_store
from benchmarks.gateway.upstream import MODEL

HETERODYNE = "heterodyne"
TENANTS = "heterodyne, all on"
VLLM_ROUTER = "vllm-router"
SGLANG_ROUTER = "sglang-router"
LITELLM = "litellm"
NGINX = "nginx"
STORE = "heterodyne.db"


class Place(Struct, frozen=True, kw_only=True):
    """Where one gateway is to run."""

    port: int
    spare_port: int  # for metrics, where a gateway insists on a second one
    upstream_urls: tuple[str, ...]
    folder: Path  # its own, emptied afterwards
    environments: Path


class Launch(Struct, frozen=True, kw_only=True):
    """A gateway ready to be started."""

    version: str
    command: tuple[str, ...]
    environment: dict[str, str] = {}


def heterodyne(place: Place, more: str = "[books]\nis_on = false\n\n", *, workers: int = 1) -> Launch:
    """Ours as a router, with every request written to a record file; routers keep no books, so neither does it."""
    command = Path(sys.executable).with_name("heterodyne")
    if not command.exists():
        raise PeerUnavailable("not installed in this environment; run `make install`")
    settings = place.folder / "heterodyne.toml"
    settings.write_text(
        f"[gateway]\nport = {place.port}\nworkers = {workers}\n\n[console]\nlistens = false\n\n"
        f"[stores]\nurl = 'sqlite:{place.folder / STORE}'\n\n{more}"
        f'[telemetry]\nrecords = "{place.folder / "records.jsonl"}"\n\n'
        f'[pools.mock]\nmodel = "{MODEL}"\nengine = "openai"\nurls = {json.dumps(place.upstream_urls)}\n'
    )
    return Launch(
        version=version(Path(sys.executable).parent, "heterodyne"),
        command=(str(command), "--config", str(settings), "serve"),
        environment={"XDG_STATE_HOME": str(place.folder)},
    )


def heterodyne_tenants(place: Place, *, workers: int = 1, keys: int = 1) -> Launch:
    """Ours with everything on: a key, its organisation, project and key all limited, the queue, and the books."""
    make_store(place.folder / STORE, keys)
    return heterodyne(place, "[admission]\nrequires_key = true\n\n", workers=workers)


def vllm_router(place: Place) -> Launch:
    """The vLLM project's router, in Rust."""
    bin_folder = environment(place.environments, VLLM_ROUTER, "vllm-router>=0.1.16,<0.2")
    return Launch(
        version=version(bin_folder, VLLM_ROUTER),
        command=(str(bin_folder / "vllm-router"), *_router_flags(place)),
    )


def sglang_router(place: Place) -> Launch:
    """The SGLang project's router, in Rust."""
    bin_folder = environment(place.environments, SGLANG_ROUTER, "sglang-router>=0.3.2,<0.4")
    return Launch(
        version=version(bin_folder, SGLANG_ROUTER),
        command=(str(bin_folder / "python"), "-m", "sglang_router.launch_router", *_router_flags(place)),
    )


def litellm(place: Place) -> Launch:
    """LiteLLM's proxy, in Python."""
    bin_folder = environment(place.environments, LITELLM, "litellm[proxy]>=1.106,<2")
    settings = place.folder / "litellm.yaml"
    replicas = "".join(
        f"  - model_name: {MODEL}\n    litellm_params:\n      model: openai/{MODEL}\n"
        f"      api_base: {url}/v1\n      api_key: none\n"
        for url in place.upstream_urls
    )
    settings.write_text(
        f"model_list:\n{replicas}general_settings:\n  dangerously_permit_weak_or_unset_master_key: true\n"
    )
    return Launch(
        version=version(bin_folder, LITELLM),
        command=(
            *(str(bin_folder / "litellm"), "--config", str(settings)),
            *("--host", "127.0.0.1", "--port", str(place.port), "--num_workers", "1"),
        ),
        environment={"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False"},
    )


def nginx(place: Place) -> Launch:
    """A plain reverse proxy that understands nothing of the request: the floor."""
    command = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if command is None:
        raise PeerUnavailable("not installed on this machine")
    settings = place.folder / "nginx.conf"
    user = "user root;\n" if os.geteuid() == 0 else ""
    bodies = "".join(f"{kind}_temp_path {place.folder};\n" for kind in ("client_body", "proxy", "fastcgi"))
    servers = " ".join(f"server {url.removeprefix('http://')};" for url in place.upstream_urls)
    settings.write_text(
        f"{user}worker_processes 1;\ndaemon off;\npid {place.folder}/nginx.pid;\nerror_log stderr;\n"
        "events { worker_connections 1024; }\n"
        f"http {{\naccess_log off;\n{bodies}uwsgi_temp_path {place.folder};\nscgi_temp_path {place.folder};\n"
        f"client_body_buffer_size 1m;\nkeepalive_requests 1000000;\n"
        f"upstream engine {{ {servers} keepalive 64; keepalive_requests 1000000; }}\n"
        f"server {{ listen 127.0.0.1:{place.port};\nlocation / {{ proxy_pass http://engine; "
        'proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }\n}\n}\n'
    )
    said = subprocess.run([command, "-v"], capture_output=True, text=True, check=False).stderr
    found = re.search(r"[\d.]+", said)
    return Launch(
        version=found.group() if found else "unknown",
        command=(command, "-p", str(place.folder), "-c", str(settings), "-e", "stderr"),
    )


PEERS: dict[str, Callable[[Place], Launch]] = {
    HETERODYNE: heterodyne,
    TENANTS: heterodyne_tenants,
    VLLM_ROUTER: vllm_router,
    SGLANG_ROUTER: sglang_router,
    LITELLM: litellm,
    NGINX: nginx,
}


def _router_flags(place: Place) -> tuple[str, ...]:
    # A quiet log is kind to the routers: at its default level sglang-router writes a line for every request.
    return (
        *("--host", "127.0.0.1", "--port", str(place.port), "--worker-urls", *place.upstream_urls),
        *("--policy", "round_robin", "--log-level", "error"),
        *("--prometheus-host", "127.0.0.1", "--prometheus-port", str(place.spare_port)),
    )
