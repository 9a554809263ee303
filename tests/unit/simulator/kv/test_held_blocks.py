"""What a store or a host memory keeps."""

from heterodyne.simulator.kv.held_blocks import HeldBlocks


def test_the_beginning_of_a_prompt_is_known_as_far_as_it_is_unbroken() -> None:
    held = HeldBlocks(10)
    held.put((1, 2, 4), 0.0)
    assert held.known((1, 2, 3, 4), 0.0) == 2
    assert held.lacking((1, 2, 3, 4)) == [3]


def test_the_longest_unused_goes_first_and_the_end_of_a_prompt_before_its_beginning() -> None:
    held = HeldBlocks(3)
    held.put((1, 2), 0.0)
    held.put((7,), 1.0)
    held.known((1,), 2.0)
    held.put((8,), 3.0)
    assert held.lacking((1, 2, 7, 8)) == [2]


def test_what_was_not_used_for_its_time_to_live_is_gone() -> None:
    held = HeldBlocks(10, ttl_s=60.0)
    held.put((1,), 0.0)
    assert held.known((1,), 60.0) == 1
    assert held.known((1,), 121.0) == 0
