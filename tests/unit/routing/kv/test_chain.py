"""Prompts as chains of blocks."""

import subprocess
import sys

from heterodyne.routing.kv.chain import (
    BLOCK_ENDS,
    EMPTY,
    PROMPT_BYTES_MAX,
    chain_of,
    chain_of_blocks,
    chain_of_ids,
    salt_of,
)

TEXT = bytes(range(256)) * 40  # 10 KB
IDS = list(range(5000))


def test_prompts_that_begin_alike_share_the_blocks_up_to_where_they_part() -> None:
    one = chain_of(b"t", TEXT, 0.25)
    other = chain_of(b"t", TEXT[:3000] + b"!" + TEXT[3001:], 0.25)
    shared = sum(end <= 3000 for end in BLOCK_ENDS)
    assert one.hashes[:shared] == other.hashes[:shared]
    assert set(one.hashes[shared:]).isdisjoint(other.hashes)


def test_a_longer_prompt_begins_with_the_shorter_ones_chain() -> None:
    short, long = chain_of(b"t", TEXT[:5000], 0.25), chain_of(b"t", TEXT, 0.25)
    assert long.hashes[: len(short.hashes)] == short.hashes
    assert long.ends[: len(short.ends)] == short.ends


def test_only_complete_blocks_count() -> None:
    assert chain_of(b"t", TEXT[:255], 0.25) == EMPTY
    assert len(chain_of(b"t", TEXT[:256], 0.25).hashes) == 1
    assert chain_of(b"t", TEXT[:256], 0.25) == chain_of(b"t", TEXT[:511], 0.25)
    assert chain_of(b"t", b"", 0.25) == EMPTY


def test_the_ends_are_tokens_and_never_more_than_the_prompt_has() -> None:
    chain = chain_of(b"t", TEXT, 0.3)
    assert list(chain.ends) == sorted(chain.ends)
    assert 0.9 * len(TEXT) * 0.3 < chain.ends[-1] <= len(TEXT) * 0.3


def test_two_tenants_never_share_a_block() -> None:
    assert set(chain_of(b"a", TEXT, 0.25).hashes).isdisjoint(chain_of(b"b", TEXT, 0.25).hashes)
    assert set(chain_of_ids(b"a", IDS).hashes).isdisjoint(chain_of_ids(b"b", IDS).hashes)
    blocks = range(1000)
    assert set(chain_of_blocks(b"a", blocks, 16).hashes).isdisjoint(chain_of_blocks(b"b", blocks, 16).hashes)


def test_a_salt_does_not_run_into_the_prompt() -> None:
    assert chain_of(b"ab", b"c" + TEXT, 0.25).hashes[0] != chain_of(b"abc", TEXT, 0.25).hashes[0]
    assert salt_of(b"ab", "c") != salt_of(b"abc", "")
    assert salt_of(b"a", "lora") != salt_of(b"a")


def test_the_same_prompt_hashes_the_same_in_another_process() -> None:
    program = "from heterodyne.routing.kv.chain import chain_of; print(chain_of(b't', bytes(600), 0.25).hashes)"
    answers = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert answers == {str(chain_of(b"t", bytes(600), 0.25).hashes)}


def test_a_long_prompt_has_few_blocks_and_an_endless_one_has_no_more() -> None:
    assert len(chain_of(b"t", bytes(400_000), 0.25).hashes) < 150
    assert chain_of(b"t", bytes(PROMPT_BYTES_MAX + 99), 0.25).ends[-1] <= PROMPT_BYTES_MAX // 4


def test_token_ids_have_small_blocks_at_first() -> None:
    chain = chain_of_ids(b"t", IDS)
    assert chain.ends[:4] == (64, 128, 256, 384)
    assert chain_of_ids(b"t", IDS[:700]).hashes == chain.hashes[: len(chain_of_ids(b"t", IDS[:700]).hashes)]


def test_token_ids_no_tokenizer_has_make_no_chain() -> None:
    assert chain_of_ids(b"t", [1 << 40] * 100) == EMPTY
    assert chain_of_ids(b"t", [-1] * 100) == EMPTY


def test_a_traces_blocks_keep_their_order_and_size() -> None:
    chain = chain_of_blocks(b"t", [5, 6, 1 << 63], 512)
    assert chain.ends == (512, 1024, 1536)
    assert len(set(chain.hashes)) == 3
    assert all(0 <= block < 1 << 64 for block in chain.hashes)
    assert chain_of_blocks(b"t", [5, 6, 7], 512).hashes[:2] == chain.hashes[:2]
