"""Counts, prefixes and answers follow from the text."""

from heterodyne.emulator import tokenizer


def test_every_four_bytes_are_a_token() -> None:
    assert [tokenizer.count(text) for text in (b"", b"a", b"abcd", b"abcde")] == [0, 1, 1, 2]


def test_token_ids_go_there_and_back() -> None:
    text = b"eight by"
    assert tokenizer.from_token_ids(tokenizer.token_ids(text)) == text


def test_texts_that_begin_alike_share_their_first_hashes() -> None:
    begin = b"x" * 128
    one, other = (tokenizer.block_hashes(begin + end * 64, 16, "") for end in (b"1", b"2"))
    assert len(one) == 3
    assert one[:2] == other[:2]
    assert one[2] != other[2]


def test_another_salt_shares_nothing() -> None:
    text = b"x" * 256
    assert not set(tokenizer.block_hashes(text, 16, "a")) & set(tokenizer.block_hashes(text, 16, "b"))


def test_an_answer_continues_where_it_stopped() -> None:
    whole = tokenizer.answer(12345, 0, 50)
    assert tokenizer.answer(12345, 20, 30) == whole[20:]
    assert len(set(whole)) > 20
    assert {len(word) for word in whole} == {tokenizer.PIECE_BYTES}


def test_answers_are_from_half_to_one_and_a_half_times_the_mean() -> None:
    lengths = [tokenizer.answer_tokens(tokenizer.key_of(b"%d" % number), 100) for number in range(500)]
    assert 50 <= min(lengths) < 60
    assert 140 < max(lengths) <= 150
