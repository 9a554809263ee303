"""Request ids."""

from heterodyne.gateway.request_ids import RequestIds


def test_ids_count_on_in_eight_digits_behind_the_prefix() -> None:
    ids = RequestIds("abc")
    made = [ids.next() for _ in range(1000)]
    assert made == [f"req_abc{number:08x}" for number in range(1, 1001)]
