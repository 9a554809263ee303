"""Which line of a batch is asked next."""

from heterodyne.batches.pace import LINES_LOW, LineOrder


def test_of_lines_that_begin_alike_one_goes_first_and_each_result_lets_two_more_go() -> None:
    order: LineOrder[str] = LineOrder()
    order.add([("a1", False), ("a2", True), ("a3", True), ("a4", True), ("b1", False)])
    assert (order.take(), order.take(), bool(order)) == ("a1", "b1", False)
    order.end("b1")
    assert not order
    order.end("a1")
    assert {order.take(), order.take()} == {"a2", "a3"}
    assert not order
    order.end("a2")
    assert order.take() == "a4"


def test_the_first_line_of_a_piece_follows_none_of_another() -> None:
    order: LineOrder[str] = LineOrder()
    order.add([("a1", False)])
    order.add([("a2", True)])
    assert (order.take(), order.take()) == ("a1", "a2")


def test_a_line_without_a_result_is_the_next() -> None:
    order: LineOrder[int] = LineOrder()
    order.add([(number, False) for number in range(3)])
    first = order.take()
    order.again(first)
    assert order.take() == first


def test_more_lines_are_wanted_while_few_can_be_asked() -> None:
    order: LineOrder[int] = LineOrder()
    assert order.is_low
    order.add([(number, False) for number in range(LINES_LOW)])
    assert not order.is_low
    order.take()
    assert order.is_low
    order.clear()
    assert not order
