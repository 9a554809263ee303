"""Which prompt is in which slot."""

from heterodyne.gateway.kv.slot_book import NOTHING, SlotBook, common


def filled() -> SlotBook:
    """Two slots of three hold prompts."""
    book = SlotBook(3)
    for hashes in ((1, 2, 3), (7, 8)):
        slot = book.try_take(hashes)
        assert slot is not None
        book.hold(slot, hashes)
        book.release(slot)
    return book


def test_a_prompt_goes_where_most_of_it_is_else_where_nothing_is_else_where_it_is_missed_least() -> None:
    book = filled()
    assert [book.try_take((1, 2, 9)), book.try_take((5,))] == [0, 2]
    assert book.try_take((5,)) == 1
    assert book.try_take((1,)) is None
    book.release(0)
    book.release(2)
    assert book.try_take((6,)) == 2, "empty, while the other holds something"


def test_what_is_found_is_taken_so_that_nobody_writes_over_it() -> None:
    book = filled()
    held = book.try_find((1, 2, 3, 4))
    assert held is not None
    assert (held.slot, held.hashes, book.busy) == (0, (1, 2, 3), 1)
    assert book.try_find((1, 2, 3, 4)) is None
    book.release(held.slot)
    assert book.try_find((9,)) is None
    assert book.busy == 0


def test_a_request_without_a_slot_leaves_nothing_known() -> None:
    book = filled()
    book.begin_untracked()
    assert (book.try_take((1,)), book.try_find((1, 2, 3))) == (None, None)
    book.end_untracked()
    assert book.try_find((1, 2, 3)) is None
    assert book.try_take((1,)) is not None


def test_prompts_of_two_tenants_have_nothing_in_common() -> None:
    assert common((1, 2), (1, 2)) == 2
    assert common((1, 2), (3, 2)) == 0, "each hash depends on the salt and all before it"
    assert common(NOTHING, (1,)) == 0


def test_a_spare_slot_is_an_empty_one_or_one_that_may_lose_what_it_has_while_nothing_runs() -> None:
    book = SlotBook(2)
    first = book.try_take((1, 2))
    assert first is not None
    assert book.try_take_spare(lambda _: True) is None, "something runs"
    book.hold(first, (1, 2))
    book.release(first)
    spare = book.try_take_spare(lambda _: False)
    assert spare == 1 - first
    book.hold(spare, (3, 4))
    book.release(spare)
    assert (book.holds((1, 2)), book.holds((1, 2, 3)), book.holds((3,))) == (True, False, True)
    assert book.try_take_spare(lambda _: False) is None
    assert book.try_take_spare(lambda held: held == (1, 2)) == first
