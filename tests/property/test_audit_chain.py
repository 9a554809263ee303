"""No byte of a log can be changed, and no line of it moved, without that being found at the place or before it."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import example, given
from hypothesis import strategies as st

from heterodyne.audit.finding import AuditFinding
from heterodyne.audit.segments import list_segments
from heterodyne.audit.verify import verify
from tests.support.audits import fill, new_key
from tests.support.splits import bounded

KEY = new_key()
COUNT = 20


def log_of(folder: Path) -> list[bytes]:
    """All lines of a log of several segments."""
    fill(folder, KEY, COUNT)
    return [line for segment in list_segments(folder) for line in segment.path.read_bytes().splitlines(keepends=True)]


with TemporaryDirectory() as _made:
    LINES = log_of(Path(_made) / "audit")
    FILES = {path.name: path.read_bytes() for path in (Path(_made) / "audit").iterdir() if path.is_file()}
SEGMENTS = sorted(name for name in FILES if name.endswith(".jsonl"))
SIZES = [FILES[name].count(b"\n") for name in SEGMENTS]


def findings_of(files: dict[str, bytes]) -> tuple[AuditFinding, ...]:
    with TemporaryDirectory() as place:
        for name, data in files.items():
            (Path(place) / name).write_bytes(data)
        return verify(Path(place), KEY).findings


def in_files(lines: list[bytes]) -> dict[str, bytes]:
    """Lines cut into segments where they were before; what is more or less changes the last."""
    files, start = dict(FILES), 0
    for name, size in zip(SEGMENTS, SIZES, strict=True):
        end = start + size if name != SEGMENTS[-1] else len(lines)
        files[name] = b"".join(lines[start:end])
        start = end
    return files


def place(files: dict[str, bytes], finding: AuditFinding) -> int:
    """How many lines of the whole log stand before that of a finding."""
    before = [files[name].count(b"\n") for name in SEGMENTS[: SEGMENTS.index(finding.file)]]
    return sum(before) + finding.line - 1


def test_the_log_itself_is_intact() -> None:
    assert findings_of(FILES) == ()
    assert len(SEGMENTS) >= 2


@bounded
@given(st.data())
def test_any_bit_flipped_is_found_at_its_line(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(SEGMENTS))
    position = data.draw(st.integers(0, len(FILES[name]) - 1))
    changed = bytearray(FILES[name])
    changed[position] ^= data.draw(st.integers(1, 255))
    first = findings_of({**FILES, name: bytes(changed)})[0]
    assert (first.file, first.line) == (name, FILES[name][:position].count(b"\n") + 1)


@example(position=143, flip=1)
@bounded
@given(st.integers(0, 10_000), st.integers(1, 255))
def test_any_bit_flipped_in_the_head_is_found(position: int, flip: int) -> None:
    changed = bytearray(FILES["head"])
    position %= len(changed) - 1  # the newline at its end means nothing
    changed[position] ^= flip
    assert [finding.file for finding in findings_of({**FILES, "head": bytes(changed)})] == ["head"]


@bounded
@given(st.integers(0, len(LINES) - 1), st.integers(1, 5))
def test_any_lines_taken_out_are_found_there(start: int, count: int) -> None:
    files = in_files([*LINES[:start], *LINES[start + count :]])
    first = findings_of(files)[0]
    assert place(files, first) <= start
    assert first.seq <= start + 1


@bounded
@given(st.integers(0, len(LINES) - 1), st.integers(0, len(LINES)))
def test_any_line_put_in_again_anywhere_is_found_there(source: int, target: int) -> None:
    files = in_files([*LINES[:target], LINES[source], *LINES[target:]])
    first = findings_of(files)[0]
    # A copy beside its original cannot be told from it: the second of the two is the one too many.
    assert place(files, first) <= target + (source == target)


@bounded
@given(st.permutations(range(len(LINES))))
def test_any_other_order_is_found_where_it_begins(order: list[int]) -> None:
    if order == sorted(order):
        return
    files = in_files([LINES[index] for index in order])
    begins = next(index for index, line in enumerate(order) if index != line)
    assert place(files, findings_of(files)[0]) <= begins


@bounded
@given(st.integers(0, len(LINES) - 2), st.integers(1, len(LINES)))
def test_any_two_lines_swapped_are_found_at_the_first(one: int, distance: int) -> None:
    other = min(one + distance, len(LINES) - 1)
    lines = list(LINES)
    lines[one], lines[other] = lines[other], lines[one]
    files = in_files(lines)
    assert place(files, findings_of(files)[0]) <= one


@bounded
@given(st.integers(0, sum(map(len, LINES)) - 1))
def test_any_length_cut_to_is_found_at_the_end_that_is_left(size: int) -> None:
    whole = b"".join(LINES)
    lines = whole[:size].splitlines(keepends=True)
    files = in_files(lines)
    for name in SEGMENTS:
        if not files[name]:
            del files[name]
    kept = whole[:size].count(b"\n")
    first = findings_of(files)[0]
    assert first.seq == kept + 1
    assert first.file in {SEGMENTS[0], *files}
