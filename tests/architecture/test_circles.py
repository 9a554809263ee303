"""No folder has siblings that import each other in a circle."""

from tests.architecture import circles


def test_siblings_do_not_import_each_other_in_a_circle() -> None:
    assert circles.unexpected() == []


def test_a_circle_is_found_the_long_way_around() -> None:
    found = circles.connected({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})
    assert found == [frozenset("abc")]
