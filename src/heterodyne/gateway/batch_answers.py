"""Answers about files and batches, as the API description has them."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from heterodyne.batches.batch import BatchCounts, BatchProblem, BatchStatus
from heterodyne.batches.file_object import FileObject


class FileList(Struct):
    """Some files, and whether there are more."""

    object: Literal["list"]
    data: list[FileObject]
    first_id: str | None
    last_id: str | None
    has_more: bool


class BatchProblems(Struct):
    """What is wrong with an input."""

    object: Literal["list"]
    data: list[BatchProblem]


class BatchOutlook(Struct):
    """When it will be done, as far as that can be told, and whether that is too late."""

    expected_at: int | None
    is_late: bool


class AnsweredBatch(Struct, kw_only=True):
    """A batch of OpenAI's API; times in seconds since the epoch."""

    id: str
    object: Literal["batch"]
    endpoint: str
    errors: BatchProblems | UnsetType = UNSET
    input_file_id: str
    completion_window: str
    status: BatchStatus
    output_file_id: str | UnsetType = UNSET
    error_file_id: str | UnsetType = UNSET
    created_at: int
    expires_at: int
    in_progress_at: int | UnsetType = UNSET
    finalizing_at: int | UnsetType = UNSET
    completed_at: int | UnsetType = UNSET
    failed_at: int | UnsetType = UNSET
    expired_at: int | UnsetType = UNSET
    cancelling_at: int | UnsetType = UNSET
    cancelled_at: int | UnsetType = UNSET
    request_counts: BatchCounts
    metadata: dict[str, str] | None
    heterodyne: BatchOutlook


class BatchList(Struct):
    """Some batches, and whether there are more."""

    object: Literal["list"]
    data: list[AnsweredBatch]
    first_id: str | None
    last_id: str | None
    has_more: bool


class MessageBatchCounts(Struct):
    """Of the requests of one."""

    processing: int
    succeeded: int
    errored: int
    canceled: int
    expired: int


class AnsweredMessageBatch(Struct):
    """A batch of Anthropic's API; times as RFC 3339 has them."""

    id: str
    type: Literal["message_batch"]
    processing_status: Literal["in_progress", "canceling", "ended"]
    request_counts: MessageBatchCounts
    created_at: str
    expires_at: str
    ended_at: str | None
    archived_at: None
    cancel_initiated_at: str | None
    results_url: str | None


class MessageBatchList(Struct):
    """Some of them, and whether there are more."""

    data: list[AnsweredMessageBatch]
    has_more: bool
    first_id: str | None
    last_id: str | None


class DeletedMessageBatch(Struct):
    """It is gone."""

    id: str
    type: Literal["message_batch_deleted"]
