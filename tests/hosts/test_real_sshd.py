"""The same over a real sshd on loopback, with the system's own ssh; skipped where one of them is not installed."""

import asyncio
import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from heterodyne.fleet.free_ports import LOOPBACK, free_ports
from heterodyne.fleet.hosts.ssh import SshAccess, SshPlatform
from tests.support.host_benches import failure, hosts_bench, ssh_pool

WAIT_S = 20.0
SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
pytestmark = pytest.mark.skipif(
    SSHD is None or shutil.which("ssh") is None or shutil.which("ssh-keygen") is None,
    reason="needs ssh and sshd: apt-get install openssh-server",
)


class Host(Struct, kw_only=True):
    """A daemon that lets this user in by a key of its own."""

    folder: Path
    port: int
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def access(self) -> SshAccess:
        """In a folder of this test's, as the home is whoever's runs it."""
        options = (
            f"UserKnownHostsFile={self.folder}/known_hosts",
            f"IdentityFile={self.folder}/user_key",
            "IdentitiesOnly=yes",
            "BatchMode=yes",
            "ConnectTimeout=5",
            f"Port={self.port}",
        )
        words = [word for option in options for word in ("-o", option)]
        name = f".heterodyne-test-{self.port}"
        return SshAccess(command=("ssh", "-T", "-F", "none", *words, "{host}"), folder=name, namespace="tests")

    def start(self) -> None:
        assert SSHD is not None
        self.process = subprocess.Popen([SSHD, "-D", "-e", "-f", str(self.folder / "sshd_config")])
        until_s = time.monotonic() + WAIT_S
        while True:
            with socket.socket() as one:
                if one.connect_ex((LOOPBACK, self.port)) == 0:
                    return
            assert self.process.poll() is None, "sshd does not start here"
            assert time.monotonic() < until_s
            time.sleep(0.05)

    def stop(self) -> None:
        assert self.process is not None
        self.process.terminate()
        self.process.wait(WAIT_S)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    user = pwd.getpwuid(os.getuid()).pw_name
    port = free_ports(1)[0]
    for name in ("host_key", "user_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)], check=True)
    shutil.copy(tmp_path / "user_key.pub", tmp_path / "authorized_keys")
    public = (tmp_path / "host_key.pub").read_text().rpartition(" ")[0]
    (tmp_path / "known_hosts").write_text(f"[{LOOPBACK}]:{port} {public}\n")
    (tmp_path / "sshd_config").write_text(
        f"Port {port}\nListenAddress {LOOPBACK}\nHostKey {tmp_path}/host_key\nPidFile none\nUsePAM no\n"
        f"AuthorizedKeysFile {tmp_path}/authorized_keys\nStrictModes no\nPasswordAuthentication no\n"
        f"KbdInteractiveAuthentication no\nAllowUsers {user}\nPermitRootLogin prohibit-password\n"
    )
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where sshd puts itself away, if root runs it
    one = Host(folder=tmp_path, port=port)
    one.start()
    try:
        yield one
    finally:
        one.stop()
        shutil.rmtree(Path.home() / one.access.folder, ignore_errors=True)


async def test_replicas_start_stop_and_outlive_connections_and_gateways(host: Host) -> None:
    pool = ssh_pool({LOOPBACK: 3})
    async with hosts_bench(lambda: SshPlatform(host.access), pool, start_timeout_s=60.0) as bench:
        await bench.settled(1)
        await bench.driver.scale(bench.pool, 2, seen=1)
        before = {one.id for one in (await bench.settled(2)).replicas}
    async with hosts_bench(lambda: SshPlatform(host.access), pool, start_timeout_s=60.0) as bench:
        found = await bench.settled(2)
        assert {one.id for one in found.replicas} == before
        killed, stays = (one.id for one in found.replicas)
        await bench.kill(killed)
        again = await bench.when(
            lambda pool: killed not in [one.id for one in pool.replicas] and len(pool.replicas) == 2
        )
        assert stays in [one.id for one in again.replicas]
        await bench.settled(2)
        await bench.driver.scale(bench.pool, 0, seen=2)
        await bench.settled(0)
        async with asyncio.timeout(60.0):  # what has ended is swept up by one of the next looks
            while list((Path.home() / host.access.folder).iterdir()):
                await asyncio.sleep(0.1)


async def test_a_host_whose_daemon_is_away_is_named_in_the_words_of_ssh(host: Host) -> None:
    async with hosts_bench(lambda: SshPlatform(host.access), ssh_pool({LOOPBACK: 1}), start_timeout_s=60.0) as bench:
        (before,) = (await bench.settled(1)).replicas
        host.stop()
        assert "Connection refused" in await failure(bench)
        host.start()
        (after,) = (await bench.settled(1)).replicas
        assert after.id == before.id
        await bench.driver.scale(bench.pool, 0, seen=1)
        await bench.settled(0)


async def test_no_word_is_read_by_the_hosts_shell(host: Host) -> None:
    """The engine is `printf`: what it was given is in its log, and it has ended."""
    hostile = "$(touch gone); 'it' `touch gone` \" * \\"
    pool = ssh_pool({LOOPBACK: 1}, words=("printf", "%s", hostile, "{port}"))
    platform = SshPlatform(host.access)
    await platform.find(pool)
    await platform.start(pool)
    async with asyncio.timeout(WAIT_S):
        while not (ended := [one for one in await platform.find(pool) if one.is_ended]):
            await asyncio.sleep(0.1)
    assert f"it said last: {hostile}{pool.settings.ssh_port_first}" in str(ended[0].problem)
    await platform.stop(pool, ended[0])
    assert not (Path.home() / "gone").exists()
