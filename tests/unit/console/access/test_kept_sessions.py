"""Sessions across a restart of the gateway."""

import stat
from pathlib import Path

import pytest

from heterodyne.console.access.kept_sessions import SAVE_INTERVAL_S, KeptSessions
from heterodyne.console.access.sessions import IDLE_S, WHOLE_S

KEY, OTHER = b"k" * 32, b"o" * 32


class Clocks:
    """A machine's two clocks; the one on the wall goes on while the machine is off."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.now_at = 1_794_000_000.0

    def sessions(self, file: Path) -> KeptSessions:
        return KeptSessions(file, clock=lambda: self.now_s, wall_clock=lambda: self.now_at)

    def pass_s(self, seconds: float) -> None:
        self.now_s += seconds
        self.now_at += seconds

    def reboot(self, off_s: float) -> None:
        self.now_s = 5.0
        self.now_at += off_s


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "sessions.json"


def test_a_restart_signs_nobody_out(file: Path, clocks: Clocks) -> None:
    clocks.sessions(file).open("token", KEY, clocks.now_s)
    clocks.reboot(60.0)
    assert clocks.sessions(file).try_use("token", clocks.now_s) == KEY


def test_whoever_signed_out_stays_out(file: Path, clocks: Clocks) -> None:
    sessions = clocks.sessions(file)
    sessions.open("token", KEY, clocks.now_s)
    sessions.close("token")
    assert clocks.sessions(file).try_use("token", clocks.now_s) is None


def test_a_key_that_has_gone_takes_its_sessions_along(file: Path, clocks: Clocks) -> None:
    clocks.sessions(file).open("token", KEY, clocks.now_s)
    again = clocks.sessions(file)
    again.keep_only(frozenset({OTHER}))
    assert again.try_use("token", clocks.now_s) is None
    assert clocks.sessions(file).try_use("token", clocks.now_s) is None


@pytest.mark.parametrize("off_s", [IDLE_S, WHOLE_S, -60.0])
def test_time_passes_while_the_gateway_is_off(file: Path, clocks: Clocks, off_s: float) -> None:
    clocks.sessions(file).open("token", KEY, clocks.now_s)
    clocks.reboot(off_s)
    assert clocks.sessions(file).try_use("token", clocks.now_s) is None


def test_the_file_learns_now_and_then_that_a_session_is_used(file: Path, clocks: Clocks) -> None:
    sessions = clocks.sessions(file)
    sessions.open("token", KEY, clocks.now_s)
    clocks.pass_s(IDLE_S - 1)
    assert sessions.try_use("token", clocks.now_s) == KEY
    assert IDLE_S - 1 > SAVE_INTERVAL_S
    clocks.reboot(IDLE_S - 1)
    assert clocks.sessions(file).try_use("token", clocks.now_s) == KEY


def test_the_file_is_for_its_owner_alone_and_opens_nothing(file: Path, clocks: Clocks) -> None:
    clocks.sessions(file).open("a-token-of-somebody", KEY, clocks.now_s)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert b"a-token-of-somebody" not in file.read_bytes()


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", b'[{"token_digest": "a"}]'])
def test_a_file_that_cannot_be_read_restores_nobody(file: Path, clocks: Clocks, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    sessions = clocks.sessions(file)
    assert len(sessions) == 0
    sessions.open("token", KEY, clocks.now_s)
    assert clocks.sessions(file).try_use("token", clocks.now_s) == KEY


def test_where_nothing_can_be_written_sessions_go_on_in_memory(tmp_path: Path, clocks: Clocks) -> None:
    (tmp_path / "state").write_text("a file, and no folder", encoding="utf-8")
    sessions = clocks.sessions(tmp_path / "state" / "sessions.json")
    sessions.open("token", KEY, clocks.now_s)
    assert sessions.try_use("token", clocks.now_s) == KEY
