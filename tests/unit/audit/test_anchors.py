"""Anchors catch what the log alone cannot tell: that it was set back as a whole, or written anew with the key."""

import shutil
import sys
from pathlib import Path

import pytest

from heterodyne.audit.anchor import AnchorCommand, AnchorFile, AnchorKeeper, anchor_line, anchor_stores, make_anchor
from heterodyne.audit.finding import Damage
from heterodyne.audit.key import AuditKey
from heterodyne.audit.log import LogState
from heterodyne.audit.segments import list_segments
from heterodyne.audit.settings import AuditSettings
from heterodyne.audit.verify import verify
from heterodyne.domain.audit import Anchor
from heterodyne.domain.errors import AuditBroken, StoreUnavailable
from tests.support.audits import fill, lines_of, new_key


def anchor_now(folder: Path, key: AuditKey, file: Path) -> Anchor:
    verdict = verify(folder, key)
    anchor = make_anchor(key, verdict.log, verdict.last_seq, verdict.last_hash, 1_700_000_000.0)
    AnchorFile(file).put(anchor)
    return anchor


def test_anchors_of_a_log_as_it_was_written_agree(tmp_path: Path, key: AuditKey) -> None:
    folder, file = tmp_path / "audit", tmp_path / "anchors"
    for first in (1, 10, 20):
        fill(folder, key, 9, first=first)
        anchor_now(folder, key, file)
    verdict = verify(folder, key, anchors=file)
    assert verdict.is_intact
    assert verdict.anchors == 3


def test_a_log_set_back_together_with_its_head_is_caught_by_an_anchor(tmp_path: Path, key: AuditKey) -> None:
    folder, file, old = tmp_path / "audit", tmp_path / "anchors", tmp_path / "old"
    fill(folder, key, 9)
    anchor_now(folder, key, file)
    shutil.copytree(folder, old)
    fill(folder, key, 9, first=10)
    later = anchor_now(folder, key, file)
    shutil.rmtree(folder)
    old.rename(folder)
    assert verify(folder, key).is_intact, "the log alone cannot tell"
    (finding,) = verify(folder, key, anchors=file).findings
    last = list_segments(folder)[-1]
    assert (finding.damage, finding.file) == (Damage.TRUNCATED, last.name)
    assert finding.line == len(lines_of(folder, last.number)) + 1
    assert finding.seq == verify(folder, key).last_seq + 1
    assert f"entry {later.seq}" in finding.words


def test_a_log_begun_anew_with_its_key_is_caught_at_the_first_anchor(tmp_path: Path, key: AuditKey) -> None:
    folder, file = tmp_path / "audit", tmp_path / "anchors"
    fill(folder, key, 5)
    anchored = anchor_now(folder, key, file)
    shutil.rmtree(folder)
    fill(folder, key, 9)
    assert verify(folder, key).is_intact
    (finding,) = verify(folder, key, anchors=file).findings
    assert (finding.damage, finding.file, finding.line, finding.seq) == (
        Damage.FORKED,
        "audit-000001.jsonl",
        anchored.seq,
        anchored.seq,
    )
    assert "from the beginning" in finding.words


def test_a_log_that_is_gone_is_caught_by_an_anchor(tmp_path: Path, key: AuditKey) -> None:
    folder, file = tmp_path / "audit", tmp_path / "anchors"
    fill(folder, key, 5)
    anchor_now(folder, key, file)
    shutil.rmtree(folder)
    (finding,) = verify(folder, key, anchors=file).findings
    assert (finding.damage, finding.line, finding.seq) == (Damage.TRUNCATED, 1, 1)


@pytest.mark.parametrize(
    "garbage", [b"nonsense\n", b"\xff\xfe\n", b'{"log":"a","seq":1,"hash":"b","at":1,"mac":"c"}\n']
)
def test_an_anchor_not_made_with_the_key_is_found(tmp_path: Path, key: AuditKey, garbage: bytes) -> None:
    folder, file = tmp_path / "audit", tmp_path / "anchors"
    fill(folder, key, 5)
    anchor_now(folder, key, file)
    with file.open("ab") as anchors:
        anchors.write(garbage)
    (finding,) = verify(folder, key, anchors=file).findings
    assert (finding.damage, finding.file, finding.line) == (Damage.ANCHOR, str(file), 2)


def test_anchors_in_another_order_are_found(tmp_path: Path, key: AuditKey) -> None:
    folder, file = tmp_path / "audit", tmp_path / "anchors"
    for first in (1, 10):
        fill(folder, key, 9, first=first)
        anchor_now(folder, key, file)
    one, two = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(two + one)
    (finding,) = verify(folder, key, anchors=file).findings
    assert (finding.damage, finding.line) == (Damage.ANCHOR, 2)


def test_anchors_that_cannot_be_read_are_said(tmp_path: Path, key: AuditKey) -> None:
    with pytest.raises(AuditBroken, match="cannot be read"):
        verify(tmp_path, key, anchors=tmp_path / "none")


def test_a_command_gets_the_anchor_on_its_standard_input(tmp_path: Path, key: AuditKey) -> None:
    taken = tmp_path / "taken"
    script = f"import os, sys; open({str(taken)!r}, 'w').write(sys.stdin.read() + os.environ['HETERODYNE_ANCHOR'])"
    anchor = make_anchor(key, "abc", 7, "de" * 32, 1.0)
    AnchorCommand((sys.executable, "-c", script), 60).put(anchor)
    assert taken.read_bytes() == anchor_line(anchor) + b"abc-000000000007"


def test_a_command_that_fails_hangs_or_is_not_there_is_said(key: AuditKey) -> None:
    anchor = make_anchor(key, "abc", 7, "de" * 32, 1.0)
    with pytest.raises(StoreUnavailable, match="failed with 3: no bucket"):
        AnchorCommand((sys.executable, "-c", "import sys; sys.stderr.write('no bucket'); sys.exit(3)"), 60).put(anchor)
    with pytest.raises(StoreUnavailable, match=r"not taken within 0\.2 s"):
        AnchorCommand((sys.executable, "-c", "import time; time.sleep(60)"), 0.2).put(anchor)
    with pytest.raises(StoreUnavailable, match="cannot be run"):
        AnchorCommand(("/none/such",), 1).put(anchor)


def test_an_anchor_is_due_after_enough_entries_or_enough_time(tmp_path: Path, key: AuditKey) -> None:
    now = 1000.0
    settings = AuditSettings(anchor_file=str(tmp_path / "anchors"), anchor_every_entries=10, anchor_every_s=60)
    keeper = AnchorKeeper(key, settings, anchor_stores(settings), lambda: now)

    def state(seq: int) -> LogState:
        return LogState(log="a", seq=seq, hash="b", segment=1, segment_bytes=1)

    assert keeper.is_due(state(1))
    keeper.anchor(state(1))
    assert not keeper.is_due(state(10))
    assert keeper.is_due(state(11))
    now += 60
    assert keeper.is_due(state(2))
    assert not keeper.is_due(state(1)), "nothing is new"
    assert len((tmp_path / "anchors").read_bytes().splitlines()) == 1


def test_a_store_that_fails_does_not_keep_the_others_from_their_anchor(tmp_path: Path, key: AuditKey) -> None:
    good = AnchorFile(tmp_path / "anchors")
    keeper = AnchorKeeper(key, AuditSettings(), (AnchorFile(tmp_path / "none" / "x"), good), lambda: 1.0)
    with pytest.raises(StoreUnavailable, match="cannot be written"):
        keeper.anchor(LogState(log="a", seq=1, hash="b", segment=1, segment_bytes=1))
    assert (tmp_path / "anchors").exists()


def test_a_missing_anchor_is_a_failure_until_one_is_put(tmp_path: Path, key: AuditKey) -> None:
    keeper = AnchorKeeper(key, AuditSettings(), (AnchorFile(tmp_path / "later" / "anchors"),), lambda: 1.0)
    state = LogState(log="a", seq=1, hash="b", segment=1, segment_bytes=1)
    with pytest.raises(StoreUnavailable):
        keeper.anchor(state)
    assert keeper.is_failing
    (tmp_path / "later").mkdir()
    keeper.anchor(state)
    assert not keeper.is_failing


def test_an_anchor_of_another_key_is_none_of_ours(tmp_path: Path, key: AuditKey) -> None:
    folder, file = tmp_path / "audit", tmp_path / "anchors"
    fill(folder, key, 5)
    verdict = verify(folder, key)
    AnchorFile(file).put(make_anchor(new_key(), verdict.log, verdict.last_seq, verdict.last_hash, 1.0))
    assert [finding.damage for finding in verify(folder, key, anchors=file).findings] == [Damage.ANCHOR]
