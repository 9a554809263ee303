"""Compiles what usual requests need before the engine says that it is ready, instead of while they wait."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import jax

from heterodyne.jax_engine.cache import new_layer, with_length
from heterodyne.jax_engine.lengths import cache_lengths, chunk_lengths
from heterodyne.jax_engine.programs import DecoderPrograms, ProgramKey

THREADS_MAX = 16


def compile_ahead(programs: DecoderPrograms, *, slots: int, context_tokens: int, chunk_tokens: int, steps: int) -> int:
    """Every program of answers without likely tokens, for every length of the cache; how many there are."""
    wanted = tuple(programs_ahead(context_tokens=context_tokens, chunk_tokens=chunk_tokens, steps=steps))
    with ThreadPoolExecutor(min(THREADS_MAX, os.cpu_count() or 1), thread_name_prefix="compile-ahead") as threads:
        for done in [threads.submit(programs.compile_ahead, key, slots) for key in wanted]:
            done.result()
    _try_moves(programs, slots, cache_lengths(context_tokens))
    return len(wanted)


def programs_ahead(*, context_tokens: int, chunk_tokens: int, steps: int) -> Iterator[ProgramKey]:
    """The longest caches first: they take the longest."""
    for length in reversed(cache_lengths(context_tokens)):
        for draws in (False, True):
            for count in {1, steps}:
                yield ProgramKey(length, steps=count, draws=draws)
            for tokens in chunk_lengths(chunk_tokens):
                yield ProgramKey(length, chunk_tokens=tokens, draws=draws)
        yield ProgramKey(length, chunk_tokens=chunk_tokens, is_last=False)
        yield ProgramKey(length)


def _try_moves(programs: DecoderPrograms, slots: int, lengths: tuple[int, ...]) -> None:
    """From each length to each, by one layer: all are alike."""
    kind = programs.weights["embedding"].dtype
    for length in lengths:
        layer = new_layer(programs.shape, slots, length, kind)
        for other in lengths:
            jax.block_until_ready(with_length([layer], other))
