"""Synthetic prompts."""

from heterodyne.bench.prompts import WORDS, Prompts


def test_a_prompt_has_as_many_words_as_tokens_were_asked() -> None:
    prompts = Prompts(seed=1, shared_prefix_tokens=0)
    assert [len(prompts.text(9, tokens).split()) for tokens in (1, 2, 3, 64, 1000)] == [1, 2, 3, 64, 1000]


def test_the_same_seed_and_number_make_the_same_prompt() -> None:
    assert Prompts(seed=4, shared_prefix_tokens=8).text(3, 50) == Prompts(seed=4, shared_prefix_tokens=8).text(3, 50)
    assert Prompts(seed=4, shared_prefix_tokens=8).text(3, 50) != Prompts(seed=5, shared_prefix_tokens=8).text(3, 50)


def test_no_two_requests_of_a_run_share_a_prompt() -> None:
    prompts = Prompts(seed=0, shared_prefix_tokens=0)
    assert len({prompts.text(index, 3) for index in range(20_000)}) == 20_000


def test_all_prompts_begin_with_the_shared_prefix_and_then_differ() -> None:
    prompts = Prompts(seed=0, shared_prefix_tokens=20)
    first, second = prompts.text(0, 10).split(), prompts.text(1, 10).split()
    assert len(first) == 30
    assert first[:20] == second[:20]
    assert first[20] != second[20]


def test_words_are_distinct() -> None:
    assert len(set(WORDS)) == len(WORDS)
