"""Whatever is done to a log is found, at the right place."""

import shutil
from pathlib import Path

import pytest

from heterodyne.audit.finding import AuditFinding, Damage
from heterodyne.audit.key import AuditKey
from heterodyne.audit.line import write_line
from heterodyne.audit.segments import list_segments, segment_path
from heterodyne.audit.verify import verify
from heterodyne.audit.walk import FIRST_PREVIOUS
from tests.support.audits import fill, lines_of, new_key, request_entry, write_lines


def found(folder: Path, key: AuditKey) -> list[tuple[Damage, str, int, int]]:
    return [(one.damage, one.file, one.line, one.seq) for one in verify(folder, key).findings]


def first_seq(folder: Path, segment: int) -> int:
    """Of a segment, where the ones before it are whole."""
    return sum(len(lines_of(folder, number)) for number in range(1, segment)) + 1


def test_a_log_as_it_was_written_is_intact(folder: Path, key: AuditKey) -> None:
    verdict = verify(folder, key)
    assert verdict.is_intact
    assert verdict.segments == len(list_segments(folder)) >= 3
    assert verdict.entries == verdict.last_seq == 22 + verdict.segments
    assert verdict.after_head == verdict.unfinished_bytes == 0


def test_an_edited_entry_is_altered_where_it_stands(folder: Path, key: AuditKey) -> None:
    lines = lines_of(folder, 2)
    seq = first_seq(folder, 2) + 3
    lines[3] = lines[3].replace(b'"acme/search"', b'"evil/search"')
    write_lines(folder, lines, 2)
    assert found(folder, key) == [(Damage.ALTERED, "audit-000002.jsonl", 4, seq)]


def test_an_entry_with_a_new_hash_made_without_the_key_is_altered(folder: Path, key: AuditKey) -> None:
    lines = lines_of(folder)
    lines[4], _ = write_line(new_key(), seq=5, at=1.0, entry=request_entry(99), previous="0" * 64)
    write_lines(folder, lines)
    assert found(folder, key) == [(Damage.ALTERED, "audit-000001.jsonl", 5, 5)]


@pytest.mark.parametrize("index", [0, 1, 5])
def test_a_deleted_entry_is_missing_where_the_next_stands(folder: Path, key: AuditKey, index: int) -> None:
    lines = lines_of(folder)
    del lines[index]
    write_lines(folder, lines)
    assert found(folder, key)[0] == (Damage.MISSING, "audit-000001.jsonl", index + 1, index + 1)


def test_several_deleted_entries_are_told_as_one_gap(folder: Path, key: AuditKey) -> None:
    lines = lines_of(folder)
    del lines[3:6]
    write_lines(folder, lines)
    verdict = verify(folder, key)
    assert found(folder, key) == [(Damage.MISSING, "audit-000001.jsonl", 4, 4)]
    assert "entries 4 to 6" in verdict.findings[0].words


def test_an_inserted_line_is_inserted_where_it_stands(folder: Path, key: AuditKey) -> None:
    lines = lines_of(folder)
    forged, _ = write_line(new_key(), seq=5, at=1.0, entry=request_entry(99), previous="0" * 64)
    write_lines(folder, [*lines[:4], forged, *lines[4:]])
    assert found(folder, key) == [(Damage.INSERTED, "audit-000001.jsonl", 5, 5)]


def test_a_line_put_at_the_very_end_is_inserted(folder: Path, key: AuditKey) -> None:
    last = list_segments(folder)[-1]
    lines = lines_of(folder, last.number)
    write_lines(folder, [*lines, b'{"seq":1}\n'], last.number)
    assert found(folder, key) == [(Damage.INSERTED, last.name, len(lines) + 1, verify(folder, key).last_seq + 1)]


def test_swapped_entries_are_out_of_order_where_the_first_stands(folder: Path, key: AuditKey) -> None:
    lines = lines_of(folder)
    lines[3], lines[4] = lines[4], lines[3]
    write_lines(folder, lines)
    assert found(folder, key) == [
        (Damage.MISSING, "audit-000001.jsonl", 4, 4),
        (Damage.MOVED, "audit-000001.jsonl", 5, 4),
    ]


def test_an_old_entry_put_in_again_is_moved(folder: Path, key: AuditKey) -> None:
    lines = lines_of(folder)
    write_lines(folder, [*lines[:6], lines[2], *lines[6:]])
    assert found(folder, key) == [(Damage.MOVED, "audit-000001.jsonl", 7, 3)]


def test_an_old_entry_put_in_again_at_the_end_is_moved(folder: Path, key: AuditKey) -> None:
    last = list_segments(folder)[-1]
    lines = lines_of(folder, last.number)
    write_lines(folder, [*lines, lines_of(folder)[2]], last.number)
    assert found(folder, key) == [(Damage.MOVED, last.name, len(lines) + 1, 3)]


def test_a_log_without_its_last_entry_is_truncated(folder: Path, key: AuditKey) -> None:
    last = list_segments(folder)[-1]
    lines = lines_of(folder, last.number)
    seq = verify(folder, key).last_seq
    write_lines(folder, lines[:-1], last.number)
    assert found(folder, key) == [(Damage.TRUNCATED, last.name, len(lines), seq)]


def test_a_log_whose_last_entry_is_half_gone_is_truncated(folder: Path, key: AuditKey) -> None:
    last = list_segments(folder)[-1]
    lines = lines_of(folder, last.number)
    seq = verify(folder, key).last_seq
    write_lines(folder, [*lines[:-1], lines[-1][:-1]], last.number)
    assert found(folder, key) == [(Damage.TRUNCATED, last.name, len(lines), seq)]


def test_a_log_without_its_last_segment_is_truncated(folder: Path, key: AuditKey) -> None:
    *_, before, last = list_segments(folder)
    seq = first_seq(folder, last.number)
    last.path.unlink()
    assert found(folder, key) == [(Damage.TRUNCATED, before.name, len(lines_of(folder, before.number)) + 1, seq)]


def test_a_log_without_a_segment_in_the_middle_misses_its_entries(folder: Path, key: AuditKey) -> None:
    seq = first_seq(folder, 2)
    segment_path(folder, 2).unlink()
    assert found(folder, key) == [(Damage.MISSING, "audit-000003.jsonl", 1, seq)]


def test_a_segment_in_the_middle_that_ends_early_misses_its_entries(folder: Path, key: AuditKey) -> None:
    lines = lines_of(folder, 2)
    seq = first_seq(folder, 2) + len(lines) - 2
    write_lines(folder, lines[:-2], 2)
    assert found(folder, key) == [(Damage.MISSING, "audit-000003.jsonl", 1, seq)]


def test_a_torn_line_in_a_segment_that_is_not_the_last_is_altered(folder: Path, key: AuditKey) -> None:
    lines = lines_of(folder, 2)
    seq = first_seq(folder, 2) + len(lines) - 1
    write_lines(folder, [*lines[:-1], lines[-1][:50]], 2)
    assert found(folder, key) == [(Damage.ALTERED, "audit-000002.jsonl", len(lines), seq)]


def test_segments_in_another_order_are_found_at_the_first_of_them(folder: Path, key: AuditKey) -> None:
    seq = first_seq(folder, 3)
    second, third = lines_of(folder, 2), lines_of(folder, 3)
    write_lines(folder, third, 2)
    write_lines(folder, second, 3)
    findings = verify(folder, key).findings
    assert found(folder, key)[0] == (Damage.MOVED, "audit-000002.jsonl", 1, seq)
    assert "holds segment 3" in findings[0].words


def test_a_log_written_anew_without_the_key_is_altered_from_its_first_entry(folder: Path, key: AuditKey) -> None:
    forger, previous, lines = new_key(), FIRST_PREVIOUS, []
    count = len(lines_of(folder))
    for seq in range(1, count + 1):
        line, previous = write_line(forger, seq=seq, at=1.0, entry=request_entry(seq), previous=previous)
        lines.append(line)
    write_lines(folder, lines)
    assert found(folder, key) == [(Damage.ALTERED, "audit-000001.jsonl", 1, 1)]


def test_a_whole_folder_of_another_key_is_altered_from_its_first_entry(folder: Path, key: AuditKey) -> None:
    shutil.rmtree(folder)
    fill(folder, new_key(), 22)
    assert found(folder, key)[0] == (Damage.INSERTED, "audit-000001.jsonl", 1, 1)
    assert Damage.HEAD in [finding.damage for finding in verify(folder, key).findings]


def test_an_entry_of_another_history_with_the_same_key_does_not_follow(tmp_path: Path, key: AuditKey) -> None:
    for name in ("one", "two"):
        fill(tmp_path / name, key, 6)
    lines = lines_of(tmp_path / "one")
    lines[3:] = lines_of(tmp_path / "two")[3:]
    write_lines(tmp_path / "one", lines)
    assert found(tmp_path / "one", key)[0] == (Damage.FORKED, "audit-000001.jsonl", 4, 4)


def test_every_place_is_told_not_only_the_first(folder: Path, key: AuditKey) -> None:
    lines = lines_of(folder)
    lines[2] = b"nonsense\n"
    del lines[5]
    write_lines(folder, lines)
    last = list_segments(folder)[-1]
    cut = lines_of(folder, last.number)
    write_lines(folder, cut[:-1], last.number)
    assert [finding[0] for finding in found(folder, key)] == [Damage.ALTERED, Damage.MISSING, Damage.TRUNCATED]


def test_a_head_that_was_edited_is_found(folder: Path, key: AuditKey) -> None:
    head = folder / "head"
    head.write_bytes(head.read_bytes().replace(b'"segment":', b'"segment":1'))
    assert [finding[:3] for finding in found(folder, key)] == [(Damage.HEAD, "head", 1)]


def test_a_head_that_is_gone_is_found(folder: Path, key: AuditKey) -> None:
    (folder / "head").unlink()
    assert [finding[:3] for finding in found(folder, key)] == [(Damage.HEAD, "head", 1)]


def test_a_log_whose_files_are_all_gone_but_the_head_is_truncated_at_its_first_entry(
    folder: Path, key: AuditKey
) -> None:
    for segment in list_segments(folder):
        segment.path.unlink()
    assert found(folder, key) == [(Damage.TRUNCATED, "audit-000001.jsonl", 1, 1)]


def test_a_head_behind_the_log_is_no_damage(folder: Path, key: AuditKey) -> None:
    head = (folder / "head").read_bytes()
    fill(folder, key, 1, first=23)
    (folder / "head").write_bytes(head)
    verdict = verify(folder, key)
    assert verdict.is_intact
    assert verdict.after_head >= 1


def test_what_was_archived_is_taken_on_trust_when_told_so(folder: Path, key: AuditKey) -> None:
    segment_path(folder, 1).unlink()
    assert found(folder, key)[0] == (Damage.MISSING, "audit-000002.jsonl", 1, 1)
    assert verify(folder, key, from_segment=2).is_intact


def test_damage_is_found_when_earlier_segments_are_taken_on_trust(folder: Path, key: AuditKey) -> None:
    seq = first_seq(folder, 2)
    lines = lines_of(folder, 2)
    lines[0] = lines[0].replace(b"start", b"START")
    write_lines(folder, lines, 2)
    findings = verify(folder, key, from_segment=2).findings
    assert [(one.damage, one.file, one.line, one.seq) for one in findings] == [
        (Damage.ALTERED, "audit-000002.jsonl", 1, seq)
    ]


def test_a_line_of_any_length_is_read_in_bounded_pieces(
    folder: Path, key: AuditKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heterodyne.audit.segments.LINE_BYTES_MAX", 2048)
    lines = lines_of(folder)
    lines[4] = b"x" * 5_000_000 + b"\n"
    write_lines(folder, lines)
    assert found(folder, key) == [(Damage.ALTERED, "audit-000001.jsonl", 5, 5)]


def test_a_finding_reads_as_a_place_and_what_is_wrong() -> None:
    finding = AuditFinding(damage=Damage.MISSING, file="audit-000001.jsonl", line=4, seq=7, words="it is not there")
    assert str(finding) == "audit-000001.jsonl:4: entry 7 missing: it is not there"
