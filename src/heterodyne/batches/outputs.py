"""Makes the files of results out of a batch's folder, in the order of its input. Blocks."""

import mmap
from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from heterodyne.batches.batch import Batch, BatchCounts, BatchTokens
from heterodyne.batches.result_words import UNANSWERED, WORDS
from heterodyne.batches.work_folder import LINES, RESULTS, WorkFolder, lines_in, results_in


class Outputs(NamedTuple):
    """What was written; a file without lines is not there."""

    output: Path | None
    errors: Path | None
    counts: BatchCounts
    unanswered: int
    tokens: BatchTokens


class _Place(NamedTuple):
    """Of what is told of one line."""

    is_answer: bool
    file: int
    start: int
    end: int


def write_outputs(batch: Batch, folder: WorkFolder, *, because: str) -> Outputs:
    """`because` says why lines without a result have none: a code of `result_words`, or empty where all have one."""
    words, tokens, answered = WORDS[batch.api], _Tokens(), 0
    output, errors = folder.path / "output.jsonl", folder.path / "errors.jsonl"
    with ExitStack() as stack:
        contents: list[bytes | mmap.mmap] = [
            stack.enter_context(_mapped(path)) for path in folder.results() if path.stat().st_size
        ]
        places: dict[int, _Place] = {}
        for number, content in enumerate(contents):
            for result in results_in(content):
                places.setdefault(result.number, _Place(result.is_answer, number, result.start, result.end))
        unanswered = _add_unanswered(batch, folder, places, contents, because) if because else 0
        to_output, to_errors = stack.enter_context(output.open("wb")), stack.enter_context(errors.open("wb"))
        for _, place in sorted(places.items()):
            told = contents[place.file][place.start : place.end]
            answered += place.is_answer
            if place.is_answer:
                tokens.add(told)
            (to_errors if words.has_error_file and not place.is_answer else to_output).write(told)
    return Outputs(
        output if output.stat().st_size else None,
        errors if errors.stat().st_size else None,
        BatchCounts(total=len(places), completed=answered, failed=len(places) - answered - unanswered),
        unanswered,
        tokens.total(),
    )


def _mapped(path: Path) -> mmap.mmap:
    """Results may be many times what there is of memory."""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _add_unanswered(
    batch: Batch, folder: WorkFolder, places: dict[int, _Place], contents: list[bytes | mmap.mmap], because: str
) -> int:
    """Lines that are left get a result that says why; how many there were."""
    words, count = WORDS[batch.api], 0
    told = bytearray()
    for piece in folder.pieces():
        for left in lines_in((folder.path / f"{piece}{LINES}").read_bytes()):
            if left.number not in places:
                start = len(told)
                told += words.unsent(left.custom_id, because, UNANSWERED[because]) + b"\n"
                places[left.number] = _Place(False, len(contents), start, len(told))
                count += 1
    contents.append(bytes(told))
    return count


class _Details(Struct):
    cached_tokens: int | None = 0
    reasoning_tokens: int | None = 0


class _Usage(Struct):
    """In the words of any of the APIs."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int | None = 0
    prompt_tokens_details: _Details | None = None
    completion_tokens_details: _Details | None = None
    input_tokens_details: _Details | None = None
    output_tokens_details: _Details | None = None


class _Answer(Struct):
    usage: _Usage | None = None


class _Response(Struct):
    body: _Answer


class _Succeeded(Struct):
    message: _Answer


class _Told(Struct):
    """Of either API's results."""

    response: _Response | None = None
    result: _Succeeded | None = None


_decode_told = msgspec.json.Decoder(_Told).decode


def answered_tokens(folder: Path, request_ids: Collection[str]) -> dict[str, int]:
    """Of some requests those whose results are in the folders of batches, with the tokens of their answers. Blocks."""
    wanted = {one.encode() for one in request_ids}
    found: dict[str, int] = {}
    for path in folder.glob(f"*/*{RESULTS}"):
        content = path.read_bytes()
        for result in results_in(content):
            if result.is_answer and result.request_id in wanted:
                tokens = _Tokens()
                tokens.add(content[result.start : result.end])
                found[result.request_id.decode()] = tokens.total().output
    return found


class _Tokens:
    """Adds up what answers say they used; one that says nothing adds nothing."""

    def __init__(self) -> None:
        self._input = self._cached = self._output = self._reasoning = 0

    def add(self, told: bytes) -> None:
        try:
            result = _decode_told(told)
        except msgspec.DecodeError:
            return
        answer = result.response.body if result.response is not None else result.result and result.result.message
        usage = answer.usage if answer else None
        if usage is None:
            return
        read, said = usage.prompt_tokens_details or usage.input_tokens_details, usage.completion_tokens_details
        said = said or usage.output_tokens_details
        self._input += usage.prompt_tokens or usage.input_tokens
        self._output += usage.completion_tokens or usage.output_tokens
        self._cached += (read.cached_tokens if read else usage.cache_read_input_tokens) or 0
        self._reasoning += (said.reasoning_tokens if said else 0) or 0

    def total(self) -> BatchTokens:
        return BatchTokens(input=self._input, cached=self._cached, output=self._output, reasoning=self._reasoning)


class ResultCounter:
    """How many results a folder has, looked at again and again: only what is new is read."""

    def __init__(self, folder: WorkFolder) -> None:
        self._folder = folder
        self._read: dict[str, int] = {}  # by file, how much of it
        self.answered = self.failed = 0

    def look(self) -> None:
        """Blocks."""
        for path in self._folder.results():
            before, size = self._read.get(path.name, 0), path.stat().st_size
            if size <= before:
                continue
            with path.open("rb") as file:
                file.seek(before)
                content = file.read(size - before)
            end = before
            for result in results_in(content):
                end = before + result.end
                self.answered += result.is_answer
                self.failed += not result.is_answer
            self._read[path.name] = end
