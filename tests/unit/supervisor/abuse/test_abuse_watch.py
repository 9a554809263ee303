"""What is held against keys: how long, by which policy; written down, published, lifted, kept over a restart."""

import asyncio
import socket
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from heterodyne.console.abuse.forms import AbuseLift
from heterodyne.console.abuse.service import AbuseChanges
from heterodyne.console.change_recorder import ChangeRecorder
from heterodyne.domain.abuse_sign import AbuseSign
from heterodyne.domain.errors import UnknownName
from heterodyne.domain.key_restriction import KeyRestriction
from heterodyne.gateway.abuse.sign_sender import SOCKET, SignSender
from heterodyne.safety.abuse.finding import AbuseFinding
from heterodyne.safety.abuse.settings import AbuseSettings
from heterodyne.supervisor.abuse.abuse_watch import AbuseWatch
from heterodyne.supervisor.abuse.case_book import CASES_MAX, CaseBook
from tests.support.change_logs import ListedChanges

BLOCK = AbuseSettings(watch="extraction", action="block", logits_min=2, hold_s=600)
SLOW = AbuseSettings(watch="extraction", action="slow_down", logits_min=2, hold_s=3000, requests_per_minute=5)


def finding(key: str = "k", policy: str = "one", at: float = 0.0) -> AbuseFinding:
    return AbuseFinding(policy=policy, watch="extraction", rule="logits", key=key, project="a/b", at=at, detail="2")


def signs(key: str, at: float, number: int = 2) -> list[AbuseSign]:
    return [AbuseSign(key, "a/b", "m", "m", at, words=9, digest=digest, has_logits=True) for digest in range(number)]


class World:
    """A watch whose workers, clock and audit log are the test's."""

    def __init__(self, folder: Path, **policies: AbuseSettings) -> None:
        self.policies: Mapping[str, AbuseSettings] = policies
        self.now = 1000.0
        self.audit = ListedChanges()
        self.published: list[tuple[KeyRestriction, ...]] = []
        self.is_applied = True
        self.folder = folder
        self.watch = self.another()

    def another(self) -> AbuseWatch:
        return AbuseWatch(
            lambda: self.policies,
            self.folder,
            self.folder / "abuse.bin",
            self.audit,
            self._publish,
            wall_clock=lambda: self.now,
        )

    async def _publish(self, restrictions: tuple[KeyRestriction, ...]) -> bool:
        self.published.append(restrictions)
        return self.is_applied


async def test_a_finding_is_written_down_and_published_once(tmp_path: Path) -> None:
    world = World(tmp_path, one=BLOCK)
    assert world.watch.begin() == ()
    world.watch.hear(signs("k", 1000.0, number=20))
    await world.watch.tick()
    await world.watch.tick()
    held = KeyRestriction(key="k", action="block", policy="one", until_at=1600.0)
    assert world.published == [(held,)]
    [entry] = world.audit.entries
    assert (entry.who, entry.what, entry.subject) == ("policy one", "abuse.block", "k")
    assert [(one.policy, one.keys) for one in world.watch.signals()] == [("one", 1)]


async def test_it_is_over_at_its_time_and_may_come_again(tmp_path: Path) -> None:
    world = World(tmp_path, one=BLOCK)
    world.watch.begin()
    world.watch.hear(signs("k", 1000.0))
    await world.watch.tick()
    world.now = 1601.0
    await world.watch.tick()
    assert world.published[-1] == ()
    world.watch.hear([AbuseSign("k", "a/b", "m", "m", 1601.0, words=9, digest=77, has_logits=True)])
    await world.watch.tick()
    assert world.published[-1][0].until_at == 2201.0


async def test_what_only_alerts_restricts_nobody(tmp_path: Path) -> None:
    world = World(tmp_path, one=AbuseSettings(watch="extraction", logits_min=2))
    world.watch.begin()
    world.watch.hear(signs("k", 1000.0))
    await world.watch.tick()
    assert world.published == []
    assert [case.action for case in world.watch.page().cases] == ["alert"]


async def test_workers_that_did_not_apply_it_are_told_again(tmp_path: Path) -> None:
    world = World(tmp_path, one=BLOCK)
    world.watch.begin()
    world.is_applied = False
    world.watch.hear(signs("k", 1000.0))
    await world.watch.tick()
    await world.watch.tick()
    assert len(world.published) == 2


async def test_what_the_audit_log_cannot_take_is_blocked_all_the_same_and_written_later(tmp_path: Path) -> None:
    world = World(tmp_path, one=BLOCK)
    world.watch.begin()
    world.audit.room = 0
    world.watch.hear(signs("k", 1000.0))
    await world.watch.tick()
    assert (len(world.published), world.audit.entries) == (1, [])
    world.audit.room = None
    await world.watch.tick()
    assert [entry.what for entry in world.audit.entries] == ["abuse.block"]


async def test_an_operator_lifts_it_and_the_policy_lets_the_key_be(tmp_path: Path) -> None:
    world = World(tmp_path, one=BLOCK)
    world.watch.begin()
    world.watch.hear(signs("k", 1000.0))
    await world.watch.tick()
    changes = AbuseChanges(world.watch, ChangeRecorder(world.audit))
    lifted = await changes.lift(AbuseLift(key="k"), "operator")
    assert (world.published[-1], lifted.quiet_until_at, lifted.is_applied) == ((), 1600.0, True)
    world.watch.hear(signs("k", 1100.0, number=9))
    assert world.watch.page().cases == ()
    assert world.audit.outcomes()[-1] == ("abuse.lift", "")
    with pytest.raises(UnknownName, match="Nothing is held against the key"):
        await changes.lift(AbuseLift(key="k"), "operator")


async def test_a_restart_forgets_neither_cases_nor_what_was_lifted(tmp_path: Path) -> None:
    world = World(tmp_path, one=BLOCK, two=AbuseSettings(watch="cost"))
    world.watch.begin()
    world.watch.hear([*signs("held", 1000.0), *signs("free", 1000.0), AbuseSign("k", "a/b", "m", "m", 1000.0, 1.0)])
    await world.watch.lift("free")
    await world.watch.close()
    again = world.another()
    assert [one.key for one in again.begin()] == ["held"]
    again.hear(signs("free", 1000.0, number=9))
    assert [case.key for case in again.page().cases] == ["held"]


async def test_what_a_policy_found_that_is_gone_is_lifted(tmp_path: Path) -> None:
    world = World(tmp_path, one=BLOCK)
    world.watch.begin()
    world.watch.hear(signs("k", 1000.0))
    await world.watch.tick()
    world.policies = {}
    await world.watch.tick()
    assert world.published[-1] == ()
    assert not world.watch.page().is_on


async def test_a_file_that_cannot_be_read_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "abuse.bin").write_bytes(b"\x00nonsense")
    assert World(tmp_path, one=BLOCK).watch.begin() == ()


async def test_signs_of_a_worker_come_over_a_socket_and_nonsense_does_not_stop_them(tmp_path: Path) -> None:
    world = World(tmp_path, one=BLOCK)
    running = asyncio.create_task(world.watch.run())
    sender = SignSender(tmp_path, b"secret", interval_s=0.01)
    try:
        async with asyncio.timeout(10):
            while not (tmp_path / SOCKET).exists():
                await asyncio.sleep(0.01)
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
                for nonsense in (b"\xc1", msgspec.msgpack.encode({"a": 1})):
                    other.sendto(nonsense, str(tmp_path / SOCKET))
            sender.start()
            about = AbuseSign("k", "a/b", "m", "m", world.now)
            for topic in (b"rivers", b"mountains", b"islands"):
                body = b'{"logprobs": true, "messages": [{"role": "user", "content": "%b please"}]}' % topic
                sender.add(about, body, verbatim=True)
            while not world.published:
                await asyncio.sleep(0.01)
    finally:
        sender.close()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert [one.key for one in world.published[-1]] == ["k"]


def test_of_several_policies_the_hardest_holds() -> None:
    book = CaseBook()
    book.add(finding(policy="slow"), SLOW)
    book.add(finding(policy="block"), BLOCK)
    book.add(finding(policy="slow", key="other"), SLOW)
    found = {one.key: (one.action, one.requests_per_minute) for one in book.restrictions()}
    assert found == {"k": ("block", 0), "other": ("slow_down", 5)}


def test_there_are_no_more_cases_than_may_be() -> None:
    book = CaseBook()
    for number in range(CASES_MAX + 3):
        book.add(finding(key=f"k{number}"), BLOCK)
    assert (len(book.cases), book.turned_away) == (CASES_MAX, 3)
    book.expire(601.0, ["one"])
    assert book.add(finding(at=601.0), BLOCK) is not None
