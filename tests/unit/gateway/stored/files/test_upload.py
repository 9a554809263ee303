"""One upload: a form in pieces becomes a file on the disk, or the first mistake in it."""

import asyncio
from pathlib import Path
from random import Random

import pytest

from heterodyne.domain.errors import BodyTooLarge, HeterodyneError, InvalidField, Overloaded, StoreUnavailable
from heterodyne.gateway.form_heads import boundary_of
from heterodyne.gateway.stored.files import staging as staging_module
from heterodyne.gateway.stored.files.form_reader import HEADERS_BYTES_MAX, VALUE_BYTES_MAX
from heterodyne.gateway.stored.files.staging import Staging
from heterodyne.gateway.stored.files.upload import READ_PAST_BYTES, Upload, UploadedFile

DATA = Random(7).randbytes(10_000) + b"\r\n--b\r--bx\r\n--boundar\r\n" + b"\r\n" * 50


def part(name: str, value: bytes, filename: str | None = None) -> bytes:
    named = "" if filename is None else f'; filename="{filename}"'
    head = f'--boundary\r\nContent-Disposition: form-data; name="{name}"{named}\r\n\r\n'
    return head.encode() + value + b"\r\n"


def form(*parts: bytes) -> bytes:
    return b"".join(parts) + b"--boundary--\r\n"


FILE = part("file", DATA, "data.bin")
PURPOSE = part("purpose", b"user_data")


def upload(tmp_path: Path, **limits: int) -> Upload:
    values = {"file_bytes_max": 100_000, "line_bytes_max": 50, **limits}
    return Upload(b"boundary", Staging(tmp_path / "uploads"), **values)


def sent(tmp_path: Path, body: bytes, size: int = 1000, **limits: int) -> UploadedFile:
    one = upload(tmp_path, **limits)
    for start in range(0, len(body), size):
        one.write(memoryview(body)[start : start + size])
    return one.finish()


async def left_in(folder: Path) -> list[Path]:
    """Files that are left, once what was let go is gone."""
    for _ in range(500):
        if not (left := list(folder.iterdir()) if folder.exists() else []):
            return []
        await asyncio.sleep(0.01)
    return left


@pytest.mark.parametrize("size", [1, 2, 3, 17, 100_000])
@pytest.mark.parametrize("body", [form(PURPOSE, FILE), form(FILE, PURPOSE)], ids=["file last", "file first"])
async def test_a_form_cut_anywhere_is_the_same_file(tmp_path: Path, body: bytes, size: int) -> None:
    found = sent(tmp_path, body, size)
    assert found.path.read_bytes() == DATA
    assert found[1:] == ("data.bin", "user_data", len(DATA), None)
    assert found.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("filename", "kept"),
    [("a b.txt", "a b.txt"), ("../../etc/passwd", "passwd"), ("C:\\dir\\x.txt", "x.txt"), ("ä語.txt", "ä語.txt")],
)
async def test_of_a_path_the_name_is_kept(tmp_path: Path, filename: str, kept: str) -> None:
    assert sent(tmp_path, form(PURPOSE, part("file", b"x", filename))).filename == kept


async def test_a_file_says_when_it_expires(tmp_path: Path) -> None:
    anchor, seconds = part("expires_after[anchor]", b"created_at"), part("expires_after[seconds]", b"3600")
    assert sent(tmp_path, form(PURPOSE, anchor, seconds, FILE)).expires_after_s == 3600


@pytest.mark.parametrize(
    ("body", "param", "words"),
    [
        (form(FILE), "purpose", "has none"),
        (form(PURPOSE), "file", "no part of this name"),
        (form(PURPOSE, part("file", b"x")), "file", "not a part"),
        (form(PURPOSE, part("file", b"x" * (VALUE_BYTES_MAX + 1))), "file", "sent with its name"),
        (form(PURPOSE, part("file", b"x", "")), "file", "name of 1 to"),
        (form(PURPOSE, part("file", b"x", "n" * 256)), "file", "name of 1 to"),
        (form(PURPOSE, FILE, FILE), "file", "there are two"),
        (form(PURPOSE, PURPOSE, FILE), "purpose", "twice"),
        (form(part("purpose", b"batch_output"), FILE), "purpose", "is none of"),
        (form(PURPOSE, part("nonsense", b"x"), FILE), "nonsense", "not a part"),
        (form(PURPOSE, part("picture", b"x", "x.png"), FILE), "picture", "not a file"),
        (form(PURPOSE, FILE, part("expires_after[seconds]", b"3600")), "expires_after.anchor", "created_at"),
        (form(PURPOSE, FILE, part("expires_after[anchor]", b"created_at")), "expires_after.seconds", "whole number"),
        (form(PURPOSE, FILE)[:-20], None, "last boundary is missing"),
        (b"", None, "last boundary is missing"),
        (b"nonsense", None, "not the form"),
        (form(PURPOSE, part("file", b"\r\n--boundaryx" * 2000, "x"))[:20_000], None, "last boundary|choose another"),
        (b"--other\r\n", None, "not the form"),
        (form(part("purpose", b"batch"), part("file", b"", "x")), "file", "empty"),
        (form(part("purpose", b"batch"), part("file", b"\xff\n", "x")), "file", "not UTF-8"),
        (form(part("file", b"\xff\n", "x"), part("purpose", b"batch")), "file", "not UTF-8"),
        (form(part("purpose", b"batch"), part("file", b"x" * 51, "x")), "file", "longer than 50"),
        (b"--boundary\r\nx: " + b"y" * HEADERS_BYTES_MAX + b"\r\n\r\n", None, "eader"),
    ],
)
async def test_what_is_wrong_is_named_and_leaves_nothing(
    tmp_path: Path, body: bytes, param: str | None, words: str
) -> None:
    for size in (1, 100_000):
        one = upload(tmp_path)
        for start in range(0, len(body), size):
            one.write(body[start : start + size])
        with pytest.raises(InvalidField, match=words) as raised:
            one.finish()
        assert raised.value.param == param
        one.discard()
        assert await left_in(tmp_path / "uploads") == []


@pytest.mark.parametrize("seconds", [b"3599", b"2592001", b"1e4", b"-1", b"", "٣٦٠٠".encode()])
async def test_a_file_expires_within_a_month(tmp_path: Path, seconds: bytes) -> None:
    anchor = part("expires_after[anchor]", b"created_at")
    with pytest.raises(InvalidField) as raised:
        sent(tmp_path, form(PURPOSE, FILE, anchor, part("expires_after[seconds]", seconds)))
    assert raised.value.param == "expires_after.seconds"


async def test_a_file_that_is_too_large_is_refused_while_it_comes(tmp_path: Path) -> None:
    with pytest.raises(BodyTooLarge):
        sent(tmp_path, form(PURPOSE, FILE), file_bytes_max=len(DATA) - 1)
    assert await left_in(tmp_path / "uploads") == []
    assert sent(tmp_path, form(PURPOSE, FILE), file_bytes_max=len(DATA)).size_bytes == len(DATA)


async def test_after_a_mistake_not_everything_is_read(tmp_path: Path) -> None:
    one = upload(tmp_path)
    one.write(b"nonsense")
    one.write(b"x" * READ_PAST_BYTES)
    with pytest.raises(InvalidField):
        one.write(b"x")


async def test_a_disk_that_takes_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "uploads").write_bytes(b"in the way")
    with pytest.raises(StoreUnavailable, match="cannot be written"):
        sent(tmp_path, form(PURPOSE, FILE))


async def test_uploads_at_once_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging_module, "UPLOADS_MAX", 2)
    staging = Staging(tmp_path / "uploads")
    started = [Upload(b"boundary", staging, file_bytes_max=1 << 20, line_bytes_max=50) for _ in range(3)]
    for one in started:
        one.write(form(PURPOSE, FILE))
    assert staging.uploads == 2
    with pytest.raises(Overloaded):
        started[2].finish()
    for one in started:
        one.discard()
        one.discard()
    assert staging.uploads == 0
    assert await left_in(tmp_path / "uploads") == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 415),
        ({b"content-type": b"application/json"}, 415),
        ({b"content-type": b"multipart/mixed; boundary=x"}, 415),
        ({b"content-type": b"multipart/form-data; boundary=x", b"content-encoding": b"gzip"}, 415),
        ({b"content-type": b"multipart/form-data"}, 400),
        ({b"content-type": b"multipart/form-data; boundary="}, 400),
        ({b"content-type": b"multipart/form-data; boundary=" + b"x" * 71}, 400),
    ],
)
def test_a_head_declares_a_form(headers: dict[bytes, bytes], status: int) -> None:
    with pytest.raises(HeterodyneError) as raised:
        boundary_of(headers)
    assert raised.value.status == status


def test_a_boundary_may_be_quoted() -> None:
    assert boundary_of({b"content-type": b'Multipart/Form-Data; charset=utf-8; boundary="a b"'}) == b"a b"
