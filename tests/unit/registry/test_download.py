"""Downloads survive interruptions, notice corruption, and end."""

import base64
import hashlib
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable
from heterodyne.registry.download import DownloadRefused, _KeepEncryption, download
from heterodyne.registry.settings import FetchTerms

BODY = bytes(range(256)) * 4096
SHA256 = hashlib.sha256(BODY).hexdigest()
TERMS = FetchTerms(sha256=SHA256, timeout_s=5, attempts_max=3)

Serve = Callable[..., Any]


def fetch(url: str, into: Path, terms: FetchTerms = TERMS, seen: list[Any] | None = None) -> None:
    progress = (lambda *call: seen.append(call)) if seen is not None else (lambda *_: None)
    download(url, into, terms, progress, label="tiny", sleep=lambda _: None)


def test_a_whole_file_arrives_with_progress(serve: Serve, tmp_path: Path) -> None:
    server, seen = serve(BODY), []
    fetch(server.url, tmp_path / "x", seen=seen)
    assert (tmp_path / "x").read_bytes() == BODY
    assert seen[0] == ("tiny", 0, len(BODY))
    assert seen[-1] == ("tiny", len(BODY), len(BODY))
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_cut_connection_is_resumed_where_it_ended(serve: Serve, tmp_path: Path) -> None:
    server = serve(BODY)
    server.cuts_bytes = [1000]
    fetch(server.url, tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == BODY
    assert server.requests[1]["Range"] == "bytes=1000-"
    assert server.requests[1]["If-Range"] == '"v1"'


def test_another_process_resumes_what_this_one_left(serve: Serve, tmp_path: Path) -> None:
    server = serve(BODY)
    server.cuts_bytes = [5000]
    with pytest.raises(WeightsUnavailable, match="ended after 5000 of"):
        fetch(server.url, tmp_path / "x", msgspec.structs.replace(TERMS, attempts_max=1))
    fetch(server.url, tmp_path / "x")
    assert server.requests[1]["Range"] == "bytes=5000-"
    assert (tmp_path / "x").read_bytes() == BODY


def test_a_file_that_changed_meanwhile_is_fetched_from_the_start(serve: Serve, tmp_path: Path) -> None:
    server = serve(b"old" * 1000)
    server.cuts_bytes = [100]
    with pytest.raises(WeightsUnavailable):
        fetch(server.url, tmp_path / "x", msgspec.structs.replace(TERMS, attempts_max=1))
    server.body, server.etag = BODY, '"v2"'
    fetch(server.url, tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == BODY


def test_without_validator_or_hash_nothing_is_resumed(serve: Serve, tmp_path: Path) -> None:
    server = serve(BODY, None)
    server.cuts_bytes = [100]
    fetch(server.url, tmp_path / "x", msgspec.structs.replace(TERMS, sha256=None))
    assert "Range" not in server.requests[1]
    assert (tmp_path / "x").read_bytes() == BODY


def test_a_corrupt_body_is_thrown_away_and_fetched_again(serve: Serve, tmp_path: Path) -> None:
    server = serve(BODY)
    server.bodies = [b"\0" * len(BODY)]
    fetch(server.url, tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == BODY
    assert "Range" not in server.requests[1]


def test_a_body_that_stays_corrupt_is_given_up_with_both_hashes(serve: Serve, tmp_path: Path) -> None:
    server = serve(b"wrong")
    with pytest.raises(WeightsCorrupt) as caught:
        fetch(server.url, tmp_path / "x")
    assert SHA256 in str(caught.value)
    assert hashlib.sha256(b"wrong").hexdigest() in str(caught.value)
    assert len(server.requests) == 3
    assert list(tmp_path.iterdir()) == []


def test_passing_server_errors_are_retried_and_lasting_ones_are_not(serve: Serve, tmp_path: Path) -> None:
    server = serve(BODY)
    server.statuses = [503, 429]
    fetch(server.url, tmp_path / "x")
    server.statuses = [404]
    with pytest.raises(DownloadRefused, match="HTTP 404"):
        fetch(server.url, tmp_path / "y")


def test_waits_grow_and_attempts_end(tmp_path: Path) -> None:
    waits: list[float] = []
    terms = FetchTerms(sha256=None, timeout_s=1, attempts_max=4)
    with pytest.raises(WeightsUnavailable, match=r"gave up .* after 4 attempts"):
        download("http://127.0.0.1:1/x", tmp_path / "x", terms, lambda *_: None, label="t", sleep=waits.append)
    assert waits == [0.5, 1.0, 2.0]


def test_a_file_url_is_copied(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(BODY)
    fetch((tmp_path / "source").as_uri(), tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == BODY


def test_https_is_never_left_for_http() -> None:
    handler, request = _KeepEncryption(), urllib.request.Request("https://host/x")
    with pytest.raises(WeightsUnavailable, match="not https; refused"):
        handler.redirect_request(request, None, 302, "", {}, "http://host/x")  # type: ignore[arg-type]
    assert handler.redirect_request(request, None, 302, "", {}, "https://other/x") is not None  # type: ignore[arg-type]


def test_a_user_and_password_in_the_address_are_told_in_the_header_for_them(serve: Serve, tmp_path: Path) -> None:
    server = serve(BODY)
    fetch(server.url.replace("http://", "http://somebody:s%3Acret@"), tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == BODY
    assert server.requests[0]["Authorization"] == "Basic " + base64.b64encode(b"somebody:s:cret").decode()
    assert "@" not in server.requests[0]["Host"]
