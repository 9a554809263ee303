"""Batches and their files, as a gateway tells them to the terminal."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from http.client import HTTPResponse
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct

from heterodyne.batches.batch import ENDS, BatchCounts, BatchProblem, BatchStatus
from heterodyne.cli.gateway_client import GatewayClient, decoded

PAGE_MAX = 100  # batches in one answer


class ListedProblems(Struct, frozen=True):
    """What is wrong with the input."""

    object: str = "list"
    data: tuple[BatchProblem, ...] = ()


class ListedOutlook(Struct, frozen=True):
    """What only our gateways say."""

    expected_at: int | None = None  # when its last line will be answered
    is_late: bool = False


class ShownBatch(Struct, frozen=True, kw_only=True):
    """A batch in OpenAI's words; times are seconds since the epoch, None: not yet, or never."""

    id: str
    object: str = "batch"
    endpoint: str
    errors: ListedProblems | None = None
    input_file_id: str
    completion_window: str
    status: str
    output_file_id: str | None = None
    error_file_id: str | None = None
    created_at: int
    expires_at: int | None = None
    in_progress_at: int | None = None
    cancelling_at: int | None = None
    finalizing_at: int | None = None
    completed_at: int | None = None
    failed_at: int | None = None
    expired_at: int | None = None
    cancelled_at: int | None = None
    request_counts: BatchCounts | None = None
    metadata: dict[str, str] | None = None
    usage: dict[str, Any] | None = None
    heterodyne: ListedOutlook | None = None

    @property
    def counts(self) -> BatchCounts:
        """Zeros before they are known."""
        return self.request_counts or BatchCounts()

    @property
    def done(self) -> int:
        """Lines that have a result."""
        return self.counts.completed + self.counts.failed

    @property
    def outlook(self) -> ListedOutlook:
        return self.heterodyne or ListedOutlook()

    @property
    def is_over(self) -> bool:
        """Nothing changes any more."""
        return self.status in ENDS

    @property
    def is_completed(self) -> bool:
        return self.status == BatchStatus.COMPLETED

    @property
    def ended_at(self) -> int | None:
        return self.completed_at or self.failed_at or self.expired_at or self.cancelled_at


class ShownBatches(Struct, frozen=True):
    """A page of them, the newest first."""

    data: tuple[ShownBatch, ...]
    has_more: bool = False


class FileId(Struct, frozen=True):
    id: str


class NewBatch(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is sent to make one."""

    input_file_id: str
    endpoint: str
    completion_window: str
    metadata: Mapping[str, str] | None = None


class BatchClient(GatewayClient):
    """Speaks to one gateway."""

    def upload(self, form: Iterable[bytes], headers: Mapping[str, str]) -> str:
        """The id of a file that was sent as a form."""
        return decoded(self.whole("POST", "/v1/files", form, headers), FileId).id

    def delete_file(self, id: str) -> None:
        self.whole("DELETE", f"/v1/files/{_segment(id)}")

    def content(self, file_id: str) -> AbstractContextManager[HTTPResponse]:
        """The bytes of a file, to be read piece by piece."""
        return self.exchange("GET", f"/v1/files/{_segment(file_id)}/content")

    def create(self, wanted: NewBatch) -> ShownBatch:
        return decoded(self.whole("POST", "/v1/batches", msgspec.json.encode(wanted)), ShownBatch)

    def batch(self, id: str) -> ShownBatch:
        return decoded(self.whole("GET", f"/v1/batches/{_segment(id)}"), ShownBatch)

    def cancel(self, id: str) -> ShownBatch:
        return decoded(self.whole("POST", f"/v1/batches/{_segment(id)}/cancel", b"{}"), ShownBatch)

    def batches(self, limit: int) -> list[ShownBatch]:
        """The newest of the project."""
        found: list[ShownBatch] = []
        while True:
            after = f"&after={_segment(found[-1].id)}" if found else ""
            asked = min(PAGE_MAX, limit - len(found))
            page = decoded(self.whole("GET", f"/v1/batches?limit={asked}{after}"), ShownBatches)
            found += page.data
            if not page.has_more or not page.data or len(found) >= limit:
                return found[:limit]


def _segment(id: str) -> str:
    return quote(id, safe="")
