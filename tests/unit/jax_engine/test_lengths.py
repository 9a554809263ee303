"""The lengths that the JAX engine compiles for."""

from heterodyne.jax_engine.lengths import cache_length, cache_lengths, chunk_length, chunk_lengths, next_length


def test_a_cache_wastes_less_than_a_third_once_it_is_long() -> None:
    for tokens in range(1, 20_000):
        length = cache_length(tokens, 1 << 20)
        assert tokens <= length < max(257, tokens * 1.25 + 256)
    assert len({cache_length(tokens, 1 << 20) for tokens in range(1, 32_769)}) <= 28


def test_no_length_is_beyond_the_context() -> None:
    assert cache_length(900, 1000) == 1000
    assert cache_length(1, 100) == 100


def test_a_cache_grows_at_once_and_shrinks_late() -> None:
    assert next_length(256, 257, 4096) == 512
    assert next_length(1024, 300, 4096) == 1024
    assert next_length(2048, 300, 4096) == 512


def test_chunks_are_filled_up_to_powers_of_two() -> None:
    assert [chunk_length(tokens, 512) for tokens in (1, 16, 17, 300, 512)] == [16, 16, 32, 512, 512]


def test_all_lengths_are_those_that_any_number_of_tokens_is_given() -> None:
    for most in (100, 256, 1000, 4096):
        assert cache_lengths(most) == tuple(sorted({cache_length(tokens, most) for tokens in range(1, most + 1)}))
    for most in (16, 100, 512):
        assert chunk_lengths(most) == tuple(sorted({chunk_length(tokens, most) for tokens in range(1, most + 1)}))
