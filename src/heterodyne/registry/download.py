"""Fetch one URL into a file: resumed after every interruption, hashed on the way, given up after a bounded time.

Blocking. The `.part` file and the small note beside it survive the process, so the next start goes on where
this one stopped.
"""

import base64
import hashlib
import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from email.message import Message
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Struct

from heterodyne.domain.counted import counted, times
from heterodyne.domain.errors import WeightsCorrupt, WeightsUnavailable
from heterodyne.ports.weights import Progress
from heterodyne.registry.files import CHUNK_BYTES, hash_stream
from heterodyne.registry.settings import FetchTerms

BACKOFF_FIRST_S = 0.5
BACKOFF_MAX_S = 30.0
NETWORK_HINT = (
    'without a network, bring the file here by other means and name it with weights = "file:PATH", '
    "or ask engines that already run with urls"
)
WORTH_A_RETRY = frozenset({408, 425, 429, 500, 502, 503, 504})


class DownloadRefused(WeightsUnavailable):
    """The server answered with a status that asking again does not change."""

    def __init__(self, message: str, *, answer_status: int) -> None:
        super().__init__(message)
        self.answer_status = answer_status


class _Interrupted(Exception):
    """One attempt ended early; what has arrived may be kept."""


class _Note(Struct, frozen=True, kw_only=True):
    """What must still hold for the bytes of a `.part` file to be continued."""

    url_sha256: str  # an address may hold a signature, and this file outlives us
    validator: str | None  # strong ETag or Last-Modified


class _Job(Struct, frozen=True, kw_only=True):
    """One download, whatever number of connections it takes."""

    url: str
    part: Path
    label: str
    terms: FetchTerms
    progress: Progress


def download(
    url: str,
    into: Path,
    terms: FetchTerms,
    progress: Progress,
    *,
    label: str,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Bring `url` to the path `into`, whose SHA-256 is then `terms.sha256` if one is declared."""
    part = into.with_name(into.name + ".part")
    into.parent.mkdir(parents=True, exist_ok=True)
    job = _Job(url=url, part=part, label=label, terms=terms, progress=progress)
    last = "nothing was tried"
    for attempt in range(terms.attempts_max):
        if attempt:
            sleep(min(BACKOFF_FIRST_S * 2 ** (attempt - 1), BACKOFF_MAX_S))
        try:
            actual = _attempt(job)
        except _Interrupted as error:
            last = str(error)
            continue
        if terms.sha256 is None or actual == terms.sha256:
            part.replace(into)
            _note_path(part).unlink(missing_ok=True)
            return
        _throw_away(part)
        last = f"its SHA-256 is {actual}, expected {terms.sha256}"
        if attempt + 1 == terms.attempts_max:
            raise WeightsCorrupt(f"{label}: fetched {url} {times(terms.attempts_max)}; {last}")
    raise WeightsUnavailable(
        f"{label}: gave up on {url} after {counted(terms.attempts_max, 'attempt')}: {last}; {NETWORK_HINT}"
    )


def ask_head(url: str, terms: FetchTerms, *, label: str) -> None:
    """Raise `WeightsUnavailable` where a download of `url` would fail now; asked once, nothing is written."""
    request = _request(url, {"User-Agent": "heterodyne"}, method="HEAD")
    try:
        urllib.request.build_opener(_KeepEncryption).open(request, timeout=terms.timeout_s).close()
    except urllib.error.HTTPError as error:
        error.close()
        raise DownloadRefused(f"{label}: {url} answered HTTP {error.code}", answer_status=error.code) from error
    except (OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise WeightsUnavailable(f"{label}: {url} cannot be reached: {reason}; {NETWORK_HINT}") from error


def _request(url: str, headers: Mapping[str, str], *, method: str = "GET") -> urllib.request.Request:
    """A user and password inside the address are sent to its own host alone, in the header that is for them."""
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    plain = parts._replace(netloc=host).geturl() if at else url
    # Each source checks its scheme.
    request = urllib.request.Request(plain, headers=dict(headers), method=method)  # noqa: S310
    if at:
        secret = base64.b64encode(unquote(user).encode()).decode()
        request.add_unredirected_header("Authorization", f"Basic {secret}")
    return request


def _attempt(job: _Job) -> str:
    """One connection; returns the hash of the complete file."""
    have_bytes, headers = _continuation(job)
    request = _request(job.url, headers)
    opener = urllib.request.build_opener(_KeepEncryption)
    try:
        with opener.open(request, timeout=job.terms.timeout_s) as response:
            return _receive(job, response, have_bytes)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416:
            _throw_away(job.part)
            raise _Interrupted("the server has nothing after what was already fetched") from error
        if error.code in WORTH_A_RETRY:
            raise _Interrupted(f"HTTP {error.code}") from error
        raise DownloadRefused(f"{job.label}: {job.url} answered HTTP {error.code}", answer_status=error.code) from error
    except urllib.error.URLError as error:
        raise _Interrupted(str(error.reason)) from error
    except (ConnectionError, TimeoutError, http.client.HTTPException) as error:
        raise _Interrupted(f"{type(error).__name__}: {error}") from error
    except OSError as error:
        raise WeightsUnavailable(f"{job.label}: cannot write {job.part}: {error}") from error


def _continuation(job: _Job) -> tuple[int, dict[str, str]]:
    """How many bytes to keep, and the headers that ask for the rest only if it is still the same file."""
    headers = {"Accept-Encoding": "identity", "User-Agent": "heterodyne"}
    note = _try_read_note(job.part)
    have_bytes = job.part.stat().st_size if job.part.exists() else 0
    if not have_bytes or note is None or note.url_sha256 != _digest(job.url):
        return 0, headers
    if note.validator is None and job.terms.sha256 is None:
        return 0, headers
    headers["Range"] = f"bytes={have_bytes}-"
    if note.validator is not None:
        headers["If-Range"] = note.validator
    return have_bytes, headers


def _receive(job: _Job, response: Any, have_bytes: int) -> str:
    """Append or start over, as the server decided; returns the hash of the complete file."""
    is_rest = response.status == 206
    if is_rest and _range_start(response.headers) != have_bytes:
        _throw_away(job.part)
        raise _Interrupted("the server sent another range than the one asked for")
    if not is_rest:
        have_bytes = 0
        note = _Note(url_sha256=_digest(job.url), validator=_try_validator(response.headers))
        _note_path(job.part).write_bytes(msgspec.json.encode(note))
    total_bytes = _total_bytes(response.headers, have_bytes)
    with job.part.open("r+b" if is_rest else "w+b") as file:
        running = hash_stream(file)  # leaves the position at the end of what is kept
        job.progress(job.label, have_bytes, total_bytes)
        while chunk := response.read(CHUNK_BYTES):
            file.write(chunk)
            running.update(chunk)
            job.progress(job.label, file.tell(), total_bytes)
        arrived_bytes = file.tell()
    if total_bytes is not None and arrived_bytes != total_bytes:
        raise _Interrupted(f"the connection ended after {arrived_bytes} of {total_bytes} bytes")
    return running.hexdigest()


def _range_start(headers: Message) -> int | None:
    """`Content-Range: bytes 100-199/200` as 100."""
    value = headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
    return int(value) if value.isdecimal() else None


def _total_bytes(headers: Message, have_bytes: int) -> int | None:
    length = headers.get("Content-Length", "")
    return have_bytes + int(length) if length.isdecimal() else None


def _try_validator(headers: Message) -> str | None:
    etag: str | None = headers.get("ETag")
    if etag is not None and not etag.startswith("W/"):
        return etag
    modified: str | None = headers.get("Last-Modified")
    return modified


def _digest(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()


def _note_path(part: Path) -> Path:
    return part.with_name(part.name + ".json")


def _try_read_note(part: Path) -> _Note | None:
    try:
        return msgspec.json.decode(_note_path(part).read_bytes(), type=_Note)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None


def _throw_away(part: Path) -> None:
    part.unlink(missing_ok=True)
    _note_path(part).unlink(missing_ok=True)


class _KeepEncryption(urllib.request.HTTPRedirectHandler):
    """Follows redirects, except out of https."""

    def redirect_request(  # noqa: PLR0917 - the standard library's signature
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """The request that follows the redirect."""
        if urlsplit(req.full_url).scheme == "https" and urlsplit(newurl).scheme != "https":
            raise WeightsUnavailable(f"{req.full_url} redirects to {newurl}, which is not https; refused")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
