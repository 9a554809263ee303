"""Results become files in the order of the input, each line once, with what was used added up."""

import json
from pathlib import Path

import pytest
from msgspec import Raw

from heterodyne.batches.batch import ANTHROPIC_API, OPENAI_API, Batch, BatchTokens
from heterodyne.batches.outputs import ResultCounter, answered_tokens, write_outputs
from heterodyne.batches.result_words import CANCELLED, EXPIRED, WORDS, LineAnswer, one_line
from heterodyne.batches.work_folder import WorkFolder, WorkLine, result_line


def batch(api: str = OPENAI_API) -> Batch:
    return Batch(
        id="batch_1", project="p", key="k", api=api, endpoint="/v1/x", input_file="i", output_file="o", error_file="e",
        window="24h", expires_at=0.0,
    )  # fmt: skip


def folder_of(path: Path, api: str = OPENAI_API) -> WorkFolder:
    """Five lines: the fifth answered, the second an error, the first told twice, two left."""
    folder = WorkFolder(path)
    folder.open()
    folder.write_piece(0, [WorkLine(number, f"r-{number}", Raw(b"{}")) for number in (5, 3, 4)])
    words = WORDS[api]
    body = b'{"usage":{"prompt_tokens":7,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":2}}}'
    if api == ANTHROPIC_API:
        body = b'{"usage":{"input_tokens":7,"output_tokens":3,"cache_read_input_tokens":2}}'
    answer, refusal = LineAnswer(200, "req_1", body), LineAnswer(400, "req_2", b'{"error":{}}')
    (folder.path / "000000.results").write_bytes(
        result_line(5, words.answered("r-5", answer), is_answer=True, request_id="req_1")
        + result_line(2, words.answered("r-2", refusal), is_answer=False, request_id="req_2")
    )
    (folder.path / "000001.results").write_bytes(
        result_line(1, words.answered("r-1", answer), is_answer=True)
        + result_line(1, words.answered("r-1", refusal), is_answer=False)
        + b"+9 cut sho"
    )
    return folder


def told(path: Path | None) -> list[dict[str, object]]:
    return [] if path is None else [json.loads(line) for line in path.read_text().splitlines()]


def test_each_line_once_in_the_order_of_the_input(tmp_path: Path) -> None:
    outputs = write_outputs(batch(), folder_of(tmp_path), because=EXPIRED)
    assert [one["custom_id"] for one in told(outputs.output)] == ["r-1", "r-5"]
    assert [one["custom_id"] for one in told(outputs.errors)] == ["r-2", "r-3", "r-4"]
    assert told(outputs.errors)[1]["error"] == {
        "code": EXPIRED,
        "message": "This request could not be answered before the end of the completion window.",
    }
    assert (outputs.counts.total, outputs.counts.completed, outputs.counts.failed) == (5, 2, 1)
    assert outputs.unanswered == 2
    assert outputs.tokens == BatchTokens(input=14, cached=4, output=6)


def test_all_of_anthropics_results_are_in_one_file(tmp_path: Path) -> None:
    outputs = write_outputs(batch(ANTHROPIC_API), folder_of(tmp_path, ANTHROPIC_API), because=CANCELLED)
    results = [one["result"] for one in told(outputs.output)]
    assert [one["type"] for one in results] == ["succeeded", "errored", "canceled", "canceled", "succeeded"]  # type: ignore[index]
    assert outputs.errors is None
    assert outputs.tokens == BatchTokens(input=14, cached=4, output=6)


def test_results_are_counted_as_they_come(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    counter = ResultCounter(folder)
    counter.look()
    assert (counter.answered, counter.failed) == (2, 2)
    with (folder.path / "000001.results").open("r+b") as file:
        file.seek(-10, 2)
        file.write(b"+9 {}\n")
        file.truncate()
    counter.look()
    assert (counter.answered, counter.failed) == (3, 2)


def test_answers_on_several_lines_become_one() -> None:
    assert one_line(b'{\n "a": [1,\r\n 2]}') == b'{"a":[1,2]}'
    assert one_line(b"") == b"null"
    assert one_line(b"no\njson") == b'"no\\njson"'


@pytest.mark.parametrize("api", [OPENAI_API, ANTHROPIC_API])
def test_the_books_find_what_was_answered_by_its_request(tmp_path: Path, api: str) -> None:
    folder = folder_of(tmp_path / "batch_1", api)
    folder.leave()
    assert answered_tokens(tmp_path, ["req_1", "req_2", "req_3"]) == {"req_1": 3}
